"""Reading CSV: cells between delimiters, records between line ends, and quotes around what may hold either.

A quote opens only where a cell starts, blanks before it aside; anywhere else it is a letter as any other. Within quotes
two of them stand for one. The features of a row are left as the hashes of their names: ``age`` for a number,
``town=Bern`` for a category, ``town=?`` for a cell that is missing, ``message=free`` for each word of a text.

A table of numbers and categories is read 2.5 times as fast as by way of PyArrow's reader (benchmarks/kernel_pieces.py).
"""

# Compiled functions carry no annotations: Numba infers the types, mypy has nothing to go by.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,var-annotated,assignment"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.whole_numbers import FIRST_INEXACT
from onlinear.features.names import SIXTY_FOUR_BITS, hash_bytes, hash_name
from onlinear.kernels.compiler.inlining import cold, inlined
from onlinear.kernels.compiler.loop import compiled_loop
from onlinear.kernels.text.bits import address_of, byte_of, eight_of, leading_zeros, ones_of, trailing_zeros
from onlinear.kernels.text.byte_marks import SLACK, cell_marks_in, record_marks_in
from onlinear.kernels.text.decimals import HIGHEST_BITS
from onlinear.kernels.text.grams import grams_of
from onlinear.kernels.text.line_breaks import GROUP
from onlinear.kernels.text.name_hash import FIRST_FACTOR, OFFSET, PRIME, SECOND_FACTOR, hashed, mixed
from onlinear.kernels.text.parsed import (
    BREAK,
    CODE,
    COUNTS as SHARED_COUNTS,
    EMPTY,
    ENTRIES,
    FINE,
    LINE_FEED,
    NEXT,
    RETURN,
    ROWS,
    WHERE,
    is_blank,
    skip_blanks,
)
from onlinear.kernels.text.words import finite_number

#: what a column is
NUMBER, CATEGORY, NUMBER_TARGET, CATEGORY_TARGET, WEIGHT, IGNORED, TEXT = range(7)
#: what may be wrong with a record
WRONG_COUNT, AFTER_QUOTE, NOT_NUMBER, NO_LABEL, BAD_LABEL, BAD_WEIGHT, ZERO_BYTE, NOT_UTF_8, IS_ABSENT = range(1, 10)
#: beside the counts that all parsers have: where the bad record starts, how many cells it has, and which one is bad;
#: how many labels are written down
START, CELLS, COLUMN, CODES = range(SHARED_COUNTS, SHARED_COUNTS + 4)
COUNTS = SHARED_COUNTS + 4

#: what quotes leave behind: where the last one opened and the last one closed. Inside, the first is the later one
OPENED, CLOSED = range(2)
NOWHERE = -2
#: where the last one opened if quotes mean nothing: so far away that it is no place, wherever one counts from
NEVER = -(1 << 62)

#: labels that are remembered, to write each down just once
SLOTS = 64
#: categories that are remembered, if they have at most so many bytes
MEMO_BITS, MEMO_BYTES = 11, 16
MEMO_SHIFT = np.uint64(64 - MEMO_BITS)

QUOTE, NO_BYTE = np.uint64(ord('"')), np.uint64(256)
LOWEST_BITS, QUOTES = np.uint64(0x0101010101010101), np.uint64(0x2222222222222222)
_NONE, _ONE, _THREE, _EIGHT = (np.uint64(k) for k in (0, 1, 3, 8))
ALL_BITS = np.uint64(SIXTY_FOUR_BITS)


class Plan(NamedTuple):
    """What becomes of the cells of each column, and which words say that one is missing."""

    kinds: Any  # uint8
    hashes: Any  # uint64: of the column's name
    states: Any  # uint64: of the hash after ``name=``
    absent: Any  # uint64: the hash of ``name=?``
    words: Any  # uint8: the missing words, one behind the other
    word_stops: Any  # int64: where each ends
    word_sizes: Any  # uint64: bit n is set if a word has n bytes; those of 63 bytes or more share a bit
    quote: Any  # uint64: the byte that opens and closes a quoted cell, or none
    trimmed: Any  # bool: whether blanks within the quotes of a category, but around it, do not count
    numbers: Any  # float64: which numbers say that a cell is missing, however they are written


