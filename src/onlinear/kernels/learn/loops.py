"""Find or make the compiled loop for a loss and a rule."""

from __future__ import annotations

from functools import cache
from typing import Any

from onlinear.kernels.compiler.loop import Loop, compile_loop
from onlinear.kernels.learn import cells, matrix, uniform
from onlinear.kernels.learn.bank import kind_of


def interpreted_loop(rule: type) -> Loop:
    """The plain Python loop for a rule: slow, and the same numbers."""
    loops: dict[str, Loop] = {
        "uniform": uniform.learn_uniform,
        "cells": cells.learn_cells,
        "matrix": matrix.learn_matrix,
    }
    return loops[kind_of(rule)]


@cache
def learning_loop(loss: Any, rule: Any) -> Loop:
    """The compiled loop for the shapes of a loss and a rule: tuples of different classes can be equal."""
    return compile_loop(interpreted_loop(rule[0]), loss, rule)
