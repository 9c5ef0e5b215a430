"""The state of a stage as plain arrays: taken from a file that may be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from onlinear.errors import OnlinearError

Arrays: TypeAlias = dict[str, np.ndarray]


def vector(arrays: Mapping[str, np.ndarray], name: str, dtype: Any, length: int | None = None) -> np.ndarray:
    """One of the arrays, as long as it has to be."""
    found = arrays.get(name)
    if (
        found is None
        or found.dtype != dtype
        or found.ndim != 1
        or len(found) != (len(found) if length is None else length)
    ):
        raise damaged(name)
    return found


def damaged(name: str) -> OnlinearError:
    return OnlinearError(f"the {name} among the saved names and scales are damaged: save them again")
