"""How the functions within a compiled loop are compiled: as parts of it, not each by itself.

Numba makes machine code of every function that a loop calls, optimised, and then takes it into its caller and optimises
again, level by level: half of the time until a loop first runs. Inlined functions are never called by themselves. They
are only translated, and optimised once, in the loop that they end up in.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from numba.extending import intrinsic, overload, register_jitable

from onlinear.kernels.compiler.plain import OVERLOADING, is_plain

F = TypeVar("F", bound=Callable[..., Any])

#: what Numba is told of an inlined function, and of one that a loop seldom calls: taken in, it would take up registers
INLINED: Any = {}
COLD: Any = {}
if not is_plain("inlining"):
    from onlinear.kernels.compiler.internals.inlining import OPTIONS

    INLINED = OPTIONS
    COLD = OPTIONS | {"forceinline": False}


@cache
def inlined(function: F) -> F:
    """Let compiled loops call the function, which becomes a part of them."""
    return register_jitable(**INLINED)(function) if INLINED else register_jitable(function)


def cold(function: F) -> F:
    """The same for a function that is seldom called: it stays apart from the loop."""
    return register_jitable(**COLD)(function) if COLD else register_jitable(function)


def overload_of(function: Callable[..., Any]) -> Callable[[F], F]:
    """Let compiled loops call, in place of a function, what the decorated one answers for the types of arguments."""
    return overload(function, strict=False, jit_options=INLINED)


def plain_way(piece: str) -> Callable[[F], F]:
    """The plain way of a piece: compiled loops call it as it is, unless a module of ``internals`` takes its place."""
    return inlined if is_plain(piece) else lambda function: function


def llvm_for(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let compiled loops call, in place of a function, what the decorated one writes in LLVM.

    That is an ``intrinsic`` of Numba's, with the same arguments behind its first one.
    """
    names = ", ".join(inspect.signature(function).parameters)

    def decorate(write: Callable[..., Any]) -> Any:
        instructions = intrinsic(write)
        scope: dict[str, Any] = {"instructions": instructions}
        exec(
            f"def implementation({names}): return instructions({names})\n"
            f"def implementation_for({names}): return implementation\n",
            scope,
        )
        overload_of(function)(scope["implementation_for"])
        return instructions

    return decorate


@cache
def register_overloads() -> None:
    """Register all overloads: when the first loop is compiled, which was not found on disk."""
    import_module("onlinear.kernels.compiler.overloads")
    for piece in OVERLOADING:
        if not is_plain(piece):
            import_module(f"onlinear.kernels.compiler.internals.{piece}")
