"""Axes: where on a line from 0 to 1 a value lies, which values to mark, and how to write these."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from onlinear.workflow.report.numbers import MINUS, count, number


class Axis(NamedTuple):
    """The values from ``low`` to ``high``, evenly spread, or by their logarithms; only whole ones may be marked."""

    low: float
    high: float
    log: bool = False
    whole: bool = False

    def at(self, value: float) -> float:
        """The place of a value, from 0 at the low end to 1 at the high one; what lies outside is put at the end."""
        value = min(max(value, self.low), self.high)
        if self.log:
            whole = math.log(self.high) - math.log(self.low)
            return min(max((math.log(value) - math.log(self.low)) / whole, 0.0), 1.0)
        # Halved, because a difference of two large numbers need not be a number.
        return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)

    def ticks(self, most: int) -> list[float]:
        """Round values to mark, at most so many."""
        found = _log_ticks(self.low, self.high, most) if self.log else _even_ticks(self.low, self.high, most)
        return [tick for tick in found if tick.is_integer()] if self.whole else found


def even(values: Iterable[float], zero: bool = False) -> Axis:
    """An axis that holds all values and a little more; from 0 on if asked for and none lies below."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    if zero and low >= 0.0:
        low = 0.0
    room = 0.06 * (high / 2 - low / 2) * 2 or 0.1 * abs(high)
    bottom, top = low if zero and low == 0.0 else low - room, high + room
    return Axis(bottom, top) if bottom / 2 < top / 2 else Axis(low - 1.0, low + 1.0)


def logarithmic(values: Iterable[float]) -> Axis:
    """An axis by logarithms that holds all values above 0."""
    known = [value for value in values if value > 0.0]
    low, high = min(known, default=1.0), max(known, default=10.0)
    return Axis(low, high, log=True) if math.log(low) < math.log(high) else Axis(low / 2, low * 2, log=True)


def labels(ticks: Sequence[float], shares: bool) -> list[str]:
    """The ticks in words, with just so many decimals that neighbours differ.

    >>> from onlinear.workflow.report.numbers import plain
    >>> [plain(word) for word in labels([0.15, 0.155, 0.16], shares=True)]
    ['15.0 %', '15.5 %', '16.0 %']
    """
    scaled = [100.0 * tick for tick in ticks] if shares else list(ticks)
    largest = max((abs(tick) for tick in scaled), default=0.0)
    steps = [after - before for before, after in pairwise(scaled)]
    step = min(steps, default=largest) or 1.0
    if 1e-4 <= largest < 1e7 and step > 1e-6:
        decimals = next((some for some in range(7) if abs(step - round(step, some)) < 1e-3 * step), 6)
        words = [_with_decimals(tick, decimals) for tick in scaled]
    else:
        words = [number(tick) for tick in scaled]
    return [f"{word}\u00a0%" for word in words] if shares else words


def _with_decimals(tick: float, decimals: int) -> str:
    if decimals == 0:
        return count(tick)
    return f"{tick:.{decimals}f}".replace("-", MINUS)


def _even_ticks(low: float, high: float, most: int) -> list[float]:
    span = high / 2 - low / 2
    power = math.floor(math.log10(span)) if span > 0.0 else 0
    for exponent in range(power - 3, power + 3):
        for factor in (1.0, 2.0, 5.0):
            step = factor * 10.0 ** max(-300, min(300, exponent))
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first < most:
                # Dividing by a whole power of ten gives the float that is written so; multiplying need not.
                return [min(max(float(f"{k * step:.12g}"), low), high) for k in range(first, last + 1)]
    return []


def _log_ticks(low: float, high: float, most: int) -> list[float]:
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 2:
        found = [f * 10.0**e for e in range(first - 1, last + 1) for f in (1.0, 2.0, 5.0) if -300 < e < 300]
        inside = [tick for tick in found if low <= tick <= high][:most]
        return inside if len(inside) > 2 else _even_ticks(low, high, most)
    apart = -(-(last - first + 1) // most)
    return [10.0**e for e in range(first, last + 1, apart) if -300 < e < 300]
