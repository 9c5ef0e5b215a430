"""Model: a learner, the classes it tells apart or the numbers it learns, and where the names of its features lead.

It is what estimators, the command line and the selection hold. It learns blocks of a stream, rows in memory and dicts;
new classes appear, and the table grows, here and nowhere else. It does without scikit-learn, which is slow to import.
A model is saved as the ``OnlineClassifier`` or ``OnlineRegressor`` that has learned the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch, Rows, check_rows, plain_number
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Numbers
from onlinear.data.whole_numbers import as_floats
from onlinear.errors import BadInput, BadRow, Diverged, OnlinearError, Refused, TooManyNames
from onlinear.features.blocks import Block
from onlinear.features.names import ExactNames, HashedNames, without_absent
from onlinear.kernels.learn.bank import kind_of, shape_of
from onlinear.learning.classes import (
    NUMBER,
    TEXT,
    Classes,
    add_class,
    answering,
    as_array,
    check_new_labels,
    decoder_of,
    has_row_loss,
    kind_of_label,
    label_at,
    outputs_for,
    plain,
    refuse_fractions,
    targets_for,
)
from onlinear.learning.learner import Learner, Mark, Settings
from onlinear.learning.predictor import Predictor
from onlinear.learning.progress import Totals
from onlinear.learning.rest import comes_to_rest, rests_without_updates
from onlinear.learning.streamed import LearnsBlocks
from onlinear.registry import LOSSES, RULES, loss_of, name_of, rule_of
from onlinear.system.interrupts import uninterrupted

if TYPE_CHECKING:
    from onlinear.learning.dict_path import DictPath

Names = ExactNames | HashedNames

#: columns a table has room for at first, and how many times as large it grows
FIRST_COLUMNS, GROWTH = 1 << 10, 4
#: what to do about classes of a file that are too many
ADVICE_FOR_FILES = (
    "name another column as --target, and this one as --ignore; otherwise take fewer --bits, or name all classes with "
    "--classes, and they may take what they take"
)
#: the importance of an example that is given none: this very object needs no look
ONE = 1.0
#: the importance of one row alone
ONE_ROW = np.ones(1)
#: the types of most numbers that are no floats
NUMBERS = frozenset([np.float64, np.float32, np.int64, np.int32, int, bool])


class Conditions(NamedTuple):
    """What a call may change before it is refused: a model goes back to it then."""

    recipe: tuple[Any, Any, Any]
    pass_starts: list[tuple[int, int]]
    examples: int
    step_sums: np.ndarray
    class_weight: Any
    dense: bool
    names: Names | None


# A model and the estimator that holds it have the two functions that follow in common: one call less for each row.


def learn_label(self: Any, x: Mapping[Any, Any], y: Hashable, importance: float = ONE) -> Any:
    """Learn from one example; answer the score it had before.

    That is one number for up to two classes (positive for the second of ``classes_``), else an array in the order
    of ``classes_``. A label may be anything hashable, and new at any time.

    >>> from onlinear import OnlineClassifier
    >>> spam = OnlineClassifier()
    >>> spam.learn_one({"free": 1, "hour": "night"}, "spam")
    0.0
    >>> _ = spam.learn_one({"lunch": 1, "hour": "noon"}, "ham")
    >>> spam.predict_one({"free": 1})
    'spam'
    """
    path = self._learning_path
    if path is None or (importance is not ONE and not is_one(importance)):
        return self._learn_label_closely(x, y, importance)
    try:
        target = path.targets[y]
    except (KeyError, TypeError):
        return self._learn_label_closely(x, y, importance)
    view = path.view
    decoder = view.decoder
    turn = decoder.turn
    if turn:
        score = view.learn(view.place_at, id(x), target, 1.0)  # NaN if that is not enough
        if score == score:
            return turn * score
    else:
        scores = view.learn_scores(x, target, 1.0)
        if scores is not None:
            return scores[decoder.order]
    return self._learn_label_closely(x, y, importance)


def learn_number(self: Any, x: Mapping[Any, Any], y: float, importance: float = ONE) -> float:
    """Learn from one example; answer the score it had before.

    >>> from onlinear import OnlineRegressor
    >>> rent = OnlineRegressor()
    >>> rent.learn_one({"rooms": 3, "town": "Bern"}, 1900.0)
    0.0
    """
    kind = type(y)
    try:
        target = y if kind is float else float(y) if kind in NUMBERS else plain_number(y, "the target")
    except OverflowError:
        target = plain_number(y, "the target")  # which says so
    if target - target != 0.0:  # infinity or NaN: quicker than isfinite
        raise BadInput(f"the target is {target}: drop the example or mend it")
    path = self._learning_path
    if path is not None and (importance is ONE or is_one(importance)):
        view = path.view
        score: float = view.learn(view.place_at, id(x), target, 1.0)
        if score == score:
            return score
    answer: float = self._learn_number_closely(x, target, importance)
    return answer


class Model(LearnsBlocks):
    """A learner with its classes and the names of its features.

    ``classes`` are None for a regression. ``columns`` says how many columns rows have, where that is fixed; they may
    have ``column_names``. Else features are named: they are hashed to ``bits``, or each name has a column, or columns
    are indices, and the highest so far is ``width - 1``. A model that is ``adapting`` acts when its error rises.

    ``class_weight`` is a dict from label to weight, or "balanced" by the counts so far: a factor on the importance of a
    class's rows, unless it ``weighs_outputs``, as scikit-learn does.

    >>> from onlinear import losses, rules
    >>> model = Model(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True))
    >>> _ = model.learn_one({"free": 1.0}, "spam"), model.learn_one({"lunch": 1.0}, "ham")
    >>> model.examples, model.classes.labels
    (2, ['spam', 'ham'])
    """

    #: what the command line calls the learner
    kind = "linear"
    _learning_path: DictPath | None = None  # of dicts into the learner

    def __init__(
        self,
        loss: Any,
        rule: Any,
        settings: Settings,
        classes: Classes | None,
        bits: int | None = None,
        *,
        columns: int | None = None,
        features: int | None = None,
        layout: type = DenseRows,
    ) -> None:
        if isinstance(loss, str) or isinstance(rule, str):
            loss, rule = loss_of(loss), rule_of(rule)
        outputs = 1 if classes is None else outputs_for(classes, hasattr(loss, "slopes"))
        if features is None:
            features = first_columns(rule, bits) if columns is None else columns
        learner = Learner(loss, rule, features=features, outputs=outputs, settings=settings, facing=layout)
        self._hold(learner, classes, bits, dense=False, width=columns or 0, columns=columns)
        self.pass_starts: list[tuple[int, int]] = []
        self.start_pass()

    @classmethod
    def of(
        cls,
        learner: Learner,
        classes: Classes | None,
        bits: int | None,
        dense: bool,
        passes: list[tuple[int, int]],
        columns: int | None = None,
    ) -> Model:
        """The model that this learner is part of; ``passes`` are updates and mistakes at their starts."""
        model = cls.__new__(cls)
        model._hold(learner, classes, bits, dense, learner.features, columns)
        model.pass_starts = passes
        return model

    def _hold(
        self, learner: Learner, classes: Classes | None, bits: int | None, dense: bool, width: int, columns: int | None
    ) -> None:
        self.learner, self.classes, self.bits = learner, classes, bits
        self.opened = classes is not None and classes.open
        self.dense, self.width, self.columns = dense, width, columns
        self.column_names: Sequence[Hashable] | None = None
        self.names: Names | None = None  # of the features of dicts
        self.adapting: Any = None  # what acts where its error rises: :class:`onlinear.drift.adapting.Adapting`
        self.class_weight: Any = None
        self.weighs_outputs = False  # whether a class's weight acts on that class's own output
        self.counts: dict[Hashable, int] = {}  # the examples of each class, where its weight depends on them
        self._targets_of_code: dict[int, Any] = {}

    # -------------------------------------------------------------- figures

    @contextmanager
    def alone(self) -> Iterator[Learner]:
        """The learner, as of a whole example: nobody learns, and no class appears, until the caller is done."""
        learner = self.learner
        with learner.lock, learner.busy:
            yield learner

    @property
    def answering(self) -> slice:
        """The outputs that answer; one behind them may stand for classes not yet seen."""
        if self.classes is None:
            return slice(0, 1)
        return slice(0, max(answering(self.classes, has_row_loss(self.learner)), 1))

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
        return int(self.learner.mistakes[self.answering].sum())

    @property
    def updates(self) -> int | list[int]:
        """How many examples changed the weights; one number for each class of several, one against the rest."""
        updates = self.learner.updates[self.answering]
        if has_row_loss(self.learner) or len(updates) == 1 or self.classes is None:
            return self.updates_in_all()
        found: list[int] = updates[self.classes.order].tolist()
        return found

    def updates_in_all(self) -> int:
        """The updates of all outputs; of a row loss, where several move at once, the examples that moved any."""
        updates = self.learner.updates[self.answering]
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
        return self._totals(self.learner.examples, self.learner.figures())

    def history(self) -> list[Totals]:
        """The sums after 1, 2, 4, 8, ... examples."""
        return [self._totals(1 << k, figures) for k, figures in enumerate(self.learner.history)]

    def marks(self) -> list[Mark]:
        """Mean loss and mistakes after 1, 2, 4, 8, ... examples and now."""
        return self.learner.marks(self.answering, has_row_loss(self.learner))

    def _totals(self, examples: int, figures: np.ndarray) -> Totals:
        losses, mistakes, importance = figures[self.answering].T
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

    def change_recipe(self, loss: Any, rule: Any, settings: Settings) -> bool:
        """Go on with another loss, rule or settings, from the next example on; whether anything is another."""
        learner = self.learner
        made = Learner(loss, rule, features=0, settings=settings)
        fixed = unchangeable(learner, made)
        if fixed is not None:
            raise Refused(f"{fixed} cannot change while a model learns: set it back, or call fit to start anew")
        if recipe_of(made) == recipe_of(learner):
            return False
        with learner.lock:
            if learner.examples and not steps_alike(learner, made):
                learner.forget_step_sums()  # a mistake bound speaks of steps all taken for the same reason
            learner.losses, learner.rules, learner.settings = made.losses, made.rules, made.settings
        self._learning_path = None  # it has copies of all three
        return True

    def conditions(self) -> Conditions:
        """What a call may change before it is refused."""
        learner = self.learner
        recipe = learner.losses, learner.rules, learner.settings
        sums = learner.step_sums()
        return Conditions(recipe, self.pass_starts, learner.examples, sums, self.class_weight, self.dense, self.names)

    def restore(self, before: Conditions) -> None:
        """Go back to the conditions of before a call that was refused."""
        learner = self.learner
        self.pass_starts, self.class_weight, self.dense = before.pass_starts, before.class_weight, before.dense
        self.names = before.names
        self._learning_path = None
        with learner.lock, learner.busy:
            learner.losses, learner.rules, learner.settings = before.recipe
            if learner.examples == before.examples:  # else another thread has learned meanwhile, by dicts
                learner.restore_step_sums(before.step_sums)

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

    @property
    def by_output(self) -> bool:
        """Whether class weights act on each class's own output, not on the row."""
        closed = self.classes is not None and not self.classes.open
        return self.weighs_outputs and closed and self.class_weight != "balanced"

    def weigh_outputs(self, weights: np.ndarray | None) -> None:
        """Let the weights of classes, in order, act on each class's own output; None is 1 for all."""
        learner = self.learner
        if weights is None:
            learner.weigh_targets(1.0, 1.0)
        elif learner.outputs == 1:
            learner.weigh_targets(*weights)
        else:
            learner.weigh_targets(1.0, weights)

    def _class_importance(self, label: Hashable) -> float:
        """What a class's weight makes of the importance of its rows."""
        if label not in self.class_weight:
            check_kinds(self.class_weight, label)
        return float(self.class_weight.get(label, 1.0))

    def _class_factors(self, codes: np.ndarray, importance: np.ndarray, rows: range) -> np.ndarray | None:
        """The factor on the importance of each row; None where all are 1."""
        if self.class_weight is None or self.by_output:
            return None
        assert self.classes is not None
        if self.class_weight != "balanced":
            table = np.array([self._class_importance(label) for label in self.classes.labels])
            return table[codes]
        return self._balance(codes, importance, rows)

    def _balance(self, codes: np.ndarray, importance: np.ndarray, rows: range) -> np.ndarray:
        """``examples / (classes * examples of this class)``, of those so far, the row itself included."""
        assert self.classes is not None
        factors = np.ones(len(codes))
        counts = [self.counts.get(label, 0) for label in self.classes.labels]
        total = sum(counts)
        for row in rows:
            if importance[row] > 0.0:
                total += 1
                counts[codes[row]] += 1
                factors[row] = total / (len(counts) * counts[codes[row]])
        return factors

    def count(self, codes: np.ndarray) -> None:
        """Count the examples of each class, which its weight depends on if they are balanced."""
        assert self.classes is not None
        counts = np.bincount(codes, minlength=len(self.classes)).tolist()
        for label, count in zip(self.classes.labels, counts, strict=True):
            self.counts[label] = self.counts.get(label, 0) + count

    # -------------------------------------------------------------- learning rows

    def learn_rows(self, rows: Rows, labels: np.ndarray, importance: np.ndarray) -> None:
        """Learn rows in order; what cannot be learned is refused before any weight moves.

        ``labels`` are numbers for a regression, and then finite.
        """
        batch = Batch(rows, None, importance, self.column_names)  # type: ignore[arg-type]
        if self.classes is None:
            batch.targets = Numbers(labels)
            self._learn(batch, 0, len(batch))
        else:
            self._learn_labels(batch, labels, self.checked_codes(labels, importance))

    def learn_row(self, rows: Rows, code: int) -> bool:
        """Learn one row of importance 1 and a known class; False, and nothing was done, where that takes more."""
        assert self.classes is not None
        if self.class_weight == "balanced":
            return False
        targets = self._targets_of_code.get(code)
        if targets is None:
            targets = self._targets_of_code[code] = targets_for(self.classes, np.array([code]), self.learner)
        if self.class_weight is None or self.by_output:
            importance = ONE_ROW
        else:
            importance = np.array([self._class_importance(self.classes.labels[code])])
        self.learner.learn(Batch(rows, targets, importance))
        return True

    def _learn_labels(
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
        factors = self._class_factors(codes, importance, range(start, stop))
        weighed = importance if factors is None else importance * factors
        targets = targets_for(self.classes, codes, self.learner)
        try:
            self._learn(Batch(batch.rows, targets, weighed, batch.names, batch.sound), start, stop)
        finally:
            if self.class_weight == "balanced":
                learned = self.learner.examples - before
                self.count(codes[start:stop][importance[start:stop] > 0.0][:learned])

    def _learn(self, batch: Batch, start: int, stop: int) -> None:
        if self.adapting is not None:
            self.adapting.learn(self.learner, batch, start, stop)
        else:
            self.learner.learn(batch, None if (start, stop) == (0, len(batch)) else np.arange(start, stop))

    # -------------------------------------------------------------- learning blocks of a stream

    def _learn_block(self, block: Block) -> None:
        self._check_new_labels(block)
        if isinstance(block.rows, DenseRows):
            self._fit_columns(block.rows.values.shape[1])
        else:
            self.make_room(block.width)
        batch = Batch(block.rows, None, block.importance, sound=True)  # type: ignore[arg-type]
        before = self.learner.examples
        try:
            if self.classes is None:
                batch.targets = Numbers(as_floats(block.labels))
                self._learn(batch, 0, len(block))
            else:
                codes = self._codes(block.labels, self.classes)
                self._learn_labels(batch, block.labels, codes, lambda labels, row: plain(labels[row]))
        except Diverged as error:
            row = np.flatnonzero(block.importance > 0.0)[self.learner.examples - before]
            raise Diverged(f"{block.origin.error(int(row), '')}{error}") from None

    def _check_new_labels(self, block: Block) -> None:
        """Refuse a block with too many new classes, before anything of it is learned."""
        if self.classes is not None and self.classes.open:
            present = block.importance > 0.0
            new = block.labels[(self._codes(block.labels, self.classes) < 0) & present]
            dense = isinstance(block.rows, DenseRows)
            features = block.rows.values.shape[1] if dense else max(self.learner.features, block.width)
            check_new_labels(self.classes, self.learner, new, present, features=features, advice=ADVICE_FOR_FILES)

    def _fit_columns(self, width: int) -> None:
        """Dense rows have every column, and the table just as many from the first row on."""
        learner = self.learner
        if learner.examples == 0 and learner.features != width:
            self.learner = Learner(
                learner.losses, learner.rules, features=width, outputs=learner.outputs, settings=learner.settings
            )
        self.dense, self.width = True, width

    def make_room(self, width: int) -> None:
        """Let the table have so many columns at least."""
        self.width = max(self.width, width)
        columns = self.learner.features
        while columns < self.width:  # a matrix is never larger than it must be
            columns = self.width if self.learner.kind == "matrix" else max(GROWTH * columns, FIRST_COLUMNS)
        if columns > self.learner.features:
            self.learner.grow(columns)

    # -------------------------------------------------------------- learning dicts

    def learn_one(self, x: Mapping[Any, Any], y: Any, importance: float = ONE) -> Any:
        """Learn from one example, a dict of names to numbers or texts; answer the score it had before."""
        return self.learn_number(x, y, importance) if self.classes is None else self.learn_label(x, y, importance)

    learn_label = learn_label

    def _learn_label_closely(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        """Learn an example with a new label or name, an importance or a class weight."""
        assert self.classes is not None
        with uninterrupted, self.learner.lock:
            path = self.dict_path()
            importance = checked_importance(importance)
            if importance == 0.0:
                return path.view.decoder.shown(path.scores(x))
            code = self.classes.checked_code(y)
            if code < 0:
                code = self._new_label(path, x, y)
            codes = np.array([code])
            factors = self._class_factors(codes, ONE_ROW, range(1))
            factor = 1.0 if factors is None else float(factors[0])
            scores = self._learn_dict(path, x, float(code), importance * factor)
            if self.class_weight == "balanced":
                self.count(codes)
            return path.view.decoder.shown(scores)

    def _new_label(self, path: DictPath, x: Any, label: Hashable) -> int:
        """Let a class appear; but first the row must be one that can be read."""
        assert self.classes is not None
        path.names.look_up(x)
        check_new_labels(self.classes, self.learner, as_array([label]), ONE_ROW)
        code = self.add_class(label)
        self._tell_classes(path)
        return code

    learn_number = learn_number

    def _learn_number_closely(self, x: Mapping[Any, Any], target: float, importance: float) -> float:
        """Learn an example of a regression with a new name, or an importance."""
        importance = checked_importance(importance)
        with uninterrupted, self.learner.lock:
            path = self.dict_path()
            scores = self._learn_dict(path, x, target, importance) if importance > 0.0 else path.scores(x)
            return float(scores[0])

    def _learn_dict(self, path: DictPath, x: Mapping[Any, Any], target: float, importance: float) -> np.ndarray:
        """Learn a row that one compiled call alone could not; answer the scores of all outputs before."""
        try:
            return path.learn(x, target, importance)
        except TooManyNames as refusal:
            raise self._explained(refusal) from None

    def read_dicts(self, rows: Sequence[Mapping[Any, Any]], importance: np.ndarray) -> SparseRows:
        """Dicts as sparse rows; the table has room for their names, unless they have no importance."""
        path = self.dict_path()
        rows = without_absent(rows, importance, path.names)
        with self.alone():
            try:
                starts, columns, values = path.names.register_many(rows)
            except TooManyNames as refusal:
                raise self._explained(refusal) from None
            path.make_room(0)
        if starts[-1] <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return SparseRows(starts, columns, values)

    def _explained(self, refusal: TooManyNames) -> OnlinearError:
        """A name too many is an unknown column where the model was fitted on columns."""
        return refusal if self.columns is None else unknown_feature(refusal)

    def dict_path(self) -> DictPath:
        """The way of dicts to the learner, with the classes of now. Nobody else changes the model meanwhile."""
        from onlinear.learning.dict_path import DictPath  # whoever learns from arrays need not wait for it

        path = self._learning_path
        if path is None:
            path = DictPath(self.learner, self._names_of_dicts(), labels=self.classes is not None)
            self._tell_classes(path)
            self._learning_path = path
        elif self.classes is not None:
            weights_are_known = path.are_weighed is (self.class_weight is not None)
            if not weights_are_known or len(path.view.decoder.labels) != len(self.classes):
                self._tell_classes(path)
        return path

    def _names_of_dicts(self) -> Names:
        if self.columns is not None:
            names = range(self.columns) if self.column_names is None else self.column_names
            self.names = ExactNames(list(names), cap=self.columns)
        elif self.names is None:
            self.names = ExactNames() if self.bits is None else HashedNames(self.bits)
        return self.names

    def _tell_classes(self, path: DictPath) -> None:
        """Tell the way of dicts which output stands for which class."""
        classes = self.classes
        if classes is None:
            path.set_classes(0, 0)
            return
        row_loss = has_row_loss(self.learner)
        several = row_loss or len(classes) > 2
        path.set_classes(0 if several else 1, answering(classes, row_loss), decoder_of(classes, row_loss))
        path.are_weighed = self.class_weight is not None
        # labels whose examples need no second look
        quick = {} if path.are_weighed else classes.codes
        path.targets = {label: float(code) for label, code in quick.items()}

    def cap_names(self, cap: int | None) -> None:
        """Take another cap of names."""
        names = self.names
        if not isinstance(names, ExactNames) or names.cap == cap:
            return
        if cap is not None and cap < names.size:
            raise Refused(
                f"names_cap={cap}, and {names.size} names are known: give at least as many, or learn from "
                "the beginning with a clone"
            )
        names.cap = cap
        self._learning_path = None  # it has a copy of the cap

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
            state |= {"pass_starts": list(self.pass_starts), "counts": dict(self.counts), "_targets_of_code": {}}
        return state


# ------------------------------------------------------------------ recipes


def recipe_of(learner: Learner) -> Any:
    """What a learner learns with; tuples of different classes can be equal, so their classes come along."""
    loss, rule = learner.losses[0], learner.rules[0]
    return shape_of(loss), loss, shape_of(rule), rule, learner.settings[0]


def steps_alike(learner: Learner, made: Learner) -> bool:
    """Whether both step at the same rows, and move all weights alike; how far may differ."""
    return recipe_of(learner)[:3] == recipe_of(made)[:3] and learner.settings[0] == made.settings[0]


def unchangeable(learner: Learner, made: Learner) -> str | None:
    """What of a new recipe does not go with what a learner has gathered, with both values; None if all does."""
    before, after = learner.rules[0], made.rules[0]
    stateful = type(before) is not type(after) or (made.kind == "matrix" and before != after)
    if made.kind != learner.kind or (learner.kind != "uniform" and stateful):
        return f"the rule (from {before} to {after}, which keeps other numbers beside the weights)"
    if has_row_loss(made) != has_row_loss(learner):
        return f"the loss (from {learner.losses[0]} to {made.losses[0]}: one of them sees all classes at once)"
    if made._averages() != learner._averages():
        return "averaging (average=...)"
    if made._sleeps() != learner._sleeps():
        return "whether there is an L1 penalty" if learner.kind == "uniform" else "whether there is a penalty"
    return None


# ------------------------------------------------------------------ rows and labels


def first_columns(rule: Any, bits: int | None) -> int:
    """The columns there is room for before the first row: none in a matrix, never larger than it must be."""
    if bits is not None:
        return 1 << bits
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


def is_one(importance: Any) -> bool:
    """Whether an importance that was given is 1; an array is no number, whatever it holds."""
    return isinstance(importance, float | int) and importance == 1.0


def checked_importance(importance: Any) -> float:
    """An importance as a float."""
    if importance is ONE:
        return ONE
    number = plain_number(importance, "the importance")
    if not 0.0 <= number < math.inf:
        raise BadInput(f"the importance is {importance}: it must be a finite number, not negative; 0 ignores the row")
    return number


def unknown_feature(refusal: TooManyNames) -> BadRow:
    return BadRow(
        f"{refusal.args[0].partition(' would be')[0]} is unknown: the model was fitted on columns, and knows only "
        "those; leave the key out, or learn from dicts from the start"
    )


def check_kinds(weights: dict[Hashable, Any], label: Hashable) -> None:
    """Refuse weights of which none can ever act, since they name numbers and the labels are text, or the reverse."""
    kinds = {kind_of_label(named) for named in weights}
    if kinds in ({TEXT}, {NUMBER}) and kind_of_label(label) in {TEXT, NUMBER} - kinds:
        raise BadInput(
            f"class_weight names {next(iter(weights))!r:.40}, which is {kinds.pop()}, and the label {label!r:.40} is "
            f"{kind_of_label(label)}: name the labels as they are"
        )
