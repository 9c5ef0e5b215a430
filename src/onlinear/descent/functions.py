"""Gradient descent on a function of one's own, from any start, perhaps with noise added to its gradient."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onlinear.descent.course import Point, whole_steps
from onlinear.errors import BadInput, Diverged
from onlinear.registry import schedule_of

#: laws of noise around 0, by name: of variance 1, but that of ``pareto`` is infinite, and ``cauchy`` has no mean
NOISES: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "uniform": lambda rng, shape: rng.uniform(-math.sqrt(3.0), math.sqrt(3.0), shape),
    "laplace": lambda rng, shape: rng.laplace(0.0, math.sqrt(0.5), shape),
    "signs": lambda rng, shape: rng.choice([-1.0, 1.0], shape),
    "pareto": lambda rng, shape: (1.0 + rng.pareto(1.2, shape)) * rng.choice([-1.0, 1.0], shape),
    "cauchy": lambda rng, shape: rng.standard_cauchy(shape),
}


class Path(NamedTuple):
    """Where a descent ended, and the points on its way: ``path[t]`` after t steps.

    ``slope`` is the length of the gradient at the end. Where it is 0 the point is stationary: a minimum, perhaps a
    local one, or a saddle. ``gap`` is ``value - optimum``, infinite if no optimum was given: then it is unknown.
    """

    weights: Any
    value: float
    gap: float
    steps: int
    seconds: float
    course: tuple[Point, ...]
    path: Any
    slope: float


def descend(
    function: Callable[[Any], Any],
    gradient: Callable[[Any], Any],
    start: Any,
    schedule: Any = 0.1,
    epsilon: float = 1e-6,
    max_steps: int = 1000,
    optimum: float = -math.inf,
    noise: str | Callable[[np.random.Generator, Any], Any] | None = None,
    scale: float = 1.0,
    seed: int = 0,
) -> Path:
    """``w <- w - rate_t (gradient(w) + noise_t)`` from the start, until the gradient is no longer than epsilon.

    The start is a number or an array, and so is what both functions are given. The rate is that of the ``schedule``
    (:mod:`onlinear.rules.schedules`), or a number. ``noise`` is a name of :data:`NOISES`, times ``scale``, or a
    function of a generator and a shape; with noise all ``max_steps`` are taken, since none of them arrives but by luck.

    >>> def hills(w): return w**4 - 2 * w**2 + 0.3 * w
    >>> def slope(w): return 4 * w**3 - 4 * w + 0.3
    >>> [round(descend(hills, slope, start, 0.01).weights, 3) for start in (-2.0, -0.1, 0.1, 2.0)]
    [-1.036, -1.036, 0.96, 0.96]
    """
    schedule, draw = schedule_of(schedule), noise_of(noise)
    max_steps = whole_steps(max_steps)
    if not epsilon > 0.0 or not scale >= 0.0:
        raise BadInput(f"epsilon is {epsilon}, scale {scale}: epsilon is above 0, neither below 0")
    walk, rng = Walk(function, gradient, start, optimum), np.random.default_rng(seed)
    for t in range(1, max_steps + 1):
        if draw is None and walk.slope <= epsilon:
            break
        step = walk.gradient if draw is None else walk.gradient + scale * np.asarray(draw(rng, walk.w.shape))
        walk.go(walk.w - schedule.at(float(t)) * step)
    return walk.ended()


def noise_of(noise: Any) -> Callable[[np.random.Generator, Any], Any] | None:
    """A law of noise by its name, or as it is."""
    if noise is None or callable(noise):
        return noise
    if noise not in NOISES:
        raise BadInput(
            f"the noise is {noise!r}: choose one of {', '.join(NOISES)}, or give a function of rng and shape"
        )
    return NOISES[noise]


class Walk:
    """The points so far, with the clock that runs for steps."""

    def __init__(self, function: Any, gradient: Any, start: Any, optimum: float) -> None:
        self.function, self.slopes, self.optimum = function, gradient, optimum
        first = np.array(start, dtype=np.float64)
        if not np.isfinite(first).all():
            raise BadInput("the start is not finite: give a number, or an array of numbers")
        self.begun, self.points, self.course = time.perf_counter(), list[Any](), list[Point]()
        self.go(first)

    def go(self, w: Any) -> None:
        """Stand at a point, and look where the function leads down."""
        self.w, steps = w, len(self.points)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                value = float(self.function(plain(w)))
                self.gradient = np.asarray(self.slopes(plain(w)), dtype=np.float64)
        except OverflowError:  # of Python's own numbers
            value, self.gradient = math.inf, np.zeros_like(w)
        if not np.isfinite(w).all() or not math.isfinite(value) or not np.isfinite(self.gradient).all():
            raise Diverged(f"the function is {value} after {steps} steps: take smaller rates, or another start")
        if self.gradient.shape != w.shape:
            raise BadInput(
                f"the gradient has the shape {self.gradient.shape}, and the start {w.shape}: they must agree"
            )
        self.points.append(plain(w))
        self.course.append(Point(steps, value, value - self.optimum, time.perf_counter() - self.begun))

    @property
    def slope(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(self.gradient))

    def ended(self) -> Path:
        last = self.course[-1]
        path = np.array(self.points)
        return Path(
            self.points[-1], last.value, last.gap, last.steps, last.seconds, tuple(self.course), path, self.slope
        )


def plain(w: Any) -> Any:
    """A point as functions are given it: a number, or a copy of the array."""
    return float(w) if w.ndim == 0 else w.copy()
