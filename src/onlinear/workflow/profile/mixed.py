"""Columns of CSV files whose numbers become categories: told before anything is learned of them.

A few words among the numbers do that, or numbers as people write them, with decimal commas or a currency.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from onlinear.errors import BadLine
from onlinear.streams.cells import texts
from onlinear.streams.csvtext import CSVText
from onlinear.streams.headers import NUMBERS, TEXTS, placed_records_in
from onlinear.streams.inference import ROWS, looked_at, position_of
from onlinear.streams.lines import Lines
from onlinear.streams.pipes import looks_at
from onlinear.workflow.profile.misread import is_number, misread

#: cells that are looked at one by one: of a wide table fewer rows
MOST_CELLS = 1_000_000
#: records by which a column without any number is judged: it holds numbers as people write them from the first on
SOME = 100

#: the different words of a column, and where each stands first
Words = dict[str, tuple[Lines, int]]


def mixed_columns(table: CSVText, files: Sequence[str], categories: Sequence[str | int] = ()) -> list[BadLine]:
    """The first word in each column that holds numbers but for a few words, and what to do about it.

    As many records are looked at as for the columns' kinds. ``categories`` are meant to be names.
    """
    names, files = [column.name for column in table.columns], looks_at(files)
    counts = looked_at(files, table.delimiter, table.header, table.missing, ROWS, table.quoted).counts
    meant = {position_of(names, column) for column in categories}
    named = [
        place
        for place, (name, kind) in enumerate(table.columns)
        if counts[place, TEXTS]
        and place not in meant
        and (table.target_kind if kind == "target" else kind) == "category"
    ]
    mixed = [place for place in named if counts[place, NUMBERS]]
    others = [place for place in named if not counts[place, NUMBERS]]
    words = dict(zip(mixed, words_in(table, files, mixed, ROWS), strict=True))
    words |= zip(others, words_in(table, files, others, SOME), strict=True)
    return [line for place in named for line in describe_mixed_column(names[place], words[place], table.missing)]


def has_mixed_target(table: CSVText, files: Sequence[str]) -> bool:
    """Whether words among numbers make the target one of names."""
    if table.target_kind == "number":
        return False
    counts = looked_at(looks_at(files), table.delimiter, table.header, table.missing, ROWS, table.quoted).counts
    return bool(counts[[kind == "target" for _, kind in table.columns], NUMBERS].any())


def describe_mixed_column(name: str, words: Words, missing: Sequence[str]) -> Iterator[BadLine]:
    """What is to be said of a column of these words, at the first that is no number."""
    sentence = misread(name, words, missing)
    if sentence is not None:
        lines, place = next(where for word, where in words.items() if not is_number(word))
        yield lines.at(place, f"{sentence} Or have such lines refused (--number {name}).")


def words_in(table: CSVText, files: Sequence[str], columns: Sequence[int], most: int) -> list[Words]:
    """The different words of some columns in so many first records."""
    found: list[Words] = [{} for _ in columns]
    rows = min(most, MOST_CELLS // len(table.columns)) if columns else 0
    for file in files:
        for chunk, cells in texts(file, table.delimiter, table.quoted):
            lines, first = Lines(chunk, file, np.empty(0)), int(table.header and chunk.first_line == 1)
            for number, record in enumerate(placed_records_in(cells)):
                if rows == 0:
                    return found
                if number >= first and len(record) == len(table.columns):
                    rows -= 1
                    for words, (place, word) in zip(found, (record[column] for column in columns), strict=True):
                        if word not in table.missing:
                            words.setdefault(word, (lines, place))
    return found
