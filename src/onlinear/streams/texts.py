"""Columns of texts: their grams, by the hashes of their names. See :mod:`onlinear.features.words`."""

from __future__ import annotations

import threading

import numpy as np

from onlinear.errors import BadSource
from onlinear.features.names import unmixed
from onlinear.features.words import Words, letters
from onlinear.kernels import grams as kernel
from onlinear.streams.blocks import MOST_ENTRIES


class _Scratch(threading.local):
    """Room that each thread uses again and again: asking the system for it takes longer than reading."""

    slots = np.empty(0, np.int32)


_scratch = _Scratch()


def grams_for(words: Words, most: int) -> kernel.Grams:
    """What compiled code has to know to cut a text of at most so many grams; until the same thread asks again."""
    if most > MOST_ENTRIES:
        raise BadSource(f"a text may have {most:,} grams, too many to count: take fewer n-grams, or cut it")
    slots = kernel.room_for_slots(most)
    if len(_scratch.slots) < slots:
        _scratch.slots = np.empty(slots, np.int32)
    table = letters(words.lower)
    return kernel.Grams(table, words.ngrams, words.presence, words.unit, _scratch.slots)


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
    kernel.cut_texts()(buffer, starts, stops, state, grams, rows, hashes, values)
    return rows, hashes[: rows[-1]], values[: rows[-1]]
