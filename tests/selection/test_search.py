"""``OnlineSearch``: the best of many is that one alone, however the rows are cut. The race runs interpreted."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse

import onlinear
from onlinear import rules
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.estimators import search
from onlinear.kernels.learn.loops import interpreted_loop
from onlinear.learning.learner import Learner
from onlinear.registry import REGRESSION, RULES, TAKES
from onlinear.selection import Configuration, configuration, grid
from onlinear.selection.race import Race

RNG = np.random.default_rng(11)
X = RNG.normal(size=(80, 4)) * (RNG.random((80, 4)) < 0.8)
SCORES = X @ np.array([1.0, -2.0, 0.5, 0.0]) + 0.5 * RNG.normal(size=80)
PAIR = np.where(SCORES > 0.3, "yes", "no")
THREE = np.digitize(SCORES, [-1.0, 1.0])


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "Race", partial(Race, compiled=False))


def some(task: str = "classification") -> list[Configuration]:
    loss = "squared_error" if task == "regression" else "log_loss"
    return grid(loss=loss, rule=[rules.Normalised(0.1), rules.Normalised(0.6)], average=[False, True])


def lone(one: Configuration, **more: Any) -> Any:
    """The classifier of a configuration."""
    return onlinear.OnlineClassifier(one.loss, one.rule, average=bool(one.settings.average), **more)


def same(one: Any, other: Any) -> None:
    """Two estimators that have learned the same, to the bit."""
    assert type(one) is type(other)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    assert (one.examples_, one.loss_, one.n_iter_) == (other.examples_, other.loss_, other.n_iter_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("y", [PAIR, THREE], ids=["two", "three"])
def test_the_best_is_that_one_alone(y: np.ndarray, sparse: bool) -> None:
    rows = scipy.sparse.csr_matrix(X) if sparse else X
    found = onlinear.OnlineSearch(some()).fit(rows, y)
    alone = lone(found.best_configuration_).fit(rows, y)
    same(found.best_estimator_, alone)
    np.testing.assert_array_equal(found.predict(rows), alone.predict(rows))
    np.testing.assert_array_equal(found.decision_function(rows), alone.decision_function(rows))
    np.testing.assert_array_equal(found.predict_proba(rows), alone.predict_proba(rows))
    assert found.score(rows, y) == alone.score(rows, y)
    assert found.classes_.tolist() == np.unique(y).tolist()
    assert found.best_configuration_ == found.results_.best


def test_a_regression() -> None:
    found = onlinear.OnlineSearch(some("regression"), task="regression").fit(X, SCORES)
    alone = onlinear.OnlineRegressor(
        rule=found.best_configuration_.rule, average=bool(found.best_configuration_.settings.average)
    ).fit(X, SCORES)
    same(found.best_estimator_, alone)
    assert found.best_estimator_.mistakes_ == 0
    assert found.score(X, SCORES) == alone.score(X, SCORES)
    assert not hasattr(found, "decision_function")
    assert not hasattr(found, "classes_")


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_comes_out_as_if_alone(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Learner, "_loop", lambda learner: interpreted_loop(type(learner.rules[0])))
    for loss in sorted(TAKES[rule])[::3]:
        numbers = loss in REGRESSION
        y = SCORES[:25] if numbers else THREE[:25]
        for rows in (X[:25], scipy.sparse.csr_matrix(X[:25])):
            found = onlinear.OnlineSearch(
                [configuration(loss, rule)] * 2, task="regression" if numbers else "classification"
            )
            ours = found.fit(rows, y).best_estimator_
            alone = (onlinear.OnlineRegressor if numbers else onlinear.OnlineClassifier)(loss, rule).fit(rows, y)
            same(ours, alone)
            assert (ours.history_, ours.mistakes_) == (alone.history_, alone.mistakes_)
            assert ours.updates_per_pass_ == alone.updates_per_pass_
            same(ours.partial_fit(rows[:4], y[:4]), alone.partial_fit(rows[:4], y[:4]))


@pytest.mark.parametrize("cuts", [[40], [1, 2, 3, 79], [0, 10, 10, 55]])
@pytest.mark.parametrize("halving", [False, True])
def test_chunks_do_not_matter(cuts: list[int], halving: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "FIRST_RUNG", 20)
    whole, cut = (onlinear.OnlineSearch(some(), halving=halving) for _ in range(2))
    whole.partial_fit(X, THREE, classes=[0, 1, 2])
    for start, stop in zip([0, *cuts], [*cuts, 80], strict=True):
        if stop > start:
            cut.partial_fit(X[start:stop], THREE[start:stop], classes=[0, 1, 2])
    same(cut.best_estimator_, whole.best_estimator_)
    assert [place.finish for place in cut.results_.places] == [place.finish for place in whole.results_.places]
    stops = sorted(place.finish.stopped_at or 0 for place in whole.results_.places)
    assert stops == ([0, 20, 20, 40] if halving else [0, 0, 0, 0])
    if not halving:
        same(onlinear.OnlineSearch(some()).fit(X, THREE).best_estimator_, whole.best_estimator_)


def test_halving_an_unknown_length_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    begun = onlinear.OnlineSearch(grid(rule=[rules.Normalised(r / 10) for r in range(1, 9)]), halving=True)
    begun.partial_fit(X, PAIR, classes=["no", "yes"])
    assert begun._race is not None
    assert begun._race.rungs == [1000, 2000, 4000]


@pytest.mark.parametrize("order", ["stream", "shuffle"])
def test_after_the_first_pass_the_best_goes_on_alone(order: str) -> None:
    once = onlinear.OnlineSearch(some(), order=order, random_state=5).fit(X, PAIR)
    found = onlinear.OnlineSearch(some(), order=order, random_state=5, max_iter=3).fit(X, PAIR)
    assert str(found.results_) == str(once.results_)  # later passes are training, and judge nothing
    alone = lone(found.best_configuration_, order=order, random_state=5, max_iter=3).fit(X, PAIR)
    same(found.best_estimator_, alone)
    assert found.best_estimator_.updates_per_pass_ == alone.updates_per_pass_
    found.partial_fit(X[:9], PAIR[:9])
    same(found.best_estimator_, alone.partial_fit(X[:9], PAIR[:9]))


def test_folds_judge_and_then_the_best_learns_all_rows() -> None:
    found = onlinear.OnlineSearch(some(), folds=4, max_iter=2, order="shuffle", random_state=5).fit(X, PAIR)
    assert (found.results_.how.folds, found.results_.how.rows, found.results_.how.passes) == (4, 80, 2)
    assert found.results_.best == found.best_configuration_
    alone = lone(found.best_configuration_, order="shuffle", random_state=5, max_iter=2).fit(X, PAIR)
    same(found.best_estimator_, alone)


def test_a_pickle_goes_on_to_the_bit() -> None:
    found = onlinear.OnlineSearch(some()).partial_fit(X[:30], PAIR[:30], classes=["no", "yes"])
    found.predict(X)
    copy = pickle.loads(pickle.dumps(found))
    for each in (found, copy):
        each.partial_fit(X[30:], PAIR[30:])
    same(copy.best_estimator_, found.best_estimator_)
    assert str(copy.results_) == str(found.results_)


def test_what_is_saved_is_the_best(tmp_path: Path) -> None:
    found = onlinear.OnlineSearch(some()).fit(X, PAIR)
    found.save(tmp_path / "best.onlinear")
    same(onlinear.load(tmp_path / "best.onlinear"), found.best_estimator_)


def test_names_of_columns_reach_the_best() -> None:
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    found = onlinear.OnlineSearch(some()).fit(frame, PAIR)
    assert found.best_estimator_.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(found.predict(frame), lone(found.best_configuration_).fit(frame, PAIR).predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame[["b", "a", "c", "d"]])


def test_probabilities_are_there_if_the_best_has_them() -> None:
    both = [configuration("log_loss"), configuration("hinge")]
    assert hasattr(onlinear.OnlineSearch(both[:1]), "predict_proba")
    assert not hasattr(onlinear.OnlineSearch(both), "predict_proba")
    assert not hasattr(onlinear.OnlineSearch(both[1:]).fit(X, PAIR), "predict_proba")
    found = onlinear.OnlineSearch([both[0], configuration("hinge", rules.Normalised(1e-9))]).fit(X, PAIR)
    assert hasattr(found, "predict_proba") == (found.best_configuration_.loss == both[0].loss)


@pytest.mark.parametrize(
    ("params", "calls", "match"),
    [
        ({}, [{}], "classes must be passed"),
        ({}, [{"classes": ["no", "yes"]}, {"classes": ["no"]}], "not the same"),
        ({}, [{"classes": ["no", "maybe"]}], "'yes' of row|'no' of row|not among the classes"),
        ({"folds": 3}, [{"classes": ["no", "yes"]}], "folds need all rows"),
        ({"configurations": [{"loss": "hingy"}]}, [{"classes": ["no", "yes"]}], "'hingy' is unknown"),
    ],
)
def test_refused_in_a_stream(params: dict[str, Any], calls: list[dict[str, Any]], match: str) -> None:
    begun = onlinear.OnlineSearch(**{"configurations": some(), **params})
    *fine, last = calls
    for call in fine:
        begun.partial_fit(X, PAIR, **call)
    with pytest.raises((BadInput, Refused), match=match):
        begun.partial_fit(X, PAIR, **last)


def test_refused_as_a_whole() -> None:
    with pytest.raises(BadInput, match="greater than one; got 1 class"):
        onlinear.OnlineSearch(some()).fit(X, np.full(80, "no"))
    with pytest.raises(BadInput, match="80 rows cannot be cut in 90 folds"):
        onlinear.OnlineSearch(some(), folds=90).fit(X, PAIR)
    with pytest.raises(Refused, match="is not for regression"):
        onlinear.OnlineSearch(some(), task="regression").fit(X, SCORES)
    wild = configuration("squared_error", rules.SGD(rules.Constant(1e300)))
    with pytest.raises(Diverged, match="every configuration diverged"):
        onlinear.OnlineSearch([wild], task="regression").fit(X, SCORES)


def test_a_bad_row_reaches_no_configuration() -> None:
    found = onlinear.OnlineSearch(some()).partial_fit(X, PAIR, classes=["no", "yes"])
    before = found.best_estimator_.coef_.copy()
    bad = X.copy()
    bad[70, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        found.partial_fit(bad, PAIR)
    assert found.best_estimator_.examples_ == 80
    np.testing.assert_array_equal(found.best_estimator_.coef_, before)


def test_changed_on_its_way() -> None:
    found = onlinear.OnlineSearch(some()).partial_fit(X, PAIR, classes=["no", "yes"])
    with pytest.raises(Refused, match="cannot change on its way"):
        found.set_params(halving=True).partial_fit(X, PAIR)
    assert found.fit(X, PAIR).predict(X).shape == (80,)


def test_rows_of_importance_0_are_absent() -> None:
    weight = np.where(np.arange(80) % 3 == 0, 0.0, 2.0)
    there = weight > 0.0
    ours = onlinear.OnlineSearch(some()).fit(X, PAIR, sample_weight=weight)
    theirs = onlinear.OnlineSearch(some()).fit(X[there], PAIR[there], sample_weight=weight[there])
    same(ours.best_estimator_, theirs.best_estimator_)
    assert str(ours.results_) == str(theirs.results_)
