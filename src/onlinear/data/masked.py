"""NumPy's masked arrays, of which ``np.asarray`` keeps what the mask hides, as if it were there."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import BadInput


def refuse_masked(values: Any, what: str) -> None:
    """Refuse an array with a cell that is masked; one that masks nothing is as any other.

    >>> refuse_masked(np.ma.array([1.0, 2.0], mask=[False, False]), "y")
    >>> refuse_masked(np.ma.array([1.0, -9999.0], mask=[False, True]), "y")
    Traceback (most recent call last):
    onlinear.errors.BadInput: Input y contains NaN: row 1 is masked: drop the row or fill it in
    """
    if not isinstance(values, np.ma.MaskedArray):
        return
    places = np.argwhere(np.ma.getmaskarray(values))
    if len(places):
        where = " of column ".join(map(str, places[0].tolist()[:2]))
        raise BadInput(f"Input {what} contains NaN: row {where} is masked: drop the row or fill it in")
