"""What the columns of a typed format are to be: numbers only if these say all that the source says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from onlinear.data.whole_numbers import FIRST_INEXACT, whole_of
from onlinear.errors import OnlinearError
from onlinear.streams.columns import BLANKS, Column
from onlinear.streams.conversion.numbers import keeps_digits, plain_number

#: kinds of columns of whole numbers, with the least and the most they hold
WHOLE_KINDS = {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)}
#: a zero that a number would lose
LEADING_ZERO = re.compile(r"[+-]?0[0-9]")

#: the kind of a column of numbers in JSON
ANY_NUMBER = "any number"

LATE = (
    "row {row:,} has {text!r:.40} in the column {name!r}, which numbers as those of the first rows cannot say: "
    "save the input to a file, which is looked at as a whole, and convert that"
)

Object = dict[str, Any]


class SeenCells:
    """What was seen of a column: whether its cells are numbers, and which type of numbers holds them all."""

    def __init__(self) -> None:
        self.any = self.is_text = self.has_zeros = self.has_points = self.has_fractions = self.is_rounded = False
        self.low = self.high = 0

    def add(self, cell: Any) -> None:
        """Take a number or a text into account; a text of a column of numbers is one as people write it."""
        if cell is None:
            return
        self.any = True
        if isinstance(cell, str):
            self.is_text = True
            return
        number = plain_number(cell)
        self.has_points = self.has_points or isinstance(cell, float)
        if isinstance(number, float):
            self.has_fractions = True
        else:
            self.low, self.high = min(self.low, number), max(self.high, number)
            self.is_rounded = self.is_rounded or float(number) != number

    def add_written(self, text: str) -> None:
        """Take a number into account as people write it."""
        self.has_zeros = self.has_zeros or LEADING_ZERO.match(text) is not None
        self.add(number_in(text))

    @property
    def kind(self) -> str:
        """The kind of the column: of whole numbers, of numbers in double precision, or of texts."""
        if self.is_text or self.has_zeros or not self.any:
            return "category"
        if not self.has_fractions and (self.is_rounded or not self.has_points):
            for kind, (least, most) in WHOLE_KINDS.items():
                if least <= self.low and self.high <= most:
                    return kind
        return "category" if self.is_rounded else "number"


def number_in(text: str) -> int | float:
    """The number that a text says: whole ones to the last digit, with a point only if double precision may not do.

    >>> number_in("12345678901234567890"), number_in("1.50"), number_in("-0"), number_in("2.0")
    (12345678901234567890, 1.5, -0.0, 2.0)
    >>> number_in("9007199254740993.0")
    9007199254740993
    """
    number = whole_of(text)
    is_float = (number == 0 and text.startswith("-")) or ("." in text and abs(number) < FIRST_INEXACT)
    return float(text) if is_float else number


class Rounded:
    """The columns in which numbers have more digits than double precision holds, with the first of these numbers.

    Of JSON lines, whose numbers are read before anyone knows of which key they are, there is just the first of all.
    """

    def __init__(self) -> None:
        self.first: dict[str | None, str] = {}

    def number_in(self, text: str) -> int | float:
        """The number that a text of JSON says; it is noted if that is rounded."""
        number = number_in(text)
        if isinstance(number, float):
            self.add(None, text, number)
        return number

    def add(self, name: str | None, written: str, value: float) -> None:
        """Note a number that is to be written in double precision."""
        if name not in self.first and not keeps_digits(written, value):
            self.first[name] = f"{written:.40}{'...' * (len(written) > 40)} is {value!r}"

    def messages(self) -> list[str]:
        return [
            f"{'Numbers' if name is None else f'The numbers of the column {name!r}'} have more digits than double "
            f"precision holds, and are rounded: {first} now."
            for name, first in self.first.items()
        ]


def seen_in(columns: Sequence[Column], rows: Iterable[Object]) -> dict[str, SeenCells]:
    """What is to be seen of the number columns of a text table."""
    seen = {column.name: SeenCells() for column in columns if column.kind == "number"}
    for row in rows:
        for name, each in seen.items():
            if row[name] is not None:
                each.add_written(row[name].strip(BLANKS))
    return seen


def kinds_seen(columns: Sequence[Column], seen: dict[str, SeenCells]) -> list[Column]:
    """The columns of a text table with the kinds that hold what its cells say."""
    return [Column(name, seen[name].kind if name in seen else kind) for name, kind in columns]


def json_kinds_seen(columns: Sequence[Column], seen: dict[str, SeenCells]) -> list[Column]:
    """The same for JSON, whose numbers have as many digits as they like, but no leading zeros."""
    return [
        Column(name, kind if name not in seen else "category" if seen[name].has_zeros else ANY_NUMBER)
        for name, kind in columns
    ]


def with_kinds(columns: Sequence[Column], rows: Iterable[Object], rounded: Rounded) -> Iterator[Object]:
    """The rows of a text table with numbers in the columns that are of such a kind; what is rounded is noted."""
    numbers = {name: kind for name, kind in columns if kind != "category"}
    for number, row in enumerate(rows, 1):
        for name, kind in numbers.items():
            text = row[name]
            if text is not None:
                value = row[name] = number_of(text.strip(BLANKS), kind)
                if value is None:
                    raise OnlinearError(LATE.format(row=number, text=text, name=name))
                if isinstance(value, float):
                    rounded.add(name, text.strip(BLANKS), value)
        yield row


def number_of(text: str, kind: str) -> float | None:
    """The number in a cell; None if its column cannot hold it."""
    value = number_in(text)
    if LEADING_ZERO.match(text):
        return None
    if kind in WHOLE_KINDS:
        least, most = WHOLE_KINDS[kind]
        value = plain_number(value)
        return value if isinstance(value, int) and least <= value <= most else None
    return value if kind == ANY_NUMBER else float(value) if float(value) == value else None


def said_of_texts(before: Sequence[Column], after: Sequence[Column]) -> list[str]:
    """What to say of columns of numbers that are texts now."""
    pairs = zip(before, after, strict=True)
    names = [name for (name, kind), (_, now) in pairs if kind == "number" and now == "category"]
    return [
        f"The numbers of the column {name!r} are texts now: they have leading zeros, or more digits than numbers hold."
        for name in names
    ]
