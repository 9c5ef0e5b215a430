"""What one pass says of new rows, if all are drawn alike: online-to-batch bounds.

A hypothesis is what a learner answers by before it learns the next row, and the risk of one is its chance of a mistake
on a new row. Given the past, a row that is drawn like all others is mistaken with the chance that is the risk of the
hypothesis it meets: so mistakes minus risks are a martingale, whatever the learner does.

Blum, Kalai & Langford, "Beating the hold-out: bounds for k-fold and progressive cross-validation", COLT 1999;
Cesa-Bianchi, Conconi & Gentile, "On the generalization ability of on-line learning algorithms", *IEEE Transactions on
Information Theory* 50 (2004).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from onlinear.errors import Refused
from onlinear.theory.confidence import check_counts, confidence_sequence

ASSUMPTION = "if the rows are drawn independently from one distribution, and none was learned before"
DRAWN = "Cesa-Bianchi, Conconi & Gentile 2004, proposition 1; Blum, Kalai & Langford 1999"
PICKED = "Cesa-Bianchi, Conconi & Gentile 2004, theorem 4"
AT_ANY_TIME = "Howard, Ramdas, McAuliffe & Sekhon 2021, theorem 2"
NO_AVERAGE = "there is no such bound on the mistakes of an average of hypotheses: the 0/1 loss is not convex"


class FirstPass(NamedTuple):
    """What a learner counted in its first pass, where every example was predicted before it was learned."""

    examples: int
    mistakes: int


class OnlineToBatch(NamedTuple):
    """Bounds on the chance of a mistake on a new row, each with confidence ``1 - delta``.

    ``drawn`` is of a hypothesis drawn at random from the run, ``picked`` of the one that the penalised estimate picks
    (:func:`onlinear.theory.penalised_pick.penalised_pick`), and between ``low`` and ``high`` is the mean risk of the
    run so far, whenever one looks.
    """

    examples: int
    mistakes: int
    delta: float
    drawn: float
    picked: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """The progressive error."""
        return self.mistakes / self.examples

    def document(self) -> dict[str, Any]:
        """All of it for JSON, with the assumption and the theorems in words."""
        return {
            "assumption": ASSUMPTION,
            "computed_by": "onlinear, from what the learner counted in its first pass",
            "confidence": 1.0 - self.delta,
            "examples": self.examples,
            "mistakes": self.mistakes,
            "progressive_error": self.error,
            "drawn_at_random": {"error_at_most": self.drawn, "vacuous": self.drawn >= 1.0, "theorem": DRAWN},
            "picked": {"error_at_most": self.picked, "vacuous": self.picked >= 1.0, "theorem": PICKED},
            "average": {"error_at_most": None, "reason": NO_AVERAGE},
            "at_any_time": {"mean_error": [self.low, self.high], "theorem": AT_ANY_TIME},
        }


def online_to_batch(model: Any, delta: float = 0.05) -> OnlineToBatch:
    """What the first pass of a classifier says of new rows, if the rows are drawn independently from one distribution.

    That they are, and that none was learned before, is your word. Later passes meet rows that were learned already:
    their mistakes say nothing, and the hypotheses spoken of are those of the first pass.

    >>> import numpy as np, onlinear
    >>> X = np.random.default_rng(0).normal(size=(2000, 2))
    >>> model = onlinear.OnlineClassifier().partial_fit(X, X[:, 0] > 0.0)
    >>> found = online_to_batch(model)
    >>> found.mistakes, round(found.error, 3), round(found.drawn, 3), round(found.high, 3)
    (24, 0.012, 0.039, 0.023)
    """
    return bounds_from(first_pass_of(model), delta)


def bounds_from(counted: FirstPass, delta: float = 0.05) -> OnlineToBatch:
    """The bounds that follow from what was counted."""
    check_counts(counted.mistakes, counted.examples, delta)
    error = counted.mistakes / counted.examples
    drawn = at_most_one(error + drawn_excess(counted.examples, delta))
    picked = at_most_one(error + picked_excess(counted.examples, delta))
    return OnlineToBatch(
        counted.examples, counted.mistakes, delta, drawn, picked, *confidence_sequence(*counted[::-1], delta)
    )


def drawn_excess(examples: int, delta: float) -> float:
    """How far the mean risk of the hypotheses may be above their progressive error: ``sqrt(ln(1/delta) / (2 n))``.

    Differences that, given the past, lie in an interval of length 1 have the tail of Hoeffding 1963, theorem 2 and its
    section 2; the paper's proposition 1 takes intervals of length 2, and has twice as much.
    """
    return math.sqrt(math.log(1.0 / delta) / (2 * examples))


def penalty(left: int, examples: int, delta: float) -> float:
    """What the penalised estimate adds to the mean loss of a hypothesis on so many rows that were left to it."""
    return math.sqrt(math.log(examples * (examples + 1) / delta) / (2 * left))


def picked_excess(examples: int, delta: float) -> float:
    """How far the risk of the picked hypothesis may be above the progressive error.

    What the proof of theorem 4 adds up, twice the mean penalty (the roots of 1/1, ..., 1/n sum to at most 2 sqrt(n)),
    or what the theorem says for it, ``6 sqrt(ln(2 (n+1)/delta) / n)``, whichever is less.
    """
    of_penalties = 4 * math.sqrt(math.log(2 * examples * (examples + 1) / delta) / (2 * examples))
    of_proof = drawn_excess(examples, delta / 2) + of_penalties
    return min(of_proof, 6 * math.sqrt(math.log(2 * (examples + 1) / delta) / examples))


def at_most_one(bound: float) -> float:
    """A chance, rounded up."""
    return min(1.0, math.nextafter(bound * (1 + 1e-12), math.inf))


# ------------------------------------------------------------------ averages of hypotheses


def average_bound(model: Any, most_loss: float, delta: float = 0.05) -> float:
    """At most what the averaged weights lose on a new row in the mean, with confidence ``1 - delta``.

    A convex loss of an average is at most the average loss: ``mean + L sqrt(ln(1/delta) / (2n)) + L / n``
    (Cesa-Bianchi, Conconi & Gentile 2004, corollary 2; the last term because the weights are averaged *after* each row,
    which replaces the first hypothesis by the last). That no loss of any of the run's hypotheses on any row that can be
    drawn is above ``most_loss``, which is L, is your word, as are the assumptions of :func:`online_to_batch`.

    >>> import numpy as np, onlinear
    >>> X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(4000, 2))
    >>> model = onlinear.OnlineClassifier(loss="hinge", rule="sgd", average=True).partial_fit(X, X[:, 0] > 0.0)
    >>> average_bound(model, most_loss=20.0) > model.loss_
    True
    """
    if not 0.0 < most_loss < math.inf:
        raise Refused(f"most_loss is {most_loss}: give what the loss of a row is never above, a finite number above 0")
    training = model_of(model)
    counted, learner = first_pass_of(model), training.learner
    if any(setting.average != 1.0 for setting in learner.settings):
        raise Refused("the model does not answer by the average of all its hypotheses: set average=True")
    if counted.examples != learner.examples:
        raise Refused("the average is of several passes, and only hypotheses of the first have a bound: take one pass")
    if learner.counters.importance != learner.examples:
        raise Refused("rows have weights, and the bound is of rows that count alike: leave the weights out")
    sums = learner.counters.unaveraged_loss_sums[training.answering_slice]
    suffered = float(sums.mean() if hasattr(learner.losses[0], "slopes") else sums.sum()) / counted.examples
    check_counts(0, counted.examples, delta)
    return suffered + most_loss * (drawn_excess(counted.examples, delta) + 1.0 / counted.examples)


# ------------------------------------------------------------------ what was counted


def model_of(model: Any) -> Any:
    """The model that an estimator holds, or the model itself."""
    found = getattr(model, "_model", model)
    if getattr(found, "classes", None) is None or not hasattr(found, "pass_starts"):
        raise Refused(
            f"{type(model).__name__} counts no mistakes pass by pass: such bounds are of linear classifiers after fit "
            "or partial_fit"
        )
    return found


def first_pass_of(model: Any) -> FirstPass:
    """What was counted in the first pass; refused where nobody has."""
    if getattr(model, "order", None) == "replacement":
        raise Refused("rows were drawn with replacement, and some were learned before they were predicted: no bound")
    training = model_of(model)
    learner, starts = training.learner, training.pass_starts
    if learner.examples == 0:
        raise Refused("the model has learned nothing: fit it first")
    counted = learner.counters.first_pass_examples
    if starts[0] != (0, 0) or (counted >= 0) != (len(starts) > 1):
        raise Refused(
            "the model had learned before its first pass began, and nobody has counted that pass: fit it anew"
        )
    return FirstPass(learner.examples, training.mistakes) if counted < 0 else FirstPass(counted, starts[1][1])


# ------------------------------------------------------------------ in words


def words_for(found: dict[str, Any]) -> list[str]:
    """What a document of :class:`OnlineToBatch` says, for people."""
    low, high = found["at_any_time"]["mean_error"]
    sure = f"{100 * found['confidence']:g} % confidence"
    drawn, picked = (error_words(found[name]) for name in ("drawn_at_random", "picked"))
    return [
        f"{found['assumption'].capitalize()}, then with {sure} each:",
        f"  a hypothesis drawn at random from the first pass {drawn} ({DRAWN});",
        f"  the one that the penalised estimate picks {picked} ({PICKED});",
        f"  the mean error of its hypotheses is between {100 * low:.2f} and {100 * high:.2f} %, whenever one looks "
        f"({AT_ANY_TIME});",
        f"  {NO_AVERAGE}.",
    ]


def error_words(bound: dict[str, Any]) -> str:
    if bound["vacuous"]:
        return "may err on all new rows (vacuous: too few examples)"
    return f"errs on at most {100 * bound['error_at_most']:.2f} % of new rows"
