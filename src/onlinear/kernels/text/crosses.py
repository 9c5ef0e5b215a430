"""Products of features: every one of a group with every one of another, whatever format they come from."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.features.names import hash_name
from onlinear.kernels.compiler.hints import uncounted
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.name_hash import crossed

#: what may be wrong with a row, none of whose entries are then left
FINE, INFINITE, TOO_MANY = range(3)
#: entries that a row may have
MOST = 1 << 24

FREE = -1


class Crosses(NamedTuple):
    """Pairs of groups whose features are multiplied."""

    pairs: Any  # int64, two columns: which of the groups below
    groups: Any  # uint64: the hashes of their names, each once
    slots: Any  # int32: the number of a group, in a table that is found by its hash


class CrossedEntries(NamedTuple):
    """Entries, and room for them and their products."""

    hashes: Any  # uint64
    values: Any  # float64
    new_hashes: Any  # uint64
    new_values: Any  # float64


def crosses_of(pairs: Sequence[tuple[str, str]]) -> Crosses:
    """The pairs of groups with these names."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    groups = np.array([hash_name(name) for name in names], np.uint64)
    slots = np.full(1 << (2 * len(names)).bit_length(), FREE, np.int32)
    for number, group in enumerate(groups.tolist()):
        slot = group % len(slots)
        while slots[slot] != FREE:
            slot = (slot + 1) % len(slots)
        slots[slot] = number
    return Crosses(np.array([[names.index(name) for name in pair] for pair in pairs], np.int64), groups, slots)


@compiled_loop
def count_crossed(starts, groups, crosses, wrong):
    """Counts the entries of all rows with their products, and marks rows with too many."""
    heads, total = np.empty(len(crosses.groups) + 2, np.int64), 0
    for row in range(len(starts) - 1):
        count_members(groups, starts[row], starts[row + 1], crosses, uncounted(heads))
        count = np.int64(starts[row + 1] - starts[row]) + products(crosses.pairs, uncounted(heads))
        wrong[row] = TOO_MANY if count > MOST else FINE
        total += count if count <= MOST else 0
    return total


@compiled_loop
def cross_rows(starts, hashes, values, groups, crosses, wrong, new_starts, new_hashes, new_values):
    """Writes the entries of each row, and behind them its products, pair by pair.

    What is wrong with a row is marked, and it keeps no entries.
    """
    entries = CrossedEntries(hashes, values, new_hashes, new_values)
    longest = 0
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    heads, members = np.empty(len(crosses.groups) + 2, np.int64), np.empty(longest, np.int64)
    at = np.uint64(0)
    for row in range(len(starts) - 1):
        new_starts[row] = at
        if wrong[row] == FINE:
            start, stop = np.uint64(starts[row]), np.uint64(starts[row + 1])
            list_members(groups, start, stop, crosses, uncounted(heads), uncounted(members))
            end = copied(entries, start, stop, at)
            end, fine = multiplied(entries, crosses.pairs, uncounted(heads), uncounted(members), end)
            wrong[row] = FINE if fine else INFINITE
            at = end if fine else at
    new_starts[len(starts) - 1] = at


@inlined
def count_members(groups, start, stop, crosses, heads):
    """``heads[g + 2]``: how many entries of a row are in group g."""
    for group in range(len(heads)):
        heads[group] = 0
    for k in range(start, stop):
        group = number_of(groups[k], crosses)
        if group != FREE:
            heads[group + 2] += 1


@inlined
def products(pairs, heads):
    """How many products a row has."""
    count = 0
    for pair in range(len(pairs)):
        first, second = heads[pairs[pair, 0] + 2], heads[pairs[pair, 1] + 2]
        count += first * (first + 1) // 2 if pairs[pair, 0] == pairs[pair, 1] else first * second
    return count


@inlined
def list_members(groups, start, stop, crosses, heads, members):
    """The entries of each group g, in order: ``members[heads[g]:heads[g + 1]]``."""
    count_members(groups, start, stop, crosses, heads)
    for group in range(2, len(heads)):
        heads[group] += heads[group - 1]
    for k in range(start, stop):
        group = number_of(groups[k], crosses)
        if group != FREE:
            members[heads[group + 1]] = k
            heads[group + 1] += 1


@inlined
def number_of(group, crosses):
    """The number of a group, or FREE if it is crossed with none."""
    mask = np.uint64(len(crosses.slots) - 1)
    slot = group & mask
    while crosses.slots[slot] != FREE and crosses.groups[np.uint64(crosses.slots[slot])] != group:
        slot = (slot + np.uint64(1)) & mask
    return np.int64(crosses.slots[slot])


@inlined
def copied(entries, start, stop, at):
    """Write a row's own entries; where the next one goes."""
    for k in range(start, stop):
        entries.new_hashes[at], entries.new_values[at] = entries.hashes[k], entries.values[k]
        at += np.uint64(1)
    return at


@inlined
def multiplied(entries, pairs, heads, members, at):
    """Write the products of a row; where the next entry goes, and whether all of them are finite."""
    hashes, values, fine = entries.hashes, entries.values, True
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for one in range(heads[first], heads[first + 1]):
            i = np.uint64(members[one])
            for other in range(one if first == second else heads[second], heads[second + 1]):
                j = np.uint64(members[other])
                swapped = first == second and hashes[j] < hashes[i]  # within a group neither comes first
                value = values[i] * values[j]
                entries.new_hashes[at] = crossed(hashes[j], hashes[i]) if swapped else crossed(hashes[i], hashes[j])
                entries.new_values[at] = value
                fine &= math.isfinite(value)
                at += np.uint64(1)
    return at, fine
