"""Mistakes against the bound: the arrays against a perceptron in plain Python, and what is drawn of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st
from matplotlib import pyplot
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Perceptron as TheirPerceptron

from onlinear import (
    AROWClassifier,
    AveragedPerceptron,
    BadInput,
    KernelPerceptron,
    MarginPerceptron,
    OnlineClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    PolynomialProducts,
    Refused,
    SGDClassifier,
    VotedPerceptron,
    certify,
    rules,
)
from onlinear.plots import MistakeBoundDisplay, OscillationDisplay
from onlinear.plots.following import examples_of, proof_steps
from onlinear.plots.theorems import FREUND_SCHAPIRE, MARGIN_PERCEPTRON, PERCEPTRON, theorem_of
from onlinear.streams.synthetic import Noisy, Separable, TightExample


def slow_perceptron(X: np.ndarray, y: np.ndarray, passes: int) -> tuple[list[Any], list[int], list[int]]:
    """The weights, the number of updates and the rows seen after each example."""
    w, updates = np.zeros(X.shape[1]), 0
    weights, counts, seen = [], [], []
    for turn in range(passes):
        for i in range(len(y)):
            if y[i] * sum(a * b for a, b in zip(w, X[i], strict=True)) <= 0.0:
                w, updates = w + y[i] * X[i], updates + 1
            weights.append(w)
            counts.append(updates)
            seen.append(len(y) if turn else i + 1)
    return weights, counts, seen


@budget(max_examples=15)
@given(seed=st.integers(0, 99), intercept=st.booleans(), passes=st.sampled_from([1, 2]), noisy=st.booleans())
def test_the_arrays_are_those_of_a_slow_perceptron(seed: int, intercept: bool, passes: int, noisy: bool) -> None:
    stream: Any = Noisy(40, 3, flips=8, seed=seed) if noisy else Separable(40, 3, 0.1, seed=seed)
    X, y = next(stream.arrays(40))
    rows = np.column_stack([X, np.ones(40)]) if intercept else X
    u = np.append(stream.u, 0.0) if intercept else stream.u
    model = Perceptron(fit_intercept=intercept)
    shown = MistakeBoundDisplay.from_estimator(model, X, y, u=stream.u, passes=passes, plot=False)
    own = MistakeBoundDisplay.from_estimator(model, X, y, passes=passes, plot=False)
    weights, counts, seen = slow_perceptron(rows, y, passes)
    done = len(shown.updates)  # it stops after a pass without an update
    assert done in (40, 40 * passes)
    np.testing.assert_array_equal(shown.examples, np.arange(1, done + 1))
    np.testing.assert_array_equal(shown.updates, counts[:done])
    for t in range(done):
        so_far, labels = rows[: seen[t]], y[: seen[t]]
        squared = max(float(row @ row) for row in so_far)
        margin = min(labels * (so_far @ u)) / np.linalg.norm(u)
        if shown.label == PERCEPTRON:
            assert shown.bound[t] == pytest.approx(squared / margin**2 if margin > 0.0 else np.inf)
        length = np.linalg.norm(weights[t])
        least = squared * counts[t] ** 2 / length**2 if shown.label == PERCEPTRON else np.nan
        assert shown.least[t] == pytest.approx(least, nan_ok=True)
        reached = min(labels * (so_far @ weights[t])) / length
        if own.label == PERCEPTRON and abs(reached) > 1e-9:
            assert own.bound[t] == pytest.approx(squared / reached**2 if reached > 0.0 else np.inf)
    for each in (shown, own):
        assert (each.updates <= each.bound * (1 + 1e-12)).all()  # Novikoff; Freund and Schapire
        if each.label == PERCEPTRON:
            assert (each.least <= each.bound * (1 + 1e-12)).all()


def test_the_tight_example_meets_the_bound() -> None:
    stream = TightExample(9, seed=1)
    X, y = next(stream.arrays(9))
    shown = MistakeBoundDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, margin=stream.margin)
    np.testing.assert_array_equal(shown.updates, np.arange(1, 10))
    np.testing.assert_allclose(shown.bound, 9.0)
    np.testing.assert_allclose(shown.least, np.arange(1, 10))  # what it knows of the bound grows with what it has seen


def same(one: Any, other: Any) -> None:
    assert vars(one).keys() == vars(other).keys()
    assert one.label == other.label
    for name, array in vars(one).items():
        if name == "label":
            continue
        np.testing.assert_allclose(array, getattr(other, name), rtol=1e-9, err_msg=name)


def test_sparse_rows_are_dense_rows() -> None:
    X, y = next(Noisy(60, 4, flips=6).arrays(60))
    X[X < 0.0] = 0.0
    for model in (Perceptron(fit_intercept=False), VotedPerceptron(), KernelPerceptron(degree=3)):
        dense, sparse = (MistakeBoundDisplay.from_estimator(model, rows, y, plot=False) for rows in (X, csr_matrix(X)))
        same(sparse, dense)


def test_one_of_several_classes_is_followed_against_the_rest() -> None:
    X, y = next(Noisy(60, 3, flips=6).arrays(60))
    several = np.where(X[:, 0] > 0.3, "third", np.where(y > 0.0, "first", "second"))
    for label in ("first", "second", "third"):
        chosen = MistakeBoundDisplay.from_estimator(Perceptron(), X, several, class_=label, plot=False)
        same(chosen, MistakeBoundDisplay.from_estimator(Perceptron(), X, several == label, plot=False))


@pytest.mark.parametrize("passes", [1, 4])
def test_a_kernel_is_followed_in_its_own_space(passes: int) -> None:
    """The polynomial kernel's features can be written down: there a plain perceptron takes the same steps."""
    X, y = next(Noisy(60, 3, flips=6).arrays(60))
    features = PolynomialProducts(degree=2).fit_transform(X)
    kernel = MistakeBoundDisplay.from_estimator(KernelPerceptron(degree=2), X, y, passes=passes, plot=False)
    plain = Perceptron(fit_intercept=False)
    same(kernel, MistakeBoundDisplay.from_estimator(plain, features, y, passes=passes, plot=False))
    voted = MistakeBoundDisplay.from_estimator(VotedPerceptron(), X, y, passes=passes, plot=False)
    same(voted, MistakeBoundDisplay.from_estimator(Perceptron(), X, y, passes=passes, plot=False))


