"""Decimals of Arrow's as numbers in double precision: the nearest ones, as ``float()`` reads their texts."""

from __future__ import annotations

from typing import Any

import numpy as np

#: whole numbers and powers of ten that doubles hold exactly, so that a quotient of them is rounded just once
MOST_WHOLE, MOST_DIGITS = 1 << 53, 22


def is_readable(kind: Any) -> bool:
    """Whether Arrow can say what the decimals of a type are: one may have any scale, and those of some have no text."""
    import pyarrow

    zero = pyarrow.Array.from_buffers(kind, 1, [None, pyarrow.py_buffer(bytes(kind.byte_width))])
    try:
        zero.to_pylist()
    except ArithmeticError:
        return False
    return True


def decimals_of(cells: Any) -> np.ndarray:
    """The nearest doubles, NaN for those that are null. Arrow's own cast is a few bits off now and then."""
    width, scale = cells.type.byte_width, cells.type.scale
    size = min(width, 8)
    stop = cells.offset + len(cells)  # behind which a buffer may have any number of bytes
    words = np.frombuffer(cells.buffers()[1] or b"", f"<i{size}", stop * width // size).reshape(-1, width // size)
    words = words[cells.offset :]
    absent = cells.is_null().to_numpy(zero_copy_only=False)
    whole, is_exact = whole_numbers(words)
    if 0 <= scale <= MOST_DIGITS:
        numbers = whole / float(10**scale)
    else:
        numbers, is_exact = np.empty(len(cells)), np.zeros(len(cells), np.bool_)
    numbers[absent] = np.nan
    for row in np.flatnonzero(~is_exact & ~absent).tolist():
        digits = int.from_bytes(words[row].tobytes(), "little", signed=True)
        numbers[row] = float(f"{digits}e{-scale}")
    return numbers


def whole_numbers(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The digits of decimals as whole numbers, lowest word first, and whether these are exact, as doubles too."""
    whole = words[:, 0].astype(np.int64)
    is_short = (words[:, 1:] == (whole >> 63)[:, None]).all(axis=1)  # the higher words only repeat the sign
    return whole, is_short & (whole >= -MOST_WHOLE) & (whole <= MOST_WHOLE)
