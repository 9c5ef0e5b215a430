"""Winners: what a configuration has learned in a race, as a model that can be saved, or held by an estimator."""

from __future__ import annotations

from typing import NamedTuple

from onlinear.learning.classes import Classes
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.selection.race import Race


class Ground(NamedTuple):
    """What a race is over: the classes (None for numbers), hashed to how many bits, and whether rows are dense."""

    classes: Classes | None
    bits: int | None
    dense: bool


def model_of(race: Race, number: int, ground: Ground, passes: list[tuple[int, int]]) -> Model:
    """What a configuration has learned, as if it had been trained alone, to the bit."""
    learner = detach_from_bank(race.learner(number))
    return Model(learner, ground.classes, ground.bits, width=learner.features, dense=ground.dense, pass_starts=passes)


def detach_from_bank(member: Learner) -> Learner:
    """A member of a bank as a learner of its own, whose outputs share one configuration."""
    member.losses, member.rules, member.settings = member.losses[:1], member.rules[:1], member.settings[:1]
    return member


def pass_start(race: Race, number: int, ground: Ground) -> tuple[int, int]:
    """Updates and mistakes so far, for a configuration that begins another pass."""
    model = model_of(race, number, ground, [])
    return model.updates_in_all(), model.mistakes
