"""Learning with a uniform rule: every weight moves by ``step * x``.

The weights are ``SCALE`` times the table, so that an L2 penalty costs one multiplication a row. The L1 penalty is the
cumulative penalty of Tsuruoka, Tsujii & Ananiadou (ACL 2009): ``OWED`` is what every weight should have paid by now,
and a slot beside the weight what it has paid (signed); a weight pays before it is scored.

The average is lazy: with ``M`` the mass averaged before an update ``d``, ``sum_t w_t = MASS v - u`` where ``u`` sums
``M d``.
"""

from __future__ import annotations

import math
from typing import Any

from onlinear.data.rows import (
    AHEAD,
    cell_get,
    cell_set,
    double,
    row_add,
    row_add_to_all,
    row_add_twice,
    row_columns,
    row_dot,
    row_dot_and_square,
    row_dots,
    row_fetch,
    row_fits,
    row_serves_bank,
    row_values,
    width_of,
)
from onlinear.data.targets import take_answer
from onlinear.kernels.compiler.inlining import cold, inlined
from onlinear.kernels.learn.bank import member
from onlinear.kernels.learn.row_steps import (
    assess,
    averaged,
    averages,
    count_output,
    count_row,
    has_average,
    keep,
    learns,
    look,
    outputs_of,
    restore,
    row_length,
    tick,
)
from onlinear.kernels.learn.state import (
    AMOUNTS,
    COUNT,
    FACTORS,
    FLUSHED,
    LEAST_SCALE,
    MASS,
    NORM,
    OBJECTIVE,
    OWED,
    PACE,
    PULL,
    PULLED,
    RADIUS,
    SCALE,
    SCORE,
    SQUARES,
    STEP,
    SUMS,
    VALUE,
    T,
)
from onlinear.rules.dispatch import rule_norm, rule_radius, rule_rate, rule_step

#: a weight that would move further than this is taken for divergence: sums of such moves stay finite, also scaled
LARGEST_MOVE = 1e290
#: a bank of which no more than one in so many outputs moves is moved one by one
FEW = 4


@inlined
def learn_uniform(
    loss: Any, rule: Any, options: Any, rows: Any, targets: Any, importance: Any, order: Any, state: Any
) -> int:
    """Learn the rows in the given order; answer how many were learned before one that cannot be.

    That one leaves no trace, but for the L1 penalty that its weights have paid.
    """
    table = state.table
    counters = state.counters
    for position in range(order.shape[0]):
        if position + AHEAD < order.shape[0]:
            row_fetch(rows, order[position + AHEAD])
        i = order[position]
        h = importance[i]
        if h == 0.0:
            continue
        if not row_fits(rows, i, width_of(rows, table)):
            return position
        keep(state, SCORE)
        square = score_outputs(rule, options, rows, targets, i, state)
        together = assess(loss, targets, i, state)
        norm = 0.0
        if rule_norm(member(rule, 0)) or member(options, 0).track > 0.0:
            norm = row_length(rows, i)
        if not plan_steps(loss, rule, options, rows, targets, i, h, norm, together, state):
            restore(state, SCORE)
            return position
        if averages(targets):
            for m in range(outputs_of(state)):
                take_answer(targets, m, answer_of(m, member(options, m), state))
        count_row(loss, targets, i, h, state)
        if square > counters[0, RADIUS]:
            counters[0, RADIUS] = square
        move_outputs(rule, options, rows, targets, i, h, norm, state)
    return order.shape[0]


