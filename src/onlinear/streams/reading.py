"""What the readers of text formats share: a compiled loop that stops at every bad line."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import BadLine
from onlinear.kernels.text.byte_marks import LINE_FEED
from onlinear.kernels.text.line_breaks import find_all_breaks, room_for_breaks
from onlinear.kernels.text.parsed import BREAKS, CODE, FINE, NEXT, WHERE
from onlinear.streams.sources import Chunk


class Text(NamedTuple):
    """A text that ends with a line end, and where its words end: so many of them, so many of lines."""

    buffer: np.ndarray
    stop: int
    breaks: np.ndarray
    words: int
    lines: int


_own = threading.local()


def own_room(name: str, size: int, dtype: Any) -> np.ndarray:
    """Room under a name that each thread uses again and again: asking the system for it takes longer than reading."""
    room = getattr(_own, name, None)
    if room is None or len(room) < size:
        room = np.empty(size, dtype)
        setattr(_own, name, room)
    return room


def prepared(chunk: Chunk) -> Text:
    """The text of a chunk, ready to be read; until the same thread prepares the next one."""
    stop, breaks = with_room(chunk)
    words, lines = find_all_breaks(chunk.buffer, stop, breaks)
    breaks[words : words + BREAKS] = stop - 1  # for readers that look ahead, and see that there the text ends
    return Text(chunk.buffer, stop, breaks, words, lines)


def with_room(chunk: Chunk) -> tuple[int, np.ndarray]:
    """Where the text of a chunk stops when its last line has an end, and room for all breaks there can be in it.

    The room is the thread's own, and used again for its next chunk.
    """
    stop = chunk.size
    if chunk.buffer[stop - 1] != LINE_FEED:
        chunk.buffer[stop] = LINE_FEED
        stop += 1
    return stop, own_room("breaks", room_for_breaks(stop), np.int32)  # no line is longer than its numbers reach


def read_lines(
    read: Callable[[], None],
    explain: Callable[[int, int], tuple[BadLine, bytes]],
    counts: np.ndarray,
    stop: int,
    stop_at_bad: bool,
) -> list[tuple[BadLine, bytes]]:
    """Let the loop ``read`` go on until the text ends; the bad lines it met, or only the first."""
    bad = []
    while counts[NEXT] < stop:
        read()
        if counts[CODE] > FINE:
            bad.append(explain(int(counts[CODE]), int(counts[WHERE])))
            if stop_at_bad:
                break
    return bad
