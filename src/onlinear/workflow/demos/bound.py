"""Novikoff's bound in few and in many dimensions: it does not know how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onlinear.estimators.perceptron import MarginPerceptron
from onlinear.plots.drawing import BLUE, VERMILION
from onlinear.streams.synthetic import Separable
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.seeds import seed_of
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "At most (R/g)^2 updates, in however many dimensions"
DIMENSIONS, ROWS, MARGIN, ORDERS = (2, 20, 200, 2000), 1000, 0.1, 5


@dataclass(frozen=True)
class InDimensions:
    """Runs over the same rows in several orders, each until a pass brings no update."""

    dimensions: int
    radius: float
    margin: float
    updates: list[int]
    passes: list[int]

    @property
    def bound(self) -> float:
        return (self.radius / self.margin) ** 2


@dataclass(frozen=True)
class BoundRuns:
    """The runs for each number of dimensions."""

    rows: int
    runs: list[InDimensions]


def compute(seed: int) -> BoundRuns:
    return BoundRuns(ROWS, [run_in(d, seed) for d in DIMENSIONS])


def run_in(d: int, seed: int) -> InDimensions:
    """The textbook's perceptron: a margin of 0, and passes until one brings no update."""
    stream = Separable(n=ROWS, d=d, margin=MARGIN, seed=seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    radius, margin = float(np.linalg.norm(X, axis=1).max()), float((y * (X @ stream.u)).min())
    model = MarginPerceptron(0.0, fit_intercept=False, max_iter=int(stream.bound) + 1)
    found = InDimensions(d, radius, margin, [], [])
    for order in range(ORDERS):
        model.set_params(random_state=seed_of(seed, order)).fit(X, y)
        found.updates.append(model.updates_)
        found.passes.append(model.n_iter_)
    return found


def lines(result: BoundRuns) -> Iterator[str]:
    cells: Cells = [("dimensions", "R", "g", f"updates in {ORDERS} orders", "passes", "(R/g)^2", "reached")]
    for run in result.runs:
        updates, passes = (" ".join(map(str, each)) for each in (run.updates, run.passes))
        figures = f"{run.radius:.3f}", f"{run.margin:.3f}", updates, passes
        cells.append((str(run.dimensions), *figures, f"{run.bound:.1f}", f"{max(run.updates) / run.bound:.0%}"))
    yield from table(cells)
    yield from paragraph(
        f"{result.rows:,} rows each, uniform in the unit ball but for those nearer than g to the border of a hidden "
        "half-space, which are moved there. How many updates there are depends on the rows and their order; the bound "
        "holds for all of them, and knows no number of dimensions. It counts updates, not trials or passes."
    )


def draw(result: BoundRuns, figure: Figure) -> None:
    ax = figure.subplots()
    dimensions = [run.dimensions for run in result.runs]
    for run in result.runs:
        label = f"updates, {len(run.updates)} orders" if run is result.runs[0] else None
        ax.plot(
            [run.dimensions] * len(run.updates), run.updates, "o", color=BLUE, alpha=0.7, markersize=11, label=label
        )
    ax.plot(dimensions, [run.bound for run in result.runs], "s--", color=VERMILION, label="bound $(R/g)^2$")
    ax.set(xscale="log", xlabel="dimensions", ylabel="updates", ylim=(0, None))
    ax.set_xticks(dimensions, [f"{d:,}" for d in dimensions])
    legend_above(ax)
