"""A model's format for sources of another form: a row of a table means the same in CSV and by columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onlinear.errors import Refused
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.arrowcells import is_numeric, is_truth, numbers_of, without_views
from onlinear.streams.blanks import BLANKS
from onlinear.streams.csvtext import CSVText
from onlinear.streams.inference import has_quotes, sniffed
from onlinear.streams.pipes import looks_at
from onlinear.streams.tables import Piece, label_of, schema_of


@dataclass(frozen=True, slots=True)
class TableOfTexts(ArrowTable):
    """A table by columns for a model of CSV: its cells mean what they would in a CSV file.

    So blanks around a text do not count, and numbers are no names: nobody knows how they stood there.
    """

    def pieces(self, source: Any) -> Iterator[Piece]:
        named = {column.name for column in self.columns if column.kind in ("category", "text")}
        for piece in ArrowTable.pieces(self, source):
            for name, cells in zip(piece.batch.schema.names, piece.batch.columns, strict=True):
                if name in named and has_numbers(cells):
                    raise Refused(
                        f"{label_of(source)}: column {name!r} holds numbers, which the model knows as the texts that "
                        f"stood in the CSV file, where 007 and 7.0 are not 7: read it as text "
                        f"(pandas: dtype={{{name!r}: str}})"
                    )
            columns = [trimmed(cells) for cells in piece.batch.columns]
            yield piece._replace(batch=type(piece.batch).from_arrays(columns, piece.batch.schema.names))


def has_numbers(cells: Any) -> bool:
    """Whether cells, or the names that a dictionary holds, are numbers; those that are all missing are none."""
    from pyarrow import types

    if types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    return is_numeric(cells.type) and not np.isnan(numbers_of(cells)).all()


def trimmed(cells: Any) -> Any:
    """Texts without the blanks around them; anything else as it is."""
    from pyarrow import DictionaryArray, compute, types

    if types.is_dictionary(cells.type):
        return DictionaryArray.from_arrays(cells.indices, trimmed(cells.dictionary))
    cells = without_views(cells)
    is_text = types.is_string(cells.type) or types.is_large_string(cells.type)
    return compute.utf8_trim(cells, BLANKS) if is_text else cells


def columns_for_csv(table: CSVText, sources: Sequence[Any]) -> ArrowTable:
    """The format of tables by columns for a model that has learned from CSV."""
    schema, label = schema_of(sources[0]), label_of(sources[0])
    if not table.header and schema.names != [str(k) for k in range(1, len(schema.names) + 1)]:
        raise Refused(
            f"{label}: the model has learned from CSV without a header, so it knows columns by their numbers: "
            f"name the columns 1, 2, 3 and so on, up to {len(table.columns)}, as they came there"
        )
    kinds = dict(table.columns)
    for field in schema:
        if kinds.get(field.name) == "category" and is_truth(field.type):
            raise Refused(
                f"{label}: column {field.name!r} holds truth values, which the model knows as the texts that stood in "
                "the CSV file: convert it to those"
            )
    return TableOfTexts(table.columns, table.target_kind, table.missing, table.naming, table.words)


def csv_for_columns(table: ArrowTable, sources: Sequence[str]) -> CSVText:
    """The format of CSV files for a model that has learned from a table by columns."""
    first = looks_at(sources)[0]
    delimiter = sniffed(first)
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
    )
