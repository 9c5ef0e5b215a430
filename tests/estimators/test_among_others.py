"""The estimators among scikit-learn's tools, frames, and bad input."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import onlinear
from onlinear.errors import BadInput, Diverged, OnlinearError
from onlinear.learning.classes import Classes, distinct_labels

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(200, 4))
SCORES = X @ np.array([1.0, -2.0, 0.5, 0.0])
PAIR = np.where(SCORES > 0.0, 1, -1)
FRAME = pd.DataFrame(X, columns=["length", "width", "height", "noise"])

BOTH = [onlinear.SGDClassifier(random_state=0), onlinear.OnlineClassifier()]
IDS = ["SGDClassifier", "OnlineClassifier"]
each = pytest.mark.parametrize("model", BOTH, ids=IDS)


@each
def test_pipeline_and_cross_validation(model: Any) -> None:
    chain = make_pipeline(StandardScaler(), clone(model))
    assert cross_val_score(chain, X, PAIR, cv=3).min() > 0.85


def test_grid_search() -> None:
    search = GridSearchCV(onlinear.SGDClassifier(random_state=0), {"alpha": [1e-4, 10.0]}, cv=3)
    assert search.fit(X, PAIR).best_params_ == {"alpha": 1e-4}
    losses = {"loss": ["log_loss", "hinge"], "rule": ["normalised", "adagrad"]}
    search = GridSearchCV(onlinear.OnlineClassifier(), losses, cv=3)
    assert search.fit(X, PAIR).best_score_ > 0.9


def test_calibration() -> None:
    model = CalibratedClassifierCV(onlinear.Perceptron(), cv=3).fit(X, PAIR)
    chances = model.predict_proba(X)
    assert (chances[:, 1] > 0.5)[SCORES > 0.5].mean() > 0.95


@each
def test_frames(model: Any) -> None:
    plain = clone(model).fit(X, PAIR)
    for frame, y in (
        (FRAME, pd.Series(PAIR)),
        (pl.DataFrame(dict(FRAME)), pl.Series(PAIR)),
    ):
        framed = clone(model).fit(frame, y)
        assert framed.feature_names_in_.tolist() == FRAME.columns.tolist()
        np.testing.assert_array_equal(framed.coef_, plain.coef_)
        np.testing.assert_array_equal(framed.predict(frame), plain.predict(X))
        streamed = clone(model).partial_fit(frame[:100], y[:100]).partial_fit(frame[100:], y[100:])
        np.testing.assert_array_equal(streamed.coef_, clone(model).partial_fit(X, PAIR).coef_)


def test_metadata_routing() -> None:
    request = onlinear.OnlineClassifier().get_metadata_routing()
    assert "sample_weight" in request.fit.requests
    assert "sample_weight" in request.partial_fit.requests
    assert {"coef_init", "sample_weight"} <= set(onlinear.SGDClassifier().get_metadata_routing().fit.requests)


def test_sparsify() -> None:
    model = onlinear.SGDClassifier(penalty="l1", alpha=0.05, random_state=0).fit(X, PAIR)
    dense, answers = model.coef_.copy(), model.predict(X)
    assert scipy.sparse.issparse(model.sparsify().coef_)
    assert (model.predict(X) == answers).all()
    model.partial_fit(X[:5], PAIR[:5])
    assert scipy.sparse.issparse(model.coef_)
    assert model.densify().coef_.shape == dense.shape


def test_verbose_says_something_about_every_pass(capsys: pytest.CaptureFixture[str]) -> None:
    onlinear.SGDRegressor(verbose=1, max_iter=3, tol=None).fit(X, SCORES)
    assert capsys.readouterr().out.count("pass") == 3


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@each
def test_a_bad_feature_refuses_the_batch(model: Any, method: str, sparse: bool, value: float) -> None:
    bad = X.copy()
    bad[150, 2] = value
    rows = scipy.sparse.csr_matrix(bad) if sparse else bad
    unlearned = clone(model)
    with pytest.raises(BadInput, match="row 150, feature 2"):
        getattr(unlearned, method)(rows, PAIR)
    assert not hasattr(unlearned, "coef_")
    learned = clone(model).partial_fit(X, PAIR)
    before = learned.coef_.copy(), learned.examples_
    with pytest.raises(BadInput, match="row 150, feature 2"):
        getattr(learned, method)(rows, np.arange(200))  # new labels, too
    np.testing.assert_array_equal(learned.coef_, before[0])
    assert learned.examples_ == before[1]
    assert learned.classes_.tolist() == [-1, 1]


def test_a_bad_feature_is_named() -> None:
    bad = FRAME.copy()
    bad.loc[7, "height"] = np.inf
    with pytest.raises(BadInput, match="row 7, feature 'height'"):
        onlinear.OnlineClassifier().fit(bad, PAIR)


@each
def test_one_bad_row_takes_the_long_way(model: Any) -> None:
    learned = clone(model).partial_fit(X, PAIR, classes=[-1, 1])
    before = learned.coef_.copy()
    for row, message in (
        (np.full((1, 4), np.nan), "NaN: row 0"),
        (np.ones((1, 5)), "X has 5 features"),
        (np.ones(4), "2D array"),
    ):
        with pytest.raises(ValueError, match=message):
            learned.partial_fit(row, PAIR[:1])
    with pytest.raises(BadInput, match=r"the label 7 of row 0 is not among the classes \[-1, 1\]"):
        learned.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="NaN"):
        learned.partial_fit(X[:1], [np.nan])
    np.testing.assert_array_equal(learned.coef_, before)


@each
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([-1.0] + [1.0] * 199, "importance of row 0 is -1"),
        ([1.0] * 199 + [np.nan], "importance of row 199 is nan"),
        ([1.0] * 7, "200 rows"),
        (np.zeros(200), "all sample weights are zero"),
    ],
)
def test_bad_importance(model: Any, weights: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        clone(model).fit(X, PAIR, sample_weight=weights)


def test_bad_targets() -> None:
    for target in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"NaN|infinity|inf"):
            onlinear.OnlineRegressor().fit(X, np.where(np.arange(200) == 3, target, SCORES))
        model = onlinear.OnlineRegressor().fit(X, SCORES)
        with pytest.raises(ValueError, match=r"NaN|infinity|inf"):
            model.partial_fit(X[:1], np.array([target]))
    with pytest.raises(ValueError, match="Unknown label type"):
        onlinear.OnlineClassifier().fit(X, SCORES)
    with pytest.raises(BadInput, match="greater than one; got 1 class"):
        onlinear.OnlineClassifier().fit(X, np.ones(200))


def test_a_sparse_matrix_with_a_column_beyond_its_width() -> None:
    broken = scipy.sparse.csr_matrix(X)
    broken.indices[5] = 99
    for model in BOTH:
        with pytest.raises(OnlinearError, match="column 99"):
            clone(model).fit(broken, PAIR)


def test_divergence_is_noticed() -> None:
    wild = onlinear.SGDRegressor(learning_rate="constant", eta0=1e300, max_iter=3, tol=None)
    with pytest.raises(Diverged, match=r"epoch #1.*example"):
        wild.fit(X, SCORES)
    assert np.isfinite(wild.coef_).all()


# ------------------------------------------------------------------ no waste


def test_fit_does_not_copy_a_sparse_matrix() -> None:
    data = scipy.sparse.random(20_000, 300, density=0.2, format="csr", dtype=np.float32, rng=0)
    y = RNG.integers(0, 2, 20_000)
    model = onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(data, y)  # compiled by now
    tracemalloc.start()
    model.fit(data, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.5 * (data.data.nbytes + data.indices.nbytes)


def test_labels_of_every_kind() -> None:
    for y in (
        np.array([3, 1, 3, 2], dtype=np.uint8),
        np.array([-5, 70_000_000, -5, 0]),
        np.array([True, False, True, True]),
        np.array(["b", "a", "b", "c"]),
        np.array(["b", "a", "b", "c"], dtype=object),
        np.array([0.0, 1.0, 2.0, 1.0]),
    ):
        labels = distinct_labels(y)
        assert labels.tolist() == np.unique(y).tolist()
        assert labels.dtype == y.dtype
        codes = Classes.closed(labels).codes_of(y)
        assert labels[codes].tolist() == y.tolist()
    assert Classes([(1, 2), "x", 3]).sorted.tolist() == [(1, 2), "x", 3]
    assert Classes([1, 2]).codes_of(np.array([1, 5, 2])).tolist() == [0, -1, 1]
