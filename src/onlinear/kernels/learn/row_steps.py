"""The parts of learning from one row that all rules share: score, judge, keep count."""

from __future__ import annotations

import math
from typing import Any

from numba import types

from onlinear.data.rows import double, row_values
from onlinear.data.targets import Averaged, count_mistakes, judge, label_of, share_of, target_of, target_size
from onlinear.kernels.compiler.inlining import inlined, overload_of
from onlinear.kernels.learn.bank import member
from onlinear.kernels.learn.state import (
    ACTIVE,
    COUNT,
    COUNTERS,
    EXAMPLES,
    IMPORTANCE,
    KEPT,
    LOSS,
    MISTAKES,
    NEGATIVE,
    OBJECTIVE,
    PACE,
    POSITIVE,
    SCORE,
    SCORES,
    SIZE,
    SLOPE,
    SLOPES,
    UNAVERAGED_LOSS,
    UNAVERAGED_MISTAKES,
    UPDATES,
    VALUE,
    VALUES,
    LoneState,
    State,
    T,
)
from onlinear.rules.context import StepContext
from onlinear.rules.dispatch import loss_curvature, loss_slope, loss_value, row_slopes, row_value


def outputs_of(state: Any) -> int:
    return int(state.counters.shape[0])


@overload_of(outputs_of)
def _outputs_of(state: Any) -> Any:
    if state.instance_class is LoneState:
        return lambda state: 1
    return lambda state: state.counters.shape[0]


def assess(loss: Any, targets: Any, i: int, state: Any) -> float:
    """Write value and slope of the loss for every output; answer how many times over a step is taken.

    That is the number of outputs that move together: 1 for a scalar loss, where every output is on its own.
    """
    return assess_row(loss, targets, i, state) if hasattr(loss, "slopes") else assess_each(loss, targets, i, state)


@inlined
def assess_each(loss: Any, targets: Any, i: int, state: Any) -> float:
    counters = state.counters
    for m in range(outputs_of(state)):
        target = target_of(targets, i, m)
        counters[m, VALUE] = loss_value(member(loss, m), counters[m, SCORE], target)
        counters[m, SLOPE] = loss_slope(member(loss, m), counters[m, SCORE], target)
    return 1.0


@inlined
def assess_bank(loss: Any, targets: Any, i: int, state: Any) -> float:
    """The same for a bank, whose numbers are laid side by side: for vector registers, if the loss has no branch."""
    counters = state.counters
    scores = state.scratch[SCORES]
    values = state.scratch[VALUES]
    slopes = state.scratch[SLOPES]
    outputs = outputs_of(state)
    for m in range(outputs):
        scores[m] = counters[m, SCORE]
    for m in range(outputs):
        target = target_of(targets, i, m)
        values[m] = loss_value(member(loss, m), scores[m], target)
        slopes[m] = loss_slope(member(loss, m), scores[m], target)
    for m in range(outputs):
        counters[m, VALUE] = values[m]
        counters[m, SLOPE] = slopes[m]
    return 1.0


@inlined
def assess_row(loss: Any, targets: Any, i: int, state: Any) -> float:
    counters = state.counters
    label = label_of(targets, i)
    row_slopes(loss, counters[:, SCORE], label, counters[:, SLOPE])
    counters[:, VALUE] = row_value(loss, counters[:, SCORE], label)
    together = 0.0
    for m in range(outputs_of(state)):
        together += counters[m, SLOPE] * counters[m, SLOPE]
    return together


def is_row_loss(loss: Any) -> bool:
    """Of a loss's type, as the compiler sees it."""
    return isinstance(loss, types.BaseNamedTuple) and hasattr(loss.instance_class, "slopes")


@overload_of(assess)
def _assess(loss: Any, targets: Any, i: Any, state: Any) -> Any:
    if is_row_loss(loss):
        return lambda loss, targets, i, state: assess_row(loss, targets, i, state)
    if state.instance_class is State:
        return lambda loss, targets, i, state: assess_bank(loss, targets, i, state)
    return lambda loss, targets, i, state: assess_each(loss, targets, i, state)


