"""Kernels in exact arithmetic: whole numbers times a unit, for one row and all kept ones at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from onlinear.theory.exact import fraction, whole

#: decimal places of an exponential
PLACES = 40
#: exp is correctly rounded by Python's specification; that its argument -t is rounded counts for less: t e^-t < 1
DIGITS = Context(prec=60)

#: the columns and values of a row
Entries = tuple[Sequence[int], np.ndarray]


class ExactKernel(NamedTuple):
    """``(gamma x.z + coef0)^degree``, or for "rbf" ``exp(-gamma |x - z|^2)`` to 40 decimal places.

    A linear learner has the kernel ``x.z + c^2``, where c is the constant feature that stands for its intercept.
    """

    name: str
    degree: int
    gamma: Fraction
    coef0: Fraction

    @property
    def is_linear(self) -> bool:
        """Whether weights and an intercept can be written down for it."""
        return self.name != "rbf" and self.degree == 1 and self.gamma == 1

    @property
    def error(self) -> Fraction:
        """By how much K may be off."""
        return Fraction(1, 10**PLACES) if self.name == "rbf" else Fraction(0)

    def of_square(self, square: Fraction) -> Fraction:
        """K(x, x) of a row with this squared length: the longest row has the largest."""
        return Fraction(1) if self.name == "rbf" else (self.gamma * square + self.coef0) ** self.degree

    def with_rows(self, rows: list[Entries], features: int) -> Callable[[Sequence[int], np.ndarray], tuple[Any, Any]]:
        """A function from a row to K of each of these rows with it: whole numbers, and the unit that they count."""
        table = np.zeros((len(rows), features))
        for line, (columns, values) in zip(table, rows, strict=True):
            line[columns] = values
        integers, power = whole(table.ravel())
        kept = np.array(integers, dtype=object).reshape(table.shape)
        squares = (kept * kept).sum(axis=1)

        def kernels(columns: Sequence[int], values: np.ndarray) -> tuple[Any, Fraction]:
            row, row_power = whole(values)
            x = np.array(row, dtype=object)
            products = kept[:, columns] @ x
            if self.name != "rbf":
                return self._polynomial(products, fraction(1, power + row_power))
            low = min(power, row_power)
            mine, other = 1 << (power - low), 1 << (row_power - low)
            distances = squares * mine**2 - 2 * products * (mine * other) + int(x @ x) * other**2
            return self._exponential(distances, fraction(1, 2 * low))

        return kernels

    def _polynomial(self, products: Any, unit: Fraction) -> tuple[Any, Fraction]:
        gamma = self.gamma * unit
        common = math.lcm(gamma.denominator, self.coef0.denominator)
        inner = products * int(gamma * common) + int(self.coef0 * common)
        return inner**self.degree, Fraction(1, common**self.degree)

    def _exponential(self, distances: Any, unit: Fraction) -> tuple[Any, Fraction]:
        gamma = self.gamma * unit
        found = [exponential(-gamma.numerator * distance, gamma.denominator) for distance in distances]
        return np.array(found, dtype=object), Fraction(1, 10**PLACES)

    def written(self) -> list[Any]:
        """Name, degree, gamma and coef0, as a certificate has them."""
        return [self.name, self.degree, str(self.gamma), str(self.coef0)]


def linear(constant_squared: Fraction) -> ExactKernel:
    return ExactKernel("linear", 1, Fraction(1), constant_squared)


@lru_cache(1 << 17)
def exponential(numerator: int, denominator: int) -> int:
    """``exp(numerator / denominator)``, not positive, in units of 10^-40, rounded to the nearest.

    The same rows come in several sums of a certificate: known ones are not computed again.

    >>> exponential(0, 1) == 10**40, exponential(-1, 1)
    (True, 3678794411714423215955237701614608674458)
    """
    value = DIGITS.exp(DIGITS.divide(Decimal(numerator), Decimal(denominator)))
    return round(DIGITS.scaleb(value, PLACES))
