"""Spaces in which weights can be written down, and what rows ask of weights there: a positive product with vectors z.

The constant feature is 1 here, for its size does not matter for what is separable.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.theory.examples import ExactRows


class LinearSpace(NamedTuple):
    """One weight for each feature, and an intercept if the constant is not 0."""

    features: int
    constant_squared: Fraction

    @property
    def one(self) -> LinearSpace:
        """That of a single output."""
        return self

    @property
    def dimensions(self) -> int:
        return self.features + (self.constant_squared > 0)

    def with_features(self, features: int) -> LinearSpace:
        """The same with so many features."""
        return self._replace(features=features)

    def embed(self, vector: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """A vector of the space that has these columns alone, in this one."""
        wide = np.zeros(self.dimensions)
        wide[columns] = vector[: len(columns)]
        wide[self.features :] = vector[len(columns) :]
        return wide

    def signed_rows(self, block: ExactRows) -> Any:
        """The vectors z of the rows, as a compressed matrix: y x."""
        return scipy.sparse.csr_array(entries(block, self.constant_squared > 0).multiply(block.targets[:, None]))

    def places(self, numbers: list[int], targets: np.ndarray) -> tuple[list[int], list[int]]:
        """Of which rows, and against which class, the vectors of these numbers are."""
        return numbers, [int(targets[number] < 0.0) for number in numbers]


class ClassSpace(NamedTuple):
    """The weights of each class, one after the other; a row asks ``<w_y - w_r, x> > 0`` of every rival r."""

    classes: int
    features: int
    constant_squared: Fraction

    @property
    def one(self) -> LinearSpace:
        return LinearSpace(self.features, self.constant_squared)

    @property
    def dimensions(self) -> int:
        return self.classes * self.one.dimensions

    def with_features(self, features: int) -> ClassSpace:
        return self._replace(features=features)

    def embed(self, vector: np.ndarray, columns: np.ndarray) -> np.ndarray:
        parts = vector.reshape(self.classes, -1)
        return np.concatenate([self.one.embed(part, columns) for part in parts])

    def signed_rows(self, block: ExactRows) -> Any:
        """The vectors z of the rows: x for the row's class and -x for each rival in turn."""
        rows = scipy.sparse.coo_array(entries(block, self.constant_squared > 0))
        width, rivals = self.one.dimensions, self.classes - 1
        at, columns = rows.coords
        own = block.targets.astype(np.int64)[at]
        parts = []
        for place in range(rivals):
            rival = place + (place >= own)
            number = at * rivals + place
            parts.append((rows.data, number, columns + own * width))
            parts.append((-rows.data, number, columns + rival * width))
        data, numbers, places = (np.concatenate(part) for part in zip(*parts, strict=True))
        shape = (len(block.targets) * rivals, self.dimensions)
        return scipy.sparse.csr_array((data, (numbers, places)), shape)

    def places(self, numbers: list[int], targets: np.ndarray) -> tuple[list[int], list[int]]:
        """Of which rows, and against which rival, the vectors of these numbers are."""
        rows = [number // (self.classes - 1) for number in numbers]
        places = [number % (self.classes - 1) for number in numbers]
        return rows, [place + (place >= int(targets[row])) for row, place in zip(rows, places, strict=True)]


Space = LinearSpace | ClassSpace


def entries(block: ExactRows, with_constant: bool) -> Any:
    """The rows, with the constant feature."""
    found = block.entries()
    if with_constant:
        found = scipy.sparse.hstack([found, np.ones((len(block.targets), 1))], format="csr")
    return found
