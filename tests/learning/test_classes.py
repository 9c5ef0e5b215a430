"""Labels become classes: whatever type they come in, and one class for all that are equal."""

from __future__ import annotations

import enum
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear.learning.classes import Classes

ROWS = [{"a": float(k), "b": 1.0} for k in range(3)]


class Colour(str, enum.Enum):  # noqa: UP042 - whose str() is not its text
    RED = "red"
    BLUE = "blue"
    GREEN = "green"


@pytest.mark.parametrize(
    "kind", [np.int64, np.uint8, np.float32, np.float64, Decimal, Fraction, float, int], ids=lambda kind: kind.__name__
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_numbers_of_any_type_are_the_classes_that_they_equal(kind: Any, count: int) -> None:
    classes = Classes([kind(label) for label in range(1, count + 1)], open=True)
    codes = [*range(count), -1]
    numbers = [*range(1, count + 1), 4]
    for dtype in ("i8", "u1", "f4", "f8", "O"):
        assert classes.codes_of(np.array(numbers, dtype)).tolist() == codes, dtype


@pytest.mark.parametrize("kind", [np.int64, np.float32, Decimal], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("count", [1, 3])
def test_a_batch_goes_on_with_classes_of_single_examples(kind: Any, count: int) -> None:
    one, other = onlinear.OnlineClassifier(), onlinear.OnlineClassifier()
    for k in range(count):
        one.learn_one(ROWS[k], kind(k + 1))
        other.learn_one(ROWS[k], k + 1)
    for model in (one, other):
        model.learn_many(ROWS[:count], list(range(1, count + 1)))
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.coef_.tolist() == other.coef_.tolist()


def test_truth_values_of_numpy_are_those_of_python() -> None:
    model = onlinear.OnlineClassifier()
    for x, y in zip(ROWS, np.array([True, False, True]), strict=True):
        model.learn_one(x, y)
    model.learn_many(ROWS, [True, False, True])
    assert model.classes_.tolist() == [False, True]
    assert type(model.predict_one(ROWS[0])) is bool


def test_numbers_are_not_taken_for_tuples_that_hold_them() -> None:
    classes = Classes([(1, 2), (3, 4)], open=True)
    assert classes.codes_of(np.array([3, 4])).tolist() == [-1, -1]
    assert classes.codes_of(np.array([3, 4, 5])).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_large_numbers_are_not_rounded_to_a_class(dtype: str) -> None:
    classes = Classes([0, 2**24 + 1 if dtype == "f4" else 2**53 + 1], open=True)
    assert classes.codes_of(np.array([0.0, 2.0**24, 2.0**53], dtype)).tolist() == [0, -1, -1]


@pytest.mark.parametrize(("dtype", "far"), [(np.int8, 100), (np.int16, 20_000), (np.int32, 30_000)])
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_labels_farther_apart_than_their_type_goes(dtype: Any, far: int, learn: str) -> None:
    labels = np.array([-far, far, 5, -far, far, 5], dtype)
    model = getattr(onlinear.OnlineClassifier(), learn)(np.eye(6), labels)
    assert model.classes_.tolist() == [-far, 5, far]
    assert Classes([far, -far, 5]).codes_of(labels).tolist() == [1, 0, 2, 1, 0, 2]


def test_members_of_an_enumeration_of_texts_are_their_texts() -> None:
    members, texts = list(Colour), ["red", "blue", "green"]
    X = np.array([[row["a"], row["b"]] for row in ROWS])
    expected = onlinear.OnlineClassifier().partial_fit(X, texts)
    one, many = onlinear.OnlineClassifier(), onlinear.OnlineClassifier().learn_many(ROWS, members)
    for x, y in zip(ROWS, members, strict=True):
        one.learn_one(x, y)
    rows = onlinear.OnlineClassifier().partial_fit(X, members)
    named = onlinear.OnlineClassifier().partial_fit(X, members, classes=members)
    fitted = onlinear.OnlineClassifier().fit(X, members)
    for model in (one, many, rows, named, fitted):
        assert model.classes_.tolist() == sorted(texts)
        assert model.predict(X).tolist() == expected.predict(X).tolist()
    assert one.predict_one(ROWS[2]) == one.predict(X[2:])[0]


@pytest.mark.parametrize("kind", [onlinear.OnlineClassifier, onlinear.KernelPerceptron])
def test_sets_are_in_no_order_but_the_one_in_which_they_came(kind: Any) -> None:
    """Of two sets neither need be the less, which NumPy takes for a new one each time."""
    small, large, both = frozenset("a"), frozenset("b"), frozenset("ab")
    labels = [small, large, small, both, large, small]
    for learn in (kind.fit, kind.partial_fit):
        with pytest.raises(onlinear.BadInput, match="of the types frozenset cannot be sorted"):
            learn(kind(), np.arange(6.0)[:, None], labels)
    model = kind().learn_many([{"x": float(x)} for x in range(6)], labels)
    assert model.classes_.tolist() == [small, large, both]
    assert Classes([both, small]).sorted.tolist() == [small, both]
