"""DictPath: from a dict to a learner and back, one example at a time.

The fast way is one compiled call. A new name, an odd value or a platform without the fast way takes the Python way
through :mod:`onlinear.features.names`, which fills the same scratch row.

Nothing that a call leaves in scratch arrays may be read after it returns, unless the arrays are the caller's own:
another thread may have called in between. So a call that answers one number returns it, and one that answers several
borrows scratch arrays for itself.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onlinear.data.batch import Batch
from onlinear.data.rows import SparseRows
from onlinear.data.targets import Labels, Numbers
from onlinear.errors import Diverged
from onlinear.features.names import ExactNames, HashedNames, Names
from onlinear.kernels.compiler.object_layout import AVAILABLE
from onlinear.kernels.dicts.argument_block import (
    BIAS,
    BITS,
    BLOCKS,
    CAP,
    CATEGORIES,
    CHANGED,
    CLASSES,
    COLUMNS,
    COUNTERS_AT,
    ENTERED,
    FEATURES,
    FIRST,
    GATHERED,
    GATHERED_ROOM,
    GIVEN,
    HELD,
    HELD_COUNT,
    KINDS,
    KNOWN_READER,
    LOOKED,
    NUMBERS,
    OUTPUT_ROOM,
    OUTPUTS,
    PLACE,
    POSITIONS,
    READER,
    ROOM,
    ROW_SCRATCH,
    ROW_WORDS,
    SCORES,
    SCRATCH_AT,
    SCRATCH_ROOM,
    SEQUENCE,
    SLOT_COUNT,
    SLOTS,
    SLOTS_AT,
    SMALL,
    TABLE,
    VALUES,
)
from onlinear.kernels.dicts.dict_reader import NUMBER_KIND, TEXT_KIND
from onlinear.kernels.dicts.name_index import enter_all, move_all
from onlinear.kernels.dicts.one_row import CANNOT, CODE, MARK, READ, Shape, answer_one_loop, learn_one_loop
from onlinear.kernels.dicts.readers import read_and_adopt, read_hashed_names, read_known_names, reader_of
from onlinear.kernels.learn.bank import leaves
from onlinear.kernels.learn.scoring import link_of_pair
from onlinear.kernels.learn.state import SCORE
from onlinear.kernels.text.entries import DIGITS
from onlinear.learning.divergence import describe_divergence
from onlinear.learning.learner import Learner
from onlinear.learning.predictor import row_of_a_table
from onlinear.learning.reading import read_for_scoring
from onlinear.learning.state import scratch_of
from onlinear.learning.weights import ScoringWeights
from onlinear.system.locks import BUSY

#: entries a row may have before the scratch arrays grow
FIRST_ROOM = 256
#: names that there may be where there is no cap
MOST_NAMES = 2**63 - 1
#: how many times as large a table grows: the room that no name has taken yet costs no memory
GROWTH = 4


class DictPath:
    """Learns and answers dict rows with one learner and its names. Call :meth:`set_classes` before anything else.

    The calls of its ``view`` take no lock, and so learn or answer at once, or not at all. Then :meth:`learn` and
    :meth:`scores` do it alone with the learner.
    """

    view: View

    def __init__(self, learner: Learner, names: Names, *, labels: bool) -> None:
        self.learner = learner
        self.names = names
        self.labels = labels
        self.first = self.classes = 0
        self.decoder: Any = None
        self.targets: dict[Any, float] = {}  # for whoever turns labels into targets
        self.are_weighed = False  # whether classes have weights, for the same
        self.learn_loop: Any = None
        self.answer_loop: Any = None
        self.table: np.ndarray | None = None  # the learner's, when it was last settled
        self.room = FIRST_ROOM
        self.index = Index(0)
        self.loss = loss = learner.losses[0]
        kind: Any = type(loss)
        self.link_of_pair = link_of_pair(kind) if hasattr(loss, "link") else None
        rule = learner.rules[0]
        inner = type(rule[0]) if rule and isinstance(rule[0], tuple) else None
        self.averages = learner.slots.mean >= 0
        shape = Shape(type(loss), type(rule), inner, labels, self.averages)
        self.fast = AVAILABLE and learner.compiled and learner.kind != "matrix" and is_simple(rule)
        if self.fast:
            self.learn_loop, self.answer_loop = learn_one_loop(shape), answer_one_loop(shape)

    def settle(self) -> None:
        """Look again where the learner's arrays are, which move when it grows. The caller is alone with it."""
        learner = self.learner
        self.table = None  # whoever is stopped on the way has to look once more
        learner.turn_table(SparseRows)
        if learner.features < self.names.size:
            learner.grow_unlocked(max(self.names.size, GROWTH * learner.features))
        option = learner.options(SparseRows)[0]
        self.numbers = np.array(
            [*leaves(learner.losses[0]), *leaves(learner.rules[0]), *leaves(option)], dtype=np.float64
        )
        if self.fast and isinstance(self.names, ExactNames) and not self.index.serves(self.names, learner.features):
            self.index = self.index.larger(self.names, learner.features)
        self.scratch = DictScratch(self)
        self.scratch.places[:, LOOKED] = learner.busy.moved(), BUSY
        self.view = self._view()
        self.table = learner.table.base if self.fast else None

    def _view(self) -> View:
        if not self.fast:
            return View(0, no_score, no_scores, no_score, no_scores, self.decoder, self.scratch)
        view = compiled_view(self.scratch, self.learn_loop, self.answer_loop, self.decoder)
        if self.learner.slim or not is_compiled(self.learn_loop):
            return replace(view, learn=no_score, learn_scores=no_scores)
        return view

    def set_classes(self, first: int, classes: int, decoder: Any = None) -> None:
        """Output m is class ``first + m``; ``classes`` outputs answer: see :class:`onlinear.data.targets.Labels`."""
        with self.learner.lock, self.learner.busy:
            stays = self.table is self.learner.table.base and (first, classes) == (self.first, self.classes)
            self.first, self.classes, self.decoder = first, classes, decoder
            if stays:
                self.view = replace(self.view, decoder=decoder)
            else:
                self.settle()

    # -------------------------------------------------------------- learning

    def learn(self, x: Any, target: float, importance: float) -> np.ndarray:
        """Learn from one row, alone with the learner, step by step; answer the scores of before, of all outputs."""
        learner = self.learner
        if learner.slim:
            learner.refuse_if_slim()
        with learner.lock, learner.busy:
            learner.busy.refuse_handler(learner.lock)
            if not self.fast:
                return self._learn_slowly(x, target, importance)
            if (
                learner.table.base is not self.table or self.names.size > learner.table.features
            ):  # it has moved, or must grow
                self.settle()
            score = self._learn_alone(id(x), target, importance)
            if score != score and self.scratch.small[CODE] not in (MARK, CANNOT):
                score = self._learn_read(x, target, importance)
            if score != score:
                if self.scratch.small[CODE] == CANNOT:
                    raise Diverged(describe_divergence(learner, learner.examples + 1, f"the row {x!r:.200}"))
                learner.counters.keep_mark()
            return self.scratch.scores.copy()

    def _learn_alone(self, x: int, target: float, importance: float) -> float:
        score = self.learn_loop(self.scratch.alone_at, x, target, importance)
        if self.view.learn is no_score:  # it is compiled now
            self.view = self._view()
        return score

    def _learn_read(self, x: Any, target: float, importance: float) -> float:
        """The Python way to read a row, and the compiled way to learn it."""
        columns, values = self.names.register(x)
        self.make_room(len(values))
        self.scratch.fill(columns, values)
        return self._learn_alone(READ, target, importance)

    def make_room(self, entries: int) -> None:
        """Room for all names in the table, for so many entries in the scratch arrays. The caller is alone with it."""
        if self.names.size > self.learner.features or entries > self.room:
            self.room = max(self.room, 2 * entries)
            self.settle()

    def _learn_slowly(self, x: Any, target: float, importance: float) -> np.ndarray:
        columns, values = self.names.register(x)
        self.make_room(len(values))
        batch = self.batch(np.array([0, len(values)]), columns, values, [target], [importance])
        scores = self._scores_at(columns, values) if self.averages else None
        self.learner.learn_unlocked(batch)
        return self.learner.counters.array[:, SCORE].copy() if scores is None else scores

    def batch(self, starts: Any, columns: Any, values: Any, targets: Any, importance: Any) -> Batch:
        """Rows that were read from dicts, as a batch."""
        rows = SparseRows(np.asarray(starts, dtype=np.int64), columns, values)
        if self.labels:
            codes = np.asarray(targets, dtype=np.int64)
            wanted: Labels | Numbers = Labels(codes, self.first, self.classes)
        else:
            wanted = Numbers(np.asarray(targets, dtype=np.float64))
        return Batch(rows, wanted, np.asarray(importance, dtype=np.float64))

    # -------------------------------------------------------------- answers

    def scores(self, x: Any) -> np.ndarray:
        """The scores of all outputs, alone with the learner. Changes nothing.

        A learner that has moved since it was settled is read the Python way: only learning may look for it again.
        """
        learner = self.learner
        with learner.lock, learner.busy:
            if self.fast and learner.table.base is self.table:
                score = self.answer_loop(self.scratch.alone_at, id(x))
                if score == score:
                    return self.scratch.scores.copy()
            return self._scores_read(x)

    def _scores_read(self, x: Any) -> np.ndarray:
        columns, values = self.names.look_up(x)
        known = columns < self.learner.features  # a name may be new to the table beside a learning thread
        return self._scores_at(columns[known], values[known])

    def _scores_at(self, columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The scores of a row, added up in the order of the compiled calls."""
        weights = ScoringWeights(*read_for_scoring(self.learner, columns))
        return weights.scores(row_of_a_table(np.arange(len(columns)), values))[0]


def is_compiled(loop: Any) -> bool:
    """Whether calling a loop only runs it: a signal that comes while Numba compiles leaves Numba in pieces."""
    return bool(getattr(loop, "signatures", True))


def is_simple(rule: Any) -> bool:
    """Whether a rule is a flat tuple of numbers, or has one field that is."""
    nested = [isinstance(field, tuple) for field in rule]
    return not any(nested) or (nested == [True] and not any(isinstance(f, tuple) for f in rule[0]))


# ------------------------------------------------------------------ the compiled calls, and the arrays they work in


class Index:
    """The arrays of a :class:`onlinear.kernels.dicts.name_index.NameIndex`, with room for so many names."""

    def __init__(self, room: int) -> None:
        # As many positions as half the slots: a few more names than room, so that a row may overshoot. One slot stays
        # empty: whoever looks for a name that is not there stops at it.
        self.slots = np.zeros(1 << max(1, 2 * room - 1).bit_length(), dtype=np.int64)
        self.held = np.zeros(min(len(self.slots) // 2 + FIRST_ROOM, len(self.slots) - 1), dtype=np.int64)
        self.entered = np.zeros(1, dtype=np.int64)
        self.room = room

    def serves(self, names: ExactNames, room: int) -> bool:
        """Whether it knows all names, and has the room asked for."""
        return self.room >= room and bool(self.entered[0] == names.size)

    def larger(self, names: ExactNames, room: int) -> Index:
        """An index with room for more names, which knows all that are there."""
        larger = Index(room)
        if not names.size:
            return larger
        if self.entered[0] == names.size:
            larger.held[: names.size] = self.held[: names.size]
            larger.entered[0] = names.size
            move_all(self.slots, larger.slots)
        else:
            enter_all(id(names.positions), larger.slots, larger.held, larger.entered)
        return larger


class DictScratch:
    """The arrays behind one ``place``: whoever holds this keeps them, and the learner's, alive."""

    def __init__(self, path: DictPath) -> None:
        learner, names, index, room = path.learner, path.names, path.index, path.room
        self.table, self.bias, self.counters = learner.table.base, learner.table.bias, learner.counters.array
        self.names, self.index, self.numbers = names, index, path.numbers
        self.sequence = learner.busy.words
        self.changed = learner.table.change_map()
        self.kinds = dict.fromkeys(names.numbers, NUMBER_KIND) | dict.fromkeys(names.texts, TEXT_KIND)
        outputs, slots = learner.table.bias.shape
        place = {FEATURES: learner.features, OUTPUTS: outputs, SLOTS: slots, ROOM: room}
        place |= {OUTPUT_ROOM: learner.table.output_room}
        place |= {TABLE: address_of(self.table), BIAS: address_of(self.bias), COUNTERS_AT: address_of(self.counters)}
        place |= {NUMBERS: address_of(self.numbers), SEQUENCE: address_of(self.sequence)}
        place |= {FIRST: path.first, CLASSES: path.classes}
        place |= {CHANGED: address_of(self.changed), BLOCKS: len(self.changed)}
        if path.fast:
            place |= self._names_place() | {KINDS: id(self.kinds) if self.kinds else 0}
        words = {COLUMNS: room, VALUES: room, SMALL: 8, SCORES: outputs}
        words[ROW_SCRATCH] = ROW_WORDS * room + DIGITS
        longest = room if learner.kind == "cells" else 0
        self.gathered, self.scratch = scratch_of(learner.table.output_room, slots, longest)
        place |= {GATHERED: address_of(self.gathered), SCRATCH_AT: address_of(self.scratch)}
        place |= {GATHERED_ROOM: self.gathered.shape[2], SCRATCH_ROOM: self.scratch.shape[1]}
        row = [place.get(entry, 0) for entry in range(PLACE)]
        self.places = np.array([row, row], dtype=np.int64)  # the second for a caller who is alone with the learner
        self._take_words(words)

    def _take_words(self, sizes: dict[int, int]) -> None:
        """Own arrays for what a call reads and writes: so many words for each."""
        self.sizes = sizes
        self.words = np.zeros(sum(sizes.values()), dtype=np.int64)
        at, start = {}, 0
        for entry, size in sizes.items():
            at[entry] = self.words[start : start + size]
            self.places[:, entry] = address_of(self.words) + self.words.itemsize * start
            start += size
        self.columns, self.values = at[COLUMNS].view(np.uint32), at[VALUES].view(np.float64)
        self.small, self.scores = at[SMALL], at[SCORES].view(np.float64)
        self.place_at = address_of(self.places)
        self.alone_at = self.place_at + self.places.strides[0]

    def twin(self) -> DictScratch:
        """The same learner and names at the same places, with words of its own."""
        twin = copy.copy(self)
        twin.places = self.places.copy()
        twin._take_words(self.sizes)
        return twin

    def _names_place(self) -> dict[int, int]:
        names, index = self.names, self.index
        if isinstance(names, HashedNames):
            read = reader_of(read_hashed_names).address
            return {BITS: names.bits, READER: read, KNOWN_READER: read}
        cap = MOST_NAMES if names.cap is None else min(names.cap, MOST_NAMES)
        return {
            READER: reader_of(read_and_adopt).address,
            KNOWN_READER: reader_of(read_known_names).address,
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


@dataclass(frozen=True, slots=True)
class View:
    """The calls for dict rows with the arrays where they are now, and how scores become labels.

    It never changes: who needs another gets another, so that whoever holds one has calls and labels that fit together.
    No call waits: where the learner is busy, or has moved since, or a row is out of the ordinary, nothing happens, and
    the answer is NaN, or None for an array.
    """

    place_at: int
    #: ``learn(place_at, id(x), target, importance)`` answers the first output's score of before
    learn: Callable[[int, int, float, float], float]
    #: ``learn_scores(x, target, importance)`` answers all outputs' scores of before
    learn_scores: Callable[[Any, float, float], np.ndarray | None]
    #: ``answer(place_at, id(x))`` answers the first output's score
    answer: Callable[[int, int], float]
    #: ``scores(x)`` answers all outputs' scores
    scores: Callable[[Any], np.ndarray | None]
    decoder: Any
    scratch: Any  # what is at the place, which has to stay alive


def compiled_view(scratch: DictScratch, learn_loop: Any, answer_loop: Any, decoder: Any) -> View:
    """The compiled calls that work in these scratch arrays, or in twins of them."""
    idle: deque[DictScratch] = deque()  # scratch arrays that nobody works in

    def learn_scores(x: Any, target: float, importance: float) -> np.ndarray | None:
        try:
            own = idle.pop()
        except IndexError:
            own = scratch.twin()
        score = learn_loop(own.place_at, id(x), target, importance)
        found = own.scores.copy() if score == score else None
        idle.append(own)
        return found

    def scores(x: Any) -> np.ndarray | None:
        try:
            own = idle.pop()
        except IndexError:
            own = scratch.twin()
        score = answer_loop(own.place_at, id(x))
        found = own.scores.copy() if score == score else None
        idle.append(own)
        return found

    return View(scratch.place_at, learn_loop, learn_scores, answer_loop, scores, decoder, scratch)


def no_score(*_: Any) -> float:
    """In place of a compiled call where there is none."""
    return np.nan


def no_scores(*_: Any) -> None:
    """In place of a compiled call where there is none."""
