"""From named features to columns: by the hashes of their names, or with a column for each name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import SparseRows
from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.derived import CROSS_REASONS, with_products, with_ranges, with_rare
from onlinear.features.names import HashedNames, hash_name
from onlinear.kernels.text.crosses import FINE
from onlinear.kernels.text.hash_to_column import place_by_hash

#: what may be wrong with a row, beside what is wrong with its crosses
INFINITE = max(CROSS_REASONS) + 1
SHARED = "features that share a cell add up to infinity: scale them, or take more bits"
REASONS = CROSS_REASONS | {INFINITE: SHARED}
#: features there may be by default; and in any case: the number of a column has to fit into 31 bits
MOST_FEATURES, MOST_COLUMNS = 1 << 22, 1 << 31
NO_ROWS = SparseRows(np.zeros(1, np.int32), np.empty(0, np.uint32), np.empty(0))


class Naming(NamedTuple):
    """How names become columns: hashed to 2**bits of them, or each with its own (``bits`` None), at most ``cap``.

    ``keep`` remembers hashed names, too. ``crosses`` are pairs of columns or namespaces whose features are multiplied,
    ``frequent`` columns with those of their categories that are not rare (:mod:`onlinear.features.derived`),
    ``ranges`` columns with the edges of the ranges that their numbers lie in.
    """

    bits: int | None = 18
    keep: bool = False
    cap: int = MOST_FEATURES
    crosses: tuple[tuple[str, str], ...] = ()
    frequent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranges: tuple[tuple[str, tuple[float, ...]], ...] = ()

    @property
    def remembers(self) -> bool:
        """Whether names have to be looked at in the order of the rows."""
        return self.bits is None or self.keep

    @property
    def grouped(self) -> bool:
        """Whether features have to say which column or namespace they come from."""
        return bool(self.crosses or self.frequent or self.ranges)


def check_naming(naming: Naming, *, of_table: bool) -> None:
    """Refuse what cannot be meant, whether a user or a model file says so; what belongs to columns, but for a table."""
    if naming.bits is not None:
        HashedNames(naming.bits)  # refuses too many
    check_most("the cap of names", naming.cap)
    if not of_table and (naming.frequent or naming.ranges):
        raise OnlinearError("only columns of a table have rare categories and ranges: leave out frequent and ranges")


def check_most(what: str, most: Any) -> None:
    """Refuse to have more features than columns can be told apart, or less than one."""
    if type(most) is not int or not 1 <= most <= MOST_COLUMNS:
        raise OnlinearError(f"{what} is {most!r:.60}: choose a whole number from 1 to {MOST_COLUMNS:,}")


@dataclass(slots=True)
class NamedRows:
    """Rows of named features, in the order of the text; a name may come more than once."""

    starts: np.ndarray
    hashes: np.ndarray
    values: np.ndarray
    #: the names of a row's features
    names_of: Callable[[int], list[str]]
    #: the text of the record that starts at a place
    text_at: Callable[[int], bytes]
    #: the hash of the column or namespace of each feature, where they are grouped
    groups: np.ndarray | None = None
    #: what stands in a column of a table, counted from 0, in some rows: texts of CSV, cells of Arrow's
    cells_of: Callable[[int, np.ndarray], Any] | None = None

    def part(self, start: int, stop: int) -> NamedRows:
        """The rows from one to another: no entry is copied."""
        starts = self.starts[start : stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        all_ = self.names_of if isinstance(self.names_of, _Behind) else _Behind(self.names_of, 0)
        return NamedRows(
            starts - starts[0],
            self.hashes[entries],
            self.values[entries],
            _Behind(all_.names_of, all_.before + start),
            self.text_at,
            cells_of=self.cells_of and cells_of_others(self.cells_of, np.arange(start, stop)),
        )


@dataclass(slots=True)
class _Behind:
    """The names of rows that others come before. A part of a part is as quick to ask: there is one of these at most."""

    names_of: Callable[[int], list[str]]
    before: int

    def __call__(self, row: int) -> list[str]:
        return self.names_of(self.before + row)


def cells_of_others(cells_of: Callable[[int, np.ndarray], Any], rows: np.ndarray) -> Callable[[int, np.ndarray], Any]:
    """The cells of rows that were others before."""
    return lambda place, which: cells_of(place, rows[which])


def with_columns(block: Block, named: NamedRows, naming: Naming, stop_at_bad: bool) -> Block:
    """The block with its rows; those whose names are to be remembered wait for their turn."""
    wrong = np.full(len(named.starts) - 1, FINE, np.uint8)
    if naming.frequent:
        named = with_rare(named, naming.frequent)
    if naming.ranges:
        named = with_ranges(named, naming.ranges)
    if naming.crosses:
        named, wrong = with_products(named, naming.crosses)
    if naming.remembers:
        block.named = named
    else:
        assert naming.bits is not None
        block.rows, broken = place_names(named.starts, named.hashes, named.values, naming.bits)
        wrong[broken] = INFINITE
    reasons = {row: REASONS[int(wrong[row])] for row in np.flatnonzero(wrong).tolist()}
    return leave_out_rows(block, reasons, named.text_at, stop_at_bad) if reasons else block


def place_names(starts: np.ndarray, hashes: np.ndarray, values: np.ndarray, bits: int) -> tuple[SparseRows, np.ndarray]:
    """Rows sorted by column, and which of them are broken: they have no entries. ``starts`` become the rows' own."""
    entries = len(hashes)
    columns, sums, broken = np.empty(entries, np.uint32), np.empty(entries), np.empty(len(starts) - 1, np.bool_)
    place_by_hash(starts, hashes, values, bits, columns, sums, broken)
    return SparseRows(starts, columns[: starts[-1]], sums[: starts[-1]]), broken