class Table(NamedTuple):
    """Room for the rows of a table."""

    starts: Any  # int32: where the entries of each row start
    hashes: Any  # uint64: of the entries' names
    values: Any  # float64
    labels: Any  # float64
    codes: Any  # int32: which of the labels below a row has
    label_starts: Any  # int64: where in the text a label stands; the same one may come more than once
    label_stops: Any  # int64
    slots: Any  # int32: the latest label for each of a few hashes
    memo: Any  # uint64: short categories as two numbers, the state of their column, and their hash; zeros at first
    importance: Any  # float64
    places: Any  # int64: where in the text each row starts
    counts: Any  # int64, as above
    groups: Any  # uint64: the hash of each entry's column; None if nobody asks, and no code is made for it
    grams: Any  # how texts are cut: a :class:`onlinear.kernels.text.grams.Grams`; None if there are none


def plan_of(
    names: Sequence[str],
    kinds: Sequence[int],
    missing: Sequence[str],
    quoted: bool = True,
    trimmed: bool = True,
    numbers: Sequence[float] = (),
) -> Plan:
    """The plan for columns of these names and kinds, whose cells may be ``quoted``; if not, a quote is but a letter.

    ``numbers`` are those that stand for nothing in columns of numbers.
    """
    words = [word.encode() for word in missing]
    sizes = sum({1 << min(len(word), 63) for word in words})
    return Plan(
        np.array(kinds, np.uint8),
        np.array([hash_name(name) for name in names], np.uint64),
        np.array([hash_bytes(f"{name}=") for name in names], np.uint64),
        np.array([hash_name(f"{name}=?") for name in names], np.uint64),
        np.frombuffer(b"".join(words) + bytes(1), np.uint8).copy(),
        np.cumsum([len(word) for word in words], dtype=np.int64),
        np.uint64(sizes),
        QUOTE if quoted else NO_BYTE,
        np.bool_(trimmed),
        np.array(numbers, np.float64),
    )


@compiled_loop
def find_cells(buffer, stop, delimiter, breaks, quoting):
    """Writes down where cells end in ``text[:stop]``.

    It answers how many there are, and whether there are bytes that are no ASCII characters, or zero.
    """
    text, delimiter = address_of(buffer), np.uint64(delimiter)
    opened, closed = quoting[OPENED], quoting[CLOSED]
    count, odd = 0, _NONE
    for at in range(0, stop, SLACK):
        ends, quotes, strange = cell_marks_in(text, at, delimiter)
        if at + SLACK > stop:
            within = (_ONE << np.uint64(stop - at)) - _ONE
            ends, quotes, strange = ends & within, quotes & within, strange & within
        odd |= strange
        if quotes != _NONE and opened != NEVER:
            count, opened, closed = among_quotes(text, at, ends, quotes, delimiter, breaks, count, opened, closed)
        elif opened <= closed:
            found = np.int64(ones_of(ends))
            for group in range(0, found, GROUP):  # without a branch for each, which could not be foreseen
                for k in range(GROUP):
                    breaks[np.uint64(count + group + k)] = at + np.int64(trailing_zeros(ends))
                    ends &= ends - _ONE
            count += found
    quoting[OPENED], quoting[CLOSED] = opened, closed
    return count, odd != _NONE


@cold
def among_quotes(text, at, ends, quotes, delimiter, breaks, count, opened, closed):
    """The cell ends of 64 bytes that have quotes among them, one mark after the other."""
    marks = ends | quotes
    while marks != _NONE:
        bit = marks & (_NONE - marks)
        place = at + np.int64(trailing_zeros(marks))
        marks ^= bit
        if quotes & bit != _NONE:
            opened, closed = after_quote(text, place, delimiter, opened, closed)
        elif opened <= closed:
            breaks[np.uint64(count)] = place
            count += 1
    return count, opened, closed


