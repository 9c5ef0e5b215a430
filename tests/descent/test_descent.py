"""The batch solvers: gaps that are true, rates that theory promises, and refusals by name."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from onlinear.descent import (
    Objective,
    best_in_ball,
    gradient_descent,
    mean_loss,
    newton,
    running_means,
    second_order_sgd,
    sgd,
)
from onlinear.descent.elementwise import FORMS, SmoothedHinge
from onlinear.descent.stochastic import drawn_rows, first_scale
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.losses import Absolute, Hinge, Logistic, Perceptron, Squared
from onlinear.rules import Constant, Power

LOSSES = (Squared(), Logistic(), Hinge())
SMOOTH = (Squared(), Logistic())
METHODS = (gradient_descent, newton, sgd, second_order_sgd)
PAIRS = [(method, loss) for method in METHODS for loss in LOSSES if method is not newton or loss in SMOOTH]


def named(thing: Any) -> str:
    return getattr(thing, "__name__", type(thing).__name__)


def drawn(seed: int, n: int = 30, d: int = 3, noise: float = 1.0) -> tuple[Any, Any]:
    """Rows, and signs that a line explains up to the noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.3, 2.0, d)
    y = np.where(X @ rng.standard_normal(d) + noise * rng.standard_normal(n) > 0.0, 1.0, -1.0)
    return X, y


def naive_value(f: Objective, w: Any) -> float:
    rows = f.rows.toarray() if hasattr(f.rows, "toarray") else f.rows
    losses = [share * f.loss.value(float(x @ w), y) for x, y, share in zip(rows, f.targets, f.shares, strict=True)]
    return math.fsum(losses) + 0.5 * f.l2 * float(w @ w)


def lowest(f: Objective) -> float:
    """The optimum by SciPy; that of the hinge by its dual, within 1e-7 from below."""
    if f.loss in SMOOTH:
        found = minimize(f.value, np.zeros(f.features), jac=f.gradient, method="BFGS", options={"gtol": 1e-10})
        return float(found.fun)
    Z = (f.rows * f.targets[:, None]).T * f.shares

    def negative_dual(a: Any) -> tuple[float, Any]:
        pull = Z @ a
        return float(pull @ pull / (2 * f.l2) - f.shares @ a), Z.T @ pull / f.l2 - f.shares

    options = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 10_000, "maxfun": 100_000}
    start = np.full(len(f.targets), 0.5)
    found = minimize(negative_dual, start, jac=True, bounds=[(0, 1)] * len(start), method="L-BFGS-B", options=options)
    assert f.value(Z @ found.x / f.l2) + found.fun < 1e-7
    return -float(found.fun)


# ---------------------------------------------------------------- the objective


@pytest.mark.parametrize("loss", [*LOSSES, Hinge(0.0), Perceptron(), SmoothedHinge(1.0, 0.5)], ids=named)
@given(score=st.floats(-1000, 1000) | st.sampled_from([0.0, 0.5, 1.0, -1.0, 0.75]), target=st.sampled_from([-1.0, 1.0]))
@settings(max_examples=60, deadline=None)
def test_arrays_equal_the_scalar_losses(loss: Any, score: float, target: float) -> None:
    form, s, y = FORMS[type(loss)], np.array([score]), np.array([target])
    assert form.values(loss, s, y)[0] == pytest.approx(loss.value(score, target), rel=1e-14, abs=1e-300)
    assert form.slopes(loss, s, y)[0] == pytest.approx(loss.slope(score, target), rel=1e-14, abs=1e-300)
    if form.curvatures is not None:
        bend = form.curvatures(loss, s, y)[0]
        assert bend == pytest.approx(loss.curvature(score, target), rel=1e-14, abs=1e-300)
        assert bend <= form.bend(loss)


