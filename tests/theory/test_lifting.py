"""Systems of whole numbers, solved digit by digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.theory.lifting import Proposal, inverse_modulo, prime_below, proposals
from onlinear.theory.operations import Operations, TooManyOperations


def solves(matrix: np.ndarray, wanted: np.ndarray, found: Proposal) -> bool:
    products = matrix @ np.array(found.numerators, dtype=object)
    return all(products == wanted * found.denominator) and found.denominator > 0


def drawn(seed: int, size: int, bits: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-(1 << 30), 1 << 30, (size, size)).astype(object) * (1 << 30) ** 9 >> (300 - bits)
    return matrix + rng.integers(-1, 2, (size, size)), rng.integers(-99, 100, size).astype(object)


@given(st.integers(0, 10**6), st.integers(1, 50), st.sampled_from([1, 8, 53, 64, 200]))
@settings(max_examples=60, deadline=None)
def test_the_last_proposal_solves(seed: int, size: int, bits: int) -> None:
    matrix, wanted = drawn(seed, size, bits)
    found = list(proposals(matrix, wanted, Operations()))
    if found:
        assert solves(matrix, wanted, found[-1])
    else:
        assert np.linalg.matrix_rank(matrix.astype(float)) < size


def test_few_digits_do_for_short_fractions() -> None:
    """The bound on what a solution may take is not what it takes."""
    size = 150
    matrix = (np.eye(size, dtype=int) * 3).astype(object)
    matrix[0, :] = 1
    spent = []
    for wanted in (matrix @ np.arange(size), drawn(1, size, 8)[1]):
        operations = Operations()
        first = next(proposals(matrix, wanted, operations))
        assert solves(matrix, wanted, first)
        spent.append(operations.spent)
    dense, wanted = drawn(1, size, 8)
    operations = Operations()
    assert any(solves(dense, wanted, found) for found in proposals(dense, wanted, operations))
    assert max(spent) < operations.spent


def test_singular_systems_have_no_proposal() -> None:
    matrix = np.array([[1, 2], [2, 4]], dtype=object)
    assert list(proposals(matrix, np.array([1, 2], dtype=object), Operations())) == []


def test_a_determinant_that_a_prime_divides() -> None:
    """Modulo the first prime that is tried the system is singular, and not modulo the next."""
    size = 2
    prime = prime_below(int(np.sqrt((1 << 53) // 32)))
    matrix, wanted = np.array([[prime, 0], [0, 1]], dtype=object), np.array([1, 1], dtype=object)
    assert list(proposals(matrix, wanted, Operations()))[-1] == Proposal([1, prime], prime)
    assert len(matrix) == size


def test_operations_are_counted_before_they_are_made() -> None:
    matrix, wanted = drawn(1, 30, 53)
    with pytest.raises(TooManyOperations) as error:
        list(proposals(matrix, wanted, Operations(80_000)))
    assert error.value.wanted == 3 * 30**3
    with pytest.raises(TooManyOperations):
        list(proposals(matrix, wanted, Operations(90_000)))


@pytest.mark.parametrize("size", [1, 31, 32, 33, 70])
def test_inverse_modulo_a_prime(size: int) -> None:
    """Of sparse matrices, too, in which panels begin with rows of zeros."""
    prime = 8191
    rng = np.random.default_rng(size)
    for matrix in (rng.integers(0, prime, (size, size)), np.eye(size)[rng.permutation(size)] * 5.0):
        inverse = inverse_modulo(matrix.astype(float), prime)
        assert inverse is not None
        product = matrix.astype(object) @ inverse.astype(int).astype(object) % prime
        assert (product == np.eye(size)).all()
    assert inverse_modulo(np.ones((size, size)), prime) is None or size == 1


def test_fractions_are_exact() -> None:
    matrix, wanted = np.array([[3, 1], [1, -7]], dtype=object), np.array([1, 5], dtype=object)
    last = list(proposals(matrix, wanted, Operations()))[-1]
    assert [Fraction(n, last.denominator) for n in last.numerators] == [Fraction(12, 22), Fraction(-14, 22)]
