"""A certificate in words, which are true of the rows, and which a terminal of 80 columns has room for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import onlinear
from commands import run_here
from onlinear.cli.certificate_slide import slide_of
from theory.drawn import draw, draw_classes, fitted


def words(certificate: Any) -> str:
    return " ".join(" ".join(slide_of(certificate)).split())


def of_perceptron(X: Any, y: Any, **more: Any) -> Any:
    model = onlinear.Perceptron(max_iter=2, tol=None, shuffle=False, **more)
    return onlinear.certify(fitted(model, np.array(X), np.array(y)), np.array(X), np.array(y))


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
    assert f"combines the rows to zero. {said}" in words(of_perceptron(X, y, fit_intercept=intercept))


def test_a_long_witness_is_counted() -> None:
    X, y = draw(3, 60, 6, flipped=20)
    certificate = onlinear.certify(fitted(onlinear.Perceptron(max_iter=2, tol=None), X, y), X, y)
    longest = max(len(str(int(a, 16))) for a in certificate["witness"]["multipliers"])
    said = f"{len(certificate['witness']['rows'])} rows, with whole multipliers of up to "
    assert any(f"{said}{digits} digits, " in words(certificate) for digits in (longest, longest + 1))


def test_of_several_classes_it_is_counted() -> None:
    X, y = draw_classes(1, 3, 9, flipped=3)
    model = fitted(onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=2), X, y)
    said = words(onlinear.certify(model, X, y))
    assert "combine to exactly zero." in said
    X, y = np.tile(np.eye(3), (10, 1)), np.tile(np.arange(3), 10)
    model = onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=20)
    said = words(onlinear.certify(fitted(model, X, y), X, y))
    assert " 2 (R / g)^2, in any number of passes" in said
    assert "The run, by the learner's word: " in said
    assert "((sqrt(2) R + D) / gamma)^2: D = " in said


def test_separable_rows_have_no_such_words() -> None:
    assert "entry by entry" not in words(of_perceptron([[1.0], [-1.0]], [1, -1]))


def test_undecided_says_how_many_operations() -> None:
    X, y = draw(3, 12, 2, flipped=3)
    certificate = onlinear.certify(fitted(onlinear.Perceptron(max_iter=2, tol=None), X, y), X, y)
    for operations, end in ((None, "undecided."), (123_456, "undecided: it would take 1.2e+05 operations or more.")):
        certificate |= {"separable": None, "witness": None, "undecided": operations}
        assert f"Whether the rows are separable is {end}" in words(certificate)


def test_each_bound_has_its_formula_and_its_numbers() -> None:
    """Of the standard basis all are the same: R = 1, the best margin is 1/2, and nothing is short of it."""
    said = words(of_perceptron(np.eye(4), [1, -1, 1, -1], fit_intercept=False))
    assert "4 rows, none longer than R = 1 (no intercept)." in said
    assert "The run: 4 updates and 2 mistakes in 8 trials (2 passes)." in said  # a tie is right for the first class
    assert "The best margin g of a unit vector: 0.5 <= g <= 0.5." in said
    assert "Novikoff 4.00 (R / g)^2, in any number of passes" in said
    assert "Freund-Schapire 4.00 ((R + D) / gamma)^2: D = 0, gamma = 0.5, Delta = 0" in said
    assert "hinge loss 4.00 k <= (L + R sqrt(k)) / gamma: L = 0, gamma = 0.5" in said
    model = onlinear.MarginPerceptron(1.0, fit_intercept=False)
    said = words(onlinear.certify(fitted(model, np.eye(4), [1, -1, 1, -1]), np.eye(4), [1, -1, 1, -1]))
    assert "Novikoff 12.00 (R^2 + 2 beta / a) / g^2, in any number of passes" in said
    assert "The margin found is at least " in said


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 151.0)])
def test_eighty_columns_are_enough(weights: Any) -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    sparse_like = X * 1e-7 * np.array([1.0, 1e9, 1e-9, 1e3])
    kernel = onlinear.KernelPerceptron("rbf", max_iter=2)
    found = [
        onlinear.certify(fitted(model, rows, labels, sample_weight=each), rows, labels, sample_weight=each)
        for model, rows, labels, each in [
            (onlinear.Perceptron(), X, names, weights),
            (onlinear.Perceptron(), sparse_like, y == 1, weights),
            (onlinear.OnlineClassifier(loss="hinge", rule="pa"), X, names, None),
            (onlinear.OnlineClassifier(loss="hinge", rule="arow"), X, names, None),
            (kernel, X[:60], y[:60], None),
        ]
    ]
    found.append(of_perceptron(XOR, [-1, 1, 1, -1]))
    lines = [line for certificate in found for line in slide_of(certificate)]
    assert len(lines) > 100
    assert [line for line in lines if len(line) > 80 or line.startswith(("=", "%"))] == []


def test_why_nothing_is_proven_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:1\n-1 1:-2\n")
    for options, said in (
        ("--slim", "it was saved slim, without what it takes to learn these rows again."),
        ("--on-drift reset", "it was changed where its data drifted"),
    ):
        learn = f"train rows.svm --loss perceptron --rule perceptron --quiet --model m {options}"
        assert run_here(*learn.split()).code == 0
        shown = " ".join(run_here("certify", "rows.svm", "--model", "m").out.split())
        assert f"Nothing is proven of the model's run: {said}" in shown
        assert "do not make its weights" not in shown
