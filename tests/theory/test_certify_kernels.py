"""Certificates of kernel perceptrons: (R / g)^2 with R^2 = max K(x, x), and what the verifier says."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import verify as verifier
from onlinear.theory import kernel_subjects
from onlinear.theory.certificates import seal_of
from onlinear.theory.examples import ExactRow
from onlinear.theory.hypotheses import KernelWeights
from onlinear.theory.kernels import ExactKernel
from theory.drawn import draw, draw_classes, fitted
from theory.test_verify import REFUSED, WORD, altered, digits, rows_of, written

KERNELS: list[dict[str, Any]] = [
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 1},
    {"kernel": "poly", "degree": 2, "gamma": 0.3},
    {"kernel": "poly", "degree": 3, "coef0": 0.0},
    {"kernel": "rbf", "gamma": 0.7},
]


def naive(settings_of: dict[str, Any], x: np.ndarray, z: np.ndarray) -> float:
    """K in floats, as its definition has it."""
    if settings_of["kernel"] == "rbf":
        return math.exp(-settings_of["gamma"] * float(((x - z) ** 2).sum()))
    if settings_of["kernel"] == "linear":
        return float(x @ z)
    inner = settings_of.get("gamma", 1.0) * float(x @ z) + settings_of.get("coef0", 1.0)
    return float(inner ** settings_of["degree"])


@given(
    seed=st.integers(0, 10**6),
    which=st.integers(0, len(KERNELS) - 1),
    passes=st.integers(1, 4),
    flipped=st.sampled_from([0, 0, 3]),
    whole=st.booleans(),
    sparse=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_bounds_hold(seed: int, which: int, passes: int, flipped: int, whole: bool, sparse: bool) -> None:
    X, y = draw(seed, 15, flipped=flipped, whole=whole)
    model = onlinear.KernelPerceptron(max_iter=passes, vote="last", **KERNELS[which])
    fitted(model, scipy.sparse.csr_matrix(X) if sparse else X, y)
    found = onlinear.certify(model, scipy.sparse.csr_matrix(X) if sparse else X, y)  # raises if a bound fails
    assert (found["updates"], found["mistakes"]) == (model.updates_, model.mistakes_)
    alike = np.array([[naive(KERNELS[which], x, z) for z in X] for x in X])
    assert math.isclose(found["radius"] ** 2, alike.diagonal().max(), rel_tol=1e-9)
    scores = y * model.decision_function(X)
    assert math.isclose(Fraction(found["least_score"]), scores.min(), rel_tol=1e-9, abs_tol=1e-9 * found["radius"] ** 2)
    assert math.isclose(model.certificate_["norm"], found["norm"], rel_tol=1e-9, abs_tol=1e-6 * found["radius"])
    if found["separable"]:
        assert found["holds"]
    assert found["updates"] <= found["bound"]
    check_upper_margin(found, alike, y)
    verifier.verify(json.loads(json.dumps(found)), rows_of(X, y))


def check_upper_margin(found: dict[str, Any], alike: np.ndarray, y: np.ndarray) -> None:
    """No combination of the rows, out of many, has a margin beyond it."""
    for a in np.random.default_rng(1).exponential(size=(300, len(y))) ** 2 * y:
        norm = math.sqrt(max(a @ alike @ a, 1e-300))
        assert (y * (alike @ a)).min() / norm <= found["margin_upper"] * (1.0 + 1e-6)


@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0, 3]))
@settings(max_examples=20, deadline=None)
def test_the_linear_kernel_agrees_with_weights(seed: int, passes: int, flipped: int) -> None:
    """Rows of whole numbers, which nobody rounds."""
    X, y = draw(seed, whole=True, flipped=flipped)
    X[-2:] = np.rint(3.0 * X[-2:])
    dual = onlinear.KernelPerceptron("linear", max_iter=passes, order="stream")
    plain = onlinear.Perceptron(fit_intercept=False, shuffle=False, max_iter=passes, tol=None)
    mine, other = (onlinear.certify(fitted(model, X, y), X, y) for model in (dual, plain))
    if mine["examples"] == other["examples"]:  # the dual one stops when a pass brings no update
        for name in ("updates", "norm_squared", "radius_squared", "least_score", "bound_exact", "data_sha256"):
            assert mine[name] == other[name], name
    assert mine["separable"] == other["separable"]


@pytest.mark.parametrize("T", [2, 3, 10, 61])
@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "poly", "degree": 3, "coef0": 0.0}])
def test_tight_example_is_met_with_equality(T: int, kernel: dict[str, Any]) -> None:
    y = np.where(np.arange(T) % 3 == 0, 1.0, -1.0)
    found = onlinear.certify(fitted(onlinear.KernelPerceptron(**kernel), np.eye(T), y), np.eye(T), y)
    assert (found["updates"], found["bound_exact"], found["bound"]) == (T, str(T), float(T))


def test_voted_perceptrons_are_perceptrons_with_an_intercept() -> None:
    X, y = draw(3, whole=True)
    X[-2:] = np.rint(X[-2:])
    voted = onlinear.certify(fitted(onlinear.VotedPerceptron(max_iter=1), X, y), X, y)
    plain = onlinear.Perceptron(shuffle=False, max_iter=1, tol=None)
    other = onlinear.certify(fitted(plain, X, y), X, y)
    assert (voted["norm_squared"], voted["least_score"]) == (other["norm_squared"], other["least_score"])
    assert voted["separable"] is True


def test_one_certificate_for_each_class() -> None:
    X, y = draw_classes(4, 3)
    model = onlinear.KernelPerceptron("rbf", max_iter=2)
    for start in (0, 9, 17):
        model.partial_fit(X[start : start + 9], y[start : start + 9])
    model = fitted(model, X, y)
    found = onlinear.certify(model, X, y)
    assert list(found) == [0.0, 1.0, 2.0]
    assert [each["updates"] for each in found.values()] == model.updates_.tolist()
    assert [each["updates"] for each in model.certificate_.values()] == model.updates_.tolist()
    for place, each in enumerate(found.values()):
        verifier.verify(each, rows_of(X, (y == place).astype(float)))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_stream_of_classes_that_appear(classes: int, tmp_path: Path) -> None:
    X, y = draw_classes(4, classes)
    labels = np.array(["b", "c", "a"])[y.astype(int)]
    model = onlinear.KernelPerceptron("poly")
    for start in range(0, len(y), 7):
        model.partial_fit(X[start : start + 7], labels[start : start + 7])
    model.save(tmp_path / "model")
    found = onlinear.certify(onlinear.load(tmp_path / "model"), X, labels)
    certificates = {"c": found} if classes == 2 else found
    for label, each in certificates.items():
        assert each["classes"][1] == label
        verifier.verify(each, rows_of(X, (labels == label).astype(float)))


@pytest.mark.parametrize("which", range(len(KERNELS)))
def test_rows_of_less_precision(which: int) -> None:
    """Gamma and coef0 are rounded as the learner rounds them: 0.3 is another number in 32 bits."""
    X, y = draw(6, 20)
    X = X.astype(np.float32)
    found = onlinear.certify(fitted(onlinear.KernelPerceptron(**KERNELS[which]), X, y), X, y)
    verifier.verify(found, rows_of(X.astype(np.float64), y))
    precision = np.float64 if KERNELS[which]["kernel"] == "rbf" else np.float32
    assert Fraction(found["kernel"][2]) == Fraction(float(precision(KERNELS[which].get("gamma", 1.0))))


def test_examples_that_came_as_dicts() -> None:
    X, y = draw(6, 20)
    model = onlinear.KernelPerceptron("rbf")
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one(dict(zip("abc", row, strict=True)), label)
    whole = onlinear.KernelPerceptron("rbf").partial_fit(X, y)
    mine, other = onlinear.certify(model, X, y), onlinear.certify(whole, X, y)
    assert mine == other


@pytest.mark.parametrize("which", [2, 4])
@pytest.mark.parametrize("flipped", [0, 3])
def test_believes_nothing_altered(which: int, flipped: int) -> None:
    X, y = draw(2, 8, 2, flipped=flipped)
    model = fitted(onlinear.KernelPerceptron(max_iter=2, **KERNELS[which]), X, y)
    certificate = json.loads(json.dumps(onlinear.certify(model, X, y)))
    rows = rows_of(X, y)
    verifier.verify(certificate, rows)
    for path, value in digits(certificate):
        other = altered(certificate, path, value)
        with pytest.raises(verifier.Failed):
            verifier.verify(other, rows)
        if path[0] in WORD | {"onlinear_certificate", "sha256"} or (path[0] == "witness" and certificate["separable"]):
            continue
        if path[0] == "combination":
            continue  # others may prove as much
        if which == 4 and path in {("kernel", 1), ("kernel", 3)}:
            continue  # the exponential has no degree and no coef0
        with pytest.raises(REFUSED):
            verifier.verify({**other, "sha256": seal_of(other)}, rows)


def test_a_file(tmp_path: Path) -> None:
    X, y = draw(2)
    certificate = onlinear.certify(fitted(onlinear.KernelPerceptron("rbf"), X, y), X, y)
    assert verifier.main(written(tmp_path, certificate, X, y)) == 0
    X[3, 0] += 0.5
    assert "data_sha256" in str(verifier.main(written(tmp_path, certificate, X, y)))


@pytest.mark.parametrize("degree", [32, 64])
def test_numbers_of_thousands_of_digits(degree: int) -> None:
    """The squares of those of degree 32 are longer than Python writes; of degree 64 they are so themselves."""
    X, y = draw(3, 6, 2)
    model = onlinear.KernelPerceptron("poly", degree=degree, gamma=0.1, max_iter=3).fit(X, y)
    if degree == 64:
        with pytest.raises(onlinear.Refused, match=r"more than 4,300 digits: scale the rows, .* smaller degree"):
            onlinear.certify(model, X, y)
        return
    certificate = json.loads(json.dumps(onlinear.certify(model, X, y)))
    assert len(certificate["bound_exact"]) > 6000
    verifier.verify(certificate, rows_of(X, y))


def test_what_exp_may_miss_is_allowed_for() -> None:
    """Of a hypothesis whose scores and norm are known: K(x, x) - K(x, z) with K(x, z) = 1/e."""
    kernel = ExactKernel("rbf", 2, Fraction(1), Fraction(0))
    rows = [ExactRow([], np.empty(0), 1.0), ExactRow([0], np.ones(1), -1.0)]
    weights = KernelWeights(kernel, rows, [0, 1], [1, -1], 1)
    inverse_e = Fraction(round(Fraction("0.36787944117144232159552377016146086744581113103177") * 10**49), 10**49)
    slack = Fraction(2, 10**40)
    assert 1 - inverse_e - 2 * slack < weights.score(rows[0]) < 1 - inverse_e
    assert 2 * (1 - inverse_e) < weights.norm_squared < 2 * (1 - inverse_e) + 4 * slack
    assert weights.norm_squared - weights.norm_slack < 2 * (1 - inverse_e)


@given(st.integers(0, 10**6), st.integers(0, len(KERNELS) - 1), st.sampled_from([1e-30, 1.0, 1e12]))
@settings(max_examples=30, deadline=None)
def test_kernels_agree_with_the_verifier(seed: int, which: int, size: float) -> None:
    """Whole numbers of a unit here, rationals there."""
    if which == 4:
        size = min(size, 1.0)
    X, _ = draw(seed, 4)
    X *= size
    name, gamma, coef0 = (
        KERNELS[which].get(key, default) for key, default in [("kernel", ""), ("gamma", 1.0), ("coef0", 1.0)]
    )
    coef0 = 0.0 if name == "linear" else coef0
    kernel = ExactKernel(name, KERNELS[which].get("degree", 1), Fraction(gamma), Fraction(coef0))
    columns = range(X.shape[1])
    integers, unit = kernel.with_rows([(columns, x) for x in X[1:]], X.shape[1])(columns, X[0])
    own = [{-1: 1, **{j: Fraction(v) for j, v in enumerate(x.tolist())}} for x in X]
    assert [int(n) * unit for n in integers] == [verifier.alike(tuple(kernel), own[0], z) for z in own[1:]]


class TestRefused:
    def test_a_kernel_of_ones_own(self) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron(lambda a, b: a @ b.T).fit(X, y)
        with pytest.raises(onlinear.Refused, match="kernel of your own"):
            onlinear.certify(model, X, y)

    def test_a_budget(self) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron(budget=5).fit(X, y)
        with pytest.raises(onlinear.Refused, match="budget"):
            onlinear.certify(model, X, y)
        with pytest.raises(onlinear.Refused, match="budget"):
            _ = model.certificate_

    def test_other_rows(self) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron("rbf").fit(X, y)
        with pytest.raises(onlinear.Refused, match="not what it went over"):
            onlinear.certify(model, 2.0 * X, y)
        with pytest.raises(onlinear.Refused, match="2 features"):
            onlinear.certify(model, X[:, :2], y)

    def test_one_class(self) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron("rbf").fit(X, y)
        with pytest.raises(onlinear.Refused, match=r"one class|not what it went over"):
            onlinear.certify(model, X[y > 0], y[y > 0])

    def test_too_much_for_exact_arithmetic(self, monkeypatch: pytest.MonkeyPatch) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron("rbf").fit(X, y)
        monkeypatch.setattr(kernel_subjects, "MOST_PRODUCTS", 10)
        with pytest.raises(onlinear.Refused, match="fewer rows"):
            onlinear.certify(model, X, y)

    def test_weights_against_a_kernel(self) -> None:
        X, y = draw(7)
        model = onlinear.KernelPerceptron("rbf").fit(X, y)
        with pytest.raises(onlinear.Refused, match="no weights can be written down"):
            onlinear.certify(model, X, y, against=np.ones(3))

    def test_one_that_has_not_learned(self) -> None:
        with pytest.raises(onlinear.Refused, match="has learned no classes"):
            onlinear.certify(onlinear.KernelPerceptron(), [[1.0]], [1])
