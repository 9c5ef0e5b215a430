"""Which columns of a table have changed: a byte for each block of them."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop

#: a block has two to the power of so many columns
BLOCK_BITS = 4


@inlined
def note_change(columns, count, changed):
    """Note the first columns of an array in the map; those it has no room for are no columns of the table."""
    for k in range(count):
        block = np.uint64(columns[k]) >> np.uint64(BLOCK_BITS)
        if block < np.uint64(len(changed)):
            changed[block] = 1


@compiled_loop
def note_columns(columns, changed):
    """Note all columns of an array in the map."""
    note_change(columns, len(columns), changed)
