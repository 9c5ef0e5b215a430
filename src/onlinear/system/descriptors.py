"""Descriptors: the open files of a process, and the names that lead to them, as ``/dev/stdout`` does."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys

try:
    from fcntl import F_GETFL, fcntl
except ImportError:  # Windows has none, nor such names
    fcntl, F_GETFL = None, 0  # type: ignore[assignment,misc]

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import TypeAlias

    PathLike: TypeAlias = str | os.PathLike[str]

#: the names of a process's open files, behind which is something that cannot be replaced
DESCRIPTORS = re.compile(r"/dev/fd|/proc/(self|thread-self|\d+)(/task/\d+)?/fd")
MOST_LINKS = 40

#: those of standard input, output and error that were closed when the command began
_closed: set[int] = set()


def occupy_standard_files() -> None:
    """Let no file that is opened later take the number of standard input, output or error, if one is closed.

    It stays closed for whoever asks for it by its name.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        _closed.add(number)
    os.close(number)


def descriptor_of(path: PathLike) -> str | None:
    """The name among the open files of a process that a path leads to, as ``/dev/stdout`` does; None for others."""
    name = os.fspath(path)
    for _ in range(MOST_LINKS):
        folder = os.path.dirname(name) or os.curdir
        if DESCRIPTORS.fullmatch(os.path.abspath(folder)) or DESCRIPTORS.fullmatch(os.path.realpath(folder)):
            return os.path.join(os.path.realpath(folder), os.path.basename(name))
        if not os.path.islink(name):
            return None
        name = os.path.join(folder, os.readlink(name))
    return None


def own_number(path: PathLike) -> int | None:
    """The number of an open file of this process, if a path leads to one."""
    name = descriptor_of(path)
    if name is None or not os.path.basename(name).isdecimal():
        return None
    folder = os.path.dirname(name)
    if folder != "/dev/fd" and str(os.getpid()) not in folder.split("/"):
        return None
    return int(os.path.basename(name))


def is_closed(path: PathLike) -> bool:
    """Whether a path leads to a standard file that was closed, in whose place is one that holds nothing."""
    return bool(_closed) and own_number(path) in _closed


def own_descriptor(path: PathLike) -> int | None:
    """A copy of an open file of this process: opened by its name it would be written from its start."""
    number = own_number(path)
    if number is None:
        return None
    if number in _closed:
        raise OSError(errno.EBADF, "it is closed")
    if sys.stdout is not None:
        sys.stdout.flush()
    return os.dup(number)


def holds_something(path: PathLike) -> bool:
    """Whether a path leads to an open file of this process that has content, as where a shell appends to one."""
    number = own_number(path)
    try:
        found = None if number is None else os.fstat(number)
    except (OSError, OverflowError):
        return False
    return found is not None and stat.S_ISREG(found.st_mode) and found.st_size > 0


def check_in_place(path: PathLike) -> None:
    """Raise what would go wrong if something that cannot be replaced were written to."""
    number = own_number(path)
    if number is not None:
        check_number(number)
    elif not os.path.exists(path):
        raise OSError(errno.EBADF, "there is no such open file")
    elif descriptor_of(path) is None and stat.S_ISSOCK(os.stat(path).st_mode):
        raise OSError(errno.ENXIO, "it is a socket")
    elif not os.access(path, os.W_OK):
        raise OSError(errno.EBADF, "it may not be written to")


def check_number(number: int) -> None:
    """Raise what would go wrong if an open file of this process were written to."""
    try:
        mode = fcntl(number, F_GETFL) & os.O_ACCMODE
    except (OSError, OverflowError):
        mode = None
    if mode is None or number in _closed:
        raise OSError(errno.EBADF, "it is closed")
    if mode == os.O_RDONLY:
        raise OSError(errno.EBADF, "it is not open for writing")


def is_printed_to(path: PathLike) -> bool:
    """Whether what is written to a pipe, a device or an open file stands among what is printed."""
    try:
        number = own_number(path)
        found, printed = os.stat(path) if number is None else os.fstat(number), os.fstat(sys.stdout.fileno())
        goes_nowhere = stat.S_ISCHR(printed.st_mode) and not sys.stdout.isatty()
    except (OSError, ValueError, AttributeError, OverflowError):  # closed, or a file in memory
        return False
    return os.path.samestat(found, printed) and not goes_nowhere
