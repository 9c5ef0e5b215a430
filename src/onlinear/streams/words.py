"""Names and words of sources that hand over Python's own strings and numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from onlinear.kernels.text.name_hashes import hash_names
from onlinear.streams.blanks import BLANKS

#: so much of a value in a message
SHOWN = 40


def hashes_of(names: Sequence[str]) -> np.ndarray:
    """The hash of each name.

    >>> [hex(number) for number in hashes_of(["size"]).tolist()]
    ['0xb77e78e2be63d904']
    """
    text = "".join(names)
    lengths = map(len, names) if text.isascii() else (len(name.encode()) for name in names)
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(names)))
    hashes = np.empty(len(names), np.uint64)
    hash_names(np.frombuffer(text.encode(), np.uint8), ends, hashes)
    return hashes


def is_missing(word: str, missing: Sequence[str]) -> bool:
    """Whether a text stands for nothing; blanks around it do not count."""
    return word.strip(BLANKS) in missing


def text_of(number: float) -> str:
    """A number as a name: whole ones alike, of whichever type a table made them.

    >>> text_of(3000), text_of(3000.0), text_of(0.5), text_of(True), text_of(math.inf)
    ('3000', '3000', '0.5', 'true', 'inf')
    """
    if isinstance(number, bool):
        return "true" if number else "false"
    if not math.isfinite(number):
        return repr(float(number))
    return str(int(number)) if number == int(number) else repr(float(number))


def shown(value: object) -> str:
    """A value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
