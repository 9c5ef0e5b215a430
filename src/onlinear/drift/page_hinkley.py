"""The Page-Hinkley test: values that lie above their mean for too long."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from onlinear.errors import BadInput, BadModel, Refused
from onlinear.parameters import NOT_NEGATIVE, POSITIVE
from onlinear.streams.packing import Number, unpack_value


class PageHinkley:
    """A test for a mean that rises: ``U_t = sum_i (x_i - mean_i - allowance)`` climbs ``threshold`` above its lowest.

    ``mean_i`` is the mean up to value i. After an alarm, and in the beginning, the first ``least`` values raise none;
    an alarm starts the test anew. Values may be of any size, and ``threshold`` is in their unit: with 0 and 1 for right
    and wrong it is the number of mistakes too many that raise an alarm.

    Page, Biometrika 41 (1954); Hinkley, Biometrika 58 (1971).

    >>> PageHinkley(threshold=10.0).update_many([0.0] * 100 + [1.0] * 20)
    [110]
    """

    def __init__(self, threshold: float = 50.0, allowance: float = 0.005, least: int = 30) -> None:
        if threshold not in POSITIVE or allowance not in NOT_NEGATIVE:
            raise Refused(f"threshold {threshold}, allowance {allowance}: let them be finite, and the first above 0")
        self.threshold, self.allowance, self.least = float(threshold), float(allowance), int(least)
        self.rise = 0.0  # at the last alarm: how far values lay above the mean, since U was lowest
        self._begin()

    def _begin(self) -> None:
        self.width, self.mean = 0, 0.0
        self._excess, self._lowest, self._lowest_at = 0.0, math.inf, 0

    def update(self, value: float) -> bool:
        """Take a value; answer whether the mean has risen."""
        if not math.isfinite(value):
            raise BadInput(f"the Page-Hinkley test was given {value}: its values are finite")
        self.width += 1
        self.mean += (value - self.mean) / self.width
        self._excess += value - self.mean - self.allowance
        if self._excess < self._lowest:
            self._lowest, self._lowest_at = self._excess, self.width
        if self.width < self.least or self._excess - self._lowest <= self.threshold:
            return False
        self.rise = (self._excess - self._lowest) / (self.width - self._lowest_at) + self.allowance
        self._begin()
        return True

    def update_many(self, values: Iterable[float]) -> list[int]:
        """Take values in order; answer the positions among them of those that raised an alarm."""
        return [position for position, value in enumerate(values) if self.update(value)]

    def anew(self) -> PageHinkley:
        """The same detector, before its first value."""
        return PageHinkley(self.threshold, self.allowance, self.least)

    def state(self) -> dict[str, Any]:
        """All there is to know, as plain JSON."""
        return {
            "threshold": self.threshold,
            "allowance": self.allowance,
            "least": self.least,
            "rise": self.rise,
            "width": self.width,
            "mean": self.mean,
            "excess": self._excess,
            "lowest": [self._lowest if self._lowest_at else 0.0, self._lowest_at],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> PageHinkley:
        """The detector of which :meth:`state` was asked: it goes on to the bit."""
        threshold, allowance = unpack_value(tuple[Number, Number], [state["threshold"], state["allowance"]])
        detector = cls(threshold, allowance, unpack_value(int, state["least"]))
        detector.rise, detector.mean = unpack_value(tuple[Number, Number], [state["rise"], state["mean"]])
        detector.width, detector._excess = unpack_value(tuple[int, Number], [state["width"], state["excess"]])
        lowest, at = unpack_value(tuple[Number, int], state["lowest"])
        if not 0 <= at <= detector.width:
            raise BadModel(f"a detector of {detector.width} values, lowest at {at}: it is none that we wrote")
        if at:
            detector._lowest, detector._lowest_at = lowest, at
        return detector
