"""Eight entries of svmlight text at once, in the lanes of vector registers: see ``text/svmlight.py``.

svmlight text is read 2.2 times as fast as entry by entry (benchmarks/kernel_pieces.py).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from llvmlite import ir
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
from onlinear.kernels.text.decimals import (
    BEYOND_NINE,
    CHUNK_ZEROS,
    HIGHEST_BITS,
    INNER_PAIRS,
    LIMB,
    MINUS,
    OUTER_PAIRS,
    PAIRS,
    POINT,
    ZERO,
)
from onlinear.kernels.text.parsed import BLANK, COLON, EIGHT
from onlinear.kernels.text.svmlight import read_eight

_DOUBLE = ir.DoubleType()
_NUMBERS = ir.VectorType(_DOUBLE, EIGHT)
_PLACES = ir.VectorType(HALF, 2 * EIGHT)


@llvm_for(read_eight)
def _read_eight(typing_context, text, breaks, k, columns, values, at, last, first_index, most_columns):
    def emit(context, builder, signature, arguments):
        text, breaks, k, columns, values, at, *bounds = arguments
        breaks, columns, values = (
            context.make_array(signature.args[which])(context, builder, array).data
            for which, array in ((1, breaks), (3, columns), (4, values))
        )
        places = [
            [place_of(builder, breaks, builder.add(k, WORD(2 * lane + which))) for lane in range(EIGHT)]
            for which in range(2)
        ]
        blanks, colons, ends = positions(builder, breaks, k)
        heads, tails = words_at(builder, text, places[1], 0), words_at(builder, text, places[1], 8)
        shape = builder.and_(
            are_bytes(builder, "==", words_at(builder, text, places[0], 0, BYTE), BLANK),
            is_byte(builder, heads, 0, COLON),
        )
        indices = words_at(builder, text, places[0], 1)
        sound = read_columns(
            builder, indices, between(builder, blanks, colons), bounds, group_at(builder, columns, at, HALF)
        )
        lengths = between(builder, colons, ends)
        plain = read_values(builder, heads, tails, lengths, shape, group_at(builder, values, at, _DOUBLE))
        bits = [bits_of(builder, mask) for mask in (shape, sound, plain)]
        return context.make_tuple(builder, signature.return_type, bits)

    given = (text, breaks, types.uint64, columns, values, types.uint64, types.int64, types.int64, types.int64)
    return types.UniTuple(types.uint64, 3)(*given), emit


def read_columns(builder, indices, count, bounds, place):
    """Write the columns; which of them are as they should be."""
    last, first_index, most_columns = (spread_out(builder, bound) for bound in bounds)
    index, good = digits_in(builder, indices, count)
    column = builder.sub(index, first_index)
    builder.store(builder.trunc(column, ir.VectorType(HALF, EIGHT)), place, align=4)
    before = builder.shuffle_vector(column, last, order([EIGHT, *range(EIGHT - 1)]))
    good = builder.and_(good, builder.icmp_signed(">", column, before))
    return builder.and_(good, builder.icmp_signed("<", column, most_columns))


def read_values(builder, heads, tails, lengths, shape, place):
    """Write the values, each in sixteen bytes from its colon on; which of them were read."""
    negative = is_byte(builder, heads, 1, MINUS)
    skip = builder.select(negative, lanes(16), lanes(8))  # bits of colon and sign
    lengths = builder.sub(lengths, builder.zext(negative, LANES))
    number = shifted(builder, heads, tails, skip)
    first = builder.sub(builder.and_(number, lanes(0xFF)), lanes(ZERO))
    after = builder.sub(lengths, lanes(2))
    rest, plain = digits_in(builder, shifted(builder, heads, tails, builder.add(skip, lanes(16))), after)
    plain = builder.and_(plain, is_byte(builder, number, 1, POINT))
    plain = builder.and_(plain, builder.icmp_unsigned("<=", first, lanes(9)))
    tens = tens_of(builder, after)
    whole = builder.fadd(builder.fmul(builder.sitofp(first, _NUMBERS), tens), builder.sitofp(rest, _NUMBERS))
    value = signed(builder, negative, builder.fdiv(whole, tens))  # of two exact numbers
    found = cgutils.alloca_once_value(builder, plain)
    result = cgutils.alloca_once_value(builder, value)
    with builder.if_then(any_of(builder, builder.and_(shape, builder.not_(plain)))):
        digits, whole_ones = digits_in(builder, number, lengths)
        integer = signed(builder, negative, builder.sitofp(digits, _NUMBERS))
        builder.store(builder.select(plain, value, integer), result)
        builder.store(builder.or_(plain, whole_ones), found)
    builder.store(builder.load(result), place, align=8)
    return builder.load(found)


def digits_in(builder, words, count):
    """As :func:`onlinear.kernels.text.words.digits_in`; and whether there are one to eight digits, and nothing else."""
    shift = builder.and_(builder.shl(builder.sub(lanes(8), count), lanes(3)), lanes(63))
    digits = builder.shl(builder.xor(words, lanes(CHUNK_ZEROS)), shift)
    others = builder.and_(builder.or_(builder.add(digits, lanes(BEYOND_NINE)), digits), lanes(HIGHEST_BITS))
    good = builder.icmp_unsigned("==", others, lanes(0))
    good = builder.and_(good, builder.icmp_unsigned("<", builder.sub(count, lanes(1)), lanes(8)))
    pairs = builder.add(builder.mul(digits, lanes(10)), builder.lshr(digits, lanes(8)))
    outer = builder.mul(builder.and_(pairs, lanes(PAIRS)), lanes(OUTER_PAIRS))
    inner = builder.mul(builder.and_(builder.lshr(pairs, lanes(16)), lanes(PAIRS)), lanes(INNER_PAIRS))
    return builder.lshr(builder.add(outer, inner), lanes(LIMB)), good


def signed(builder, negative, numbers):
    return builder.select(negative, builder.fneg(numbers), numbers)


def shifted(builder, heads, tails, bits):
    """Eight of sixteen bytes, without the first ones."""
    return builder.or_(builder.lshr(heads, bits), builder.shl(tails, builder.sub(lanes(64), bits)))


def tens_of(builder, powers):
    """Powers of ten, by the lowest four bits of the exponents."""
    tens = None
    for bit in range(4):
        is_set = builder.icmp_unsigned("!=", builder.and_(powers, lanes(1 << bit)), lanes(0))
        factor = builder.select(is_set, _NUMBERS([10.0 ** (1 << bit)] * EIGHT), _NUMBERS([1.0] * EIGHT))
        tens = factor if tens is None else builder.fmul(tens, factor)
    return tens


def positions(builder, breaks, k):
    """Where the blanks, the colons and the ends of eight entries are."""
    here, there = (
        builder.load(builder.bitcast(builder.gep(breaks, [builder.add(k, WORD(more))]), _PLACES.as_pointer()), align=4)
        for more in (0, 2)
    )
    evens, odds = order(range(0, 2 * EIGHT, 2)), order(range(1, 2 * EIGHT, 2))
    halves = ((here, evens), (here, odds), (there, evens))
    return [builder.zext(builder.shuffle_vector(half, half, which), LANES) for half, which in halves]


def is_byte(builder, words, which, byte):
    found = builder.and_(builder.lshr(words, lanes(8 * which)), lanes(0xFF))
    return builder.icmp_unsigned("==", found, lanes(byte))


def order(which):
    which = list(which)
    return ir.VectorType(HALF, len(which))(which)
