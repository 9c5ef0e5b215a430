"""Many orders of the same rows: the last weights depend on them, a vote or an average much less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onlinear.estimators.kernel import VotedPerceptron
from onlinear.plots.drawing import BLUE, GREEN, GREY, VERMILION
from onlinear.streams.synthetic import Noisy
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "One pass over the same rows in 20 orders: who should answer?"
ROWS, TESTED, DIMENSIONS, NOISE, ORDERS = 1000, 2000, 20, 0.1, 20
#: what is said of each answer that :class:`VotedPerceptron` has
ANSWERS = {"last": "the last weights", "vote": "the vote of all", "average": "their average"}


@dataclass(frozen=True)
class ManyOrders:
    """The error on test rows with true labels, for each order."""

    rows: int
    tested: int
    last: list[float]
    vote: list[float]
    average: list[float]

    def errors_of(self, answer: str) -> list[float]:
        found: list[float] = getattr(self, answer)
        return found


def compute(seed: int) -> ManyOrders:
    """The versions of one perceptron answer, in three ways: the weights are learned once for each order."""
    stream = Noisy(n=ROWS + TESTED, d=DIMENSIONS, noise=NOISE, margin=0.05, seed=seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    truth = np.concatenate([labels for _, labels in stream.clean.arrays()])
    rng, found = np.random.default_rng(seed), ManyOrders(ROWS, TESTED, [], [], [])
    for _ in range(ORDERS):
        order = rng.permutation(ROWS)
        model = VotedPerceptron(fit_intercept=False).partial_fit(X[order], y[order], classes=[-1, 1])
        for answer in ANSWERS:
            wrong = model.set_params(vote=answer).predict(X[ROWS:]) != truth[ROWS:]
            found.errors_of(answer).append(float(wrong.mean()))
    return found


def lines(result: ManyOrders) -> Iterator[str]:
    cells: Cells = [("who answers", "least error", "median", "most", "better than the last")]
    for answer, says in ANSWERS.items():
        errors = np.array(result.errors_of(answer))
        figures = (f"{error:.2%}" for error in (errors.min(), np.median(errors), errors.max()))
        better = "" if answer == "last" else f"in {(errors < result.last).sum()} of {len(errors)} orders"
        cells.append((says, *figures, better))
    yield from table(cells, names=True)
    yield from paragraph(
        f"{result.rows:,} rows in {DIMENSIONS} dimensions, each label wrong with the probability {NOISE:g}; the error "
        f"is that on {result.tested:,} other rows with true labels. The last weights have just been moved, perhaps by "
        "a wrong label; in a vote, and in the average, those that survived many rows count as often."
    )


def draw(result: ManyOrders, figure: Figure) -> None:
    """A point for each order and answer; the lines connect those of one order."""
    ax = figure.subplots()
    percent = 100.0 * np.array([result.errors_of(answer) for answer in ANSWERS])
    ax.plot(range(len(ANSWERS)), percent, "-", color=GREY, linewidth=1.0, alpha=0.6, zorder=1)
    for place, (errors, colour) in enumerate(zip(percent, (VERMILION, BLUE, GREEN), strict=True)):
        ax.plot([place] * len(errors), errors, "o", color=colour, markersize=12, alpha=0.75)
        ax.plot([place - 0.16, place + 0.16], [np.median(errors)] * 2, color="black", linewidth=4)
        ax.annotate(f" median {np.median(errors):.1f} %", (place + 0.17, np.median(errors)), va="center")
    ax.set_xticks(range(len(ANSWERS)), list(ANSWERS.values()))
    ax.set(xlim=(-0.5, len(ANSWERS) - 0.3), ylim=(0.0, None), ylabel="error on other rows, %")
