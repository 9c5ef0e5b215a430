"""Decimal numbers from bytes: the same bits as Python's ``float()``, without Python and without its lock.

Nearly every number in a data file is short: its digits fit a float, the power of ten as well, and one division rounds
correctly (Clinger 1990). The others take Eisel and Lemire's way, two multiplications with a table of powers of five
(Lemire 2021, arXiv:2101.11408; that it never needs help with up to 19 digits: Mushtak and Lemire 2022,
arXiv:2212.06644). Only what has more digits and lies next to the middle of two floats is compared with that middle in
whole numbers, digit by digit.

Numba makes a float of an unsigned and a signed integer: what is a word of bits here is np.uint64 throughout, positions
and exponents are np.int64.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,operator,var-annotated"

from __future__ import annotations

import numpy as np

from onlinear.kernels.compiler.inlining import cold, inlined
from onlinear.kernels.text.bits import (
    LOWER_HALF,
    address_of,
    byte_of,
    eight_of,
    float_of,
    leading_zeros,
    room_for_limbs,
    trailing_zeros,
    wide_product,
)

PLUS, MINUS, POINT, ZERO, LETTER_E = (np.uint64(ord(character)) for character in "+-.0e")
LOWER_CASE = np.uint64(0x20)  # the bit that makes a capital letter a small one

# Eight characters in a word, the first one lowest.
CHUNK = 8
CHUNK_ZEROS = np.uint64(0x3030303030303030)
BEYOND_NINE = np.uint64(0x7676767676767676)  # added to bytes, it sets the highest bit of those above nine
HIGHEST_BITS = np.uint64(0x8080808080808080)
PAIRS = np.uint64(0x000000FF000000FF)
OUTER_PAIRS = np.uint64(100 + (1_000_000 << 32))
INNER_PAIRS = np.uint64(1 + (10_000 << 32))
POWERS_OF_TEN = np.array([10**k for k in range(10)], np.uint64)

WORD_DIGITS = 19  # as many as always fit a word
HUGE_EXPONENT = 10**17  # far beyond the floats, even after as many zeros as any memory holds

# Whole numbers up to 2^53 and powers of ten up to 10^22 are floats without rounding.
EXACT_INTEGER = np.uint64(2**53)
EXACT_TENS = np.array([10.0**k for k in range(23)])
EXACT_EXPONENT = len(EXACT_TENS) - 1

# Beyond these powers of ten every word of digits is zero or infinite.
LOWEST, HIGHEST = -342, 308
FRACTION_BITS = 52
BIAS = 1023
INFINITE = np.uint64(0x7FF << FRACTION_BITS)

# Whole numbers for the comparison with a middle: limbs of 32 bits, the lowest first. The middle of two floats has at
# most 768 digits: (2^54 - 1) * 5^1075. Numbers with 774 digits and one more, down to 10^-343, stay below 2^2700.
LIMB_BITS = 32
LIMB = np.uint64(LIMB_BITS)
LIMB_DIGITS, MOST_DIGITS = 9, 774
LIMB_FIVES = np.array([5**k for k in range(14)], np.uint64)  # the powers of five that fit a limb

_ONE, _THREE, _NINE, _TEN = (np.uint64(k) for k in (1, 3, 9, 10))


def powers_of_five() -> np.ndarray[tuple[int, int], np.dtype[np.uint64]]:
    """The first 128 bits of 5^k for k from LOWEST to HIGHEST, as two words, the upper one first."""
    table = []
    for k in range(LOWEST, HIGHEST + 1):
        power = 5 ** abs(k)
        size = power.bit_length()
        if k >= 0:
            bits = power << 128 - size if size <= 128 else power >> size - 128
        else:
            bits = (1 << size + 127) // power
            bits += k >= -27  # rounded up where a word may be a multiple of 5^-k: exact results then look exact
        table.append((bits >> 64, bits & (1 << 64) - 1))
    return np.array(table, np.uint64)


FIVES = powers_of_five()


@inlined
def read_number(text, at, stop):
    """The number that starts at ``text[at]`` and where it ends: at the first byte that cannot belong to it.

    An optional sign, digits with at most one point, and an optional exponent. Where no number starts nothing is read:
    the end is ``at``. An ``e`` without digits is not part of the number. Callers look at what stands at the end.
    """
    return number_at(address_of(text), np.int64(at), np.int64(stop))


@inlined
def number_at(text, at, stop):
    """As above, from an address."""
    start = at
    negative = False
    if start < stop:
        sign = byte_of(text, start)
        negative = sign == MINUS
        if negative or sign == PLUS:
            start += 1
    mantissa, end = few_digits(text, start, stop, np.uint64(0))
    count = end - start
    point = end
    if end < stop and byte_of(text, end) == POINT:
        mantissa, end = more_digits(text, point + 1, stop, mantissa)
        count = end - start - 1
    if count == 0:
        return 0.0, at
    exponent = min(point + 1 - end, 0)  # of the last digit: minus the number of digits after the point
    last = end
    if end < stop and byte_of(text, end) | LOWER_CASE == LETTER_E:
        power, end = read_exponent(text, end, stop)
        exponent += power
    if count > WORD_DIGITS:
        value = from_many_digits(text, start, point, last, exponent)
    elif mantissa <= EXACT_INTEGER and -EXACT_EXPONENT <= exponent <= EXACT_EXPONENT:
        value = np.float64(np.int64(mantissa))
        if exponent < 0:
            value /= EXACT_TENS[np.uint64(-exponent)]
        else:
            value *= EXACT_TENS[np.uint64(exponent)]
    else:
        value = float_of(nearest(mantissa, exponent))
    return -value if negative else value, end


@inlined
def few_digits(text, at, stop, before):
    """The digits at ``at`` appended to those of the number ``before``, modulo 2^64, and where they end.

    One by one, which is best for a digit or two: the branch predictor then knows the end before the bytes have come.
    """
    number, here = before, at
    while here < stop:
        digit = byte_of(text, here) - ZERO
        if digit > _NINE:
            break
        number = number * _TEN + digit
        here += 1
    return number, here


@inlined
def more_digits(text, at, stop, before):
    """As above, eight at once: best where the predictor would guess badly how many there are, as after a point."""
    number, here = before, at
    while here + CHUNK <= stop:
        digits = eight_of(text, here) ^ CHUNK_ZEROS
        others = ((digits + BEYOND_NINE) | digits) & HIGHEST_BITS  # a carry disturbs only what follows the first one
        if others != np.uint64(0):
            count = trailing_zeros(others) >> _THREE
            half = (np.uint64(CHUNK) - count) << np.uint64(2)
            digits = (digits << half) << half  # zeros in front; in two steps, as 64 bits at once are not defined
            return number * POWERS_OF_TEN[count] + value_of(digits), here + np.int64(count)
        number = number * POWERS_OF_TEN[CHUNK] + value_of(digits)
        here += CHUNK
    return few_digits(text, here, stop, number)


@inlined
def value_of(digits):
    """The number that eight digits write: pairs first, then the pairs' weighted sum."""
    digits = digits * _TEN + (digits >> np.uint64(8))
    outer, inner = digits & PAIRS, (digits >> np.uint64(16)) & PAIRS
    return (outer * OUTER_PAIRS + inner * INNER_PAIRS) >> LIMB


