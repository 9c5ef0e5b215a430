"""The theorems of other rules than the perceptron's hold of drawn runs, learned again here, slowly; and are tight."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings, strategies as st
from sklearn.svm import LinearSVC

import onlinear
from commands import run_here
from onlinear import losses, rules, verify as verifier
from theory.drawn import draw, draw_classes, fitted
from theory.test_verify import rows_of

runs = given(
    seed=st.integers(0, 10**6),
    intercept=st.booleans(),
    passes=st.integers(1, 3),
    flipped=st.sampled_from([0, 0, 3]),
    unit=st.booleans(),
)


def rows_for(seed: int, flipped: int, unit: bool) -> tuple[np.ndarray, np.ndarray]:
    X, y = draw(seed, 30, 3, flipped=flipped)
    return (X / np.linalg.norm(X, axis=1, keepdims=True) if unit else X), y


def learner(rule: Any, loss: Any, intercept: bool, passes: int) -> onlinear.OnlineClassifier:
    return onlinear.OnlineClassifier(loss=loss, rule=rule, fit_intercept=intercept, max_iter=passes, order="stream")


def theorem_of(model: Any, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    found: dict[str, Any] = onlinear.certify(model, X, y)["computed"]["theorem"]
    return found


def with_constant(X: np.ndarray, intercept: bool) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else X


def passive_losses(rows: np.ndarray, y: np.ndarray, passes: int, C: float, squared: bool) -> np.ndarray:
    """The hinge losses of the algorithm in figure 1 of the paper, with the mistakes: a tie is one."""
    w, found = np.zeros(rows.shape[1]), []
    for x, t in zip(np.tile(rows, (passes, 1)), np.tile(y, passes), strict=True):
        loss = max(0.0, 1.0 - t * (w @ x))
        found.append((loss, t * (w @ x) <= 0.0))
        tau = loss / (x @ x + 0.5 / C) if squared else min(C, loss / (x @ x))
        w = w + tau * t * x
    return np.array(found)


def squared_hinge_sum(rows: np.ndarray, y: np.ndarray, u: np.ndarray) -> float:
    return float((np.maximum(0.0, 1.0 - y * (rows @ u)) ** 2).sum())


# ------------------------------------------------------------------ passive-aggressive


@runs
@settings(max_examples=40, deadline=None)
def test_passive_aggressive(seed: int, intercept: bool, passes: int, flipped: int, unit: bool) -> None:
    """Crammer et al. 2006, theorem 2 (separable) and theorem 3 (not): the sum of the squared hinge losses."""
    X, y = rows_for(seed, flipped, unit)
    model = fitted(learner("pa", losses.Hinge(), intercept, passes), X, y)
    found, rows = theorem_of(model, X, y), with_constant(X, intercept)
    suffered = passive_losses(rows, y, model.n_iter_, math.inf, squared=False)
    assert found["counted"] <= (suffered[:, 0] ** 2).sum() * (1.0 + 1e-6) <= found["at_most"] * (1.0 + 1e-6)
    lengths = (rows**2).sum(axis=1)
    for u in np.random.default_rng(seed).normal(size=(20, rows.shape[1])) * 3.0:
        D = math.sqrt(model.n_iter_ * squared_hinge_sum(rows, y, u) / lengths.min())
        paper = lengths.max() * (np.linalg.norm(u) + 2.0 * D) ** 2  # theorem 3 has all lengths 1
        assert found["at_most"] <= paper
    separable = onlinear.certify(model, X, y)["separable"]
    assert separable or "theorem 3" in found["theorem"]


@runs
@settings(max_examples=40, deadline=None)
def test_passive_aggressive_1(seed: int, intercept: bool, passes: int, flipped: int, unit: bool) -> None:
    """Crammer et al. 2006, theorem 4: the mistakes of PA-I, within 1 % of the least that the theorem can say."""
    X, y = rows_for(seed, flipped, unit)
    C = [0.01, 0.3, 5.0][seed % 3]
    model = fitted(learner(rules.PA1(C), losses.Hinge(), intercept, passes), X, y)
    found, rows = theorem_of(model, X, y), with_constant(X, intercept)
    suffered = passive_losses(rows, y, model.n_iter_, C, squared=False)
    assert found["counted"] == model.mistakes_ <= suffered[:, 1].sum() <= found["at_most"]
    svm = LinearSVC(C=C * model.n_iter_, loss="hinge", fit_intercept=False, max_iter=10**6, tol=1e-6, random_state=0)
    u = svm.fit(rows, y).coef_[0]
    hinge = model.n_iter_ * np.maximum(0.0, 1.0 - y * (rows @ u)).sum()
    least = max((rows**2).sum(axis=1).max(), 1.0 / C) * (u @ u + 2.0 * C * hinge)
    assert found["at_most"] <= 1.01 * least


@runs
@settings(max_examples=40, deadline=None)
def test_passive_aggressive_2(seed: int, intercept: bool, passes: int, flipped: int, unit: bool) -> None:
    """Crammer et al. 2006, theorem 5: the squared hinge losses of PA-II, within 1 % of the least it can say."""
    X, y = rows_for(seed, flipped, unit)
    C = [0.01, 0.3, 5.0][seed % 3]
    loss = [losses.Hinge(), losses.SquaredHinge()][seed % 2]
    model = fitted(learner(rules.PA2(C), loss, intercept, passes), X, y)
    found, rows = theorem_of(model, X, y), with_constant(X, intercept)
    suffered = (passive_losses(rows, y, model.n_iter_, C, squared=True)[:, 0] ** 2).sum()
    assert found["counted"] <= suffered * (1.0 + 1e-6) <= found["at_most"] * (1.0 + 1e-6)
    if isinstance(loss, losses.SquaredHinge):
        assert found["counted"] == pytest.approx(suffered)

    def value(u: np.ndarray) -> float:
        return float(u @ u) + 2.0 * C * model.n_iter_ * squared_hinge_sum(rows, y, u)

    least = scipy.optimize.minimize(value, np.zeros(rows.shape[1]), options={"gtol": 1e-10}).fun
    assert found["at_most"] <= 1.01 * ((rows**2).sum(axis=1).max() + 0.5 / C) * least


@pytest.mark.parametrize("rule", [rules.PA(), rules.PA1(1.0), rules.PA1(math.inf)])
@pytest.mark.parametrize("T", [1, 3, 50])
def test_passive_aggressive_is_tight(rule: Any, T: int) -> None:
    """Theorems 2 and 4 of Crammer et al. 2006 with equality: each row of the standard basis has the loss 1 once."""
    model = learner(rule, losses.Hinge(), intercept=False, passes=1)
    model.partial_fit(np.eye(T), np.ones(T), classes=[-1.0, 1.0])
    found = theorem_of(model, np.eye(T), np.ones(T))
    assert found["counted"] == pytest.approx(T)
    assert found["at_most"] == pytest.approx(T, rel=1e-6)
    assert "theorem 4" in found["theorem"] if rule == rules.PA1(1.0) else "theorem 2" in found["theorem"]


@given(st.integers(0, 10**6), st.sampled_from([0, 4]), st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_several_classes_that_move_together(seed: int, flipped: int, passes: int) -> None:
    """Crammer et al. 2006, theorems 2 to 5 for Kesler's vectors, which are longer by the root of 2."""
    X, y = draw_classes(seed, 3, flipped=flipped)
    rule = [rules.PA(), rules.PA1(0.5), rules.PA2(0.5)][seed % 3]
    model = fitted(learner(rule, losses.CrammerSinger(), True, passes), X, y)
    found = theorem_of(model, X, y)  # raises if it fails
    assert found["counted"] <= found["at_most"]
    assert found["numbers"]["R"] ** 2 == pytest.approx(2.0 * ((X**2).sum(axis=1).max() + 1.0))


