"""Rows whose names are hashed, and what becomes of those whose values add up to infinity."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onlinear.kernels.placing import place_by_hash
from onlinear.rows import SparseRows
from onlinear.streams.blocks import Block
from onlinear.streams.lines import Lines

INFINITE = "features that share a cell add up to infinity: scale them, or take more bits"


def placed(
    starts: np.ndarray, hashes: np.ndarray, values: np.ndarray, entries: int, bits: int
) -> tuple[SparseRows, np.ndarray]:
    """Rows sorted by column, and which of them are broken: they have no entries. ``starts`` become the rows' own."""
    columns, sums, broken = np.empty(entries, np.uint32), np.empty(entries), np.empty(len(starts) - 1, np.bool_)
    place_by_hash()(starts, hashes, values, bits, columns, sums, broken)
    return SparseRows(starts, columns[: starts[-1]], sums[: starts[-1]]), broken


def without(
    block: Block, broken: np.ndarray, lines: Lines, text_at: Callable[[int], bytes], stop_at_bad: bool
) -> Block:
    """The block without its broken rows; or with none from the first one on."""
    where = np.flatnonzero(broken)
    places = [int(lines.places[row]) for row in where.tolist()]
    bad = [(lines.at(place, INFINITE), text_at(place)) for place in places] + block.bad
    bad = sorted(bad, key=lambda pair: pair[0].line)
    left = ~broken
    if stop_at_bad:
        left[where[0] :] = False
        bad = bad[:1]
    starts, columns, values = block.rows  # type: ignore[misc]
    stop = int(starts[where[0]]) if stop_at_bad else int(starts[-1])
    rows = SparseRows(np.append(starts[:-1][left], np.int32(stop)), columns[:stop], values[:stop])
    origin = Lines(lines.chunk, lines.source, lines.places[: len(left)][left])
    return Block(rows, block.labels[left], block.importance[left], origin, bad, block.read)
