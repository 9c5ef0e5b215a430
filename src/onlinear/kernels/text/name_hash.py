"""The hash of a name in compiled code: see :func:`onlinear.features.names.hash_name`.

A hash goes byte by byte, and a processor cannot foresee where a word ends. So short words are hashed eight at a time,
each in a lane of its own, where a word that has ended waits for the others.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.features.names import FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND
from onlinear.kernels.compiler.inlining import part
from onlinear.kernels.compiler.simd import (
    BYTE,
    EIGHT,
    HALF,
    LANES,
    WORD,
    any_of,
    are_bytes,
    between,
    bits_of,
    group_at,
    lanes,
    place_of,
    spread_out,
    words_at,
)
from onlinear.kernels.text.decimals import byte_of
from onlinear.kernels.text.parsed import BLANK, COLON

OFFSET, PRIME, FIRST_FACTOR, SECOND_FACTOR = (np.uint64(k) for k in (FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND))
_SHIFT, _HALF = np.uint64(33), np.uint64(32)


@part
def hashed(text, at, stop, state):
    """FNV-1a of a piece of text, from a state on."""
    while at < stop:
        state = (state ^ byte_of(text, at)) * PRIME
        at += 1
    return state


@part
def mixed(state):
    """MurmurHash3's final mix."""
    state = (state ^ (state >> _SHIFT)) * FIRST_FACTOR
    state = (state ^ (state >> _SHIFT)) * SECOND_FACTOR
    return state ^ (state >> _SHIFT)


@part
def crossed(first, second):
    """The hash of a product, from those of its two features: see :func:`onlinear.features.names.cross_hash`."""
    state = first * FIRST_FACTOR + second
    return (state ^ (state >> _HALF)) * SECOND_FACTOR


#: bytes that words may have which are hashed eight at once, and how many are looked at together
SHORT, FOUR = 16, 4
_LENGTH_BITS = 5


@part
def span(at, stop):
    """Where a short word is and how long: what is in the place of its hash until it is hashed."""
    return (np.uint64(at) << np.uint64(_LENGTH_BITS)) | np.uint64(stop - at)


@part
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
        before, behind = (places_at(builder, breaks, builder.add(k, WORD(more))) for more in (0, 1))
        lengths = between(builder, before, behind)
        starts = builder.shl(builder.add(before, lanes(1)), lanes(_LENGTH_BITS))
        builder.store(builder.or_(starts, lengths), group_at(builder, spans, at, WORD), align=8)
        places = [place_of(builder, breaks, builder.add(k, WORD(lane))) for lane in range(EIGHT + 1)]
        good = builder.icmp_unsigned("<", builder.sub(lengths, lanes(1)), lanes(SHORT))
        for sign, byte, where in (("==", BLANK, places[:-1]), ("!=", COLON, places[1:])):
            good = builder.and_(good, are_bytes(builder, sign, words_at(builder, text, where, 0, BYTE), byte))
        return bits_of(builder, good)

    return types.uint64(text, breaks, types.uint64, spans, types.uint64), emit


def places_at(builder, breaks, k):
    """Where eight breaks are."""
    return builder.zext(builder.load(group_at(builder, breaks, k, HALF), align=4), LANES)


@intrinsic
def hash_eight(typing_context, text, spans, at, state):
    """``mixed(hashed(...))`` of eight words, in the place of their spans."""

    def emit(context, builder, signature, arguments):
        text, spans, at, state = arguments
        data = context.make_array(signature.args[1])(context, builder, spans).data
        place = group_at(builder, data, at, WORD)
        lengths = builder.and_(builder.load(place, align=8), lanes((1 << _LENGTH_BITS) - 1))
        starts = [start_of(builder, data, at, lane) for lane in range(EIGHT)]
        states = cgutils.alloca_once_value(builder, spread_out(builder, state))
        for first in range(0, SHORT, FOUR):
            longer = builder.icmp_unsigned(">", lengths, lanes(first))
            with builder.if_then(any_of(builder, longer)):
                words = builder.zext(words_at(builder, text, starts, first, HALF), LANES)
                builder.store(four_bytes(builder, builder.load(states), words, lengths, first), states)
        builder.store(all_mixed(builder, builder.load(states)), place, align=8)
        return context.get_dummy_value()

    return types.void(text, spans, at, types.uint64), emit


def start_of(builder, spans, at, lane):
    """Where a word starts: read for itself, which is faster than taking it out of a register of eight."""
    packed = builder.load(builder.gep(spans, [builder.add(at, WORD(lane))]))
    return builder.lshr(packed, WORD(_LENGTH_BITS))


def four_bytes(builder, states, words, lengths, first):
    """The states after four more bytes; a word that is shorter keeps its own."""
    for k in range(FOUR):
        byte = builder.and_(builder.lshr(words, lanes(8 * k)), lanes(0xFF))
        after = builder.mul(builder.xor(states, byte), lanes(PRIME))
        states = builder.select(builder.icmp_unsigned(">", lengths, lanes(first + k)), after, states)
    return states


def all_mixed(builder, states):
    """As :func:`mixed`, in all lanes."""
    for factor in (FIRST_FACTOR, SECOND_FACTOR):
        states = builder.xor(states, builder.lshr(states, lanes(_SHIFT)))
        states = builder.mul(states, lanes(factor))
    return builder.xor(states, builder.lshr(states, lanes(_SHIFT)))
