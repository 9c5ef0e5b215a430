"""JSON lines: an object a line; a row means what the dict of its keys means.

The number ``39`` of the key ``age`` is the feature ``age`` with value 39, the text ``Bern`` of the key ``town`` the
feature ``town=Bern``; a text that is to be cut becomes its words, ``message=free`` and the like. What is null, or a
missing word, is ``town=?``: a hint, never a silent zero. The keys of an object within an object are joined with a dot,
and of a list of texts each is a feature of its own.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.whole_numbers import FIRST_INEXACT
from onlinear.errors import BadLine, BadLineKind, BadSource, OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.derived import check_crosses
from onlinear.features.naming import NO_ROWS, NamedRows, Naming, check_naming, with_columns
from onlinear.features.words import Words, check_words, grams_in
from onlinear.streams.columns import ABSENT, BLANKS, IS_ABSENT, MISSING, check_target_kind, join_names, missing_numbers
from onlinear.streams.csv_inference import ROWS
from onlinear.streams.jsonrecords import Wrong, byte_of, finite, has, lines_of, record_in, value_at, without_numbers
from onlinear.streams.options import DEFAULTS, ReadOptions
from onlinear.streams.sources import looks_at
from onlinear.streams.text_lines import Chunk, Lines, chunk_size, chunks
from onlinear.streams.texts import (
    TextEntries,
    cut_texts,
    hashes_of,
    is_missing,
    shorten_value,
    text_of,
    with_grams,
)

NO_VALUE = "{value} of {key!r} is neither a number nor a text nor a list of texts: mend it, or ignore the key"
NO_WORDS = "{value} of {key!r} is not a text to be cut into words: mend it, or do not have the key cut"
NO_LABEL = "the label, key {key!r}, is missing: fill it in, or leave the record out"
NO_NUMBER = "the label {value} is not a finite number, as other labels are: mend it"
NO_TEXT = "the label {value} is not a text, as other labels are: write all of them in quotes, or all as numbers"
BAD_WEIGHT = "the weight {value} is not a finite number of at least 0: mend it, or take another key"

#: held by the one thread that reads: two would fight for the interpreter, and take twice as long
READING = threading.Lock()


def renew_lock() -> None:
    """Take another lock, in a process that was forked: whoever held this one is not there."""
    global READING
    READING = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=renew_lock)


class Uncut(NamedTuple):
    """A text of a key, in the place of the names of its grams."""

    key: str
    text: str


class Records(NamedTuple):
    """The good records of a text: where each starts, and its features, one behind the other.

    ``groups`` are the keys that features come from, where there are crosses.
    """

    places: list[int]
    labels: list[Any]
    importance: list[float]
    stops: list[int]
    names: list[str | Uncut]
    values: list[float]
    groups: list[str]


@dataclass(frozen=True, slots=True)
class JSONLines:
    """The format: ``target`` is the key of the label (None: there is none), ``weight`` that of the importance.

    Unless ``valued``, a number among the missing texts says nothing of numbers: so older models know them.
    """

    target: str | None
    target_kind: str = "category"
    weight: str | None = None
    ignore: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    missing: tuple[str, ...] = MISSING
    naming: Naming = Naming()
    text: frozenset[str] = frozenset()
    words: Words = Words()
    valued: bool = True

    def __post_init__(self) -> None:
        check_naming(self.naming, of_table=False)
        check_words(self.words)
        check_target_kind(self.target_kind)

    def pieces(self, source: str) -> Iterator[Chunk]:
        return chunks(source, chunk_size(self.naming))

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
        found = Records([], [], [], [0], [], [], [])

        def label_at(place: int) -> int:
            line = chunk.text[place:].tobytes().partition(b"\n")[0]
            return place + byte_of(line, Wrong("", self.target))

        lines = Lines(chunk, source, np.empty(0, np.int64), label_at=label_at)
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
                bad.append((lines.at(place + byte_of(line, wrong), wrong.reason, wrong.kind), line))
                if stop_at_bad:
                    break
        return bad

    def _block(self, found: Records, lines: Lines, bad: list[tuple[BadLine, bytes]], stop_at_bad: bool) -> Block:
        words = self.target is not None and self.target_kind == "category"
        labels = np.array(found.labels, object if words or int in map(type, found.labels) else np.float64)
        block = Block(NO_ROWS, labels, np.array(found.importance), lines, bad, lines.chunk.read)

        def names_of(row: int) -> list[str]:
            names = found.names[found.stops[row] : found.stops[row + 1]]
            return [name for one in names for name in self._names_of(one)]

        starts, hashes, values, groups = self._entries(found)
        named = NamedRows(starts, hashes, values, names_of, lines.line, groups)
        return with_columns(block, named, self.naming, stop_at_bad)

    def _entries(self, found: Records) -> TextEntries:
        names = [name if isinstance(name, str) else "" for name in found.names]
        groups = hashes_of(found.groups) if self.naming.crosses else None
        rows = TextEntries(
            np.array(found.stops, np.int32), hashes_of(names), np.array(found.values, np.float64), groups
        )
        uncut = uncut_in(found.names) if self.text else {}
        cuts = [cut_texts(np.array(entries), texts, key, self.words) for key, (entries, texts) in uncut.items()]
        return with_grams(rows, cuts) if cuts else rows

    def _names_of(self, name: str | Uncut) -> list[str]:
        if isinstance(name, str):
            return [name]
        return [f"{name.key}={gram}" for gram in grams_in(name.text, self.words)]

    def _read(self, found: Records, place: int, line: bytes) -> None:
        """Add a record; all of it, or nothing."""
        names, values, groups = list[str | Uncut](), list[float](), list[str]()
        record = record_in(line)
        if self.valued and (numbers := missing_numbers(self.missing)):
            record = without_numbers(record, numbers)
        label = math.nan if self.target is None else self._label(value_at(record, self.target))
        importance = 1.0 if self.weight is None else self._importance(value_at(record, self.weight))
        if self.naming.crosses:
            for key, value in record.items():
                self._flatten({key: value}, "", names, values)
                groups += [key] * (len(names) - len(groups))
        else:
            self._flatten(record, "", names, values)
        found.places.append(place)
        found.labels.append(label)
        found.importance.append(importance)
        found.names.extend(names)
        found.values.extend(values)
        found.groups.extend(groups)
        found.stops.append(len(found.names))

    def _flatten(self, record: dict[str, Any], prefix: str, names: list[str | Uncut], values: list[float]) -> None:
        """Write down the features of an object whose keys begin with a prefix."""
        for name, value in record.items():
            key = prefix + name
            if key in self.ignore:
                continue
            kind = type(value)
            if key in self.text and value is not None:
                names.append(self._uncut(key, value))
                values.append(1.0)
            elif kind is str:
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

    def _uncut(self, key: str, value: Any) -> str | Uncut:
        """A text to be cut; numbers are texts, too, as they are in any text file."""
        if type(value) in (dict, list):
            raise Wrong(NO_WORDS.format(value=shorten_value(value), key=key), key)
        text = value if type(value) is str else text_of(finite(value, key) if type(value) is float else value)
        return f"{key}=?" if is_missing(text, self.missing) else Uncut(key, text)

    def _category(self, key: str, word: str) -> str:
        if is_missing(word, self.missing):
            return f"{key}=?"
        if word == ABSENT:
            raise Wrong(IS_ABSENT.format(name=key), key)
        return f"{key}={word}"

    def _word(self, key: str, word: Any) -> str:
        if type(word) is not str:
            raise Wrong(NO_VALUE.format(value=f"{shorten_value(word)} in the list", key=key), key)
        return self._category(key, word)

    def _label(self, value: Any) -> float | str:
        if is_absent(value, self.missing):
            raise Wrong(NO_LABEL.format(key=self.target), self.target, kind=BadLineKind.NO_LABEL)
        word = word_of(value, self.target in self.categories)
        if self.target_kind == "category":
            if word is None:
                raise Wrong(NO_TEXT.format(value=shorten_value(value)), self.target)
            return word
        if word is not None or type(value) not in (int, float):
            raise Wrong(NO_NUMBER.format(value=shorten_value(value)), self.target)
        number = finite(value, self.target)
        return value if abs(number) >= FIRST_INEXACT else number

    def _importance(self, value: Any) -> float:
        if type(value) not in (int, float) or not 0.0 <= value < math.inf:
            raise Wrong(BAD_WEIGHT.format(value=shorten_value(value)), self.weight)
        return finite(value, self.weight)


def uncut_in(names: Sequence[str | Uncut]) -> dict[str, tuple[list[int], list[str]]]:
    """The texts that are to be cut, by their keys: the entries that stand for them, and what they are."""
    found: dict[str, tuple[list[int], list[str]]] = {}
    for entry, name in enumerate(names):
        if isinstance(name, Uncut):
            entries, texts = found.setdefault(name.key, ([], []))
            entries.append(entry)
            texts.append(name.text)
    return found


def is_absent(value: Any, missing: Sequence[str]) -> bool:
    return value is None or (type(value) is str and is_missing(value, missing))


def word_of(value: Any, is_name: bool) -> str | None:
    """What a label says if it is a category, or if its numbers are names; otherwise None."""
    if type(value) is str:
        return value.strip(BLANKS)
    if type(value) is bool or (is_name and type(value) in (int, float) and abs(value) < math.inf):
        return text_of(value)
    return None


def infer_keys(files: Sequence[str], options: ReadOptions = DEFAULTS, *, rows: int = ROWS) -> JSONLines:
    """The format of files by a look at their first records: always as many, however the files are read."""
    records = list(islice(first_records(looks_at(files)), rows))
    if not any(records):
        raise nothing_in(looks_at(files))
    target, weight = options.target, options.weight
    if target is None:
        first = next(filter(None, records))
        raise OnlinearError(
            f"the target is not named: name its key, of which the first record has {join_names(list(first))}"
        )
    roles = {
        "target": [target],
        "weight": [] if weight is None else [weight],
        "text": options.text,
        "ignore": options.ignore,
    }
    chosen = {role: list(map(str, keys)) for role, keys in roles.items()}
    check_keys(records, chosen, options.naming)
    names = frozenset(map(str, options.categories))
    numbers = missing_numbers(options.missing)
    labels = [value_at(without_numbers(record, numbers), str(target)) for record in records]
    said = [word_of(label, str(target) in names) for label in labels if not is_absent(label, options.missing)]
    kind = "category" if not said or any(word is not None for word in said) else "number"
    importance = None if weight is None else str(weight)
    cut, ignored = frozenset(chosen["text"]), frozenset(chosen["ignore"])
    return JSONLines(str(target), kind, importance, ignored, names, options.missing, options.naming, cut, options.words)


def check_keys(records: Sequence[dict[str, Any]], chosen: Mapping[str, Sequence[str]], naming: Naming) -> None:
    """Refuse roles and crosses of keys that no record has, and two roles for one key."""
    keys = list(dict.fromkeys(key for record in records for key in record))
    roles: dict[str, str] = {}
    for role, named in chosen.items():
        for key in named:
            if role != "ignore" and not any(has(record, key) for record in records):
                raise OnlinearError(f"there is no key {key!r} in the first records: their keys are {join_names(keys)}")
            if roles.setdefault(key, role) != role:
                raise OnlinearError(f"key {key!r} cannot be {roles[key]} and {role} at once: choose one")
    aside = {key for key, role in roles.items() if role != "text"}
    check_crosses(naming.crosses, [key for key in keys if key not in aside], "key")


def first_records(files: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The records of files; one that is wrong is empty."""
    for file in files:
        for chunk in chunks(file):
            for _, line in lines_of(chunk):
                try:
                    yield record_in(line)
                except Wrong:
                    yield {}


def nothing_in(files: Sequence[str]) -> OnlinearError:
    """Why files have no record to look at: the first bad line, if there is one."""
    for file in files:
        for chunk in chunks(file):
            for line, _ in JSONLines(None).parse(chunk, file, stop_at_bad=True).bad:
                return line
    return BadSource(f"{files[0]}: is empty: there is no record in it")
