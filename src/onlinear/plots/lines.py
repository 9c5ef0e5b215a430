"""Lines and arrows in a plane with axes of one scale: where a score is 0, and its normal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

#: how long the arrow of a normal is, as a share of the picture's shorter side
LENGTH = 0.22
#: the ground of a name that stands on points and lines
PAPER: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1.0}


def line_ends(weights: np.ndarray, intercept: float, centre: np.ndarray, reach: float) -> np.ndarray | None:
    """Two points of the line ``<w, x> + b = 0``, ``reach`` to both sides of the one that is nearest to the centre.

    None for weights of 0, whose score is 0 everywhere or nowhere.

    >>> line_ends(np.array([0.0, 2.0]), -2.0, np.zeros(2), 5.0).tolist()
    [[5.0, 1.0], [-5.0, 1.0]]
    """
    squared = float(weights @ weights)
    if not squared:
        return None
    foot = centre - (float(weights @ centre) + intercept) / squared * weights
    along = np.array([weights[1], -weights[0]]) / np.sqrt(squared)
    return np.array([foot + reach * along, foot - reach * along])


def arrow(ax: Axes, start: Any, end: Any, colour: str, **look: Any) -> Annotation:
    """An arrow in the coordinates of the axes: ``xyann`` is where it starts, ``xy`` where it ends."""
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 18,
        "linewidth": 2.4,
        "shrinkA": 0,
        "shrinkB": 0,
        "color": colour,
    }
    return ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style | look, zorder=5)


def draw_normal(ax: Axes, weights: np.ndarray, foot: np.ndarray, length: float) -> Annotation | None:
    """An arrow from a point of the boundary to where the score rises fastest; its name beyond its tip.

    None if the point lies outside of the picture.
    """
    if not all(low < at < high for at, (low, high) in zip(foot, (ax.get_xlim(), ax.get_ylim()), strict=True)):
        return None
    ahead = weights / float(np.linalg.norm(weights))
    tip, beyond = foot + length * ahead, 12.0 * ahead
    look: dict[str, Any] = {"fontsize": "large", "ha": "center", "va": "center", "zorder": 6, "bbox": PAPER}
    ax.annotate("$w$", xy=tuple(tip), xytext=tuple(beyond), textcoords="offset points", **look)
    return arrow(ax, foot, tip, "black")


def square_limits(points: np.ndarray, beside: float = 0.12) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits of axes of one scale around points, a little wider."""
    low, high = points.min(axis=0), points.max(axis=0)
    spare = beside * (float((high - low).max()) or 1.0)
    return (float(low[0] - spare), float(high[0] + spare)), (float(low[1] - spare), float(high[1] + spare))
