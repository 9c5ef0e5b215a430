"""Linear systems of whole numbers, solved exactly: modulo a prime first, then digit by digit.

``B^-1`` modulo p gives the last digit of the solution of ``B x = b`` in base p; what is left over, ``(b - B x) / p``,
is whole and gives the next one (Dixon, "Exact solution of linear equations using p-adic expansions", 1982). Enough
digits tell the fractions. All products are made in floats whose sums stay below 2^53, so that BLAS makes them without
rounding. A solution is only a proposal until who asked has put it in.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from onlinear.theory.exact import MANTISSA
from onlinear.theory.operations import Operations

#: columns that are eliminated together
PANEL = 32
#: by how many bits less than they could the parts of fractions must have, so that no others are taken for them
SPARE_BITS = 20
#: primes that are tried: modulo a few of them the system may have no solution though it has one
PRIMES = 4


class Proposal(NamedTuple):
    """Fractions of one denominator, above 0."""

    numerators: list[int]
    denominator: int


def proposals(matrix: np.ndarray, wanted: np.ndarray, operations: Operations) -> Iterator[Proposal]:
    """What ``matrix x = wanted`` may be solved by, from fewer and fewer digits; the last one does if any does.

    Both are arrays of Python's whole numbers. Of a singular system there is none.

    >>> system = np.array([[2, 1], [1, 3]], dtype=object), np.array([1, 0], dtype=object)
    >>> list(proposals(*system, Operations()))[-1]
    Proposal(numerators=[3, -1], denominator=5)
    """
    size = len(matrix)
    prime, inverse = 1 << 60, None
    for _ in range(PRIMES):
        prime = prime_below(min(prime, math.isqrt((1 << MANTISSA) // max(size, PANEL))))
        operations.take(3 * size**3)
        inverse = inverse_modulo(floats(matrix % prime), prime)
        if inverse is not None:
            break
    else:
        return
    yield from lifted(matrix, wanted, inverse, prime, operations)


def lifted(
    matrix: np.ndarray, wanted: np.ndarray, inverse: np.ndarray, prime: int, operations: Operations
) -> Iterator[Proposal]:
    size = len(matrix)
    width = MANTISSA - prime.bit_length() - size.bit_length()
    parts = split(matrix, width)
    most = digits_needed(matrix, wanted, prime)
    rest, digits, look = wanted, list[np.ndarray](), 4
    while len(digits) < most:
        operations.take((1 + len(parts)) * size**2 + 64 * size)
        digit = (inverse @ floats(rest % prime)) % prime
        product = sum(whole_numbers(part @ digit) << (width * k) for k, part in enumerate(parts))
        rest = (rest - product) // prime
        digits.append(digit)
        if len(digits) in (look, most):
            look += 1 + look // 2
            found = fractions_in(together(digits, prime), prime ** len(digits), operations)
            if found is not None:
                yield found


def digits_needed(matrix: np.ndarray, wanted: np.ndarray, prime: int) -> int:
    """How many digits tell any solution: by Cramer's rule both parts are determinants, which Hadamard bounds."""
    squares = [max(1, int((row * row).sum())).bit_length() for row in np.column_stack([matrix, wanted])]
    bits = sum(squares) // 2 + len(squares) + SPARE_BITS
    return (2 * bits + SPARE_BITS) // (prime.bit_length() - 1) + 2


def fractions_in(residues: list[int], modulus: int, operations: Operations) -> Proposal | None:
    """Fractions of one denominator with these residues and parts that are small beside the root of the modulus."""
    most = math.isqrt(modulus >> SPARE_BITS)
    words = 1 + modulus.bit_length() // 64
    denominator = 1
    for residue in residues:
        operations.take(words**2)
        rest = residue * denominator % modulus
        if min(rest, modulus - rest) > most:
            operations.take(64 * words**2)
            factor = denominator_of(rest, modulus, most)
            if factor is None or denominator * factor > most:
                return None
            denominator *= factor
    found = [residue * denominator % modulus for residue in residues]
    return Proposal([n if 2 * n < modulus else n - modulus for n in found], denominator)


