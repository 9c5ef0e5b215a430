"""Names that are known by their hashes: where each stands, and how often it came."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.hints import prefetch
from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.entries import DIGITS, Entries, insert, sort_and_sum, sum_duplicates
from onlinear.kernels.text.rank_sort import GROUP, rank_all

#: why a loop stops: nothing is left; there is no room for the next row; it would be one name too many; it adds up to
#: infinity
DONE, FULL, CROWDED, BROKEN = range(4)

#: at which row a loop goes on; how many names were new; the entry whose name is one too many; how many entries came
#: whose names are not remembered
ROW, NEW, ENTRY, UNNAMED = range(4)
PROGRESS = 4

NOWHERE = -1
#: entries up to which comparing each with all others is faster than sorting by digits
MOST_RANKED = 256
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_SLOT = np.uint64(16)  # bytes


class Memory(NamedTuple):
    """Room for names: at most half of the slots are taken."""

    slots: Any  # uint64, two words each: a hash and its position plus one; 0 where there is none
    hashes: Any  # uint64, by position
    counts: Any  # int64, by position
    size: Any  # one number: how many names there are


class Features(NamedTuple):
    """Rows of named features, in any order."""

    starts: Any  # int32
    hashes: Any  # uint64
    values: Any  # float64


class Placed(NamedTuple):
    """Room for the same rows, sorted by column."""

    starts: Any  # int32
    columns: Any  # uint32
    values: Any  # float64


def empty_memory(names: int) -> Memory:
    """Room for so many names, or a few more."""
    room = 1 << max(1, names - 1).bit_length()
    size = np.zeros(1, np.int64)
    return Memory(np.zeros((2 * room, 2), np.uint64), np.empty(room, np.uint64), np.empty(room, np.int64), size)


@inlined
def slot_of(slots, name):
    """The slot of a hash, or the empty one that it would take."""
    mask = np.uint64(len(slots) - 1)
    slot = name & mask  # hashes are well mixed
    while slots[slot, 1] != _NOTHING and slots[slot, 0] != name:
        slot = (slot + _ONE) & mask
    return slot


@inlined
def fetch_slots(slots, hashes, start, stop):
    """Ask for the slots of a row's names, before anyone has to wait for them."""
    mask, home = np.uint64(len(slots) - 1), np.uint64(slots.ctypes.data)
    for k in range(start, stop):
        prefetch(np.int64(home + _SLOT * (hashes[k] & mask)))


@inlined
def enter(memory, slot, name):
    """Put a new name into its slot."""
    size = memory.size[0]
    memory.slots[slot, 0], memory.slots[slot, 1] = name, np.uint64(size + 1)
    memory.hashes[size], memory.counts[size] = name, 0
    memory.size[0] = size + 1


@inlined
def forget(memory, size):
    """Take the latest names out again, the very last one first: the slots are then as they were before."""
    while memory.size[0] > size:
        memory.size[0] -= 1
        memory.slots[slot_of(memory.slots, memory.hashes[memory.size[0]]), 1] = _NOTHING


@inlined
def has_room(memory, entries, cap):
    return min(memory.size[0] + entries, cap) <= len(memory.hashes)


@inlined
def enter_row(memory, hashes, start, stop, cap, positions, firsts, new):
    """Find the positions of a row's names; the entry that would be one name too many, or NOWHERE."""
    fetch_slots(memory.slots, hashes, start, stop)
    for k in range(start, stop):
        slot = slot_of(memory.slots, hashes[k])
        if memory.slots[slot, 1] == _NOTHING:
            if memory.size[0] >= cap:
                return k
            firsts[new] = k
            new += 1
            enter(memory, slot, hashes[k])
        positions[k - start] = np.int32(memory.slots[slot, 1] - _ONE)
    return NOWHERE


class Room(NamedTuple):
    """Room for a row: the positions of its names, and what sorting them needs."""

    positions: Any  # int32, with a group to spare, as there is behind the ranks
    ranks: Any  # int32: how many come before each
    ties: Any  # int32
    keys: Any
    values: Any
    digits: Any


@inlined
def room_for_row(longest):
    return Room(
        np.empty(longest + GROUP, np.int32),
        np.empty(MOST_RANKED + GROUP, np.int32),
        np.zeros(MOST_RANKED, np.int32),
        np.empty(2 * longest, np.int64),
        np.empty(longest),
        np.empty(DIGITS, np.int64),
    )


