"""The rows of a kernel perceptron in floats: coordinates whose products are the kernel's, for the best weights there.

What is found is written in whole amounts of rows again, of which exact arithmetic and the verifier know the products.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.theory.best_margin import Combination, combination_in, shares_as_amounts
from onlinear.theory.examples import ExactRow, Examples, all_rows, columns_in_use, select_columns
from onlinear.theory.hypotheses import KernelWeights
from onlinear.theory.kernels import ExactKernel

#: kernels in exact arithmetic for all that is found: two sums over all rows for a box, and one for each other bound
MOST_PRODUCTS, SUMS = 1_000_000, 4
#: share of the largest, below which an eigenvalue of the kernel's matrix is taken for rounding
FAINT = 1e-12


class KernelProblem(NamedTuple):
    """The vectors z = y phi(x) of rows in coordinates of their span, scaled so that the longest has about length 1."""

    kernel: ExactKernel
    rows: list[ExactRow]
    features: int
    signed: Any
    amounts: np.ndarray  # of each row, for each coordinate

    @property
    def rivals(self) -> int:
        return 1

    def weights(self, found: np.ndarray) -> KernelWeights:
        """The hypothesis that these coordinates are, or nearly."""
        return self.sum_of(shares_as_amounts(self.amounts @ found))

    def combination(self, multipliers: np.ndarray, examples: Examples) -> Combination | None:
        """The sum of all z with these multipliers; None if there is none."""
        targets = np.array([row.target for row in self.rows])
        return combination_in(self.sum_of(shares_as_amounts(targets * multipliers)))

    def sum_of(self, amounts: np.ndarray) -> KernelWeights:
        places = np.flatnonzero(amounts).tolist()
        kept = [self.rows[place] for place in places]
        return KernelWeights(self.kernel, kept, places, amounts[places].tolist(), self.features)


def kernel_problem(weights: KernelWeights, examples: Examples) -> KernelProblem | None:
    """The rows in floats; None if there are too many of them, or if their kernels are no floats."""
    rows = []
    for row in all_rows(examples):
        rows.append(row)
        if 2 * SUMS * len(rows) ** 2 > MOST_PRODUCTS:
            return None
    table = float_kernels(weights.kernel, examples)
    if not np.isfinite(table).all() or not table.any():
        return None
    table = np.ldexp(table, -math.frexp(float(table.diagonal().max()))[1])
    squares, axes = np.linalg.eigh(table)
    large = squares > FAINT * squares[-1]
    lengths, axes = np.sqrt(squares[large]), axes[:, large]
    targets = np.array([row.target for row in rows])
    signed = scipy.sparse.csr_array(targets[:, None] * axes * lengths)
    return KernelProblem(weights.kernel, rows, weights.features, signed, axes / lengths)


def float_kernels(kernel: ExactKernel, examples: Examples) -> np.ndarray:
    """K of all rows with each other."""
    used = columns_in_use(examples)
    rows = scipy.sparse.vstack([select_columns(block, used).entries() for block in examples()], format="csr")
    products, gamma = (rows @ rows.T).toarray(), float(kernel.gamma)
    with np.errstate(over="ignore"):  # those that are no floats are left alone
        if kernel.name != "rbf":
            return np.asarray((gamma * products + float(kernel.coef0)) ** kernel.degree)
        squares = products.diagonal()
        return np.exp(-gamma * np.maximum(squares[:, None] + squares - 2.0 * products, 0.0))
