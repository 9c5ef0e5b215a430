"""One example at a time, and lists of them, for classifiers in dual form: rows that are dicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from onlinear.data.batch import importance_of
from onlinear.errors import OnlinearError, TooManyNames
from onlinear.estimators.checks import check_length, records, targets_in
from onlinear.estimators.linear import undo_if_refused
from onlinear.features.names import ExactNames
from onlinear.learning.classes import Classes, as_array, check_hashable
from onlinear.learning.dict_rows import checked_importance, unknown_feature
from onlinear.learning.dual.model import DualModel, room_for_names
from onlinear.system.locks import estimator_lock


class LearnsDicts:
    """``learn_one``, ``learn_many`` and ``predict_one`` for a classifier made of perceptrons in dual form."""

    _model: DualModel | None

    def learn_one(self: Any, x: Mapping[Any, Any], y: Hashable, importance: float = 1.0) -> Any:
        """Learn from one example, a dict of names to numbers or strings; answer the score it had before.

        That is one number for up to two classes (positive for the second of ``classes_``), else an array in the order
        of ``classes_``. A label may be anything hashable, and new at any time.

        >>> from onlinear import KernelPerceptron
        >>> model = KernelPerceptron("rbf", gamma=0.5)
        >>> _ = model.learn_one({"size": 1.0, "colour": "red"}, "apple"), model.learn_one({"size": 3.0}, "melon")
        >>> model.predict_one({"size": 0.8, "colour": "red"})
        'apple'
        """
        importance = checked_importance(importance)
        with undo_if_refused(self):
            self._check_steps(np.array([importance]))
            model = self._streaming()
            if importance == 0.0:
                scores = model.perceptrons.scores(self._known_row(x), model.outputs(), "last")
            else:
                code = model.classes.checked_code(y)
                model.check_budget(int(code < 0))
                ExactNames().register(x)  # what is wrong with it is said of it alone, not of a row of many
                table = self._table([x], importance)
                if code < 0:
                    code = model.add_class(y)
                scores = model.learn_codes(table, np.array([code]), np.array([importance]))[:, model.outputs()]
                self._has_gone_on()
        return float(scores[0, 0]) if scores.shape[1] == 1 else scores[0]

    def learn_many(self: Any, rows: Any, y: Sequence[Hashable], importance: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A row of a frame is the dict of its cells, as they are; :func:`onlinear.open_stream` reads more into a table:
        blanks around a text do not count there, and a category that is a number is a name.

        A bad row refuses them all.
        """
        given = targets_in(y)
        check_hashable(given)
        labels = as_array(given)
        rows = records(rows)
        check_length(len(rows), len(labels))
        weights = importance_of(importance, len(labels))
        chosen = np.flatnonzero(weights > 0.0)
        with undo_if_refused(self):
            self._check_steps(weights)
            model = self._streaming()
            model.check_labels(labels, weights)
            table = self._table(rows, weights.sum())
            model.learn_labels(table[chosen], labels[chosen], weights[chosen])
            self._has_gone_on()
        return self

    def predict_one(self: Any, x: Mapping[Any, Any]) -> Any:
        """The label for one example; None before the first. Changes nothing."""
        with estimator_lock(self):
            if self._model is None or not len(self._model.classes):
                return None
            return self._labels(self._scores(self._known_row(x))).tolist()[0]

    # -------------------------------------------------------------- names

    def _streaming(self: Any) -> DualModel:
        """The model that a dict is learned by."""
        self._validate_params()
        self._check_stream()
        model: DualModel
        model = self._start(0, np.float64, Classes(open=True)) if self._model is None else self._going_on()
        return model

    def _names_now(self: Any) -> ExactNames:
        """The names of the columns: of dicts those that came, of a table those that there are."""
        if self._model.names is not None:
            names: ExactNames = self._model.names
            return names
        if not hasattr(self, "n_features_in_"):
            return ExactNames()
        known = getattr(self, "feature_names_in_", range(self.n_features_in_))
        return ExactNames(list(known), cap=self.n_features_in_)

    def _table(self: Any, rows: list[Mapping[Any, Any]], importance: float) -> csr_matrix:
        """Dicts as a table with a column for each name, of which there may be new ones.

        They are read twice: names that were registered before a row is refused would be a trace of it.
        """
        names, model, alone = self._names_now(), self._model, ExactNames()
        parts = alone.register_many(rows)
        model.perceptrons.check(sparse(parts, alone.size), importance)
        try:
            parts = names.register_many(rows)
        except TooManyNames as refusal:
            raise explain_refusal(refusal, self) from None
        model.names = names
        if names.size > model.features:
            model.perceptrons.widen(room_for_names(names.size))
        return sparse(parts, model.features)

    def _known_row(self: Any, x: Mapping[Any, Any]) -> np.ndarray:
        """A dict as a table of one row, as far as its names are known."""
        columns, values = self._names_now().look_up(x)
        row = np.zeros((1, self._model.features))
        row[0, columns] = values
        return row


def sparse(parts: tuple[Any, Any, Any], width: int) -> csr_matrix:
    """Starts, columns and values of rows as a matrix."""
    starts, columns, values = parts
    return csr_matrix((values, columns.astype(np.int64), starts), shape=(len(starts) - 1, width))


def explain_refusal(refusal: TooManyNames, estimator: Any) -> OnlinearError:
    """A name too many is an unknown column where the model was fitted on columns."""
    return unknown_feature(refusal) if hasattr(estimator, "n_features_in_") else refusal
