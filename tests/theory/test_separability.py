"""Separable or not, with a witness that is checked exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

from onlinear.theory.examples import Examples, all_rows, examples_of
from onlinear.theory.margins import margins_of
from onlinear.theory.separability import Inseparable, SeparatingWitness, combination, separability
from onlinear.theory.spaces import ClassSpace, LinearSpace, Space
from theory.drawn import draw, draw_classes


def has_a_witness(found: SeparatingWitness | Inseparable | None, examples: Examples, space: Space) -> bool:
    """Whether the witness is one: by margins, or by adding up in rationals what the rows ask for."""
    if isinstance(found, SeparatingWitness):
        return margins_of(found.weights, examples).least > 0
    assert found is not None
    rows = list(all_rows(examples))
    totals: dict[tuple[int, int], Fraction] = {}
    for i, rival, a in zip(found.rows, found.rivals, found.multipliers, strict=True):
        row = rows[i]
        entries = list(zip(row.columns, row.values.tolist(), strict=True)) + [(-1, 1.0)] * (space.constant_squared > 0)
        signs = [(0, row.target)] if isinstance(space, LinearSpace) else [(int(row.target), 1.0), (rival, -1.0)]
        for (output, sign), (j, x) in product(signs, entries):
            totals[output, j] = totals.get((output, j), Fraction(0)) + a * Fraction(sign) * Fraction(x)
    return bool(found.rows) and all(a > 0 for a in found.multipliers) and not any(totals.values())


@given(st.integers(0, 10**6), st.booleans(), st.integers(0, 4), st.sampled_from([0, 1]), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_decided_with_a_witness(seed: int, whole: bool, flipped: int, constant: int, features: int) -> None:
    X, y = draw(seed, 20, features, flipped=flipped, whole=whole)
    examples = examples_of(X, y)
    space = LinearSpace(features, Fraction(constant))
    found = separability(examples, space)
    assert has_a_witness(found, examples, space)
    if isinstance(found, Inseparable):
        assert len(found.rows) <= features + constant + 1


@pytest.mark.parametrize("constant", [0, 1])
def test_opposite_labels_of_one_row(constant: int) -> None:
    X = np.array([[0.1, 0.7], [0.1, 0.7], [3.0, 1.0]])
    found = separability(examples_of(X, np.array([1.0, -1.0, 1.0])), LinearSpace(2, Fraction(constant)))
    assert found == Inseparable([0, 1], [0, 1], [Fraction(1, 2), Fraction(1, 2)])


def test_only_the_intercept_separates() -> None:
    X, y = np.array([[1.0], [2.0], [4.0]]), np.array([-1.0, 1.0, 1.0])
    assert isinstance(separability(examples_of(X, y), LinearSpace(1, Fraction(0))), Inseparable)
    assert isinstance(separability(examples_of(X, y), LinearSpace(1, Fraction(1))), SeparatingWitness)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0, 4]), st.sampled_from([0, 1]), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_several_classes_are_decided_with_a_witness(
    seed: int, whole: bool, flipped: int, constant: int, classes: int
) -> None:
    X, y = draw_classes(seed, classes, flipped=flipped, whole=whole)
    examples, space = examples_of(X, y), ClassSpace(classes, X.shape[1], Fraction(constant))
    found = separability(examples, space)
    assert has_a_witness(found, examples, space)
    if isinstance(found, Inseparable):
        assert all(rival != y[row] for row, rival in zip(found.rows, found.rivals, strict=True))


def test_fifty_dimensions_are_decided() -> None:
    for flipped in (0, 60):
        X, y = draw(3, 300, 50, flipped=flipped)
        examples = examples_of(X, y)
        space = LinearSpace(50, Fraction(1))
        found = separability(examples, space)
        assert has_a_witness(found, examples, space)
        assert isinstance(found, Inseparable) == (flipped > 0)


def test_beyond_it_is_undecided() -> None:
    X, y = draw(3, 20, 80)
    assert separability(examples_of(X, y), LinearSpace(80, Fraction(0))) is None


@pytest.mark.parametrize("flipped", [0, 4])
def test_columns_that_no_row_uses_are_no_dimensions(flipped: int) -> None:
    """A table has room for many more columns than rows use; several classes have it once for each."""
    used = [7, 300, 5000]
    X, y = draw(5, 20, 3, flipped=flipped)
    wide = np.zeros((len(X), 1 << 13))
    wide[:, used] = X
    for rows in (wide, scipy.sparse.csr_matrix(wide)):
        examples, space = examples_of(rows, y), LinearSpace(1 << 13, Fraction(1))
        found = separability(examples, space)
        assert has_a_witness(found, examples, space)
        assert isinstance(found, Inseparable) == isinstance(
            separability(examples_of(X, y), LinearSpace(3, Fraction(1))), Inseparable
        )
    classes = ClassSpace(2, 1 << 13, Fraction(1))
    targets = examples_of(scipy.sparse.csr_matrix(wide), (y > 0).astype(float))
    assert has_a_witness(separability(targets, classes), targets, classes)


def test_no_combination() -> None:
    assert combination([[Fraction(1)], [Fraction(2)]]) == [Fraction(2), Fraction(-1)]
    assert combination([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]) is None
