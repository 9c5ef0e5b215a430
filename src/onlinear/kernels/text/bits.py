"""The bytes of a text, and the bits of words."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,operator"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.inlining import inlined, plain_way

#: words of a whole number that decides between two floats: see :mod:`onlinear.kernels.text.decimals`
LIMBS = 96

ALL = np.uint64(2**64 - 1)
LOWER_HALF = np.uint64(2**32 - 1)
_ONE, _TWO, _FOUR, _HALF = (np.uint64(k) for k in (1, 2, 4, 32))
_PAIRS, _QUADS, _NIBBLES = (ALL // np.uint64(k) for k in (3, 5, 17))
_BYTES, _HIGHEST_BYTE = ALL // np.uint64(255), np.uint64(56)


@plain_way("text_bytes")
def address_of(text):
    """Where an array of bytes starts: calls that pass an array count its references, calls that pass this do not."""
    return text


@plain_way("text_bytes")
def byte_of(text, at):
    """The byte at a position of such an address, as a word."""
    return np.uint64(text[at])


@plain_way("text_bytes")
def eight_of(text, at):
    """The eight bytes from a position on, the first one lowest."""
    word = np.uint64(0)
    for k in range(8):
        word |= np.uint64(text[at + k]) << np.uint64(8 * k)
    return word


@plain_way("text_bytes")
def room_for_limbs():
    """Room for LIMBS words until the calling function returns; in LLVM without an allocation that could fail."""
    return np.empty(LIMBS, np.uint64)


@inlined
def ones_of(word):
    """How many bits of a word are set. LLVM knows these lines, and makes one instruction of them."""
    pairs = word - ((word >> _ONE) & _PAIRS)
    quads = (pairs & _QUADS) + ((pairs >> _TWO) & _QUADS)
    nibbles = (quads + (quads >> _FOUR)) & _NIBBLES
    return (nibbles * _BYTES) >> _HIGHEST_BYTE


@inlined
def trailing_zeros(word):
    """How many of a word's lowest bits are zero; 64 for zero. This is one instruction, too."""
    return ones_of(~word & (word - _ONE))


@inlined
def leading_zeros(word):
    """How many of a word's highest bits are zero; 64 for zero."""
    filled = word
    for k in (1, 2, 4, 8, 16, 32):
        filled |= filled >> np.uint64(k)
    return ones_of(~filled)


@inlined
def float_of(bits):
    """The float with these bits."""
    return np.uint64(bits).view(np.float64)


@inlined
def wide_product(one, other):
    """The upper and the lower word of a product of two words."""
    low, high = one & LOWER_HALF, one >> _HALF
    other_low, other_high = other & LOWER_HALF, other >> _HALF
    across, back = low * other_high, high * other_low
    middle = ((low * other_low) >> _HALF) + (across & LOWER_HALF) + (back & LOWER_HALF)
    upper = high * other_high + (across >> _HALF) + (back >> _HALF) + (middle >> _HALF)
    return upper, one * other
