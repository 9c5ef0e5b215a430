"""Rare categories: all of a column share one feature, as those do that were never seen.

``town=Bern`` stays if Bern is one of the frequent towns; any other becomes ``town=(rare)``. A missing one stays
``town=?``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from onlinear.errors import OnlinearError
from onlinear.features.names import hash_name

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
        return [renamed(name, *kept[group]) if group in kept else name for name, group in pairs]

    return replace(named, hashes=hashes, names_of=names_of)


def renamed(name: str, column: str, known: frozenset[str]) -> str:
    return name if name in known else f"{column}={RARE}"


@lru_cache
def known_names(column: Frequent) -> frozenset[str]:
    """The names of features of a column that stay."""
    name, known = column
    return frozenset(f"{name}={category}" for category in (*known, "?"))


@lru_cache
def known_hashes(column: Frequent) -> np.ndarray:
    return np.array(sorted(map(hash_name, known_names(column))), np.uint64)
