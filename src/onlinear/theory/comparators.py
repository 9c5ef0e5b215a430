"""The weights with which the theorems prove most: of largest margin, and of least loss beside their length, in floats.

Rows are given as their vectors z; a trial has one of them for two classes, and one for each rival of several, of which
the least score counts. How far the best weights may be away is shown by multipliers b >= 0 of the vectors: for all w

* ``min <w, z> <= |w| |sum b z| / sum b``: no unit vector has a margin above it;
* ``R |w| + c |t+| >= sum b``, if ``|sum b z| <= R`` and ``|b| <= c`` over the trials;
* ``x^2 = L(w) + R |w| x`` has no solution below ``min(sqrt(sum b), R sum b / |sum b z|)``, if no trial's b sum to more
  than the number of passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from onlinear.theory.soft_margins import SoftMargins, SoftMarginState

#: penalties tried, the caps of rounded hinges, and those by which margins become hard
MOST_PENALTIES, MOST_CAPS, MOST_LEVELS = 30, 12, 16
#: by how much the next penalty is less, where only its order of size is sought
SOFTER = 10.0
#: by how much it is less, at most: from weights that are further away, the next best ones take too many steps
MUCH_SOFTER = 100.0
#: the least l2, beside the square of the radius, that a search goes to
SOFTEST = 1e-15
#: an upper margin, beside the radius, below which floats do not find a lower one
FAINT = 1e-8


class Directions(NamedTuple):
    """Weights of a large margin, multipliers of a short combination, and the two margins that they prove in floats."""

    weights: np.ndarray
    multipliers: np.ndarray
    lower: float
    upper: float


class Comparator(NamedTuple):
    """Weights, the square root of the mistake bound that they prove, and one that no weights get below."""

    weights: np.ndarray
    root: float
    least: float
    l2: float = 0.0  # at which they were found


def largest_margin(problem: SoftMargins, gap: float) -> Directions:
    """The largest margin, from both sides within a share ``gap``, or as near as softer and softer penalties lead."""
    found = Directions(problem.weights, np.ones(len(problem.scores)), -math.inf, math.inf)
    l2 = problem.radius**2
    for _ in range(MOST_LEVELS):
        for state in problem.steps(l2):
            found = nearer(found, state)
            if found.lower > 0.0 and found.lower >= (1.0 - gap) * found.upper:
                return found
        if problem.is_spent or found.upper <= FAINT * problem.radius:
            break
        # at the best weights of one penalty, the lower margin is 1 less the largest slope of the upper
        excess = float(state.slopes.max()) / gap
        l2 /= min(2.0 * excess, MUCH_SOFTER) if found.lower > 0.0 and excess > 1.0 else SOFTER
    return found


def nearer(found: Directions, state: SoftMarginState) -> Directions:
    """The larger of two lower margins, and the smaller of two upper ones."""
    norm, total = float(np.linalg.norm(state.weights)), float(state.slopes.sum())
    lower = float(state.scores.min()) / norm if norm > 0.0 else -math.inf
    if lower > found.lower:
        found = found._replace(weights=state.weights, lower=lower)
    upper = float(np.linalg.norm(state.pull)) / total if total > 0.0 else math.inf
    if upper < found.upper:
        found = found._replace(multipliers=state.slopes, upper=upper)
    return found


def least_deviation(problem: SoftMargins, rivals: int, passes: int, gap: float) -> Comparator:
    """Weights of the least ``R |w| + sqrt(passes) |t+|``: Freund and Schapire's bound at gamma = 1, or near it."""
    radius, share = problem.radius, math.sqrt(passes)
    found = nothing_better(problem, rivals, passes)
    search = PenaltySearch(problem, problem.radius**2)
    for l2 in search:
        for state in problem.steps(l2):
            short = np.clip(1.0 - of_trials(state.scores, rivals, np.min), 0.0, None)
            root = radius * float(np.linalg.norm(state.weights)) + share * float(np.linalg.norm(short))
            steps = float(np.linalg.norm(of_trials(state.slopes, rivals, np.sum)))
            pull = float(np.linalg.norm(state.pull))
            least = ratio(float(state.slopes.sum()), max(pull / radius, steps / share))
            found = better(found, state, root, least, l2)
            if is_near(found, gap):
                return found
        search.told(ratio(pull * share, radius * steps))
    return found


