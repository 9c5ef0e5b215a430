"""Writing to what cannot be replaced: pipes, devices, standard output, and files that grow as a run goes on.

What there is no room for is waited for, and a signal may end the wait.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from onlinear.errors import OnlinearError
from onlinear.system.descriptors import own_descriptor
from onlinear.system.paths import PathLike
from onlinear.system.places import blaming, is_in_place
from onlinear.system.signals import check, check_waiting

BUFFER = 1 << 16
#: bytes for which there is room in what says that it has some
PIECE = getattr(select, "PIPE_BUF", 512)
#: milliseconds between two questions whether a signal has come, while there is no room
STEP = 100


@contextmanager
def in_place_of(path: PathLike) -> Iterator[BinaryIO]:
    """A pipe, a device or an open file of this process, written to as it is."""
    with blaming(path):
        output = OutputFile(open_in_place(path), path)
    try:
        buffered = io.BufferedWriter(output, BUFFER)
        yield buffered
        buffered.flush()
    finally:
        output.close()


@contextmanager
def standard_output() -> Iterator[BinaryIO]:
    """The bytes of standard output, which stays open."""
    if getattr(sys.stdout, "buffer", None) is None:
        raise OnlinearError("standard output: is closed: open it, or write to a file")
    sys.stdout.flush()
    output = OutputFile(sys.stdout.buffer, "standard output")
    file = io.BufferedWriter(output, BUFFER)
    try:
        yield file
        file.flush()
        sys.stdout.flush()
    finally:
        output.leave_open()


class WaitingFile(io.FileIO):
    """A file that is written to whole, and whose wait for room a signal may end.

    Of a non-blocking one Python would drop what there is no room for. Whoever shares a pipe or a terminal may have made
    it so, as Node.js and ssh do: its mode is left alone.
    """

    _always_has_room: bool | None = None

    def write(self, content: Any) -> int:
        if self._always_has_room is None:
            self._always_has_room = stat.S_ISREG(os.fstat(self.fileno()).st_mode) or not hasattr(select, "poll")
        piece = content if self._always_has_room else memoryview(content)[:PIECE]
        while True:
            if not self._always_has_room:
                wait_for_room(self.fileno())
            written: int | None = super().write(piece)
            if written is not None:
                return written


def open_in_place(path: PathLike) -> WaitingFile:
    """What cannot be replaced, to be written to: of a file that somebody has open, what is there stays."""
    own = own_descriptor(path)
    if own is not None:
        return WaitingFile(own, "wb")
    return WaitingFile(path, "ab" if os.path.isfile(path) else "wb", opener=open_read_pipe)


def open_read_pipe(path: str, flags: int) -> int:
    """Open a file; a named pipe once somebody reads from it, for which Python itself would wait deaf to signals."""
    if not stat.S_ISFIFO(os.stat(path).st_mode):
        return os.open(path, flags, 0o666)
    while True:
        try:
            return os.open(path, flags | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        check_waiting()
        time.sleep(STEP / 1000)


def wait_for_room(number: int) -> None:
    """Wait until something can be written, or nobody reads any more."""
    waiting = select.poll()
    waiting.register(number, select.POLLOUT)
    while not waiting.poll(STEP):
        check_waiting()


def waiting_text(file: Any) -> Any:
    """Standard output or error as it is, but as a :class:`WaitingFile`; None, or what is no open file, stays so."""
    if not isinstance(file, io.TextIOWrapper):
        return file
    try:
        raw = WaitingFile(file.fileno(), "wb", closefd=False)
    except OSError:
        return file
    return io.TextIOWrapper(
        io.BufferedWriter(raw, BUFFER),
        file.encoding,
        file.errors,
        line_buffering=file.line_buffering or file.write_through,  # python -u wants no line to wait
        write_through=file.write_through,
    )


class OutputFile(io.RawIOBase):
    """A file whose errors say which output could not be written: whatever else goes wrong meanwhile is not its own."""

    def __init__(self, raw: Any, path: PathLike) -> None:
        self._raw, self._path = raw, path

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return int(self._raw.fileno())

    def close(self) -> None:
        self._raw.close()
        super().close()

    def leave_open(self) -> None:
        """Close this, but not the file behind it."""
        super().close()

    def write(self, content: Any) -> int | None:
        check()
        with blaming(self._path):
            written: int | None = self._raw.write(content)
            return written


def open_log(path: PathLike, kept: int | None) -> io.FileIO:
    """A file that grows as a run goes on: a new one, or one of which ``kept`` bytes are right."""
    if is_in_place(path):
        return open_in_place(path)
    if kept is None:
        return WaitingFile(path, "x")
    file = WaitingFile(path, "r+")
    file.truncate(kept)
    file.seek(kept)
    return file


def take_back(file: io.FileIO, count: int) -> None:
    """Let a file that grows end so many bytes earlier; a pipe keeps what it has."""
    with suppress(OSError):
        file.seek(-count, os.SEEK_CUR)
        file.truncate()


def remove(path: PathLike) -> None:
    """Take away a file that was begun in vain; what cannot be replaced stays."""
    if not is_in_place(path):
        with suppress(OSError):
            os.unlink(path)
