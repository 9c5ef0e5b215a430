"""Columns of texts: their grams, by the hashes of their names. See :mod:`onlinear.features.words`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadSource
from onlinear.features.blocks import MOST_ENTRIES
from onlinear.features.names import unmixed
from onlinear.features.words import Words, letters
from onlinear.kernels.text import grams as kernel
from onlinear.streams.reading import own_room


class Cut(NamedTuple):
    """Texts that are cut: which entries of all stand for them so far, and the grams that each is to become."""

    entries: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    values: np.ndarray


class Entries(NamedTuple):
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
    state = np.uint64(unmixed(f"{name}="))
    kernel.cut_texts(buffer, starts, stops, state, grams, rows, hashes, values)
    return rows, hashes[: rows[-1]], values[: rows[-1]]


def texts_cut(entries: np.ndarray, texts: Sequence[str], name: str, words: Words) -> Cut:
    """The texts of a column that these entries stand for, cut."""
    raw = [text.encode() for text in texts]
    stops = np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)))
    starts = np.append(0, stops[:-1])
    return Cut(entries, *grams_of_texts(np.frombuffer(b"".join(raw), np.uint8), starts, stops, name, words))


def with_grams(rows: Entries, cuts: Sequence[Cut]) -> Entries:
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
    return Entries(first[rows.starts].astype(np.int32), hashes, values, groups)
