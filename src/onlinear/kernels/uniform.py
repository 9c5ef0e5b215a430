"""Learning with a uniform rule: every weight moves by ``step * x``.

The weights are ``SCALE`` times the table, so that an L2 penalty costs one multiplication a row. The L1 penalty is the
cumulative penalty of Tsuruoka, Tsujii & Ananiadou (ACL 2009): ``OWED`` is what every weight should have paid by now,
and a slot beside the weight what it has paid (signed); a weight pays before it is scored.

The average is lazy: with ``M`` the mass averaged before an update ``d``, ``sum_t w_t = MASS v - u`` where ``u`` sums
``M d``.
"""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

from onlinear.calls import rule_norm, rule_radius, rule_rate, rule_step
from onlinear.kernels.bank import member
from onlinear.kernels.row_steps import (
    all_finite,
    assess,
    keep,
    keep_count,
    learns,
    look,
    outputs_of,
    restore,
    row_length,
    tick,
)
from onlinear.kernels.state import (
    COUNT,
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
    VALUE,
)
from onlinear.rows import (
    AHEAD,
    cell_get,
    cell_set,
    double,
    row_add,
    row_add_twice,
    row_columns,
    row_dot,
    row_dot_and_square,
    row_fetch,
    row_fits,
    row_values,
    width_of,
)

#: a weight that would move further than this is taken for divergence: sums of such moves stay finite, also scaled
LARGEST_MOVE = 1e290


@register_jitable(forceinline=True)
def learn_uniform(
    loss: Any, rule: Any, options: Any, rows: Any, targets: Any, importance: Any, order: Any, state: Any
) -> int:
    """Learn the rows in the given order; answer how many were learned before one that cannot be.

    That one leaves no trace, but for the L1 penalty that its weights have paid.
    """
    table = state.table
    bias = state.bias
    clock = state.clock
    outputs = outputs_of(state)
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
        square = 0.0
        for m in range(outputs):
            pay_row(rows, i, m, member(options, m), state)
            if rule_radius(member(rule, 0)) and m == 0:
                dot, square = row_dot_and_square(rows, i, table, m)
            else:
                dot = row_dot(rows, i, table, m)
            clock[m, SCORE] = dot * clock[m, SCALE] + bias[m, 0]
        together = assess(loss, targets, i, state)
        norm = 0.0
        if rule_norm(member(rule, 0)) or member(options, 0).track > 0.0:
            norm = row_length(rows, i)
        for m in range(outputs):
            seen = look(loss, targets, i, m, h, norm + member(options, m).intercept_norm, together, state)
            clock[m, STEP] = 0.0
            if learns(targets, i, m, state):
                clock[m, STEP] = rule_step(member(rule, m), member(loss, m), seen)
        if not (all_finite(clock[:, SCORE]) and all_finite(clock[:, VALUE]) and steps_fit(rows, i, state)):
            restore(state, SCORE)
            return position
        keep_count(targets, i, h, state)
        if square > clock[0, RADIUS]:
            clock[0, RADIUS] = square
        for m in range(outputs):
            if learns(targets, i, m, state):
                move_output(member(rule, m), member(options, m), rows, i, m, norm, state)
    return order.shape[0]


@register_jitable(forceinline=True)
def steps_fit(rows: Any, i: int, state: Any) -> bool:
    """Whether no weight can overflow: a step of up to 1 moves none by more than the row's own values."""
    clock = state.clock
    for m in range(outputs_of(state)):
        size = abs(clock[m, STEP])
        if not size <= 1.0 and not size * row_peak(rows, i) <= LARGEST_MOVE:
            return False
    return True


@register_jitable
def row_peak(rows: Any, i: int) -> float:
    """The largest absolute value of the row, with the intercept's 1."""
    peak = 1.0
    for x in row_values(rows, i):
        peak = max(peak, abs(double(x)))
    return peak


@register_jitable(forceinline=True)
def move_output(rule: Any, options: Any, rows: Any, i: int, m: int, norm: float, state: Any) -> None:
    """Shrink, step and average the weights of one output, in this order."""
    bias = state.bias
    clock = state.clock
    step = clock[m, STEP]
    if options.track > 0.0:
        clock[m, OBJECTIVE] += penalty_now(rows, m, options, state)
    rate = 0.0
    if options.l1 > 0.0 or options.l2 > 0.0:
        rate = rule_rate(rule, clock[m, PACE] + 1.0)
    before = clock[m, COUNT]
    averaged = tick(m, options.forget, options.average_from, state)
    if options.l2 > 0.0:
        shrink(rows, m, max(0.0, 1.0 - options.l2 * rate * options.alpha), options, state)
    if step != 0.0:
        if options.track > 0.0:
            along = (clock[m, SCORE] - bias[m, 0]) * max(0.0, 1.0 - options.l2 * rate * options.alpha)
            clock[m, NORM] += step * (2.0 * along + step * norm)
        clock[m, PULL] += abs(step)
        clock[m, SQUARES] += step * step
        shift(rows, i, m, step / clock[m, SCALE], options, state)
        if options.intercept > 0.0:
            moved = step * options.intercept_rate
            bias[m, 0] += moved
            if options.average_from > 0.0:
                bias[m, int(options.mean_slot)] += before * moved
    clock[m, OWED] += options.l1 * rate * options.alpha
    if options.eager > 0.0:
        pay_all(rows, m, options, state)
    if averaged:
        clock[m, PULLED] += clock[m, PULL]
        if options.eager > 0.0:
            add_all(rows, m, options, state)
        else:
            clock[m, MASS] += clock[m, SCALE]


