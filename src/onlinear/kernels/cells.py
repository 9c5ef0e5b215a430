"""Learning with a cell rule: every weight has numbers of its own beside it.

A row is learned in four beats: wake its cells (lazy penalty or forgetting), score, stretch, move. The intercept is one
more cell, with x = 1. The lazy average is that of :mod:`onlinear.kernels.uniform`, with scale 1.
"""

from __future__ import annotations

import math
from typing import Any

from numba.extending import overload, register_jitable

from onlinear.calls import rule_curved, rule_fade, rule_move, rule_pace, rule_step, rule_stretch
from onlinear.kernels.bank import member
from onlinear.kernels.row_steps import (
    all_finite,
    assess,
    keep_count,
    look,
    outputs_of,
    tick,
)
from onlinear.kernels.state import ACTIVE, COUNT, SCORE, SLOPE, SPREAD, VALUE, WEIGHT, T
from onlinear.rows import (
    AHEAD,
    NEAR,
    cell_get,
    cell_set,
    double,
    row_column,
    row_columns,
    row_dot,
    row_fetch,
    row_fetch_cells,
    row_fits,
    row_values,
    width_of,
)
from onlinear.seen import Seen


@register_jitable(forceinline=True)
def learn_cells(
    loss: Any, rule: Any, options: Any, rows: Any, targets: Any, importance: Any, order: Any, state: Any
) -> int:
    """Learn the rows in the given order; answer how many were learned before one that cannot be."""
    table = state.table
    bias = state.bias
    clock = state.clock
    outputs = outputs_of(state)
    far = table.size > NEAR
    for position in range(order.shape[0]):
        if position + AHEAD < order.shape[0]:
            row_fetch(rows, order[position + AHEAD])
            if far:
                row_fetch_cells(rows, order[position + 3], table)
        i = order[position]
        h = importance[i]
        if h == 0.0:
            continue
        if not row_fits(rows, i, width_of(rows, table)):
            return position
        for m in range(outputs):
            wake_row(member(rule, m), rows, i, m, member(options, m), state)
            clock[m, SCORE] = row_dot(rows, i, table, m) + bias[m, 0]
        together = assess(loss, targets, i, state)
        if not (all_finite(clock[:, SCORE]) and all_finite(clock[:, VALUE]) and all_finite(clock[:, SLOPE])):
            return position
        keep_count(targets, i, h, state)
        for m in range(outputs):
            seen = look(loss, targets, i, m, h, 0.0, together, state)
            if clock[m, ACTIVE] > 0.0 and not learn_output(
                member(loss, m), member(rule, m), member(options, m), rows, i, m, seen, state
            ):
                return position
    return order.shape[0]


@register_jitable(forceinline=True)
def learn_output(loss: Any, rule: Any, options: Any, rows: Any, i: int, m: int, seen: Seen, state: Any) -> bool:
    """Move the cells of one output; answer whether they are still finite."""
    clock = state.clock
    before = clock[m, COUNT]
    fine = True
    matters = clock[m, SLOPE] != 0.0 or (rule_curved(rule) and seen.curvature != 0.0)
    if matters and seen.importance > 0.0:
        seen = stretch_row(rule, rows, i, m, options, seen, state)
        step = rule_step(rule, loss, seen)
        fine = move_row(rule, rows, i, m, options, step, seen, before, state)
    averaged = tick(m, options.forget, options.average_from, state)
    if averaged and options.eager > 0.0:
        add_all_cells(rule, rows, m, options, state)
    return fine


@register_jitable(forceinline=True)
def move_row(
    rule: Any, rows: Any, i: int, m: int, options: Any, step: float, seen: Seen, before: float, state: Any
) -> bool:
    """Move every cell of the row and the intercept's."""
    table = state.table
    bias = state.bias
    lazy = options.average_from > 0.0 and options.eager == 0.0
    slot = int(options.mean_slot)
    check = 0.0
    columns = row_columns(rows, i)
    values = row_values(rows, i)
    for k in range(len(values)):
        j = row_column(rows, columns, k)
        old = load_cell(rule, rows, table, j, m)
        new = rule_move(rule, old, double(values[k]), step, seen)
        check += store_cell(rule, rows, table, j, m, new)
        if lazy:
            total = cell_get(rows, table, j, m, slot) + before * (new[0] - old[0])
            cell_set(rows, table, j, m, slot, total)
    if options.intercept > 0.0:
        old = load_bias(rule, bias, m)
        new = rule_move(rule, old, 1.0, step, seen)
        check += store_bias(rule, bias, m, new)
        if options.average_from > 0.0:
            bias[m, slot] += before * (new[0] - old[0])
    return math.isfinite(check)


# ------------------------------------------------------------------ stretch, where the rule has it


