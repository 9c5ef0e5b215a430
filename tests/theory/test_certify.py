"""The theorems hold of drawn runs, and what is refused."""

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
from onlinear.errors import Refused
from onlinear.streams import synthetic
from onlinear.theory.certificates import claim_of
from onlinear.theory.examples import examples_of
from onlinear.theory.hypotheses import ExactWeights
from onlinear.theory.separability import SeparatingWitness, separability
from onlinear.theory.spaces import LinearSpace
from theory.drawn import draw, draw_classes, fitted, perceptrons
from theory.test_verify import rows_of


@given(
    seed=st.integers(0, 10**6),
    intercept=st.booleans(),
    passes=st.integers(1, 4),
    flipped=st.sampled_from([0, 0, 3]),
    which=st.integers(0, 5),
    weighted=st.booleans(),
    sparse=st.booleans(),
)
@settings(max_examples=80, deadline=None)
def test_bounds_hold(
    seed: int, intercept: bool, passes: int, flipped: int, which: int, weighted: bool, sparse: bool
) -> None:
    X, y = draw(seed, flipped=flipped)
    estimator = perceptrons(intercept, passes)[which]
    weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y)) if weighted else None
    fitted(estimator, scipy.sparse.csr_matrix(X) if sparse else X, y, sample_weight=weights)
    found = onlinear.certify(estimator, X, y)  # raises if a bound fails
    assert found["updates"] == estimator.updates_
    assert found["mistakes"] == estimator._learner.counters.unaveraged_mistakes.sum()  # which the theorems speak of
    assert found["separable"] is not None
    if found["separable"]:
        assert found["holds"]
        if not weighted and which not in (4,):  # steps of one size: the bound is on the updates themselves
            assert found["updates"] <= found["bound"]
    check_box(found, X, y, intercept, 0.1 if sparse and which in (0, 1, 4, 5) else 1.0)


def check_box(found: dict[str, Any], X: np.ndarray, y: np.ndarray, intercept: bool, constant: float) -> None:
    """No margin is beyond the box: not that of the weights, and not that of the best direction of many."""
    rows = np.hstack([X, np.full((len(X), 1), constant)]) if intercept else X
    assert math.isclose(found["radius"] ** 2, (rows**2).sum(axis=1).max(), rel_tol=1e-12)
    directions = np.random.default_rng(1).normal(size=(2000, rows.shape[1]))
    best = ((rows @ directions.T) * y[:, None]).min(axis=0) / np.linalg.norm(directions, axis=1)
    assert best.max() <= found["margin_upper"]
    if found["margin_lower"] is not None:
        assert found["margin_lower"] <= found["margin_upper"]


@pytest.mark.parametrize("T", [*range(2, 40), 561, 1000, 1999])
def test_tight_example_is_met_with_equality(T: int) -> None:
    y = np.where(np.arange(T) % 3 == 0, 1.0, -1.0)
    model = onlinear.Perceptron(fit_intercept=False, shuffle=False, max_iter=1, tol=None)
    found = onlinear.certify(fitted(model, scipy.sparse.identity(T, format="csr"), y), scipy.sparse.identity(T), y)
    assert (found["updates"], found["bound_exact"], found["holds"]) == (T, str(T), True)
    assert Fraction(found["bound"]) == T


@pytest.mark.parametrize("T", [1, 2, 5, 60])
@pytest.mark.parametrize("classes", [[-1.0, 1.0], [1.0, 2.0], None])
def test_tight_example_as_it_comes(T: int, classes: list[float] | None) -> None:
    """All labels are +1: every row is a tie, hence an update, and there are as many as the bound allows."""
    stream = synthetic.TightExample(T)
    X, y = next(iter(stream.arrays(T)))
    assert (y == 1.0).all()
    model = onlinear.Perceptron(fit_intercept=False).partial_fit(X, y, classes=classes)
    found = onlinear.certify(model, X, y)
    assert (found["updates"], found["bound_exact"], found["classes"]) == (T, str(T), [1.0])
    assert onlinear.certify(model, stream) == found
    said, _ = verifier.verify(found, verifier.place_rows([(1, {i: 1.0}) for i in range(T)], found["classes"]))
    assert f"{T} rows ({T} of class 1.0)" in said[0]


@pytest.mark.parametrize("rate", [0.1, 0.3, 7.0 / 3.0])
def test_tight_example_at_any_rate(rate: float) -> None:
    """Sums of such rates are rounded; the bound on their number is not."""
    for T in range(2, 60):
        y = np.where(np.arange(T) % 3 == 0, 1.0, -1.0)
        model = onlinear.Perceptron(eta0=rate, fit_intercept=False, shuffle=False, max_iter=1, tol=None)
        found = onlinear.certify(fitted(model, np.eye(T), y), np.eye(T), y)
        assert (found["updates"], found["bound_exact"]) == (T, str(T))


