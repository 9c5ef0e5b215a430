"""From paths to chunks of whole lines, in constant memory whatever the size of the file.

``expand`` turns what a user typed into files, ``open_bytes`` decompresses one of them, and ``chunks`` cuts what comes
out of it at line ends. A damaged file gives everything before the damage first and raises ``BadSource`` then. What that
is depends on the format: a truncated file is right to its last byte, but gzip, bzip2, xz and zstd keep their
checksums *behind* the data, so after a flipped bit wrong lines may come out before the error does. A checksum of zstd
is optional: the program ``zstd`` writes it, PyArrow cannot, and without it a flipped bit may be no error at all.
"""

from __future__ import annotations

import bz2
import glob
import io
import lzma
import os
import re
import select
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from onlinear.errors import BadSource, OnlinearError
from onlinear.kernels.text.line_breaks import count_line_ends
from onlinear.streams.pipes import Pipe, Replayed, is_pipe, refuse_repeated, source_label, with_looks
from onlinear.streams.standard_input import STANDARD_INPUT

Path: TypeAlias = str | os.PathLike[str]
Text: TypeAlias = NDArray[np.uint8]
# Where in ``text`` the last whole record ends: its length if all are whole, 0 if none is. ``text[:shown]`` was seen in
# the call before and holds no end, so an object that keeps its state (CSV: inside quotes?) needs each byte just once.
Ends: TypeAlias = Callable[[Text, int], int]

CHUNK = 4 << 20
MOST_LINE = 1 << 30
#: seconds after which what has come of a pipe is handed on, if nothing more is there
PATIENCE = 0.05
SLACK = 64  # bytes behind a text that may be read and written

INPUT = 64 << 10  # compressed bytes a read
STEP = 64 << 10  # bytes decompressed, or searched, at a time
NEWLINE = ord("\n")

COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
# How compressed data begins, for what has no name. Long enough that no text begins so by chance.
SIGNATURES = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "bzip2": re.compile(rb"BZh[1-9](1AY&SY|\x17\x72\x45\x38\x50\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # parallel compressors begin with the second
}
LONGEST_SIGNATURE = 10
#: how they all begin: two bytes are there as soon as a line is, and ten may not be
BEGINNINGS = re.compile(rb"\x1f\x8b|BZ|\xfd7|\x28\xb5|[\x50-\x5f]\x2a")
TOO_EARLY = "it ends too early"
UTF_8_MARK = b"\xef\xbb\xbf"
UTF_16 = "is UTF-16 text, by its first two bytes: save it as UTF-8"
COMPRESSED = "is {} data by its first bytes: rename it to end in {}, or decompress it"
BINARY = "is no text, but by its first bytes {}: {}"
#: how a file begins that is no text in UTF-8, and what to say of it; bzip2 alone begins like a text
NO_TEXT = {
    b"\xff\xfe": UTF_16,
    b"\xfe\xff": UTF_16,
    b"\x1f\x8b\x08": COMPRESSED.format("gzip", ".gz"),
    b"\xfd7zXZ\0": COMPRESSED.format("xz", ".xz"),
    b"\x28\xb5\x2f\xfd": COMPRESSED.format("zstd", ".zst"),
    **{b"BZh%d1AY&SY" % level: COMPRESSED.format("bzip2", ".bz2") for level in range(1, 10)},
    b"PAR1\x15": BINARY.format("a Parquet file", "rename it to end in .parquet"),
    b"ARROW1\0\0": BINARY.format("an Arrow file", "rename it to end in .arrow"),
    b"PK\x03\x04": BINARY.format("a zip archive, as workbooks of Excel are", "save the table in it as CSV"),
    b"\xd0\xcf\x11\xe0": BINARY.format("an old workbook of Excel", "save the table in it as CSV"),
    b"SQLite format 3\0": BINARY.format("a database of SQLite", "save the table in it as CSV"),
}
LONGEST_MARK = max(map(len, NO_TEXT))


