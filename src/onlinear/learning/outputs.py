"""Which output of a learner learns which class, and how the scores of outputs become labels.

Two classes known from the start share one output. In a stream whose classes are open, one more output, the last, learns
that "none of this" is right: when a new class appears, it has been that class's output all along. A loss that sees all
scores of a row, a row loss, has an output for each class.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.data.targets import Labels, Signs
from onlinear.errors import Refused
from onlinear.learning.classes import Classes
from onlinear.learning.growth import clear_output, negate_output

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner

#: the most that a table may come to because of classes that nobody has named, in bytes
MOST_BYTES = 4 << 30
#: the same of labels that look like ids: so many of them, and nearly every example has another
MOST_BYTES_OF_IDS, MANY_LABELS, DIFFERENT = 1 << 30, 50, 0.9
#: so many classes may appear whatever they cost
FEW_CLASSES = 8
#: what to do about classes that are too many
ADVICE = (
    "learn another one; otherwise take fewer features (bits), or name all classes in the first call of "
    "partial_fit or learn_many (classes=...), and they may take what they take"
)


def has_row_loss(learner: Learner) -> bool:
    return hasattr(learner.losses[0], "slopes")


def outputs_for(classes: Classes, row_loss: bool) -> int:
    """How many outputs a new learner needs."""
    if row_loss:
        return max(len(classes), 1)
    return count_answering(classes, row_loss) + classes.open


def has_outputs_for(classes: Classes | None, learner: Learner) -> bool:
    """Whether a learner has an output for each class, or for the number; one more may stand for classes to come."""
    row_loss = has_row_loss(learner)
    if classes is None:
        return learner.outputs == 1 and not row_loss
    unseen = learner.outputs - max(count_answering(classes, row_loss), int(row_loss))
    return unseen in ({0} if row_loss else {1} if classes.open else {0, 1})


def count_answering(classes: Classes, row_loss: bool) -> int:
    """How many outputs answer; those behind them stand for classes not yet seen."""
    many = len(classes)
    return many if row_loss or many > 2 else max(many - 1, 0)


def targets_for(classes: Classes, codes: np.ndarray, learner: Learner) -> Signs | Labels:
    """The targets of rows with these codes."""
    row_loss = has_row_loss(learner)
    if learner.outputs == 1 and len(classes) == 2 and not row_loss:
        return Signs((codes == 1) * 2.0 - 1.0)
    first = 0 if row_loss or len(classes) > 2 else 1
    return Labels(codes, first, count_answering(classes, row_loss))


def output_of(classes: Classes, place: int) -> tuple[int, float]:
    """The output that scores the class at a place of ``classes_`` against the rest, and the sign it does so with.

    Two classes share one, whose positive targets are those of the class with code 1; of the other it is the negative.

    >>> output_of(Classes(["b", "a"]), 1), output_of(Classes(["a", "b"]), 1), output_of(Classes(["b", "a", "c"]), 1)
    ((0, -1.0), (0, 1.0), (0, 1.0))
    """
    code = int(classes.order[place]) if len(classes) else 1
    return (code, 1.0) if len(classes) > 2 else (0, 1.0 if code == 1 or len(classes) < 2 else -1.0)


def answering_outputs(learner: Learner, classes: Classes | None) -> tuple[list[int], float]:
    """The outputs that answer, in the order of ``classes_``, and the sign with which they do."""
    if classes is None:
        return [0], 1.0
    if has_row_loss(learner) or len(classes) > 2:
        order: list[int] = classes.order.tolist()
        return order, 1.0
    output, sign = output_of(classes, len(classes) - 1)
    return [output], sign


# ------------------------------------------------------------------ classes that appear


def add_class(classes: Classes, learner: Learner, label: Any) -> int:
    """Let a new class appear: the learner becomes what it would be, had the class been known.

    Whoever does so for labels as they come asks :func:`check_new_labels` first.
    """
    known = len(classes)
    with learner.lock, learner.busy:
        if has_row_loss(learner):
            if known > 0:
                learner.add_output_unlocked(source=0, at=learner.outputs)
                clear_output(learner, learner.outputs - 1)
                learner.counters.clear_steps(-1)
        else:
            unseen = learner.outputs - 1
            if known == 2:  # from one output for two classes to one for each
                learner.add_output_unlocked(source=0, at=0)
                negate_output(learner, 0)
                unseen += 1
            if known > 0:
                learner.add_output_unlocked(source=unseen, at=unseen)
        learner.counters.count_mistakes_at_first()
        learner.busy.moved()
        return classes.add(label)


def check_new_labels(
    classes: Classes,
    learner: Learner,
    labels: np.ndarray,
    present: np.ndarray,
    *,
    features: int | None = None,
    advice: str = ADVICE,
) -> None:
    """Refuse labels whose classes would let the table grow beyond all reason: all of a batch, before anything moves.

    ``labels`` are those that are not known yet, ``present`` says which rows of the batch are examples; the table is to
    have so many ``features``. Classes that were named are not asked what they take.
    """
    features = learner.features if features is None else features
    known = len(classes)
    if known + len(labels) <= FEW_CLASSES or table_bytes(learner, features, known + len(labels)) <= MOST_BYTES_OF_IDS:
        return
    count = known + len(set(labels.tolist()))
    examples = learner.examples + int(np.count_nonzero(present))
    size = table_bytes(learner, features, count)
    looks_like_ids = count >= MANY_LABELS and count > DIFFERENT * examples
    most = MOST_BYTES_OF_IDS if looks_like_ids else MOST_BYTES
    if count > FEW_CLASSES and size > most:
        whose = "look like ids" if looks_like_ids else "nobody has named"
        raise Refused(
            f"{count:,} different labels in {examples:,} examples: with a class for each, the table of {features:,} "
            f"features comes to {size / 1e9:.2f} GB, and {most / 1e9:.2f} GB is the most for labels that {whose}. "
            f"Nothing of this batch was learned. Is the target an id, a free text or an amount? If so, {advice}"
        )


def table_bytes(learner: Learner, features: int, classes: int) -> int:
    """What a learner takes for so many classes, when it has learned of all features."""
    square = (features + 1) ** 2 if learner.kind == "matrix" else 0
    return 8 * classes * (learner.slots.size * features + square)


def is_even(loss: Any) -> bool:
    """Whether a loss treats both targets alike, so that one output can serve two classes."""
    return hasattr(loss, "slopes") or looks_even(type(loss), loss)  # type: ignore[arg-type]


@cache
def looks_even(kind: type, loss: Any) -> bool:
    """At a few points; ``kind`` is there because tuples of different classes can be equal."""
    return all(looks_even_at(loss, score) for score in (-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0))


def looks_even_at(loss: Any, score: float) -> bool:
    """At one score, for which a loss of the user's own need have no number."""
    try:
        slopes = loss.slope(score, 1.0), -loss.slope(-score, -1.0)
        values = loss.value(score, 1.0), loss.value(-score, -1.0)
    except (ArithmeticError, ValueError):
        return True
    return bool(slopes[0] == slopes[1] and values[0] == values[1])


