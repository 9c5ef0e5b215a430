"""Streams that are not drawn alike: rows that depend on each other, an adversary, and a truth that turns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.perceptron import AveragedPerceptron, Perceptron
from onlinear.plots.drawing import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from onlinear.streams.synthetic import Adversary, Dependent, Drifting, Separable
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Which streams the bound covers: all that one vector separates"
ROWS, DIMENSIONS, BOUND = 6000, 20, 100
MARGIN = BOUND**-0.5
CORRELATIONS = (0.9, 0.999)
#: by how much the truth turns from row to row, in radians
ANGLES = (0.0005, 0.002)
#: rows that are predicted before they are learned, and those whose error is shown together
BLOCK, WINDOW = 20, 600


@dataclass(frozen=True)
class StreamRun:
    """One pass of a perceptron: after how many rows it had made how many updates."""

    stream: str
    fixed: bool  # whether one vector separates all rows
    rows: list[int]
    updates: list[int]


@dataclass(frozen=True)
class Following:
    """Errors while the truth turns, in windows of rows: of the last weights, and of the average of all."""

    angle: float
    last: list[float]
    average: list[float]


@dataclass(frozen=True)
class Streams:
    bound: int
    runs: list[StreamRun]
    following: list[Following]


def compute(seed: int) -> Streams:
    shape = {"n": ROWS, "d": DIMENSIONS, "margin": MARGIN, "seed": seed}
    drifting = [Drifting(angle=angle, **shape) for angle in ANGLES]
    runs = [one_pass("drawn independently", Separable(**shape))]
    runs += [one_pass(f"dependent, correlation {c:g}", Dependent(correlation=c, **shape)) for c in CORRELATIONS]
    runs.append(against_adversary())
    runs += [one_pass(f"turning by {stream.angle:g} a row", stream, fixed=False) for stream in drifting]
    return Streams(BOUND, runs, [following(stream) for stream in drifting])


def one_pass(name: str, stream: Any, fixed: bool = True) -> StreamRun:
    model, found = Perceptron(fit_intercept=False), StreamRun(name, fixed, [], [])
    for X, y in stream.arrays(BLOCK):
        model.partial_fit(X, y, classes=[-1, 1])
        found.rows.append(model.examples_)
        found.updates.append(model.updates_)
    return found


def against_adversary() -> StreamRun:
    """As many rounds as there can be rows that some vector still separates by the margin."""
    adversary = Adversary(d=BOUND, margin=MARGIN)
    model, weights = Perceptron(fit_intercept=False), np.zeros(adversary.d)
    found = StreamRun("chosen by an adversary", True, [], [])
    for _ in range(adversary.rounds):
        x, y = adversary.next_row(weights)
        weights = model.partial_fit([x], [y], classes=[-1, 1]).coef_[0]
        found.rows.append(adversary.shown)
        found.updates.append(model.updates_)
    return found


def following(stream: Drifting) -> Following:
    """Each block is predicted before it is learned."""
    last, average = Perceptron(fit_intercept=False), AveragedPerceptron(fit_intercept=False)
    wrong: dict[Any, list[Any]] = {last: [], average: []}
    for number, (X, y) in enumerate(stream.arrays(BLOCK)):
        for model, found in wrong.items():
            found.append(model.predict(X) != y if number else y > 0)  # weights of 0 answer -1
            model.partial_fit(X, y, classes=[-1, 1])
    errors = [np.concatenate(found).reshape(-1, WINDOW).mean(axis=1).tolist() for found in wrong.values()]
    return Following(stream.angle, *errors)


def lines(result: Streams) -> Iterator[str]:
    cells: Cells = [("rows", "how many", "updates", "(R/g)^2")]
    for run in result.runs:
        bound = f"{result.bound}" if run.fixed else "no u, none"
        cells.append((run.stream, f"{run.rows[-1]:,}", f"{run.updates[-1]:,}", bound))
    yield from table(cells, names=True)
    yield from paragraph(
        f"All rows have length 1 at most and the margin {MARGIN:g}. The theorem asks for one vector that separates "
        "them all, and for nothing else: not that they are independent, nor that they are drawn. While the truth turns "
        "there is no such vector, and updates do not end."
    )
    yield ""
    yield f"Error on {WINDOW} rows, each predicted before it was learned"
    windows = range(0, ROWS // WINDOW, 3)
    cells = [("rows up to", *(f"{(window + 1) * WINDOW:,}" for window in windows))]
    for each in result.following:
        degrees = math.degrees(each.angle * ROWS)
        for who, errors in (("last weights", each.last), ("average", each.average)):
            says = f"{degrees:.0f} degrees in all, {who}"
            cells.append((says, *(f"{errors[window]:.1%}" for window in windows)))
    yield from table(cells, names=True)
    yield from paragraph(
        "The last weights follow; an average of all remembers what is true no longer. Streams that may drift are "
        "watched by detectors: docs/drift.md."
    )


def draw(result: Streams, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    draw_updates(left, result)
    draw_following(right, result)


def draw_updates(ax: Axes, result: Streams) -> None:
    """Updates so far; the streams that no one vector separates are dashed."""
    colours = (BLUE, GREEN, PURPLE, "black", ORANGE, VERMILION)
    for run, colour in zip(result.runs, colours, strict=True):
        ax.plot(
            run.rows,
            run.updates,
            "-" if run.fixed else "--",
            color=colour,
            label=run.stream.replace("correlation ", ""),
        )
    ax.axhline(result.bound, color=GREY, linestyle=":", linewidth=3, label="bound $(R/g)^2$")
    ax.set(xscale="log", yscale="log", xlabel="rows", ylabel="updates so far", ylim=(1, None))
    legend_above(ax, 2)


def draw_following(ax: Axes, result: Streams) -> None:
    """The error in each window; the average is dashed."""
    rows = np.arange(1, ROWS // WINDOW + 1) * WINDOW
    for each, colour in zip(result.following, (ORANGE, VERMILION), strict=True):
        ax.plot(rows, each.last, "o-", color=colour, label=f"last weights, {each.angle:g}")
        ax.plot(rows, each.average, "s--", color=colour, label=f"average, {each.angle:g}")
    ax.set(xlabel="rows", ylabel=f"error of {WINDOW} rows, turning so much a row", ylim=(0.0, None))
    legend_above(ax, 2)
