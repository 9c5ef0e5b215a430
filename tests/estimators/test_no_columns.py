"""Rows without columns: an intercept alone is a model, of a mean or of how frequent classes are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_matrix

import onlinear
from onlinear import OnlineClassifier, OnlineRegressor, rules

NO_COLUMNS = {
    "array": lambda n: np.zeros((n, 0)),
    "sparse": lambda n: csr_matrix((n, 0)),
    "frame": lambda n: pandas.DataFrame(index=range(n)),
}
by_kind = pytest.mark.parametrize("kind", NO_COLUMNS)


@by_kind
def test_a_regressor_learns_the_mean(kind: str, tmp_path: Path) -> None:
    """With the rate 1/t that is exact, after each row."""
    y = np.array([4.0, -1.0, 2.5, 0.5, 9.0])
    rows = NO_COLUMNS[kind]
    model = OnlineRegressor(rule=rules.SGD(rules.Power(1.0, 1.0)))
    for t, target in enumerate(y, start=1):
        model.partial_fit(rows(1), [target])
        assert model.intercept_ == pytest.approx(y[:t].mean(), rel=1e-14)
    whole = OnlineRegressor(rule=rules.SGD(rules.Power(1.0, 1.0))).fit(rows(5), y)
    assert whole.intercept_ == model.intercept_
    assert whole.coef_.shape == (0,)
    whole.save(tmp_path / "m")
    for known in (whole, onlinear.load(tmp_path / "m")):
        assert known.predict(rows(2)).tolist() == [whole.intercept_[0]] * 2


@by_kind
def test_a_classifier_learns_how_frequent_classes_are(kind: str) -> None:
    y = np.random.default_rng(0).random(4000) < 0.8
    rows = NO_COLUMNS[kind]
    model = OnlineClassifier(rule=rules.SGD(rules.Power(2.0, 0.6))).fit(rows(len(y)), y)
    assert model.predict_proba(rows(1))[0, 1] == pytest.approx(0.8, abs=0.03)
    assert model.predict(rows(2)).tolist() == [True, True]


@pytest.mark.parametrize("estimator", [OnlineRegressor(fit_intercept=False), onlinear.SGDRegressor()])
def test_without_an_intercept_or_as_a_drop_in_there_is_nothing_to_learn(estimator: Any) -> None:
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        estimator.fit(np.zeros((3, 0)), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="no columns"):
        estimator.fit(pandas.DataFrame(index=range(3)), [1.0, 2.0, 3.0])


def test_columns_that_come_later_are_refused() -> None:
    model = OnlineRegressor().fit(np.zeros((3, 0)), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="1 features, but OnlineRegressor is expecting 0"):
        model.predict([[1.0]])
