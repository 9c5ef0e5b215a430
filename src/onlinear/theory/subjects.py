"""What a theorem needs to know of a learner's output: its weights, its steps, and which theorem covers it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from onlinear import losses, rules
from onlinear.errors import Refused
from onlinear.learning.classes import Classes
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import output_of
from onlinear.rules.dispatch import rule_rate
from onlinear.theory.bounds import RunFigures, is_lost
from onlinear.theory.exact import above, root_above
from onlinear.theory.hypotheses import ExactWeights, Hypothesis, MulticlassWeights
from onlinear.theory.intervals import growth

#: rules that step by ``a z``, and losses that ask for a step exactly when ``<w, z> <= beta``
STEPS, KINKS = (rules.PerceptronStep, rules.SGD), (losses.Perceptron, losses.Hinge)
#: losses of several classes that ask for such a step, for z against the strongest rival
ROW_KINKS = (losses.MulticlassPerceptron, losses.CrammerSinger)
ROUNDING = Fraction(1, 1 << 53)


class Subject(NamedTuple):
    """What a certificate speaks of: one output of a learner, or all of them where they move together."""

    weights: Hypothesis  # those it answers with
    last: Hypothesis  # those it would go on from: others, if it answers with an average
    examples: int
    updates: int
    mistakes: int | None  # None if they are counted for all classes together
    run: RunFigures | None  # None if no theorem covers it
    pull: Fraction | None  # the sum of the steps that make up the weights; None if they are made of anything else
    radius_squared: float | None  # the largest K(x, x) of the rows learned from, where the learner has kept it
    radius_error: float  # by how much of itself that may be off
    whole_passes: bool = True  # whether every pass has had every row once
    replayed: bool = False  # whether these rows, learned again, have made the same
    replay: dict[str, Any] | str = "unlike"  # what a replay of the run is told, or why there is none


class StepGroup(NamedTuple):
    """The outputs of a learner that make the same steps: one, or those of all classes where two move together."""

    learner: Learner
    outputs: list[int]
    turn: float
    stretch: int
    counts_mistakes: bool = True  # its own; of one class against the rest only those of all classes are counted

    @property
    def setting(self) -> Any:
        return self._own(self.learner.settings)

    @property
    def loss(self) -> Any:
        return self._own(self.learner.losses)

    @property
    def rule(self) -> Any:
        return self._own(self.learner.rules)

    def _own(self, of_outputs: Any) -> Any:
        return of_outputs[min(self.outputs[0], len(of_outputs) - 1)]

    @property
    def updates(self) -> int:
        """How many examples have moved its weights; softmax moves the outputs of all classes at once, not of two."""
        updates = self.learner.updates[self.outputs]
        if self.stretch == 2 and type(self.loss) not in ROW_KINKS:
            return int(updates.max())
        return int(updates.sum()) // self.stretch

    def sum_of(self, figures: np.ndarray) -> Fraction | None:
        """A sum over the steps, each of which ``stretch`` outputs have made; None if it is not known."""
        sums = figures[self.outputs].tolist()
        return sum(map(Fraction, sums), Fraction(0)) / self.stretch if all(map(math.isfinite, sums)) else None

    @property
    def are_shared(self) -> bool:
        """Whether a step moves all its outputs alike, as it must where it moves two."""
        if self.stretch == 1:
            return not hasattr(self.loss, "slopes")
        return type(self.loss) in ROW_KINKS and not self.learner.counters.are_targets_weighed(self.outputs)


def steps_of(learner: Learner, classes: Classes, place: int | None) -> StepGroup:
    """The steps for the class at a place of the sorted ones; None for all classes, which move together."""
    if place is None:
        return StepGroup(learner, classes.order.tolist(), 1.0, 2)
    if len(classes) == 1:  # its rows are the rest for the one output, which waits for another class
        return StepGroup(learner, [0], -1.0, 1)
    output, turn = output_of(classes, place)
    return StepGroup(learner, [output], turn, 1, counts_mistakes=len(classes) == 2)


def subject_of(steps: StepGroup) -> Subject:
    learner, setting = steps.learner, steps.setting
    constant = Fraction(setting.intercept_rate) if setting.intercept else Fraction(0)

    def weights(averaged: bool) -> Hypothesis:
        found, intercepts = learner.weights_and_intercepts(averaged=averaged)
        if constant <= 0 and any(intercepts[m] != 0.0 for m in steps.outputs):
            raise Refused("the model has an intercept that it does not learn, and no theorem covers it: fit it anew")
        parts = [ExactWeights(steps.turn * found[m], steps.turn * intercepts[m], constant) for m in steps.outputs]
        return parts[0] if steps.stretch == 1 else MulticlassWeights(parts)

    shown = weights(averaged=True)
    radius = learner.counters.largest_square
    return Subject(
        shown,
        weights(averaged=False) if setting.average > 0.0 else shown,
        learner.examples,
        steps.updates,
        int(learner.counters.unaveraged_mistakes.sum()) if steps.counts_mistakes else None,
        run_of(steps),
        pull_of(steps),
        radius + float(constant) if radius > 0.0 else None,
        4.0 * growth(learner.features + 1),
    )


def run_of(steps: StepGroup) -> RunFigures | None:
    """The run, if it starts at 0, pays no penalty, and steps by ``a z`` exactly when ``<w, z> <= beta``."""
    loss, rule, setting = steps.loss, steps.rule, steps.setting
    kinks = KINKS if steps.stretch == 1 else ROW_KINKS
    covered = type(rule) in STEPS and type(loss) in kinks and setting.l1 == 0.0 and setting.l2 == 0.0
    learner = steps.learner
    pull, squares = steps.sum_of(learner.counters.step_sums), steps.sum_of(learner.counters.squared_step_sums)
    if not covered or not steps.are_shared or learner.slim or pull is None or squares is None:
        return None
    sums = sums_of_steps(pull, squares, steps.updates, Fraction(rule_rate(rule, 1.0)))
    return RunFigures(steps.updates, *sums, Fraction(getattr(loss, "margin", 0.0)), steps.stretch)


def sums_of_steps(pull: Fraction, squares: Fraction, updates: int, rate: Fraction) -> tuple[Fraction, Fraction]:
    """The sum of the steps and that of their squares, whose sums in floats are given.

    If these are the sums of equal steps, but for rounding, then those of equal steps; else a sum that is certainly not
    too large, and one of squares that is certainly not too small.
    """
    slack = 2 * (updates + 1) * ROUNDING
    equal = updates * rate, updates * rate**2
    if abs(pull - equal[0]) <= slack * equal[0] and abs(squares - equal[1]) <= slack * equal[1]:
        return equal
    return pull * (1 - slack), squares * (1 + slack)


def pull_of(steps: StepGroup) -> Fraction | None:
    """The sum of the multipliers of the rows that the weights are made of, averaged and shrunk as they are."""
    learner, setting = steps.learner, steps.setting
    uneven = setting.l2 > 0.0 and bool(setting.intercept)  # the penalty shrinks the weights, but not the intercept
    if learner.kind != "uniform" or learner.slim or setting.l1 > 0.0 or uneven or not steps.are_shared:
        return None
    count = Fraction(float(learner.counters.averaged_examples[steps.outputs[0]]))
    averaged = setting.average > 0.0 and count > 0
    last, summed = steps.sum_of(learner.counters.step_sums), steps.sum_of(learner.counters.averaged_step_sums)
    if last is None or summed is None:
        return None
    return (summed / count if averaged else last) or None


def without_lost_pull(subject: Subject, radius_squared: Fraction) -> Subject:
    """The subject, which has no sum of steps where its weights may not be made of them."""
    pull, constant = subject.pull, subject.weights.kernel.coef0
    return subject._replace(pull=None) if pull is not None and is_lost(pull, radius_squared, constant) else subject


def upper_margin(subject: Subject, radius_squared: Fraction) -> float | None:
    """No unit vector has a larger margin on the rows: ``|w| / sum a``, if w is the sum of ``a z`` with all a >= 0.

    Each of T examples rounds each weight at most twice, by at most ``2^-53`` of its size, which is never above
    ``R sum a``: so the true sum has a norm of at most ``|w| + 4 T 2^-53 R sum a`` (and the sum of a is as exact).
    Where two classes move, they are rounded both.
    """
    if subject.pull is None:
        return None
    slack = 4 * subject.examples * ROUNDING
    norm, radius = Fraction(root_above(subject.weights.norm_squared)), Fraction(root_above(radius_squared))
    return above(norm / (subject.pull * (1 - slack)) + slack * subject.weights.stretch * radius)


def running(subject: Subject) -> dict[str, Any]:
    """What is known without looking at the rows again, in floats: :func:`onlinear.certify` makes it exact."""
    kept = subject.radius_squared
    if kept is not None:
        subject = without_lost_pull(subject, Fraction(kept))
    return {
        "examples": subject.examples,
        "updates": subject.updates,
        "mistakes": subject.mistakes,
        "radius": None if kept is None else math.sqrt(kept),
        "norm": root_above(subject.weights.norm_squared),
        "margin_upper": None if kept is None else upper_margin(subject, Fraction(kept)),
    }
