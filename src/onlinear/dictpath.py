"""DictPath: from a dict to a learner and back, one example at a time.

The fast way is one compiled call. A new name, an odd value or a platform without the fast way takes the Python way
through :mod:`onlinear.features.names`, which fills the same scratch row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlinear.batch import Batch
from onlinear.errors import Diverged
from onlinear.features.names import ExactNames, HashedNames
from onlinear.gate import BUSY
from onlinear.kernels.bank import leaves
from onlinear.kernels.cpython import AVAILABLE
from onlinear.kernels.lexicon import empty_slots, enter_all, move_all
from onlinear.kernels.one import CANNOT, CODE, MARK, READ, Shape, answer_one_loop, learn_one_loop
from onlinear.kernels.place import (
    BESIDE,
    BESIDE_ROOM,
    BIAS,
    BITS,
    CAP,
    CATEGORIES,
    CLASSES,
    CLOCK_AT,
    COLUMNS,
    ENTERED,
    FEATURES,
    FIRST,
    GATE,
    GIVEN,
    HELD,
    HELD_COUNT,
    KNOWN_READER,
    LOOKED,
    NEAR,
    NEAR_ROOM,
    NUMBERS,
    OUTPUTS,
    PLACE,
    POSITIONS,
    READER,
    ROOM,
    SCORES,
    SLOT_COUNT,
    SLOTS,
    SLOTS_AT,
    SMALL,
    SPARE,
    TABLE,
    VALUES,
    spare_words,
)
from onlinear.kernels.readers import adopting, hashed, known, reader
from onlinear.kernels.state import SCORE
from onlinear.learner import NO_ROWS, Learner
from onlinear.room import scratch_of
from onlinear.rows import SparseRows
from onlinear.targets import Labels, Numbers

#: entries a row may have before the scratch arrays grow
FIRST_ROOM = 256
#: how many times as large a table grows: the room that no name has taken yet costs no memory
GROWTH = 4


Names = ExactNames | HashedNames


class Index:
    """The arrays of a :class:`onlinear.kernels.lexicon.Lexicon`, with room for so many names."""

    def __init__(self, room: int) -> None:
        # As many positions as half the slots: a few more names than room, so that a row may overshoot. One slot stays
        # empty: whoever looks for a name that is not there stops at it.
        self.slots = empty_slots(room)
        self.held = np.zeros(min(len(self.slots) // 2 + FIRST_ROOM, len(self.slots) - 1), dtype=np.int64)
        self.entered = np.zeros(1, dtype=np.int64)
        self.room = room

    def serves(self, names: ExactNames, room: int) -> bool:
        """Whether it knows all names, and has the room asked for."""
        return self.room >= room and bool(self.entered[0] == names.size)

    def larger(self, names: ExactNames, room: int) -> Index:
        """An index with room for more names, which knows all that are there."""
        larger = Index(room)
        if self.entered[0] == names.size:
            larger.held[: names.size] = self.held[: names.size]
            larger.entered[0] = names.size
            move_all()(self.slots, larger.slots)
        else:
            enter_all()(id(names.positions), larger.slots, larger.held, larger.entered)
        return larger


class Scratch:
    """The arrays behind one ``place``: whoever holds this keeps them, and the learner's, alive."""

    def __init__(self, path: DictPath) -> None:
        learner, names, index, room = path.learner, path.names, path.index, path.room
        self.table, self.bias, self.clock = learner.table, learner.bias, learner.clock
        self.names, self.index, self.numbers = names, index, path.numbers
        self.gate = learner.busy.words
        outputs, slots = learner.bias.shape
        place = {FEATURES: learner.features, OUTPUTS: outputs, SLOTS: slots, ROOM: room}
        place |= {TABLE: address_of(self.table), BIAS: address_of(self.bias), CLOCK_AT: address_of(self.clock)}
        place |= {NUMBERS: address_of(self.numbers), GATE: address_of(self.gate)}
        place |= {FIRST: path.first, CLASSES: path.classes}
        if path.fast:
            place |= self._names_place()
        words = {COLUMNS: room, VALUES: room, SMALL: 8, SPARE: spare_words(room), SCORES: outputs}
        self.near, self.spare = scratch_of(outputs, slots, room if learner.kind == "cells" else 0)
        place |= {NEAR: address_of(self.near), BESIDE: address_of(self.spare)}
        place |= {NEAR_ROOM: self.near.shape[2], BESIDE_ROOM: self.spare.shape[1]}
        self.words = np.zeros(sum(words.values()), dtype=np.int64)
        at, start = {}, 0
        for entry, size in words.items():
            at[entry] = self.words[start : start + size]
            place[entry] = address_of(self.words) + self.words.itemsize * start
            start += size
        self.columns, self.values = at[COLUMNS].view(np.uint32), at[VALUES].view(np.float64)
        self.small, self.scores = at[SMALL], at[SCORES].view(np.float64)
        row = [place.get(entry, 0) for entry in range(PLACE)]
        self.places = np.array([row, row], dtype=np.int64)  # the second for a caller who is alone with the learner
        self.place_at = address_of(self.places)
        self.alone_at = self.place_at + self.places.strides[0]

    def _names_place(self) -> dict[int, int]:
        names, index = self.names, self.index
        if isinstance(names, HashedNames):
            read = reader(hashed).address
            return {BITS: names.bits, READER: read, KNOWN_READER: read}
        cap = np.iinfo(np.int64).max if names.cap is None else names.cap
        return {
            READER: reader(adopting).address,
            KNOWN_READER: reader(known).address,
            POSITIONS: id(names.positions),
            CATEGORIES: id(names.categories),
            CAP: cap,
            SLOTS_AT: address_of(index.slots),
            SLOT_COUNT: len(index.slots),
            HELD: address_of(index.held),
            HELD_COUNT: len(index.held),
            ENTERED: address_of(index.entered),
        }

    def fill(self, columns: np.ndarray, values: np.ndarray) -> None:
        """Take a row that was read the Python way."""
        self.columns[: len(columns)] = columns
        self.values[: len(values)] = values
        self.places[:, GIVEN] = len(values)