# ------------------------------------------------------------------ the second-order perceptron


def second_order_updates(rows: np.ndarray, y: np.ndarray, passes: int, a: float) -> list[np.ndarray]:
    """The rows at which the algorithm of the paper is mistaken, its matrix holding the present row."""
    A, v, found = a * np.eye(rows.shape[1]), np.zeros(rows.shape[1]), []
    for x, t in zip(np.tile(rows, (passes, 1)), np.tile(y, passes), strict=True):
        with_row = A + np.outer(x, x)
        if t * (np.linalg.solve(with_row, v) @ x) <= 1e-12:
            A, v = with_row, v + t * x
            found.append(x)
    return found


@runs
@settings(max_examples=40, deadline=None)
def test_second_order_perceptron(seed: int, intercept: bool, passes: int, flipped: int, unit: bool) -> None:
    """Cesa-Bianchi, Conconi & Gentile 2005, theorem 3.1: updates, and never more than the theorem says at some u."""
    X, y = rows_for(seed, flipped, unit)
    a = [0.1, 1.0, 30.0][seed % 3]
    model = fitted(learner(rules.SecondOrder(a), losses.Perceptron(), intercept, passes), X, y)
    found, rows = theorem_of(model, X, y), with_constant(X, intercept)
    updates = second_order_updates(rows, y, model.n_iter_, a)
    assert found["counted"] == model.updates_ == len(updates) <= found["at_most"]
    trials = np.tile(rows, (model.n_iter_, 1))
    volume = np.log1p(np.maximum(np.linalg.eigvalsh(trials.T @ trials), 0.0) / a).sum()
    for scale in (0.1, 1.0, 10.0):
        u = scale * model.coef_[0] if not intercept else scale * np.append(model.coef_[0], model.intercept_)
        short = np.maximum(0.0, 1.0 - np.tile(y, model.n_iter_) * (trials @ u)).sum()
        assert found["at_most"] <= short + math.sqrt((a * u @ u + ((trials @ u) ** 2).sum()) * volume) + 1e-6


