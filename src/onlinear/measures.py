"""Measures: how wrong scores are, once they are made. Nothing is learned from them.

>>> from onlinear.losses import Hinge
>>> zero_one([0.5, -2.0, 0.0], [1.0, 1.0, -1.0]).tolist()
[0.0, 1.0, 0.0]
>>> risk(Hinge(), [0.5, -2.0, 0.0], [1.0, 1.0, -1.0])
1.5
>>> risk(zero_one, [0.5, -2.0, 0.0], [1.0, 1.0, -1.0], importance=[1.0, 3.0, 0.0])
0.75
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.data.batch import importance_of
from onlinear.errors import BadInput


def zero_one(score: Any, target: Any) -> Any:
    """0/1 loss: 1 where the answer is wrong.

    A score beside a target -1 or +1 answers by its sign, a tie the first class, -1. Where the scores have one axis
    more than the targets, the last axis holds the classes and the targets are their numbers 0, 1, ...: the highest
    score answers, the first of equals.
    """
    scores, targets = np.asarray(score), np.asarray(target)
    if scores.ndim == targets.ndim:
        wrong = (scores > 0.0) != (targets > 0.0)
    else:
        wrong = scores.argmax(axis=-1) != targets
    return wrong.astype(np.float64)[()]


def risk(loss: Any, scores: Any, targets: Any, importance: Any = None) -> float:
    """Empirical risk: the importance-weighted mean of the loss, ``sum h loss / sum h``.

    ``loss`` is a loss, a row loss (then a row of ``scores`` holds all classes), or ``zero_one``.
    """
    scores, targets = np.asarray(scores, dtype=np.float64), np.asarray(targets)
    if not np.isfinite(scores).all():
        row = int(np.argwhere(~np.isfinite(scores))[0, 0])
        raise BadInput(f"the score of row {row} is not finite: the risk would not be either")
    if scores.shape[:1] != targets.shape:
        raise BadInput(f"targets have shape {targets.shape}, but there are {len(scores)} scores: give one a row")
    weights = importance_of(importance, len(targets))
    if not weights.sum() > 0.0:
        raise BadInput("the importance of all rows is 0: an empty mean; give at least one row some importance")
    value: Callable[[Any, Any], Any] = loss if loss is zero_one else loss.value
    values = [value(s, y) for s, y in zip(scores, targets, strict=True)]
    return float(np.average(np.array(values, dtype=np.float64), weights=weights))