def least_hinge_loss(problem: SoftMargins, rivals: int, passes: int, gap: float, l2: float) -> Comparator:
    """Weights u of the least solution x of ``x^2 = L + R |u| x``, L being the sum of hinge losses over all trials."""
    radius = problem.radius
    found = nothing_better(problem, rivals, passes)
    for cap in (0.25**k for k in range(MOST_CAPS)):
        search = PenaltySearch(problem, (found.l2 or l2) * cap)
        for penalty in search:
            for state in problem.steps(penalty, cap):
                short = np.clip(1.0 - of_trials(state.scores, rivals, np.min), 0.0, None)
                root = hinge_root(radius * float(np.linalg.norm(state.weights)), passes * float(short.sum()))
                most = float(of_trials(state.slopes, rivals, np.sum).max())  # of several rivals above the cap
                total = passes * ratio(float(state.slopes.sum()), most)
                pull = passes * ratio(float(np.linalg.norm(state.pull)), most * radius)
                found = better(found, state, root, min(math.sqrt(total), ratio(total, pull)), penalty / cap)
                if is_near(found, gap):
                    return found
            search.told(ratio(passes * float(np.linalg.norm(state.pull)), cap * radius * root), 0.1 * gap)
    return found


def hinge_root(scaled_radius: float, loss: float) -> float:
    """The x with ``x^2 = loss + scaled_radius x``: the root of the bound on the updates.

    >>> hinge_root(3.0, 0.0), hinge_root(0.0, 4.0), hinge_root(3.0, 4.0)
    (3.0, 2.0, 4.0)
    """
    return 0.5 * (scaled_radius + math.sqrt(scaled_radius**2 + 4.0 * loss))


def nothing_better(problem: SoftMargins, rivals: int, passes: int) -> Comparator:
    """Weights of 0, which prove by either theorem that there are no more updates than trials."""
    return Comparator(np.zeros_like(problem.weights), math.sqrt(passes * (len(problem.scores) // rivals)), 0.0)


def of_trials(numbers: np.ndarray, rivals: int, gather: Callable[..., np.ndarray]) -> np.ndarray:
    return numbers if rivals == 1 else gather(numbers.reshape(-1, rivals), axis=1)


def better(found: Comparator, state: SoftMarginState, root: float, least: float, l2: float) -> Comparator:
    """The weights of the lesser root, and the larger of what no root is below."""
    if root < found.root:
        found = found._replace(weights=state.weights, root=root, l2=l2)
    return found._replace(least=max(found.least, least))


def is_near(found: Comparator, gap: float) -> bool:
    """Whether no weights prove a bound that is less by more than a share of it."""
    return found.root**2 * (1.0 - gap) <= found.least**2


def ratio(number: float, other: float) -> float:
    return number / other if other > 0.0 else math.inf


class PenaltySearch:
    """The l2 at which something that grows with it is 1: in ever longer strides, then along chords, in logarithms."""

    def __init__(self, problem: SoftMargins, l2: float) -> None:
        self.problem, self.over = problem, False
        self.l2 = l2 or problem.radius**2
        self.stride = 1.0
        self.low: tuple[float, float] | None = None
        self.high: tuple[float, float] | None = None

    def __iter__(self) -> Iterator[float]:
        for _ in range(MOST_PENALTIES):
            if self.over or self.problem.is_spent:
                return
            yield self.l2

    def told(self, found: float, near: float = 1e-9) -> None:
        """What was found at the last l2; the search is over when that is near enough to 1."""
        if not 0.0 < found < math.inf or abs(found - 1.0) <= near:
            self.over = True
            return
        here, low, high = (math.log(self.l2), math.log(found)), self.low, self.high
        if low is None or high is None:
            self.stride *= 1.5
        elif found < 1.0:  # a chord that ends at the same point again and again is bent towards it (Illinois)
            high = high[0], 0.5 * high[1]
        else:
            low = low[0], 0.5 * low[1]
        self.low, self.high = (here, high) if found < 1.0 else (low, here)
        if self.low is None or self.high is None:
            self.l2 *= math.exp(min(max(-self.stride * here[1], -5.0), 5.0))
            self.over = self.l2 < SOFTEST * self.problem.radius**2
            return
        (left, below), (right, beyond) = self.low, self.high
        self.over = right - left <= 1e-12 * max(1.0, abs(right))
        share = min(max(-below / (beyond - below), 0.02), 0.98)
        self.l2 = math.exp(left + share * (right - left))
