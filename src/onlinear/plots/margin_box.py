"""The margin box closing: what is known of the best margin, from below and from above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import Refused
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import examples_of, proof_steps

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MarginBoxDisplay(Display):
    """The best margin of a set of rows lies between two limits, which close in with every update.

    The weights w themselves have the margin ``min y <w, x> / |w|``: the best one is at least that. If they are the sum
    of signed rows with factors that add up to a, then every unit vector u with some margin has ``<u, w> >= a margin``:
    the best margin is at most ``|w| / a``. Both are shown as the best so far. A perceptron stops once the lower limit
    is positive; one with a margin goes on closing the box. If the classes cannot be separated the lower limit stays at
    or below 0, and the upper one falls to 0.

    Parameters
    ----------
    updates : array, 1, 2, 3, ...
    lower, upper : arrays, the limits after each update; the lower one is negative until all rows are right
    margin : the best margin, if it is known

    >>> from onlinear import MarginPerceptron
    >>> X, y = [[2.0, 0.0], [0.0, 2.0]], [-1, 1]
    >>> shown = MarginBoxDisplay.from_estimator(MarginPerceptron(9.0, fit_intercept=False), X, y, plot=False)
    >>> float(shown.lower[-1].round(9)) == float(shown.upper[-1].round(9)) == round(2**0.5, 9)
    True
    """

    def __init__(self, *, updates: Any, lower: Any, upper: Any, margin: float | None = None) -> None:
        self.updates = np.asarray(updates)
        self.lower = np.asarray(lower, dtype=np.float64)
        self.upper = np.asarray(upper, dtype=np.float64)
        self.margin = margin

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        passes: int = 100,
        margin: float | None = None,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> MarginBoxDisplay:
        """Learn the rows with a clone until a pass brings no update, at most so many passes.

        The estimator has to move its weights by positive multiples of signed rows, as perceptrons, also those with a
        kernel, and passive-aggressive learners do. An intercept counts as the weight of one more feature, always 1. Of
        several classes ``class_`` is learned against the rest.
        """
        lower, upper, factors = [], [], 0.0
        for now in proof_steps(estimator, examples_of(X, y, class_), passes):
            if now.changed:
                lower.append(float(now.gains.min()) / now.length if now.length else -np.inf)
                upper.append(now.length / now.factors)
                factors = now.factors
        if np.isnan(factors):
            raise Refused(
                f"{type(estimator).__name__} does not add up signed rows, so its weights say nothing from above: "
                "choose a perceptron or a passive-aggressive learner, with sparse rows one without an intercept"
            )
        best, least = np.maximum.accumulate(lower), np.minimum.accumulate(upper)
        found = cls(updates=np.arange(1, len(lower) + 1), lower=best, upper=least, margin=margin)
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        self.box_ = ax.fill_between(
            self.updates, self.lower, self.upper, step="post", color=GREY, alpha=0.15, linewidth=0
        )
        (self.upper_line_,) = ax.step(
            self.updates, self.upper, "-", where="post", color=VERMILION, label=r"at most $|w|\,/\,a$"
        )
        (self.lower_line_,) = ax.step(
            self.updates,
            self.lower,
            "-.",
            where="post",
            color=BLUE,
            label=r"at least $\min\,y\langle w, x\rangle\,/\,|w|$",
        )
        if self.margin is not None:
            self.margin_line_ = ax.axhline(self.margin, color=GREY, linestyle=":", label="best margin")
        top = float(self.upper.max(initial=0.0)) or 1.0
        ax.set(xlabel="updates", ylabel="margin", ylim=(-0.5 * top, 1.05 * top))
        if len(self.updates) > 50:
            ax.set_xscale("log")
        else:
            ax.locator_params(axis="x", integer=True)
        ax.legend()