@inlined
def place_row(room, n, values, placed, start):
    """Write a row sorted by column, the values of each added up; how many are left, or a negative number."""
    if n == 0:
        return n
    columns, sums = placed.columns[start : start + n], placed.values[start : start + n]
    if n > MOST_RANKED:
        for k in range(n):
            columns[k], sums[k] = room.positions[k], values[k]
        return sort_and_sum(Entries(columns, sums, room.keys, room.keys, room.keys, room.values, room.digits), n)
    rank_with_ties(room, n, values, columns, sums)
    insert(columns, sums, n)
    return sum_duplicates(columns, sums, n)


@inlined
def rank_with_ties(room, n, values, columns, placed):
    """Write entries sorted by column (:mod:`onlinear.kernels.text.rank_sort`). Those of one column stay as they are."""
    positions, ranks, ties = room.positions, room.ranks, room.ties
    rank_all(positions, n, ranks)
    ties[:n] = 0
    for k in range(n):
        place = ranks[k]
        tie = ties[place]
        ties[place] = tie + 1
        columns[place + tie], placed[place + tie] = positions[k], values[k]


@inlined
def longest_row(starts):
    longest = 1
    for row in range(len(starts) - 1):
        longest = max(longest, starts[row + 1] - starts[row])
    return longest


@compiled_loop
def learn_names(memory, features, cap, placed, firsts, progress):
    """A column for each name, in the order in which they come; why it stops.

    ``firsts`` are the entries that names came with first. A row at which the loop stops has registered nothing.
    """
    room = room_for_row(longest_row(features.starts))
    written = placed.starts[progress[ROW]]
    for row in range(progress[ROW], len(features.starts) - 1):
        start, stop, before = features.starts[row], features.starts[row + 1], memory.size[0]
        n = stop - start
        progress[ROW] = row
        if not has_room(memory, n, cap):
            return FULL
        progress[ENTRY] = enter_row(memory, features.hashes, start, stop, cap, room.positions, firsts, progress[NEW])
        if progress[ENTRY] != NOWHERE:
            forget(memory, before)
            return CROWDED
        left = place_row(room, n, features.values[start:stop], placed, written)
        if left < 0:
            forget(memory, before)
            return BROKEN
        for k in range(n):
            memory.counts[room.positions[k]] += 1
        progress[NEW] += memory.size[0] - before
        written += left
        placed.starts[row + 1] = written
    progress[ROW] = len(features.starts) - 1
    return DONE


@compiled_loop
def count_names(memory, features, cap, broken, firsts, progress):
    """Remember the names of all rows but the broken ones, as far as there may be so many."""
    for row in range(progress[ROW], len(broken)):
        start, stop = features.starts[row], features.starts[row + 1]
        progress[ROW] = row
        if broken[row]:
            continue
        if not has_room(memory, stop - start, cap):
            return FULL
        fetch_slots(memory.slots, features.hashes, start, stop)
        for k in range(start, stop):
            slot = slot_of(memory.slots, features.hashes[k])
            if memory.slots[slot, 1] == _NOTHING:
                if memory.size[0] >= cap:
                    progress[UNNAMED] += 1
                    continue
                firsts[progress[NEW]] = k
                progress[NEW] += 1
                enter(memory, slot, features.hashes[k])
            memory.counts[memory.slots[slot, 1] - _ONE] += 1
    progress[ROW] = len(broken)
    return DONE


@compiled_loop
def look_up_names(slots, features, placed, broken):
    """Rows of the features whose names are known; the broken ones have no entries."""
    longest = longest_row(features.starts)
    room, values = room_for_row(longest), np.empty(longest)
    written = np.int32(0)
    for row in range(len(broken)):
        start, stop, n = features.starts[row], features.starts[row + 1], 0
        fetch_slots(slots, features.hashes, start, stop)
        for k in range(start, stop):
            position = slots[slot_of(slots, features.hashes[k]), 1]
            if position != _NOTHING:
                room.positions[n], values[n] = np.int32(position - _ONE), features.values[k]
                n += 1
        left = place_row(room, n, values, placed, written)
        broken[row] = left < 0
        written += max(left, 0)
        placed.starts[row + 1] = written


@compiled_loop
def enter_all(memory):
    """Fill empty slots with all names; whether none of them is there twice."""
    for position in range(memory.size[0]):
        slot = slot_of(memory.slots, memory.hashes[position])
        if memory.slots[slot, 1] != _NOTHING:
            return False
        memory.slots[slot, 0], memory.slots[slot, 1] = memory.hashes[position], np.uint64(position + 1)
    return True


@compiled_loop
def positions_of(slots, hashes, positions):
    """The positions of names by their hashes, NOWHERE for those that are unknown."""
    for k in range(len(hashes)):
        positions[k] = np.int64(slots[slot_of(slots, hashes[k]), 1]) - 1
