"""Which classes a classifier knows, and which number each of them has.

Labels may be anything hashable. A class's number (its *code*) is the order in which it was first seen, or its place in
the sorted order where all classes were known from the start. To the outside classes are sorted, where they can be.

:class:`Classes` is what models and perceptrons in dual form have in common: it looks at labels before anything is
learned, and lets classes appear while rows are.

Two classes known from the start share one output. In a stream whose classes are open, one more output, the last, learns
that "none of this" is right: when a new class appears, it has been that class's output all along.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.data.targets import Labels, Signs
from onlinear.data.whole_numbers import FIRST_INEXACT, as_objects, exact_array, places_beyond
from onlinear.errors import BadInput, Refused

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner

#: kinds of labels that are not told apart by whoever writes them down
TEXT, NUMBER = "text", "a number"
#: integer labels closer together than this are looked up in a table
NEAR = 1 << 16
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


def label_at(labels: np.ndarray, row: int) -> Hashable:
    """A label as Python's own object."""
    label: Hashable = labels[row : row + 1].tolist()[0]
    return label


class Classes:
    """The classes of one classifier; ``open`` while new ones may appear.

    >>> classes = Classes(["b", "a"], open=True)
    >>> classes.sorted.tolist(), classes.order.tolist()
    (['a', 'b'], [1, 0])
    >>> classes.codes_of(np.array(["a", "b", "c"])).tolist()
    [1, 0, -1]
    """

    def __init__(self, labels: Iterable[Hashable] = (), *, open: bool = False) -> None:
        self.open = open
        self.codes: dict[Hashable, int] = {}
        self.labels: list[Hashable] = []
        self.sorted = np.array([])
        self.order = np.arange(0)
        for label in map(plain_label, labels):
            self.codes[label] = len(self.labels)
            self.labels.append(label)
        if self.labels:
            self._sort()

    @classmethod
    def closed(cls, sorted_labels: np.ndarray) -> Classes:
        """Exactly these classes, in this order."""
        classes = cls(sorted_labels.tolist())
        classes.sorted = sorted_labels
        classes.order = np.arange(len(sorted_labels))
        return classes

    def copy(self) -> Classes:
        """The same classes, to which others may be added."""
        twin = Classes(open=self.open)
        twin.codes, twin.labels = self.codes.copy(), self.labels.copy()
        twin.sorted, twin.order = self.sorted, self.order
        return twin

    def __len__(self) -> int:
        return len(self.labels)

    def add(self, label: Hashable) -> int:
        """Give a new label the next code."""
        code = len(self.labels)
        label = plain_label(label)
        self.codes[label] = code
        self.labels.append(label)
        self._sort()
        return code

    def _sort(self) -> None:
        self.sorted, self.order = sorted_labels(self.labels)

    def codes_of(self, y: np.ndarray) -> np.ndarray:
        """The code of every label, which is that of what it equals; -1 for those that are not known."""
        if len(self.labels) == 2 and y.dtype.kind in "biuf" and compare_exactly(self.labels):
            return codes_of_two(y, *self.labels)
        if y.dtype.kind == "O":
            known = [self.codes.get(label, -1) for label in y.tolist()]
            return np.array(known, dtype=np.int64)
        if y.dtype.kind in "iu" and is_near(y):
            places, low = places_above_lowest(y), int(y.min())
            table = np.full(int(places.max()) + 1, -1, dtype=np.int64)
            for place in np.flatnonzero(np.bincount(places)).tolist():
                table[place] = self.codes.get(low + place, -1)
            return table[places]
        distinct, places = np.unique(y, return_inverse=True)
        known = [self.codes.get(label, -1) for label in distinct.tolist()]
        return np.array(known, dtype=np.int64)[places]

    def checked_code(self, label: Any) -> int:
        """The code of one label; -1 for that of a new class. It is refused if it cannot be learned."""
        try:
            code = self.codes.get(label, -1)
        except TypeError:
            raise BadInput(f"the label {label!r} is not hashable: use a number, a string or a tuple") from None
        if code < 0:
            self.check_new([label])
            if not self.open:
                raise self.unknown(label, 0)
        return code

    def checked_codes(self, labels: np.ndarray, present: np.ndarray) -> np.ndarray:
        """The same of many labels: all are refused if that of a row that is present cannot be learned."""
        codes = self.codes_of(labels)
        new = np.flatnonzero((codes < 0) & present)
        if new.size and not self.open:
            row = int(new[0])
            raise self.unknown(label_at(labels, row), row)
        if new.size:
            self.check_new(labels[new].tolist())
        return codes

    def learn_in_order(
        self,
        labels: np.ndarray,
        codes: np.ndarray,
        present: np.ndarray,
        learn: Callable[[int, int], object],
        add_class: Callable[[Hashable], object],
        label_of: Callable[[np.ndarray, int], Hashable] = label_at,
    ) -> None:
        """Learn rows in order; where the label of one that is present is new, its class appears between two rows.

        ``learn(start, stop)`` learns rows whose ``codes``, which are written to, are known by then.
        """
        start = 0
        while (new := np.flatnonzero((codes < 0) & present)).size:
            row = int(new[0])
            learn(start, row)
            add_class(label_of(labels, row))
            codes[row:] = self.codes_of(labels[row:])
            start = row
        learn(start, len(codes))

    def check_named(self, named: np.ndarray) -> None:
        """Refuse classes that are named again, and are others."""
        if not np.array_equal(self.sorted, named):
            raise BadInput(
                f"`classes={named.tolist()}` is not the same as on last call to partial_fit, was: "
                f"{self.sorted.tolist()}; leave it out, or call fit to start anew"
            )

    def check_new(self, labels: Iterable[Hashable]) -> None:
        """Refuse labels that cannot become classes beside those that there are: missing, or text among numbers."""
        examples = {kind_of_label(label): label for label in reversed(self.labels)}
        for label in labels:
            if is_missing(label):
                shown = "NaN" if isinstance(label, float) else repr(label)
                raise BadInput(f"the label is {shown}: drop the example or mend it")
            if isinstance(label, str) and label.endswith("\0"):
                raise BadInput(f"the label {label!r:.60} ends with a NUL, which NumPy would drop: take it away")
            examples.setdefault(kind_of_label(label), label)
            if TEXT in examples and NUMBER in examples:
                other = examples[NUMBER if isinstance(label, str) else TEXT]
                kinds = (TEXT, NUMBER) if isinstance(label, str) else (NUMBER, TEXT)
                raise BadInput(
                    f"the label {label!r:.60} is {kinds[0]}, and {other!r:.60} is {kinds[1]}: they would be two "
                    "classes, and may mean the same; give all labels as text, or all as numbers"
                )

    def unknown(self, label: Any, row: int) -> BadInput:
        """The refusal of a label that is not among the classes."""
        return BadInput(
            f"the label {label!r} of row {row} is not among the classes {self.sorted.tolist()}: "
            "name every class in the first call of partial_fit or learn_many, or name none, and new classes may appear"
        )


