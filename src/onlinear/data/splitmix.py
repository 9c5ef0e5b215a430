"""Numbers that look like chance, made of other numbers: the same ones every time, whatever came before.

SplitMix64: Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators".
"""

from __future__ import annotations

import numpy as np

#: the generator adds it before each number: 2**64 by the golden ratio, made odd
GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def splitmix64(states: np.ndarray) -> np.ndarray:
    """What the generator gives in each of these states: 64 bits that all depend on all bits of the state.

    Each step can be undone, so that different states give different numbers.

    >>> splitmix64(np.array([0], np.uint64)) == 0xE220A8397B1DCDAF
    array([ True])
    """
    bits = states + GAMMA
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))