def stretch_row(rule: Any, rows: Any, i: int, m: int, options: Any, seen: Seen, state: Any) -> Seen:
    """Let the rule see every cell of the row before the step, if it wants to."""
    if hasattr(rule, "stretch"):
        return stretch_cells(rule, rows, i, m, options, seen, state)
    return seen


@register_jitable(forceinline=True)
def stretch_cells(rule: Any, rows: Any, i: int, m: int, options: Any, seen: Seen, state: Any) -> Seen:
    table = state.table
    bias = state.bias
    clock = state.clock
    reach = 0.0
    spread = 0.0
    columns = row_columns(rows, i)
    values = row_values(rows, i)
    for k in range(len(values)):
        j = row_column(rows, columns, k)
        old = load_cell(rule, rows, table, j, m)
        new, far, wide = rule_stretch(rule, old, double(values[k]), seen)
        store_cell(rule, rows, table, j, m, new)
        lean(rule, rows, j, m, new[0] - old[0], options, state)
        reach += far
        spread += wide
    if options.intercept > 0.0:
        old = load_bias(rule, bias, m)
        new, far, wide = rule_stretch(rule, old, 1.0, seen)
        store_bias(rule, bias, m, new)
        if options.average_from > 0.0:
            bias[m, int(options.mean_slot)] += clock[m, COUNT] * (new[0] - old[0])
        reach += far
        spread += wide
    if spread > 0.0:
        clock[m, WEIGHT] += seen.importance
        clock[m, SPREAD] += seen.importance * spread
    return Seen(
        seen.score,
        seen.target,
        seen.value,
        seen.slope,
        seen.curvature,
        seen.importance,
        seen.norm,
        seen.together,
        seen.t,
        reach,
        clock[m, WEIGHT],
        clock[m, SPREAD],
        seen.size,
    )


@register_jitable(forceinline=True)
def lean(rule: Any, rows: Any, j: int, m: int, moved: float, options: Any, state: Any) -> None:
    """Tell the lazy average that a weight has moved."""
    table = state.table
    clock = state.clock
    if moved != 0.0 and options.average_from > 0.0 and options.eager == 0.0:
        slot = int(options.mean_slot)
        total = cell_get(rows, table, j, m, slot) + clock[m, COUNT] * moved
        cell_set(rows, table, j, m, slot, total)


@overload(stretch_row, strict=False, jit_options={"forceinline": True})
def _stretch_row(rule: Any, rows: Any, i: Any, m: Any, options: Any, seen: Any, state: Any) -> Any:
    if hasattr(rule.instance_class, "stretch"):
        return lambda rule, rows, i, m, options, seen, state: stretch_cells(rule, rows, i, m, options, seen, state)
    return lambda rule, rows, i, m, options, seen, state: seen


# ------------------------------------------------------------------ sleep: lazy penalty and forgetting


def wake(rule: Any, cell: Any, slept: float, options: Any) -> Any:
    """The cell after ``slept`` examples without it: its weight has shrunk, or its evidence faded."""
    if options.forget > 0.0:
        return rule_fade(rule, cell, (1.0 - options.forget) ** slept) if can(rule, "fade") else cell
    return shrunk(cell, rule_pace(rule, cell) * slept, options) if can(rule, "pace") else cell


def can(rule: Any, method: str) -> bool:
    return hasattr(rule, method)


@register_jitable(forceinline=True)
def fading(rule: Any, cell: Any, slept: float, options: Any) -> Any:
    if options.forget == 0.0:
        return cell
    return rule_fade(rule, cell, (1.0 - options.forget) ** slept)


@register_jitable(forceinline=True)
def shrinking(rule: Any, cell: Any, slept: float, options: Any) -> Any:
    return shrunk(cell, rule_pace(rule, cell) * slept, options)


@register_jitable(forceinline=True)
def either(rule: Any, cell: Any, slept: float, options: Any) -> Any:
    if options.forget > 0.0:
        return fading(rule, cell, slept, options)
    return shrinking(rule, cell, slept, options)


@overload(wake, strict=False, jit_options={"forceinline": True})
def _wake(rule: Any, cell: Any, slept: Any, options: Any) -> Any:
    fades = hasattr(rule.instance_class, "fade")
    shrinks = hasattr(rule.instance_class, "pace")
    if fades and shrinks:
        return lambda rule, cell, slept, options: either(rule, cell, slept, options)
    if fades:
        return lambda rule, cell, slept, options: fading(rule, cell, slept, options)
    if shrinks:
        return lambda rule, cell, slept, options: shrinking(rule, cell, slept, options)
    return lambda rule, cell, slept, options: cell


@register_jitable(forceinline=True)
def shrunk(cell: Any, amount: float, options: Any) -> Any:
    """Follow ``dw/da = -alpha (l2 w + l1 sign(w))`` for ``amount``, stopping at zero: penalties compose exactly."""
    size = abs(cell[0])
    if options.l2 > 0.0:
        debt = options.l1 / options.l2
        size = (size + debt) * math.exp(-options.l2 * options.alpha * amount) - debt
    else:
        size -= options.l1 * options.alpha * amount
    return (math.copysign(max(size, 0.0), cell[0]),) + cell[1:]


