"""Sorting short rows by column: an entry's place is how many of the others come before it.

That is more comparisons than a sort needs, but many at a time, and none of them is a branch.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import sys

import numpy as np

from onlinear.kernels.compiler.inlining import inlined, plain_way

#: keys in a register, and registers that are compared in turn with each key; registers twice as wide are slower
LANES, REGISTERS = 8, 3
GROUP = LANES * REGISTERS
#: entries of a row up to which this is done, and room for the keys or the ranks of such a row
MOST = 128
ROOM = MOST + GROUP
#: a key is a column and an entry's number, to tell those of one column apart: so many bits each
NUMBER_BITS = 7
COLUMN_BITS = 31 - NUMBER_BITS

LARGEST = sys.float_info.max
_ONE = np.uint64(1)


@plain_way("rank_simd")
def rank_group(keys, n, at, ranks):
    """Write down how many of the first n keys come before each of a group, from ``at`` on."""
    for k in range(at, at + GROUP):
        count = np.int32(0)
        for other in range(n):
            count += np.int32(keys[other] < keys[k])
        ranks[k] = count


@inlined
def rank_all(keys, n, ranks):
    """Write down how many of n keys come before each. There has to be room for whole groups of either."""
    for at in range(0, n, GROUP):
        rank_group(keys, n, at, ranks)


@inlined
def rank(hashes, values, start, n, bits, keys, ranks, columns, placed, written):
    """Write a row's entries in the order of their columns, from ``written`` on; those of one column as they came."""
    shift = np.uint64(64 - bits)
    for k in range(n):
        keys[k] = np.int32(((hashes[start + k] >> shift) << np.uint64(NUMBER_BITS)) | np.uint64(k))
    rank_all(keys, np.int64(n), ranks)
    for k in range(n):
        place = written + np.uint64(ranks[k])
        columns[place], placed[place] = keys[k] >> NUMBER_BITS, values[start + k]


@inlined
def sum_runs(columns, values, start, n):
    """How many entries are left when those of one column are added up, none if a sum is beyond all floats; and whether
    the sum of a column depends on the order of its values: there are more than two of them, and not all the same.
    """
    last, total, before = start, values[start], columns[start]
    fine, mixed, again, other = True, False, False, False
    for k in range(start + _ONE, start + n):  # without a branch: which columns come twice cannot be foreseen
        column, value = columns[k], values[k]
        same = column == before
        differs = value != values[k - _ONE]
        mixed |= same & again & (differs | other)
        before, again, other = column, same, differs
        total = value + total if same else value
        last += np.uint64(not same)
        columns[last], values[last] = column, total
        fine &= abs(total) <= LARGEST
    return last - start + _ONE if fine else np.uint64(0), mixed


@inlined
def sort_runs(columns, values, start, n):
    """Sort the values of each column."""
    for k in range(start + _ONE, start + n):
        value, at = values[k], np.uint64(k)
        while at > start and columns[at - _ONE] == columns[k] and values[at - _ONE] > value:
            values[at] = values[at - _ONE]
            at -= _ONE
        values[at] = value
