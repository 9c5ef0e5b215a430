"""scikit-learn's conventions, checked by scikit-learn."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import onlinear
from listed import ESTIMATORS

#: the order of rows matters to every online learner, and scikit-learn exempts its own: see test_importance.py
ORDER_MATTERS = {
    "check_sample_weight_equivalence_on_dense_data": "the order of the rows matters",
    "check_sample_weight_equivalence_on_sparse_data": "the order of the rows matters",
}
#: these learn rows without columns, by an intercept alone, which the check wants refused: see test_no_columns.py
INTERCEPT_ALONE = {"check_estimators_empty_data_messages": "an intercept alone is a model"}


def expected(estimator: Any) -> dict[str, str]:
    alone = isinstance(estimator, onlinear.OnlineClassifier | onlinear.OnlineRegressor)
    return ORDER_MATTERS | (INTERCEPT_ALONE if alone else {})


def test_no_class_is_left_out() -> None:
    public = {name: getattr(onlinear, name) for name in onlinear.__all__}
    ours = {name for name, thing in public.items() if isinstance(thing, type) and issubclass(thing, BaseEstimator)}
    assert {type(estimator).__name__ for estimator in ESTIMATORS} == ours


@pytest.mark.filterwarnings("ignore:the labels come in runs")  # some of its sets are sorted
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_check_estimator(estimator: Any, check: Any) -> None:
    check(estimator)
