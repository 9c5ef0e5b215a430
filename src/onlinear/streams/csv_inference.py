"""What the columns of a CSV file are, by its first records: always as many, however the file is read.

That is the delimiter, whether there are quotes, whether the first record has the names, and which columns are numbers.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from onlinear.errors import BadSource, OnlinearError
from onlinear.kernels.text.csv import NUMBER, QUOTE, Plan, judge_columns, plan_of
from onlinear.streams.columns import position_of, with_roles
from onlinear.streams.csv_cells import (
    MOST_LINE_ENDS,
    QUOTED,
    Cells,
    Top,
    cut_cells,
    first_record,
    raw_records_in,
    read_cells,
    records_below,
    records_in,
    unclosed_quote,
)
from onlinear.streams.csv_text import NOT_UTF_8, CSVText, check_delimiter
from onlinear.streams.options import DEFAULTS, ReadOptions
from onlinear.streams.sources import Path, expand, inner_name, looks_at
from onlinear.streams.text_lines import Chunk, Lines, chunks

#: records that are looked at
ROWS = 10_000
#: those of them by which the delimiter is found, and in how many bytes they have to be
SNIFFED, SNIFFED_BYTES = 100, 1 << 20
CANDIDATES = (",", "\t", ";", "|")
EXTENSIONS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}


def infer(paths: Path | Sequence[Path], options: ReadOptions = DEFAULTS, *, rows: int = ROWS) -> CSVText:
    """The format of files, of which the first is looked at, and the others if it is short: so many ``rows`` of them.

    A column is one of numbers if every cell that is not missing is a number. Columns are named, or where there is no
    such name counted from 1, or from the end with -1; without a header their names are ``1``, ``2``, ... Cells may be
    quoted by default, unless tabs are between cells and quotes make no sense.
    """
    files = looks_at(expand(paths))
    delimiter = sniff_delimiter(files[0]) if options.delimiter is None else options.delimiter
    check_delimiter(delimiter)
    quoted = has_quotes(files[0], delimiter) if options.quoted is None else options.quoted
    look = look_at_records(files, delimiter, options.header, options.missing, rows, quoted)
    names = look.names
    kinds = ["category" if numeric == 0 or texts else "number" for numeric, texts in look.counts.tolist()]
    meant = {position_of(names, column) for column in options.categories}
    for place in (position_of(names, column) for column in options.numbers):
        if place in meant:
            raise OnlinearError(f"column {names[place]!r} cannot be numbers and categories at once: choose one")
        kinds[place] = "number"
    columns, target_kind = with_roles(names, kinds, options)
    return CSVText(columns, target_kind, delimiter, options.missing, options.naming, look.header, options.words, quoted)


class FirstRecords(NamedTuple):
    """The names of columns, how many cells of each are numbers and texts, and how many records were looked at."""

    names: list[str]
    counts: np.ndarray
    header: bool
    seen: int


def look_at_records(
    files: Sequence[str], delimiter: str, header: bool | None, missing: tuple[str, ...], rows: int, quoted: bool
) -> FirstRecords:
    """A look at the first record, and at so many below it."""
    top = first_record(files[0], delimiter, quoted)
    plan = plan_of([""] * len(top.words), [NUMBER] * len(top.words), missing, quoted)
    first, _ = count_kinds(files[0], delimiter, plan, 0, 1)
    below, seen = count_kinds(files[0], delimiter, plan, 1, rows)
    if header is None:
        header = has_header(files[0], top, first, below, seen, delimiter, rows, quoted)
    for file in files[1:]:
        if seen < rows:
            more, count = count_kinds(file, delimiter, plan, int(header), rows - seen)
            below, seen = below + more, seen + count
    if header and seen == 0:
        raise nothing_below(files, delimiter, quoted)
    if header:
        return FirstRecords(checked_names(top), below, True, seen)
    return FirstRecords([str(k) for k in range(1, len(top.words) + 1)], first + below, False, 1 + seen)


def nothing_below(files: Sequence[str], delimiter: str, quoted: bool) -> OnlinearError:
    """Why there are no records below a header: a quote that is never closed has swallowed them, or nothing is there."""
    for file in files:
        for chunk, cells in read_cells(file, delimiter, quoted):
            if cells.unclosed >= 0:
                return unclosed_quote(cells, Lines(chunk, file, np.empty(0)))[0]
    return BadSource(f"{files[0]}: has a header, but no records: the columns may be anything")


def count_kinds(file: str, delimiter: str, plan: Plan, skipped: int, most: int) -> tuple[np.ndarray, int]:
    """Numbers and texts in each column of up to ``most`` records behind the skipped one, and how many there are."""
    found, seen = np.zeros((len(plan.kinds), 2), np.int64), 0
    for chunk, cells in read_cells(file, delimiter, plan.quote == QUOTE):
        start = cells.first_record()[1] + 1 if skipped and chunk.first_line == 1 else 0
        if start < len(cells.breaks):
            seen += judge_columns(cells.buffer, cells.stop, cells.breaks, start, plan, most - seen, found)
        if seen >= most:
            break
    return found, seen


def sniff_delimiter(file: str) -> str:
    """The delimiter that cuts the first records into equally many cells, at least two."""
    usual = EXTENSIONS.get(PurePath(inner_name(os.fspath(file))).suffix.lower(), ",")
    head = next(chunks(file, SNIFFED_BYTES, whole=True), None)  # in lines: where records end is yet to be found out
    if head is None:
        return usual
    best, most = usual, 0.0
    for delimiter in sorted(CANDIDATES, key=lambda candidate: candidate != usual):
        widths = [len(words) for words in islice(records_in(cut_cells(head, delimiter)), SNIFFED)]
        width = max(set(widths), key=widths.count, default=1)
        agreeing = widths.count(width) / len(widths) if width > 1 else 0.0
        if agreeing > most:
            best, most = delimiter, agreeing
    return best


def has_quotes(file: str, delimiter: str) -> bool:
    """Whether quotes are around cells; not if tabs are between cells, and quotes make no sense as such.

    That is found from whole lines of the first SNIFFED_BYTES. If all of them have equally many cells, nothing has to be
    in quotes; but it may be, and then every cell that opens with a quote ends with one, on whatever line.
    """
    heads = chunks(file, SNIFFED_BYTES, whole=True)
    head = next(heads, None) if delimiter == "\t" else None
    if head is None or not (head.text == QUOTE).any():
        return True
    lines = [line.split(b"\t") for line in head.text.tobytes().split(b"\n") if line.strip()]
    return len({len(line) for line in lines}) != 1 or is_quoted(cut_cells(head, delimiter), len(lines[0]), head, heads)


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


#: what is counted for each column
NUMBERS, TEXTS = range(2)
#: rows, or texts and no number among them, below a cell that may be a name; fewer say nothing
FEWEST = 10
#: the rows of an index that are looked at
COUNTED = 10
#: a number that may be a name
YEAR = re.compile(r"(?:19|20)[0-9]{2}")
Records = Callable[[], Iterator[list[str]]]


def has_header(
    file: str, top: Top, first: np.ndarray, below: np.ndarray, seen: int, delimiter: str, rows: int, quoted: bool
) -> bool:
    """Whether the first record of a file has names: texts above numbers, or words that never come again below.

    ``first`` and ``below`` count numbers and texts of each column, in it and in the ``seen`` records below it.
    """
    numeric = (below[:, NUMBERS] > 0) & (below[:, TEXTS] == 0)
    texts_above, numbers_above = first[numeric, TEXTS].any(), first[numeric, NUMBERS].any()
    words = [word for _, word in top.words]
    if texts_above and numbers_above:
        text = words[int(np.flatnonzero(numeric & (first[:, TEXTS] > 0))[0])]
        number = words[int(np.flatnonzero(numeric & (first[:, NUMBERS] > 0))[0])]
        raise unclear(top, f"both {text!r} and {number!r} above numbers")
    odd = (first[:, NUMBERS] > 0) & (below[:, NUMBERS] == 0) & (below[:, TEXTS] >= FEWEST)
    if numbers_above and odd.any():
        raise unclear(top, f"{words[int(np.flatnonzero(odd)[0])]!r} above texts")
    if texts_above or seen == 0:
        return bool(texts_above) or not first[:, NUMBERS].any()

    def records() -> Iterator[list[str]]:
        return records_below(file, delimiter, rows, quoted)

    if is_index(words, records()):
        return True
    if numbers_above:
        above = numeric & (first[:, NUMBERS] > 0)
        may_be = first[:, TEXTS].any() or (above.all() and not is_curve(words))
        if seen >= FEWEST and may_be and is_series(words, above, records()):
            words_and = "words that never come again below, and " if first[:, TEXTS].any() else ""
            raise unclear(top, f"{words_and}numbers that may be names")
        return False
    whole, partly = count_repeats(words, records())
    if whole and not partly and is_put_together(first, whole, seen, records):
        raise unclear(top, "all of it again further down, as where files with headers were put together")
    return not whole and not partly and are_names(top, words, first, odd, seen)


def unclear(top: Top, above: str) -> OnlinearError:
    """What to say of a first record that may be either."""
    return OnlinearError(
        f"{top.lines.source}: the first record may be a header or a row, with {above}: "
        "say which (--header or --no-header; in Python header=True or False)"
    )


def is_index(words: Sequence[str], records: Iterator[list[str]]) -> bool:
    """Whether the first column has no name, and counts the rows: pandas' index."""
    cells = [record[0] for record in islice(records, COUNTED)] if len(words) > 1 and not words[0] else []
    return len(cells) > 1 and cells == [str(k) for k in range(len(cells))]