def address_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class DictPath:
    """Learns and answers dict rows with one learner and its names. Call :meth:`set_classes` before anything else."""

    def __init__(self, learner: Learner, names: Names, *, labels: bool) -> None:
        self.learner = learner
        self.names = names
        self.labels = labels
        self.first = self.classes = 0
        self.targets: dict[Any, float] = {}  # for whoever turns labels into targets
        self.is_current = False  # for whoever has made sure that the learner is up to date to learn
        self.for_answers: Scratch | None = None
        #: ``learn(x, target, importance)``: learn from one row; answer the first output's score of before. The other
        #: outputs' are in :meth:`last_scores`
        self.learn: Callable[[Any, float, float], float]
        self.learn_loop: Any = None
        self.table: np.ndarray | None = None  # the learner's, when it was last settled
        self.room = FIRST_ROOM
        self.index = Index(0)
        loss, rule = learner.losses[0], learner.rules[0]
        inner = type(rule[0]) if rule and isinstance(rule[0], tuple) else None
        self.averages = learner._averages()
        shape = Shape(type(loss), type(rule), inner, labels, self.averages)
        self.fast = AVAILABLE and learner.compiled and learner.kind != "matrix" and is_simple(rule)
        if self.fast:
            self.learn_loop, self.answer_loop = learn_one_loop(shape), answer_one_loop(shape)

    def settle(self) -> None:
        """Look again where the learner's arrays are, which move when it grows. The caller is alone with it."""
        learner = self.learner
        learner.face_sparse()
        if learner.features < self.names.size:
            learner.grow_unlocked(max(self.names.size, GROWTH * learner.features))
        option = learner.options(NO_ROWS[SparseRows])[0]
        self.numbers = np.array(
            [*leaves(learner.losses[0]), *leaves(learner.rules[0]), *leaves(option)], dtype=np.float64
        )
        if self.fast and isinstance(self.names, ExactNames) and not self.index.serves(self.names, learner.features):
            self.index = self.index.larger(self.names, learner.features)
        self.for_learning = Scratch(self)
        self.for_learning.places[:, LOOKED] = learner.busy.moved(), BUSY
        self.for_answers = None  # made when the first answer is asked for
        self.table = learner.table if self.fast else None
        self.learn = self._learner_of_rows()

    def set_classes(self, first: int, classes: int) -> None:
        """Output m is class ``first + m``; ``classes`` outputs answer: see :class:`onlinear.targets.Labels`."""
        self.first, self.classes = first, classes
        with self.learner.lock, self.learner.busy:
            if self.table is None or self.table is not self.learner.table:
                self.settle()
                return
            for scratch in (self.for_learning, self.for_answers):
                if scratch is not None:
                    scratch.places[:, [FIRST, CLASSES]] = first, classes

    # -------------------------------------------------------------- learning

    def _learner_of_rows(self) -> Callable[[Any, float, float], float]:
        """The function behind :attr:`learn`: a closure, because looking up attributes would take a tenth of it."""
        if not self.fast or self.learner.slim:
            return self._learn_closely
        loop, scratch, closely = self.learn_loop, self.for_learning, self._learn_closely
        place_at = scratch.place_at

        def learn(x: Any, target: float, importance: float) -> float:
            score: float = loop(place_at, id(x), target, importance)
            return score if score == score else closely(x, target, importance)

        learn.keeps_alive = scratch  # type: ignore[attr-defined]
        return learn

    def _learn_closely(self, x: Any, target: float, importance: float) -> float:
        """Learn a row that one compiled call alone could not: alone with the learner, step by step."""
        learner = self.learner
        learner.refuse_if_slim()
        with learner.lock, learner.busy:
            if not self.fast:
                return self._learn_slowly(x, target, importance)
            if learner.table is not self.table or self.names.size > learner.features:  # it has moved, or must grow
                self.settle()
            score = self._learn_alone(id(x), target, importance)
            if score != score and self.for_learning.small[CODE] not in (MARK, CANNOT):
                score = self._learn_read(x, target, importance)
            if score == score:
                return score
            if self.for_learning.small[CODE] == CANNOT:
                raise Diverged(learner.diverged_message(learner.examples + 1, f"the row {x!r:.200}"))
            learner.keep_mark()
            return float(self.last_scores()[0])

    def _learn_alone(self, x: int, target: float, importance: float) -> float:
        return self.learn_loop(self.for_learning.alone_at, x, target, importance)

    def _learn_read(self, x: Any, target: float, importance: float) -> float:
        """The Python way to read a row, and the compiled way to learn it."""
        columns, values = self.names.register(x)
        self.make_room(len(values))
        self.for_learning.fill(columns, values)
        return self._learn_alone(READ, target, importance)

    def make_room(self, entries: int) -> None:
        """Room for all names in the table, for so many entries in the scratch arrays. The caller is alone with it."""
        if self.names.size > self.learner.features or entries > self.room:
            self.room = max(self.room, 2 * entries)
            self.settle()

    def _learn_slowly(self, x: Any, target: float, importance: float) -> float:
        columns, values = self.names.register(x)
        self.make_room(len(values))
        batch = self.batch(np.array([0, len(values)]), columns, values, [target], [importance])
        self.for_learning.scores[:] = self._scores_at(columns, values) if self.averages else 0.0
        self.learner.learn_unlocked(batch)
        return float(self.last_scores()[0])

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
        """All outputs' scores of the row last learned, from before it was: of the average, where answers are one."""
        return (self.for_learning.scores if self.averages else self.learner.clock[:, SCORE]).copy()

    # -------------------------------------------------------------- answers

    def answer(self, x: Any) -> float:
        """The first output's score. Changes nothing."""
        scratch = self.for_answers
        if scratch is None or self.learner.table is not scratch.table:
            scratch = self._answering()
        if scratch is not None:
            score: float = self.answer_loop(scratch.place_at, id(x))
            if score == score:
                return score
        return float(self._scores_read(x)[0])

    def scores(self, x: Any) -> np.ndarray:
        """The scores of all outputs. Changes nothing."""
        scratch = self._answering()
        if scratch is not None:
            score = self.answer_loop(scratch.place_at, id(x))
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
            self.for_answers = Scratch(self)
        return self.for_answers

    def _scores_read(self, x: Any) -> np.ndarray:
        columns, values = self.names.look_up(x)
        known = columns < self.learner.features  # a name may be new to the table beside a learning thread
        return self._scores_at(columns[known], values[known])

    def _scores_at(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        weights, intercepts = self.learner.read_columns(columns)
        return weights @ values + intercepts


def is_simple(rule: Any) -> bool:
    """Whether a rule is a flat tuple of numbers, or has one field that is."""
    nested = [isinstance(field, tuple) for field in rule]
    return not any(nested) or (nested == [True] and not any(isinstance(f, tuple) for f in rule[0]))
