"""The boundary on its way: after each update, as one picture and as an animation."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from onlinear.errors import BadInput, Refused
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display, new_axes, require_matplotlib
from onlinear.plots.following import PlottedExamples, examples_of, follow, has_intercept, readable_label
from onlinear.plots.lines import LENGTH, draw_normal, line_ends, square_limits
from onlinear.system.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes

#: how many earlier boundaries are shown, the older the fainter
TRAIL = 6
#: so many updates are drawn at most: an animation of more is watched by nobody
MOST = 200


class BoundaryPathDisplay(Display):
    """The boundary ``<w, x> + b = 0`` of a linear learner in the plane after each of its updates, with its normal w.

    ``plot`` draws the last one and a few before it, ``animate`` all of them one after the other, and ``save`` writes
    these as a GIF.

    Parameters
    ----------
    X, y : the rows, of two features, and their sides as -1 and +1
    weights : array with a row for each update: two weights and the intercept after it
    rows : array, the number of the row that each update was made by
    classes : the names of -1 and +1

    >>> from onlinear import Perceptron
    >>> X, y = [[1.0, 1.0], [1.0, -1.0], [-1.0, 0.5]], [1, 0, 0]
    >>> shown = BoundaryPathDisplay.from_learning(Perceptron(fit_intercept=False), X, y, plot=False)
    >>> shown.rows.tolist(), shown.weights.tolist()
    ([0, 1, 2], [[1.0, 1.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.5, 0.0]])
    """

    def __init__(self, *, X: Any, y: Any, weights: Any, rows: Any, classes: Any = (-1, 1)) -> None:
        self.X, self.y = np.asarray(X, dtype=np.float64), np.asarray(y)
        self.weights, self.rows = np.asarray(weights, dtype=np.float64).reshape(-1, 3), np.asarray(rows)
        self.classes = classes

    @classmethod
    def from_learning(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        passes: int = 10,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> BoundaryPathDisplay:
        """Learn the rows one by one with a clone, by ``partial_fit``, until a pass brings no update.

        Of several classes ``class_`` is learned against the rest.
        """
        examples = examples_of(X, y, class_)
        if examples.X.shape[1] != 2:
            raise Refused(f"the rows have {examples.X.shape[1]} features: this picture has two dimensions, choose them")
        weights, rows = updates_of(estimator, examples, passes)
        if not 1 <= len(rows) <= MOST:
            raise Refused(f"there are {len(rows)} updates: between 1 and {MOST} are drawn, choose rows or passes")
        table = examples.X.toarray() if scipy.sparse.issparse(examples.X) else examples.X
        return cls(X=table, y=examples.y, weights=weights, rows=rows, classes=examples.classes).finish(ax, plot)

    def animate(self, ax: Axes | None = None, *, interval: int = 700) -> FuncAnimation:
        """An animation with a frame for each update, so many milliseconds long, for a notebook or a file."""
        require_matplotlib()
        from matplotlib.animation import FuncAnimation

        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.get_figure(root=True)  # type: ignore[assignment]

        def draw(frame: int) -> list[Any]:
            self.ax_.clear()
            self.draw_update(self.ax_, frame)
            return []

        return FuncAnimation(
            self.figure_, draw, init_func=list, frames=len(self.rows), interval=interval, repeat_delay=2 * interval
        )

    def save(self, file: str | os.PathLike[str], *, interval: int = 700, dpi: float = 60) -> None:
        """Write the animation as a GIF."""
        if not os.fspath(file).lower().endswith(".gif"):
            raise BadInput(f"{os.fspath(file)}: an animation is written as a GIF, end its name with .gif")
        animation = self.animate(interval=interval)
        from matplotlib import pyplot
        from matplotlib.animation import PillowWriter

        with replacing(file) as out, TemporaryDirectory() as folder:
            try:
                drawn = Path(folder, "animation.gif")  # Matplotlib wants a name, and writes to nothing else
                writer = PillowWriter(fps=1000.0 / interval)  # type: ignore[arg-type]  # any number will do
                animation.save(drawn, writer=writer, dpi=dpi)
            finally:
                pyplot.close(self.figure_)
            out.write(drawn.read_bytes())

    def _draw(self, ax: Axes) -> None:
        self.draw_update(ax, len(self.rows) - 1)

    def draw_update(self, ax: Axes, number: int) -> None:
        """The boundary after this update, counted from 0, and its normal; fainter, those before; the row encircled."""
        wide, high = square_limits(self.X)
        ax.set(xlim=wide, ylim=high, aspect="equal", adjustable="box", xlabel="feature 1", ylabel="feature 2")
        self._draw_boundaries(ax, number)
        self._draw_rows(ax)
        across, up = self.X[self.rows[number]]
        self.mistake_ = ax.scatter(across, up, s=170, facecolors="none", edgecolors="black", linewidth=1.6, zorder=4)
        ax.set_title(f"after update {number + 1} of {len(self.rows)}")
        ax.legend(loc="upper left", fontsize="small")

    def _draw_boundaries(self, ax: Axes, number: int) -> None:
        self.lines_, self.normal_ = [], None
        sides = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim())])
        reach, centre = 4.0 * float(sides.sum()), self.X.mean(axis=0)
        for k in range(max(0, number - TRAIL), number + 1):
            ends = line_ends(self.weights[k, :2], float(self.weights[k, 2]), centre, reach)
            if ends is None:
                continue
            if k < number:
                faded = 0.7 * (1.0 - (number - k) / (TRAIL + 1.0))
                self.lines_ += ax.plot(*ends.T, "--", color=GREY, linewidth=1.0, alpha=faded, zorder=2)
            else:
                self.lines_ += ax.plot(*ends.T, "-", color="black", linewidth=2.0, alpha=1.0, zorder=2)
                self.normal_ = draw_normal(ax, self.weights[k, :2], ends.mean(axis=0), LENGTH * float(sides.min()))

    def _draw_rows(self, ax: Axes) -> None:
        self.points_ = []
        for sign, marker, colour in ((-1.0, "o", VERMILION), (1.0, "^", BLUE)):
            name = readable_label(self.classes[int(sign > 0.0)])
            across, up = self.X[self.y == sign].T
            self.points_.append(ax.scatter(across, up, s=34, marker=marker, color=colour, label=name, zorder=3))


def updates_of(estimator: Any, examples: PlottedExamples, passes: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights, with an intercept of 0 if there is none, after each example that moved them, and its number."""
    found, rows, before = [], [], np.zeros(3)
    for step in follow(estimator, examples, passes):
        now = step.weights if has_intercept(estimator) else np.append(step.weights, 0.0)
        if not np.array_equal(now, before):
            found.append(now)
            rows.append(step.row)
            before = now
    return np.array(found), np.array(rows, dtype=np.intp)
