"""When passes over the same rows have nothing left to change."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.learning.learner import Learner


def comes_to_rest(loss: Any) -> bool:
    """Whether there are scores at which a loss asks for no update: a smooth loss always wants more."""
    if hasattr(loss, "slopes"):
        slopes = np.ones(2)
        loss.slopes(np.array([30.0, 0.0]), 0, slopes)
        return not slopes.any()
    return bool(loss.slope(30.0, 1.0) == 0.0 or loss.slope(1.0 + 1e-9, 1.0) == 0.0)


def rests_without_updates(learner: Learner) -> bool:
    """Whether a pass without an update leaves all weights as they are: no penalty, nothing forgotten."""
    settings = learner.settings[0]
    return comes_to_rest(learner.losses[0]) and not (settings.l1 or settings.l2 or settings.forget)
