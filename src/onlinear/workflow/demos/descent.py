"""Gradient descent, Newton's method and SGD to a gap of epsilon: how many steps, and how long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.descent import Objective, mean_loss, newton
from onlinear.descent.growth import METHODS, Method
from onlinear.losses import Logistic, Squared
from onlinear.plots.drawing import BLUE, GREEN, ORANGE, VERMILION
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Steps and time to a gap of epsilon: n rows of d features"
ROWS, FEATURES, L2 = 4096, 16, 0.02
GAPS = (1e-1, 1e-2, 1e-3)
#: rows among which the time is compared, and to which gap
GROWING, GAP = (1024, 8192, 65536), 1e-3
#: times that a method without a seed runs, the fastest of which is shown: its steps are the same
REPEATS = 3
#: what rounding leaves of a gap
ROUNDING = 1e-16


@dataclass(frozen=True)
class MethodRun:
    """The course of a method: after how many steps and seconds which gap was left."""

    method: str
    steps: list[int]
    gaps: list[float]
    seconds: list[float]

    def first(self, gap: float) -> int:
        """The place in the course at which the gap was reached."""
        return next(place for place, left in enumerate(self.gaps) if left <= gap)


@dataclass(frozen=True)
class SolvedProblem:
    """One loss over so many rows, solved by each method."""

    loss: str
    rows: int
    runs: list[MethodRun]


@dataclass(frozen=True)
class DescentTable:
    """Both losses to all gaps, and the logistic one over ever more rows."""

    problems: list[SolvedProblem]
    growing: list[SolvedProblem]


def compute(seed: int) -> DescentTable:
    problems = [solved(loss, ROWS, min(GAPS), seed) for loss in (Squared(), Logistic())]
    return DescentTable(problems, [solved(Logistic(), rows, GAP, seed) for rows in GROWING])


def solved(loss: Any, rows: int, gap: float, seed: int) -> SolvedProblem:
    """Each method to a gap; that is the true one, to the optimum that Newton's method finds first."""
    objective = objective_of(loss, rows, seed)
    optimum = newton(objective, 1e-15).value
    runs = [run_of(method, objective, gap, optimum, seed) for method in METHODS]
    return SolvedProblem(type(loss).__name__.lower(), rows, runs)


def run_of(method: Method, objective: Objective, gap: float, optimum: float, seed: int) -> MethodRun:
    choices: list[dict[str, int]] = [{"seed": seed}] if method.is_random else [{}] * REPEATS
    found = [method.solve(objective, gap, optimum=optimum, **choice) for choice in choices]
    course = min(found, key=lambda solution: solution.seconds).course
    steps, _, gaps, seconds = (list(column) for column in zip(*course, strict=True))
    return MethodRun(method.title, steps, gaps, seconds)


def objective_of(loss: Any, rows: int, seed: int) -> Objective:
    """Features of unequal scale; targets that are noisy numbers, or labels with known probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, FEATURES)) * np.linspace(0.3, 1.0, FEATURES)
    scores = X @ rng.standard_normal(FEATURES)
    if isinstance(loss, Squared):
        return mean_loss(X, scores + 0.3 * rng.standard_normal(rows), loss, l2=L2)
    return mean_loss(X, np.where(rng.random(rows) < 1.0 / (1.0 + np.exp(-scores)), 1.0, -1.0), loss, l2=L2)


def lines(result: DescentTable) -> Iterator[str]:
    for problem in result.problems:
        yield f"{problem.loss} loss, {problem.rows:,} rows of {FEATURES} features, l2 = {L2}"
        cells: Cells = [("", "a step", "steps", *(f"to {gap:g}" for gap in GAPS), "seconds")]
        for method, run in zip(METHODS, problem.runs, strict=True):
            places = [run.first(gap) for gap in GAPS]
            steps = (f"{run.steps[place]:,}" for place in places)
            cells.append((run.method, method.step, method.steps, *steps, f"{run.seconds[places[-1]]:.4f}"))
        yield from table(cells, names=True)
        yield ""
    yield f"seconds to {GAP:g} with more rows, logistic loss"
    cells = [("", *(f"{problem.rows:,} rows" for problem in result.growing))]
    for place, method in enumerate(METHODS):
        runs = [problem.runs[place] for problem in result.growing]
        cells.append((method.title, *(f"{run.seconds[run.first(GAP)]:.4f}" for run in runs)))
    yield from table(cells, names=True)
    yield from paragraph(
        "A digit more costs gradient descent some steps, and SGD in the end ten times as many as it has made; more "
        "rows make the steps of gradient descent and Newton's method longer, and those of SGD not. Times are this "
        "machine's, now."
    )


def draw(result: DescentTable, figure: Figure) -> None:
    """The gap of the logistic loss against steps, and against seconds, from the first step on."""
    problem = result.problems[-1]
    left, right = figure.subplots(1, 2, sharey=True)
    draw_gaps(left, problem, [run.steps for run in problem.runs])
    draw_gaps(right, problem, [run.seconds for run in problem.runs])
    left.set(xlabel="steps", ylabel=f"gap, {problem.loss} loss, {problem.rows:,} rows")
    right.set(xlabel="seconds")
    figure.legend(*left.get_legend_handles_labels(), ncols=4, loc="outside lower center", frameon=False)


def draw_gaps(ax: Axes, problem: SolvedProblem, places: list[Any]) -> None:
    styles = (("o-", BLUE), ("s-", VERMILION), ("-", GREEN), ("--", ORANGE))
    for run, across, (style, colour) in zip(problem.runs, places, styles, strict=True):
        ax.plot(across[1:], np.maximum(run.gaps[1:], ROUNDING), style, color=colour, label=run.method)
    ax.set(xscale="log", yscale="log", ylim=(min(GAPS) / 30.0, 2.0))
    for gap in GAPS:
        ax.axhline(gap, color="#C0C0C0", linewidth=1.0, zorder=0)
