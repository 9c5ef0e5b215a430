"""What the parsers of text formats fill in, and what they have in common."""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.text.bits import byte_of
from onlinear.kernels.text.entries import DIGITS, Entries, is_ascending, sort_by_digits

#: entries or words that are read at once; and breaks that are looked at for them, needed or not: where each entry
#: begins, its colon, and where the last one ends
EIGHT = 8
BREAKS = 2 * EIGHT + 2

#: what becomes of a line: nothing, a row; any number above says what is wrong with it
EMPTY, FINE = -1, 0

TAB, LINE_FEED, RETURN, BLANK, HASH, COLON = (np.uint64(ord(character)) for character in "\t\n\r #:")


class Parsed(NamedTuple):
    """Room for the rows of a text."""

    starts: Any  # int32: where the entries of each row start
    columns: Any  # uint32
    values: Any  # float64
    labels: Any  # float64
    places: Any  # int64: where in the text each row starts
    counts: Any  # int64, as follows


#: rows and entries read, one more than the highest column of them; place and break at which reading goes on; what is
#: wrong with the line before, and where
ROWS, ENTRIES, WIDTH, NEXT, BREAK, CODE, WHERE = range(7)
COUNTS = 7


@inlined
def is_blank(text, at):
    return byte_of(text, at) == BLANK or byte_of(text, at) == TAB


@inlined
def skip_blanks(text, at, stop):
    while at < stop and is_blank(text, at):
        at += 1
    return at


@inlined
def sorted_row(columns, values, start, stop):
    """Sort the entries of a row by column; answer whether every column is there once."""
    n = stop - start
    columns, values = columns[start:stop], values[start:stop]
    if is_ascending(columns, n):
        return True
    words = np.empty(2 * n, np.int64)
    entries = Entries(columns, values, words, words, words, np.empty(n), np.empty(DIGITS, np.int64))
    sort_by_digits(entries, n)
    return is_ascending(columns, n)
