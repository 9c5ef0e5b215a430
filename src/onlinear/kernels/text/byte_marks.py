"""Which of 64 bytes are blanks, line ends, quotes: a bit for each, the first byte's lowest."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.inlining import inlined, plain_way
from onlinear.kernels.text.bits import byte_of

#: bytes that are looked at together; as many behind a text may be read, and must belong to it
SLACK = 64

LINE_FEED, BLANK, COLON, BAR, QUOTE = 0x0A, 0x20, 0x3A, 0x7C, 0x22

_HIGHEST = 0x80


@plain_way("byte_marks")
def breaks_in(text, at):
    """Which are a blank, a control character, a colon or a bar."""
    bits = np.uint64(0)
    for k in range(SLACK):
        byte = byte_of(text, at + k)
        bits |= np.uint64((byte <= BLANK) | (byte == COLON) | (byte == BAR)) << np.uint64(k)
    return bits


@plain_way("byte_marks")
def line_ends_in(text, at):
    """With which of them a line ends."""
    bits = np.uint64(0)
    for k in range(SLACK):
        bits |= np.uint64(byte_of(text, at + k) == LINE_FEED) << np.uint64(k)
    return bits


@inlined
def cell_marks_in(text, at, delimiter):
    """Three times: which are a delimiter or line end, which a quote, which zero or no ASCII character."""
    ends = quotes = strange = np.uint64(0)
    for k in range(SLACK):
        byte, bit = byte_of(text, at + k), np.uint64(k)
        ends |= np.uint64((byte == LINE_FEED) | (byte == delimiter)) << bit
        quotes |= np.uint64(byte == QUOTE) << bit
        strange |= np.uint64((byte == 0) | (byte >= _HIGHEST)) << bit
    return ends, quotes, strange


@inlined
def record_marks_in(text, at):
    """Twice: which are a line end, which a quote."""
    lines = quotes = np.uint64(0)
    for k in range(SLACK):
        byte, bit = byte_of(text, at + k), np.uint64(k)
        lines |= np.uint64(byte == LINE_FEED) << bit
        quotes |= np.uint64(byte == QUOTE) << bit
    return lines, quotes
