"""Eight short words hashed at once, each in a lane of its own: see :mod:`onlinear.kernels.text.name_hash`.

VW text of words is read 1.5 times as fast as with one word after the other (benchmarks/kernel_pieces.py).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from numba import types
from numba.core import cgutils

from onlinear.kernels.compiler.inlining import llvm_for
from onlinear.kernels.compiler.internals.simd import (
    BYTE,
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
from onlinear.kernels.text.name_hash import (
    FIRST_FACTOR,
    LENGTH_BITS,
    PRIME,
    SECOND_FACTOR,
    SHIFT,
    SHORT,
    hash_eight,
    span_eight,
)
from onlinear.kernels.text.parsed import BLANK, COLON, EIGHT

#: bytes of a word that are looked at together
FOUR = 4


@llvm_for(span_eight)
def _span_eight(typing_context, text, breaks, k, spans, at):
    def emit(context, builder, signature, arguments):
        text, breaks, k, spans, at = arguments
        breaks, spans = (
            context.make_array(signature.args[which])(context, builder, array).data
            for which, array in ((1, breaks), (3, spans))
        )
        before, behind = (places_at(builder, breaks, builder.add(k, WORD(more))) for more in (0, 1))
        lengths = between(builder, before, behind)
        starts = builder.shl(builder.add(before, lanes(1)), lanes(LENGTH_BITS))
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


@llvm_for(hash_eight)
def _hash_eight(typing_context, text, spans, at, state):
    def emit(context, builder, signature, arguments):
        text, spans, at, state = arguments
        data = context.make_array(signature.args[1])(context, builder, spans).data
        place = group_at(builder, data, at, WORD)
        lengths = builder.and_(builder.load(place, align=8), lanes((1 << LENGTH_BITS) - 1))
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
    return builder.lshr(packed, WORD(LENGTH_BITS))


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
        states = builder.xor(states, builder.lshr(states, lanes(SHIFT)))
        states = builder.mul(states, lanes(factor))
    return builder.xor(states, builder.lshr(states, lanes(SHIFT)))
