"""Exact arithmetic on floats: each is an integer times a power of two, so sums and products need no rounding."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

MANTISSA = 53  # bits


class ScaledIntegers(NamedTuple):
    """Numbers as integers times one power of two."""

    integers: list[int]
    power: int


def whole(numbers: np.ndarray) -> ScaledIntegers:
    """Finite floats as integers times one power of two.

    >>> whole(np.array([0.75, -2.0]))
    ScaledIntegers(integers=[3, -8], power=-2)
    """
    shares, powers = np.frexp(np.asarray(numbers, dtype=np.float64))
    integers = np.ldexp(shares, MANTISSA).astype(np.int64)
    zeros = integers == 0
    odd = np.where(zeros, 1, integers)
    lowest = np.bitwise_count((odd & -odd) - 1).astype(np.int64)  # zero bits at the end
    powers = np.where(zeros, 0, powers - MANTISSA + lowest)
    integers >>= lowest
    power = int(powers[~zeros].min()) if not zeros.all() else 0
    return ScaledIntegers(
        [int(n) << int(k) for n, k in zip(integers, np.where(zeros, 0, powers - power), strict=True)], power
    )


def fraction(integer: int, power: int) -> Fraction:
    """``integer * 2**power``."""
    return Fraction(integer << power) if power >= 0 else Fraction(integer, 1 << -power)


def squared_length(numbers: np.ndarray) -> Fraction:
    """The sum of squares.

    >>> squared_length(np.array([0.5, 3.0]))
    Fraction(37, 4)
    """
    integers, power = whole(numbers)
    return fraction(sum(n * n for n in integers), 2 * power)


def below(number: Fraction) -> float:
    """The largest float that is not above a number.

    >>> below(Fraction(1, 3)) < Fraction(1, 3) < above(Fraction(1, 3))
    True
    """
    near = float(number)
    return near if Fraction(near) <= number else math.nextafter(near, -math.inf)


def above(number: Fraction) -> float:
    """The smallest float that is not below a number."""
    return -below(-number)


def root_below(number: Fraction) -> float:
    """The largest float whose square is not above a number.

    >>> root_below(Fraction(4)), root_above(Fraction(2))
    (2.0, 1.4142135623730951)
    """
    if number == 0:
        return 0.0
    half = (number.numerator.bit_length() - number.denominator.bit_length()) // 2  # so that nothing overflows
    root = math.ldexp(math.sqrt(number / Fraction(4) ** half), half)
    while Fraction(root) ** 2 > number:
        root = math.nextafter(root, 0.0)
    while Fraction(after := math.nextafter(root, math.inf)) ** 2 <= number:
        root = after
    return root


def root_above(number: Fraction) -> float:
    """The smallest float whose square is not below a number."""
    root = root_below(number)
    return root if Fraction(root) ** 2 == number else math.nextafter(root, math.inf)


def signed_root_below(square: Fraction) -> float:
    """The largest float that is not above the number whose square, with the number's sign, is given.

    >>> signed_root_below(Fraction(-9)), signed_root_below(Fraction(9))
    (-3.0, 3.0)
    """
    return root_below(square) if square >= 0 else -root_above(-square)
