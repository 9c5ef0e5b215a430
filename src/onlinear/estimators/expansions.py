"""Kernels as features, for streams: no example is kept, and any linear learner may follow.

Neither transformer learns anything from rows: ``fit`` looks at the number of columns only, and a row becomes the same
features whichever rows come with it.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations_with_replacement
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from onlinear.errors import BadInput
from onlinear.estimators.checks import FLOATS, FloatInterval, checked_rows, plausible, validate_rows
from onlinear.features.random_features import ROWS, Draws, cosines
from onlinear.learning.dual.perceptrons import dense

#: products that one table may have
MOST_PRODUCTS = 10_000_000


class Expansion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Rows with other columns, which depend on nothing but the row."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Look at how many columns there are."""
        self._validate_params()
        X = validate_rows(self, plausible(X), accept_sparse="csr", dtype=FLOATS)
        self._prepare(X.shape[1])
        return self

    def _prepare(self, features: int) -> None:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class RandomFeatures(Expansion):
    """Features whose inner products are about ``exp(-gamma |x - z|^2)``: the RBF kernel. Rahimi & Recht 2007.

    ``sqrt(2 / n) cos(w.x + b)`` with ``w`` from a normal distribution of variance ``2 gamma`` and ``b`` uniform on a
    circle. The error of an inner product is of the order of ``1 / sqrt(n_components)``.

    Parameters
    ----------
    n_components : how many features
    gamma : of the kernel
    random_state : seed of the draw

    >>> import numpy as np
    >>> features = RandomFeatures(5000, gamma=0.5).fit_transform([[0.0, 0.0], [1.0, 1.0]])
    >>> bool(abs(features[0] @ features[1] - np.exp(-1.0)) < 0.05)
    True
    """

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "gamma": [FloatInterval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(self, n_components: int = 100, *, gamma: float = 1.0, random_state: Any = 0) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.random_state = random_state

    def _prepare(self, features: int) -> None:
        draws = Draws(int(self.n_components), float(self.gamma), check_random_state(self.random_state))
        draws.make_room(features)
        self.weights_, self.offsets_ = draws.weights, draws.offsets
        self._n_features_out = int(self.n_components)

    def transform(self, X: Any) -> np.ndarray:
        """The features of each row."""
        check_is_fitted(self)
        X = checked_rows(self, X)
        answer = np.empty((X.shape[0], self._n_features_out), X.dtype)
        block = np.zeros((ROWS, X.shape[1]))
        for start in range(0, len(answer), ROWS):
            part = dense(X[start : start + ROWS])
            block[: len(part)] = part
            answer[start : start + ROWS] = cosines(block, self.weights_, self.offsets_)[: len(part)]
        return answer


class PolynomialProducts(Expansion):
    """Features whose inner products are ``(gamma x.z + coef0)^degree``: the polynomial kernel, exactly.

    All products of ``degree`` factors out of the columns times ``sqrt(gamma)`` and the constant ``sqrt(coef0)``, each
    times ``sqrt(n)``, where ``n`` is the number of orders in which its factors can stand. There are ``(features +
    degree) choose degree`` of them. (scikit-learn's ``PolynomialFeatures`` has these products without the factors.)

    >>> PolynomialProducts(degree=2, coef0=0.0).fit_transform([[1.0, 3.0]])
    array([[1.        , 4.24264069, 9.        ]])
    """

    _parameter_constraints = {
        "degree": [Interval(Integral, 1, None, closed="left")],
        "gamma": [FloatInterval(Real, 0, None, closed="neither")],
        "coef0": [FloatInterval(Real, 0, None, closed="left")],
    }

    def __init__(self, degree: int = 2, *, gamma: float = 1.0, coef0: float = 1.0) -> None:
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0

    def _prepare(self, features: int) -> None:
        columns = features + (self.coef0 > 0.0)
        count = math.comb(columns + self.degree - 1, self.degree)
        if count > MOST_PRODUCTS:
            raise BadInput(
                f"{features} columns have {count} products of degree {self.degree}, more than {MOST_PRODUCTS}: "
                "take KernelPerceptron, which need not form them, or a smaller degree"
            )
        factors = list(combinations_with_replacement(range(columns), self.degree))
        self.factors_ = np.array(factors, dtype=np.int64).reshape(count, self.degree)
        self.scales_ = np.sqrt([orderings(one) for one in factors])
        self._n_features_out = count

    def transform(self, X: Any) -> np.ndarray:
        """The products of each row."""
        check_is_fitted(self)
        X = dense(checked_rows(self, X))
        columns = [math.sqrt(self.gamma) * X]
        if self.coef0 > 0.0:
            columns.append(np.full((len(X), 1), math.sqrt(self.coef0), X.dtype))
        table = np.hstack(columns)
        answer = table[:, self.factors_[:, 0]] * self.scales_.astype(X.dtype)
        for place in range(1, self.degree):
            answer *= table[:, self.factors_[:, place]]
        return answer


def orderings(factors: tuple[int, ...]) -> int:
    """In how many orders these factors can stand.

    >>> orderings((0, 0, 1))
    3
    """
    return math.factorial(len(factors)) // math.prod(map(math.factorial, Counter(factors).values()))
