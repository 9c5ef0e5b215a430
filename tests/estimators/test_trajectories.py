"""The drop-ins beside scikit-learn's classes: the same weights after the same rows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose

import onlinear
from onlinear.estimators.passes import Stopping, Validation
from onlinear.learning.learner import Learner

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

STILL: dict[str, Any] = {"shuffle": False}
ONE_PASS: dict[str, Any] = {"shuffle": False, "max_iter": 1, "tol": None}
RATES: dict[str, dict[str, Any]] = {
    "optimal": {"alpha": 0.01},
    "constant": {"eta0": 0.05},
    "invscaling": {"eta0": 0.5, "power_t": 0.6},
    "adaptive": {"eta0": 0.05},
}
CLASS_LOSSES = sorted(onlinear.SGDClassifier.loss_functions)
NUMBER_LOSSES = sorted(onlinear.SGDRegressor.loss_functions)


def data(rows: int = 600, columns: int = 10, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows, a third of them zeros, and the scores of a hidden truth with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) > 0.35)
    return X, X @ rng.normal(size=columns) + 0.4 * rng.normal(size=rows)


X, SCORES = data()
BINARY = np.where(SCORES > 0.2, "yes", "no")
THREE = np.digitize(SCORES, [-0.8, 0.8])
SPARSE = scipy.sparse.csr_matrix(X)
WEIGHTS = np.random.default_rng(1).uniform(0.2, 2.0, len(X))


def same(ours: Any, peer: Any, rtol: float = 1e-9) -> None:
    scale = np.abs(peer.coef_).max() + np.abs(peer.intercept_).max() + 1e-300
    assert ours.coef_.shape == peer.coef_.shape
    assert ours.intercept_.shape == peer.intercept_.shape
    assert_allclose(ours.coef_, peer.coef_, rtol=rtol, atol=rtol * scale)
    assert_allclose(ours.intercept_, peer.intercept_, rtol=rtol, atol=rtol * scale)
    assert ours.n_iter_ == peer.n_iter_
    assert ours.t_ == peer.t_


def beside(name: str, X: Any, y: Any, parameters: dict[str, Any], **extra: Any) -> Any:
    """Fit both classes of one name to the same rows and compare them."""
    ours = getattr(onlinear, name)(**parameters).fit(X, y, **extra)
    peer = getattr(theirs, name)(**parameters).fit(X, y, **extra)
    same(ours, peer)
    return ours


@pytest.fixture
def rows_of_kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Dense rows, or the same as a sparse matrix, which are learned interpreted.

    To compile every loss a second time would take half a minute, for the same bits (tests/laws). Losses know nothing of
    rows, and every rate is compiled for sparse ones below.
    """
    if request.param == "dense":
        return X
    monkeypatch.setitem(Learner.__init__.__kwdefaults__, "compiled", False)
    return SPARSE


dense_and_sparse = pytest.mark.parametrize("rows_of_kind", ["dense", "sparse"], indirect=True)


@dense_and_sparse
@pytest.mark.parametrize("loss", CLASS_LOSSES)
def test_every_classification_loss(loss: str, rows_of_kind: Any) -> None:
    gentle = {"eta0": 0.01, "learning_rate": "constant"}
    beside("SGDClassifier", rows_of_kind, BINARY, {"loss": loss, **gentle, **ONE_PASS, "max_iter": 3})


@dense_and_sparse
@pytest.mark.parametrize("loss", NUMBER_LOSSES)
def test_every_regression_loss(loss: str, rows_of_kind: Any) -> None:
    beside("SGDRegressor", rows_of_kind, SCORES, {"loss": loss, **ONE_PASS, "max_iter": 3})


@pytest.mark.parametrize(("rate", "penalty"), [*itertools.product(RATES, [None, "l2", "l1", "elasticnet"])])
def test_every_rate_with_every_penalty(rate: str, penalty: str | None) -> None:
    parameters = {"alpha": 0.003, **RATES[rate], "learning_rate": rate, "penalty": penalty}
    beside("SGDClassifier", X, BINARY, {**parameters, **ONE_PASS, "max_iter": 2})
    beside("SGDRegressor", X, SCORES, {**parameters, **ONE_PASS, "max_iter": 2})