@given(score=st.floats(-3, 3), width=st.floats(0.01, 2.0))
@settings(max_examples=60, deadline=None)
def test_the_smoothed_hinge_lies_under_the_hinge_by_half_its_width(score: float, width: float) -> None:
    below = Hinge().value(score, 1.0) - SmoothedHinge(1.0, width).value(score, 1.0)
    assert -1e-15 <= below <= 0.5 * width + 1e-15


@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_the_objective_is_the_mean_of_the_scalar_losses(loss: Any) -> None:
    X, y = drawn(0)
    importance = np.random.default_rng(1).integers(0, 4, len(y))
    f = mean_loss(X, y, loss, l2=0.3, sample_weight=importance)
    w = np.array([0.4, -1.0, 0.2])
    repeated = mean_loss(np.repeat(X, importance, axis=0), np.repeat(y, importance), loss, l2=0.3)
    assert f.value(w) == pytest.approx(naive_value(f, w), rel=1e-13)
    assert f.value(w) == pytest.approx(naive_value(repeated, w), rel=1e-13)
    for direction in np.eye(3):
        slope = (f.value(w + 1e-6 * direction) - f.value(w - 1e-6 * direction)) / 2e-6
        assert f.gradient(w) @ direction == pytest.approx(slope, abs=1e-8)
        if f.smooth:
            bend = (f.gradient(w + 1e-6 * direction) - f.gradient(w - 1e-6 * direction)) / 2e-6
            np.testing.assert_allclose(f.hessian(w) @ direction, bend, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_sparse_rows_are_dense_rows(loss: Any) -> None:
    X, y = drawn(0)
    X[np.random.default_rng(2).random(X.shape) < 0.5] = 0.0
    doubled = csr_matrix(X)  # every entry twice, as a half
    halves = np.repeat(doubled.data / 2.0, 2), np.repeat(doubled.indices, 2), doubled.indptr * 2
    dense, sparse = mean_loss(X, y, loss, l2=0.3), mean_loss(csr_matrix(halves, shape=X.shape), y, loss, l2=0.3)
    assert sparse.smoothness == pytest.approx(dense.smoothness)
    assert sparse.row_smoothness == pytest.approx(dense.row_smoothness)
    for method in METHODS:
        if method is not newton or dense.smooth:
            ours, theirs = method(sparse, 1e-2), method(dense, 1e-2)
            assert ours.steps == theirs.steps
            np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)
    balls = [best_in_ball(rows, y, loss, 0.7, 1e-6) for rows in (X, csr_matrix(X))]
    assert balls[0].value == pytest.approx(balls[1].value, abs=1e-6)


def test_many_features_take_products_instead_of_matrices() -> None:
    X, y = drawn(3, n=40, d=1200)
    f = mean_loss(csr_matrix(X), y, Logistic(), l2=0.1)
    exact = 0.25 * np.linalg.eigvalsh(X @ X.T / 40)[-1] + 0.1
    assert exact <= f.smoothness <= 1.002 * exact
    best = newton(f, 1e-10)
    assert best.gap <= 1e-10
    assert gradient_descent(f, 1e-5).value == pytest.approx(best.value, abs=1e-5)


# ---------------------------------------------------------------- gaps


@pytest.mark.parametrize(("method", "loss"), PAIRS, ids=named)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_certified_gap_is_true(method: Any, loss: Any, seed: int) -> None:
    X, y = drawn(seed)
    f = mean_loss(X, y, loss, l2=0.2, sample_weight=np.random.default_rng(seed).uniform(0.0, 2.0, len(y)))
    optimum, solution = lowest(f), method(f, 3e-3)
    assert solution.gap <= 3e-3
    assert solution.value == pytest.approx(naive_value(f, solution.weights), rel=1e-12)
    for point in solution.course:
        assert point.value - optimum <= point.gap + 1e-7
    assert solution[1:5] == (*solution.course[-1][1:3], solution.course[-1].steps, solution.course[-1].seconds)
    assert [point.seconds for point in solution.course] == sorted(point.seconds for point in solution.course)