def is_series(words: Sequence[str], numbers: np.ndarray, records: Iterator[list[str]]) -> bool:
    """Whether the numbers of the first record are years, or count from 0 or 1, and nothing like it stands below."""
    places = np.flatnonzero(numbers).tolist()
    names = [words[k] for k in places]
    are_years = all(map(YEAR.fullmatch, names))
    if len(names) < 2 or len(set(words)) < len(words) or not (are_years or are_counted(names)):
        return False
    for record in records:
        if any(name == word for name, word in zip(words, record, strict=False)):
            return False
        if are_years and any(YEAR.fullmatch(record[k]) for k in places if k < len(record)):
            return False
    return True


def is_curve(words: Sequence[str]) -> bool:
    """Whether numbers are rather the first of many points than names: 0 and 1, or 1 and 2."""
    return len(words) < 3 and not all(map(YEAR.fullmatch, words))


def are_counted(names: Sequence[str]) -> bool:
    """Whether names count from 0 or 1: what pandas calls columns, if nobody names them.

    >>> are_counted(["0", "1"]), are_counted(["1", "2", "3"]), are_counted(["1", "3"])
    (True, True, False)
    """
    return any(list(names) == [str(k) for k in range(start, start + len(names))] for start in (0, 1))


def count_repeats(words: Sequence[str], records: Iterator[list[str]]) -> tuple[int, bool]:
    """How often a record comes again as a whole, until some of its words stand below themselves without the others."""
    whole = 0
    for record in records:
        same = sum(name == word for name, word in zip(words, record, strict=False))
        if same == len(words) == len(record):
            whole += 1
        elif same:
            return whole, True
    return whole, False


