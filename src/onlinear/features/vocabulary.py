"""Vocabulary: the names of features, in the order in which they were first seen, and how often each came.

A name is known by the 64 bits of its hash; its text is read once, when it is new. Two names with the same hash would be
taken for one: among n names the odds of that are n²/2^65, one in two million for the four million that may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.features.blocks import Block
from onlinear.features.names import hash_name
from onlinear.features.naming import SHARED, NamedRows, Naming, cells_of, check_naming, leave_out_rows, place_names
from onlinear.features.state import Arrays, damage_error, pack_texts, unpack_texts, vector
from onlinear.kernels.text import vocabulary as kernel
from onlinear.kernels.text.name_hashes import hash_names

TOO_MANY = (
    "feature {name!r} would be name number {number}, and there may be {cap} features: allow more, or hash the names, "
    "which need no more room"
)
INFINITE = "a feature that comes more than once adds up to infinity: scale it, or leave it out"
#: names there is room for at first
FIRST_NAMES = 1 << 10
#: how many of the worst collisions are told
WORST = 10


class Vocabulary:
    """The names of a stream whose rows come in order.

    With exact names (``naming.bits`` None) a name's column is its place among all names; a row that would make them
    more than ``naming.cap`` is bad. With hashed ones the column is what the hash says, and names are remembered beside:
    when there are ``cap`` of them no more, only ``unnamed`` counts the entries of the others.

    Rows are registered when they are taken: give only those that will be learned (:meth:`Block.split`). Nothing depends
    on how they are cut into blocks.
    """

    def __init__(self, naming: Naming) -> None:
        check_naming(naming, of_table=True)
        self.naming = naming
        self.unnamed = 0
        self._memory = kernel.empty_memory(FIRST_NAMES)
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self._texts)

    # -------------------------------------------------------------- rows

    def take(self, block: Block, stop_at_bad: bool) -> Block:
        """The block with columns, to be learned: new names are registered, but none of a bad row.

        After a bad row there are none, or all but the bad ones.
        """
        assert block.named is not None
        if self.naming.bits is None:
            return self._take_exact(block, block.named, stop_at_bad)
        return self._take_hashed(block, block.named, self.naming.bits, stop_at_bad)

    def look_up(self, block: Block, stop_at_bad: bool) -> Block:
        """The block with columns, to be predicted: exact names that are unknown are left out, and nothing changes."""
        named = block.named
        assert named is not None
        if self.naming.bits is None:
            room, broken = room_for(named), np.zeros(len(block), np.bool_)
            kernel.look_up_names(self._memory.slots, features_of(named), room, broken)
            return self._finished(block, room, named, because(broken, INFINITE), stop_at_bad)
        rows, broken = place_names(named.starts.copy(), named.hashes, named.values, self.naming.bits)
        block = replace(block, rows=rows, named=None)
        return leave_out_rows(block, because(broken, SHARED), named.text_at, stop_at_bad) if broken.any() else block

    def _take_exact(self, block: Block, named: NamedRows, stop_at_bad: bool) -> Block:
        room, firsts = room_for(named), np.empty(len(named.hashes), np.int64)
        progress = np.zeros(kernel.PROGRESS, np.int64)
        reasons: dict[int, str] = {}
        loop, features = kernel.learn_names, features_of(named)
        while (code := loop(self._memory, features, self.naming.cap, room, firsts, progress)) != kernel.DONE:
            row = int(progress[kernel.ROW])
            if code == kernel.FULL:
                self._make_room(named, row)
                continue
            reasons[row] = (
                INFINITE if code == kernel.BROKEN else self._too_many(named, row, int(progress[kernel.ENTRY]))
            )
            room.starts[row + 1 :] = room.starts[row]
            if stop_at_bad:
                break
            progress[kernel.ROW] += 1
        self._remember(named, firsts[: progress[kernel.NEW]])
        return self._finished(block, room, named, reasons, stop_at_bad)

    def _take_hashed(self, block: Block, named: NamedRows, bits: int, stop_at_bad: bool) -> Block:
        rows, broken = place_names(named.starts.copy(), named.hashes, named.values, bits)
        taken = int(broken.argmax()) if stop_at_bad and broken.any() else len(block)
        progress, firsts = np.zeros(kernel.PROGRESS, np.int64), np.empty(len(named.hashes), np.int64)
        loop, features = kernel.count_names, features_of(named)
        while loop(self._memory, features, self.naming.cap, broken[:taken], firsts, progress) == kernel.FULL:
            self._make_room(named, int(progress[kernel.ROW]))
        self._remember(named, firsts[: progress[kernel.NEW]])
        self.unnamed += int(progress[kernel.UNNAMED])
        block = replace(block, rows=rows, named=None)
        return leave_out_rows(block, because(broken, SHARED), named.text_at, stop_at_bad) if broken.any() else block

    def _finished(
        self, block: Block, room: kernel.Placed, named: NamedRows, reasons: dict[int, str], stop_at_bad: bool
    ) -> Block:
        """The block with its rows, less those with a reason."""
        entries = room.starts[-1]
        rows = SparseRows(room.starts, room.columns[:entries], room.values[:entries])
        block = replace(block, rows=rows, named=None, width=len(self))
        return leave_out_rows(block, reasons, named.text_at, stop_at_bad) if reasons else block

    def _too_many(self, named: NamedRows, row: int, entry: int) -> str:
        (name,) = texts_of(named, np.array([entry]))
        return TOO_MANY.format(name=name, number=self.naming.cap + 1, cap=self.naming.cap)

    def _remember(self, named: NamedRows, firsts: np.ndarray) -> None:
        self._texts += texts_of(named, firsts)

    def _make_room(self, named: NamedRows, row: int) -> None:
        """Room for the names of one more row, at least."""
        old, size = self._memory, int(self._memory.size[0])
        more = int(named.starts[row + 1] - named.starts[row])
        self._memory = fill_memory(old.hashes[:size], old.counts[:size], max(2 * len(old.hashes), size + more))

    # -------------------------------------------------------------- names

    def names(self) -> list[str]:
        """All names, in the order in which they were first seen: with exact names, that of the columns."""
        return list(self._texts)

    def counts(self) -> np.ndarray:
        """How often each name came."""
        return self._memory.counts[: len(self)].copy()

    def names_at(self, column: int) -> list[str]:
        """The names of a column, in the order in which they were first seen."""
        if self.naming.bits is None:
            return self._texts[column : column + 1]
        return [self._texts[name] for name in np.flatnonzero(self._cells(self.naming.bits) == column).tolist()]

    def columns_of(self, names: Sequence[str]) -> np.ndarray:
        """The columns of names, as int64; negative for exact names that are unknown."""
        if self.naming.bits is not None:
            return cells_of(names, self.naming.bits)
        hashes = np.array([hash_name(name) for name in names], np.uint64)
        columns = np.empty(len(hashes), np.int64)
        kernel.positions_of(self._memory.slots, hashes, columns)
        return columns

    def collisions(self, most: int = WORST) -> Collisions:
        """How hashed names share their cells; so many of the worst cells."""
        assert self.naming.bits is not None
        return collisions_of(self._cells(self.naming.bits), self._memory.counts[: len(self)], self._texts, most)

    def _cells(self, bits: int) -> np.ndarray:
        return (self._memory.hashes[: len(self)] >> np.uint64(64 - bits)).astype(np.uint32)

    # -------------------------------------------------------------- state

    def arrays(self) -> Arrays:
        """All of it, as plain arrays."""
        arrays: Arrays = {
            "hashes": self._memory.hashes[: len(self)].copy(),
            "counts": self.counts(),
            "unnamed": np.array([self.unnamed], np.int64),
        }
        pack_texts(arrays, "names", self._texts)
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], naming: Naming) -> Vocabulary:
        """The vocabulary that :meth:`arrays` are of. It goes on to the same bits."""
        vocabulary = cls(naming)
        hashes = vector(arrays, "hashes", np.uint64)
        counts = vector(arrays, "counts", np.int64, len(hashes))
        text, ends = vector(arrays, "names/text", np.uint8), vector(arrays, "names/ends", np.int64, len(hashes))
        unnamed = vector(arrays, "unnamed", np.int64, 1)
        if (counts < 1).any() or unnamed[0] < 0:
            raise damage_error("counts")
        texts = unpack_texts(arrays, "names")
        if not naming.crosses:  # a crossed feature's hash is mixed from those of its parts
            check_hashes(hashes, texts, text, ends)
        vocabulary.unnamed, vocabulary._texts = int(unnamed[0]), texts
        vocabulary._memory = fill_memory(hashes, counts, max(FIRST_NAMES, len(hashes)))
        return vocabulary


def because(broken: np.ndarray, reason: str) -> dict[int, str]:
    """One reason for all broken rows."""
    return dict.fromkeys(np.flatnonzero(broken).tolist(), reason)


def room_for(named: NamedRows) -> kernel.Placed:
    entries = len(named.hashes)
    return kernel.Placed(np.zeros(len(named.starts), np.int32), np.empty(entries, np.uint32), np.empty(entries))


def features_of(named: NamedRows) -> kernel.Features:
    return kernel.Features(named.starts, named.hashes, named.values)


def texts_of(named: NamedRows, entries: np.ndarray) -> list[str]:
    """The names of some entries, which are in order."""
    rows = np.searchsorted(named.starts, entries, side="right") - 1
    texts, names, last = [], [], -1
    for row, place in zip(rows.tolist(), (entries - named.starts[rows]).tolist(), strict=True):
        if row != last:
            names, last = named.names_of(row), row
        texts.append(names[place])
    return texts


def fill_memory(hashes: np.ndarray, counts: np.ndarray, names: int) -> kernel.Memory:
    """Memory with these names, and with room for so many."""
    memory = kernel.empty_memory(names)
    memory.size[0] = len(hashes)
    memory.hashes[: len(hashes)], memory.counts[: len(hashes)] = hashes, counts
    if not kernel.enter_all(memory):
        raise damage_error("hashes")
    return memory


def check_hashes(hashes: np.ndarray, texts: list[str], text: np.ndarray, ends: np.ndarray) -> None:
    """Refuse hashes that are not those of their names, given as texts and as the bytes of them all."""
    expected = np.empty(len(hashes), np.uint64)
    hash_names(np.ascontiguousarray(text), ends, expected)
    for name in np.flatnonzero(hashes != expected).tolist():
        if int(hashes[name]) != escaped_hash(texts[name]):
            raise damage_error("hashes")


def escaped_hash(text: str) -> int | None:
    """The hash of the bytes that a text stands for, of which some may be no UTF-8."""
    try:
        content = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None
    found = np.empty(1, np.uint64)
    hash_names(np.frombuffer(content, np.uint8), np.array([len(content)]), found)
    return int(found[0])


class Shared(NamedTuple):
    """A cell with its names, the most frequent one first, and how often each came."""

    cell: int
    names: list[str]
    counts: list[int]


class Collisions(NamedTuple):
    """So many ``names`` in so many ``cells``, ``sharing`` of them with another; the ``worst`` cells first.

    A cell is as bad as its second most frequent name is frequent.
    """

    names: int
    cells: int
    sharing: int
    worst: list[Shared]


def collisions_of(cells: np.ndarray, counts: np.ndarray, names: Sequence[str], most: int) -> Collisions:
    """How names share their cells; the cell, the count and the text of each are given."""
    order = np.argsort(cells, kind="stable")
    first, sizes = groups(cells[order])
    shared = np.repeat(sizes > 1, sizes)
    order = order[shared]
    order = order[np.lexsort((-counts[order], cells[order]))]
    starts, widths = groups(cells[order])
    seconds = counts[order[starts + 1]] if len(starts) else counts[:0]
    worst = []
    for group in np.argsort(-seconds, kind="stable")[:most].tolist():
        members = order[starts[group] : starts[group] + widths[group]]
        worst.append(
            Shared(int(cells[members[0]]), [names[name] for name in members.tolist()], counts[members].tolist())
        )
    return Collisions(len(cells), len(first), len(order), worst)


def groups(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each run of the same number starts, and how long it is."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(ordered)]
    return starts, np.diff(np.append(starts, len(ordered)))


def expected_names(occupied: int, bits: int) -> float:
    """About how many names there are if their hashes occupy so many of 2**bits cells; infinite if they fill them all.

    m cells of which n are taken: -m ln(1 - n/m), since a cell stays empty with the chance (1 - 1/m)^names.

    >>> round(expected_names(200_000, bits=18))
    377340
    """
    cells = 1 << bits
    return -cells * math.log1p(-occupied / cells) if occupied < cells else math.inf