@register_jitable(forceinline=True)
def shift(rows: Any, i: int, m: int, amount: float, options: Any, state: Any) -> None:
    """Add ``amount * x`` to the table, and what the lazy average needs."""
    table = state.table
    clock = state.clock
    if options.average_from > 0.0 and options.eager == 0.0:
        slot = int(options.mean_slot)
        row_add_twice(rows, i, table, m, amount, slot, clock[m, MASS])
    else:
        row_add(rows, i, table, m, amount)


@register_jitable(forceinline=True)
def shrink(rows: Any, m: int, factor: float, options: Any, state: Any) -> None:
    """Multiply the weights of one output: by the scale, until that grows too small to divide by."""
    clock = state.clock
    clock[m, SCALE] *= factor
    clock[m, PULL] *= factor
    clock[m, NORM] *= factor * factor
    if clock[m, SCALE] < LEAST_SCALE:
        unscale(rows, m, options, state)
    elif options.average_from > 0.0 and clock[m, SCALE] < 1e-3 * clock[m, FLUSHED]:
        flush(rows, m, options, state)  # the average is a difference, which a small scale would blur


@register_jitable
def unscale(rows: Any, m: int, options: Any, state: Any) -> None:
    """Write the scale into the table."""
    table = state.table
    clock = state.clock
    flush(rows, m, options, state)
    for j in range(width_of(rows, table)):
        cell_set(rows, table, j, m, 0, cell_get(rows, table, j, m, 0) * clock[m, SCALE])
    clock[m, SCALE] = clock[m, FLUSHED] = 1.0


@register_jitable
def flush(rows: Any, m: int, options: Any, state: Any) -> None:
    """Write the mass averaged so far into the average."""
    table = state.table
    clock = state.clock
    if options.average_from > 0.0 and options.eager == 0.0:
        slot = int(options.mean_slot)
        for j in range(width_of(rows, table)):
            spent = cell_get(rows, table, j, m, slot) - clock[m, MASS] * cell_get(rows, table, j, m, 0)
            cell_set(rows, table, j, m, slot, spent)
    clock[m, MASS] = 0.0
    clock[m, FLUSHED] = clock[m, SCALE]


@register_jitable(forceinline=True)
def pay_row(rows: Any, i: int, m: int, options: Any, state: Any) -> None:
    """Let the weights of the row pay what they owe."""
    if options.l1 == 0.0 or options.eager > 0.0:
        return
    for j in row_columns(rows, i):
        pay(rows, j, m, options, state)


@register_jitable
def pay_all(rows: Any, m: int, options: Any, state: Any) -> None:
    """Let every weight pay what it owes."""
    table = state.table
    if options.l1 > 0.0:
        for j in range(width_of(rows, table)):
            pay(rows, j, m, options, state)


@register_jitable(forceinline=True)
def pay(rows: Any, j: int, m: int, options: Any, state: Any) -> None:
    """One weight pays its L1 penalty, but never through zero; what it cannot pay it goes on owing."""
    table = state.table
    clock = state.clock
    slot = int(options.sleep_slot)
    v = cell_get(rows, table, j, m, 0)
    if v == 0.0:
        return
    owed = clock[m, OWED]
    scale = clock[m, SCALE]
    paid = cell_get(rows, table, j, m, slot)
    if v > 0.0:
        left = max(0.0, v - (owed + paid) / scale)
    else:
        left = min(0.0, v + (owed - paid) / scale)
    cell_set(rows, table, j, m, 0, left)
    cell_set(rows, table, j, m, slot, paid + scale * (left - v))


@register_jitable
def add_all(rows: Any, m: int, options: Any, state: Any) -> None:
    """The eager average: add every weight as it stands."""
    table = state.table
    clock = state.clock
    slot = int(options.mean_slot)
    scale = clock[m, SCALE]
    for j in range(width_of(rows, table)):
        total = cell_get(rows, table, j, m, slot)
        total -= scale * cell_get(rows, table, j, m, 0)
        cell_set(rows, table, j, m, slot, total)


@register_jitable
def penalty_now(rows: Any, m: int, options: Any, state: Any) -> float:
    """The penalty at the weights the row was scored with."""
    table = state.table
    clock = state.clock
    if options.l1 == 0.0:
        return 0.5 * options.alpha * options.l2 * clock[m, NORM]
    scale = clock[m, SCALE]
    length = 0.0
    absolute = 0.0
    for j in range(width_of(rows, table)):
        w = scale * cell_get(rows, table, j, m, 0)
        length += w * w
        absolute += abs(w)
    return options.alpha * (0.5 * options.l2 * length + options.l1 * absolute)