def kind_of_label(label: Hashable) -> str | None:
    """Text or a number; None for anything else, such as a tuple, which nobody takes for either."""
    if isinstance(label, str):
        return TEXT
    return NUMBER if isinstance(label, Number | np.bool_) else None


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or pandas' NA, which answers no comparison."""
    return label is None or type(label).__name__ == "NAType" or label != label


def check_hashable(labels: Iterable[Any]) -> None:
    """Refuse a label of which none can be found again, such as a list, with its row."""
    for row, label in enumerate(labels):
        try:
            hash(label)
        except TypeError:
            said = f"the label {label!r:.60} of row {row}"
            raise BadInput(f"{said} is not hashable: use a number, a string or a tuple") from None


def refuse_mixed(y: Any) -> None:
    """Refuse labels that are missing or mixed, before NumPy makes text of numbers, or someone compares what is NA."""
    if hasattr(y, "dtype"):
        labels = y.tolist() if getattr(y.dtype, "kind", None) == "O" and y.ndim == 1 else []
    else:
        labels = y if isinstance(y, list | tuple) and any(isinstance(label, str) for label in y) else []
    Classes().check_new(label for label in labels if isinstance(label, Hashable))


def label_array(y: Any) -> np.ndarray:
    """Labels as a vector, of which none is rounded, missing, or text among numbers."""
    refuse_mixed(y)
    labels = exact_array(y)
    if labels.ndim != 1:
        raise BadInput(f"y has the shape {labels.shape}: give a list or a column of labels, one a row")
    if labels.dtype.kind == "O" or (labels.dtype.kind == "f" and np.isnan(labels).any()):
        check_hashable(labels.tolist())
        Classes().check_new(labels.tolist())
    return labels


