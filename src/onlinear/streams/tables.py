"""Tables by columns: Parquet and Arrow files, and frames in memory, all as Arrow's record batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from onlinear.errors import BadInput, BadSource
from onlinear.streams.pipes import is_pipe, source_label

#: tables in memory, by the package and the name of their class: asked for without importing any
FRAMES = {("pyarrow", "Table"), ("pyarrow", "RecordBatch"), ("pandas", "DataFrame"), ("polars", "DataFrame")}
#: how Arrow's files begin; its streams have no such mark
ARROW_MARK = b"ARROW1"
#: cells of a batch, and rows of one with few columns
MOST_CELLS, MOST_ROWS = 1 << 20, 1 << 16

#: record batches of some columns, each with the share of the table that is read then
Batches = Callable[[Sequence[str], int], Iterator[tuple[Any, float]]]


class Table(NamedTuple):
    """A table that is open: Arrow's schema, and its rows."""

    schema: Any
    batches: Batches


class Piece(NamedTuple):
    """A record batch whose first row is counted from 1; ``read`` is how much of the file was needed so far."""

    batch: Any
    first_row: int
    read: int


def is_frame(thing: Any) -> bool:
    """Whether it is a table in memory."""
    return frame_kind(thing) is not None


def frame_kind(thing: Any) -> tuple[str, str] | None:
    """The package and the name of the class that makes it a table."""
    kinds = ((kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__)
    return next((kind for kind in kinds if kind in FRAMES), None)


def schema_of(source: Any) -> Any:
    with opened(source) as table:
        return table.schema


def pieces_of(source: Any, names: Sequence[str], rows: int) -> Iterator[Piece]:
    """The rows of a table, so many at once."""
    size = os.path.getsize(source) if isinstance(source, str) else 0
    first = 1
    with opened(source) as table:
        for batch, share in table.batches(names, rows):
            for start in range(0, batch.num_rows, rows):
                yield Piece(batch.slice(start, rows), first + start, int(size * share))
            first += batch.num_rows


def rows_of_a_piece(cells: float) -> int:
    """How many rows with so many cells are read at once."""
    return max(1, min(MOST_ROWS, int(MOST_CELLS / max(1.0, cells))))


@contextmanager
def opened(source: Any) -> Iterator[Table]:
    """A table, as long as the block lasts."""
    if not isinstance(source, str):
        yield frame(source)
    elif is_pipe(source):
        raise BadSource(f"{source_label(source)} cannot be read as Parquet or Arrow, which need a file: save it to one")
    else:
        with blaming(source), open(source, "rb") as file:
            yield parquet(file) if file.read(4) == b"PAR1" else arrow(file)


@contextmanager
def blaming(source: str) -> Iterator[None]:
    """Say of a file that it is damaged if Arrow cannot read it."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        problem = str(error).partition("\n")[0].rstrip(".")
        raise BadSource(
            f"{source}: is damaged, or neither a Parquet nor an Arrow file ({problem}): write it again"
        ) from error


def parquet(file: Any) -> Table:
    from pyarrow.parquet import ParquetFile

    file.seek(0)
    found = ParquetFile(file)

    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        seen, total = 0, max(1, found.metadata.num_rows)
        for batch in found.iter_batches(rows, columns=list(names)):
            seen += batch.num_rows
            yield batch.select(list(names)), seen / total

    return Table(found.schema_arrow, batches)


def arrow(file: Any) -> Table:
    """A file of Arrow's, which Feather is the same as, or a stream."""
    from pyarrow import ipc

    file.seek(0)
    is_file = file.read(len(ARROW_MARK)) == ARROW_MARK
    file.seek(0)
    reader = ipc.open_file(file) if is_file else ipc.open_stream(file)

    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        if not is_file:
            size = os.fstat(file.fileno()).st_size
            yield from ((batch.select(list(names)), file.tell() / size) for batch in reader)
            return
        for k in range(reader.num_record_batches):
            yield reader.get_batch(k).select(list(names)), (k + 1) / reader.num_record_batches

    return Table(reader.schema, batches)


def frame(source: Any) -> Table:
    """A table in memory. Those of pandas and polars are converted a part at a time."""
    match frame_kind(source):
        case "polars", _:
            return polars_frame(source)
        case "pandas", _:
            return pandas_frame(source)
        case _, "Table":
            return Table(
                source.schema, lambda names, rows: whole(source.select(list(names)).to_batches(max_chunksize=rows))
            )
    return Table(source.schema, lambda names, rows: whole([source.select(list(names))]))


def whole(batches: Any) -> Iterator[tuple[Any, float]]:
    return ((batch, 0.0) for batch in batches)


def polars_frame(source: Any) -> Table:
    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        chosen = source.select(names)
        for start in range(0, len(chosen), rows):
            yield from whole(chosen.slice(start, rows).to_arrow().combine_chunks().to_batches())

    return Table(source.head(0).to_arrow().schema, batches)


def pandas_frame(source: Any) -> Table:
    """The types are those of whole columns: a part of one may hold nothing but None."""
    import pyarrow

    if not all(isinstance(name, str) for name in source.columns):
        source = source.set_axis([str(name) for name in source.columns], axis=1)
    try:
        schema = pyarrow.Schema.from_pandas(source, preserve_index=False).remove_metadata()
    except (pyarrow.ArrowException, TypeError) as error:
        raise BadInput(f"the frame has a column that is of no single type ({error}): convert it, or drop it") from None

    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        chosen = pyarrow.schema([schema.field(name) for name in names])
        for start in range(0, len(source), rows):
            part = source.iloc[start : start + rows]
            yield pyarrow.RecordBatch.from_pandas(part, chosen, preserve_index=False), 0.0

    return Table(schema, batches)