# ------------------------------------------------------------------ from scores to labels


@dataclass(frozen=True, slots=True, eq=False)
class Decoder:
    """How the scores of a learner's outputs become labels: nothing in it changes when classes appear later.

    A field of a named tuple takes 8 ns to read, one of these next to none (Python 3.11): ``predict_one`` reads two.
    """

    labels: list[Hashable]  # in the order of ``classes_``
    order: np.ndarray  # the output of each, where each has one
    turn: float  # the sign that makes the first output's score that of the second label; 0 where each has an output
    pair: tuple[Hashable, ...]  # the labels where two share an output

    def in_order(self, scores: np.ndarray) -> Any:
        """One score for up to two classes, else an array in the order of ``classes_``."""
        return scores[self.order] if self.turn == 0.0 else self.turn * float(scores[0])

    def label(self, scores: np.ndarray) -> Any:
        """The label with the highest score; None where there is none."""
        if self.pair:
            return self.pair[self.turn * float(scores[0]) > 0.0]
        if len(self.labels) < 2:
            return self.labels[0] if self.labels else None
        return self.labels[int(scores[self.order].argmax())]

    def as_row(self, scores: np.ndarray) -> np.ndarray:
        """The same scores as a row of :meth:`onlinear.learning.predictor.Predictor.scores`."""
        return (scores[self.order] if self.turn == 0.0 else self.turn * scores[:1])[None]


def decoder_of(classes: Classes, row_loss: bool) -> Decoder:
    """The decoder for the classes as they are now."""
    labels = [classes.labels[code] for code in classes.order.tolist()]
    if row_loss or len(labels) > 2:
        return Decoder(labels, classes.order, 0.0, ())
    if len(labels) < 2:
        return Decoder(labels, classes.order, 1.0, ())
    return Decoder(labels, classes.order, output_of(classes, 1)[1], tuple(labels))