def curvature_of(loss: Any, score: float, target: float) -> float:
    """The curvature of a scalar loss; a row loss has none."""
    return 0.0 if hasattr(loss, "slopes") else loss_curvature(loss, score, target)


@overload_of(curvature_of)
def _curvature_of(loss: Any, score: Any, target: Any) -> Any:
    if is_row_loss(loss):
        return lambda loss, score, target: 0.0
    return lambda loss, score, target: loss_curvature(loss, score, target)


@inlined
def look(loss: Any, targets: Any, i: int, m: int, h: float, norm: float, together: float, state: Any) -> StepContext:
    """The row as output m sees it."""
    counters = state.counters
    target = target_of(targets, i, m)
    return StepContext(
        counters[m, SCORE],
        target,
        counters[m, VALUE],
        counters[m, SLOPE],
        curvature_of(member(loss, m), counters[m, SCORE], target),
        h * share_of(targets, i, m) * counters[m, POSITIVE if target > 0.0 else NEGATIVE],
        norm,
        together,
        counters[m, PACE] + 1.0,
        0.0,
        0.0,
        0.0,
        target_size(targets, target, counters[m, SIZE]),
    )


@inlined
def learns(targets: Any, i: int, m: int, state: Any) -> bool:
    """Whether output m learns from the row: it has not stopped, and has a share of the row."""
    return state.counters[m, ACTIVE] > 0.0 and share_of(targets, i, m) > 0.0


@inlined
def row_length(rows: Any, i: int) -> float:
    """The row's squared length."""
    total = 0.0
    for x in row_values(rows, i):
        total += double(x) * double(x)
    return total


@inlined
def all_finite(numbers: Any) -> bool:
    for number in numbers:
        if not math.isfinite(number):
            return False
    return True


def averages(targets: Any) -> bool:
    """Whether there are outputs that answer with averaged weights, and learn with others."""
    return isinstance(targets, Averaged)


@overload_of(averages)
def _averages(targets: Any) -> Any:
    if targets.instance_class is Averaged:
        return lambda targets: True
    return lambda targets: False


@inlined
def averaged(m: int, mass: float, dot: float, spent: float, options: Any, state: Any) -> float:
    """What output m answers by its lazy average.

    ``mass`` is the weight of the examples averaged so far; ``dot`` and ``spent`` are the row times the table's weights
    and times the slot of the average.
    """
    bias = state.bias
    count = state.counters[m, COUNT]
    return (mass * dot - spent) / count + bias[m, 0] - bias[m, int(options.mean_slot)] / count


@inlined
def has_average(m: int, options: Any, state: Any) -> bool:
    return options.average_from > 0.0 and state.counters[m, COUNT] > 0.0


