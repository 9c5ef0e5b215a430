"""Predictor: what a model has learned so far, for answers only. The one way from rows to labels and probabilities.

Nothing changes a predictor once it is made, so any number of threads may share one. A row gets the same bits alone and
in a table, and those of ``predict_one``: see :mod:`onlinear.kernels.learn.scoring`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.errors import Refused
from onlinear.features.blocks import Block
from onlinear.features.names import ExactNames, HashedNames
from onlinear.kernels.learn.scoring import link
from onlinear.learning.classes import Classes
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import answering_outputs
from onlinear.learning.reading import read_for_scoring
from onlinear.learning.table_copies import can_be_updated
from onlinear.learning.weights import ScoringWeights


class Answers:
    """What answers with the labels of a model: all there is from ``scores`` on."""

    #: the labels, sorted where they can be; None for numbers
    classes_: np.ndarray | None
    #: the same, in Python's own types
    labels: list[Hashable] | None
    loss: Any

    def _take_labels(self, classes: Classes | None) -> None:
        """Take over the labels of these classes."""
        self.classes_ = None if classes is None else classes.sorted
        self.labels = None if classes is None else [classes.labels[code] for code in classes.order.tolist()]

    def scores(self, rows: Any) -> np.ndarray:
        """The scores of an array, a sparse matrix, or the rows of a block."""
        raise NotImplementedError

    @property
    def outputs(self) -> int:
        """How many columns scores have."""
        raise NotImplementedError

    @property
    def _sees_pairs(self) -> bool:
        """Whether each of two classes has a score of its own."""
        return self.labels is not None and len(self.labels) == self.outputs == 2

    @property
    def has_probabilities(self) -> bool:
        """Whether scores stand for probabilities."""
        return self.labels is not None and hasattr(self.loss, "link")

    def decision(self, scores: np.ndarray) -> np.ndarray:
        """The scores as ``decision_function`` gives them: a vector where one for each row says it all."""
        if self._sees_pairs:
            return scores[:, 1] - scores[:, 0]
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def codes(self, scores: np.ndarray) -> np.ndarray:
        """Which of the labels has the highest score; a tie, or a score of 0 for the second of two, is the first's."""
        if scores.shape[1] == 1:
            return ((scores[:, 0] > 0.0) & (self.labels is not None and len(self.labels) == 2)).astype(np.intp)
        return scores.argmax(axis=1)

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each label: the loss's link of each score, made to add up to 1 over several classes."""
        if self.labels is None or not self.has_probabilities:
            raise Refused(f"the loss {type(self.loss).__name__} has no link: its scores are no probabilities")
        return probabilities_of(self.loss, len(self.labels), scores)

    def decision_function(self, rows: Any) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        return self.decision(self.scores(rows))

    def predict(self, rows: Any) -> np.ndarray:
        """The labels with the highest scores, or the numbers."""
        return self.answers(self.scores(rows))

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """The labels, or the numbers, that scores stand for."""
        return scores[:, 0] if self.classes_ is None else self.classes_[self.codes(scores)]

    def predict_proba(self, rows: Any) -> np.ndarray:
        """The probability of each label."""
        return self.probabilities(self.scores(rows))