@inlined
def score_outputs(rule: Any, options: Any, rows: Any, targets: Any, i: int, state: Any) -> float:
    """Score the row, the penalties on its weights paid; answer its squared length if the rule keeps the radius."""
    table = state.table
    bias = state.bias
    counters = state.counters
    outputs = outputs_of(state)
    square = 0.0
    if bias.shape[1] > 1:  # else there is no slot for what is paid
        for m in range(outputs):
            pay_row(rows, i, m, member(options, m), state)
    if averages(targets) or (outputs > 1 and row_serves_bank(rows)):
        sums = state.scratch[SUMS]
        length = row_dots(rows, i, table, sums)
        if rule_radius(member(rule, 0)):
            square = length
        for m in range(outputs):
            counters[m, SCORE] = sums[m * bias.shape[1]] * counters[m, SCALE] + bias[m, 0]
        return square
    for m in range(outputs):
        if rule_radius(member(rule, 0)) and m == 0:
            dot, square = row_dot_and_square(rows, i, table, m)
        else:
            dot = row_dot(rows, i, table, m)
        counters[m, SCORE] = dot * counters[m, SCALE] + bias[m, 0]
    return square


@inlined
def answer_of(m: int, options: Any, state: Any) -> float:
    """What output m answers: by its average, if it has one, whose slot :func:`score_outputs` has added up, too."""
    counters = state.counters
    if not has_average(m, options, state):
        return counters[m, SCORE]
    sums = state.scratch[SUMS]
    first = m * state.bias.shape[1]
    mass = 0.0 if options.eager > 0.0 else counters[m, MASS]
    return averaged(m, mass, sums[first], sums[first + int(options.mean_slot)], options, state)


@inlined
def plan_steps(
    loss: Any,
    rule: Any,
    options: Any,
    rows: Any,
    targets: Any,
    i: int,
    h: float,
    norm: float,
    together: float,
    state: Any,
) -> bool:
    """Assess every output and write down its step; answer whether all can be taken."""
    counters = state.counters
    fine = True
    for m in range(outputs_of(state)):
        context = look(loss, targets, i, m, h, norm + member(options, m).intercept_norm, together, state)
        step = 0.0
        if learns(targets, i, m, state):
            step = rule_step(member(rule, m), member(loss, m), context)
        counters[m, STEP] = step
        fine &= math.isfinite(counters[m, SCORE]) and math.isfinite(counters[m, VALUE]) and step_fits(rows, i, step)
    return fine


@inlined
def step_fits(rows: Any, i: int, step: float) -> bool:
    """Whether no weight can overflow: a step of up to 1 moves none by more than the row's own values."""
    return abs(step) <= 1.0 or abs(step) * row_peak(rows, i) <= LARGEST_MOVE


@cold
def row_peak(rows: Any, i: int) -> float:
    """The largest absolute value of the row, with the intercept's 1."""
    peak = 1.0
    for x in row_values(rows, i):
        peak = max(peak, abs(double(x)))
    return peak


@inlined
def move_outputs(rule: Any, options: Any, rows: Any, targets: Any, i: int, h: float, norm: float, state: Any) -> None:
    """Count, shrink, step and average, in this order: one output after the other, or a bank together."""
    outputs = outputs_of(state)
    if outputs > 1 and row_serves_bank(rows):
        move_bank(rule, options, rows, targets, i, h, norm, state)
        return
    for m in range(outputs):
        count_output(targets, i, m, h, state)
        if learns(targets, i, m, state):
            amount = set_out(member(rule, m), member(options, m), rows, m, norm, state)
            if amount != 0.0:
                shift(rows, i, m, amount, state.counters[m, MASS], member(options, m), state)
            arrive(m, member(options, m), state)
            settle_all(rows, m, member(options, m), state)


