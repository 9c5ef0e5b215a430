"""The words of a text and runs of them, as the hashes of their names: see :mod:`onlinear.features.words`.

Every gram that a word may end has a state of its own, which takes in each byte of the word: nothing is read twice.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.inlining import cold, inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of, byte_of
from onlinear.kernels.text.name_hash import PRIME, mixed

_NONE, _ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in range(5))
BLANK = np.uint64(ord(" "))
#: UTF-8: characters below these take one, two and three bytes; each byte behind the first has six bits of them
ONE_BYTE, TWO_BYTES, THREE_BYTES = (np.uint64(k) for k in (0x80, 0x800, 0x10000))
#: the first byte of so many is not below these
LEAD_TWO, LEAD_THREE, LEAD_FOUR = (np.uint64(k) for k in (0xC0, 0xE0, 0xF0))
SIX_BITS, FOLLOWER = np.uint64(0x3F), np.uint64(0x80)
_SIX, _TWELVE, _EIGHTEEN = (np.uint64(k) for k in (6, 12, 18))
FREE = -1


class Grams(NamedTuple):
    """How texts are cut into grams."""

    letters: Any  # uint16: for each character the one that stands for it in words, or zero
    most: Any  # int64: how many words a gram may have, 1 to 5
    presence: Any  # bool: whether the value of a gram is 1, rather than how often it is there
    unit: Any  # bool: whether values are divided by their Euclidean length
    slots: Any  # int32: room to tell grams apart, see :func:`room_for_slots`


def room_for_grams(size: int, cells: int, most: int) -> int:
    """As many grams as cells of together so many bytes may have: a word takes a byte, and one more before the next."""
    return (size + cells) // 2 * most


def room_for_slots(grams: int) -> int:
    """The slots that tell so many grams apart: a power of two."""
    return max(2, 1 << (2 * grams).bit_length())


@compiled_loop
def cut_texts(buffer, starts, stops, state, grams, row_starts, hashes, values):
    """The compiled loop over texts ``buffer[start:stop]``, of UTF-8: where the grams of each start, and what they are.

    ``state`` is that of the hash after ``column=``.
    """
    text, at = address_of(buffer), _NONE
    for row in range(len(starts)):
        row_starts[row] = at
        at = grams_of(text, starts[row], stops[row], np.uint64(state), grams, hashes, values, at)
    row_starts[len(starts)] = at


@cold
def grams_of(text, start, stop, state, grams, hashes, values, at):
    """Write the grams of a text from the entry ``at`` on; where the next entry goes."""
    if grams.most == 1:  # the same function for different numbers: the states that nobody asks for are not computed
        end = hashes_of(text, start, stop, state, grams.letters, 1, hashes, at)
    elif grams.most == 2:
        end = hashes_of(text, start, stop, state, grams.letters, 2, hashes, at)
    else:
        end = hashes_of(text, start, stop, state, grams.letters, grams.most, hashes, at)
    end = counted(hashes, values, at, end, grams)
    if grams.unit:
        scale_to_unit(values, at, end)
    return end


@inlined
def hashes_of(text, at, stop, state, letters, most, hashes, entry):
    """Write the hashes of the grams of ``text[at:stop]``."""
    states, words = (state, state, state, state, state), 0
    while at < stop:
        letter, at = letter_at(text, at, stop, letters)
        if letter == _NONE:
            continue
        while letter != _NONE:
            states = fed(states, letter)
            letter, at = letter_at(text, at, stop, letters)
        words += 1
        entry = written(states, min(words, most), hashes, entry)
        one, two, three, four, _ = all_fed(states, BLANK)
        states = (state, one, two, three, four)
    return entry


@inlined
def written(states, count, hashes, entry):
    """Write the hashes of the first few states; where the next entry goes."""
    one, two, three, four, five = states
    hashes[entry] = mixed(one)
    if count > 1:
        hashes[entry + _ONE] = mixed(two)
    if count > 2:
        hashes[entry + _TWO] = mixed(three)
    if count > 3:
        hashes[entry + _THREE] = mixed(four)
    if count > 4:
        hashes[entry + _FOUR] = mixed(five)
    return entry + np.uint64(count)


@inlined
def letter_at(text, at, stop, letters):
    """The character that stands in words for the one at a place, and what is behind it; zero if it ends them."""
    if at >= stop:
        return _NONE, at
    byte = byte_of(text, at)
    if byte < ONE_BYTE:
        return np.uint64(letters[byte]), at + 1
    return strange_letter(text, at, stop, byte, letters)


@cold
def strange_letter(text, at, stop, byte, letters):
    """The same for one that is not ASCII, and starts with this byte."""
    size = 2 if byte < LEAD_THREE else 3 if byte < LEAD_FOUR else 4
    if at + size > stop:  # no UTF-8: yet nobody's memory but ours is read
        return _NONE, stop
    character = byte & (np.uint64(0x7F) >> np.uint64(size))
    for k in range(1, size):
        character = (character << _SIX) | (byte_of(text, at + k) & SIX_BITS)
    if size == 4:
        return character, at + size
    return np.uint64(letters[character]), at + size


@inlined
def fed(states, letter):
    """The states after the UTF-8 of a character."""
    return all_fed(states, letter) if letter < ONE_BYTE else strange_fed(states, letter)


@cold
def strange_fed(states, letter):
    if letter < TWO_BYTES:
        states = all_fed(states, LEAD_TWO | (letter >> _SIX))
    else:
        if letter < THREE_BYTES:
            states = all_fed(states, LEAD_THREE | (letter >> _TWELVE))
        else:
            states = all_fed(states, LEAD_FOUR | (letter >> _EIGHTEEN))
            states = all_fed(states, FOLLOWER | ((letter >> _TWELVE) & SIX_BITS))
        states = all_fed(states, FOLLOWER | ((letter >> _SIX) & SIX_BITS))
    return all_fed(states, FOLLOWER | (letter & SIX_BITS))


@inlined
def all_fed(states, byte):
    """The states after one more byte: FNV-1a."""
    one, two, three, four, five = states
    return (
        (one ^ byte) * PRIME,
        (two ^ byte) * PRIME,
        (three ^ byte) * PRIME,
        (four ^ byte) * PRIME,
        (five ^ byte) * PRIME,
    )


@cold
def counted(hashes, values, first, end, grams):
    """Leave each gram there once, where it came first, with its count; where the next entry goes."""
    slots, mask = grams.slots, slots_mask(end - first)
    for slot in range(mask + _ONE):
        slots[slot] = FREE
    left = first
    for k in range(first, end):
        slot = hashes[k] & mask
        while slots[slot] != FREE and hashes[first + np.uint64(slots[slot])] != hashes[k]:
            slot = (slot + _ONE) & mask
        if slots[slot] == FREE:
            slots[slot] = left - first
            hashes[left], values[left] = hashes[k], 1.0
            left += _ONE
        elif not grams.presence:
            values[first + np.uint64(slots[slot])] += 1.0
    return left


@inlined
def slots_mask(count):
    """One less than the power of two that is more than twice as large: at least every other slot stays free."""
    mask = _ONE
    while mask < count + count:
        mask += mask + _ONE
    return mask


@inlined
def scale_to_unit(values, first, end):
    total = 0.0
    for k in range(first, end):
        total += values[k] * values[k]
    length = math.sqrt(total)
    for k in range(first, end):
        values[k] /= length
