"""Powers and logarithms in plain arithmetic.

Those of the C library differ from one system to the next in the last bit, and take numbers one at a time. These are
additions, multiplications and divisions without a branch: the same bits everywhere, and compiled code takes the numbers
of a bank of models side by side.

Being the same everywhere is what they are for: a bank of 20 logistic models learns sparse rows 1.04 times as fast as
with the functions of the C library (``benchmarks/kernel_pieces.py``).
"""

from __future__ import annotations

import math

#: added to a number of no more than 2^51, and taken away again, it leaves the whole number next to it
WHOLE = 1.5 * 2.0**52
#: so many powers of two lie in a table between 1 and 2
PARTS = 64
#: log(2) / PARTS in two parts: the first has so few digits that whole multiples of it are exact
PART, PART_LOW = 0.01083042469326756, 2.9815858269852933e-12
#: powers of what lies below have not all their digits
LEAST = -708.0


def root(j: int) -> float:
    """``2^(j / PARTS)``, rounded once, by square roots with a hundred bits behind the point."""
    power = 1 << (j + 100)
    for _ in range(PARTS.bit_length() - 1):
        power = math.isqrt(power << 100)
    return power / 2**100


ROOTS = tuple(root(j) for j in range(PARTS))


def two_to(k: float) -> float:
    """``2^(k / PARTS)`` for a whole number k that makes a number; for what is none, anything."""
    return math.ldexp(ROOTS[int(k) % PARTS], int(k) // PARTS) if math.isfinite(k) else k


def exp_of_less(x: float) -> float:
    """``e^x`` for x up to 0, about a unit of the last place off at most; 0 below -708.

    With k the whole number next to ``x / PART`` and r the rest, it is ``2^(k / PARTS) e^r``, and ``e^r - 1`` a
    polynomial that begins with r, the best one up to ``PART / 2`` (Remez), 2e-18 off.

    >>> exp_of_less(0.0), exp_of_less(-math.inf)
    (1.0, 0.0)
    """
    bounded = max(x, LEAST)
    k = (bounded * 92.33248261689366 + WHOLE) - WHOLE
    r = (bounded - k * PART) - k * PART_LOW
    r2 = r * r
    above = (0.499999999999486 + 0.1666666666669021 * r) + r2 * (0.04166672335597274 + 0.008333329555487634 * r)
    power = two_to(k)
    return 0.0 if x < LEAST else power + power * (r + r2 * above)


def log_of_more(t: float) -> float:
    """``log(1 + t)`` for t from 0 to 1, about a unit of the last place off at most.

    With ``s = t / (2 + t)`` it is ``2 atanh(s)``, of which ``2 s`` is ``t - s t``; the rest is a polynomial in ``s^2``,
    the best one up to 1/9 (Remez), 1e-18 off.

    >>> log_of_more(1.0) == math.log(2.0)
    True
    """
    s = t / (2.0 + t)
    q = s * s
    q2 = q * q
    low = (0.33333333333333154 + 0.20000000000077559 * q) + q2 * (0.14285714274058883 + 0.11111111976828092 * q)
    high = (0.09090872239431977 + 0.07693274197525883 * q) + q2 * (0.06650560684333566 + 0.060524724321763666 * q)
    q4 = q2 * q2
    series = low + q4 * (high + q4 * (0.04172486037031279 + 0.08504877500614118 * q))
    half = 0.5 * t * t
    return t - (half - s * (half + 2.0 * (q * series)))
