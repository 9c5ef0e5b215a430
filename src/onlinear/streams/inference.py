"""What the columns of a CSV file are, by a look at its first records: always as many, however the file is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadSource, OnlinearError
from onlinear.features.columns import MISSING, listed
from onlinear.features.naming import Naming
from onlinear.features.words import Words
from onlinear.kernels.text.csv import NUMBER, QUOTE, Plan, judge_columns, plan_of
from onlinear.streams.cells import MOST_LINE_ENDS, QUOTED, Cells, Top, cut, first_record, texts, unclosed
from onlinear.streams.csvtext import NOT_UTF_8, Column, CSVText, check_delimiter
from onlinear.streams.headers import has_header, raw_records_in, records_in
from onlinear.streams.lines import Lines
from onlinear.streams.pipes import looks_at
from onlinear.streams.sources import Chunk, Path, chunks, expand, inner_name

#: records that are looked at
ROWS = 10_000
#: those of them by which the delimiter is told, and in how many bytes they have to be
SNIFFED, SNIFFED_BYTES = 100, 1 << 20
CANDIDATES = (",", "\t", ";", "|")
EXTENSIONS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}

#: a column by its number
WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")


def infer(
    paths: Path | Sequence[Path],
    *,
    target: str | int | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    quoted: bool | None = None,
    weight: str | int | None = None,
    ignore: Sequence[str | int] = (),
    categories: Sequence[str | int] = (),
    text: Sequence[str | int] = (),
    numbers: Sequence[str | int] = (),
    rows: int = ROWS,
    missing: tuple[str, ...] = MISSING,
    naming: Naming = Naming(),
    words: Words = Words(),
) -> CSVText:
    """The format of files, of which the first is looked at, and the others if it is short.

    A column is one of numbers if every cell that is not missing is a number. Columns are named, or where there is no
    such name counted from 1, or from the end with -1; without a header their names are ``1``, ``2``, ...

    Parameters
    ----------
    target : the column to learn; by default the last one
    delimiter : by default told from the extension and the first records: a comma, tab, semicolon or bar
    header : whether the first record has the names; by default told from what stands below it
    quoted : whether cells may stand in quotes; by default yes, unless tabs are between cells and quotes make no sense
    weight : the column with the importance of each row
    ignore, categories : columns to leave out, and those whose numbers are only names (postal codes)
    text : columns whose cells are cut into words
    numbers : columns that hold numbers, so that any other cell is a bad line
    rows : how many records are looked at
    missing : what stands for a missing cell
    naming : how names become columns
    words : how texts are cut
    """
    files = looks_at(expand(paths))
    delimiter = delimiter or sniffed(files[0])
    check_delimiter(delimiter)
    quoted = has_quotes(files[0], delimiter) if quoted is None else quoted
    look = looked_at(files, delimiter, header, missing, rows, quoted)
    names = look.names
    kinds = ["category" if numeric == 0 or texts else "number" for numeric, texts in look.counts.tolist()]
    meant = {position_of(names, column) for column in categories}
    for place in (position_of(names, column) for column in numbers):
        if place in meant:
            raise OnlinearError(f"column {names[place]!r} cannot be numbers and categories at once: choose one")
        kinds[place] = "number"
    columns, target_kind = with_roles(names, kinds, target, weight, ignore, categories, text)
    return CSVText(columns, target_kind, delimiter, missing, naming, look.header, words, quoted)


def with_roles(
    names: Sequence[str],
    kinds: Sequence[str],
    target: str | int | None,
    weight: str | int | None,
    ignore: Sequence[str | int],
    categories: Sequence[str | int],
    text: Sequence[str | int] = (),
) -> tuple[tuple[Column, ...], str]:
    """The columns, some of which have another kind than their cells say, and the kind of the target's cells."""
    kinds = list(kinds)
    for column in categories:
        kinds[position_of(names, column)] = "category"
    chosen = target_position(names, target)
    target_kind = kinds[chosen]
    kinds[chosen] = "target"
    others = [(column, "text") for column in text] + [(column, "ignore") for column in ignore]
    others += [] if weight is None else [(weight, "weight")]
    for column, kind in others:
        place = position_of(names, column)
        if kinds[place] in ("target", "weight", "text") and kinds[place] != kind:
            raise OnlinearError(f"column {names[place]!r} cannot be {kinds[place]} and {kind} at once: choose one")
        kinds[place] = kind
    return tuple(map(Column, names, kinds)), target_kind


class Look(NamedTuple):
    """The names of columns, and for each how many cells are numbers and how many are texts."""

    names: list[str]
    counts: np.ndarray
    header: bool


def looked_at(
    files: Sequence[str], delimiter: str, header: bool | None, missing: tuple[str, ...], rows: int, quoted: bool
) -> Look:
    """A look at the first record, and at so many below it."""
    top = first_record(files[0], delimiter, quoted)
    plan = plan_of([""] * len(top.words), [NUMBER] * len(top.words), missing, quoted)
    first, _ = judged(files[0], delimiter, plan, 0, 1)
    below, seen = judged(files[0], delimiter, plan, 1, rows)
    if header is None:
        header = has_header(files[0], top, first, below, seen, delimiter, rows, quoted)
    for file in files[1:]:
        if seen < rows:
            more, count = judged(file, delimiter, plan, int(header), rows - seen)
            below, seen = below + more, seen + count
    if header and seen == 0:
        raise nothing_below(files, delimiter, quoted)
    if header:
        return Look(checked_names(top), below, True)
    return Look([str(k) for k in range(1, len(top.words) + 1)], first + below, False)


