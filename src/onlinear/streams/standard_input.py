"""Standard input: its names, and how to read what there is of it."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any

from onlinear.errors import BadSource

STANDARD_INPUT = "-"
#: its names, of which the second may stand for a file
STANDARD_INPUTS = (STANDARD_INPUT, "/dev/stdin")
#: most bytes that are read at once
STEP = 256 << 10


class Unbuffered:
    """Standard input, of which each read gives what there is, where Python's own waits for all it has room for."""

    def __init__(self) -> None:
        found = getattr(sys.stdin, "buffer", None)  # None without a console, or after `<&-`
        if found is None or found.closed:
            raise BadSource("standard input (-) is closed: name a file, or pipe something in")
        self._buffer: io.BufferedReader = found
        self._is_drained = False  # nothing that Python had read is left

    def fileno(self) -> int:
        return self._buffer.fileno()

    def seekable(self) -> bool:
        return self._buffer.seekable()

    def tell(self) -> int:
        return self._buffer.tell()

    def seek(self, position: int) -> int:
        self._is_drained = False
        return self._buffer.seek(position)

    def readinto(self, view: memoryview) -> int | None:
        if self._is_drained:
            return self._buffer.raw.readinto(view)  # without a copy
        most = min(len(view), STEP)
        data = self._buffer.read1(most)
        number = None if data else number_of(self._buffer)
        if number is not None and not os.get_blocking(number):  # as somebody wished; then no data may mean no data yet
            if not is_ready(number, 0.0):
                return None
            data = self._buffer.read1(most)
        self._is_drained = 0 < len(data) < most and hasattr(self._buffer, "raw")
        view[: len(data)] = data
        return len(data)


def number_of(file: Any) -> int | None:
    """The descriptor of a file; None if it has none, as in memory, or is closed."""
    try:
        return int(file.fileno())
    except (AttributeError, OSError, ValueError):
        return None


def is_ready(number: int, seconds: float) -> bool:
    """Whether there is something to read, or the end, so soon."""
    waiting = select.poll()
    waiting.register(number, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
