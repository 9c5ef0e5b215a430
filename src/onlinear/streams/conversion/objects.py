"""Objects: rows as dicts of cells, as tables and JSON lines have them. A cell is a number, a text, or None."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from onlinear.errors import OnlinearError, TooManyNames
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.arrow_cells import plain_decimal
from onlinear.streams.columns import Column
from onlinear.streams.conversion.kinds import WHOLE_KINDS, Object, Rounded, SeenCells
from onlinear.streams.conversion.numbers import keeps_digits, plain_number
from onlinear.streams.conversion.records import Record, look_at_labels, merge_names
from onlinear.streams.csv_text import CSVText
from onlinear.streams.jsonrecords import decoder_of, record_in
from onlinear.streams.stream import Stream
from onlinear.streams.texts import is_missing, text_of

#: most columns of a table that is made of rows without columns
MOST_COLUMNS = 10_000

TAKEN = "there is a feature called {name!r}, as the column of the {role}: name another one with --{option}"
LATE = "row {row:,} is the first with an importance: say --weight NAME, and every row gets one, called NAME"
LISTED = "{key!r} is a list, which a cell cannot be: convert to jsonl, vw or svmlight"


# ------------------------------------------------------------------ tables


def with_features_only(table: CSVText | ArrowTable) -> CSVText | ArrowTable:
    """The table with target and weight as columns like any other: their cells, too, may be missing then.

    Texts keep the blanks around them: they come back as they were.
    """
    kinds = {"target": table.target_kind, "weight": "number"}
    columns = tuple(Column(name, kinds.get(kind, kind)) for name, kind in table.columns)
    return replace(table, columns=columns, trimmed=False)


def table_objects(stream: Stream, table: CSVText | ArrowTable) -> Iterator[Object]:
    """The rows of a table with their cells as they stand there: texts of CSV, values of Arrow's."""
    names = [column.name for column in table.columns]
    for block in stream.before_recipe():
        named, rows = block.named, np.arange(len(block))
        assert named is not None
        assert named.cells_of is not None
        found = [named.cells_of(place, rows) for place in range(len(names))]
        columns = [
            [written(cell, column, table.missing) for cell in cells]
            if isinstance(cells, list)
            else [arrow_cell(cell, column) for cell in cells.to_pylist()]
            for column, cells in zip(table.columns, found, strict=True)
        ]
        for cells in zip(*columns, strict=True):
            yield dict(zip(names, cells, strict=True))


def written(text: str, column: Column, missing: Sequence[str]) -> str | None:
    """A cell of a text: what is missing among numbers is nothing, and among texts only what is empty is."""
    return None if not text or (column.kind == "number" and is_missing(text, missing)) else text


def arrow_cell(cell: Any, column: Column) -> Any:
    """A cell of Arrow's: a number that is NaN is missing, and names are texts, whatever they are made of."""
    if cell is None or cell != cell:
        return None
    return name_in(cell) if column.kind == "category" else cell


def name_in(cell: Any) -> str | None:
    """The text that a name is, whatever it is made of: no two numbers have the same one, and NaN has none.

    >>> name_in("Bern"), name_in(2.0), name_in(Decimal("1.50")), name_in(float("nan")), name_in(float("inf"))
    ('Bern', '2', '1.5', None, 'inf')
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, Decimal):
        number = plain_decimal(cell)
        is_kept = isinstance(number, int) or keeps_digits(str(cell), number)
        return text_of(number) if is_kept else format(cell, "f").rstrip("0")
    return None if cell != cell else text_of(cell)


# ------------------------------------------------------------------ JSON lines


def json_objects(stream: Stream, rounded: Rounded) -> Iterator[Object]:
    """The records of JSON lines, as they are; numbers that double precision does not hold are noted."""
    decoder = decoder_of(rounded.number_in)
    for block in stream.before_recipe():
        for row in range(len(block)):
            yield record_in(block.origin.text(row), decoder)


def flatten(record: Object, prefix: str = "") -> Object:
    """A record without records in it.

    >>> flatten({"a": {"b": 1}, "c": "NA", "d": True})
    {'a.b': 1, 'c': 'NA', 'd': 1}
    """
    found: Object = {}
    for name, value in record.items():
        key = prefix + name
        found |= flatten(value, f"{key}.") if isinstance(value, dict) else {key: json_cell(key, value)}
    return found


def json_cell(key: str, value: Any) -> float | str | None:
    if isinstance(value, list):
        raise OnlinearError(LISTED.format(key=key))
    return int(value) if isinstance(value, bool) else value


# ------------------------------------------------------------------ rows without columns


def labelled_objects(rows: Iterable[Record], target: str, weight: str | None) -> Iterator[Object]:
    """Rows with label and importance first; no importance unless one of the first rows has another than 1, or it is
    to be called ``weight``.
    """
    first, rows = look_at_labels(rows)
    has_weights = weight is not None or any(record.importance != 1.0 for record in first)
    weight = weight or "importance"
    for row, (label, importance, features) in enumerate(rows, 1):
        head: Object = {target: None if label != label else label}
        if has_weights:
            head[weight] = importance
        elif importance != 1.0:
            raise OnlinearError(LATE.format(row=row))
        values = merge_names(features)
        for role, name, option in (("label", target, "target"), ("importance", weight, "weight")):
            if name in head and name in values:
                raise OnlinearError(TAKEN.format(name=name, role=role, option=option))
        yield head | values


# ------------------------------------------------------------------ columns


def columns_in(objects: Iterable[Object]) -> list[Column]:
    """All columns that rows have, in the order in which they come: of numbers, if there is no text and any number."""
    seen: dict[str, SeenCells] = {}
    for row in objects:
        for name, cell in row.items():
            if name not in seen:
                seen[name] = SeenCells()
            seen[name].add(cell)
        if len(seen) > MOST_COLUMNS:
            raise TooManyNames(f"a table would have more than {MOST_COLUMNS:,} columns: convert to jsonl")
    return [Column(name, each.kind) for name, each in seen.items()]


def with_last(columns: Sequence[Column], last: str) -> list[Column]:
    """The columns, one of them behind the others."""
    return sorted(columns, key=lambda column: column.name == last)


def cells_in(columns: Sequence[Column], objects: Iterable[Object], absent: float | None) -> Iterator[list[Any]]:
    """The cells of each row, those that it does not have ``absent``; numbers in columns of texts are texts."""
    for row in objects:
        cells = [row.get(column.name, absent) for column in columns]
        yield [cell_of(column, cell) for column, cell in zip(columns, cells, strict=True)]


def cell_of(column: Column, cell: Any) -> Any:
    """A cell as its column has it: a number among texts is one, and a whole one among such has no point."""
    if isinstance(cell, int | float) and column.kind == "category":
        return text_of(cell)
    return plain_number(cell) if isinstance(cell, float) and column.kind in WHOLE_KINDS else cell
