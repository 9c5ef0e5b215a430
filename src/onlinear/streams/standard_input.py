"""Standard input: read once, but for a look at its head beforehand."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

from onlinear.errors import BadSource

STANDARD_INPUT = "-"


class StandardInput(str):
    """The name of standard input, with as much of it as was read for a look: the pass that follows begins with that."""

    __slots__ = ("_head", "_keeps")

    _head: bytearray
    _keeps: bool

    def __new__(cls, head: bytearray | None = None, keeps: bool = False) -> StandardInput:
        name = super().__new__(cls, STANDARD_INPUT)
        name._head, name._keeps = bytearray() if head is None else head, keeps
        return name

    def look(self) -> StandardInput:
        """The same, for whoever only looks: what is read will be there again."""
        return StandardInput(self._head, keeps=True)

    def opened(self) -> io.RawIOBase:
        """Its bytes, from the first one."""
        return _Replayed(self._head, self._keeps, standard_input())


def with_looks(files: Sequence[str]) -> list[str]:
    """The files, of which standard input may be looked at before it is read."""
    return [StandardInput() if file == STANDARD_INPUT else file for file in files]


def looks_at(files: Sequence[str]) -> list[str]:
    """The files, to look at before they are read."""
    if not files:
        raise BadSource("there is no file to look at: name at least one")
    if any(file == STANDARD_INPUT and not isinstance(file, StandardInput) for file in files):
        raise BadSource("standard input cannot be looked at beforehand: save it to a file, or name its columns")
    return [file.look() if isinstance(file, StandardInput) else file for file in files]


def standard_input() -> io.BufferedIOBase:
    found = getattr(sys.stdin, "buffer", None)  # None without a console, or after `<&-`
    if found is None or found.closed:
        raise BadSource("standard input (-) is closed: name a file, or pipe something in")
    return found


class _Replayed(io.RawIOBase):
    """The head again, then what comes; that is kept with the head, or the head forgotten."""

    def __init__(self, head: bytearray, keeps: bool, rest: io.BufferedIOBase) -> None:
        self._head, self._keeps, self._rest = head, keeps, rest
        self._at = 0

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._rest.fileno()

    def readinto(self, buffer: Any) -> int | None:
        view = memoryview(buffer).cast("B")
        again = self._head[self._at : self._at + len(view)]
        if again:
            view[: len(again)] = again
            self._at += len(again)
            return len(again)
        if not self._keeps:
            self._head.clear()
            self._at = 0
            return self._rest.readinto(view)
        count = self._rest.readinto(view)
        self._head += view[: count or 0]
        self._at += count or 0
        return count
