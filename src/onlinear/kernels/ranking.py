"""Sorting short rows by column: an entry's place is how many of the others come before it.

That is more comparisons than a sort needs, but sixteen at a time, and none of them is a branch.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

#: columns that are compared at once, and entries up to which that is two to three times as fast as a sort
GROUP, MOST = 16, 64
#: behind every column there can be
BEHIND = 2**31 - 1

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
    """Write a row's entries in order, from ``written`` on; whether no column is there twice."""
    shift = np.uint64(64 - bits)
    for k in range(n):
        keys[k] = np.int32(hashes[start + k] >> shift)
    stop = (np.int64(n) + GROUP - 1) // GROUP * GROUP
    for k in range(n, np.uint64(stop)):
        keys[k] = BEHIND
    ranks = np.uint64(0)
    for k in range(n):
        place = np.uint64(0)
        for at in range(0, stop, GROUP):
            place += before_in(keys, at, keys[k])
        columns[written + place], placed[written + place] = keys[k], values[start + k]
        ranks += place
    return ranks + ranks == n * (n - np.uint64(1)) or n == np.uint64(0)
