"""Learning with a cell rule: every weight has numbers of its own beside it.

A row is learned in four beats: apply the lazy penalty to its cells (or forget), score, prepare, move. A sparse row's
cells are brought side by side for that, and put back when all of them are known to be finite. The intercept is one more
cell, with x = 1. The lazy average is that of :mod:`onlinear.kernels.learn.uniform`, with scale 1.
"""

from __future__ import annotations

import math
import sys
from typing import Any

from onlinear.data.rows import (
    AHEAD,
    IN_CACHE,
    added_up,
    cell_get,
    cell_set,
    double,
    row_alone,
    row_cells,
    row_dot,
    row_fetch,
    row_fetch_cells,
    row_fits,
    row_gather,
    row_gathered_dot,
    row_scatter,
    row_slot_dot,
    width_of,
)
from onlinear.data.targets import take_answer
from onlinear.kernels.compiler.inlining import inlined, overload_of
from onlinear.kernels.learn.bank import member
from onlinear.kernels.learn.row_steps import (
    all_finite,
    assess,
    averaged,
    averages,
    has_average,
    keep,
    keep_count,
    learns,
    look,
    outputs_of,
    restore,
    tick,
)
from onlinear.kernels.learn.state import (
    BEFORE,
    COUNT,
    ENTRIES,
    REACH,
    SCORE,
    SLOPE,
    SPREAD,
    STEP,
    VALUE,
    WEIGHT,
    WIDTH,
    T,
)
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import rule_curved, rule_fade, rule_move, rule_pace, rule_prepare, rule_step

#: where the cells of an output are: in the table; side by side; there, and changed
APART, HERE, MOVED = 0.0, 1.0, 2.0
#: the largest number there is
MOST = sys.float_info.max


@inlined
def learn_cells(
    loss: Any, rule: Any, options: Any, rows: Any, targets: Any, importance: Any, order: Any, state: Any
) -> int:
    """Learn the rows in the given order; answer how many were learned before one that cannot be.

    A sparse row that cannot be learned leaves no trace.
    """
    table = state.table
    counters = state.counters
    outputs = outputs_of(state)
    far = table.size > IN_CACHE
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
        keep(state, 0)
        if not learn_row(loss, rule, options, rows, targets, i, h, state):
            restore(state, 0)
            return position
        for m in range(outputs):
            if counters[m, STEP] == MOVED:
                row_scatter(rows, i, table, m, state.gathered)
            if learns(targets, i, m, state):
                add_all_cells(member(rule, m), rows, m, member(options, m), state)
    return order.shape[0]


@inlined
def learn_row(loss: Any, rule: Any, options: Any, rows: Any, targets: Any, i: int, h: float, state: Any) -> bool:
    """Move the row's cells, side by side; answer whether all is finite."""
    counters = state.counters
    row = row_alone(rows, i, state.scratch[ENTRIES])
    for m in range(outputs_of(state)):
        counters[m, SCORE] = score_row(member(rule, m), rows, i, row, m, member(options, m), state) + state.bias[m, 0]
    together = assess(loss, targets, i, state)
    if not (all_finite(counters[:, SCORE]) and all_finite(counters[:, VALUE]) and all_finite(counters[:, SLOPE])):
        return False
    if averages(targets):
        for m in range(outputs_of(state)):
            take_answer(targets, m, answer_of(rows, i, m, member(options, m), state))
    keep_count(loss, targets, i, h, state)
    for m in range(outputs_of(state)):
        context = look(loss, targets, i, m, h, 0.0, together, state)
        if learns(targets, i, m, state) and not learn_output(
            member(loss, m), member(rule, m), member(options, m), rows, i, row, m, context, state
        ):
            return False
    return True


@inlined
def answer_of(rows: Any, i: int, m: int, options: Any, state: Any) -> float:
    """What output m answers: by its average, if it has one."""
    counters = state.counters
    if not has_average(m, options, state):
        return counters[m, SCORE]
    spent = row_slot_dot(rows, i, state.table, m, int(options.mean_slot))
    mass = 0.0 if options.eager > 0.0 else counters[m, COUNT]
    return averaged(m, mass, counters[m, SCORE] - state.bias[m, 0], spent, options, state)


