"""Room for compiled loops to work in: tables that begin with a cache line, and scratch for the row at hand."""

from __future__ import annotations

import math
import mmap
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import WHOLE, DenseRows
from onlinear.kernels.compiler.hints import LINE
from onlinear.kernels.learn.changes import BLOCK_BITS
from onlinear.kernels.learn.state import COUNTERS, SCRATCH

#: numbers of a table that are looked at at once for whether anything was written there
LOOKED_AT = 4096
#: bytes of a page that NumPy asks for where it takes much memory
HUGE_PAGE = 1 << 21


def zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros that begin with a cache line: cells of 32 bytes then lie in one. Those never touched take no memory."""
    size = math.prod(shape)
    numbers = np.zeros(size + LINE // 8)
    start = -numbers.__array_interface__["data"][0] % LINE // numbers.itemsize
    return numbers[start : start + size].reshape(shape)


def sparse_zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros of which few may ever be written: the first number in a page takes 4 KB of memory.

    NumPy asks for pages of 2 MB, of which a few hundred features, scattered by their hash, take them all.
    """
    size = 8 * math.prod(shape)
    if size < HUGE_PAGE or not hasattr(mmap, "MAP_PRIVATE"):
        return zeros(shape)
    try:
        memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)  # a fork has a copy of its own
    except OSError:
        return zeros(shape)  # which says that there is no memory, if there is none
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        with suppress(OSError):  # a system without huge pages
            memory.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(memory).reshape(shape)


def blocks_of(columns: int) -> int:
    """How many blocks so many columns have, in the map of those that have changed."""
    return (columns >> BLOCK_BITS) + 1


def copy_touched(given: np.ndarray, taken: np.ndarray) -> None:
    """Copy a table to one of the same shape that is all zeros, and leave alone what would stay zeros.

    A table has room for features and outputs that never come: memory that nobody writes to costs nothing.
    """
    if not given.size:
        return
    some = max(LOOKED_AT // (given.size // len(given)), 1)
    for start in range(0, len(given), some):
        cells = given[start : start + some]
        numbers = cells.view(np.int64)  # to the bit: -0.0 is not nothing
        if numbers.any():
            touched = numbers.reshape(len(cells), -1).any(axis=1)
            taken[start : start + some][touched] = cells[touched]


def copy_table(table: np.ndarray) -> np.ndarray:
    """A copy of a table that touches no more memory than the table does."""
    copy = sparse_zeros(table.shape)
    copy_touched(table, copy)
    return copy


def writeable(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy of one that must not be written to, or whose memory is a file's.

    joblib hands large arrays to its workers as read-only maps of a file, and so does ``joblib.load(mmap_mode="r")``;
    compiled code that has nothing but an address would crash on them.
    """
    return array if type(array) is np.ndarray and array.flags.writeable else np.array(array)


class Scratch(NamedTuple):
    """What a rule works with while it learns a row: see :class:`onlinear.kernels.learn.state.State`."""

    gathered: np.ndarray
    scratch: np.ndarray

    def serves(self, rows: Rows) -> bool:
        """Whether the longest row has room: of sparse ones the cells, too, and what fills them up."""
        if isinstance(rows, DenseRows):
            return self.scratch.shape[1] >= longest_of(rows)
        return self.gathered.shape[2] >= longest_of(rows) + WHOLE

    def wider(self, rows: Rows) -> Scratch:
        """Scratch that serves."""
        outputs, slots, _ = self.gathered.shape
        if isinstance(rows, DenseRows):  # whose cells lie side by side in the table
            return Scratch(self.gathered, zeros((SCRATCH, longest_of(rows))))
        return scratch_of(outputs, slots, longest_of(rows))


def scratch_of(outputs: int, slots: int, longest: int = 0) -> Scratch:
    """Room for sparse rows of up to so many entries.

    How far apart the slots of a cell lie is no power of two: a cache would put them all in the same place.
    """
    room = (longest | 63) + 1 + WHOLE
    return Scratch(zeros((outputs, slots, room)), zeros((SCRATCH, max(room, outputs * (slots + COUNTERS)))))


def longest_of(rows: Rows) -> int:
    """How many entries a row has at most."""
    if isinstance(rows, DenseRows):
        return int(rows.values.shape[1])
    if len(rows.starts) == 2:
        return int(rows.starts[1] - rows.starts[0])
    return int((rows.starts[1:] - rows.starts[:-1]).max(initial=0))
