"""The features of a text: its words, and runs of words.

A word is a run of letters, digits and underscores of any alphabet; whatever lies beyond the Basic Multilingual Plane
(emoji, rare ideographs) is a letter, too. What Python calls a letter is what its version of Unicode does.

This file is the specification, in plain Python. ``kernels/grams.py`` does the same in machine code, with the table of
characters that is made here.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import OnlinearError

MOST_NGRAMS = 5
#: the Basic Multilingual Plane: characters that fit sixteen bits
PLANE = 0x10000


class Words(NamedTuple):
    """How a text becomes features: runs of up to ``ngrams`` words, in lower case if ``lower``, each with its count.

    With ``presence`` the value is 1 however often a gram is there. With ``unit`` the values of a text's grams are
    divided by their Euclidean length: long texts weigh no more than short ones.
    """

    ngrams: int = 1
    lower: bool = True
    presence: bool = False
    unit: bool = False


def check_words(words: Words) -> None:
    if type(words.ngrams) is not int or not 1 <= words.ngrams <= MOST_NGRAMS:
        raise OnlinearError(
            f"ngrams is {words.ngrams!r:.60}: choose 1 to {MOST_NGRAMS} (words in a row that make a feature)"
        )


def words_in(text: str, lower: bool) -> list[str]:
    """The words of a text.

    >>> words_in("Free CASH, ça-va? 日本", lower=True)
    ['free', 'cash', 'ça', 'va', '日本']
    """
    found = ["".join(run) for is_word, run in groupby(text, is_letter) if is_word]
    return ["".join(map(lower_case, word)) for word in found] if lower else found


def is_letter(character: str) -> bool:
    """Whether a character belongs to words."""
    return character.isalnum() or character == "_" or ord(character) >= PLANE


def lower_case(character: str) -> str:
    """A character in lower case; itself where that would take two, or lies in another plane.

    >>> lower_case("Ä"), lower_case("İ")
    ('ä', 'İ')
    """
    small = character.lower()
    return small if len(small) == 1 and max(ord(small), ord(character)) < PLANE else character


def grams_in(text: str, words: Words) -> list[str]:
    """The grams of a text, each once: at the end of each word those that end there first, the shortest before others.

    >>> grams_in("free cash, free now", Words(ngrams=2))
    ['free', 'cash', 'free cash', 'cash free', 'now', 'free now']
    """
    found = words_in(text, words.lower)
    grams = [
        " ".join(found[last - size : last])
        for last in range(1, len(found) + 1)
        for size in range(1, min(words.ngrams, last) + 1)
    ]
    return list(dict.fromkeys(grams))


@cache
def letters(lower: bool) -> NDArray[np.uint16]:
    """For each character of the Basic Multilingual Plane the one that stands in words for it; zero if it ends them."""
    plane = map(chr, range(PLANE))
    small = lower_case if lower else str
    return np.array([ord(small(letter)) if is_letter(letter) else 0 for letter in plane], np.uint16)
