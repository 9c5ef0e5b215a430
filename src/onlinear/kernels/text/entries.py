"""The entries of one sparse row, sorted by column and without duplicates."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.inlining import inlined

SHORT_ROW = 24  # entries up to which insertion alone is the faster sort
DIGIT_BITS = 8
DIGITS = 1 << DIGIT_BITS
HALF = 32  # bits of a word that the number of an entry takes
LOWER_HALF = (1 << HALF) - 1


class Entries(NamedTuple):
    """Room for the entries of a row, and for sorting them."""

    columns: Any
    values: Any
    names: Any  # addresses of the row's keys
    items: Any  # addresses of the row's values
    keys: Any  # twice as long: what is sorted, before and after a pass
    kept: Any  # the values before they are sorted
    starts: Any  # where a digit's entries start


@inlined
def sort_and_sum(entries, n):
    """How many entries are left when those of one column are added up; negative if a sum is beyond all floats."""
    columns, values = entries.columns, entries.values
    if is_ascending(columns, n):
        return n
    if n > SHORT_ROW:
        sort_by_digits(entries, n)
    insert(columns, values, n)
    return sum_duplicates(columns, values, n)


@inlined
def is_ascending(columns, n):
    ascending = True
    for k in range(1, n):
        ascending &= columns[k - 1] < columns[k]
    return ascending


@inlined
def insert(columns, values, n):
    """Sort by column, then value: fast where little is out of order."""
    for start in range(1, n):
        column, value = columns[start], values[start]
        k = start
        while k > 0 and (columns[k - 1] > column or (columns[k - 1] == column and values[k - 1] > value)):
            columns[k], values[k] = columns[k - 1], values[k - 1]
            k -= 1
        columns[k], values[k] = column, value


@inlined
def sort_by_digits(entries, n):
    """Sort by column, the lowest digit first: as many passes as the highest column has digits."""
    columns, values, keys, kept = entries.columns, entries.values, entries.keys, entries.kept
    room = len(columns)
    highest = np.int64(0)
    for k in range(n):
        highest = max(highest, np.int64(columns[k]))
        keys[k] = (np.int64(columns[k]) << HALF) | k
        kept[k] = values[k]
    here, there = 0, room
    shift = 0
    while highest >> shift > 0:
        pass_by_digit(keys, here, there, n, HALF + shift, entries.starts)
        here, there = there, here
        shift += DIGIT_BITS
    for k in range(n):
        key = keys[here + k]
        columns[k], values[k] = key >> HALF, kept[key & LOWER_HALF]


@inlined
def pass_by_digit(keys, here, there, n, shift, starts):
    """Move n keys from ``here`` to ``there``, in the order of one digit."""
    starts[:] = 0
    for k in range(here, here + n):
        starts[(keys[k] >> shift) & (DIGITS - 1)] += 1
    start = there
    for digit in range(DIGITS):
        count = starts[digit]
        starts[digit] = start
        start += count
    for k in range(here, here + n):
        digit = (keys[k] >> shift) & (DIGITS - 1)
        keys[starts[digit]] = keys[k]
        starts[digit] += 1


@inlined
def sum_duplicates(columns, values, n):
    last = 0
    for k in range(1, n):
        if columns[k] == columns[last]:
            values[last] += values[k]
            if not math.isfinite(values[last]):
                return -1
        else:
            last += 1
            columns[last], values[last] = columns[k], values[k]
    return last + 1