class Chunk(NamedTuple):
    """Whole lines of a file; only the last chunk of a file may end within one.

    ``buffer`` belongs to the chunk alone: keep it as long as you like. ``text`` is its first ``size`` bytes; the SLACK
    bytes behind mean nothing, and are there for those who read many at once. Lines are counted from 1, as editors do;
    ``offset`` is how much decompressed text (a byte-order mark included) comes before the chunk, ``read`` how much of
    the file on disk was needed so far; ``line_ends`` are those in the text.
    """

    buffer: Text
    size: int
    first_line: int
    offset: int
    read: int
    last: bool
    line_ends: int

    @property
    def text(self) -> Text:
        return self.buffer[: self.size]


def expand(paths: Path | Sequence[Path]) -> list[str]:
    """The files behind ``paths``, in the order given, each glob's sorted; refused before anything is read.

    A name with ``*``, ``?`` or ``[`` is a glob unless there is a file of that very name; ``**`` stands for any folders.
    ``-`` is standard input (``./-`` a file of that name).
    """
    files: list[str] = []
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
    return os.path.splitext(name)[0] if _compression(name) else name


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


@contextmanager
def open_bytes(path: Path) -> Iterator[Source]:
    """The decompressed bytes of a file, as long as the block lasts.

    The extension says how it is compressed (.gz .bz2 .xz .zst); for standard input and pipes without a telling name
    the first bytes do.
    """
    (name,) = with_looks([os.fsdecode(path)])
    with ExitStack() as stack:
        raw = stack.enter_context(_opened(name))
        tap = _Tap(raw, size=0 if isinstance(name, Pipe) else _size_of(raw))
        yield stack.enter_context(Source(source_label(name), tap, _compression(name) or _recognised(name, tap)))


def last_line_end(text: Text, shown: int) -> int:
    """Where the last line ends that LF ends: CRLF does so too, a lone CR does not.

    >>> last_line_end(np.frombuffer(b"1 2:3\\n1 2:", np.uint8), 0)
    6
    """
    for stop in range(len(text), shown, -STEP):
        start = max(stop - STEP, shown)
        found = text[start:stop].tobytes().rfind(b"\n")
        if found >= 0:
            return start + found + 1
    return 0


def chunks(path: Path, size: int | None = None, ends: Ends = last_line_end, *, whole: bool = False) -> Iterator[Chunk]:
    """The text of a file in chunks of whole lines, none for an empty file.

    A chunk has at most ``size`` bytes (CHUNK unless told; 3 if that is less) unless one line alone has more. A UTF-8
    byte-order mark is dropped. ``ends`` may cut elsewhere than at line ends (see ``Ends``); one with a state serves one
    file. A pipe that pauses is cut at once, but for those who want ``whole`` chunks, the same however it comes.
    """
    size = CHUNK if size is None else size
    if size < 1:
        raise OnlinearError(f"chunks of {size} bytes: give at least 1")
    with open_bytes(path) as source:
        yield from _cut(source, max(size, len(UTF_8_MARK)), ends, is_pipe(os.fsdecode(path)) and not whole)


def _cut(source: Source, size: int, ends: Ends, live: bool) -> Iterator[Chunk]:
    tail = _start(source)  # what was read, but is in no chunk yet
    line, offset, shown = 1, source.given - len(tail), 0
    while True:
        # One byte more than is shown to `ends`: without it, a file that ends with its chunk would not be known to.
        room = size if len(tail) <= size else min(2 * len(tail), MOST_LINE + 1)
        buffer = np.empty(room + 1 + SLACK, np.uint8)
        buffer[: len(tail)] = tail
        filled = _fill(source, buffer[: room + 1], len(tail), live)
        visible = min(filled.have, room)
        end = visible if filled.ended else ends(buffer[:visible], shown)
        if end > 0:
            lines = int(count_line_ends()(buffer, end))  # before the consumer may write to it
            yield Chunk(buffer, end, line, offset, source.consumed, filled.ended, lines)
            line, offset = line + lines, offset + end
        elif visible > MOST_LINE:
            raise BadSource(
                f"{source.label}: line {line} has more than {MOST_LINE:,} bytes: end each example with a newline, "
                "and close every quote"
            )
        if filled.ended:
            return
        if filled.failure is not None:
            raise filled.failure
        tail, shown = buffer[end : filled.have], visible - end


