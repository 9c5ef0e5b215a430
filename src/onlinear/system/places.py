"""Places of outputs: where a file is to go, whether it can be written there, and what else is read or written there."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onlinear.errors import NotSaved, Refused
from onlinear.system.descriptors import check_in_place, descriptor_of, is_printed_to, own_number
from onlinear.system.paths import STANDARD, PathLike, printable

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)


def place_of(path: PathLike) -> Path:
    """Where a file is to be written: behind a link the file is replaced, not the link."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    return target


def is_in_place(path: PathLike) -> bool:
    """Whether something is there that cannot be replaced by a file, but can be written to."""
    if descriptor_of(path) is not None:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def check_place(path: PathLike) -> None:
    """Refuse a place where nothing can be saved, for those who have hours of work before they save something."""
    try:
        if is_in_place(path):
            check_in_place(path)
            return
        folder = place_of(path).parent
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "its folder may not be written to")
    except (OSError, ValueError) as error:
        found = error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))
        raise NotSaved(f"{printable(path)} cannot be saved: {reason_of(found)}; {advice(found)}") from error


@contextmanager
def blaming(path: PathLike) -> Iterator[None]:
    """Whatever the operating system refuses within is said of this output."""
    try:
        yield
    except OSError as error:
        raise NotSaved(
            f"{printable(path)} was not saved: {reason_of(error)}; {advice(error)} (what was there before is untouched)"
        ) from error


def reason_of(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def advice(error: OSError) -> str:
    if error.errno in NO_ROOM:
        return "make room, or save it elsewhere"
    if error.errno in NOT_ALLOWED:
        return "choose a folder that you may write to"
    if error.errno == errno.ENOENT:
        return "make the folder first"
    return "save it elsewhere"


# ------------------------------------------------------------------ inputs and outputs together


def check_outputs(outputs: Iterable[PathLike], inputs: Iterable[PathLike]) -> None:
    """Refuse, before anything is done, outputs that cannot be written, are read, or are the same file twice."""
    read = {each for path in inputs for each in identities(path, sys.stdin)}
    written: set[Any] = set()
    for path in outputs:
        if path != STANDARD:
            check_place(path)
        found = identities(path, sys.stdout)
        if found & read:
            raise written_and_read(path)
        if found & written:
            raise Refused(f"{printable(path)} would be written over by another output: give each a name of its own")
        piped = set() if path == STANDARD else pipe_behind(path)
        if piped & written:
            raise Refused(f"{printable(path)} would be mixed with another output: give each a name of its own")
        written |= found | piped


def check_printed(outputs: Iterable[PathLike], inputs: Iterable[PathLike], advice: str) -> None:
    """Refuse, before anything is printed, outputs that would stand among it, and an input that it would be added to."""
    printed = identities(STANDARD, sys.stdout)
    if any(printed & identities(path, sys.stdin) for path in inputs):
        raise written_and_read(STANDARD)
    for path in outputs:
        if is_in_place(path) and is_printed_to(path):
            raise Refused(f"{printable(path)} is where the command prints, and its words would be mixed in: {advice}")


def written_and_read(path: PathLike) -> Refused:
    name = "standard output" if path == STANDARD else printable(path)
    return Refused(f"{name} would be written over, and it is read at the same time: name another file to write")


def identities(path: PathLike, standard: Any) -> set[Any]:
    """By what a file is known: its name without links, and its number on the disk, which hard links share.

    Nothing is known by pipes and devices, which may be read and written at the same time.
    """
    is_standard = path == STANDARD
    try:
        found = os.fstat(standard.fileno()) if is_standard else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return set() if is_standard else {os.path.realpath(path)}
    if not stat.S_ISREG(found.st_mode):
        return set()
    number = (found.st_dev, found.st_ino)
    return {number} if is_standard else {number, os.path.realpath(path)}


def pipe_behind(path: PathLike) -> set[Any]:
    """The number of the pipe or socket that is written to under a name, which is the same under all its names."""
    try:
        number = own_number(path)
        found = os.stat(path) if number is None else os.fstat(number)
    except (OSError, ValueError, OverflowError):
        return set()
    is_pipe = stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode)
    return {(found.st_dev, found.st_ino)} if is_pipe else set()
