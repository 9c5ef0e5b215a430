"""Ranges: a number also gives a feature for the range that it lies in, so that its effect may bend.

With the edges 25 and 37, the number 30 in the column ``age`` is ``age`` with value 30, and ``25<=age<37`` with value 1.
An edge belongs to the range above it. What is missing lies in no range.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from onlinear.errors import OnlinearError
from onlinear.features.names import hash_name

if TYPE_CHECKING:
    from onlinear.features.naming import NamedRows

#: a column of numbers, and the edges between its ranges
Ranges = tuple[str, tuple[float, ...]]


def check_ranges(ranges: Iterable[Ranges], numbers: Sequence[str]) -> None:
    """Refuse ranges of columns that have no numbers, and edges between which there is none."""
    for name, edges in ranges:
        if name not in numbers:
            known = ", ".join(numbers) or "none"
            raise OnlinearError(f"the column {name!r} cannot be cut into ranges: those of numbers are {known}")
        ascending = all(low < high for low, high in pairwise(edges))
        if not (edges and ascending and all(map(math.isfinite, edges))):
            said = ", ".join(map(repr, edges)) or "none"
            raise OnlinearError(f"the edges of {name!r} are {said:.60}: give finite numbers, each larger than the last")


class Names(NamedTuple):
    """The ranges of all columns, one behind the other: their names, and the hashes of these."""

    texts: list[str]
    hashes: np.ndarray


@lru_cache
def names_for(ranges: tuple[Ranges, ...]) -> Names:
    texts = [name for column, edges in ranges for name in range_names(column, edges)]
    return Names(texts, np.array([hash_name(name) for name in texts], np.uint64))


def range_names(column: str, edges: Sequence[float]) -> list[str]:
    """The names of a column's ranges, the lowest first.

    >>> range_names("age", [25.0, 37.5])
    ['age<25', '25<=age<37.5', 'age>=37.5']
    """
    said = [repr(edge).removesuffix(".0") for edge in edges]
    between = [f"{low}<={column}<{high}" for low, high in pairwise(said)]
    return [f"{column}<{said[0]}", *between, f"{column}>={said[-1]}"]


def with_ranges(named: NamedRows, ranges: tuple[Ranges, ...]) -> NamedRows:
    """The rows with a feature behind each number that has ranges: the one that it lies in."""
    names, codes = names_for(ranges), codes_of(named, ranges)
    grown = np.flatnonzero(codes >= 0)
    places = grown + np.arange(1, len(grown) + 1)
    is_old = np.ones(len(codes) + len(grown), np.bool_)
    is_old[places] = False

    def joined(old: np.ndarray, new: np.ndarray | float) -> np.ndarray:
        both = np.empty(len(is_old), old.dtype)
        both[is_old], both[places] = old, new
        return both

    def names_of(row: int) -> list[str]:
        found = codes[named.starts[row] : named.starts[row + 1]].tolist()
        pairs = zip(named.names_of(row), found, strict=True)
        return [each for name, code in pairs for each in ([name] if code < 0 else [name, names.texts[code]])]

    assert named.groups is not None
    groups = named.groups[: len(codes)]  # there is room for more
    return replace(
        named,
        starts=named.starts + np.searchsorted(grown, named.starts).astype(named.starts.dtype),
        hashes=joined(named.hashes, names.hashes[codes[grown]]),
        values=joined(named.values, 1.0),
        names_of=names_of,
        groups=joined(groups, groups[grown]),
    )


def codes_of(named: NamedRows, ranges: tuple[Ranges, ...]) -> np.ndarray:
    """For each entry the place of its range among all of all columns; -1 if it has none."""
    assert named.groups is not None
    codes = np.full(len(named.hashes), -1, np.int32)
    groups, first = named.groups[: len(codes)], 0
    for name, edges in ranges:
        column = np.uint64(hash_name(name))
        own = np.flatnonzero((groups == column) & (named.hashes == column))  # what is missing has another name
        codes[own] = first + np.searchsorted(edges, named.values[own], side="right")
        first += len(edges) + 1
    return codes
