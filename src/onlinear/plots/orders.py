"""Several orders of the same rows: updates differ, and the bound is one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from onlinear.errors import BadInput
from onlinear.plots.drawing import BLUE, GREY, VERMILION, Display
from onlinear.plots.following import PlottedExamples, examples_of, longest_so_far, proof_steps, scores_by
from onlinear.plots.theorems import PERCEPTRON, theorem_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class OrdersDisplay(Display):
    """Updates after each example, in the order in which the rows came and in others that were drawn.

    How many updates a perceptron makes depends on the order; the bound does not, and covers all of them.

    Parameters
    ----------
    updates : a list with an array for each order, the given one first: updates after 1, 2, 3, ... examples
    bound : how many any order may make; infinite where no margin is known
    label : of the bound in the picture

    >>> from onlinear import Perceptron
    >>> X, y = [[1.0, 0.0], [3.0, 0.1], [0.0, 1.0]], [-1, -1, 1]
    >>> shown = OrdersDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, orders=3, plot=False)
    >>> shown.total.tolist()
    [2, 2, 2]
    """

    def __init__(self, *, updates: Any, bound: float = np.inf, label: str = PERCEPTRON) -> None:
        self.updates = [np.asarray(each) for each in updates]
        self.bound, self.label = float(bound), label

    @property
    def total(self) -> np.ndarray:
        """The updates of each order, all in all."""
        return np.array([each[-1] for each in self.updates])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        orders: int = 20,
        passes: int = 100,
        u: Any = None,
        seed: int = 0,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> OrdersDisplay:
        """Learn the rows with a clone in so many orders, each until a pass brings no update.

        The bound is that of the margin of ``u``, or else of the largest margin that any of the orders has ended with.
        Of several classes ``class_`` is learned against the rest.
        """
        if not orders >= 1:
            raise BadInput(f"orders is {orders}: give a number from 1 on")
        examples = examples_of(X, y, class_)
        theorem = theorem_of(estimator, examples.X.shape[1], issparse(examples.X))
        by_u = None if u is None else scores_by(u, estimator, examples, theorem.constant)
        drawn, count, margin, updates = np.random.default_rng(seed), len(examples.y), 0.0, []
        for k in range(orders):
            chosen = np.arange(count) if k == 0 else drawn.permutation(count)
            ordered = PlottedExamples(examples.X[chosen], examples.y[chosen], examples.classes)
            made = []
            for now in proof_steps(estimator, ordered, passes, theorem.constant):
                made.append(now.updates)
            updates.append(made)
            margin = max(margin, float(now.gains.min()) / now.length if now.length else 0.0)
        if by_u is not None:
            margin = float(by_u[0].min()) / by_u[1]
        radius = longest_so_far(estimator, examples, theorem.constant)[-1]
        bound = float(theorem.room(radius)) / margin**2 if margin > 0.0 else np.inf
        return cls(updates=updates, bound=bound, label=theorem.label).finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        self.lines_: list[Any] = []
        last = max(map(len, self.updates))
        for k, counts in reversed(list(enumerate(self.updates))):
            reached = np.append(counts, counts[-1])
            examples = np.append(np.arange(1, len(counts) + 1), last)
            look: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "alpha": 0.6, "zorder": 2}
            if k == 0:
                look = {"color": BLUE, "linewidth": 2.4, "zorder": 3, "label": "as the rows came"}
            elif k == 1:
                look["label"] = f"{len(self.updates) - 1} other orders"
            self.lines_.insert(0, ax.step(examples, reached, where="post", **look)[0])
        self.bound_line_ = None
        if np.isfinite(self.bound) and self.bound <= 20.0 * self.total.max():
            self.bound_line_ = ax.axhline(self.bound, color=VERMILION, linestyle="--", label=self.label)
        least, most = int(self.total.min()), int(self.total.max())
        made = f"{least} to {most} updates" if least < most else f"{most} updates"
        ax.set_title(made + (f", bound {self.bound:.4g}" if np.isfinite(self.bound) else ""))
        ax.set(xlabel="examples", ylabel="updates", xlim=(1, max(2, last)))
        ax.set_ylim(bottom=0)
        ax.legend()
