"""Model: a learner, the classes it tells apart or the numbers it learns, and where the names of its features lead.

It is what estimators, the command line and the selection hold. It learns rows in memory here, blocks of a stream in
:mod:`onlinear.learning.block_rows`, and dicts in :mod:`onlinear.learning.dict_rows`; new classes appear, and the table
grows, nowhere else. It does without scikit-learn, which is slow to import. A model is saved as the ``OnlineClassifier``
or ``OnlineRegressor`` that has learned the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch, Rows, check_rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Numbers
from onlinear.errors import Refused
from onlinear.features.blocks import Block
from onlinear.features.names import ExactNames, Names
from onlinear.kernels.learn.bank import kind_of
from onlinear.learning.block_rows import BlockLearner, learn_linear_block
from onlinear.learning.class_weights import ClassWeights
from onlinear.learning.classes import Classes, label_at
from onlinear.learning.configuration import Settings, identify_configuration, step_alike, unchangeable_part
from onlinear.learning.dict_rows import (
    ONE,
    ONE_ROW,
    cap_names,
    dict_path,
    learn_label,
    learn_label_slowly,
    learn_number,
    learn_number_slowly,
    read_dicts,
)
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import (
    add_class,
    check_new_labels,
    count_answering,
    has_row_loss,
    outputs_for,
    targets_for,
)
from onlinear.learning.predictor import Predictor
from onlinear.learning.progress import Totals
from onlinear.learning.rest import comes_to_rest, rests_without_updates
from onlinear.learning.state import Mark
from onlinear.registry import LOSSES, RULES, loss_of, name_of, rule_of

if TYPE_CHECKING:
    from onlinear.learning.dict_path import DictPath

#: columns a table has room for at first, and how many times as large it grows
FIRST_COLUMNS, GROWTH = 1 << 10, 4


class Conditions(NamedTuple):
    """What a call may change before it is refused: a model goes back to it then."""

    configuration: tuple[Any, Any, Any]
    pass_starts: list[tuple[int, int]]
    examples: int
    step_sums: np.ndarray
    class_weight: Any
    dense: bool
    names: Names | None


class Model(BlockLearner):
    """A learner with its classes and the names of its features; :meth:`create` makes both.

    ``classes`` are None for a regression. ``columns`` says how many columns rows have, where that is fixed; they may
    have ``column_names``. Else features are named: they are hashed to ``bits``, or each name has a column, or columns
    are indices, and the highest so far is ``width - 1``. A model that is ``adapting`` acts when its error rises.

    >>> from onlinear import losses, rules
    >>> model = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True))
    >>> _ = model.learn_one({"free": 1.0}, "spam"), model.learn_one({"lunch": 1.0}, "ham")
    >>> model.examples, model.classes.labels
    (2, ['spam', 'ham'])
    """

    #: what the command line calls the learner
    kind = "linear"
    _learning_path: DictPath | None = None  # of dicts into the learner

    def __init__(
        self,
        learner: Learner,
        classes: Classes | None,
        bits: int | None = None,
        *,
        columns: int | None = None,
        width: int | None = None,
        dense: bool = False,
        pass_starts: list[tuple[int, int]] | None = None,
    ) -> None:
        """Hold a learner, with updates and mistakes at the starts of its passes; without, the first pass begins."""
        self.learner, self.classes, self.bits = learner, classes, bits
        self.began_open = classes is not None and classes.open
        self.dense, self.columns = dense, columns
        self.width = (columns or 0) if width is None else width
        self.column_names: Sequence[Hashable] | None = None
        self.names: Names | None = None  # of the features of dicts
        self.adapting: Any = None  # what acts where its error rises: :class:`onlinear.drift.adapting.Adapting`
        self.class_weights = ClassWeights()
        self._targets_of_code: dict[int, Any] = {}
        self.pass_starts: list[tuple[int, int]] = []
        if pass_starts is None:
            self.start_pass()
        else:
            self.pass_starts = pass_starts

    @classmethod
    def create(
        cls,
        loss: Any,
        rule: Any,
        settings: Settings,
        classes: Classes | None,
        bits: int | None = None,
        *,
        columns: int | None = None,
        features: int | None = None,
        layout: type = DenseRows,
    ) -> Model:
        """A model that has learned nothing, with room for so many ``features``."""
        if isinstance(loss, str) or isinstance(rule, str):
            loss, rule = loss_of(loss), rule_of(rule)
        outputs = 1 if classes is None else outputs_for(classes, hasattr(loss, "slopes"))
        if features is None:
            features = first_columns(rule, bits) if columns is None else columns
        learner = Learner(loss, rule, features=features, outputs=outputs, settings=settings, layout=layout)
        return cls(learner, classes, bits, columns=columns)

    # -------------------------------------------------------------- figures

    @contextmanager
    def alone(self) -> Iterator[Learner]:
        """The learner, as of a whole example: nobody learns, and no class appears, until the caller is done."""
        learner = self.learner
        with learner.lock, learner.busy:
            yield learner

    @property
    def answering_slice(self) -> slice:
        """The outputs that answer; one behind them may stand for classes not yet seen."""
        if self.classes is None:
            return slice(0, 1)
        return slice(0, max(count_answering(self.classes, has_row_loss(self.learner)), 1))

    @property
    def loss_name(self) -> str | None:
        """What the loss is called; None for one of the user's own."""
        return name_of(self.learner.losses[0], LOSSES)

    @property
    def rule_name(self) -> str | None:
        """What the rule is called; None for one of the user's own."""
        return name_of(self.learner.rules[0], RULES)

    @property
    def slim(self) -> bool:
        """Whether it only answers."""
        return self.learner.slim

    @property
    def features(self) -> int:
        """How many columns the table has room for."""
        return self.learner.features

    @property
    def has_row_loss(self) -> bool:
        """Whether the loss sees the scores of all classes."""
        return has_row_loss(self.learner)

    @property
    def comes_to_rest(self) -> bool:
        """Whether there are scores at which no update is asked for."""
        return comes_to_rest(self.learner.losses[0])

    @property
    def rests_without_updates(self) -> bool:
        """Whether a pass without an update is the last that could change anything."""
        return rests_without_updates(self.learner)

    @property
    def examples(self) -> int:
        """How many examples were learned from, over all passes."""
        return self.learner.examples

    @property
    def mistakes(self) -> int:
        """How many examples were answered wrongly before they were learned."""
        return int(self.learner.mistakes[self.answering_slice].sum())

    @property
    def updates(self) -> int | list[int]:
        """How many examples changed the weights; one number for each class of several, one against the rest."""
        updates = self.learner.updates[self.answering_slice]
        if has_row_loss(self.learner) or len(updates) == 1 or self.classes is None:
            return self.updates_in_all()
        found: list[int] = updates[self.classes.order].tolist()
        return found

    def updates_in_all(self) -> int:
        """The updates of all outputs; of a row loss, where several move at once, the examples that moved any."""
        updates = self.learner.updates[self.answering_slice]
        if not has_row_loss(self.learner) or len(updates) < 2:
            return int(updates.sum())
        slopes = np.zeros(len(updates))
        self.learner.losses[0].slopes(np.zeros(len(updates)), 0, slopes)
        pairs = np.count_nonzero(slopes) == 2  # an update moves the class and its rival
        return int(updates.sum()) // 2 if pairs else int(updates.max())

    @property
    def loss(self) -> float:
        """The mean loss of the answers, each given before its example was learned from."""
        totals = self.totals()
        return totals.loss / totals.importance if totals.importance > 0.0 else 0.0

    def totals(self) -> Totals:
        """The sums as of now."""
        return self._totals(self.learner.examples, self.learner.counters.figures())

    def history(self) -> list[Totals]:
        """The sums after 1, 2, 4, 8, ... examples."""
        return [self._totals(1 << k, figures) for k, figures in enumerate(self.learner.counters.history)]

    def marks(self) -> list[Mark]:
        """Mean loss and mistakes after 1, 2, 4, 8, ... examples and now."""
        return self.learner.marks(self.answering_slice, has_row_loss(self.learner))

    def _totals(self, examples: int, figures: np.ndarray) -> Totals:
        losses, mistakes, importance = figures[self.answering_slice].T
        loss = losses.mean() if has_row_loss(self.learner) else losses.sum()
        return Totals(examples, int(mistakes.sum()), float(loss), float(importance[0]))

    def start_pass(self) -> None:
        """Begin a pass over the rows."""
        self.learner.start_pass()
        self.pass_starts.append((self.updates_in_all(), self.mistakes))

    def passes(self) -> list[tuple[int, int]]:
        """Updates and mistakes in each pass; what comes after the last one belongs to it."""
        starts = [*self.pass_starts, (self.updates_in_all(), self.mistakes)]
        return [(end[0] - start[0], end[1] - start[1]) for start, end in pairwise(starts)]

    # -------------------------------------------------------------- how it learns

    def snapshot(self) -> Predictor:
        """What has been learned so far, for answers only: nothing will change it."""
        return Predictor.of(self.learner, self.classes, self.known_features, self.names)

    def change_configuration(self, loss: Any, rule: Any, settings: Settings) -> bool:
        """Go on with another loss, rule or settings, from the next example on; whether anything is another."""
        learner = self.learner
        made = Learner(loss, rule, features=0, settings=settings)
        fixed = unchangeable_part(learner, made)
        if fixed is not None:
            raise Refused(f"{fixed} cannot change while a model learns: set it back, or call fit to start anew")
        if identify_configuration(made) == identify_configuration(learner):
            return False
        with learner.lock:
            if learner.examples and not step_alike(learner, made):
                learner.counters.forget_step_sums()  # a mistake bound is of steps all taken for the same reason
            learner.losses, learner.rules, learner.settings = made.losses, made.rules, made.settings
        self._learning_path = None  # it has copies of all three
        return True

    def conditions(self) -> Conditions:
        """What a call may change before it is refused."""
        learner = self.learner
        return Conditions(
            (learner.losses, learner.rules, learner.settings),
            self.pass_starts,
            learner.examples,
            learner.counters.step_sums,
            self.class_weights.given,
            self.dense,
            self.names,
        )

    def restore(self, before: Conditions) -> None:
        """Go back to the conditions of before a call that was refused."""
        learner = self.learner
        self.pass_starts, self.class_weights.given, self.dense = before.pass_starts, before.class_weight, before.dense
        self.names = before.names
        self._learning_path = None
        with learner.lock, learner.busy:
            learner.losses, learner.rules, learner.settings = before.configuration
            if learner.examples == before.examples:  # else another thread has learned meanwhile, by dicts
                learner.counters.restore_step_sums(before.step_sums)

    # -------------------------------------------------------------- classes

    def checked_codes(self, labels: np.ndarray, importance: np.ndarray) -> np.ndarray:
        """The codes of labels, -1 for those of new classes; all are refused if one cannot be learned."""
        known = self.classes
        assert known is not None
        present = importance > 0.0
        codes = known.checked_codes(labels, present)
        new = labels[(codes < 0) & present]
        if new.size:
            check_new_labels(known, self.learner, new, present)
        return codes

    def add_class(self, label: Hashable) -> int:
        """Let a new class appear; its code."""
        assert self.classes is not None
        code = add_class(self.classes, self.learner, label)
        self._targets_of_code = {}
        return code

    def name_classes(self, named: np.ndarray) -> None:
        """Close the classes, if they are open: those named that were not seen yet join."""
        known = self.classes
        assert known is not None
        if known.open and all(label in set(named.tolist()) for label in known.labels):
            for label in named.tolist():
                if label not in known.codes:
                    self.add_class(label)
            known.open = False
        known.check_named(named)

    def weigh_outputs(self, weights: np.ndarray | None) -> None:
        """Let the weights of classes, in order, act on each class's own output; None is 1 for all."""
        negative: Any = 1.0
        positive: Any = 1.0 if weights is None else weights
        if weights is not None and self.learner.outputs == 1:
            negative, positive = weights
        with self.learner.lock:
            self.learner.counters.weigh_targets(negative, positive)

    # -------------------------------------------------------------- learning rows

    def learn_rows(self, rows: Rows, labels: np.ndarray, importance: np.ndarray) -> None:
        """Learn rows in order; what cannot be learned is refused before any weight moves.

        ``labels`` are numbers for a regression, and then finite.
        """
        batch = Batch(rows, None, importance, self.column_names)  # type: ignore[arg-type]
        if self.classes is None:
            batch.targets = Numbers(labels)
            self.learn_batch(batch, 0, len(importance))
        else:
            self.learn_labels(batch, labels, self.checked_codes(labels, importance))

    def learn_row(self, rows: Rows, code: int) -> bool:
        """Learn one row of importance 1 and a known class; False, and nothing was done, where that takes more."""
        assert self.classes is not None
        weights = self.class_weights
        if weights.given == "balanced":
            return False
        targets = self._targets_of_code.get(code)
        if targets is None:
            targets = self._targets_of_code[code] = targets_for(self.classes, np.array([code]), self.learner)
        if weights.given is None or weights.act_on_outputs(self.classes):
            importance = ONE_ROW
        else:
            importance = np.array([weights.importance_of(self.classes.labels[code])])
        self.learner.learn(Batch(rows, targets, importance))
        return True

    def learn_labels(
        self,
        batch: Batch,
        labels: np.ndarray,
        codes: np.ndarray,
        label_of: Callable[[np.ndarray, int], Hashable] = label_at,
    ) -> None:
        """Learn the rows in order, with their labels' codes, which are -1 for new classes."""
        assert self.classes is not None
        present = batch.importance > 0.0
        if not batch.sound and ((codes < 0) & present).any():
            check_rows(batch.rows, batch.names)

        def learn(start: int, stop: int) -> None:
            self._learn_codes(batch, codes, start, stop)

        self.classes.learn_in_order(labels, codes, present, learn, self.add_class, label_of)

    def _learn_codes(self, batch: Batch, codes: np.ndarray, start: int, stop: int) -> None:
        """Learn the rows from one to another, whose classes are all known."""
        assert self.classes is not None
        if start == stop:
            return
        importance, before = batch.importance, self.learner.examples
        weights, weighed = self.class_weights, importance
        if weights.given is not None:
            factors = weights.factors(self.classes, codes, importance, range(start, stop))
            weighed = importance if factors is None else importance * factors
        targets = targets_for(self.classes, codes, self.learner)
        try:
            self.learn_batch(Batch(batch.rows, targets, weighed, batch.names, batch.sound), start, stop)
        finally:
            if weights.given == "balanced":
                learned = self.learner.examples - before
                weights.count(self.classes, codes[start:stop][importance[start:stop] > 0.0][:learned])

    def learn_batch(self, batch: Batch, start: int, stop: int) -> None:
        """Learn rows with their targets, from one to another: where all rows but those of one compiled call come by."""
        if self.adapting is not None:
            self.adapting.learn(self.learner, batch, start, stop)
        else:
            self.learner.learn(batch, None if (start, stop) == (0, len(batch.importance)) else np.arange(start, stop))

    def make_room(self, width: int) -> None:
        """Let the table have so many columns at least."""
        self.width = max(self.width, width)
        columns = self.learner.features
        while columns < self.width:  # a matrix is never larger than it must be
            columns = self.width if self.learner.kind == "matrix" else max(GROWTH * columns, FIRST_COLUMNS)
        if columns > self.learner.features:
            self.learner.grow(columns)

    # -------------------------------------------------------------- learning blocks of a stream

    def _learn_block(self, block: Block) -> None:
        learn_linear_block(self, block)

    # -------------------------------------------------------------- learning dicts

    def learn_one(self, x: Mapping[Any, Any], y: Any, importance: float = ONE) -> Any:
        """Learn from one example, a dict of names to numbers or texts; answer the score it had before."""
        return self.learn_number(x, y, importance) if self.classes is None else self.learn_label(x, y, importance)

    # A function as a method is one call less than a method that calls it, for each row.
    learn_label, _learn_label_slowly = learn_label, learn_label_slowly
    learn_number, _learn_number_slowly = learn_number, learn_number_slowly

    def read_dicts(self, rows: Sequence[Mapping[Any, Any]]) -> SparseRows:
        """Dicts as sparse rows; the table has room for their names."""
        return read_dicts(self, rows)

    def dict_path(self) -> DictPath:
        """The way of dicts to the learner, with the classes of now. Nobody else changes the model meanwhile."""
        return dict_path(self)

    def cap_names(self, cap: int | None) -> None:
        """Take another cap of names."""
        cap_names(self, cap)

    @property
    def known_features(self) -> int | None:
        """How many features have a name: the table has room for more. None where it has not."""
        named = self.columns is None and isinstance(self.names, ExactNames)
        return self.names.size if named else None  # type: ignore[union-attr]

    # -------------------------------------------------------------- copies

    def copy(self) -> Model:
        """A model that goes on from here on its own; what is learned meanwhile stays out."""
        twin = Model.__new__(Model)
        twin.__dict__.update(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        learner = self.learner
        with learner.lock, learner.busy:
            state = dict(vars(self))
            for name in ("_learning_path", "_coded"):  # addresses mean nothing elsewhere
                state.pop(name, None)
            state["learner"] = learner.copy_unlocked()
            for name in ("names", "classes"):
                if state.get(name) is not None:
                    state[name] = state[name].copy()
            state |= {
                "pass_starts": list(self.pass_starts),
                "class_weights": self.class_weights.copy(),
                "_targets_of_code": {},
            }
        return state


def first_columns(rule: Any, bits: int | None) -> int:
    """The columns there is room for before the first row: none in a matrix, never larger than it must be."""
    if bits is not None:
        return 1 << bits
    return 0 if kind_of(type(rule)) == "matrix" else FIRST_COLUMNS
