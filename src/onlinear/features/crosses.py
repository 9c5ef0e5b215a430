"""Crosses: features of one column or namespace, multiplied with those of another.

Within a group a feature is multiplied with itself, too, as by ``vw -q aa``; the order of two does not matter there: the
one with the smaller hash is the first of the product's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import OnlinearError, Refused
from onlinear.features.blocks import MOST_ENTRIES
from onlinear.features.names import hash_name
from onlinear.kernels.text import crosses as kernel

if TYPE_CHECKING:
    from onlinear.features.naming import NamedRows

#: a pair of columns or namespaces, by their names
Pair = tuple[str, str]

REASONS = {
    kernel.INFINITE: "a product of two crossed features is infinite: scale them, or do not cross them",
    kernel.TOO_MANY: f"crosses give this row more than {kernel.MOST:,} features: cross smaller groups",
}


#: how much smaller pieces are of which each row grows: all products of one are in memory at once
SMALLER = 16


def piece_size(usual: int, grows: bool) -> int:
    """How much is read at once, bytes or rows, where rows are small or grow."""
    return max(1, usual // SMALLER) if grows else usual


def pairs_of(crosses: Any) -> tuple[Pair, ...]:
    """The pairs to cross, as a user says them.

    >>> pairs_of([("town", "street")])
    (('town', 'street'),)
    """
    given = list(crosses) if isinstance(crosses, Iterable) and not isinstance(crosses, str | bytes) else [crosses]
    for pair in given:
        if isinstance(pair, str | bytes) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise Refused(
                f"crosses has {pair!r:.60} for a pair: give a list of pairs of names, as [('town', 'street')]"
            )
    return tuple((first, second) for first, second in given)


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
