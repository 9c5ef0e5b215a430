"""Weights without evidence: cells whose rule forgets what it has gathered, or that start from given weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.learning.learner import Learner
from onlinear.registry import RULES, name_of
from onlinear.rules import FTRLProximal
from onlinear.rules.dispatch import rule_fade


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


def begin_at(learner: Learner, weights: np.ndarray, intercepts: np.ndarray) -> None:
    """Let a learner that has learned nothing start from weights, with cells that agree with them."""
    learner.set_weights(weights, intercepts)
    learner.forget_evidence(agree)


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