@inlined
def score_row(rule: Any, rows: Any, i: int, row: Any, m: int, options: Any, state: Any) -> float:
    """The row's score without the intercept, its cells caught up.

    They are brought here if they are behind, or if the row before has moved its own: then this one likely will, too.
    The score is the same to the bit.
    """
    table = state.table
    gathered = state.gathered
    counters = state.counters
    will_move = counters[m, STEP] == MOVED
    counters[m, STEP] = APART
    if options.last_touched_slot < 0.0 and not will_move:
        return row_dot(rows, i, table, m)
    counters[m, STEP] = HERE
    row_gather(rows, i, table, m, gathered)
    cells = row_cells(rows, table, gathered)
    if options.last_touched_slot >= 0.0:
        catch_up_row(rule, row, cells, m, options, state)
        counters[m, STEP] = MOVED
    return row_gathered_dot(rows, row, cells[m, 0])


@inlined
def learn_output(
    loss: Any, rule: Any, options: Any, rows: Any, i: int, row: Any, m: int, context: StepContext, state: Any
) -> bool:
    """Move the cells of one output; answer whether they are still finite."""
    table = state.table
    gathered = state.gathered
    counters = state.counters
    before = counters[m, COUNT]
    fine = True
    matters = counters[m, SLOPE] != 0.0 or (rule_curved(rule) and context.curvature != 0.0)
    if matters and context.importance > 0.0:
        if counters[m, STEP] == APART:
            row_gather(rows, i, table, m, gathered)
        counters[m, STEP] = MOVED
        cells = row_cells(rows, table, gathered)
        context = prepare_row(rule, row, cells, m, options, context, state)
        step = rule_step(rule, loss, context)
        fine = move_row(rule, row, cells, m, options, step, context, before, state)
    tick(m, options.forget, options.average_from, state)
    return fine


@inlined
def move_row(
    rule: Any, row: Any, cells: Any, m: int, options: Any, step: float, context: StepContext, before: float, state: Any
) -> bool:
    """Move every cell of the row and the intercept's."""
    bias = state.bias
    values = row.values
    fine = True
    remember(row, cells, m, options, state)
    for k in range(len(values)):
        old = load_cell(rule, row, cells, k, m)
        new = rule_move(rule, old, double(values[k]), step, context)
        fine &= store_cell(rule, row, cells, k, m, new)
    lean(row, cells, m, options, before, state)
    if options.intercept > 0.0:
        old = load_bias(rule, bias, m)
        new = rule_move(rule, old, 1.0, step, context)
        fine &= store_bias(rule, bias, m, new)
        if options.average_from > 0.0:
            bias[m, int(options.mean_slot)] += before * (new[0] - old[0])
    return fine


# ------------------------------------------------------------------ the lazy average


@inlined
def is_lazy(options: Any) -> bool:
    return options.average_from > 0.0 and options.eager == 0.0


@inlined
def remember(row: Any, cells: Any, m: int, options: Any, state: Any) -> None:
    """Write down the weights, which are about to move, if there is a lazy average."""
    if is_lazy(options):
        weights = state.scratch[BEFORE]
        for k in range(len(row.values)):
            weights[k] = cell_get(row, cells, k, m, 0)


@inlined
def lean(row: Any, cells: Any, m: int, options: Any, count: float, state: Any) -> None:
    """Tell the lazy average how far the weights have moved."""
    if is_lazy(options):
        weights = state.scratch[BEFORE]
        slot = int(options.mean_slot)
        for k in range(len(row.values)):
            total = cell_get(row, cells, k, m, slot) + count * (cell_get(row, cells, k, m, 0) - weights[k])
            cell_set(row, cells, k, m, slot, total)


# ------------------------------------------------------------------ prepare, where the rule has it


def prepare_row(rule: Any, row: Any, cells: Any, m: int, options: Any, context: StepContext, state: Any) -> StepContext:
    """Let the rule see every cell of the row before the step, if it wants to."""
    if hasattr(rule, "prepare"):
        return prepare_cells(rule, row, cells, m, options, context, state)
    return context


