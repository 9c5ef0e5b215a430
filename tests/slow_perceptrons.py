"""Perceptrons in dual form as one would write them on a blackboard: every version is a list of its own."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Similarity = Callable[[np.ndarray, np.ndarray], float]
Hypothesis = list[tuple[float, int]]  # amounts with the numbers of examples


def linear(x: np.ndarray, z: np.ndarray) -> float:
    return float(sum(a * b for a, b in zip(x.tolist(), z.tolist(), strict=True)))


def poly(degree: int, gamma: float = 1.0, coef0: float = 1.0) -> Similarity:
    return lambda x, z: (gamma * linear(x, z) + coef0) ** degree


def rbf(gamma: float) -> Similarity:
    return lambda x, z: math.exp(-gamma * linear(x - z, x - z))


class SlowPerceptron:
    """Freund & Schapire's Figure 1 in dual form, with an optional Forgetron budget; targets are -1 and 1."""

    def __init__(self, similarity: Similarity, budget: int | None = None) -> None:
        self.similarity = similarity
        self.budget = budget
        self.seen: list[np.ndarray] = []
        self.versions: list[tuple[Hypothesis, int]] = [([], 0)]  # with the rows that each survived
        self.updates = 0
        self.debt = 0.0
        self.largest = 0.0

    def score(self, hypothesis: Hypothesis, x: np.ndarray) -> float:
        return sum(amount * self.similarity(self.seen[number], x) for amount, number in hypothesis)

    def learn(self, x: np.ndarray, target: int, importance: float = 1.0) -> None:
        self.seen.append(x)
        self.largest = max(self.largest, self.similarity(x, x))
        hypothesis, survived = self.versions[-1]
        if target * self.score(hypothesis, x) > 0:
            self.versions[-1] = (hypothesis, survived + 1)
            return
        self.updates += 1
        changed = [*hypothesis, (importance * target, len(self.seen) - 1)]
        if self.budget is not None and len(changed) > self.budget:
            changed = self.forget(changed)
        self.versions.append((changed, 1))

    def forget(self, hypothesis: Hypothesis) -> Hypothesis:
        """The Forgetron's shrinking, by bisection, and its removal."""
        amount, number = hypothesis[0]
        size = abs(amount)
        margin = math.copysign(1.0, amount) * self.score(hypothesis, self.seen[number]) / self.largest

        def debt(factor: float) -> float:
            return self.debt + (factor * size) ** 2 + 2 * factor * size - 2 * factor * size * factor * margin

        low, high = (1.0, 1.0) if debt(1.0) <= 15 / 32 * self.updates else (0.0, 1.0)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if debt(middle) <= 15 / 32 * self.updates else (low, middle)
        self.debt = debt(low)
        return [(low * a, i) for a, i in hypothesis[1:]]

    def vote(self, x: np.ndarray) -> float:
        total = sum(survived for _, survived in self.versions)
        return sum(survived * np.sign(self.score(h, x)) for h, survived in self.versions) / total

    def average(self, x: np.ndarray) -> float:
        total = sum(survived for _, survived in self.versions)
        return sum(survived * self.score(h, x) for h, survived in self.versions) / total

    def last(self, x: np.ndarray) -> float:
        return self.score(self.versions[-1][0], x)

    def at(self, moment: int, x: np.ndarray) -> float:
        """The score of the version in force after the example of this number."""
        end = 0
        for hypothesis, survived in self.versions:
            end += survived
            if moment < end:
                return self.score(hypothesis, x)
        raise AssertionError(f"no version was in force after example {moment}")
