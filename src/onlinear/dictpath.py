"""DictPath: from a dict to a learner and back, one example at a time.

The fast way is one compiled call. A new name, an odd value or a platform without the fast way takes the Python way
through :mod:`onlinear.features.names`, which fills the same scratch row.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.batch import Batch
from onlinear.errors import Diverged
from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels import walk
from onlinear.kernels.bank import leaves
from onlinear.kernels.one import (
    BIAS,
    BITS,
    CANNOT,
    CAP,
    CATEGORIES,
    CLASSES,
    CLOCK_AT,
    CODE,
    COLUMNS,
    FEATURES,
    FIRST,
    FRESH,
    KEPT,
    MARK,
    OUTPUTS,
    PLACE,
    POSITIONS,
    ROOM,
    SCORES,
    SLOTS,
    SMALL,
    TABLE,
    VALUES,
    WALK,
    Shape,
    answer_one_loop,
    learn_one_loop,
)
from onlinear.kernels.state import SCORE
from onlinear.learner import NO_ROWS, Learner
from onlinear.rows import Labels, Numbers, SparseRows

#: entries a row may have before the scratch arrays grow
FIRST_ROOM = 256


class Scratch:
    """The arrays behind one ``place``: whoever holds this keeps them, and the learner's, alive."""

    def __init__(self, learner: Learner, names: ExactNames | HashedNames, first: int, classes: int, room: int) -> None:
        self.table, self.bias, self.clock = learner.table, learner.bias, learner.clock
        self.columns = np.zeros(room, dtype=np.uint32)
        self.values = np.zeros(room)
        self.small = np.zeros(8, dtype=np.int64)
        self.fresh = np.zeros(2 * room, dtype=np.int64)  # new names, and their values
        outputs, slots = learner.bias.shape
        self.kept = np.zeros((room + 1) * outputs * slots + learner.clock.size)
        self.scores = np.zeros(outputs)
        self.place = np.zeros(PLACE, dtype=np.int64)
        at: dict[int, np.ndarray] = {TABLE: self.table, BIAS: self.bias, CLOCK_AT: self.clock, COLUMNS: self.columns}
        at |= {VALUES: self.values, SMALL: self.small, KEPT: self.kept, SCORES: self.scores, FRESH: self.fresh}
        for entry, array in at.items():
            self.place[entry] = address_of(array)
        sizes = {FEATURES: learner.features, OUTPUTS: outputs, SLOTS: slots, ROOM: room}
        for entry, size in sizes.items():
            self.place[entry] = size
        self.place[FIRST], self.place[CLASSES] = first, classes
        self.names = names
        if isinstance(names, ExactNames):
            self.place[POSITIONS], self.place[CATEGORIES] = id(names.positions), id(names.categories)
            self.place[CAP] = np.iinfo(np.int64).max if names.cap is None else names.cap
        else:
            self.place[BITS] = names.bits
        self.place_at = address_of(self.place)

    def fill(self, columns: np.ndarray, values: np.ndarray) -> int:
        self.columns[: len(columns)] = columns
        self.values[: len(values)] = values
        return len(values)


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class DictPath:
    """Learns and answers dict rows with one learner and its names. Call :meth:`set_classes` before anything else."""

    def __init__(self, learner: Learner, names: ExactNames | HashedNames, *, labels: bool) -> None:
        self.learner = learner
        self.names = names
        self.labels = labels
        self.first = self.classes = 0
        self.targets: dict[Any, float] = {}  # for whoever turns labels into targets
        self.for_answers: Scratch | None = None
        #: ``learn(x, target, importance)``: learn from one row; answer the first output's score of before. The other
        #: outputs' are in :meth:`last_scores`
        self.learn: Callable[[Any, float, float], float]
        self.learn_loop: Any = None
        self.table: np.ndarray | None = None  # the learner's, when it was last settled
        self.room = FIRST_ROOM
        loss, rule = learner.losses[0], learner.rules[0]
        inner = type(rule[0]) if rule and isinstance(rule[0], tuple) else None
        shape = Shape(type(loss), type(rule), inner, isinstance(names, HashedNames), labels)
        self.fast = walk.AVAILABLE and learner.compiled and learner.kind != "matrix" and is_simple(rule)
        if self.fast:
            self.learn_loop, self.answer_loop = learn_one_loop(shape), answer_one_loop(shape)

    def settle(self) -> None:
        """Look again where the learner's arrays are, which move when it grows. The caller holds the lock."""
        learner = self.learner
        learner.face_sparse()
        if learner.features < self.names.size:
            learner.grow_unlocked(max(self.names.size, 2 * learner.features))
        option = learner.options(NO_ROWS[SparseRows])[0]
        self.numbers = np.array(
            [*leaves(learner.losses[0]), *leaves(learner.rules[0]), *leaves(option)], dtype=np.float64
        )
        self.numbers_at = address_of(self.numbers)
        self.for_learning = self._scratch()
        self.for_answers = None  # made when the first answer is asked for
        self.place_at = self.for_learning.place_at
        self.table = learner.table if self.fast else None
        self.learn = self._learner_of_rows()

    def _scratch(self) -> Scratch:
        return Scratch(self.learner, self.names, self.first, self.classes, self.room)

    def set_classes(self, first: int, classes: int) -> None:
        """Output m is class ``first + m``; ``classes`` outputs answer: see :class:`onlinear.rows.Labels`."""
        self.first, self.classes = first, classes
        if self.table is None or self.table is not self.learner.table:
            self.settle()
            return
        for scratch in (self.for_learning, self.for_answers):
            if scratch is not None:
                scratch.place[FIRST], scratch.place[CLASSES] = first, classes

    # -------------------------------------------------------------- learning

    def _learner_of_rows(self) -> Callable[[Any, float, float], float]:
        """The function behind :attr:`learn`: a closure, because looking up attributes would take a tenth of it."""
        learner, lock, table = self.learner, self.learner.lock, self.table
        loop, place_at, numbers_at, closely = self.learn_loop, self.place_at, self.numbers_at, self._learn_closely

        def learn(x: Any, target: float, importance: float) -> float:
            with lock:
                if learner.table is table:
                    score: float = loop(place_at, numbers_at, id(x), WALK, target, importance)
                    if score == score:
                        learner.version += 1
                        return score
                return closely(x, target, importance)

        return learn

    def _learn_closely(self, x: Any, target: float, importance: float) -> float:
        """There is more to a row than its score: it was not learned yet, or a power of two was reached."""
        learner = self.learner
        if not self.fast:
            return self._learn_slowly(x, target, importance)
        if learner.table is not self.table or self.names.size > learner.features:  # it has moved, or must grow
            self.settle()
            score: float = self.learn_loop(self.place_at, self.numbers_at, id(x), WALK, target, importance)
        else:
            score = math.nan
        if score != score and self.for_learning.small[CODE] not in (MARK, CANNOT):
            score = self._learn_read(x, target, importance)
        if score != score:
            if self.for_learning.small[CODE] == CANNOT:
                raise Diverged(learner.diverged_message(learner.examples + 1, f"the row {x!r:.200}"))
            learner.keep_mark()
            score = float(learner.clock[SCORE, 0])
        learner.version += 1
        return score

    def _learn_read(self, x: Any, target: float, importance: float) -> float:
        """The Python way to read a row, and the compiled way to learn it."""
        columns, values = self.names.register(x)
        self._make_room(len(values))
        given = self.for_learning.fill(columns, values)
        return self.learn_loop(self.place_at, self.numbers_at, 0, given, target, importance)

    def _make_room(self, entries: int) -> None:
        if self.names.size > self.learner.features or entries > self.room:
            self.room = max(self.room, 2 * entries)
            self.settle()

    def _learn_slowly(self, x: Any, target: float, importance: float) -> float:
        columns, values = self.names.register(x)
        self._make_room(len(values))
        batch = self.batch(np.array([0, len(values)]), columns, values, [target], [importance])
        self.learner.learn_unlocked(batch)
        return float(self.learner.clock[SCORE, 0])

    def batch(self, starts: Any, columns: Any, values: Any, targets: Any, importance: Any) -> Batch:
        """Rows that were read from dicts, as a batch."""
        rows = SparseRows(np.asarray(starts, dtype=np.int64), columns, values)
        if self.labels:
            codes = np.asarray(targets, dtype=np.int64)
            wanted: Labels | Numbers = Labels(codes, self.first, self.classes)
        else:
            wanted = Numbers(np.asarray(targets, dtype=np.float64))
        return Batch(rows, wanted, np.asarray(importance, dtype=np.float64))

    def last_scores(self) -> np.ndarray:
        """All outputs' scores of the row last learned, from before it was."""
        return self.learner.clock[SCORE].copy()

    # -------------------------------------------------------------- answers

    def answer(self, x: Any) -> float:
        """The first output's score. Changes nothing."""
        scratch = self.for_answers
        if scratch is None or self.learner.table is not scratch.table:
            scratch = self._answering()
        if scratch is not None:
            score: float = self.answer_loop(scratch.place_at, self.numbers_at, id(x))
            if score == score:
                return score
        return float(self._scores_read(x)[0])

    def scores(self, x: Any) -> np.ndarray:
        """The scores of all outputs. Changes nothing."""
        scratch = self._answering()
        if scratch is not None:
            score = self.answer_loop(scratch.place_at, self.numbers_at, id(x))
            if score == score:
                return scratch.scores.copy()
        return self._scores_read(x)

    def _answering(self) -> Scratch | None:
        """Scratch arrays for an answer, apart from those for learning; None where the Python way is the only one.

        A learner that has moved since it was settled is read the Python way: only learning may look for it again.
        """
        if not self.fast or self.learner.table is not self.table:
            return None
        if self.for_answers is None:
            self.for_answers = self._scratch()
        return self.for_answers

    def _scores_read(self, x: Any) -> np.ndarray:
        columns, values = self.names.look_up(x)
        known = columns < self.learner.features  # a name may be new to the table beside a learning thread
        weights, intercepts = self.learner.read_columns(columns[known])
        return weights @ values[known] + intercepts


def is_simple(rule: Any) -> bool:
    """Whether a rule is a flat tuple of numbers, or has one field that is."""
    nested = [isinstance(field, tuple) for field in rule]
    return not any(nested) or (nested == [True] and not any(isinstance(f, tuple) for f in rule[0]))
