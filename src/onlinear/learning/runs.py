"""Labels that come in runs, as in a file sorted by them: a learner forgets the first class while it meets the last."""

from __future__ import annotations

from collections import Counter

import numpy as np

#: changes of the label that are usual, below which nothing is said; and how many times fewer there are in runs
LEAST, TIMES_FEWER = 10.0, 10


def come_in_runs(labels: np.ndarray) -> bool:
    """Whether neighbours have the same label far more often than in a random order.

    Of n rows in random order the label changes n (1 - sum of squared shares) times in the mean.

    >>> come_in_runs(np.repeat([0, 1, 2], 50)), come_in_runs(np.tile([0, 1, 2], 50))
    (True, False)
    """
    changes = np.count_nonzero(labels[1:] != labels[:-1])
    if TIMES_FEWER * changes > len(labels):  # seen without counting each label, which takes as long as to learn its row
        return False
    shares = np.array(list(Counter(labels.tolist()).values())) / max(len(labels), 1)
    usual = len(labels) * (1.0 - float((shares**2).sum()))
    return bool(usual >= LEAST and TIMES_FEWER * changes <= usual)
