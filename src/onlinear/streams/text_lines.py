"""Lines of text: a file in chunks of whole lines, the loop that reads a chunk, and where in it a row stands.

``chunks`` cuts what comes out of a file at line ends, in constant memory. ``read_lines`` is what the readers of all
text formats share: a compiled loop that stops at every bad line. ``Lines`` is the origin of the rows of a chunk.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from onlinear.errors import BadLine, BadLineKind, BadSource, OnlinearError
from onlinear.features.blocks import piece_size
from onlinear.features.naming import Naming
from onlinear.kernels.text.byte_marks import LINE_FEED
from onlinear.kernels.text.line_breaks import count_line_ends, find_all_breaks, room_for_breaks
from onlinear.kernels.text.parsed import BREAKS, CODE, FINE, NEXT, WHERE
from onlinear.streams.decompression import STEP, DecompressedFile, open_bytes
from onlinear.streams.sources import Bytes, Path, is_pipe

# Where in ``text`` the last whole record ends: its length if all are whole, 0 if none is. ``text[:shown]`` was seen in
# the call before and holds no end, so an object that keeps its state (CSV: inside quotes?) needs each byte just once.
Ends: TypeAlias = Callable[[Bytes, int], int]
CHUNK = 4 << 20
MOST_LINE = 1 << 30
#: seconds after which what has come of a pipe is handed on, if nothing more is there
PATIENCE = 0.05
SLACK = 64  # bytes behind a text that may be read and written
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

    buffer: Bytes
    size: int
    first_line: int
    offset: int
    read: int
    last: bool
    line_ends: int

    @property
    def text(self) -> Bytes:
        return self.buffer[: self.size]


def last_line_end(text: Bytes, shown: int) -> int:
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

    A chunk has at most ``size`` bytes (by default CHUNK; 3 if that is less) unless one line alone has more. A UTF-8
    byte-order mark is dropped. ``ends`` may cut elsewhere than at line ends (see ``Ends``); one with a state serves one
    file. A pipe that pauses is cut at once, but for those who want ``whole`` chunks, the same however it comes.
    """
    size = CHUNK if size is None else size
    if size < 1:
        raise OnlinearError(f"chunks of {size} bytes: give at least 1")
    with open_bytes(path) as source:
        yield from _cut(source, max(size, len(UTF_8_MARK)), ends, is_pipe(os.fsdecode(path)) and not whole)


def chunk_size(naming: Naming) -> int:
    """How large the chunks of rows are that are named so: smaller where rows grow, as all of a chunk grow at once."""
    return piece_size(CHUNK, bool(naming.crosses))


def _cut(source: DecompressedFile, size: int, ends: Ends, live: bool) -> Iterator[Chunk]:
    tail = _start(source)  # what was read, but is in no chunk yet
    line, offset, shown = 1, source.given - len(tail), 0
    while True:
        # One byte more than is shown to `ends`: without it, a file that ends with its chunk would not be known to.
        room = size if len(tail) <= size else min(2 * len(tail), MOST_LINE + 1)
        buffer = np.empty(room + 1 + SLACK, np.uint8)
        buffer[: len(tail)] = tail
        filled = _fill(source, buffer[: room + 1], len(tail), live)
        if filled.have < room // 2:  # whoever keeps the chunk keeps no more than it holds
            buffer = buffer[: filled.have + 1 + SLACK].copy()
        visible = min(filled.have, room)
        end = visible if filled.ended else ends(buffer[:visible], shown)
        if end > 0:
            lines = int(count_line_ends(buffer, end))  # before the consumer may write to it
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


def _start(source: DecompressedFile) -> Bytes:
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


def _fill(source: DecompressedFile, buffer: Bytes, have: int, live: bool = False) -> _Filled:
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


class Text(NamedTuple):
    """A text that ends with a line end, and where its words end: so many of them, so many of lines."""

    buffer: np.ndarray
    stop: int
    breaks: np.ndarray
    words: int
    lines: int


_own = threading.local()


def own_room(name: str, size: int, dtype: Any) -> np.ndarray:
    """Room under a name that each thread uses again and again: asking the system for it takes longer than reading."""
    room = getattr(_own, name, None)
    if room is None or len(room) < size:
        room = np.empty(size, dtype)
        setattr(_own, name, room)
    return room


def prepare_text(chunk: Chunk) -> Text:
    """The text of a chunk, ready to be read; until the same thread prepares the next one."""
    stop, breaks = with_room(chunk)
    words, lines = find_all_breaks(chunk.buffer, stop, breaks)
    breaks[words : words + BREAKS] = stop - 1  # for readers that look ahead, and see that there the text ends
    return Text(chunk.buffer, stop, breaks, words, lines)


