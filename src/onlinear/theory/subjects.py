"""What a theorem needs to know of a learner's output: its weights, its steps, and which theorem covers it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from onlinear import losses, rules
from onlinear.calls import rule_rate
from onlinear.kernels.state import COUNT, PULL, PULLED, RADIUS, SQUARES
from onlinear.learner import Learner
from onlinear.theory.bounds import Run
from onlinear.theory.exact import ExactWeights, above, root_above

#: rules that step by ``a y x``, and losses that ask for a step exactly when ``y <w, x> <= beta``
STEPS, KINKS = (rules.PerceptronStep, rules.SGD), (losses.Perceptron, losses.Hinge)
ROUNDING = Fraction(1, 1 << 53)


class Subject(NamedTuple):
    """One output of a learner."""

    weights: ExactWeights  # those it answers with
    last: ExactWeights  # those it would go on from: others, if it answers with an average
    examples: int
    updates: int
    mistakes: int
    run: Run | None  # None if no theorem covers it
    pull: float | None  # the sum of the steps that make up the weights; None if they are made of anything else
    radius_squared: float | None  # of the rows learned from, without the constant, where the learner has kept it


def subject_of(learner: Learner, m: int, turn: float = 1.0) -> Subject:
    """Output m; ``turn`` is -1 if its negative is to be certified."""
    setting = learner.settings[min(m, len(learner.settings) - 1)]
    constant = Fraction(setting.intercept_rate) if setting.intercept else Fraction(0)

    def weights(averaged: bool) -> ExactWeights:
        found, intercepts = learner._read(averaged)
        return ExactWeights(turn * found[m], turn * float(intercepts[m]), constant)

    shown = weights(averaged=True)
    radius = float(learner.clock[0, RADIUS])
    return Subject(
        shown,
        weights(averaged=False) if setting.average > 0.0 else shown,
        learner.examples,
        int(learner.updates[m]),
        int(learner.mistakes.sum()),
        run_of(learner, m),
        pull_of(learner, m),
        radius if radius > 0.0 else None,
    )


def run_of(learner: Learner, m: int) -> Run | None:
    """The run, if it starts at 0, pays no penalty, and steps by ``a y x`` exactly when ``y <w, x> <= beta``."""
    loss, rule = learner.losses[min(m, len(learner.losses) - 1)], learner.rules[min(m, len(learner.rules) - 1)]
    setting = learner.settings[min(m, len(learner.settings) - 1)]
    pull, squares = float(learner.clock[m, PULL]), float(learner.clock[m, SQUARES])
    updates = int(learner.updates[m])
    covered = type(rule) in STEPS and type(loss) in KINKS and setting.l1 == 0.0 and setting.l2 == 0.0
    if not covered or learner.slim or not math.isfinite(pull):
        return None
    sums = sums_of_steps(Fraction(pull), Fraction(squares), updates, Fraction(rule_rate(rule, 1.0)))
    return Run(updates, *sums, Fraction(getattr(loss, "margin", 0.0)))


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


def pull_of(learner: Learner, m: int) -> float | None:
    """The sum of the multipliers of the rows that the weights are made of, averaged and shrunk as they are."""
    setting = learner.settings[min(m, len(learner.settings) - 1)]
    loss = learner.losses[min(m, len(learner.losses) - 1)]
    uneven = setting.l2 > 0.0 and bool(setting.intercept)  # the penalty shrinks the weights, but not the intercept
    if learner.kind != "uniform" or learner.slim or setting.l1 > 0.0 or uneven or hasattr(loss, "slopes"):
        return None
    count = float(learner.clock[m, COUNT])
    averaged = setting.average > 0.0 and count > 0.0
    pull = float(learner.clock[m, PULLED]) / count if averaged else float(learner.clock[m, PULL])
    return pull if math.isfinite(pull) and pull > 0.0 else None


def upper_margin(subject: Subject, radius_squared: Fraction) -> float | None:
    """No unit vector has a larger margin on the rows: ``|w| / sum a``, if w is the sum of ``a y x`` with all a >= 0.

    Each of T examples rounds each weight at most twice, by at most ``2^-53`` of its size, which is never above
    ``R sum a``: so the true sum has a norm of at most ``|w| + 4 T 2^-53 R sum a`` (and the sum of a is as exact).
    """
    if subject.pull is None:
        return None
    slack = 4 * subject.examples * ROUNDING
    norm, radius = Fraction(root_above(subject.weights.norm_squared)), Fraction(root_above(radius_squared))
    return above(norm / (Fraction(subject.pull) * (1 - slack)) + slack * radius)


def running(learner: Learner, m: int, turn: float = 1.0) -> dict[str, Any]:
    """What is known without looking at the rows again, in floats: :func:`onlinear.certify` makes it exact."""
    subject = subject_of(learner, m, turn)
    kept = subject.radius_squared
    squared = None if kept is None else Fraction(kept) + subject.weights.constant_squared
    return {
        "examples": subject.examples,
        "updates": subject.updates,
        "mistakes": subject.mistakes,
        "radius": None if squared is None else math.sqrt(squared),
        "norm": math.sqrt(subject.weights.norm_squared),
        "margin_upper": None if squared is None else upper_margin(subject, squared),
    }
