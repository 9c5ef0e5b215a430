"""DictPath: from a dict to a learner and back, one example at a time.

The fast way is one compiled call. A new name, an odd value or a platform without the fast way takes the Python way
through :mod:`onlinear.features.names`, which fills the same scratch row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from onlinear.data.batch import Batch
from onlinear.data.rows import SparseRows
from onlinear.data.targets import Labels, Numbers
from onlinear.errors import Diverged
from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels.compiler.object_layout import AVAILABLE
from onlinear.kernels.dicts.argument_block import LOOKED
from onlinear.kernels.dicts.one_row import CANNOT, CODE, MARK, READ, Shape, answer_one_loop, learn_one_loop
from onlinear.kernels.learn.bank import leaves
from onlinear.kernels.learn.state import SCORE
from onlinear.learning.dict_calls import FIRST_ROOM, Index, Scratch, View, compiled_view, no_score, no_scores
from onlinear.learning.learner import NO_ROWS, Learner
from onlinear.learning.predictor import Predictor, numbers_of, row_of_a_table
from onlinear.system.locks import BUSY

#: how many times as large a table grows: the room that no name has taken yet costs no memory
GROWTH = 4


Names = ExactNames | HashedNames


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
        self.is_current = False  # for whoever has made sure that the learner is up to date to learn
        self.learn_loop: Any = None
        self.answer_loop: Any = None
        self.table: np.ndarray | None = None  # the learner's, when it was last settled
        self.room = FIRST_ROOM
        self.index = Index(0)
        self.loss = loss = learner.losses[0]
        rule = learner.rules[0]
        inner = type(rule[0]) if rule and isinstance(rule[0], tuple) else None
        self.averages = learner._averages()
        shape = Shape(type(loss), type(rule), inner, labels, self.averages)
        self.fast = AVAILABLE and learner.compiled and learner.kind != "matrix" and is_simple(rule)
        if self.fast:
            self.learn_loop, self.answer_loop = learn_one_loop(shape), answer_one_loop(shape)

    def settle(self) -> None:
        """Look again where the learner's arrays are, which move when it grows. The caller is alone with it."""
        learner = self.learner
        self.table = None  # whoever is stopped on the way has to look once more
        learner.face_sparse()
        if learner.features < self.names.size:
            learner.grow_unlocked(max(self.names.size, GROWTH * learner.features))
        option = learner.options(NO_ROWS[SparseRows])[0]
        self.numbers = np.array(
            [*leaves(learner.losses[0]), *leaves(learner.rules[0]), *leaves(option)], dtype=np.float64
        )
        if self.fast and isinstance(self.names, ExactNames) and not self.index.serves(self.names, learner.features):
            self.index = self.index.larger(self.names, learner.features)
        self.scratch = Scratch(self)
        self.scratch.places[:, LOOKED] = learner.busy.moved(), BUSY
        self.view = self._view()
        self.table = learner.base if self.fast else None

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
            stays = self.table is self.learner.base and (first, classes) == (self.first, self.classes)
            self.first, self.classes, self.decoder = first, classes, decoder
            if stays:
                self.view = replace(self.view, decoder=decoder)
            else:
                self.settle()

    # -------------------------------------------------------------- learning

    def learn(self, x: Any, target: float, importance: float) -> np.ndarray:
        """Learn from one row, alone with the learner, step by step; answer the scores of before, of all outputs."""
        learner = self.learner
        learner.refuse_if_slim()
        with learner.lock, learner.busy:
            learner.busy.refuse_handler()
            if not self.fast:
                return self._learn_slowly(x, target, importance)
            if learner.base is not self.table or self.names.size > learner.features:  # it has moved, or must grow
                self.settle()
            score = self._learn_alone(id(x), target, importance)
            if score != score and self.scratch.small[CODE] not in (MARK, CANNOT):
                score = self._learn_read(x, target, importance)
            if score != score:
                if self.scratch.small[CODE] == CANNOT:
                    raise Diverged(learner.diverged_message(learner.examples + 1, f"the row {x!r:.200}"))
                learner.keep_mark()
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
        return self.learner.clock[:, SCORE].copy() if scores is None else scores

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
            if self.fast and learner.base is self.table:
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
        weights, scales, intercepts = numbers_of(self.learner, columns)
        row = row_of_a_table(np.arange(len(columns)), values)
        return Predictor(weights, scales, intercepts, self.loss, None).scores(row)[0]


def is_compiled(loop: Any) -> bool:
    """Whether calling a loop only runs it: a signal that comes while Numba compiles leaves Numba in pieces."""
    return bool(getattr(loop, "signatures", True))


def is_simple(rule: Any) -> bool:
    """Whether a rule is a flat tuple of numbers, or has one field that is."""
    nested = [isinstance(field, tuple) for field in rule]
    return not any(nested) or (nested == [True] and not any(isinstance(f, tuple) for f in rule[0]))
