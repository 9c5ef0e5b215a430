"""ADWIN: a window of the latest values, as long as nothing in it speaks against one mean."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from onlinear.errors import BadInput, BadModel, Refused
from onlinear.streams.packing import Number, unpack_value

#: buckets there may be of each size; one more, and the two oldest become one of twice the size
ALIKE = 5
#: sizes of buckets there may be: nobody has seen so many values
MOST_SIZES = 63
#: the window is looked at after every so many values
EVERY = 32

Bucket = tuple[float, float]  # the sum of its values, and of their squares


class ADWIN:
    """The adaptive window ADWIN2 of values between 0 and 1: it alarms when it drops its older part.

    The older part goes where the window of n values can be cut into n0 older and n1 newer ones whose means differ by
    more than ``sqrt(2 v L (1/n0 + 1/n1)) + 2/3 L (1/n0 + 1/n1)``, with the window's variance v and
    ``L = ln(2 ln(n) / delta)``. Where the mean does not change, a look at the window alarms with a probability of at
    most about ``delta``. One change may raise several alarms, until nothing old is left. The window is kept in O(log n)
    buckets of 1, 2, 4, ... values; cuts are between buckets.

    Bifet & Gavaldà, "Learning from time-changing data with adaptive windowing", SDM 2007, section 3.

    >>> detector = ADWIN()
    >>> detector.update_many([0.0] * 320 + [1.0] * 320)
    [351, 383]
    >>> detector.width, detector.mean
    (320, 1.0)
    """

    def __init__(self, delta: float = 0.002) -> None:
        if not 0.0 < delta < 1.0:
            raise Refused(f"delta is {delta}: let it be a probability between 0 and 1")
        self.delta = float(delta)
        self.rise = 0.0  # at the last alarm: how far the mean that was kept lay above the one that was dropped
        self.seen = 0
        self.width = 0
        self._sum = 0.0
        self._squares = 0.0
        self._buckets: list[list[Bucket]] = [[]]  # of 1, 2, 4, ... values, the oldest of each size first

    @property
    def mean(self) -> float:
        """The mean of the window."""
        return self._sum / self.width if self.width else 0.0

    def update(self, value: float) -> bool:
        """Take a value; answer whether the window was cut."""
        if not 0.0 <= value <= 1.0:
            raise BadInput(f"ADWIN was given {value}: its bound holds for values between 0 and 1; scale them")
        self._append(float(value))
        self.seen += 1
        return self.seen % EVERY == 0 and self._shrink()

    def update_many(self, values: Iterable[float]) -> list[int]:
        """Take values in order; answer the positions among them of those that raised an alarm."""
        return [position for position, value in enumerate(values) if self.update(value)]

    def anew(self) -> ADWIN:
        """The same detector, before its first value."""
        return ADWIN(self.delta)

    # -------------------------------------------------------------- the window

    def _append(self, value: float) -> None:
        square = value * value
        self.width += 1
        self._sum += value
        self._squares += square
        buckets = self._buckets
        buckets[0].append((value, square))
        size = 0
        while len(buckets[size]) > ALIKE:
            older, newer = buckets[size][:2]
            del buckets[size][:2]
            size += 1
            if size == len(buckets):
                buckets.append([])
            buckets[size].append((older[0] + newer[0], older[1] + newer[1]))

    def _shrink(self) -> bool:
        """Drop the oldest buckets as long as a cut tells older from newer values."""
        width, total = self.width, self._sum
        while self._has_cut():
            self._drop_oldest()
        if self.width == width:
            return False
        self.rise = self.mean - (total - self._sum) / (width - self.width)
        return True

    def _has_cut(self) -> bool:
        """Whether some cut parts the window in two whose means differ by more than chance allows."""
        n, total = self.width, self._sum
        if n < 2:
            return False
        doubt = math.log(2.0 * math.log(n) / self.delta)
        variance = max(self._squares / n - (total / n) ** 2, 0.0)
        wide, narrow = 2.0 * variance * doubt, 2.0 / 3.0 * doubt
        older, before = 0, 0.0
        for size in range(len(self._buckets) - 1, -1, -1):
            for bucket in self._buckets[size]:
                older += 1 << size
                before += bucket[0]
                newer = n - older
                if newer == 0:
                    return False
                share = 1.0 / older + 1.0 / newer
                if abs(before / older - (total - before) / newer) > math.sqrt(wide * share) + narrow * share:
                    return True
        return False

    def _drop_oldest(self) -> None:
        while not self._buckets[-1]:
            self._buckets.pop()
        total, squares = self._buckets[-1].pop(0)
        self.width -= 1 << (len(self._buckets) - 1)
        self._sum -= total
        self._squares -= squares

    # -------------------------------------------------------------- to go on later

    def state(self) -> dict[str, Any]:
        """All there is to know, as plain JSON."""
        return {
            "delta": self.delta,
            "rise": self.rise,
            "seen": self.seen,
            "width": self.width,
            "sums": [self._sum, self._squares],
            "buckets": [[list(bucket) for bucket in alike] for alike in self._buckets],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ADWIN:
        """The detector of which :meth:`state` was asked: it goes on to the bit."""
        detector = cls(unpack_value(Number, state["delta"]))
        detector.rise = unpack_value(Number, state["rise"])
        detector.seen, detector.width = unpack_value(tuple[int, int], [state["seen"], state["width"]])
        detector._sum, detector._squares = unpack_value(tuple[Number, Number], state["sums"])
        buckets = unpack_value(tuple[tuple[tuple[Number, Number], ...], ...], state["buckets"])
        detector._buckets = [list(alike) for alike in buckets]
        fine = len(buckets) <= MOST_SIZES and all(len(alike) <= ALIKE for alike in buckets)
        fine = fine and all(
            0.0 <= part <= 1 << k for k, alike in enumerate(buckets) for bucket in alike for part in bucket
        )
        fine = fine and all(-1.0 <= part <= detector.width + 1.0 for part in (detector._sum, detector._squares))
        if not fine or not buckets or detector.width != sum(len(alike) << k for k, alike in enumerate(buckets)):
            raise BadModel(
                f"a window of {detector.width} values is not what its buckets hold: it is none that we wrote"
            )
        return detector
