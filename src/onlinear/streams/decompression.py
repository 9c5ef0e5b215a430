"""The bytes of a file, decompressed, in constant memory whatever its size.

A damaged file gives everything before the damage first and raises ``BadSource`` then. What that is depends on the
format: a truncated file is right to its last byte, but gzip, bzip2, xz and zstd keep their checksums *behind* the
data, so after a flipped bit wrong lines may come out before the error does. A checksum of zstd is optional: the
program ``zstd`` writes it, PyArrow cannot, and without it a flipped bit may be no error at all.
"""

from __future__ import annotations

import bz2
import io
import lzma
import os
import re
import select
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from onlinear.errors import BadSource, OnlinearError
from onlinear.streams.sources import (
    Bytes,
    Path,
    Pipe,
    Replayed,
    _refusal,
    compression_in,
    error_text,
    is_pipe,
    source_label,
    with_looks,
)

INPUT = 64 << 10  # compressed bytes a read
STEP = 64 << 10  # bytes decompressed, or searched, at a time
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


@contextmanager
def open_bytes(path: Path) -> Iterator[DecompressedFile]:
    """The decompressed bytes of a file, as long as the block lasts.

    The extension says how it is compressed (.gz .bz2 .xz .zst); for standard input and pipes without a telling name
    the first bytes do.
    """
    (name,) = with_looks([os.fsdecode(path)])
    with ExitStack() as stack:
        raw = stack.enter_context(_opened(name))
        tap = _Tap(raw, size=0 if isinstance(name, Pipe) else _size_of(raw))
        yield stack.enter_context(
            DecompressedFile(source_label(name), tap, compression_in(name) or _recognised(name, tap))
        )


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


class DecompressedFile(io.RawIOBase):
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
                f"{self.label}: cannot be read on after {self.consumed:,} bytes ({error_text(error)}): "
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


def _read(stream: Any, into: Bytes) -> tuple[int, Exception | None]:
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
