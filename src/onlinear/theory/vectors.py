"""Vectors of which a positive product is asked, in two forms: in floats of like sizes, and in whole numbers.

Rows and columns may be multiplied by powers of two: what separates and what cancels stays the same, up to these.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.theory.exact import MANTISSA

#: exponents of weights between which there is room for products
LEAST_EXPONENT = -900


class WholeRows(NamedTuple):
    """Rows times powers of two, columns divided by others."""

    integers: np.ndarray  # Python's
    rows: list[int]
    columns: list[int]


class Vectors(NamedTuple):
    """A compressed matrix, and the same in floats of at most 1, its columns divided by powers of two."""

    exact: Any
    near: Any
    columns: np.ndarray

    @property
    def width(self) -> int:
        return int(self.exact.shape[1])

    def whole(self, numbers: np.ndarray) -> WholeRows:
        """Some of them in whole numbers."""
        shares, exponents = np.frexp(self.exact[numbers].toarray())
        integers = np.ldexp(shares, MANTISSA).astype(np.int64)
        there = integers != 0
        lowest = np.where(there, integers & -integers, 1)  # the last bit that is set
        integers //= lowest
        powers = exponents - MANTISSA + np.log2(np.abs(lowest)).astype(np.int64)
        far = np.iinfo(np.int64).max // 4
        columns = np.where(there, powers, far).min(axis=0)
        powers -= np.where(there.any(axis=0), columns, 0)
        rows = np.where(there, powers, far).min(axis=1)
        rows = np.where(there.any(axis=1), rows, 0)
        shifts = np.where(there, powers - rows[:, None], 0)
        columns = np.where(there.any(axis=0), columns, 0)
        return WholeRows(integers.astype(object) << shifts.astype(object), (-rows).tolist(), columns.tolist())

    def weights(self, near: np.ndarray) -> np.ndarray:
        """Weights for the vectors as they are, from those for the ones in floats."""
        shares, exponents = np.frexp(near)
        return scaled(shares, exponents - self.columns)

    def products(self, weights: list[Fraction]) -> np.ndarray:
        """The products with exact weights, in floats, for weights of at most 1 for the ones in floats."""
        lifted = [w * Fraction(2) ** int(k) for w, k in zip(weights, self.columns, strict=True)]
        most = max(map(abs, lifted)) or 1
        found: np.ndarray = self.near @ np.array([float(w / most) for w in lifted])
        return found

    def product(self, number: int, weights: list[Fraction]) -> Fraction:
        """One product, exactly."""
        row = self.exact[[number]]
        terms = (Fraction(x) * weights[j] for j, x in zip(row.indices.tolist(), row.data.tolist(), strict=True))
        return sum(terms, Fraction(0))


def vectors_of(signed: Any, weights: list[Fraction] | None = None) -> Vectors:
    """The two forms of the rows of a compressed matrix; in floats columns are alike, or their products with weights."""
    shares, exponents = np.frexp(signed.data)
    least = np.iinfo(np.int32).min // 4
    columns = np.full(signed.shape[1], least)
    np.maximum.at(columns, signed.indices, exponents)
    columns[columns == least] = 0
    if weights is not None:
        columns = np.array([int(k) if w == 0 else -size_of(w) for k, w in zip(columns, weights, strict=True)])
    exponents = exponents - columns[signed.indices]
    number = np.repeat(np.arange(signed.shape[0]), np.diff(signed.indptr))
    rows = np.full(signed.shape[0], least)
    np.maximum.at(rows, number, exponents)
    data = np.ldexp(shares, exponents - rows[number])
    return Vectors(signed, scipy.sparse.csr_array((data, signed.indices, signed.indptr), signed.shape), columns)


def rounded(weights: list[Fraction], eighths: int) -> np.ndarray:
    """Exact weights in floats, all multiplied by so many eighths and a power of two."""
    sizes = [size_of(w) for w in weights]
    shares = [float(w * eighths / 8 / Fraction(2) ** size) for w, size in zip(weights, sizes, strict=True)]
    return scaled(np.array(shares), np.array(sizes))


def size_of(number: Fraction) -> int:
    """The power of two that a number is near to."""
    return number.numerator.bit_length() - number.denominator.bit_length()


def scaled(shares: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """``shares * 2**exponents`` times a power of two with which the largest is near 1, or all are floats."""
    there = exponents[shares != 0.0]
    if not len(there):
        return np.zeros(len(shares))
    most, least = int(there.max()), int(there.min())
    middle = most if least - most > LEAST_EXPONENT else (most + least) // 2
    found: np.ndarray = np.ldexp(shares, exponents - middle)
    return found
