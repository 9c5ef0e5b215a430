"""A sparse row against all outputs of a bank at once, in vector registers.

The numbers that the outputs keep of a feature lie side by side in the table, ``[output, slot]``. So every lane of a
register is one of them, and has for itself the sum that its output has alone, added up in the same order: the same to
the bit. Numba would not find out that the places are apart, and look each time anew.

Sparse rows of 68 entries are learned 1.3 times as fast by 20 outputs as with a loop
over them (benchmarks/kernel_pieces.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.data.rows import LONG_SPARSE, bank_add, bank_dots
from onlinear.kernels.compiler.inlining import overload_of

#: so many numbers are taken at once, as long as there are as many left
WIDTHS = (8, 4, 2, 1)
#: how many sums a long row is added up in: see :meth:`onlinear.data.rows.SparseRows.dot`
SUMS = 4
NUMBER = 8  # bytes
WORD = ir.IntType(64)


class Row:
    """A row's columns and values and the table, as the compiler's own language sees them."""

    def __init__(self, context: Any, builder: Any, kinds: Any, arguments: Any) -> None:
        self.builder = builder
        self.columns, self.values, self.table = (
            context.make_array(kind)(context, builder, argument).data
            for kind, argument in zip(kinds[:3], arguments[:3], strict=True)
        )

    def value(self, k: Any, width: int) -> Any:
        """Entry k in all lanes, in double precision."""
        builder = self.builder
        number = builder.load(builder.gep(self.values, [k]))
        if not isinstance(number.type, ir.DoubleType):
            number = builder.fpext(number, ir.DoubleType())
        lanes = lanes_of(width)
        one = builder.insert_element(lanes(ir.Undefined), number, ir.IntType(32)(0))
        return builder.shuffle_vector(one, lanes(ir.Undefined), ir.VectorType(ir.IntType(32), width)([0] * width))

    def squares(self, k: Any, width: int) -> Any:
        """The squares of the entries from k on, in double precision."""
        kind = self.values.type.pointee
        place = self.builder.bitcast(self.builder.gep(self.values, [k]), ir.VectorType(kind, width).as_pointer())
        numbers = self.builder.load(place, align=4 if isinstance(kind, ir.FloatType) else NUMBER)
        if isinstance(kind, ir.FloatType):
            numbers = self.builder.fpext(numbers, lanes_of(width))
        return self.builder.fmul(numbers, numbers)

    def cells(self, k: Any, place: Any, apart: Any, width: int) -> Any:
        """Where the numbers from a place on are, of the feature of entry k; features are so many numbers apart."""
        column = self.builder.zext(self.builder.load(self.builder.gep(self.columns, [k])), WORD)
        return at(self.builder, self.table, self.builder.add(self.builder.mul(column, apart), place), width)


def lanes_of(width: int) -> Any:
    return ir.VectorType(ir.DoubleType(), width)


def at(builder: Any, numbers: Any, place: Any, width: int) -> Any:
    """Where so many numbers from a place on are."""
    return builder.bitcast(builder.gep(numbers, [place]), lanes_of(width).as_pointer())


@contextmanager
def blocks(builder: Any, start: Any, stop: Any, width: int) -> Iterator[Any]:
    """A loop over whole blocks of a width; the place where each begins."""
    count = builder.sdiv(builder.sub(stop, start), WORD(width))
    with cgutils.for_range(builder, count, intp=WORD) as block:
        yield builder.add(start, builder.mul(block.index, WORD(width)))


def over_all(builder: Any, size: Any, body: Callable[[Any, int], None]) -> None:
    """``body(place, width)`` for all places up to ``size``: whole registers first, then what is left."""
    start = WORD(0)
    for width in WIDTHS:
        with blocks(builder, start, size, width) as place:
            body(place, width)
        start = builder.sub(size, builder.srem(size, WORD(width)))


@intrinsic
def _dots(typing: Any, columns: Any, values: Any, table: Any, sums: Any, length: Any, even: Any, size: Any) -> Any:
    """``even`` entries in four sums, those up to ``length`` in one more; so the squares of the row, which are answered.

    Each block of places adds those up anew, by the way: mostly there is one block.
    """

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = Row(context, builder, signature.args, arguments)
        totals = context.make_array(sums)(context, builder, arguments[3]).data
        length, even, size = arguments[4:]
        square = cgutils.alloca_once_value(builder, ir.DoubleType()(0.0))

        def dot(place: Any, width: int) -> None:
            zero = ir.Constant(lanes_of(width), [0.0] * width)
            parts = [cgutils.alloca_once(builder, lanes_of(width)) for _ in range(SUMS + 1)]
            for part in parts:
                builder.store(zero, part)
            squares = cgutils.alloca_once(builder, lanes_of(SUMS))
            other = cgutils.alloca_once(builder, lanes_of(1))
            builder.store(lanes_of(SUMS)([0.0] * SUMS), squares)
            builder.store(lanes_of(1)([0.0]), other)

            def add(part: Any, k: Any) -> None:
                weights = builder.load(row.cells(k, place, size, width), align=NUMBER)
                builder.store(builder.fadd(builder.load(part), builder.fmul(weights, row.value(k, width))), part)

            with blocks(builder, WORD(0), even, SUMS) as first:
                for lane in range(SUMS):
                    add(parts[lane], builder.add(first, WORD(lane)))
                builder.store(builder.fadd(builder.load(squares), row.squares(first, SUMS)), squares)
            with blocks(builder, even, length, 1) as k:
                add(parts[SUMS], k)
                builder.store(builder.fadd(builder.load(other), row.squares(k, 1)), other)
            total = folded(builder, *(builder.load(part) for part in parts))
            builder.store(total, at(builder, totals, place, width), align=NUMBER)
            builder.store(folded(builder, *elements(builder, squares), *elements(builder, other)), square)

        over_all(builder, size, dot)
        return builder.load(square)

    return types.float64(columns, values, table, sums, *[types.int64] * 3), emit


def folded(builder: Any, a0: Any, a1: Any, a2: Any, a3: Any, rest: Any) -> Any:
    """The four sums of a long row, and that of its other entries, added up."""
    return builder.fadd(builder.fadd(builder.fadd(a0, a2), builder.fadd(a1, a3)), rest)


def elements(builder: Any, place: Any) -> list[Any]:
    """The numbers of a vector in memory."""
    vector = builder.load(place)
    return [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(vector.type.count)]


@intrinsic
def _add(typing: Any, columns: Any, values: Any, table: Any, amounts: Any, factors: Any, length: Any, size: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        row = Row(context, builder, signature.args, arguments)
        amount_at = context.make_array(amounts)(context, builder, arguments[3]).data
        factor_at = context.make_array(factors)(context, builder, arguments[4]).data
        length, size = arguments[5:]

        def add(place: Any, width: int) -> None:
            amount = builder.load(at(builder, amount_at, place, width), align=NUMBER)
            factor = builder.load(at(builder, factor_at, place, width), align=NUMBER)
            moves = builder.fcmp_unordered("!=", amount, ir.Constant(lanes_of(width), [0.0] * width))
            with blocks(builder, WORD(0), length, 1) as k:
                cells = row.cells(k, place, size, width)
                old = builder.load(cells, align=NUMBER)
                moved = builder.fmul(builder.fmul(amount, row.value(k, width)), factor)
                # 0 is not added: it would make a 0 of a -0
                builder.store(builder.select(moves, builder.fadd(old, moved), old), cells, align=NUMBER)

        over_all(builder, size, add)
        return context.get_dummy_value()

    return types.void(columns, values, table, amounts, factors, *[types.int64] * 2), emit


@overload_of(bank_dots)
def _overload_dots(columns: Any, values: Any, table: Any, sums: Any) -> Any:
    def implementation(columns, values, table, sums):  # type: ignore
        length = np.int64(len(columns))
        even = length - length % SUMS if length >= LONG_SPARSE else np.int64(0)
        return _dots(columns, values, table, sums, length, even, np.int64(table.shape[1] * table.shape[2]))

    return implementation


@overload_of(bank_add)
def _overload_add(columns: Any, values: Any, table: Any, amounts: Any, factors: Any) -> Any:
    def implementation(columns, values, table, amounts, factors):  # type: ignore
        size = np.int64(table.shape[1] * table.shape[2])
        _add(columns, values, table, amounts, factors, np.int64(len(columns)), size)

    return implementation
