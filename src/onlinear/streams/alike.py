"""A model's format for sources of another form: a row of a table means the same in CSV and by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from onlinear.errors import Refused
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.cells import first_record
from onlinear.streams.csvtext import CSVText
from onlinear.streams.held import NAMED_KINDS, NUMBERS, TEXTS, TRUTHS, texts_in
from onlinear.streams.inference import has_quotes, sniffed
from onlinear.streams.pipes import looks_at
from onlinear.streams.tables import label_of, schema_of

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
    return ArrowTable(table.columns, table.target_kind, table.missing, table.naming, table.words, held=held)


def with_delimiter_of(table: CSVText, sources: Sequence[str]) -> CSVText:
    """The format of a model of CSV for files that have the same columns between other delimiters."""
    first = looks_at(sources)[0]
    if has_columns_of(table, first):
        return table
    delimiter = sniffed(first)
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