@pytest.mark.parametrize("rate", RATES)
def test_l2_on_sparse_rows(rate: str) -> None:
    parameters = {"alpha": 0.003, **RATES[rate], "learning_rate": rate}
    beside("SGDClassifier", SPARSE, THREE, {**parameters, **ONE_PASS, "max_iter": 3})


@pytest.mark.parametrize("average", [True, 1, 50, 10_000])
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_averages_on_dense_rows(average: Any, penalty: str | None) -> None:
    parameters = {"average": average, "penalty": penalty, **ONE_PASS, "max_iter": 2}
    beside("SGDClassifier", X, BINARY, parameters)
    beside("SGDClassifier", X, THREE, parameters)
    beside("SGDRegressor", X, SCORES, parameters)


@pytest.mark.parametrize("loss", ["hinge", "log_loss"])
def test_epochs_end_by_the_tolerance(loss: str) -> None:
    parameters = {"loss": loss, "alpha": 0.01, **STILL}
    ours = beside("SGDClassifier", X, BINARY, parameters)
    assert 1 < ours.n_iter_ < 1000


def test_each_class_stops_on_its_own() -> None:
    beside("Perceptron", X, THREE, {**STILL})
    beside("SGDClassifier", X, THREE, {"alpha": 0.01, **STILL})


def test_adaptive_rates_fall_for_each_class_on_its_own() -> None:
    parameters = {"learning_rate": "adaptive", "eta0": 0.5, "max_iter": 60, **STILL}
    beside("SGDClassifier", X, THREE, parameters)
    beside("SGDRegressor", X, SCORES, {**parameters, "eta0": 0.01})


@pytest.mark.parametrize("seed", [0, 7])
def test_shuffled_epochs_are_the_same_for_the_same_seed(seed: int) -> None:
    beside("Perceptron", X, BINARY, {"random_state": seed})
    beside("SGDClassifier", X, BINARY, {"alpha": 0.01, "random_state": seed})
    beside("SGDRegressor", X, SCORES, {"random_state": seed})


def test_early_stopping_without_a_penalty() -> None:
    beside("Perceptron", X, BINARY, {"early_stopping": True, "random_state": 0})
    beside("Perceptron", X, THREE, {"early_stopping": True, "random_state": 0, **STILL})
    beside("SGDRegressor", X, SCORES, {"early_stopping": True, "random_state": 0, "penalty": None})


def test_early_stopping_differs_only_by_the_scale_they_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under an L2 penalty scikit-learn's validation score reads the weights without their common scale."""

    def without_scale(self: Stopping, validation: Validation) -> np.ndarray:
        learner = self.learner
        return validation.measure(validation.rows.values @ learner.table.cells[:, 0, :].T + learner.table.bias[:, 0])

    parameters = {"alpha": 0.001, "early_stopping": True, "random_state": 1, **STILL}
    peer = theirs.SGDClassifier(**parameters).fit(X, THREE)
    assert onlinear.SGDClassifier(**parameters).fit(X, THREE).n_iter_ != peer.n_iter_
    monkeypatch.setattr(Stopping, "scores", without_scale)
    same(onlinear.SGDClassifier(**parameters).fit(X, THREE), peer)


@pytest.mark.parametrize("rows", ["dense", "sparse"])
@pytest.mark.parametrize("labels", [BINARY, THREE], ids=["two", "three"])
def test_sample_weights_and_class_weights(labels: np.ndarray, rows: str) -> None:
    X_ = X if rows == "dense" else SPARSE
    some = {label: 0.5 + place for place, label in enumerate(np.unique(labels).tolist())}
    for weight in ("balanced", some):
        parameters = {"class_weight": weight, "alpha": 0.01, **ONE_PASS, "max_iter": 2}
        beside("SGDClassifier", X_, labels, parameters, sample_weight=WEIGHTS)
        beside("Perceptron", X_, labels, {"class_weight": weight, **ONE_PASS})


