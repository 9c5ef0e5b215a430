"""Sources: what can be read, by its name or in memory.

A name is that of a file, a glob, ``-`` for standard input, or of a pipe: a FIFO, the ``/dev/fd/63`` that a shell makes
of ``<(command)``, a terminal. A pipe can be read only once, but for a look at its head beforehand. Frames and arrays
are sources by what they are.
"""

from __future__ import annotations

import glob
import io
import os
import select
import stat
import sys
import weakref
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import BadInput, BadSource
from onlinear.system.descriptors import is_closed

Path: TypeAlias = str | os.PathLike[str]
Bytes: TypeAlias = NDArray[np.uint8]
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def expand(paths: Path | Sequence[Path]) -> list[str]:
    """The files behind ``paths``, in the order given, each glob's sorted; refused before anything is read.

    A name with ``*``, ``?`` or ``[`` is a glob unless there is a file of that very name; ``**`` stands for any folders.
    ``-`` is standard input (``./-`` a file of that name).
    """
    files: list[str] = []
    if not isinstance(paths, str | os.PathLike) and callable(getattr(paths, "read", None)):  # its lines are no names
        raise BadSource(f"{paths!r:.60} is an open file: give its name, or - for standard input")
    try:
        names = [os.fsdecode(name) for name in ([paths] if isinstance(paths, str | os.PathLike) else paths)]
    except TypeError:
        raise BadSource(f"{paths!r:.60} are no names of files: give names, or rows as an array or a frame") from None
    for name in names:
        files.extend(_matches(name) if glob.has_magic(name) and not os.path.exists(name) else [name])
    for name in files:
        if name != STANDARD_INPUT:
            _check(name)
    refuse_repeated(files)
    return files


def inner_name(path: Path) -> str:
    """The name without its compression: what format the text has.

    >>> inner_name("train.svm.gz"), inner_name("train.csv"), inner_name("-")
    ('train.svm', 'train.csv', '-')
    """
    name = os.fsdecode(path)
    return os.path.splitext(name)[0] if compression_in(name) else name


def total_bytes(paths: Sequence[Path]) -> int | None:
    """The size on disk of all files together; None if that of one (standard input, a pipe) is unknown."""
    total = 0
    for name in map(os.fsdecode, paths):
        if name == STANDARD_INPUT:
            return None
        found = _check(name)
        if not stat.S_ISREG(found.st_mode):
            return None
        total += found.st_size
    return total


def _matches(pattern: str) -> list[str]:
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise BadSource(f"{pattern}: no file matches: check the pattern, and the folder you are in")
    return [os.path.join(os.curdir, name) if name == STANDARD_INPUT else name for name in found]


def _check(name: str) -> os.stat_result:
    """What is known of a file that can be read; asked without opening it, since that would wait for a pipe's writer."""
    try:
        found = os.stat(name)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError
        if not os.access(name, os.R_OK):
            raise PermissionError
    except (OSError, ValueError) as error:
        raise _refusal(name, error) from None
    return found


def _refusal(name: str, error: OSError | ValueError) -> BadSource:
    match error:
        case FileNotFoundError():
            return BadSource(f"{name}: no such file: check the name, and the folder you are in")
        case IsADirectoryError():
            return BadSource(f"{name}: is a directory: name the files in it, for instance {os.path.join(name, '*')}")
        case PermissionError():
            return BadSource(f"{name}: may not be read by you: ask its owner, or change its mode (chmod +r)")
        case ValueError():  # which each version of Python puts into words of its own
            return BadSource(f"{name!r}: there is a null character in the name: check it")
        case _:
            return BadSource(f"{name}: cannot be opened ({error_text(error)}): check the name")


def compression_in(name: str) -> str | None:
    return COMPRESSIONS.get(os.path.splitext(name)[1].lower())


def error_text(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


#: tables in memory, by the package and the name of their class: asked for without importing any
FRAMES = {("pyarrow", "Table"), ("pyarrow", "RecordBatch"), ("pandas", "DataFrame"), ("polars", "DataFrame")}
#: a table that is not there yet
LAZY = ("polars", "LazyFrame")


def is_frame(thing: Any) -> bool:
    """Whether it is a table in memory."""
    return frame_kind(thing) is not None


def frame_kind(thing: Any) -> tuple[str, str] | None:
    """The package and the name of the class that makes it a table."""
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(thing).__mro__]
    if LAZY in kinds:
        raise BadInput("a LazyFrame has no rows yet: collect() it first")
    return next((kind for kind in kinds if kind in FRAMES), None)


def is_matrix(thing: Any) -> bool:
    """Whether it is an array, or a sparse matrix of SciPy's."""
    return isinstance(thing, np.ndarray) or hasattr(type(thing), "tocsr")


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
