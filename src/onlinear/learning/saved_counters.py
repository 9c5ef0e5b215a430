"""Counters in model files: of older files brought up to date, without a state, and plausible.

What each column counts is said in :mod:`onlinear.kernels.learn.state`.
"""

from __future__ import annotations

import numpy as np

from onlinear.kernels.learn import state as column
from onlinear.learning.state import Counters

#: more examples than anyone has
MOST_EXAMPLES = 2**63
#: what is counted in examples
COUNTED = [column.T, column.EXAMPLES, column.MISTAKES, column.UNAVERAGED_MISTAKES, column.UPDATES, column.COUNT]
#: what belongs to a penalty that is owed, or to an average
OF_STATE = [column.OWED, column.MASS, column.COUNT]
#: columns in older model files: the first know nothing of steps and radius, the next nothing of averages
FIRST_WIDTH, NEXT_WIDTH = 24, 28
WIDTHS = (FIRST_WIDTH, NEXT_WIDTH, column.COUNTERS)


def has_known_width(counters: np.ndarray) -> bool:
    """Whether counters have as many columns as a version of onlinear gave them."""
    return counters.ndim == 2 and counters.shape[1] in WIDTHS


def current_counters(counters: np.ndarray, averages: bool) -> np.ndarray:
    """Counters that may be older; of answers by ``averages`` they have counted what the weights that learn have."""
    if counters.shape[1] == FIRST_WIDTH:
        counters = np.insert(counters, [column.PULL] * (NEXT_WIDTH - FIRST_WIDTH), np.nan, axis=1)
    if counters.shape[1] == NEXT_WIDTH:
        added = np.zeros((len(counters), column.COUNTERS - NEXT_WIDTH))
        if averages:
            added[:, :2] = counters[:, [column.LOSS, column.MISTAKES]]
        counters = np.insert(counters, [column.UNAVERAGED_LOSS] * (column.COUNTERS - NEXT_WIDTH), added, axis=1)
    return counters


def slim_counters(counters: Counters, *, scaled: bool) -> np.ndarray:
    """A copy that goes with weights alone; they are ``scaled`` if the scale is still to be multiplied by."""
    slim = counters.array.copy()
    if not scaled:
        slim[:, column.SCALE] = 1.0
    slim[:, OF_STATE] = 0.0
    slim[:, column.UNAVERAGED_LOSS] = counters.unaveraged_loss_sums  # a slim form does not say whether it is an average
    slim[:, column.UNAVERAGED_MISTAKES] = counters.unaveraged_mistakes
    return slim


def fault_of_counters(counters: np.ndarray, *, slim: bool = False) -> str | None:
    """What counters have that no examples lead to, or None: answers and steps are divided by some of them."""
    scales = counters[:, column.SCALE]
    if not (are_counts(counters[:, COUNTED]) and (counters[:, column.IMPORTANCE] >= 0.0).all()):
        return "counts that are no numbers of examples"
    if not (np.isfinite(scales).all() and (scales > 0.0).all()):
        return "weights without a scale"
    if np.isnan(counters[:, column.LOSS]).any():
        return "a loss that is no number"
    return "a slim form with more than weights" if slim and counters[:, OF_STATE].any() else None


def are_counts(numbers: np.ndarray) -> bool:
    """Whether numbers are counts of examples."""
    return bool(((numbers >= 0.0) & (numbers < MOST_EXAMPLES)).all())