def test_steps_of_several_sizes_bound_no_updates() -> None:
    X, y = draw(3)
    model = fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, y, sample_weight=np.arange(1.0, 26.0))
    found = onlinear.certify(model, X, y)
    assert found["holds"]
    assert "updates" not in claim_of(found)


def test_margin_perceptron_finds_a_third_of_the_best_margin() -> None:
    """With R = beta = eta = 1: at most 3 / g^2 updates, and after a clean pass a margin above g / 3."""
    for seed in range(10):
        X, y = draw(seed, 40, 4)
        X /= np.linalg.norm(X, axis=1).max()
        model = onlinear.MarginPerceptron(margin=1.0, rate=1.0, fit_intercept=False, max_iter=100_000)
        best = separability(examples_of(X, y), LinearSpace(4, Fraction(0)))
        if not isinstance(best, SeparatingWitness) or not isinstance(best.weights, ExactWeights):
            continue
        u = best.weights.weights / np.linalg.norm(best.weights.weights)
        g = float((y * (X @ u)).min())
        found = onlinear.certify(fitted(model, X, y), X, y)
        assert found["bound_kind"] == "margin perceptron"
        assert found["updates"] <= 3.0 / g**2
        assert found["margin_lower"] > g / 3.0
        share = Fraction(found["promised_share"])
        assert share >= Fraction(1, 3) * (1 - Fraction(1, 10**9))  # R is 1 but for rounding
        assert found["margin_lower"] >= share * Fraction(found["margin_upper"]) * (1 - Fraction(1, 10**9))
        assert "of the best" in claim_of(found)
        verifier.verify(found, [(int(t > 0), dict(enumerate(row))) for row, t in zip(X.tolist(), y, strict=True)])


def test_nothing_is_promised_while_there_are_updates() -> None:
    X, y = draw(3)
    model = onlinear.MarginPerceptron(margin=1.0, rate=1.0, max_iter=1)
    found = onlinear.certify(fitted(model, X, y), X, y)
    assert Fraction(found["least_score"]) <= 1
    assert found["promised_share"] is None
    plain = onlinear.Perceptron(max_iter=200, tol=None, shuffle=False)
    assert onlinear.certify(fitted(plain, X, y), X, y)["promised_share"] is None


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 4]))
@settings(max_examples=20, deadline=None)
def test_weights_of_ones_own_are_tried(seed: int, intercept: bool, flipped: int) -> None:
    """The bounds are those of the better weights, and others make none worse."""
    X, y = draw(seed, flipped=flipped)
    model = fitted(onlinear.Perceptron(fit_intercept=intercept, max_iter=2, tol=None, shuffle=False), X, y)
    alone = onlinear.certify(model, X, y)
    rows = rows_of(X, y)
    for coef in (np.linalg.lstsq(X, y)[0], -model.coef_, np.zeros(3)):
        against = (coef, [0.25]) if intercept else coef
        found = onlinear.certify(model, X, y, against=against)
        verifier.verify(json.loads(json.dumps(found)), rows)
        for name in ("inseparable_bound", "hinge_bound"):
            assert found[name]["bound"] <= alone[name]["bound"]
        if found["separable"]:
            assert found["bound"] <= alone["bound"]
        least = (y * (X @ np.ravel(coef) + 0.25 * intercept)).min()
        if least > 1e-9:
            u = math.hypot(float(np.linalg.norm(coef)), 0.25 * intercept)
            assert found["bound"] <= (found["radius"] * u / least) ** 2 * (1.0 + 1e-6)


def test_weights_of_ones_own_for_each_class() -> None:
    X, y = draw_classes(3, 3)
    coef = np.array([X[y == c].mean(axis=0) for c in range(3)])
    for model in (
        onlinear.Perceptron(max_iter=2, tol=None, shuffle=False),
        onlinear.OnlineClassifier(loss="multiclass_perceptron", rule="perceptron", max_iter=2),
    ):
        found = onlinear.certify(fitted(model, X, y), X, y, against=(coef, np.zeros(3)))
        alone = onlinear.certify(model, X, y)
        pairs = [(found, alone)] if "sha256" in found else [(found[c], alone[c]) for c in alone]
        assert all(one["inseparable_bound"]["bound"] <= two["inseparable_bound"]["bound"] for one, two in pairs)


