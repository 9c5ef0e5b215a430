"""The shuffled orders of scikit-learn's SGD, so that the same seed means the same model.

scikit-learn draws one seed for each binary problem, and shuffles before every epoch with that same seed: each epoch
applies the same permutation to the order of the epoch before. The permutation is Fisher and Yates's, driven by
Marsaglia's 32-bit xorshift generator with the shifts 13, 17, 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

LARGEST_SEED = np.iinfo(np.int32).max


def classifier_seed(random_state: Any, classes: int) -> int:
    """The seed of the one output of two classes; of several, that of the first class's."""
    rng = check_random_state(random_state)
    if classes > 2:
        rng = check_random_state(int(rng.randint(LARGEST_SEED, size=classes)[0]))
    rng.randint(1, LARGEST_SEED)  # drawn for sampling, which SGD does not use
    return int(rng.randint(LARGEST_SEED))


def regressor_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(0, LARGEST_SEED))


def shuffled_orders(length: int, seed: int) -> Iterator[np.ndarray]:
    """The order of the rows in one pass after another."""
    step = permutation(length, seed)
    order = np.arange(length)
    while True:
        order = order[step]
        yield order


def permutation(length: int, seed: int) -> np.ndarray:
    """Fisher and Yates's shuffle of ``0 .. length - 1``.

    >>> sorted(permutation(5, seed=42).tolist())
    [0, 1, 2, 3, 4]
    """
    left = np.arange(length, 1, -1)
    partners = (np.arange(length - 1) + xorshift(length - 1, seed) % left).tolist()
    order = list(range(length))
    for place, partner in enumerate(partners):
        order[place], order[partner] = order[partner], order[place]
    return np.array(order, dtype=np.int64)


def xorshift(count: int, seed: int) -> np.ndarray:
    """The first ``count`` numbers of the generator, their lowest 31 bits.

    A step is linear over bits, so that k steps at once are a table of what becomes of each bit: each round doubles the
    numbers known.
    """
    states = np.array([seed or 1], dtype=np.uint32)
    leap = stepped(np.uint32(1) << np.arange(32, dtype=np.uint32))
    while len(states) <= count:
        states = np.concatenate([states, applied(leap, states)])
        leap = applied(leap, leap)
    return (states[1 : count + 1] & np.uint32(0x7FFFFFFF)).astype(np.int64)


def stepped(states: np.ndarray) -> np.ndarray:
    states = states ^ (states << np.uint32(13))
    states = states ^ (states >> np.uint32(17))
    return states ^ (states << np.uint32(5))


def applied(bits: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The images of the states under the linear map that sends bit b to ``bits[b]``, a byte at a time."""
    image = np.zeros_like(states)
    for byte in range(4):
        table = np.zeros(256, dtype=np.uint32)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ bits[8 * byte + bit]
        image ^= table[(states >> np.uint32(8 * byte)) & np.uint32(0xFF)]
    return image
