"""Which classes a classifier knows, and which number each of them has.

Labels may be anything hashable. A class's number (its *code*) is the order in which it was first seen, or its place in
the sorted order where all classes were known from the start. To the outside classes are sorted, where they can be.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from numbers import Number
from typing import Any

import numpy as np

from onlinear.data.whole_numbers import FIRST_INEXACT, as_objects, exact_array, places_beyond
from onlinear.errors import BadInput, Refused

#: kinds of labels that are not told apart by whoever writes them down
TEXT, NUMBER = "text", "a number"
#: integer labels closer together than this are looked up in a table
NEAR = 1 << 16


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
        for label in labels:
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
        self.codes[label] = code
        self.labels.append(label)
        self._sort()
        return code

    def _sort(self) -> None:
        self.sorted, self.order = sorted_labels(self.labels)

    def codes_of(self, y: np.ndarray) -> np.ndarray:
        """The code of every label; -1 for those that are not known."""
        if len(self.labels) == 2 and y.dtype.kind in "biuf" and not (y.dtype.kind == "f" and any_large(self.labels)):
            return codes_of_two(y, *self.labels)
        if y.dtype.kind == "O":
            known = [self.codes.get(label, -1) for label in y.tolist()]
            return np.array(known, dtype=np.int64)
        if y.dtype.kind in "iu" and is_near(y):
            low = int(y.min())
            table = np.full(int(y.max()) - low + 1, -1, dtype=np.int64)
            for label, code in self.codes.items():
                whole = isinstance(label, int) or (isinstance(label, float) and label.is_integer())
                if whole and low <= label < low + len(table):  # type: ignore[operator]
                    table[int(label) - low] = code  # type: ignore[call-overload]
            return table[y - low]
        distinct, places = np.unique(y, return_inverse=True)
        known = [self.codes.get(label, -1) for label in distinct.tolist()]
        return np.array(known, dtype=np.int64)[places]

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


def any_large(labels: list[Hashable]) -> bool:
    """Whether a label is a whole number that NumPy would round before it compares it with floats."""
    return any(isinstance(label, int) and abs(label) > FIRST_INEXACT for label in labels)


def codes_of_two(y: np.ndarray, first: Any, second: Any) -> np.ndarray:
    is_second, is_other = y == second, y != first
    codes = is_second.astype(np.int64)
    if not np.array_equal(is_second, is_other):
        codes[is_other & ~is_second] = -1
    return codes


def is_near(y: np.ndarray) -> bool:
    return bool(y.size) and int(y.max()) - int(y.min()) < NEAR


def distinct_labels(y: np.ndarray) -> np.ndarray:
    """The labels, sorted, each once; a quick look first, because mostly there are two.

    >>> distinct_labels(np.array([3, 1, 3, 3])).tolist()
    [1, 3]
    """
    found = two_labels(y)
    if found is None and y.dtype.kind in "iu" and is_near(y):
        low = y.min()
        found = np.flatnonzero(np.bincount((y - low).astype(np.int64))).astype(y.dtype) + low
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


def sorted_unique(y: np.ndarray) -> np.ndarray:
    try:
        return np.unique(y)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise BadInput(
            f"labels of the types {', '.join(kinds)} cannot be sorted: use one type, or learn_many, which takes any"
        ) from None


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
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = list(range(len(labels)))
    return as_array([labels[place] for place in order]), np.array(order, dtype=np.int64)


def as_array(labels: list[Hashable]) -> np.ndarray:
    """An array of labels; NumPy must not turn numbers into text or tuples into rows."""
    texts = sum(isinstance(label, str) for label in labels)
    numbers = sum(isinstance(label, int | float | np.number | np.bool_) for label in labels)
    found = np.array(labels) if len(labels) in (texts, numbers) else as_objects(labels)
    is_rounded = found.dtype.kind == "f" and len(places_beyond(found)) > 0
    return as_objects(labels) if is_rounded else found


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
