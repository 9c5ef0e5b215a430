"""Rows that no weights can bear, seen without a search: the same features with two classes, or none at all.

Alike rows are found by a digest of 64 bits, and compared entry by entry, however many columns there are. They are alike
in the feature space of any kernel.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from onlinear.theory.examples import ExactRow, ExactRows, Examples, all_rows
from onlinear.theory.spaces import ClassSpace, Space

#: odd numbers of many bits, by which numbers are mixed
FIRST, SECOND, THIRD = (np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def contradiction(examples: Examples, space: Space | None) -> tuple[list[int], list[int], list[int]] | None:
    """Rows, a rival class of each, and multipliers: a row of zeros, or the first that has been there as another class.

    A row of zeros asks for nothing that weights without an intercept could give.
    """
    if space is not None and not space.constant_squared:
        empty = first_empty(examples)
        if empty is not None:
            number, target = empty
            rival = int(target == 0.0) if isinstance(space, ClassSpace) else int(target < 0.0)
            return [number], [rival], [1]
    pair = alike(examples)
    if pair is None:
        return None
    rows = [next(islice(all_rows(examples), number, None)) for number in pair]
    if rows[0].key != rows[1].key:
        return None
    return pair, [place_of(row) for row in reversed(rows)], [1, 1]


def first_empty(examples: Examples) -> tuple[int, float] | None:
    """The number and the target of the first row that has no entry but zeros."""
    before = 0
    for block in examples():
        empty = np.flatnonzero(np.diff(block.entries().indptr) == 0)
        if len(empty):
            return before + int(empty[0]), float(block.targets[empty[0]])
        before += len(block.targets)
    return None


def alike(examples: Examples) -> list[int] | None:
    """The numbers of two rows of one digest and two classes, of which the second is as early as possible."""
    digests, targets = np.empty(0, dtype=np.uint64), np.empty(0)
    for block in examples():
        digests = np.concatenate([digests, digests_of(block)])
        targets = np.concatenate([targets, block.targets])
    order = np.argsort(digests, kind="stable")
    places = np.flatnonzero((np.diff(digests[order]) == 0) & (np.diff(targets[order]) != 0.0))
    if not len(places):
        return None
    place = places[np.argmin(order[places + 1])]
    return [int(order[place]), int(order[place + 1])]


def digests_of(block: ExactRows) -> np.ndarray:
    """A digest of the entries of each row, in any order."""
    matrix = block.entries()
    with np.errstate(over="ignore"):
        mixed = matrix.data.view(np.uint64) ^ ((matrix.indices.astype(np.uint64) + FIRST) * SECOND)
        for factor in (FIRST, THIRD):
            mixed = (mixed ^ (mixed >> np.uint64(29))) * factor
        sums = np.concatenate([[np.uint64(0)], np.cumsum(mixed ^ (mixed >> np.uint64(32)))])
    found: np.ndarray = sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]
    return found


def place_of(row: ExactRow) -> int:
    """The place of a row's class, which for two classes has the target -1 or +1."""
    return max(int(row.target), 0)
