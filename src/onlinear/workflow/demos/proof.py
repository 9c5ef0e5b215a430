"""Novikoff's proof as two quantities: <w,u>, which grows with every update, and |w|, which cannot grow as fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from onlinear.estimators.perceptron import Perceptron
from onlinear.plots.drawing import BLUE, GREY, VERMILION
from onlinear.plots.following import examples_of, follow
from onlinear.streams.synthetic import Separable
from onlinear.workflow.demos.telling import Cells, paragraph, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "The proof: k g <= <w,u> <= |w| <= sqrt(k) R after k updates"
ROWS, DIMENSIONS, MARGIN = 500, 50, 0.1
PASSES = round(1.0 / MARGIN**2) + 1


@dataclass(frozen=True)
class Quantities:
    """Both after 1, 2, 3, ... updates; u is a unit vector with the margin g."""

    radius: float
    margin: float
    along: list[float]  # <w,u>
    length: list[float]  # |w|

    @property
    def bound(self) -> float:
        return (self.radius / self.margin) ** 2


def compute(seed: int) -> Quantities:
    stream = Separable(n=ROWS, d=DIMENSIONS, margin=MARGIN, seed=seed)
    X, y = next(stream.arrays(ROWS))
    radius, margin = float(np.linalg.norm(X, axis=1).max()), float((y * (X @ stream.u)).min())
    found = Quantities(radius, margin, [], [])
    for step in follow(Perceptron(fit_intercept=False), examples_of(X, y), PASSES):
        if step.updates > len(found.along):
            found.along.append(float(step.weights @ stream.u))
            found.length.append(float(np.linalg.norm(step.weights)))
    return found


def marks_of(last: int) -> list[int]:
    """1, 2, 4, 8, ... and the last.

    >>> marks_of(5)
    [1, 2, 4, 5]
    """
    return sorted({*(2**power for power in range(last.bit_length())), last})


def lines(result: Quantities) -> Iterator[str]:
    updates = len(result.along)
    cells: Cells = [("updates k", "k g", "<=", "<w,u>", "<=", "|w|", "<=", "sqrt(k) R")]
    for k in marks_of(updates):
        low, high = k * result.margin, np.sqrt(k) * result.radius
        numbers = low, result.along[k - 1], result.length[k - 1], high
        first, *others = (f"{number:.4f}" for number in numbers)
        cells.append((str(k), first, *(part for other in others for part in ("", other))))
    yield from table(cells)
    yield from paragraph(
        "An update adds y <u,x> >= g to <w,u>. To |w|^2 it adds 2 y <w,x> + |x|^2 <= R^2, because it was made where "
        "y <w,x> <= 0. A line that rises overtakes a root: k g = sqrt(k) R at k = (R/g)^2 = "
        f"{result.bound:.1f}, and no run gets beyond. This one, over {ROWS} rows in {DIMENSIONS} dimensions, "
        f"made its last update at k = {updates}."
    )


def draw(result: Quantities, figure: Figure) -> None:
    ax = figure.subplots()
    k = np.arange(len(result.along) + 1)
    far = np.linspace(0.0, 1.15 * result.bound, 500)
    ax.plot(far, np.sqrt(far) * result.radius, "--", color=VERMILION, label=r"$\sqrt{k}\,R$")
    ax.plot(k, [0.0, *result.length], "-", color=VERMILION, linewidth=3.5, label=r"$|w|$")
    ax.plot(k, [0.0, *result.along], "-", color=BLUE, linewidth=3.5, label=r"$\langle w, u \rangle$")
    ax.plot(far, far * result.margin, "--", color=BLUE, label=r"$k\,g$")
    height = result.bound * result.margin
    ax.plot(result.bound, height, "o", color="black", markersize=12, zorder=5)
    ax.annotate(
        f"no run gets beyond:\n$k = (R/g)^2 = {result.bound:.1f}$",
        (result.bound, height),
        (result.bound, 0.62 * height),
        ha="center",
        arrowprops={"arrowstyle": "->"},
    )
    ax.axvline(k[-1], color=GREY, linewidth=1.2, linestyle=":", label=f"the last update, k = {k[-1]}")
    ax.set(xlabel="updates k", xlim=(0, far[-1]), ylim=(0, None))
    ax.legend(loc="upper left", frameon=False, fontsize=16)