@pytest.mark.parametrize("against", [np.ones(2), np.ones((2, 3)), np.array([1.0, np.nan, 1.0]), (np.ones(3), 1.0)])
def test_weights_that_do_not_fit_are_refused(against: Any) -> None:
    X, y = draw(3)
    model = fitted(onlinear.Perceptron(fit_intercept=False), X, y)
    with pytest.raises(onlinear.Refused, match="against"):
        onlinear.certify(model, X, y, against=against)


def test_rows_drawn_with_replacement_say_nothing_of_every_trial() -> None:
    """Which rows a pass has had is not known then, and the deviation is summed over them."""
    X, y = draw(2, 60, flipped=9)
    for order, some in (("replacement", False), ("shuffle", True)):
        model = onlinear.AveragedPerceptron(max_iter=3, order=order)
        assert (onlinear.certify(fitted(model, X, y), X, y)["inseparable_bound"] is not None) == some


def test_certificates_name_the_weights() -> None:
    X, y = draw(3)
    found = onlinear.certify(fitted(onlinear.Perceptron(), X, y), X, y)
    other = onlinear.certify(fitted(onlinear.Perceptron(eta0=2.0), X, y), X, y)
    assert found["model_sha256"] != other["model_sha256"]
    assert found["file_sha256"] is None


def test_one_certificate_for_each_class() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + 4.0 * np.eye(3)[np.arange(60) % 3]
    y = np.array(["a", "b", "c"])[np.arange(60) % 3]
    model = fitted(onlinear.Perceptron(shuffle=False, max_iter=4, tol=None), X, y)
    found = onlinear.certify(model, X, y)
    assert list(found) == ["a", "b", "c"]
    assert [each["updates"] for each in found.values()] == model.updates_.tolist()
    assert list(model.certificate_) == ["a", "b", "c"]


def test_a_stream_is_as_good_as_its_rows() -> None:
    stream = synthetic.Separable(50, 3, margin=0.1, seed=4)
    X, y = next(iter(stream.arrays(50)))
    model = fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, y)
    assert onlinear.certify(model, stream) == onlinear.certify(model, X, y)
    with pytest.raises(onlinear.Refused, match="features"):
        onlinear.certify(model, synthetic.Separable(50, 4, margin=0.1, seed=4))


def test_running_quantities() -> None:
    X, y = draw(1)
    model = onlinear.Perceptron(fit_intercept=False).partial_fit(X[:9], y[:9], classes=[-1.0, 1.0])
    model.partial_fit(X[9:], y[9:])
    running = model.certificate_
    assert running["updates"] == model.updates_
    assert math.isclose(running["radius"], np.linalg.norm(X, axis=1).max())
    assert math.isclose(running["norm"], np.linalg.norm(model.coef_))
    assert math.isclose(running["margin_upper"], running["norm"] / model.updates_, rel_tol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        onlinear.OnlineClassifier(),
        onlinear.SGDClassifier(penalty="l1"),
        onlinear.Perceptron(penalty="l2", max_iter=1, tol=None),
        onlinear.SGDClassifier(loss="log_loss", penalty=None),
    ],
)
def test_no_theorem_covers_them(estimator: Any) -> None:
    X, y = draw(4)
    found = onlinear.certify(fitted(estimator, X, y), X, y)
    assert (found["bound"], found["bound_kind"], found["holds"]) == (None, None, None)


@given(st.integers(0, 10**6), st.sampled_from([False, 4, True]))
@settings(max_examples=20, deadline=None)
def test_the_box_holds_with_a_penalty_and_an_average(seed: int, average: int | bool) -> None:
    X, y = draw(seed)
    model = onlinear.SGDClassifier(
        loss="log_loss", alpha=0.05, average=average, fit_intercept=False, shuffle=False, max_iter=2, tol=None
    )
    found = onlinear.certify(fitted(model, X, y), X, y)
    assert found["margin_upper"] is not None
    check_box(found, X, y, False, 0.0)


def test_a_penalty_that_spares_the_intercept_has_no_upper_margin_by_its_steps() -> None:
    X, y = draw(3, flipped=3)
    found = onlinear.certify(fitted(onlinear.SGDClassifier(max_iter=2, tol=None), X, y), X, y)
    assert found["margin_upper"] is None


@pytest.mark.parametrize("labels", [("ham", "spam"), (False, True), (3, 7), (-1.0, 2.0)])
def test_certificates_are_json_whatever_the_labels(labels: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = draw(4)
    named = np.array(labels)[(y > 0).astype(int)]
    model = fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, named)
    found = onlinear.certify(model, X, named)
    assert json.loads(json.dumps(found))["classes"] == list(labels)
    model.save(tmp_path / "full")
    assert onlinear.certify(onlinear.load(tmp_path / "full"), X, named) == found
    model.save(tmp_path / "slim", slim=True)
    slim = onlinear.certify(onlinear.load(tmp_path / "slim"), X, named)
    assert (slim["bound"], slim["pull"]) == (None, None)
    names = ("margin_lower", "margin_upper", "combination")
    assert all(slim[name] == found[name] for name in names)


