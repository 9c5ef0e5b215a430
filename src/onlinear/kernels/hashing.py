"""The hash of a name in compiled code: see :func:`onlinear.features.names.hash_name`."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from onlinear.features.names import FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND
from onlinear.kernels.decimals import byte_of

OFFSET, PRIME, FIRST_FACTOR, SECOND_FACTOR = (np.uint64(k) for k in (FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND))
_SHIFT, _HALF = np.uint64(33), np.uint64(32)


@register_jitable(forceinline=True)
def hashed(text, at, stop, state):
    """FNV-1a of a piece of text, from a state on."""
    while at < stop:
        state = (state ^ byte_of(text, at)) * PRIME
        at += 1
    return state


@register_jitable(forceinline=True)
def mixed(state):
    """MurmurHash3's final mix."""
    state = (state ^ (state >> _SHIFT)) * FIRST_FACTOR
    state = (state ^ (state >> _SHIFT)) * SECOND_FACTOR
    return state ^ (state >> _SHIFT)


@register_jitable(forceinline=True)
def crossed(first, second):
    """The hash of a product, from those of its two features: see :func:`onlinear.features.names.cross_hash`."""
    state = first * FIRST_FACTOR + second
    return (state ^ (state >> _HALF)) * SECOND_FACTOR
