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
from onlinear.theory.operations import Operations
from onlinear.theory.separability import Inseparable, Separability, SeparatingWitness, Undecided, separability
from onlinear.theory.simplex import cancel_or_separate
from onlinear.theory.spaces import ClassSpace, LinearSpace, Space
from theory.drawn import draw, draw_classes


def has_a_witness(found: Separability, examples: Examples, space: Space) -> bool:
    """Whether the witness is one: by margins, or by adding up in rationals what the rows ask for."""
    if isinstance(found, SeparatingWitness):
        return margins_of(found.weights, examples).least > 0
    assert isinstance(found, Inseparable)
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
    assert found == Inseparable([0, 1], [0, 1], [1, 1])


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


def test_beyond_a_limit_of_operations_it_is_undecided() -> None:
    X, y = draw(3, 60, 20, flipped=20)
    examples, space = examples_of(X, y), LinearSpace(20, Fraction(0))
    answers = [separability(examples, space, most) for most in (7_999, 10_000, 10**5, 10**9)]
    assert answers[0] == Undecided(8_000)
    for most, answer in zip((10_000, 10**5), answers[1:], strict=False):
        assert isinstance(answer, Undecided)
        assert answer.operations is not None
        assert answer.operations > most
    assert has_a_witness(answers[-1], examples, space)
    assert answers == [separability(examples, space, most) for most in (7_999, 10_000, 10**5, 10**9)]


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


