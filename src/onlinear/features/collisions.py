"""Names that share a cell because their hashes agree: how many, and where it hurts most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Shared(NamedTuple):
    """A cell with its names, the most frequent one first, and how often each came."""

    cell: int
    names: list[str]
    counts: list[int]


class Collisions(NamedTuple):
    """So many ``names`` in so many ``cells``, ``sharing`` of them with another; the ``worst`` cells first.

    A cell is as bad as its second most frequent name is frequent.
    """

    names: int
    cells: int
    sharing: int
    worst: list[Shared]


def collisions_of(cells: np.ndarray, counts: np.ndarray, names: Sequence[str], most: int) -> Collisions:
    """How names share their cells; the cell, the count and the text of each are given."""
    order = np.argsort(cells, kind="stable")
    first, sizes = groups(cells[order])
    shared = np.repeat(sizes > 1, sizes)
    order = order[shared]
    order = order[np.lexsort((-counts[order], cells[order]))]
    starts, widths = groups(cells[order])
    seconds = counts[order[starts + 1]] if len(starts) else counts[:0]
    worst = []
    for group in np.argsort(-seconds, kind="stable")[:most].tolist():
        members = order[starts[group] : starts[group] + widths[group]]
        worst.append(
            Shared(int(cells[members[0]]), [names[name] for name in members.tolist()], counts[members].tolist())
        )
    return Collisions(len(cells), len(first), len(order), worst)


def groups(ordered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each run of the same number starts, and how long it is."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))[: len(ordered)]
    return starts, np.diff(np.append(starts, len(ordered)))


def expected_names(occupied: int, bits: int) -> float:
    """About how many names there are if their hashes occupy so many of 2**bits cells; infinite if they fill them all.

    m cells of which n are taken: -m ln(1 - n/m), since a cell stays empty with the chance (1 - 1/m)^names.

    >>> round(expected_names(200_000, bits=18))
    377340
    """
    cells = 1 << bits
    return -cells * math.log1p(-occupied / cells) if occupied < cells else math.inf
