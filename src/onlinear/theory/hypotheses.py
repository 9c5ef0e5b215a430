"""What scores rows, in exact arithmetic: weights, weights for each class, and sums of kernels.

All are vectors in some space, and a row asks for a positive product with one vector z there: y x for two classes,
``x (x) (e_y - e_r)`` against each rival r for several (Kesler's construction: Duda & Hart 1973, chapter 5), y phi(x)
with a kernel. The theorems speak of that space, and so cover all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from onlinear.theory.exact import fraction, whole
from onlinear.theory.examples import ExactRow, ExactRows
from onlinear.theory.intervals import UNDERFLOW, Interval, growth, interval_around
from onlinear.theory.kernels import ExactKernel, linear
from onlinear.theory.spaces import ClassSpace, LinearSpace, Space


class Hypothesis(Protocol):
    """A vector that scores rows: ``score`` is never above the true one, ``norm_squared`` never below."""

    @property
    def stretch(self) -> int:
        """How many times as long as ``K(x, x)`` the square of a row's vector z is at most."""

    @property
    def kernel(self) -> ExactKernel:
        """K(x, x) is the squared length of a row."""

    @property
    def norm_squared(self) -> Fraction: ...

    @property
    def norm_slack(self) -> Fraction:
        """By how much ``norm_squared`` may be too large: 0 where it is exact."""

    @property
    def space(self) -> Space | None:
        """The space it is in, if that is one in which weights can be written down."""

    def score(self, row: ExactRow) -> Fraction:
        """The least product of the hypothesis with a vector z of the row."""

    def intervals(self, block: ExactRows) -> tuple[Interval, Interval]:
        """The scores of the rows, and their squared lengths."""

    def written(self) -> list[dict[str, Any]]:
        """As a certificate has it: a vector or a sum of kernels, for each class of several."""


class ExactWeights:
    """Weights and an intercept, with the scores ``y <w, x>``.

    The intercept is the weight of a constant feature of value c: it adds ``(b / c)^2`` to the squared norm, and c^2
    to the squared length of every row.
    """

    stretch, norm_slack = 1, Fraction(0)

    def __init__(self, weights: np.ndarray, intercept: float, constant_squared: Fraction) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.intercept = float(intercept)
        self.kernel = linear(constant_squared)
        self._whole = whole(self.weights)

    @property
    def space(self) -> Space:
        return LinearSpace(len(self.weights), self.kernel.coef0)

    @property
    def norm_squared(self) -> Fraction:
        integers, power = self._whole
        total = fraction(sum(n * n for n in integers), 2 * power)
        if self.intercept == 0.0:
            return total
        return total + Fraction(self.intercept) ** 2 / self.kernel.coef0

    def score(self, row: ExactRow) -> Fraction:
        return int(row.target) * self.product(row.columns, row.values)

    def product(self, columns: Sequence[int], values: np.ndarray) -> Fraction:
        """``<w, x>``, with the intercept."""
        integers, power = whole(values)
        w = self._whole.integers
        total = sum(n * w[j] for j, n in zip(columns, integers, strict=True))
        return fraction(total, power + self._whole.power) + Fraction(self.intercept)

    def intervals(self, block: ExactRows) -> tuple[Interval, Interval]:
        products, lengths = self.products(block)
        return products.times(block.targets), lengths

    def products(self, block: ExactRows) -> tuple[Interval, Interval]:
        """``<w, x>`` and ``|x|^2`` of the rows."""
        products, lengths = block.products_and_lengths(self.weights)
        error = growth(block.longest + 8) * 1.01  # the sizes below are rounded themselves
        with np.errstate(over="ignore", invalid="ignore"):  # what is not a number any more is left to exact arithmetic
            around = error * lengths + UNDERFLOW
            sizes = np.sqrt(lengths + around) * np.linalg.norm(self.weights) + abs(self.intercept)
            return interval_around(products + self.intercept, error * sizes + UNDERFLOW), interval_around(
                lengths, around
            )

    def written(self) -> list[dict[str, Any]]:
        columns = np.flatnonzero(self.weights).tolist()
        return [{"columns": columns, "values": self.weights[columns].tolist(), "intercept": self.intercept}]


