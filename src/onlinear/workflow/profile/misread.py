"""Columns of numbers that are read as texts: some cells hold words, or all are written as people write numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from shlex import quote

import numpy as np

from onlinear.errors import BadLine
from onlinear.streams.columns import BLANKS, MISSING, is_number, position_of
from onlinear.streams.csv_cells import placed_records_in, read_cells
from onlinear.streams.csv_inference import NUMBERS, ROWS, TEXTS, look_at_records
from onlinear.streams.csv_text import CSVText
from onlinear.streams.sources import looks_at
from onlinear.streams.text_lines import Lines

#: a number with commas, a currency or a percent sign
WRITTEN = re.compile(r"[$€£]?\s?[+-]?(\d{1,3}([.,' ]\d{3})+([.,]\d+)?|\d+([.,]\d+)?)\s?[%$€£]?")
#: different numbers there have to be, their share of all different texts, and how many others there may be
FEWEST_NUMBERS, LEAST_SHARE, MOST_WORDS = 5, 0.8, 5


def misread(name: str, texts: Collection[str], missing: Sequence[str] = MISSING) -> str | None:
    """What to say of a column of these different texts, if they are numbers to people but not to a stream.

    What is named as missing replaces what is ``missing`` so far, so the advice names that, too.

    >>> str(misread("wage", ["1", "2.5", "3", "4", "7", "nan"]))[:76]
    "Column wage holds numbers but for 'nan', so each number is taken for a name:"
    >>> misread("town", ["Bern", "Thun"])
    """
    others = [text for text in texts if not is_number(text)]
    numbers = len(texts) - len(others)
    if others and numbers >= FEWEST_NUMBERS and numbers >= LEAST_SHARE * len(texts) and len(others) <= MOST_WORDS:
        words, that = ", ".join(repr(f"{text:.20}") for text in others), "that" if len(others) == 1 else "them"
        return (
            f"Column {name} holds numbers but for {words}, so each number is taken for a name: name {that} as missing "
            f"({as_missing([*others, *missing])}), or mend {'it' if that == 'that' else that}."
        )
    written = [text for text in others if WRITTEN.fullmatch(text.strip(BLANKS))]
    if written and len(texts) >= FEWEST_NUMBERS and numbers + len(written) >= LEAST_SHARE * len(texts):
        return (
            f"Column {name} holds numbers that are read as texts, such as {written[0]!r:.30}, so each is taken for a "
            "name: write them as 1234.5."
        )
    return None


def as_missing(words: Sequence[str]) -> str:
    """The options that name these words as missing, and no others.

    >>> as_missing(["nan", "", "NA"])
    "--missing nan --missing '' --missing NA"
    """
    return " ".join(f"--missing {quote(word)}" for word in words)


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
    counts = look_at_records(files, table.delimiter, table.header, table.missing, ROWS, table.quoted).counts
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


def unknown_columns(table: CSVText, files: Sequence[str], categories: Sequence[str | int] = ()) -> list[str]:
    """What to say of columns with nothing in as many records as are looked at, where others may come: of these, nobody
    knows the kind. ``categories`` are meant to be names.
    """
    names = [column.name for column in table.columns]
    look = look_at_records(looks_at(files), table.delimiter, table.header, table.missing, ROWS, table.quoted)
    meant = {position_of(names, column) for column in categories}
    return [
        f"Column {name} has nothing in the first {ROWS:,} records, so a number further down is taken for a name. If it "
        f"is a column of numbers, say so (--number {quote(name)})."
        for place, (name, kind) in enumerate(table.columns)
        if look.seen >= ROWS and not look.counts[place].any() and kind == "category" and place not in meant
    ]


def has_mixed_target(table: CSVText, files: Sequence[str]) -> bool:
    """Whether words among numbers make the target one of names."""
    if table.target_kind == "number":
        return False
    counts = look_at_records(looks_at(files), table.delimiter, table.header, table.missing, ROWS, table.quoted).counts
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
        for chunk, cells in read_cells(file, table.delimiter, table.quoted):
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
