"""Which output of the learner learns which class.

Two classes known from the start share one output. In a stream whose classes are open, one more output, the last, learns
that "none of this" is right: when a new class appears, it has been that class's output all along.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from onlinear.classes import Classes
from onlinear.kernels.state import MISTAKES, NORM, OBJECTIVE, PULL, PULLED, SQUARES, UNAVERAGED_MISTAKES, UPDATES
from onlinear.learner import Learner
from onlinear.rows import DenseRows
from onlinear.targets import Labels, Signs


def has_row_loss(learner: Learner) -> bool:
    return hasattr(learner.losses[0], "slopes")


def outputs_for(classes: Classes, row_loss: bool) -> int:
    """How many outputs a new learner needs."""
    if row_loss:
        return max(len(classes), 1)
    return answering(classes, row_loss) + classes.open


def answering(classes: Classes, row_loss: bool) -> int:
    """How many outputs answer; those behind them stand for classes not yet seen."""
    many = len(classes)
    return many if row_loss or many > 2 else max(many - 1, 0)


def targets_for(classes: Classes, codes: np.ndarray, learner: Learner) -> Signs | Labels:
    """The targets of rows with these codes."""
    row_loss = has_row_loss(learner)
    if learner.outputs == 1 and len(classes) == 2 and not row_loss:
        return Signs((codes == 1) * 2.0 - 1.0)
    first = 0 if row_loss or len(classes) > 2 else 1
    return Labels(codes, first, answering(classes, row_loss))


def add_class(classes: Classes, learner: Learner, label: Any) -> int:
    """Let a new class appear: the learner becomes what it would be, had the class been known."""
    known = len(classes)
    if has_row_loss(learner):
        if known > 0:
            learner.add_output(source=0, at=learner.outputs)
            clear_output(learner, learner.outputs - 1)
    else:
        unseen = learner.outputs - 1
        if known == 2:  # from one output for two classes to one for each
            learner.add_output(source=0, at=0)
            learner.negate_output(0)
            unseen += 1
        if known > 0:
            learner.add_output(source=unseen, at=unseen)
    learner.clock[1:, [MISTAKES, UNAVERAGED_MISTAKES]] = 0.0  # mistakes are counted at the first
    for figures in learner.history:
        figures[1:, 1] = 0.0
    return classes.add(label)


def clear_output(learner: Learner, m: int) -> None:
    """Set an output back to zero weights; what it has in common with the others stays."""
    table = learner.table if learner.facing is DenseRows else learner.table.transpose(1, 2, 0)
    table[m] = 0.0
    learner.bias[m] = 0.0
    learner.clock[m, [NORM, OBJECTIVE, UPDATES, PULL, PULLED, SQUARES]] = 0.0


def arranged(
    classes: Classes, learner: Learner, weights: np.ndarray, intercepts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weights in the order of ``classes_``: one row for two classes, else one for each."""
    order = classes.order
    if has_row_loss(learner):
        if len(classes) == 2:
            first, second = order
            return weights[[second]] - weights[[first]], intercepts[[second]] - intercepts[[first]]
        return weights[order], intercepts[order]
    if len(classes) == 2:
        output, turn = output_of(classes, 1)
        return turn * weights[[output]] + 0.0, turn * intercepts[[output]] + 0.0
    if len(classes) < 2:
        return weights[:1], intercepts[:1]
    return weights[order], intercepts[order]


def output_of(classes: Classes, place: int) -> tuple[int, float]:
    """The output that scores the class at a place of ``classes_`` against the rest, and the sign it does so with.

    Two classes share one, whose positive targets are those of the class with code 1; of the other it is the negative.

    >>> output_of(Classes(["b", "a"]), 1), output_of(Classes(["a", "b"]), 1), output_of(Classes(["b", "a", "c"]), 1)
    ((0, -1.0), (0, 1.0), (0, 1.0))
    """
    code = int(classes.order[place]) if len(classes) else 1
    return (code, 1.0) if len(classes) > 2 else (0, 1.0 if code == 1 or len(classes) < 2 else -1.0)


def is_even(loss: Any) -> bool:
    """Whether a loss treats both targets alike, so that one output can serve two classes."""
    return hasattr(loss, "slopes") or looks_even(type(loss), loss)  # type: ignore[arg-type]


@cache
def looks_even(kind: type, loss: Any) -> bool:
    """At a few points; ``kind`` is there because tuples of different classes can be equal."""
    points = (-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0)
    return all(
        loss.slope(s, 1.0) == -loss.slope(-s, -1.0) and loss.value(s, 1.0) == loss.value(-s, -1.0) for s in points
    )
