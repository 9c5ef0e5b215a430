"""CPython's own C functions and objects, for compiled code.

An object is its address: ``id(x)``. The caller keeps the objects alive and HOLDS THE GIL: never call these functions
from a kernel compiled with ``nogil=True``.

Why this can be cached on disk: the C functions and the addresses of the type objects are *symbols*, which are looked
up when a cached kernel is loaded, never numbers baked into it.

Dict rows of 68 entries are learned 19 times as fast as those that Python reads (benchmarks/kernel_pieces.py).
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,call-arg,operator,var-annotated,import-untyped"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.kernels.compiler.hints import prefetch
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.object_layout import FLOAT_OFFSET, HASH_OFFSET, TYPE_OFFSET

TEXT_OFFSET = 48  # of the characters in a string, or close to it

_object = types.intp
get_item = types.ExternalFunction("PyDict_GetItemWithError", _object(_object, _object))
float_as_double = types.ExternalFunction("PyFloat_AsDouble", types.float64(_object))
long_as_double = types.ExternalFunction("PyLong_AsDouble", types.float64(_object))
long_as_ssize = types.ExternalFunction("PyLong_AsSsize_t", types.intp(_object))
long_from_ssize = types.ExternalFunction("PyLong_FromSsize_t", _object(types.intp))
set_item = types.ExternalFunction("PyDict_SetItem", types.int32(_object, _object, _object))
dict_size = types.ExternalFunction("PyDict_Size", types.intp(_object))
compare_text = types.ExternalFunction("PyUnicode_Compare", types.int32(_object, _object))
release = types.ExternalFunction("Py_DecRef", types.void(_object))
is_subtype = types.ExternalFunction("PyType_IsSubtype", types.int32(_object, _object))
error_occurred = types.ExternalFunction("PyErr_Occurred", _object())
clear_error = types.ExternalFunction("PyErr_Clear", types.void())

_WORD = ir.IntType(64)
_BYTE = ir.IntType(8)
_INT = ir.IntType(32)


@intrinsic
def pointer(typing_context, address):
    """An address as a pointer."""

    def emit(context, builder, signature, arguments):
        return builder.inttoptr(arguments[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), emit


@intrinsic
def call_at(typing_context, address, one, other):
    """Call a compiled callback of two words, which answers one, through its address."""

    def emit(context, builder, signature, arguments):
        function = builder.inttoptr(arguments[0], ir.FunctionType(_WORD, [_WORD, _WORD]).as_pointer())
        return builder.call(function, arguments[1:])

    return types.int64(types.int64, types.int64, types.int64), emit


def type_object(python_type: type) -> Any:
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


type_dict = type_object(dict)
type_str = type_object(str)
type_float = type_object(float)
type_int = type_object(int)
type_bool = type_object(bool)
type_float32 = type_object(np.float32)
type_int64 = type_object(np.int64)
type_int32 = type_object(np.int32)
type_numpy_bool = type_object(np.bool_)


@inlined
def type_of(address):
    return word_at(address + TYPE_OFFSET)


@inlined
def hash_of(text):
    """The hash of a string that is, or was, a dict's key; -1 if nobody has asked for it yet."""
    return word_at(text + HASH_OFFSET)


@intrinsic
def word_at(typing_context, address):
    def emit(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], _WORD.as_pointer()))

    return types.intp(types.intp), emit


@inlined
def prefetch_text(text):
    """As above for a string: its head and its characters are often in two lines of memory."""
    prefetch(text)
    prefetch(text + TEXT_OFFSET)


@intrinsic
def double_at(typing_context, address):
    def emit(context, builder, signature, arguments):
        return builder.load(builder.inttoptr(arguments[0], ir.DoubleType().as_pointer()))

    return types.float64(types.intp), emit


@intrinsic
def byte_at(typing_context, address):
    def emit(context, builder, signature, arguments):
        byte = builder.load(builder.inttoptr(arguments[0], _BYTE.as_pointer()))
        return builder.zext(byte, _WORD)

    return types.uint64(types.intp), emit


@intrinsic
def next_item(typing_context, dictionary, cursor):
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
def utf8(typing_context, text):
    """PyUnicode_AsUTF8AndSize: (address of the bytes or 0 with an error set, how many)."""

    def emit(context, builder, signature, arguments):
        kind = ir.FunctionType(_WORD, [_WORD, _WORD.as_pointer()])
        function = cgutils.get_or_insert_function(builder.module, kind, "PyUnicode_AsUTF8AndSize")
        size = cgutils.alloca_once(builder, _WORD)
        address = builder.call(function, [arguments[0], size])
        return context.make_tuple(builder, signature.return_type, [address, builder.load(size)])

    return types.UniTuple(types.intp, 2)(types.intp), emit


@inlined
def finite_number(value):
    """A finite float, or NaN for whatever the Python path must look at."""
    kind = type_of(value)
    if kind == type_float():
        number = double_at(value + FLOAT_OFFSET)
    elif kind == type_int() or kind == type_bool():
        number = long_as_double(value)
        if number == -1.0 and error_occurred() != 0:  # an integer beyond the range of floats
            clear_error()
            return np.nan
    elif is_safe_number(kind):
        number = float_as_double(value)
    else:
        return np.nan
    return number if math.isfinite(number) else np.nan


@inlined
def is_safe_number(kind):
    # Subclasses of float (float64 is one) keep their number in the same place. Of NumPy's other
    # scalars the usual four; their conversion is C code and cannot fail.
    return (
        is_subtype(kind, type_float()) != 0
        or kind == type_float32()
        or kind == type_int64()
        or kind == type_int32()
        or kind == type_numpy_bool()
    )
