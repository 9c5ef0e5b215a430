"""Powers and logarithms: against thirty digits, and compiled code to the bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal

import numba
import numpy as np
import pytest
from hypothesis import given, strategies as st

from onlinear.kernels.compiler.inlining import register_overloads
from onlinear.powers import LEAST, PARTS, ROOTS, exp_of_less, log_of_more

register_overloads()

EXACT = Context(prec=30)


def units_off(found: float, exact: Decimal) -> float:
    """How many units of the last place a number is off."""
    return float(abs(Decimal(found) - exact) / Decimal(math.ulp(float(exact))))


@given(st.floats(LEAST, 0.0) | st.floats(-2.0, 0.0))
def test_power(x: float) -> None:
    assert units_off(exp_of_less(x), EXACT.exp(Decimal(x))) < 1.05


@given(st.floats(0.0, 1.0) | st.floats(0.0, 1e-3))
def test_logarithm(t: float) -> None:
    exact = EXACT.ln(Decimal(1) + Decimal(t)) if t > 1e-9 else Decimal(t) - Decimal(t) ** 2 / 2
    assert units_off(log_of_more(t), exact) < 1.3


def test_roots_are_rounded_once() -> None:
    assert [float(EXACT.power(2, Decimal(j) / PARTS)) for j in range(PARTS)] == list(ROOTS)


@pytest.mark.parametrize("x", [-708.0000001, -745.2, -1e300, -math.inf])
def test_nothing_is_left_far_below(x: float) -> None:
    assert exp_of_less(x) == 0.0


@pytest.mark.parametrize("function", [exp_of_less, log_of_more])
def test_what_is_no_number_stays_none(function: Callable[[float], float]) -> None:
    assert math.isnan(function(math.nan))


@pytest.mark.parametrize(("function", "sign"), [(exp_of_less, -1.0), (log_of_more, 1.0)])
def test_compiled_code_answers_the_same(function: Callable[[float], float], sign: float) -> None:
    """One at a time, and a column of them at once."""

    @numba.njit
    def one(x):  # type: ignore
        return function(x)

    @numba.njit
    def many(numbers, out):  # type: ignore
        for k in range(len(numbers)):
            out[k] = function(numbers[k])

    rng = np.random.default_rng(0)
    drawn = [sign * np.array([0.0, 5e-324, 1e-300, 1e-17, 0.5, 1.0]), sign * rng.random(500), [math.nan]]
    if function is exp_of_less:
        drawn += [-800.0 * rng.random(500), [LEAST, np.nextafter(LEAST, -1e3), -math.inf]]
    numbers = np.concatenate(drawn)
    out = np.empty(len(numbers))
    many(numbers, out)
    expected = np.array([function(x) for x in numbers.tolist()])
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal([one(x) for x in numbers.tolist()], expected)
