"""The two quantities of Novikoff's proof: one grows at least like k, the other at most like the root of k."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from onlinear.errors import Refused
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import examples_of, longest_so_far, proof_steps, scores_by
from onlinear.plots.theorems import Theorem, theorem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: how many times as large as the updates a bound has to be for axes to be logarithmic
FAR = 20.0


class ProofDisplay(Display):
    """``<w, u>`` and ``|w|`` after each update k, between the lines that the proof puts around them.

    For every unit vector u with the margin g, ``k a g <= <w, u> <= |w| <= sqrt(k a^2 R^2 + 2 a beta k)``, where the
    learner steps by ``a y x`` if ``y <w, x> <= beta``: a is 1 and beta 0 for a perceptron (Novikoff 1962). A line
    meets a parabola, so that k ends where they cross: at the bound.

    Parameters
    ----------
    updates : array, 0, 1, 2, ...
    progress : array, ``<w, u>`` after each
    length : array, ``|w|`` after each
    radius : of the longest row, R
    margin : of u on all rows, g
    beta, step : of the learner

    >>> from onlinear import Perceptron
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]], [-1, 1]
    >>> shown = ProofDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, u=[-1.0, 1.0], plot=False)
    >>> shown.bound.__round__(9), shown.progress.round(3).tolist(), shown.length.round(3).tolist()
    (2.0, [0.0, 0.707, 1.414], [0.0, 1.0, 1.414])
    """

    def __init__(
        self,
        *,
        updates: Any,
        progress: Any,
        length: Any,
        radius: float,
        margin: float,
        beta: float = 0.0,
        step: float = 1.0,
    ) -> None:
        self.updates = np.asarray(updates)
        self.progress, self.length = (np.asarray(array, dtype=np.float64) for array in (progress, length))
        self.radius, self.margin, self.beta, self.step = float(radius), float(margin), float(beta), float(step)

    @property
    def _room(self) -> np.ndarray:
        return Theorem(self.beta, self.step).room(np.array(self.radius))

    @property
    def bound(self) -> float:
        """Where the two lines cross."""
        return float(self._room) / self.margin**2

    def at_least(self, updates: Any) -> np.ndarray:
        """What the proof says of ``<w, u>``."""
        return np.asarray(self.step * self.margin * np.asarray(updates, dtype=np.float64))

    def at_most(self, updates: Any) -> np.ndarray:
        """What it says of ``|w|``."""
        return np.asarray(self.step * np.sqrt(self._room * np.asarray(updates, dtype=np.float64)))

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        u: Any = None,
        passes: int = 1000,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> ProofDisplay:
        """Learn the rows with a clone of a perceptron until a pass brings no update. Others have no such proof.

        u is scaled to length 1; without one it is the direction in which the learner ends, also in the space of a
        kernel. It has to separate the rows. An intercept is the weight of one more feature, always 1: ``u`` may have
        an entry for it. Of several classes ``class_`` is learned against the rest.
        """
        examples = examples_of(X, y, class_)
        theorem = theorem_of(estimator, examples.X.shape[1], issparse(examples.X))
        ends = None if u is None else scores_by(u, estimator, examples, theorem.constant)
        rows, lengths, steps = [], [0.0], [0.0]
        for now in proof_steps(estimator, examples, passes, theorem.constant):
            if now.changed:
                rows.append(now.row)
                lengths.append(now.length)
                steps.append(now.factors)
        if np.isnan(steps[-1]):
            raise Refused(
                f"{type(estimator).__name__} does not add up signed rows, as the proof does: take a perceptron"
            )
        scores, size = (now.gains, now.length) if ends is None else ends
        gains = scores / (size or 1.0)
        margin = float(gains.min())
        if not margin > 0.0:
            who = f"the weights after {passes} passes separate" if u is None else "u separates"
            raise Refused(f"{who} nothing, so that the proof has no margin: give a u that does, or more passes")
        progress = np.concatenate([[0.0], np.cumsum(np.diff(steps) * gains[rows])])
        found = cls(
            updates=np.arange(len(lengths)),
            progress=progress,
            length=lengths,
            radius=float(longest_so_far(estimator, examples, theorem.constant)[-1]),
            margin=margin,
            beta=theorem.beta,
            step=theorem.step,
        )
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        far = self.bound > FAR * max(1.0, float(self.updates[-1]))
        last = max(1.25 * self.bound, 2.0)
        grid = np.geomspace(1.0, last, 400) if far else np.linspace(0.0, last, 400)
        if self.beta:
            curve = r"at most $a\,\sqrt{k\,(R^2 + 2 \beta\,/\,a)}$"
        else:
            curve = r"at most $R\,\sqrt{k}$" if self.step == 1.0 else r"at most $a\,R\,\sqrt{k}$"
        line = r"at least $k\,\gamma$" if self.step == 1.0 else r"at least $k\,a\,\gamma$"
        (self.most_line_,) = ax.plot(grid, self.at_most(grid), "--", color=VERMILION, label=curve)
        look: dict[str, Any] = {"markersize": 4 if len(self.updates) <= 60 else 0}
        (self.length_line_,) = ax.plot(
            self.updates, self.length, "s-", color=VERMILION, linewidth=2, label="$|w|$", **look
        )
        (self.progress_line_,) = ax.plot(
            self.updates, self.progress, "o-", color=BLUE, linewidth=2, label=r"$\langle w, u\rangle$", **look
        )
        (self.least_line_,) = ax.plot(grid, self.at_least(grid), "--", color=BLUE, label=line)
        self.bound_line_ = ax.axvline(self.bound, color=GREY, linestyle=":", label=f"they cross at {self.bound:.4g}")
        if far:  # a line and a parabola become lines of slope 1 and 1/2
            ax.set(xscale="log", yscale="log", xlim=(0.8, last))
        else:
            ax.set(xlim=(0, last), ylim=(0, None))
        ax.set(xlabel="updates $k$")
        ax.legend()
