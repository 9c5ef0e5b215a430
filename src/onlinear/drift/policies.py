"""What a learner does about drift: it starts again, or forgets what makes its steps small.

The counts of examples, losses and mistakes go on in either case: they are those of the whole stream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.errors import Refused
from onlinear.kernels.learn.state import (
    COUNT,
    FLUSHED,
    MASS,
    NORM,
    OWED,
    PACE,
    PULL,
    PULLED,
    SCALE,
    SIZE,
    SPREAD,
    SQUARES,
    WEIGHT,
    T,
)
from onlinear.learning.learner import Learner
from onlinear.registry import RULES, check_options, name_of
from onlinear.rules.dispatch import rule_fade, rule_rate
from onlinear.system.locks import VERSION

#: columns of the clock that belong to the weights and to what the rule has gathered
OF_WEIGHTS = [T, OWED, MASS, COUNT, WEIGHT, SPREAD, NORM, PACE, SIZE, SQUARES]


def ignore(learner: Learner) -> None:
    """Go on as before."""


def reset(learner: Learner) -> None:
    """Start again from zero weights, as if nothing had been learned."""
    with learner.lock, learner.busy:
        learner.table[...] = 0.0
        learner.bias[...] = 0.0
        learner.clock[:, OF_WEIGHTS] = 0.0
        learner.clock[:, [SCALE, FLUSHED]] = 1.0
        learner.clock[:, [PULL, PULLED]] = np.nan  # a mistake bound speaks of updates without a restart between them
        if learner.kind == "matrix":
            learner._allocate_matrix(learner.features, learner.outputs)
            learner.busy.moved()
        learner.busy.words[VERSION] += 1


def faster(learner: Learner) -> None:
    """Keep the weights, and forget all evidence: sums of squares, and the examples that a schedule has counted."""
    with learner.lock, learner.busy:
        learner.clock[:, PACE] = 0.0
        if learner.kind == "cells":
            table = learner.table if learner.facing is DenseRows else learner.table.transpose(1, 2, 0)
            for m in range(learner.outputs):
                rule = learner.rules[min(m, len(learner.rules) - 1)]
                forget(rule, table[m])
                forget(rule, learner.bias[m][:, None])
        learner.busy.words[VERSION] += 1


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


POLICIES: dict[str, Callable[[Learner], None]] = {"ignore": ignore, "reset": reset, "faster": faster}


def check_policy(on_drift: str, learner: Learner) -> None:
    """Refuse a policy that there is not, or that would do nothing for the learner."""
    if on_drift not in POLICIES:
        raise Refused(f"there is no policy {on_drift!r} for drift: choose one of {', '.join(POLICIES)}")
    if on_drift != "faster":
        return
    for rule in learner.rules:
        for setting in learner.settings:
            try:
                check_options(rule, setting.l1 > 0.0 or setting.l2 > 0.0, True, setting.average > 0.0)
            except Refused as error:
                raise Refused(f"faster forgets at an alarm, and {error}; or reset at an alarm instead") from None
        if learner.kind == "uniform" and rule_rate(rule, 1.0) == rule_rate(rule, 2.0):
            raise Refused("faster means nothing at a constant rate, which never slows down: reset, or take a schedule")
