"""The cells of a CSV text: where each ends, where a text may be cut, and the records that they make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadLine, BadLineKind, BadSource
from onlinear.kernels.text.byte_marks import LINE_FEED
from onlinear.kernels.text.csv import CLOSED, NEVER, NOWHERE, OPENED, find_cells, last_record_end
from onlinear.streams.columns import BEFORE, BLANKS
from onlinear.streams.sources import source_label
from onlinear.streams.text_lines import SHOWN, Chunk, Lines, chunks, with_room

#: blanks before a cell, and those around one, as bytes
BEFORE_CELL, BEHIND_CELL = BEFORE.encode(), BLANKS.encode()
#: a whole cell in quotes
QUOTED = re.compile(rb'"(?:[^"]|"")*"')
LONE_RETURNS = (
    "lines end with a carriage return alone, as those of old Macintoshes, so that all are one record: "
    "end them with line feeds (tr '\\r' '\\n' < old.csv > new.csv)"
)
UNCLOSED = "the quote that opens here is never closed: close it, or take it away"
SWALLOWING = (
    "the quote that opens here closes {lines:,} lines further down, and those read as records: "
    "close it, or take it away"
)
#: a cell with more line ends is no cell if its lines are like records: two stray quotes have made it one
MOST_LINE_ENDS = 100
#: as many of them have as many delimiters as a record; not all, since there may be bad ones
SHARE_ALIKE = 0.9


class Cells(NamedTuple):
    """A text with the ends of all its cells, and slack behind it. Its whole records end at ``stop``.

    ``strange`` says whether it holds anything but ASCII characters; ``unclosed`` is where a quote opens that nothing
    closes, or negative. Unless cells may be ``quoted``, a quote is a letter as any other.
    """

    buffer: np.ndarray
    stop: int
    breaks: np.ndarray
    strange: bool
    unclosed: int
    quoted: bool = True

    def record_break(self, k: int) -> int:
        """The first break from the k-th on that ends a record."""
        while self.buffer[self.breaks[k]] != LINE_FEED:
            k += 1
        return k

    def record_start(self, k: int) -> int:
        """Where the record starts that the cell before the k-th break is in."""
        while k and self.buffer[self.breaks[k - 1]] != LINE_FEED:
            k -= 1
        return int(self.breaks[k - 1]) + 1 if k else 0

    def break_behind(self, place: int) -> int:
        """The first break that is not before a place."""
        return int(self.breaks.searchsorted(self.breaks.dtype.type(place)))  # another type, and all would be converted

    def record_from(self, place: int) -> bytes:
        """The record that starts at a place, without its end."""
        last = self.record_break(self.break_behind(place))
        return self.buffer[place : self.breaks[last]].tobytes().removesuffix(b"\r")

    def raw_from(self, place: int) -> list[bytes]:
        """The cells of the record that starts at a place, as they stand there."""
        first = self.break_behind(place)
        ends = self.breaks[first : self.record_break(first) + 1].tolist()
        starts = [place, *(end + 1 for end in ends[:-1])]
        return [self.buffer[start:end].tobytes() for start, end in zip(starts, ends, strict=True)]

    def raw_column(self, places: np.ndarray, column: int) -> list[bytes]:
        """The cells of a column, as they stand in the records that start at some places."""
        ends = self.breaks.searchsorted(places.astype(self.breaks.dtype)) + column
        starts = self.breaks[ends - 1] + 1 if column else places
        pairs = zip(starts.tolist(), self.breaks[ends].tolist(), strict=True)
        return [self.buffer[start:stop].tobytes() for start, stop in pairs]

    def cell_from(self, place: int, number: int) -> int:
        """Where a cell, counted from 0, of the record that starts at a place begins."""
        k = self.break_behind(place) + number
        return self.words(k, k)[0][0]

    def first_record(self) -> tuple[int, int]:
        """The first break of the first record that is not blank, and its last; twice the number of breaks if none is.

        The table's names, if it has a header.
        """
        k, place = 0, 0
        while place < self.stop:
            last = self.record_break(k)
            if last > k or self.buffer[place : self.breaks[last]].tobytes().strip(BEHIND_CELL):
                return k, last
            k, place = last + 1, int(self.breaks[last]) + 1
        return len(self.breaks), len(self.breaks)

    def words(self, first: int, last: int) -> list[tuple[int, str]]:
        """The cells that end at the breaks from the first to the last, each with the place where it starts."""
        found = []
        start = int(self.breaks[first - 1]) + 1 if first else 0
        for end in map(int, self.breaks[first : last + 1]):
            cell = self.buffer[start:end].tobytes()
            found.append((start + len(cell) - len(cell.lstrip(BEFORE_CELL)), cell_text(cell, self.quoted)))
            start = end + 1
        return found

    def shown(self, place: int) -> str:
        """The cell that starts at a place, for a message."""
        end = int(self.breaks[self.break_behind(place)])
        cell = cell_text(self.buffer[place:end].tobytes(), self.quoted)
        return cell if len(cell) <= SHOWN else cell[: SHOWN - 3] + "..."


def cell_text(cell: bytes, quoted: bool = True) -> str:
    """What a cell says, without quotes and without blanks around.

    >>> cell_text(b' Bern '), cell_text(b'"6"" pipe"'), cell_text(b'6" pipe')
    ('Bern', '6" pipe', '6" pipe')
    """
    return strip_quotes(cell, quoted).strip(BLANKS)


def strip_quotes(cell: bytes, quoted: bool = True) -> str:
    """What a cell says, without quotes if it may be quoted, but with the blanks within them."""
    cell = cell.lstrip(BEFORE_CELL).rstrip(BEHIND_CELL)
    if quoted and len(cell) > 1 and cell.startswith(b'"') and cell.endswith(b'"'):
        cell = cell[1:-1].replace(b'""', b'"')
    return cell.decode("utf-8", "backslashreplace")


def cut_cells(chunk: Chunk, delimiter: str, quoted: bool = True) -> Cells:
    """The text of a chunk with the ends of its cells; until the same thread cuts the next one."""
    buffer, quoting = chunk.buffer, no_quotes(quoted)
    stop, room = with_room(chunk)
    count, strange = find_cells(buffer, stop, ord(delimiter), room, quoting)
    breaks = room[:count]
    if quoting[OPENED] <= quoting[CLOSED]:
        return Cells(buffer, stop, breaks, strange, NOWHERE, quoted)
    ends = np.flatnonzero(buffer[breaks] == LINE_FEED)
    whole = int(ends[-1]) + 1 if len(ends) else 0
    return Cells(buffer, int(breaks[whole - 1]) + 1 if whole else 0, breaks, strange, int(quoting[OPENED]))


def no_quotes(quoted: bool) -> np.ndarray:
    """What is known of quotes before the first one, or for good."""
    return np.array([NOWHERE if quoted else NEVER, NOWHERE])


def unclosed_quote(cells: Cells, lines: Lines) -> tuple[BadLine, bytes]:
    """What is wrong with a text whose last quote is never closed, and all of its last record."""
    return lines.at(cells.unclosed, UNCLOSED, BadLineKind.NO_RECORDS), lines.chunk.text[cells.stop :].tobytes()


class Swallowing(NamedTuple):
    """A cell in quotes that has swallowed records: where its record starts, and its quote opens; how many line ends."""

    record: int
    quote: int
    line_ends: int

    def bad_line(self, lines: Lines) -> tuple[BadLine, bytes]:
        """What is wrong, and the line where it begins."""
        reason = SWALLOWING.format(lines=self.line_ends)
        return lines.at(self.quote, reason, BadLineKind.NO_RECORDS), lines.line(self.record)


def find_swallowing(cells: Cells, delimiter: str, columns: int) -> Swallowing | None:
    """The first cell of a text that holds many lines which each have the delimiters of a record of so many columns."""
    if columns == 1:
        return None  # any line is like a record
    line_ends = np.flatnonzero(cells.buffer[: cells.stop] == LINE_FEED)
    some = line_ends[:: MOST_LINE_ENDS // 2]  # at least two of them are in a cell that has more than MOST_LINE_ENDS
    owners = cells.breaks.searchsorted(some.astype(cells.breaks.dtype))
    for k in np.unique(owners[1:][owners[1:] == owners[:-1]]).tolist():
        start, stop = int(cells.breaks[k - 1]) + 1 if k else 0, int(cells.breaks[k])
        count = int(np.diff(line_ends.searchsorted([start, stop]))[0])
        if count > MOST_LINE_ENDS:
            cell = cells.buffer[start:stop].tobytes()
            alike = sum(line.count(delimiter.encode()) == columns - 1 for line in cell.split(b"\n")[1:-1])
            if alike >= SHARE_ALIKE * (count - 1):
                return Swallowing(cells.record_start(k), start + len(cell) - len(cell.lstrip(BEFORE_CELL)), count)
    return None


class RecordEnds:
    """Where a file may be cut: behind a line end outside quotes. It looks at each byte once, and serves one file.

    There is no cut before the first record, so that the header, if there is one, is in the first chunk.
    """

    def __init__(self, delimiter: str, quoted: bool = True) -> None:
        self._delimiter = ord(delimiter)
        self._quoted, self._quoting = quoted, no_quotes(quoted)
        self._begun = False

    def __call__(self, text: np.ndarray, shown: int) -> int:
        end = int(last_record_end(text, shown, self._delimiter, self._quoting))
        self._begun = self._begun or bool(text[:end].tobytes().strip(BEHIND_CELL + b"\n"))
        if not self._begun:
            return 0
        if self._quoted:
            self._quoting -= end
        return end


class Top(NamedTuple):
    """The first record of a file: its cells, each with its place, and where it ends."""

    words: list[tuple[int, str]]
    stop: int
    lines: Lines


def first_record(file: str, delimiter: str, quoted: bool = True) -> Top:
    for chunk, cells in read_cells(file, delimiter, quoted):
        first, last = cells.first_record()
        if first < len(cells.breaks):
            lines = Lines(chunk, source_label(file), np.empty(0))
            if last + 1 == len(cells.breaks) and has_lone_returns(chunk.text.tobytes(), delimiter, quoted):
                raise lines.at(0, LONE_RETURNS)
            return Top(cells.words(first, last), int(cells.breaks[last]), lines)
        if cells.unclosed >= 0:
            raise unclosed_quote(cells, Lines(chunk, source_label(file), np.empty(0)))[0]
    raise BadSource(f"{source_label(file)}: is empty: there is no table in it")


def has_lone_returns(record: bytes, delimiter: str, quoted: bool) -> bool:
    """Whether a record seems to be many, whose lines CR alone ends: the first two have equally many cells.

    >>> has_lone_returns(b"a,b\\r1,2\\r", ",", True), has_lone_returns(b'"a\\rb",1', ",", True)
    (True, False)
    """
    text = QUOTED.sub(b"", record) if quoted else record
    cells = [line.count(delimiter.encode()) for line in text.strip().split(b"\r")[:2]]
    return len(cells) == 2 and cells[0] == cells[1] > 0


def read_cells(file: str, delimiter: str, quoted: bool = True) -> Iterator[tuple[Chunk, Cells]]:
    for chunk in chunks(file, ends=RecordEnds(delimiter, quoted)):
        yield chunk, cut_cells(chunk, delimiter, quoted)


def records_below(file: str, delimiter: str, rows: int, quoted: bool) -> Iterator[list[str]]:
    """The words of so many records below the first one."""
    records = (record for _, cells in read_cells(file, delimiter, quoted) for record in records_in(cells))
    return islice(records, 1, rows + 1)


def records_in(cells: Cells) -> Iterator[list[str]]:
    """The words of each record, blank ones aside."""
    return ([word for _, word in record] for record in placed_records_in(cells))


def placed_records_in(cells: Cells) -> Iterator[list[tuple[int, str]]]:
    """The words of each record with the places where they start, blank records aside."""
    k = 0
    while k < len(cells.breaks) and cells.breaks[k] < cells.stop:
        last = cells.record_break(k)
        record = cells.words(k, last)
        if len(record) > 1 or record[0][1]:
            yield record
        k = last + 1


def raw_records_in(cells: Cells) -> Iterator[list[bytes]]:
    """The cells of each record as they stand there, blank records aside."""
    place = 0
    while place < cells.stop:
        record = cells.raw_from(place)
        if len(record) > 1 or record[0].strip():
            yield record
        place += sum(map(len, record)) + len(record)
