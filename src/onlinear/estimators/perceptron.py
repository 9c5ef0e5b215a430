"""Perceptrons: scikit-learn's, and its averaged and its cautious sibling."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from onlinear import losses, rules
from onlinear.estimators.checks import interval_of
from onlinear.estimators.classifier import LinearClassifier
from onlinear.estimators.linear import DataShape, Start
from onlinear.estimators.passes import ORDERS, fit_epochs, fit_passes
from onlinear.estimators.sgd import CLASSES, EPOCHS, PENALTY, SPARSE_INTERCEPT_RATE, penalties
from onlinear.learning.configuration import Configuration, Settings


class Perceptron(LinearClassifier):
    """The perceptron: a drop-in for scikit-learn's. Rosenblatt 1958.

    As there, ``fit`` stops when the loss no longer falls by ``tol``, which may be before the classes are separated: the
    algorithm of the convergence theorem, which goes on until no mistake is left, is ``MarginPerceptron(0.0)``. A fit
    that stops early on few rows says so, if further passes separate them.

    Parameters, defaults and (with ``shuffle=False``) weights are those of scikit-learn 1.9; what differs is listed at
    :class:`~onlinear.SGDClassifier`. A tie (score 0) is an update, and is predicted as the first class.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = Perceptron().fit(X, [1, 1, 2, 2])
    >>> model.predict([[-0.8, -1.0]])
    array([1])
    """

    _weighs_outputs = True
    _textbook = "MarginPerceptron(0.0)"
    _parameter_constraints = {
        **EPOCHS,
        **CLASSES,
        **PENALTY,
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        *,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        settings = Settings(
            **penalties(self.penalty, float(self.alpha), self.l1_ratio),
            intercept=bool(self.fit_intercept),
            intercept_rate=SPARSE_INTERCEPT_RATE if shape.sparse else 1.0,
        )
        return Configuration(losses.Perceptron(), rules.PerceptronStep(float(self.eta0)), settings)

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
    ) -> Perceptron:
        """Learn from the rows, pass after pass, from the beginning; see :meth:`SGDClassifier.fit`."""
        return fit_epochs(self, X, y, Start(coef_init, intercept_init), sample_weight)


NATIVE: dict[str, Any] = {
    "fit_intercept": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "order": [StrOptions(set(ORDERS))],
    "random_state": ["random_state"],
    "warm_start": ["boolean"],
}
NAMES: dict[str, Any] = {
    "bits": [Interval(Integral, 1, 30, closed="both"), None],
    "names_cap": [Interval(Integral, 1, None, closed="left"), None],
}
WEIGHED: dict[str, Any] = {"class_weight": [StrOptions({"balanced"}), dict, None]}


class AveragedPerceptron(LinearClassifier):
    """The perceptron that answers with the average of all its weight vectors. Freund & Schapire 1999.

    ``fit`` goes over the rows until a pass brings no update (``converged_``), at most ``max_iter`` times.

    Parameters
    ----------
    fit_intercept : learn an intercept
    max_iter : most passes of ``fit``
    order : of the rows in a pass of ``fit``: "stream" as they come, "shuffle", or drawn with "replacement"
    random_state : seed for that order
    class_weight : a dict from label to weight, "balanced", or None; it multiplies the importance of the class's rows
    bits, names_cap : for rows given as dicts: 2**bits hashed features, or the most names there may be
    warm_start : let ``fit`` go on with what was learned before

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = AveragedPerceptron().fit(X, ["no", "no", "yes", "yes"])
    >>> model.converged_, model.predict([[3.0, 1.0]]).tolist()
    (True, ['yes'])
    """

    _parameter_constraints = {**NATIVE, **NAMES, **WEIGHED}

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        max_iter: int = 100,
        order: str = "shuffle",
        random_state: Any = 0,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        settings = Settings(average=1.0, intercept=bool(self.fit_intercept))
        return Configuration(losses.Perceptron(), rules.PerceptronStep(), settings)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> AveragedPerceptron:
        """Learn from the rows, pass after pass, until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))


class MarginPerceptron(LinearClassifier):
    """The perceptron that updates unless ``y score > margin``. With ``margin=0.0`` it is the textbook's.

    ``fit`` goes over the rows until a pass brings no update (``converged_``), at most ``max_iter`` times.

    The margin is in units of the score while each update adds ``rate`` times the row: only their ratio matters. See
    :class:`AveragedPerceptron` for the other parameters.

    >>> import numpy as np
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> MarginPerceptron(margin=1.0).fit(X, [0, 0, 1, 1]).predict([[3.0, 1.0]])
    array([1])
    """

    _parameter_constraints = {
        "margin": [interval_of(losses.Hinge, "margin")],
        "rate": [interval_of(rules.PerceptronStep, "rate")],
        "average": ["boolean"],
        **NATIVE,
        **NAMES,
        **WEIGHED,
    }

    def __init__(
        self,
        margin: float = 1.0,
        *,
        rate: float = 1.0,
        average: bool = False,
        fit_intercept: bool = True,
        max_iter: int = 100,
        order: str = "shuffle",
        random_state: Any = 0,
        class_weight: Any = None,
        bits: int | None = None,
        names_cap: int | None = None,
        warm_start: bool = False,
    ) -> None:
        self.margin = margin
        self.rate = rate
        self.average = average
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state
        self.class_weight = class_weight
        self.bits = bits
        self.names_cap = names_cap
        self.warm_start = warm_start

    def _configuration(self, shape: DataShape) -> Configuration:
        settings = Settings(average=float(self.average), intercept=bool(self.fit_intercept))
        return Configuration(losses.Hinge(float(self.margin)), rules.PerceptronStep(float(self.rate)), settings)

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, coef_init: Any = None, intercept_init: Any = None
    ) -> MarginPerceptron:
        """Learn from the rows, pass after pass, until one brings no update.

        ``coef_init`` and ``intercept_init`` are weights to start from, in the shapes of ``coef_`` and ``intercept_``.
        """
        return fit_passes(self, X, y, sample_weight, Start(coef_init, intercept_init))