@cold
def read_exponent(text, at, stop):
    """The exponent whose letter is ``text[at]`` and where it ends; without digits, 0 and ``at``."""
    here = at + 1
    negative = False
    if here < stop:
        sign = byte_of(text, here)
        negative = sign == MINUS
        if negative or sign == PLUS:
            here += 1
    start = here
    power = np.int64(0)
    while here < stop:
        digit = byte_of(text, here) - ZERO
        if digit > _NINE:
            break
        if power < HUGE_EXPONENT:
            power = power * 10 + np.int64(digit)
        here += 1
    if here == start:
        return np.int64(0), at
    return -power if negative else power, here


@cold
def nearest(mantissa, exponent):
    """The bits of the float nearest to mantissa * 10^exponent: Eisel and Lemire's algorithm.

    The product with the first bits of 5^exponent has the result's bits on top, and below them enough to round by. The
    second word of the table matters only where all those bits are ones and a carry could still run through them.
    """
    if mantissa == np.uint64(0) or exponent < LOWEST:
        return np.uint64(0)
    if exponent > HIGHEST:
        return INFINITE
    shift = leading_zeros(mantissa)
    mantissa <<= shift
    row = np.uint64(exponent - LOWEST)
    upper, lower = wide_product(mantissa, FIVES[row, 0])
    unsure = np.uint64(0x1FF)
    if upper & unsure == unsure:
        more, _ = wide_product(mantissa, FIVES[row, 1])
        lower += more
        if lower < more:
            upper += _ONE
    top = upper >> np.uint64(63)
    surplus = top + _NINE
    bits = upper >> surplus  # 54 of them: one more than a float has, to round by
    # 217706 / 2^16 is log2(10), near enough for the floor of every product with an exponent of the table.
    power = ((217706 * exponent) >> 16) + 63 + np.int64(top) - np.int64(shift) + BIAS
    if power <= 0:  # below the normal floats; never halfway, as no word is a multiple of 5^300
        if power <= -63:
            return np.uint64(0)
        bits >>= np.uint64(1 - power)
        return (bits + (bits & _ONE)) >> _ONE
    # Halfway between two floats, which is possible only for these exponents, an even float's bits stay.
    if lower <= _ONE and -4 <= exponent <= 23 and bits & _THREE == _ONE and bits << surplus == upper:
        bits -= _ONE
    bits = (bits + (bits & _ONE)) >> _ONE
    # The highest of the 53 bits adds one to the exponent's field; so does a carry out of the rounding.
    return min(bits + (np.uint64(power - 1) << np.uint64(FRACTION_BITS)), INFINITE)


