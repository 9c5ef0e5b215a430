"""The columns of a table: their names and kinds, which are which of another table, which one a user means; and which
of their cells stand for nothing.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from onlinear.data.whole_numbers import whole_of
from onlinear.errors import OnlinearError
from onlinear.features.derived import check_crosses, check_frequent, check_ranges
from onlinear.features.naming import Naming, check_naming
from onlinear.features.words import Words, check_words

if TYPE_CHECKING:
    from onlinear.streams.options import ReadOptions

#: kinds of columns to learn from
FEATURE_KINDS = ("number", "category", "text")
#: kinds of columns that are no features, and that rows without labels do without
ROLES = ("target", "weight")
#: all kinds of columns
COLUMN_KINDS = (*FEATURE_KINDS, *ROLES, "ignore")
#: what a target may be
TARGET_KINDS = ("number", "category")
#: texts of cells that stand for nothing by default
MISSING = ("", "?", "NA")
#: the category that a missing cell is, whatever stands in it; so no other cell may be that one
ABSENT = "?"
IS_ABSENT = (
    f"the category {ABSENT!r} of {{name!r}} is how a missing cell is named: rename it, or train with --missing "
    f"'{ABSENT}', too (in Python missing=[...])"
)


def check_target_kind(kind: str) -> None:
    if kind not in TARGET_KINDS:
        raise OnlinearError(f"the target's kind is {kind!r:.60}: choose one of {', '.join(TARGET_KINDS)}")


def kinds_for(known: Mapping[str, str], names: Sequence[str], labelled: bool, source: str) -> list[str]:
    """The kinds of columns of these names, of which those known are among; others are ignored.

    >>> kinds_for({"age": "number", "wage": "target"}, ["id", "age"], labelled=False, source="new.csv")
    ['ignore', 'number']
    """
    for name, kind in known.items():
        if name not in names and kind_now(kind, labelled) != "ignore":
            advice = "add it, with empty cells if nothing is known of it" if kind not in ROLES else "add it"
            raise OnlinearError(f"{source}: has no column {name!r}: {advice}; its columns are {join_names(names)}")
    return [kind_now(known.get(name, "ignore"), labelled) for name in names]


def join_names(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def kind_now(kind: str, labelled: bool) -> str:
    """A column's kind; without labels, nobody looks at the target and the weight."""
    return kind if labelled or kind not in ROLES else "ignore"


class Column(NamedTuple):
    """A column: kind is "number", "category", "text", "target", "weight" or "ignore"."""

    name: str
    kind: str


def check_columns(columns: tuple[Column, ...]) -> None:
    if not columns:
        raise OnlinearError("there is no column: a table has at least one")
    counts = Counter(column.name for column in columns)
    for column in columns:
        if column.kind not in COLUMN_KINDS:
            known = ", ".join(COLUMN_KINDS)
            raise OnlinearError(f"column {column.name!r} has kind {column.kind!r}: choose one of {known}")
        if counts[column.name] > 1:
            raise OnlinearError(f"there are two columns {column.name!r}: give each a name of its own")
    for kind in ("target", "weight"):
        if sum(column.kind == kind for column in columns) > 1:
            raise OnlinearError(f"there are two columns of kind {kind!r}: a row has one")


def names_of_kind(columns: tuple[Column, ...], *kinds: str) -> list[str]:
    """The names of the columns of some kinds, in order."""
    return [column.name for column in columns if column.kind in kinds]


def check_table(columns: tuple[Column, ...], naming: Naming, words: Words, target_kind: str) -> None:
    """Refuse columns, or what is to be made of them, that do not go together."""
    check_columns(columns)
    check_crosses(naming.crosses, names_of_kind(columns, *FEATURE_KINDS))
    check_frequent(naming.frequent, names_of_kind(columns, "category"))
    check_ranges(naming.ranges, names_of_kind(columns, "number"))
    check_naming(naming, of_table=True)
    check_words(words)
    check_target_kind(target_kind)


#: a column by its number
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def with_roles(names: Sequence[str], kinds: Sequence[str], options: ReadOptions) -> tuple[tuple[Column, ...], str]:
    """The columns, some of which have another kind than their cells say, and the kind of the target's cells."""
    kinds = list(kinds)
    for column in options.categories:
        kinds[position_of(names, column)] = "category"
    chosen = target_position(names, options.target)
    target_kind = kinds[chosen]
    kinds[chosen] = "target"
    others = [(column, "text") for column in options.text] + [(column, "ignore") for column in options.ignore]
    others += [] if options.weight is None else [(options.weight, "weight")]
    for column, kind in others:
        place = position_of(names, column)
        if kinds[place] in ("target", "weight", "text") and kinds[place] != kind:
            raise OnlinearError(f"column {names[place]!r} cannot be {kinds[place]} and {kind} at once: choose one")
        kinds[place] = kind
    return tuple(map(Column, names, kinds)), target_kind


def position_of(names: Sequence[str], wanted: str | int) -> int:
    """Which column is meant: the one of that name, also if the name is a number; else by its number.

    >>> position_of(["age", "town"], "town"), position_of(["age", "town"], 1), position_of(["age", "town"], -1)
    (1, 0, 1)
    >>> position_of(["0", "1", "2"], 2), position_of(["2019", "2020"], 2020)
    (2, 1)
    """
    text = str(wanted)
    if text in names:
        return names.index(text)
    counted = list(names) == [str(k) for k in range(1, len(names) + 1)]
    hint = "; if the first record has the names, say so (--header)" if counted else ""
    if not WHOLE_NUMBER.fullmatch(text):
        from difflib import get_close_matches

        near = get_close_matches(text, names, 1) or get_close_matches(text.lower(), names, 1)
        meant = f"did you mean {near[0]!r}? The" if near else "the"
        raise OnlinearError(f"there is no column {wanted!r}: {meant} columns are {join_names(names)}{hint}")
    number = int(text)
    if number == 0 or abs(number) > len(names):
        raise OnlinearError(f"there is no column {number}: count from 1 to {len(names)}, or from the end with -1{hint}")
    return number - 1 if number > 0 else len(names) + number


def target_position(names: Sequence[str], target: str | int | None) -> int:
    """Which column is the target: by default the last one."""
    return len(names) - 1 if target is None else position_of(names, target)


#: blanks before a cell, and those around one; a carriage return before one is a letter
BEFORE, BLANKS = " \t", " \t\r"


def bare(text: str) -> str:
    """A category without the blanks around it, as a cell of CSV is read.

    >>> bare(" Bern\\t\\r")
    'Bern'
    """
    return text.lstrip(BEFORE).rstrip(BLANKS)


#: a number as a stream reads it
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def is_number(text: str) -> bool:
    """Whether a stream reads a number in a text, which has to be finite.

    >>> is_number(" 1e5 "), is_number("1_0"), is_number("inf"), is_number("1e999")
    (True, False, False, False)
    """
    text = text.strip(BLANKS)
    return NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


@lru_cache
def missing_numbers(missing: tuple[str, ...]) -> tuple[float, ...]:
    """The numbers among texts that stand for nothing, whole ones to the last digit: so is each of them that is equal.

    >>> missing_numbers(("", "NA", "-9", "1.5e3"))
    (-9, 1500.0)
    """
    return tuple(whole_of(text) for text in missing if is_number(text))