@pytest.mark.parametrize(("method", "loss"), PAIRS, ids=named)
def test_with_a_known_optimum_the_gap_is_the_distance_to_it(method: Any, loss: Any) -> None:
    f = mean_loss(*drawn(4), loss, l2=0.2)
    optimum = lowest(f)
    solution = method(f, 1e-3, optimum=optimum)
    assert solution.gap == solution.value - optimum <= 1e-3
    assert all(point.gap > 1e-3 for point in solution.course[:-1])


@pytest.mark.parametrize(("method", "loss"), PAIRS, ids=named)
def test_too_few_steps_show_in_the_gap(method: Any, loss: Any) -> None:
    steps = 0 if method is newton and loss == Squared() else 2  # one is enough
    solution = method(mean_loss(*drawn(4), loss, l2=0.01), 1e-13, max_steps=steps)
    assert solution.steps == steps
    assert solution.gap > 1e-13


# ---------------------------------------------------------------- without a penalty

PLAIN = [(method, loss) for method, loss in PAIRS if loss in SMOOTH]


@pytest.mark.parametrize(("method", "loss"), PLAIN, ids=named)
@pytest.mark.parametrize("seed", [0, 1])
def test_without_penalty_or_optimum_a_regular_hessian_proves_the_gap(method: Any, loss: Any, seed: int) -> None:
    """Plain least squares and plain logistic regression, on rows that nothing explains exactly."""
    X, y = drawn(seed, n=60, noise=3.0)
    f = mean_loss(X, y, loss, sample_weight=np.random.default_rng(seed).uniform(0.0, 2.0, len(y)))
    optimum, solution = newton(f, 1e-15).value, method(f, 3e-3)
    assert optimum == pytest.approx(lowest(f), abs=1e-9)
    assert solution.gap <= 3e-3
    for point in solution.course:
        assert -1e-12 <= point.value - optimum <= point.gap * (1.0 + 1e-9) + 1e-12
    if not solution.value - optimum < 1e-9:
        assert solution.gap < 5.0 * (solution.value - optimum)  # there is not much more in it


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_least_squares_is_what_numpy_finds(method: Any) -> None:
    X, y = drawn(7)
    X[:, 0] *= 1e-3  # columns of unlike units are not dependent columns
    f = mean_loss(X if method is newton else X * [1e3, 1.0, 1.0], y, Squared())
    best = np.linalg.lstsq(f.rows, y, rcond=None)[0]
    solution = method(f, 1e-5)
    assert solution.value - f.value(best) == pytest.approx(solution.gap, rel=1e-6, abs=1e-15)
    assert solution.gap <= 1e-5


@pytest.mark.parametrize("loss", LOSSES, ids=named)
def test_where_nothing_else_is_known_the_gap_is_the_value(loss: Any) -> None:
    """No loss is below 0: on rows that are separable that is enough, and it is true of dependent columns, too."""
    X, y = drawn(12)
    f = mean_loss(np.hstack([X, X]), y, loss)
    solution = gradient_descent(f, 1e-3, max_steps=50)
    assert solution.gap == solution.value > 1e-3
    X = np.vstack([X, -X])
    separated = mean_loss(X, X[:, 0] if isinstance(loss, Squared) else np.sign(X[:, 0]), loss)
    solution = newton(separated, 1e-4) if loss in SMOOTH else gradient_descent(separated, 1e-4, schedule=Constant(1.0))
    assert solution.gap <= 1e-4


@pytest.mark.parametrize(("method", "loss"), PAIRS, ids=named)
def test_a_start_is_where_the_course_begins(method: Any, loss: Any) -> None:
    f, start = mean_loss(*drawn(4), loss, l2=0.2), np.array([1.0, -2.0, 0.5])
    solution = method(f, 3e-3, start=start)
    assert solution.gap <= 3e-3
    assert start.tolist() == [1.0, -2.0, 0.5]
    first = method(f, 1e-15, start=start, max_steps=1)
    if method in (gradient_descent, newton):
        assert first.course[0].value == f.value(start)
    elsewhere = method(f, 1e-15, max_steps=1)
    forgets = (newton, Squared) if isinstance(loss, Squared) else (sgd, Hinge)  # one step is enough; its rate is 1/l2
    assert ((method, type(loss)) == forgets) is bool(np.allclose(first.weights, elsewhere.weights))