def _start(source: Source) -> Text:
    """The first bytes without a byte-order mark; no more than a mark has, since a pipe may have no more as yet."""
    first, have, more, head = np.empty(LONGEST_MARK, np.uint8), 0, True, b""
    while more and any(mark.startswith(head) and mark != head for mark in (UTF_8_MARK, *NO_TEXT)):
        got = _fill(source, first[: have + 1], have).have  # what went wrong goes wrong again at the next read
        have, more, head = got, got > have, first[:got].tobytes()
    if head in NO_TEXT:
        raise BadSource(f"{source.label}: {NO_TEXT[head]}")
    return first[have:have] if head == UTF_8_MARK else first[:have]


class _Filled(NamedTuple):
    """How much a buffer has; it is full unless the file ``ended``, a ``failure`` came first, or a live one pauses."""

    have: int
    ended: bool = False
    failure: BadSource | None = None


def _fill(source: Source, buffer: Text, have: int, live: bool = False) -> _Filled:
    deadline = None
    while have < len(buffer):
        if deadline is not None and not source.is_ready(max(deadline - time.monotonic(), 0.0)):
            return _Filled(have)
        try:
            count = source.readinto(buffer[have:])
        except BadSource as failure:
            return _Filled(have, failure=failure)
        if count == 0:
            return _Filled(have, ended=True)
        have += count
        if live and deadline is None:
            deadline = time.monotonic() + PATIENCE
    return _Filled(have)


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


def _opened(name: str) -> io.RawIOBase:
    try:
        return name.opened() if isinstance(name, Pipe) else open(name, "rb", buffering=0)
    except OnlinearError:
        raise
    except (OSError, ValueError) as error:
        raise _refusal(name, error) from None


def _size_of(raw: io.RawIOBase) -> int:
    """The size of a file on disk; 0 for what has none."""
    found = os.fstat(raw.fileno())
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


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
            return BadSource(f"{name}: cannot be opened ({_reason(error)}): check the name")


def _compression(name: str) -> str | None:
    return COMPRESSIONS.get(os.path.splitext(name)[1].lower())


def _recognised(name: str, tap: _Tap) -> str | None:
    """How nameless bytes are compressed; a regular file has a name that says it."""
    if not is_pipe(name):
        return None
    try:
        if not BEGINNINGS.match(tap.peek(2)):
            return None
        head = tap.peek(LONGEST_SIGNATURE)
    except OSError:
        return None  # the first read meets it again, and says so
    return next((kind for kind, signature in SIGNATURES.items() if signature.match(head)), None)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class Source(io.RawIOBase):
    """The decompressed bytes of a file, read only.

    Everything before a damaged place can be read; reading on raises ``BadSource``, again and again. ``given`` counts
    the bytes that came out, ``consumed`` those of the file on disk that went in.
    """

    def __init__(self, label: str, tap: _Tap, compression: str | None) -> None:
        self.label = label
        self.given = 0
        self._tap = tap
        self._compression = compression
        self._body = _decompressed(tap, compression)

    @property
    def consumed(self) -> int:
        return self._tap.consumed

    def readable(self) -> bool:
        return True

    def is_ready(self, seconds: float) -> bool:
        """Whether reading on need not wait longer; a decompressor that got something may still have to."""
        return (isinstance(self._body, _Members) and self._body.holds_more) or self._tap.is_ready(seconds)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not len(view):
            return 0  # zlib takes "at most 0 bytes" for "all"
        try:
            count = self._body.readinto(view) or 0
        except _Damaged as damage:
            raise BadSource(
                f"{self.label}: damaged {self._compression} data after {self.given:,} bytes of text ({damage}): "
                "copy or download the file again, or compress it anew"
            ) from damage
        except OSError as error:
            raise BadSource(
                f"{self.label}: cannot be read on after {self.consumed:,} bytes ({_reason(error)}): "
                "check the disk or the connection"
            ) from error
        if count == 0 and self.consumed < self._tap.size:
            raise BadSource(
                f"{self.label}: was cut while it was read, from {self._tap.size:,} to {self.consumed:,} bytes: "
                "read it when nobody writes to it"
            )
        self.given += count
        return count

    def close(self) -> None:
        self._body.close()
        super().close()


