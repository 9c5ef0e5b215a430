"""Other weights than those that were learned: given ones, or none; and evidence that is forgotten, or agrees with them.

Evidence is what a rule has gathered beside the weights, and how far its schedule has counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.learning.learner import Learner
from onlinear.registry import RULES, name_of
from onlinear.rules import FTRLProximal
from onlinear.rules.dispatch import rule_fade


def begin_at(learner: Learner, weights: np.ndarray, intercepts: np.ndarray) -> None:
    """Let a learner that has learned nothing start from weights, with cells that agree with them."""
    set_weights(learner, weights, intercepts)
    change_evidence(learner, agree)


def set_weights(learner: Learner, weights: np.ndarray, intercepts: np.ndarray) -> None:
    """Let a learner that has not learned yet start from these weights; what is beside them stays."""
    with learner.lock, learner.busy:
        learner.turn_table(DenseRows)
        own = learner.table.cells[:, 0, :]
        own[...] = weights
        learner.table.bias[:, 0] = intercepts
        learner.counters.begin_at((own**2).sum(axis=1))
        learner.note_change()


def restart_at(learner: Learner, weights: np.ndarray, intercepts: np.ndarray) -> None:
    """Go on from these weights, without a penalty owed or an average: for a rule that keeps nothing beside them."""
    with learner.lock, learner.busy:
        learner.table.clear(learner.rules)
        learner.counters.settle_weights()
        set_weights(learner, weights, intercepts)


def start_again(learner: Learner) -> None:
    """Go on from zero weights, as if nothing had been learned; examples, losses and mistakes count on."""
    with learner.lock, learner.busy:
        learner.table.clear(learner.rules)
        learner.counters.clear_weights()
        if learner.kind == "matrix":
            learner.busy.moved()
        learner.note_change()


def forget_evidence(learner: Learner) -> None:
    """Keep the weights; let schedules count anew, and rules forget all that they have gathered."""
    change_evidence(learner, forget)


def change_evidence(learner: Learner, change: Callable[[Any, np.ndarray], None]) -> None:
    """Let schedules count anew, and ``change`` the cells ``[slot, feature]`` of each output's rule."""
    with learner.lock, learner.busy:
        learner.counters.restart_schedules()
        if learner.kind == "cells":
            for m in range(learner.outputs):
                rule = learner.rules[min(m, len(learner.rules) - 1)]
                change(rule, learner.table.cells_by_output[m])
                change(rule, learner.table.bias[m][:, None])
        learner.note_change()


def forget(rule: Any, slots: np.ndarray) -> None:
    """Let the cells ``[slot, feature]`` of a rule forget all they have gathered."""
    size = len(rule.CELL)
    if name_of(rule, RULES) is not None:  # ours do not mind whether they are given numbers or arrays of them
        faded = rule_fade(rule, tuple(slots[:size].copy()), 0.0)
        for slot in range(size):
            slots[slot] = faded[slot]
        return
    for j in np.flatnonzero(slots[:size].any(axis=0)):
        slots[:size, j] = rule_fade(rule, tuple(slots[:size, j].tolist()), 0.0)


def agree(rule: Any, slots: np.ndarray) -> None:
    """Bring cells ``[slot, feature]`` in line with their weights, of which nothing else is known."""
    if isinstance(rule, FTRLProximal):
        slots[1] = lead_of(rule, slots[0])
    elif hasattr(rule, "fade"):
        forget(rule, slots)


def lead_of(rule: FTRLProximal, weights: np.ndarray) -> np.ndarray:
    """The lead from which FTRL makes these weights before its first gradient."""
    curb = rule.beta / rule.alpha + rule.l2
    return -(curb * weights + rule.l1 * np.sign(weights))
