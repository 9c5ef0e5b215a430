"""The bound is tight: rows that reach it, and an adversary who forces every learner to make as many mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.famous import AROWClassifier
from onlinear.estimators.online import OnlineClassifier
from onlinear.estimators.passive_aggressive import PassiveAggressiveClassifier
from onlinear.estimators.perceptron import AveragedPerceptron, MarginPerceptron, Perceptron
from onlinear.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from onlinear.streams.synthetic import Adversary, TightExample
from onlinear.theory.certifying import certify
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "The bound is tight: nothing better holds of all rows with this margin"
SIZES = (4, 16, 64, 256)
ROUNDS = 64


@dataclass(frozen=True)
class TightRun:
    """A perceptron over the basis vectors e_1, ..., e_T, until a pass brings no update."""

    rows: int
    updates: int
    passes: int
    bound: str  # the certified one, exactly


@dataclass(frozen=True)
class ForcedRun:
    """A learner against the adversary: whether it was right or wrong in each round."""

    learner: str
    wrong: list[bool]


@dataclass(frozen=True)
class Tightness:
    """Both: the rows that reach the bound, and the learners that an adversary made reach it."""

    runs: list[TightRun]
    forced: list[ForcedRun]
    bound: float


def compute(seed: int) -> Tightness:
    bound = (1.0 / Adversary(ROUNDS).margin) ** 2
    return Tightness([tight_run(T, seed) for T in SIZES], [forced_run(model) for model in learners()], bound)


def tight_run(T: int, seed: int) -> TightRun:
    stream = TightExample(T, seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    model = MarginPerceptron(0.0, fit_intercept=False, order="stream").fit(X, y)
    proven: Any = certify(model, X, y)
    return TightRun(T, model.updates_, model.n_iter_, str(Fraction(proven["bound_exact"])))


def learners() -> list[Any]:
    return [
        Perceptron(fit_intercept=False),
        AveragedPerceptron(fit_intercept=False),
        PassiveAggressiveClassifier(fit_intercept=False),
        AROWClassifier(fit_intercept=False),
        OnlineClassifier(),
    ]


def forced_run(model: Any) -> ForcedRun:
    """Predict, and learn, what an adversary shows who knows the weights."""
    adversary, weights, intercept = Adversary(ROUNDS), np.zeros(ROUNDS), 0.0
    wrong = []
    for _ in range(adversary.rounds):
        x, y = adversary.next_row(weights, intercept)
        wrong.append(bool(y * (weights @ x + intercept) <= 0.0))
        model = model.partial_fit([x], [y], classes=[-1, 1])
        weights, intercept = model.coef_[0], float(np.ravel(model.intercept_)[0])
    return ForcedRun(type(model).__name__, wrong)


def lines(result: Tightness) -> Iterator[str]:
    cells: Cells = [("rows e_1 ... e_T", "updates", "passes", "(R/g)^2, certified")]
    cells += [(str(run.rows), str(run.updates), str(run.passes), run.bound) for run in result.runs]
    yield from table(cells)
    yield from paragraph(
        "Each row is new to the weights, so each score is 0 and each row an update; the best margin is 1/sqrt(T). "
        "With y <w,x> < 0 for <= there would be no update at all."
    )
    yield ""
    cells = [("against the adversary", "rounds", "wrong", "(R/g)^2")]
    for run in result.forced:
        cells.append((run.learner, str(len(run.wrong)), str(sum(run.wrong)), f"{result.bound:.0f}"))
    yield from table(cells)
    yield from paragraph(
        "It shows e_t and the label that the score of e_t speaks against. Whatever the learner does, some unit vector "
        "has the margin g on all rows that it was shown."
    )


def draw(result: Tightness, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    rows = [run.rows for run in result.runs]
    left.plot(rows, [float(Fraction(run.bound)) for run in result.runs], "--", color=VERMILION, label="bound $(R/g)^2$")
    left.plot(rows, [run.updates for run in result.runs], "o", color=BLUE, markersize=13, label="updates")
    left.set(xscale="log", yscale="log", xlabel="rows $e_1, \\ldots, e_T$", ylabel="updates of the perceptron")
    left.set_xticks(rows, map(str, rows))
    left.set_yticks(rows, map(str, rows))
    left.minorticks_off()
    legend_above(left)
    draw_forced(right, result)


def draw_forced(ax: Axes, result: Tightness) -> None:
    """Mistakes so far; the lines lie on each other, so each is drawn thinner than the one before."""
    colours = (BLUE, GREEN, ORANGE, PURPLE, GREY)
    for place, (run, colour) in enumerate(zip(result.forced, colours, strict=True)):
        rounds = range(1, len(run.wrong) + 1)
        ax.plot(rounds, list(accumulate(run.wrong)), "-", color=colour, linewidth=15 - 3 * place, label=run.learner)
    ax.axhline(result.bound, linestyle="--", color=VERMILION, label="bound $(R/g)^2$")
    ax.set(xlabel="rounds of the adversary", ylabel="mistakes so far", xlim=(0, ROUNDS), ylim=(0, None))
    ax.legend(loc="upper left", frameon=False, bbox_to_anchor=(0.0, 0.93))