class _Damaged(Exception):
    """Compressed data that is not as it was written."""


class _Corrupt(_Damaged):
    """Compressed data that its decompressor refused, and threw away what that call had decompressed."""


class _Tap(io.RawIOBase):
    """The bytes as they lie on disk, counted."""

    def __init__(self, raw: io.RawIOBase | io.BufferedIOBase, size: int) -> None:
        self.consumed = 0
        self.latest = 0  # where the latest read began
        self.size = size  # of the file, when it was opened; 0 for a pipe
        self._raw = raw
        self._head = b""
        self._single_from = sys.maxsize
        self._origin = raw.tell() if raw.seekable() else None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: max(1, self._single_from - self.consumed)]
        self.latest = self.consumed
        count: int | None = min(len(self._head), len(view))
        if count:
            view[:count] = self._head[:count]
            self._head = self._head[count:]
        else:
            while (count := self._raw.readinto(view)) is None:  # a pipe that somebody set not to block
                select.select([self._raw], [], [])
        self.consumed += count
        return count

    def is_ready(self, seconds: float) -> bool:
        """Whether something, or the end, comes so soon; a file is always there."""
        return bool(self._head) or not isinstance(self._raw, Replayed) or self._raw.is_ready(seconds)

    def close(self) -> None:
        """Nothing: PyArrow closes what it reads, but whoever opened the file closes it."""

    def peek(self, size: int) -> bytes:
        """The next bytes, which stay unread: ``size`` of them unless the file ends before."""
        head = b""
        while len(head) < size and (more := self.read(size - len(head))):
            head += more
        self._head = head + self._head
        self.consumed -= len(head)
        return head

    def again_from(self, position: int, single_from: int = sys.maxsize) -> bool:
        """Go back to read from ``position``, and single bytes from ``single_from`` on; whether that is possible."""
        if self._origin is None:
            return False
        self._raw.seek(self._origin + position)
        self._head = b""
        self.consumed = position
        self._single_from = single_from
        return True


def _decompressed(tap: _Tap, compression: str | None) -> io.RawIOBase:
    match compression:
        case "gzip":
            return _Members(tap, _Inflate)
        case "bzip2":
            return _Members(tap, bz2.BZ2Decompressor)
        case "xz":
            return _Members(tap, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ))
        case "zstd":
            return _Frames(tap)
        case _:
            return tap


