"""More features, more outputs, or a choice of them: how a learner's state gets another shape, and is copied.

A table has room for features and outputs that never come: memory that nobody writes to costs nothing.

Whoever calls is alone with the learner, unless it says otherwise.
"""

from __future__ import annotations

import copy
import math
import mmap
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.data.rows import DenseRows, SparseRows
from onlinear.kernels.learn import state as column
from onlinear.kernels.learn.read_weights import read_weights
from onlinear.learning.reading import options_of_each
from onlinear.learning.state import Counters, WeightTable, first_matrices, zeros

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner

#: numbers of a table that are looked at at once for whether anything was written there
LOOKED_AT = 4096
#: bytes of a page that NumPy asks for where it takes much memory
HUGE_PAGE = 1 << 21
#: what the first output counts for all
OF_ALL = [column.EXAMPLES, column.IMPORTANCE, column.RADIUS]
#: features whose cells are compared at once: with many outputs each is in another page, and a processor remembers the
#: places of a few thousand
SOME_FEATURES = 4096


# ------------------------------------------------------------------ features


def grow_table(table: WeightTable, rules: Sequence[Any], features: int) -> None:
    """Make room for more features: their cells start at zero."""
    old, is_dense = table.base, table.layout is DenseRows
    if len(table.matrix):  # first, for it may be refused
        table.matrix = grown_matrices(rules, table.matrix, features)
    table.base = zeros((*old.shape[:2], features) if is_dense else (features, *old.shape[1:]))
    copy_touched(old, table.base[(..., slice(old.shape[2])) if is_dense else slice(old.shape[0])])


def grown_matrices(rules: Sequence[Any], known: np.ndarray, features: int) -> np.ndarray:
    """Matrices for more features, which come before the intercept, the last row and column."""
    matrices = first_matrices(rules, features, len(known))
    kept = np.append(np.arange(known.shape[1] - 1), features)
    matrices[np.ix_(np.arange(len(known)), kept, kept)] = known
    return matrices


def pay_penalties(learner: Learner) -> None:
    """Dense rows leave the last row's L1 penalty for the next; an elastic net's sparse rows expect it paid."""
    for m, option in enumerate(options_of_each(learner)):
        if option.l1 > 0.0 and option.l2 > 0.0:
            slots, counters = learner.table.cells[m], learner.counters.array[m]
            before = slots[0] * counters[column.SCALE]
            paid = read_weights(learner.rules[0], option, slots, counters, learner.kind, averaged=False)
            slots[0] = paid / counters[column.SCALE]
            slots[learner.slots.last_touched] += slots[0] * counters[column.SCALE] - before


def trim(learner: Learner, features: int) -> None:
    """Take away the room behind so many features, where it can be."""
    table = learner.table
    if learner.kind != "matrix" and table.layout is SparseRows and table.features > features:
        table.base = table.cells[:features].copy()
        learner.changes.copies = None
        learner.busy.moved()


# ------------------------------------------------------------------ outputs


def insert_output(table: WeightTable, counters: Counters, source: int, at: int) -> None:
    """Insert before output ``at`` a copy of output ``source``."""
    outputs = table.outputs
    if table.output_room == outputs:
        double_output_room(table)
    for m in range(outputs, at, -1):
        copy_output(table, m - 1, m)
    if source != at:  # else it is there already
        copy_output(table, source + (source > at), at)
    table.bias = insert_copy(table.bias, source, at)
    if len(table.matrix):
        table.matrix = insert_copy(table.matrix, source, at)
    counters.array = insert_copy(counters.array, source, at)
    counters.history = [insert_copy(figures, source, at) for figures in counters.history]


def double_output_room(table: WeightTable) -> None:
    """Room for twice as many outputs: with room for one more each, n of them would cost n copies of the table."""
    old, outputs, is_dense = table.base, table.outputs, table.layout is DenseRows
    table.base = sparse_zeros((2 * outputs, *old.shape[1:]) if is_dense else (len(old), 2 * outputs, old.shape[2]))
    copy_touched(old, table.cells)


def copy_output(table: WeightTable, source: int, to: int) -> None:
    """Let one output's cells be those of another; where they are alike already, no memory is touched."""
    given, taken = table.numbers_of(source).view(np.int64), table.numbers_of(to).view(np.int64)
    for start in range(0, table.features, SOME_FEATURES):
        some = slice(start, start + SOME_FEATURES)
        for slot in range(len(given)):
            unlike = given[slot, some] != taken[slot, some]
            if unlike.any():
                taken[slot, some][unlike] = given[slot, some][unlike]


