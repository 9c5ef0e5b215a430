"""Mistakes against the bound, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import Refused
from onlinear.estimators.dual import DualClassifier
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import Examples, examples_of, known, longest_so_far, signed_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class MistakeBoundDisplay(Display):
    """Updates after each example, and how many the perceptron's bound ``(R / margin)^2`` allows (Novikoff 1962).

    R is the length of the longest row so far. Whatever the margin is, the bound cannot be less than
    ``(R a / |w|)^2`` where the weights w are a sum of signed rows with factors that add up to a: no unit vector has a
    larger margin than ``|w| / a``.

    Parameters
    ----------
    examples : array, 1, 2, 3, ...
    updates : array, after each example
    bound : array, what is allowed after each; infinite where no margin is known
    least : array, what every bound is at least; NaN where the weights are not known to be such a sum

    >>> X, y = [[1.0, 0.0], [0.0, 1.0]], [-1, 1]
    >>> from onlinear import Perceptron
    >>> shown = MistakeBoundDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, u=[-1.0, 1.0], plot=False)
    >>> shown.updates.tolist(), shown.bound.round(12).tolist()
    ([1, 2], [2.0, 2.0])
    """

    def __init__(self, *, examples: Any, updates: Any, bound: Any, least: Any = None) -> None:
        self.examples = np.asarray(examples)
        self.updates = np.asarray(updates)
        self.bound = np.asarray(bound, dtype=np.float64)
        self.least = np.full(len(self.examples), np.nan) if least is None else np.asarray(least, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        margin: float | None = None,
        u: Any = None,
        passes: int = 1,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> MistakeBoundDisplay:
        """Learn the rows one by one with a clone of a linear estimator, or of a perceptron with a kernel.

        The bound is that of a known ``margin``; or of the margin that a vector ``u`` has on the rows so far; or, if
        neither is given, of the margin that the learner's own weights have on them. An intercept counts as the weight
        of one more feature, always 1: ``u`` may have an entry for it. Of several classes ``class_`` is learned against
        the rest.
        """
        if margin is not None and u is not None:
            raise Refused("the margin is given, and a vector that has one: give one of them")
        if u is not None and isinstance(estimator, DualClassifier):
            raise Refused(
                "u has an entry for each feature, and a kernel hides its features: give the margin, or neither"
            )
        examples = examples_of(X, y, class_)
        seen = Seen(estimator, examples, passes)
        if margin is not None:
            margins = np.full(len(seen.updates), float(margin))
        elif u is not None:
            signed = signed_rows(estimator, examples)
            margins = margins_so_far(signed, padded(u, signed.shape[1]))[seen.last]
        else:
            margins = seen.lower
        with np.errstate(divide="ignore"):
            bound = np.where(margins > 0.0, seen.radius**2 / np.maximum(margins, 0.0) ** 2, np.inf)
            least = seen.radius**2 / seen.upper**2
        examples_seen = np.arange(1, len(bound) + 1)
        found = cls(examples=examples_seen, updates=seen.updates, bound=bound, least=least)
        return found.shown(ax, plot)

    def _draw(self, ax: Axes) -> None:
        (self.updates_line_,) = ax.step(self.examples, self.updates, where="post", color=BLUE, label="updates")
        self.bound_line_ = self._limit(ax, self.bound, "--", VERMILION, r"bound $(R\,/\,\gamma)^2$")
        self.least_line_ = self._limit(ax, self.least, ":", GREY, "least that any bound can be")
        ax.set(xlabel="examples", ylabel="updates", xlim=(1, max(2, self.examples[-1])))
        if ax.dataLim.y1 > 20.0 * max(1.0, float(self.updates.max())):
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
            ax.locator_params(axis="y", integer=True)
        ax.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)

    def _limit(self, ax: Axes, limit: np.ndarray, style: str, colour: str, label: str) -> Line2D | None:
        """The line of a limit where it is finite; None if it is nowhere."""
        finite = np.isfinite(limit)
        if not finite.any():
            return None
        shown = np.where(finite, limit, np.nan)
        return ax.step(self.examples, shown, style, where="post", color=colour, label=label)[0]


class Seen:
    """What is known after each example: updates, the longest row so far, and the best margin from below and above."""

    def __init__(self, estimator: Any, examples: Examples, passes: int) -> None:
        updates, last, lower, upper = [], [], [], []
        low, rows = -np.inf, 0  # so many were seen
        for now in known(estimator, examples, passes):
            rows = max(rows, now.row + 1)
            gain = float(now.gains[:rows].min() if now.changed else now.gains[now.row])
            reached = gain / now.length if now.length else -np.inf
            low = reached if now.changed else min(low, reached)
            updates.append(now.updates)
            last.append(rows - 1)
            lower.append(low)
            upper.append(now.length / now.factors if now.factors else np.inf)
        self.updates, self.last = np.array(updates), np.array(last)
        self.lower, self.upper = np.array(lower), np.array(upper)
        self.radius = longest_so_far(estimator, examples)[self.last]


def margins_so_far(signed: Any, u: np.ndarray) -> np.ndarray:
    """The margin of a vector on the first row, the first two, ..."""
    return np.minimum.accumulate(signed @ u) / np.linalg.norm(u)


def padded(u: Any, width: int) -> np.ndarray:
    """A vector with a 0 for the intercept, if it has no entry for it."""
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    if len(u) == width - 1:
        u = np.append(u, 0.0)
    if len(u) != width or not u.any():
        raise Refused(f"u has {len(u)} entries for {width} weights, or they are all 0: give one entry for each feature")
    return u
