"""The functions that read a dict into the arrays of a place: ``reader(place_at, x) -> entries or a negative code``.

They do not depend on loss and rule, so each is compiled once and called through its address.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic

from onlinear.kernels import walk
from onlinear.kernels.compiler.inlining import part
from onlinear.kernels.dicts.argument_block import BITS, CAP, FEATURES, PLACE, entries_at, lexicon_at, pointer
from onlinear.kernels.dicts.name_index import UNKNOWN
from onlinear.kernels.loops import kept_callback, named, source_digest


@part
def adopting(place, x):
    """For learning: new names get positions. UNKNOWN, too, where the table has to grow first."""
    entries = entries_at(place)
    length = walk.walk_exact(x, lexicon_at(place), entries, False, place[CAP])
    if length > 0 and entries.columns[length - 1] >= place[FEATURES]:
        return UNKNOWN
    return length


@part
def known(place, x):
    """For answers: unknown names are left out, and those that another thread has just adopted but not learned yet."""
    entries = entries_at(place)
    length = walk.walk_exact(x, lexicon_at(place), entries, True, 0)
    while length > 0 and entries.columns[length - 1] >= place[FEATURES]:
        length -= 1
    return length


@part
def hashed(place, x):
    """For both, with hashed names."""
    return walk.walk_hashed(x, place[BITS], entries_at(place))


@cache
def reader(read: Any) -> Any:
    """One of the above, compiled; its ``address`` is for :func:`call_reader`."""
    digest = source_digest()

    def read_dict(place_at, x):
        _ = digest  # captured: see source_digest
        return read(carray(pointer(place_at), PLACE, np.int64), x)

    return kept_callback(named(read_dict, read), types.int64(types.int64, types.int64))


@intrinsic
def call_reader(typing, address, place_at, x):
    """Call a reader through its address."""

    def emit(context, builder, signature, arguments):
        word = ir.IntType(64)
        kind = ir.FunctionType(word, [word, word])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(function, arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), emit
