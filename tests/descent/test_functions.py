"""Descent of a user's own function: local minima, any start, noise of a chosen law."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.descent import NOISES, descend, gradient_descent, mean_loss
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.losses import Logistic
from onlinear.rules import Constant, Power


def hills(w: float) -> float:
    return w**4 - 2.0 * w**2 + 0.3 * w


def slope(w: float) -> float:
    return 4.0 * w**3 - 4.0 * w + 0.3


def bowl(w: Any) -> float:
    return 0.5 * float(w @ w)


def same(w: Any) -> Any:
    return w


def test_the_start_decides_which_minimum_is_found() -> None:
    roots = np.sort(np.roots([4.0, 0.0, -4.0, 0.3]).real)  # a minimum, a hill top, a minimum
    for start in np.linspace(-2.0, 2.0, 41):
        found = descend(hills, slope, start, 0.01, epsilon=1e-9, max_steps=5000, optimum=hills(roots[0]))
        assert found.weights == pytest.approx(roots[0 if start < roots[1] else 2], abs=1e-8)
        assert found.slope <= 1e-9
        assert found.gap == pytest.approx(hills(found.weights) - hills(roots[0]), abs=1e-12)
        assert found.path[0] == start
        assert len(found.path) == found.steps + 1 == len(found.course)
    assert descend(hills, slope, roots[1], epsilon=1e-6).steps == 0  # stationary, and no minimum


@given(st.lists(st.floats(-10.0, 10.0), min_size=1, max_size=4), st.floats(0.01, 1.9))
@settings(max_examples=40, deadline=None)
def test_each_step_is_the_rate_times_the_gradient(start: list[float], rate: float) -> None:
    found = descend(bowl, same, start, rate, epsilon=1e-3, max_steps=20)
    powers = (1.0 - rate) ** np.arange(found.steps + 1)
    np.testing.assert_allclose(found.path, np.outer(powers, start), rtol=1e-9, atol=1e-12)
    assert found.value == pytest.approx(bowl(found.weights))
    assert found.gap == math.inf  # nobody has said how low it goes


def test_it_is_gradient_descent_where_that_knows_the_function() -> None:
    X = np.random.default_rng(0).standard_normal((40, 2))
    f = mean_loss(X, np.where(X[:, 0] > 0.3, 1, -1), Logistic(), l2=0.1)
    theirs = gradient_descent(f, 1e-12, schedule=Power(1.0, 0.5), max_steps=30, start=[1.0, 2.0])
    ours = descend(f.value, f.gradient, [1.0, 2.0], Power(1.0, 0.5), epsilon=1e-12, max_steps=30)
    np.testing.assert_array_equal(ours.weights, theirs.weights)
    assert [point.value for point in ours.course] == [point.value for point in theirs.course]


@pytest.mark.parametrize("name", sorted(set(NOISES) - {"pareto", "cauchy"}))
def test_noise_has_mean_0_and_variance_1_and_scales(name: str) -> None:
    draws = NOISES[name](np.random.default_rng(1), (100_000,))
    assert abs(draws.mean()) < 0.02
    assert draws.var() == pytest.approx(1.0, rel=0.03)
    steady = descend(bowl, same, [0.0], 0.5, max_steps=20_000, noise=name, scale=3.0, seed=2).path[50:]
    assert steady.var() == pytest.approx(9.0 * 0.5 / 1.5, rel=0.1)  # rate / (2 - rate) of the noise's


def test_heavy_tails_are_what_their_names_say() -> None:
    draws = np.abs(NOISES["pareto"](np.random.default_rng(1), (100_000,)))
    assert draws.min() >= 1.0
    assert (draws > 10.0).mean() == pytest.approx(10.0**-1.2, rel=0.1)
    assert (np.abs(NOISES["cauchy"](np.random.default_rng(1), (100_000,))) > 1.0).mean() == pytest.approx(0.5, abs=0.01)


def test_noise_leaves_a_shallow_minimum_and_takes_all_steps() -> None:
    stuck = descend(hills, slope, 2.0, 0.01, max_steps=3000)
    shaken = descend(hills, slope, 2.0, 0.01, max_steps=3000, noise="normal", scale=6.0, seed=1)
    assert (stuck.path > 0.0).all()
    assert (shaken.path < 0.0).any()
    assert shaken.steps == 3000
    again = descend(
        hills, slope, 2.0, 0.01, max_steps=3000, noise=lambda rng, shape: 6.0 * rng.normal(size=shape), seed=1
    )
    np.testing.assert_array_equal(again.path, shaken.path)


def test_functions_are_given_copies() -> None:
    """What they do to their argument, or with the array they answer, changes no point of the path."""
    buffer = np.empty(2)

    def spoiling(w: Any) -> Any:
        buffer[:] = w
        w[:] = 7.0
        return buffer

    found = descend(lambda w: float(w @ w), spoiling, [1.0, -2.0], 0.5, max_steps=3)
    np.testing.assert_allclose(found.path, np.outer(0.5 ** np.arange(4), [1.0, -2.0]))


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"schedule": 100.0}, Diverged, "smaller rates"),
    ({"start": math.nan}, BadInput, "start is not finite"),
    ({"epsilon": 0.0}, BadInput, "epsilon is 0.0"),
    ({"noise": "brown"}, BadInput, "choose one of normal"),
    ({"start": [1.0, 2.0], "gradient": lambda w: 1.0}, BadInput, r"the shape \(\), and the start \(2,\)"),
    ({"schedule": "sideways"}, Refused, "schedule"),
]


@pytest.mark.parametrize(("change", "error", "said"), BAD)
def test_bad_input_is_refused_with_a_reason(change: dict[str, Any], error: type[Exception], said: str) -> None:
    good: dict[str, Any] = {"gradient": slope, "start": 1.0, "schedule": Constant(0.01)}
    function = hills if "gradient" not in change else lambda w: 0.0
    with pytest.raises(error, match=said):
        descend(function, **{**good, **change})