def clear_output(learner: Learner, m: int) -> None:
    """Set an output back to zero weights; where they are zero, no memory is touched."""
    for numbers in learner.table.numbers_of(m):
        numbers[np.flatnonzero(numbers.view(np.int64))] = 0.0
    learner.table.bias[m] = 0.0
    learner.changes.copies = None


def negate_output(learner: Learner, m: int) -> None:
    """Turn an output into that of the opposite targets."""
    table, slots = learner.table, odd_slots(learner)
    for slot in slots:
        numbers = table.numbers_of(m)[slot]
        numbers[np.flatnonzero(numbers)] *= -1.0  # a zero stays the zero that it is, and its memory untouched
    table.bias[m, slots] *= -1.0
    learner.changes.copies = None


def odd_slots(learner: Learner) -> list[int]:
    """The slots whose numbers are of the other sign where all targets are."""
    slots = learner.slots
    odd = list(getattr(learner.rules[0], "ODD", (True,) + (False,) * (slots.cell - 1)))
    odd += [learner.kind == "uniform"] * (slots.last_touched >= 0) + [True] * (slots.mean >= 0)
    return [slot for slot, is_odd in enumerate(odd) if is_odd]


def insert_copy(array: np.ndarray, source: int, at: int) -> np.ndarray:
    """The rows of an array with one of them once more, before another."""
    order = list(range(len(array)))
    order.insert(at, source)
    return array.take(order, axis=0)


def select_outputs(learner: Learner, outputs: Sequence[int]) -> Learner:
    """A learner of these outputs alone, with copies of all they have; it goes on as they would have. Takes the lock."""
    chosen = list(outputs)
    losses, rules, settings = (
        [each[m] for m in chosen] if len(each) > 1 else each
        for each in (learner.losses, learner.rules, learner.settings)
    )
    with learner.lock, learner.busy:
        part = type(learner)(
            losses, rules, features=0, outputs=len(chosen), settings=settings, compiled=learner.compiled
        )
        select_cells(part.table, learner.table, chosen, learner.slots.shared_with(part.slots))
        select_counters(part.counters, learner.counters, chosen)
    return part


def select_cells(part: WeightTable, table: WeightTable, outputs: list[int], slots: list[int]) -> None:
    taken = table.cells_by_output[np.ix_(outputs, slots)]
    part.layout = table.layout
    part.base = np.ascontiguousarray(taken if table.layout is DenseRows else taken.transpose(2, 0, 1))
    part.bias = table.bias[np.ix_(outputs, slots)]
    part.matrix = table.matrix[outputs] if len(table.matrix) else table.matrix


def select_counters(part: Counters, counters: Counters, outputs: list[int]) -> None:
    part.array = counters.array[outputs]
    part.array[0, OF_ALL] = counters.array[0, OF_ALL]
    if not part.averages:  # the others' figures were kept twice, too
        part.array[:, [column.UNAVERAGED_LOSS, column.UNAVERAGED_MISTAKES]] = 0.0
    part.history = [figures[outputs] for figures in counters.history]
    part.first_pass_examples = counters.first_pass_examples


# ------------------------------------------------------------------ copies


def copy_table(table: WeightTable) -> WeightTable:
    """The same numbers in memory of their own, with no room for more outputs."""
    twin = copy.copy(table)
    twin.base = sparse_zeros(table.cells.shape)
    copy_touched(table.cells, twin.base)
    twin.bias, twin.matrix = table.bias.copy(), table.matrix.copy()
    twin.changed = np.zeros(0, dtype=np.uint8)
    return twin


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


def copy_touched(given: np.ndarray, taken: np.ndarray) -> None:
    """Copy a table to one of the same shape that is all zeros, and leave alone what would stay zeros."""
    if not given.size:
        return
    some = max(LOOKED_AT // (given.size // len(given)), 1)
    for start in range(0, len(given), some):
        cells = given[start : start + some]
        numbers = cells.view(np.int64)  # to the bit: -0.0 is not nothing
        if numbers.any():
            touched = numbers.reshape(len(cells), -1).any(axis=1)
            taken[start : start + some][touched] = cells[touched]
