"""JSON lines: an object a line; a row means what the dict of its keys means.

The number ``39`` of the key ``age`` is the feature ``age`` with value 39, the text ``Bern`` of the key ``town`` the
feature ``town=Bern``. What is null, or a missing word, is ``town=?``: a hint, never a silent zero. The keys of an
object within an object are joined with a dot, and of a list of texts each is a feature of its own.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import BadLine, BadSource, OnlinearError
from onlinear.streams.blocks import Block
from onlinear.streams.cells import BLANKS
from onlinear.streams.csvtext import MISSING
from onlinear.streams.inference import ROWS, listed
from onlinear.streams.jsonrecords import Wrong, byte_of, finite, has, lines_of, record_in, taken
from onlinear.streams.lines import Lines
from onlinear.streams.naming import NO_ROWS, NamedRows, Naming, with_columns
from onlinear.streams.sources import Chunk, chunks
from onlinear.streams.standard_input import looks_at
from onlinear.streams.words import hashes_of, is_missing, shown, text_of

NO_VALUE = "{value} of {key!r} is neither a number nor a text nor a list of texts: mend it, or ignore the key"
TOO_DEEP = "objects lie too deep within each other: flatten them"
NO_LABEL = "the label, key {key!r}, is missing: fill it in, or leave the record out"
NO_NUMBER = "the label {value} is not a finite number, as those before it: mend it"
NO_TEXT = "the label {value} is not a text, as those before it: write it in quotes"
BAD_WEIGHT = "the weight {value} is not a finite number of at least 0: mend it, or take another key"

#: held by the one thread that reads: two would fight for the interpreter, and take twice as long
READING = threading.Lock()


class Records(NamedTuple):
    """The good records of a text: where each starts, and its features, one behind the other."""

    places: list[int]
    labels: list[Any]
    importance: list[float]
    stops: list[int]
    names: list[str]
    values: list[float]


@dataclass(frozen=True, slots=True)
class JSONLines:
    """The format: ``target`` is the key of the label (None: there is none), ``weight`` that of the importance."""

    target: str | None
    target_kind: str = "category"
    weight: str | None = None
    ignore: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    missing: tuple[str, ...] = MISSING
    naming: Naming = Naming()

    def pieces(self, source: str) -> Iterator[Chunk]:
        return chunks(source)

    def numbers(self) -> list[str]:
        """None: any record may have keys of its own."""
        return []

    def adapted(self, sources: Sequence[str], labelled: bool) -> JSONLines:
        """The same for other files; if they need not be labelled, neither label nor weight is looked at."""
        if labelled:
            return self
        aside = self.ignore | {key for key in (self.target, self.weight) if key is not None}
        return replace(self, target=None, weight=None, ignore=aside)

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block:
        """The rows of a chunk; after a bad line none, or all but the bad ones."""
        found = Records([], [], [], [0], [], [])
        lines = Lines(chunk, source, np.empty(0, np.int64))
        with READING:
            bad = self._read_all(found, lines, stop_at_bad)
        lines.places = np.array(found.places, np.int64)
        return self._block(found, lines, bad, stop_at_bad)

    def _read_all(self, found: Records, lines: Lines, stop_at_bad: bool) -> list[tuple[BadLine, bytes]]:
        bad = []
        for place, line in lines_of(lines.chunk):
            try:
                self._read(found, place, line)
            except Wrong as wrong:
                bad.append((lines.at(place + byte_of(line, wrong), wrong.reason), line))
                if stop_at_bad:
                    break
        return bad

    def _block(self, found: Records, lines: Lines, bad: list[tuple[BadLine, bytes]], stop_at_bad: bool) -> Block:
        words = self.target is not None and self.target_kind == "category"
        labels = np.array(found.labels, object if words else np.float64)
        block = Block(NO_ROWS, labels, np.array(found.importance), lines, bad, lines.chunk.read)

        def names_of(row: int) -> list[str]:
            return found.names[found.stops[row] : found.stops[row + 1]]

        starts, values = np.array(found.stops, np.int32), np.array(found.values, np.float64)
        named = NamedRows(starts, hashes_of(found.names), values, names_of, lines.line)
        return with_columns(block, named, self.naming, stop_at_bad)

    def _read(self, found: Records, place: int, line: bytes) -> None:
        """Add a record; all of it, or nothing."""
        try:
            record, names, values = record_in(line), list[str](), list[float]()
            label = math.nan if self.target is None else self._label(taken(record, self.target))
            importance = 1.0 if self.weight is None else self._importance(taken(record, self.weight))
            self._flatten(record, "", names, values)
        except RecursionError:
            raise Wrong(TOO_DEEP) from None
        found.places.append(place)
        found.labels.append(label)
        found.importance.append(importance)
        found.names.extend(names)
        found.values.extend(values)
        found.stops.append(len(found.names))

    def _flatten(self, record: dict[str, Any], prefix: str, names: list[str], values: list[float]) -> None:
        """Write down the features of an object whose keys begin with a prefix."""
        for name, value in record.items():
            key = prefix + name
            if key in self.ignore:
                continue
            kind = type(value)
            if kind is str:
                names.append(self._category(key, value))
                values.append(1.0)
            elif kind is dict:
                self._flatten(value, f"{key}.", names, values)
            elif kind is list:
                words = [self._word(key, word) for word in value]
                names += words
                values += [1.0] * len(words)
            elif value is None:
                names.append(f"{key}=?")
                values.append(1.0)
            else:
                number = finite(value, key)
                is_name = key in self.categories
                names.append(f"{key}={text_of(value)}" if is_name else key)
                values.append(1.0 if is_name else number)

    def _category(self, key: str, word: str) -> str:
        return f"{key}=?" if is_missing(word, self.missing) else f"{key}={word}"

    def _word(self, key: str, word: Any) -> str:
        if type(word) is not str:
            raise Wrong(NO_VALUE.format(value=f"{shown(word)} in the list", key=key), key)
        return self._category(key, word)

    def _label(self, value: Any) -> float | str:
        if is_absent(value, self.missing):
            raise Wrong(NO_LABEL.format(key=self.target), self.target)
        word = word_of(value, self.target in self.categories)
        if self.target_kind == "category":
            if word is None:
                raise Wrong(NO_TEXT.format(value=shown(value)), self.target)
            return word
        if word is not None or type(value) not in (int, float):
            raise Wrong(NO_NUMBER.format(value=shown(value)), self.target)
        return finite(value, self.target)

    def _importance(self, value: Any) -> float:
        if type(value) not in (int, float) or not 0.0 <= value < math.inf:
            raise Wrong(BAD_WEIGHT.format(value=shown(value)), self.weight)
        return finite(value, self.weight)


def is_absent(value: Any, missing: Sequence[str]) -> bool:
    return value is None or (type(value) is str and is_missing(value, missing))


def word_of(value: Any, is_name: bool) -> str | None:
    """What a label says if it is a category, or if its numbers are names; otherwise None."""
    if type(value) is str:
        return value.strip(BLANKS)
    if type(value) is bool or (is_name and type(value) in (int, float) and abs(value) < math.inf):
        return text_of(value)
    return None


def infer_keys(
    files: Sequence[str],
    *,
    target: str | int | None,
    weight: str | int | None = None,
    ignore: Sequence[str | int] = (),
    categories: Sequence[str | int] = (),
    rows: int = ROWS,
    missing: tuple[str, ...] = MISSING,
    naming: Naming = Naming(),
) -> JSONLines:
    """The format of files by a look at their first records: always as many, however the files are read."""
    records = list(islice(first_records(looks_at(files)), rows))
    if not any(records):
        raise nothing_in(looks_at(files))
    keys = list(dict.fromkeys(key for record in records for key in record))
    if target is None:
        first = next(filter(None, records))
        raise OnlinearError(
            f"the target is not named: name its key, of which the first record has {listed(list(first))}"
        )
    for key in (target, weight):
        if key is not None and not any(has(record, str(key)) for record in records):
            raise OnlinearError(f"there is no key {str(key)!r} in the first records: their keys are {listed(keys)}")
    names = frozenset(map(str, categories))
    labels = [taken(record, str(target)) for record in records]
    words = [word_of(label, str(target) in names) for label in labels if not is_absent(label, missing)]
    kind = "category" if not words or any(word is not None for word in words) else "number"
    chosen = None if weight is None else str(weight)
    return JSONLines(str(target), kind, chosen, frozenset(map(str, ignore)), names, missing, naming)


def first_records(files: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The records of files; one that is wrong is empty."""
    for file in files:
        for chunk in chunks(file):
            for _, line in lines_of(chunk):
                try:
                    yield record_in(line)
                except (Wrong, RecursionError):
                    yield {}


def nothing_in(files: Sequence[str]) -> OnlinearError:
    """Why files have no record to look at: the first bad line, if there is one."""
    for file in files:
        for chunk in chunks(file):
            for line, _ in JSONLines(None).parse(chunk, file, stop_at_bad=True).bad:
                return line
    return BadSource(f"{files[0]}: is empty: there is no record in it")
