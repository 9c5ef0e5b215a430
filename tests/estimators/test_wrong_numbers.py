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