@pytest.mark.parametrize("start", [[1.0], [1.0, math.nan, 0.0], np.zeros((2, 3))])
def test_a_start_of_another_shape_is_refused(start: Any) -> None:
    with pytest.raises(BadInput, match="numbers for 3 features"):
        gradient_descent(mean_loss(*drawn(4), Logistic()), 1e-3, start=start)


# ---------------------------------------------------------------- the perceptron's objective


@given(seed=st.integers(0, 10_000), length=st.floats(0.1, 10.0))
@settings(max_examples=25, deadline=None)
def test_the_batch_perceptron_ends_within_n_times_novikoffs_bound(seed: int, length: float) -> None:
    """A step adds the mean of y x over the wrong rows, a share s_t of them: as in Novikoff's proof their sum is at most
    (R / margin)^2, and no share is below 1/n.
    """
    X, y = drawn(seed, n=20, noise=0.0)
    X *= length
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    margin = float((y * (X @ u)).min() / np.linalg.norm(u))
    solution = gradient_descent(mean_loss(X, y, Perceptron()), 1e-9, max_steps=5000)
    assert solution.steps < 5000
    assert (y * (X @ solution.weights) > 0.0).all()
    assert solution.gap == solution.value == 0.0
    if margin > 0.0:
        assert solution.steps <= 20 * (np.linalg.norm(X, axis=1).max() / margin) ** 2


def test_a_step_of_the_batch_perceptron_is_the_mean_of_the_wrong_rows() -> None:
    X, y = drawn(6)
    w = np.zeros(3)
    for _ in range(3):
        wrong = y * (X @ w) <= 0.0
        w = w + (y[wrong, None] * X[wrong]).sum(axis=0) / len(y)
    solution = gradient_descent(mean_loss(X, y, Perceptron()), 1e-9, max_steps=3)
    np.testing.assert_allclose(solution.weights, w, rtol=1e-12)


def test_sgd_on_the_perceptron_loss_is_the_perceptron_on_drawn_rows() -> None:
    X, y = drawn(6, noise=0.0)
    f = mean_loss(X, y, Perceptron())
    w = np.zeros(3)
    for i in drawn_rows(f, 5, 40):
        if y[i] * (X[i] @ w) <= 0.0:
            w = w + y[i] * X[i]
    np.testing.assert_allclose(sgd(f, 1e-9, max_steps=40, seed=5).weights, w, rtol=1e-12)
    assert (y * (X @ sgd(f, 1e-9).weights) > 0.0).all()


def test_with_a_penalty_the_weights_0_are_best_for_the_perceptron_loss() -> None:
    f = mean_loss(*drawn(6), Perceptron(), l2=0.1)
    assert gradient_descent(f, 1e-3)[1:4] == (0.0, 0.0, 0)
    assert gradient_descent(f, 1e-3, start=[3.0, 1.0, 2.0]).value <= 1e-3
    assert best_in_ball(*drawn(6), Perceptron(), 1.0, 1e-6).value == 0.0


# ---------------------------------------------------------------- each method's theorem


@pytest.mark.parametrize("loss", SMOOTH, ids=named)
def test_gradient_descent_contracts_by_its_condition(loss: Any) -> None:
    f = mean_loss(*drawn(5), loss, l2=0.05)
    gaps = [point.gap for point in gradient_descent(f, 1e-9, optimum=newton(f, 1e-15).value).course]
    for before, after in pairwise(gaps):
        assert after <= (1.0 - f.l2 / f.smoothness) * before + 1e-15


