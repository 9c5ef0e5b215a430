"""Rows in the order of time: how the winner's error goes, where it rises, and what adapting to that is worth."""

from __future__ import annotations

from typing import Any

from onlinear.data.batch import Batch
from onlinear.drift.adapting import Adapting
from onlinear.learning.configuration import Configuration
from onlinear.learning.learner import Learner
from onlinear.workflow.parts import Parts


def follow_winner(winner: Configuration, parts: Parts, on_drift: str) -> tuple[Learner, dict[str, Any]]:
    """The winner over the rows to learn, as a detector makes it act; beside it, what it comes to if nobody acts."""
    learner, adapting = adapting_winner(winner, parts, on_drift)
    still = adapting if on_drift == "ignore" else adapting_winner(winner, parts, "ignore")[1]
    return learner, {
        "policy": on_drift,
        "detector": "ADWIN",
        "alarms": [alarm.example for alarm in adapting.alarms],
        "curve": [[int(examples), float(error)] for examples, error in adapting.curve.points()],
        "error": adapting.error,
        "static_error": still.error,
    }


def adapting_winner(winner: Configuration, parts: Parts, on_drift: str) -> tuple[Learner, Adapting]:
    task = parts.task
    learner = Learner(
        winner.loss,
        winner.rule,
        features=parts.features,
        outputs=task.width(winner.loss),
        settings=winner.settings,
    )
    targets = task.targets(parts.targets, winner.loss)
    adapting = Adapting(on_drift)
    adapting.learn(learner, Batch(parts.train.rows, targets, parts.train.importance, sound=True))
    return learner, adapting