def denominator_of(residue: int, modulus: int, most: int) -> int | None:
    """The denominator of the fraction with a residue and small parts, by Euclid's algorithm.

    >>> denominator_of(5 * pow(7, -1, 10007) % 10007, 10007, 70)
    7
    """
    above, here, before, factor = modulus, residue, 0, 1
    while here > most:
        times = above // here
        above, here = here, above - times * here
        before, factor = factor, before - times * factor
    return abs(factor) if abs(factor) <= most else None


def together(digits: list[np.ndarray], base: int) -> list[int]:
    """Numbers of which these are the digits, the last one first: two neighbours become one until one is left."""
    numbers = [whole_numbers(digit) for digit in digits]
    while len(numbers) > 1:
        numbers += [0 * numbers[0]] * (len(numbers) % 2)
        numbers = [low + high * base for low, high in zip(numbers[::2], numbers[1::2], strict=True)]
        base *= base
    found: list[int] = numbers[0].tolist()
    return found


def split(matrix: np.ndarray, width: int) -> list[np.ndarray]:
    """Matrices of so many bits, the lowest first, that add up to one of whole numbers; signs are in each."""
    signs, sizes = np.sign(matrix.astype(object)), np.abs(matrix)
    count = max(1, -(-max(int(n).bit_length() for n in sizes.flat) // width))
    mask = (1 << width) - 1
    return [floats(signs * ((sizes >> (width * k)) & mask)) for k in range(count)]


def inverse_modulo(matrix: np.ndarray, prime: int) -> np.ndarray | None:
    """The inverse modulo a prime, a panel of columns after the other; None if there is none."""
    size = len(matrix)
    work = np.hstack([matrix, np.eye(size)])
    left, order = np.arange(size), list[int]()
    for start in range(0, size, PANEL):
        panel = slice(start, min(start + PANEL, size))
        found = pivots_of(work[left, panel], prime)
        if found is None:
            return None
        rows = left[found]
        left = np.delete(left, found)
        order += rows.tolist()
        square, columns = work[rows, panel], work[rows, start:]
        chosen = (inverse_of_panel(square, prime) @ columns) % prime
        factors = work[:, panel].copy()
        factors[rows] = 0.0
        work[:, start:] -= factors @ chosen
        work[:, start:] %= prime
        work[rows, start:] = chosen
    return np.ascontiguousarray(work[order, size:])


def pivots_of(panel: np.ndarray, prime: int) -> list[int] | None:
    """As many rows as the panel has columns, which are independent modulo a prime: among the first if that does."""
    for count in sorted({min(4 * PANEL, len(panel)), len(panel)}):
        reduced = eliminate(panel[:count].copy(), panel.shape[1], prime)
        if reduced is not None:
            return reduced
    return None


def inverse_of_panel(square: np.ndarray, prime: int) -> np.ndarray:
    size = len(square)
    work = np.hstack([square, np.eye(size)])
    rows = eliminate(work, size, prime)
    assert rows is not None, "its rows are independent"
    return work[rows, size:]


def eliminate(work: np.ndarray, columns: int, prime: int) -> list[int] | None:
    """Gauss and Jordan's elimination, in place: the row that has the 1 of each column; None if a column has none."""
    rows, free = list[int](), np.ones(len(work), dtype=bool)
    for column in range(columns):
        candidates = np.flatnonzero((work[:, column] != 0.0) & free)
        if not len(candidates):
            return None
        row = int(candidates[0])
        work[row] = (work[row] * pow(int(work[row, column]), -1, prime)) % prime
        factors = work[:, column].copy()
        factors[row] = 0.0
        there = np.flatnonzero(factors)
        work[there] = (work[there] - np.outer(factors[there], work[row])) % prime
        rows.append(row)
        free[row] = False
    return rows


def floats(numbers: Any) -> np.ndarray:
    return np.asarray(numbers).astype(np.float64)


def whole_numbers(numbers: np.ndarray) -> np.ndarray:
    """Python's, from floats that are whole."""
    return numbers.astype(np.int64).astype(object)


def prime_below(number: int) -> int:
    """The largest prime below a number.

    >>> prime_below(30)
    29
    """
    number -= 1
    while any(number % k == 0 for k in range(2, math.isqrt(number) + 1)):
        number -= 1
    return number
