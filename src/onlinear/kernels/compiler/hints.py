"""Functions that mean something to compiled loops only."""

from __future__ import annotations

from typing import Any

from onlinear.kernels.compiler.inlining import plain_way

LINE = 64  # bytes that memory hands over at once


@plain_way("uncounted")
def uncounted(thing: Any) -> Any:
    """An array, or a named tuple's arrays, without reference counts; anything else as it is.

    Numba counts references to arrays with atomic additions, a few for every row, because they hide in tuples: more time
    than a sparse row's arithmetic. The caller of a loop keeps its arrays alive, so inside the loop they need no count.
    """
    return thing


@plain_way("prefetch")
def prefetch(address: Any) -> None:
    """Tell the processor that this address will be read soon."""
