"""From the hashes of names to columns: the highest bits of each, as :class:`onlinear.features.names.HashedNames`."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.hints import uncounted
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import leading_zeros
from onlinear.kernels.text.entries import insert, sum_duplicates
from onlinear.kernels.text.rank_sort import COLUMN_BITS, MOST, ROOM, rank, sort_runs, sum_runs

_WORD = np.uint64(64)


@compiled_loop
def place_by_hash(starts, hashes, values, bits, columns, placed, broken):
    """Every row sorted by column, the values of a column added up; ``starts`` change with them.

    A row of which a sum is beyond all floats is marked as broken, and keeps no entries.
    """
    longest = 1
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    keys, ranks = np.empty(ROOM, np.int32), np.empty(ROOM, np.int32)
    heads = np.empty(2 * longest + 1, np.int32)
    written, start = np.uint64(0), np.uint64(starts[0])
    for row in range(len(starts) - 1):
        stop = np.uint64(starts[row + 1])
        starts[row] = written
        n = stop - start
        left = n
        if n > np.uint64(MOST) or (bits > COLUMN_BITS and n > np.uint64(0)):
            row_columns, row_values = columns[written : written + n], placed[written : written + n]
            spread(hashes[start:stop], values[start:stop], bits, row_columns, row_values, uncounted(heads))
            insert(row_columns, row_values, n)
            left = np.uint64(max(sum_duplicates(row_columns, row_values, n), 0))
        elif n > np.uint64(0):
            rank(hashes, values, start, n, bits, uncounted(keys), uncounted(ranks), columns, placed, written)
            left, mixed = sum_runs(columns, placed, written, n)
            if mixed:
                rank(hashes, values, start, n, bits, uncounted(keys), uncounted(ranks), columns, placed, written)
                sort_runs(columns, placed, written, n)
                left, mixed = sum_runs(columns, placed, written, n)
        broken[row] = left == np.uint64(0) and n > np.uint64(0)
        written += left
        start = stop
    starts[-1] = written


@inlined
def spread(hashes, values, bits, columns, placed, heads):
    """Write columns and values nearly in order: hashes are spread evenly, so as many shelves as entries hold one each.

    ``heads`` has room for where each shelf begins.
    """
    n = len(hashes)
    shelf_bits = min(np.int64(_WORD - leading_zeros(np.uint64(max(n - 1, 0)))), bits)
    shelf, column = np.uint64(64 - shelf_bits) & np.uint64(63), np.uint64(64 - bits)
    shelves = 1 << shelf_bits
    if shelf_bits == 0:
        for k in range(n):
            columns[k], placed[k] = hashes[k] >> column, values[k]
        return
    for s in range(shelves):
        heads[s] = 0
    for k in range(n):
        heads[hashes[k] >> shelf] += 1
    place = 0
    for s in range(shelves):
        count = heads[s]
        heads[s] = place
        place += count
    for k in range(n):
        place = heads[hashes[k] >> shelf]
        heads[hashes[k] >> shelf] = place + 1
        columns[place], placed[place] = hashes[k] >> column, values[k]
