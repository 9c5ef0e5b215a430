"""``SGDClassifier`` and ``SGDRegressor``: drop-ins for scikit-learn's classes of the same names."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from onlinear import losses, rules
from onlinear.errors import BadInput
from onlinear.estimators.base import LinearEstimator, Recipe, Start
from onlinear.estimators.checks import FloatInterval, interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.passes import Epochs
from onlinear.estimators.regressor import LinearRegressor
from onlinear.learning.learner import Settings
from onlinear.learning.predictor import Predictor
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


class ShowsAverage(LinearEstimator):
    """The two sets of weights of an averaging estimator, under scikit-learn's names."""

    average: Any = False

    def _unaveraged(self) -> Predictor:
        self._check_averages()
        assert self._learner is not None
        return Predictor.of(self._learner, self._known_classes(), averaged=False)

    def _check_averages(self) -> None:
        if not self.average or self._learner is None:
            raise AttributeError("there is no average: set average=True and fit")

    @property
    def _standard_coef(self) -> Any:
        return self._unaveraged().weights

    @property
    def _standard_intercept(self) -> Any:
        return self._unaveraged().intercepts

    @property
    def _average_coef(self) -> Any:
        self._check_averages()
        return self.coef_

    @property
    def _average_intercept(self) -> Any:
        self._check_averages()
        return self.intercept_


def penalties(penalty: str | None, alpha: float, l1_ratio: float | None) -> dict[str, Any]:
    """The settings of the penalty: its strength, and the shares of L1 and L2."""
    if penalty is None or alpha == 0.0:
        return {}
    share = {"l1": 1.0, "l2": 0.0}.get(penalty, l1_ratio)
    assert share is not None
    return {"alpha": alpha, "l1": share, "l2": 1.0 - share}


def first_optimal(loss: Any, alpha: float) -> float:
    """Where ``optimal`` starts to count: Bottou's guess from the typical size of a weight."""
    typical = math.sqrt(1.0 / math.sqrt(alpha))
    rate = typical / max(1.0, loss.slope(-typical, 1.0))
    return 1.0 / (rate * alpha)


class DescendsLikeSklearn(Epochs, ShowsAverage):
    """Recipe and checks that both classes share."""

    _pa_loss: str

    def _loss_object(self: Any) -> Any:
        # one output serves both classes of an open stream, which asks for a loss that is even to the last bit
        if self.loss == "log_loss" and not self._opened:
            return losses.Binomial()
        kind, *numbers = self.loss_functions[self.loss]
        if self.loss in ("huber", "epsilon_insensitive", "squared_epsilon_insensitive"):
            numbers = [float(self.epsilon)]
        return kind(*numbers)

    def _rule(self: Any, loss: Any, penalised: bool) -> Any:
        eta0 = float(self.eta0)
        if self.learning_rate == "pa1":
            return DecayingPA1(eta0) if penalised else rules.PA1(eta0)
        if self.learning_rate == "pa2":
            return DecayingPA2(eta0) if penalised else rules.PA2(eta0)
        if self.learning_rate == "optimal":
            alpha = float(self.alpha)
            return rules.SGD(rules.Optimal(alpha, first_optimal(loss, alpha)))
        if self.learning_rate == "invscaling":
            return rules.SGD(rules.InvScaling(eta0, float(self.power_t)))
        if self.learning_rate == "adaptive":
            return rules.SGD(rules.Adaptive(eta0))
        return rules.SGD(rules.Constant(eta0))

    def _recipe(self: Any, features: int, sparse: bool, growing: bool = False) -> Recipe:
        loss = self._loss_object()
        penalty = penalties(self.penalty, float(self.alpha), self.l1_ratio)
        settings = Settings(
            **penalty,
            average=float(self.average),
            intercept=bool(self.fit_intercept),
            intercept_rate=SPARSE_INTERCEPT_RATE if sparse else 1.0,
            intercept_in_norm=False,
        )
        return Recipe(loss, self._rule(loss, bool(penalty)), settings)

    def _check_parameters(self: Any, streaming: bool) -> None:
        super()._check_parameters(streaming)
        if self.learning_rate == "optimal" and self.alpha == 0:
            raise BadInput("learning_rate='optimal' is 1 / (alpha t): set alpha above 0, or another rate")
        if self.learning_rate in ("pa1", "pa2") and self.loss != self._pa_loss:
            raise BadInput(f"learning_rate={self.learning_rate!r} takes loss={self._pa_loss!r} only, not {self.loss!r}")
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise BadInput("l1_ratio must be set when penalty is 'elasticnet': 0 is L2, 1 is L1")


class SGDClassifier(DescendsLikeSklearn, LinearClassifier):
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
    _pa_loss = "hinge"
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
        return self._fit_epochs(X, y, Start(coef_init, intercept_init), sample_weight)


class SGDRegressor(DescendsLikeSklearn, LinearRegressor):
    """Linear regressor trained by stochastic gradient descent: a drop-in for scikit-learn's.

    The same parameters, defaults and (with ``shuffle=False``) weights as scikit-learn 1.9; what differs is listed at
    :class:`SGDClassifier`.

    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> SGDRegressor(random_state=0).fit(X, [0.0, 1.0, 2.0]).predict([[1.0]]).round()
    array([1.])
    """

    loss_functions = REGRESSION_LOSSES
    _pa_loss = "epsilon_insensitive"
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

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> SGDRegressor:
        """Learn from the rows, pass after pass, from the beginning; see :meth:`SGDClassifier.fit`."""
        return self._fit_epochs(X, y, Start(coef_init, intercept_init), sample_weight)
