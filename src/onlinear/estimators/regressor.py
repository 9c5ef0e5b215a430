"""What all regressors share: targets are numbers, and so are answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import Batch, Rows, numbers_of, open_up
from onlinear.data.rows import SparseRows
from onlinear.data.targets import Numbers
from onlinear.estimators.base import LinearEstimator, Start
from onlinear.estimators.checks import (
    all_or_nothing,
    checked,
    checked_rows,
    importance_for,
    loop_rows,
    one_row,
    whole,
)
from onlinear.estimators.one import PredictsOne
from onlinear.estimators.shuffles import regressor_seed

ONE = np.ones(1)


class LinearRegressor(PredictsOne, RegressorMixin, LinearEstimator):
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
            with whole(self):
                batch = self._one_row(X, y)
                if batch is not None:
                    self._learner.learn(batch)  # type: ignore[union-attr]
                    return self
        with all_or_nothing(self):
            self._learn_more(X, y, sample_weight)
        return self

    def _one_row(self, X: Any, y: Any) -> Batch | None:
        if self._learner is None or self._settled is None:  # a parameter was set
            return None
        rows = one_row(X, self._quick_features)
        if rows is None or type(rows) is not self._rows_kind:
            return None
        if type(y) is not np.ndarray or y.shape != (1,) or y.dtype.kind not in "fiu":
            return None
        target = float(y[0])
        if not np.isfinite(target):
            return None
        return Batch(rows, Numbers(np.array([target])), ONE)

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._refuse_slim()
        first = self._learner is None
        if self._settled is None:
            self._check_parameters(streaming=True)
        self._refuse_dicts()
        X, y = checked(self, X, y, reset=first, numbers=True)
        rows = loop_rows(X)
        numbers = open_up(np.ascontiguousarray(numbers_of(y, len(y))))
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        if first:
            self._start(X.shape[1], sparse=sparse)
            self._data_type = X.dtype
        else:
            self._refresh(sparse)
        self._learn_batch(rows, Numbers(numbers), importance)

    def _start(self, n_features: int, sparse: bool = True, growing: bool = False) -> None:
        """Create the learner for a stream."""
        self._create(self._recipe(n_features, sparse, growing), n_features, 1, sparse, growing)
        self.n_iter_ = 1
        self._begin_pass()

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, start: Start, keep: bool = False
    ) -> tuple[Rows, Any, np.ndarray, np.ndarray]:
        """Check a training set, create the learner; answer rows, targets, importance and the numbers."""
        self._check_parameters(streaming=False)
        X, y = checked(self, X, y, reset=True, numbers=True)
        rows = loop_rows(X)
        numbers = open_up(np.ascontiguousarray(numbers_of(y, len(y))))
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        if not (keep and self._goes_on(X, sparse)):
            self._create(self._recipe(X.shape[1], sparse), X.shape[1], 1, sparse)
            self._data_type = X.dtype
            self._begin_at(start, 1, X.shape[1])
        return rows, Numbers(numbers), importance, numbers

    def _goes_on(self, X: Any, sparse: bool) -> bool:
        learner = self._learner
        if learner is None or learner.features != X.shape[1] or self._growing:
            return False
        self._refresh(sparse)
        return True

    def _shuffle_seed(self: Any) -> int:
        return regressor_seed(self.random_state)

    def predict(self, X: Any) -> np.ndarray:
        """The scores of the rows."""
        check_is_fitted(self)
        return self._now().predict(loop_rows(checked_rows(self, X)))
