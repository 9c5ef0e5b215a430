"""The target of a table: is it a class or a number, and can it be learned?"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from onlinear.errors import BadInput, Refused
from onlinear.learning.tasks import MOST_IN_TABLE, check_task_name, most_in_table, task_of_numbers
from onlinear.streams.columns import BLANKS
from onlinear.workflow.profile.gathering import GatheredColumn
from onlinear.workflow.profile.misread import misread

#: rows that each of more classes than a table's numbers may be has to have on average: fewer are names of rows
ROWS_OF_A_LEARNED_CLASS = 1.5

#: a class, as a stream has it: text or number
Label = str | float


@dataclass(frozen=True, slots=True)
class Target:
    """The column to learn.

    ``classes`` are the labels with their numbers of rows, most frequent first, and ``codes`` say for each row which of
    them it has, -1 where it is missing; both None for regression. ``numbers`` are those of a regression, NaN where one
    is missing, else None.
    """

    name: str
    kind: str
    task: str
    missing: int
    classes: list[tuple[Label, int]] | None
    codes: np.ndarray | None
    numbers: np.ndarray | None
    notes: list[str]


def target_of(column: GatheredColumn, bits: np.ndarray, keys: np.ndarray, task: str | None) -> Target:
    """The target, from what was seen of it and all its cells; one that cannot be learned is an error."""
    check_task_name(task)
    if task == "regression" and column.kind != "number":
        raise Refused(f"the target {column.name!r} holds texts, so there is no regression: choose another column")
    check_target(column)
    rows, notes = len(bits), []
    chosen = task or task_of(column)
    if column.absent:
        notes.append(missing_note(column, rows))
    if chosen == "regression":
        return Target(column.name, column.kind, chosen, column.absent, None, None, bits.view(np.float64), notes)
    check_classes(column)
    if task is None and column.kind == "number" and len(column.counts) > 2:
        notes.append(
            f"The target holds {len(column.counts)} different whole numbers, so they are taken for classes: say that "
            "the task is regression if they are amounts."
        )
    classes, codes = classes_of(column, keys)
    notes += alike_notes(classes) + single_notes(classes)
    return Target(column.name, column.kind, chosen, column.absent, classes, codes, None, notes)


def classes_of(column: GatheredColumn, keys: np.ndarray) -> tuple[list[tuple[Label, int]], np.ndarray]:
    """The classes with their numbers of rows, and which of them each row has."""
    values = np.array([value for value, _ in column.counts.most_common(len(column.counts))], np.uint64)
    places: dict[Label, int] = {}
    place_of = [places.setdefault(label_of(column, value), len(places)) for value in values.tolist()]
    codes = codes_of(keys, values)
    codes[codes >= 0] = np.array(place_of, np.int32)[codes[codes >= 0]]  # blanks within quotes make no other class
    counts = np.bincount(codes[codes >= 0], minlength=len(places))
    return list(zip(places, counts.tolist(), strict=True)), codes


def task_of(column: GatheredColumn) -> str:
    """Classification for texts, and for a few whole numbers that come again."""
    if column.kind != "number":
        return "classification"
    different = len(column.counts) if column.counts.complete else column.present
    return task_of_numbers(different, most_in_table(column.present), whole=column.whole)


def check_target(column: GatheredColumn) -> None:
    name, known = column.name, column.counts
    if not column.present:
        raise BadInput(f"the target {name!r} is missing in all rows: choose another column, or fill it in")
    if known.complete and len(known) == 1:
        (value,) = known.values.tolist()
        raise BadInput(
            f"the target {name!r} is {label_of(column, value)} in all rows, so there is nothing to learn: "
            "choose another column, or add rows of another kind"
        )


def check_classes(column: GatheredColumn) -> None:
    """Refuse classes that do not come again, or hardly ever."""
    different = len(column.counts)
    unique = not column.counts.complete or different == column.present
    if unique or (different > MOST_IN_TABLE and column.present < ROWS_OF_A_LEARNED_CLASS * different):
        note = misread(column.name, column.texts.values())
        raise BadInput(
            f"the target {column.name!r} has another value in {'each' if unique else 'nearly each'} row, so no class "
            "can be learned: choose another column"
            + (", or say that the task is regression" if column.kind == "number" else "")
            + (f". {note}" if note else "")
        )


def label_of(column: GatheredColumn, value: int) -> Label:
    """A class as a stream has it."""
    if column.kind == "number":
        return column.wholes.get(value, float(np.uint64(value).view(np.float64)))
    return column.texts[value].strip(BLANKS)


def codes_of(bits: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The place of each cell among some values, -1 for those that are not among them."""
    order = np.argsort(values)
    places = np.searchsorted(values, bits, sorter=order).clip(max=len(values) - 1)
    codes = order[places]
    return np.where(values[codes] == bits, codes, -1).astype(np.int32)


def missing_note(column: GatheredColumn, rows: int) -> str:
    have = "1 row has" if column.absent == 1 else f"{column.absent:,} of {rows:,} rows have"
    return f"{have} no target: nothing can be learned from them, and they are left out."


def alike_notes(classes: list[tuple[Label, int]]) -> list[str]:
    """What to say of classes that differ in capitals alone, or in what nobody sees.

    >>> alike_notes([("yes", 7), ("no", 5), ("Yes", 1)])
    ['The classes yes and Yes differ in capitals only: write them alike if they mean the same.']
    """
    labels = [str(label) for label, _ in classes]
    said = [
        f"The classes {one!a} and {other!a} look the same, but differ in blanks or signs that are not seen: "
        "write them alike if they mean the same."
        for one, other in same_by(visible, labels)
    ]
    return said + [
        f"The classes {one} and {other} differ in capitals only: write them alike if they mean the same."
        for one, other in same_by(str.casefold, labels)
    ]


def same_by(key: Callable[[str], str], labels: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of different labels of the same key: each with the first one that has it."""
    first: dict[str, str] = {}
    pairs = [(first.setdefault(key(label), label), label) for label in labels]
    return [(one, other) for one, other in pairs if one != other]


def visible(label: str) -> str:
    """What is seen of a label: blanks of all kinds look alike, at its ends they are not seen, and some signs never are.

    >>> visible("\\u200bNew\\u00a0York ") == "New York"
    True
    """
    return " ".join("".join(sign for sign in label if unicodedata.category(sign) != "Cf").split())


def single_notes(classes: list[tuple[Label, int]]) -> list[str]:
    """What to say of classes with a single row."""
    single = [str(label) for label, count in classes if count == 1]
    if not single:
        return []
    shown = ", ".join(single[:5]) + (f" and {len(single) - 5} more" if len(single) > 5 else "")
    if len(single) == 1:
        return [f"The class {shown} has a single row: it cannot be both learned and tested; add rows of it."]
    return [
        f"{len(single)} classes have a single row each ({shown}): they cannot be both learned and tested; "
        "add rows of them, or join them to others."
    ]
