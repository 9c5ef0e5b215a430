"""Separable or not, with a witness that is checked exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.theory.examples import Examples, all_rows, examples_of
from onlinear.theory.margins import margins_of
from onlinear.theory.separability import Inseparable, Separable, cancels, combination, separability
from theory.drawn import draw


def has_a_witness(found: Separable | Inseparable | None, examples: Examples, constant: Fraction) -> bool:
    if isinstance(found, Separable):
        return margins_of(found.weights, examples).least > 0
    assert found is not None
    rows = list(all_rows(examples))
    return cancels([rows[i] for i in found.rows], found.multipliers, constant > 0)


@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 4), st.sampled_from([0, 1]), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_decided_with_a_witness(seed: int, whole: bool, flipped: int, constant: int, features: int) -> None:
    X, y = draw(seed, 20, features, flipped=flipped, whole=whole)
    examples = examples_of(X, y)
    found = separability(examples, features, Fraction(constant))
    assert has_a_witness(found, examples, Fraction(constant))
    if isinstance(found, Inseparable):
        assert len(found.rows) <= features + constant + 1


@pytest.mark.parametrize("constant", [0, 1])
def test_opposite_labels_of_one_row(constant: int) -> None:
    X = np.array([[0.1, 0.7], [0.1, 0.7], [3.0, 1.0]])
    found = separability(examples_of(X, np.array([1.0, -1.0, 1.0])), 2, Fraction(constant))
    assert found == Inseparable([0, 1], [Fraction(1, 2), Fraction(1, 2)])


def test_only_the_intercept_separates() -> None:
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([-1.0, 1.0, 1.0])
    assert isinstance(separability(examples_of(X, y), 1, Fraction(0)), Inseparable)
    assert isinstance(separability(examples_of(X, y), 1, Fraction(1)), Separable)


def test_fifty_dimensions_are_decided() -> None:
    for flipped in (0, 60):
        X, y = draw(3, 300, 50, flipped=flipped)
        examples = examples_of(X, y)
        found = separability(examples, 50, Fraction(1))
        assert has_a_witness(found, examples, Fraction(1))
        assert isinstance(found, Inseparable) == (flipped > 0)


def test_beyond_it_is_undecided() -> None:
    X, y = draw(3, 20, 60)
    assert separability(examples_of(X, y), 60, Fraction(0)) is None


def test_no_combination() -> None:
    assert combination([[Fraction(1)], [Fraction(2)]]) == [Fraction(2), Fraction(-1)]
    assert combination([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]) is None
