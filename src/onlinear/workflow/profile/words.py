"""What the texts of a column look like: prose, dates, or codes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np

from onlinear.streams.columns import BLANKS

#: words and characters of a text to be cut into words, on average, and how many texts have to be different
WORDS, CHARACTERS, DIFFERENT = 4.0, 20.0, 0.5
#: texts that are looked at
LOOKED_AT = 1_000

MICROSECONDS = 1_000_000


def words_in(texts: Sequence[str]) -> float:
    """How many words a text has, on average."""
    return float(np.mean([len(text.split()) for text in texts])) if texts else 0.0


def is_prose(texts: Sequence[str], different: float) -> bool:
    """Whether texts are to be cut into words: long ones of several words, of which a share is different.

    >>> is_prose(["see you at the station", "sorry, I am late again"], different=1.0), is_prose(["New York"], 1.0)
    (True, False)
    """
    looked_at = texts[:LOOKED_AT]
    if not looked_at or different < DIFFERENT:
        return False
    return words_in(looked_at) >= WORDS and float(np.mean([len(text) for text in looked_at])) >= CHARACTERS


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates or times, such as 2024-03-31 or 2024-03-31T12:00."""
    looked_at = texts[:LOOKED_AT]
    return bool(looked_at) and all(not text.isdigit() and moment_of(text) is not None for text in looked_at)


def moment_of(text: str) -> int | None:
    """A date or a time of ISO 8601 as microseconds since 1970, in UTC unless it says where; None for anything else.

    >>> moment_of("1970-01-02"), moment_of("1970-01-01T01:00:00+01:00"), moment_of("31.3.2024")
    (86400000000, 0, None)
    """
    try:
        moment = datetime.fromisoformat(text.strip(BLANKS))
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * MICROSECONDS + since.microseconds
