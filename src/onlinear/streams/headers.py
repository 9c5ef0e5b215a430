"""Whether the first record of a CSV file has the names of its columns, told from the records below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np

from onlinear.errors import OnlinearError
from onlinear.streams.cells import Cells, Top, texts

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
    whole, partly = again(words, records())
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


def again(words: Sequence[str], records: Iterator[list[str]]) -> tuple[int, bool]:
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
    return again(next(records()), islice(records(), 1, None))[1]


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


def records_below(file: str, delimiter: str, rows: int, quoted: bool) -> Iterator[list[str]]:
    """The words of so many records below the first one."""
    records = (record for _, cells in texts(file, delimiter, quoted) for record in records_in(cells))
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