def cells_of(names: Sequence[str], bits: int) -> np.ndarray:
    """The columns of hashed names, as int64.

    >>> cells_of(["size", "colour=red"], bits=18)
    array([187897, 55431])
    """
    hashes = np.array([hash_name(name) for name in names], np.uint64)
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


def leave_out_rows(
    block: Block, reasons: Mapping[int, str], text_at: Callable[[int], bytes], stop_at_bad: bool
) -> Block:
    """The block without the rows that have a reason against them (and no entries); or none from the first one on."""
    origin = block.origin
    bad = [(origin.error(row, why), text_at(int(origin.places[row]))) for row, why in reasons.items()] + block.bad
    bad = sorted(bad, key=lambda pair: pair[0].line)
    left = np.array([row for row in range(len(block)) if row not in reasons], np.intp)
    if stop_at_bad:
        left = left[left < min(reasons)]
        bad = bad[:1]
    return Block(
        rows_left(block.rows, left) if block.named is None else block.rows,
        block.labels[left],
        block.importance[left],
        origin.only(np.isin(np.arange(len(block)), left)),
        bad,
        block.read,
        block.width,
        named=block.named and named_left(block.named, left),
        numbers=None if block.numbers is None else block.numbers[left],
    )


def rows_left(rows: Rows, left: np.ndarray) -> SparseRows:
    """These of the rows: the others have no entries, or come behind them all."""
    assert isinstance(rows, SparseRows)
    starts = starts_left(rows.starts, left)
    return SparseRows(starts, rows.columns[: starts[-1]], rows.values[: starts[-1]])


def named_left(named: NamedRows, left: np.ndarray) -> NamedRows:
    """These of the rows: the others have no entries, or come behind them all."""
    starts = starts_left(named.starts, left)
    hashes, values = named.hashes[: starts[-1]], named.values[: starts[-1]]
    return replace(
        named,
        starts=starts,
        hashes=hashes,
        values=values,
        names_of=lambda row: named.names_of(int(left[row])),
        cells_of=named.cells_of and cells_of_others(named.cells_of, left),
    )


def starts_left(starts: np.ndarray, left: np.ndarray) -> np.ndarray:
    return np.append(starts[left], starts[left[-1] + 1] if len(left) else starts[0])
