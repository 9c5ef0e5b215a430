"""Mistakes against the bound, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from onlinear.errors import Refused
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import PlottedExamples, examples_of, longest_so_far, proof_steps, scores_by
from onlinear.plots.theorems import FREUND_SCHAPIRE, PERCEPTRON, Theorem, freund_schapire, theorem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class MistakeBoundDisplay(Display):
    """Updates after each example, and how many the bound of the learner allows: that which ``certify`` proves.

    It is ``(R / margin)^2`` for a perceptron (Novikoff 1962), and ``(R^2 + 2 beta / a) / margin^2`` for one that
    updates by ``a y x`` up to the score beta. R is the length of the longest row so far. Whatever the margin is, no
    bound can be less than that with ``|w| / s`` for the margin, where the weights w are a sum of signed rows with
    factors that add up to s: no unit vector has a larger one. Where ``u``, or the last weights, separate nothing, it
    is the perceptron's bound for any rows, ``((R |u| + D) / gamma)^2`` (Freund & Schapire 1999, theorem 2), which has
    no such least.

    Parameters
    ----------
    examples : array, 1, 2, 3, ...
    updates : array, after each example
    bound : array, what is allowed after each; infinite where no margin is known
    least : array, what every bound by a margin is at least; NaN where the weights are not known to be such a sum
    label : of the bound in the picture

    >>> X, y = [[1.0, 0.0], [0.0, 1.0]], [-1, 1]
    >>> from onlinear import Perceptron
    >>> shown = MistakeBoundDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, u=[-1.0, 1.0], plot=False)
    >>> shown.updates.tolist(), shown.bound.round(12).tolist()
    ([1, 2], [2.0, 2.0])
    """

    def __init__(self, *, examples: Any, updates: Any, bound: Any, least: Any = None, label: str = PERCEPTRON) -> None:
        self.label = label
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
        """Learn the rows one by one with a clone of a perceptron: linear, or with a kernel. Others have no such bound.

        The bound is that of a known ``margin``; or of the margin that a vector ``u`` has on the rows so far; or, if
        neither is given, of the margin that the learner's own weights have on them. An intercept counts as the weight
        of one more feature, always 1: ``u`` may have an entry for it. Of several classes ``class_`` is learned against
        the rest.
        """
        if margin is not None and u is not None:
            raise Refused("the margin is given, and a vector that has one: give one of them")
        examples = examples_of(X, y, class_)
        theorem = theorem_of(estimator, examples.X.shape[1], issparse(examples.X))
        seen = ProgressPoint(estimator, examples, passes, theorem)
        scores, length = seen.gains, seen.length
        margins = np.full(len(seen.updates), margin, dtype=np.float64) if margin is not None else seen.lower
        if u is not None:
            scores, length = scores_by(u, estimator, examples, theorem.constant)
            margins = (np.minimum.accumulate(scores) / length)[seen.last]
        room = theorem.room(seen.radius)
        with np.errstate(divide="ignore"):
            bound = np.where(margins > 0.0, room / np.maximum(margins, 0.0) ** 2, np.inf)
            least = room / seen.upper**2
        label = theorem.label
        if margin is None and margins[-1] <= 0.0 and theorem.beta == 0.0:
            bound, label = freund_schapire(scores[seen.rows], length, seen.radius), FREUND_SCHAPIRE
            least = np.full(len(bound), np.nan)  # this is none by a margin
        examples_seen = np.arange(1, len(bound) + 1)
        found = cls(examples=examples_seen, updates=seen.updates, bound=bound, least=least, label=label)
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        (self.updates_line_,) = ax.step(self.examples, self.updates, where="post", color=BLUE, label="updates")
        self.bound_line_ = self._limit(ax, self.bound, "--", VERMILION, self.label)
        self.least_line_ = self._limit(ax, self.least, ":", GREY, "least that any bound can be")
        ax.set(xlabel="examples", ylabel="updates", xlim=(1, max(2, self.examples[-1])))
        if ax.dataLim.y1 > 20.0 * max(1.0, float(self.updates.max())):
            ax.set_yscale("log")
        else:
            ax.set_ylim(bottom=0)
            ax.locator_params(axis="y", integer=True)
        ax.legend(ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)

    def _limit(self, ax: Axes, limit: np.ndarray, style: str, colour: str, label: str) -> Line2D | None:
        """The line of a limit where it is finite; None if it is nowhere."""
        finite = np.isfinite(limit)
        if not finite.any():
            return None
        shown = np.where(finite, limit, np.nan)
        return ax.step(self.examples, shown, style, where="post", color=colour, label=label)[0]


class ProgressPoint:
    """What is known after each example: updates, the longest row so far, and the best margin from below and above.

    At the end also the gains ``y <w, x>`` of all rows, and the length of the weights.
    """

    def __init__(self, estimator: Any, examples: PlottedExamples, passes: int, theorem: Theorem) -> None:
        updates, last, lower, upper, order = [], [], [], [], []
        low, rows = -np.inf, 0  # so many were seen
        self.gains, self.length = np.zeros(len(examples.y)), 0.0
        for now in proof_steps(estimator, examples, passes, theorem.constant):
            order.append(now.row)
            self.gains, self.length = now.gains, now.length
            rows = max(rows, now.row + 1)
            gain = float(now.gains[:rows].min() if now.changed else now.gains[now.row])
            reached = gain / now.length if now.length else -np.inf
            low = reached if now.changed else min(low, reached)
            updates.append(now.updates)
            last.append(rows - 1)
            lower.append(low)
            upper.append(now.length / now.factors if now.factors else np.inf)
        self.updates, self.last = np.array(updates), np.array(last)
        self.lower, self.upper, self.rows = np.array(lower), np.array(upper), np.array(order)
        self.radius = longest_so_far(estimator, examples, theorem.constant)[self.last]