def nothing_below(files: Sequence[str], delimiter: str, quoted: bool) -> OnlinearError:
    """Why there are no records below a header: a quote that is never closed has swallowed them, or nothing is there."""
    for file in files:
        for chunk, cells in texts(file, delimiter, quoted):
            if cells.unclosed >= 0:
                return unclosed(cells, Lines(chunk, file, np.empty(0)))[0]
    return BadSource(f"{files[0]}: has a header, but no records: the columns may be anything")


def judged(file: str, delimiter: str, plan: Plan, skipped: int, most: int) -> tuple[np.ndarray, int]:
    """Numbers and texts in each column of up to ``most`` records behind the skipped one, and how many there are."""
    found, seen = np.zeros((len(plan.kinds), 2), np.int64), 0
    for chunk, cells in texts(file, delimiter, plan.quote == QUOTE):
        start = cells.first_record()[1] + 1 if skipped and chunk.first_line == 1 else 0
        if start < len(cells.breaks):
            seen += judge_columns(cells.buffer, cells.stop, cells.breaks, start, plan, most - seen, found)
        if seen >= most:
            break
    return found, seen


def sniffed(file: str) -> str:
    """The delimiter that cuts the first records into equally many cells, at least two."""
    usual = EXTENSIONS.get(PurePath(inner_name(os.fspath(file))).suffix.lower(), ",")
    head = next(chunks(file, SNIFFED_BYTES, whole=True), None)  # in lines: where records end is yet to be found out
    if head is None:
        return usual
    best, most = usual, 0.0
    for delimiter in sorted(CANDIDATES, key=lambda candidate: candidate != usual):
        widths = [len(words) for words in islice(records_in(cut(head, delimiter)), SNIFFED)]
        width = max(set(widths), key=widths.count, default=1)
        agreeing = widths.count(width) / len(widths) if width > 1 else 0.0
        if agreeing > most:
            best, most = delimiter, agreeing
    return best


def has_quotes(file: str, delimiter: str) -> bool:
    """Whether quotes are around cells; not if tabs are between cells, and quotes make no sense as such.

    That is told from whole lines of the first SNIFFED_BYTES. If all of them have equally many cells, nothing has to be
    in quotes; but it may be, and then every cell that opens with a quote ends with one, on whatever line.
    """
    heads = chunks(file, SNIFFED_BYTES, whole=True)
    head = next(heads, None) if delimiter == "\t" else None
    if head is None or not (head.text == QUOTE).any():
        return True
    lines = [line.split(b"\t") for line in head.text.tobytes().split(b"\n") if line.strip()]
    return len({len(line) for line in lines}) != 1 or is_quoted(cut(head, delimiter), len(lines[0]), head, heads)


def is_quoted(cells: Cells, columns: int, head: Chunk, heads: Iterator[Chunk]) -> bool:
    """Whether all records of the head of a file have so many cells, each of which ends with a quote if it opens so.

    The last one may go on behind the head. A cell may only have several lines if nobody writes quotes as letters; of
    lines that could be records, not too many.
    """
    most = MOST_LINE_ENDS if columns > 1 else len(head.text)
    has_letters = has_lines = False
    for record in raw_records_in(cells):
        whole = [cell.strip() for cell in record]
        if len(whole) != columns or any(cell.startswith(b'"') and not QUOTED.fullmatch(cell) for cell in whole):
            return False
        has_letters = has_letters or any(b'"' in cell and not cell.startswith(b'"') for cell in whole)
        has_lines = has_lines or any(b"\n" in cell for cell in whole)
        if any(cell.count(b"\n") > most for cell in whole) or (has_letters and has_lines):
            return False
    if cells.unclosed < 0:
        return True
    return head.text[cells.stop :].tobytes().count(b"\n") <= MOST_LINE_ENDS and next(heads, None) is not None


def checked_names(top: Top) -> list[str]:
    """The names of a header, each of which may be there once."""
    text = top.lines.chunk.text[: top.stop].tobytes()
    try:
        text.decode()
    except UnicodeDecodeError as error:
        raise top.lines.at(error.start, NOT_UTF_8) from None
    names: dict[str, int] = {}
    for place, name in top.words:
        if not name:
            reason = f"column {len(names) + 1} has no name: name it, or leave it out (pandas: to_csv(index=False))"
            raise top.lines.at(place, reason)
        if name in names:
            reason = f"the name {name!r} is there twice, as column {names[name]} too: rename one of them"
            raise top.lines.at(place, reason)
        names[name] = len(names) + 1
    return list(names)


def position_of(names: Sequence[str], wanted: str | int) -> int:
    """Which column is meant: the one of that name, also if the name is a number; else by its number.

    >>> position_of(["age", "town"], "town"), position_of(["age", "town"], 1), position_of(["age", "town"], -1)
    (1, 0, 1)
    >>> position_of(["0", "1", "2"], 2), position_of(["2019", "2020"], 2020)
    (2, 1)
    """
    text = str(wanted)
    if text in names:
        return names.index(text)
    counted = list(names) == [str(k) for k in range(1, len(names) + 1)]
    hint = "; if the first record has the names, say so (--header)" if counted else ""
    if not WHOLE_NUMBER.fullmatch(text):
        near = get_close_matches(text, names, 1) or get_close_matches(text.lower(), names, 1)
        meant = f"did you mean {near[0]!r}? The" if near else "the"
        raise OnlinearError(f"there is no column {wanted!r}: {meant} columns are {listed(names)}{hint}")
    number = int(text)
    if number == 0 or abs(number) > len(names):
        raise OnlinearError(f"there is no column {number}: count from 1 to {len(names)}, or from the end with -1{hint}")
    return number - 1 if number > 0 else len(names) + number


def target_position(names: Sequence[str], target: str | int | None) -> int:
    """Which column is the target: the last one, if nobody says."""
    return len(names) - 1 if target is None else position_of(names, target)
