"""Banks of configurations: the same kind of loss, rule or options for every output, with its own numbers; their shapes.

``member(thing, m)`` is the thing itself, or the m-th configuration of a bank. Nested tuples (a rule with a schedule)
are flattened to one row of numbers and built again by the compiled code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types

from onlinear.kernels.compiler.inlining import overload_of


class Bank(NamedTuple):
    """As many configurations as outputs: one row of ``numbers`` each, in the shape of ``template``."""

    template: Any
    numbers: Any


def bank_of(things: Sequence[Any], even_one: bool = False) -> Any:
    """One configuration as it is, unless it is to be a bank ``even_one``; several, all of one kind, as a bank."""
    if len(things) == 1 and not even_one:
        return things[0]
    if len({shape_of(thing) for thing in things}) > 1:
        kinds = sorted({type(thing).__name__ for thing in things})
        raise ValueError(
            f"a bank holds configurations of one kind, got {', '.join(kinds)}: train one bank for each kind"
        )
    return Bank(things[0], np.array([list(leaves(thing)) for thing in things], dtype=np.float64))


def kind_of(rule: type) -> str:
    """Which family of loops a rule's class belongs to: "uniform", "cells" or "matrix"."""
    if hasattr(rule, "MATRIX"):
        return "matrix"
    return "cells" if hasattr(rule, "move") else "uniform"


def shape_of(thing: Any) -> Any:
    """The classes of a tuple and the tuples in it."""
    if isinstance(thing, tuple):
        return (type(thing), *(shape_of(field) for field in thing))
    return float


def leaves(thing: Any) -> Iterator[float]:
    """The numbers of a tuple and the tuples in it, in order."""
    if not isinstance(thing, tuple):
        yield float(thing)
        return
    for field in thing:
        yield from leaves(field)


def build(template: Any, numbers: Iterator[float]) -> Any:
    """The inverse of :func:`leaves`."""
    if not isinstance(template, tuple):
        return next(numbers)
    return type(template)(*[build(field, numbers) for field in template])


def member(thing: Any, m: int) -> Any:
    if isinstance(thing, Bank):
        return build(thing.template, iter(thing.numbers[m].tolist()))
    return thing


@overload_of(member)
def _member(thing: Any, m: Any) -> Any:
    if not (isinstance(thing, types.BaseNamedTuple) and thing.instance_class is Bank):
        return lambda thing, m: thing
    scope: dict[str, Any] = {}
    expression = construction(thing.types[0], scope, iter(range(10_000)))
    exec(f"def implementation(thing, m): return {expression}", scope)
    return scope["implementation"]


def construction(kind: Any, scope: dict[str, Any], position: Iterator[int]) -> str:
    """Source text that builds a tuple of this kind from row m of the bank's numbers."""
    if not isinstance(kind, types.BaseNamedTuple):
        return f"thing.numbers[m, {next(position)}]"
    name = f"class_{len(scope)}"
    scope[name] = kind.instance_class
    fields = ", ".join(construction(field, scope, position) for field in kind.types)
    return f"{name}({fields})"
