"""The functions that read a dict into the arrays of a place: ``reader(place_at, x) -> entries or a negative code``.

They do not depend on loss and rule, so each is compiled once and called through its address.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray, types

from onlinear.kernels.compiler.cpython import pointer
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compile_callback
from onlinear.kernels.dicts import dict_reader
from onlinear.kernels.dicts.argument_block import BITS, CAP, FEATURES, KINDS, PLACE, entries_at, name_index_at
from onlinear.kernels.dicts.name_index import NEEDS_PYTHON, UNKNOWN


@inlined
def is_refused(place, x, entries):
    """Whether a row may have a number where a text has to be, or a text where a number has to be."""
    return place[KINDS] != 0 and dict_reader.is_of_another_kind(x, place[KINDS], entries)


@inlined
def read_and_adopt(place, x):
    """For learning: new names get positions. UNKNOWN, too, where the table has to grow first."""
    entries = entries_at(place)
    if is_refused(place, x, entries):
        return NEEDS_PYTHON
    length = dict_reader.read_exact(x, name_index_at(place), entries, False, place[CAP])
    if length > 0 and entries.columns[length - 1] >= place[FEATURES]:
        return UNKNOWN
    return length


@inlined
def read_known_names(place, x):
    """For answers: unknown names are left out, and those that another thread has just adopted but not learned yet."""
    entries = entries_at(place)
    if is_refused(place, x, entries):
        return NEEDS_PYTHON
    length = dict_reader.read_exact(x, name_index_at(place), entries, True, 0)
    while length > 0 and entries.columns[length - 1] >= place[FEATURES]:
        length -= 1
    return length


@inlined
def read_hashed_names(place, x):
    """For both, with hashed names."""
    entries = entries_at(place)
    if is_refused(place, x, entries):
        return NEEDS_PYTHON
    return dict_reader.read_hashed(x, place[BITS], entries)


@cache
def reader_of(read: Any) -> Any:
    """One of the above, compiled; its ``address`` is for :func:`onlinear.kernels.compiler.cpython.call_at`."""

    def read_dict(place_at, x):
        return read(carray(pointer(place_at), PLACE, np.int64), x)

    return compile_callback(read_dict, types.int64(types.int64, types.int64), read)
