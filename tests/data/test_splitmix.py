"""The numbers that look like chance are SplitMix64's, as others have published them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from onlinear.data.splitmix import GAMMA, splitmix64

WORD = st.integers(0, 2**64 - 1)


def test_published_numbers() -> None:
    """The first five that the generator gives from the state 1234567 on."""
    states = np.uint64(1234567) + np.arange(5, dtype=np.uint64) * GAMMA
    assert splitmix64(states).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def slowly(state: int) -> int:
    """The same in Python's integers, cut to 64 bits."""
    bits = (state + 0x9E3779B97F4A7C15) % 2**64
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % 2**64
    return bits ^ bits >> 31


@settings(max_examples=50)
@given(st.lists(WORD))
def test_every_state_by_itself(states: list[int]) -> None:
    assert splitmix64(np.array(states, np.uint64)).tolist() == [slowly(state) for state in states]


@settings(max_examples=50)
@given(WORD, st.integers(0, 63))
def test_a_bit_of_the_state_changes_many(state: int, bit: int) -> None:
    one, other = splitmix64(np.array([state, state ^ 1 << bit], np.uint64)).tolist()
    assert 8 <= (one ^ other).bit_count() <= 56  # 32 in the mean, and six deviations to either side