@inlined
def after_quote(text, at, delimiter, opened, closed):
    """Where the last quote opened and the last one closed, with the one at ``at``."""
    if opened > closed:
        return opened, at
    if closed == at - 1:  # the second of two within quotes: it was no end
        return opened, NOWHERE
    before = at - 1
    while before >= 0 and byte_of(text, before) != delimiter and is_blank(text, before):
        before -= 1
    if before < 0 or byte_of(text, before) == delimiter or byte_of(text, before) == LINE_FEED:
        return at, closed
    return opened, closed


@compiled_loop
def last_record_end(buffer, shown, delimiter, quoting):
    """Looks at ``text[shown:]``: where the last record ends there, or 0."""
    text, delimiter, stop = address_of(buffer), np.uint64(delimiter), len(buffer)
    opened, closed = quoting[OPENED], quoting[CLOSED]
    at, end = np.int64(shown), np.int64(0)
    while at + SLACK <= stop:
        lines, quotes = record_marks_in(text, at)
        if quotes != _NONE and opened != NEVER:
            marks = lines | quotes
            while marks != _NONE:
                place = at + np.int64(trailing_zeros(marks))
                marks &= marks - _ONE
                if byte_of(text, place) == QUOTE:
                    opened, closed = after_quote(text, place, delimiter, opened, closed)
                elif opened <= closed:
                    end = place + 1
        elif opened <= closed and lines != _NONE:
            end = at + SLACK - np.int64(leading_zeros(lines))
        at += SLACK
    while at < stop:
        if byte_of(text, at) == QUOTE and opened != NEVER:
            opened, closed = after_quote(text, at, delimiter, opened, closed)
        elif byte_of(text, at) == LINE_FEED and opened <= closed:
            end = at + 1
        at += 1
    quoting[OPENED], quoting[CLOSED] = opened, closed
    return end


@compiled_loop
def parse_table(buffer, stop, breaks, strange, plan, rows):
    """Records are read until the text ends or one is wrong."""
    counts = rows.counts
    text = address_of(buffer)
    row, entry, place, k = counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK]
    code = FINE
    while place < stop and code <= FINE:
        code = FINE
        if strange:
            code, where = strange_byte(text, place, np.int64(breaks[line_break(text, breaks, k)]))
        if code == FINE:
            rows.starts[row], rows.places[row] = entry, place
            code, where, last = record(text, place, breaks, k, entry, row, plan, rows)
        if code == FINE:
            row, entry = row + 1, where
        elif code > FINE:
            code, where, last = blame(text, place, breaks, k, code, where, plan, counts)
        place, k = np.int64(breaks[last]) + 1, last + 1
    rows.starts[row] = entry
    counts[ROWS], counts[ENTRIES], counts[NEXT], counts[BREAK] = row, entry, place, k
    counts[CODE], counts[WHERE] = code, where if code > FINE else place


@cold
def blame(text, place, breaks, k, code, where, plan, counts):
    """What is wrong with a record, where, and the break at which it ends. A wrong number of cells explains the rest."""
    last = line_break(text, breaks, k)
    cells, columns = last - k + 1, len(plan.kinds)
    counts[START], counts[CELLS] = place, cells
    if cells != columns and code not in (ZERO_BYTE, NOT_UTF_8):
        code, surplus = WRONG_COUNT, k + columns if cells > columns else k
        where = place if surplus == k else np.int64(breaks[surplus - 1]) + 1
        where = skip_blanks(text, where, np.int64(breaks[surplus]))
    column = 0
    while column < cells - 1 and np.int64(breaks[k + column]) < where:
        column += 1
    counts[COLUMN] = column
    return code, where, last


