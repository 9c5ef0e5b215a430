"""Outputs: the one way to write a file. It is there whole or not at all, and never takes the place of an input.

A file is written under another name beside its own, synced, and renamed. What cannot be replaced (a pipe, a device,
``/dev/stdout``) is written in place. Files that a killed process has left behind are removed by the next one that
writes to the same folder: whoever writes holds a lock, so a part without one has no owner any more.
"""

from __future__ import annotations

import errno
import io
import os
import re
import select
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from onlinear.errors import NotSaved, OnlinearError, Refused
from onlinear.system.descriptors import check_in_place, descriptor_of, is_printed_to, own_descriptor, own_number
from onlinear.system.interrupts import uninterrupted
from onlinear.system.signals import begin_file, check, check_waiting, keep_file

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # Windows has none: leftover parts stay there
    flock, LOCK_EX, LOCK_NB = None, 0, 0  # type: ignore[assignment,misc]

PathLike: TypeAlias = str | os.PathLike[str]

#: standard output, or standard input, in place of the name of a file; as a path it is the file of that name
STANDARD = "-"
PART = re.compile(r"\.onlinear-[0-9a-f]{16}\.part")
BUFFER = 1 << 16
#: bytes for which there is room in what says that it has some
PIECE = getattr(select, "PIPE_BUF", 512)
#: milliseconds between two questions whether a signal has come, while there is no room
STEP = 100

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
NOT_ALLOWED = (errno.EACCES, errno.EPERM, errno.EROFS)

#: folders that this process has looked through for leftover parts
_swept: set[Path] = set()


# ------------------------------------------------------------------ writing


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


# ------------------------------------------------------------------ places


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


def printable(path: PathLike) -> str:
    """A path that is safe to print, whatever bytes it has.

    >>> print(printable("caf\\x1b[2Jé\\udcff"))
    caf\\x1b[2Jé\\xff
    """
    text = os.fspath(path)
    return "".join(letter if letter.isprintable() else escape_of(letter) for letter in text)


def as_argument(path: PathLike) -> str:
    """A path as a word of a command line, where one that begins with a dash would be an option.

    >>> as_argument("-q.csv"), as_argument("q.csv"), as_argument(STANDARD), as_argument(Path("-"))
    ('./-q.csv', 'q.csv', '-', './-')
    """
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") and path != STANDARD else text


def printable_lines(lines: Iterable[str]) -> str:
    """Lines that are safe to print, whatever names are in them: none can begin a line of its own.

    >>> print(printable_lines(["classes: a, b\\nweights: 0", "weights: 3"]))
    classes: a, b\\x0aweights: 0
    weights: 3
    """
    return "\n".join(map(printable, lines))


def escape_of(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as Python keeps it in names
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
