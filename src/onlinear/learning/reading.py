"""The way of weights out of a learner: penalties paid, averages formed, scales multiplied, and nothing changed.

Whoever calls is alone with the learner.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.kernels.learn.read_weights import read_weights
from onlinear.kernels.learn.state import LoopOptions

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner


def read_columns(learner: Learner, columns: Any, averaged: bool = True) -> np.ndarray:
    """The weights of some columns, one row an output."""
    table = learner.table
    if table.layout is DenseRows:
        cells = table.cells[:, :, columns]
    else:
        cells = table.cells[columns].transpose(1, 2, 0)
    weights = np.empty((table.outputs, cells.shape[2]))
    for m, options in enumerate(options_of_each(learner)):
        rule = learner.rules[min(m, len(learner.rules) - 1)]
        weights[m] = read_weights(rule, options, cells[m], learner.counters.array[m], learner.kind, averaged)
    return weights


def read_intercepts(learner: Learner, averaged: bool = True) -> np.ndarray:
    """The intercepts, averaged like the weights."""
    bias = learner.table.bias
    intercepts = bias[:, 0].copy()
    counts = learner.counters.averaged_examples
    for m, options in enumerate(options_of_each(learner)):
        if averaged and options.average_from > 0.0 and counts[m] > 0.0:
            spent = bias[m, int(options.mean_slot)] / counts[m]
            intercepts[m] = -spent if learner.kind == "matrix" else intercepts[m] - spent
    return intercepts


def read_for_scoring(
    learner: Learner, columns: Any, averaged: bool = True
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights ``[column, output]`` but for a scale, the scales, the intercepts; they may be views.

    They score a row to the bit as it is learned, where the scale is multiplied last.
    """
    table, slots = learner.table, learner.slots
    intercepts = read_intercepts(learner, averaged)
    if (averaged and slots.mean >= 0) or slots.last_touched >= 0:
        return read_columns(learner, columns, averaged).T, np.ones(table.outputs), intercepts
    weights = table.cells[:, 0, columns].T if table.layout is DenseRows else table.cells[columns, :, 0]
    return weights, learner.counters.scales, intercepts


def options_of_each(learner: Learner) -> list[LoopOptions]:
    """The options of every output, for rows as the table lies."""
    options = learner.options(learner.table.layout)
    return options if len(options) == learner.table.outputs else options * learner.table.outputs
