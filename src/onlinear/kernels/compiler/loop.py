"""The one way to make a compiled loop: a function that Python calls, as machine code that is kept on disk."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import numba

from onlinear.kernels.compiler.explain import ExplainedLoop
from onlinear.kernels.compiler.hints import uncounted
from onlinear.kernels.compiler.inlining import inlined, register_overloads
from onlinear.kernels.compiler.plain import is_plain

if not is_plain("compiler_lock"):
    from onlinear.kernels.compiler.internals import compiler_lock  # noqa: F401  # which a fork takes care of

Loop = Callable[..., Any]


def compiled_loop(function: Loop | None = None, *, nogil: bool = True) -> Any:
    """Let a function be compiled when it is first called; see :func:`compile_loop`."""
    if function is None:
        return partial(compiled_loop, nogil=nogil)
    compile_once = cache(partial(compile_loop, function, nogil=nogil))

    @wraps(function)
    def call(*arguments: Any) -> Any:
        return compile_once()(*arguments)

    return call


def compile_loop(function: Loop, *shapes: Any, nogil: bool = True) -> Loop:
    """A function as machine code, which is made or found on disk when it is first called.

    One function for several ``shapes``, classes or nested tuples of them, gets a name of its own for each, and with it
    an index of its own in the disk cache. Only what is compiled for our own classes goes there: a user's class in the
    shared index would break every other program, which cannot import it. What cannot be compiled of a user's is told
    in a sentence.

    Other threads run meanwhile, unless the loop reads Python's objects: those hold Python's lock (``nogil=False``).
    """
    compiled = numba.njit(nogil=nogil, error_model="numpy")(entrance_to(function, shapes))
    if is_ours(shapes) and not is_plain("disk_cache"):
        from onlinear.kernels.compiler.internals.disk_cache import disk_cached

        return disk_cached(compiled)
    register_overloads()
    return compiled if is_ours(shapes) else ExplainedLoop(compiled, *shapes)


def entrance_to(function: Loop, shapes: tuple[Any, ...]) -> Loop:
    """What Python calls: the function inside needs no reference counts, as the caller keeps its arrays alive."""
    names = inspect.signature(function).parameters
    arguments = ", ".join(f"uncounted({name})" for name in names)
    source = f"def entrance({', '.join(names)}): return function({arguments})"
    scope: dict[str, Any] = {"__name__": function.__module__, "function": inlined(function), "uncounted": uncounted}
    exec(compile(source, function.__code__.co_filename, "exec"), scope)
    entrance: Loop = scope["entrance"]
    entrance.__qualname__ = "_".join([function.__name__, *words_of(shapes)])
    return entrance


def is_ours(shape: Any) -> bool:
    """Whether a class, or every class of a nested shape (see :func:`onlinear.kernels.learn.bank.shape_of`), is ours."""
    if isinstance(shape, tuple):
        return all(is_ours(part) for part in shape)
    return shape is float or isinstance(shape, bool) or shape.__module__.partition(".")[0] == "onlinear"


def words_of(shape: Any) -> list[str]:
    """The names of all classes in a nested shape."""
    if isinstance(shape, tuple):
        return [word for part in shape for word in words_of(part)]
    return [] if shape is float else [getattr(shape, "__name__", str(shape))]


def compile_callback(function: Loop, signature: Any, *shapes: Any) -> Any:
    """A function as a C callback, for :func:`onlinear.kernels.compiler.cpython.call_at`: it has no plain way."""
    from onlinear.kernels.compiler.internals.disk_cache import disk_cached_callback

    function.__qualname__ = "_".join([function.__name__, *words_of(shapes)])
    return disk_cached_callback(function, signature)
