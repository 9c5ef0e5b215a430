"""Features that are derived from others before names become columns: rare categories, ranges, crosses.

* Rare categories: all of a column share one feature, as those do that were never seen. ``town=Bern`` stays if Bern is
  one of the frequent towns; any other becomes ``town=(rare)``. A missing one stays ``town=?``.
* Ranges: a number also gives a feature for the range that it lies in, so that its effect may bend. With the edges 25
  and 37, the number 30 in the column ``age`` is ``age`` with value 30, and ``25<=age<37`` with value 1. An edge
  belongs to the range above it. What is missing lies in no range.
* Crosses: features of one column or namespace, multiplied with those of another. Within a group a feature is
  multiplied with itself, too, as by ``vw -q aa``; the order of two does not matter there: the one with the smaller
  hash is the first of the product's name.
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
from onlinear.features.blocks import MOST_ENTRIES
from onlinear.features.names import hash_name
from onlinear.kernels.text import crosses as kernel

if TYPE_CHECKING:
    from onlinear.features.naming import NamedRows

#: what takes the place of a rare category
RARE = "(rare)"
#: a column, and those of its categories that have a feature of their own
Frequent = tuple[str, tuple[str, ...]]


def check_frequent(frequent: Iterable[Frequent], categories: Iterable[str]) -> None:
    """Refuse to look for rare categories in columns that have none."""
    known = list(categories)
    for name, _ in frequent:
        if name not in known:
            columns = ", ".join(known) or "none"
            raise OnlinearError(f"the column {name!r} has no rare categories: those of categories are {columns}")


def with_rare(named: NamedRows, frequent: tuple[Frequent, ...]) -> NamedRows:
    """The rows, in which rare categories are what they are in their column: rare."""
    assert named.groups is not None
    hashes = named.hashes.copy()
    groups = named.groups[: len(hashes)]  # there is room for more
    for column in frequent:
        own = np.flatnonzero(groups == np.uint64(hash_name(column[0])))
        rare = own[~np.isin(hashes[own], known_hashes(column))]
        hashes[rare] = np.uint64(hash_name(f"{column[0]}={RARE}"))
    kept = {hash_name(name): (name, known_names((name, known))) for name, known in frequent}
    starts = named.starts.copy()  # they become those of rows that are sorted

    def names_of(row: int) -> list[str]:
        pairs = zip(named.names_of(row), groups[starts[row] : starts[row + 1]].tolist(), strict=True)
        return [free_name(name, *kept[group]) if group in kept else name for name, group in pairs]

    return replace(named, hashes=hashes, names_of=names_of)


def free_name(name: str, column: str, known: frozenset[str]) -> str:
    return name if name in known else f"{column}={RARE}"


@lru_cache
def known_names(column: Frequent) -> frozenset[str]:
    """The names of features of a column that stay."""
    name, known = column
    return frozenset(f"{name}={category}" for category in (*known, "?"))


@lru_cache
def known_hashes(column: Frequent) -> np.ndarray:
    return np.array(sorted(map(hash_name, known_names(column))), np.uint64)


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


#: a pair of columns or namespaces, by their names
Pair = tuple[str, str]
CROSS_REASONS = {
    kernel.INFINITE: "a product of two crossed features is infinite: scale them, or do not cross them",
    kernel.TOO_MANY: f"crosses give this row more than {kernel.MOST:,} features: cross smaller groups",
}


def check_crosses(pairs: Sequence[Pair], names: Sequence[str], what: str = "column") -> None:
    """Refuse to cross columns, or whatever they are called, that are not among these names."""
    for pair in pairs:
        for name in pair:
            if name not in names:
                known = ", ".join(names) or "none"
                raise OnlinearError(f"the {what} {name!r} cannot be crossed: those with features are {known}")


@lru_cache
def crosses_for(pairs: tuple[Pair, ...]) -> kernel.Crosses:
    return kernel.crosses_of(pairs)


def with_products(named: NamedRows, pairs: tuple[Pair, ...]) -> tuple[NamedRows, np.ndarray]:
    """The rows with a feature for each product behind their own; and what is wrong with those that have none."""
    assert named.groups is not None
    crosses, rows = crosses_for(pairs), len(named.starts) - 1
    wrong, starts = np.empty(rows, np.uint8), np.empty(rows + 1, np.int32)
    count = kernel.count_crossed(named.starts, named.groups, crosses, wrong)
    if count > MOST_ENTRIES:
        raise OnlinearError(f"crosses give {rows:,} rows {count:,} features, too many to hold: cross smaller groups")
    hashes, values = np.empty(count, np.uint64), np.empty(count)
    kernel.cross_rows(named.starts, named.hashes, named.values, named.groups, crosses, wrong, starts, hashes, values)

    def names_of(row: int) -> list[str]:
        groups = named.groups[named.starts[row] : named.starts[row + 1]]  # type: ignore[index]
        return with_product_names(named.names_of(row), groups.tolist(), pairs)

    entries = starts[-1]
    hashes, values = hashes[:entries], values[:entries]
    return replace(named, starts=starts, hashes=hashes, values=values, names_of=names_of, groups=None), wrong


def with_product_names(names: list[str], groups: list[int], pairs: Sequence[Pair]) -> list[str]:
    """The names of a row's features and of their products, in order.

    >>> groups = [hash_name("user"), hash_name("item")]
    >>> with_product_names(["user^age", "item^red"], groups, [("item", "user"), ("user", "user")])
    ['user^age', 'item^red', 'item^red*user^age', 'user^age*user^age']
    """
    found = list(names)
    for first, second in pairs:
        one = [name for name, group in zip(names, groups, strict=True) if group == hash_name(first)]
        other = [name for name, group in zip(names, groups, strict=True) if group == hash_name(second)]
        for k, name in enumerate(one):
            if first == second:
                found += ["*".join(sorted((name, partner), key=hash_name)) for partner in other[k:]]
            else:
                found += [f"{name}*{partner}" for partner in other]
    return found