def classes_and_codes(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes that labels are of, sorted, and the place of each label's among them.

    >>> classes_and_codes(["no", "yes", "no"])
    (array(['no', 'yes'], dtype='<U3'), array([0, 1, 0]))
    """
    labels = label_array(y)
    classes = sorted_unique(labels)
    return classes, Classes.closed(classes).codes_of(labels)


def plain_label(label: Any) -> Hashable:
    """A label as Python's own: NumPy's numbers, and texts of a type of their own, such as members of enumerations.

    Of the latter NumPy takes what ``str`` says, which need not be the text.
    """
    if isinstance(label, str):
        return str.__str__(label)
    if isinstance(label, np.number | np.bool_) and not isinstance(label, np.timedelta64):
        found: Hashable = label.item()
        return found
    return label


def plain(label: Any) -> Hashable:
    """A whole number as an integer; anything else as it is."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def compare_exactly(labels: list[Hashable]) -> bool:
    """Whether NumPy finds labels equal to numbers where Python does: it takes tuples for rows, and may round."""
    return all(isinstance(label, int | float) and abs(label) < FIRST_INEXACT for label in labels)


def codes_of_two(y: np.ndarray, first: Any, second: Any) -> np.ndarray:
    if y.dtype.kind == "f":
        y = y.astype(np.float64, copy=False)  # in single precision a label might be rounded to be compared
    is_second, is_other = y == second, y != first
    codes = is_second.astype(np.int64)
    if not np.array_equal(is_second, is_other):
        codes[is_other & ~is_second] = -1
    return codes


def is_near(y: np.ndarray) -> bool:
    return bool(y.size) and int(y.max()) - int(y.min()) < NEAR


def places_above_lowest(y: np.ndarray) -> np.ndarray:
    """How far whole numbers that are near are from the lowest of them, which may be farther than their type goes."""
    wide = y if y.dtype.itemsize == 8 else y.astype(np.int64)
    return (wide - wide.min()).astype(np.int64)


def distinct_labels(y: np.ndarray) -> np.ndarray:
    """The labels, sorted, each once; a quick look first, because mostly there are two.

    >>> distinct_labels(np.array([3, 1, 3, 3])).tolist()
    [1, 3]
    """
    found = two_labels(y)
    if found is None and y.dtype.kind in "iu" and is_near(y):
        found = np.flatnonzero(np.bincount(places_above_lowest(y))).astype(y.dtype) + y.min()
    if y.dtype.kind == "O":
        Classes().check_new(y.tolist())
    labels = sorted_unique(y) if found is None else found
    refuse_fractions(labels)
    return labels


def named_classes(classes: Any) -> np.ndarray:
    """The classes that a caller names, sorted: in a list, a set, an index, any iterable; or categories of pandas.

    >>> named_classes({"no", "yes"}).tolist(), named_classes(label for label in (2, 0)).tolist()
    (['no', 'yes'], [0, 2])
    """
    categories = getattr(classes, "categories", None)  # of a Categorical, or its dtype
    if categories is None:
        categories = getattr(getattr(classes, "dtype", None), "categories", None)  # of a series of them
    given = classes if categories is None else categories
    if isinstance(given, Iterable) and not isinstance(given, str | bytes) and not hasattr(given, "__array__"):
        given = list(given)
    refuse_mixed(given)
    labels = exact_array(given)
    if labels.ndim != 1:
        raise BadInput(f"classes is {classes!r:.60}: give a list of all labels there will be")
    return distinct_labels(labels)


def classes_from_call(classes: Any) -> Classes:
    """The classes that the first call of ``partial_fit`` or ``learn_many`` names; open if it names none."""
    if classes is None:
        return Classes(open=True)
    labels = named_classes(classes)
    if len(labels) < 2:
        raise BadInput("classes names fewer than two classes: name them all, or none")
    return Classes.closed(labels)


def classes_of_labels(y: np.ndarray) -> Classes:
    """The classes of a whole training set, of which there have to be two."""
    labels = distinct_labels(y)
    if len(labels) < 2:
        raise BadInput(
            f"The number of classes has to be greater than one; got {len(labels)} class: "
            "one class needs no classifier, more rows may hold another"
        )
    return Classes.closed(labels)


def sorted_unique(y: np.ndarray) -> np.ndarray:
    with suppress(TypeError):
        labels = np.unique(y)
        if y.dtype.kind != "O" or ascend(labels.tolist()):
            return labels
    kinds = sorted({type(label).__name__ for label in y.tolist()})
    raise BadInput(
        f"labels of the types {', '.join(kinds)} cannot be sorted: use one type, or learn_many, which takes any"
    )


def ascend(labels: list[Any]) -> bool:
    """Whether labels are in order, each once: sets have one of a kind, by which some are neither less nor greater."""
    return all(bool(one < other) for one, other in pairwise(labels))


def refuse_fractions(labels: np.ndarray) -> None:
    """Numbers with a fraction are no labels but measurements."""
    if labels.dtype.kind not in "fO":
        return
    for label in labels.tolist():
        if isinstance(label, float) and not label.is_integer():
            raise BadInput(
                f"Unknown label type: continuous. {label!r} is a measurement, not a class: "
                "learn it by regression, or sort the targets into classes first"
            )


def two_labels(y: np.ndarray) -> np.ndarray | None:
    """The one or two labels of an array of numbers; None where there are more."""
    if y.dtype.kind not in "biuf" or not y.size:
        return None
    first = y[0]
    others = y != first
    where = int(others.argmax())
    if not others[where]:
        return y[:1].copy()
    second = y[where]
    if not np.array_equal(others, y == second):
        return None
    return np.array([min(first, second), max(first, second)], dtype=y.dtype)


def sorted_labels(labels: list[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """The labels as an array, sorted where they can be, and the positions they come from."""
    order = list(range(len(labels)))
    with suppress(TypeError):
        found = sorted(order, key=labels.__getitem__)  # type: ignore[arg-type]
        if ascend([labels[place] for place in found]):
            order = found
    return as_array([labels[place] for place in order]), np.array(order, dtype=np.int64)


def as_array(labels: list[Hashable]) -> np.ndarray:
    """An array of labels; NumPy must not turn numbers into text or tuples into rows, nor drop a NUL behind a text."""
    labels = list(map(plain_label, labels))
    texts = sum(isinstance(label, str) and not label.endswith("\0") for label in labels)
    numbers = sum(isinstance(label, int | float | np.number | np.bool_) for label in labels)
    found = np.array(labels) if len(labels) in (texts, numbers) else as_objects(labels)
    is_rounded = found.dtype.kind == "f" and len(places_beyond(found)) > 0
    return as_objects(labels) if is_rounded else found


# ------------------------------------------------------------------ which output learns which class


def has_outputs_for(classes: Classes | None, learner: Learner) -> bool:
    """Whether a learner has an output for each class, or for the number; one more may stand for classes to come."""
    row_loss = has_row_loss(learner)
    if classes is None:
        return learner.outputs == 1 and not row_loss
    unseen = learner.outputs - max(answering(classes, row_loss), int(row_loss))
    return unseen in ({0} if row_loss else {1} if classes.open else {0, 1})


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
    """Let a new class appear: the learner becomes what it would be, had the class been known.

    Whoever does so for labels as they come asks :func:`check_new_labels` first.
    """
    known = len(classes)
    with learner.lock, learner.busy:
        if has_row_loss(learner):
            if known > 0:
                learner.add_output_unlocked(source=0, at=learner.outputs)
                learner.clear_output(learner.outputs - 1)
                learner.clear_figures_of_steps(-1)
        else:
            unseen = learner.outputs - 1
            if known == 2:  # from one output for two classes to one for each
                learner.add_output_unlocked(source=0, at=0)
                learner.negate_output(0)
                unseen += 1
            if known > 0:
                learner.add_output_unlocked(source=unseen, at=unseen)
        learner.count_mistakes_at_first()
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
    with_ids = look_like_ids(count, examples)
    most = MOST_BYTES_OF_IDS if with_ids else MOST_BYTES
    if count > FEW_CLASSES and size > most:
        whose = "look like ids" if with_ids else "nobody has named"
        raise Refused(
            f"{count:,} different labels in {examples:,} examples: with a class for each, the table of {features:,} "
            f"features comes to {size / 1e9:.2f} GB, and {most / 1e9:.2f} GB is the most for labels that {whose}. "
            f"Nothing of this batch was learned. Is the target an id, a free text or an amount? If so, {advice}"
        )


def look_like_ids(labels: int, examples: int) -> bool:
    """Whether so many different labels are those of single examples: 900 of 1,000 may be classes, 901 are ids."""
    return labels >= MANY_LABELS and labels > DIFFERENT * examples


def table_bytes(learner: Learner, features: int, classes: int) -> int:
    """What a learner takes for so many classes, when it has learned of all features."""
    square = (features + 1) ** 2 if learner.kind == "matrix" else 0
    return 8 * classes * (learner.bias.shape[1] * features + square)


def output_of(classes: Classes, place: int) -> tuple[int, float]:
    """The output that scores the class at a place of ``classes_`` against the rest, and the sign it does so with.

    Two classes share one, whose positive targets are those of the class with code 1; of the other it is the negative.

    >>> output_of(Classes(["b", "a"]), 1), output_of(Classes(["a", "b"]), 1), output_of(Classes(["b", "a", "c"]), 1)
    ((0, -1.0), (0, 1.0), (0, 1.0))
    """
    code = int(classes.order[place]) if len(classes) else 1
    return (code, 1.0) if len(classes) > 2 else (0, 1.0 if code == 1 or len(classes) < 2 else -1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Decoder:
    """How the scores of a learner's outputs become labels: nothing in it changes when classes appear later.

    A field of a named tuple takes 8 ns to read, one of these next to none (Python 3.11): ``predict_one`` reads two.
    """

    labels: list[Hashable]  # in the order of ``classes_``
    order: np.ndarray  # the output of each, where each has one
    turn: float  # the sign that makes the first output's score that of the second label; 0 where each has an output
    pair: tuple[Hashable, ...]  # the labels where two share an output

    def shown(self, scores: np.ndarray) -> Any:
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


# ------------------------------------------------------------------ classes or numbers

TASKS = ("classification", "regression")
#: most different whole numbers that are taken for classes in a stream: whoever labels rows mostly names kinds
MOST_IN_STREAM = 100
#: the same in a table, where any column may be the target, and whole numbers are often amounts: so there are to be few,
#: and so many rows of each, in the mean, since a rare class is one, too
MOST_IN_TABLE, ROWS_OF_EACH = 20, 3


def check_task_name(task: str | None) -> None:
    """Refuse a task that there is not; None is what nobody has said."""
    if task not in (None, *TASKS):
        raise Refused(f"the task {task!r:.60} is unknown: choose one of {', '.join(TASKS)}")


def task_of_numbers(different: int, most: int, *, whole: bool) -> str:
    """What is to be learned of numbers if nobody says: classes, if all are ``whole`` and not too many are different.

    >>> task_of_numbers(3, MOST_IN_STREAM, whole=True), task_of_numbers(3, MOST_IN_STREAM, whole=False)
    ('classification', 'regression')
    """
    return "classification" if whole and different <= most else "regression"


def most_in_table(rows: int) -> int:
    """The most different whole numbers that are taken for classes in a table of so many rows.

    >>> most_in_table(7), most_in_table(7000)
    (2, 20)
    """
    return min(MOST_IN_TABLE, rows // ROWS_OF_EACH)
