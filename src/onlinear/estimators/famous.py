"""Famous methods by their own names: thin special cases of the general classes."""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import StrOptions

from onlinear import losses, rules
from onlinear.estimators.checks import interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.linear import DataShape, Start
from onlinear.estimators.passes import fit_passes
from onlinear.estimators.perceptron import NAMES, NATIVE, WEIGHED
from onlinear.estimators.regressor import LinearRegressor
from onlinear.learning.configuration import Configuration, Settings
from onlinear.registry import REGRESSION, loss_of
from onlinear.rules.matrix import MOST_FEATURES


class AROWClassifier(LinearClassifier):
    """Adaptive regularisation of weights, in its diagonal form. Crammer, Kulesza & Dredze 2009.

    ``r`` is the strength of the regularisation: the larger, the smaller the steps. See
    :class:`~onlinear.OnlineClassifier` for the other parameters.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> AROWClassifier().fit(X, [0, 0, 1, 1]).predict([[3.0, 1.0]])
    array([1])
    """

    _parameter_constraints = {"r": [interval_of(rules.AROW, "r")], **NATIVE, **NAMES, **WEIGHED}

    def __init__(
        self,
        r: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = None,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.r = r
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        settings = Settings(intercept=bool(self.fit_intercept))
        rule = rules.AROW(float(self.r))  # type: ignore[call-arg]
        return Configuration(losses.Hinge(), rule, settings)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> AROWClassifier:
        """Learn from the rows, from the beginning: ``max_iter`` passes, or until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))


class SecondOrderPerceptron(LinearClassifier):
    """The second-order perceptron: whitens its rows while it learns. Cesa-Bianchi, Conconi & Gentile 2005.

    It keeps a square matrix over the features; beyond 2000 of them, and for rows given as dicts, only the diagonal.
    ``a`` is what the diagonal starts with. See :class:`~onlinear.OnlineClassifier` for the other parameters.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> SecondOrderPerceptron().fit(X, [0, 0, 1, 1]).predict([[3.0, 1.0]])
    array([1])
    """

    _parameter_constraints = {"a": [interval_of(rules.SecondOrder, "a")], **NATIVE, **NAMES, **WEIGHED}

    def __init__(
        self,
        a: float = 1.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 100,
        order: str = "stream",
        random_state: Any = None,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.a = a
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        whole = shape.features <= MOST_FEATURES and not shape.growing
        rule = rules.SecondOrder if whole else rules.DiagonalSecondOrder
        settings = Settings(intercept=bool(self.fit_intercept))
        return Configuration(losses.Perceptron(), rule(float(self.a)), settings)  # type: ignore[call-arg]

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> SecondOrderPerceptron:
        """Learn from the rows, pass after pass, until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))


FTRL: dict[str, Any] = {
    **{name: [interval_of(rules.FTRLProximal, name)] for name in rules.FTRLProximal._fields},
    **NATIVE,
    **NAMES,
}


class FTRLClassifier(LinearClassifier):
    """Logistic regression by FTRL-Proximal. McMahan et al. 2013.

    ``alpha`` and ``beta`` set the rate of each weight, ``alpha / (beta + sqrt(sum g^2))``; ``l1`` keeps weights at
    zero, ``l2`` small. See :class:`~onlinear.OnlineClassifier` for the other parameters.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> FTRLClassifier().fit(X, [0, 0, 1, 1]).predict([[3.0, 1.0]])
    array([1])
    """

    _parameter_constraints = {**FTRL, **WEIGHED}

    def __init__(
        self,
        alpha: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        *,
        fit_intercept: bool = True,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = None,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        rule = rules.FTRLProximal(*map(float, (self.alpha, self.beta, self.l1, self.l2)))
        return Configuration(losses.Logistic(), rule, Settings(intercept=bool(self.fit_intercept)))

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> FTRLClassifier:
        """Learn from the rows, from the beginning, in ``max_iter`` passes.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))


class FTRLRegressor(LinearRegressor):
    """Regression by FTRL-Proximal: see :class:`FTRLClassifier`; ``loss`` is that of a regressor.

    ``fit`` makes several passes, because the rate of a weight falls with every error.

    >>> import numpy as np
    >>> X = np.linspace(-1.0, 1.0, 50).reshape(-1, 1)
    >>> FTRLRegressor(alpha=1.0, max_iter=100).fit(X, 3.0 * X[:, 0]).coef_.round(1)
    array([3.])
    """

    _parameter_constraints = {**FTRL, "loss": [StrOptions(set(REGRESSION))]}

    def __init__(
        self,
        alpha: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        *,
        loss: str = "squared_error",
        fit_intercept: bool = True,
        max_iter: int = 20,
        order: str = "stream",
        random_state: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        rule = rules.FTRLProximal(*map(float, (self.alpha, self.beta, self.l1, self.l2)))
        settings = Settings(intercept=bool(self.fit_intercept))
        return Configuration(loss_of(self.loss), rule, settings)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> FTRLRegressor:
        """Learn from the rows, from the beginning, in ``max_iter`` passes.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))