def test_gradient_descent_follows_its_schedule() -> None:
    f = mean_loss([[2.0]], [3.0], Squared(), l2=1.0)
    w = 0.0
    for t in (1, 2, 3):
        w -= 0.1 / math.sqrt(t) * (2.0 * (2.0 * w - 3.0) + w)
    solution = gradient_descent(f, 1e-12, schedule=Power(0.1, 0.5), max_steps=3)
    assert solution.weights[0] == pytest.approx(w, rel=1e-14)


def test_subgradient_steps_certify_themselves() -> None:
    """With rates 1/(l2 t) w is ``mean(a y x) / l2``, a being the share of steps with a row within the margin."""
    X, y = drawn(6)
    f = mean_loss(X, y, Hinge(), l2=0.1)
    within, w, bound = np.zeros(30), np.zeros(3), 0.0
    course = gradient_descent(f, 1e-9, max_steps=200).course
    for t in range(1, 201):
        within += y * (X @ w) <= 1.0
        a = within / t
        w = X.T @ (a * y) / 30 / 0.1
        bound = max(bound, a.mean() - 0.05 * float(w @ w))
        assert course[t].value == pytest.approx(f.value(w), rel=1e-9)
        assert course[t].gap == pytest.approx(f.value(w) - bound, rel=1e-9)
    assert course[200].gap < 0.05 * course[2].gap


def test_newton_needs_one_step_on_a_quadratic() -> None:
    X, y = drawn(7)
    f = mean_loss(X, y, Squared(), l2=0.2)
    solution = newton(f, 1e-20)
    assert solution.steps == 1
    np.testing.assert_allclose(solution.weights, np.linalg.solve(X.T @ X / 30 + 0.2 * np.eye(3), X.T @ y / 30))


def test_newtons_digits_double() -> None:
    gaps = [point.gap for point in newton(mean_loss(*drawn(8), Logistic(), l2=0.01), 1e-25).course]
    digits = [-math.log10(gap) for gap in gaps if 1e-22 < gap < 1e-2]
    assert len(digits) >= 3
    assert all(after >= 1.8 * before for before, after in pairwise(digits))


def test_newton_is_damped_where_the_whole_step_overshoots() -> None:
    X = np.array([[-1.5, 1.6], [437.6, 24.8], [1.2, 0.3], [-760.3, -0.7]])
    f = mean_loss(X, [1, 1, -1, 1], Logistic(), l2=1e-4)
    w, whole = np.zeros(2), []
    for _ in range(8):
        whole.append(f.value(w))
        w = w - np.linalg.solve(f.hessian(w), f.gradient(w))
    damped = newton(f, 1e-9)
    assert any(after > before for before, after in pairwise(whole))
    assert all(after.value <= before.value for before, after in pairwise(damped.course))
    assert damped.gap <= 1e-9


def test_second_order_sgd_is_recursive_least_squares() -> None:
    X, y = drawn(9)
    f = mean_loss(X, y, Squared())
    solution = second_order_sgd(f, 1e-9, optimum=-1.0, max_steps=50, seed=3)
    rows = list(drawn_rows(f, 3, 50))
    so_far = first_scale(f) * np.eye(3) + X[rows].T @ X[rows]
    np.testing.assert_allclose(solution.weights, np.linalg.solve(so_far, X[rows].T @ y[rows]), rtol=1e-9)


