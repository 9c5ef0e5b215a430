"""Copies of a learner's weights for snapshots, brought up to date at the cost of what has changed.

A snapshot has weights of its own. When nobody holds it any more, the next one takes them over and copies only the
columns that have changed meanwhile. Those are noted in blocks, in a map that the compiled loop of one dict writes to
itself; of a batch they are the columns of its rows.

After ten rows of 60 words a snapshot of 2^22 columns takes less than a hundredth of the time that copying all of them
takes (benchmarks/growth.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from onlinear.data.batch import Rows
from onlinear.data.rows import SparseRows
from onlinear.kernels.learn.changes import BLOCK_BITS, note_columns
from onlinear.learning.reading import read_for_scoring
from onlinear.learning.touched import may_unscale
from onlinear.learning.weights import ScoringWeights

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner

#: columns from which on copying them all is not what a snapshot takes longest for
WIDE = 1 << 12
#: columns that are copied at once: few enough for the cache
COLUMNS_AT_ONCE = 1 << 12
#: copies that are brought up to date: one that is shown, one that a reader still holds, one for the next snapshot
MOST_COPIES = 3


@dataclass
class Changes:
    """The copies of a learner's weights that wait for the next snapshot; None where any weight may have changed."""

    copies: TableCopies | None = None

    def note_rows(self, learner: Learner, rows: Rows) -> None:
        """Weights of these rows are about to change."""
        if isinstance(rows, SparseRows) and can_be_updated(learner):
            note_columns(rows.columns, learner.table.change_map())
        else:  # it cannot be told which weights they will change
            self.copies = None

    def copies_of(self, learner: Learner, outputs: list[int], sign: float) -> TableCopies:
        """Copies of these outputs' weights, for a caller who is alone with the learner."""
        if self.copies is None or not self.copies.serve(learner, outputs, sign):
            self.copies = TableCopies(learner, outputs, sign)
        return self.copies


class TableCopy:
    """Weights ``[column, output]``, and the blocks of columns in which they are no more the learner's."""

    def __init__(self, weights: np.ndarray, blocks: int) -> None:
        self.weights = weights
        self.stale = np.zeros(blocks, dtype=np.uint8)
        self.holder: ref[ScoringWeights] | None = None

    @property
    def is_free(self) -> bool:
        """Whether nobody reads it any more."""
        return self.holder is None or self.holder() is None


class TableCopies:
    """The copies of some outputs of a learner. Only for a caller who is alone with it."""

    def __init__(self, learner: Learner, outputs: list[int], sign: float) -> None:
        self.outputs, self.sign = outputs, sign
        self.copies: list[TableCopy] = []
        self._remember_scale(learner)

    def serve(self, learner: Learner, outputs: list[int], sign: float) -> bool:
        """Whether these are copies of what is asked for, and it is known what has changed since they were made."""
        asked_for = self.outputs == outputs and self.sign == sign
        return asked_for and not may_unscale(learner, learner.examples - self.examples, self.scale, self.pace)

    def _remember_scale(self, learner: Learner) -> None:
        self.examples = learner.examples
        self.scale, self.pace = learner.counters.least_scale_and_pace()

    def take(self, learner: Learner, columns: int) -> TableCopy:
        """A copy that is up to date in so many columns; give it back with :meth:`keep`.

        Who is interrupted here loses a copy, which is made anew then.
        """
        changed = learner.table.change_map()
        for each in self.copies:
            each.stale |= changed
        changed[:] = 0
        self._remember_scale(learner)
        free = next((each for each in self.copies if each.is_free), None)
        if free is None:
            return self._copy_all(learner, columns)
        self.copies.remove(free)
        self._update(learner, free)
        return free

    def _copy_all(self, learner: Learner, columns: int) -> TableCopy:
        """A new copy; memory that would stay zero is not touched."""
        weights = np.zeros((learner.features, len(self.outputs)))
        for start in range(0, columns, COLUMNS_AT_ONCE):
            some = slice(start, min(start + COLUMNS_AT_ONCE, columns))
            found = self._read(learner, some)
            if found.view(np.int64).any():  # to the bit: -0.0 is not nothing
                weights[some] = found
        return TableCopy(weights, len(learner.table.change_map()))

    def _update(self, learner: Learner, copy: TableCopy) -> None:
        blocks = np.flatnonzero(copy.stale)
        columns = ((blocks << BLOCK_BITS)[:, None] + np.arange(1 << BLOCK_BITS)).ravel()
        columns = columns[columns < learner.features]
        copy.weights[columns] = self._read(learner, columns)
        copy.stale[blocks] = 0

    def _read(self, learner: Learner, columns: Any) -> np.ndarray:
        weights = read_for_scoring(learner, columns)[0][:, self.outputs]
        return 0.0 - weights if self.sign < 0.0 else weights  # and no -0.0

    def keep(self, copy: TableCopy, holder: ScoringWeights) -> None:
        """Bring this copy up to date, too, once its holder is gone."""
        copy.holder = ref(holder)
        self.copies = [*self.copies[-MOST_COPIES + 1 :], copy]


def can_be_updated(learner: Learner) -> bool:
    """Whether a row changes no weight but those of its own columns, and there are many.

    Penalties and averages act on all weights at every moment, dense rows and matrices hold all of them.
    """
    is_sparse = learner.table.layout is SparseRows and learner.kind != "matrix"
    return is_sparse and learner.features >= WIDE and not learner.slots.are_lazy
