"""CSV again: slow and obvious, a byte at a time, with Python's own ``float``.

The specification in a page. A record ends at a line feed outside quotes, a cell at a delimiter outside quotes. A quote
opens where a cell starts, blanks aside; within quotes two stand for one. Blanks around a cell do not count, within its
quotes or without, unless an older model knows categories with those within. A text is cut into words, and each run of a
few words is a feature.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import NamedTuple

from onlinear.features.words import Words
from slow_parsers import Feature, label_of, number

QUOTE, LINE_FEED = ord('"'), ord("\n")


class Cell(NamedTuple):
    line: int
    column: int
    text: bytes  # as it stands in the file, without the blanks around it
    is_quoted: bool
    goes_on: bool  # behind the closing quote

    @property
    def said(self) -> bytes:
        """The cell's text: what is within the quotes, verbatim."""
        return self.text[1:-1].replace(b'""', b'"') if self.is_quoted else self.text

    @property
    def bare(self) -> bytes:
        return stripped(self.said)

    @property
    def label(self) -> str:
        """The name of a class, which begins and ends with no blank; a carriage return is one, wherever it stands."""
        return self.said.strip(b" \t\r").decode()


class Record(NamedTuple):
    raw: bytes
    line: int
    cells: list[Cell]
    unclosed: tuple[int, int] | None = None  # line and column of the quote


class Wrong(NamedTuple):
    line: int
    column: int
    raw: bytes


class Row(NamedTuple):
    x: dict[str, float | str]  # texts aside
    label: float | str
    importance: float
    features: list[Feature]
    place: Wrong  # what to say if they cannot be


def stripped(text: bytes) -> bytes:
    return text.lstrip(b" \t").rstrip(b" \t\r")


def records(text: bytes, delimiter: bytes) -> list[Record]:
    """All records of a text, blank ones too."""
    found, at = [], 0
    while at < len(text):
        record, at = record_at(text, at, delimiter)
        found.append(record)
    return found


def record_at(text: bytes, start: int, delimiter: bytes) -> tuple[Record, int]:
    """The record at a place, and where the next one starts."""
    cells, at = [], start
    while True:
        end, quote = cell_end(text, at, delimiter)
        if quote is not None and end is None:
            raw = text[start:]
            return Record(raw, 0, [], place_of(text, quote)), len(text)
        assert end is not None
        cells.append(cell_between(text, at, end))
        if end >= len(text) or text[end] == LINE_FEED:
            return Record(text[start:end].removesuffix(b"\r"), place_of(text, start)[0], cells), end + 1
        at = end + 1


def cell_end(text: bytes, start: int, delimiter: bytes) -> tuple[int | None, int | None]:
    """Where the cell that starts at a place ends (None: never), and where its quote opens, if it does."""
    at = start
    while at < len(text) and text[at : at + 1] in (b" ", b"\t") and text[at : at + 1] != delimiter:
        at += 1
    quote = None
    if at < len(text) and text[at] == QUOTE:
        quote = at
        at += 1
        while True:
            if at >= len(text):
                return None, quote
            if text[at] == QUOTE and text[at + 1 : at + 2] == b'"':
                at += 2
            elif text[at] == QUOTE:
                break
            else:
                at += 1
        at += 1
    while at < len(text) and text[at] != LINE_FEED and text[at : at + 1] != delimiter:
        at += 1
    return at, quote


def cell_between(text: bytes, start: int, end: int) -> Cell:
    cell = text[start:end]
    line, column = place_of(text, start + len(cell) - len(cell.lstrip(b" \t")))
    cell = stripped(cell)
    is_quoted = cell.startswith(b'"')
    goes_on = False
    if is_quoted:
        rest = cell[1:].replace(b'""', b"xx")
        goes_on = rest.index(b'"') + 1 < len(rest)
    return Cell(line, column, cell, is_quoted, goes_on)