@pytest.mark.parametrize("method", [sgd, second_order_sgd])
def test_rows_are_drawn_by_importance_and_seed(method: Any) -> None:
    X, y = drawn(10)
    f = mean_loss(X, y, Logistic(), l2=0.2, sample_weight=np.arange(30.0) % 3)
    counts = np.bincount(list(drawn_rows(f, 0, 30_000)), minlength=30)
    assert not counts[::3].any()
    np.testing.assert_allclose(counts / 30_000, f.shares, atol=0.01)
    first, again, other = (method(f, 1e-12, max_steps=20, seed=seed).weights for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("method", [sgd, second_order_sgd])
def test_ten_times_the_digits_take_ten_times_the_steps(method: Any) -> None:
    """1/epsilon under strong convexity and noise, within a factor of three on the mean of a few runs."""
    f = mean_loss(*drawn(11, n=200), Logistic(), l2=0.2)
    optimum = newton(f, 1e-15).value
    loose, tight = (
        np.mean([method(f, epsilon, optimum=optimum, seed=seed).steps for seed in range(8)]) for epsilon in (3e-3, 3e-4)
    )
    assert 10 / 3 <= tight / loose <= 30


# ---------------------------------------------------------------- in the ball


def best_by_scipy(f: Objective, radius: float) -> Any:
    """SLSQP's weights in the ball; the hinge as a linear program with slacks."""
    d, start = f.features, np.zeros(f.features)
    ball = {"type": "ineq", "fun": lambda v: radius**2 - v[:d] @ v[:d]}
    options = {"ftol": 1e-12, "maxiter": 500}
    if f.smooth:
        return minimize(f.value, start, jac=f.gradient, constraints=[ball], method="SLSQP", options=options).x
    Z = f.rows * f.targets[:, None]
    above = {"type": "ineq", "fun": lambda v: v[d:] + Z @ v[:d] - f.loss.margin}
    start = np.append(start, np.full(len(Z), f.loss.margin))
    limits = [(None, None)] * d + [(0.0, None)] * len(Z)
    found = minimize(
        lambda v: f.shares @ v[d:], start, constraints=[ball, above], bounds=limits, method="SLSQP", options=options
    )
    return found.x[:d]


def into_ball(w: Any, radius: float) -> Any:
    return w * min(1.0, (1.0 - 1e-12) * radius / max(float(np.linalg.norm(w)), 1e-300))


@pytest.mark.parametrize("loss", [*LOSSES, Hinge(0.3)], ids=named)
@given(seed=st.integers(0, 10_000), radius=st.sampled_from([0.1, 1.0, 10.0]), noise=st.sampled_from([0.0, 1.0]))
@settings(max_examples=12, deadline=None)
def test_nothing_in_the_ball_is_better_than_the_gap_allows(loss: Any, seed: int, radius: float, noise: float) -> None:
    X, y = drawn(seed, n=15, noise=noise)
    importance = np.random.default_rng(seed).uniform(0.0, 2.0, 15)
    best = best_in_ball(X, y, loss, radius, 1e-6, sample_weight=importance)
    f = mean_loss(X, y, loss, sample_weight=importance)
    assert best.gap <= 1e-6
    assert np.linalg.norm(best.weights) <= radius * (1 + 1e-12)
    assert best.value == pytest.approx(naive_value(f, best.weights), rel=1e-12, abs=1e-15)
    rival = into_ball(best_by_scipy(f, radius), radius)
    assert f.value(rival) >= best.value - best.gap
    assert best.value <= f.value(rival) + 1e-6
    rng = np.random.default_rng(seed)
    for spread in (1e-6, 1e-3, 1.0):
        nearby = into_ball(best.weights + spread * radius * rng.standard_normal(3), radius)
        assert f.value(nearby) >= best.value - best.gap


@pytest.mark.parametrize("loss", LOSSES, ids=named)
@pytest.mark.parametrize("steps", [0, 1, 2])
def test_the_gap_is_true_wherever_the_search_stops(loss: Any, steps: int) -> None:
    X, y = drawn(12)
    unfinished = best_in_ball(X, y, loss, 2.0, 1e-7, max_steps=steps)
    finished = best_in_ball(X, y, loss, 2.0, 1e-7)
    assert unfinished.steps <= steps
    assert unfinished.value - finished.value <= unfinished.gap
    assert finished.gap <= 1e-7


def test_more_features_than_rows_and_unscaled_ones() -> None:
    X, y = drawn(13, n=20, d=40)
    X *= 10.0 ** (np.arange(40) % 5 - 2)
    for loss in LOSSES:
        assert best_in_ball(X, y, loss, 3.0, 1e-5).gap <= 1e-5


def test_the_ball_among_many_features() -> None:
    """Weights are sums of rows, so turned into the span of the rows the problem has 20 features instead of 1200."""
    X, y = drawn(14, n=20, d=1200)
    few = np.linalg.qr(X.T)[1].T
    for loss in LOSSES:
        wide, narrow = (best_in_ball(rows, y, loss, 0.05, 1e-6) for rows in (csr_matrix(X), few))
        assert max(wide.gap, narrow.gap) <= 1e-6
        assert wide.value == pytest.approx(narrow.value, abs=1e-6)


def test_the_best_weights_of_known_problems() -> None:
    """On the boundary the squared loss pulls to the nearest point; the perceptron loss is best at 0."""
    best = best_in_ball(np.eye(2), [3.0, 4.0], Squared(), 1.0, 1e-10)
    np.testing.assert_allclose(best.weights, [0.6, 0.8], atol=1e-6)
    assert best_in_ball([[1.0], [1.0]], [1, -1], Hinge(0.0), 1.0, 1e-8).value == pytest.approx(0.0, abs=1e-8)


# ---------------------------------------------------------------- mean estimation


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50))
@settings(max_examples=50, deadline=None)
def test_rates_of_1_over_t_give_the_running_mean(draws: list[float]) -> None:
    means = np.cumsum(draws) / np.arange(1, len(draws) + 1)
    np.testing.assert_allclose(running_means(draws), means, rtol=1e-12, atol=1e-8)


