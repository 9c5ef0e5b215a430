"""The hash of a name in compiled code: see :func:`onlinear.features.names.hash_name`.

A hash goes byte by byte, and a processor cannot foresee where a word ends. So short words are hashed eight at a time,
each in a lane of its own, where a word that has ended waits for the others.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.features.names import FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND
from onlinear.kernels.compiler.inlining import inlined, plain_way
from onlinear.kernels.text.bits import byte_of
from onlinear.kernels.text.parsed import EIGHT

OFFSET, PRIME, FIRST_FACTOR, SECOND_FACTOR = (np.uint64(k) for k in (FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND))
SHIFT, _HALF = np.uint64(33), np.uint64(32)


@inlined
def hashed(text, at, stop, state):
    """FNV-1a of a piece of text, from a state on."""
    while at < stop:
        state = (state ^ byte_of(text, at)) * PRIME
        at += 1
    return state


@inlined
def mixed(state):
    """MurmurHash3's final mix."""
    state = (state ^ (state >> SHIFT)) * FIRST_FACTOR
    state = (state ^ (state >> SHIFT)) * SECOND_FACTOR
    return state ^ (state >> SHIFT)


@inlined
def crossed(first, second):
    """The hash of a product, from those of its two features: see :func:`onlinear.features.names.cross_hash`."""
    state = first * FIRST_FACTOR + second
    return (state ^ (state >> _HALF)) * SECOND_FACTOR


#: bytes that words may have which are hashed eight at once
SHORT = 16
LENGTH_BITS = 5
_LENGTH = np.uint64((1 << LENGTH_BITS) - 1)


@inlined
def span(at, stop):
    """Where a short word is and how long: what is in the place of its hash until it is hashed."""
    return (np.uint64(at) << np.uint64(LENGTH_BITS)) | np.uint64(stop - at)


@inlined
def hash_spans(text, spans, start, stop, state):
    """Hash the words at ``spans[start:stop]`` in their places, from a state on. Eight more places are overwritten."""
    for k in range(EIGHT):
        spans[stop + np.uint64(k)] = np.uint64(0)
    at = start
    while at < stop:
        hash_eight(text, spans, at, state)
        at += np.uint64(EIGHT)


@plain_way("hash_simd")
def span_eight(text, breaks, k, spans, at):
    """Write down eight words, each from the next break to the one behind it, needed or not.

    Bits come back: whether each is a short word behind a blank, with no colon behind it. The plain way finds none, and
    leaves all words to the caller.
    """
    return np.uint64(0)


@plain_way("hash_simd")
def hash_eight(text, spans, at, state):
    """``mixed(hashed(...))`` of eight words, in the place of their spans."""
    for k in range(EIGHT):
        packed = spans[at + np.uint64(k)]
        start, length = np.int64(packed >> np.uint64(LENGTH_BITS)), np.int64(packed & _LENGTH)
        spans[at + np.uint64(k)] = mixed(hashed(text, start, start + length, state))
