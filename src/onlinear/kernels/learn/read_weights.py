"""The weights as of now: lazy penalties paid, lazy averages formed, nothing changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.kernels.learn.cells import apply_lazy_penalty
from onlinear.kernels.learn.state import COUNT, MASS, OWED, SCALE, T


def read_weights(
    rule: Any, option: Any, slots: np.ndarray, counters: np.ndarray, kind: str, averaged: bool
) -> np.ndarray:
    """The weights of one output from its ``[slot, feature]`` share of the table."""
    if averaged and option.average_from > 0.0 and counters[COUNT] > 0.0:
        return read_average(slots, int(option.mean_slot), counters, kind, option.eager > 0.0)
    if kind == "uniform":
        return pay_l1(slots, option, counters)
    if kind == "cells" and option.last_touched_slot >= 0.0 and option.forget == 0.0:
        return pay_touched(rule, option, slots, counters)
    return slots[0].copy()


def read_average(slots: np.ndarray, slot: int, counters: np.ndarray, kind: str, eager: bool) -> np.ndarray:
    """``sum_t w_t / COUNT``: see :mod:`onlinear.kernels.learn.uniform`."""
    if eager or kind == "matrix":
        return -slots[slot] / counters[COUNT]
    mass = counters[MASS] if kind == "uniform" else counters[COUNT]
    return (mass * slots[0] - slots[slot]) / counters[COUNT]


def pay_l1(slots: np.ndarray, option: Any, counters: np.ndarray) -> np.ndarray:
    """A uniform rule's weights, scaled, with the cumulative L1 penalty paid."""
    weights = slots[0] * counters[SCALE]
    if option.l1 == 0.0:
        return weights
    had = slots[int(option.last_touched_slot)]
    above = np.maximum(0.0, weights - (counters[OWED] + had))
    below = np.minimum(0.0, weights + (counters[OWED] - had))
    return np.where(weights > 0.0, above, np.where(weights < 0.0, below, 0.0))


def pay_touched(rule: Any, option: Any, slots: np.ndarray, counters: np.ndarray) -> np.ndarray:
    """A cell rule's weights after the penalty for the examples without them; a cell of zeros stays one."""
    size = len(rule.CELL)
    weights = np.zeros(slots.shape[1])
    touched = np.flatnonzero(slots[:size].any(axis=0))
    skipped = counters[T] - slots[int(option.last_touched_slot), touched]
    cells = slots[:size, touched].T.tolist()
    weights[touched] = [
        apply_lazy_penalty(rule, tuple(cell), s, option)[0] for cell, s in zip(cells, skipped, strict=True)
    ]
    return weights