@pytest.mark.parametrize("rate", ["pa1", "pa2"])
@pytest.mark.parametrize("penalty", [None, "l2"])
def test_passive_aggressive_rates(rate: str, penalty: str | None) -> None:
    parameters = {"learning_rate": rate, "eta0": 0.3, "penalty": penalty, **ONE_PASS}
    beside("SGDClassifier", X, THREE, {"loss": "hinge", **parameters})
    beside("SGDRegressor", X, SCORES, {"loss": "epsilon_insensitive", **parameters})


@pytest.mark.parametrize("rows", ["dense", "sparse"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_passive_aggressive_classifier(loss: str, rows: str) -> None:
    X_ = X if rows == "dense" else SPARSE
    beside("PassiveAggressiveClassifier", X_, BINARY, {"loss": loss, "C": 0.1, **STILL})
    beside("PassiveAggressiveClassifier", X_, THREE, {"loss": loss, **ONE_PASS})


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_passive_aggressive_regressor(loss: str) -> None:
    parameters = {"loss": loss, "C": 0.1, "epsilon": 0.05, **STILL}
    beside("PassiveAggressiveRegressor", X, SCORES, parameters)
    beside("PassiveAggressiveRegressor", SPARSE, SCORES, {**parameters, **ONE_PASS})


def test_fit_from_given_weights_and_warm_start() -> None:
    start = {"coef_init": np.full((3, 10), 0.3), "intercept_init": np.array([0.1, -0.2, 0.0])}
    beside("SGDClassifier", X, THREE, {"alpha": 0.01, **ONE_PASS}, **start)
    parameters = {"alpha": 0.01, "warm_start": True, **ONE_PASS}
    ours, peer = onlinear.SGDClassifier(**parameters), theirs.SGDClassifier(**parameters)
    for _ in range(2):
        same(ours.fit(X, BINARY), peer.fit(X, BINARY))


def test_partial_fit_where_theirs_is_right() -> None:
    ours, peer = (package.SGDClassifier(alpha=0.01, shuffle=False) for package in (onlinear, theirs))
    for start in range(0, 600, 150):
        part = slice(start, start + 150)
        ours.partial_fit(X[part], THREE[part], classes=[0, 1, 2])
        peer.partial_fit(X[part], THREE[part], classes=[0, 1, 2])
    same(ours, peer)


def test_partial_fit_after_fit_goes_on_counting() -> None:
    ours, peer = (package.SGDClassifier(alpha=0.01, shuffle=False) for package in (onlinear, theirs))
    for model in (ours, peer):
        model.fit(X, THREE)
        model.partial_fit(X[:100], THREE[:100])
    assert_allclose(ours.coef_, peer.coef_, rtol=1e-9)
    assert ours.t_ == peer.t_


def test_predictions_and_probabilities() -> None:
    for loss in ("log_loss", "modified_huber"):
        for labels in (BINARY, THREE):
            parameters = {"loss": loss, "alpha": 0.01, **ONE_PASS}
            ours = onlinear.SGDClassifier(**parameters).fit(X, labels)
            peer = theirs.SGDClassifier(**parameters).fit(X, labels)
            assert_allclose(ours.decision_function(X), peer.decision_function(X), rtol=1e-8, atol=1e-8)
            assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-8)
            assert (ours.predict(X) == peer.predict(X)).all()


@pytest.mark.parametrize(
    "name",
    [
        "Perceptron",
        "SGDClassifier",
        "SGDRegressor",
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
    ],
)
def test_the_same_parameters_methods_and_attributes(name: str) -> None:
    ours, peer = getattr(onlinear, name)(), getattr(theirs, name)()
    assert ours.get_params() == peer.get_params()
    target = SCORES if "Regressor" in name else BINARY
    ours.fit(X, target)
    peer.fit(X, target)
    public = {word for word in dir(peer) if not word.startswith("_")}
    inner = {"C", "alpha", "average", "epsilon", "eta0", "l1_ratio", "learning_rate", "loss"}
    inner |= {"loss_functions", "penalty", "power_t"}  # attributes of a base class, not parameters
    assert public - set(dir(ours)) - (inner - set(ours.get_params())) == set()
