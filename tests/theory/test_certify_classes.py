"""Certificates of several classes whose weights move together: 2 (R / g)^2, and what the verifier says."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import verify as verifier
from onlinear.theory.certificates import seal_of
from onlinear.theory.examples import examples_of
from onlinear.theory.hypotheses import ExactWeights, MulticlassWeights
from onlinear.theory.inseparable import inseparable_bounds
from onlinear.theory.margins import margins_of
from theory.drawn import draw_classes, fitted
from theory.test_verify import REFUSED, WORD, altered, digits, rows_of, written

LEARNERS: list[dict[str, Any]] = [
    {"loss": "multiclass_perceptron", "rule": "perceptron"},
    {"loss": "multiclass_perceptron", "rule": onlinear.rules.PerceptronStep(0.3)},
    {"loss": "multiclass_perceptron", "rule": onlinear.rules.SGD(onlinear.rules.InvScaling(0.5))},
    {"loss": "multiclass_perceptron", "rule": "perceptron", "average": True},
    {"loss": onlinear.losses.CrammerSinger(0.5), "rule": onlinear.rules.SGD(onlinear.rules.Constant(0.25))},
]


def learner(which: int, intercept: bool, passes: int) -> Any:
    return onlinear.OnlineClassifier(fit_intercept=intercept, max_iter=passes, **LEARNERS[which])


def kesler(X: np.ndarray, y: np.ndarray, classes: int, intercept: bool) -> np.ndarray:
    """The vectors x (x) (e_y - e_r), one after the other."""
    rows = np.hstack([X, np.ones((len(X), 1))]) if intercept else X
    eye = np.eye(classes)
    vectors = [
        np.kron(eye[int(t)] - eye[r], row) for row, t in zip(rows, y, strict=True) for r in range(classes) if r != t
    ]
    return np.array(vectors)


@given(
    seed=st.integers(0, 10**6),
    classes=st.integers(2, 4),
    intercept=st.booleans(),
    passes=st.integers(1, 4),
    flipped=st.sampled_from([0, 0, 4]),
    which=st.integers(0, len(LEARNERS) - 1),
    weighted=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_bounds_hold(
    seed: int, classes: int, intercept: bool, passes: int, flipped: int, which: int, weighted: bool
) -> None:
    X, y = draw_classes(seed, classes, flipped=flipped)
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y)) if weighted else None
    model = fitted(learner(which, intercept, passes), X, y, sample_weight=weights)
    found = onlinear.certify(model, X, y)  # raises if a bound fails
    assert found["mistakes"] == model._learner.counters.unaveraged_mistakes.sum()  # which the theorems speak of
    assert found["separable"] is not None
    if found["separable"]:
        assert found["holds"]
        kinds = {"multiclass perceptron", "Freund-Schapire", "hinge loss"}
        assert found["bound_kind"] in ({"multiclass margin perceptron"} if which == 4 else kinds)
        if not weighted and which != 2:
            assert found["updates"] <= found["bound"]
    vectors = kesler(X, y, classes, intercept)
    assert math.isclose(2.0 * found["radius"] ** 2, (vectors**2).sum(axis=1).max(), rel_tol=1e-12)
    directions = np.random.default_rng(1).normal(size=(1000, vectors.shape[1]))
    best = (vectors @ directions.T).min(axis=0) / np.linalg.norm(directions, axis=1)
    assert best.max() <= found["margin_upper"]
    verifier.verify(json.loads(json.dumps(found)), rows_of(X, y))


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
@settings(max_examples=20, deadline=None)
def test_updates_are_counted_once(seed: int, classes: int, intercept: bool) -> None:
    """A perceptron by hand: ties are updates, and of equal rivals the first is taken."""
    X, y = draw_classes(seed, classes, whole=True)
    model = fitted(learner(0, intercept, 2), X, y)
    rows = np.hstack([X, np.full((len(X), 1), float(intercept))])
    weights, updates = np.zeros((classes, 3)), 0
    for row, t in [*zip(rows, y.astype(int).tolist(), strict=True)] * 2:
        scores = weights @ row
        rival = max((r for r in range(classes) if r != t), key=lambda r: scores[r])
        if scores[t] <= scores[rival]:
            updates += 1
            weights[t] += row
            weights[rival] -= row
    found = onlinear.certify(model, X, y)
    assert found["updates"] == updates
    assert (found["run_pull"], found["run_squares"]) == (str(updates), str(updates))
    assert Fraction(found["norm_squared"]) == Fraction(float((weights**2).sum()))
    assert model.certificate_["updates"] == updates
    if found["combination"] is None:
        assert math.isclose(model.certificate_["margin_upper"], found["margin_upper"])


def test_two_classes_are_twice_the_perceptron() -> None:
    """Two classes move by opposite steps: w_2 = -w_1, so that the bound is that of one output."""
    X, y = draw_classes(5, 2)
    together = onlinear.certify(fitted(learner(0, True, 5), X, y), X, y)
    alone = onlinear.certify(fitted(onlinear.Perceptron(max_iter=5, tol=None, shuffle=False), X, y), X, y)
    assert together["updates"] == alone["updates"]
    lower = together["margin_lower"], alone["margin_lower"]
    assert math.isclose(lower[0], math.sqrt(2.0) * lower[1], rel_tol=0.01)  # each within 1 % of the best
    assert Fraction(together["norm_squared"]) == 2 * Fraction(alone["norm_squared"])


def test_freund_schapire_against_the_best_rival() -> None:
    """((sqrt(2) R |W| + D) / gamma)^2 at the best gamma, by trying many."""
    X, y = draw_classes(2, 3, 60, flipped=9)
    model = fitted(learner(0, True, 3), X, y)
    found = onlinear.certify(model, X, y)
    products = X @ model.coef_.T + model.intercept_
    own = np.arange(3) == y[:, None]
    scores = products[own] - np.where(own, -np.inf, products).max(axis=1)
    gammas = np.linspace(1e-2, 60.0, 20_000)
    short = 3.0 * (np.maximum(0.0, gammas[:, None] - scores) ** 2).sum(axis=1)
    norm = math.sqrt((model.coef_**2).sum() + (model.intercept_**2).sum())
    radius = math.sqrt((X**2).sum(axis=1).max() + 1.0)
    bounds = ((math.sqrt(2.0) * radius * norm + np.sqrt(short)) / gammas) ** 2
    assert found["separable"] is False
    parts = [ExactWeights(w, b, Fraction(1)) for w, b in zip(model.coef_, model.intercept_, strict=True)]
    best = found["inseparable_bound"]
    assert best["bound"] <= bounds.min() * (1.0 + 1e-9)
    assert found["bound"] == min(best["bound"], found["hinge_bound"]["bound"])
    margins = margins_of(MulticlassWeights(parts), examples := examples_of(X, y))
    exact, _ = inseparable_bounds([MulticlassWeights(parts)], examples, margins, found["updates"], 3)
    assert math.isclose(exact.bound.value, bounds.min(), rel_tol=1e-4)
    assert exact.bound.value <= bounds.min() * (1.0 + 1e-9)


@pytest.mark.parametrize("T", [2, 3, 10, 61])
def test_tight_example_is_met_with_equality(T: int) -> None:
    """The standard basis, in two classes: every row is an update, and 2 (R / g)^2 is their number."""
    y = np.where(np.arange(T) % 3 == 0, 1.0, 0.0)
    found = onlinear.certify(fitted(learner(0, False, 1), np.eye(T), y), np.eye(T), y)
    assert (found["updates"], found["bound_exact"], found["bound_kind"]) == (T, str(T), "multiclass perceptron")


def test_a_stream_of_classes_that_appear() -> None:
    X, y = draw_classes(3, 3)
    labels = np.array(["b", "c", "a"])[y.astype(int)]
    model = onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron")
    for start in range(0, len(y), 7):
        model.partial_fit(X[start : start + 7], labels[start : start + 7])
    found = onlinear.certify(model, X, labels)
    assert found["classes"] == ["a", "b", "c"]
    verifier.verify(found, rows_of(X, np.array([1.0, 2.0, 0.0])[y.astype(int)]))


@pytest.mark.parametrize(("flipped", "which"), [(0, 0), (4, 0), (0, 4)])
def test_believes_nothing_altered(flipped: int, which: int) -> None:
    X, y = draw_classes(1, 3, 12, flipped=flipped)
    certificate = json.loads(json.dumps(onlinear.certify(fitted(learner(which, True, 3), X, y), X, y)))
    rows = rows_of(X, y)
    verifier.verify(certificate, rows)
    for path, value in digits(certificate):
        other = altered(certificate, path, value)
        with pytest.raises(verifier.Failed):
            verifier.verify(other, rows)
        if path[0] in WORD | {"onlinear_certificate", "sha256"} or (path[0] == "witness" and certificate["separable"]):
            continue
        with pytest.raises(REFUSED):
            verifier.verify({**other, "sha256": seal_of(other)}, rows)


def test_a_row_cannot_be_its_own_rival() -> None:
    """Of such vectors, which are 0, every combination is 0."""
    X, y = draw_classes(1, 3, 12, flipped=4)
    certificate = onlinear.certify(fitted(learner(0, True, 3), X, y), X, y)
    certificate["witness"] = {"rows": [0], "rivals": [int(y[0])], "multipliers": ["1"]}
    certificate["sha256"] = seal_of(certificate)
    with pytest.raises(verifier.Failed, match="witness"):
        verifier.verify(certificate, rows_of(X, y))


def test_weights_of_another_form_prove_nothing() -> None:
    """One vector for three classes, or two where the certificate has one."""
    X, y = draw_classes(5, 2)
    certificate = onlinear.certify(fitted(onlinear.Perceptron(max_iter=50, tol=None, shuffle=False), X, y), X, y)
    assert certificate["separable"]
    [weights] = certificate["witness"]
    turned = {
        "columns": weights["columns"],
        "values": [-v for v in weights["values"]],
        "intercept": -weights["intercept"],
    }
    certificate["witness"] = [turned, weights]
    certificate["sha256"] = seal_of(certificate)
    with pytest.raises(verifier.Failed, match="outputs"):
        verifier.verify(certificate, rows_of(X, y))


def test_labels_of_a_file_are_matched(tmp_path: Path) -> None:
    X, y = draw_classes(2, 3)
    labels = np.array([7, 3, 5])[y.astype(int)]
    certificate = onlinear.certify(fitted(learner(0, True, 3), X, labels), X, labels)
    assert verifier.main(written(tmp_path, certificate, X, labels)) == 0
    labels[0] = 9
    assert "class 9" in str(verifier.main(written(tmp_path, certificate, X, labels)))


def test_softmax_has_no_bound() -> None:
    X, y = draw_classes(2, 3)
    model = fitted(onlinear.OnlineClassifier(loss="softmax", rule="sgd"), X, y)
    found = onlinear.certify(model, X, y)
    assert (found["bound"], found["margin_upper"]) == (None, None)
    assert found["separable"] is not None
    assert found["updates"] == model.updates_ <= model.examples_  # though each moves all three classes
    verifier.verify(json.loads(json.dumps(found)), rows_of(X, y))


def test_only_one_class_among_the_rows() -> None:
    X, y = draw_classes(2, 3)
    model = fitted(learner(0, True, 3), X, y)
    with pytest.raises(onlinear.Refused, match="no row is of the class 1"):
        onlinear.certify(model, X[y == 0], y[y == 0])
