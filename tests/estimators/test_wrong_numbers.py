"""Importance and targets that are no numbers: each is refused with what was given and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import onlinear
from onlinear.errors import BadInput

ROW = {"a": 1.0, "b": 2.0}
X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
MODELS = {
    "classifier": onlinear.OnlineClassifier,
    "regressor": onlinear.OnlineRegressor,
    "kernel": lambda: onlinear.KernelPerceptron("linear"),
}
NO_IMPORTANCE = [np.array([1.0]), np.array([1.0, 2.0]), None, "1", 1j, [1.0], pd.NA, 10**400]
NO_NUMBER = [None, pd.NA, "abc", "3", b"3", [3.0], np.array([2.0]), 10**400, 1j, float("nan")]


def learned(kind: str, examples: int) -> Any:
    model = MODELS[kind]()
    for k in range(examples):
        model.learn_one(ROW, k % 2)
    return model


@pytest.mark.compiles
@pytest.mark.parametrize("examples", [0, 3])
@pytest.mark.parametrize("kind", MODELS)
def test_importance_of_one_example(kind: str, examples: int) -> None:
    for importance in NO_IMPORTANCE:
        model = learned(kind, examples)
        with pytest.raises(BadInput, match=r"importance is .*(give a number|too large)"):
            model.learn_one(ROW, 1, importance)
        assert not examples or model.examples_ == examples


@pytest.mark.compiles
def test_an_importance_of_one_is_one_in_any_type() -> None:
    scores = []
    for importance in (1.0, 1, True, np.float64(1.0), np.float32(1.0), np.int64(1)):
        model = learned("classifier", 3)
        model.learn_one(ROW, 1, importance)
        scores.append(model.learn_one(ROW, 0))
    assert len(set(scores)) == 1


@pytest.mark.compiles
@pytest.mark.parametrize("kind", MODELS)
def test_importance_of_many(kind: str) -> None:
    for importance in (["a", 1], [None, 1.0], [1.0, "2"], [1.0, 1j]):
        with pytest.raises(BadInput, match=r"the importance of row [01] is .*give a number"):
            MODELS[kind]().learn_many([ROW, ROW], [0, 1], importance=importance)


@pytest.mark.compiles
@pytest.mark.parametrize("examples", [0, 3])
def test_targets_of_one_example(examples: int) -> None:
    for target in NO_NUMBER:
        model = learned("regressor", examples)
        with pytest.raises(BadInput, match=r"the target is .*(give a number|mend it)"):
            model.learn_one(ROW, target)
        assert not examples or model.examples_ == examples


@pytest.mark.compiles
def test_targets_of_many() -> None:
    for target in NO_NUMBER:
        with pytest.raises(BadInput, match=r"target|shape"):
            onlinear.OnlineRegressor().learn_many([ROW, ROW], [1.0, target])
    given, drawn = onlinear.OnlineRegressor(), onlinear.OnlineRegressor()
    given.learn_many([ROW, ROW], [1.0, 3.0])
    drawn.learn_many([ROW, ROW], (float(k) for k in (1, 3)))
    assert drawn.predict_one(ROW) == given.predict_one(ROW)


@pytest.mark.compiles
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("text", [["1", "2", "3", "4"], [1.0, 2.0, "3", 4.0], [b"1", b"2", b"3", b"4"]])
def test_text_is_no_target_of_a_regression(method: str, text: list[Any]) -> None:
    for y in (text, np.array(text), np.array(text, dtype=object), pd.Series(text)):
        for model in (onlinear.OnlineRegressor(), onlinear.OnlineSearch(task="regression")):
            with pytest.raises(BadInput, match=r"the target of row [02] is .*give a number"):
                getattr(model, method)(X, y)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_label_that_is_missing_in_a_column_of_text(method: str) -> None:
    y = pd.Series(["a", "b", pd.NA, "a"], dtype="string")
    for model in (onlinear.OnlineClassifier(), onlinear.KernelPerceptron("linear")):
        with pytest.raises(BadInput, match=r"the target of row 2"):
            getattr(model, method)(X, y)


HIDDEN = np.ma.array(X, mask=X == 2.0)
NOTHING_HIDDEN = np.ma.array(X, mask=False)


@pytest.mark.compiles
@pytest.mark.parametrize("kind", MODELS)
def test_what_a_mask_hides_is_neither_learned_nor_answered(kind: str) -> None:
    """``np.asarray`` keeps what stands below a mask, such as -9999."""
    y = [0, 1, 0, 1]
    targets = np.ma.array([0.0, 1.0, 0.0, -9999.0], mask=[False, False, False, True])
    model = MODELS[kind]().fit(NOTHING_HIDDEN, y)
    hidden = r"Input X contains NaN: row 3 of column 0 is masked: drop the row or fill it in"
    for call in (lambda: model.fit(HIDDEN, y), lambda: model.partial_fit(HIDDEN, y), lambda: model.predict(HIDDEN)):
        with pytest.raises(BadInput, match=hidden):
            call()
    for call in (lambda: model.fit(X, targets), lambda: model.learn_many([ROW] * 4, targets)):
        with pytest.raises(BadInput, match=r"contains NaN: row 3 is masked"):
            call()
    if kind != "kernel":
        with pytest.raises(BadInput, match=r"contains NaN: row 3 is masked"):
            model.fit(X, y, sample_weight=targets)
    np.testing.assert_array_equal(model.predict(NOTHING_HIDDEN), model.predict(X))


def test_what_a_mask_hides_is_no_stream() -> None:
    with pytest.raises(BadInput, match=r"Input X contains NaN: row 3 of column 0 is masked"):
        onlinear.open_stream(HIDDEN)
    with pytest.raises(BadInput, match=r"Input y contains NaN: row 0 is masked"):
        onlinear.open_stream(X, target=np.ma.array([1, 2, 3, 4], mask=[True, False, False, False]))
    with pytest.raises(BadInput, match=r"Input importance contains NaN: row 0 is masked"):
        onlinear.open_stream(X, weight=np.ma.array([1, 2, 3, 4], mask=[True, False, False, False]))
    (block,) = onlinear.open_stream(NOTHING_HIDDEN)
    np.testing.assert_array_equal(block.X, X)


@pytest.mark.compiles
@pytest.mark.parametrize(("weights", "labels"), [({0: 1, 1: 50}, "ab"), ({"0": 1, "1": 50}, [0, 1])])
def test_class_weights_of_other_labels_are_refused_in_a_stream_too(weights: Any, labels: Any) -> None:
    """They would be without effect: a class that they name may still come, but not a text among numbers."""
    y = [labels[0], labels[1]] * 2
    for learn in (
        lambda model: model.partial_fit(X, y),
        lambda model: model.partial_fit(X, y, classes=list(labels)),
        lambda model: model.learn_one(ROW, y[0]),
        lambda model: model.learn_many([ROW] * 4, y),
    ):
        model = onlinear.OnlineClassifier(class_weight=weights)
        with pytest.raises(BadInput, match=r"class_weight names '?0'?, which is .*, and the label '?[a0]'? is "):
            learn(model)
        model.set_params(class_weight={labels[0]: 2.0, "c" if labels == "ab" else 7: 3.0})
        learn(model)


@pytest.mark.parametrize("make", [onlinear.OnlineClassifier, onlinear.OnlineRegressor])
@pytest.mark.parametrize("name", ["l1", "l2", "average", "forget"])
def test_a_parameter_beyond_the_floats_is_out_of_range(make: Any, name: str) -> None:
    with pytest.raises(ValueError, match=rf"The '{name}' parameter of {make.__name__} must be"):
        make(**{name: 10**400}).fit(X, [0, 1, 0, 1])


@pytest.mark.parametrize("name", ["alpha", "eta0", "power_t", "average", "epsilon", "tol"])
def test_a_parameter_of_a_drop_in_beyond_the_floats_is_out_of_range(name: str) -> None:
    with pytest.raises(ValueError, match=rf"The '{name}' parameter of SGDRegressor must be"):
        onlinear.SGDRegressor(**{name: 10**400}).fit(X, [0, 1, 0, 1])