@inlined
def move_bank(rule: Any, options: Any, rows: Any, targets: Any, i: int, h: float, norm: float, state: Any) -> None:
    """The same for a bank whose outputs step together, unless few of them do."""
    slots = state.table.shape[2]
    amounts = state.scratch[AMOUNTS]
    factors = state.scratch[FACTORS]
    moving = 0
    eager = False
    for m in range(outputs_of(state)):
        count_output(targets, i, m, h, state)
        amount = 0.0
        mass = 0.0
        if learns(targets, i, m, state):
            amount = set_out(member(rule, m), member(options, m), rows, m, norm, state)
            mass = state.counters[m, MASS]
            arrive(m, member(options, m), state)
        amounts[m * slots] = amount
        factors[m * slots] = 1.0
        if slots > 1:
            line_up(m, amount, mass, member(options, m), state)
            eager |= member(options, m).eager > 0.0
        moving += amount != 0.0
    if moving * FEW > outputs_of(state):
        row_add_to_all(rows, i, state.table, amounts, factors)
    else:
        for m in range(outputs_of(state)):
            if amounts[m * slots] != 0.0:
                mass = factors[m * slots + slots - 1]
                shift(rows, i, m, amounts[m * slots], mass, member(options, m), state)
    if eager:
        for m in range(outputs_of(state)):
            if learns(targets, i, m, state):
                settle_all(rows, m, member(options, m), state)


@inlined
def set_out(rule: Any, options: Any, rows: Any, m: int, norm: float, state: Any) -> float:
    """Shrink the weights of one output and move its intercept; answer by how many times the row the table moves."""
    bias = state.bias
    counters = state.counters
    step = counters[m, STEP]
    if options.track > 0.0:
        counters[m, OBJECTIVE] += penalty_now(rows, m, options, state)
    rate = 0.0
    if options.l1 > 0.0 or options.l2 > 0.0:
        rate = rule_rate(rule, counters[m, PACE] + 1.0)
        counters[m, OWED] += options.l1 * rate * options.alpha
    before = counters[m, COUNT]
    tick(m, options.forget, options.average_from, state)
    if options.l2 > 0.0:
        shrink(rows, m, max(0.0, 1.0 - options.l2 * rate * options.alpha), options, state)
    if step == 0.0:
        return 0.0
    if options.track > 0.0:
        along = (counters[m, SCORE] - bias[m, 0]) * max(0.0, 1.0 - options.l2 * rate * options.alpha)
        counters[m, NORM] += step * (2.0 * along + step * norm)
    counters[m, PULL] += abs(step)
    counters[m, SQUARES] += step * step
    if options.intercept > 0.0:
        moved = step * options.intercept_rate
        bias[m, 0] += moved
        if options.average_from > 0.0:
            bias[m, int(options.mean_slot)] += before * moved
    return step / counters[m, SCALE]


@inlined
def line_up(m: int, amount: float, mass: float, options: Any, state: Any) -> None:
    """Write down how far the other slots of one output move: none, but the average's, which is the last."""
    slots = state.table.shape[2]
    amounts = state.scratch[AMOUNTS]
    factors = state.scratch[FACTORS]
    for slot in range(m * slots + 1, (m + 1) * slots):
        amounts[slot] = 0.0
        factors[slot] = mass
    if options.average_from > 0.0 and options.eager == 0.0:
        amounts[m * slots + slots - 1] = amount


@inlined
def shift(rows: Any, i: int, m: int, amount: float, mass: float, options: Any, state: Any) -> None:
    """Add ``amount * x`` to the table, and what the lazy average needs."""
    table = state.table
    if options.average_from > 0.0 and options.eager == 0.0:
        row_add_twice(rows, i, table, m, amount, int(options.mean_slot), mass)
    else:
        row_add(rows, i, table, m, amount)


@inlined
def arrive(m: int, options: Any, state: Any) -> None:
    """Count what is averaged."""
    counters = state.counters
    if options.average_from > 0.0 and counters[m, T] >= options.average_from:
        counters[m, PULLED] += counters[m, PULL]
        if options.eager == 0.0:
            counters[m, MASS] += counters[m, SCALE]


@inlined
def settle_all(rows: Any, m: int, options: Any, state: Any) -> None:
    """Pay and average where that takes every weight, once the row's have moved."""
    if options.eager > 0.0:
        pay_all(rows, m, options, state)
        if options.average_from > 0.0 and state.counters[m, T] >= options.average_from:
            add_all(rows, m, options, state)


