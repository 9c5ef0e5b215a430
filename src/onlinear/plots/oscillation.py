"""How the weights oscillate on inseparable rows, and their average beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import Refused
from onlinear.plots.drawing import BLUE, GREEN, ORANGE, PURPLE, VERMILION, Display
from onlinear.plots.following import examples_of, follow, has_intercept

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE)
#: how many weights are shown unless told
SHOWN = 3


class OscillationDisplay(Display):
    """Weights after each example, and the mean of all weights up to then, which comes to rest where they do not.

    The mean is what an averaged perceptron answers with (Freund & Schapire 1999).

    Parameters
    ----------
    examples : array, 1, 2, 3, ...
    weights, averaged : arrays with a row for each example and a column for each weight that is shown
    names : of the columns

    >>> from onlinear import Perceptron
    >>> X, y = [[1.0], [1.0], [1.0], [1.0]], [1, -1, 1, -1]
    >>> shown = OscillationDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, plot=False)
    >>> shown.weights[:, 0].tolist(), shown.averaged[:, 0].tolist()
    ([1.0, 0.0, 1.0, 0.0], [1.0, 0.5, 0.6666666666666666, 0.5])
    """

    def __init__(self, *, examples: Any, weights: Any, averaged: Any, names: Any = None) -> None:
        self.examples = np.asarray(examples)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.averaged = np.asarray(averaged, dtype=np.float64)
        self.names = [f"$w_{{{k + 1}}}$" for k in range(self.weights.shape[1])] if names is None else list(names)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Any = None,
        passes: int = 1,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> OscillationDisplay:
        """Learn the rows one by one with a clone of a linear estimator that does not average.

        Shown are the weights of these ``features``, counted from 0, where the intercept comes last; or the three that
        end with the largest averages. Of several classes ``class_`` is learned against the rest.
        """
        examples = examples_of(X, y, class_)
        weights = np.array([step.weights for step in follow(estimator, examples, passes)])
        seen = np.arange(1, len(weights) + 1)
        averaged = np.cumsum(weights, axis=0) / seen[:, None]
        chosen = largest(averaged[-1]) if features is None else np.asarray(features, dtype=np.intp).reshape(-1)
        if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= weights.shape[1]:
            raise Refused(f"there are {weights.shape[1]} weights, counted from 0: choose among them")
        names = [f"$w_{{{k + 1}}}$" for k in range(examples.X.shape[1])] + ["intercept"] * has_intercept(estimator)
        found = cls(
            examples=seen,
            weights=weights[:, chosen],
            averaged=averaged[:, chosen],
            names=[names[k] for k in chosen.tolist()],
        )
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        self.weight_lines_, self.averaged_lines_ = [], []
        for k, name in enumerate(self.names):
            colour = COLOURS[k % len(COLOURS)]
            self.weight_lines_ += ax.plot(
                self.examples, self.weights[:, k], color=colour, alpha=0.5, linewidth=0.7, label=name, zorder=2
            )
            self.averaged_lines_ += ax.plot(
                self.examples, self.averaged[:, k], color=colour, linewidth=2.2, label=f"{name}, averaged", zorder=3
            )
        ax.set(xlabel="examples", ylabel="weight")
        ax.legend(ncols=min(3, len(self.names)), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def largest(weights: np.ndarray) -> np.ndarray:
    """The largest in size, in their order."""
    return np.sort(np.argsort(-np.abs(weights), kind="stable")[:SHOWN])
