"""KernelPerceptron and VotedPerceptron: labels, classes, streams, budgets, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning

from onlinear import AveragedPerceptron, BadInput, KernelPerceptron, Refused, VotedPerceptron
from onlinear.learning.dual.versions import VOTES
from slow_perceptrons import SlowPerceptron, linear, poly

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def letters(count: int, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-4, 5, (count, 3)).astype(float)
    labels = (rows[:, 0] * rows[:, 1] > 0).astype(int) + (rows[:, 2] > rng.normal(1, 1, count))
    return rows, np.array(["c", "a", "b"])[labels % classes]


def learned_slowly(rows: np.ndarray, y: np.ndarray, similarity: Any) -> dict[str, SlowPerceptron]:
    machines = {label: SlowPerceptron(similarity) for label in np.unique(y).tolist()}
    for row, own in zip(rows, y.tolist(), strict=True):
        for label, machine in machines.items():
            machine.learn(row, 1 if label == own else -1)
    return machines


def same(one: Any, other: Any, asked: np.ndarray) -> bool:
    """Whether two classifiers have learned the same, to the bit."""
    figures = ("examples_", "mistakes_", "radius2_")
    assert [getattr(one, name) for name in figures] == [getattr(other, name) for name in figures]
    assert np.array_equal(one.updates_, other.updates_)
    assert np.array_equal(one.support_vectors_, other.support_vectors_)
    assert np.array_equal(one.dual_coef_, other.dual_coef_)
    for vote in VOTES:
        one.set_params(vote=vote), other.set_params(vote=vote)
        assert np.array_equal(one.decision_function(asked), other.decision_function(asked))
    return True


# ------------------------------------------------------------------ what it learns


def test_degree_two_solves_xor_and_degree_one_cannot() -> None:
    y = [0, 1, 1, 0]
    model = KernelPerceptron(degree=2, vote="last", max_iter=100).fit(XOR, y)
    assert model.converged_
    assert model.n_iter_ < 100
    assert model.predict(XOR).tolist() == y
    assert len(model.support_vectors_) <= 4
    flat = KernelPerceptron(degree=1, vote="last", max_iter=100).fit(XOR, y)
    assert not flat.converged_
    assert flat.n_iter_ == 100
    assert flat.predict(XOR).tolist() != y


@pytest.mark.parametrize(("kernel", "vote"), [("rbf", "vote"), ("rbf", "last"), ("poly", "last")])
def test_xor_needs_no_number_of_passes(kernel: str, vote: str) -> None:
    for order in map(list, permutations(range(4))):
        rows, y = XOR[order], np.array([0, 1, 1, 0])[order]
        model = KernelPerceptron(kernel, vote=vote).fit(rows, y)
        assert model.converged_, order
        assert model.predict(rows).tolist() == y.tolist(), order
        assert KernelPerceptron(kernel, vote=vote).partial_fit(rows, y).examples_ == 4  # one pass, as ever


@pytest.mark.parametrize("vote", ["vote", "average", "last"])
def test_one_against_the_rest_is_slow_perceptrons_side_by_side(vote: str) -> None:
    rows, y = letters(120)
    asked, _ = letters(30, seed=1)
    model = KernelPerceptron("poly", degree=2, vote=vote, max_iter=1).fit(rows, y)
    machines = learned_slowly(rows, y, poly(2))
    assert model.classes_.tolist() == sorted(machines) == ["a", "b", "c"]
    assert model.updates_.tolist() == [machines[label].updates for label in "abc"]
    expected = [[getattr(machines[label], vote)(x) for label in "abc"] for x in asked]
    np.testing.assert_allclose(model.decision_function(asked), expected, rtol=1e-9, atol=1e-9)
    assert model.predict(asked).tolist() == ["abc"[np.argmax(scores)] for scores in expected]


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_voted_is_the_linear_case(fit_intercept: bool) -> None:
    rows, y = letters(100, classes=2)
    wide = np.hstack([rows, np.ones((100, int(fit_intercept)))])
    slow = learned_slowly(wide, y, linear)[np.unique(y)[1]]
    model = VotedPerceptron(fit_intercept=fit_intercept).fit(rows, y)
    assert model.updates_ == slow.updates
    np.testing.assert_allclose(model.decision_function(rows), [slow.vote(x) for x in wide], rtol=1e-12)


@pytest.mark.parametrize("passes", [1, 3])
def test_the_average_is_that_of_the_averaged_perceptron(passes: int) -> None:
    rows, y = letters(200)
    voted = VotedPerceptron(vote="average", max_iter=passes, order="stream").fit(rows, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        averaged = AveragedPerceptron(order="stream", max_iter=passes).fit(rows, y)
    assert voted.updates_.tolist() == averaged.updates_.tolist()
    np.testing.assert_allclose(voted.decision_function(rows), averaged.decision_function(rows), rtol=1e-9, atol=1e-9)


def test_updates_stay_within_the_mistake_bound() -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 6))
    comparator = rng.normal(size=6)
    margins = rows @ comparator
    rows, margins = rows[abs(margins) > 0.3], margins[abs(margins) > 0.3]
    model = VotedPerceptron(fit_intercept=False, max_iter=100).fit(rows, margins > 0)
    assert model.converged_
    bound = model.radius2_ * (comparator @ comparator) / abs(margins).min() ** 2
    assert 0 < model.updates_ <= bound


def test_support_vectors_and_coefficients_are_the_last_version() -> None:
    rows, y = letters(100)
    model = KernelPerceptron(degree=3, vote="last", max_iter=3, order="shuffle").fit(rows, y)
    scores = (rows @ model.support_vectors_.T + 1.0) ** 3 @ model.dual_coef_.T
    np.testing.assert_allclose(model.decision_function(rows), scores, rtol=1e-12)
    assert model.dual_coef_.any(axis=0).all()
    assert abs(model.dual_coef_).sum() == model.updates_.sum()
    assert len(np.unique(model.support_vectors_, axis=0)) <= len(model.support_vectors_) <= 100


def test_a_random_version_is_drawn_by_the_row_alone() -> None:
    rows, y = letters(200)
    model = KernelPerceptron(vote="random").fit(rows, y)
    scores = model.decision_function(rows)
    assert np.array_equal(model.decision_function(rows[7:9]), scores[7:9])
    assert np.array_equal(KernelPerceptron(vote="random").fit(rows, y).decision_function(rows), scores)
    assert not np.array_equal(
        KernelPerceptron(vote="random", random_state=1).fit(rows, y).decision_function(rows), scores
    )


# ------------------------------------------------------------------ importance


def weighed(rows: np.ndarray, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).choice([0.0, 0.25, 1.0, 3.0], len(rows))


@pytest.mark.parametrize("vote", ["vote", "average", "last"])
def test_importance_is_the_amount_that_is_added(vote: str) -> None:
    rows, y = letters(120, classes=2)
    weights = weighed(rows)
    slow = SlowPerceptron(poly(2))
    for row, label, weight in zip(rows, y, weights.tolist(), strict=True):
        if weight > 0.0:
            slow.learn(row, 1 if label == np.unique(y)[1] else -1, weight)
    model = KernelPerceptron(vote=vote, max_iter=1).fit(rows, y, sample_weight=weights)
    assert (model.updates_, model.examples_) == (slow.updates, np.count_nonzero(weights))
    expected = [getattr(slow, vote)(x) for x in rows]
    np.testing.assert_allclose(model.decision_function(rows), expected, rtol=1e-9, atol=1e-9)


def test_the_average_with_importance_is_that_of_the_averaged_perceptron() -> None:
    rows, y = letters(200)
    weights = weighed(rows)
    voted = VotedPerceptron(vote="average").partial_fit(rows, y, sample_weight=weights)
    averaged = AveragedPerceptron().partial_fit(rows, y, sample_weight=weights)
    assert voted.updates_.tolist() == averaged.updates_.tolist()
    np.testing.assert_allclose(voted.decision_function(rows), averaged.decision_function(rows), rtol=1e-9, atol=1e-9)


def test_a_row_of_importance_zero_is_absent() -> None:
    rows, y = letters(150)
    weights = weighed(rows)
    there = weights > 0.0
    y = np.where(there | (y != "c"), y, "never seen")
    cut = KernelPerceptron().partial_fit(rows[:70], y[:70], sample_weight=weights[:70])
    cut.partial_fit(rows[70:], y[70:], sample_weight=weights[70:])
    assert same(cut, KernelPerceptron(max_iter=1).fit(rows[there], y[there], sample_weight=weights[there]), rows)
    named, many = KernelPerceptron(), KernelPerceptron()
    dicts = [dict(enumerate(row)) for row in rows.tolist()]
    for x, label, weight in zip(dicts, y.tolist(), weights.tolist(), strict=True):
        named.learn_one(x, label, weight)
    many.learn_many(dicts, y.tolist(), weights)
    for model in (named, many):
        assert model.mistakes_ == cut.mistakes_
        assert np.array_equal(model.dual_coef_, cut.dual_coef_)
        assert np.array_equal(model.support_vectors_, cut.support_vectors_)


def test_importance_scales_the_bound() -> None:
    """Steps a_k: ``sum a_k margin <= |w| <= R sqrt(sum a_k^2)``."""
    rng = np.random.default_rng(5)
    rows, u = rng.normal(size=(200, 4)), rng.normal(size=4)
    margins = rows @ u / np.linalg.norm(u)
    rows, margins = rows[abs(margins) > 0.2], margins[abs(margins) > 0.2]
    weights = rng.uniform(0.1, 5.0, len(rows))
    model = VotedPerceptron(fit_intercept=False).fit(rows, margins > 0.0, sample_weight=weights)
    steps = abs(model.dual_coef_[0])
    length = np.linalg.norm(model.dual_coef_[0] @ model.support_vectors_)
    assert steps.sum() * abs(margins).min() <= length <= np.sqrt(model.radius2_ * (steps**2).sum())
    assert steps.tolist() == [w for w in weights.tolist() if w in set(steps.tolist())]


def test_a_budget_takes_steps_of_one() -> None:
    rows, y = letters(60, classes=2)
    refused(KernelPerceptron(budget=9), Refused, "leave out the sample weights", "fit", rows, y, np.full(60, 0.5))
    refused(KernelPerceptron(budget=9), Refused, "leave out the sample weights", "learn_one", {"a": 1.0}, "x", 2.0)
    ones = KernelPerceptron(budget=9).fit(rows, y, sample_weight=np.ones(60))
    assert same(ones, KernelPerceptron(budget=9).fit(rows, y), rows)


# ------------------------------------------------------------------ streams


@settings(max_examples=8, deadline=None)
@given(cuts=st.lists(st.integers(1, 149), max_size=5), classes=st.sampled_from([2, 3]), named=st.booleans())
def test_any_chunks_are_one_fit(cuts: list[int], classes: int, named: bool) -> None:
    rows, y = letters(150, classes)
    whole = KernelPerceptron("rbf", gamma=0.1, max_iter=1).fit(rows, y)
    stream = KernelPerceptron("rbf", gamma=0.1)
    for part in np.split(np.arange(150), sorted(set(cuts))):
        stream.partial_fit(rows[part], y[part], classes=np.unique(y) if named else None)
        named = False
    assert stream.classes_.tolist() == whole.classes_.tolist()
    assert same(stream, whole, rows)


def test_sparse_and_pickled_learners_go_on_alike() -> None:
    rows, y = letters(150)
    whole = KernelPerceptron(degree=3, max_iter=1).fit(rows, y)
    stream = KernelPerceptron(degree=3).partial_fit(csr_matrix(rows[:77]), y[:77])
    stream = pickle.loads(pickle.dumps(stream)).partial_fit(rows[77:], y[77:])
    assert same(stream, whole, rows)


def test_dicts_are_rows() -> None:
    rows, y = letters(90)
    stream, table = KernelPerceptron("rbf", gamma=0.1), KernelPerceptron("rbf", gamma=0.1)
    names = ["x", "y", "z"]
    for row, label in zip(rows.tolist(), y.tolist(), strict=True):
        stream.learn_one(dict(zip(names, row, strict=True)), label)
    table.partial_fit(rows, y)
    assert np.array_equal(stream.updates_, table.updates_)
    asked = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    assert [stream.predict_one(x) for x in asked] == table.predict(rows).tolist()


def test_names_and_labels_appear_one_by_one() -> None:
    model = KernelPerceptron("poly", degree=2)
    assert model.predict_one({"a": 1}) is None
    assert model.learn_one({"a": 1}, ("x", 1)) == 0.0
    assert model.predict_one({"b": 2}) == ("x", 1)
    table, y = np.zeros((41, 42)), [9] + [number % 4 for number in range(40)]
    table[0, 0] = table[np.arange(1, 41), np.arange(2, 42)] = table[1:, 1] = 1.0
    for number in range(40):
        model.learn_one({f"name {number}": 1.0, "colour": "red"}, number % 4)
    expected = KernelPerceptron("poly", degree=2).partial_fit(table, y)
    assert sorted(model.updates_) == sorted(expected.updates_)  # tuples have no order among numbers
    assert model.mistakes_ == expected.mistakes_
    assert model.examples_ == 41


def test_learning_on_by_names_of_columns() -> None:
    rows, y = letters(60)
    model = VotedPerceptron().fit(rows, y)
    scores = model.set_params(vote="last").decision_function(rows[:1])[0]
    np.testing.assert_allclose(model.learn_one(dict(enumerate(rows[0].tolist())), y[0]), scores, rtol=1e-12)
    with pytest.raises(BadInput, match="fitted on columns"):
        model.learn_one({"new": 1.0}, y[0])
    assert model.examples_ == 61


# ------------------------------------------------------------------ budgets


@pytest.mark.parametrize("classes", [2, 3])
def test_a_budget_is_kept(classes: int) -> None:
    rows, y = letters(400, classes)
    model = KernelPerceptron("rbf", gamma=0.1, budget=30)
    for part in np.split(np.arange(400), [50, 130, 131, 290]):
        model.partial_fit(rows[part], y[part], classes=np.unique(y))
        assert len(model.support_vectors_) <= 30
    assert np.sum(model.updates_) > 60
    assert same(model, KernelPerceptron("rbf", gamma=0.1, budget=30, max_iter=1).fit(rows, y), rows)


def test_a_large_budget_changes_nothing() -> None:
    rows, y = letters(100)
    few = KernelPerceptron(budget=300, max_iter=1).fit(rows, y)
    assert same(few, KernelPerceptron(max_iter=1).fit(rows, y), rows)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 99), flipped=st.floats(0.25, 0.5))
def test_the_forgetron_stays_within_its_bound(seed: int, flipped: float) -> None:
    """Dekel, Shalev-Shwartz & Singer: mistakes <= 2 |g|^2 + 4 hinge losses of g, for |g| <= sqrt((B+1)/ln(B+1))/4."""
    rng = np.random.default_rng(seed)
    budget, direction = 83, np.array([1.0, -1.0, 0.0, 0.0]) / np.sqrt(2.0)
    rows = np.hstack([np.eye(2)[rng.integers(0, 2, 600)], rng.normal(0, 0.3, (600, 2))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    y = np.sign(rows @ direction) * np.where(rng.random(600) < flipped, -1, 1)
    g = direction * np.sqrt((budget + 1) / np.log(budget + 1)) / 4.0
    losses = np.maximum(0.0, 1.0 - y * (rows @ g)).sum()
    model = VotedPerceptron(fit_intercept=False, budget=budget).fit(rows, y)
    assert budget < model.updates_ <= 2.0 * g @ g + 4.0 * losses


# ------------------------------------------------------------------ what is refused


def refused(model: Any, error: type, match: str, *call: Any, **named: Any) -> None:
    """Whether a call is refused and leaves the model as it was."""
    before = pickle.dumps(model)
    with pytest.raises(error, match=match):
        getattr(model, call[0])(*call[1:], **named)
    assert pickle.dumps(model) == before


def test_refusals_change_nothing() -> None:
    rows, y = letters(100)
    for model in (KernelPerceptron(degree=9), KernelPerceptron(degree=9).partial_fit(rows, y, classes=["a", "b", "c"])):
        refused(model, ValueError, "NaN", "partial_fit", [[np.nan, 0.0, 0.0]], ["a"])
        refused(model, BadInput, "range of float64", "partial_fit", [[1e30, 0.0, 0.0]] * 2, ["a", "b"])
        refused(model, BadInput, "range of float64", "fit", [[1e200, 0.0, 0.0]] * 2, ["a", "b"])
    refused(model, BadInput, "'d' of row 1", "partial_fit", rows[:2], ["a", "d"])
    refused(model, BadInput, "not the same", "partial_fit", rows[:1], ["a"], classes=["a", "b"])
    refused(model, BadInput, "not hashable", "learn_one", {0: 1.0}, [1])
    refused(model, BadInput, "range of float64", "decision_function", [[1e30, 0.0, 0.0]])
    refused(model.set_params(degree=2), Refused, "cannot change", "partial_fit", rows, y)


def test_a_budget_wants_to_know_the_classes() -> None:
    rows, y = letters(50)
    refused(KernelPerceptron(budget=2), Refused, "does not suffice for 3", "fit", rows, y)
    refused(KernelPerceptron(budget=9), Refused, "a third one is new", "partial_fit", rows, y)
    model = KernelPerceptron(budget=9)
    model.learn_one({"a": 1}, 0), model.learn_one({"a": 2}, 1)
    refused(model, Refused, "a third one is new", "learn_one", {"a": 3}, 2)


def test_first_dict_refused_leaves_nothing() -> None:
    model = KernelPerceptron()
    with pytest.raises(BadInput, match="is inf"):
        model.learn_one({"a": np.inf}, 1)
    assert model.predict_one({"a": 1.0}) is None


@pytest.mark.parametrize("learn", ["partial_fit", "learn_many"])
def test_a_kernel_that_refuses_in_the_midst_of_the_rows_leaves_no_trace(learn: str) -> None:
    rows, y = letters(200)
    given = [dict(enumerate(row)) for row in rows.tolist()] if learn == "learn_many" else rows
    model = KernelPerceptron(refuses_hundreds)
    getattr(model, learn)(given[:70], y[:70])
    wrong = rows.copy()
    wrong[150] = 100.0
    bad = [dict(enumerate(row)) for row in wrong.tolist()] if learn == "learn_many" else wrong
    refused(model, BadInput, "answers NaN", learn, bad[70:], np.where(np.arange(70, 200) < 140, y[70:], "new"))
    getattr(model, learn)(given[70:], y[70:])
    assert np.array_equal(model.dual_coef_, KernelPerceptron(refuses_hundreds).partial_fit(rows, y).dual_coef_)


def refuses_hundreds(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return np.where((X.max(axis=1) == 100.0)[:, None] | (Z.max(axis=1) == 100.0), np.nan, X @ Z.T + 1.0)


def test_a_name_in_a_refused_row_is_not_registered() -> None:
    model = KernelPerceptron()
    model.learn_one({"a": 1.0}, "x"), model.learn_one({"a": -1.0}, "y")
    refused(model, BadInput, "range of float64", "learn_one", {"a": 1.0, "b": 1e200}, "x")
    refused(model, BadInput, "range of float64", "learn_many", [{"c": 1.0}, {"b": 1e200}], ["x", "z"])
    assert model.support_vectors_.shape[1] == 1


def test_a_kernel_of_the_wrong_shape_is_refused() -> None:
    rows, y = letters(20)
    with pytest.raises(BadInput, match="a matrix of one number for each pair"):
        KernelPerceptron(lambda X, Z: X @ X.T @ X).fit(rows, y)
