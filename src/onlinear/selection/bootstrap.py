"""The online bootstrap: each replicate learns a row as often as a Poisson variable of mean 1 says.

For many rows that is what drawing rows with replacement comes to, and it needs one pass. How often depends on the seed,
the number of the row and that of the replicate alone, so that it does not matter how rows are cut into blocks.
Oza & Russell 2001, "Online bagging and boosting"; Qin, Petricek, Karampatziakis, Li & Langford 2013, "Efficient online
bootstrapping for large scale learning".
"""

from __future__ import annotations

import math

import numpy as np

from onlinear.data.splitmix import splitmix64

#: chances of at most 0, 1, 2, ... draws
CHANCES = np.cumsum([math.exp(-1.0) / math.factorial(k) for k in range(16)])


def draws(rows: np.ndarray, replicates: int, seed: int) -> np.ndarray:
    """How often each replicate draws rows of these numbers: ``[row, replicate]``.

    >>> whole = draws(np.arange(1000), 3, seed=0)
    >>> bool((draws(np.arange(600, 700), 3, seed=0) == whole[600:700]).all()), round(float(whole.mean()), 1)
    (True, 1.0)
    """
    numbers = rows.astype(np.uint64)[:, None] * np.uint64(replicates) + np.arange(replicates, dtype=np.uint64)
    uniform = splitmix64(splitmix64(numbers) + np.uint64(seed)) >> np.uint64(11)
    return np.searchsorted(CHANCES, uniform * 2.0**-53, side="right").astype(np.int8)


def bootstrap_intervals(
    estimates: np.ndarray, replicates: np.ndarray, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    """The intervals of estimates, from how far their replicates spread, which are the last axis.

    Replicates see fewer different rows, and so all of them err to one side: their percentiles are moved to where the
    estimates are.

    >>> bootstrap_intervals(np.array([5.0]), np.array([[1.0, 2.0, 3.0]]), level=1.0)
    (array([4.]), array([6.]))
    """
    low, high = np.quantile(replicates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=-1)
    moved = estimates - replicates.mean(axis=-1)
    return low + moved, high + moved
