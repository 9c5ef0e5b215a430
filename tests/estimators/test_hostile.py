"""What a hostile reader found: calls of two kinds that went by other parameters, weights or classes than each other."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear.errors import BadInput, Refused

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]])
ROWS = [{0: 1.0, 1: 2.0}, {0: 3.0, 1: -1.0}, {0: 0.5, 1: 0.5}]
Y = ["a", "b", "a"]
PLAIN: dict[str, Any] = {"learning_rate": "constant", "eta0": 0.1, "penalty": None}


@contextmanager
def handled(handler: Callable[..., None]) -> Iterator[None]:
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, before)


class Struck(Exception):
    pass


def strike_after(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a signal come right after each call of the model's compiled loops."""
    learner = model._learner
    for kind, ready in learner._ready.items():

        def struck(*arguments: Any, loop: Any = ready.loop) -> int:
            learned = loop(*arguments)
            signal.raise_signal(signal.SIGUSR1)
            return int(learned)

        monkeypatch.setitem(learner._ready, kind, ready._replace(loop=struck))


def taught(make: Callable[..., Any] = onlinear.OnlineClassifier) -> Any:
    model = make(rule="sgd")
    for _ in range(3):  # no power of two is next, and the short way is known
        model.partial_fit(X[:1], np.array([1]), classes=None if model._learner else [0, 1])
        model.partial_fit(X[1:2], np.array([0]))
    return model


def test_what_is_shown_after_a_signal_right_behind_the_loop_is_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    def handler(*_: Any) -> None:
        raise Struck

    model = taught()
    before = model.coef_.copy()
    strike_after(model, monkeypatch)
    with handled(handler), pytest.raises(Struck):
        model.partial_fit(X[2:], np.array([0]))
    assert model.examples_ == 7
    assert np.array_equal(model.coef_, model._learner.weights()[:1])
    assert not np.array_equal(model.coef_, before)


