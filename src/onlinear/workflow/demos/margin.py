"""The margin perceptron: what share of the best margin it promises, and what it finds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.estimators.perceptron import MarginPerceptron
from onlinear.plots.drawing import BLUE, GREEN, GREY, VERMILION
from onlinear.streams.synthetic import Separable
from onlinear.theory.certifying import certify
from onlinear.workflow.demos.pictures import legend_above
from onlinear.workflow.demos.seeds import seed_of
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "The margin perceptron: update if y <w,x> <= beta"
ROWS, MARGIN, ORDERS = 60, 0.1, 10
BETAS = (0.0, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class WithBeta:
    """Of several orders, each until a pass brings no update, the run that found least; what is certified of it."""

    beta: float
    updates: int
    bound: float
    weights: tuple[float, float]
    margin: float
    promised: float  # the share of the best margin that the theorem gives
    upper: float  # no unit vector has a larger margin, by this run alone


@dataclass(frozen=True)
class MarginShares:
    """The runs, and the least of what they prove of the best margin."""

    X: list[tuple[float, float]]
    y: list[int]
    runs: list[WithBeta]

    @property
    def most(self) -> float:
        """The best margin is at most this."""
        return min(run.upper for run in self.runs)

    def share_of(self, run: WithBeta) -> float:
        """At least so much of the best margin was found."""
        return run.margin / self.most


def compute(seed: int) -> MarginShares:
    X, y = next(Separable(n=ROWS, d=2, margin=MARGIN, seed=seed).arrays(ROWS))
    rows = [(x1, x2) for x1, x2 in X.tolist()]
    return MarginShares(rows, y.astype(int).tolist(), [run_with(beta, X, y, seed) for beta in BETAS])


def run_with(beta: float, X: Any, y: Any, seed: int) -> WithBeta:
    most = round((1.0 + 2.0 * beta) / MARGIN**2) + 1  # passes: each but the last has an update
    runs = [
        MarginPerceptron(beta, fit_intercept=False, max_iter=most, random_state=seed_of(seed, order)).fit(X, y)
        for order in range(ORDERS)
    ]
    margins = [margin_of(model.coef_[0], X, y) for model in runs]
    model = runs[int(np.argmin(margins))]
    proven: Any = certify(model, X, y)
    w1, w2 = model.coef_[0].tolist()
    promised = float(Fraction(proven["promised_share"] or 0))
    return WithBeta(beta, model.updates_, proven["bound"], (w1, w2), min(margins), promised, proven["margin_upper"])


def margin_of(w: Any, X: Any, y: Any) -> float:
    return float((y * (X @ w)).min() / np.linalg.norm(w))


def lines(result: MarginShares) -> Iterator[str]:
    cells: Cells = [("beta", "updates", "bound", "margin found", "of the best", "promised")]
    for run in result.runs:
        share = f"{result.share_of(run):.1%}"
        promised = f"{run.promised:.1%}" if run.promised else "-"
        cells.append((f"{run.beta:g}", f"{run.updates:,}", f"{run.bound:,.0f}", f"{run.margin:.5f}", share, promised))
    yield from table(cells)
    yield from paragraph(
        f"The least of {ORDERS} orders of {len(result.X)} rows. No unit vector has a margin above {result.most:.5f} on "
        "them: that is certified, and so the shares can only be larger."
    )
    yield from paragraph(
        "Promised is beta S / (Q R^2 + 2 beta S), S summing the steps and Q their squares: a third for beta = R = 1, "
        "and a half at most; the perceptron, beta = 0, promises nothing. More is found than promised, and it is paid "
        "for in updates: the bound (R^2 + 2 beta) / g^2 grows with beta."
    )


def draw(result: MarginShares, figure: Figure) -> None:
    left, right = figure.subplots(1, 2)
    draw_rows(left, result)
    draw_shares(right, result)


def draw_rows(ax: Axes, result: MarginShares) -> None:
    """The rows, the perceptron's boundary, and that of the largest beta with its margin."""
    X, y = np.array(result.X), np.array(result.y)
    ends = np.array([-2.0, 2.0])
    plain, best = result.runs[0], result.runs[-1]
    for run, style, colour in ((plain, "--", GREY), (best, "-", "black")):
        w = np.array(run.weights) / np.hypot(*run.weights)
        side = np.array([-w[1], w[0]])
        label = f"beta = {run.beta:g}: margin {run.margin:.3f}"
        ax.plot(*np.outer(side, ends), style, color=colour, label=label)
        if run is best:
            corners = [end * side + sign * run.margin * w for end, sign in ((2, 1), (2, -1), (-2, -1), (-2, 1))]
            ax.fill(*np.array(corners).T, color="#E8E8E8", zorder=0)
    for sign, marker, colour in ((-1, "o", VERMILION), (1, "^", BLUE)):
        ax.plot(*X[y == sign].T, marker, color=colour)
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])
    legend_above(ax, 1)


def draw_shares(ax: Axes, result: MarginShares) -> None:
    places = np.arange(len(result.runs))
    found = [result.share_of(run) for run in result.runs]
    ax.bar(places - 0.2, found, 0.4, color=GREEN, label="found, at least")
    ax.bar(places + 0.2, [run.promised for run in result.runs], 0.4, color=VERMILION, label="promised")
    ax.axhline(0.5, linestyle="--", color=VERMILION, linewidth=1.5)
    ax.set_xticks(places, [f"{run.beta:g}" for run in result.runs])
    ax.set(xlabel="beta", ylabel="share of the best margin", ylim=(0.0, 1.0))
    legend_above(ax, 2)
