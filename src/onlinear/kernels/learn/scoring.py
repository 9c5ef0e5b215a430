"""Scores of rows, for answers only: of a row the same bits alone and in a table, and those it is learned with.

A row's product with the weights of an output is added up in the order of :func:`onlinear.data.rows.sparse_dot` or
:func:`onlinear.data.rows.dense_dot`, whatever stands beside them. So several rows and outputs are taken at once, each
with sums of its own, and a weight is read once for some rows.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np

from onlinear.data.rows import SparseRows, bank_dots, dense_dot, double, row_dot
from onlinear.kernels.compiler.inlining import inlined, plain_way, register_overloads
from onlinear.kernels.compiler.loop import compile_loop, compiled_loop, is_ours

#: how many rows are taken at once, short ones and long ones; and outputs, of long rows
SHORT_ROWS, LONG_ROWS, LONG_OUTPUTS = 4, 2, 2
#: rows whose sums are taken together, column by column; and the outputs up to which that is quicker than a copy by rows
ROWS_OF_COLUMNS, FEW_OUTPUTS = 1024, 4


@compiled_loop
def score_sparse(starts, columns, values, weights, scales, intercepts, scores):
    """Score sparse rows: ``scores[row, output] = scale * product + intercept``.

    ``weights`` are ``[column, output, 1]``, a table of one slot. There must be one for each column of the rows.
    """
    rows = SparseRows(starts, columns, values)
    outputs = scores.shape[1]
    for i in range(scores.shape[0]):
        if outputs == 1:
            scores[i, 0] = row_dot(rows, i, weights, 0)
        else:
            start, stop = np.uint64(starts[i]), np.uint64(starts[i + 1])
            bank_dots(columns[start:stop], values[start:stop], weights, scores[i])
        for m in range(outputs):
            scores[i, m] = scores[i, m] * scales[m] + intercepts[m]


@compiled_loop
def score_dense(values, weights, scales, intercepts, scores):
    """Score dense rows of fewer than ``LONG_DENSE`` columns; ``weights`` are ``[column, output]``.

    On one thread, 10 000 rows of 100 columns and 10 outputs take 0.6 of the time of NumPy's product, and a plain loop
    takes 4.7 of it.
    """
    rows, outputs = np.int64(scores.shape[0]), scores.shape[1]
    even = rows - rows % SHORT_ROWS
    for i in range(0, even, SHORT_ROWS):
        dots_of_four_rows(values, weights, scores, i)
    for i in range(even, rows):
        dots_of_one_row(values, weights, scores, i)
    for i in range(rows):
        for m in range(outputs):
            scores[i, m] = scores[i, m] * scales[m] + intercepts[m]


@compiled_loop
def score_by_column(values, weights, scales, intercepts, scores):
    """As :func:`score_dense`, of rows whose columns each lie together in memory, as those of a data frame do.

    On one thread, 20 000 rows of 30 columns and one output take 0.24 of the time of a copy by rows and
    :func:`score_dense`, 3 outputs 0.41, and 10 outputs of 60 columns 1.1.
    """
    rows = scores.shape[0]
    totals = np.empty(ROWS_OF_COLUMNS)
    for start in range(0, rows, ROWS_OF_COLUMNS):
        count = min(ROWS_OF_COLUMNS, rows - start)
        for m in range(scores.shape[1]):
            totals[:count] = 0.0
            for k in range(weights.shape[0]):
                weight, column = weights[k, m], values[start : start + count, k]
                for i in range(count):
                    totals[i] += weight * double(column[i])
            for i in range(count):
                scores[start + i, m] = totals[i] * scales[m] + intercepts[m]


@compiled_loop
def score_long(values, weights, scales, intercepts, scores):
    """Score longer dense rows; ``weights`` are ``[output, column]``.

    On one thread, 10 000 rows of 784 columns and 10 outputs take 0.75 of the time of NumPy's product; row by row and
    output by output they take 1.1, and 26 outputs 1.5 instead of 0.9.
    """
    rows, outputs = np.int64(scores.shape[0]), np.int64(scores.shape[1])
    even, pairs = rows - rows % LONG_ROWS, outputs - outputs % LONG_OUTPUTS
    for i in range(0, even, LONG_ROWS):
        for m in range(0, pairs, LONG_OUTPUTS):
            long_dots_two_by_two(values, weights, scores, i, m)
        for m in range(pairs, outputs):
            long_dots_two_by_one(values, weights, scores, i, m)
    for i in range(even, rows):
        for m in range(0, pairs, LONG_OUTPUTS):
            long_dots_one_by_two(values, weights, scores, i, m)
        for m in range(pairs, outputs):
            long_dot(values, weights, scores, i, m)
    for i in range(rows):
        for m in range(outputs):
            scores[i, m] = scores[i, m] * scales[m] + intercepts[m]


@plain_way("score_simd")
def dots_of_one_row(values, weights, scores, i):
    """The products of row i with the weights of all outputs, ``[column, output]``."""
    for m in range(weights.shape[1]):
        total = 0.0
        for k in range(weights.shape[0]):
            total += weights[k, m] * double(values[i, k])
        scores[i, m] = total


@plain_way("score_simd")
def dots_of_four_rows(values, weights, scores, i):
    """The same for four rows from row i on."""
    for row in range(i, i + SHORT_ROWS):
        for m in range(weights.shape[1]):
            total = 0.0
            for k in range(weights.shape[0]):
                total += weights[k, m] * double(values[row, k])
            scores[row, m] = total


@plain_way("score_simd")
def long_dot(values, weights, scores, i, m):
    """The product of row i with the weights of output m, ``[output, column]``."""
    scores[i, m] = dense_dot(weights[m], values[i])


@plain_way("score_simd")
def long_dots_one_by_two(values, weights, scores, i, m):
    """The same for two outputs from output m on."""
    scores[i, m] = dense_dot(weights[m], values[i])
    scores[i, m + 1] = dense_dot(weights[m + 1], values[i])


@plain_way("score_simd")
def long_dots_two_by_one(values, weights, scores, i, m):
    """The same for two rows from row i on, and one output."""
    scores[i, m] = dense_dot(weights[m], values[i])
    scores[i + 1, m] = dense_dot(weights[m], values[i + 1])


@plain_way("score_simd")
def long_dots_two_by_two(values, weights, scores, i, m):
    """The same for two rows and two outputs."""
    for row in range(i, i + LONG_ROWS):
        scores[row, m] = dense_dot(weights[m], values[row])
        scores[row, m + 1] = dense_dot(weights[m + 1], values[row])


# ------------------------------------------------------------------ probabilities


def link(loss: Any, scores: np.ndarray, probabilities: np.ndarray) -> None:
    """Write the probabilities of rows, ``[row, class]``, by the link of a loss: compiled, unless it cannot be."""
    kind: Any = type(loss)
    loop = link_rows(kind) if hasattr(loss, "slopes") else link_scores(kind)
    loop(loss, scores, probabilities)


@cache
def link_scores(loss: Any) -> Callable[..., None]:
    """The loop of :func:`link` for scores ``[row, output]``.

    A single column of scores is that of the second of two classes. Of several classes each has a score against the
    rest, and their probabilities are made to add up to 1: all alike, where none has a chance.
    """
    method = inlined(loss.link)

    def link_each(loss, scores, probabilities):
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

    return compile_link(link_each, loss)


@cache
def link_rows(loss: Any) -> Callable[..., None]:
    """The same for a loss that sees all scores of a row."""
    method = inlined(loss.link)

    def link_whole_rows(loss, scores, probabilities):
        for i in range(scores.shape[0]):
            method(loss, scores[i], probabilities[i])

    return compile_link(link_whole_rows, loss)


@cache
def link_of_pair(loss: Any) -> Callable[[Any, float], float]:
    """Compiled ``link(loss, score) -> probability`` of the second of two classes, for one row alone.

    ``predict_proba_one`` takes a third of the time that it takes by :func:`link`, which wants an array.
    """
    method = inlined(loss.link)

    def link_one_score(loss, score):
        return method(loss, score)

    return compile_link(link_one_score, loss)


def compile_link(loop: Any, loss: Any) -> Callable[..., Any]:
    """The loop, compiled; or as it is, where a link of the user's own cannot be."""
    if is_ours(loss):
        return compile_loop(loop, loss)
    compiled = numba.njit(nogil=True, error_model="numpy")(loop)
    chosen = None

    def run(*arguments: Any) -> Any:
        nonlocal chosen
        if chosen is None:
            chosen = compiled if can_be_compiled(compiled, arguments) else loop
        return chosen(*arguments)

    return run


def can_be_compiled(function: Any, arguments: tuple[Any, ...]) -> bool:
    register_overloads()
    try:
        function.compile(tuple(map(numba.typeof, arguments)))
    except Exception:  # each of Numba's passes has errors of its own
        return False
    return True