@inlined
def prepare_cells(
    rule: Any, row: Any, cells: Any, m: int, options: Any, context: StepContext, state: Any
) -> StepContext:
    bias = state.bias
    counters = state.counters
    reaches = state.scratch[REACH]
    widths = state.scratch[WIDTH]
    values = row.values
    remember(row, cells, m, options, state)
    for k in range(len(values)):
        old = load_cell(rule, row, cells, k, m)
        new, far, wide = rule_prepare(rule, old, double(values[k]), context)
        store_cell(rule, row, cells, k, m, new)
        reaches[k] = far
        widths[k] = wide
    lean(row, cells, m, options, counters[m, COUNT], state)
    reach = added_up(reaches, row.length)
    spread = added_up(widths, row.length)
    if options.intercept > 0.0:
        old = load_bias(rule, bias, m)
        new, far, wide = rule_prepare(rule, old, 1.0, context)
        store_bias(rule, bias, m, new)
        if options.average_from > 0.0:
            bias[m, int(options.mean_slot)] += counters[m, COUNT] * (new[0] - old[0])
        reach += far
        spread += wide
    if spread > 0.0:
        counters[m, WEIGHT] += context.importance
        counters[m, SPREAD] += context.importance * spread
    return StepContext(
        context.score,
        context.target,
        context.value,
        context.slope,
        context.curvature,
        context.importance,
        context.norm,
        context.together,
        context.t,
        reach,
        counters[m, WEIGHT],
        counters[m, SPREAD],
        context.size,
    )


@overload_of(prepare_row)
def _prepare_row(rule: Any, row: Any, cells: Any, m: Any, options: Any, context: Any, state: Any) -> Any:
    if hasattr(rule.instance_class, "prepare"):
        return lambda rule, row, cells, m, options, context, state: prepare_cells(
            rule, row, cells, m, options, context, state
        )
    return lambda rule, row, cells, m, options, context, state: context


# ------------------------------------------------------------------ lazy penalty and forgetting


def apply_lazy_penalty(rule: Any, cell: Any, skipped: float, options: Any) -> Any:
    """The cell after ``skipped`` examples without it: its weight has shrunk, or its evidence faded."""
    if options.forget > 0.0:
        return rule_fade(rule, cell, (1.0 - options.forget) ** skipped) if can(rule, "fade") else cell
    return shrunk(cell, rule_pace(rule, cell) * skipped, options) if can(rule, "pace") else cell


def can(rule: Any, method: str) -> bool:
    return hasattr(rule, method)


@inlined
def fading(rule: Any, cell: Any, skipped: float, options: Any) -> Any:
    if options.forget == 0.0:
        return cell
    return rule_fade(rule, cell, (1.0 - options.forget) ** skipped)


@inlined
def shrinking(rule: Any, cell: Any, skipped: float, options: Any) -> Any:
    return shrunk(cell, rule_pace(rule, cell) * skipped, options)


@inlined
def either(rule: Any, cell: Any, skipped: float, options: Any) -> Any:
    if options.forget > 0.0:
        return fading(rule, cell, skipped, options)
    return shrinking(rule, cell, skipped, options)


@overload_of(apply_lazy_penalty)
def _apply_lazy_penalty(rule: Any, cell: Any, skipped: Any, options: Any) -> Any:
    fades = hasattr(rule.instance_class, "fade")
    shrinks = hasattr(rule.instance_class, "pace")
    if fades and shrinks:
        return lambda rule, cell, skipped, options: either(rule, cell, skipped, options)
    if fades:
        return lambda rule, cell, skipped, options: fading(rule, cell, skipped, options)
    if shrinks:
        return lambda rule, cell, skipped, options: shrinking(rule, cell, skipped, options)
    return lambda rule, cell, skipped, options: cell


@inlined
def shrunk(cell: Any, amount: float, options: Any) -> Any:
    """Follow ``dw/da = -alpha (l2 w + l1 sign(w))`` for ``amount``, stopping at zero: penalties compose exactly."""
    size = abs(cell[0])
    if options.l2 > 0.0:
        debt = options.l1 / options.l2
        size = (size + debt) * math.exp(-options.l2 * options.alpha * amount) - debt
    else:
        size -= options.l1 * options.alpha * amount
    return (math.copysign(max(size, 0.0), cell[0]),) + cell[1:]


@inlined
def catch_up_cell(rule: Any, rows: Any, table: Any, j: int, m: int, options: Any, state: Any) -> None:
    counters = state.counters
    slot = int(options.last_touched_slot)
    now = counters[m, T]
    skipped = now - cell_get(rows, table, j, m, slot)
    if skipped > 0.0:
        cell = apply_lazy_penalty(rule, load_cell(rule, rows, table, j, m), skipped, options)
        store_cell(rule, rows, table, j, m, cell)
        cell_set(rows, table, j, m, slot, now)