@pytest.mark.parametrize("power", [0.6, 0.75, 1.0])
def test_robbins_monro_rates_find_the_mean(power: float) -> None:
    """With bounded variance the error's square is of the order of the last rate: here rate * variance at most."""
    schedule = Power(1.0, power)
    assert schedule.robbins_monro()
    ends = [running_means(3.0 + np.random.default_rng(k).standard_normal(2000), schedule)[-1] for k in range(40)]
    assert np.mean((np.array(ends) - 3.0) ** 2) <= 1.5 * schedule.at(2000.0)


def test_rates_with_a_finite_sum_stop_short() -> None:
    """Without noise the error after rates c/t^2 is prod(1 - c/t^2) = sin(pi sqrt c) / (pi sqrt c), not 0."""
    schedule = Power(0.5, 2.0)
    assert not schedule.robbins_monro()
    left = math.sin(math.pi * math.sqrt(0.5)) / (math.pi * math.sqrt(0.5))
    assert 1.0 - running_means(np.ones(20_000), schedule)[-1] == pytest.approx(left, rel=1e-4)


def test_a_constant_rate_keeps_the_noise() -> None:
    """The estimate's variance settles at rate / (2 - rate) of the draws'."""
    assert not Constant(0.5).robbins_monro()
    estimates = running_means(np.random.default_rng(0).standard_normal(40_000), Constant(0.5))[100:]
    assert np.var(estimates) == pytest.approx(0.5 / 1.5, rel=0.05)


def test_rates_whose_squares_have_an_infinite_sum_still_find_the_mean_in_mean_square() -> None:
    """E (w - mean)^2 is about half of the rate times the variance where rates t^-1/2 fall slowly."""
    schedule = Power(1.0, 0.5)
    assert not schedule.robbins_monro()
    for draws in (500, 8000):
        ends = [running_means(np.random.default_rng(k).standard_normal(draws), schedule)[-1] for k in range(100)]
        assert np.mean(np.square(ends)) == pytest.approx(0.5 * schedule.at(draws), rel=0.5)


