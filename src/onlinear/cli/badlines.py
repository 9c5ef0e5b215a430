"""What ``--bad-lines`` asks for: fail at the first, skip them, or copy them to a file with their reasons."""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, Self

from onlinear.errors import BadLine, BadSource
from onlinear.system.paths import printable
from onlinear.system.pipes import open_log, remove, take_back
from onlinear.system.places import is_in_place
from onlinear.system.signals import begin_file, keep_file

FAIL, SKIP = "fail", "skip"
#: what a record begins with, and how its first line reads: file, line, column, reason
MARK = "# "
RECORD = re.compile(rb"# .*:\d+:\d+: ")


class Log(NamedTuple):
    """How much of a file of bad lines is safe on the disk, and its digest."""

    size: int
    sha256: str


class BadLines:
    """Counts bad lines, and copies them to a file if one was named."""

    def __init__(self, wanted: str, *, kept: Log | None = None) -> None:
        """``kept`` is what belongs to a run that goes on; without it the file must not exist."""
        self.wanted = wanted
        self.count = 0
        self._file: io.FileIO | None = None
        self._digest = hashlib.sha256()
        self._in_vain = False  # whether it is a new file of which nobody knows, with nothing in it
        self._in_place = wanted not in (FAIL, SKIP) and is_in_place(wanted)  # then nothing of it is ours to count on
        if wanted not in (FAIL, SKIP):
            if kept is not None:
                self._digest = check_log(wanted, kept)
            self._file = open_bad_lines_file(wanted, None if kept is None else kept.size)
            self._in_vain = kept is None and not self._in_place
        if self._in_vain:
            begin_file(wanted)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        if error is not None and self._in_vain:
            remove(self.wanted)  # the next try finds its place free
        self._keep()

    def _keep(self) -> None:
        """Let the file stay, whatever comes."""
        self._in_vain = False
        keep_file(self.wanted)

    @property
    def on_bad(self) -> Callable[[BadLine, bytes], None] | None:
        """What is to be called with bad lines; None if the first one ends it all."""
        return None if self.wanted == FAIL else self.take

    def sync(self) -> Log | None:
        """How much of the file is safe on the disk, which is all; None if there is no file.

        A run that goes on counts on it, even if nothing is in it.
        """
        if self._file is None:
            return None
        self._keep()
        try:
            if not self._in_place:
                os.fsync(self._file.fileno())
                return Log(self._file.tell(), self._digest.hexdigest())
        except OSError as error:
            raise not_written(self.wanted, error) from None
        return Log(0, hashlib.sha256().hexdigest())

    def take(self, line: BadLine, text: bytes) -> None:
        if self._file is not None:
            record = f"{MARK}{line}\n".encode("utf-8", "surrogateescape") + text + b"\n"
            self._write(self._file, record)
            self._keep()
            self._digest.update(record)
        self.count += 1

    def _write(self, file: io.FileIO, record: bytes) -> None:
        """Write a whole record, or none of it."""
        left = memoryview(record)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            if not self._in_place:
                take_back(file, len(record) - len(left))
            raise not_written(self.wanted, error) from None

    def summary(self) -> str:
        copied = "" if self._file is None else f", copied to {printable(self.wanted)}"
        return f"{self.count:,} bad line{'s' * (self.count != 1)} skipped{copied}"


def open_bad_lines_file(name: str, kept: int | None) -> io.FileIO:
    try:
        return open_log(name, kept)
    except FileExistsError:
        raise BadSource(
            f"{printable(name)}: is there already: remove it, or name another file for the bad lines"
        ) from None
    except OSError as error:
        raise not_written(name, error) from None


def check_log(name: str, kept: Log) -> Any:
    """The digest of what a run has written so far to its file, which is refused if it is another file."""
    digest = hashlib.sha256()
    if is_in_place(name):  # of which nothing is known, and nothing can be read
        if kept.size:
            raise not_that_of(name)
        return digest
    try:
        with open(name, "rb") as file:
            first = file.readline()
            file.seek(0)
            digest.update(file.read(kept.size))
            found = Log(min(kept.size, file.tell()), digest.hexdigest())
    except FileNotFoundError:
        raise BadSource(
            f"{printable(name)}: is missing, and the run goes on in it: put it back, or name another file"
        ) from None
    except OSError as error:
        raise BadSource(
            f"{printable(name)}: cannot be read ({error.strerror}), and the run goes on in it: name another file"
        ) from None
    if found != kept or (first and not RECORD.match(first)):
        raise not_that_of(name)
    return digest


def not_that_of(name: str) -> BadSource:
    return BadSource(
        f"{printable(name)}: is not the file of bad lines that the run has written: name that one, or a new one"
    )


def not_written(name: str, error: OSError) -> BadSource:
    return BadSource(f"{printable(name)}: cannot be written ({error.strerror}): name another file for the bad lines")
