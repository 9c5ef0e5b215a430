"""Which way rows go from one format to another.

VW's text and svmlight are lines of records: label, importance and named features. CSV, Parquet, Arrow and JSON lines
have objects, of which a table keeps all cells. Records become objects with a key for the label, and objects become
records as a learner reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain, islice
from typing import Any, NamedTuple

from onlinear.errors import OnlinearError, Refused
from onlinear.features.naming import Naming
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.arrow_cells import plain_decimal
from onlinear.streams.columns import Column
from onlinear.streams.conversion.columnar import copy_columns, write_columns
from onlinear.streams.conversion.csvlines import CSVLines
from onlinear.streams.conversion.kinds import (
    Object,
    Rounded,
    SeenCells,
    json_kinds_seen,
    kinds_seen,
    said_of_texts,
    seen_in,
    with_kinds,
)
from onlinear.streams.conversion.lines import svmlight_lines, vw_lines
from onlinear.streams.conversion.naming import NOT_IN_LINES, NOT_IN_VW, Indices, Mended
from onlinear.streams.conversion.numbers import ClassNumbers, plain_number
from onlinear.streams.conversion.objects import (
    cells_in,
    columns_in,
    flatten,
    json_objects,
    labelled_objects,
    table_objects,
    with_features_only,
    with_last,
)
from onlinear.streams.conversion.output import (
    BINARY,
    STANDARD_OUTPUT,
    check_places,
    format_for,
    open_output,
    open_outputs,
    write_lines,
)
from onlinear.streams.conversion.records import LOOK, Record, look_at_labels, records
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import Format, format_of
from onlinear.streams.jsonlines import JSONLines
from onlinear.streams.options import DEFAULTS, ReadOptions
from onlinear.streams.sources import is_pipe, source_label
from onlinear.streams.stream import OnBad, Stream, sources_of
from onlinear.streams.svmlight import Svmlight
from onlinear.streams.vwtext import VWText
from onlinear.system.places import is_in_place

#: formats of records, which have no columns
OF_RECORDS = ("svmlight", "vw")
NAMES = ".names"
LABEL = "label"


class ConvertOptions(NamedTuple):
    """What is to be converted to what."""

    files: Sequence[str]
    output: str
    to: str | None = None
    reading: ReadOptions = DEFAULTS
    force: bool = False


class Direction(NamedTuple):
    """Files that have been looked at, and where they go."""

    stream: Stream
    options: ConvertOptions
    to: str
    rounded: Rounded

    @property
    def source(self) -> Format:
        return self.stream.format


def convert(options: ConvertOptions, on_bad: OnBad | None = None, others: Sequence[str] = ()) -> list[str]:
    """Write the rows of files in another format; returns what is to be said about it.

    The output is none of the files, and none of the ``others`` that are written meanwhile.
    """
    to = format_for(options.output, options.to)
    sources, name = sources_of(options.files, "csv" if options.reading.format == "tsv" else options.reading.format)
    if has_names(name, to) and (options.output == STANDARD_OUTPUT or is_in_place(options.output)):
        raise Refused("svmlight has no names, and they need a file beside the output: name a file to write to")
    check_places(outputs_of(options, name, to), sources, others, options.force)
    way = Direction(Stream(sources, source_format(name, sources, to, options), on_bad), options, to, Rounded())
    if to in OF_RECORDS:
        return write_records(way)
    if to == "jsonl":
        return write_json(way)
    return write_binary(way) if to in BINARY else write_table(way)


def outputs_of(options: ConvertOptions, name: str, to: str) -> list[str]:
    """The files that are written: svmlight has its names beside it, unless it had none before."""
    return [options.output, *([options.output + NAMES] if has_names(name, to) else [])]


def has_names(name: str, to: str) -> bool:
    """Whether names are left over where one format becomes another."""
    return to == "svmlight" and name != "svmlight"


def source_format(name: str, sources: Sequence[str], to: str, options: ConvertOptions) -> Format:
    """The format of the files. What says something only of the output is not asked of them."""
    makes_objects = to not in OF_RECORDS
    if name == "jsonl" and makes_objects and options.reading.target is None and options.reading.weight is None:
        return JSONLines(None, naming=Naming(keep=True))
    reading = replace(
        options.reading,
        delimiter="\t" if options.reading.format == "tsv" else options.reading.delimiter,
        keep_names=name != "svmlight",
    )
    if name in OF_RECORDS and makes_objects:
        reading = replace(reading, target=None, weight=None)
    if name != "svmlight" and to == "svmlight":
        reading = replace(reading, first_index=1)
    found = format_of(name, sources, reading)
    if makes_objects and isinstance(found, CSVText | ArrowTable):
        return with_features_only(found)
    if makes_objects and isinstance(found, JSONLines):
        return replace(found, target=None, weight=None)
    return found


# ------------------------------------------------------------------ lines of records


def write_records(way: Direction) -> list[str]:
    first, rows = look_at_labels(records(way.stream))
    numbers = ClassNumbers(record.label for record in first)
    return write_vw(way, rows, numbers) if way.to == "vw" else write_svmlight(way, rows, numbers)


def write_vw(way: Direction, rows: Iterator[Record], numbers: ClassNumbers) -> list[str]:
    mended = Mended(NOT_IN_VW)
    with open_output(way.options.output) as file:
        lines = vw_lines(rows, numbers, mended, has_spaces=isinstance(way.source, VWText))
        write_lines(file, lines, "surrogateescape")  # bytes that are no UTF-8 stay what they are
    return [*numbers.messages(), *mended.messages()]


def write_svmlight(way: Direction, rows: Iterator[Record], numbers: ClassNumbers) -> list[str]:
    """With the names in a file beside, unless there are only indices."""
    if isinstance(way.source, Svmlight):
        with open_output(way.options.output) as file:
            write_lines(file, svmlight_lines(rows, numbers, int))
        return numbers.messages()
    indices, mended = Indices(way.options.reading.first_index), Mended(NOT_IN_LINES)
    beside = way.options.output + NAMES
    with open_outputs(way.options.output, beside) as (file, names):
        write_lines(file, svmlight_lines(rows, numbers, indices))
        write_lines(names, (f"{mended(name)}\n" for name in indices.known), "surrogateescape")
    said = f"The names of the {len(indices.known):,} indices are the lines of {beside}, from {indices.first_index} on."
    return [*numbers.messages(), said, *mended.messages()]


# ------------------------------------------------------------------ objects


def objects_of(way: Direction) -> Iterator[Object]:
    """The rows of files, as objects."""
    stream, options, source = way.stream, way.options, way.source
    if isinstance(source, CSVText | ArrowTable):
        return table_objects(stream, source)
    if isinstance(source, JSONLines):
        return json_objects(stream, way.rounded)
    return labelled_objects(
        records(stream), label_of(options), None if options.reading.weight is None else str(options.reading.weight)
    )


def label_of(options: ConvertOptions) -> str:
    """What the label of rows without columns is called."""
    return LABEL if options.reading.target is None else str(options.reading.target)


def write_json(way: Direction) -> list[str]:
    rows, said = objects_of(way), list[str]()
    if isinstance(way.source, CSVText):
        seen, rows = look_over(way, way.source)
        columns = json_kinds_seen(way.source.columns, seen)
        rows, said = with_kinds(columns, rows, way.rounded), said_of_texts(way.source.columns, columns)
    with open_output(way.options.output) as file:
        write_lines(file, (json_line(row, way.rounded) for row in rows))
    return said + way.rounded.messages()


def json_line(row: Object, rounded: Rounded) -> str:
    """An object on a line of its own."""
    values = {name: json_value(name, cell, rounded) for name, cell in row.items()}
    return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"


def json_value(name: str, cell: Any, rounded: Rounded) -> Any:
    if isinstance(cell, Decimal):
        written, cell = str(cell), plain_decimal(cell)
        if isinstance(cell, float):
            rounded.add(name, written, cell)
    return plain_number(cell) if isinstance(cell, float) else cell


def write_binary(way: Direction) -> list[str]:
    """A table of Arrow's as it is, or one whose types follow from all its cells."""
    said: list[str] = []
    if isinstance(way.source, ArrowTable):
        with open_output(way.options.output) as file:
            copy_columns(file, way.to, way.stream, way.source)
        return said
    columns: Sequence[Column]
    if isinstance(way.source, CSVText):
        seen, objects = look_over(way, way.source)
        columns = kinds_seen(way.source.columns, seen)
        objects, said = with_kinds(columns, objects, way.rounded), said_of_texts(way.source.columns, columns)
    else:
        columns, objects = columns_for(way), cut_objects(way)
    rows = cells_in(columns, objects, absent_in(way.source))
    with open_output(way.options.output) as file:
        write_columns(file, way.to, columns, rows)
    return said + way.rounded.messages()