@inlined
def keep_count(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    """Add the row to the progressive figures: called before any weight moves (law 1)."""
    count_row(loss, targets, i, h, state)
    for m in range(outputs_of(state)):
        count_output(targets, i, m, h, state)


@inlined
def count_row(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    """The part of :func:`keep_count` that looks at all outputs at once."""
    counters = state.counters
    count_answers(loss, targets, i, h, state)
    counters[0, IMPORTANCE] += h
    counters[0, EXAMPLES] += 1.0


def count_answers(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    """Add mistakes, and what averaged answers suffer; without an average :func:`count_output` adds the loss."""
    count = count_averaged if averages(targets) else count_scores
    count(loss, targets, i, h, state)


@inlined
def count_scores(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    counters = state.counters
    judge(targets, i, counters[:, SCORE], counters[:, MISTAKES])


@inlined
def count_averaged(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    counters = state.counters
    judge(targets, i, targets.answers, counters[:, MISTAKES])
    count_mistakes(targets, i, counters[:, SCORE], counters[:, UNAVERAGED_MISTAKES])
    add_losses(loss, targets, i, h, state)


@overload_of(count_answers)
def _count_answers(loss: Any, targets: Any, i: Any, h: Any, state: Any) -> Any:
    if targets.instance_class is Averaged:
        return lambda loss, targets, i, h, state: count_averaged(loss, targets, i, h, state)
    return lambda loss, targets, i, h, state: count_scores(loss, targets, i, h, state)


def add_losses(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    """Add the losses of averaged answers."""
    add = add_row_loss if hasattr(loss, "slopes") else add_each_loss
    add(loss, targets, i, h, state)


@inlined
def add_row_loss(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    value = row_value(loss, targets.answers, label_of(targets, i))
    for m in range(outputs_of(state)):
        add_loss(targets, i, m, h, value, state)


@inlined
def add_each_loss(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    for m in range(outputs_of(state)):
        value = loss_value(member(loss, m), targets.answers[m], target_of(targets, i, m))
        add_loss(targets, i, m, h, value, state)


@inlined
def add_bank_losses(loss: Any, targets: Any, i: int, h: float, state: Any) -> None:
    """The same for a bank: see :func:`assess_bank`."""
    values = state.scratch[VALUES]
    for m in range(outputs_of(state)):
        values[m] = loss_value(member(loss, m), targets.answers[m], target_of(targets, i, m))
    for m in range(outputs_of(state)):
        add_loss(targets, i, m, h, values[m], state)


@inlined
def add_loss(targets: Any, i: int, m: int, h: float, value: float, state: Any) -> None:
    if learns(targets, i, m, state):
        state.counters[m, LOSS] += h * share_of(targets, i, m) * value


@overload_of(add_losses)
def _add_losses(loss: Any, targets: Any, i: Any, h: Any, state: Any) -> Any:
    if is_row_loss(loss):
        return lambda loss, targets, i, h, state: add_row_loss(loss, targets, i, h, state)
    if state.instance_class is State:
        return lambda loss, targets, i, h, state: add_bank_losses(loss, targets, i, h, state)
    return lambda loss, targets, i, h, state: add_each_loss(loss, targets, i, h, state)


@inlined
def count_output(targets: Any, i: int, m: int, h: float, state: Any) -> None:
    """The part of :func:`keep_count` that looks at one output: called before its weights move."""
    counters = state.counters
    if share_of(targets, i, m) > 0.0:
        counters[m, SIZE] = target_size(targets, target_of(targets, i, m), counters[m, SIZE])
    if learns(targets, i, m, state):
        counters[m, UNAVERAGED_LOSS if averages(targets) else LOSS] += h * share_of(targets, i, m) * counters[m, VALUE]
        counters[m, OBJECTIVE] += counters[m, VALUE]
        counters[m, UPDATES] += 1.0 if counters[m, SLOPE] != 0.0 else 0.0


@inlined
def keep(state: Any, first: int) -> None:
    """Copy the counters from a column on, before a row changes it that perhaps cannot be learned.

    Intercepts come along with the first column: where only the last ones are kept, the rule looks before it moves.
    """
    kept = state.scratch[KEPT]
    bias = state.bias
    counters = state.counters
    for m in range(outputs_of(state)):
        for k in range(first, COUNTERS):
            kept[m * COUNTERS + k] = counters[m, k]
    if first == 0:
        at = outputs_of(state) * COUNTERS
        for m in range(outputs_of(state)):
            for k in range(bias.shape[1]):
                kept[at + m * bias.shape[1] + k] = bias[m, k]


@inlined
def restore(state: Any, first: int) -> None:
    """The inverse of :func:`keep`."""
    kept = state.scratch[KEPT]
    bias = state.bias
    counters = state.counters
    for m in range(outputs_of(state)):
        for k in range(first, COUNTERS):
            counters[m, k] = kept[m * COUNTERS + k]
    if first == 0:
        at = outputs_of(state) * COUNTERS
        for m in range(outputs_of(state)):
            for k in range(bias.shape[1]):
                bias[m, k] = kept[at + m * bias.shape[1] + k]


@inlined
def tick(m: int, forget: float, average_from: float, state: Any) -> bool:
    """Count the example for output m; answer whether it belongs to the average."""
    counters = state.counters
    counters[m, T] += 1.0
    counters[m, PACE] = counters[m, PACE] * (1.0 - forget) + 1.0
    averaged = average_from > 0.0 and counters[m, T] >= average_from
    if averaged:
        counters[m, COUNT] += 1.0
    return averaged
