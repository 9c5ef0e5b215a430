"""``PassiveAggressiveClassifier`` and ``PassiveAggressiveRegressor``: a new home for what scikit-learn is removing."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from onlinear import losses, rules
from onlinear.estimators.checks import interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.linear import DataShape, Start
from onlinear.estimators.passes import fit_epochs
from onlinear.estimators.regressor import LinearRegressor
from onlinear.estimators.sgd import AVERAGE, CLASSES, EPOCHS, SPARSE_INTERCEPT_RATE
from onlinear.learning.configuration import Configuration, Settings

AGGRESSIVENESS = {"C": [interval_of(rules.PA1, "C")]}


def passive_configuration(estimator: Any, loss: Any, first: str, shape: DataShape) -> Configuration:
    """The configuration of either class; under the ``first`` of its losses' names it is PA-I, else PA-II."""
    settings = Settings(
        average=float(estimator.average),
        intercept=bool(estimator.fit_intercept),
        intercept_rate=SPARSE_INTERCEPT_RATE if shape.sparse else 1.0,
        intercept_in_norm=False,
    )
    rule = rules.PA1 if estimator.loss == first else rules.PA2
    return Configuration(loss, rule(float(estimator.C)), settings)


class PassiveAggressiveClassifier(LinearClassifier):
    """Passive-aggressive classifier: a drop-in for scikit-learn's. Crammer et al. 2006.

    ``loss="hinge"`` is PA-I, ``"squared_hinge"`` PA-II; ``C`` is the aggressiveness. Parameters, defaults and (with
    ``shuffle=False``) weights are those of scikit-learn 1.9, whose squared norm leaves out the intercept; what differs
    is listed at :class:`~onlinear.SGDClassifier`. Unlike there, rows may have weights.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> PassiveAggressiveClassifier(random_state=0).fit(X, [1, 1, 2, 2]).predict([[3.0, 1.0]])
    array([2])
    """

    _weighs_outputs = True
    _parameter_constraints = {
        **EPOCHS,
        **CLASSES,
        **AVERAGE,
        **AGGRESSIVENESS,
        "loss": [StrOptions({"hinge", "squared_hinge"})],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        class_weight: Any = None,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.average = average

    def _configuration(self, shape: DataShape) -> Configuration:
        return passive_configuration(self, losses.Hinge(), "hinge", shape)

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> PassiveAggressiveClassifier:
        """Learn from the rows, pass after pass, from the beginning; see :meth:`SGDClassifier.fit`."""
        return fit_epochs(self, X, y, Start(coef_init, intercept_init), sample_weight)


class PassiveAggressiveRegressor(LinearRegressor):
    """Passive-aggressive regressor: a drop-in for scikit-learn's. Crammer et al. 2006.

    ``loss="epsilon_insensitive"`` is PA-I, ``"squared_epsilon_insensitive"`` PA-II. See
    :class:`PassiveAggressiveClassifier`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> PassiveAggressiveRegressor(random_state=0).fit(X, [0.0, 1.0, 2.0]).predict([[1.0]]).round()
    array([1.])
    """

    _parameter_constraints = {
        **EPOCHS,
        **AVERAGE,
        **AGGRESSIVENESS,
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [interval_of(losses.EpsilonInsensitive, "epsilon")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.verbose = verbose
        self.loss = loss
        self.epsilon = epsilon
        self.random_state = random_state
        self.warm_start = warm_start
        self.average = average

    def _configuration(self, shape: DataShape) -> Configuration:
        loss = losses.EpsilonInsensitive(float(self.epsilon))
        return passive_configuration(self, loss, "epsilon_insensitive", shape)

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> PassiveAggressiveRegressor:
        """Learn from the rows, pass after pass, from the beginning; see :meth:`SGDClassifier.fit`."""
        return fit_epochs(self, X, y, Start(coef_init, intercept_init), sample_weight)
