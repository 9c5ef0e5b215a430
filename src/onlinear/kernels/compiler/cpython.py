"""CPython's own C functions and objects, for compiled code, where it is known: see ``internals/cpython.py``."""

# mypy: disable-error-code="assignment"

from __future__ import annotations

from typing import Any

from onlinear.kernels.compiler.object_layout import AVAILABLE

if AVAILABLE:
    from onlinear.kernels.compiler.internals.cpython import (
        byte_at,
        call_at,
        clear_error,
        compare_text,
        dict_size,
        error_occurred,
        finite_number,
        get_item,
        hash_of,
        long_as_ssize,
        long_from_ssize,
        next_item,
        pointer,
        prefetch_text,
        release,
        set_item,
        type_dict,
        type_int,
        type_of,
        type_str,
        utf8,
    )
else:  # Python reads dicts, and nobody compiles what calls these

    def unavailable(*_: Any) -> Any:
        raise NotImplementedError("compiled code only")

    byte_at = call_at = clear_error = compare_text = dict_size = error_occurred = finite_number = unavailable
    get_item = hash_of = long_as_ssize = long_from_ssize = next_item = pointer = prefetch_text = release = unavailable
    set_item = type_dict = type_int = type_of = type_str = utf8 = unavailable
