"""The versions of a hypothesis, and how they answer: by vote, on average, by the last, one at random, or the best.

A perceptron in dual form is the list of its updates: the k-th adds ``a_k K(x_k, .)``, and version k is the sum of the
first k. It was in force from its own example up to that of the next update: so many rows it *survived* (c_k).
Freund & Schapire 1999, "Large margin classification using the perceptron algorithm", Figure 1. The pocket is the one
that survived longest. Gallant 1990, "Perceptron-based learning algorithms", Figure 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: how versions may answer
VOTES = ("vote", "average", "last", "random", "pocket")


class Updates(NamedTuple):
    """The updates of one perceptron as arrays."""

    positions: np.ndarray  # of the kept example
    amounts: np.ndarray  # that it was added with: +1 or -1, less where a budget shrinks
    times: np.ndarray  # the number of the example at which it was made

    def before(self, example: int) -> Updates:
        """Those that were made before an example."""
        done = self.times < example
        return Updates(self.positions[done], self.amounts[done], self.times[done])

    def survived(self, examples: int) -> np.ndarray:
        """The rows that each version was in force for: c_k, which starts at 1 with the update itself."""
        return np.diff(self.times, append=examples)


class Versions:
    """The updates of one perceptron, as they come; ``debt`` is what a budget has cost so far."""

    def __init__(self) -> None:
        self.positions: list[int] = []
        self.amounts: list[float] = []
        self.times: list[int] = []
        self.made = 0
        self.debt = 0.0
        self.chosen: int | None = None  # the version that a ratchet has put into the pocket

    def append(self, position: int, amount: float, time: int) -> None:
        self.positions.append(position)
        self.amounts.append(amount)
        self.times.append(time)
        self.made += 1

    def copy(self) -> Versions:
        twin = Versions()
        twin.positions, twin.amounts, twin.times = self.positions.copy(), self.amounts.copy(), self.times.copy()
        twin.made, twin.debt, twin.chosen = self.made, self.debt, self.chosen
        return twin

    def arrays(self) -> Updates:
        return Updates(
            np.array(self.positions, dtype=np.int64), np.array(self.amounts), np.array(self.times, dtype=np.int64)
        )


def last_coefficients(updates: Updates, size: int) -> np.ndarray:
    """The coefficient of each kept example in the last version."""
    return np.bincount(updates.positions, updates.amounts, size)


def average_coefficients(updates: Updates, size: int, examples: int) -> np.ndarray:
    """The coefficient of each kept example in the mean of the versions, each as often as it survived a row.

    An update is in all versions after it, so it counts for all rows from its own on.
    """
    if not len(updates.times):
        return np.zeros(size)
    share = (examples - updates.times) / (examples - updates.times[0])
    return np.bincount(updates.positions, updates.amounts * share, size)


def pocket_coefficients(updates: Updates, size: int, examples: int, chosen: int | None) -> np.ndarray:
    """The coefficient of each kept example in the version in the pocket: the first of those that survived longest.

    A ratchet, which has looked at more, has ``chosen`` another.
    """
    if not len(updates.times):
        return np.zeros(size)
    last = int(updates.survived(examples).argmax()) if chosen is None else chosen
    return np.bincount(updates.positions[: last + 1], updates.amounts[: last + 1], size)


def mean_votes(updates: Updates, alike: np.ndarray, examples: int) -> np.ndarray:
    """The mean of the versions' signs, each as often as it survived a row; ``alike[j, row]`` is K of kept and asked.

    A version whose score is 0 abstains.
    """
    if not len(updates.times):
        return np.zeros(alike.shape[1])
    survived = updates.survived(examples)
    return survived @ np.sign(version_scores(updates, alike)) / survived.sum()


def drawn_scores(updates: Updates, alike: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """For each row the score of the version that was in force after the example of that number."""
    if not len(updates.times):
        return np.zeros(alike.shape[1])
    versions = np.searchsorted(updates.times, moments, side="right")
    scores = version_scores(updates, alike)[np.maximum(versions - 1, 0), np.arange(len(moments))]
    return np.where(versions > 0, scores, 0.0)


def version_scores(updates: Updates, alike: np.ndarray) -> np.ndarray:
    """The score of each version (down) for each row (across)."""
    steps = alike[updates.positions] * updates.amounts[:, None]
    return np.cumsum(steps, axis=0, out=steps)
