"""Where CPython's objects keep what compiled code reads of them."""

from __future__ import annotations

import ctypes
import sys
import sysconfig

from numba import config

from onlinear.kernels.compiler.plain import is_plain

TYPE_OFFSET = 8  # of ob_type in an object: after the reference count
FLOAT_OFFSET = 16  # of the number in a float: after its type
HASH_OFFSET = 24  # of the hash in a string: after its type and length


def is_layout_known() -> bool:
    """Whether objects are laid out as compiled code reads them, and code is compiled."""
    if is_plain("dicts") or getattr(config, "DISABLE_JIT", False):
        return False
    if sys.implementation.name != "cpython" or sys.maxsize != 2**63 - 1:
        return False
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False  # another object layout, and borrowed references are no longer safe
    number, text = 0.1, "text"
    return (
        ctypes.c_ssize_t.from_address(id(text) + TYPE_OFFSET).value == id(str)
        and ctypes.c_ssize_t.from_address(id(text) + HASH_OFFSET).value == hash(text)
        and ctypes.c_double.from_address(id(number) + FLOAT_OFFSET).value == number
    )


#: whether dicts are read by compiled code; if not, Python reads them
AVAILABLE: bool = is_layout_known()
