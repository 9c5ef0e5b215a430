"""Rows that are not drawn alike and apart: what is right changes, or a row depends on the one before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from onlinear.errors import Refused
from onlinear.streams.arrays import Drawn, Generated, check_margin, direction, in_ball, unit, with_margin


@dataclass(frozen=True)
class Drifting(Generated):
    """Rows whose hidden vector turns by ``angle`` (in radians) from each to the next, in a plane drawn by the seed.

    Row t, counted from 0, has ``|x| <= radius`` and ``y <u_t, x> >= margin``, where
    ``u_t = cos(t angle) a + sin(t angle) b`` with orthogonal unit vectors a and b. After pi / angle rows what
    was right has become wrong.

    >>> stream = Drifting(n=10, d=3, angle=0.1)
    >>> round(float(stream.u(0) @ stream.u(10)), 12) == round(math.cos(1.0), 12)
    True
    """

    n: int
    d: int
    angle: float
    margin: float = 0.1
    radius: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.check_size(fewest=2)
        check_margin(self.margin, self.radius, self.d)
        if not math.isfinite(self.angle):
            raise Refused(f"the angle is {self.angle}: let it be finite, in radians")

    @cached_property
    def plane(self) -> tuple[np.ndarray, np.ndarray]:
        """The orthogonal unit vectors a and b."""
        rng = self.generator(0)
        a, b = direction(rng, self.d), direction(rng, self.d)
        for _ in range(2):  # once more, as the first time may leave little of b, and that inaccurate
            b = unit((b - (a * b).sum() * a)[None, :])[0]
        return a, b

    def u(self, t: Any) -> np.ndarray:
        """The unit vector that is right for row t; a row of the answer for each if they are several."""
        a, b = self.plane
        turned = np.multiply.outer(np.cos(self.angle * np.asarray(t)), a)
        return turned + np.multiply.outer(np.sin(self.angle * np.asarray(t)), b)

    def drawn(self) -> Iterator[Drawn]:
        for rng, start, stop in self.groups():
            points = in_ball(rng, rng.standard_normal((stop - start, self.d)))
            yield with_margin(points, self.u(np.arange(start, stop)), self.margin, self.radius)


@dataclass(frozen=True)
class Dependent(Generated):
    """The rows of :class:`Separable`, but that each lies in a direction close to that of the one before.

    The directions follow the chain ``z' = correlation z + sqrt(1 - correlation^2) e`` with independent standard normal
    e (a vector autoregression of order 1). It starts in its stationary law, the standard normal one: each row by itself
    is distributed as a row of :class:`Separable`, and rows k apart have directions that correlate by correlation^k.
    The lengths of the rows are independent.

    >>> stream = Dependent(n=1000, d=3, correlation=0.99)
    >>> y = np.concatenate([y for _, y in stream.arrays()])
    >>> bool((y[1:] == y[:-1]).mean() > 0.9)
    True
    """

    n: int
    d: int
    correlation: float
    margin: float = 0.1
    radius: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.check_size()
        check_margin(self.margin, self.radius, self.d)
        if not -1.0 < self.correlation < 1.0:
            raise Refused(f"the correlation is {self.correlation}: let it lie between -1 and 1")

    @cached_property
    def u(self) -> np.ndarray:
        """The unit vector that separates the rows."""
        return direction(self.generator(0), self.d)

    def chain(self) -> Iterator[tuple[np.random.Generator, np.ndarray]]:
        """For each group its generator and the states of the chain."""
        fresh = math.sqrt(1.0 - self.correlation**2)
        last: np.ndarray | None = None
        for rng, start, stop in self.groups():
            z = rng.standard_normal((stop - start, self.d))
            for state in z:
                if last is not None:
                    state[:] = self.correlation * last + fresh * state
                last = state
            yield rng, z

    def drawn(self) -> Iterator[Drawn]:
        for rng, z in self.chain():
            yield with_margin(in_ball(rng, z), self.u, self.margin, self.radius)
