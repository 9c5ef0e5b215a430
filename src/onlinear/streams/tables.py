"""Tables by columns: Parquet and Arrow files, and frames in memory, all as Arrow's record batches."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from onlinear.errors import BadInput, BadSource
from onlinear.streams.arrow_cells import is_nothing, is_readable
from onlinear.streams.sources import frame_kind, is_frame, is_pipe, source_label

NOT_UTF_8 = "{}: column {!r} has a text that is not UTF-8 in rows {} to {}: convert it, or ignore the column"
NO_DECIMALS = "{}: column {!r} is of the type {}, which has too many places for decimals: make it double, or ignore it"
DAMAGED_CELLS = "{}: column {!r} is damaged in rows {} to {} ({}): write it again"
#: types of polars that Arrow has not
TOO_WIDE = ("Int128", "UInt128")
#: what Arrow and Python raise when a column of pandas becomes none of Arrow's
UNFIT = (TypeError, OverflowError, UnicodeEncodeError)
#: how Arrow's files begin; its streams have no such mark
ARROW_MARK = b"ARROW1"
#: what pandas calls an index without a name, as a column of a file
UNNAMED_INDEX = re.compile(r"__index_level_[0-9]+__")
#: cells of a batch, and rows of one with few columns
MOST_CELLS, MOST_ROWS = 1 << 20, 1 << 16
#: record batches of some columns, each with the share of the table that is read then
Batches = Callable[[Sequence[str], int], Iterator[tuple[Any, float]]]


class BatchReader(NamedTuple):
    """A table that is open: Arrow's schema, and its rows."""

    schema: Any
    batches: Batches


class Piece(NamedTuple):
    """A record batch whose first row is counted from 1; ``read`` is how much of the file was needed so far."""

    batch: Any
    first_row: int
    read: int


def names_in(frame: Any) -> list[Any]:
    """The names of the columns of a table in memory."""
    kind = frame_kind(frame)
    return list(frame.schema.names if kind is not None and kind[0] == "pyarrow" else frame.columns)


def columns_in(thing: Any) -> list[Any] | None:
    """The names of the columns of whatever has some; of an array None."""
    return names_in(thing) if is_frame(thing) or hasattr(thing, "columns") else None


def without_batches(thing: Any) -> Any:
    """A record batch of Arrow's as a table, whose names scikit-learn sees; anything else as it is."""
    if frame_kind(thing) != ("pyarrow", "RecordBatch"):
        return thing
    import pyarrow

    return pyarrow.Table.from_batches([thing])


def schema_of(source: Any) -> Any:
    with open_table(source) as table:
        return table.schema


def joint_schema(sources: Sequence[Any]) -> Any:
    """The schema of tables that are read one behind the other: that of the first, but for columns that have no type.

    Of a column of nulls nobody knows what it would hold, unless a later table says so.
    """
    schema = schema_of(sources[0])
    for source in sources[1:]:
        unknown = [place for place, field in enumerate(schema) if is_nothing(field.type)]
        if not unknown:
            break
        later = schema_of(source)
        if later.names == schema.names:  # if not, it is refused once it is read
            for place in unknown:
                schema = schema.set(place, later.field(place))
    return schema


def index_columns(schema: Any) -> list[str]:
    """The columns of a table that were the index of a frame: those which pandas has noted, or has named itself."""
    try:
        said = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):
        said = None
    noted = said.get("index_columns") if isinstance(said, dict) else None
    known = [name for name in noted if isinstance(name, str)] if isinstance(noted, list) else []
    return [name for name in schema.names if name in known or UNNAMED_INDEX.fullmatch(name)]


def pieces_of(source: Any, names: Sequence[str], rows: int) -> Iterator[Piece]:
    """The rows of a table, so many at once; what a file or a frame says of itself is checked before it is believed."""
    size = os.path.getsize(source) if isinstance(source, str) else 0
    first = 1
    with open_table(source) as table:
        for batch, share in table.batches(names, rows):
            check_batch(batch, label_of(source), first)
            for start in range(0, batch.num_rows, rows):
                yield Piece(batch.slice(start, rows), first + start, int(size * share))
            first += batch.num_rows


