"""From named features to columns: by the hashes of their names, or with a column for each name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from onlinear.kernels.placing import place_by_hash
from onlinear.rows import SparseRows
from onlinear.streams.blocks import Block

INFINITE = "features that share a cell add up to infinity: scale them, or take more bits"
NO_ROWS = SparseRows(np.zeros(1, np.int32), np.empty(0, np.uint32), np.empty(0))


class Naming(NamedTuple):
    """How names become columns: hashed to 2**bits of them, or each with its own (``bits`` None), at most ``cap``.

    ``keep`` remembers hashed names, too. ``crosses`` are pairs of columns or namespaces whose features are multiplied.
    """

    bits: int | None = 18
    keep: bool = False
    cap: int = 1 << 22
    crosses: tuple[tuple[str, str], ...] = ()

    @property
    def remembers(self) -> bool:
        """Whether names have to be looked at in the order of the rows."""
        return self.bits is None or self.keep


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


def with_columns(block: Block, named: NamedRows, naming: Naming, stop_at_bad: bool) -> Block:
    """The block with its rows; those whose names are to be remembered wait for their turn."""
    if naming.remembers:
        block.named = named
        return block
    assert naming.bits is not None
    block.rows, broken = placed(named.starts, named.hashes, named.values, naming.bits)
    return without(block, broken, named.text_at, stop_at_bad) if broken.any() else block


def placed(starts: np.ndarray, hashes: np.ndarray, values: np.ndarray, bits: int) -> tuple[SparseRows, np.ndarray]:
    """Rows sorted by column, and which of them are broken: they have no entries. ``starts`` become the rows' own."""
    entries = len(hashes)
    columns, sums, broken = np.empty(entries, np.uint32), np.empty(entries), np.empty(len(starts) - 1, np.bool_)
    place_by_hash()(starts, hashes, values, bits, columns, sums, broken)
    return SparseRows(starts, columns[: starts[-1]], sums[: starts[-1]]), broken


def without(block: Block, broken: np.ndarray, text_at: Callable[[int], bytes], stop_at_bad: bool) -> Block:
    """The block without its broken rows; or with none from the first one on."""
    origin = block.origin
    where = np.flatnonzero(broken)
    bad = [(origin.error(row, INFINITE), text_at(int(origin.places[row]))) for row in where.tolist()] + block.bad
    bad = sorted(bad, key=lambda pair: pair[0].line)
    left = ~broken
    if stop_at_bad:
        left[where[0] :] = False
        bad = bad[:1]
    starts, columns, values = block.rows  # type: ignore[misc]
    stop = int(starts[where[0]]) if stop_at_bad else int(starts[-1])
    rows = SparseRows(np.append(starts[:-1][left], np.int32(stop)), columns[:stop], values[:stop])
    return Block(rows, block.labels[left], block.importance[left], origin.only(left), bad, block.read)