def test_what_a_kernel_cannot_show_is_refused() -> None:
    X, y = next(Noisy(9, 2, flips=1).arrays(9))
    with pytest.raises(Refused, match="a kernel hides its features"):
        MistakeBoundDisplay.from_estimator(KernelPerceptron(), X, y, u=[1.0, 0.0])
    with pytest.raises(Refused, match="a budget shrinks the hypothesis"):
        MistakeBoundDisplay.from_estimator(KernelPerceptron(budget=5), X, y)
    with pytest.raises(Refused, match="VotedPerceptron has no weights that could be drawn"):
        OscillationDisplay.from_estimator(VotedPerceptron(), X, y)


def test_scikit_learns_perceptron_is_followed_too() -> None:
    X, y = next(Separable(50, 3, 0.1).arrays(50))
    ours = MistakeBoundDisplay.from_estimator(Perceptron(), X, y)
    theirs = MistakeBoundDisplay.from_estimator(TheirPerceptron(), X, y)
    np.testing.assert_array_equal(ours.updates, theirs.updates)
    np.testing.assert_allclose(ours.least, theirs.least)


def test_only_sums_of_signed_rows_say_something_from_above() -> None:
    X, y = next(Separable(30, 2, 0.2).arrays(30))
    assert np.isnan(MistakeBoundDisplay.from_estimator(AveragedPerceptron(), X, y, plot=False).least[-1])


# ------------------------------------------------------------------ the bound is the one that is proven


