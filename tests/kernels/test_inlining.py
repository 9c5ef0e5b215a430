"""Parts of compiled loops: they work within, one in several loops, and have no machine code of their own."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from numba.core.codegen import JITCodeLibrary

from onlinear.kernels.compiler.inlining import cold, inlined, overload_of


@inlined
def halved(x: float) -> float:
    return x / 2.0


@cold
def harmonic(n: int) -> float:
    total = 0.0
    for k in range(n):
        total += halved(2.0 / (k + 1))
    return total


def kind(x: object) -> str:
    return "python"


@overload_of(kind)
def _kind(x: object) -> object:
    if isinstance(x, numba.types.Float):
        return lambda x: "number"
    return lambda x: "something"


def test_a_part_serves_several_loops_and_types() -> None:
    @numba.njit
    def one(x):  # type: ignore
        return halved(x) + harmonic(3)

    @numba.njit
    def other(x):  # type: ignore
        return halved(halved(x)), kind(x)

    assert one(3.0) == 1.5 + (1.0 + 0.5 + 1.0 / 3.0)
    assert one(3) == one(3.0)
    assert other(8.0) == (2.0, "number")
    assert other(8) == (2.0, "something")
    assert (halved(3.0), kind(1.0)) == (1.5, "python")  # as they are, they are Python


def test_errors_of_parts_arrive() -> None:
    @inlined
    def root(x: float) -> float:
        if x < 0.0:
            raise ValueError("no root")
        return math.sqrt(x)

    @numba.njit
    def roots(numbers):  # type: ignore
        total = 0.0
        for x in numbers:
            total += root(x)
        return total

    assert roots(np.array([1.0, 4.0])) == 3.0
    with pytest.raises(ValueError, match="no root"):
        roots(np.array([1.0, -4.0]))


def test_only_the_loop_becomes_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    finalize = JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        JITCodeLibrary, "_finalize_specific", lambda library: (made.append(library.name), finalize(library))[1]
    )

    @inlined
    def doubled(x: float) -> float:
        return 2.0 * x

    @numba.njit
    def loop(x):  # type: ignore
        return doubled(x)

    assert loop(2.0) == 4.0
    assert [name for name in made if "doubled" in name] == []
    assert len([name for name in made if "loop" in name]) == 1
