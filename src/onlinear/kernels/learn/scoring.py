"""Scores of rows, for answers only: of a row the same bits alone and in a table, and those it is learned with.

A row's product with the weights of an output is added up in the order of :func:`onlinear.data.rows.sparse_dot` or
:func:`onlinear.data.rows.dense_dot`, whatever stands beside them. So several rows and outputs are taken at once, each
with sums of its own, and a weight is read once for some rows.
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
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.data.rows import LANES, SparseRows, dots_abreast, row_dot
from onlinear.kernels.compiler.inlining import part
from onlinear.kernels.compiler.uncounted import bare
from onlinear.kernels.learn.bank_simd import NUMBER, WORD, at, lanes_of, over_all
from onlinear.kernels.learn.dense_dot import folded, lanes_at
from onlinear.kernels.loops import is_ours, kept, named, source_digest

#: how many rows are taken at once, short ones and long ones; and outputs, of long rows
SHORT_ROWS, LONG_ROWS, LONG_OUTPUTS = 4, 2, 2
#: loops of losses of the user's own whose link only Python can run
INTERPRETED: set[Any] = set()
#: a double
FLOAT = ir.DoubleType()


@cache
def score_sparse() -> Any:
    """The compiled loop for sparse rows: ``scores[row, output] = scale * product + intercept``.

    ``weights`` are ``[column, output, 1]``, a table of one slot. There must be one for each column of the rows.
    """
    digest = source_digest()

    def loop(starts, columns, values, weights, scales, intercepts, scores):
        _ = digest
        rows = SparseRows(bare(starts), bare(columns), bare(values))
        weights, scores = bare(weights), bare(scores)
        outputs = scores.shape[1]
        for i in range(scores.shape[0]):
            if outputs == 1:
                scores[i, 0] = row_dot(rows, i, weights, 0)
            else:
                start, stop = np.uint64(rows.starts[i]), np.uint64(rows.starts[i + 1])
                dots_abreast(rows.columns[start:stop], rows.values[start:stop], weights, scores[i])
            for m in range(outputs):
                scores[i, m] = scores[i, m] * scales[m] + intercepts[m]

    return kept(numba.njit(nogil=True, error_model="numpy")(named(loop, score_sparse)))


@cache
def score_dense() -> Any:
    """The same for dense rows of fewer than ``LONG_DENSE`` columns; ``weights`` are ``[column, output]``.

    On one thread, 10 000 rows of 100 columns and 10 outputs take 0.6 of the time of NumPy's product, and a plain loop
    takes 4.7 of it.
    """
    digest = source_digest()
    some, one = short_tile(SHORT_ROWS), short_tile(1)

    def loop(values, weights, scales, intercepts, scores):
        _ = digest
        values, weights, scores = bare(values), bare(weights), bare(scores)
        rows, outputs = np.int64(scores.shape[0]), scores.shape[1]
        even = rows - rows % SHORT_ROWS
        for i in range(0, even, SHORT_ROWS):
            some(values, weights, scores, i)
        for i in range(even, rows):
            one(values, weights, scores, i)
        for i in range(rows):
            for m in range(outputs):
                scores[i, m] = scores[i, m] * scales[m] + intercepts[m]

    return kept(numba.njit(nogil=True, error_model="numpy")(named(loop, score_dense)))


@cache
def score_long() -> Any:
    """The same for longer dense rows; ``weights`` are ``[output, column]``.

    On one thread, 10 000 rows of 784 columns and 10 outputs take 0.75 of the time of NumPy's product; row by row and
    output by output they take 1.1, and 26 outputs 1.5 instead of 0.9.
    """
    digest = source_digest()
    both, rows_alone = long_tile(LONG_ROWS, LONG_OUTPUTS), long_tile(LONG_ROWS, 1)
    outputs_alone, one = long_tile(1, LONG_OUTPUTS), long_tile(1, 1)

    def loop(values, weights, scales, intercepts, scores):
        _ = digest
        values, weights, scores = bare(values), bare(weights), bare(scores)
        rows, outputs = np.int64(scores.shape[0]), np.int64(scores.shape[1])
        even, pairs = rows - rows % LONG_ROWS, outputs - outputs % LONG_OUTPUTS
        for i in range(0, even, LONG_ROWS):
            for m in range(0, pairs, LONG_OUTPUTS):
                both(values, weights, scores, i, m)
            for m in range(pairs, outputs):
                rows_alone(values, weights, scores, i, m)
        for i in range(even, rows):
            for m in range(0, pairs, LONG_OUTPUTS):
                outputs_alone(values, weights, scores, i, m)
            for m in range(pairs, outputs):
                one(values, weights, scores, i, m)
        for i in range(rows):
            for m in range(outputs):
                scores[i, m] = scores[i, m] * scales[m] + intercepts[m]

    return kept(numba.njit(nogil=True, error_model="numpy")(named(loop, score_long)))


def short_tile(rows: int) -> Any:
    """The products of some rows, from row i on, with the weights of all outputs: each lane is an output."""

    @intrinsic
    def tile(typing, values, weights, scores, i):
        def generate(context, builder, signature, arguments):
            x, w, out = arrays_of(context, builder, signature, arguments)
            length, outputs = (builder.extract_value(w.shape, axis) for axis in (0, 1))
            numbers = [row_at(builder, x, i, length) for i in rows_from(builder, arguments[3], rows)]
            places = [row_at(builder, out, i, outputs) for i in rows_from(builder, arguments[3], rows)]

            def add_up(place, width):
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

        return types.void(values, weights, scores, types.int64), generate

    return tile


def long_tile(rows: int, outputs: int) -> Any:
    """The products of some rows and some outputs, from row i and output m on: each lane is a column."""

    @intrinsic
    def tile(typing, values, weights, scores, i, m):
        def generate(context, builder, signature, arguments):
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
                    rest = zeros(builder, 1)
                    with cgutils.for_range(builder, builder.sub(length, even), intp=WORD) as each:
                        k = builder.add(even, each.index)
                        one = in_all_lanes(builder, number_at(builder, row, k), 1)
                        add_to(builder, rest, in_all_lanes(builder, number_at(builder, cell, k), 1), one)
                    last = builder.extract_element(builder.load(rest), ir.IntType(32)(0))
                    found = builder.fadd(folded(builder, builder.load(total)), last)
                    builder.store(found, builder.gep(row_at(builder, out, i, width), [m]))
            return context.get_dummy_value()

        return types.void(values, weights, scores, types.int64, types.int64), generate

    return tile


# ------------------------------------------------------------------ instructions


def arrays_of(context, builder, signature, arguments):
    """The first three arguments."""
    kinds = zip(signature.args[:3], arguments[:3], strict=True)
    return [context.make_array(kind)(context, builder, argument) for kind, argument in kinds]


def rows_from(builder, first, count):
    return [builder.add(first, WORD(each)) for each in range(count)]


def row_at(builder, array, i, width):
    """Where row i of an array begins."""
    return builder.gep(array.data, [builder.mul(i, width)])


def number_at(builder, numbers, k):
    """Number k in double precision."""
    number = builder.load(builder.gep(numbers, [k]))
    return builder.fpext(number, FLOAT) if isinstance(number.type, ir.FloatType) else number


def in_all_lanes(builder, number, width):
    one = builder.insert_element(lanes_of(width)(ir.Undefined), number, ir.IntType(32)(0))
    return builder.shuffle_vector(one, lanes_of(width)(ir.Undefined), ir.VectorType(ir.IntType(32), width)([0] * width))


def zeros(builder, width):
    """A place for sums, which is a register in the end."""
    place = cgutils.alloca_once(builder, lanes_of(width))
    builder.store(lanes_of(width)([0.0] * width), place)
    return place


def add_to(builder, total, weight, number):
    builder.store(builder.fadd(builder.load(total), builder.fmul(weight, number)), total)


# ------------------------------------------------------------------ probabilities


def link(loss: Any, scores: np.ndarray, probabilities: np.ndarray) -> None:
    """Write the probabilities of rows, ``[row, class]``, by the link of a loss: compiled, unless it cannot be."""
    kind: Any = type(loss)
    loop = link_rows(kind) if hasattr(loss, "slopes") else link_scores(kind)
    if not (is_ours(kind) or loop.signatures or loop in INTERPRETED):
        try:
            loop.compile(tuple(map(numba.typeof, (loss, scores, probabilities))))
        except Exception:  # each of Numba's passes has errors of its own
            INTERPRETED.add(loop)
    (loop.py_func if loop in INTERPRETED else loop)(loss, scores, probabilities)


@cache
def link_scores(loss: Any) -> Any:
    """The compiled loop of :func:`link` for scores ``[row, output]``.

    A single column of scores is that of the second of two classes. Of several classes each has a score against the
    rest, and their probabilities are made to add up to 1: all alike, where none has a chance.
    """
    method = part(loss.link)
    digest = source_digest()

    def loop(loss, scores, probabilities):
        _ = digest
        outputs = scores.shape[1]
        for i in range(scores.shape[0]):
            if outputs == 1:
                probability = method(loss, scores[i, 0])
                probabilities[i, 0], probabilities[i, 1] = 1.0 - probability, probability
                continue
            total = 0.0
            for m in range(outputs):
                probabilities[i, m] = method(loss, scores[i, m])
                total += probabilities[i, m]
            for m in range(outputs):
                probabilities[i, m] = probabilities[i, m] / total if total > 0.0 else 1.0 / outputs

    return link_loop(loop, loss)


@cache
def link_rows(loss: Any) -> Any:
    """The same for a loss that sees all scores of a row."""
    method = part(loss.link)
    digest = source_digest()

    def loop(loss, scores, probabilities):
        _ = digest
        for i in range(scores.shape[0]):
            method(loss, scores[i], probabilities[i])

    return link_loop(loop, loss)


def link_loop(loop: Any, loss: type) -> Any:
    compiled = numba.njit(nogil=True, error_model="numpy")(named(loop, loss))
    return kept(compiled) if is_ours(loss) else compiled