@pytest.mark.parametrize(
    "model",
    [
        Perceptron(),
        Perceptron(eta0=0.25, fit_intercept=False),
        MarginPerceptron(0.5, rate=0.25),
        MarginPerceptron(2.0, rate=0.5, fit_intercept=False),
        SGDClassifier(loss="hinge", penalty=None, learning_rate="constant", eta0=0.5),
        OnlineClassifier("perceptron", rules.SGD(0.5)),
    ],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_last_bound_is_the_certified_one(model: Any, sparse: bool) -> None:
    stream = Separable(60, 3, 0.2, seed=3)
    X, y = next(stream.arrays(60))
    rows = csr_matrix(X) if sparse else X
    shown = MistakeBoundDisplay.from_estimator(model, rows, y, u=stream.u, plot=False)
    certificate = certify(clone(model).partial_fit(rows, y, classes=[-1, 1]), rows, y, against=stream.u)
    assert shown.updates[-1] == certificate["updates"]
    assert shown.label == (PERCEPTRON if certificate["run_margin"] == "0" else MARGIN_PERCEPTRON)
    assert certificate["bound"] <= shown.bound[-1] * (1.0 + 1e-9)  # the least of the bounds that u and others prove
    own = MistakeBoundDisplay.from_estimator(model, rows, y, plot=False)
    assert certificate["bound"] <= own.bound[-1] * (1.0 + 1e-9)
    assert (shown.updates <= shown.bound * (1.0 + 1e-12)).all()
    assert (shown.least <= shown.bound * (1.0 + 1e-12)).all()


def test_a_margin_perceptron_may_make_more_updates_than_a_perceptron() -> None:
    """On the tight example the bound ``(R / margin)^2`` of a perceptron is not that of one with a margin."""
    X, y = np.array([[1.0, 0.1], [-1.0, 0.1]] * 40), [1, -1] * 40
    shown = MistakeBoundDisplay.from_estimator(
        MarginPerceptron(5.0, fit_intercept=False), X, y, u=[1.0, 0.0], plot=False
    )
    assert shown.updates[-1] > 1.01  # (R / margin)^2
    assert (shown.updates <= shown.bound).all()
    np.testing.assert_allclose(shown.bound[-1], 1.01 + 2.0 * 5.0)


@pytest.mark.parametrize("passes", [1, 3])
def test_rows_that_nothing_separates_have_freund_and_schapires_bound(passes: int) -> None:
    X, y = next(Noisy(50, 3, flips=8, seed=2).arrays(50))
    model = Perceptron(fit_intercept=False, max_iter=passes, tol=None, shuffle=False)
    shown = MistakeBoundDisplay.from_estimator(model, X, y, passes=passes, plot=False)
    certificate = certify(model.fit(X, y), X, y)["inseparable_bound"]
    assert shown.label == FREUND_SCHAPIRE
    assert certificate["bound"] <= shown.bound[-1] * (1.0 + 1e-9)  # that of the best weights
    assert np.isnan(shown.least).all()  # what any margin would prove at least says nothing of this bound
    assert (shown.updates <= shown.bound).all()
    assert (np.diff(shown.bound) >= 0.0).all()


@pytest.mark.parametrize(
    "model",
    [Perceptron(), MarginPerceptron(0.3, rate=0.5), TheirPerceptron()],
    ids=str,
)
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_change_nothing_may_be_learned_at_once(model: Any, sparse: bool) -> None:
    X, y = next(Noisy(60, 3, flips=6, seed=4).arrays(60))
    examples = examples_of(csr_matrix(X) if sparse else X, y)
    theorem = theorem_of(model, 3, sparse)
    found = list(proof_steps(model, examples, 3, theorem))
    one_by_one = list(proof_steps(model, examples, 3, theorem._replace(averaged=True)))
    assert len(found) == len(one_by_one) == 180
    for step, alone in zip(found, one_by_one, strict=True):
        np.testing.assert_array_equal(np.hstack(step), np.hstack(alone))


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (PassiveAggressiveClassifier(), "the loss Hinge with the rule PA1 has none"),
        (AROWClassifier(), "the loss Hinge with the rule AROW has none"),
        (OnlineClassifier(), "the loss Logistic with the rule Normalised has none"),
        (OnlineClassifier("multiclass_perceptron", "perceptron"), "the loss MulticlassPerceptron with"),
        (SGDClassifier(loss="hinge"), "it pays a penalty"),
        (SGDClassifier(loss="hinge", penalty=None, learning_rate="invscaling"), "its steps become smaller"),
        (Perceptron(penalty="l2"), "it pays a penalty"),
        (Perceptron(class_weight="balanced"), "class weights make its steps unequal"),
        (TheirPerceptron(penalty="l1"), "it pays a penalty"),
        (LogisticRegression(), "it is no perceptron"),
    ],
    ids=str,
)
def test_a_learner_without_a_bound_is_refused_by_name(model: Any, reason: str) -> None:
    name = type(model).__name__
    with pytest.raises(Refused, match=f"no bound on the updates of this {name} is known, as {reason}"):
        MistakeBoundDisplay.from_estimator(model, [[1.0], [2.0]], [0, 1])


