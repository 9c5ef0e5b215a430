"""The parts of learning from one row that all rules share: score, judge, keep count."""

from __future__ import annotations

import math
from typing import Any

from numba import types
from numba.extending import overload, register_jitable

from onlinear.calls import loss_curvature, loss_slope, loss_value, row_slopes, row_value
from onlinear.kernels.bank import member
from onlinear.kernels.state import (
    ACTIVE,
    COUNT,
    EXAMPLES,
    IMPORTANCE,
    LOSS,
    MISTAKES,
    NEGATIVE,
    OBJECTIVE,
    PACE,
    POSITIVE,
    SCORE,
    SIZE,
    SLOPE,
    UPDATES,
    VALUE,
    T,
)
from onlinear.rows import double, judge, row_values, target_of, target_size
from onlinear.seen import Seen


def assess(loss: Any, targets: Any, i: int, state: Any) -> float:
    """Write value and slope of the loss for every output; answer how many times over a step is taken.

    That is the number of outputs that move together: 1 for a scalar loss, where every output is on its own.
    """
    if hasattr(loss, "slopes"):
        return assess_row(loss, targets, i, state)
    return assess_each(loss, targets, i, state)


@register_jitable(forceinline=True)
def assess_each(loss: Any, targets: Any, i: int, state: Any) -> float:
    clock = state.clock
    for m in range(clock.shape[1]):
        target = target_of(targets, i, m)
        clock[VALUE, m] = loss_value(member(loss, m), clock[SCORE, m], target)
        clock[SLOPE, m] = loss_slope(member(loss, m), clock[SCORE, m], target)
    return 1.0


@register_jitable(forceinline=True)
def assess_row(loss: Any, targets: Any, i: int, state: Any) -> float:
    clock = state.clock
    label = targets.values[i]
    row_slopes(loss, clock[SCORE], label, clock[SLOPE])
    clock[VALUE] = row_value(loss, clock[SCORE], label)
    together = 0.0
    for m in range(clock.shape[1]):
        together += clock[SLOPE, m] * clock[SLOPE, m]
    return together


@overload(assess, strict=False, jit_options={"forceinline": True})
def _assess(loss: Any, targets: Any, i: Any, state: Any) -> Any:
    if isinstance(loss, types.BaseNamedTuple) and hasattr(loss.instance_class, "slopes"):
        return lambda loss, targets, i, state: assess_row(loss, targets, i, state)
    return lambda loss, targets, i, state: assess_each(loss, targets, i, state)


def curvature_of(loss: Any, score: float, target: float) -> float:
    """The curvature of a scalar loss; a row loss has none."""
    return 0.0 if hasattr(loss, "slopes") else loss_curvature(loss, score, target)


@overload(curvature_of, strict=False, jit_options={"forceinline": True})
def _curvature_of(loss: Any, score: Any, target: Any) -> Any:
    if isinstance(loss, types.BaseNamedTuple) and hasattr(loss.instance_class, "slopes"):
        return lambda loss, score, target: 0.0
    return lambda loss, score, target: loss_curvature(loss, score, target)


@register_jitable(forceinline=True)
def look(loss: Any, targets: Any, i: int, m: int, h: float, norm: float, together: float, state: Any) -> Seen:
    """The row as output m sees it."""
    clock = state.clock
    target = target_of(targets, i, m)
    return Seen(
        clock[SCORE, m],
        target,
        clock[VALUE, m],
        clock[SLOPE, m],
        curvature_of(member(loss, m), clock[SCORE, m], target),
        h * clock[POSITIVE if target > 0.0 else NEGATIVE, m],
        norm,
        together,
        clock[PACE, m] + 1.0,
        0.0,
        0.0,
        0.0,
        target_size(targets, target, clock[SIZE, m]),
    )


@register_jitable(forceinline=True)
def row_length(rows: Any, i: int) -> float:
    """The row's squared length."""
    total = 0.0
    for x in row_values(rows, i):
        total += double(x) * double(x)
    return total


@register_jitable(forceinline=True)
def all_finite(numbers: Any) -> bool:
    for number in numbers:
        if not math.isfinite(number):
            return False
    return True


@register_jitable(forceinline=True)
def keep_count(targets: Any, i: int, h: float, state: Any) -> None:
    """Add the row to the progressive figures: called before any weight moves (law 1)."""
    clock = state.clock
    judge(targets, i, clock[SCORE], clock[MISTAKES])
    for m in range(clock.shape[1]):
        clock[SIZE, m] = target_size(targets, target_of(targets, i, m), clock[SIZE, m])
        if clock[ACTIVE, m] > 0.0:
            clock[LOSS, m] += h * clock[VALUE, m]
            clock[OBJECTIVE, m] += clock[VALUE, m]
            if clock[SLOPE, m] != 0.0:
                clock[UPDATES, m] += 1.0
    clock[IMPORTANCE, 0] += h
    clock[EXAMPLES, 0] += 1.0


@register_jitable(forceinline=True)
def tick(m: int, forget: float, average_from: float, state: Any) -> bool:
    """Count the example for output m; answer whether it belongs to the average."""
    clock = state.clock
    clock[T, m] += 1.0
    clock[PACE, m] = clock[PACE, m] * (1.0 - forget) + 1.0
    averaged = average_from > 0.0 and clock[T, m] >= average_from
    if averaged:
        clock[COUNT, m] += 1.0
    return averaged
