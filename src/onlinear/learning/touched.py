"""Which weights learning some rows may move: those of their columns, or any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlinear.data.batch import length_of
from onlinear.data.rows import SparseRows
from onlinear.kernels.learn.state import LEAST_SCALE
from onlinear.rules.dispatch import rule_rate

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner


def moves_few_cells(learner: Learner, rows: SparseRows) -> bool:
    """Whether a batch moves no cells but its own columns', and those are few."""
    table = learner.table
    if table.layout is not SparseRows or 4 * len(rows.values) >= table.features:
        return False
    is_eager = learner.ready(SparseRows, track=False).eager
    return not is_eager and not may_unscale(learner, length_of(rows), *learner.counters.least_scale_and_pace())


def may_unscale(learner: Learner, rows: int, scale: float, pace: float) -> bool:
    """Whether within so many rows, from this scale and pace on, an L2 penalty may write its scale into the table.

    So may an average at any time.
    """
    if learner.kind != "uniform" or not any(setting.l2 > 0.0 for setting in learner.settings):
        return False
    if learner.slots.mean >= 0:
        return True
    rate = max(rule_rate(rule, pace + 1.0) for rule in learner.rules)
    factor = 1.0 - rate * max(setting.l2 * setting.alpha for setting in learner.settings)
    return factor <= 0.0 or scale * factor**rows < 2.0 * LEAST_SCALE