def test_the_estimator_itself_learns_nothing() -> None:
    X, y = next(Separable(30, 2, 0.2).arrays(30))
    model = Perceptron()
    MistakeBoundDisplay.from_estimator(model, X, y, plot=False)
    assert not hasattr(model, "coef_")


def test_the_lines_are_the_arrays() -> None:
    shown = MistakeBoundDisplay(examples=[1, 2, 3], updates=[1, 2, 2], bound=[np.inf, 8.0, 9.0], least=[1, 2, 3])
    axes = pyplot.subplots()[1]
    assert shown.plot(axes) is shown
    assert shown.ax_ is axes
    assert shown.figure_ is axes.figure
    np.testing.assert_array_equal(shown.updates_line_.get_ydata(), [1, 2, 2])
    np.testing.assert_array_equal(shown.bound_line_.get_ydata(), [np.nan, 8.0, 9.0])
    np.testing.assert_array_equal(shown.least_line_.get_ydata(), [1, 2, 3])
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["updates", r"bound $(R\,/\,\gamma)^2$", "least that any bound can be"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale()) == ("examples", "updates", "linear")
    assert len(shown.plot().ax_.lines) == 3
    assert shown.ax_ is not axes


def test_what_is_nowhere_is_not_drawn_and_a_far_bound_is_on_a_log_scale() -> None:
    none = MistakeBoundDisplay(examples=[1, 2], updates=[1, 2], bound=[np.inf, np.inf]).plot()
    assert none.bound_line_ is none.least_line_ is None
    assert len(none.ax_.lines) == len(none.ax_.get_legend().get_texts()) == 1
    far = MistakeBoundDisplay(examples=[1, 2], updates=[1, 2], bound=[1e6, 1e6]).plot()
    assert far.ax_.get_yscale() == "log"


@pytest.mark.parametrize(
    ("X", "y", "options", "kind", "reason"),
    [
        ([[1.0], [2.0]], [0, 1], {"margin": 1.0, "u": [1.0]}, Refused, "give one of them"),
        ([[1.0], [2.0]], [0, 1], {"u": [1.0, 2.0, 3.0]}, Refused, "3 entries for 2 weights"),
        ([[1.0], [2.0]], [0, 1], {"u": [0.0]}, Refused, "or they are all 0"),
        ([[1.0], [2.0]], [0, 0], {}, Refused, "there are 1 classes: this picture is of two"),
        ([[1.0], [np.nan]], [0, 1], {}, BadInput, "not finite"),
        ([1.0, 2.0], [0, 1], {}, BadInput, "give a table of rows, and a label for each"),
    ],
)
def test_what_cannot_be_drawn(X: Any, y: Any, options: dict[str, Any], kind: type[Exception], reason: str) -> None:
    with pytest.raises(kind, match=reason):
        MistakeBoundDisplay.from_estimator(Perceptron(), X, y, **options)


def test_without_matplotlib_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = MistakeBoundDisplay(examples=[1], updates=[1], bound=[1.0])
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(Refused, match=r"not installed: pip install 'onlinear\[plot\]'$"):
        shown.plot()


def test_arrays_need_no_matplotlib() -> None:
    import subprocess

    code = "import sys, onlinear.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
