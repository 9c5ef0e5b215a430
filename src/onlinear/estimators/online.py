"""The general ``OnlineClassifier`` and ``OnlineRegressor``: any loss, any rule."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from onlinear.errors import Refused
from onlinear.estimators.checks import FloatInterval, interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.linear import DataShape, Start
from onlinear.estimators.passes import fit_passes
from onlinear.estimators.perceptron import NAMES, NATIVE, WEIGHED
from onlinear.estimators.regressor import LinearRegressor
from onlinear.learning.configuration import Configuration, Settings, settings_as_parameters
from onlinear.learning.model import Model
from onlinear.registry import FOR_CLASSES, LOSSES, REGRESSION, RULES, loss_of, name_of, rule_of

OPTIONS: dict[str, Any] = {
    **NATIVE,
    **NAMES,
    "loss": "no_validation",  # the registry looks at it, and at the rule
    "rule": "no_validation",
    "l1": [interval_of(Settings, "l1")],
    "l2": [interval_of(Settings, "l2")],
    "average": [FloatInterval(Integral, 0, None, closed="neither"), "boolean"],
    "forget": [interval_of(Settings, "forget")],
}


def any_configuration(estimator: Any) -> Configuration:
    """The configuration of either class."""
    settings = Settings(
        l1=float(estimator.l1),
        l2=float(estimator.l2),
        average=float(estimator.average),
        forget=float(estimator.forget),
        intercept=bool(estimator.fit_intercept),
    )
    return Configuration(estimator.loss, estimator.rule, settings)


def parameters_of(model: Model) -> dict[str, Any]:
    """The parameters by which either class learns as a model does: names of what is as it comes."""
    learner = model.learner
    return {
        "loss": name_or_itself(learner.losses[0], LOSSES),
        "rule": name_or_itself(learner.rules[0], RULES),
        **settings_as_parameters(learner.settings[0]),
        "bits": model.bits,
    }


def name_or_itself(thing: Any, names: dict[str, type]) -> Any:
    """A loss or rule of ours by its name, if it is as it comes; anything else as it is."""
    name = name_of(thing, names)
    return name if name is not None and thing == type(thing)() else thing


def check_task_of_loss(estimator: Any, names: frozenset[str], several: bool, learned: str) -> None:
    """Refuse a loss of another name than those for what is ``learned``, or one of ``several`` classes for numbers."""
    rule_of(estimator.rule)
    loss = loss_of(estimator.loss)
    name = name_of(loss, LOSSES)
    if (name is not None and name not in names) or (hasattr(loss, "slopes") and not several):
        raise Refused(
            f"the loss {name or type(loss).__name__!r} is not for {learned}: "
            f"choose one of {', '.join(sorted(names))}, or one of your own"
        )


class OnlineClassifier(LinearClassifier):
    """A linear classifier for streams, with any loss and any update rule. The defaults are what we recommend.

    Parameters
    ----------
    loss : a name ("log_loss", "hinge", "perceptron", "softmax", ...) or a loss, also one of your own
    rule : a name ("normalised", "sgd", "adagrad", "ftrl", "arow", ...) or a rule, also one of your own
    l1, l2 : strengths of the penalties
    average : answer with the average of the weights: True, or the example from which on
    forget : the share of its evidence that the rule forgets with each example, for drifting streams
    fit_intercept : learn an intercept, which is a model by itself: rows may have no columns
    max_iter : most passes of ``fit``, which stops after one without an update (``converged_``)
    order : of the rows in a pass of ``fit``: "stream" as they come, "shuffle", or drawn with "replacement"
    random_state : seed for that order
    class_weight : a dict from label to weight, "balanced", or None; it multiplies the importance of the class's rows
    bits, names_cap : for rows given as dicts: 2**bits hashed features, or the most names there may be
    warm_start : let ``fit`` go on with what was learned before

    >>> import numpy as np
    >>> X = np.array([[-1.0, 200.0], [-2.0, 100.0], [1.0, 300.0], [2.0, 100.0]])
    >>> model = OnlineClassifier().partial_fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[3.0, 100.0]])
    array(['yes'], dtype='<U3')
    >>> model.examples_, model.mistakes_
    (4, 1)
    """

    _parameter_constraints = {**OPTIONS, **WEIGHED}
    _learns_intercept_alone = True

    def __init__(
        self,
        loss: Any = "log_loss",
        rule: Any = "normalised",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        average: bool | int = False,
        forget: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = None,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.rule = rule
        self.l1 = l1
        self.l2 = l2
        self.average = average
        self.forget = forget
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        return any_configuration(self)

    def _check_combination(self) -> None:
        check_task_of_loss(self, FOR_CLASSES, True, "classes")

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> OnlineClassifier:
        """Learn from the rows, from the beginning: ``max_iter`` passes, or until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))


class OnlineRegressor(LinearRegressor):
    """A linear regressor for streams, with any loss and any update rule. The defaults are what we recommend.

    ``loss`` is "squared_error", "absolute_error", "huber", "quantile", "epsilon_insensitive",
    "squared_epsilon_insensitive" or a loss of your own; the other parameters are those of :class:`OnlineClassifier`.

    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 50).reshape(-1, 1)
    >>> model = OnlineRegressor(max_iter=50).fit(X, 3.0 * X[:, 0])
    >>> model.coef_.round(1)
    array([3.])
    """

    _parameter_constraints = OPTIONS
    _learns_intercept_alone = True

    def __init__(
        self,
        loss: Any = "squared_error",
        rule: Any = "normalised",
        *,
        l1: float = 0.0,
        l2: float = 0.0,
        average: bool | int = False,
        forget: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.rule = rule
        self.l1 = l1
        self.l2 = l2
        self.average = average
        self.forget = forget
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        return any_configuration(self)

    def _check_combination(self) -> None:
        check_task_of_loss(self, REGRESSION, False, "numbers")

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> OnlineRegressor:
        """Learn from the rows, from the beginning: ``max_iter`` passes, or until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))