def test_a_handler_may_read_and_save_the_model_it_interrupts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[Any] = []

    def handler(*_: Any) -> None:
        model.save(tmp_path / "model.onlinear")
        seen.append((model.examples_, model.coef_.copy(), model.predict(X).tolist()))
        with pytest.raises(Refused, match="a signal handler cannot learn with a model whose own call"):
            model.partial_fit(X[:1], np.array([1]))

    model, alone = taught(), taught()
    strike_after(model, monkeypatch)
    done = threading.Event()

    def watch() -> None:  # a handler that waits for itself would wait for ever
        if not done.wait(60.0):
            sys.stderr.write("the handler hangs\n")
            signal.raise_signal(signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
    with handled(handler):
        model.partial_fit(X[2:], np.array([0]))
    done.set()
    alone.partial_fit(X[2:], np.array([0]))
    assert [examples for examples, _, _ in seen] == [7]
    assert np.array_equal(seen[0][1], alone.coef_)
    assert np.array_equal(model.coef_, alone.coef_)
    assert np.array_equal(onlinear.load(tmp_path / "model.onlinear").coef_, alone.coef_)


# ------------------------------------------------------------------ class weights


@pytest.mark.parametrize("weights", [{"a": 5.0, "b": 0.5}, "balanced", None])
@pytest.mark.parametrize("make", [onlinear.SGDClassifier, onlinear.Perceptron, onlinear.OnlineClassifier])
def test_class_weights_are_those_of_arrays_for_dicts_too(make: Any, weights: Any) -> None:
    given = {
        "class_weight": weights,
        **({"learning_rate": "constant", "eta0": 0.1} if make is onlinear.SGDClassifier else {}),
    }
    if weights == "balanced" and make is not onlinear.OnlineClassifier:
        given |= {"class_weight": None}
    by_array = make(**given).partial_fit(X, Y, classes=["a", "b"])
    by_dicts = make(**given).learn_many(ROWS, Y, classes=["a", "b"])
    assert np.array_equal(by_dicts.coef_, by_array.coef_)


@pytest.mark.parametrize("weights", [{"a": 5.0, "b": 0.5}, "balanced"])
def test_class_weights_that_are_set_after_fit_reach_dicts(weights: Any) -> None:
    def fitted() -> Any:
        model = onlinear.SGDClassifier(max_iter=1, tol=None, shuffle=False, **PLAIN).fit(X, Y)
        return model.set_params(class_weight=weights)

    by_array = fitted().partial_fit(X[:1], Y[:1])
    by_one, by_many = fitted(), fitted().learn_many(ROWS[:1], Y[:1])
    by_one.learn_one(ROWS[0], Y[0])
    assert np.array_equal(by_one.coef_, by_array.coef_)
    assert np.array_equal(by_many.coef_, by_array.coef_)


@pytest.mark.parametrize("make", [onlinear.SGDClassifier, onlinear.OnlineClassifier])
def test_a_dict_of_class_weights_that_is_changed_within_counts_at_once(make: Any) -> None:
    def model() -> Any:
        weights = {"a": 1.0, "b": 1.0}
        learned = make(class_weight=weights).partial_fit(X, Y, classes=["a", "b"])
        for _ in range(2):  # the short way is known
            learned.partial_fit(X[:1], Y[:1])
        weights["a"] = 7.0
        return learned

    one_by_one = model()
    for k in range(2):
        one_by_one.partial_fit(X[k : k + 1], Y[k : k + 1])
    assert np.array_equal(one_by_one.coef_, model().partial_fit(X[:2], Y[:2]).coef_)
    for wrong in (-5.0, np.nan, "x", None):
        spoilt = model()
        spoilt.class_weight["a"] = wrong
        for call in (
            lambda spoilt=spoilt: spoilt.partial_fit(X[:1], Y[:1]),
            lambda spoilt=spoilt: spoilt.partial_fit(X[:2], Y[:2]),
            lambda spoilt=spoilt: spoilt.learn_one(ROWS[0], Y[0]),
        ):
            with pytest.raises(BadInput, match="class_weight is"):
                call()


# ------------------------------------------------------------------ assigned weights


def test_dicts_are_answered_and_learned_with_weights_that_were_assigned() -> None:
    model = onlinear.SGDRegressor(max_iter=1, tol=None, shuffle=False).fit(X, [1.0, 2.0, 3.0])
    model.predict_one(ROWS[0])
    model.coef_ = np.array([100.0, 100.0])
    assert model.predict_one(ROWS[0]) == model.predict(X[:1])[0]
    by_dict = onlinear.SGDClassifier(max_iter=1, tol=None, shuffle=False, **PLAIN).fit(X, Y)
    by_array = onlinear.SGDClassifier(max_iter=1, tol=None, shuffle=False, **PLAIN).fit(X, Y)
    for model in (by_dict, by_array):
        model.learn_one(ROWS[0], "a")
        model.coef_ = np.array([[0.1, -0.2]])
    by_dict.learn_one(ROWS[1], "b")
    by_array.partial_fit(X[1:2], ["b"])
    assert np.array_equal(by_dict.coef_, by_array.coef_)


# ------------------------------------------------------------------ classes


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.partial_fit([[np.nan, 1.0]], ["a"], classes=["a", "b", "c"]),
        lambda model: model.partial_fit(X[:1], ["z"], classes=["a", "b", "c"]),
    ],
)
def test_classes_that_come_with_refused_rows_are_not_named(spoil: Callable[[Any], Any]) -> None:
    model = onlinear.OnlineClassifier().partial_fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match=r"NaN|not among"):
        spoil(model)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.partial_fit(X[:1], ["d"]).classes_.tolist() == ["a", "b", "d"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda model: model.learn_many([{"x": np.nan}], ["a"], classes=["a", "b", "c"]),
        lambda model: model.learn_many([{"x": 1.0}], ["z"], classes=["a", "b", "c"]),
    ],
)
def test_classes_that_come_with_refused_dicts_are_not_named(spoil: Callable[[Any], Any]) -> None:
    model = onlinear.OnlineClassifier().learn_many([{"x": 1.0}, {"y": 1.0}], ["a", "b"])
    with pytest.raises(ValueError, match=r"nan|not among"):
        spoil(model)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.learn_many([{"x": 1.0}], ["d"]).classes_.tolist() == ["a", "b", "d"]


