"""The hash of a name in compiled code: see :func:`onlinear.features.names.hash_name`.

A hash goes byte by byte, and a processor cannot foresee where a word ends. So short words are hashed eight at a time,
each in a lane of its own, where a word that has ended waits for the others.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from onlinear.features.names import FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND
from onlinear.kernels.decimals import byte_of
from onlinear.kernels.parsed import BLANK, COLON

OFFSET, PRIME, FIRST_FACTOR, SECOND_FACTOR = (np.uint64(k) for k in (FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND))
_SHIFT, _HALF = np.uint64(33), np.uint64(32)


@register_jitable(forceinline=True)
def hashed(text, at, stop, state):
    """FNV-1a of a piece of text, from a state on."""
    while at < stop:
        state = (state ^ byte_of(text, at)) * PRIME
        at += 1
    return state


@register_jitable(forceinline=True)
def mixed(state):
    """MurmurHash3's final mix."""
    state = (state ^ (state >> _SHIFT)) * FIRST_FACTOR
    state = (state ^ (state >> _SHIFT)) * SECOND_FACTOR
    return state ^ (state >> _SHIFT)


@register_jitable(forceinline=True)
def crossed(first, second):
    """The hash of a product, from those of its two features: see :func:`onlinear.features.names.cross_hash`."""
    state = first * FIRST_FACTOR + second
    return (state ^ (state >> _HALF)) * SECOND_FACTOR


#: words that are hashed at once, how many bytes they may have, and how many are looked at together
EIGHT, SHORT, FOUR = 8, 16, 4
_LENGTH_BITS = 5
_BYTE, _HALF_WORD, _WORD = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_LANES = ir.VectorType(_WORD, EIGHT)


@register_jitable(forceinline=True)
def span(at, stop):
    """Where a short word is and how long: what is in the place of its hash until it is hashed."""
    return (np.uint64(at) << np.uint64(_LENGTH_BITS)) | np.uint64(stop - at)


@register_jitable(forceinline=True)
def hash_spans(text, spans, start, stop, state):
    """Hash the words at ``spans[start:stop]`` in their places, from a state on. Eight more places are overwritten."""
    for k in range(EIGHT):
        spans[stop + np.uint64(k)] = np.uint64(0)
    at = start
    while at < stop:
        hash_eight(text, spans, at, state)
        at += np.uint64(EIGHT)


@intrinsic
def span_eight(typing_context, text, breaks, k, spans, at):
    """Write down eight words, each from the next break to the one behind it, needed or not.

    Bits come back: whether each is a short word behind a blank, with no colon behind it.
    """

    def emit(context, builder, signature, arguments):
        text, breaks, k, spans, at = arguments
        breaks, spans = (
            context.make_array(signature.args[which])(context, builder, array).data
            for which, array in ((1, breaks), (3, spans))
        )
        before, behind = (places_at(builder, breaks, builder.add(k, _WORD(more))) for more in (0, 1))
        lengths = builder.sub(builder.sub(behind, before), all_lanes(1))
        starts = builder.shl(builder.add(before, all_lanes(1)), all_lanes(_LENGTH_BITS))
        place = builder.bitcast(builder.gep(spans, [at]), _LANES.as_pointer())
        builder.store(builder.or_(starts, lengths), place, align=8)
        good = builder.icmp_unsigned("<", builder.sub(lengths, all_lanes(1)), all_lanes(SHORT))
        marks = [mark_at(builder, text, breaks, builder.add(k, _WORD(lane))) for lane in range(EIGHT + 1)]
        for sign, byte, found in (("==", BLANK, marks[:-1]), ("!=", COLON, marks[1:])):
            wanted = ir.VectorType(_BYTE, EIGHT)([int(byte)] * EIGHT)
            good = builder.and_(good, builder.icmp_unsigned(sign, side_by_side(builder, found), wanted))
        return builder.zext(builder.bitcast(good, _BYTE), _WORD)

    return types.uint64(text, breaks, types.uint64, spans, types.uint64), emit


