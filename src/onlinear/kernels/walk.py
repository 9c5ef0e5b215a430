"""From a dict to a sparse row in machine code, through CPython's own C functions.

The answers are those of ``features/names.py``, to the bit, or none at all: anything out of the
ordinary comes back as ``NEEDS_PYTHON``, with no Python error left set and nothing changed, and the
caller asks ``features/names.py``, which has the right answer or the right error.

A row, ``positions`` and ``categories`` are addresses: ``id(x)``. The caller keeps the objects
alive and HOLDS THE GIL: never call these functions from a kernel compiled with ``nogil=True``.

Why this is safe: no function called here runs Python code between the moment a dict hands out a
borrowed key or value and the last use of it. Hence exact types only, and subclasses of ``str`` or
``dict`` take the Python path.

Why this can be cached on disk: the C functions and the addresses of the type objects are *symbols*,
which are looked up when a cached kernel is loaded, never numbers baked into it. A kernel's cache
does not notice a change of this file, though: it must capture a hash of its source.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,operator,var-annotated,import-untyped"

from __future__ import annotations

import ctypes
import math
import sys
import sysconfig
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from onlinear.features import names

NEEDS_PYTHON = -1
UNKNOWN = -2

NO_CAP = 0  # adopt no names; the room for them is then never looked at

TYPE_OFFSET = 8  # of ob_type in a PyObject: after the reference count
FLOAT_OFFSET = 16  # of the number in a float: after its type

FNV_OFFSET = np.uint64(names.FNV_OFFSET)
FNV_PRIME = np.uint64(names.FNV_PRIME)
MIX_FIRST = np.uint64(names.MIX_FIRST)
MIX_SECOND = np.uint64(names.MIX_SECOND)
MIX_SHIFT = np.uint64(33)
EQUALS_SIGN = np.uint64(ord("="))

SHORT_ROW = 24  # entries up to which insertion alone is the faster sort
BYTE = np.uint32(255)


def _available() -> bool:
    jit_is_off = getattr(config, "DISABLE_JIT", 0)
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1 or jit_is_off:
        return False
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False  # another object layout, and borrowed references are no longer safe
    number = 0.1
    has_type = ctypes.c_ssize_t.from_address(id("") + TYPE_OFFSET).value == id(str)
    return has_type and ctypes.c_double.from_address(id(number) + FLOAT_OFFSET).value == number


AVAILABLE: bool = _available()


# --- CPython's functions; an object is its address ---------------------------------------------

_object = types.intp
_get_item = types.ExternalFunction("PyDict_GetItemWithError", _object(_object, _object))
_float_as_double = types.ExternalFunction("PyFloat_AsDouble", types.float64(_object))
_long_as_double = types.ExternalFunction("PyLong_AsDouble", types.float64(_object))
_long_as_ssize = types.ExternalFunction("PyLong_AsSsize_t", types.intp(_object))
_long_from_ssize = types.ExternalFunction("PyLong_FromSsize_t", _object(types.intp))
_set_item = types.ExternalFunction("PyDict_SetItem", types.int32(_object, _object, _object))
_dict_size = types.ExternalFunction("PyDict_Size", types.intp(_object))
_compare_text = types.ExternalFunction("PyUnicode_Compare", types.int32(_object, _object))
_release = types.ExternalFunction("Py_DecRef", types.void(_object))
_is_subtype = types.ExternalFunction("PyType_IsSubtype", types.int32(_object, _object))
_error_occurred = types.ExternalFunction("PyErr_Occurred", _object())
_clear_error = types.ExternalFunction("PyErr_Clear", types.void())

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)
_INT = ir.IntType(32)


def _type_object(python_type: type) -> Any:
    """A compiled function without arguments that returns the address of a type object."""
    # With the module: NumPy calls its truth value "bool", too.
    symbol = f"onlinear_type_{python_type.__module__}_{python_type.__name__}"
    binding.add_symbol(symbol, id(python_type))

    @intrinsic
    def address(typing_context):
        def emit(context, builder, signature, arguments):
            variable = builder.module.globals.get(symbol)
            if variable is None:
                variable = ir.GlobalVariable(builder.module, _BYTE, symbol)
            return builder.ptrtoint(variable, _WORD)

        return types.intp(), emit

    return address


_type_dict = _type_object(dict)
_type_str = _type_object(str)
_type_float = _type_object(float)
_type_int = _type_object(int)
_type_bool = _type_object(bool)
_type_float32 = _type_object(np.float32)
_type_int64 = _type_object(np.int64)
_type_int32 = _type_object(np.int32)
_type_numpy_bool = _type_object(np.bool_)


@intrinsic
def _type_of(typing_context, address):
    def emit(context, builder, signature, arguments):
        place = builder.add(arguments[0], _WORD(TYPE_OFFSET))
        return builder.load(builder.inttoptr(place, _WORD.as_pointer()))

    return types.intp(types.intp), emit


@intrinsic
def _double_at(typing_context, address):
    def emit(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

    return types.float64(types.intp), emit


@intrinsic
def _byte_at(typing_context, address):
    def emit(context, builder, signature, arguments):
        byte = builder.load(builder.inttoptr(arguments[0], _BYTE.as_pointer()))
        return builder.zext(byte, _WORD)

    return types.uint64(types.intp), emit


@intrinsic
def _next_item(typing_context, dictionary, cursor):
    """PyDict_Next: (1 or 0 at the end, the next cursor, key, value)."""

    def emit(context, builder, signature, arguments):
        pointer = _WORD.as_pointer()
        kind = ir.FunctionType(_INT, [_WORD, pointer, pointer, pointer])
        function = cgutils.get_or_insert_function(builder.module, kind, "PyDict_Next")
        places = [cgutils.alloca_once(builder, _WORD) for _ in range(3)]
        builder.store(arguments[1], places[0])
        found = builder.sext(builder.call(function, [arguments[0], *places]), _WORD)
        items = [found, *(builder.load(place) for place in places)]
        return context.make_tuple(builder, signature.return_type, items)

    return types.UniTuple(types.intp, 4)(types.intp, types.intp), emit


@intrinsic
def _utf8(typing_context, text):
    """PyUnicode_AsUTF8AndSize: (address of the bytes or 0 with an error set, how many)."""

    def emit(context, builder, signature, arguments):
        kind = ir.FunctionType(_WORD, [_WORD, _WORD.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, kind, "PyUnicode_AsUTF8AndSize")
        size = cgutils.alloca_once(builder, _WORD)
        address = builder.call(function, [arguments[0], size])
        return context.make_tuple(builder, signature.return_type, [address, builder.load(size)])

    return types.UniTuple(types.intp, 2)(types.intp), emit


# --- values, names ------------------------------------------------------------------------------


@register_jitable
def _number(value):
    """A finite float, or NaN for whatever the Python path must look at."""
    kind = _type_of(value)
    if kind == _type_float():
        number = _double_at(value + FLOAT_OFFSET)
    elif kind == _type_int() or kind == _type_bool():
        number = _long_as_double(value)
        if number == -1.0 and _error_occurred() != 0:  # an integer beyond the range of floats
            _clear_error()
            return np.nan
    elif _is_safe_number(kind):
        number = _float_as_double(value)
    else:
        return np.nan
    return number if math.isfinite(number) else np.nan


@register_jitable
def _is_safe_number(kind):
    # Subclasses of float (float64 is one) keep their number in the same place. Of NumPy's other
    # scalars the usual four; their conversion is C code and cannot fail.
    return (
        _is_subtype(kind, _type_float()) != 0
        or kind == _type_float32()
        or kind == _type_int64()
        or kind == _type_int32()
        or kind == _type_numpy_bool()
    )


@register_jitable
def _find(dictionary, key):
    """The address of the item, UNKNOWN or NEEDS_PYTHON."""
    item = _get_item(dictionary, key)
    if item != 0:
        return item
    if _error_occurred() != 0:
        _clear_error()
        return NEEDS_PYTHON
    return UNKNOWN


@register_jitable
def _find_position(positions, name):
    item = _find(positions, name)
    return _long_as_ssize(item) if item >= 0 else item


@register_jitable
def _find_category(categories, name, value):
    if _type_of(name) != _type_str():
        return NEEDS_PYTHON  # only str(name) can tell what the category is called
    known_values = _find(categories, name)
    item = _find(known_values, value) if known_values >= 0 else known_values
    if item >= 0:
        return _long_as_ssize(item)
    if item == UNKNOWN and not _is_split_first(name):
        return NEEDS_PYTHON
    return item


@register_jitable
def _is_split_first(name):
    """Whether ``categories`` is sure to hold all values of this name: see ExactNames."""
    address, size = _utf8(name)
    if address == 0:
        _clear_error()
        return False
    has_equals_sign = False
    for k in range(size):
        has_equals_sign |= _byte_at(address + k) == EQUALS_SIGN
    return not has_equals_sign


@register_jitable
def _hash_bytes(address, size, bits):
    for k in range(size):
        bits = (bits ^ _byte_at(address + k)) * FNV_PRIME
    return bits


@register_jitable
def _mix(bits):
    bits = (bits ^ (bits >> MIX_SHIFT)) * MIX_FIRST
    bits = (bits ^ (bits >> MIX_SHIFT)) * MIX_SECOND
    return bits ^ (bits >> MIX_SHIFT)


@register_jitable
def _hash_position(name, value, is_category, shift):
    """The top bits of the hash of ``name``, or of ``name=value``; NEEDS_PYTHON for surrogates."""
    address, size = _utf8(name)
    if address == 0:
        _clear_error()
        return NEEDS_PYTHON
    bits = _hash_bytes(address, size, FNV_OFFSET)
    if is_category:
        address, size = _utf8(value)
        if address == 0:
            _clear_error()
            return NEEDS_PYTHON
        bits = _hash_bytes(address, size, (bits ^ EQUALS_SIGN) * FNV_PRIME)
    return np.int64(_mix(bits) >> np.uint64(shift))


# --- sorted, without duplicates -----------------------------------------------------------------


@register_jitable
def _sort_and_sum(indices, values, n, is_ascending):
    """How many entries are left, or NEEDS_PYTHON if a sum overflows."""
    if is_ascending:
        return n
    _sort(indices, values, n)
    return _sum_duplicates(indices, values, n)


@register_jitable
def _sort(indices, values, n):
    """Sort by index, then value: digit by digit if the row is long, and then, or at once, by insertion."""
    if n > SHORT_ROW:
        _sort_by_digits(indices, values, n)
    for start in range(1, n):
        index, value = indices[start], values[start]
        k = start
        while k > 0 and (indices[k - 1] > index or (indices[k - 1] == index and values[k - 1] > value)):
            indices[k], values[k] = indices[k - 1], values[k - 1]
            k -= 1
        indices[k], values[k] = index, value


@register_jitable
def _sort_by_digits(indices, values, n):
    """Radix sort by the bytes of the index, the lowest first; it takes as many passes as the highest has bytes."""
    spare_indices = np.empty(n, np.uint32)
    spare_values = np.empty(n, np.float64)
    starts = np.empty(257, np.int64)
    highest = np.uint32(0)
    for k in range(n):
        highest = max(highest, np.uint32(indices[k]))
    shift = np.uint32(0)
    while shift < np.uint32(32) and (highest >> shift) > 0:
        starts[:] = 0
        for k in range(n):
            starts[((indices[k] >> shift) & BYTE) + np.uint32(1)] += 1
        for digit in range(256):
            starts[digit + 1] += starts[digit]
        for k in range(n):
            digit = (indices[k] >> shift) & BYTE
            spare_indices[starts[digit]], spare_values[starts[digit]] = indices[k], values[k]
            starts[digit] += 1
        indices[:n] = spare_indices
        values[:n] = spare_values
        shift += np.uint32(8)


@register_jitable
def _sum_duplicates(indices, values, n):
    last = 0
    for k in range(1, n):
        if indices[k] == indices[last]:
            values[last] += values[k]
            if not math.isfinite(values[last]):
                return NEEDS_PYTHON
        else:
            last += 1
            indices[last], values[last] = indices[k], values[k]
    return last + 1


# --- the walks ----------------------------------------------------------------------------------


@register_jitable
def walk_exact(x, positions, categories, indices, values):
    """For learning: fills ``indices`` and ``values``, and returns how many entries there are.

    UNKNOWN at the first name that has no position yet: the caller registers it and the rest.
    """
    return _walk_exact(x, positions, categories, indices, values, False, NO_CAP, indices, values)


@register_jitable
def walk_exact_known(x, positions, categories, indices, values):
    """For prediction: as ``walk_exact``, but unknown names are left out."""
    return _walk_exact(x, positions, categories, indices, values, True, NO_CAP, indices, values)


@register_jitable
def walk_exact_adopting(x, positions, categories, indices, values, cap, fresh, fresh_values):
    """For learning: as ``walk_exact``, but up to ``cap`` names new ones get positions, as ``register`` gives them.

    UNKNOWN, with nothing changed, where only Python can tell: a new category, or no room in ``fresh``.
    """
    return _walk_exact(x, positions, categories, indices, values, False, cap, fresh, fresh_values)


@register_jitable
def _walk_exact(x, positions, categories, indices, values, skip_unknown, cap, fresh, fresh_values):
    if _type_of(x) != _type_dict():
        return NEEDS_PYTHON
    capacity = min(len(indices), len(values))
    n = 0
    new = 0
    highest = -1
    is_ascending = True
    more, cursor, name, value = _next_item(x, 0)
    while more != 0:
        name_kind = _type_of(name)
        if name_kind != _type_str() and name_kind != _type_int():
            return NEEDS_PYTHON  # another class may hash and compare with Python code
        is_category = _type_of(value) == _type_str()
        if is_category:
            number = 1.0
            position = _find_category(categories, name, value)
        else:
            number = _number(value)
            if math.isnan(number):
                return NEEDS_PYTHON
            position = _find_position(positions, name)
        if position >= 0:
            if n == capacity:
                return NEEDS_PYTHON
            indices[n], values[n] = position, number
            is_ascending = is_ascending and position > highest
            highest = position
            n += 1
        elif position == NEEDS_PYTHON:
            return position
        elif not skip_unknown:
            if is_category or not _can_adopt(name, new, cap, fresh):
                return UNKNOWN
            _insert_sorted(fresh, fresh_values, new, name, number)
            new += 1
        more, cursor, name, value = _next_item(x, cursor)
    if new > 0:
        if n + new > capacity or not _adopt(positions, cap, fresh, new):
            return UNKNOWN
        first = _dict_size(positions) - new
        for k in range(new):  # the highest positions there are, in ascending order
            indices[n + k], values[n + k] = first + k, fresh_values[k]
    return _sort_and_sum(indices, values, n + new, is_ascending)


@register_jitable
def _can_adopt(name, new, cap, fresh):
    """A plain name, and room for it: a name like ``a=b`` is a category, too, which only Python splits."""
    return cap > 0 and new < len(fresh) and _type_of(name) == _type_str() and _is_split_first(name)


@register_jitable
def _insert_sorted(fresh, fresh_values, new, name, number):
    k = new
    while k > 0 and _compare_text(fresh[k - 1], name) > 0:
        fresh[k], fresh_values[k] = fresh[k - 1], fresh_values[k - 1]
        k -= 1
    fresh[k], fresh_values[k] = name, number


@register_jitable
def _adopt(positions, cap, fresh, new):
    """Give the new names the next positions; False, with nothing changed, where the cap forbids it."""
    size = _dict_size(positions)
    if size + new > cap:
        return False
    for k in range(new):
        position = _long_from_ssize(size + k)
        failed = _set_item(positions, fresh[k], position)
        _release(position)
        if failed != 0:
            _clear_error()
            return False
    return True


@register_jitable
def walk_hashed(x, bits, indices, values):
    """For learning and prediction: as ``walk_exact`` for ``HashedNames(bits)``."""
    if _type_of(x) != _type_dict():
        return NEEDS_PYTHON
    shift = 64 - bits
    capacity = min(len(indices), len(values))
    n = 0
    highest = -1
    is_ascending = True
    more, cursor, name, value = _next_item(x, 0)
    while more != 0:
        if n == capacity or _type_of(name) != _type_str():
            return NEEDS_PYTHON
        is_category = _type_of(value) == _type_str()
        number = 1.0 if is_category else _number(value)
        position = _hash_position(name, value, is_category, shift)
        if position < 0 or math.isnan(number):
            return NEEDS_PYTHON
        indices[n], values[n] = position, number
        is_ascending = is_ascending and position > highest
        highest = position
        n += 1
        more, cursor, name, value = _next_item(x, cursor)
    return _sort_and_sum(indices, values, n, is_ascending)
