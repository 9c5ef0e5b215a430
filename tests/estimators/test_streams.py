"""Streams: chunks do not matter, classes may be open, and a row of importance 0 is absent."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import onlinear
from onlinear import losses, rules
from onlinear.errors import BadInput, Refused

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(3)
X = RNG.normal(size=(120, 6)) * (RNG.random((120, 6)) > 0.3)
SCORES = X @ RNG.normal(size=6)
LETTERS = np.array(["d", "b", "c", "a"])[np.digitize(SCORES, [-1.0, 0.0, 1.0])]
PAIR = np.where(SCORES > 0.0, "left", "right")

MODELS: list[Any] = [
    onlinear.OnlineClassifier(),
    onlinear.SGDClassifier(loss="log_loss", penalty="elasticnet", average=True),
    onlinear.Perceptron(penalty="l1"),
    onlinear.PassiveAggressiveClassifier(average=5),
    onlinear.AROWClassifier(),
    onlinear.SecondOrderPerceptron(),
    onlinear.FTRLClassifier(l1=0.1),
]
NAMES = [type(model).__name__ for model in MODELS]
each_model = pytest.mark.parametrize("model", MODELS, ids=NAMES)


def fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


def bits(model: Any) -> tuple[Any, ...]:
    """Everything that must not depend on how the stream was cut."""
    figures = (model.examples_, model.mistakes_, model.loss_, np.asarray(model.updates_).tolist())
    weights = (model.coef_.tolist(), model.intercept_.tolist())
    return (*weights, *figures, model.history_, model.classes_.tolist())


def streamed(model: Any, X: Any, y: Any, cuts: list[int], **first: Any) -> Any:
    ends = [*cuts, len(y)]
    for start, end in zip([0, *cuts], ends, strict=True):
        if end > start:
            model.partial_fit(X[start:end], y[start:end], **first)
            first = {}
    return model


@each_model
@pytest.mark.parametrize("rows", [X, scipy.sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_chunks_do_not_matter(model: Any, rows: Any) -> None:
    whole = streamed(fresh(model), rows, LETTERS, [])
    assert bits(streamed(fresh(model), rows, LETTERS, [1, 2, 3, 40, 41, 100])) == bits(whole)
    assert bits(streamed(fresh(model), rows, LETTERS, list(range(1, 120)))) == bits(whole)


@given(cuts=st.lists(st.integers(0, 120), max_size=6).map(sorted))
@settings(max_examples=25, deadline=None)
def test_no_cut_matters_to_balanced_classes(cuts: list[int]) -> None:
    model = onlinear.OnlineClassifier(class_weight="balanced")
    whole = streamed(fresh(model), X, LETTERS, [])
    assert bits(streamed(fresh(model), X, LETTERS, cuts)) == bits(whole)


@each_model
@pytest.mark.parametrize("labels", [PAIR, LETTERS], ids=["two", "four"])
def test_open_classes_end_as_if_they_had_been_known(model: Any, labels: np.ndarray) -> None:
    # with known classes SGDClassifier's log_loss rounds as scikit-learn's: see the test below
    changed = {"loss": "modified_huber"} if isinstance(model, onlinear.SGDClassifier) else {}
    opened = streamed(fresh(model).set_params(**changed), X, labels, [10, 20])
    known = streamed(fresh(model).set_params(**changed), X, labels, [10, 20], classes=np.unique(labels))
    assert opened.classes_.tolist() == known.classes_.tolist()
    np.testing.assert_array_equal(opened.coef_, known.coef_)
    np.testing.assert_array_equal(opened.intercept_, known.intercept_)
    np.testing.assert_array_equal(opened.updates_, known.updates_)
    np.testing.assert_array_equal(opened.predict(X), known.predict(X))


def test_open_and_known_classes_round_the_log_loss_differently_and_no_more() -> None:
    model = onlinear.SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01)
    opened = streamed(fresh(model), X, LETTERS, [10, 20])
    known = streamed(fresh(model), X, LETTERS, [10, 20], classes=np.unique(LETTERS))
    np.testing.assert_allclose(opened.coef_, known.coef_, rtol=1e-12, atol=1e-15)


def test_classes_appear_one_by_one() -> None:
    model = onlinear.OnlineClassifier()
    model.partial_fit(X[:1], ["only"])
    assert model.classes_.tolist() == ["only"]
    assert model.predict(X[:3]).tolist() == ["only"] * 3
    assert model.predict_proba(X[:3]).tolist() == [[1.0]] * 3
    model.partial_fit(X[1:2], ["and"])
    assert model.classes_.tolist() == ["and", "only"]
    assert model.decision_function(X).shape == (120,)
    model.partial_fit(X[2:3], ["more"])
    assert model.decision_function(X).shape == (120, 3)
    assert model.coef_.shape == (3, 6)


def test_classes_named_late_close_the_set() -> None:
    model = onlinear.Perceptron().partial_fit(X[:50], PAIR[:50])
    model.partial_fit(X[50:], PAIR[50:], classes=["left", "right", "up"])
    known = onlinear.Perceptron().partial_fit(X, PAIR, classes=["left", "right", "up"])
    np.testing.assert_array_equal(model.coef_, known.coef_)
    with pytest.raises(BadInput, match="'down' of row 0 is not among the classes"):
        model.partial_fit(X[:1], ["down"])


@pytest.mark.parametrize("loss", ["softmax", "crammer_singer", "multiclass_perceptron"])
def test_row_losses(loss: str) -> None:
    model = onlinear.OnlineClassifier(loss=loss, max_iter=5)
    assert model.fit(X, LETTERS).score(X, LETTERS) > 0.6
    assert model.coef_.shape == (4, 6)
    assert model.fit(X, PAIR).score(X, PAIR) > 0.9
    assert model.coef_.shape == (1, 6)
    grown = streamed(onlinear.OnlineClassifier(loss=loss), X, LETTERS, [7])
    assert bits(grown) == bits(streamed(onlinear.OnlineClassifier(loss=loss), X, LETTERS, []))
    assert 0 < grown.updates_ <= 120


def test_softmax_probabilities() -> None:
    for labels in (PAIR, LETTERS):
        model = onlinear.OnlineClassifier(loss="softmax").fit(X, labels)
        chances = model.predict_proba(X)
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()


@each_model
@pytest.mark.parametrize("labels", [PAIR, LETTERS], ids=["two", "four"])
def test_importance_0_is_a_row_absent(model: Any, labels: np.ndarray) -> None:
    weights = np.ones(120)
    weights[::3] = 0.0
    there = weights > 0.0
    ours = fresh(model).partial_fit(X, labels, sample_weight=weights)
    absent = fresh(model).partial_fit(X[there], labels[there])
    assert bits(ours) == bits(absent)
    plain = {"shuffle": False} if "shuffle" in model.get_params() else {"order": "stream"}
    ours = fresh(model).set_params(max_iter=3, **plain).fit(X, labels, sample_weight=weights)
    absent = fresh(model).set_params(max_iter=3, **plain).fit(X[there], labels[there])
    np.testing.assert_array_equal(ours.coef_, absent.coef_)
    assert ours.n_iter_ == absent.n_iter_


def test_a_class_only_in_absent_rows_does_not_exist() -> None:
    model = onlinear.OnlineClassifier().partial_fit(X[:3], [1, 2, 3], sample_weight=[1, 0, 1])
    assert model.classes_.tolist() == [1, 3]
    model = onlinear.OnlineClassifier().fit(X[:3], [1, 2, 3], sample_weight=[1, 0, 1])
    assert model.classes_.tolist() == [1, 3]


def test_importance_adds_up_for_the_importance_aware_rule() -> None:
    def learned(*weights: float) -> np.ndarray:
        model = onlinear.OnlineClassifier(rule="importance_aware").partial_fit(X[:9], PAIR[:9])
        for weight in weights:
            model.partial_fit(X[9:10], PAIR[9:10], sample_weight=[weight])
        return model.coef_

    np.testing.assert_allclose(learned(0.5, 1.75), learned(2.25), rtol=1e-9)


@each_model
def test_one_pass_of_fit_is_the_stream(model: Any) -> None:
    parameters = {"max_iter": 1}
    parameters |= {"shuffle": False, "tol": None} if "tol" in model.get_params() else {"order": "stream"}
    fitted = fresh(model).set_params(**parameters).fit(X, PAIR)
    stream = fresh(model).partial_fit(X, PAIR, classes=np.unique(PAIR))
    assert bits(fitted) == bits(stream)


@each_model
def test_pickle_goes_on_where_it_stopped(model: Any) -> None:
    first = fresh(model).partial_fit(X[:60], LETTERS[:60])
    second = pickle.loads(pickle.dumps(first))
    assert bits(first) == bits(second)
    first.partial_fit(X[60:], LETTERS[60:])
    second.partial_fit(X[60:], LETTERS[60:])
    assert bits(first) == bits(second)


def test_the_short_way_of_one_row_is_the_long_way() -> None:
    for rows in (X, X.astype(np.float32), scipy.sparse.csr_matrix(X)):
        short = onlinear.SGDClassifier(class_weight={"left": 2.0, "right": 0.5})
        short.partial_fit(rows[:1], PAIR[:1], classes=["left", "right"])
        assert copy.deepcopy(short)._learn_one_row(rows[1:2], PAIR[1:2])
        long = fresh(short).partial_fit(rows[:1], PAIR[:1], classes=["left", "right"])
        for i in range(1, 120):
            short.partial_fit(rows[i : i + 1], PAIR[i : i + 1])
            long.partial_fit(rows[i : i + 1], list(PAIR[i : i + 1]), sample_weight=[1.0])
        assert bits(short) == bits(long)


def test_parameters_may_change_between_rows() -> None:
    model = onlinear.SGDClassifier(alpha=0.01).partial_fit(X[:50], PAIR[:50], classes=["left", "right"])
    other = fresh(model).partial_fit(X[:50], PAIR[:50], classes=["left", "right"])
    model.set_params(alpha=0.5).partial_fit(X[50:51], PAIR[50:51])
    other.alpha = 0.5
    other.partial_fit(X[50:51], PAIR[50:51])
    kept = fresh(model).set_params(alpha=0.01).partial_fit(X[:51], PAIR[:51], classes=["left", "right"])
    assert bits(model) == bits(other)
    assert model.coef_.tolist() != kept.coef_.tolist()
    with pytest.raises(Refused, match="call fit to start anew"):
        model.set_params(average=True).partial_fit(X[:1], PAIR[:1])


def test_assigned_weights_are_learned_from() -> None:
    model = onlinear.SGDClassifier().fit(X, PAIR)
    model.coef_ = np.zeros((1, 6))
    model.intercept_ = np.array([0.25])
    assert model.decision_function(X).tolist() == [0.25] * 120
    model.partial_fit(X[:1], PAIR[:1])
    assert np.count_nonzero(model.coef_) == np.count_nonzero(X[0])
    model = onlinear.FTRLClassifier().fit(X, PAIR)
    model.coef_ = np.zeros((1, 6))
    with pytest.raises(Refused, match="cannot go on"):
        model.partial_fit(X[:1], PAIR[:1])


def test_prediction_beside_learning() -> None:
    model = onlinear.OnlineClassifier().partial_fit(X, PAIR)
    trouble: list[Exception] = []

    def predict() -> None:
        try:
            for _ in range(200):
                assert set(model.predict(X)) <= {"left", "right"}
        except Exception as error:
            trouble.append(error)

    reader = threading.Thread(target=predict)
    reader.start()
    for _ in range(200):
        model.partial_fit(X, PAIR)
    reader.join()
    assert trouble == []
    frozen = model.snapshot()
    model.partial_fit(X, PAIR)
    assert (frozen.weights != model.coef_).any()


def test_losses_and_rules_as_objects() -> None:
    named = onlinear.OnlineClassifier("hinge", "pa1").fit(X, PAIR)
    made = onlinear.OnlineClassifier(losses.Hinge(), rules.PA1()).fit(X, PAIR)
    assert bits(named) == bits(made)
    with pytest.raises(Refused, match="'pa1' does not take the loss 'log_loss'"):
        onlinear.OnlineClassifier("log_loss", "pa1").fit(X, PAIR)


def test_native_classes_stop_after_a_pass_without_an_update() -> None:
    for name in ("AveragedPerceptron", "MarginPerceptron", "SecondOrderPerceptron"):
        model = getattr(onlinear, name)(max_iter=1000).fit(X, PAIR)
        assert model.converged_
        assert model.updates_per_pass_[-1] == 0 < model.updates_per_pass_[0]
        assert len(model.mistakes_per_pass_) == model.n_iter_ < 1000
        assert sum(model.updates_per_pass_) == model.updates_
        assert model.history_[-1].training
        assert not model.history_[0].training


def test_native_classes_warn_when_they_give_up() -> None:
    flipped = np.where(np.arange(120) % 7 == 0, "left", PAIR)
    with pytest.warns(Warning, match="after 3 passes"):
        model = onlinear.AveragedPerceptron(max_iter=3).fit(X, flipped)
    assert not model.converged_
    onlinear.OnlineClassifier(max_iter=3).fit(X, flipped)  # a smooth loss never rests: no warning


def test_orders() -> None:
    def weights(order: str, seed: int) -> list[float]:
        model = onlinear.OnlineClassifier(order=order, random_state=seed)
        return model.fit(X, PAIR).coef_.tolist()

    assert weights("stream", 0) == weights("stream", 1)
    for order in ("shuffle", "replacement"):
        assert weights(order, 0) == weights(order, 0)
        assert weights(order, 0) != weights(order, 1)
    assert weights("shuffle", 0) != weights("replacement", 0)


def test_a_row_that_is_refused_counts_for_no_class() -> None:
    model = onlinear.OnlineClassifier(class_weight="balanced")
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    before = dict(model._model.class_weights.counts)
    with pytest.raises(BadInput):
        model.learn_one({"a": float("nan")}, "x")
    assert model._model.class_weights.counts == before


def test_a_fit_that_is_refused_leaves_what_was_learned_from_dicts() -> None:
    model = onlinear.OnlineClassifier(class_weight={"x": 2.0})
    model.learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match="class"):
        model.fit([[1.0], [2.0]], ["p", "q"])
    assert not hasattr(model, "n_features_in_")
    assert model.predict_one({"a": 1.0}) == "x"


# ------------------------------------------------------------------ convergence


@pytest.mark.parametrize(
    "model",
    [onlinear.AveragedPerceptron, onlinear.KernelPerceptron, onlinear.VotedPerceptron],
    ids=lambda cls: cls.__name__,
)
def test_converged_means_that_no_row_asks_for_an_update(model: Any) -> None:
    """A pass of rows drawn with replacement misses a third of them: it proves nothing of those."""
    X = np.concatenate([np.eye(12), np.eye(12)[:1]])
    y = np.array([1, -1] * 6 + [-1])  # the last row contradicts the first
    for seed in range(20):
        assert not model(order="replacement", max_iter=60, random_state=seed).fit(X, y).converged_
    for seed in range(5):
        fitted = model(order="replacement", max_iter=60, random_state=seed).fit(X[:12], y[:12])
        assert fitted.converged_
        assert (fitted.predict(X[:12]) == y[:12]).all()


def test_a_regressor_speaks_of_targets_not_of_classes() -> None:
    X, y = np.array([[1.0], [1.0]]), [0.0, 5.0]
    model = onlinear.OnlineRegressor("epsilon_insensitive", "pa1", max_iter=3)
    with pytest.warns(ConvergenceWarning, match="no weights may come near enough to all targets; raise max_iter"):
        model.fit(X, y)
    with pytest.warns(ConvergenceWarning, match="the classes may not be separable; raise max_iter"):
        onlinear.AveragedPerceptron(max_iter=3).fit(X, [0, 1])


SORTED = np.repeat([0, 1, 2], 50)


@pytest.mark.parametrize(
    "model", [onlinear.OnlineClassifier(max_iter=3), onlinear.VotedPerceptron(), onlinear.AROWClassifier()], ids=str
)
def test_labels_in_runs_are_warned_of_where_rows_keep_their_order(model: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(150, 3))
    with pytest.warns(UserWarning, match='the labels come in runs.* order="shuffle"') as caught:
        model.fit(rows, SORTED)
    assert [Path(each.filename).name for each in caught if "runs" in str(each.message)] == ["test_streams.py"]
    for other, labels in ((model, np.tile([0, 1, 2], 50)), (clone(model).set_params(order="shuffle"), SORTED)):
        with warnings.catch_warnings(record=True) as caught_too:
            warnings.simplefilter("always")
            other.fit(rows, labels)
        assert not [each for each in caught_too if "runs" in str(each.message)]


def test_sorted_iris_is_learned_once_it_is_shuffled() -> None:
    rows, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="come in runs"):
        assert onlinear.OnlineClassifier().fit(rows, y).score(rows, y) < 0.5
    assert onlinear.OnlineClassifier(order="shuffle", max_iter=20, random_state=0).fit(rows, y).score(rows, y) > 0.9
