"""LinearRegressor: targets are numbers, and so are answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import Rows, importance_of, numbers_of, open_up
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Numbers
from onlinear.estimators.checks import (
    check_rows_and_targets,
    checked_rows,
    importance_for,
    loop_rows,
    one_row,
    records,
    rows_to_score,
    targets_in,
)
from onlinear.estimators.linear import DataShape, LinearEstimator, Start, undo_if_refused
from onlinear.estimators.passes import regressor_seed
from onlinear.learning.dict_rows import ONE_ROW, learn_number
from onlinear.system.locks import estimator_lock


class LinearRegressor(RegressorMixin, LinearEstimator):
    """A linear regressor."""

    _flat = True

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearRegressor:
        """Learn from these rows, in the order in which they come, after what was learned before.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (rows, features)
        y : numbers, one a row
        sample_weight : importance of each row; 0 is a row absent
        """
        if sample_weight is None:
            with estimator_lock(self):
                if self._learn_one_row(X, y):
                    return self
        with undo_if_refused(self):
            self._learn_more(X, y, sample_weight)
        return self

    def _learn_one_row(self, X: Any, y: Any) -> bool:
        """Learn one ordinary row at once; False if it has to go the long way."""
        if self._settled is None:  # nothing was learned, or a parameter was set
            return False
        rows = one_row(X, self._quick_features)
        model: Any = self._model
        if rows is None or (type(rows) is DenseRows) is not model.dense:
            return False
        if type(y) is not np.ndarray or y.shape != (1,) or y.dtype.kind not in "fiu":
            return False
        target = float(y[0])
        if not np.isfinite(target):
            return False
        model.learn_rows(rows, np.array([target]), ONE_ROW)
        return True

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._refuse_slim()
        model = self._model
        if self._settled is None:
            self._check_parameters()
        self._refuse_dicts()
        X, y = check_rows_and_targets(self, X, y, reset=model is None, numbers=True)
        rows = loop_rows(X)
        numbers = open_up(np.ascontiguousarray(numbers_of(y, len(y))))
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        if model is None:
            model = self._start(X.shape[1], sparse)
            self._data_type = X.dtype
        else:
            self._refresh(sparse)
        model.learn_rows(rows, numbers, importance)

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, start: Start, keep: bool = False
    ) -> tuple[Rows, Any, np.ndarray, np.ndarray]:
        """Check a training set, create the model; answer rows, targets, importance and the numbers."""
        self._check_parameters()
        X, y = check_rows_and_targets(self, X, y, reset=True, numbers=True)
        rows = loop_rows(X)
        numbers = open_up(np.ascontiguousarray(numbers_of(y, len(y))))
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        if not (keep and self._can_go_on(X, sparse)):
            self._begin_at(self._create(DataShape(X.shape[1], sparse), None), start)
            self._data_type = X.dtype
        return rows, Numbers(numbers), importance, numbers

    def _shuffle_seed(self: Any) -> int:
        return regressor_seed(self.random_state)

    learn_one = learn_number

    def _learn_number_slowly(self, x: Mapping[Any, Any], target: float, importance: float) -> float:
        """Learn the first example, or one after a parameter was set, or one that takes more than a compiled call."""
        if self._learning_path is not None:
            return self._model._learn_number_slowly(x, target, importance)  # type: ignore[union-attr]
        with undo_if_refused(self):
            return self._model_for_dicts()._learn_number_slowly(x, target, importance)

    def learn_many(self, rows: Any, y: Any, importance: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A row of a frame is the dict of its cells, as they are; :func:`onlinear.open_stream` reads more into a table:
        blanks around a text do not count there, and a category that is a number is a name.
        """
        rows = records(rows)
        targets = numbers_of(y if isinstance(y, np.ndarray) else targets_in(y), len(rows))
        weights = importance_of(importance, len(rows))
        with undo_if_refused(self):
            model = self._model_for_dicts()
            model.learn_rows(model.read_dicts(rows), targets, weights)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The scores of the rows."""
        check_is_fitted(self)
        return self._predictor().predict(rows_to_score(checked_rows(self, X)))

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The score; 0 before the first example. Changes nothing."""
        path = self._path
        if path is not None:
            view = path.view
            score = view.answer(view.place_at, id(x))
            if score == score:
                return score
        with estimator_lock(self):
            return 0.0 if self._learner is None else float(self._renew_path().scores(x)[0])
