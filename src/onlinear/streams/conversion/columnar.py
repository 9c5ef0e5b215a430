"""Parquet and Arrow files: numbers and texts of the types that hold them, in groups of rows of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, BinaryIO

import numpy as np

from onlinear.errors import OnlinearError
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.columns import Column
from onlinear.streams.conversion.objects import name_in
from onlinear.streams.stream import Stream
from onlinear.streams.tables import rows_of_a_piece, schema_of


def write_columns(file: BinaryIO, format: str, columns: Sequence[Column], rows: Iterable[list[Any]]) -> None:
    """Write rows of cells."""
    import pyarrow

    types = {
        "number": pyarrow.float64(),
        "int64": pyarrow.int64(),
        "uint64": pyarrow.uint64(),
        "category": pyarrow.string(),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
    with writer_of(file, format, schema) as writer:
        for group in groups(rows, rows_of_a_piece(len(columns))):
            cells = zip(*group, strict=True)
            arrays = [array_of(column, field.type) for column, field in zip(cells, schema, strict=True)]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def array_of(cells: Sequence[Any], kind: Any) -> Any:
    """Cells as an array of one of Arrow's types, which takes whole numbers for doubles up to 2**53 only."""
    import pyarrow

    if kind == pyarrow.float64():
        cells = [None if cell is None else float(cell) for cell in cells]
    return pyarrow.array(cells, kind)


def copy_columns(file: BinaryIO, format: str, stream: Stream, table: ArrowTable) -> None:
    """Write the rows of Arrow's tables, whose columns keep their types."""
    import pyarrow

    found = schema_of(stream.sources[0])
    schema = pyarrow.schema([(field.name, kept_type(field.type)) for field in found])
    with writer_of(file, format, schema) as writer:
        for block in stream.before_recipe():
            assert block.named is not None
            assert block.named.cells_of is not None
            rows = np.arange(len(block))
            cells = [block.named.cells_of(place, rows) for place in range(len(table.columns))]
            arrays = [kept_cells(each, field) for each, field in zip(cells, schema, strict=True)]
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def kept_type(kind: Any) -> Any:
    """The type of a column that is copied: names are texts, as each part of a file may have other codes for them."""
    import pyarrow
    from pyarrow import types

    return pyarrow.string() if types.is_dictionary(kind) or types.is_string_view(kind) else kind


def kept_cells(cells: Any, field: Any) -> Any:
    import pyarrow

    if pyarrow.types.is_dictionary(cells.type):
        return pyarrow.array(map(name_in, cells.to_pylist()), pyarrow.string())
    try:
        return cells.cast(field.type)
    except pyarrow.ArrowException:
        raise OnlinearError(
            f"column {field.name!r} is of the type {cells.type} in one file and of {field.type} in the first: "
            "convert them one by one"
        ) from None


def writer_of(file: BinaryIO, format: str, schema: Any) -> Any:
    from pyarrow import ipc
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(file, schema) if format == "parquet" else ipc.new_file(file, schema)


def groups(rows: Iterable[list[Any]], size: int) -> Iterator[list[list[Any]]]:
    """The rows, so many at a time."""
    rows = iter(rows)
    while group := list(islice(rows, size)):
        yield group
