"""Intervals: how far a counted share may be from the one behind it."""

from __future__ import annotations

import math
from statistics import NormalDist

from onlinear.errors import BadInput


def wilson(mistakes: float, rows: int, level: float = 0.95) -> tuple[float, float]:
    """The shares p of mistakes that a normal test of so many on these rows does not reject.

    The solutions of ``|mistakes / rows - p| <= z sqrt(p (1 - p) / rows)``: never below 0 or above 1, and sensible for
    few rows and no mistakes, too. Wilson 1927.

    >>> [round(limit, 3) for limit in wilson(0, 10)]
    [0.0, 0.278]
    """
    if not 0.0 < level < 1.0:
        raise BadInput(f"the level {level} of an interval is no probability: choose one between 0 and 1, as 0.95")
    if rows < 1 or not 0 <= mistakes <= rows:
        raise BadInput(f"{mistakes} mistakes on {rows} rows are impossible: give a count between 0 and the rows")
    z2 = NormalDist().inv_cdf(0.5 + level / 2.0) ** 2
    middle = mistakes + z2 / 2.0
    reach = math.sqrt(z2 * (mistakes * (rows - mistakes) / rows + z2 / 4.0))
    low, high = (middle - reach) / (rows + z2), (middle + reach) / (rows + z2)
    return 0.0 if mistakes == 0 else low, 1.0 if mistakes == rows else high
