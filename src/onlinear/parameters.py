"""The ranges of parameters, stated beside the fields they belong to.

A field says its range in its annotation, ``rate: Annotated[float, "how far a step goes", POSITIVE]``. Learners, races,
estimators and the command line all look it up there. A field without a range takes anything.
"""

from __future__ import annotations

import math
from functools import cache
from numbers import Real
from typing import Any, NamedTuple, get_type_hints

from onlinear.errors import Refused


class Range(NamedTuple):
    """Numbers between two bounds; ``closed`` says which of them belong to it: "left", "right", "both" or "neither".

    >>> Range(0.0, 1.0, "left").words
    'a number of at least 0 and below 1'
    >>> 1.0 in Range(0.0, 1.0, "left"), math.inf in Range(0.0), math.inf in Range(0.0, closed="right")
    (False, False, True)
    """

    low: float = -math.inf
    high: float = math.inf
    closed: str = "neither"

    def __contains__(self, number: object) -> bool:
        if type(number) is not float and not isinstance(number, Real):
            return False
        try:
            value = float(number)
        except OverflowError:  # a whole number beyond the floats
            return False
        above = self.low <= value if self.closed in ("left", "both") else self.low < value
        below = value <= self.high if self.closed in ("right", "both") else value < self.high
        return above and below  # NaN is neither

    @property
    def words(self) -> str:
        """What to give."""
        finite = "finite " if math.isinf(self.high) and self.closed in ("left", "neither") else ""
        bounds = []
        if math.isfinite(self.low):
            bounds.append(f"{'of at least' if self.closed in ('left', 'both') else 'above'} {self.low:g}")
        if math.isfinite(self.high):
            bounds.append(f"{'up to' if self.closed in ('right', 'both') else 'below'} {self.high:g}")
        return f"a {finite}number {' and '.join(bounds)}".rstrip()


FINITE = Range()
POSITIVE = Range(0.0)
NOT_NEGATIVE = Range(0.0, closed="left")
POSITIVE_OR_INFINITE = Range(0.0, closed="right")
BETWEEN_0_AND_1 = Range(0.0, 1.0)
SHARE = Range(0.0, 1.0, "left")


#: says in an annotation that a field holds a schedule; a number there stands for a constant one
SCHEDULE = object()


@cache
def ranges_of(cls: Any) -> dict[str, Range]:
    """The ranges that the fields of a named tuple state, by field."""
    return {name: note for name, notes in notes_of(cls).items() for note in notes if isinstance(note, Range)}


@cache
def schedules_of(cls: Any) -> frozenset[str]:
    """The fields of a named tuple that hold a schedule."""
    return frozenset(name for name, notes in notes_of(cls).items() if SCHEDULE in notes)


def notes_of(cls: Any) -> dict[str, tuple[Any, ...]]:
    """What the annotations of a class say beside the types."""
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError, AttributeError):  # a user's annotations need not mean anything here
        return {}
    return {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}


def with_checked_numbers(thing: Any, owner: str = "") -> Any:
    """A named tuple with floats in all fields that have a range; a number outside of its range is refused."""
    values = []
    cls: Any = type(thing)
    ranges = ranges_of(cls)
    for name, value in zip(thing._fields, thing, strict=True):
        limits = ranges.get(name)
        if limits is not None and value not in limits:
            what = f"the {name} of {owner}" if owner else name
            raise Refused(f"{what} is {value!r:.40}: give {limits.words}")
        values.append(value if limits is None else float(value))
    if all(old is new for old, new in zip(thing, values, strict=True)):
        return thing
    return cls(*values)
