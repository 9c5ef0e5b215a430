"""Theorems of other rules than the perceptron's: passive-aggressive, the second-order perceptron, and gradient descent.

All hold for every u, and are computed at weights that make them small: the model's, the witness's, and solutions of the
problem that the bound is. They are computed in floats, rounded outward, from the rows; what the learner counted is its
word. ``onlinear verify`` knows nothing of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onlinear import losses, rules
from onlinear.errors import BoundFailed, Refused
from onlinear.registry import RULES, name_of
from onlinear.theory.examples import Examples
from onlinear.theory.subjects import StepGroup
from onlinear.theory.trials import Trials, least_over_scale, least_penalised, scaled, softmax_sum, trials_of

PAPER = "Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006"
SECOND_ORDER = "Cesa-Bianchi, Conconi & Gentile 2005, theorem 3.1"
REGRET = "Zinkevich 2003, theorem 1, at a constant rate: Orabona 2019, theorem 2.13"
COMPUTED_BY = "onlinear, in floating point, from the rows; what was counted is the learner's word"
#: how much larger printed bounds are than computed ones, for rounding
OUTWARD = 1.0 + 1e-9

#: rules of which people expect a theorem, and why there is none
WITHOUT_THEOREM = {
    rules.AROW: "the rule arow keeps the diagonal of its matrix alone, and the bound of Crammer, Kulesza & Dredze 2009 "
    "is of the whole: the rule second_order keeps one, and has a theorem",
    rules.DiagonalSecondOrder: "the rule diagonal_second_order keeps the diagonal of its matrix alone, and the bound "
    "of Cesa-Bianchi, Conconi & Gentile 2005 is of the whole: the rule second_order keeps it, and has a theorem",
}
#: losses whose sum over a run gradient descent bounds, with the name of what finds a rival
CONVEX = {losses.Hinge: "hinge", losses.Logistic: "log_loss", losses.Binomial: "log_loss", losses.Softmax: "softmax"}


class RuleBound(NamedTuple):
    """A theorem with its numbers: ``bounded`` says of what ``at_most`` is the bound, and ``counted`` what that was."""

    theorem: str
    bounded: str
    at_most: float
    counted: float | None
    numbers: dict[str, float]
    vacuous: bool

    def document(self) -> dict[str, Any]:
        return {**self._asdict(), "computed_by": COMPUTED_BY}


class BoundParts(NamedTuple):
    """A bound at one u, with the numbers that make it up."""

    at_most: float
    numbers: dict[str, float]


def rule_bound(steps: StepGroup, examples: Examples, certificate: dict[str, Any]) -> RuleBound | None:
    """The theorem of the rule that made these steps over rows; None for one that a certificate has a bound of anyway.

    Refused where there is no theorem, or a run is not as it asks. ``certificate`` has the weights, the witness and the
    counts.
    """
    rule = steps.rule
    if type(rule) is rules.PerceptronStep:
        return None
    if type(rule) in WITHOUT_THEOREM:
        raise Refused(WITHOUT_THEOREM[type(rule)])
    theorem = THEOREMS.get(type(rule))
    if theorem is None:
        raise Refused(f"no theorem is computed of the rule {name_of(rule, RULES) or type(rule).__name__}")
    check_run(steps, examples)
    setting = steps.setting
    constant = math.sqrt(setting.intercept_rate) if setting.intercept else 0.0
    outputs = len(steps.outputs) if steps.stretch == 2 else 1
    trials = trials_of(examples, certificate["passes"], constant, outputs)
    given = [certificate["weights"], certificate["witness"] if certificate["separable"] else None]
    given += [(certificate["inseparable_bound"] or {}).get("weights")]
    found = theorem(steps, trials, [trials.weights_in(parts) for parts in given if parts], certificate)
    if found.counted is not None and found.counted > found.at_most * OUTWARD:
        raise BoundFailed(
            f"{found.theorem}: {found.counted:g} is more than the {found.bounded} can be, {found.at_most:g}: certify "
            "the rows that the model has learned from, and if these are they, please report this"
        )
    return found


def check_run(steps: StepGroup, examples: Examples) -> None:
    """Refuse a run that is not the algorithm of a theorem."""
    learner, setting = steps.learner, steps.setting
    if learner.slim or not np.isfinite(learner.counters.step_sums[steps.outputs]).all():
        raise Refused("the weights did not start at 0, or were changed on the way: the theorems are of runs from 0")
    if setting.l1 > 0.0 or setting.l2 > 0.0 or setting.forget > 0.0:
        raise Refused("the theorems are of runs without a penalty, which forget nothing")
    weighed = any(block.importance is not None and (block.importance != 1.0).any() for block in examples())
    counters = learner.counters
    if weighed or counters.importance != counters.examples or counters.are_targets_weighed(steps.outputs):
        raise Refused("rows or classes have weights, and the theorems are of rows that count alike")


def least(
    trials: Trials, candidates: list[np.ndarray], bound_at: Callable[[np.ndarray, np.ndarray, float], BoundParts]
) -> BoundParts:
    """The least bound that multiples of some weights prove: from weights, their margins and their squared norm."""
    best = bound_at(*no_weights(trials))
    for u, margins, norm, start in scaled(trials, candidates):

        def at(scale: float) -> BoundParts:
            return bound_at(scale * u, scale * margins, scale**2 * norm)  # noqa: B023 (it is called here only)

        found = at(least_over_scale(lambda scale: at(scale).at_most, start))
        best = min(best, found, key=lambda one: one.at_most)
    return best._replace(at_most=best.at_most * OUTWARD)


def no_weights(trials: Trials) -> tuple[np.ndarray, np.ndarray, float]:
    u = np.zeros((trials.outputs, trials.rows.shape[1]))
    return u, np.zeros(len(trials.targets)), 0.0


# ------------------------------------------------------------------ passive-aggressive


def passive_bound(
    steps: StepGroup, trials: Trials, candidates: list[np.ndarray], certificate: dict[str, Any]
) -> RuleBound:
    """Theorems 2 and 3 for the rule pa, 4 for pa1, 5 for pa2."""
    setting, rule, loss = steps.setting, steps.rule, steps.loss
    if type(loss) not in (losses.Hinge, losses.SquaredHinge, losses.CrammerSinger) or loss.margin != 1.0:
        raise Refused("the theorems of passive-aggressive learning are of hinge losses with the margin 1")
    if setting.intercept and not (setting.intercept_in_norm and setting.intercept_rate == 1.0):
        raise Refused(
            "the squared length of a row leaves out the intercept, as scikit-learn's does, so that a step does not "
            "mend the row, and no theorem covers it: say fit_intercept=False, or take OnlineClassifier(rule='pa1')"
        )
    lengths = trials.squared_lengths
    longest, shortest = float(lengths.max()) * OUTWARD, float(lengths.min()) / OUTWARD
    strength = math.inf if type(rule) is rules.PA else rule.C
    counted: float | None = squared_hinge_counted(steps, certificate)
    if math.isinf(strength):
        found, theorem = aggressive_bound(trials, candidates, longest, shortest)
    elif type(rule) is rules.PA1:
        theorem, counted = "theorem 4", certificate["mistakes"]
        found = soft_bound(trials, candidates, strength, max(longest, 1.0 / strength), 1)
    else:
        theorem = "theorem 5"
        found = soft_bound(trials, candidates, strength, longest + 0.5 / strength, 2)
    bounded = "mistakes" if theorem == "theorem 4" else "squared hinge losses, and so the mistakes"
    numbers = {"R": math.sqrt(longest), **({} if math.isinf(strength) else {"C": strength}), **found.numbers}
    vacuous = found.at_most >= trials.total
    return RuleBound(f"{PAPER}, {theorem}", bounded, found.at_most, counted, numbers, vacuous)


def squared_hinge_counted(steps: StepGroup, certificate: dict[str, Any]) -> float:
    """At least what the squared hinge losses came to: of a sum of hinge losses, by Cauchy and Schwarz."""
    sums = steps.learner.counters.unaveraged_loss_sums[steps.outputs]
    total = float(sums.mean() if hasattr(steps.loss, "slopes") else sums.sum())
    if type(steps.loss) is not losses.SquaredHinge:
        total = total**2 / max(certificate["updates"], 1)
    return max(total / OUTWARD, float(certificate["mistakes"] or 0))


def hinges(margins: np.ndarray) -> np.ndarray:
    return np.maximum(0.0, 1.0 - margins)


def aggressive_bound(
    trials: Trials, candidates: list[np.ndarray], longest: float, shortest: float
) -> tuple[BoundParts, str]:
    """``R^2 (D/r + sqrt((D/r)^2 + |u|^2))^2``, r the least length: theorem 2 if D = 0, and theorem 3 if all are 1."""
    if shortest <= 0.0:
        raise Refused(
            "a row has the length 0, of which theorems 2 and 3 know nothing: leave it out, or add an intercept"
        )

    def bound_at(u: np.ndarray, margins: np.ndarray, norm: float) -> BoundParts:
        deviation = trials.passes * float((hinges(margins) ** 2).sum()) / shortest
        value = longest * (math.sqrt(deviation) + math.sqrt(deviation + norm)) ** 2
        return BoundParts(
            value, {"norm_of_u": math.sqrt(norm), "D": math.sqrt(deviation * shortest), "r": math.sqrt(shortest)}
        )

    tried = candidates + [least_penalised(trials, "squared_hinge", 10.0**power) for power in (-3, -1, 1, 3, 5)]
    found = least(trials, tried, bound_at)
    separating = [1.0 / least_margin(trials, u) for u in tried if least_margin(trials, u) > 0.0]
    value = longest * min(separating, default=math.inf) ** 2 * OUTWARD
    if value <= found.at_most * (1.0 + 1e-6):  # the same weights, but for rounding
        return BoundParts(value, {"norm_of_u": min(separating), "margin": 1.0 / min(separating)}), "theorem 2"
    return found, "theorem 3, for rows of several lengths"


def least_margin(trials: Trials, u: np.ndarray) -> float:
    """That of the unit vector."""
    norm = float(np.linalg.norm(u)) * OUTWARD
    return float(trials.margins(u).min()) / norm if norm > 0.0 else 0.0


def soft_bound(trials: Trials, candidates: list[np.ndarray], C: float, factor: float, power: int) -> BoundParts:
    """``factor (|u|^2 + 2 C sum of hinge losses to the power)``."""
    name = "sum_of_hinge_losses_of_u" if power == 1 else "sum_of_squared_hinge_losses_of_u"

    def bound_at(u: np.ndarray, margins: np.ndarray, norm: float) -> BoundParts:
        total = trials.passes * float((hinges(margins) ** power).sum())
        return BoundParts(factor * (norm + 2.0 * C * total), {"norm_of_u": math.sqrt(norm), name: total})

    best = least_penalised(trials, "hinge" if power == 1 else "squared_hinge", 2.0 * C)
    return least(trials, [*candidates, best], bound_at)


# ------------------------------------------------------------------ the second-order perceptron


def second_order_bound(
    steps: StepGroup, trials: Trials, candidates: list[np.ndarray], certificate: dict[str, Any]
) -> RuleBound:
    """``k <= D + sqrt((a |u|^2 + sum <u, x>^2) sum ln(1 + lambda_i / a))``, over the trials with an update."""
    if type(steps.loss) is not losses.Perceptron:
        raise Refused("the theorem of the second-order perceptron is of updates at mistakes: take the loss perceptron")
    a, rows, passes = steps.rule.a, trials.rows, trials.passes
    width, longest = rows.shape[1], float(trials.squared_lengths.max()) * OUTWARD
    gram = (rows.T @ rows).toarray() if width <= rows.shape[0] else (rows @ rows.T).toarray()
    eigenvalues = np.maximum(np.linalg.eigvalsh(gram), 0.0) * passes
    volume, rank = float(np.log1p(eigenvalues / a).sum()) * OUTWARD, min(width, rows.shape[0])

    def bound_at(u: np.ndarray, margins: np.ndarray, norm: float) -> BoundParts:
        products, short = trials.scores(u)[:, 0] ** 2, hinges(margins)
        along, deviation = passes * float(products.sum()), passes * float(short.sum())
        most = float(trials.total)
        for _ in range(100):  # what bounds the updates bounds what they can have added up to
            spread = min(volume, rank * math.log1p(most * longest / (a * rank)))
            part = min(along, most * float(products.max(initial=0.0)))
            next_most = min(deviation, most * float(short.max(initial=0.0))) + math.sqrt((a * norm + part) * spread)
            if next_most >= most * (1.0 - 1e-12):
                break
            most = next_most
        return BoundParts(most, {"a": a, "norm_of_u": math.sqrt(norm), "D": deviation, "sum_of_logarithms": spread})

    tried = candidates + [least_penalised(trials, "squared_hinge", 10.0**power) for power in (-3, -1, 1, 3)]
    found = least(trials, tried, bound_at)
    counted = float(certificate["updates"])
    return RuleBound(SECOND_ORDER, "updates", found.at_most, counted, found.numbers, found.at_most >= trials.total)


# ------------------------------------------------------------------ gradient descent


def gradient_bound(
    steps: StepGroup, trials: Trials, candidates: list[np.ndarray], certificate: dict[str, Any]
) -> RuleBound:
    """``sum of losses <= sum of losses of u + |u|^2 / (2 rate) + rate / 2 sum |g|^2``, for every u."""
    schedule, loss = steps.rule.schedule, steps.loss
    if type(schedule) is not rules.Constant or not schedule.rate > 0.0:
        raise Refused("the regret of gradient descent is bounded here at a constant rate: take the schedule constant")
    rival = CONVEX.get(type(loss))
    if rival is None or (rival == "hinge" and loss.margin != 1.0):
        raise Refused(
            f"no regret bound is computed of the loss {type(loss).__name__}: there is one of hinge, log loss, softmax"
        )
    rate, learner = schedule.rate, steps.learner
    lengths = trials.squared_lengths / (2.0 if trials.outputs > 1 else 1.0)
    squares = float(learner.counters.squared_step_sums[steps.outputs].sum())
    gradients = squares / rate**2 * float(lengths.max()) * OUTWARD
    sums = learner.counters.unaveraged_loss_sums[steps.outputs]
    suffered = float(sums.mean() if hasattr(loss, "slopes") else sums.sum())

    def bound_at(u: np.ndarray, margins: np.ndarray, norm: float) -> BoundParts:
        total = softmax_sum(trials, u) if rival == "softmax" else trials.passes * float(values(rival, margins).sum())
        value = total + norm / (2.0 * rate) + 0.5 * rate * gradients
        return BoundParts(
            value,
            {
                "rate": rate,
                "norm_of_u": math.sqrt(norm),
                "sum_of_losses_of_u": total,
                "regret_at_most": norm / (2.0 * rate) + 0.5 * rate * gradients,
            },
        )

    found = least(trials, [*candidates, least_penalised(trials, rival, 2.0 * rate)], bound_at)
    return RuleBound(REGRET, "losses of the run", found.at_most, suffered / OUTWARD, found.numbers, vacuous=False)


def values(rival: str, margins: np.ndarray) -> np.ndarray:
    return hinges(margins) if rival == "hinge" else np.logaddexp(0.0, -margins)


THEOREMS = {
    rules.PA: passive_bound,
    rules.PA1: passive_bound,
    rules.PA2: passive_bound,
    rules.SecondOrder: second_order_bound,
    rules.SGD: gradient_bound,
}


# ------------------------------------------------------------------ in words


def words_for(found: dict[str, Any]) -> str:
    """What the document of a theorem says, for people."""
    if "refused" in found:
        return f"No theorem beside it: {found['refused']}."
    counted = found["counted"]
    exactly = "" if counted is None or counted == int(counted) else "at least "
    told = "" if counted is None else f"; by the learner's counts they were {exactly}{number(counted)}"
    numbers = ", ".join(f"{name.replace('_', ' ')} {number(value)}" for name, value in found["numbers"].items())
    vacuous = " (vacuous: no less than there were examples)" if found["vacuous"] else ""
    return (
        f"{found['theorem']}: the {found['bounded']} are at most {number(found['at_most'])}{vacuous}{told}. "
        f"Here {numbers}."
    )


def number(value: float) -> str:
    if abs(value) >= 1e15:
        return f"{value:.6g}"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}" if abs(value) >= 1.0 else f"{value:.6g}"
