"""Loss curves: what a learner suffered while it learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import Refused
from onlinear.learning.progress import progressive_lines
from onlinear.plots.drawing import BLUE, ORANGE, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinear.learning.progress import ProgressLine


class LossCurveDisplay(Display):
    """The mean loss of all examples so far, and of those since the last mark, at 1, 2, 4, 8, ... examples.

    Each example was predicted before it was learned: on a first pass over fresh rows this is an honest estimate. What
    comes from later passes is marked as training.

    Parameters
    ----------
    examples : array, at which there is a mark
    mean : array, the mean loss of all examples up to each
    since_last : array, the mean loss of the examples from the mark before
    training : how many of the last marks are from the second pass on
    name : of what is shown

    >>> from onlinear import OnlineClassifier
    >>> model = OnlineClassifier().partial_fit([[1.0], [-1.0], [2.0]], [1, 0, 1], classes=[0, 1])
    >>> LossCurveDisplay.from_estimator(model, plot=False).examples.tolist()
    [1, 2, 3]
    """

    def __init__(self, *, examples: Any, mean: Any, since_last: Any, training: int = 0, name: str = "loss") -> None:
        self.examples = np.asarray(examples)
        self.mean = np.asarray(mean, dtype=np.float64)
        self.since_last = np.asarray(since_last, dtype=np.float64)
        self.training = training
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None, plot: bool = True) -> LossCurveDisplay:
        """The loss of an estimator that has learned, by its ``history_``."""
        lines, training = lines_of(estimator)
        found = cls(
            examples=[line.examples for line in lines],
            mean=[line.loss for line in lines],
            since_last=[line.loss_since_last for line in lines],
            training=training,
        )
        return found.finish(ax, plot)

    @classmethod
    def from_mistakes(cls, estimator: Any, *, ax: Axes | None = None, plot: bool = True) -> LossCurveDisplay:
        """The share of mistakes of a classifier that has learned: its loss is 1 where it was wrong."""
        lines, training = lines_of(estimator)
        examples, mistakes = ([0, *(getattr(line, name) for line in lines)] for name in ("examples", "mistakes"))
        found = cls(
            examples=examples[1:],
            mean=[line.error for line in lines],
            since_last=np.diff(mistakes) / np.diff(examples),
            training=training,
            name="share of mistakes",
        )
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        (self.since_line_,) = ax.plot(
            self.examples, self.since_last, "o--", color=ORANGE, markersize=4, label="since the last mark"
        )
        (self.mean_line_,) = ax.plot(self.examples, self.mean, "o-", color=BLUE, markersize=4, label="of all so far")
        if self.training:
            first = float(self.examples[-self.training])
            before = self.examples[-self.training - 1] if self.training < len(self.examples) else first
            self.training_ = ax.axvspan(
                float(before), float(self.examples[-1]), color="0.9", zorder=0, label="training: later passes"
            )
        ax.set(xlabel="examples", ylabel=self.name)
        ax.set_xscale("log", base=2)
        ax.set_ylim(bottom=0)
        ax.legend()


def lines_of(estimator: Any) -> tuple[list[ProgressLine], int]:
    """The progressive figures of an estimator, and how many of the last ones are from later passes."""
    history = getattr(estimator, "history_", None)
    if not history:
        raise Refused(f"{type(estimator).__name__} has no history: give an estimator of onlinear that has learned")
    lines = progressive_lines((mark.examples, mark.loss * mark.examples, mark.mistakes) for mark in history)
    return list(lines), sum(mark.training for mark in history)
