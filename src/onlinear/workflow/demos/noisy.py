"""Wrong labels among the rows: Freund and Schapire's bound with its R, D, gamma and Delta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.perceptron import Perceptron
from onlinear.learning.dual.unique import best_delta, extended_bound, unique_features
from onlinear.plots.drawing import BLUE, GREY, ORANGE, VERMILION
from onlinear.streams.synthetic import Noisy
from onlinear.theory.inseparable import best_gamma
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Wrong labels: at most ((R + D) / gamma)^2 updates in a pass"
ROWS, DIMENSIONS, MARGIN = 10_000, 10, 0.1
FLIPS = (0, 10, 100, 1000, 4500)
#: for which of them Delta is swept, and over which multiples of the best
SWEPT, MULTIPLES = 100, (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)


@dataclass(frozen=True)
class AtGamma:
    """The bound by one gamma: D is the root of the sum of max(0, gamma - y <u,x>)^2."""

    gamma: float
    deviation: float
    delta: float
    bound: float
    vacuous: bool  # there cannot be more updates anyway


@dataclass(frozen=True)
class WithFlips:
    """One pass over the rows, so many of them with the wrong label."""

    flips: int
    updates: int
    extended_updates: int  # of a pass over the rows with a feature of its own, of value Delta, for each
    radius: float
    plain: AtGamma  # by the margin of the rows that are right
    best: AtGamma


@dataclass(frozen=True)
class AtDelta:
    """The bound by rows with features of their own, for a Delta that need not be the best."""

    delta: float
    bound: float


@dataclass(frozen=True)
class NoisyRuns:
    rows: int
    runs: list[WithFlips]
    sweep: list[AtDelta]


def compute(seed: int) -> NoisyRuns:
    runs = [run_with(flips, seed) for flips in FLIPS]
    swept = next(run for run in runs if run.flips == SWEPT)
    deltas = [multiple * swept.best.delta for multiple in MULTIPLES]
    bounds = [extended_bound(swept.radius, swept.best.deviation, swept.best.gamma, delta) for delta in deltas]
    return NoisyRuns(ROWS, runs, [AtDelta(*each) for each in zip(deltas, bounds, strict=True)])


def run_with(flips: int, seed: int) -> WithFlips:
    """The bounds are those of the vector which labelled the rows."""
    stream = Noisy(n=ROWS, d=DIMENSIONS, flips=flips, margin=MARGIN, seed=seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    scores, radius = y * (X @ stream.u), float(np.linalg.norm(X, axis=1).max())
    plain = at_gamma(float(abs(scores).min()), scores, radius)
    best = at_gamma(best_gamma(scores, radius, 1), scores, radius) if flips else plain
    extended = updates_on(unique_features(X, best.delta), y) if best.delta else updates_on(X, y)
    return WithFlips(flips, updates_on(X, y), extended, radius, plain, best)


def at_gamma(gamma: float, scores: Any, radius: float) -> AtGamma:
    deviation = float(np.linalg.norm(np.maximum(gamma - scores, 0.0)))
    bound = ((radius + deviation) / gamma) ** 2
    return AtGamma(gamma, deviation, best_delta(radius, deviation), bound, bound >= len(scores))


def updates_on(X: Any, y: Any) -> int:
    model = Perceptron(fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
    return int(model.updates_)


def lines(result: NoisyRuns) -> Iterator[str]:
    cells: Cells = [("wrong labels", "updates", "R", "gamma", "D", "Delta", "bound", "")]
    for run in result.runs:
        cells.append((f"{run.flips:,}", f"{run.updates:,}", f"{run.radius:.3f}", *cells_of(run.plain)))
        if run.flips:
            cells.append(("", "", "", *cells_of(run.best)))
    yield from table(cells)
    yield from paragraph(
        f"One pass over {result.rows:,} rows in {DIMENSIONS} dimensions; u is the vector that labelled them, and D^2 "
        "sums max(0, gamma - y <u,x>)^2. First gamma is the margin of the rows that are right, then the one for which "
        "the bound is least. A bound of at least as many updates as rows says nothing: it is vacuous."
    )
    yield ""
    yield f"Delta, with {SWEPT} wrong labels: (R^2 + Delta^2) (1 + D^2 / Delta^2) / gamma^2"
    deltas, bounds = (f"{each.delta:.3f}" for each in result.sweep), (f"{each.bound:,.0f}" for each in result.sweep)
    yield from table([("Delta", *deltas), ("bound", *bounds)])
    extended = " ".join(f"{run.extended_updates:,}" for run in result.runs)
    yield from paragraph(
        "Each row with a feature of its own, of value Delta, makes them separable, and changes no update of the first "
        f"pass: {extended} with it. Novikoff's bound then is the one above, and least at Delta = sqrt(R D)."
    )


def cells_of(each: AtGamma) -> tuple[str, ...]:
    figures = (f"{number:.3f}" for number in (each.gamma, each.deviation, each.delta))
    return (*figures, f"{each.bound:,.0f}", "vacuous" if each.vacuous else "")


def draw(result: NoisyRuns, figure: Figure) -> None:
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    draw_levels(left, result)
    draw_sweep(right, result)


def draw_levels(ax: Axes, result: NoisyRuns) -> None:
    places = np.arange(len(result.runs))
    ax.plot(places, [run.plain.bound for run in result.runs], "v:", color=ORANGE, label=r"bound, $\gamma$ the margin")
    ax.plot(places, [run.best.bound for run in result.runs], "s--", color=VERMILION, label=r"bound, best $\gamma$")
    ax.plot(places, [run.updates for run in result.runs], "o-", color=BLUE, label="updates")
    ax.axhline(result.rows, color=GREY, linestyle=":", label="rows: vacuous above")
    ax.set_xticks(places, [f"{run.flips:,}" for run in result.runs])
    ax.set(yscale="log", xlabel=f"wrong labels among {result.rows:,}", ylabel="updates in one pass")
    legend_above(ax, 2)


def draw_sweep(ax: Axes, result: NoisyRuns) -> None:
    best = min(result.sweep, key=lambda each: each.bound)
    ax.plot([each.delta for each in result.sweep], [each.bound for each in result.sweep], "s-", color=VERMILION)
    ax.plot(best.delta, best.bound, "o", color="black", markersize=14)
    place = best.delta, 0.55 * best.bound
    ax.annotate(r"$\Delta = \sqrt{R\,D}$", (best.delta, best.bound), place, ha="center", va="top")
    ax.set(xscale="log", yscale="log", xlabel=r"$\Delta$", ylabel=f"bound, {SWEPT} wrong labels")
    ax.set_ylim(bottom=0.3 * best.bound)
