"""Scores of some dense rows at once, in vector registers: see :mod:`onlinear.kernels.learn.scoring`.

Of short rows each lane is an output, of long ones a column. Numba does not find out that the sums are apart.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from onlinear.data.rows import LANES
from onlinear.kernels.compiler.inlining import llvm_for
from onlinear.kernels.compiler.internals.bank_simd import NUMBER, WORD, at, lanes_of, over_all
from onlinear.kernels.compiler.internals.dense_dot import folded, lanes_at
from onlinear.kernels.learn import scoring

#: a double
FLOAT = ir.DoubleType()


def overload_short_dots(function: Any, rows: int) -> None:
    """The products of some rows, from row i on, with the weights of all outputs: each lane is an output."""

    @llvm_for(function)
    def _dots(typing: Any, values: Any, weights: Any, scores: Any, i: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, w, out = arrays_of(context, builder, signature, arguments)
            length, outputs = (builder.extract_value(w.shape, axis) for axis in (0, 1))
            numbers = [row_at(builder, x, i, length) for i in rows_from(builder, arguments[3], rows)]
            places = [row_at(builder, out, i, outputs) for i in rows_from(builder, arguments[3], rows)]

            def add_up(place: Any, width: int) -> None:
                sums = [zeros(builder, width) for _ in range(rows)]
                with cgutils.for_range(builder, length, intp=WORD) as each:
                    first = builder.add(builder.mul(each.index, outputs), place)
                    weight = builder.load(at(builder, w.data, first, width), align=NUMBER)
                    for row, total in zip(numbers, sums, strict=True):
                        number = number_at(builder, row, each.index)
                        add_to(builder, total, weight, in_all_lanes(builder, number, width))
                for row, total in zip(places, sums, strict=True):
                    builder.store(builder.load(total), at(builder, row, place, width), align=NUMBER)

            over_all(builder, outputs, add_up)
            return context.get_dummy_value()

        return types.void(values, weights, scores, types.int64), emit


def overload_long_dots(function: Any, rows: int, outputs: int) -> None:
    """The products of some rows and some outputs, from row i and output m on: each lane is a column."""

    @llvm_for(function)
    def _dots(typing: Any, values: Any, weights: Any, scores: Any, i: Any, m: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            x, w, out = arrays_of(context, builder, signature, arguments)
            length, width = builder.extract_value(w.shape, 1), builder.extract_value(out.shape, 1)
            even = builder.sub(length, builder.urem(length, WORD(LANES)))
            here = rows_from(builder, arguments[3], rows)
            there = rows_from(builder, arguments[4], outputs)
            numbers = [row_at(builder, x, i, length) for i in here]
            cells = [row_at(builder, w, m, length) for m in there]
            sums = [[zeros(builder, LANES) for _ in cells] for _ in numbers]
            with cgutils.for_range(builder, builder.udiv(even, WORD(LANES)), intp=WORD) as block:
                start = builder.mul(block.index, WORD(LANES))
                weights_here = [lanes_at(builder, cell, start) for cell in cells]
                for row, totals in zip(numbers, sums, strict=True):
                    values_here = lanes_at(builder, row, start)
                    for weight, total in zip(weights_here, totals, strict=True):
                        add_to(builder, total, weight, values_here)
            for i, row, totals in zip(here, numbers, sums, strict=True):
                for m, cell, total in zip(there, cells, totals, strict=True):
                    rest = rest_of(builder, row, cell, even, length)
                    found = builder.fadd(folded(builder, builder.load(total)), rest)
                    builder.store(found, builder.gep(row_at(builder, out, i, width), [m]))
            return context.get_dummy_value()

        return types.void(values, weights, scores, types.int64, types.int64), emit


overload_short_dots(scoring.dots_of_one_row, 1)
overload_short_dots(scoring.dots_of_four_rows, scoring.SHORT_ROWS)
overload_long_dots(scoring.long_dot, 1, 1)
overload_long_dots(scoring.long_dots_one_by_two, 1, scoring.LONG_OUTPUTS)
overload_long_dots(scoring.long_dots_two_by_one, scoring.LONG_ROWS, 1)
overload_long_dots(scoring.long_dots_two_by_two, scoring.LONG_ROWS, scoring.LONG_OUTPUTS)


# ------------------------------------------------------------------ instructions


def arrays_of(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The first three arguments."""
    kinds = zip(signature.args[:3], arguments[:3], strict=True)
    return [context.make_array(kind)(context, builder, argument) for kind, argument in kinds]


def rows_from(builder: Any, first: Any, count: int) -> list[Any]:
    return [builder.add(first, WORD(each)) for each in range(count)]


def row_at(builder: Any, array: Any, i: Any, width: Any) -> Any:
    """Where row i of an array begins."""
    return builder.gep(array.data, [builder.mul(i, width)])


def rest_of(builder: Any, row: Any, cell: Any, start: Any, stop: Any) -> Any:
    """The products from a column on, one after the other."""
    rest = zeros(builder, 1)
    with cgutils.for_range(builder, builder.sub(stop, start), intp=WORD) as each:
        k = builder.add(start, each.index)
        number = in_all_lanes(builder, number_at(builder, row, k), 1)
        add_to(builder, rest, in_all_lanes(builder, number_at(builder, cell, k), 1), number)
    return builder.extract_element(builder.load(rest), ir.IntType(32)(0))


def number_at(builder: Any, numbers: Any, k: Any) -> Any:
    """Number k in double precision."""
    number = builder.load(builder.gep(numbers, [k]))
    return builder.fpext(number, FLOAT) if isinstance(number.type, ir.FloatType) else number


def in_all_lanes(builder: Any, number: Any, width: int) -> Any:
    one = builder.insert_element(lanes_of(width)(ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, lanes_of(width)(ir.Undefined), ir.VectorType(ir.IntType(32), width)([0] * width))


def zeros(builder: Any, width: int) -> Any:
    """A place for sums, which is a register in the end."""
    place = cgutils.alloca_once(builder, lanes_of(width))
    builder.store(lanes_of(width)([0.0] * width), place)
    return place


def add_to(builder: Any, total: Any, weight: Any, number: Any) -> None:
    builder.store(builder.fadd(builder.load(total), builder.fmul(weight, number)), total)
