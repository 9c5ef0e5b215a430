"""Names and texts as features: their hashes, and the grams of texts.

For sources that hand over Python's own strings and numbers, and for columns of texts. See
:mod:`onlinear.features.words`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadSource
from onlinear.features.blocks import MOST_ENTRIES
from onlinear.features.names import hash_bytes
from onlinear.features.words import Words, letters
from onlinear.kernels.text import grams as kernel
from onlinear.kernels.text.name_hashes import hash_names
from onlinear.streams.columns import BLANKS
from onlinear.streams.text_lines import own_room

#: so much of a value in a message
SHOWN = 40


def hashes_of(names: Sequence[str]) -> np.ndarray:
    """The hash of each name.

    >>> [hex(number) for number in hashes_of(["size"]).tolist()]
    ['0xb77e78e2be63d904']
    """
    text = "".join(names)
    lengths = map(len, names) if text.isascii() else (len(name.encode()) for name in names)
    ends = np.cumsum(np.fromiter(lengths, np.int64, len(names)))
    hashes = np.empty(len(names), np.uint64)
    hash_names(np.frombuffer(text.encode(), np.uint8), ends, hashes)
    return hashes


def is_missing(word: str, missing: Sequence[str]) -> bool:
    """Whether a text stands for nothing; blanks around it do not count."""
    return word.strip(BLANKS) in missing


def text_of(number: float) -> str:
    """A number as a name: whole ones alike, of whichever type a table made them.

    >>> text_of(3000), text_of(3000.0), text_of(0.5), text_of(True), text_of(math.inf)
    ('3000', '3000', '0.5', 'true', 'inf')
    """
    if isinstance(number, bool):
        return "true" if number else "false"
    if not math.isfinite(number):
        return repr(float(number))
    return str(int(number)) if number == int(number) else repr(float(number))


def shorten_value(value: object) -> str:
    """A value for a message, shortened."""
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


class CutTexts(NamedTuple):
    """Texts that are cut: which entries of all stand for them so far, and the grams that each is to become."""

    entries: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    values: np.ndarray


class TextEntries(NamedTuple):
    """The entries of rows: where those of each start, and what :class:`NamedRows` says of each."""

    starts: np.ndarray
    hashes: np.ndarray
    values: np.ndarray
    groups: np.ndarray | None


def grams_for(words: Words, most: int) -> kernel.Grams:
    """What compiled code has to know to cut a text of at most so many grams; until the same thread asks again."""
    if most > MOST_ENTRIES:
        raise BadSource(f"a text may have {most:,} grams, too many to count: take fewer n-grams, or cut it")
    slots = own_room("slots", kernel.room_for_slots(most), np.int32)
    return kernel.Grams(letters(words.lower), words.ngrams, words.presence, words.unit, slots)


def grams_of_texts(
    buffer: np.ndarray, starts: np.ndarray, stops: np.ndarray, name: str, words: Words
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The grams of texts in a column: where those of each text start, the hashes of their names, their values.

    The k-th text is ``buffer[starts[k]:stops[k]]`` (bytes), valid UTF-8. Which texts are missing is for the caller
    to know: an empty one has no grams.
    """
    starts, stops = np.asarray(starts, np.int64), np.asarray(stops, np.int64)  # of any type: compiled for one
    sizes = stops - starts
    most = kernel.room_for_grams(int(sizes.sum()), len(sizes), words.ngrams)
    grams = grams_for(words, kernel.room_for_grams(int(sizes.max(initial=0)), 1, words.ngrams))
    rows, hashes, values = np.empty(len(sizes) + 1, np.int64), np.empty(most, np.uint64), np.empty(most)
    state = np.uint64(hash_bytes(f"{name}="))
    kernel.cut_texts(buffer, starts, stops, state, grams, rows, hashes, values)
    return rows, hashes[: rows[-1]], values[: rows[-1]]


def cut_texts(entries: np.ndarray, texts: Sequence[str], name: str, words: Words) -> CutTexts:
    """The texts of a column that these entries stand for, cut."""
    raw = [text.encode() for text in texts]
    stops = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
    starts = np.append(0, stops[:-1])
    return CutTexts(entries, *grams_of_texts(np.frombuffer(b"".join(raw), np.uint8), starts, stops, name, words))


def with_grams(rows: TextEntries, cuts: Sequence[CutTexts]) -> TextEntries:
    """The rows with the grams of texts where an entry stood for each text; a gram belongs to the group of its text."""
    counts = np.ones(len(rows.hashes), np.int64)
    for cut in cuts:
        counts[cut.entries] = np.diff(cut.starts)
    first = np.append(0, np.cumsum(counts))
    if first[-1] > MOST_ENTRIES:
        raise BadSource(f"texts give {len(rows.starts) - 1:,} rows {first[-1]:,} features, too many to hold: cut them")
    hashes, values = np.repeat(rows.hashes, counts), np.repeat(rows.values, counts)
    for cut in cuts:
        places = np.repeat(first[cut.entries] - cut.starts[:-1], np.diff(cut.starts)) + np.arange(cut.starts[-1])
        hashes[places], values[places] = cut.hashes, cut.values
    groups = None if rows.groups is None else np.repeat(rows.groups, counts)
    return TextEntries(first[rows.starts].astype(np.int32), hashes, values, groups)