def check_batch(batch: Any, source: str, first_row: int) -> None:
    """Refuse cells that are not where their column says: offsets, codes of a dictionary, and texts that are none.

    And decimals that are none.

    Arrow looks at nothing when it reads, and compiled code would follow an offset out of its buffer.
    """
    import pyarrow

    last_row = first_row + batch.num_rows - 1
    for name, cells in zip(batch.schema.names, batch.columns, strict=True):
        kind = cells.type.value_type if pyarrow.types.is_dictionary(cells.type) else cells.type
        if pyarrow.types.is_decimal(kind) and not is_readable(kind):
            raise BadSource(NO_DECIMALS.format(source, name, kind))
        try:
            cells.validate(full=True)
        except (pyarrow.ArrowException, OverflowError) as error:
            if has_foreign_letters(cells):
                raise BadSource(NOT_UTF_8.format(source, name, first_row, last_row)) from None
            raise BadSource(DAMAGED_CELLS.format(source, name, first_row, last_row, first_line(error))) from None


def has_foreign_letters(cells: Any) -> bool:
    """Whether texts, or those of a dictionary, are damaged only in that they are not UTF-8: as bytes they are well."""
    import pyarrow

    texts = cells.dictionary if pyarrow.types.is_dictionary(cells.type) else cells
    types = {pyarrow.string(): pyarrow.binary(), pyarrow.large_string(): pyarrow.large_binary()}
    types[pyarrow.string_view()] = pyarrow.binary_view()
    return texts.type in types and not is_valid(texts) and is_valid(texts.view(types[texts.type]))


def is_valid(cells: Any) -> bool:
    """Whether cells are where their column says."""
    import pyarrow

    try:
        cells.validate(full=True)
    except (pyarrow.ArrowException, OverflowError):
        return False
    return True


def first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")


def label_of(source: Any) -> str:
    """What errors call a source: a file by its name, a frame by its class."""
    return source if isinstance(source, str) else type(source).__name__


def rows_of_a_piece(cells: float) -> int:
    """How many rows with so many cells are read at once."""
    return max(1, min(MOST_ROWS, int(MOST_CELLS / max(1.0, cells))))


@contextmanager
def open_table(source: Any) -> Iterator[BatchReader]:
    """A table, as long as the block lasts."""
    if not isinstance(source, str):
        yield with_names(lambda: frame(source), label_of(source))
    elif is_pipe(source):
        raise BadSource(f"{source_label(source)} cannot be read as Parquet or Arrow, which need a file: save it to one")
    else:
        with blame_file(source), open(source, "rb") as file:
            reader = parquet if file.read(4) == b"PAR1" else arrow
            yield with_names(lambda: reader(file), source)


def with_names(open_table: Callable[[], BatchReader], source: str) -> BatchReader:
    """The table, if the names of its columns can be read."""
    try:
        table = open_table()
        list(table.schema.names)  # decodes them
    except UnicodeDecodeError as error:
        raise BadSource(f"{source}: the name {error.object!r:.60} of a column is not UTF-8: rename it") from None
    return table


@contextmanager
def blame_file(source: str) -> Iterator[None]:
    """Say of a file that it is damaged if Arrow cannot read it."""
    import pyarrow

    try:
        yield
    except MemoryError:
        raise BadSource(
            f"{source}: is damaged, or has batches that memory has no room for: write it again, in smaller ones"
        ) from None
    except (pyarrow.ArrowException, OSError) as error:
        raise BadSource(
            f"{source}: is damaged, or neither a Parquet nor an Arrow file ({first_line(error)}): write it again"
        ) from error


def parquet(file: Any) -> BatchReader:
    from pyarrow.parquet import ParquetFile

    file.seek(0)
    found = ParquetFile(file)

    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        seen, total = 0, max(1, found.metadata.num_rows)
        for batch in found.iter_batches(rows, columns=list(names)):
            seen += batch.num_rows
            yield batch.select(list(names)), seen / total

    return BatchReader(found.schema_arrow, batches)


def arrow(file: Any) -> BatchReader:
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

    return BatchReader(reader.schema, batches)


def frame(source: Any) -> BatchReader:
    """A table in memory. Those of pandas and polars are converted a part at a time."""
    match frame_kind(source):
        case "polars", _:
            return polars_frame(source)
        case "pandas", _:
            return pandas_frame(source)
        case _, "Table":
            return BatchReader(
                source.schema,
                lambda names, rows: without_share(source.select(list(names)).to_batches(max_chunksize=rows)),
            )
    return BatchReader(source.schema, lambda names, rows: without_share([source.select(list(names))]))


