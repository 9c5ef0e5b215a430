"""The cells of a table, read as learners read them: each is 64 bits, those of its number or the hash of its text.

So one pass counts, compares and samples all columns alike, and nothing can be read otherwise than by a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from onlinear.errors import BadSource, OnlinearError
from onlinear.features.blocks import Block, Origin, RowNumbers
from onlinear.features.names import hash_name
from onlinear.features.naming import NamedRows, Naming
from onlinear.streams.arrow import ArrowTable, beside_index
from onlinear.streams.arrow_cells import is_numeric, is_text
from onlinear.streams.columns import Column, target_position
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import INFERRED, import_name
from onlinear.streams.options import ReadOptions
from onlinear.streams.sources import expand, is_frame, refuse_pipes
from onlinear.streams.stream import OnBad, Stream
from onlinear.streams.tables import joint_schema, label_of
from onlinear.workflow.profile.contents import format_of_files
from onlinear.workflow.profile.exact import Exact, exact_in
from onlinear.workflow.profile.unread import hashes_of_unread

#: each name is remembered: hashes stay as they are, and wait for a vocabulary
NAMED = Naming(None, True)
#: the bits of a number that is missing
NO_NUMBER = np.array([np.nan]).view(np.uint64)[0]


@dataclass(frozen=True, slots=True)
class TableBlock:
    """Some rows of a table: ``bits[column, row]``, and whose texts they are.

    By their ``keys`` cells differ: these are their bits, but for whole numbers too large for double precision, which
    are ``exact`` in the columns that have some.
    """

    first: int
    bits: np.ndarray
    keys: np.ndarray
    exact: dict[int, Exact]
    origin: Origin
    names_of: Callable[[int], list[str]]
    unread: np.ndarray | None = None  # a hash of each row's cells in the columns that are left out

    def __len__(self) -> int:
        return self.bits.shape[1]


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table that is open: its columns are all numbers and categories, and those that are neither are left out."""

    sources: list[Any]
    format: str
    table: CSVText | ArrowTable
    target: str
    #: types of columns that cannot be learned from, by name
    strange: dict[str, str]
    #: columns that are ignored unless they have a role: what was the index of a frame, without a name
    index: tuple[str, ...] = ()

    @property
    def columns(self) -> list[Column]:
        """The columns whose cells are read, in order."""
        return [column for column in self.table.columns if column.kind != "ignore"]

    @property
    def missing(self) -> np.ndarray:
        """The bits of a missing cell, for each column."""
        bits = [NO_NUMBER if kind == "number" else np.uint64(hash_name(f"{name}=?")) for name, kind in self.columns]
        return np.array(bits, np.uint64)

    def place(self, name: str) -> int:
        """Which of the columns that are read has a name."""
        return [column.name for column in self.columns].index(name)

    def pieces(self, on_bad: OnBad | None = None) -> Iterator[TableBlock]:
        """A pass over all rows. The first bad line ends it with an error, or all are handed to ``on_bad``."""
        first = 0
        unread = hashes_of_unread(self.sources, list(self.strange))
        for block in Stream(self.sources, self.table, on_bad).before_recipe():
            yield self._piece(block, first, unread)
            first += len(block)

    def _piece(self, block: Block, first: int, unread: dict[str, np.ndarray]) -> TableBlock:
        named = block.named
        assert named is not None
        hashes, values = (entries.reshape(len(block), -1).T for entries in (named.hashes, named.values))
        bits = np.ascontiguousarray(hashes)
        for place, column in enumerate(self.columns):
            if column.kind == "number":
                numbers = np.where(hashes[place] == np.uint64(hash_name(column.name)), values[place] + 0.0, np.nan)
                bits[place] = numbers.view(np.uint64)  # adding 0 makes -0 the same as 0
        hashes_left = None
        if unread:
            assert isinstance(block.origin, RowNumbers)
            hashes_left = unread[block.origin.source][block.origin.places - 1]
        exact = self._exact(bits, named)
        keys = bits if not exact else bits.copy()
        for place, found in exact.items():
            keys[place, found.rows] = found.keys()
        return TableBlock(first, bits, keys, exact, block.origin, named.names_of, hashes_left)

    def _exact(self, bits: np.ndarray, named: NamedRows) -> dict[int, Exact]:
        """The whole numbers too large for double precision, in each column that has some."""
        cells_of = named.cells_of
        assert cells_of is not None
        found: dict[int, Exact] = {}
        read = [place for place, column in enumerate(self.table.columns) if column.kind != "ignore"]
        for place, column in enumerate(self.columns):
            if column.kind == "number":
                exact = exact_in(bits[place].view(np.float64), partial(cells_of, read[place]))
                found |= {} if exact is None else {place: exact}
        return found

    def words(self, name: str, on_bad: OnBad | None) -> Iterator[tuple[np.ndarray, Origin]]:
        """The texts of one column, and where each stands; a missing one is a bad line. A pass over the same rows."""
        columns = [Column(other, "target" if other == name else kind) for other, kind in self.table.columns]
        table = replace(self.table, columns=tuple(columns), target_kind="category")
        for block in Stream(self.sources, table, on_bad).before_recipe():
            yield block.labels, block.origin


def open_cells(source: Any, options: ReadOptions) -> OpenTable:
    """A table by its files or as a frame, ready to be read from its beginning as often as one likes."""
    if is_frame(source):
        return arrow_cells([source], "arrow", options)
    if not isinstance(source, str | list | tuple) and not hasattr(source, "__fspath__"):
        raise OnlinearError(f"a {type(source).__name__} has no columns with names: give files, or a frame")
    files = expand(source)
    if not files:
        raise BadSource("there is nothing to read: name at least one file")
    refuse_pipes(files, "a profile, which looks at it more than once")
    name = format_of_files(files, options.format)
    if name != "csv":
        return arrow_cells(list(files), name, options)
    table = import_name(INFERRED[name])(files, replace(options, ignore=(), text=(), weight=None, names="exact"))
    return OpenTable(list(files), name, without_target(table), target_name(table), {})


def arrow_cells(sources: list[Any], name: str, options: ReadOptions) -> OpenTable:
    """A table of Arrow's, less the columns that hold neither numbers nor texts."""
    schema = joint_schema(sources)
    if not schema.names:
        raise BadSource(f"{label_of(sources[0])}: is empty: there is no table in it")
    beside = beside_index(sources, options)
    strange = {field.name: str(field.type) for field in schema if not (is_numeric(field.type) or is_text(field.type))}
    chosen = schema.names[target_position(schema.names, beside.target)]
    if chosen in strange:
        raise OnlinearError(f"the target {chosen!r} is of the type {strange[chosen]}: make it numbers or texts")
    as_cells = replace(options, target=chosen, ignore=tuple(strange), text=(), weight=None, names="exact")
    table = import_name(INFERRED[name])(sources, as_cells)
    index = tuple(column for column in beside.ignore if column not in options.ignore)
    return OpenTable(sources, name, without_target(table), chosen, strange, tuple(map(str, index)))


def without_target(table: CSVText | ArrowTable) -> CSVText | ArrowTable:
    """The table with its target as a column as any other."""
    kinds = [(name, table.target_kind if kind == "target" else kind) for name, kind in table.columns]
    return replace(table, columns=tuple(Column(*pair) for pair in kinds))


def target_name(table: CSVText | ArrowTable) -> str:
    return next(column.name for column in table.columns if column.kind == "target")
