"""Short numbers of known length, eight characters at a time: no branch that depends on how long they are."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.text.decimals import (
    BEYOND_NINE,
    CHUNK_ZEROS,
    EXACT_TENS,
    HIGHEST_BITS,
    MINUS,
    POINT,
    POWERS_OF_TEN,
    ZERO,
    byte_of,
    eight_of,
    number_at,
    value_of,
)

_NONE, _ONE, _TWO, _THREE, _EIGHT, _NINE = (np.uint64(k) for k in (0, 1, 2, 3, 8, 9))
_SIXTY_THREE = np.uint64(63)  # a shift by more is not defined, even where its result is not wanted


@inlined
def digits_in(word, count):
    """The number that the first ``count`` of eight characters write (1 to 8), and which of them are no digits."""
    digits = (word ^ CHUNK_ZEROS) << (((_EIGHT - count) << _THREE) & _SIXTY_THREE)  # zeros in front
    return value_of(digits), ((digits + BEYOND_NINE) | digits) & HIGHEST_BITS


@inlined
def finite_number(text, at, stop):
    """The number in ``text[at:stop]``, and whether that is what it is.

    Most numbers have one digit before the point and up to eight behind: whole numbers and powers of ten that are exact.
    """
    negative = byte_of(text, at) == MINUS
    start = at + 1 if negative else at
    after = np.uint64(stop - start) - _TWO
    if byte_of(text, start + 1) == POINT and after - _ONE < _EIGHT:
        first = byte_of(text, start) - ZERO
        rest, others = digits_in(eight_of(text, start + 2), after)
        if others == _NONE and first <= _NINE:
            value = np.float64(np.int64(first * POWERS_OF_TEN[after] + rest)) / EXACT_TENS[after]
            return -value if negative else value, True
    value, end = number_at(text, at, stop)
    return value, end == stop and end > at and math.isfinite(value)