def with_room(chunk: Chunk) -> tuple[int, np.ndarray]:
    """Where the text of a chunk stops when its last line has an end, and room for all breaks there can be in it.

    The room is the thread's own, and used again for its next chunk.
    """
    stop = chunk.size
    if chunk.buffer[stop - 1] != LINE_FEED:
        chunk.buffer[stop] = LINE_FEED
        stop += 1
    return stop, own_room("breaks", room_for_breaks(stop), np.int32)  # no line is longer than its numbers reach


def read_lines(
    read: Callable[[], None],
    explain: Callable[[int, int], tuple[BadLine, bytes]],
    counts: np.ndarray,
    stop: int,
    stop_at_bad: bool,
) -> list[tuple[BadLine, bytes]]:
    """Let the loop ``read`` go on until the text ends; the bad lines it met, or only the first."""
    bad = []
    while counts[NEXT] < stop:
        read()
        if counts[CODE] > FINE:
            bad.append(explain(int(counts[CODE]), int(counts[WHERE])))
            if stop_at_bad:
                break
    return bad


#: what a line begins with: up to a blank, to what begins the features of VW's text, or a comment of svmlight's
FIRST_WORD = re.compile(r"[ \t]*([^ \t|#]*)")
#: as much of a word as a message shows
SHOWN = 40
WORD_ENDS = b" \t\r\n"
LONE_RETURN = (
    "there is a carriage return within this line, as at the ends of lines of old Macintoshes: "
    "end lines with line feeds (tr '\\r' '\\n' < old > new)"
)


class Lines:
    """A chunk whose rows start at ``places``."""

    def __init__(
        self,
        chunk: Chunk,
        source: str,
        places: np.ndarray,
        text_at: Callable[[int], bytes] | None = None,
        label_at: Callable[[int], int] | None = None,
    ) -> None:
        """``text_at`` gives the record that starts at a place, if it may have several lines.

        ``label_at`` gives the place of its label, if that is not where it starts.
        """
        self.chunk = chunk
        self.source = source
        self.places = places
        self.text_at = text_at  # not a method of its own: a cycle would keep the chunk in memory
        self.label_at = label_at

    @cached_property
    def _ends(self) -> np.ndarray:
        """Where lines end; looked for when the first error asks."""
        return np.flatnonzero(self.chunk.text == LINE_FEED)

    def error(self, row: int, reason: str) -> BadLine:
        """What is wrong with a row."""
        return self.at(int(self.places[row]), reason)

    def label_error(self, row: int, reason: str) -> BadLine:
        """What is wrong with the label of a row."""
        place = int(self.places[row])
        return self.at(place if self.label_at is None else self.label_at(place), reason)

    def text(self, row: int) -> bytes:
        """The row as it stands in the file."""
        return (self.text_at or self.line)(int(self.places[row]))

    def starts(self, rows: int) -> np.ndarray:
        """Where each of the first rows starts in the text of its file, in bytes."""
        return self.chunk.offset + np.asarray(self.places[:rows], np.int64)

    def behind(self, row: int) -> Lines:
        """The lines of the rows from this one on."""
        return Lines(self.chunk, self.source, self.places[row:], self.text_at, self.label_at)

    def only(self, rows: np.ndarray) -> Lines:
        """The lines of those rows alone for which there is a True."""
        return Lines(self.chunk, self.source, self.places[: len(rows)][rows], self.text_at, self.label_at)

    def at(self, where: int, reason: str, kind: BadLineKind = BadLineKind.UNREADABLE) -> BadLine:
        """What is wrong at a place. Columns are counted in bytes from 1."""
        number = int(self._ends.searchsorted(where))
        start = int(self._ends[number - 1]) + 1 if number else 0
        return BadLine(self.source, self.chunk.first_line + number, where - start + 1, reason, kind)

    def line(self, where: int) -> bytes:
        """The line that a place is in, without its end; the last one may have none."""
        number = int(self._ends.searchsorted(where))
        start = int(self._ends[number - 1]) + 1 if number else 0
        stop = int(self._ends[number]) if number < len(self._ends) else self.chunk.size
        return self.chunk.text[start:stop].tobytes().removesuffix(b"\r")

    def first_words(self, rows: np.ndarray) -> list[str]:
        """The words with which the lines of some rows begin."""
        lines = (self.line(int(place)).decode("utf-8", "replace") for place in self.places[rows])
        return [FIRST_WORD.match(line)[1] for line in lines]  # type: ignore[index]

    def has_lone_return(self, where: int) -> bool:
        """Whether a carriage return that ends no line is in the word at a place."""
        behind = self.line(where)[self.at(where, "").column - 1 :]
        return b"\r" in behind.replace(b"\t", b" ").partition(b" ")[0]


def word_at(text: np.ndarray, at: int) -> str:
    """The word that starts at a place, shortened."""
    seen = text[at : at + SHOWN + 1].tobytes()
    for end in WORD_ENDS:
        seen = seen.partition(bytes([end]))[0]
    word = seen.decode("utf-8", "backslashreplace")
    return word if len(seen) <= SHOWN else word[: SHOWN - 3] + "..."