def place_of(text: bytes, at: int) -> tuple[int, int]:
    """Line and column of a byte."""
    return text.count(b"\n", 0, at) + 1, at - (text.rfind(b"\n", 0, at) + 1) + 1


def table(
    text: bytes,
    columns: list[tuple[str, str]],
    target_kind: str = "category",
    delimiter: bytes = b",",
    missing: tuple[bytes, ...] = (b"", b"?", b"NA"),
    header: bool = True,
    words: Words = Words(),
    trimmed: bool = True,
) -> list[Row | Wrong]:
    """The rows of a table, and what is wrong with the records that are none."""
    found = [record for record in records(text, delimiter) if not is_blank(record)]
    return [row_of(record, columns, target_kind, missing, words, trimmed) for record in found[1 if header else 0 :]]


def is_blank(record: Record) -> bool:
    return record.unclosed is None and len(record.cells) == 1 and not record.cells[0].text


def row_of(
    record: Record,
    columns: list[tuple[str, str]],
    target_kind: str,
    missing: tuple[bytes, ...],
    words: Words,
    trimmed: bool,
) -> Row | Wrong:
    if record.unclosed:
        return Wrong(*record.unclosed, record.raw)
    strange = strange_byte(record.raw)
    if strange is not None:
        line, column = place_of(record.raw, strange)
        return Wrong(record.line + line - 1, column, record.raw)
    cells = record.cells
    if len(cells) != len(columns):
        culprit = cells[len(columns)] if len(cells) > len(columns) else cells[0]
        return Wrong(culprit.line, culprit.column, record.raw)
    x: dict[str, float | str] = {}
    features: list[Feature] = []
    label: float | str = math.nan
    importance = 1.0
    for cell, (name, kind) in zip(cells, columns, strict=True):
        wrong = Wrong(cell.line, cell.column, record.raw)
        if kind == "ignore":
            continue
        if cell.goes_on:
            return wrong
        is_missing, value = cell.bare in missing, number(cell.bare)
        if kind == "text":
            counts = [("?", 1.0)] if is_missing else grams(cell.said.decode(), words)
            features += [Feature(name, f"{name}={gram}", count) for gram, count in counts]
            continue
        if kind in ("number", "category") and is_missing:
            x[name] = "?"
        elif kind == "category" and cell.said == b"?":
            return wrong  # a missing cell has this name
        elif kind == "category":
            x[name] = (cell.bare if trimmed else cell.said).decode()
        elif kind == "target" and target_kind == "category" and not is_missing:
            label = cell.label
        elif is_missing or not math.isfinite(value) or (kind == "weight" and value < 0):
            return wrong
        elif kind == "number":
            x[name] = value
        elif kind == "target":
            label = label_of(cell.bare)
        else:
            importance = value
        if name in x:
            said = x[name]
            features.append(
                Feature(name, f"{name}={said}", 1.0) if isinstance(said, str) else Feature(name, name, said)
            )
    return Row(x, label, importance, features, Wrong(record.line, 1, record.raw))


def grams(text: str, words: Words) -> list[tuple[str, float]]:
    """The grams of a text with their values, in the order in which they end for the first time."""
    found, word = [], ""
    for character in text + " ":
        if character.isalnum() or character == "_" or ord(character) >= 0x10000:
            small = character.lower()
            word += small if words.lower and len(small) == 1 and ord(small) < 0x10000 else character
        elif word:
            found.append(word)
            word = ""
    runs = [
        " ".join(found[last - size + 1 : last + 1])
        for last in range(len(found))
        for size in range(1, words.ngrams + 1)
        if size <= last + 1
    ]
    counts = {run: 1 if words.presence else count for run, count in Counter(runs).items()}
    length = math.sqrt(sum(count * count for count in counts.values())) if words.unit else 1.0
    return [(run, count / length) for run, count in counts.items()]


def strange_byte(raw: bytes) -> int | None:
    """Where a byte is zero, or not UTF-8, whichever comes first."""
    places = [raw.index(0)] if 0 in raw else []
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        places.append(error.start)
    return min(places, default=None)