def by_whole_numbers(X: np.ndarray, y: np.ndarray, constant: int) -> bool:
    """Whether rows of whole numbers are separable, by the simplex method in whole numbers alone."""
    vectors = np.hstack([X, np.ones((len(X), constant))]) * y[:, None]
    return not cancel_or_separate(vectors.astype(np.int64).astype(object), Operations())[0]


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 5), st.sampled_from([0, 1]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_small_whole_rows_as_exact_arithmetic_has_it(
    seed: int, rows: int, features: int, constant: int, by_weights: bool
) -> None:
    """Many of them on a boundary, zero, or there twice."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (rows, features)).astype(float)
    y = rng.choice([-1.0, 1.0], rows)
    if by_weights:
        y = np.where(X @ rng.integers(-2, 3, features) > 0.0, 1.0, -1.0)
    examples, space = examples_of(X, y), LinearSpace(features, Fraction(constant))
    found = separability(examples, space)
    assert has_a_witness(found, examples, space)
    assert isinstance(found, SeparatingWitness) == by_whole_numbers(X, y, constant)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([40, 900]))
@settings(max_examples=60, deadline=None)
def test_columns_of_very_different_sizes(seed: int, flipped: bool, most: int) -> None:
    """Powers of two change nothing that is separable, and floats are searched without them."""
    X, y = draw(seed, 20, 4, flipped=4 * flipped)
    examples, space = examples_of(X, y), LinearSpace(4, Fraction(0))
    sizes = np.random.default_rng(seed).integers(-most, most, 4)
    scaled = examples_of(np.ldexp(X, sizes), y)
    found = separability(scaled, space)
    assert has_a_witness(found, scaled, space)
    assert isinstance(found, Inseparable) == isinstance(separability(examples, space), Inseparable)


@given(st.integers(0, 10**6), st.sampled_from([0, 1]), st.booleans())
@settings(max_examples=100, deadline=None)
def test_entries_of_very_different_sizes(seed: int, constant: int, by_weights: bool) -> None:
    """Rows in which one entry is all that floats see of the others."""
    rng = np.random.default_rng(seed)
    rows, features = int(rng.integers(1, 25)), int(rng.integers(1, 7))
    X = np.ldexp(rng.normal(size=(rows, features)), rng.integers(-40, 40, (rows, features)))
    y = np.where(X @ rng.normal(size=features) > 0.0, 1.0, -1.0) if by_weights else rng.choice([-1.0, 1.0], rows)
    examples, space = examples_of(X, y), LinearSpace(features, Fraction(constant))
    found = separability(examples, space)
    assert has_a_witness(found, examples, space)
    assert not by_weights or isinstance(found, SeparatingWitness)


def test_what_floats_cannot_tell() -> None:
    """Two points next to each other on a line, of which one more is of the wrong side, or none."""
    X = np.array([[1.0], [1.0 + 2.0**-52], [1.0 - 2.0**-53]])
    space = LinearSpace(1, Fraction(1))
    for y, separable in (([-1.0, 1.0, -1.0], True), ([1.0, -1.0, -1.0], False)):
        examples = examples_of(X, np.array(y))
        found = separability(examples, space)
        assert has_a_witness(found, examples, space)
        assert isinstance(found, SeparatingWitness) == separable


def test_a_row_of_zeros() -> None:
    X, y = np.array([[1.0], [0.0]]), np.array([1.0, -1.0])
    assert separability(examples_of(X, y), LinearSpace(1, Fraction(0))) == Inseparable([1], [1], [1])
    assert isinstance(separability(examples_of(X, y), LinearSpace(1, Fraction(1))), SeparatingWitness)
    classes = ClassSpace(3, 1, Fraction(0))
    targets = examples_of(X, np.array([0.0, 2.0]))
    assert separability(targets, classes) == Inseparable([1], [0], [1])
    assert has_a_witness(separability(targets, classes), targets, classes)


def test_rows_that_contradict_each_other_are_found_in_any_width() -> None:
    rng = np.random.default_rng(1)
    columns = 10 * np.sort(rng.integers(0, 10**5, (2000, 10)), axis=1) + np.arange(10)
    columns[1500], columns[1700] = columns[77], columns[33]
    X = scipy.sparse.csr_array((np.ones(20_000), columns.ravel(), np.arange(0, 20_001, 10)), (2000, 10**6))
    y = np.where(np.arange(2000) % 2, 1.0, -1.0)
    y[[77, 1500, 33, 1700]] = [1.0, 1.0, -1.0, 1.0]
    space = LinearSpace(10**6, Fraction(1))
    assert separability(examples_of(X, y), space) == Inseparable([33, 1700], [1, 0], [1, 1])


def test_beyond_the_limit_at_once() -> None:
    """A witness of many thousand rows could not be solved for: nothing is begun."""
    X = scipy.sparse.csr_array(scipy.sparse.eye_array(6000))
    X = scipy.sparse.vstack([X, X[:1] + X[1:2]], format="csr")
    y = np.r_[np.ones(6000), -1.0]
    found = separability(examples_of(X, y), LinearSpace(6000, Fraction(0)))
    assert found == Undecided(6000**3)


def test_rows_that_contradict_each_other_do_so_in_any_space() -> None:
    X, y = np.array([[1.0], [2.0], [1.0]]), np.array([1.0, -1.0, -1.0])
    assert separability(examples_of(X, y), None) == Inseparable([0, 2], [0, 1], [1, 1])
    assert separability(examples_of(X[:2], y[:2]), None) == Undecided(None)


def test_many_rows_of_one_class() -> None:
    X, _ = draw(1, 300, 8)
    assert isinstance(separability(examples_of(X, np.ones(300)), LinearSpace(8, Fraction(1))), SeparatingWitness)


@pytest.mark.parametrize("flipped", [0, 1, 20])
def test_rows_beyond_the_first_sample_are_seen(flipped: int) -> None:
    """Of 5,000 rows only a part is looked at together; one wrong label among them decides."""
    X, y = draw(4, 5000, 6, flipped=flipped)
    examples, space = examples_of(X, y), LinearSpace(6, Fraction(1))
    found = separability(examples, space)
    assert has_a_witness(found, examples, space)
    assert isinstance(found, Inseparable) == (flipped > 0)


@pytest.mark.parametrize(("columns", "whole"), [(100, False), (300, True)])
def test_many_columns_are_decided(columns: int, whole: bool) -> None:
    rng = np.random.default_rng(columns)
    X = rng.integers(-9, 10, (3 * columns, columns)) if whole else rng.normal(size=(3 * columns, columns))
    space = LinearSpace(columns, Fraction(1))
    noise = examples_of(X.astype(float), rng.choice([-1.0, 1.0], len(X)))
    found = separability(noise, space)
    assert isinstance(found, Inseparable)
    assert len(found.rows) == columns + 2
    assert has_a_witness(found, noise, space)
    clean = examples_of(X.astype(float), np.where(X @ rng.normal(size=columns) > 0.0, 1.0, -1.0))
    assert has_a_witness(separability(clean, space), clean, space)


def test_a_witness_without_common_factors() -> None:
    X, y = np.array([[4.0], [6.0]]), np.array([1.0, -1.0])
    assert separability(examples_of(X, y), LinearSpace(1, Fraction(0))) == Inseparable([0, 1], [0, 1], [3, 2])
