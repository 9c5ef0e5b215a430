"""One update of a perceptron: the weights before it, the example, and the weights after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from onlinear.errors import BadInput, Refused
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import examples_of, factor_of, follow, signed_rows
from onlinear.plots.lines import PAPER, arrow, line_ends, square_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class UpdateDisplay(Display):
    """The step ``w + a y x`` in the plane, with the lines ``<w, x> = 0`` before and after it.

    Parameters
    ----------
    w : array of two numbers, the weights before
    x : array of two numbers, the example
    y : its side, -1 or +1
    after : array of two numbers, the weights after
    step : the a of the update

    >>> shown = UpdateDisplay.from_example([2.0, 0.0], [-1.0, 2.0], 1, plot=False)
    >>> shown.after.tolist(), shown.score, shown.score_after
    ([1.0, 2.0], -2.0, 3.0)
    """

    def __init__(self, *, w: Any, x: Any, y: float, after: Any, step: float = 1.0) -> None:
        self.w, self.x, self.after = (np.asarray(vector, dtype=np.float64) for vector in (w, x, after))
        self.y, self.step = float(y), float(step)

    @property
    def score(self) -> float:
        """``<w, x>`` before the update."""
        return float(self.w @ self.x)

    @property
    def score_after(self) -> float:
        """``<w, x>`` after it: larger by ``a |x|^2`` in the direction of y."""
        return float(self.after @ self.x)

    @classmethod
    def from_example(
        cls, w: Any, x: Any, y: float, *, step: float = 1.0, ax: Axes | None = None, plot: bool = True
    ) -> UpdateDisplay:
        """The update of weights ``w`` by an example ``x`` of the side ``y``, -1 or +1."""
        w, x = (np.asarray(vector, dtype=np.float64) for vector in (w, x))
        if w.shape != (2,) or x.shape != (2,) or y not in (-1, 1):
            raise BadInput("an update is drawn in the plane: give two weights, two features, and -1 or +1 for y")
        return cls(w=w, x=x, y=y, after=w + step * y * x, step=step).finish(ax, plot)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        update: int = 1,
        passes: int = 100,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> UpdateDisplay:
        """The update of this number, counted from 1, of a clone that learns the rows one by one.

        There have to be two weights: of two features, or of one and the intercept, whose feature is always 1. Of
        several classes ``class_`` is learned against the rest.
        """
        examples = examples_of(X, y, class_)
        signed = signed_rows(estimator, examples)
        if signed.shape[1] != 2:
            raise Refused(
                f"there are {signed.shape[1]} weights: an update is drawn in the plane, choose two features without "
                "an intercept, or one with it"
            )
        signed = signed.toarray() if scipy.sparse.issparse(signed) else signed
        before, made = np.zeros(2), 0
        for now in follow(estimator, examples, passes):
            made += not np.array_equal(now.weights, before)
            if made == update:
                side, row = examples.y[now.row], signed[now.row]
                step = factor_of(now.weights - before, row, float(np.linalg.norm(before)))
                return cls(w=before, x=side * row, y=side, after=now.weights, step=step).finish(ax, plot)
            before = now.weights
        raise Refused(f"there are {made} updates in {passes} passes: choose one of them, counted from 1")

    @property
    def formula(self) -> str:
        """How the new weights are called; of a learner that takes no multiple of the row, not by that."""
        if not np.isfinite(self.step):
            return "new $w$"
        factor = "" if self.step == 1.0 else f"{self.step:.3g}\\,"
        return f"$w {'+' if self.y > 0.0 else '-'} {factor}x$"

    def _draw(self, ax: Axes) -> None:
        points = np.array([np.zeros(2), self.w, self.x, self.after])
        wide, high = square_limits(points, beside=0.25)
        reach = 2.0 * (wide[1] - wide[0] + high[1] - high[0])
        self.before_line_ = self._line(ax, self.w, reach, "--", GREY, r"$\langle w, x\rangle = 0$ before")
        self.after_line_ = self._line(ax, self.after, reach, "-", VERMILION, r"$\langle w, x\rangle = 0$ after")
        self.example_ = arrow(ax, (0, 0), self.x, BLUE)
        self.move_ = arrow(ax, self.w, self.after, BLUE, linestyle=(0, (2, 2)), linewidth=1.6)
        self.before_ = arrow(ax, (0, 0), self.w, GREY) if self.w.any() else None
        self.after_ = arrow(ax, (0, 0), self.after, VERMILION) if self.after.any() else None
        name = f"$x$, $y = {self.y:+.0f}$"
        self.names_ = [
            self._name(ax, self.x, name, BLUE, points),
            *([self._name(ax, self.w, "$w$", GREY, points)] if self.w.any() else []),
            *([self._name(ax, self.after, self.formula, VERMILION, points)] if self.after.any() else []),
        ]
        ax.plot(0, 0, "o", color="black", markersize=4, zorder=6)
        ax.set(xlim=wide, ylim=high, aspect="equal", adjustable="box")
        ax.set(
            title=f"$y\\langle w, x\\rangle$: {self.y * self.score:.3g} before, {self.y * self.score_after:.3g} after"
        )
        ax.legend(loc="best", fontsize="small")

    def _line(self, ax: Axes, weights: np.ndarray, reach: float, style: str, colour: str, label: str) -> Any:
        ends = line_ends(weights, 0.0, np.zeros(2), reach)
        return None if ends is None else ax.plot(*ends.T, style, color=colour, linewidth=1.4, label=label, zorder=2)[0]

    def _name(self, ax: Axes, tip: np.ndarray, name: str, colour: str, points: np.ndarray) -> Any:
        """A name beside the tip of an arrow, on the side away from the origin."""
        size = float(np.linalg.norm(tip)) or 1.0
        across, up = tip + 0.07 * float(np.ptp(points, axis=0).max()) * tip / size
        return ax.text(across, up, name, color=colour, fontsize="large", ha="center", va="center", zorder=7, bbox=PAPER)
