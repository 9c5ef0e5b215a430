"""A perceptron in the plane, one line for each update."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.perceptron import Perceptron
from onlinear.plots.drawing import BLUE, GREY, SIDES, VERMILION
from onlinear.plots.following import examples_of, follow
from onlinear.streams.synthetic import Separable
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "The perceptron: if y <w,x> <= 0, add y x to w"
ROWS, MARGIN = 16, 0.04
#: passes after which every run has come to rest: each but the last has an update, and the bound allows no more
PASSES = math.ceil(1.0 / (MARGIN - 0.01) ** 2) + 1
#: pictures on a slide
PANELS = 6


@dataclass(frozen=True)
class UpdateLine:
    """What an update did: at which trial, by which row, and to which weights."""

    trial: int
    row: int
    score: float
    weights: tuple[float, float]

    @property
    def boundary(self) -> float:
        """The angle of the boundary to the first axis, in degrees from 0 up to 180."""
        w1, w2 = self.weights
        return (math.degrees(math.atan2(w2, w1)) + 90.0) % 180.0


@dataclass(frozen=True)
class Trace:
    """A run to its end: the rows, their labels, and every update."""

    X: list[tuple[float, float]]
    y: list[int]
    updates: list[UpdateLine]
    trials: int
    passes: int
    radius: float
    margin: float
    bound: float


def compute(seed: int) -> Trace:
    """Rows with two decimals, so that each line can be checked by hand, learned until a pass brings no update."""
    stream = Separable(n=ROWS, d=2, margin=MARGIN, seed=seed)
    X, y = next(stream.arrays(ROWS))
    X = X.round(2)
    updates: list[UpdateLine] = []
    before, trials = np.zeros(2), 0
    for step in follow(Perceptron(fit_intercept=False), examples_of(X, y), PASSES):
        trials += 1
        if step.updates > len(updates):
            score, (w1, w2) = float(X[step.row] @ before), step.weights.tolist()
            updates.append(UpdateLine(trials, step.row, score, (w1, w2)))
            before = step.weights
    radius, margin = float(np.linalg.norm(X, axis=1).max()), float((y * (X @ stream.u)).min())
    rows = [(x1, x2) for x1, x2 in X.tolist()]
    labels = y.astype(int).tolist()
    return Trace(rows, labels, updates, trials, trials // ROWS, radius, margin, (radius / margin) ** 2)


def lines(result: Trace) -> Iterator[str]:
    cells: Cells = [("t", "x", "y", "score", "update", "w", "boundary")]
    for each in result.updates:
        (x1, x2), y = result.X[each.row], result.y[each.row]
        update, angle = pair_of((y * x1, y * x2)), f"{each.boundary:.0f} deg"
        cells.append(
            (str(each.trial), pair_of((x1, x2)), f"{y:+d}", f"{each.score:+.2f}", update, pair_of(each.weights), angle)
        )
    yield from table(cells)
    yield from paragraph(
        f"Pass {result.passes} over the {len(result.X)} rows brings no update: all are on their side. "
        f"{len(result.updates)} updates in {result.trials} trials. The bound allows {math.floor(result.bound)}: "
        f"(R/g)^2 = ({result.radius:.3f}/{result.margin:.4f})^2 = {result.bound:.1f}, g the margin of a hidden vector."
    )


def pair_of(numbers: tuple[float, float]) -> str:
    """
    >>> pair_of((0.5, -1.0))
    '(+0.50,-1.00)'
    """
    return f"({numbers[0]:+.2f},{numbers[1]:+.2f})"


def draw(result: Trace, figure: Figure) -> None:
    """The boundary before and after some of the updates, the first and the last among them."""
    shown = np.unique(np.linspace(0, len(result.updates) - 1, PANELS).round().astype(int)).tolist()
    panels: Any = figure.subplots(2, (len(shown) + 1) // 2, squeeze=False)
    for ax in panels.flat[len(shown) :]:
        ax.remove()
    for ax, number in zip(panels.flat, shown, strict=False):
        draw_update(ax, result, number)
    legend = panels.flat[
        min(1, len(shown) - 1)
    ].get_legend_handles_labels()  # there is no boundary before the first update
    figure.legend(*legend, ncols=5, loc="outside lower center", frameon=False)


def draw_update(ax: Axes, result: Trace, number: int) -> None:
    """The rows, the boundaries before and after an update, and the weights as an arrow."""
    X, y, update = np.array(result.X), np.array(result.y), result.updates[number]
    reach = 1.08
    ends = np.array([-2.0 * reach, 2.0 * reach])
    w = np.array(update.weights) / math.hypot(*update.weights)
    side = np.array([-w[1], w[0]])
    for sign, colour in zip((-1.0, 1.0), SIDES, strict=True):
        corners = np.array([2 * side, -2 * side, -2 * side + 3 * sign * w, 2 * side + 3 * sign * w])
        ax.fill(*corners.T, color=colour, zorder=0)
    for sign, marker, colour in ((-1, "o", VERMILION), (1, "^", BLUE)):
        ax.plot(*X[y == sign].T, marker, color=colour, label=f"y = {sign:+d}", zorder=3)
    if number:
        old = np.array(result.updates[number - 1].weights)
        across = np.array([-old[1], old[0]]) / np.hypot(*old)
        ax.plot(*np.outer(across, ends), "--", color=GREY, label="the boundary before")
    ax.plot(*np.outer(side, ends), "-", color="black", label="and after")
    ax.plot(*X[update.row], "o", markersize=17, markerfacecolor="none", color="black", markeredgewidth=2.0, zorder=4)
    ax.annotate(
        "", (0.6 * w[0], 0.6 * w[1]), (0.0, 0.0), arrowprops={"width": 2.5, "headwidth": 11, "color": "black"}, zorder=5
    )
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    ax.set_title(f"update {number + 1}, at t = {update.trial}")