def places_at(builder, breaks, k):
    """Where eight breaks are."""
    places = ir.VectorType(_HALF_WORD, EIGHT)
    found = builder.load(builder.bitcast(builder.gep(breaks, [k]), places.as_pointer()), align=4)
    return builder.zext(found, _LANES)


def mark_at(builder, text, breaks, k):
    """The byte at a break."""
    place = builder.zext(builder.load(builder.gep(breaks, [k])), _WORD)
    return builder.load(builder.gep(text, [place]))


def side_by_side(builder, found):
    together = ir.VectorType(_BYTE, EIGHT)(ir.Undefined)
    for lane, byte in enumerate(found):
        together = builder.insert_element(together, byte, ir.IntType(32)(lane))
    return together


@intrinsic
def hash_eight(typing_context, text, spans, at, state):
    """``mixed(hashed(...))`` of eight words, in the place of their spans."""

    def emit(context, builder, signature, arguments):
        text, spans, at, state = arguments
        data = context.make_array(signature.args[1])(context, builder, spans).data
        place = builder.bitcast(builder.gep(data, [at]), _LANES.as_pointer())
        lengths = builder.and_(builder.load(place, align=8), all_lanes((1 << _LENGTH_BITS) - 1))
        starts = [start_of(builder, data, at, lane) for lane in range(EIGHT)]
        states = cgutils.alloca_once_value(builder, spread_out(builder, state))
        for first in range(0, SHORT, FOUR):
            longer = builder.icmp_unsigned(">", lengths, all_lanes(first))
            with builder.if_then(builder.icmp_unsigned("!=", builder.bitcast(longer, _BYTE), _BYTE(0))):
                words = words_at(builder, text, starts, first)
                builder.store(four_bytes(builder, builder.load(states), words, lengths, first), states)
        builder.store(all_mixed(builder, builder.load(states)), place, align=8)
        return context.get_dummy_value()

    return types.void(text, spans, at, types.uint64), emit


def all_lanes(number):
    return _LANES([int(number)] * EIGHT)


def spread_out(builder, word):
    """A word in all lanes."""
    one = builder.insert_element(_LANES(ir.Undefined), word, ir.IntType(32)(0))
    return builder.shuffle_vector(one, _LANES(ir.Undefined), ir.VectorType(ir.IntType(32), EIGHT)([0] * EIGHT))


def start_of(builder, spans, at, lane):
    """Where a word starts: read for itself, which is faster than taking it out of a register of eight."""
    packed = builder.load(builder.gep(spans, [builder.add(at, _WORD(lane))]))
    return builder.lshr(packed, _WORD(_LENGTH_BITS))


def words_at(builder, text, starts, first):
    """Four bytes of each word, from its byte ``first`` on, the first one lowest."""
    words = ir.VectorType(_HALF_WORD, EIGHT)(ir.Undefined)
    for lane, start in enumerate(starts):
        place = builder.gep(text, [builder.add(start, _WORD(first))])
        word = builder.load(builder.bitcast(place, _HALF_WORD.as_pointer()), align=1)
        word = word if sys.byteorder == "little" else builder.bswap(word)
        words = builder.insert_element(words, word, ir.IntType(32)(lane))
    return builder.zext(words, _LANES)


def four_bytes(builder, states, words, lengths, first):
    """The states after four more bytes; a word that is shorter keeps its own."""
    for k in range(FOUR):
        byte = builder.and_(builder.lshr(words, all_lanes(8 * k)), all_lanes(0xFF))
        after = builder.mul(builder.xor(states, byte), all_lanes(PRIME))
        states = builder.select(builder.icmp_unsigned(">", lengths, all_lanes(first + k)), after, states)
    return states


def all_mixed(builder, states):
    """As :func:`mixed`, in all lanes."""
    for factor in (FIRST_FACTOR, SECOND_FACTOR):
        states = builder.xor(states, builder.lshr(states, all_lanes(_SHIFT)))
        states = builder.mul(states, all_lanes(factor))
    return builder.xor(states, builder.lshr(states, all_lanes(_SHIFT)))
