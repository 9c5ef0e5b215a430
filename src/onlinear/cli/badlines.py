"""What ``--bad-lines`` asks for: fail at the first, skip them, or copy them to a file with their reasons."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from types import TracebackType
from typing import Self

from onlinear.errors import BadLine, BadSource

FAIL, SKIP = "fail", "skip"


class BadLines:
    """Counts bad lines, and copies them to a file if one was named."""

    def __init__(self, wanted: str, *, kept: int | None = None) -> None:
        """``kept`` bytes of the file belong to a run that goes on; without it the file must not exist."""
        self.wanted = wanted
        self.count = 0
        self._file: io.FileIO | None = None
        if wanted not in (FAIL, SKIP):
            self._file = opened(wanted, kept)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def on_bad(self) -> Callable[[BadLine, bytes], None] | None:
        """What is to be called with bad lines; None if the first one ends it all."""
        return None if self.wanted == FAIL else self.take

    def settled(self) -> int | None:
        """How many bytes of the file are safe on the disk, which is all; None if there is no file."""
        if self._file is None:
            return None
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise not_written(self.wanted, error) from None
        return self._file.tell()

    def take(self, line: BadLine, text: bytes) -> None:
        self.count += 1
        if self._file is not None:
            self._write(self._file, f"# {line}\n".encode() + text + b"\n")

    def _write(self, file: io.FileIO, text: bytes) -> None:
        left = memoryview(text)
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            raise not_written(self.wanted, error) from None

    def summary(self) -> str:
        copied = "" if self._file is None else f", copied to {self.wanted}"
        return f"{self.count:,} bad line{'s' * (self.count != 1)} skipped{copied}"


def lasting(wanted: str) -> str:
    """The wish, good in other folders, too."""
    return wanted if wanted in (FAIL, SKIP) else os.path.abspath(wanted)


def opened(name: str, kept: int | None) -> io.FileIO:
    try:
        file = io.FileIO(name, "x" if kept is None else "r+")
        if kept is not None:
            if kept > os.path.getsize(name):
                raise BadSource(f"{name}: is shorter than when the run stopped: name the file of that run")
            file.truncate(kept)
            file.seek(kept)
    except FileExistsError:
        raise BadSource(f"{name}: is there already: remove it, or name another file for the bad lines") from None
    except OSError as error:
        raise not_written(name, error) from None
    return file


def not_written(name: str, error: OSError) -> BadSource:
    return BadSource(f"{name}: cannot be written ({error.strerror}): name another file for the bad lines")