@inlined
def line_break(text, breaks, k):
    """The first break from the k-th on that ends a record."""
    while byte_of(text, np.int64(breaks[k])) != LINE_FEED:
        k += 1
    return k


@inlined
def record(text, place, breaks, k, entry, row, plan, rows):
    """FINE, the entries read until then and the break that ends the record; or what is wrong, and where."""
    k, at, columns = np.uint64(k), np.uint64(entry), np.uint64(len(plan.kinds))
    row = np.uint64(row)
    rows.labels[row], rows.importance[row] = np.nan, 1.0
    column, end = _NONE, np.int64(place) - 1
    while column < columns:
        start = skip_blanks(text, end + 1, np.int64(breaks[k]))
        end = np.int64(breaks[k])
        stop = without_blanks(text, start, end)
        ends_line = byte_of(text, end) == LINE_FEED
        if ends_line and start == stop and column == _NONE:
            return EMPTY, np.int64(at), np.int64(k)
        if ends_line != (column + _ONE == columns):
            return WRONG_COUNT, start, np.int64(k)
        kind = plan.kinds[column]
        column += _ONE
        k += _ONE
        if kind == IGNORED:
            continue
        code, added = cell(text, start, stop, kind, column - _ONE, at, row, plan, rows)
        if code != FINE:
            return code, start, np.int64(k)
        note_group(rows.groups, at, added, plan.hashes, column - _ONE)
        at += added
    return FINE, np.int64(at), np.int64(k - _ONE)


@inlined
def note_group(groups, at, added, hashes, column):
    """Write down the column of new entries, if somebody asks."""
    if groups is not None:
        for k in range(at, at + added):
            groups[k] = hashes[column]


@inlined
def cell(text, start, stop, kind, column, at, row, plan, rows):
    """FINE, and how many entries a cell gave; or what is wrong with it."""
    low, high, first, last, doubled = start, stop, start, stop, False
    if start < stop and byte_of(text, start) == plan.quote:
        first = start + 1
        last, doubled = closing(text, first, stop)
        if last + 1 != stop:
            return AFTER_QUOTE, _NONE
        low = skip_blanks(text, first, last)
        high = without_blanks(text, low, last)
        if plan.trimmed:
            first, last = low, high
    is_absent = is_missing(text, low, high, plan)
    if kind > CATEGORY:
        if kind == TEXT:
            return FINE, text_cell(rows.grams, text, low, high, is_absent, column, at, plan, rows)
        return other_cell(text, start, stop, low, high, is_absent, kind, row, plan, rows), _NONE
    if is_absent:
        rows.hashes[at], rows.values[at] = plan.absent[column], 1.0
    elif kind == CATEGORY:
        state = plan.states[column]
        if doubled:
            rows.hashes[at] = mixed(hashed_doubled(text, first, last, state))
        else:
            rows.hashes[at] = remembered(text, first, last, state, rows.memo)
        if rows.hashes[at] == plan.absent[column]:
            return IS_ABSENT, _NONE
        rows.values[at] = 1.0
    else:
        value, fine = finite_number(text, low, high)
        if not fine:
            return NOT_NUMBER, _NONE
        rows.hashes[at], rows.values[at] = plan.hashes[column], value
        if is_missing_number(value, plan):
            rows.hashes[at], rows.values[at] = plan.absent[column], 1.0
    return FINE, _ONE


@inlined
def text_cell(grams, text, low, high, is_absent, column, at, plan, rows):
    """How many entries a text gave. Doubled quotes are no letters: words end there as at one."""
    if grams is None:
        return _NONE
    if is_absent:
        rows.hashes[at], rows.values[at] = plan.absent[column], 1.0
        return _ONE
    return grams_of(text, low, high, plan.states[column], grams, rows.hashes, rows.values, at) - at


