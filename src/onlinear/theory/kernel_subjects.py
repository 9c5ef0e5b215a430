"""Kernel perceptrons as subjects of a certificate: the last version of one output, over rows of the data."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from onlinear.errors import Refused
from onlinear.learning.dual.model import DualModel
from onlinear.learning.dual.perceptrons import Perceptrons
from onlinear.theory.bounds import RunFigures
from onlinear.theory.examples import ExactRow, Examples, all_rows
from onlinear.theory.hypotheses import KernelWeights
from onlinear.theory.intervals import growth
from onlinear.theory.kernels import ExactKernel, linear
from onlinear.theory.subjects import Subject

#: kernels that exact arithmetic is ready to compute
MOST_PRODUCTS = 5_000_000
#: of a polynomial whose powers are still computed exactly
MOST_DEGREE = 100
#: rows of a table of kernels in floats
TILE = 512


def dual_subject(model: DualModel, place: int | None, examples: Examples) -> Subject:
    """The class at a place of the sorted ones; mistakes are counted where one output answers alone."""
    return kernel_subject(model.perceptrons, output_at(model, place), own_mistakes(model), examples)


def output_at(model: DualModel, place: int | None) -> int:
    """The output that answers for the class at a place of the sorted ones."""
    outputs = model.outputs()
    return outputs[place or 0] if len(outputs) > 1 else outputs[0]


def kernel_subject(machine: Perceptrons, output: int, mistakes: int | None, examples: Examples) -> Subject:
    """One output of perceptrons in dual form; each update has added one row, so that S = Q = k."""
    check_machine(machine)
    weights = weights_of(machine, output, examples)
    updates = machine.versions[output].made
    return Subject(
        weights,
        weights,
        machine.examples,
        updates,
        mistakes,
        RunFigures(updates, Fraction(updates), Fraction(updates)),
        Fraction(updates) or None,
        None if machine.kernel.name == "rbf" else machine.radius2,  # of which every row has 1
        radius_error(machine),
        replay="kernel",
    )


def numbers_of_dual(model: DualModel, place: int | None) -> dict[str, Any]:
    """What a certificate says of a class without its rows: kernel, counts, and how much each kept row counts."""
    output, machine = output_at(model, place), model.perceptrons
    return {
        "kernel": exact_kernel(machine).written(),
        "examples": model.examples,
        "updates": machine.versions[output].made,
        "mistakes": own_mistakes(model),
        "amounts": sorted(amount for amount in amounts_of(machine, output).values() if amount),
    }


def own_mistakes(model: DualModel) -> int | None:
    """The mistakes, if one output alone answers."""
    return model.mistakes if len(model.outputs()) == 1 else None


def check_machine(machine: Perceptrons) -> None:
    """Refuse what no theorem, or no exact arithmetic, is there for."""
    if machine.budget is not None:
        raise Refused("with a budget examples are forgotten, and no such bound is known: certify one without a budget")
    if not isinstance(machine.kernel.name, str):
        raise Refused("a kernel of your own has no exact form: certify one with the kernel linear, poly or rbf")
    if any(abs(amount) != 1.0 for versions in machine.versions for amount in versions.amounts):
        raise Refused("rows had weights, and the theorem of kernels is of steps of 1: certify a run without weights")


def weights_of(machine: Perceptrons, output: int, examples: Examples) -> KernelWeights:
    """The last version, written in rows of the data."""
    amounts = amounts_of(machine, output)
    rows, features = 0, 0
    for block in examples():
        rows, features = rows + len(block.targets), block.features
    if (rows + len(amounts)) * len(amounts) > MOST_PRODUCTS:
        raise Refused(
            f"{rows} rows and {len(amounts)} kept examples are more than {MOST_PRODUCTS:,} kernels in exact "
            "arithmetic: certify a run over fewer rows, or a linear learner behind PolynomialProducts"
        )
    found = positions_of(set(amounts), examples)
    if len(found) < len(amounts):
        raise Refused(
            "the model keeps examples that are not among these rows, which are not what it went over: "
            "certify a model on the rows that it has learned from"
        )
    kept = sorted((position, row, amounts[row.key]) for position, row in found.values() if amounts[row.key])
    places, lines, factors = [p for p, _, _ in kept], [r for _, r, _ in kept], [a for _, _, a in kept]
    return KernelWeights(exact_kernel(machine), lines, places, factors, features)


def amounts_of(machine: Perceptrons, output: int) -> dict[tuple[bytes, bytes], int]:
    """How often each kept row was added more than taken away; a row that came twice is one."""
    amounts: dict[tuple[bytes, bytes], int] = {}
    coefficients = machine.coefficients()[:, output]
    for place in np.flatnonzero(coefficients).tolist():
        line = machine.support.rows[place]
        columns = np.flatnonzero(line)
        key = ExactRow(columns.tolist(), line[columns].astype(np.float64), 0.0).key
        amounts[key] = amounts.get(key, 0) + round(coefficients[place])
    return amounts


def positions_of(keys: set[tuple[bytes, bytes]], examples: Examples) -> dict[tuple[bytes, bytes], tuple[int, ExactRow]]:
    """Where in the data rows with these entries are, each for the first time."""
    found: dict[tuple[bytes, bytes], tuple[int, ExactRow]] = {}
    for position, row in enumerate(all_rows(examples)):
        key = row.key
        if key in keys and key not in found:
            found[key] = position, row
    return found


def exact_kernel(machine: Perceptrons) -> ExactKernel:
    """The kernel, with its numbers as the learner multiplies by them."""
    kernel, number = machine.kernel, machine.support.rows.dtype.type
    if kernel.name == "linear":
        return linear(Fraction(0))
    gamma, coef0 = (Fraction(float(number(value))) for value in (kernel.gamma, kernel.coef0))
    if gamma <= 0 or coef0 < 0 or kernel.degree > MOST_DEGREE:
        raise Refused(
            f"the kernel {kernel} is not positive definite for all rows, or its degree is above {MOST_DEGREE}: "
            "certify one with gamma above 0, coef0 from 0 on and a lower degree"
        )
    if kernel.name == "rbf":
        return ExactKernel("rbf", 1, gamma, Fraction(0))  # it has neither degree nor coef0
    return ExactKernel(str(kernel.name), kernel.degree, gamma, coef0)


def radius_error(machine: Perceptrons) -> float:
    """By how much of itself the largest K(x, x) may be off in floats."""
    rows = machine.support.rows
    coarser = float(np.finfo(rows.dtype).eps) / np.finfo(np.float64).eps
    return 4.0 * coarser * machine.kernel.degree * growth(rows.shape[1] + 8)


def running_kernel(machine: Perceptrons, output: int, mistakes: int | None) -> dict[str, Any]:
    """What is known without looking at the rows again, in floats."""
    check_machine(machine)
    updates, size = machine.versions[output].made, machine.support.size
    rows, amounts = machine.support.rows[:size], machine.coefficients()[:, output]
    parts = range(0, size, TILE)
    squared = sum(
        float(
            amounts[i : i + TILE]
            @ machine.kernel.matrix(rows[i : i + TILE], rows[j : j + TILE])
            @ amounts[j : j + TILE]
        )
        for i in parts
        for j in parts
    )
    norm = math.sqrt(max(squared, 0.0))
    return {
        "examples": machine.examples,
        "updates": updates,
        "mistakes": mistakes,
        "radius": math.sqrt(machine.radius2),
        "norm": norm,
        "margin_upper": norm / updates if updates else None,
    }