class MulticlassWeights:
    """Weights for each class, with the scores ``min over rivals r of <w_y - w_r, x>``; targets are numbers of classes.

    A row's vectors z have twice its squared length, and the squared norm is that of all weights together.
    """

    stretch, norm_slack = 2, Fraction(0)

    def __init__(self, parts: list[ExactWeights]) -> None:
        self.parts = parts
        self.kernel = parts[0].kernel

    @property
    def space(self) -> Space:
        return ClassSpace(len(self.parts), len(self.parts[0].weights), self.kernel.coef0)

    @property
    def norm_squared(self) -> Fraction:
        return sum((part.norm_squared for part in self.parts), Fraction(0))

    def score(self, row: ExactRow) -> Fraction:
        products = [part.product(row.columns, row.values) for part in self.parts]
        return products.pop(int(row.target)) - max(products)

    def intervals(self, block: ExactRows) -> tuple[Interval, Interval]:
        found = [part.products(block) for part in self.parts]
        low, high = (np.stack([products[end] for products, _ in found]) for end in (0, 1))
        own = block.targets.astype(np.int64), np.arange(len(block.targets))
        own_low, own_high = low[own], high[own]
        low[own] = high[own] = -np.inf
        with np.errstate(invalid="ignore"):
            least, most = own_low - high.max(axis=0), own_high - low.max(axis=0)
        return Interval(np.nextafter(least, -np.inf), np.nextafter(most, np.inf)), found[0][1]

    def written(self) -> list[dict[str, Any]]:
        return [written for part in self.parts for written in part.written()]


class KernelWeights:
    """A sum of kernels, ``sum a K(x_i, .)`` over kept rows, with the scores ``y sum a K(x_i, x)``.

    A kernel that is rounded (RBF) misses each K by at most 10^-40; scores are lowered and the norm is raised by what
    that can make.
    """

    stretch = 1

    def __init__(
        self, kernel: ExactKernel, kept: list[ExactRow], positions: list[int], amounts: list[int], features: int
    ):
        self.kernel, self.features = kernel, features
        self.positions, self.amounts = positions, amounts
        #: whether it is a sum of vectors z with positive multipliers
        self.is_signed = bool(kept) and all(a * row.target > 0 for a, row in zip(amounts, kept, strict=True))
        self._kernels = kernel.with_rows([(row.columns, row.values) for row in kept], features)
        self._factors = np.array(amounts, dtype=object)
        self._products: dict[tuple[bytes, bytes], Fraction] = {}
        total = sum(map(abs, amounts))
        self.slack = total * kernel.error
        self.norm_slack = 2 * total * self.slack
        around = sum((a * self.product(row) for a, row in zip(amounts, kept, strict=True)), Fraction(0))
        self.norm_squared = around + self.norm_slack / 2

    @property
    def space(self) -> Space | None:
        return LinearSpace(self.features, self.kernel.coef0) if self.kernel.is_linear else None

    def score(self, row: ExactRow) -> Fraction:
        return int(row.target) * self.product(row) - self.slack

    def product(self, row: ExactRow) -> Fraction:
        """``sum a K(x_i, x)``, which is asked for more than once."""
        key = row.key
        if key not in self._products:
            integers, unit = self._kernels(row.columns, row.values)
            self._products[key] = int(self._factors @ integers) * unit
        return self._products[key]

    def intervals(self, block: ExactRows) -> tuple[Interval, Interval]:
        scores = np.array([float(self.score(block.row(i))) for i in range(len(block.targets))])
        _, lengths = ExactWeights(np.zeros(self.features), 0.0, Fraction(0)).products(block)
        return Interval(np.nextafter(scores, -np.inf), np.nextafter(scores, np.inf)), lengths

    def written(self) -> list[dict[str, Any]]:
        return [{"rows": self.positions, "amounts": self.amounts}]


def hypothesis_in(space: Space, vector: np.ndarray) -> ExactWeights | MulticlassWeights:
    """The hypothesis that a vector of a space is: the weights, then the intercept, of one class after the other."""
    if isinstance(space, ClassSpace):
        return MulticlassWeights([weights_in(space.one, part) for part in vector.reshape(space.classes, -1)])
    return weights_in(space, vector)


def weights_in(space: LinearSpace, vector: np.ndarray) -> ExactWeights:
    intercept = float(vector[-1]) if space.constant_squared > 0 else 0.0
    return ExactWeights(vector[: space.features], intercept, space.constant_squared)