@pytest.mark.parametrize("T", [2, 10, 60])
def test_second_order_perceptron_is_tight(T: int) -> None:
    """Cesa-Bianchi, Conconi & Gentile 2005, theorem 3.1, as a grows: on the standard basis equality in the limit."""
    y = np.where(np.arange(T) % 3 == 0, 1.0, -1.0)
    model = learner(rules.SecondOrder(1e6), losses.Perceptron(), intercept=False, passes=1)
    found = theorem_of(fitted(model, np.eye(T), y), np.eye(T), y)
    assert found["counted"] == T
    assert T <= found["at_most"] <= T * (1.0 + 1e-5)


# ------------------------------------------------------------------ gradient descent


@runs
@settings(max_examples=40, deadline=None)
def test_gradient_descent(seed: int, intercept: bool, passes: int, flipped: int, unit: bool) -> None:
    """Zinkevich 2003, theorem 1 at a constant rate: the losses of the run, against every u of a few."""
    X, y = rows_for(seed, flipped, unit)
    rate, loss = [0.01, 0.3][seed % 2], [losses.Hinge(), losses.Logistic()][seed // 2 % 2]
    model = fitted(learner(rules.SGD(rules.Constant(rate)), loss, intercept, passes), X, y)
    found, rows = theorem_of(model, X, y), with_constant(X, intercept)
    suffered, gradients, w = 0.0, 0.0, np.zeros(rows.shape[1])
    for x, t in zip(np.tile(rows, (model.n_iter_, 1)), np.tile(y, model.n_iter_), strict=True):
        suffered += loss.value(float(w @ x), t)
        gradients += loss.slope(float(w @ x), t) ** 2
        w = w - rate * loss.slope(float(w @ x), t) * x
    assert found["counted"] == pytest.approx(suffered, rel=1e-6)
    assert suffered <= found["at_most"]
    longest = (rows**2).sum(axis=1).max()
    for u in np.random.default_rng(seed).normal(size=(10, rows.shape[1])):
        rival = model.n_iter_ * sum(loss.value(float(x @ u), t) for x, t in zip(rows, y, strict=True))
        assert found["at_most"] <= rival + u @ u / (2.0 * rate) + 0.5 * rate * gradients * longest + 1e-6


@pytest.mark.parametrize("rate", [0.1, 0.5, 1.0])
def test_gradient_descent_is_tight(rate: float) -> None:
    """Zinkevich 2003, theorem 1 at a constant rate, with equality: where losses are straight and u is where it ends."""
    T = 40
    y = np.where(np.arange(T) % 3 == 0, 1.0, -1.0)
    model = learner(rules.SGD(rules.Constant(rate)), losses.Hinge(), intercept=False, passes=1)
    found = theorem_of(fitted(model, np.eye(T), y), np.eye(T), y)
    assert found["counted"] == pytest.approx(T)
    assert found["at_most"] == pytest.approx(T, rel=1e-6)


@given(st.integers(0, 10**6), st.sampled_from([0, 4]), st.integers(1, 3), st.booleans())
@settings(max_examples=20, deadline=None)
def test_softmax(seed: int, flipped: int, passes: int, intercept: bool) -> None:
    """Zinkevich 2003, theorem 1 at a constant rate, for the softmax of several classes."""
    X, y = draw_classes(seed, 3, flipped=flipped)
    model = fitted(learner(rules.SGD(rules.Constant(0.2)), losses.Softmax(), intercept, passes), X, y)
    found = theorem_of(model, X, y)
    assert found["counted"] == pytest.approx(model.loss_ * model.examples_, rel=1e-6)
    assert found["counted"] <= found["at_most"] <= model.examples_ * math.log(3.0) + found["numbers"]["regret_at_most"]


# ------------------------------------------------------------------ what has no theorem


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (onlinear.OnlineClassifier(loss="hinge", rule="arow"), "the rule arow keeps the diagonal"),
        (onlinear.OnlineClassifier(loss="perceptron", rule="diagonal_second_order"), "diagonal_second_order keeps"),
        (onlinear.OnlineClassifier(), "no theorem is computed of the rule normalised"),
        (onlinear.PassiveAggressiveClassifier(max_iter=2, tol=None), "leaves out the intercept"),
        (onlinear.OnlineClassifier(loss=losses.Hinge(0.5), rule="pa"), "with the margin 1"),
        (onlinear.OnlineClassifier(rule=rules.SGD(rules.Power(0.5))), "at a constant rate"),
        (
            onlinear.OnlineClassifier(loss="modified_huber", rule=rules.SGD(rules.Constant(0.1))),
            "of the loss ModifiedHuber",
        ),
        (onlinear.OnlineClassifier(rule=rules.SGD(rules.Constant(0.1)), l2=0.1), "without a penalty"),
    ],
)
def test_no_theorem(model: Any, reason: str) -> None:
    X, y = draw(4)
    assert reason in theorem_of(fitted(model, X, y), X, y)["refused"]


