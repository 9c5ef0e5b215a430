"""Tables by columns, as CSV by rows: a row means what the dict of its cells means.

Numbers and truth values are numbers, texts and dictionaries are categories, or are cut into words. A cell that is null,
NaN or a missing word is ``town=?``: a hint, never a silent zero.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onlinear.data.whole_numbers import with_exact
from onlinear.errors import BadLine, BadLineKind, BadSource, OnlinearError, Refused
from onlinear.features.blocks import Block, RowNumbers, piece_size
from onlinear.features.naming import NO_ROWS, NamedRows, Naming, with_columns
from onlinear.features.words import Words
from onlinear.streams.arrow_cells import (
    NAMED_KINDS,
    NUMBERS,
    TEXTS,
    TRUTHS,
    ColumnContent,
    Feature,
    category,
    cells_at,
    check_held,
    check_known,
    code_cells,
    cut_column,
    exact_numbers,
    held_in,
    infinite_in,
    is_nothing,
    is_numeric,
    is_text,
    is_truth,
    names_in,
    number,
    numbers_of,
    texts_in,
    uncut,
    without_numbers,
)
from onlinear.streams.columns import (
    ABSENT,
    BLANKS,
    IS_ABSENT,
    MISSING,
    Column,
    check_table,
    join_names,
    kinds_for,
    missing_numbers,
    names_of_kind,
    position_of,
    with_roles,
)
from onlinear.streams.csv_cells import first_record
from onlinear.streams.csv_inference import has_quotes, sniff_delimiter
from onlinear.streams.csv_text import CSVText
from onlinear.streams.options import DEFAULTS, ReadOptions
from onlinear.streams.sources import looks_at
from onlinear.streams.tables import (
    UNNAMED_INDEX,
    Piece,
    index_columns,
    joint_schema,
    label_of,
    pieces_of,
    rows_of_a_piece,
    schema_of,
)
from onlinear.streams.texts import TextEntries, hashes_of, shorten_value, with_grams

INFINITE = "{value} in the column {name!r} is not a finite number: mend it, or make it null"
NO_LABEL = "the label, column {name!r}, is missing: fill it in, or leave the row out"
BAD_LABEL = "the label {value} is not a finite number: mend it, or leave the row out"
BAD_WEIGHT = "the weight {value} is not a finite number of at least 0: mend it, or take another column"


@dataclass(slots=True)
class BatchContent:
    """What a batch holds. ``bad`` is the first column of each row, counted from 1, with which something is wrong."""

    labels: np.ndarray
    importance: np.ndarray
    bad: np.ndarray
    features: list[Feature]

    def blame(self, rows: np.ndarray, column: int) -> None:
        self.bad[rows & (self.bad == 0)] = column + 1


@dataclass(frozen=True, slots=True)
class ArrowTable:
    """The format.

    Unless categories are ``trimmed``, blanks around them count; unless ``valued``, a number among the missing texts
    says nothing of numbers: so older models know them. ``held`` is what columns of categories, texts and classes are
    made of, as far as it is known.
    """

    columns: tuple[Column, ...]
    target_kind: str = "category"
    missing: tuple[str, ...] = MISSING
    naming: Naming = Naming()
    words: Words = Words()
    trimmed: bool = True
    held: tuple[ColumnContent, ...] = ()
    valued: bool = True

    def __post_init__(self) -> None:
        check_table(self.columns, self.naming, self.words, self.target_kind)
        check_known(self.held)

    def pieces(self, source: Any) -> Iterator[Piece]:
        label, schema = label_of(source), schema_of(source)
        if schema.names != [column.name for column in self.columns]:
            raise BadSource(f"{label}: has the columns {join_names(schema.names)}: are all tables of the same kind?")
        check_types(self.columns, self.target_kind, schema, label)
        names = [column.name for column in self.columns if column.kind != "ignore"]
        return self._checked(pieces_of(source, names, piece_size(rows_of_a_piece(len(names)), self._grows)), label)

    def _checked(self, pieces: Iterator[Piece], label: str) -> Iterator[Piece]:
        for piece in pieces:
            check_held(self.held, piece.batch, label)
            yield piece

    @property
    def _grows(self) -> bool:
        """Whether rows may have many more entries than there are columns."""
        return bool(self.naming.crosses) or any(column.kind == "text" for column in self.columns)

    def numbers(self) -> list[str]:
        """The names of the number columns."""
        return names_of_kind(self.columns, "number")

    def adapted(self, sources: Sequence[Any], labelled: bool) -> ArrowTable:
        """The same for other tables, whose columns are found by their names."""
        names, label = schema_of(sources[0]).names, label_of(sources[0])
        kinds = kinds_for(dict(self.columns), names, labelled, label)
        return replace(self, columns=tuple(map(Column, names, kinds)))

    def parse(self, piece: Piece, source: str, stop_at_bad: bool) -> Block:
        """The rows of a batch; after a bad row none, or all but the bad ones."""
        found = self._read(piece)
        rows = np.arange(piece.batch.num_rows)
        broken = np.flatnonzero(found.bad)[: 1 if stop_at_bad else None]
        left = found.bad == 0
        if stop_at_bad and len(broken):
            left[broken[0] :] = False
        bad = [self._bad_row(piece, source, row, int(found.bad[row])) for row in broken.tolist()]

        def text_at(place: int) -> bytes:
            return row_text(piece, place - piece.first_row)

        origin = RowNumbers(source, piece.first_row + rows[left], text_at, self._target_column)
        block = Block(NO_ROWS, found.labels[left], found.importance[left], origin, bad, piece.read)
        named = self._named(found, rows[left], text_at)
        named.cells_of = lambda place, which: cells_at(piece.batch.column(self.columns[place].name), rows[left][which])
        return with_columns(block, named, self.naming, stop_at_bad)

    @property
    def _target_column(self) -> int:
        """Which column has the labels, counted from 1; the first one, if there is none."""
        return next((place for place, column in enumerate(self.columns, 1) if column.kind == "target"), 1)

    def _read(self, piece: Piece) -> BatchContent:
        batch, rows = piece.batch, piece.batch.num_rows
        found = BatchContent(np.full(rows, math.nan), np.ones(rows), np.zeros(rows, np.int64), [])
        for place, column in enumerate(self.columns):
            if column.kind != "ignore":
                self._read_column(found, place, column, batch.column(column.name))
        return found

    def _read_column(self, found: BatchContent, place: int, column: Column, cells: Any) -> None:
        cells = without_numbers(cells, missing_numbers(self.missing) if self.valued else ())
        numbers = numbers_of(cells) if is_numeric(cells.type) else np.full(len(cells), math.nan)
        found.blame(infinite_in(cells), place)
        if column.kind == "weight":
            found.blame(~(numbers >= 0.0), place)
            found.importance = numbers
        elif column.kind == "target" and self.target_kind == "category":
            words, codes = code_cells(cells, self.missing)
            labels = np.array([None if word is None else word.strip(BLANKS) for word in words], object)
            found.labels = labels[codes]
            found.blame(np.array([word is None for word in words])[codes], place)
        elif column.kind == "target":
            found.blame(np.isnan(numbers), place)
            found.labels = with_exact(numbers, lambda rows: exact_numbers(cells.take(rows)))
        elif column.kind == "category":
            words, codes = code_cells(cells, self.missing, self.trimmed)
            found.blame(np.array([word == ABSENT for word in words])[codes], place)
            found.features.append(category(column.name, words, codes))
        elif column.kind == "text":
            found.features.append(uncut(column.name, cells, self.missing))
        else:
            found.features.append(number(column.name, numbers))

    def _named(self, found: BatchContent, rows: np.ndarray, text_at: Callable[[int], bytes]) -> NamedRows:
        starts, hashes, values, groups = self._entries(found.features, rows)

        def names_of(row: int) -> list[str]:
            at = int(rows[row])
            return [name for feature in found.features for name in names_in(feature, at, self.words)]

        return NamedRows(starts, hashes, values, names_of, text_at, groups)

    def _entries(self, features: list[Feature], rows: np.ndarray) -> TextEntries:
        hashes, values = np.empty((len(rows), len(features)), np.uint64), np.empty((len(rows), len(features)))
        for k, feature in enumerate(features):
            hashes[:, k], values[:, k] = hashes_of(feature.names)[feature.codes[rows]], feature.values[rows]
        starts = np.arange(len(rows) + 1, dtype=np.int32) * np.int32(len(features))
        groups = None
        if self.naming.grouped:
            groups = np.tile(hashes_of([feature.column for feature in features]), len(rows))
        cuts = [
            cut_column(feature, rows, np.arange(len(rows)) * len(features) + k, self.words)
            for k, feature in enumerate(features)
            if feature.texts is not None
        ]
        found = TextEntries(starts, hashes.ravel(), values.ravel(), groups)
        return with_grams(found, cuts) if cuts else found

    def _bad_row(self, piece: Piece, source: str, row: int, place: int) -> tuple[BadLine, bytes]:
        column = self.columns[place - 1]
        value = piece.batch.column(column.name)[row].as_py()
        reason = INFINITE
        if column.kind == "weight":
            reason = BAD_WEIGHT
        elif column.kind == "target":
            reason = BAD_LABEL if isinstance(value, float) and math.isinf(value) else NO_LABEL
        elif isinstance(value, str):
            reason = IS_ABSENT
        said = reason.format(value=shorten_value(value), name=column.name)
        kind = BadLineKind.NO_LABEL if reason == NO_LABEL else BadLineKind.UNREADABLE
        return BadLine(source, piece.first_row + row, place, said, kind), row_text(piece, row)


def infer_table(sources: Sequence[Any], options: ReadOptions = DEFAULTS) -> ArrowTable:
    """The format of tables by their schema; no row is looked at."""
    schema = joint_schema(sources)
    if not schema.names:
        raise BadSource(f"{label_of(sources[0])}: is empty: there is no table in it")
    kinds = ["number" if is_numeric(field.type) else "category" for field in schema]
    columns, target_kind = with_roles(schema.names, kinds, options)
    for column, field in zip(columns, schema, strict=True):
        if column.kind == "target" and is_truth(field.type):
            target_kind = "category"
    check_types(columns, target_kind, schema, label_of(sources[0]))
    held = held_in(columns, target_kind, schema)
    return ArrowTable(columns, target_kind, options.missing, options.naming, options.words, held=held)


def beside_index(sources: Sequence[Any], options: ReadOptions) -> ReadOptions:
    """The options for tables of which some columns were the index of a frame of pandas.

    By default none of them is the target; and one that has no name is ignored, unless it is named in a role.
    """
    schema = schema_of(sources[0])
    index = index_columns(schema)
    others = [name for name in schema.names if name not in index]
    if not index or not others:
        return options
    target = others[-1] if options.target is None else options.target
    roles = [target, *([] if options.weight is None else [options.weight]), *options.text, *options.categories]
    named = [schema.names[position_of(schema.names, column)] for column in roles]
    unnamed = [name for name in index if UNNAMED_INDEX.fullmatch(name) and name not in named]
    return replace(options, target=target, ignore=(*options.ignore, *unnamed))


def check_types(columns: Sequence[Column], target_kind: str, schema: Any, source: str) -> None:
    """Refuse columns that are neither numbers nor texts, and texts where numbers have to be."""
    for column, field in zip(columns, schema, strict=True):
        if column.kind != "ignore" and not (is_numeric(field.type) or is_text(field.type)):
            raise OnlinearError(
                f"{source}: column {column.name!r} is of the type {field.type}: make it numbers or texts, or ignore it"
            )
        kind = target_kind if column.kind == "target" else column.kind
        if kind in ("number", "weight") and not is_numeric(field.type) and not is_nothing(field.type):
            raise OnlinearError(
                f"{source}: column {column.name!r} has texts ({field.type}) where numbers should be: convert it"
            )


def row_text(piece: Piece, row: int) -> bytes:
    """A row as an object of JSON."""
    return json.dumps(piece.batch.slice(row, 1).to_pylist()[0], default=str).encode()


#: why a text is no name of what a table by columns holds
AMBIGUOUS = {
    NUMBERS: "the names in column {name!r} are numbers to the model, and 2, 2.0 and 02 are one number but three texts: "
    "give the table as Parquet, which has numbers (onlinear convert), or as a frame (pandas: read_csv)",
    TRUTHS: "the names in column {name!r} are truth values to the model, and CSV has but texts for them, as true or "
    "True: give the table as a frame (pandas: read_csv)",
}


def columns_for_csv(table: CSVText, sources: Sequence[Any]) -> ArrowTable:
    """The format of tables by columns for a model that has learned from CSV: their cells mean what they would there.

    So blanks around a text do not count, and numbers are no names: nobody knows how they stood there.
    """
    schema, label = schema_of(sources[0]), label_of(sources[0])
    if not table.header and schema.names != [str(k) for k in range(1, len(schema.names) + 1)]:
        raise Refused(
            f"{label}: the model has learned from CSV without a header, so it knows columns by their numbers: "
            f"name the columns 1, 2, 3 and so on, up to {len(table.columns)}, as they came there"
        )
    held = texts_in(table.columns, table.target_kind)
    return ArrowTable(
        table.columns, table.target_kind, table.missing, table.naming, table.words, held=held, valued=table.valued
    )


def with_delimiter_of(table: CSVText, sources: Sequence[str]) -> CSVText:
    """The format of a model of CSV for files that have the same columns between other delimiters."""
    first = looks_at(sources)[0]
    if has_columns_of(table, first):
        return table
    delimiter = sniff_delimiter(first)
    other = replace(table, delimiter=delimiter, quoted=has_quotes(first, delimiter))
    return other if has_columns_of(other, first) else table


def has_columns_of(table: CSVText, file: str) -> bool:
    """Whether the first record of a file names some column of a table; or has several cells, if there are no names."""
    names = [name for _, name in first_record(file, table.delimiter, table.quoted).words]
    known = {column.name for column in table.columns}
    return not known.isdisjoint(names) if table.header else len(names) > 1 or len(known) == 1


def csv_for_columns(table: ArrowTable, sources: Sequence[str]) -> CSVText:
    """The format of CSV files for a model that has learned from a table by columns."""
    kinds = dict(table.columns)
    for name, what in table.held:
        if what != TEXTS and kinds.get(name) in NAMED_KINDS:
            raise Refused(f"{sources[0]}: {AMBIGUOUS[what].format(name=name)}")
    first = looks_at(sources)[0]
    delimiter = sniff_delimiter(first)
    quoted = has_quotes(first, delimiter)
    return CSVText(
        table.columns,
        table.target_kind,
        delimiter,
        table.missing,
        table.naming,
        True,
        table.words,
        quoted,
        table.trimmed,
        table.valued,
    )