def test_weights_given_beforehand_prove_nothing() -> None:
    X, y = draw(4)
    model = onlinear.Perceptron(max_iter=2, tol=None, shuffle=False)
    found = onlinear.certify(fitted(model, X, y, coef_init=np.ones((1, 3))), X, y)
    assert found["pull"] is None
    assert found["bound"] is None


class TestRefused:
    def model(self) -> tuple[Any, np.ndarray, np.ndarray]:
        X, y = draw(7)
        return fitted(onlinear.Perceptron(max_iter=2, tol=None, shuffle=False), X, y), X, y

    def test_no_rows(self) -> None:
        model, X, y = self.model()
        with pytest.raises(onlinear.Refused, match="no examples"):
            onlinear.certify(model, X[:0], y[:0])

    def test_one_class_only(self) -> None:
        model, X, y = self.model()
        with pytest.raises(onlinear.Refused, match="not what it went over"):
            onlinear.certify(model, X[y > 0], y[y > 0])

    def test_other_features(self) -> None:
        model, X, y = self.model()
        with pytest.raises(onlinear.Refused, match="2 features"):
            onlinear.certify(model, X[:, :2], y)

    def test_other_rows(self) -> None:
        model, X, y = self.model()
        with pytest.raises(onlinear.Refused, match="not what it went over"):
            onlinear.certify(model, X[:-5], y[:-5])
        with pytest.raises(onlinear.Refused, match="not what it went over"):
            onlinear.certify(model, 2.0 * X, y)

    def test_an_unknown_label(self) -> None:
        model, X, y = self.model()
        with pytest.raises(onlinear.Refused, match="has not learned"):
            onlinear.certify(model, X, np.where(y > 0, 1.0, 5.0))

    def test_nan(self) -> None:
        model, X, y = self.model()
        X[0, 0] = np.nan
        with pytest.raises(onlinear.Refused, match="finite"):
            onlinear.certify(model, X, y)

    def test_a_learner_that_has_not_learned(self) -> None:
        with pytest.raises(onlinear.Refused, match="has learned no classes"):
            onlinear.certify(onlinear.Perceptron(), [[1.0]], [1])


def test_weights_that_are_shown_as_a_sparse_matrix() -> None:
    X, y = draw(3, 12, 2)
    model = fitted(onlinear.Perceptron(max_iter=3, tol=None, shuffle=False), X, y)
    known, found = model.certificate_, onlinear.certify(model, X, y)
    model.sparsify()
    assert model.certificate_ == known
    assert onlinear.certify(model, X, y) == found


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("power", [-310, -300, -170, -150, -40, 40, 76, 100, 150])
@pytest.mark.parametrize("flipped", [0, 3])
def test_rows_of_any_size(power: int, flipped: int) -> None:
    """What floats cannot hold is not proven; what is proven, the verifier believes."""
    X, y = draw(3, 12, 2, flipped=flipped)
    X = X * 10.0**power
    model = fitted(onlinear.Perceptron(max_iter=5, tol=None, shuffle=False, fit_intercept=False), X, y)
    certificate = json.loads(json.dumps(onlinear.certify(model, X, y)))
    rows = [(max(int(t), 0), {j: x for j, x in enumerate(row) if x}) for row, t in zip(X.tolist(), y, strict=True)]
    verifier.verify(certificate, rows)
    assert certificate["bound"] is not None or abs(power) > 40
    assert certificate["bound"] is None or power > -160  # products of weights and rows are 0 in floats


def test_weights_too_large_to_be_said_are_refused() -> None:
    X, y = draw(3, 12, 2)
    model = fitted(onlinear.OnlineClassifier(), X, y)
    model._learner.table.cells[:] = 1.7e308
    for ask in (lambda: model.certificate_, lambda: onlinear.certify(model, X, y)):
        with pytest.raises(Refused, match="too large for floating point"):
            ask()


def test_an_intercept_that_is_not_learned_is_refused() -> None:
    X, y = draw(3, 12, 2)
    model = onlinear.Perceptron(fit_intercept=False, max_iter=1, tol=None, shuffle=False).fit(X, y)
    model.intercept_ = [1.0]
    model.partial_fit(X, y)
    for ask in (lambda: model.certificate_, lambda: onlinear.certify(model, X, y)):
        with pytest.raises(Refused, match="an intercept that it does not learn"):
            ask()
