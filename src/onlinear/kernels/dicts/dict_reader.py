"""From a dict to a sparse row in machine code.

The answers are those of ``features/names.py``, to the bit, or none at all: anything out of the ordinary comes back as
``NEEDS_PYTHON``, with no Python error left set and nothing changed, and the caller asks ``features/names.py``, which
has the right answer or the right error.

Why this is safe: no function called here runs Python code between the moment a dict hands out a borrowed key or value
and the last use of it. Hence exact types only, and subclasses of ``str`` or ``dict`` take the Python path.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,operator,var-annotated"

from __future__ import annotations

import math

import numpy as np

from onlinear.features.names import ABSENT
from onlinear.kernels.compiler.cpython import (
    byte_at,
    clear_error,
    compare_text,
    dict_size,
    finite_number,
    long_as_ssize,
    long_from_ssize,
    next_item,
    prefetch_text,
    release,
    set_item,
    type_dict,
    type_int,
    type_of,
    type_str,
    utf8,
)
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.dicts.name_index import NEEDS_PYTHON, UNKNOWN, enter, fetch, find, find_position, is_complete
from onlinear.kernels.text.entries import sort_and_sum
from onlinear.kernels.text.name_hash import OFFSET, PRIME, mixed

EQUALS_SIGN, QUESTION_MARK = np.uint64(ord("=")), np.uint64(ord(ABSENT))

#: what a column of a table holds
NUMBER_KIND, TEXT_KIND = range(2)

PREFIX = 7  # bytes of a name that are compared at once: so many keep the sign of a word out of it
BYTE = np.uint64(8)
NO_BYTE = np.uint64(0)

FEW = 16  # names that are found as fast without asking for all of them first
MOST_NEW = 256  # new names of one row: Python sorts more of them faster than insertion does


@inlined
def collect(x, entries):
    """Write down where the row's names and values are; how many there are, or NEEDS_PYTHON."""
    if type_of(x) != type_dict():
        return NEEDS_PYTHON
    n = 0
    more, cursor, name, value = next_item(x, 0)
    while more != 0:
        if n == len(entries.names):
            return NEEDS_PYTHON
        entries.names[n], entries.items[n] = name, value
        prefetch_text(name)
        n += 1
        more, cursor, name, value = next_item(x, cursor)
    return n


@inlined
def is_of_another_kind(x, kinds, entries):
    """Whether a row may have a number where ``kinds``, a dict of names, asks for a text, or the reverse.

    Only Python says it, and what a name that is no text is called.
    """
    for k in range(collect(x, entries)):
        name, item = entries.names[k], entries.items[k]
        if type_of(name) != type_str():
            return True
        kind = find(kinds, name)
        if kind != UNKNOWN and (kind < 0 or not is_of_kind(item, long_as_ssize(kind))):
            return True
    return False


@inlined
def is_of_kind(item, kind):
    """Whether a value is a text where texts are, or else a number or what stands for a missing one."""
    if type_of(item) != type_str():
        return kind == NUMBER_KIND
    return kind == TEXT_KIND or is_absent(item)


@inlined
def is_absent(text):
    address, size = utf8(text)
    if address == 0:
        clear_error()
        return False
    return size == 1 and byte_at(address) == QUESTION_MARK


# --- exact names --------------------------------------------------------------------------------


@inlined
def read_exact(x, name_index, entries, skip_unknown, cap):
    """Fill in columns and values, and return how many there are.

    Unknown names are left out or, up to ``cap`` names, get positions, as ``ExactNames.register`` gives them. UNKNOWN,
    with nothing changed, where only Python can tell: a new category, too many new names, the cap.
    """
    columns, values = entries.columns, entries.values
    count = collect(x, entries)
    if count > FEW:
        fetch(name_index, entries.names, entries.keys, count)
    complete = is_complete(name_index)
    n = 0
    new = 0
    for k in range(count):
        name, item = entries.names[k], entries.items[k]
        if type_of(name) != type_str() and type_of(name) != type_int():
            return NEEDS_PYTHON  # another class may hash and compare with Python code
        is_category = type_of(item) == type_str()
        if is_category:
            number = 1.0
            position = find_category(name_index.categories, name, item)
        else:
            number = finite_number(item)
            if math.isnan(number):
                return NEEDS_PYTHON
            position = find_position(name_index, complete, name)
        if position >= 0:
            columns[n], values[n] = position, number
            n += 1
        elif position == NEEDS_PYTHON:
            return position
        elif not skip_unknown:
            # A name like ``a=b`` is a category, too, which only Python splits.
            prefix = prefix_of(name) if not is_category and type_of(name) == type_str() else -1
            if prefix < 0 or new == MOST_NEW:
                return UNKNOWN
            # What entry ``new`` was before has been looked up.
            entries.names[new], entries.keys[new], entries.kept[new] = name, prefix, number
            new += 1
    if count < 0:
        return count
    if new > 0 and not adopt(name_index, entries, n, new, cap):
        return UNKNOWN
    return sort_and_sum(entries, n + new)


