"""Exact arithmetic on floats, against Python's own fractions."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onlinear.theory.exact import above, below, root_above, root_below, squared_length, whole
from onlinear.theory.hypotheses import ExactWeights

finite = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.lists(finite, min_size=1, max_size=6)


@given(vectors)
def test_whole_numbers_are_the_floats(numbers: list[float]) -> None:
    integers, power = whole(np.array(numbers))
    assert [Fraction(n) * Fraction(2) ** power for n in integers] == [Fraction(x) for x in numbers]


@given(vectors)
def test_squared_length(numbers: list[float]) -> None:
    assert squared_length(np.array(numbers)) == sum(Fraction(x) ** 2 for x in numbers)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=6), finite)
def test_score(pairs: list[tuple[float, float]], intercept: float) -> None:
    weights, values = map(np.array, zip(*pairs, strict=True))
    score = ExactWeights(weights, intercept, Fraction(1)).product(range(len(pairs)), values)
    assert score == sum(Fraction(w) * Fraction(x) for w, x in pairs) + Fraction(intercept)


def test_norm_counts_the_intercept_by_its_constant() -> None:
    assert ExactWeights(np.array([3.0]), 2.0, Fraction(1, 4)).norm_squared == 9 + 4 * 4
    assert ExactWeights(np.array([3.0]), 0.0, Fraction(0)).norm_squared == 9


rationals = st.fractions(min_value=0, max_value=10**12, max_denominator=10**12)


@given(rationals)
def test_rounded_outward(number: Fraction) -> None:
    assert Fraction(below(number)) <= number <= Fraction(above(number))
    assert number < Fraction(nextafter(below(number), inf))
    assert Fraction(nextafter(above(number), -inf)) < number


@given(rationals)
def test_roots_rounded_outward(number: Fraction) -> None:
    low, high = root_below(number), root_above(number)
    assert Fraction(low) ** 2 <= number <= Fraction(high) ** 2
    assert high in (low, nextafter(low, inf))


@pytest.mark.parametrize("number", [Fraction(4) ** 500, Fraction(1, 4**500), Fraction(0), Fraction(9, 4)])
def test_roots_of_squares_are_exact(number: Fraction) -> None:
    assert Fraction(root_below(number)) ** 2 == number == Fraction(root_above(number)) ** 2
