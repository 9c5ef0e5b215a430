"""CSV and its kin: a record a line, a cell a column; a row means what the dict of its cells means.

The number ``39`` in the column ``age`` is the feature ``age`` with value 39, the category ``Bern`` in the column
``town`` the feature ``town=Bern``; a text in the column ``message`` is cut into words, ``message=free`` and the like. A
cell that is missing is ``town=?``, for numbers too: a hint, never a silent zero. Blanks around a cell do not count,
within its quotes or without.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from onlinear.data.whole_numbers import whole_of, with_exact
from onlinear.errors import BadLine, BadLineKind, OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.naming import NO_ROWS, NamedRows, Naming, with_columns
from onlinear.features.words import Words, grams_in
from onlinear.kernels.text import csv as kernel
from onlinear.kernels.text.grams import Grams, room_for_grams
from onlinear.kernels.text.parsed import BREAK, ENTRIES, NEXT, ROWS
from onlinear.streams.columns import (
    BLANKS,
    FEATURE_KINDS,
    IS_ABSENT,
    MISSING,
    ROLES,
    Column,
    bare,
    check_table,
    kind_now,
    kinds_for,
    missing_numbers,
    names_of_kind,
)
from onlinear.streams.csv_cells import (
    MOST_LINE_ENDS,
    Cells,
    RecordEnds,
    Swallowing,
    cell_text,
    cut_cells,
    find_swallowing,
    first_record,
    strip_quotes,
    unclosed_quote,
)
from onlinear.streams.sources import looks_at
from onlinear.streams.text_lines import Chunk, Lines, chunk_size, chunks, own_room, read_lines
from onlinear.streams.texts import grams_for

KINDS = {
    "number": kernel.NUMBER,
    "category": kernel.CATEGORY,
    "text": kernel.TEXT,
    "target": kernel.NUMBER_TARGET,
    "weight": kernel.WEIGHT,
    "ignore": kernel.IGNORED,
}
NOT_UTF_8 = "there is a byte here that is not UTF-8: convert the file to UTF-8"
REASONS = {
    kernel.WRONG_COUNT: "this record has {cells}, {model} {columns}: mend it, and quote cells with a {delimiter} "
    "in them",
    kernel.AFTER_QUOTE: "the cell goes on behind its closing quote: double the quotes within a quoted cell",
    kernel.NOT_NUMBER: "{word!r} in the number column {name!r} is not a finite number: mend it, or make the column "
    "a category",
    kernel.NO_LABEL: "the label, column {name!r}, is missing: fill it in, or leave the record out",
    kernel.BAD_LABEL: "the label {word!r} is not a finite number: mend it, or make the target a category",
    kernel.BAD_WEIGHT: "the weight {word!r} is not a finite number of at least 0: mend it, or take another column",
    kernel.ZERO_BYTE: "there is a zero byte in this record: is it a text file?",
    kernel.NOT_UTF_8: NOT_UTF_8,
    kernel.IS_ABSENT: IS_ABSENT,
}
DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}


@dataclass(frozen=True, slots=True)
class CSVText:
    """The format.

    Unless categories are ``trimmed``, blanks within their quotes count; unless ``valued``, a number among the missing
    texts stands for itself alone, and not for all that are equal: so older models know them.
    """

    columns: tuple[Column, ...]
    target_kind: str = "category"
    delimiter: str = ","
    missing: tuple[str, ...] = MISSING
    naming: Naming = Naming()
    header: bool = True
    words: Words = Words()
    quoted: bool = True
    trimmed: bool = True
    valued: bool = True

    def __post_init__(self) -> None:
        check_delimiter(self.delimiter)
        check_table(self.columns, self.naming, self.words, self.target_kind)
        for missing in self.missing:
            if '"' in missing or missing != missing.strip(BLANKS):
                raise OnlinearError(f"{missing!r} can be no missing cell: take a word without quotes or blanks around")

    def numbers(self) -> list[str]:
        """The names of the number columns."""
        return names_of_kind(self.columns, "number")

    def pieces(self, source: str) -> Iterator[Chunk]:
        return chunks(source, chunk_size(self.naming), RecordEnds(self.delimiter, self.quoted))

    def adapted(self, sources: Sequence[str], labelled: bool) -> CSVText:
        """The same for other files, whose columns are found by the names in the header, or else by their number."""
        names = [name for _, name in first_record(looks_at(sources)[0], self.delimiter, self.quoted).words]
        if not self.header:
            return replace(self, columns=self._by_number(len(names), labelled, sources[0]))
        kinds = kinds_for(dict(self.columns), names, labelled, sources[0])
        return replace(self, columns=tuple(map(Column, names, kinds)))

    def _by_number(self, width: int, labelled: bool, source: str) -> tuple[Column, ...]:
        """As many columns as records have cells: all of them, or those but the target, or but the weight too."""
        for left_out in ((),) if labelled else ((), ROLES[:1], ROLES):
            columns = [column for column in self.columns if column.kind not in left_out]
            if len(columns) == width:
                return tuple(Column(name, kind_now(kind, labelled)) for name, kind in columns)
        known = len(self.columns)
        raise OnlinearError(f"{source}: the first record has {width} cells, not {known}: has it the same columns?")

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block:
        """The rows of a chunk; after a bad record none, or all but the bad ones."""
        cells = cut_cells(chunk, self.delimiter, self.quoted)
        plan = plan_for(self.columns, self.target_kind, self.missing, self.quoted, self.trimmed, self._missing_numbers)
        found = self._room(cells)
        lines = Lines(
            chunk,
            source,
            found.places,
            lambda place: cut_cells(chunk, self.delimiter, self.quoted).record_from(place),
            lambda place: cut_cells(chunk, self.delimiter, self.quoted).cell_from(place, self._target_place),
        )
        if self.header and chunk.first_line == 1:
            found.counts[BREAK], found.counts[NEXT] = self._behind_header(cells, lines)

        def read() -> None:
            kernel.parse_table(cells.buffer, cells.stop, cells.breaks, cells.strange, plan, found)

        def explain(code: int, where: int) -> tuple[BadLine, bytes]:
            start, reason = int(found.counts[kernel.START]), self._reason(code, where, cells, found.counts)
            kind = BadLineKind.NO_LABEL if code == kernel.NO_LABEL else BadLineKind.UNREADABLE
            return lines.at(where, reason, kind), cells.record_from(start)

        bad = read_lines(read, explain, found.counts, cells.stop, stop_at_bad)
        if cells.unclosed >= 0 and not (bad and stop_at_bad):
            bad.append(unclosed_quote(cells, lines))
        rows, entries = found.counts[ROWS], found.counts[ENTRIES]
        swallowed = None
        if self.quoted and chunk.line_ends - rows - len(bad) > MOST_LINE_ENDS:  # there are cells of several lines
            swallowed = find_swallowing(cells, self.delimiter, len(self.columns))
        block = Block(NO_ROWS, self._labels(found, cells), found.importance[:rows], lines, bad, chunk.read)

        hashes, values = found.hashes[:entries], found.values[:entries]
        if self.naming.remembers:  # this thread will have read more when they are looked at
            hashes, values, cells = hashes.copy(), values.copy(), cells._replace(breaks=cells.breaks.copy())

        def names_of(row: int) -> list[str]:
            return self._names_in(cells.raw_from(int(found.places[row])))

        def cells_of(place: int, which: np.ndarray) -> list[str]:
            return [strip_quotes(cell, self.quoted) for cell in cells.raw_column(found.places[which], place)]

        named = NamedRows(found.starts[: rows + 1], hashes, values, names_of, cells.record_from, found.groups, cells_of)
        block = with_columns(block, named, self.naming, stop_at_bad)
        return block if swallowed is None else before_swallowing(block, swallowed, lines, stop_at_bad)

    @property
    def _missing_numbers(self) -> tuple[float, ...]:
        """The numbers that stand for nothing in columns of numbers."""
        return tuple(map(float, missing_numbers(self.missing))) if self.valued else ()

    @property
    def _target_place(self) -> int:
        """Which cell of a record has the label; the first one, if there is none."""
        return next((place for place, column in enumerate(self.columns) if column.kind == "target"), 0)

    def _room(self, cells: Cells) -> kernel.Table:
        """Room for the rows of a text: an entry for each cell, and the grams of texts."""
        entries, grams = len(cells.breaks) + 1, None
        if any(column.kind == "text" for column in self.columns):
            most = room_for_grams(cells.stop, 0, self.words.ngrams)
            entries, grams = entries + most, grams_for(self.words, most)
        return room_for(len(cells.breaks) // len(self.columns) + 2, entries, self.naming.grouped, grams)

    def _names_in(self, raw: list[bytes]) -> list[str]:
        """The names of the features of a good record, in order."""
        cells = zip(self.columns, raw, strict=True)
        return [name for column, cell in cells if column.kind in FEATURE_KINDS for name in self._names_of(column, cell)]

    def _names_of(self, column: Column, cell: bytes) -> list[str]:
        text = cell_text(cell, self.quoted)
        if text in self.missing or (column.kind == "number" and float(text) in self._missing_numbers):
            return [f"{column.name}=?"]
        if column.kind == "text":
            return [f"{column.name}={gram}" for gram in grams_in(text, self.words)]
        if column.kind == "number":
            return [column.name]
        said = strip_quotes(cell, self.quoted)
        return [f"{column.name}={bare(said) if self.trimmed else said}"]

    def _labels(self, found: kernel.Table, cells: Cells) -> np.ndarray:
        rows = found.counts[ROWS]
        if self.target_kind == "category" and any(column.kind == "target" for column in self.columns):
            return words_of(found, cells)[found.codes[:rows]]
        place = next((k for k, column in enumerate(self.columns) if column.kind == "target"), None)
        if place is None:
            return found.labels[:rows]

        def written(which: np.ndarray) -> list[float]:
            return [whole_of(cell_text(cell, self.quoted)) for cell in cells.raw_column(found.places[which], place)]

        return with_exact(found.labels[:rows], written)

    def _reason(self, code: int, where: int, cells: Cells, counts: np.ndarray) -> str:
        count, column = int(counts[kernel.CELLS]), int(counts[kernel.COLUMN])
        return REASONS[code].format(
            cells=f"{count} cell{'s' * (count != 1)}",
            model="the header" if self.header else "the first one",
            columns=len(self.columns),
            delimiter=DELIMITERS.get(self.delimiter, repr(self.delimiter)),
            word=cells.shown(where),
            name=self.columns[min(column, len(self.columns) - 1)].name,
        )

    def _behind_header(self, cells: Cells, lines: Lines) -> tuple[int, int]:
        """The first break behind the header, and where its record starts; the header has to be as it should."""
        first, last = cells.first_record()
        if first == len(cells.breaks):
            return first, cells.stop
        names = cells.words(first, last)
        for (place, name), column in zip(names, self.columns, strict=False):
            if name != column.name:
                reason = f"the header has {name!r} where {column.name!r} should be: are all files of the same kind?"
                raise lines.at(place, reason)
        if len(names) != len(self.columns):
            reason = f"the header has {len(names)} cells, not {len(self.columns)}: are all files of the same kind?"
            raise lines.at(names[0][0], reason)
        return last + 1, int(cells.breaks[last]) + 1


def before_swallowing(block: Block, found: Swallowing, lines: Lines, stop_at_bad: bool) -> Block:
    """The rows before a cell that has swallowed records, and the bad lines; it is the last of these."""
    first_line = lines.at(found.record, "").line
    block = block.split(int((block.origin.places[: len(block)] < found.record).sum()))[0]
    block.bad = [(line, text) for line, text in block.bad if line.line < first_line]
    if not (block.bad and stop_at_bad):
        block.bad.append(found.bad_line(lines))
    return block


def check_delimiter(delimiter: Any) -> None:
    is_character = isinstance(delimiter, str) and len(delimiter) == 1
    if not is_character or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n .+-\0':
        raise OnlinearError(f"{delimiter!r} is no delimiter: take one character, such as a comma or a tab")


@lru_cache
def plan_for(
    columns: tuple[Column, ...],
    target_kind: str,
    missing: tuple[str, ...],
    quoted: bool,
    trimmed: bool,
    numbers: tuple[float, ...],
) -> kernel.Plan:
    kinds = [KINDS[column.kind] for column in columns]
    if target_kind == "category":
        kinds = [kernel.CATEGORY_TARGET if kind == kernel.NUMBER_TARGET else kind for kind in kinds]
    return kernel.plan_of([column.name for column in columns], kinds, missing, quoted, trimmed, numbers)


class _CategoryMemory(threading.local):
    """The categories that each thread has seen lately."""

    def __init__(self) -> None:
        self.memo = np.zeros((1 << kernel.MEMO_BITS, 4), np.uint64)


_memory = _CategoryMemory()


def room_for(rows: int, entries: int, groups: bool, grams: Grams | None) -> kernel.Table:
    """Room for so many rows and entries, and for the groups of these if they are asked for.

    Hashes and values are there until the same thread reads the next text.
    """
    return kernel.Table(
        np.empty(rows, np.int32),
        own_room("hashes", entries, np.uint64),
        own_room("values", entries, np.float64),
        np.empty(rows),
        np.empty(rows, np.int32),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.full(kernel.SLOTS, -1, np.int32),
        _memory.memo,
        np.empty(rows),
        np.empty(rows, np.int64),
        np.zeros(kernel.COUNTS, np.int64),
        np.empty(entries, np.uint64) if groups else None,
        grams,
    )


def words_of(found: kernel.Table, cells: Cells) -> np.ndarray:
    """The labels that were written down."""
    count = found.counts[kernel.CODES]
    words = np.empty(count, object)
    for code, (start, stop) in enumerate(zip(found.label_starts[:count], found.label_stops[:count], strict=True)):
        words[code] = cell_text(cells.buffer[start:stop].tobytes(), cells.quoted)
    return words