def test_whole_numbers_that_floats_round_are_no_class_of_theirs() -> None:
    model = onlinear.OnlineClassifier().learn_many([{"x": 1.0}, {"y": 1.0}], [5, 2**53 + 1])
    assert model._classes.codes_of(np.array([2.0**53, 5.0])).tolist() == [-1, 0]


@pytest.mark.parametrize("make", [onlinear.OnlineClassifier, onlinear.VotedPerceptron])
def test_a_label_that_numpy_would_cut_is_refused(make: Any) -> None:
    with pytest.raises(BadInput, match=r"ends with a NUL"):
        make().learn_one({"x": 1.0}, "a\0")
    with pytest.raises(BadInput, match=r"ends with a NUL"):
        make().learn_many([{"x": 1.0}, {"y": 1.0}], ["a\0", "b"])


@pytest.mark.parametrize("y", ["a", {0: "a"}, b"a"])
def test_one_row_takes_no_targets_that_many_would_not(y: Any) -> None:
    model = onlinear.OnlineClassifier().partial_fit(X, Y)
    with pytest.raises((ValueError, TypeError)):
        model.partial_fit(X[:1], y)
    assert model.examples_ == 3


# ------------------------------------------------------------------ other threads


def test_a_refused_call_leaves_the_sums_of_what_another_thread_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    model = onlinear.OnlineClassifier("perceptron", "perceptron")
    for row, label in zip(ROWS * 2, [0, 1, 1] * 2, strict=True):
        model.learn_one(row, label)
    alone = onlinear.OnlineClassifier("perceptron", "perceptron")
    for row, label in zip([*ROWS * 2, ROWS[1]], [0, 1, 1, 0, 1, 1, 0], strict=True):
        alone.learn_one(row, label)

    def learn_meanwhile(importance: float) -> float:
        model._learning_path.view.learn(
            model._learning_path.view.place_at, id(ROWS[1]), model._learning_path.targets[0], 1.0
        )
        raise BadInput("no importance")

    monkeypatch.setattr("onlinear.learning.dict_rows.checked_importance", learn_meanwhile)
    with pytest.raises(BadInput, match="no importance"):
        model.learn_one(ROWS[0], 1, importance=2.0)
    assert np.array_equal(model._learner.counters.array, alone._learner.counters.array)


def test_a_parameter_that_is_set_while_the_first_rows_are_learned_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    model = onlinear.SGDRegressor(learning_rate="constant", eta0=1e-9, penalty=None)
    asked, setting = threading.Event(), None

    def set_meanwhile(recipe: Any, *arguments: Any, **named: Any) -> Any:
        nonlocal setting
        setting = threading.Thread(target=lambda: (asked.set(), model.set_params(eta0=0.1)))
        setting.start()
        asked.wait()
        setting.join(0.2)  # it has to wait until the call is over
        return create(recipe, *arguments, **named)

    create = model._create
    monkeypatch.setattr(model, "_create", set_meanwhile)
    model.partial_fit(X, [1.0, 2.0, 3.0])
    assert setting is not None
    setting.join()
    assert abs(model.coef_).max() < 1e-6
    model.partial_fit(X, [1.0, 2.0, 3.0])
    assert abs(model.coef_).max() > 1e-2


