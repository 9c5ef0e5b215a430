"""The compiled calls that learn or answer one dict row, and the scratch arrays they work in.

Nothing that a call leaves in scratch arrays may be read after it returns, unless the arrays are the caller's own:
another thread may have called in between. So a call that answers one number returns it, and one that answers several
borrows scratch arrays for itself.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels.dicts.argument_block import (
    BIAS,
    BITS,
    CAP,
    CATEGORIES,
    CLASSES,
    COLUMNS,
    COUNTERS_AT,
    ENTERED,
    FEATURES,
    FIRST,
    GATE,
    GATHERED,
    GATHERED_ROOM,
    GIVEN,
    HELD,
    HELD_COUNT,
    KNOWN_READER,
    NUMBERS,
    OUTPUT_ROOM,
    OUTPUTS,
    PLACE,
    POSITIONS,
    READER,
    ROOM,
    ROW_SCRATCH,
    SCORES,
    SCRATCH_AT,
    SCRATCH_ROOM,
    SLOT_COUNT,
    SLOTS,
    SLOTS_AT,
    SMALL,
    TABLE,
    VALUES,
    row_scratch_words,
)
from onlinear.kernels.dicts.name_index import empty_slots, enter_all, move_all
from onlinear.kernels.dicts.readers import adopting, hashed, known, reader
from onlinear.learning.buffers import scratch_of

if TYPE_CHECKING:
    from onlinear.learning.dict_path import DictPath

#: entries a row may have before the scratch arrays grow
FIRST_ROOM = 256
#: names that there may be where there is no cap
MOST_NAMES = 2**63 - 1


class Index:
    """The arrays of a :class:`onlinear.kernels.dicts.name_index.NameIndex`, with room for so many names."""

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
        if not names.size:
            return larger
        if self.entered[0] == names.size:
            larger.held[: names.size] = self.held[: names.size]
            larger.entered[0] = names.size
            move_all(self.slots, larger.slots)
        else:
            enter_all(id(names.positions), larger.slots, larger.held, larger.entered)
        return larger


class Scratch:
    """The arrays behind one ``place``: whoever holds this keeps them, and the learner's, alive."""

    def __init__(self, path: DictPath) -> None:
        learner, names, index, room = path.learner, path.names, path.index, path.room
        self.table, self.bias, self.clock = learner.base, learner.bias, learner.clock
        self.names, self.index, self.numbers = names, index, path.numbers
        self.gate = learner.busy.words
        outputs, slots = learner.bias.shape
        place = {FEATURES: learner.features, OUTPUTS: outputs, SLOTS: slots, ROOM: room}
        place |= {OUTPUT_ROOM: learner.output_room}
        place |= {TABLE: address_of(self.table), BIAS: address_of(self.bias), COUNTERS_AT: address_of(self.clock)}
        place |= {NUMBERS: address_of(self.numbers), GATE: address_of(self.gate)}
        place |= {FIRST: path.first, CLASSES: path.classes}
        if path.fast:
            place |= self._names_place()
        words = {COLUMNS: room, VALUES: room, SMALL: 8, ROW_SCRATCH: row_scratch_words(room), SCORES: outputs}
        self.gathered, self.scratch = scratch_of(learner.output_room, slots, room if learner.kind == "cells" else 0)
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

    def twin(self) -> Scratch:
        """The same learner and names at the same places, with words of its own."""
        twin = copy.copy(self)
        twin.places = self.places.copy()
        twin._take_words(self.sizes)
        return twin

    def _names_place(self) -> dict[int, int]:
        names, index = self.names, self.index
        if isinstance(names, HashedNames):
            read = reader(hashed).address
            return {BITS: names.bits, READER: read, KNOWN_READER: read}
        cap = MOST_NAMES if names.cap is None else min(names.cap, MOST_NAMES)
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


def compiled_view(scratch: Scratch, learn_loop: Any, answer_loop: Any, decoder: Any) -> View:
    """The compiled calls that work in these scratch arrays, or in twins of them."""
    idle: deque[Scratch] = deque()  # scratch arrays that nobody works in

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
