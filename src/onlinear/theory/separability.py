"""Whether rows can be separated at all, with a witness either way.

Separable: weights whose margin on every row is positive, in exact arithmetic. Not separable: multipliers ``a >= 0``,
not all 0, on at most D + 1 rows with ``sum a y x = 0`` exactly (Gordan's theorem; Caratheodory's bounds their number).
Of several classes it is Kesler's vectors ``x (x) (e_y - e_r)``, for every row and rival r, that take the place of y x.
A linear program finds either in floats; what it found is then solved, or checked, in rationals.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.sparse

from onlinear.theory.examples import Examples, columns_in_use, select_columns
from onlinear.theory.hypotheses import Hypothesis, hypothesis_in
from onlinear.theory.margins import margins_of
from onlinear.theory.spaces import Space

#: columns in use, the constant included, up to which it is decided; of several classes for all together
MOST_DIMENSIONS = 65


class SeparatingWitness(NamedTuple):
    """The witness: weights with a positive margin on every row."""

    weights: Hypothesis


class Inseparable(NamedTuple):
    """The witness: multipliers of some rows, each against a rival class, whose combination is 0; all counted from 0."""

    rows: list[int]
    rivals: list[int]
    multipliers: list[Fraction]


def separability(examples: Examples, space: Space | None) -> SeparatingWitness | Inseparable | None:
    """Whether rows can be separated by weights of a space, with the witness; None if that is undecided.

    Only the columns that rows use count as dimensions: a table has room for many more.
    """
    used = None if space is None else columns_in_use(examples, MOST_DIMENSIONS)
    if space is None or used is None or space.with_features(len(used)).dimensions > MOST_DIMENSIONS:
        return None
    narrow = space.with_features(len(used))
    signed = scipy.sparse.vstack(
        [narrow.signed_rows(select_columns(block, used)) for block in examples()], format="csr"
    )
    found = separating(signed)
    if found is not None:
        weights = hypothesis_in(space, space.embed(found, used))
        if margins_of(weights, examples).least > 0:
            return SeparatingWitness(weights)
    cancelled = cancelling(signed)
    if cancelled is None:
        return None
    numbers, multipliers = cancelled
    targets = np.concatenate([block.targets for block in examples()])
    return Inseparable(*space.places(numbers, targets), multipliers)


def separating(signed: scipy.sparse.csr_array) -> np.ndarray | None:
    """Weights of at most 1 whose least margin is largest, if that is positive in floats."""
    rows, columns = signed.shape
    cost = np.zeros(columns + 1)
    cost[-1] = -1.0
    system = scipy.sparse.hstack([-signed, np.ones((rows, 1))], format="csr")
    bounds = [(-1.0, 1.0)] * columns + [(None, 1e300)]
    answer = scipy.optimize.linprog(cost, A_ub=system, b_ub=np.zeros(rows), bounds=bounds, method="highs-ds")
    return answer.x[:-1] if answer.status == 0 and answer.x[-1] > 0.0 else None


def cancelling(signed: scipy.sparse.csr_array) -> tuple[list[int], list[Fraction]] | None:
    """Some vectors and multipliers that cancel them, or None if none are found that do so exactly."""
    rows, columns = signed.shape
    system = scipy.sparse.vstack([signed.T, np.ones((1, rows))], format="csr")
    wanted = np.zeros(columns + 1)
    wanted[-1] = 1.0
    answer = scipy.optimize.linprog(np.zeros(rows), A_eq=system, b_eq=wanted, bounds=(0.0, None), method="highs-ds")
    if answer.status != 0:
        return None
    support = np.flatnonzero(answer.x > 0.0).tolist()
    vectors = [[Fraction(x) for x in dense] for dense in signed[support].toarray().tolist()]
    solved = combination(vectors)
    if solved is None or any(a < 0 for a in solved):
        return None
    kept = [(i, a) for i, a in zip(support, solved, strict=True) if a > 0]
    return [i for i, _ in kept], [a for _, a in kept]


def combination(vectors: list[list[Fraction]]) -> list[Fraction] | None:
    """Multipliers with sum 1 whose combination of the vectors is 0: Gauss-Jordan in rationals; None if there are none.

    Of several solutions the one whose free multipliers are 0, so that few are not.

    >>> combination([[Fraction(1)], [Fraction(-2)]])
    [Fraction(2, 3), Fraction(1, 3)]
    """
    system = [[*column, Fraction(0)] for column in zip(*vectors, strict=True)] + [[Fraction(1)] * (len(vectors) + 1)]
    pivots: list[int] = []
    for column in range(len(vectors)):
        row = next((r for r in range(len(pivots), len(system)) if system[r][column] != 0), None)
        if row is None:
            continue
        top = len(pivots)
        system[top], system[row] = system[row], system[top]
        lead = system[top][column]
        system[top] = [x / lead for x in system[top]]
        for other in range(len(system)):
            factor = system[other][column]
            if other != top and factor != 0:
                system[other] = [x - factor * y for x, y in zip(system[other], system[top], strict=True)]
        pivots.append(column)
    if any(line[-1] != 0 for line in system[len(pivots) :]):
        return None
    solution = [Fraction(0)] * len(vectors)
    for line, column in zip(system, pivots, strict=False):
        solution[column] = line[-1]
    return solution
