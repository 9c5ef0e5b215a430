"""Reading svmlight text: ``label index:value index:value ... # comment``, a row a line.

Nearly every row is plain: digits, points, colons, single blanks, rising indices. It is read in one go, eight digits at
a time. A row that is anything else is read again with care, word by word, which also finds out what is wrong with it.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math

import numpy as np

from onlinear.kernels.compiler.inlining import inlined, plain_way
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of, byte_of, trailing_zeros
from onlinear.kernels.text.decimals import number_at
from onlinear.kernels.text.parsed import (
    BREAK,
    CODE,
    COLON,
    EIGHT,
    EMPTY,
    ENTRIES,
    FINE,
    HASH,
    LINE_FEED,
    NEXT,
    RETURN,
    ROWS,
    WHERE,
    WIDTH,
    is_blank,
    skip_blanks,
    sorted_row,
)
from onlinear.kernels.text.words import finite_number

#: what may be wrong with a row
BAD_LABEL, BAD_QUERY, BAD_INDEX, NO_COLON, NO_VALUE, BAD_VALUE = range(1, 7)
INFINITE, ZERO_INDEX, LARGE_INDEX, TWICE = range(7, 11)

QUERY = np.frombuffer(b"qid:", np.uint8)
_NONE, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
MOST_DIGITS = 19  # of an index: as many as always fit a word


@compiled_loop
def parse_svmlight(buffer, stop, breaks, first_index, most_columns, parsed):
    """Rows are read until the text ends or one is wrong."""
    counts = parsed.counts
    text = address_of(buffer)
    row, entry, place, k = counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK]
    code = FINE
    while place < stop and code <= FINE:
        code = FINE
        parsed.starts[row], parsed.places[row] = entry, place
        line, found = plain_row(text, place, breaks, k, entry, row, first_index, most_columns, parsed)
        if line < 0:
            line = k
            while byte_of(text, breaks[line]) != LINE_FEED:
                line += 1
            end = breaks[line]
            code, found = careful_row(text, place, end, entry, row, first_index, most_columns, parsed)
        if code == FINE:
            if found > entry:
                counts[WIDTH] = max(counts[WIDTH], np.int64(parsed.columns[found - 1]) + 1)
            row += 1
            entry = found
        place, k = breaks[line] + 1, line + 1
    parsed.starts[row] = entry
    counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK] = row, entry, place, k
    counts[CODE], counts[WHERE] = code, found if code > FINE else place


@plain_way("svmlight_simd")
def read_eight(text, breaks, k, columns, values, at, last, first_index, most_columns):
    """Write columns and values of the eight entries from the k-th break on, needed or not.

    Three sets of bits come back, a bit for each entry: whether it is one, behind a blank and with a colon; whether its
    index is up to eight digits, rising, and within bounds; and whether its value was read: one digit, a point and up to
    eight more, or a whole number of up to eight digits. The plain way finds none, and leaves all rows to
    :func:`careful_row`.
    """
    none = np.uint64(0)
    return none, none, none


@inlined
def plain_row(text, place, breaks, k, entry, row, first_index, most_columns, parsed):
    """The break at which the row's line ends, and the entries read until then; -1 if it is no plain row.

    Counters are unsigned: Numba then leaves out its check for negative indices, a fifth of the time.
    """
    k, at = np.uint64(k), np.uint64(entry)
    columns, values = parsed.columns, parsed.values
    parsed.labels[row], fine = finite_number(text, place, np.int64(breaks[k]))
    last, count = np.int64(-1), np.uint64(EIGHT)
    while fine and count == np.uint64(EIGHT):
        shape, sound, plain = read_eight(text, breaks, k, columns, values, at, last, first_index, most_columns)
        count = trailing_zeros(~shape)
        entries = (_ONE << count) - _ONE
        fine = sound & entries == entries
        left = entries & ~plain
        while left != _NONE and fine:
            lane = trailing_zeros(left)
            colon = k + _TWO * lane + _ONE
            values[at + lane], fine = finite_number(text, np.int64(breaks[colon]) + 1, np.int64(breaks[colon + _ONE]))
            left &= left - _ONE
        if count == np.uint64(EIGHT):
            last = np.int64(columns[at + count - _ONE])
        at += count
        k += _TWO * count
    end = np.int64(breaks[k])
    if byte_of(text, end) == RETURN and np.int64(breaks[k + _ONE]) == end + 1:
        k += _ONE
    if not fine or byte_of(text, np.int64(breaks[k])) != LINE_FEED:
        return -1, entry
    return np.int64(k), np.int64(at)


@inlined
def careful_row(text, place, stop, entry, row, first_index, most_columns, parsed):
    """FINE and the entries read until then; or what is wrong, and where."""
    if stop > place and byte_of(text, stop - 1) == RETURN:
        stop -= 1
    at = skip_blanks(text, place, stop)
    if is_over(text, at, stop):
        return EMPTY, entry
    label, end = number_at(text, at, stop)
    if not ends_word(text, end, stop):
        return BAD_LABEL, at
    if not math.isfinite(label):
        return INFINITE, at
    parsed.labels[row] = label
    start = entry
    at = skip_blanks(text, end, stop)
    code, at = skip_query(text, at, stop)
    while code == FINE and not is_over(text, at, stop):
        code, at = careful_entry(text, at, stop, entry, first_index, most_columns, parsed)
        at = skip_blanks(text, at, stop) if code == FINE else at
        entry += 1
    if code != FINE:
        return code, at
    if not sorted_row(parsed.columns, parsed.values, start, entry):
        return TWICE, place
    return FINE, entry


@inlined
def careful_entry(text, at, stop, entry, first_index, most_columns, parsed):
    """FINE and where the entry ends; or what is wrong, and where."""
    index, end = whole_number(text, at, stop)
    if end == at or end - at > MOST_DIGITS:
        return BAD_INDEX if end == at else LARGE_INDEX, at
    if end == stop or byte_of(text, end) != COLON:
        return NO_COLON if ends_word(text, end, stop) else BAD_INDEX, at
    if index < first_index:
        return ZERO_INDEX, at
    if index - first_index >= most_columns:
        return LARGE_INDEX, at
    start = end + 1
    value, end = number_at(text, start, stop)
    if ends_word(text, start, stop):
        return NO_VALUE, start
    if end == start or not ends_word(text, end, stop):
        return BAD_VALUE, start
    if not math.isfinite(value):
        return INFINITE, start
    parsed.columns[entry], parsed.values[entry] = index - first_index, value
    return FINE, end


@inlined
def skip_query(text, at, stop):
    """FINE and where the entries begin: behind ``qid:17``, if it is there."""
    for k in range(len(QUERY)):
        if at + k >= stop or byte_of(text, at + k) != QUERY[k]:
            return FINE, at
    _, end = whole_number(text, at + len(QUERY), stop)
    if end == at + len(QUERY) or not ends_word(text, end, stop):
        return BAD_QUERY, at
    return FINE, skip_blanks(text, end, stop)


@inlined
def whole_number(text, at, stop):
    """The number that the digits at ``at`` write, and where they end."""
    number = np.int64(0)
    while at < stop and np.uint64(48) <= byte_of(text, at) <= np.uint64(57):
        number = number * 10 + np.int64(byte_of(text, at) - np.uint64(48))
        at += 1
    return number, at


@inlined
def is_over(text, at, stop):
    """Whether nothing follows but a comment."""
    return at == stop or byte_of(text, at) == HASH


@inlined
def ends_word(text, at, stop):
    return is_over(text, at, stop) or is_blank(text, at)
