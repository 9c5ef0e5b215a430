"""Learning with a matrix rule: every output keeps the inverse of a square matrix over features and intercept."""

from __future__ import annotations

import math
from typing import Any

from onlinear.data.rows import row_column, row_columns, row_fits, row_values
from onlinear.data.targets import take_answer
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.learn.bank import member
from onlinear.kernels.learn.row_steps import (
    all_finite,
    assess,
    averages,
    has_average,
    keep_count,
    learns,
    look,
    outputs_of,
    tick,
)
from onlinear.kernels.learn.state import COUNT, SCORE, SLOPE, VALUE
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import rule_growth, rule_step


@inlined
def learn_matrix(
    loss: Any, rule: Any, options: Any, rows: Any, targets: Any, importance: Any, order: Any, state: Any
) -> int:
    """Learn the rows in the given order; answer how many were learned before one that cannot be."""
    table = state.table
    bias = state.bias
    counters = state.counters
    dense = state.dense
    outputs = outputs_of(state)
    x = dense[0]
    for position in range(order.shape[0]):
        i = order[position]
        h = importance[i]
        if h == 0.0:
            continue
        if not row_fits(rows, i, table.shape[2]):
            return position
        spread_out(rows, i, x)
        for m in range(outputs):
            counters[m, SCORE] = dense_dot(table[m, 0], x) + bias[m, 0]
        together = assess(loss, targets, i, state)
        if not (all_finite(counters[:, SCORE]) and all_finite(counters[:, VALUE]) and all_finite(counters[:, SLOPE])):
            return position
        if averages(targets):
            for m in range(outputs):
                take_answer(targets, m, answer_of(m, member(options, m), state))
        keep_count(loss, targets, i, h, state)
        for m in range(outputs):
            context = look(loss, targets, i, m, h, 0.0, together, state)
            if learns(targets, i, m, state) and not learn_output(
                member(loss, m), member(rule, m), member(options, m), m, context, state
            ):
                return position
    return order.shape[0]


@inlined
def answer_of(m: int, options: Any, state: Any) -> float:
    """What output m answers: by its average, if it has one."""
    if not has_average(m, options, state):
        return state.counters[m, SCORE]
    slot = int(options.mean_slot)
    return -(dense_dot(state.table[m, slot], state.dense[0]) + state.bias[m, slot]) / state.counters[m, COUNT]


@inlined
def spread_out(rows: Any, i: int, x: Any) -> None:
    """Write the row to ``x``; the place behind it is the intercept's."""
    x[:] = 0.0
    columns = row_columns(rows, i)
    values = row_values(rows, i)
    for k in range(len(values)):
        x[row_column(rows, columns, k)] += float(values[k])


@inlined
def dense_dot(a: Any, b: Any) -> float:
    """The product of ``a`` with the beginning of ``b``, in four lanes.

    Each place has a lane of its own, however many there are: zeros behind the last one change nothing.
    """
    even = len(a) - len(a) % 4
    a0 = a1 = a2 = a3 = 0.0
    for j in range(0, even, 4):
        a0 += a[j] * b[j]
        a1 += a[j + 1] * b[j + 1]
        a2 += a[j + 2] * b[j + 2]
        a3 += a[j + 3] * b[j + 3]
    if even < len(a):
        a0 += a[even] * b[even]
    if even + 1 < len(a):
        a1 += a[even + 1] * b[even + 1]
    if even + 2 < len(a):
        a2 += a[even + 2] * b[even + 2]
    return (a0 + a2) + (a1 + a3)


@inlined
def times(matrix: Any, x: Any, z: Any) -> None:
    """Write ``P x`` to ``z``; P is symmetric, so its rows serve as columns, and zeros cost nothing."""
    z[:] = 0.0
    for j in range(len(x)):
        if x[j] != 0.0:
            for k in range(len(z)):
                z[k] += x[j] * matrix[j, k]


@inlined
def learn_output(loss: Any, rule: Any, options: Any, m: int, context: StepContext, state: Any) -> bool:
    """Grow the matrix of one output by its share of ``x x^T`` and step; answer whether all is finite."""
    table = state.table
    bias = state.bias
    counters = state.counters
    matrix = state.matrix
    dense = state.dense
    fine = True
    growth = rule_growth(rule, context)
    if (counters[m, SLOPE] != 0.0 or growth != 0.0) and context.importance > 0.0:
        x = dense[0]
        z = dense[1]
        last = len(x) - 1
        x[last] = options.intercept
        times(matrix[m], x, z)
        reach = dense_dot(x[:last], z) + x[last] * z[last]  # apart: its place, and so its lane, moves with the width
        divisor = 1.0 + growth * reach
        step = rule_step(rule, loss, context) / divisor
        fine = math.isfinite(step) and divisor > 0.0
        if fine:
            rank_one(matrix[m], z, growth / divisor)
            move(table[m, 0], bias, m, z, step)
    averaged = tick(m, options.forget, options.average_from, state)
    if averaged:
        slot = int(options.mean_slot)
        table[m, slot] -= table[m, 0]
        bias[m, slot] -= bias[m, 0]
    return fine


@inlined
def rank_one(inverse: Any, z: Any, share: float) -> None:
    """Sherman-Morrison: ``P -= share z z^T``."""
    for j in range(z.shape[0]):
        scaled = share * z[j]
        for k in range(z.shape[0]):
            inverse[j, k] -= scaled * z[k]


@inlined
def move(weights: Any, bias: Any, m: int, z: Any, step: float) -> None:
    for j in range(weights.shape[0]):
        weights[j] += step * z[j]
    bias[m, 0] += step * z[weights.shape[0]]