def look_over(way: Direction, table: CSVText) -> tuple[dict[str, SeenCells], Iterator[Object]]:
    """What is to be seen of the columns of a text table, and its rows: files are read once more, of a pipe the first
    rows are looked at.
    """
    rows = objects_of(way)
    if way.stream.is_live:
        first = list(islice(rows, LOOK))
        return seen_in(table.columns, first), chain(first, rows)
    return seen_in(table.columns, objects_of(read_once_more(way))), rows


def read_once_more(way: Direction) -> Direction:
    """The same files, whose bad lines are told when they are read again."""
    before = way.stream
    on_bad: OnBad | None = None if before.on_bad is None else lambda line, text: None
    return way._replace(stream=Stream(before.sources, before.format, on_bad))


def absent_in(source: Format) -> float | None:
    """What a row has in a column that it says nothing of."""
    return 0.0 if isinstance(source, Svmlight | VWText) else None


def write_table(way: Direction) -> list[str]:
    columns = columns_for(way)
    rows = cells_in(columns, cut_objects(way), absent_in(way.source))
    with open_output(way.options.output) as file:
        header = not (isinstance(way.source, CSVText) and not way.source.header)
        written = CSVLines(columns, "\t" if way.to == "tsv" else ",", header)
        write_lines(file, written.lines(rows))
    return written.messages() + way.rounded.messages()


def columns_for(way: Direction) -> Sequence[Column]:
    """The columns of a table: those that it had; or all names there are, for which the files are read once more."""
    source = way.source
    if isinstance(source, CSVText | ArrowTable):
        return source.columns
    for file in filter(is_pipe, way.stream.files):
        raise Refused(
            f"{source_label(file)} can be read only once, and {way.to} needs all columns first: convert to jsonl"
        )
    columns = columns_in(cut_objects(read_once_more(way)))
    if not columns:
        raise OnlinearError(f"there is no row, and without one {way.to} has no columns: convert something")
    return columns if isinstance(source, JSONLines) else with_last(columns, label_of(way.options))


def cut_objects(way: Direction) -> Iterator[Object]:
    """Objects as a table can have them: flat, and with names for what svmlight counts."""
    rows = objects_of(way)
    if isinstance(way.source, JSONLines):
        return map(flatten, rows)
    if isinstance(way.source, Svmlight):
        return map(with_names, rows)
    return rows


def with_names(row: Object) -> Object:
    """A row whose indices have a letter before them: a header of numbers would be taken for a row."""
    return {f"x{name}" if name.isdigit() else name: cell for name, cell in row.items()}