@register_jitable(forceinline=True)
def wake_cell(rule: Any, rows: Any, j: int, m: int, options: Any, state: Any) -> None:
    table = state.table
    clock = state.clock
    slot = int(options.sleep_slot)
    now = clock[m, T]
    slept = now - cell_get(rows, table, j, m, slot)
    if slept > 0.0:
        cell = wake(rule, load_cell(rule, rows, table, j, m), slept, options)
        store_cell(rule, rows, table, j, m, cell)
        cell_set(rows, table, j, m, slot, now)


@register_jitable(forceinline=True)
def wake_row(rule: Any, rows: Any, i: int, m: int, options: Any, state: Any) -> None:
    bias = state.bias
    clock = state.clock
    if options.sleep_slot < 0.0:
        return
    for j in row_columns(rows, i):
        wake_cell(rule, rows, j, m, options, state)
    slot = int(options.sleep_slot)
    slept = clock[m, T] - bias[m, slot]
    if slept > 0.0 and options.forget > 0.0:  # the intercept forgets, but pays no penalty
        store_bias(rule, bias, m, wake(rule, load_bias(rule, bias, m), slept, options))
        bias[m, slot] = clock[m, T]


@register_jitable(forceinline=True)
def add_all_cells(rule: Any, rows: Any, m: int, options: Any, state: Any) -> None:
    """The eager average: wake every cell and add its weight."""
    table = state.table
    slot = int(options.mean_slot)
    for j in range(width_of(rows, table)):
        if options.sleep_slot >= 0.0:
            wake_cell(rule, rows, j, m, options, state)
        total = cell_get(rows, table, j, m, slot) - cell_get(rows, table, j, m, 0)
        cell_set(rows, table, j, m, slot, total)


# ------------------------------------------------------------------ a cell is a tuple as long as the rule says


def load_cell(rule: Any, rows: Any, table: Any, j: int, m: int) -> Any:
    return tuple(cell_get(rows, table, j, m, slot) for slot in range(len(rule.CELL)))


def store_cell(rule: Any, rows: Any, table: Any, j: int, m: int, cell: Any) -> float:
    """Write the cell; answer the sum of its numbers, which is finite only if they are."""
    for slot, number in enumerate(cell):
        cell_set(rows, table, j, m, slot, number)
    return float(sum(cell))


def load_bias(rule: Any, bias: Any, m: int) -> Any:
    return tuple(bias[m, slot] for slot in range(len(rule.CELL)))


def store_bias(rule: Any, bias: Any, m: int, cell: Any) -> float:
    for slot, number in enumerate(cell):
        bias[m, slot] = number
    return float(sum(cell))


def unrolled(source: str, rule: Any) -> Any:
    """Compile-time loop over the slots of a rule's cell: ``{each:...}`` is written once for every slot."""
    scope: dict[str, Any] = {"cell_get": cell_get, "cell_set": cell_set}
    exec(source, scope)
    return scope["implementation"]


def repeat(pattern: str, rule: Any, between: str) -> str:
    return between.join(pattern.format(s=s) for s in range(len(rule.instance_class.CELL)))


@overload(load_cell, strict=False, jit_options={"forceinline": True})
def _load_cell(rule: Any, rows: Any, table: Any, j: Any, m: Any) -> Any:
    numbers = repeat("cell_get(rows, table, j, m, {s})", rule, ", ")
    return unrolled(f"def implementation(rule, rows, table, j, m): return ({numbers},)", rule)


@overload(store_cell, strict=False, jit_options={"forceinline": True})
def _store_cell(rule: Any, rows: Any, table: Any, j: Any, m: Any, cell: Any) -> Any:
    writes = repeat("cell_set(rows, table, j, m, {s}, cell[{s}])", rule, "; ")
    total = repeat("cell[{s}]", rule, " + ")
    head = "def implementation(rule, rows, table, j, m, cell):"
    return unrolled(f"{head}\n    {writes}\n    return {total}", rule)


@overload(load_bias, strict=False, jit_options={"forceinline": True})
def _load_bias(rule: Any, bias: Any, m: Any) -> Any:
    numbers = repeat("bias[m, {s}]", rule, ", ")
    return unrolled(f"def implementation(rule, bias, m): return ({numbers},)", rule)


@overload(store_bias, strict=False, jit_options={"forceinline": True})
def _store_bias(rule: Any, bias: Any, m: Any, cell: Any) -> Any:
    writes = repeat("bias[m, {s}] = cell[{s}]", rule, "; ")
    total = repeat("cell[{s}]", rule, " + ")
    return unrolled(f"def implementation(rule, bias, m, cell):\n    {writes}\n    return {total}", rule)