def test_zero_mean_noise_of_infinite_variance_throws_the_estimate_off_for_ever() -> None:
    """Symmetric Pareto noise of index 1.2 has the mean 0; sum P(t^-0.6 |x_t| > 1) = sum t^-0.72 is infinite."""
    schedule, t = Power(1.0, 0.6), np.arange(1, 20_001)
    assert schedule.robbins_monro()
    late = t > 2000
    expected = float(np.sum(t[late] ** -0.72))
    steps: dict[str, list[int]] = {"heavy": [], "normal": []}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        heavy = (1.0 + rng.pareto(1.2, len(t))) * rng.choice([-1.0, 1.0], len(t))
        for name, draws in {"heavy": heavy, "normal": rng.standard_normal(len(t))}.items():
            moves = np.abs(np.diff(running_means(draws, schedule), prepend=0.0))
            steps[name].append(int((moves > 1.0)[late].sum()))
    assert np.mean(steps["heavy"]) > 0.8 * expected  # thrown off by one draw, the next ones lead back from afar
    assert min(steps["heavy"]) > 0
    assert max(steps["normal"]) == 0


# ---------------------------------------------------------------- refusals


def test_newton_refuses_the_hinge_by_name() -> None:
    with pytest.raises(Refused, match=r"Newton.*Hinge.*no curvature"):
        newton(mean_loss(*drawn(0), Hinge(), l2=1.0), 1e-3)


def test_other_losses_are_refused_by_name() -> None:
    with pytest.raises(Refused, match="Absolute"):
        mean_loss(*drawn(0), Absolute())


def test_a_singular_hessian_is_refused() -> None:
    with pytest.raises(Refused, match="give l2 above 0"):
        newton(mean_loss(np.zeros((3, 2)), np.ones(3), Squared()), 1e-3, optimum=0.0)


def test_rates_that_are_too_large_are_noticed() -> None:
    with pytest.raises(Diverged, match="smaller rates"):
        gradient_descent(mean_loss(*drawn(0), Squared(), l2=0.1), 1e-3, schedule=Constant(100.0))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"X": [[1.0], [math.nan]]}, "row 1"),
    ({"X": [1.0, 2.0]}, "shape"),
    ({"X": np.zeros((2, 0))}, "shape"),
    ({"y": [1.0, 0.0]}, "target of row 1 is 0"),
    ({"y": [1.0]}, "targets have shape"),
    ({"sample_weight": [1.0, -1.0]}, "negative"),
    ({"sample_weight": [0.0, 0.0]}, "no row with some importance"),
    ({"radius": 0.0}, "radius"),
    ({"radius": math.inf}, "radius"),
    ({"epsilon": 0.0}, "epsilon"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=[said for _, said in BAD])
def test_bad_input_is_refused_with_a_reason(change: dict[str, Any], said: str) -> None:
    good = {"X": [[1.0], [2.0]], "y": [1.0, -1.0], "loss": Logistic(), "radius": 1.0, "epsilon": 1e-3}
    assert best_in_ball(**good).gap <= 1e-3
    with pytest.raises(BadInput, match=said):
        best_in_ball(**{**good, **change})


@pytest.mark.parametrize("l2", [-1.0, math.nan, math.inf])
def test_a_bad_penalty_is_refused(l2: float) -> None:
    with pytest.raises(BadInput, match="l2"):
        mean_loss(*drawn(0), Squared(), l2=l2)


def test_an_epsilon_of_0_is_refused() -> None:
    with pytest.raises(BadInput, match="epsilon"):
        newton(mean_loss(*drawn(0), Squared(), l2=1.0), 0.0)


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_the_number_of_steps_is_a_whole_one(method: Any) -> None:
    f = mean_loss(*drawn(4), Squared(), l2=0.01)
    none = method(f, 1e-13, max_steps=0)
    assert none.steps == 0
    assert none.value == f.value(np.zeros(f.features))
    assert method(f, 1e-13, max_steps=2.0).value == method(f, 1e-13, max_steps=2).value
    for wrong in (-1, 0.5, float("nan"), float("inf"), "3", None):
        with pytest.raises(BadInput, match="max_steps"):
            method(f, 1e-13, max_steps=wrong)