def without_share(batches: Any) -> Iterator[tuple[Any, float]]:
    return ((batch, 0.0) for batch in batches)


def rows_alone(count: int) -> Any:
    """A record batch of so many rows, and no columns."""
    import pyarrow

    return pyarrow.record_batch({"": pyarrow.nulls(count)}).select([])


def polars_frame(source: Any) -> BatchReader:
    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        chosen = source.select(names) if names else source  # without columns it would have no rows
        for start in range(0, len(chosen), rows):
            part = chosen.slice(start, rows)
            yield from without_share(
                part.to_arrow().combine_chunks().to_batches() if names else [rows_alone(len(part))]
            )

    check_widths(source, "Arrow")
    return BatchReader(source.head(0).to_arrow().schema, batches)


def check_widths(source: Any, taker: str) -> None:
    """Refuse columns of polars with whole numbers that whoever takes them has not, within lists, too."""
    for name, kind in source.schema.items():
        if is_too_wide(kind):
            raise BadInput(
                f"column {name!r} is of the type {kind}, which {taker} has not: cast it to Int64, or to String if its "
                "numbers are larger, or drop it"
            )


def is_too_wide(kind: Any) -> bool:
    """Whether a type of polars is one of 128 bits, or is made of some."""
    inner = [getattr(kind, "inner", None), *(field.dtype for field in getattr(kind, "fields", ()))]
    return str(kind) in TOO_WIDE or any(is_too_wide(each) for each in inner if each is not None)


def pandas_frame(source: Any) -> BatchReader:
    """The types are those of whole columns: a part of one may hold nothing but None."""
    import pyarrow

    names = [str(name) for name in source.columns]
    check_different(names)
    if not all(isinstance(name, str) for name in source.columns):
        source = source.set_axis(names, axis=1)
    with blame_column(source):
        schema = pyarrow.Schema.from_pandas(source, preserve_index=False).remove_metadata()

    def batches(names: Sequence[str], rows: int) -> Iterator[tuple[Any, float]]:
        chosen = pyarrow.schema([schema.field(name) for name in names])
        for start in range(0, len(source), rows):
            part = source.iloc[start : start + rows]
            if not names:  # of which Arrow would make a table without rows
                yield rows_alone(len(part)), 0.0
                continue
            with blame_column(part):  # a type may promise what its cells do not hold
                table = pyarrow.Table.from_pandas(part, chosen, preserve_index=False).combine_chunks()
            yield from without_share(table.to_batches())  # columns of texts may have any chunks

    return BatchReader(schema, batches)


@contextmanager
def blame_column(source: Any) -> Iterator[None]:
    """Say which column of pandas cannot become one of Arrow's."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, *UNFIT) as error:
        raise unfit_column(source) or unfit_error(error) from None


def unfit_column(source: Any) -> BadInput | None:
    """What is wrong with the first column of pandas that cannot become one of Arrow's."""
    import pyarrow

    for name in source.columns:
        try:
            name.encode()
            pyarrow.Array.from_pandas(source[name])
        except (pyarrow.ArrowException, *UNFIT) as error:
            dtype = source[name].dtype
            if isinstance(error, pyarrow.ArrowException | TypeError) and str(dtype) != "object":
                return BadInput(f"the frame's column {name!r} is of the type {dtype}: {advice_on(dtype)}, or drop it")
            return unfit_error(error, f"column {name!r}")
    return None


def advice_on(dtype: Any) -> str:
    return "make it dense (sparse.to_dense)" if hasattr(dtype, "fill_value") else "make it float64 or texts"


def unfit_error(error: Exception, column: str = "a column") -> BadInput:
    match error:
        case OverflowError():
            problem = (
                "with a whole number of more than 63 bits: make it uint64 if none is larger than that, or else texts"
            )
        case UnicodeEncodeError():
            problem = "with half of a surrogate pair, which is no character, in a text or its name: mend it"
        case _:
            problem = f"that is of no single type ({first_line(error)}): convert it"
    return BadInput(f"the frame has {column} {problem}, or drop it")


def check_different(names: Sequence[str]) -> None:
    """Refuse columns of a frame that have the same name, as 1 and "1" have."""
    for name, count in Counter(names).items():
        if count > 1:
            raise BadInput(f"the frame has {count} columns {name!r}: give each a name of its own")
