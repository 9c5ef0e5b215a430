"""Rows in a random order that is the same for the same seed: within buffers, whose size does not depend on the blocks.

Row i of pass p, both counted from 0, has the key s(s(s(seed) + p) + i), where s(x) is what SplitMix64 gives in state x
(:mod:`onlinear.data.splitmix`), and the rows of a buffer come in the order of their keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.splitmix import splitmix64
from onlinear.errors import BadLine
from onlinear.features.blocks import Block, Origin, width_of
from onlinear.features.naming import NamedRows

#: rows of a buffer, and the entries and the bytes of text behind which there is no further row
BUFFER_ROWS, BUFFER_ENTRIES, BUFFER_BYTES = 1 << 18, 1 << 24, 1 << 28
#: rows that are handed on at once
PIECE = 1 << 12


def order_of(seed: int, number: int, first: int, rows: int) -> np.ndarray:
    """The order of a buffer with so many rows, of which the ``first`` is that many rows behind the start of a pass."""
    key = splitmix64(splitmix64(np.array([seed], np.uint64)) + np.uint64(number))
    return np.argsort(splitmix64(key + np.arange(first, first + rows, dtype=np.uint64)), kind="stable")


def shuffled(blocks: Iterator[Block], seed: int, number: int) -> Iterator[Block]:
    """The blocks of a pass in another order; the bad lines of a buffer come before its rows."""
    buffer = Buffer(seed, number)
    for block in blocks:
        while (room := buffer.room_for(block)) < len(block):
            head, block = block.split(room)
            yield from buffer.take(head)
            yield from buffer.emptied()
        yield from buffer.take(block)
    yield from buffer.emptied()


class Buffer:
    """Blocks that are gathered until one row fills it; then their rows come in another order."""

    def __init__(self, seed: int, number: int) -> None:
        self.seed, self.number = seed, number
        self.first = 0  # the number of its first row
        self.parts: list[Block] = []
        self.rows = self.entries = self.text = 0
        self.start = 0  # of the last row in its file

    def room_for(self, block: Block) -> int:
        """How many rows of a block it takes: the one that fills it is the last."""
        rows, entries, text = BUFFER_ROWS - self.rows, BUFFER_ENTRIES - self.entries, BUFFER_BYTES - self.text
        if min(rows, entries, text) <= 0:
            return 0
        with_entries = int(np.searchsorted(starts_of(block)[1:], entries)) + 1
        return min(rows, with_entries, int(np.searchsorted(self.text_up_to(block), text)) + 1)

    def text_up_to(self, block: Block) -> np.ndarray:
        """The bytes of text from the last row to each row of a block: the same wherever files are cut into blocks."""
        starts = block.origin.starts(len(block))
        return starts - (self.start if len(starts) and starts[0] >= self.start else 0)  # else a file begins

    def take(self, block: Block) -> Iterator[Block]:
        """Gather the rows of a block; its bad lines come at once, and nothing is kept of those alone."""
        if block.bad:
            none, _ = block.split(0)
            yield replace(none, bad=block.bad)
        if len(block):
            self.rows, self.entries = self.rows + len(block), self.entries + int(starts_of(block)[-1])
            self.text += int(self.text_up_to(block)[-1])
            self.start = int(block.origin.starts(len(block))[-1])
            self.parts.append(replace(block, bad=[]))

    def emptied(self) -> Iterator[Block]:
        """The rows in their order; there is room for others then."""
        if not self.parts:
            return
        rows, self.parts = GatheredRows(self.parts), []
        order = order_of(self.seed, self.number, self.first, len(rows))
        self.first += len(rows)
        self.rows = self.entries = self.text = 0
        for start in range(0, len(order), PIECE):
            yield rows.taken(order[start : start + PIECE])


def starts_of(block: Block) -> np.ndarray:
    """Where the entries of rows start, and at last where they end."""
    if block.named is not None:
        return block.named.starts
    if isinstance(block.rows, DenseRows):
        return np.arange(len(block) + 1, dtype=np.int64) * block.rows.values.shape[1]
    return np.asarray(block.rows.starts)


@dataclass(slots=True)
class GatheredOrigin:
    """Where rows of several blocks come from; ``places`` are those among all that were gathered."""

    origins: list[Origin]
    ends: np.ndarray  # the number of rows up to the end of each block
    places: np.ndarray

    def find(self, place: int) -> tuple[int, int]:
        """The block of a row, and its place there."""
        part = int(np.searchsorted(self.ends, place, side="right"))
        return part, place - (int(self.ends[part - 1]) if part else 0)

    def error(self, row: int, reason: str) -> BadLine:
        part, own = self.find(int(self.places[row]))
        return self.origins[part].error(own, reason)

    def label_error(self, row: int, reason: str) -> BadLine:
        part, own = self.find(int(self.places[row]))
        return self.origins[part].label_error(own, reason)

    def text(self, row: int) -> bytes:
        return self.text_at(int(self.places[row]))

    def text_at(self, place: int) -> bytes:
        part, own = self.find(place)
        return self.origins[part].text(own)

    def starts(self, rows: int) -> np.ndarray:
        """They are not in the order of any text."""
        return np.zeros(rows, np.int64)

    def behind(self, row: int) -> GatheredOrigin:
        return replace(self, places=self.places[row:])

    def only(self, rows: np.ndarray) -> GatheredOrigin:
        return replace(self, places=self.places[: len(rows)][rows])


class GatheredRows:
    """The rows of several blocks, to be taken in any order."""

    def __init__(self, parts: list[Block]) -> None:
        ends = np.cumsum([len(part) for part in parts])
        origin = GatheredOrigin([part.origin for part in parts], ends, np.arange(int(ends[-1])))
        labels, importance = (
            np.concatenate(each) for each in zip(*((part.labels, part.importance) for part in parts), strict=True)
        )
        named = [part.named for part in parts if part.named is not None]
        rows = parts[0].rows if named else joined([part.rows for part in parts])
        width = max(part.width for part in parts)
        block = Block(rows, labels, importance, origin, [], parts[-1].read, width, None, parts[0].columns)
        numbers = [part.numbers for part in parts if part.numbers is not None]
        block.numbers = np.concatenate(numbers) if numbers else None
        if named:
            starts, hashes = joined_entries([(each.starts, each.hashes) for each in named])
            _, values = joined_entries([(each.starts, each.values) for each in named])

            def names_of(row: int) -> list[str]:
                part, own = origin.find(row)
                return named[part].names_of(own)

            block.named = NamedRows(starts, hashes, values, names_of, origin.text_at)
        self.whole, self.origin = block, origin

    def __len__(self) -> int:
        return len(self.whole)

    def taken(self, order: np.ndarray) -> Block:
        """These rows, in this order."""
        whole = self.whole
        origin = replace(self.origin, places=order)
        block = replace(whole, labels=whole.labels[order], importance=whole.importance[order], origin=origin)
        block.numbers = None if whole.numbers is None else whole.numbers[order]
        if whole.named is not None:
            of_all = whole.named
            starts, entries = entries_of(of_all.starts, order)
            block.named = NamedRows(
                starts,
                of_all.hashes[entries],
                of_all.values[entries],
                lambda row: of_all.names_of(int(order[row])),
                of_all.text_at,
            )
        else:
            block.rows = taken_rows(whole.rows, order)
            block.width = width_of(block.rows) if whole.width else 0
        return block


def joined(rows: list[Rows]) -> Rows:
    """Rows one behind the other."""
    if isinstance(rows[0], DenseRows):
        return DenseRows(np.concatenate([each.values for each in rows]))
    sparse = [each for each in rows if isinstance(each, SparseRows)]
    starts, columns = joined_entries([(each.starts, each.columns) for each in sparse])
    return SparseRows(starts, columns, joined_entries([(each.starts, each.values) for each in sparse])[1])


def joined_entries(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The starts of all rows, and what stands at all entries."""
    counts = np.concatenate([np.diff(starts) for starts, _ in parts])
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(parts[0][0].dtype)
    return starts, np.concatenate([entries[: int(starts[-1])] for starts, entries in parts])


def taken_rows(rows: Rows, order: np.ndarray) -> Rows:
    if isinstance(rows, DenseRows):
        return DenseRows(rows.values[order])
    starts, entries = entries_of(rows.starts, order)
    return SparseRows(starts, rows.columns[entries], rows.values[entries])


def entries_of(starts: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where some rows start that stand one behind the other, and where their entries were."""
    counts = np.diff(starts)[order].astype(np.int64)
    ends = np.cumsum(counts)
    offsets = starts[:-1][order].astype(np.int64) - (ends - counts)
    entries = np.repeat(offsets, counts) + np.arange(int(ends[-1]) if len(ends) else 0)
    return np.concatenate([[0], ends]).astype(starts.dtype), entries