@inlined
def find_category(categories, name, value):
    if type_of(name) != type_str():
        return NEEDS_PYTHON  # only str(name) can tell what the category is called
    known_values = find(categories, name)
    item = find(known_values, value) if known_values >= 0 else known_values
    if item >= 0:
        return long_as_ssize(item)
    if item == UNKNOWN and not is_split_first(name):
        return NEEDS_PYTHON
    return item


@inlined
def is_split_first(name):
    """Whether ``categories`` is sure to hold all values of this name: see ExactNames."""
    return prefix_of(name) >= 0


@inlined
def prefix_of(name):
    """The first bytes of a plain name, as a number that sorts like names; -1 for a name with "=" or surrogates."""
    address, size = utf8(name)
    if address == 0:
        clear_error()
        return np.int64(-1)
    has_equals_sign = False
    for k in range(size):
        has_equals_sign |= byte_at(address + k) == EQUALS_SIGN
    if has_equals_sign:
        return np.int64(-1)
    prefix = np.uint64(0)
    for k in range(PREFIX):
        prefix = (prefix << BYTE) | (byte_at(address + k) if k < size else NO_BYTE)
    return np.int64(prefix)


@inlined
def adopt(name_index, entries, n, new, cap):
    """Give the new names the next positions, in sorted order; False, with nothing changed, where the cap forbids it."""
    positions = name_index.positions
    size = dict_size(positions)
    if size + new > cap:
        return False
    sort_names(entries.names, entries.keys, entries.kept, new)
    for k in range(new):
        name, number = entries.names[k], entries.kept[k]
        position = long_from_ssize(size + k)
        failed = set_item(positions, name, position)
        release(position)
        if failed != 0:
            clear_error()
            return False
        enter(name_index, name, size + k)
        entries.columns[n + k], entries.values[n + k] = size + k, number
    return True


@inlined
def sort_names(fresh, prefixes, numbers, n):
    for start in range(1, n):
        name, prefix, number = fresh[start], prefixes[start], numbers[start]
        k = start
        while k > 0 and is_after(fresh[k - 1], prefixes[k - 1], name, prefix):
            fresh[k], prefixes[k], numbers[k] = fresh[k - 1], prefixes[k - 1], numbers[k - 1]
            k -= 1
        fresh[k], prefixes[k], numbers[k] = name, prefix, number


@inlined
def is_after(name, prefix, other, other_prefix):
    if prefix != other_prefix:
        return prefix > other_prefix
    return compare_text(name, other) > 0


# --- hashed names -------------------------------------------------------------------------------


@inlined
def read_hashed(x, bits, entries):
    """As above for ``HashedNames(bits)``."""
    columns, values = entries.columns, entries.values
    shift = 64 - bits
    count = collect(x, entries)
    for k in range(count):
        name, item = entries.names[k], entries.items[k]
        if type_of(name) != type_str():
            return NEEDS_PYTHON
        is_category = type_of(item) == type_str()
        number = 1.0 if is_category else finite_number(item)
        position = hash_position(name, item, is_category, shift)
        if position < 0 or math.isnan(number):
            return NEEDS_PYTHON
        columns[k], values[k] = position, number
    return sort_and_sum(entries, count) if count >= 0 else count


@inlined
def hash_position(name, value, is_category, shift):
    """The top bits of the hash of ``name``, or of ``name=value``; NEEDS_PYTHON for surrogates."""
    address, size = utf8(name)
    if address == 0:
        clear_error()
        return NEEDS_PYTHON
    bits = hash_bytes(address, size, OFFSET)
    if is_category:
        address, size = utf8(value)
        if address == 0:
            clear_error()
            return NEEDS_PYTHON
        bits = hash_bytes(address, size, (bits ^ EQUALS_SIGN) * PRIME)
    return np.int64(mixed(bits) >> np.uint64(shift))


@inlined
def hash_bytes(address, size, bits):
    for k in range(size):
        bits = (bits ^ byte_at(address + k)) * PRIME
    return bits