@inlined
def catch_up_row(rule: Any, row: Any, cells: Any, m: int, options: Any, state: Any) -> None:
    bias = state.bias
    counters = state.counters
    for k in range(len(row.values)):
        catch_up_cell(rule, row, cells, k, m, options, state)
    slot = int(options.last_touched_slot)
    skipped = counters[m, T] - bias[m, slot]
    if skipped > 0.0 and options.forget > 0.0:  # the intercept forgets, but pays no penalty
        store_bias(rule, bias, m, apply_lazy_penalty(rule, load_bias(rule, bias, m), skipped, options))
        bias[m, slot] = counters[m, T]


@inlined
def add_all_cells(rule: Any, rows: Any, m: int, options: Any, state: Any) -> None:
    """The eager average: catch up every cell and add its weight."""
    table = state.table
    counters = state.counters
    is_averaged = options.average_from > 0.0 and counters[m, T] >= options.average_from
    if options.eager == 0.0 or not is_averaged:
        return
    slot = int(options.mean_slot)
    for j in range(width_of(rows, table)):
        if options.last_touched_slot >= 0.0:
            catch_up_cell(rule, rows, table, j, m, options, state)
        total = cell_get(rows, table, j, m, slot) - cell_get(rows, table, j, m, 0)
        cell_set(rows, table, j, m, slot, total)


# ------------------------------------------------------------------ a cell is a tuple as long as the rule says


def load_cell(rule: Any, rows: Any, table: Any, j: int, m: int) -> Any:
    return tuple(cell_get(rows, table, j, m, slot) for slot in range(len(rule.CELL)))


def store_cell(rule: Any, rows: Any, table: Any, j: int, m: int, cell: Any) -> bool:
    """Write the cell; answer whether its numbers are finite."""
    for slot, number in enumerate(cell):
        cell_set(rows, table, j, m, slot, number)
    return all(abs(number) <= MOST for number in cell)


def load_bias(rule: Any, bias: Any, m: int) -> Any:
    return tuple(bias[m, slot] for slot in range(len(rule.CELL)))


def store_bias(rule: Any, bias: Any, m: int, cell: Any) -> bool:
    for slot, number in enumerate(cell):
        bias[m, slot] = number
    return all(abs(number) <= MOST for number in cell)


def unrolled(source: str, rule: Any) -> Any:
    """Compile-time loop over the slots of a rule's cell: ``{each:...}`` is written once for every slot."""
    scope: dict[str, Any] = {"cell_get": cell_get, "cell_set": cell_set, "MOST": MOST}
    exec(source, scope)
    return scope["implementation"]


def repeat(pattern: str, rule: Any, between: str) -> str:
    return between.join(pattern.format(s=s) for s in range(len(rule.instance_class.CELL)))


@overload_of(load_cell)
def _load_cell(rule: Any, rows: Any, table: Any, j: Any, m: Any) -> Any:
    numbers = repeat("cell_get(rows, table, j, m, {s})", rule, ", ")
    return unrolled(f"def implementation(rule, rows, table, j, m): return ({numbers},)", rule)


@overload_of(store_cell)
def _store_cell(rule: Any, rows: Any, table: Any, j: Any, m: Any, cell: Any) -> Any:
    writes = repeat("cell_set(rows, table, j, m, {s}, cell[{s}])", rule, "; ")
    finite = repeat("(abs(cell[{s}]) <= MOST)", rule, " & ")
    head = "def implementation(rule, rows, table, j, m, cell):"
    return unrolled(f"{head}\n    {writes}\n    return {finite}", rule)


@overload_of(load_bias)
def _load_bias(rule: Any, bias: Any, m: Any) -> Any:
    numbers = repeat("bias[m, {s}]", rule, ", ")
    return unrolled(f"def implementation(rule, bias, m): return ({numbers},)", rule)


@overload_of(store_bias)
def _store_bias(rule: Any, bias: Any, m: Any, cell: Any) -> Any:
    writes = repeat("bias[m, {s}] = cell[{s}]", rule, "; ")
    finite = repeat("(abs(cell[{s}]) <= MOST)", rule, " & ")
    return unrolled(f"def implementation(rule, bias, m, cell):\n    {writes}\n    return {finite}", rule)