class _Inflate:
    """zlib's decompressor of one gzip member, with the manners of those in bz2 and lzma."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)  # 16: with gzip's header and checksum

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max_length)

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


class _Members(io.RawIOBase):
    """What is compressed in members (gzip) or streams (bzip2, xz), one after another, perhaps with zeros between.

    Not gzip.open and its like: those read past a later member that does not begin as one (bzip2, xz) as if the file
    ended there, and throw away what they had decompressed when they meet damage.
    """

    def __init__(self, tap: _Tap, new: Callable[[], Any]) -> None:
        self._tap = tap
        self._new = new
        self._decoder: Any = None  # None between members
        self._data = b""  # read, but not of the member before
        self._hungry = True  # nothing more comes out unless something goes in
        self._start = 0  # where on disk the member begins
        self._given = 0  # what came out of it
        self._failure: _Damaged | None = None

    @property
    def holds_more(self) -> bool:
        """Whether something may come out although nothing goes in."""
        return bool(self._data) or (self._decoder is not None and not self._hungry)

    def readinto(self, buffer: Any) -> int:
        if self._failure is not None:
            raise self._failure
        most = min(len(buffer), STEP)
        try:
            text = self._more(most)
        except _Corrupt as failure:
            self._failure = failure
            text = self._rescued(most)
            if not text:
                raise
        self._given += len(text)
        buffer[: len(text)] = text
        return len(text)

    def _more(self, most: int) -> bytes:
        """The next bytes, none at the end of the last member."""
        while self._decoder is not None or self._next_member():
            decoder, data, dry = self._decoder, self._data, False
            if not data and self._hungry:
                data = self._tap.read(INPUT) or b""
                dry = not data
            self._data = b""
            text = _decompress(decoder, data, most)
            self._hungry = decoder.needs_input and len(text) < most
            if decoder.eof:
                self._decoder, self._data = None, decoder.unused_data
            elif dry and not text:
                raise _Damaged(TOO_EARLY)
            if text:
                return text
        return b""

    def _next_member(self) -> bool:
        """Begin the next member; whether there is one."""
        first = self._tap.consumed == 0
        self._data = self._data.lstrip(b"\0")
        while not self._data:
            data = self._tap.read(INPUT) or b""
            if not data and first:
                raise _Damaged(TOO_EARLY)
            if not data:
                return False
            self._data = data if first else data.lstrip(b"\0")
        self._start, self._given = self._tap.consumed - len(self._data), 0
        self._decoder, self._hungry = self._new(), True
        return True

    def _rescued(self, most: int) -> bytes:
        """What the call that met the damage had decompressed before it: the member once more, in the end byte by byte.

        In single bytes on either side, since a call that gives its last byte may go on to the checksum. A pipe cannot
        be read once more and loses what it is: less than a step.
        """
        if not self._tap.again_from(self._start, single_from=self._tap.latest):
            return b""
        again, skip, rescued = _Members(self._tap, self._new), self._given, bytearray()
        try:
            while skip and (text := again._more(min(skip, STEP))):
                skip -= len(text)
            while len(rescued) < most and (text := again._more(1)):
                rescued += text
        except (_Damaged, OSError):
            pass
        return bytes(rescued)


def _decompress(decoder: Any, data: bytes, most: int) -> bytes:
    try:
        return decoder.decompress(data, most)
    except (zlib.error, lzma.LZMAError, OSError) as error:
        raise _Corrupt(str(error)) from error


class _Frames(io.RawIOBase):
    """What zstd compressed, by way of PyArrow: the standard library has no zstd before Python 3.14.

    PyArrow throws away all it made of the input (64 KiB of it) that has the damage. A file is therefore read once more
    then, from where that input begins in single bytes; a pipe loses it.
    """

    def __init__(self, tap: _Tap) -> None:
        self._tap = tap
        self._stream = _zstd(tap)
        self._given = 0
        self._again = False
        self._failure: Exception | None = None

    def readinto(self, buffer: Any) -> int:
        if self._failure is not None:
            raise self._failure
        step = np.frombuffer(buffer[:STEP], np.uint8)
        count, self._failure = _read(self._stream, step)
        if isinstance(self._failure, _Corrupt) and self._back():
            count, self._failure = _read(self._stream, step)
        if self._failure is None and self._tap.consumed == 0:
            self._failure = _Damaged(TOO_EARLY)
        if count == 0 and self._failure is not None:
            raise self._failure
        self._given += count
        return count

    def _back(self) -> bool:
        """Begin again, up to where we were; whether that is possible, which it is once."""
        if self._again or not self._tap.again_from(0, single_from=self._tap.latest):
            return False
        self._again, self._stream = True, _zstd(self._tap)
        skip, scratch = self._given, np.empty(STEP, np.uint8)
        while skip:
            count, failure = _read(self._stream, scratch[:skip])
            if failure is not None or count == 0:
                return False
            skip -= count
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()


def _zstd(tap: _Tap) -> Any:
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.PythonFile(tap, mode="r"), "zstd")


def _read(stream: Any, into: Text) -> tuple[int, Exception | None]:
    """How much was read, and what went wrong then.

    When something does, what came before lies in the array, only PyArrow does not say how much it is. It is all up to
    the last byte that is not 0, then; no line ends after that.
    """
    into[:] = 0
    try:
        return stream.readinto(into), None
    except (OSError, ValueError) as error:
        count = int(np.flatnonzero(into)[-1]) + 1 if into.any() else 0
        if getattr(error, "errno", None):  # the disk's, not PyArrow's
            return count, error
        return count, _Damaged(TOO_EARLY) if "Truncated" in str(error) else _Corrupt(str(error))
