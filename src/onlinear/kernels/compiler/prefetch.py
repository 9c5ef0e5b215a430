"""Ask for memory before it is needed, so that it has come when it is."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from onlinear.data.rows import fetch
from onlinear.kernels.compiler.inlining import in_place_of

_BYTE, _INT = ir.IntType(8), ir.IntType(32)
LINE = 64  # bytes that memory hands over at once


@intrinsic
def prefetch(typing: Any, address: Any) -> Any:
    """Tell the processor that this address will be read soon."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT, _INT, _INT])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        for_reading, kept_close, data = _INT(0), _INT(3), _INT(1)
        builder.call(function, [builder.inttoptr(arguments[0], _BYTE.as_pointer()), for_reading, kept_close, data])
        return context.get_dummy_value()

    return types.void(types.intp), emit


@in_place_of(fetch)
def _fetch(numbers: Any, start: Any, stop: Any) -> Any:
    def implementation(numbers, start, stop):  # type: ignore
        size = numbers.itemsize
        for at in range(start * size, stop * size, LINE):
            prefetch(numbers.ctypes.data + at)

    return implementation