@inlined
def remembered(text, first, last, state, memo):
    """The hash of a category, from the state of its column on; looked up, if it is short and came lately.

    Hashing goes byte by byte, and how long a word is cannot be foreseen. A word of up to sixteen bytes is two numbers.
    """
    size = np.uint64(last - first)
    if size - _ONE >= np.uint64(MEMO_BYTES):
        return mixed(hashed(text, first, last, state))
    head = bytes_at(text, first, min(size, _EIGHT))
    tail = bytes_at(text, first + 8, max(size, _EIGHT) - _EIGHT)
    slot = ((head ^ (tail * FIRST_FACTOR) ^ state) * SECOND_FACTOR) >> MEMO_SHIFT
    if memo[slot, 0] != head or memo[slot, 1] != tail or memo[slot, 2] != state:
        memo[slot, 0], memo[slot, 1], memo[slot, 2] = head, tail, state
        memo[slot, 3] = mixed(hashed(text, first, last, state))
    return memo[slot, 3]


@inlined
def bytes_at(text, at, count):
    """Up to eight bytes as a number, zeros behind them."""
    half = (_EIGHT - count) << np.uint64(2)
    return eight_of(text, at) & ((ALL_BITS >> half) >> half)  # in two steps, as 64 bits at once are not defined


@inlined
def other_cell(text, start, stop, low, high, is_absent, kind, row, plan, rows):
    """FINE, or what is wrong with a label or a weight."""
    if kind == CATEGORY_TARGET:
        if is_absent:
            return NO_LABEL
        rows.codes[row] = label_code(text, start, stop, rows)
        return FINE
    value, fine = finite_number(text, low, high)
    if abs(value) < FIRST_INEXACT:  # beyond, labels are told apart by their digits
        is_absent = is_absent or (fine and is_missing_number(value, plan))
    if kind == WEIGHT:
        rows.importance[row] = value
        return FINE if fine and value >= 0.0 and not is_absent else BAD_WEIGHT
    rows.labels[row] = value
    if is_absent:
        return NO_LABEL
    return FINE if fine else BAD_LABEL


@inlined
def label_code(text, start, stop, rows):
    """The number of a label: that of an equal one, if it came lately."""
    slot = mixed(hashed(text, start, stop, OFFSET)) % np.uint64(SLOTS)
    code = np.int64(rows.slots[slot])
    if code >= 0 and is_same(text, start, stop, text, rows.label_starts[code], rows.label_stops[code]):
        return code
    code = rows.counts[CODES]
    rows.counts[CODES] = code + 1
    rows.slots[slot], rows.label_starts[code], rows.label_stops[code] = code, start, stop
    return code


@inlined
def without_blanks(text, start, stop):
    """Where the text ends behind which only blanks follow."""
    while stop > start and (is_blank(text, stop - 1) or byte_of(text, stop - 1) == RETURN):
        stop -= 1
    return stop


@inlined
def closing(text, at, stop):
    """Where the quote is that closes a cell, and whether there are doubled ones before it."""
    at, doubled = next_quote(text, at, stop), False
    while at + 1 < stop and byte_of(text, at + 1) == QUOTE:
        at, doubled = next_quote(text, at + 2, stop), True
    return at, doubled


@inlined
def next_quote(text, at, stop):
    """The first quote from a place on, eight bytes at a time."""
    while at < stop:
        others = eight_of(text, at) ^ QUOTES
        found = (others - LOWEST_BITS) & ~others & HIGHEST_BITS  # its lowest bit stands for the first quote
        if found != _NONE:
            return min(at + np.int64(trailing_zeros(found) >> _THREE), stop)
        at += 8
    return stop


@cold
def hashed_doubled(text, at, stop, state):
    """FNV-1a from a state on, of a text in which two quotes stand for one."""
    while at < stop:
        state = (state ^ byte_of(text, at)) * PRIME
        at += 2 if byte_of(text, at) == QUOTE else 1
    return state


