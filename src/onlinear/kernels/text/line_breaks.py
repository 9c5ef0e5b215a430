"""Where words end in a text, found 64 bytes at a time.

A parser that looks for the end of each word has to wait for it before it can look at the next one. With all ends at
hand, the processor reads several words at once.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated,assignment"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of, byte_of, ones_of, trailing_zeros
from onlinear.kernels.text.byte_marks import LINE_FEED, SLACK, breaks_in, line_ends_in

#: breaks that are written together, needed or not
GROUP = 8

_BITS = np.uint64


def room_for_breaks(length: int) -> int:
    """How many places :func:`find_all_breaks` may write to."""
    return length + SLACK + GROUP


@compiled_loop
def find_all_breaks(buffer, stop, breaks):
    """Write down where words end in ``buffer[:stop]``; answer how many ends, and how many of lines."""
    text = address_of(buffer)
    count, lines = 0, 0
    for at in range(0, stop, SLACK):
        bits = breaks_in(text, at)
        ends = line_ends_in(text, at)
        if at + SLACK > stop:
            inside = (_BITS(1) << _BITS(stop - at)) - _BITS(1)
            bits &= inside
            ends &= inside
        found = np.int64(ones_of(bits))
        lines += np.int64(ones_of(ends))
        for group in range(0, found, GROUP):  # without a branch for each, which the processor could not foresee
            for k in range(GROUP):
                breaks[count + group + k] = at + np.int64(trailing_zeros(bits))
                bits &= bits - _BITS(1)
        count += found
    return count, lines


@compiled_loop
def count_line_ends(buffer, stop):
    """Count the lines that end in ``buffer[:stop]``."""
    text = address_of(buffer)
    lines = np.int64(0)
    for at in range(0, stop - SLACK + 1, SLACK):
        lines += np.int64(ones_of(line_ends_in(text, at)))
    for at in range(stop - stop % SLACK, stop):
        lines += byte_of(text, at) == LINE_FEED
    return lines
