"""Eight words in the lanes of a vector register: what the loops that read eight things at once are written with.

Each function writes an instruction, or a few, in the compiler's own language.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir

from onlinear.kernels.text.parsed import EIGHT

BYTE, HALF, WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
LANES = ir.VectorType(WORD, EIGHT)


def lanes(number):
    """A constant in all lanes."""
    return LANES([int(np.uint64(number))] * EIGHT)


def spread_out(builder, word):
    """A word in all lanes."""
    one = builder.insert_element(LANES(ir.Undefined), word, HALF(0))
    return builder.shuffle_vector(one, LANES(ir.Undefined), ir.VectorType(HALF, EIGHT)([0] * EIGHT))


def bits_of(builder, mask):
    """A mask of eight lanes as the lowest bits of a word."""
    return builder.zext(builder.bitcast(mask, BYTE), WORD)


def any_of(builder, mask):
    """Whether a mask has a lane."""
    return builder.icmp_unsigned("!=", builder.bitcast(mask, BYTE), BYTE(0))


def group_at(builder, data, at, kind):
    """Where eight numbers from a place on are."""
    return builder.bitcast(builder.gep(data, [at]), ir.VectorType(kind, EIGHT).as_pointer())


def place_of(builder, breaks, k):
    """Where a break is: as a word of its own, which is faster than one taken out of a register of eight."""
    return builder.zext(builder.load(builder.gep(breaks, [k]), align=4), WORD)


def between(builder, starts, stops):
    """How many bytes are between two breaks."""
    return builder.sub(builder.sub(stops, starts), lanes(1))


def words_at(builder, text, places, more, kind=WORD):
    """The bytes from each place on, and so many more, as words of a kind: the first byte is the lowest."""
    words = ir.VectorType(kind, EIGHT)(ir.Undefined)
    for lane, at in enumerate(places):
        place = builder.gep(text, [builder.add(at, WORD(more))])
        word = builder.load(builder.bitcast(place, kind.as_pointer()), align=1)
        if sys.byteorder != "little" and kind is not BYTE:
            word = builder.bswap(word)
        words = builder.insert_element(words, word, HALF(lane))
    return words


def are_bytes(builder, sign, found, byte):
    """Whether each of eight bytes is (\"==\"), or is not (\"!=\"), a certain one."""
    return builder.icmp_unsigned(sign, found, ir.VectorType(BYTE, EIGHT)([int(byte)] * EIGHT))
