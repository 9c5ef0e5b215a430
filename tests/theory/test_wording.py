"""A certificate's witness in words, which are true of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear.cli.certify import words_of
from theory.drawn import draw, draw_classes, fitted


def words(X: Any, y: Any, **more: Any) -> list[str]:
    model = onlinear.Perceptron(max_iter=2, tol=None, shuffle=False, **more)
    return list(words_of(onlinear.certify(fitted(model, np.array(X), np.array(y)), np.array(X), np.array(y))))


XOR = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("X", "y", "intercept", "said"),
    [
        (XOR, [-1, 1, 1, -1], True, "Row 1 + row 4 (of -1) = row 2 + row 3 (of 1), entry by entry:"),
        ([[1.0], [3.0], [9.0]], ["a", "b", "a"], True, "3 x row 1 + row 3 (of a) = 4 x row 2 (of b), entry by entry:"),
        ([[1.0], [3.0], [1.0]], ["a", "b", "b"], True, "Rows 1 and 3 are the same, and of two classes."),
        ([[0.0], [3.0]], [0, 1], False, "Row 1 is 0, entry by entry."),
        ([[2.0], [-3.0], [1.0]], [0, 0, 1], False, "3 x row 1 + 2 x row 2 is 0, entry by entry."),
    ],
)
def test_a_small_witness_is_written_out(X: Any, y: Any, intercept: bool, said: str) -> None:
    assert words(X, y, fit_intercept=intercept)[1].startswith(said)


def test_a_long_witness_is_counted() -> None:
    X, y = draw(3, 60, 6, flipped=20)
    certificate = onlinear.certify(fitted(onlinear.Perceptron(max_iter=2, tol=None), X, y), X, y)
    longest = max(len(str(int(a, 16))) for a in certificate["witness"]["multipliers"])
    line = list(words_of(certificate))[1]
    assert line.startswith(f"{len(certificate['witness']['rows'])} rows, with whole multipliers of up to ")
    assert line.split()[-6] in {str(longest), str(longest + 1)}, line


def test_of_several_classes_it_is_counted() -> None:
    X, y = draw_classes(1, 3, 9, flipped=3)
    model = fitted(onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=2), X, y)
    lines = list(words_of(onlinear.certify(model, X, y)))
    assert "combine to exactly zero." in lines[1]


def test_separable_rows_have_no_such_words() -> None:
    assert not any("entry by entry" in line for line in words([[1.0], [-1.0]], [1, -1]))


def test_undecided_says_how_many_operations() -> None:
    X, y = draw(3, 12, 2, flipped=3)
    certificate = onlinear.certify(fitted(onlinear.Perceptron(max_iter=2, tol=None), X, y), X, y)
    for operations, end in ((None, "undecided."), (123_456, "undecided: it would take 1.2e+05 operations or more.")):
        certificate |= {"separable": None, "witness": None, "undecided": operations}
        assert next(words_of(certificate)).startswith(f"Whether the rows are separable is {end}")
