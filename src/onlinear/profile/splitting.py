"""The columns by which rows are split: the time of each row as a number that can be sorted, its group as a code."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.errors import NO_LABEL, BadLine
from onlinear.profile.cells import Cells
from onlinear.profile.gathering import Pass
from onlinear.profile.words import moment_of
from onlinear.streams.blocks import Origin
from onlinear.streams.stream import OnBad
from onlinear.streams.tables import label_of, pieces_of, rows_of_a_piece

NO_TIME = "the time, column {name!r}, is missing: fill it in, or leave the row out"
NO_MOMENT = (
    "{word!r} in the time column {name!r} is neither a number nor a date such as 2024-03-31 or 2024-03-31T12:00: "
    "write it so, or take another column"
)


def times_of(cells: Cells, found: Pass, name: str, on_bad: OnBad | None) -> np.ndarray:
    """The time of each row: numbers as they are (float64, or exact), dates as microseconds since 1970 (int64)."""
    if name in cells.strange:
        return np.concatenate([moments_in(source, name) for source in cells.sources])
    if cells.columns[cells.place(name)].kind == "number":
        numbers = found.exact_numbers(name)
        absent = numbers != numbers
        if absent.any():
            raise missing_time(cells, int(np.flatnonzero(absent)[0]), name)
        return numbers
    return moments_of_texts(cells, name, on_bad)


def missing_time(cells: Cells, row: int, name: str) -> BadLine:
    """The error for a row without a time, with its place: found by reading again, as hardly anybody needs it."""
    for piece in cells.pieces(lambda line, text: None):
        if row < piece.first + len(piece):
            return piece.origin.error(row - piece.first, NO_TIME.format(name=name))
    raise AssertionError("the table has become shorter")


def moments_of_texts(cells: Cells, name: str, on_bad: OnBad | None) -> np.ndarray:
    """The moments that texts stand for; a missing one is an error, though other bad lines may be passed over."""
    known: dict[str, int] = {}

    def refuse_missing(line: BadLine, text: bytes) -> None:
        if line.kind == NO_LABEL:
            raise BadLine(line.source, line.line, line.column, NO_TIME.format(name=name))
        if on_bad is None:
            raise line

    parts = [np.empty(0, np.int64)]
    for words, origin in cells.words(name, refuse_missing):
        parts.append(np.array([moment(known, word, origin, row, name) for row, word in enumerate(words)], np.int64))
    return np.concatenate(parts)


def moment(known: dict[str, int], word: str, origin: Origin, row: int, name: str) -> int:
    if word not in known:
        found = moment_of(word)
        if found is None:
            raise origin.error(row, NO_MOMENT.format(word=word, name=name))
        known[word] = found
    return known[word]


def moments_in(source: Any, name: str) -> np.ndarray:
    """A column of Arrow's dates or times, as microseconds."""
    import pyarrow

    parts = [np.empty(0, np.int64)]
    for piece in pieces_of(source, [name], rows_of_a_piece(1)):
        cells = piece.batch.column(name)
        if cells.null_count:
            row = int(np.flatnonzero(cells.is_null().to_numpy(zero_copy_only=False))[0])
            raise BadLine(label_of(source), piece.first_row + row, 1, NO_TIME.format(name=name))
        try:
            moments = cells.cast(pyarrow.timestamp("us"), safe=False)
        except pyarrow.ArrowException:
            reason = NO_MOMENT.format(word=str(cells[0]), name=name)
            raise BadLine(label_of(source), piece.first_row, 1, reason) from None
        parts.append(moments.cast(pyarrow.int64()).to_numpy())
    return np.concatenate(parts)


def groups_of(found: Pass, name: str) -> np.ndarray:
    """The group of each row as a code from 0 on, in the order of their first rows; missing ones are a group, too."""
    _, first, which = np.unique(found.whole_keys(name), return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int32)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return order[which]
