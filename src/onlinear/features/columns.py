"""The columns of a table: what they are, and which are which of another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

from onlinear.errors import OnlinearError, Refused

#: kinds of columns to learn from
FEATURE_KINDS = ("number", "category", "text")
#: kinds of columns that are no features, and that rows without labels do without
ROLES = ("target", "weight")
#: what a target may be
TARGET_KINDS = ("number", "category")
#: texts of cells that stand for nothing, unless told
MISSING = ("", "?", "NA")
#: the category that a missing cell is, whatever stands in it; so no other cell may be that one
ABSENT = "?"
IS_ABSENT = (
    f"the category {ABSENT!r} of {{name!r}} is how a missing cell is named: rename it, or train with --missing "
    f"'{ABSENT}', too (in Python missing=[...])"
)


def several(given: Any, role: str) -> tuple[Any, ...]:
    """The columns that a user names, by names or numbers: one of them alone is one, and not its letters.

    >>> several("town", "ignore"), several(["town", 3], "ignore")
    (('town',), ('town', 3))
    """
    if isinstance(given, str | Integral):
        return (given,)
    if isinstance(given, bytes) or not hasattr(given, "__iter__"):
        raise Refused(f"{role} is {given!r:.60}: give a list of names")
    return tuple(given)


def by_column(given: Any, role: str) -> dict[str, Any]:
    """What a user says of columns, by their names; nothing, if it is None."""
    if not isinstance(given, Mapping | None):
        raise Refused(f"{role} is {given!r:.60}: give a dict with the names of columns as its keys")
    return dict(given or {})


def numbers_in(given: Any) -> tuple[float, ...]:
    """The numbers that a user gives, or Python's own error: of a text it would take the digits one by one."""
    if isinstance(given, str | bytes):
        raise TypeError
    return tuple(map(float, given))


def missing_words(given: Any) -> tuple[str, ...]:
    """The texts that stand for nothing, as a user says them; one alone is one, and not its letters."""
    words = several(given, "missing")
    for word in words:
        if not isinstance(word, str):
            raise Refused(f"missing has {word!r:.60} among its texts: write what stands in the cells, in quotes")
    return words


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
            raise OnlinearError(f"{source}: has no column {name!r}: {advice}; its columns are {listed(names)}")
    return [kind_now(known.get(name, "ignore"), labelled) for name in names]


def listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def kind_now(kind: str, labelled: bool) -> str:
    """A column's kind; without labels, nobody looks at the target and the weight."""
    return kind if labelled or kind not in ROLES else "ignore"
