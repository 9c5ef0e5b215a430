"""Training: a learner, the classes it tells apart, and blocks of a stream learned in order.

What the estimators do with rows in memory, for the command line: without scikit-learn, which takes a second to import.
A training is saved as the ``OnlineClassifier`` or ``OnlineRegressor`` that has learned the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Numbers
from onlinear.data.whole_numbers import are_numbers, as_floats, missing_in
from onlinear.errors import Diverged
from onlinear.features.blocks import Block
from onlinear.kernels.learn.loops import kind_of
from onlinear.learning.classes import Classes, as_array, refuse_fractions
from onlinear.learning.learner import Learner, Settings
from onlinear.learning.one_against_rest import (
    add_class,
    answering,
    check_new_labels,
    has_row_loss,
    outputs_for,
    targets_for,
)
from onlinear.learning.predictor import Predictor
from onlinear.registry import loss_of, rule_of

#: columns a table has room for at first, and how many times as large it grows
FIRST_COLUMNS, GROWTH = 1 << 10, 4
#: what to do about classes that are too many
ADVICE = (
    "name another column as --target, and this one as --ignore; otherwise take fewer --bits, or name all classes with "
    "--classes, and they may take what they take"
)


class Totals(NamedTuple):
    """Sums over all examples so far."""

    examples: int = 0
    mistakes: int = 0
    loss: float = 0.0
    importance: float = 0.0


class Model:
    """A learner for a stream of blocks.

    ``classes`` are None for a regression. With ``bits`` names are hashed; without, columns are indices, and the
    highest so far is ``width - 1``. A training that is ``adapting`` acts when its error rises.
    """

    adapting: Any = None  # what acts where its error rises: :class:`onlinear.drift.adapting.Adapting`
    _coded: tuple[np.ndarray, int, np.ndarray] | None = None  # labels, how many classes were known, and their codes

    def __init__(
        self, loss: Any, rule: Any, settings: Settings, classes: Classes | None, bits: int | None = None
    ) -> None:
        loss, rule = loss_of(loss), rule_of(rule)
        outputs = 1 if classes is None else outputs_for(classes, hasattr(loss, "slopes"))
        columns = first_columns(rule) if bits is None else 1 << bits
        self.learner = Learner(loss, rule, features=columns, outputs=outputs, settings=settings)
        self.classes = classes
        self.opened = classes is not None and classes.open
        self.bits = bits
        self.dense = False
        self.width = 0
        self.pass_starts: list[tuple[int, int]] = []
        self.start_pass()

    @classmethod
    def of(
        cls, learner: Learner, classes: Classes | None, bits: int | None, dense: bool, passes: list[tuple[int, int]]
    ) -> Model:
        """The training that this learner has had elsewhere; ``passes`` are updates and mistakes at their starts."""
        training = cls.__new__(cls)
        training.learner, training.classes, training.bits, training.dense = learner, classes, bits, dense
        training.opened = classes is not None and classes.open
        training.width = learner.features
        training.pass_starts = passes
        return training

    @property
    def answering(self) -> slice:
        """The outputs that answer; one behind them may stand for classes not yet seen."""
        if self.classes is None:
            return slice(0, 1)
        return slice(0, max(answering(self.classes, has_row_loss(self.learner)), 1))

    @property
    def mistakes(self) -> int:
        return int(self.learner.mistakes[self.answering].sum())

    def totals(self) -> Totals:
        """The sums as of now."""
        return self._totals(self.learner.examples, self.learner.figures())

    def history(self) -> list[Totals]:
        """The sums after 1, 2, 4, 8, ... examples."""
        return [self._totals(1 << k, figures) for k, figures in enumerate(self.learner.history)]

    def _totals(self, examples: int, figures: np.ndarray) -> Totals:
        losses, mistakes, importance = figures[self.answering].T
        loss = losses.mean() if has_row_loss(self.learner) else losses.sum()
        return Totals(examples, int(mistakes.sum()), float(loss), float(importance[0]))

    def start_pass(self) -> None:
        """Begin a pass over the stream."""
        self.learner.start_pass()
        self.pass_starts.append((int(self.learner.updates[self.answering].sum()), self.mistakes))

    def snapshot(self) -> Predictor:
        """What has been learned so far, for answers only: nothing will change it."""
        return Predictor.of(self.learner, self.classes)

    # -------------------------------------------------------------- learning

    def refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label cannot be learned from, and why."""
        labels = block.labels
        missing = missing_in(labels)
        if missing.any():
            return int(missing.argmax()), "there is no label to learn from: label it, or leave the line out"
        if self.classes is None:
            if are_numbers(labels):
                return None
            return (
                0,
                f"the label {labels[0]!r:.60} is no number: learn classes, or give a column of numbers as the target",
            )
        if self.classes.open:
            return None
        unknown = np.flatnonzero((self._codes(labels, self.classes) < 0) & (block.importance > 0.0))
        if not len(unknown):
            return None
        row, known = int(unknown[0]), ", ".join(map(str, self.classes.labels))
        return row, f"the label {plain(labels[row])} is none of {known}: name all classes beforehand"

    def learn(self, block: Block) -> None:
        """Learn the rows of a block, in order; up to the first that is refused."""
        if not len(block):
            return
        refused = self.refused(block)
        if refused is not None:
            self._learn_rows(block.split(refused[0])[0])
            raise block.origin.label_error(*refused)
        self._learn_rows(block)

    def _codes(self, labels: np.ndarray, classes: Classes) -> np.ndarray:
        """The codes of a block's labels, which are asked for more than once."""
        if self._coded is None or self._coded[0] is not labels or self._coded[1] != len(classes):
            self._coded = labels, len(classes), classes.codes_of(labels)
        return self._coded[2]

    def _learn_rows(self, block: Block) -> None:
        self._check_new_labels(block)
        if isinstance(block.rows, DenseRows):
            self._fit_columns(block.rows.values.shape[1])
        else:
            self.make_room(block.width)
        if self.classes is None:
            self._learn(block, Numbers(as_floats(block.labels)), 0, len(block))
        else:
            self._learn_labels(block, self.classes)

    def _check_new_labels(self, block: Block) -> None:
        """Refuse a block with too many new classes, before anything of it is learned."""
        if self.classes is not None and self.classes.open:
            present = block.importance > 0.0
            new = block.labels[(self._codes(block.labels, self.classes) < 0) & present]
            dense = isinstance(block.rows, DenseRows)
            features = block.rows.values.shape[1] if dense else max(self.learner.features, block.width)
            check_new_labels(self.classes, self.learner, new, present, features=features, advice=ADVICE)

    def _learn_labels(self, block: Block, classes: Classes) -> None:
        codes = self._codes(block.labels, classes)
        start = 0
        while True:
            new = np.flatnonzero((codes < 0) & (block.importance > 0.0))
            stop = int(new[0]) if len(new) else len(block)
            self._learn(block, targets_for(classes, codes, self.learner), start, stop)
            if stop == len(block):
                return
            add_class(classes, self.learner, plain(block.labels[stop]))
            codes[stop:] = classes.codes_of(block.labels[stop:])
            start = stop

    def _learn(self, block: Block, targets: Any, start: int, stop: int) -> None:
        before = self.learner.examples
        batch, order = Batch(block.rows, targets, block.importance, sound=True), np.arange(start, stop)
        try:
            if self.adapting is None:
                self.learner.learn(batch, order)
            else:
                self.adapting.learn(self.learner, batch, start, stop)
        except Diverged as error:
            row = order[block.importance[order] > 0.0][self.learner.examples - before]
            raise Diverged(f"{block.origin.error(int(row), '')}{error}") from None

    def _fit_columns(self, width: int) -> None:
        """Dense rows have every column, and the table just as many from the first row on."""
        learner = self.learner
        if learner.examples == 0 and learner.features != width:
            self.learner = Learner(
                learner.losses, learner.rules, features=width, outputs=learner.outputs, settings=learner.settings
            )
        self.dense, self.width = True, width

    def make_room(self, width: int) -> None:
        self.width = max(self.width, width)
        columns = self.learner.features
        while columns < self.width:  # a matrix is never larger than it must be
            columns = self.width if self.learner.kind == "matrix" else max(GROWTH * columns, FIRST_COLUMNS)
        if columns > self.learner.features:
            self.learner.grow(columns)


def first_columns(rule: Any) -> int:
    """The columns there is room for before the first row: none in a matrix, never larger than it must be."""
    return 0 if kind_of(type(rule)) == "matrix" else FIRST_COLUMNS


def trim(learner: Learner, columns: int) -> None:
    """Take away the room behind the last column, for a caller who is alone with the learner."""
    if learner.kind != "matrix" and learner.facing is SparseRows and learner.features > columns:
        learner.table = learner.table[:columns].copy()
        learner.busy.moved()


def classes_in(labels: Sequence[np.ndarray]) -> Classes:
    """The classes of the first rows: two of them are all there are; otherwise more may come."""
    seen = np.unique(np.concatenate(labels))
    refuse_fractions(seen)
    found: list[Hashable] = [plain(label) for label in seen.tolist()]
    return Classes.closed(as_array(found)) if len(found) == 2 else Classes(open=True)


def plain(label: Any) -> Hashable:
    """A whole number as an integer; anything else as it is."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label