def is_put_together(first: np.ndarray, whole: int, seen: int, records: Records) -> bool:
    """Whether a record that now and then comes again as a whole, but never in part, may be the header of several files.

    The row below it has to have words that come again without the others, or else rows do that here.
    """
    if len(first) < 2 or not first[:, TEXTS].all() or seen < FEWEST or whole * FEWEST > seen:
        return False
    return count_repeats(next(records()), islice(records(), 1, None))[1]


def are_names(top: Top, words: Sequence[str], first: np.ndarray, odd: np.ndarray, seen: int) -> bool:
    """Whether words of which none comes again are names; that is unclear if some are missing words or numbers."""
    is_distinct, are_texts = len(set(words)) == len(words), first[:, TEXTS] > 0
    if is_distinct and are_texts[1:].all() and (are_texts[0] or (len(words) > 1 and not words[0])):
        return True  # an index of pandas has no name
    is_code = bool(((first[:, NUMBERS] > 0) & ~odd).any())
    if seen < FEWEST or is_code or not first.any():
        return False
    if odd.any():
        raise unclear(top, f"{words[int(np.flatnonzero(odd)[0])]!r} above texts")
    strange = next(word for k, word in enumerate(words) if not are_texts[k] or words.count(word) > 1)
    raise unclear(top, f"{repr(strange) if strange else 'an empty cell'} among words that never come again below")
