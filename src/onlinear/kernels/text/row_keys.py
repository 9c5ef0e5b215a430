"""A key of 64 bits for each row, of all that is learned from it: entries in their places, label and importance."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.name_hash import mixed

#: odd numbers without a pattern: one step of a column or a place is none that an edited value takes
COLUMN, PLACE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)


@compiled_loop
def key_rows(starts, columns, values, labels, importance, keys):
    """Numbers come as their bits. No key depends on another row."""
    for row in range(len(keys)):
        start, stop = np.uint64(starts[row]), np.uint64(starts[row + 1])
        key = mixed(entries_key(columns[start:stop], values[start:stop]) + (stop - start))
        keys[row] = mixed(mixed(key + labels[row]) + importance[row])


@inlined
def entries_key(columns, values):
    """Of each entry its column, value and place, mixed before they are added up, so that no edit undoes another."""
    total = np.uint64(0)
    for k in range(len(values)):
        total += mixed(values[k] + np.uint64(columns[k]) * COLUMN + np.uint64(k) * PLACE)
    return total
