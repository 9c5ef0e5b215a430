"""scikit-learn's conventions, checked by scikit-learn."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinear

#: the order of rows matters to every online learner, and scikit-learn exempts its own: see test_importance.py
ORDER_MATTERS = {
    "check_sample_weight_equivalence_on_dense_data": "the order of the rows matters",
    "check_sample_weight_equivalence_on_sparse_data": "the order of the rows matters",
}

ESTIMATORS = [
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
    onlinear.PolynomialProducts(),
    onlinear.RandomFeatures(),
    onlinear.SecondOrderPerceptron(),
    onlinear.SGDClassifier(),
    onlinear.SGDRegressor(),
    onlinear.VotedPerceptron(),
]


def test_no_class_is_left_out() -> None:
    public = {name: getattr(onlinear, name) for name in onlinear.__all__}
    ours = {name for name, thing in public.items() if isinstance(thing, type) and issubclass(thing, BaseEstimator)}
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == ours


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: ORDER_MATTERS)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
