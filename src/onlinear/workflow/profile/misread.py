"""Columns of numbers that are read as texts: some cells hold words, or all are written as people write numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from shlex import quote

from onlinear.features.columns import MISSING
from onlinear.streams.blanks import BLANKS

#: a number as a stream reads it, and one with commas, a currency or a percent sign
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
WRITTEN = re.compile(r"[$€£]?\s?[+-]?(\d{1,3}([.,' ]\d{3})+([.,]\d+)?|\d+([.,]\d+)?)\s?[%$€£]?")
#: different numbers there have to be, their share of all different texts, and how many others there may be
NUMBERS, SHARE, WORDS = 5, 0.8, 5


def misread(name: str, texts: Collection[str], missing: Sequence[str] = MISSING) -> str | None:
    """What to say of a column of these different texts, if they are numbers to people but not to a stream.

    What is named as missing replaces what is ``missing`` so far, so the advice names that, too.

    >>> str(misread("wage", ["1", "2.5", "3", "4", "7", "nan"]))[:76]
    "Column wage holds numbers but for 'nan', so each number is taken for a name:"
    >>> misread("town", ["Bern", "Thun"])
    """
    others = [text for text in texts if not is_number(text)]
    numbers = len(texts) - len(others)
    if others and numbers >= NUMBERS and numbers >= SHARE * len(texts) and len(others) <= WORDS:
        words, that = ", ".join(repr(f"{text:.20}") for text in others), "that" if len(others) == 1 else "them"
        return (
            f"Column {name} holds numbers but for {words}, so each number is taken for a name: name {that} as missing "
            f"({as_missing([*others, *missing])}), or mend {'it' if that == 'that' else that}."
        )
    written = [text for text in others if WRITTEN.fullmatch(text.strip(BLANKS))]
    if written and len(texts) >= NUMBERS and numbers + len(written) >= SHARE * len(texts):
        return (
            f"Column {name} holds numbers that are read as texts, such as {written[0]!r:.30}, so each is taken for a "
            "name: write them as 1234.5."
        )
    return None


def is_number(text: str) -> bool:
    """Whether a stream reads a number in a text, which has to be finite.

    >>> is_number(" 1e3"), is_number("1e400"), is_number("nan")
    (True, False, False)
    """
    return bool(NUMBER.fullmatch(text.strip(BLANKS))) and math.isfinite(float(text))


def as_missing(words: Sequence[str]) -> str:
    """The options that name these words as missing, and no others.

    >>> as_missing(["nan", "", "NA"])
    "--missing nan --missing '' --missing NA"
    """
    return " ".join(f"--missing {quote(word)}" for word in words)
