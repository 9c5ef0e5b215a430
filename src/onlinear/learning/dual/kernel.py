"""Kernels: how alike two rows are, for all pairs of two tables at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from onlinear.data.products import products, squares
from onlinear.errors import BadInput

Matrix = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Kernel(NamedTuple):
    """An inner product ``K(x, z)`` of rows in some space.

    | name   | K(x, z)                                |
    |--------|----------------------------------------|
    | linear | ``x.z``                                |
    | poly   | ``(gamma x.z + coef0) ** degree``      |
    | rbf    | ``exp(-gamma |x - z|^2)``              |

    or a function of two tables of rows that answers the matrix of their kernels.

    >>> Kernel("poly", degree=2, coef0=1.0).matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0], [0.0, 0.0]]))
    array([[36., 1.]])
    """

    name: str | Matrix = "poly"
    degree: int = 2
    gamma: float = 1.0
    coef0: float = 1.0

    def matrix(self, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        """``K`` of each of ``rows`` with each of ``others``."""
        if not isinstance(self.name, str):
            return own_matrix(self.name, rows, others)
        alike = products(rows, others)
        if self.name == "poly":
            alike *= alike.dtype.type(self.gamma)
            alike += alike.dtype.type(self.coef0)
            return power(alike, self.degree)
        if self.name == "rbf":
            alike *= -2.0
            alike += squares(rows)[:, None]
            alike += squares(others)
            np.maximum(alike, 0.0, out=alike)  # rounding may lead below a distance of 0
            alike *= -self.gamma
            return np.exp(alike, out=alike)
        return alike

    def dtype(self, rows: np.dtype) -> np.dtype:
        """The precision for rows of this one: a distance is a difference of large numbers, and wants more."""
        return rows if self.name in ("linear", "poly") else np.dtype(np.float64)

    def largest(self, square: float) -> float:
        """No ``|K(x, z)|`` is larger where no ``x.x`` is larger than ``square``; a user's function may be anything."""
        if self.name == "linear":
            return square
        if self.name != "poly":
            return 1.0
        try:
            return math.pow(abs(self.gamma) * square + abs(self.coef0), self.degree)
        except OverflowError:
            return math.inf


def linear_kernel(intercept: bool) -> Kernel:
    """The linear kernel, perhaps of rows with one more feature that is always 1: its weight is an intercept."""
    return Kernel("poly", degree=1, gamma=1.0, coef0=1.0) if intercept else Kernel("linear")


def own_matrix(function: Matrix, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """What a user's function answers, if it is a finite matrix of the right shape."""
    answer = np.asarray(function(rows, others), dtype=np.float64)
    if answer.shape != (len(rows), len(others)):
        raise BadInput(
            f"the kernel answers an array of shape {answer.shape} for {len(rows)} and {len(others)} rows: "
            "it should be a matrix of one number for each pair"
        )
    if not np.isfinite(answer).all():
        raise BadInput("the kernel answers NaN or infinity: scale the rows, or mend the kernel")
    return answer


def power(values: np.ndarray, degree: int) -> np.ndarray:
    """``values ** degree`` by squaring: a few products instead of a logarithm for each value."""
    answer: np.ndarray | None = None
    while True:
        if degree & 1:
            answer = values.copy() if answer is None else np.multiply(answer, values, out=answer)
        degree >>= 1
        if not degree:
            assert answer is not None
            return answer
        values *= values