@inlined
def shrink(rows: Any, m: int, factor: float, options: Any, state: Any) -> None:
    """Multiply the weights of one output: by the scale, until that grows too small to divide by."""
    counters = state.counters
    counters[m, SCALE] *= factor
    counters[m, PULL] *= factor
    counters[m, NORM] *= factor * factor
    if counters[m, SCALE] < LEAST_SCALE:
        unscale(rows, m, options, state)
    elif options.average_from > 0.0 and counters[m, SCALE] < 1e-3 * counters[m, FLUSHED]:
        flush(rows, m, options, state)  # the average is a difference, which a small scale would blur


@cold
def unscale(rows: Any, m: int, options: Any, state: Any) -> None:
    """Write the scale into the table."""
    table = state.table
    counters = state.counters
    flush(rows, m, options, state)
    for j in range(width_of(rows, table)):
        cell_set(rows, table, j, m, 0, cell_get(rows, table, j, m, 0) * counters[m, SCALE])
    counters[m, SCALE] = counters[m, FLUSHED] = 1.0


@cold
def flush(rows: Any, m: int, options: Any, state: Any) -> None:
    """Write the mass averaged so far into the average."""
    table = state.table
    counters = state.counters
    if options.average_from > 0.0 and options.eager == 0.0:
        slot = int(options.mean_slot)
        for j in range(width_of(rows, table)):
            spent = cell_get(rows, table, j, m, slot) - counters[m, MASS] * cell_get(rows, table, j, m, 0)
            cell_set(rows, table, j, m, slot, spent)
    counters[m, MASS] = 0.0
    counters[m, FLUSHED] = counters[m, SCALE]


@inlined
def pay_row(rows: Any, i: int, m: int, options: Any, state: Any) -> None:
    """Let the weights of the row pay what they owe."""
    if options.l1 == 0.0 or options.eager > 0.0:
        return
    for j in row_columns(rows, i):
        pay(rows, j, m, options, state)


@cold
def pay_all(rows: Any, m: int, options: Any, state: Any) -> None:
    """Let every weight pay what it owes."""
    table = state.table
    if options.l1 > 0.0:
        for j in range(width_of(rows, table)):
            pay(rows, j, m, options, state)


@inlined
def pay(rows: Any, j: int, m: int, options: Any, state: Any) -> None:
    """One weight pays its L1 penalty, but never through zero; what it cannot pay it goes on owing."""
    table = state.table
    counters = state.counters
    slot = int(options.last_touched_slot)
    v = cell_get(rows, table, j, m, 0)
    if v == 0.0:
        return
    owed = counters[m, OWED]
    scale = counters[m, SCALE]
    paid = cell_get(rows, table, j, m, slot)
    if v > 0.0:
        left = max(0.0, v - (owed + paid) / scale)
    else:
        left = min(0.0, v + (owed - paid) / scale)
    cell_set(rows, table, j, m, 0, left)
    cell_set(rows, table, j, m, slot, paid + scale * (left - v))


@cold
def add_all(rows: Any, m: int, options: Any, state: Any) -> None:
    """The eager average: add every weight as it stands."""
    table = state.table
    counters = state.counters
    slot = int(options.mean_slot)
    scale = counters[m, SCALE]
    for j in range(width_of(rows, table)):
        total = cell_get(rows, table, j, m, slot)
        total -= scale * cell_get(rows, table, j, m, 0)
        cell_set(rows, table, j, m, slot, total)


@cold
def penalty_now(rows: Any, m: int, options: Any, state: Any) -> float:
    """The penalty at the weights the row was scored with."""
    table = state.table
    counters = state.counters
    if options.l1 == 0.0:
        return 0.5 * options.alpha * options.l2 * counters[m, NORM]
    scale = counters[m, SCALE]
    length = 0.0
    absolute = 0.0
    for j in range(width_of(rows, table)):
        w = scale * cell_get(rows, table, j, m, 0)
        length += w * w
        absolute += abs(w)
    return options.alpha * (0.5 * options.l2 * length + options.l1 * absolute)
