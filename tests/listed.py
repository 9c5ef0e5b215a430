"""Every estimator of the package: whatever is listed here is tried by scikit-learn's checks and by the laws."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

import onlinear

ESTIMATORS: list[Any] = [
    onlinear.AROWClassifier(),
    onlinear.AveragedPerceptron(),
    onlinear.FTRLClassifier(),
    onlinear.FTRLRegressor(),
    onlinear.KernelPerceptron(),
    onlinear.MarginPerceptron(),
    onlinear.OnlineClassifier(),
    onlinear.OnlineRegressor(),
    onlinear.OnlineSearch([{"l2": 0.0}, {"l2": 1e-4}]),
    onlinear.OnlineSearch([{"loss": "squared_error"}, {"loss": "squared_error", "l2": 1e-4}], task="regression"),
    onlinear.PassiveAggressiveClassifier(),
    onlinear.PassiveAggressiveRegressor(),
    onlinear.Perceptron(),
    onlinear.PocketPerceptron(),
    onlinear.PolynomialProducts(),
    onlinear.RandomFeatures(),
    onlinear.SecondOrderPerceptron(),
    onlinear.SGDClassifier(),
    onlinear.SGDRegressor(),
    onlinear.VotedPerceptron(),
]

#: more of what learns in dual form: each of these takes another way through its code
IN_DUAL_FORM: list[Any] = [
    onlinear.KernelPerceptron("rbf", gamma=0.1, vote="average"),
    onlinear.KernelPerceptron("rbf", gamma=0.1, budget=24, vote="last"),
    onlinear.VotedPerceptron(vote="random", fit_intercept=False),
]

#: those that learn from streams, one example at a time if need be
LEARNERS = [model for model in ESTIMATORS if hasattr(model, "learn_one")] + IN_DUAL_FORM
CLASSIFIERS = [model for model in LEARNERS if is_classifier(model)]


#: drop-ins slow their intercept down on sparse matrices, as scikit-learn does, which has no dicts
DROP_INS = (
    onlinear.Perceptron,
    onlinear.SGDClassifier,
    onlinear.SGDRegressor,
    onlinear.PassiveAggressiveClassifier,
    onlinear.PassiveAggressiveRegressor,
)


def as_dicts(model: Any, matrix: Any) -> Any:
    """The rows of a sparse matrix as a table of the kind that the estimator learns like dicts."""
    return matrix.toarray() if isinstance(model, DROP_INS) else matrix


def fresh(model: Any) -> Any:
    """The same estimator before it has learned; its parameters are the same objects."""
    return type(model)(**model.get_params(deep=False))


def one_pass(model: Any) -> Any:
    """A fresh one whose ``fit`` takes the rows once, as they come."""
    wanted = {"max_iter": 1, "tol": None, "shuffle": False, "order": "stream"}
    return fresh(model).set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})