class Predictor(Answers):
    """A snapshot of a model: weights, intercepts, the loss with its link, and the labels in the order of ``classes_``.

    ``scores`` have one column for a number or two classes, else one for each class. A loss that sees all scores of a
    row has one for each of two classes as well; :meth:`decision` makes one of them.

    >>> from onlinear import OnlineClassifier
    >>> spam = OnlineClassifier()
    >>> _ = spam.learn_one({"free": 1}, "spam"), spam.learn_one({"lunch": 1}, "ham")
    >>> snapshot = spam.snapshot()
    >>> _ = spam.learn_one({"free": 1}, "ham")
    >>> snapshot.predict_one({"free": 1})
    'spam'
    """

    def __init__(
        self,
        table: np.ndarray,
        scales: np.ndarray,
        intercepts: np.ndarray,
        loss: Any,
        classes: Classes | None,
        names: ExactNames | HashedNames | None = None,
    ) -> None:
        """Take over arrays that nobody else will change: ``table[column, output]`` times ``scales`` are the weights."""
        self._weights = ScoringWeights(table, scales, intercepts)
        self._names = names
        self.loss = loss
        self._take_labels(classes)

    @classmethod
    def of(
        cls,
        learner: Learner,
        classes: Classes | None,
        features: int | None = None,
        names: ExactNames | HashedNames | None = None,
        *,
        averaged: bool = True,
    ) -> Predictor:
        """A learner as of a whole example, with the first ``features`` of its columns; also beside one that learns."""
        with learner.lock, learner.busy:
            outputs, sign = answering_outputs(learner, classes)
            if averaged and can_be_updated(learner):
                return cls._of_copy(learner, outputs, sign, features, classes, names)
            weights, scales, intercepts = read_for_scoring(learner, slice(features), averaged)
            weights, intercepts = weights[:, outputs], intercepts[outputs]
            if sign < 0.0:
                weights, intercepts = 0.0 - weights, 0.0 - intercepts  # and no -0.0
            return cls(weights, scales[outputs], intercepts, learner.losses[0], classes, names)

    @classmethod
    def _of_copy(
        cls, learner: Learner, outputs: list[int], sign: float, features: int | None, classes: Any, names: Any
    ) -> Predictor:
        """As :meth:`of`, with weights of an earlier snapshot that nobody holds, as far as they have not changed."""
        columns = learner.features if features is None else min(features, learner.features)
        copies = learner.changes.copies_of(learner, outputs, sign)
        copy = copies.take(learner, columns)
        scales, intercepts = (numbers[outputs] for numbers in read_for_scoring(learner, slice(0))[1:])
        intercepts = 0.0 - intercepts if sign < 0.0 else intercepts
        predictor = cls(copy.weights[:columns], scales, intercepts, learner.losses[0], classes, names)
        copies.keep(copy, predictor._weights)
        return predictor

    @classmethod
    def of_weights(
        cls, weights: np.ndarray, intercepts: np.ndarray, loss: Any, classes: Classes | None, names: Any = None
    ) -> Predictor:
        """The weights that someone has assigned, as ``coef_`` has them."""
        table = weights.T
        if classes is not None and len(classes) == 2 and hasattr(loss, "slopes"):
            table = np.column_stack([np.zeros(len(table)), table])  # only the difference is known
            intercepts = np.append(0.0, intercepts)
        return cls(table.copy(), np.ones(table.shape[1]), intercepts.copy(), loss, classes, names)

    # -------------------------------------------------------------- what there is to see

    @cached_property
    def weights(self) -> np.ndarray:
        """A row for each class, one row for two classes or a number. Read-only."""
        return self._shared((self._weights.table * self._weights.scales).T)

    @cached_property
    def intercepts(self) -> np.ndarray:
        """One for each row of weights. Read-only."""
        return self._shared(self._weights.intercepts.copy())

    def _shared(self, numbers: np.ndarray) -> np.ndarray:
        numbers = np.ascontiguousarray(numbers[1:] - numbers[:1] if self._sees_pairs else numbers)
        numbers.flags.writeable = False
        return numbers

    # -------------------------------------------------------------- rows to scores, and on

    def scores(self, rows: Any) -> np.ndarray:
        """The scores of an array, a sparse matrix, or the rows of a block; columns without weights count nothing."""
        return self._weights.scores(rows.rows if isinstance(rows, Block) else rows)

    @property
    def outputs(self) -> int:
        """How many columns scores have."""
        return len(self._weights.intercepts)

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label, or the number, for a dict; None before the first example."""
        scores = self.scores(self._row(x))
        if self.labels is None:
            return float(scores[0, 0])
        return self.labels[int(self.codes(scores)[0])] if self.labels else None

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """The probability of each label for a dict."""
        found = self.probabilities(self.scores(self._row(x)))
        return dict(zip(self.labels or [], found[0].tolist(), strict=True))

    def _row(self, x: Mapping[Any, Any]) -> SparseRows:
        if self._names is None:
            raise Refused("the model has learned columns without names: give rows as an array or a sparse matrix")
        return row_of_a_table(*self._names.look_up(x))


def probabilities_of(loss: Any, classes: int, scores: np.ndarray) -> np.ndarray:
    """The probability of each class from scores ``[row, output]``, by the loss's own link."""
    found = np.ones((len(scores), classes))
    if classes < 2:
        return found
    link(loss, scores, found)
    return found


def row_of_a_table(columns: np.ndarray, values: np.ndarray) -> SparseRows:
    """A row as one of a table."""
    return SparseRows(np.array([0, len(columns)], np.int32), columns.astype(np.uint32, copy=False), values)
