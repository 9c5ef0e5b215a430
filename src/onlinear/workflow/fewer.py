"""How few features cost how much: the winner with an L1 penalty that grows, as a path."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.learning.configuration import Configuration, Settings
from onlinear.registry import RULES
from onlinear.workflow.parts import Parts
from onlinear.workflow.race_in_memory import RacePlan, race_in_memory
from onlinear.workflow.watching import Watcher

#: strengths of the penalty, from none on
STRENGTHS = (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3)
RATE = 0.2
#: entries of rows times passes that are worth the while
MOST_ENTRIES = 50_000_000


def path_of(winner: Configuration, parts: Parts, plan: RacePlan) -> list[dict[str, Any]] | None:
    """The score, judged as in the race, and the number of features for each strength; None if it would take long."""
    if hasattr(winner.loss, "slopes") or len(parts.train.rows.values) * plan.passes > MOST_ENTRIES:
        return None
    settings = [Settings(l1=l1 * parts.unit, intercept=winner.settings.intercept) for l1 in STRENGTHS]
    rule = RULES["adagrad"](rate=RATE * parts.unit)  # which pays the penalty at the pace of each weight
    configurations = [Configuration(winner.loss, rule, setting) for setting in settings]
    same = (configurations, parts.task, parts.train, around_zero(winner, parts), parts.features)
    judged = race_in_memory(*same, plan, parts.groups, Watcher(), halving=False)
    whole = judged if not plan.folds else race_in_memory(*same, plan._replace(folds=0), None, Watcher(), halving=False)
    found = []
    for finish in sorted(judged.finishes(), key=lambda each: each.number):
        if finish.stopped_at is None and finish.number in whole.running:
            features = int((whole.learner(finish.number).weights() != 0.0).any(axis=0).sum())
            found.append({"l1": settings[finish.number].l1, "features": features, "score": finish.score})
    return tidy(found)


def around_zero(winner: Configuration, parts: Parts) -> np.ndarray:
    """The targets, numbers less their mean: no distance changes, and AdaGrad's intercept need not travel so far."""
    return (
        parts.targets - parts.targets.mean() if parts.classes is None and winner.settings.intercept else parts.targets
    )


def tidy(path: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without steps that drop nothing, and without what comes after the last feature is gone."""
    kept: list[dict[str, Any]] = []
    for step in path:
        if kept and step["features"] >= kept[-1]["features"]:
            continue
        kept.append(step)
        if not step["features"]:
            break
    return kept if kept and np.isfinite([step["score"] for step in kept]).all() else []
