"""The columns by which rows are split: the time of each row as a number that can be sorted, its group as a code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from onlinear.errors import BadLine, BadLineKind
from onlinear.features.blocks import Origin
from onlinear.streams.stream import OnBad
from onlinear.streams.tables import label_of, pieces_of, rows_of_a_piece
from onlinear.workflow.profile.cells import OpenTable
from onlinear.workflow.profile.gathering import Pass
from onlinear.workflow.profile.words import moment_of

NO_TIME = "the time, column {name!r}, is missing: fill it in, or leave the row out"
NO_MOMENT = (
    "{word!r} in the time column {name!r} is neither a number nor a date such as 2024-03-31 or 2024-03-31T12:00: "
    "write it so, or take another column"
)


def times_of(cells: OpenTable, found: Pass, name: str, bad_lines: int) -> np.ndarray:
    """The time of each gathered row: numbers as they are (float64, or exact), dates as microseconds since 1970 (int64).

    ``bad_lines`` were left out then, and have no time.
    """
    if name in cells.strange:
        return np.concatenate([moments_in(cells, source, name, bad_lines) for source in cells.sources])
    if cells.columns[cells.place(name)].kind == "number":
        numbers = found.exact_numbers(name)
        if (numbers != numbers).any():
            refuse_missing_number(cells, name)
        return numbers
    return moments_of_texts(cells, name, bad_lines)


def refuse_missing_number(cells: OpenTable, name: str) -> NoReturn:
    """Raise the error for a row without a time, with its place: read again as a label, as hardly anybody needs it."""
    for _ in cells.words(name, refuse_missing(name, 1)):
        pass
    raise AssertionError("the table has changed")


def refuse_missing(name: str, bad_lines: int) -> OnBad:
    """Raises what is wrong with a time that is read as a label; other bad lines are passed over, if there were any."""

    def refuse(line: BadLine, text: bytes) -> None:
        if line.kind is BadLineKind.NO_LABEL:
            raise BadLine(line.source, line.line, line.column, NO_TIME.format(name=name))
        if not bad_lines:
            raise line

    return refuse


def moments_of_texts(cells: OpenTable, name: str, bad_lines: int) -> np.ndarray:
    """The moments that texts stand for."""
    known: dict[str, int] = {}
    parts = [np.empty(0, np.int64)]
    for words, origin in cells.words(name, refuse_missing(name, bad_lines)):
        parts.append(np.array([moment(known, word, origin, row, name) for row, word in enumerate(words)], np.int64))
    return np.concatenate(parts)


def moment(known: dict[str, int], word: str, origin: Origin, row: int, name: str) -> int:
    if word not in known:
        found = moment_of(word)
        if found is None:
            raise origin.label_error(row, NO_MOMENT.format(word=word, name=name))
        known[word] = found
    return known[word]


def moments_in(cells: OpenTable, source: Any, name: str, bad_lines: int) -> np.ndarray:
    """A column of Arrow's dates or times, as microseconds, of all rows that are not bad."""
    import pyarrow

    column = [each.name for each in cells.table.columns].index(name) + 1
    kept = kept_rows(cells, source) if bad_lines else None
    parts = [np.empty(0, np.int64)]
    for piece in pieces_of(source, [name], rows_of_a_piece(1)):
        ends = piece.first_row, piece.first_row + piece.batch.num_rows
        rows = np.arange(*ends) if kept is None else kept[slice(*kept.searchsorted(ends))]
        if not len(rows):
            continue
        times = piece.batch.column(name).take(pyarrow.array(rows - piece.first_row))
        if times.null_count:
            row = rows[times.is_null().to_numpy(zero_copy_only=False).argmax()]
            raise BadLine(label_of(source), int(row), column, NO_TIME.format(name=name))
        try:
            moments = times.cast(pyarrow.timestamp("us"), safe=False)
        except pyarrow.ArrowException:
            reason = NO_MOMENT.format(word=str(times[0]), name=name)
            raise BadLine(label_of(source), int(rows[0]), column, reason) from None
        parts.append(moments.cast(pyarrow.int64()).to_numpy())
    return np.concatenate(parts)


def kept_rows(cells: OpenTable, source: Any) -> np.ndarray:
    """The rows of a table that are not bad, counted from 1."""
    pieces = replace(cells, sources=[source]).pieces(lambda line, text: None)
    return np.concatenate([np.empty(0, np.int64), *(piece.origin.places for piece in pieces)])


def groups_of(found: Pass, name: str) -> np.ndarray:
    """The group of each row as a code from 0 on, in the order of their first rows; missing ones are a group, too."""
    _, first, which = np.unique(found.whole_keys(name), return_index=True, return_inverse=True)
    order = np.empty(len(first), np.int32)
    order[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return order[which]
