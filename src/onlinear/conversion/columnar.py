"""Parquet and Arrow files: numbers in double precision, texts as strings, in groups of rows of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

from onlinear.streams.csvtext import Column
from onlinear.streams.tables import rows_of_a_piece


def write_columns(file: BinaryIO, format: str, columns: Sequence[Column], rows: Iterable[list[Any]]) -> None:
    import pyarrow
    from pyarrow import ipc
    from pyarrow.parquet import ParquetWriter

    types = {"number": pyarrow.float64(), "category": pyarrow.string()}
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
    with ParquetWriter(file, schema) if format == "parquet" else ipc.new_file(file, schema) as writer:
        for group in groups(rows, rows_of_a_piece(len(columns))):
            cells = zip(*group, strict=True)
            arrays = [pyarrow.array(column, field.type) for column, field in zip(cells, schema, strict=True)]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def groups(rows: Iterable[list[Any]], size: int) -> Iterator[list[list[Any]]]:
    """The rows, so many at a time."""
    rows = iter(rows)
    while group := list(islice(rows, size)):
        yield group