@cold
def from_many_digits(text, start, point, last, exponent):
    """The float nearest to more digits than a word holds: ``text[start:last]``, times 10^exponent.

    Nineteen digits leave a gap in which the number lies. If both its ends are nearest to one float, so is the number.
    """
    here = start
    while here < last and (byte_of(text, here) == ZERO or here == point):
        here += 1
    first = here
    mantissa, here = take_digits(text, first, point, last, WORD_DIGITS)
    rest = last - here
    if here <= point < last:
        rest -= 1
    exponent += rest
    bits = nearest(mantissa, exponent)
    if rest > 0 and nearest(mantissa + _ONE, exponent) != bits:
        bits = nearest_by_all_digits(text, first, point, last, exponent + WORD_DIGITS, bits)
    return float_of(bits)


@inlined
def take_digits(text, at, point, last, count):
    """The number that up to ``count`` digits write, stepping over the point, and where they end."""
    number = np.uint64(0)
    here = at
    while here < last and count > 0:
        if here != point:
            number = number * _TEN + (byte_of(text, here) - ZERO)
            count -= 1
        here += 1
    return number, here


@inlined
def nearest_by_all_digits(text, first, point, last, exponent, bits):
    """Which of two neighbouring floats is nearest to 0.ddd... * 10^exponent; ``bits`` are the lower one's.

    The digits d are ``text[first:last]``. Both the number and the middle between the floats become whole numbers.
    """
    number, middle = room_for_limbs(), room_for_limbs()
    n_number, n_digits = all_digits(text, first, point, last, number)
    tens = exponent - n_digits
    field = np.int64(bits >> np.uint64(FRACTION_BITS))
    fraction = bits & np.uint64(2**FRACTION_BITS - 1)
    if field > 0:
        fraction |= np.uint64(2**FRACTION_BITS)
    twos = max(field, 1) - BIAS - FRACTION_BITS - 1
    n_middle = times_plus(middle, 0, _ONE, (fraction << _ONE) + _ONE)
    # number * 5^tens * 2^tens against middle * 2^twos: a negative power on a side is a positive one on the other.
    n_number = scale(number, n_number, tens, tens - twos)
    n_middle = scale(middle, n_middle, -tens, twos - tens)
    order = compare(number, n_number, middle, n_middle)
    if order > 0 or (order == 0 and bits & _ONE == _ONE):
        bits += _ONE  # the next float's bits, even where that is infinity
    return bits


@inlined
def all_digits(text, first, point, last, big):
    """The whole number that the digits write: how many limbs, how many digits.

    No middle between floats has as many digits as are read here. Of those that follow it matters only whether they are
    all zero; if not, a single one stands for them.
    """
    size, count, here = 0, 0, first
    while here < last and count < MOST_DIGITS:
        start = here
        chunk, here = take_digits(text, here, point, last, LIMB_DIGITS)
        length = here - start
        if start <= point < here:
            length -= 1
        size = times_plus(big, size, POWERS_OF_TEN[length], chunk)
        count += length
    while here < last and (here == point or byte_of(text, here) == ZERO):
        here += 1
    if here < last:
        size = times_plus(big, size, _TEN, _ONE)
        count += 1
    return size, count


@inlined
def times_plus(big, size, factor, summand):
    """Multiply ``big`` by a factor of at most 32 bits, add a word, and say how many limbs it has now."""
    carry = summand
    for k in range(size):
        carry += big[k] * factor
        big[k] = carry & LOWER_HALF
        carry >>= LIMB
    while carry > np.uint64(0):
        big[size] = carry & LOWER_HALF
        carry >>= LIMB
        size += 1
    return size


@inlined
def scale(big, size, fives, twos):
    """Multiply ``big`` by powers of five and of two, if positive, and say how many limbs it has now."""
    twos = max(twos, 0)
    whole = twos // LIMB_BITS
    factor = np.uint64(1 << twos % LIMB_BITS)
    while True:
        size = times_plus(big, size, factor, np.uint64(0))
        if fives <= 0:
            break
        step = min(fives, len(LIMB_FIVES) - 1)
        factor = LIMB_FIVES[step]
        fives -= step
    for k in range(size - 1, -1, -1):
        big[k + whole] = big[k]
    for k in range(whole):
        big[k] = np.uint64(0)
    return size + whole


@inlined
def compare(one, n_one, other, n_other):
    """-1, 0 or 1, as the one is less than, equal to or more than the other."""
    if n_one != n_other:
        return 1 if n_one > n_other else -1
    for k in range(n_one - 1, -1, -1):
        if one[k] != other[k]:
            return 1 if one[k] > other[k] else -1
    return 0
