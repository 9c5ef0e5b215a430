"""Where words end in a text, found 64 bytes at a time.

A parser that looks for the end of each word has to wait for it before it can look at the next one. With all ends at
hand, the processor reads several words at once.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from onlinear.kernels.loops import kept, named, source_digest
from onlinear.kernels.text.decimals import trailing_zeros

#: bytes that are looked at together; as many behind a text may be read, and must belong to it
SLACK = 64
#: breaks that are written together, needed or not
GROUP = 8

LINE_FEED, BLANK, COLON, BAR = 0x0A, 0x20, 0x3A, 0x7C

_BYTE, _WORD = ir.IntType(8), ir.IntType(64)
_BYTES = ir.VectorType(_BYTE, SLACK)
_BITS = np.uint64


def _bytes_at(context, builder, array, arguments):
    data = context.make_array(array)(context, builder, arguments[0]).data
    place = builder.bitcast(builder.gep(data, [arguments[1]]), _BYTES.as_pointer())
    return builder.load(place, align=1)


@intrinsic
def breaks_in(typing_context, text, at):
    """A bit for each of 64 bytes: whether it is a blank, a control character, a colon or a bar."""

    def emit(context, builder, signature, arguments):
        read = _bytes_at(context, builder, signature.args[0], arguments)
        found = builder.icmp_unsigned("<=", read, _BYTES([BLANK] * SLACK))
        for break_ in (COLON, BAR):
            found = builder.or_(found, builder.icmp_unsigned("==", read, _BYTES([break_] * SLACK)))
        return builder.bitcast(found, _WORD)

    return types.uint64(text, types.int64), emit


@intrinsic
def line_ends_in(typing_context, text, at):
    """A bit for each of 64 bytes: whether a line ends with it."""

    def emit(context, builder, signature, arguments):
        read = _bytes_at(context, builder, signature.args[0], arguments)
        return builder.bitcast(builder.icmp_unsigned("==", read, _BYTES([LINE_FEED] * SLACK)), _WORD)

    return types.uint64(text, types.int64), emit


@intrinsic
def ones_of(typing_context, word):
    """How many bits of a word are set."""

    def emit(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), emit


def room_for_breaks(length: int) -> int:
    """How many places :func:`find_all_breaks` may write to."""
    return length + SLACK + GROUP


@cache
def find_all_breaks() -> Any:
    """The compiled loop that writes down where words end in ``text[:stop]``: how many ends, and how many of lines."""
    digest = source_digest()

    def loop(text, stop, breaks):
        _ = digest
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

    return kept(numba.njit(nogil=True)(named(loop, find_all_breaks)))


@cache
def count_line_ends() -> Any:
    """The compiled loop that counts the lines that end in ``text[:stop]``."""
    digest = source_digest()

    def loop(text, stop):
        _ = digest
        lines = np.int64(0)
        for at in range(0, stop - SLACK + 1, SLACK):
            lines += np.int64(ones_of(line_ends_in(text, at)))
        for at in range(stop - stop % SLACK, stop):
            lines += text[at] == LINE_FEED
        return lines

    return kept(numba.njit(nogil=True)(named(loop, count_line_ends)))
