"""The lines behind rows, and how to speak of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property

import numpy as np

from onlinear.errors import BadLine
from onlinear.streams.sources import Chunk

LINE_FEED = ord("\n")
#: what a line begins with: up to a blank, to what begins the features of VW's text, or a comment of svmlight's
FIRST_WORD = re.compile(r"[ \t]*([^ \t|#]*)")
#: as much of a word as a message shows
SHOWN = 40
WORD_ENDS = b" \t\r\n"
LONE_RETURN = (
    "there is a carriage return within this line, as at the ends of lines of old Macintoshes: "
    "end lines with line feeds (tr '\\r' '\\n' < old > new)"
)


class Lines:
    """A chunk whose rows start at ``places``."""

    def __init__(
        self,
        chunk: Chunk,
        source: str,
        places: np.ndarray,
        text_at: Callable[[int], bytes] | None = None,
        label_at: Callable[[int], int] | None = None,
    ) -> None:
        """``text_at`` gives the record that starts at a place, if it may have several lines.

        ``label_at`` gives the place of its label, if that is not where it starts.
        """
        self.chunk = chunk
        self.source = source
        self.places = places
        self.text_at = text_at  # not a method of its own: a cycle would keep the chunk in memory
        self.label_at = label_at

    @cached_property
    def _ends(self) -> np.ndarray:
        """Where lines end; looked for when the first error asks."""
        return np.flatnonzero(self.chunk.text == LINE_FEED)

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row."""
        return self.at(int(self.places[row]), reason)

    def label_error(self, row: int, reason: str) -> BadLine:
        """What is wrong with the label of a row."""
        place = int(self.places[row])
        return self.at(place if self.label_at is None else self.label_at(place), reason)

    def text(self, row: int) -> bytes:
        """The row as it stands in the file."""
        return (self.text_at or self.line)(int(self.places[row]))

    def behind(self, row: int) -> Lines:
        """The lines of the rows from this one on."""
        return Lines(self.chunk, self.source, self.places[row:], self.text_at, self.label_at)

    def only(self, rows: np.ndarray) -> Lines:
        """The lines of those rows alone for which there is a True."""
        return Lines(self.chunk, self.source, self.places[: len(rows)][rows], self.text_at, self.label_at)

    def at(self, where: int, reason: str, kind: str = "") -> BadLine:
        """What is wrong at a place. Columns are counted in bytes from 1."""
        number = int(self._ends.searchsorted(where))
        start = int(self._ends[number - 1]) + 1 if number else 0
        return BadLine(self.source, self.chunk.first_line + number, where - start + 1, reason, kind)

    def line(self, where: int) -> bytes:
        """The line that a place is in, without its end; the last one may have none."""
        number = int(self._ends.searchsorted(where))
        start = int(self._ends[number - 1]) + 1 if number else 0
        stop = int(self._ends[number]) if number < len(self._ends) else self.chunk.size
        return self.chunk.text[start:stop].tobytes().removesuffix(b"\r")

    def first_words(self, rows: np.ndarray) -> list[str]:
        """The words with which the lines of some rows begin."""
        lines = (self.line(int(place)).decode("utf-8", "replace") for place in self.places[rows])
        return [FIRST_WORD.match(line)[1] for line in lines]  # type: ignore[index]

    def has_lone_return(self, where: int) -> bool:
        """Whether a carriage return that ends no line is in the word at a place."""
        behind = self.line(where)[self.at(where, "").column - 1 :]
        return b"\r" in behind.replace(b"\t", b" ").partition(b" ")[0]


def word_at(text: np.ndarray, at: int) -> str:
    """The word that starts at a place, shortened."""
    seen = text[at : at + SHOWN + 1].tobytes()
    for end in WORD_ENDS:
        seen = seen.partition(bytes([end]))[0]
    word = seen.decode("utf-8", "backslashreplace")
    return word if len(seen) <= SHOWN else word[: SHOWN - 3] + "..."
