"""Seeds for estimators, which take 32 bits, from a seed of any size."""

from __future__ import annotations

import numpy as np


def seed_of(seed: int, number: int = 0) -> int:
    """The seed of what has this number.

    >>> seed_of(2**70, 1) < 2**32, seed_of(0, 1) == seed_of(0, 2)
    (True, False)
    """
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