def test_runs_that_are_not_the_algorithm() -> None:
    X, y = draw(4)
    weighed = learner("pa", losses.Hinge(), True, 1).fit(X, y, sample_weight=np.linspace(0.5, 1.5, len(y)) ** 2)
    assert "count alike" in theorem_of(weighed, X, y)["refused"]
    empty = np.vstack([X, np.zeros(X.shape[1])])
    of_zero = learner("pa", losses.Hinge(), False, 1).fit(empty, np.append(y, 1.0))
    assert "has the length 0" in theorem_of(of_zero, empty, np.append(y, 1.0))["refused"]
    assert theorem_of(fitted(onlinear.Perceptron(max_iter=2, tol=None), X, y), X, y) is None


def test_other_rows_break_a_theorem() -> None:
    """Rows that have the same lengths and are easier than those that were learned."""
    rng = np.random.default_rng(0)
    X, y = rng.choice([-1.0, 1.0], size=(60, 2)), rng.choice([-1.0, 1.0], size=60)
    model = learner("pa", losses.Hinge(), False, 1).fit(X, y)
    with pytest.raises(onlinear.BoundFailed, match="theorem 2"):
        onlinear.certify(model, np.tile([[1.0, 1.0]], (60, 1)) * y[:, None], y)


# ------------------------------------------------------------------ what is said, and what verify makes of it


def test_verify_passes_over_what_is_computed() -> None:
    X, y = draw(3, 15, 2)
    found = json.loads(json.dumps(onlinear.certify(fitted(learner("pa1", losses.Hinge(), True, 2), X, y), X, y)))
    said, word = verifier.verify(found, rows_of(X, y))
    assert not any("theorem" in line for line in said + word)
    found["computed"]["theorem"]["at_most"] = 1.0
    with pytest.raises(verifier.Failed, match="sha256"):
        verifier.verify(found, rows_of(X, y))


def test_the_command_names_the_theorem(tmp_path: Path) -> None:
    X, y = draw_classes(2, 3)
    rows, model, cert = (str(tmp_path / name) for name in ("rows.svm", "m", "cert"))
    lines = (f"{int(t)} " + " ".join(f"{j}:{x}" for j, x in enumerate(row, 1)) for row, t in zip(X, y, strict=True))
    Path(rows).write_text("\n".join(lines) + "\n")
    assert run_here("train", rows, "--model", model, "--loss", "hinge", "--rule", "pa1", "--quiet").code == 0
    said = " ".join(run_here("certify", rows, "--model", model, "--output", cert).out.split())
    assert said.count("theorem 4: the mistakes are at most") == 3
    assert said.count("none was learned before: the error on new rows, with 95 % confidence each") == 1
    assert said.index("not checked by onlinear verify") < said.index("theorem 4")
    found = json.loads(Path(cert).read_text())
    for each in found.values():
        assert each["computed"]["theorem"]["counted"] == each["mistakes"] <= each["computed"]["theorem"]["at_most"]
        assert each["computed"]["online_to_batch"]["examples"] == each["rows"]
    assert run_here("verify", cert, rows).code == 0
