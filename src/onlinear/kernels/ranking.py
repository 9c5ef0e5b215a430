"""Sorting short rows by column: an entry's place is how many of the others come before it.

That is more comparisons than a sort needs, but sixteen at a time, and none of them is a branch.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

#: columns that are compared at once, and entries up to which that is two to three times as fast as a sort
GROUP, MOST = 16, 128
#: a key is a column and an entry's number, to tell those of one column apart: so many bits each
NUMBER_BITS = 7
COLUMN_BITS = 31 - NUMBER_BITS
#: behind every key there can be
BEHIND = 2**31 - 1

LARGEST = sys.float_info.max
_ONE = np.uint64(1)

_GROUP = ir.VectorType(ir.IntType(32), GROUP)


@intrinsic
def before_in(typing_context, columns, at, column):
    """How many of sixteen columns come before one."""

    def emit(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), _GROUP.as_pointer())
        one = builder.insert_element(_GROUP(ir.Undefined), arguments[2], ir.IntType(32)(0))
        all_ = builder.shuffle_vector(one, _GROUP(ir.Undefined), _GROUP([0] * GROUP))
        less = builder.icmp_signed("<", builder.load(place, align=4), all_)
        count = builder.ctpop(builder.bitcast(less, ir.IntType(GROUP)))
        return builder.zext(count, ir.IntType(64))

    return types.uint64(columns, types.int64, types.int32), emit


@register_jitable(forceinline=True)
def rank(hashes, values, start, n, bits, keys, columns, placed, written):
    """Write a row's entries in the order of their columns, from ``written`` on; those of one column as they came."""
    shift = np.uint64(64 - bits)
    for k in range(n):
        keys[k] = np.int32(((hashes[start + k] >> shift) << np.uint64(NUMBER_BITS)) | np.uint64(k))
    stop = (np.int64(n) + GROUP - 1) // GROUP * GROUP
    for k in range(n, np.uint64(stop)):
        keys[k] = BEHIND
    for k in range(n):
        place = written
        for at in range(0, stop, GROUP):
            place += before_in(keys, at, keys[k])
        columns[place], placed[place] = keys[k] >> NUMBER_BITS, values[start + k]


@register_jitable(forceinline=True)
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


@register_jitable
def sort_runs(columns, values, start, n):
    """Sort the values of each column."""
    for k in range(start + _ONE, start + n):
        value, at = values[k], np.uint64(k)
        while at > start and columns[at - _ONE] == columns[k] and values[at - _ONE] > value:
            values[at] = values[at - _ONE]
            at -= _ONE
        values[at] = value
