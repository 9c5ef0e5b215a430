"""Where a name stands, without asking Python's dict.

The dict ``positions`` is the truth. Beside it stands a hash table over the same names, which uses the hash that CPython
keeps in every string: ``slots`` holds the upper half of a name's hash above its position plus one, or 0, and ``held``
the address of the name at each position. Names are never forgotten, so the dict keeps the strings alive.

Looking up a row's names takes most of the time of a long row, and most of that is waiting for memory. A dict makes it
wait for one name after the other; here the row's names are asked for together (:func:`fetch`). Rows of 68 entries are
answered 1.7 times as fast as with the dict alone (benchmarks/kernel_pieces.py).
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,operator,var-annotated"

from __future__ import annotations

from typing import Any, NamedTuple

from onlinear.kernels.compiler.cpython import (
    clear_error,
    compare_text,
    dict_size,
    error_occurred,
    get_item,
    hash_of,
    long_as_ssize,
    next_item,
    prefetch_text,
    type_of,
    type_str,
)
from onlinear.kernels.compiler.hints import prefetch
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop

NEEDS_PYTHON = -1
UNKNOWN = -2

HALF = 32  # bits of a word that a position takes
LOWER_HALF = (1 << HALF) - 1
WORD = 8  # bytes


class NameIndex(NamedTuple):
    """The names and where they stand."""

    positions: Any  # address of the dict name -> position
    categories: Any  # address of the dict name -> value -> position of ``name=value``
    slots: Any  # a power of two of them, at least two for each name
    slots_at: Any  # their address
    held: Any
    held_at: Any
    entered: Any  # one number: how many names are in the slots


@inlined
def enter(name_index, name, position):
    """Put a name that is not in a slot yet, and is a key of ``positions``, into one. Too many are left out."""
    if position < len(name_index.held):
        name_index.held[position] = name
        take_slot(name_index.slots, ((hash_of(name) >> HALF) << HALF) | (position + 1))
        name_index.entered[0] += 1


@inlined
def take_slot(slots, word):
    """The first empty slot from its home on."""
    mask = len(slots) - 1
    slot = (word >> HALF) & mask
    while slots[slot] != 0:
        slot = (slot + 1) & mask
    slots[slot] = word


@inlined
def fetch(name_index, names, homes, n):
    """Ask for the slots of n names, and for the names they lead to, before anyone has to wait for them."""
    mask = len(name_index.slots) - 1
    for k in range(n):
        homes[k] = (hash_of(names[k]) >> HALF) & mask if type_of(names[k]) == type_str() else 0
        prefetch(name_index.slots_at + WORD * homes[k])
    for k in range(n):
        homes[k] = max(0, (name_index.slots[homes[k]] & LOWER_HALF) - 1)
        prefetch(name_index.held_at + WORD * homes[k])
    for k in range(n):
        prefetch_text(name_index.held[homes[k]])


@inlined
def find_position(name_index, is_complete, name):
    """The position of a name, UNKNOWN or NEEDS_PYTHON; ``is_complete`` says that all names are in the slots."""
    if type_of(name) == type_str():
        position = find_slot(name_index, name)
        if position >= 0 or is_complete:
            return position
    item = find(name_index.positions, name)
    return long_as_ssize(item) if item >= 0 else item


@inlined
def find_slot(name_index, name):
    slots, held = name_index.slots, name_index.held
    mask = len(slots) - 1
    half = hash_of(name) >> HALF
    slot = half & mask
    while slots[slot] != 0:
        if slots[slot] >> HALF == half:
            position = (slots[slot] & LOWER_HALF) - 1
            if held[position] == name or compare_text(held[position], name) == 0:
                return position
        slot = (slot + 1) & mask
    return UNKNOWN


@inlined
def is_complete(name_index):
    return name_index.entered[0] == dict_size(name_index.positions)


@inlined
def find(dictionary, key):
    """The address of the item, UNKNOWN or NEEDS_PYTHON."""
    item = get_item(dictionary, key)
    if item != 0:
        return item
    if error_occurred() != 0:
        clear_error()
        return NEEDS_PYTHON
    return UNKNOWN


@compiled_loop(nogil=False)
def enter_all(positions, slots, held, entered):
    """Fill empty slots with the names of ``positions``."""
    name_index = NameIndex(positions, 0, slots, 0, held, 0, entered)
    more, cursor, name, position = next_item(positions, 0)
    while more != 0:
        if type_of(name) == type_str():
            enter(name_index, name, long_as_ssize(position))
        more, cursor, name, position = next_item(positions, cursor)


@compiled_loop(nogil=False)
def move_all(slots, larger):
    """Fill larger, empty slots with what is in the slots."""
    for word in slots:
        if word != 0:
            take_slot(larger, word)
