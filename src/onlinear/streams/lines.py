"""The lines behind rows, and how to speak of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.errors import BadLine
from onlinear.streams.sources import Chunk

LINE_FEED, RETURN = ord("\n"), ord("\r")
#: as much of a word as a message shows
SHOWN = 40
WORD_ENDS = b" \t\r\n"


class Lines(NamedTuple):
    """A chunk whose rows start at ``places``."""

    chunk: Chunk
    source: str
    places: np.ndarray

    def error(self, row: int, reason: str) -> BadLine:
        return self.at(int(self.places[row]), reason)[0]

    def at(self, where: int, reason: str) -> tuple[BadLine, bytes]:
        """What is wrong at a place, and the whole line it is in. Columns are counted in bytes from 1."""
        text = self.chunk.text
        before = np.flatnonzero(text[:where] == LINE_FEED)
        start = int(before[-1]) + 1 if len(before) else 0
        line = line_from(text, start).removesuffix(b"\r")
        number = self.chunk.first_line + len(before)
        return BadLine(self.source, number, where - start + 1, reason), line


def line_from(text: np.ndarray, start: int) -> bytes:
    """The line that starts at a place, without its end; the last one may have none."""
    ends = np.flatnonzero(text[start:] == LINE_FEED)
    return text[start : start + int(ends[0])].tobytes() if len(ends) else text[start:].tobytes()


def word_at(text: np.ndarray, at: int) -> str:
    """The word that starts at a place, shortened."""
    seen = text[at : at + SHOWN + 1].tobytes()
    for end in WORD_ENDS:
        seen = seen.partition(bytes([end]))[0]
    word = seen.decode("utf-8", "backslashreplace")
    return word if len(seen) <= SHOWN else word[: SHOWN - 3] + "..."
