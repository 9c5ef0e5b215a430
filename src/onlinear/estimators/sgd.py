"""``SGDClassifier`` and ``SGDRegressor``: drop-ins for scikit-learn's classes of the same names."""

from __future__ import annotations

import math
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from onlinear import losses, rules
from onlinear.errors import BadInput
from onlinear.estimators.checks import FloatInterval, interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.linear import DataShape, Start
from onlinear.estimators.passes import fit_epochs
from onlinear.estimators.regressor import LinearRegressor
from onlinear.learning.configuration import Configuration, Settings
from onlinear.rules.passive import DecayingPA1, DecayingPA2

#: scikit-learn slows the intercept down on sparse rows, "to avoid intercept oscillation"
SPARSE_INTERCEPT_RATE = 0.01

RATES = ("constant", "optimal", "invscaling", "adaptive", "pa1", "pa2")

EPOCHS: dict[str, Any] = {
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [FloatInterval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "verbose": ["verbose"],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
}
CLASSES: dict[str, Any] = {
    "n_jobs": [Integral, None],
    "class_weight": [StrOptions({"balanced"}), dict, None],
}
AVERAGE: dict[str, Any] = {"average": [FloatInterval(Integral, 0, None, closed="neither"), "boolean"]}
PENALTY: dict[str, Any] = {
    "penalty": [StrOptions({"l2", "l1", "elasticnet"}), None],
    "alpha": [interval_of(Settings, "alpha")],
    "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
    "eta0": [interval_of(rules.PerceptronStep, "rate")],
}
SCHEDULE: dict[str, Any] = {
    "epsilon": [interval_of(losses.Huber, "epsilon")],
    "learning_rate": [StrOptions(set(RATES))],
    "power_t": [interval_of(rules.Power, "power")],
}

REGRESSION_LOSSES: dict[str, tuple[Any, ...]] = {
    "squared_error": (losses.Squared,),
    "huber": (losses.Huber, 0.1),
    "epsilon_insensitive": (losses.EpsilonInsensitive, 0.1),
    "squared_epsilon_insensitive": (losses.SquaredEpsilonInsensitive, 0.1),
}
CLASSIFICATION_LOSSES: dict[str, tuple[Any, ...]] = {
    "hinge": (losses.Hinge, 1.0),
    "squared_hinge": (losses.SquaredHinge, 1.0),
    "perceptron": (losses.Perceptron,),
    "log_loss": (losses.Logistic,),
    "modified_huber": (losses.ModifiedHuber,),
    **REGRESSION_LOSSES,
}


def penalties(penalty: str | None, alpha: float, l1_ratio: float | None) -> dict[str, Any]:
    """The settings of the penalty: its strength, and the shares of L1 and L2."""
    if penalty is None or alpha == 0.0:
        return {}
    share = {"l1": 1.0, "l2": 0.0}.get(penalty, l1_ratio)
    assert share is not None
    return {"alpha": alpha, "l1": share, "l2": 1.0 - share}


@lru_cache(typed=True)  # tuples of different classes can be equal
def first_optimal(loss: Any, alpha: float) -> float:
    """Where ``optimal`` starts to count: Bottou's guess from the typical size of a weight."""
    typical = math.sqrt(1.0 / math.sqrt(alpha))
    rate = typical / max(1.0, loss.slope(-typical, 1.0))
    return 1.0 / (rate * alpha)


def loss_named(estimator: Any, opened: bool = False) -> Any:
    """The loss that an estimator names; ``opened`` for a stream whose classes are not known."""
    # one output serves both classes of an open stream, which asks for a loss that is even to the last bit
    if estimator.loss == "log_loss" and not opened:
        return losses.Binomial()
    kind, *numbers = estimator.loss_functions[estimator.loss]
    if estimator.loss in ("huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
        numbers = [float(estimator.epsilon)]
    return kind(*numbers)


def rule_named(estimator: Any, loss: Any, penalised: bool) -> Any:
    """The rule of an estimator's learning rate."""
    eta0 = float(estimator.eta0)
    if estimator.learning_rate == "pa1":
        return DecayingPA1(eta0) if penalised else rules.PA1(eta0)
    if estimator.learning_rate == "pa2":
        return DecayingPA2(eta0) if penalised else rules.PA2(eta0)
    if estimator.learning_rate == "optimal":
        alpha = float(estimator.alpha)
        return rules.SGD(rules.Optimal(alpha, first_optimal(loss, alpha)))
    if estimator.learning_rate == "invscaling":
        return rules.SGD(rules.InvScaling(eta0, float(estimator.power_t)))
    if estimator.learning_rate == "adaptive":
        return rules.SGD(rules.Adaptive(eta0))
    return rules.SGD(rules.Constant(eta0))


def descent_configuration(estimator: Any, shape: DataShape) -> Configuration:
    """The configuration of either class."""
    loss = loss_named(estimator, shape.opened)
    penalty = penalties(estimator.penalty, float(estimator.alpha), estimator.l1_ratio)
    settings = Settings(
        **penalty,
        average=float(estimator.average),
        intercept=bool(estimator.fit_intercept),
        intercept_rate=SPARSE_INTERCEPT_RATE if shape.sparse else 1.0,
        intercept_in_norm=False,
    )
    return Configuration(loss, rule_named(estimator, loss, bool(penalty)), settings)


def check_descent(estimator: Any, pa_loss: str) -> None:
    """Refuse parameters of either class that do not go together."""
    if estimator.learning_rate == "optimal" and estimator.alpha == 0:
        raise BadInput("learning_rate='optimal' is 1 / (alpha t): set alpha above 0, or another rate")
    if estimator.learning_rate in ("pa1", "pa2") and estimator.loss != pa_loss:
        raise BadInput(f"learning_rate={estimator.learning_rate!r} takes loss={pa_loss!r} only, not {estimator.loss!r}")
    if estimator.penalty == "elasticnet" and estimator.l1_ratio is None:
        raise BadInput("l1_ratio must be set when penalty is 'elasticnet': 0 is L2, 1 is L1")


class SGDClassifier(LinearClassifier):
    """Linear classifier trained by stochastic gradient descent: a drop-in for scikit-learn's.

    The parameters, their defaults and (with ``shuffle=False``) the weights are those of scikit-learn 1.9; see its
    documentation for what each parameter does. What differs:

    * ``partial_fit`` never shuffles, takes ``class_weight="balanced"`` (by the counts so far), ignores
      ``early_stopping`` (it acts at the end of a pass, and a stream has none), and needs no ``classes``;
    * averages and L1 penalties are exact on sparse rows and do not depend on how a stream was cut;
    * a row of weight 0 is a row absent;
    * the objective compared with ``tol`` holds the true norm of the weights, the validation score the true weights;
    * all classes see the rows in the same order when rows are shuffled, and ``n_jobs`` changes nothing: one pass
      trains all classes.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> SGDClassifier(random_state=0).fit(X, [1, 1, 2, 2]).predict([[-0.8, -1.0]])
    array([1])
    """

    loss_functions = CLASSIFICATION_LOSSES
    _weighs_outputs = True
    _parameter_constraints = {
        **EPOCHS,
        **CLASSES,
        **AVERAGE,
        **PENALTY,
        **SCHEDULE,
        "loss": [StrOptions(set(CLASSIFICATION_LOSSES))],
    }

    def __init__(
        self,
        loss: str = "hinge",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        learning_rate: str = "optimal",
        eta0: float = 0.01,
        power_t: float = 0.5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.average = average

    def _configuration(self, shape: DataShape) -> Configuration:
        return descent_configuration(self, shape)

    def _check_combination(self) -> None:
        check_descent(self, "hinge")

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDClassifier:
        """Learn from the rows, pass after pass, from the beginning.

        ``coef_init`` and ``intercept_init`` are weights to start from; ``sample_weight`` is each row's importance.
        """
        return fit_epochs(self, X, y, Start(coef_init, intercept_init), sample_weight)


class SGDRegressor(LinearRegressor):
    """Linear regressor trained by stochastic gradient descent: a drop-in for scikit-learn's.

    The same parameters, defaults and (with ``shuffle=False``) weights as scikit-learn 1.9; what differs is listed at
    :class:`SGDClassifier`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> SGDRegressor(random_state=0).fit(X, [0.0, 1.0, 2.0]).predict([[1.0]]).round()
    array([1.])
    """

    loss_functions = REGRESSION_LOSSES
    _parameter_constraints = {
        **EPOCHS,
        **AVERAGE,
        **PENALTY,
        **SCHEDULE,
        "loss": [StrOptions(set(REGRESSION_LOSSES))],
    }

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        penalty: str | None = "l2",
        alpha: float = 0.0001,
        l1_ratio: float | None = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        epsilon: float = 0.1,
        random_state: Any = None,
        learning_rate: str = "invscaling",
        eta0: float = 0.01,
        power_t: float = 0.25,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.epsilon = epsilon
        self.random_state = random_state
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.average = average

    def _configuration(self, shape: DataShape) -> Configuration:
        return descent_configuration(self, shape)

    def _check_combination(self) -> None:
        check_descent(self, "epsilon_insensitive")

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDRegressor:
        """Learn from the rows, pass after pass, from the beginning; see :meth:`SGDClassifier.fit`."""
        return fit_epochs(self, X, y, Start(coef_init, intercept_init), sample_weight)
