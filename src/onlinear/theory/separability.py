"""Whether rows can be separated at all, with a witness either way.

Separable: weights whose margin on every row is positive, in exact arithmetic. Not separable: multipliers ``a >= 0``,
not all 0, on at most D + 1 rows with ``sum a y x = 0`` exactly (Gordan's theorem; Caratheodory's bounds their number).
Of several classes it is Kesler's vectors ``x (x) (e_y - e_r)``, for every row and rival r, that take the place of y x.

Two rows that are the same and of two classes need no search. Otherwise the point nearest to 0 in the convex hull of the
vectors is looked for, in floats (Lawson & Hanson's non-negative least squares): if it is 0, the vectors that it is made
of are the witness, once their multipliers are solved for in whole numbers; if not, it separates. Where floats cannot
tell, the simplex method in whole numbers can. All of it is within a limit that counts operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse

from onlinear.theory.contradictions import contradiction
from onlinear.theory.examples import Examples, columns_in_use, select_columns
from onlinear.theory.hypotheses import Hypothesis, hypothesis_in
from onlinear.theory.lifting import proposals
from onlinear.theory.margins import margins_of
from onlinear.theory.nearest import DOUBTFUL, FEWEST, Nearest, search
from onlinear.theory.operations import MOST_OPERATIONS, Operations, TooManyOperations
from onlinear.theory.simplex import OVERHEAD, cancel_or_separate
from onlinear.theory.spaces import Space
from onlinear.theory.vectors import Vectors, WholeRows, rounded, vectors_of

#: multipliers, by the numbers of the vectors that they combine to 0
Cancelling = dict[int, int]


class SeparatingWitness(NamedTuple):
    """The witness: weights with a positive margin on every row."""

    weights: Hypothesis


class Inseparable(NamedTuple):
    """The witness: multipliers of some rows, each against a rival class, whose combination is 0; all counted from 0."""

    rows: list[int]
    rivals: list[int]
    multipliers: list[int]


class Undecided(NamedTuple):
    """No witness: it takes more operations than these; or None if none was found in what floats can hold."""

    operations: int | None


Separability = SeparatingWitness | Inseparable | Undecided


def separability(examples: Examples, space: Space | None, most: int = MOST_OPERATIONS) -> Separability:
    """Whether rows can be separated by weights of a space, with the witness.

    Only the columns that rows use count as dimensions: a table has room for many more. Where the space is that of a
    kernel, weights cannot be written down, and only rows that contradict each other are a witness.
    """
    found = contradiction(examples, space)
    if found is not None:
        return Inseparable(*found)
    if space is None:
        return Undecided(None)
    try:
        return decide(examples, space, Operations(most))
    except TooManyOperations as error:
        return Undecided(error.wanted)


def seems_separable(signed: Any, operations: Operations) -> bool:
    """Whether floats find weights whose product with each row of a compressed matrix is above 0, in so many operations.

    >>> right, both = (scipy.sparse.csr_array([[1.0, -2.0], x]) for x in ([1.0, 3.0], [-1.0, 2.0]))
    >>> seems_separable(right, Operations(10_000)), seems_separable(both, Operations(10_000))
    (True, False)
    """
    count, width = signed.shape
    try:
        operations.take(width * min(count, FEWEST + 2 * width))  # what the first vectors take
        return search(vectors_of(signed), operations).separates
    except TooManyOperations:
        return False


def decide(examples: Examples, space: Space, operations: Operations) -> Separability:
    used = columns_in_use(examples)
    narrow = space.with_features(len(used))
    operations.take(narrow.dimensions**3)  # what it takes to solve for as many multipliers
    vectors = vectors_of(
        scipy.sparse.vstack([narrow.signed_rows(select_columns(block, used)) for block in examples()], format="csr")
    )
    for guess in guesses(vectors, operations):
        if isinstance(guess, dict):
            targets = np.concatenate([block.targets for block in examples()])
            return Inseparable(*space.places(list(guess), targets), list(guess.values()))
        weights = hypothesis_in(space, space.embed(guess, used))
        if margins_of(weights, examples).least > 0:
            return SeparatingWitness(weights)
    return Undecided(None)


def guesses(vectors: Vectors, operations: Operations) -> Iterator[Cancelling | np.ndarray]:
    """Multipliers, which cancel for certain, or weights, which separate as far as floats tell."""
    found = search(vectors, operations)
    if found.nearest is not None:
        if found.separates:
            yield vectors.weights(found.nearest.point)
        cancelled = combination(vectors, found.nearest, operations)
        if cancelled is not None:
            yield cancelled
    settled = settle(vectors, found.chosen, operations)
    if isinstance(settled, dict):
        yield settled
        return
    yield from (rounded(settled, eighths) for eighths in range(8, 16))
    alike = vectors_of(vectors.exact, settled)  # the weights of which are all near 1
    again = search(alike, operations).nearest
    if again is not None:
        yield alike.weights(again.point)


def combination(vectors: Vectors, near: Nearest, operations: Operations) -> Cancelling | None:
    """Multipliers of vectors of which floats say that they cancel, if that is so: all above 0.

    No more than one combination of them does, for the active set has no vectors that depend on each other. So all but
    one are independent, in as many columns; the others must agree.
    """
    whole = vectors.whole(near.numbers)
    free = int(np.argmax(near.multipliers))
    others = np.delete(np.arange(len(near.numbers)), free)
    columns = independent_columns(vectors, near.numbers[others], operations)
    if columns is None:
        return None
    rest = np.setdiff1d(np.arange(vectors.width), columns)
    if not len(others):
        return None if whole.integers.any() else {int(near.numbers[0]): 1}
    system, wanted = whole.integers[others][:, columns].T, -whole.integers[free, columns]
    for found in proposals(system, wanted, operations):
        multipliers = list(found.numerators)
        multipliers.insert(free, found.denominator)
        operations.take(len(multipliers) * vectors.width * (16 + found.denominator.bit_length() // 64))
        if cancels(whole.integers[:, columns], multipliers):
            right = min(multipliers) >= 0 and cancels(whole.integers[:, rest], multipliers)
            return as_cancelling(near.numbers, multipliers, whole) if right else None
    return None


def independent_columns(vectors: Vectors, numbers: np.ndarray, operations: Operations) -> np.ndarray | None:
    """As many columns as there are vectors, in which they do not depend on each other as far as floats tell."""
    count, width = len(numbers), vectors.width
    if count >= width:
        return np.arange(width) if count == width else None
    operations.take(count**2 * width)
    _, order = scipy.linalg.qr(vectors.near[numbers].toarray(), mode="r", pivoting=True)
    found: np.ndarray = np.sort(order[:count])
    return found


def cancels(integers: np.ndarray, multipliers: list[int]) -> bool:
    """Whether a combination of whole rows is exactly 0."""
    return not any(sum(map(mul, multipliers, column)) for column in integers.T.tolist())


def as_cancelling(numbers: np.ndarray, multipliers: list[int], whole: WholeRows) -> Cancelling:
    """The multipliers of the vectors as they are, from those of their whole rows: without zeros, in lowest terms.

    >>> rows = WholeRows(np.array([[3], [-1]], dtype=object), [0, 1], [0])
    >>> as_cancelling(np.array([5, 7]), [2, 6], rows)
    {5: 1, 7: 6}
    """
    least = min(whole.rows)
    found = {
        int(number): a << (shift - least)
        for number, a, shift in zip(numbers, multipliers, whole.rows, strict=True)
        if a != 0
    }
    common = math.gcd(*found.values())
    return {number: a // common for number, a in found.items()}


def settle(vectors: Vectors, chosen: np.ndarray, operations: Operations) -> Cancelling | list[Fraction]:
    """Multipliers that cancel some vectors, or weights that separate all, in whole numbers from the beginning."""
    while True:
        whole = vectors.whole(chosen)
        cancelled, found = cancel_or_separate(whole.integers, operations)
        if cancelled:
            return as_cancelling(chosen, found, whole)
        weights = [Fraction(w) / Fraction(2) ** shift for w, shift in zip(found, whole.columns, strict=True)]
        products = vectors.products(weights)
        order = np.argsort(products, kind="stable")
        doubtful = order[products[order] <= DOUBTFUL * vectors.width]
        operations.take(OVERHEAD * (vectors.width + 1) * len(doubtful) + int(vectors.near.nnz))
        wrong = [number for number in doubtful.tolist() if vectors.product(number, weights) <= 0]
        if not wrong:
            return weights
        chosen = np.union1d(chosen, wrong[:FEWEST])
