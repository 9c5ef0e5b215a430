"""Intervals for shares."""

from __future__ import annotations

import math
from statistics import NormalDist


def wilson(mistakes: float, rows: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a share: true at the ends, where a normal interval is not.

    ``(p + z^2/2n ± z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n)``. Wilson 1927, "Probable inference, the law of
    succession, and statistical inference".

    >>> low, high = wilson(0, 10)
    >>> low, round(high, 3)
    (0.0, 0.278)
    """
    if rows <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1.0 + level) / 2.0)
    share = mistakes / rows
    middle = share + z * z / (2 * rows)
    around = z * math.sqrt(share * (1.0 - share) / rows + z * z / (4 * rows * rows))
    scale = 1.0 + z * z / rows
    low = 0.0 if mistakes == 0 else (middle - around) / scale
    high = 1.0 if mistakes == rows else (middle + around) / scale
    return low, high
