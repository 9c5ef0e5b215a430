"""The largest margin of any weights, from both sides: found in floats, and made exact.

Below, it is the least margin of a direction. Above, it is the length of a convex combination of vectors z: for
all ``a >= 0`` that sum to 1, and every unit vector u, ``min <u, z> <= sum a <u, z> <= |sum a z|``. A combination
is written in whole amounts of rows: ``a y`` for two classes, of several a for the row's class and -a for its rival.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse

from onlinear.errors import Refused
from onlinear.theory.comparators import largest_margin
from onlinear.theory.exact import fraction, whole
from onlinear.theory.examples import Examples, columns_in_use, select_columns
from onlinear.theory.hypotheses import Hypothesis, KernelWeights, hypothesis_in
from onlinear.theory.soft_margins import SoftMargins
from onlinear.theory.spaces import ClassSpace, Space

#: the share of the margin to which it is known, unless another is asked for, and the least that floats reach
GAP, LEAST_GAP = 0.01, 1e-6
#: entries of all vectors z, beyond which no best weights are sought
MOST_ENTRIES = 50_000_000
#: whole amounts of all rows together, nearly: so that floats of multipliers are not rounded by much
AMOUNTS = 1 << 48


class Combination(NamedTuple):
    """Whole amounts of rows, for each output, of which the vectors z are a sum with positive multipliers."""

    amounts: list[dict[int, int]]
    total: int  # of the multipliers
    norm_squared: Fraction  # of the sum, or more

    @property
    def margin_squared(self) -> Fraction:
        """The square of a margin that no unit vector exceeds."""
        return self.norm_squared / self.total**2

    def written(self) -> list[dict[str, Any]]:
        ordered = (sorted(part.items()) for part in self.amounts)
        return [{"rows": [i for i, _ in part], "amounts": [a for _, a in part]} for part in ordered]


def combination_in(weights: Hypothesis) -> Combination | None:
    """The combination that a sum of kernels of rows is, if every row has the sign of its class."""
    if not isinstance(weights, KernelWeights) or not weights.is_signed:
        return None
    amounts = dict(zip(weights.positions, weights.amounts, strict=True))
    return Combination([amounts], sum(map(abs, weights.amounts)), weights.norm_squared)


class MarginBox(NamedTuple):
    """A direction of large margin, and a combination that shows that none has a much larger one."""

    direction: Hypothesis
    combination: Combination


class MarginProblem(Protocol):
    """The vectors z of rows in floats, and how what is found of them is made exact."""

    @property
    def rivals(self) -> int:
        """How many vectors a row has."""

    @property
    def signed(self) -> Any:
        """The vectors as a matrix."""

    def weights(self, found: np.ndarray) -> Hypothesis:
        """The hypothesis that weights of these vectors are; it is as long as theirs, whatever the scale."""

    def combination(self, multipliers: np.ndarray, examples: Examples) -> Combination | None:
        """The sum of the vectors with these multipliers, or nearly; None if there is none."""


class LinearProblem(NamedTuple):
    """The vectors z of rows over the columns in use, scaled so that the largest entry is about 1."""

    space: Space
    used: np.ndarray
    constants: np.ndarray  # the size of the constant feature in its columns, and 1 in the others
    signed: Any
    targets: np.ndarray

    @property
    def rivals(self) -> int:
        return self.space.classes - 1 if isinstance(self.space, ClassSpace) else 1

    def weights(self, found: np.ndarray) -> Hypothesis:
        return hypothesis_in(self.space, self.space.embed(found * self.constants, self.used))

    def combination(self, multipliers: np.ndarray, examples: Examples) -> Combination | None:
        amounts = shares_as_amounts(multipliers)
        numbers = np.flatnonzero(amounts).tolist()
        if not numbers:
            return None
        rows, rivals = self.space.places(numbers, self.targets)
        outputs = self.space.classes if isinstance(self.space, ClassSpace) else 1
        parts: list[Counter[int]] = [Counter() for _ in range(outputs)]
        for row, rival, amount in zip(rows, rivals, amounts[numbers].tolist(), strict=True):
            if outputs == 1:
                parts[0][row] += -amount if rival else amount
            else:
                parts[int(self.targets[row])][row] += amount
                parts[rival][row] -= amount
        squared = squared_length_of_sum(parts, examples, self.space.constant_squared)
        return Combination([dict(part) for part in parts], int(amounts.sum()), squared)


def shares_as_amounts(numbers: np.ndarray) -> np.ndarray:
    """Numbers in proportion, as whole ones; all 0 if they are."""
    return np.rint(AMOUNTS * (numbers / max(float(np.abs(numbers).sum()), 1e-300))).astype(np.int64)


def check_gap(gap: float) -> float:
    if not LEAST_GAP <= gap < 1.0:
        raise Refused(
            f"gap is {gap}: give the share within which the best margin is wanted, below 1 and from {LEAST_GAP:g} on, "
            "which floats reach"
        )
    return gap


def linear_problem(examples: Examples, space: Space) -> LinearProblem | None:
    """The rows in floats; None if they are zeros alone, or have more entries than are looked at."""
    copies = 2 * (space.classes - 1) if isinstance(space, ClassSpace) else 1
    used = columns_in_use(examples)
    if copies * sum(block.entries().nnz + len(block.targets) for block in examples()) > MOST_ENTRIES:
        return None
    narrow = space.with_features(len(used))
    blocks = [(narrow.signed_rows(select_columns(block, used)), block.targets) for block in examples()]
    one = np.ones(narrow.one.dimensions)
    one[len(used) :] = math.sqrt(space.constant_squared)
    constants = np.tile(one, narrow.dimensions // max(len(one), 1))
    signed = scipy.sparse.vstack([signed for signed, _ in blocks], format="csr")
    signed.data *= constants[signed.indices]
    largest = float(np.abs(signed.data).max(initial=0.0))
    if not 0.0 < largest < math.inf:
        return None
    signed.data = np.ldexp(signed.data, -math.frexp(largest)[1])
    return LinearProblem(space, used, constants, signed, np.concatenate([targets for _, targets in blocks]))


def margin_box(problem: MarginProblem, examples: Examples, gap: float) -> MarginBox | None:
    """The best margin within a share ``gap``, or as near as floats come; None if they find no combination."""
    found = largest_margin(SoftMargins(problem.signed), 0.5 * gap)  # so that (R / g)^2 is known within the gap, too
    combination = problem.combination(found.multipliers, examples)
    return None if combination is None else MarginBox(problem.weights(found.weights), combination)


def squared_length_of_sum(
    parts: Sequence[Mapping[int, int]], examples: Examples, constant_squared: Fraction
) -> Fraction:
    """``|sum a x|^2``, over all outputs, exactly."""
    rows = sorted(set().union(*parts))
    places = {row: place for place, row in enumerate(rows)}
    wanted, start, kept = np.array(rows), 0, []
    for block in examples():
        stop = start + len(block.targets)
        kept.append(block.entries()[wanted[(wanted >= start) & (wanted < stop)] - start])
        start = stop
    matrix = scipy.sparse.vstack(kept, format="csr")
    values, power = whole(matrix.data)
    columns, ends = matrix.indices.tolist(), matrix.indptr.tolist()
    found = Fraction(0)
    for part in parts:
        total: Counter[int] = Counter()
        for row, amount in part.items():
            for k in range(ends[places[row]], ends[places[row] + 1]):
                total[columns[k]] += amount * values[k]
        found += fraction(sum(v * v for v in total.values()), 2 * power) + constant_squared * sum(part.values()) ** 2
    return found