@inlined
def is_missing(text, start, stop, plan):
    size = np.uint64(min(stop - start, 63))
    return (plan.word_sizes >> size) & _ONE == _ONE and is_word(text, start, stop, plan)


@inlined
def is_missing_number(value, plan):
    """Whether a number stands for nothing."""
    for number in plan.numbers:
        if value == number:
            return True
    return False


@inlined
def is_word(text, start, stop, plan):
    words, first = address_of(plan.words), np.int64(0)
    for last in plan.word_stops:
        if is_same(text, start, stop, words, first, last):
            return True
        first = last
    return False


@inlined
def is_same(text, start, stop, other, first, last):
    if stop - start != last - first:
        return False
    for k in range(stop - start):
        if byte_of(text, start + k) != byte_of(other, first + k):
            return False
    return True


@cold
def strange_byte(text, at, stop):
    """FINE; or what is wrong with a byte, and where it is: a zero, or one that breaks the rules of UTF-8."""
    while at < stop:
        word = eight_of(text, at)
        if ((word - LOWEST_BITS) | word) & HIGHEST_BITS == _NONE:  # eight ASCII characters, none of them zero
            at += 8
            continue
        byte = byte_of(text, at)
        if byte == _NONE:
            return ZERO_BYTE, at
        if byte < np.uint64(0x80):
            at += 1
            continue
        more, low, high = followers(byte)
        if more == 0:
            return NOT_UTF_8, at
        for k in range(1, more + 1):
            if at + k >= stop or not low <= byte_of(text, at + k) <= high:
                return NOT_UTF_8, at
            low, high = np.uint64(0x80), np.uint64(0xBF)
        at += more + 1
    return FINE, stop


@inlined
def followers(byte):
    """How many bytes follow the first one of a character, 0 if none starts so; the range of the first that follows.

    Unicode 15, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF.
    """
    low, high = np.uint64(0x80), np.uint64(0xBF)
    if np.uint64(0xC2) <= byte <= np.uint64(0xDF):
        return 1, low, high
    if np.uint64(0xE0) <= byte <= np.uint64(0xEF):
        if byte == np.uint64(0xE0):
            low = np.uint64(0xA0)
        if byte == np.uint64(0xED):
            high = np.uint64(0x9F)
        return 2, low, high
    if np.uint64(0xF0) <= byte <= np.uint64(0xF4):
        if byte == np.uint64(0xF0):
            low = np.uint64(0x90)
        if byte == np.uint64(0xF4):
            high = np.uint64(0x8F)
        return 3, low, high
    return 0, low, high


@compiled_loop
def judge_columns(buffer, stop, breaks, k, plan, most, found):
    """Looks at records from the k-th break on: which columns hold only numbers?

    ``found[column]`` counts the cells that are numbers and those that are neither numbers nor missing, in records that
    have a cell for each column. It answers how many records, blank ones aside, it has seen; at most ``most``.
    """
    text = address_of(buffer)
    place, seen = np.int64(0) if k == 0 else np.int64(breaks[k - 1]) + 1, 0
    while place < stop and seen < most:
        last = line_break(text, breaks, k)
        end = np.int64(breaks[last])
        if last > k or without_blanks(text, place, end) > place:
            seen += 1
            if last - k + 1 == len(plan.kinds):
                judge_record(text, place, breaks, k, plan, found)
        place, k = end + 1, last + 1
    return seen


@inlined
def judge_record(text, place, breaks, k, plan, found):
    for column in range(len(plan.kinds)):
        end = np.int64(breaks[k + column])
        start = skip_blanks(text, place, end)
        stop = without_blanks(text, start, end)
        if start < stop and byte_of(text, start) == plan.quote:
            last, _ = closing(text, start + 1, stop)
            start = skip_blanks(text, start + 1, last)
            stop = without_blanks(text, start, last)
        if not is_missing(text, start, stop, plan):
            _, fine = finite_number(text, start, stop)
            found[column, 0 if fine else 1] += 1
        place = end + 1
