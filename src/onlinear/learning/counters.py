"""The counters of a learner, from outside: of older files, without a state, plausible.

What each column counts is said in :mod:`onlinear.kernels.learn.state`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.kernels.learn.state import (
    COUNT,
    COUNTERS,
    EXAMPLES,
    IMPORTANCE,
    LOSS,
    MASS,
    MISTAKES,
    OWED,
    PULL,
    SCALE,
    UNAVERAGED_LOSS,
    UNAVERAGED_MISTAKES,
    UPDATES,
    T,
)

#: more examples than anyone has
MOST_EXAMPLES = 2**63
#: what is counted in examples
COUNTED = [T, EXAMPLES, MISTAKES, UNAVERAGED_MISTAKES, UPDATES, COUNT]
#: what belongs to a penalty that is owed, or to an average
OF_STATE = [OWED, MASS, COUNT]
#: columns in older model files: the first know nothing of steps and radius, the next nothing of averages
FIRST_WIDTH, NEXT_WIDTH = 24, 28
WIDTHS = (FIRST_WIDTH, NEXT_WIDTH, COUNTERS)


def has_known_width(counters: np.ndarray) -> bool:
    """Whether counters have as many columns as a version of onlinear gave them."""
    return counters.ndim == 2 and counters.shape[1] in WIDTHS


def current_counters(counters: np.ndarray, averages: bool) -> np.ndarray:
    """Counters that may be older; of answers by ``averages`` they have counted what the weights that learn have."""
    if counters.shape[1] == FIRST_WIDTH:
        counters = np.insert(counters, [PULL] * (NEXT_WIDTH - FIRST_WIDTH), np.nan, axis=1)
    if counters.shape[1] == NEXT_WIDTH:
        added = np.zeros((len(counters), COUNTERS - NEXT_WIDTH))
        if averages:
            added[:, :2] = counters[:, [LOSS, MISTAKES]]
        counters = np.insert(counters, [UNAVERAGED_LOSS] * (COUNTERS - NEXT_WIDTH), added, axis=1)
    return counters


def slim_counters(learner: Any, *, scaled: bool) -> np.ndarray:
    """A copy that goes with weights alone; they are ``scaled`` if the scale is still to be multiplied by."""
    counters: np.ndarray = learner.counters.copy()
    if not scaled:
        counters[:, SCALE] = 1.0
    counters[:, OF_STATE] = 0.0
    counters[:, UNAVERAGED_LOSS] = learner.unaveraged_loss_sums  # a slim form does not say whether it is an average
    counters[:, UNAVERAGED_MISTAKES] = learner.unaveraged_mistakes
    return counters


def fault_of_counters(counters: np.ndarray, *, slim: bool = False) -> str | None:
    """What counters have that no examples lead to, or None: answers and steps are divided by some of them."""
    scales = counters[:, SCALE]
    if not (are_counts(counters[:, COUNTED]) and (counters[:, IMPORTANCE] >= 0.0).all()):
        return "counts that are no numbers of examples"
    if not (np.isfinite(scales).all() and (scales > 0.0).all()):
        return "weights without a scale"
    if np.isnan(counters[:, LOSS]).any():
        return "a loss that is no number"
    return "a slim form with more than weights" if slim and counters[:, OF_STATE].any() else None


def are_counts(numbers: np.ndarray) -> bool:
    """Whether numbers are counts of examples."""
    return bool(((numbers >= 0.0) & (numbers < MOST_EXAMPLES)).all())
