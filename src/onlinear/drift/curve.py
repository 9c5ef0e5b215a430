"""Curve: the error over time, in as much memory after a billion examples as after a thousand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onlinear.errors import BadModel
from onlinear.streams.packing import Number, unpack_value

#: windows there may be; one more, and each two become one of twice the length
MOST = 128
#: examples in a window at first
FIRST = 32


class Curve:
    """The mean of the values in each of at most 128 windows of equal length, which doubles as the stream goes on.

    >>> curve = Curve()
    >>> curve.add([1.0] * 32 + [0.0] * 64 + [1.0])
    >>> curve.points(), round(curve.mean, 3)
    ([(32, 1.0), (64, 0.0), (96, 0.0), (97, 1.0)], 0.34)
    """

    def __init__(self) -> None:
        self.window = FIRST
        self.examples = 0
        self.total = 0.0
        self._sums: list[float] = []  # the last one of a window that may not be full

    @property
    def mean(self) -> float:
        """The mean of all values."""
        return self.total / self.examples if self.examples else 0.0

    def add(self, values: Iterable[float]) -> None:
        """Take values in order: one by one, so that their sum does not depend on how they come."""
        for value in values:
            if self.examples == self.window * len(self._sums):
                self._open()
            self._sums[-1] += value
            self.total += value
            self.examples += 1

    def _open(self) -> None:
        if len(self._sums) == MOST:
            self._sums = [self._sums[k] + self._sums[k + 1] for k in range(0, MOST, 2)]
            self.window *= 2
        self._sums.append(0.0)

    def points(self) -> list[tuple[int, float]]:
        """For each window how many examples there were at its end, and the mean within."""
        ends = [self.window * (k + 1) for k in range(len(self._sums))]
        if ends:
            ends[-1] = self.examples
        return [
            (end, total / (end - k * self.window)) for k, (end, total) in enumerate(zip(ends, self._sums, strict=True))
        ]

    def state(self) -> dict[str, Any]:
        """All there is to know, as plain JSON."""
        return {"window": self.window, "examples": self.examples, "total": self.total, "sums": self._sums}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Curve:
        """The curve of which :meth:`state` was asked."""
        curve = cls()
        curve.window, curve.examples = unpack_value(tuple[int, int], [state["window"], state["examples"]])
        curve.total, curve._sums = (
            unpack_value(Number, state["total"]),
            list(unpack_value(tuple[Number, ...], state["sums"])),
        )
        fine = curve.window >= 1 and curve.examples >= 0 and len(curve._sums) <= MOST
        if not fine or -(-curve.examples // curve.window) != len(curve._sums):
            raise BadModel(
                f"a curve of {curve.examples} examples in {len(curve._sums)} windows: it is none that we wrote"
            )
        return curve
