"""The columns of a table: what they are, and which are which of another table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onlinear.errors import OnlinearError

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
