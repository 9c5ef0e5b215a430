"""Atomic writes: the one way to write a file. It is there whole or not at all.

A file is written under another name beside its own, synced, and renamed. What cannot be replaced (a pipe, a device,
``/dev/stdout``) is written in place. Files that a killed process has left behind are removed by the next one that
writes to the same folder: whoever writes holds a lock, so a part without one has no owner any more.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from onlinear.system.interrupts import uninterrupted
from onlinear.system.paths import PathLike
from onlinear.system.pipes import BUFFER, OutputFile, in_place_of
from onlinear.system.places import blaming, is_in_place, place_of
from onlinear.system.signals import begin_file, check, keep_file

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has none: leftover parts stay there
    flock, LOCK_EX, LOCK_NB = None, 0, 0  # type: ignore[assignment,misc]

PART = re.compile(r"\.onlinear-[0-9a-f]{16}\.part")

#: folders that this process has looked through for leftover parts
_swept: set[Path] = set()


@contextmanager
def replacing(path: PathLike) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` once it is whole and on the disk, and is gone if that fails."""
    with blaming(path):
        in_place = is_in_place(path)
        target = None if in_place else place_of(path)
    if target is None:
        with in_place_of(path) as file:
            yield file
    else:
        with instead_of((path, target)) as files:
            yield files[0]


@contextmanager
def replacing_with(path: PathLike, beside: PathLike) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """As :func:`replacing`, two files that belong together: both take their places, or none.

    Nobody has written down the name of the second: a link of that name is replaced, not followed.
    """
    with blaming(path):
        target = place_of(path)
    with blaming(beside):
        other = Path(os.path.abspath(beside)) if os.path.islink(beside) else place_of(beside)
    with instead_of((path, target), (beside, other)) as (file, second):
        yield file, second


@contextmanager
def instead_of(*wanted: tuple[PathLike, Path]) -> Iterator[list[BinaryIO]]:
    """Parts that become files at the end, each where it is to go; none does before all are on the disk."""
    parts: list[PartialFile] = []
    try:
        with uninterrupted:  # a part that was begun is known, and dropped if the rest fails
            for path, target in wanted:
                parts.append(PartialFile(path, target))
        yield [part.file for part in parts]
        for part in parts:
            part.settle()
        check()
        for part in parts:
            part.take_place()
    except BaseException:
        for part in parts:
            part.drop()
        raise
    finally:
        for part in parts:
            part.close()
    for folder in {target.parent for _, target in wanted}:
        sync_folder(folder)


class PartialFile:
    """A file under another name, beside the one whose place it is to take."""

    def __init__(self, path: PathLike, target: Path) -> None:
        with blaming(path):
            remove_leftovers(target.parent)
            self._raw, self._temporary = new_part(target)
        self._path, self._target = path, target
        self._output = OutputFile(self._raw, path)
        self.file: BinaryIO = io.BufferedWriter(self._output, BUFFER)

    def settle(self) -> None:
        """Let all that was written be on the disk."""
        self.file.flush()
        with blaming(self._path):
            os.fsync(self._raw.fileno())

    def take_place(self) -> None:
        with blaming(self._path):
            os.replace(self._temporary, self._target)

    def drop(self) -> None:
        with suppress(OSError):
            self._temporary.unlink()

    def close(self) -> None:
        keep_file(str(self._temporary))
        self._output.close()  # and with it the lock


def new_part(target: Path) -> tuple[Any, Path]:
    """A locked file beside the target, with its mode."""
    while True:
        temporary = target.with_name(f".onlinear-{os.urandom(8).hex()}.part")
        begin_file(str(temporary))
        raw = open(temporary, "xb", buffering=0)  # noqa: SIM115
        try:
            if lock(raw.fileno(), wait=True) and not is_there(temporary, raw.fileno()):
                raw.close()  # somebody took it for a leftover before it was locked
                keep_file(str(temporary))
                continue
            with suppress(FileNotFoundError):
                if not target.is_symlink():
                    os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        except BaseException:
            temporary.unlink(missing_ok=True)
            keep_file(str(temporary))
            raw.close()
            raise
        return raw, temporary


def sync_folder(folder: Path) -> None:
    """Let the new name survive a power failure, too, where the file system can do that."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


# ------------------------------------------------------------------ leftovers


def remove_leftovers(folder: Path) -> None:
    """Remove the parts of processes that are gone, once for each folder."""
    if folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if PART.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                remove_without_owner(entry.path)


def remove_without_owner(path: str) -> None:
    """Remove a part, unless somebody holds its lock."""
    with suppress(OSError, AttributeError):  # not all systems have these flags, or locks
        number = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            if lock(number) and is_there(path, number):
                os.unlink(path)
        finally:
            os.close(number)


def lock(number: int, *, wait: bool = False) -> bool:
    """Lock an open file until it is closed; False if that is not possible, or somebody else has and we do not wait."""
    with suppress(OSError, TypeError):
        flock(number, LOCK_EX if wait else LOCK_EX | LOCK_NB)
        return True
    return False


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """One process at a time, of those that lock the same folder; where it cannot be locked, all at once."""
    with ExitStack() as stack:
        with suppress(OSError):
            number = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, number)
            lock(number, wait=True)
        yield


def is_there(path: PathLike, number: int) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.stat(path, follow_symlinks=False), os.fstat(number))
    except FileNotFoundError:
        return False
