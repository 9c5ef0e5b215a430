"""Which classes a classifier knows, and which number each of them has; what a label may be, and arrays of labels.

Labels may be anything hashable; text and numbers are not mixed, for they may mean the same. A class's number (its
*code*) is the order in which its label was first seen, or its place in the sorted order where all classes were known
from the start. To the outside classes are sorted, where they can be.

:class:`Classes` is what models and perceptrons in dual form have in common: it looks at labels before anything is
learned, and lets classes appear while rows are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from numbers import Number
from typing import Any

import numpy as np

from onlinear.data.whole_numbers import FIRST_INEXACT, as_objects, exact_array, places_beyond
from onlinear.errors import BadInput

#: kinds of labels that are not told apart by whoever writes them down
TEXT, NUMBER = "text", "a number"
#: integer labels closer together than this are looked up in a table
NEAR = 1 << 16


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
            check_labels([label], self.labels)
            if not self.open:
                raise self.refusal_of(label, 0)
        return code

    def checked_codes(self, labels: np.ndarray, present: np.ndarray) -> np.ndarray:
        """The same of many labels: all are refused if that of a row that is present cannot be learned."""
        codes = self.codes_of(labels)
        new = np.flatnonzero((codes < 0) & present)
        if new.size and not self.open:
            row = int(new[0])
            raise self.refusal_of(label_at(labels, row), row)
        if new.size:
            check_labels(labels[new].tolist(), self.labels)
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

    def refusal_of(self, label: Any, row: int) -> BadInput:
        """The refusal of a label that is not among the classes."""
        return BadInput(
            f"the label {label!r} of row {row} is not among the classes {self.sorted.tolist()}: "
            "name every class in the first call of partial_fit or learn_many, or name none, and new classes may appear"
        )


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


def classes_in(labels: Sequence[np.ndarray]) -> Classes:
    """The classes of the first rows: two of them are all there are; otherwise more may come."""
    seen = np.unique(np.concatenate(labels))
    refuse_fractions(seen)
    found: list[Hashable] = [whole_to_int(label) for label in seen.tolist()]
    return Classes.closed(as_array(found)) if len(found) == 2 else Classes(open=True)


# ------------------------------------------------------------------ labels


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


def whole_to_int(label: Any) -> Hashable:
    """A whole number as an integer; anything else as it is."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def kind_of_label(label: Hashable) -> str | None:
    """Text or a number; None for anything else, such as a tuple, which nobody takes for either."""
    if isinstance(label, str):
        return TEXT
    return NUMBER if isinstance(label, Number | np.bool_) else None


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN, NaT or pandas' NA, which answers no comparison."""
    return label is None or type(label).__name__ == "NAType" or label != label


# ------------------------------------------------------------------ which are refused


def check_labels(labels: Iterable[Hashable], known: Sequence[Hashable] = ()) -> None:
    """Refuse labels that cannot become classes beside those that are known: missing, or text among numbers."""
    examples = {kind_of_label(label): label for label in reversed(known)}
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
    check_labels(label for label in labels if isinstance(label, Hashable))


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


# ------------------------------------------------------------------ arrays of them


def distinct_labels(y: np.ndarray) -> np.ndarray:
    """The labels, sorted, each once; a quick look first, because mostly there are two.

    >>> distinct_labels(np.array([3, 1, 3, 3])).tolist()
    [1, 3]
    """
    found = two_labels(y)
    if found is None and y.dtype.kind in "iu" and is_near(y):
        found = np.flatnonzero(np.bincount(places_above_lowest(y))).astype(y.dtype) + y.min()
    if y.dtype.kind == "O":
        check_labels(y.tolist())
    labels = sorted_unique(y) if found is None else found
    refuse_fractions(labels)
    return labels


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


def is_near(y: np.ndarray) -> bool:
    return bool(y.size) and int(y.max()) - int(y.min()) < NEAR


def places_above_lowest(y: np.ndarray) -> np.ndarray:
    """How far whole numbers that are near are from the lowest of them, which may be farther than their type goes."""
    wide = y if y.dtype.itemsize == 8 else y.astype(np.int64)
    return (wide - wide.min()).astype(np.int64)


def sorted_unique(y: np.ndarray) -> np.ndarray:
    try:
        return np.unique(y)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise BadInput(
            f"labels of the types {', '.join(kinds)} cannot be sorted: use one type, or learn_many, which takes any"
        ) from None


def sorted_labels(labels: list[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """The labels as an array, sorted where they can be, and the positions they come from."""
    try:
        order = sorted(range(len(labels)), key=labels.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = list(range(len(labels)))
    return as_array([labels[place] for place in order]), np.array(order, dtype=np.int64)


def as_array(labels: list[Hashable]) -> np.ndarray:
    """An array of labels; NumPy must not turn numbers into text or tuples into rows, nor drop a NUL behind a text."""
    labels = list(map(plain_label, labels))
    texts = sum(isinstance(label, str) and not label.endswith("\0") for label in labels)
    numbers = sum(isinstance(label, int | float | np.number | np.bool_) for label in labels)
    found = np.array(labels) if len(labels) in (texts, numbers) else as_objects(labels)
    is_rounded = found.dtype.kind == "f" and len(places_beyond(found)) > 0
    return as_objects(labels) if is_rounded else found


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
