"""Pipes: what can be read only once, but for a look at its head beforehand.

Standard input is one, and so are a FIFO, the ``/dev/fd/63`` that a shell makes of ``<(command)``, and a terminal.
"""

from __future__ import annotations

import io
import os
import stat
import sys
import weakref
from collections.abc import Sequence
from typing import Any

from onlinear.errors import BadSource
from onlinear.streams.standard_input import STANDARD_INPUT, STANDARD_INPUTS, Unbuffered, is_ready, number_of
from onlinear.system.descriptors import is_closed


class Pipe(str):
    """The name of a pipe, with as much of it as was read for a look: the pass that follows begins with that.

    It is opened once, when the first byte is wanted, and can be passed over once.
    """

    __slots__ = ("_content", "_looks")

    _content: _Content
    _looks: bool

    def __new__(cls, name: str, content: _Content | None = None, *, looks: bool = False) -> Pipe:
        pipe = super().__new__(cls, name)
        pipe._content, pipe._looks = content or _Content(name), looks
        return pipe

    def look(self) -> Pipe:
        """The same, for whoever only looks: what is read will be there again."""
        return Pipe(self, self._content, looks=True)

    def opened(self) -> Replayed:
        """Its bytes, from the first one."""
        if self._content.passed:
            raise read_once(self, "a second pass")
        self._content.passed = not self._looks
        return Replayed(self._content, keeps=self._looks)

    def is_waited_for(self) -> bool:
        """Whether whoever reads it has to wait, for its writer or for what that writes."""
        return self._content.opening or (self._content.is_open and not self._content.is_ready(0.0))


def is_pipe(name: str) -> bool:
    """Whether what has this name can be read only once."""
    if isinstance(name, Pipe) or name == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False  # opening it says what is wrong
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def with_looks(files: Sequence[str]) -> list[str]:
    """The files, of which pipes may be looked at before they are read."""
    return [Pipe(file) if is_pipe(file) and not isinstance(file, Pipe) else file for file in files]


def looks_at(files: Sequence[str]) -> list[str]:
    """The files, to look at before they are read."""
    if not files:
        raise BadSource("there is no file to look at: name at least one")
    for file in files:
        if is_pipe(file) and not isinstance(file, Pipe):
            raise BadSource(
                f"{source_label(file)} cannot be looked at beforehand: save it to a file, or name its columns"
            )
    return [file.look() if isinstance(file, Pipe) else file for file in files]


def refuse_pipes(files: Sequence[str], purpose: str) -> None:
    """Refuse files that can be read only once, for a purpose that takes more."""
    for file in files:
        if is_pipe(file):
            raise read_once(file, purpose)


def read_once(name: str, purpose: str) -> BadSource:
    """That a pipe can be read only once, and what to do."""
    return BadSource(f"{source_label(name)} can be read only once: save it to a file for {purpose}")


def refuse_repeated(files: Sequence[str]) -> None:
    """Refuse to read the same pipe twice."""
    found = set[tuple[int, int]]()
    for name in files:
        identity = identity_of(name) if is_pipe(name) else None
        if identity in found:
            shown = f"{source_label(name)} (-)" if name == STANDARD_INPUT else source_label(name)
            raise BadSource(f"{shown} can be read only once: name it once")
        if identity is not None:
            found.add(identity)


def identity_of(name: str) -> tuple[int, int] | None:
    """The device and the number of a pipe, which are the same under all its names."""
    if name == STANDARD_INPUT:
        number = number_of(sys.stdin)
        return (0, 0) if number is None else found_in(os.fstat(number))
    return found_in(os.stat(name))


def found_in(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def source_label(name: str) -> str:
    """How to speak of a source."""
    return "standard input" if name == STANDARD_INPUT else str(name)


class _Content:
    """The bytes of a pipe: the head that was looked at, and the rest. The pipe is opened when that is asked for."""

    def __init__(self, name: str) -> None:
        self.head = bytearray()
        self.passed = False  # whether a pass has begun
        self.opening = False
        self._ended = False
        self._name = name
        self._file: io.RawIOBase | Unbuffered | None = None
        self._closing: Any = None

    def read(self, view: memoryview) -> int | None:
        """Read what comes. The end is met once: another writer, or a terminal, could go on behind it."""
        count = 0 if self._ended else self.open().readinto(view)
        self._ended = self._ended or (count == 0 and len(view) > 0)
        return count

    def open(self) -> io.RawIOBase | Unbuffered:
        if self._file is None and self._name in STANDARD_INPUTS:
            self._file = Unbuffered()
        elif self._file is None:
            if is_closed(self._name):
                raise BadSource(f"{source_label(self._name)} is closed: name a file, or pipe something in")
            self.opening = True
            number = os.open(self._name, os.O_RDONLY | os.O_CLOEXEC)  # waits for a writer
            self.opening = False
            self._closing = weakref.finalize(self, os.close, number)  # also if only looks were taken
            self._file = os.fdopen(number, "rb", buffering=0, closefd=False)
        return self._file

    def seek(self, position: int) -> int:
        self._ended = False
        return self.open().seek(position)

    @property
    def is_open(self) -> bool:
        return self._file is not None

    def close(self) -> None:
        if self._closing is not None:
            self._closing()

    def is_ready(self, seconds: float) -> bool:
        """Whether something, or the end, comes so soon."""
        number = None if self._ended else number_of(self.open())
        return number is None or is_ready(number, seconds)


class Replayed(io.RawIOBase):
    """The head again, then what comes; that is kept with the head, or the head forgotten."""

    def __init__(self, content: _Content, keeps: bool) -> None:
        self._content, self._keeps = content, keeps
        self._at = 0
        content.open()

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._content.open().fileno()

    def seekable(self) -> bool:
        """Whether one can go back: standard input may be a file after all. For a look it would forget the head."""
        return not self._keeps and self._content.open().seekable()

    def tell(self) -> int:
        return self._content.open().tell() - len(self._content.head) + self._at

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        self._content.head.clear()
        self._at = 0
        return self._content.seek(position)

    def is_ready(self, seconds: float) -> bool:
        """Whether a read would give something, or the end, so soon."""
        return self._at < len(self._content.head) or self._content.is_ready(seconds)

    def readinto(self, buffer: Any) -> int | None:
        view, head = memoryview(buffer).cast("B"), self._content.head
        again = head[self._at : self._at + len(view)]
        if again:
            view[: len(again)] = again
            self._at += len(again)
            return len(again)
        if not self._keeps:
            head.clear()
            self._at = 0
            return self._content.read(view)
        count = self._content.read(view)
        head += view[: count or 0]
        self._at += count or 0
        return count

    def close(self) -> None:
        if not self._keeps and not self.closed:
            self._content.close()
        super().close()
