"""A perceptron in one dimension, as it is drawn on a board: a threshold that moves along a line."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.perceptron import Perceptron
from onlinear.plots.drawing import BLUE, GREEN, GREY, SIDES, VERMILION
from onlinear.plots.following import examples_of, follow
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.telling import paragraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "In one dimension: the score is w x + b, and the boundary -b/w"
#: the line reaches so far on both sides, and no row is nearer to the threshold than GAP
REACH, GAP, ROWS = 5, 1, 8
#: letters between two whole numbers on the printed line
LETTERS = 4
CONE = "#CDEBE1"


@dataclass(frozen=True)
class BoardLine:
    """What an update did."""

    trial: int
    row: int
    score: float
    weight: float
    intercept: float

    @property
    def boundary(self) -> float | None:
        """Where the score is 0; None if that is nowhere."""
        return 0.0 - self.intercept / self.weight if self.weight else None

    def score_of(self, x: float) -> float:
        return self.weight * x + self.intercept


@dataclass(frozen=True)
class Board:
    """A run to its end."""

    x: list[int]
    y: list[int]
    threshold: int
    updates: list[BoardLine]
    trials: int
    passes: int
    radius: float
    margin: float
    bound: float


def compute(seed: int) -> Board:
    """Whole numbers on both sides of a drawn threshold, learned until a pass brings no update."""
    rng = np.random.default_rng(seed)
    threshold = int(rng.choice([-3, -2, 2, 3]))  # not 0: the intercept has something to learn
    places = np.array([x for x in range(-REACH, REACH + 1) if abs(x - threshold) >= GAP])
    x = rng.permutation(places)[:ROWS]
    x[:2] = threshold + np.array([GAP, -GAP])  # both sides have a row
    x = rng.permutation(np.unique(x))
    y = np.where(x > threshold, 1, -1)
    radius = math.hypot(float(abs(x).max()), 1.0)
    margin = float(abs(x - threshold).min()) / math.hypot(1.0, threshold)
    bound = (radius / margin) ** 2
    updates: list[BoardLine] = []
    trials, before = 0, np.zeros(2)
    for step in follow(Perceptron(), examples_of(x[:, None], y), math.ceil(bound) + 1):
        trials += 1
        if step.updates > len(updates):
            score, (weight, intercept) = float(before @ (x[step.row], 1.0)), step.weights.tolist()
            updates.append(BoardLine(trials, step.row, score, weight, intercept))
            before = step.weights
    passes = trials // len(x)
    return Board(x.tolist(), y.tolist(), threshold, updates, trials, passes, radius, margin, bound)


def lines(result: Board) -> Iterator[str]:
    scale = "".join(f"{x:<{LETTERS}d}" for x in range(-REACH, REACH + 1)).rstrip()
    yield f"  t   x   y  score    w    b    -b/w  {scale}"
    for each in result.updates:
        numbers = f"{each.trial:3d}  {result.x[each.row]:+d}  {result.y[each.row]:+d}  {each.score:+5.0f}"
        boundary = "-" if each.boundary is None else f"{each.boundary:+.2f}"
        yield f"{numbers}  {each.weight:+3.0f}  {each.intercept:+3.0f}  {boundary:>6}  {line_of(result, each)}"
    yield from paragraph(
        "o is a row with y = -1, x one with y = +1; a capital one asks for an update now. The line is made of + where "
        "the answer is +1, and of dots where it is -1."
    )
    yield from paragraph(
        f"Pass {result.passes} brings no update: {len(result.updates)} updates in {result.trials} trials. The bound, "
        f"by w = 1 and b = {-result.threshold}: (R/g)^2 = ({result.radius:.3f}/{result.margin:.3f})^2 "
        f"= {result.bound:.1f}, where b is the weight of a feature that is always 1."
    )


def line_of(result: Board, each: BoardLine) -> str:
    """The line with its rows and answers after an update."""
    grid = [place / LETTERS for place in range(-REACH * LETTERS, REACH * LETTERS + 1)]
    letters = ["+" if each.score_of(x) > 0.0 else "." for x in grid]
    for x, y in zip(result.x, result.y, strict=True):
        letter = "x" if y > 0 else "o"
        letters[(x + REACH) * LETTERS] = letter.upper() if y * each.score_of(x) <= 0.0 else letter
    return "".join(letters)


def draw(result: Board, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    draw_lines(left, result)
    draw_weights(right, result)


def draw_lines(ax: Axes, result: Board) -> None:
    """The line after each update, one below the other."""
    edge = REACH + 0.7
    grid = np.linspace(-edge, edge, 1000)
    x, y = np.array(result.x), np.array(result.y)
    for k, each in enumerate(result.updates, 1):
        positive = each.weight * grid + each.intercept > 0.0
        for colour, where in zip(SIDES, (~positive, positive), strict=True):
            ax.fill_between(grid, k - 0.42, k + 0.42, where=where.tolist(), color=colour, linewidth=0, zorder=0)
        if each.boundary is not None and abs(each.boundary) < edge:
            ax.plot([each.boundary] * 2, [k - 0.42, k + 0.42], color="black", linewidth=3)
        for sign, marker, colour in ((-1, "o", VERMILION), (1, "^", BLUE)):
            label = f"y = {sign:+d}" if k == 1 else None
            ax.plot(x[y == sign], np.full((y == sign).sum(), k), marker, color=colour, label=label)
        label = "the row of the update" if k == 1 else None
        ax.plot(x[each.row], k, "o", markersize=16, markerfacecolor="none", color="black", label=label)
    ax.set(xlabel="x", ylabel="update", xlim=(-edge, edge), ylim=(len(result.updates) + 0.6, 0.4))
    ax.locator_params(axis="y", integer=True)
    legend_above(ax)


def draw_weights(ax: Axes, result: Board) -> None:
    """The way of (w, b), and the cone in which all rows are right."""
    path = np.array([(0.0, 0.0), *((each.weight, each.intercept) for each in result.updates)])
    reach = float(abs(path).max()) * 1.15 + 0.5
    across, up = np.meshgrid(*[np.linspace(-reach, reach, 400)] * 2)
    right: Any = np.ones_like(across, dtype=np.bool_)
    for x, y in zip(result.x, result.y, strict=True):
        right &= y * (across * x + up) > 0.0
    ax.contourf(across, up, right, levels=[0.5, 1.5], colors=[CONE])
    ax.fill([], [], color=CONE, label="right on every row")
    ax.plot(*path.T, "-", color=GREY, linewidth=1.5)
    ax.plot(*path[:-1].T, "o", color=GREY, markersize=6)
    ax.plot(*path[-1], "o", color=GREEN, markersize=12, label="the end")
    ax.plot(0.0, 0.0, "s", color="black", label="the start")
    ax.axhline(0.0, color="black", linewidth=0.8, zorder=0)
    ax.axvline(0.0, color="black", linewidth=0.8, zorder=0)
    ax.set(xlabel="w", ylabel="b", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    legend_above(ax)
