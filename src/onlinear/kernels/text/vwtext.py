"""Reading Vowpal Wabbit's text: ``label importance 'tag|namespace feature feature:value |namespace:weight ...``.

Features are left as the hashes of their names: ``name`` in the namespace without a name, ``namespace^name`` elsewhere.
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from onlinear.kernels.compiler.inlining import inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of, byte_of, trailing_zeros
from onlinear.kernels.text.decimals import number_at
from onlinear.kernels.text.name_hash import OFFSET, PRIME, SHORT, hash_spans, hashed, mixed, span, span_eight
from onlinear.kernels.text.parsed import (
    BLANK,
    BREAK,
    CODE,
    COLON,
    EIGHT,
    EMPTY,
    ENTRIES,
    FINE,
    LINE_FEED,
    NEXT,
    RETURN,
    ROWS,
    TAB,
    WHERE,
    is_blank,
    skip_blanks,
)
from onlinear.kernels.text.words import finite_number

#: what may be wrong with a line
NO_BAR, BAD_LABEL, BAD_IMPORTANCE, HAS_BASE, BAD_WEIGHT, NO_NAME, BAD_VALUE, BAD_BYTE = range(1, 9)

BAR, QUOTE, CARET = (np.uint64(ord(character)) for character in "|'^")
_ONE, _TWO = np.uint64(1), np.uint64(2)


class Named(NamedTuple):
    """Room for rows whose entries have names."""

    starts: Any  # int32: where the entries of each row start
    hashes: Any  # uint64: of the entries' names, and room for eight more
    values: Any  # float64: the same
    labels: Any  # float64: NaN where there is none
    importance: Any  # float64
    places: Any  # int64: where in the text each row starts
    counts: Any  # int64: as those of :class:`onlinear.kernels.text.parsed.Parsed`
    groups: Any  # uint64: the hash of each entry's namespace; None if nobody asks, and no code is made for it


@compiled_loop
def parse_vw(buffer, stop, breaks, rows):
    """Rows are read until the text ends or one is wrong."""
    counts = rows.counts
    text = address_of(buffer)
    row, entry, place, k = counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK]
    code = FINE
    found = entry
    while place < stop and code <= FINE:
        rows.starts[row], rows.places[row] = entry, place
        code, found, k = head(text, place, breaks, k, row, rows)
        if code == FINE:
            code, found, k = features(text, breaks, k, entry, rows)
        if code == FINE:
            row += 1
            entry = found
        while byte_of(text, np.int64(breaks[k])) != LINE_FEED:
            k += 1
        place, k = np.int64(breaks[k]) + 1, k + 1
    rows.starts[row] = entry
    counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK] = row, entry, place, k
    counts[CODE], counts[WHERE] = code, found if code > FINE else place


@inlined
def head(text, place, breaks, k, row, rows):
    """FINE, and the break that is the first bar; or what is wrong, and where."""
    first = k
    while byte_of(text, np.int64(breaks[k])) != BAR:
        if byte_of(text, np.int64(breaks[k])) == LINE_FEED:
            end = np.int64(breaks[k])
            is_empty = skip_blanks(text, place, without_return(text, place, end)) == without_return(text, place, end)
            return EMPTY if is_empty else NO_BAR, place, first
        k += 1
    stop = tag_start(text, place, np.int64(breaks[k]))
    rows.labels[row], rows.importance[row] = math.nan, 1.0
    at = skip_blanks(text, place, stop)
    if at == stop:
        return FINE, at, k
    label, end = number_at(text, at, stop)
    if end == at or not math.isfinite(label) or not ends_word(text, end, stop):
        return BAD_LABEL, at, k
    rows.labels[row] = label
    at = skip_blanks(text, end, stop)
    if at == stop:
        return FINE, at, k
    importance, end = number_at(text, at, stop)
    if end == at or not 0.0 <= importance < math.inf or not ends_word(text, end, stop):
        return BAD_IMPORTANCE, at, k
    rows.importance[row] = importance
    at = skip_blanks(text, end, stop)
    return FINE if at == stop else HAS_BASE, at, k


@inlined
def tag_start(text, place, bar):
    """Where the tag before a bar starts, or the bar: a tag touches the bar, or begins with a quote."""
    at = bar
    while at > place and is_blank(text, at - 1):
        at -= 1
    end = at
    while at > place and not is_blank(text, at - 1):
        at -= 1
    return at if at < end and (end == bar or byte_of(text, at) == QUOTE) else bar


@inlined
def without_return(text, place, end):
    return end - 1 if end > place and byte_of(text, end - 1) == RETURN else end


@inlined
def ends_word(text, at, stop):
    return at == stop or is_blank(text, at)


@inlined
def features(text, breaks, k, entry, rows):
    """FINE, the entries read until then and the break that ends the line; or what is wrong, and where."""
    k, at = np.uint64(k), np.uint64(entry)
    state, space, weight = OFFSET, OFFSET, 1.0
    waiting = at  # the first entry that is not hashed yet
    while True:
        place = np.int64(breaks[k])
        here = byte_of(text, place)
        end = np.int64(breaks[k + _ONE]) if here != LINE_FEED else place
        if here == BAR:
            hash_spans(text, rows.hashes, waiting, at, state)
            waiting = at
            space = hashed(text, place + 1, end, OFFSET)
            state = space if end == place + 1 else (space ^ CARET) * PRIME
            weight = 1.0
            if byte_of(text, end) == COLON:
                stop = np.int64(breaks[k + _TWO])
                weight, fine = finite_number(text, end + 1, stop)
                if not fine or byte_of(text, stop) == COLON:
                    return BAD_WEIGHT, end + 1, np.int64(k)
                k += _ONE
            k += _ONE
            k, at = plain_words(text, breaks, k, at, space, weight, rows)
        elif here in (BLANK, TAB):
            k += _ONE
            value = weight
            if byte_of(text, end) == COLON:
                number, fine = finite_number(text, end + 1, np.int64(breaks[k + _ONE]))
                value *= number
                if end == place + 1:
                    return NO_NAME, end, np.int64(k)
                if not fine or not math.isfinite(value) or byte_of(text, np.int64(breaks[k + _ONE])) == COLON:
                    return BAD_VALUE, end + 1, np.int64(k)
                k += _ONE
            if end > place + 1:
                if end - place - 1 <= SHORT:
                    rows.hashes[at] = span(place + 1, end)
                else:
                    hash_spans(text, rows.hashes, waiting, at, state)
                    rows.hashes[at] = mixed(hashed(text, place + 1, end, state))
                    waiting = at + _ONE
                rows.values[at] = value
                note_group(rows.groups, at, space)
                at += _ONE
        elif here == LINE_FEED:
            hash_spans(text, rows.hashes, waiting, at, state)
            return FINE, np.int64(at), np.int64(k)
        elif here == RETURN and end == place + 1 and byte_of(text, end) == LINE_FEED:
            k += _ONE
        else:
            return BAD_BYTE, place, np.int64(k)


@inlined
def plain_words(text, breaks, k, at, space, weight, rows):
    """Read words without a value, eight at a time; the break and the entry at which something else comes."""
    count = np.uint64(EIGHT)
    while count == np.uint64(EIGHT):
        count = trailing_zeros(~span_eight(text, breaks, k, rows.hashes, at))
        for lane in range(EIGHT):
            rows.values[at + np.uint64(lane)] = weight
        for lane in range(count):
            note_group(rows.groups, at + lane, space)
        k += count
        at += count
    return k, at


@inlined
def note_group(groups, at, space):
    """Write down the namespace of an entry, by the state of its hash, if somebody asks."""
    if groups is not None:
        groups[at] = mixed(space)