def test_what_is_not_compiled_yet_is_called_where_signals_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from onlinear.system.interrupts import uninterrupted

    class Loop:
        """A loop that is compiled, as Numba's are, by its first call."""

        def __init__(self, loop: Any) -> None:
            self.loop, self.signatures, self.depths = loop, [], []

        def __call__(self, *arguments: Any) -> float:
            self.signatures = ["compiled"]
            self.depths.append(uninterrupted._depth)
            return float(self.loop(*arguments))

    import onlinear.learning.dict_path

    made: list[Loop] = []
    make = onlinear.learning.dict_path.learn_one_loop
    monkeypatch.setattr(
        onlinear.learning.dict_path, "learn_one_loop", lambda shape: made.append(Loop(make(shape))) or made[-1]
    )
    model = onlinear.OnlineRegressor().learn_many(ROWS, [1.0, 2.0, 3.0])
    model.learn_one(ROWS[0], 1.0)  # the fourth example, which takes more than one step anyway
    made[0].signatures = []
    model._learning_path = model._model._learning_path = None
    for row, target in zip(ROWS, [1.0, 2.0, 3.0], strict=True):
        model.learn_one(row, target)
    assert model.examples_ == 7
    assert len(made) == 2
    assert all(loop.depths[0] > 0 for loop in made)
    assert made[1].depths[1:] == [0, 0]


# ------------------------------------------------------------------ a second look


def test_numbers_of_another_shape_are_not_assigned(tmp_path: Path) -> None:
    model = onlinear.SGDClassifier(random_state=0).fit(np.eye(3), [0, 1, 2])
    shown = model.intercept_.copy()
    for wrong in ([1.0], [1.0, 2.0], [], [[1.0, 2.0, 3.0]], [np.nan, 0.0, 0.0]):
        with pytest.raises(BadInput, match=r"give as many numbers|give finite numbers"):
            model.intercept_ = wrong
    with pytest.raises(BadInput, match="give as many numbers"):
        model.coef_ = np.ones((2, 3))
    assert np.array_equal(model.intercept_, shown)
    model.intercept_ = 2.0
    assert model.intercept_.tolist() == [2.0, 2.0, 2.0]
    model.save(tmp_path / "model")
    assert onlinear.load(tmp_path / "model").intercept_.tolist() == [2.0, 2.0, 2.0]


def test_what_is_assigned_as_it_was_changes_nothing() -> None:
    model, alone = (onlinear.OnlineClassifier().partial_fit(X, Y) for _ in range(2))
    model.intercept_ = model.intercept_
    model.coef_ = model.coef_
    assert np.array_equal(model.partial_fit(X, Y).coef_, alone.partial_fit(X, Y).coef_)


@pytest.mark.parametrize("make", [onlinear.Perceptron, onlinear.KernelPerceptron])
@pytest.mark.parametrize(
    "labels", [[True, False, True], [1, 2, 1], [2**64, 2**64 + 1, 2**64], [("a", 1), ("b", 2), ("a", 1)]]
)
def test_score_takes_labels_that_fit_takes(make: Any, labels: list[Any]) -> None:
    y = np.empty(3, dtype=object)
    y[:] = labels
    model = make().fit(X, y) if not isinstance(labels[0], tuple) else make().partial_fit(X, y)
    right = [a == b for a, b in zip(model.predict(X).tolist(), labels, strict=True)]
    assert model.score(X, y) == np.mean(right)
    assert model.score(X, y, sample_weight=[1.0, 0.0, 0.0]) == right[0]
    with pytest.raises(BadInput, match="one label a row"):
        model.score(X[:2], y)


def test_a_model_shows_weights_from_the_first_moment_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def set_attribute(estimator: Any, name: str, value: Any) -> None:
        set_before(estimator, name, value)
        if name == "_model":
            shapes.append(estimator.coef_.shape)

    shapes: list[tuple[int, ...]] = []
    set_before = onlinear.OnlineRegressor.__setattr__
    monkeypatch.setattr(onlinear.OnlineRegressor, "__setattr__", set_attribute)
    onlinear.OnlineRegressor().partial_fit(X, [1.0, 2.0, 3.0])
    assert shapes == [(2,)]
