"""The cells of a few rows, as they stand in the files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from onlinear.streams.columns import BLANKS
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import Format
from onlinear.streams.stream import Stream, open_alike
from onlinear.streams.tables import pieces_of, rows_of_a_piece

#: letters of a cell that are shown
MOST_LETTERS = 300


def cells_of(files: Sequence[str], format: Format, rows: Sequence[int]) -> dict[int, dict[str, str]]:
    """Of rows by their numbers, which count all rows from 1 on, each cell by the name of its column."""
    wanted = set(rows)
    if not wanted:
        return {}
    stream = open_alike(files, format, labelled=False, on_bad=lambda line, text: None)
    if not isinstance(stream.format, CSVText):
        return cells_of_table(files, wanted)
    return cells_of_text(stream, stream.format, wanted)


def cells_of_text(stream: Stream, format: CSVText, wanted: set[int]) -> dict[int, dict[str, str]]:
    names = [column.name for column in format.columns]
    found, first = {}, 1
    for block in stream.before_recipe():
        for number in sorted(wanted & set(range(first, first + len(block)))):
            text = block.origin.text(number - first).decode(errors="replace")
            cells = next(csv.reader([text], delimiter=format.delimiter), [])
            found[number] = {name: shorten_cell(cell) for name, cell in zip(names, cells, strict=False)}
        first += len(block)
        if first > max(wanted):
            break
    return found


def cells_of_table(files: Sequence[Any], wanted: set[int]) -> dict[int, dict[str, str]]:
    from onlinear.streams.tables import schema_of

    found, first = {}, 1
    for source in files:
        names = list(schema_of(source).names)
        for piece in pieces_of(source, names, rows_of_a_piece(len(names))):
            count = piece.batch.num_rows
            for number in sorted(wanted & set(range(first, first + count))):
                (record,) = piece.batch.slice(number - first, 1).to_pylist()
                found[number] = {name: shorten_cell(str(cell)) for name, cell in record.items() if cell is not None}
            first += count
    return found


def shorten_cell(cell: str) -> str:
    cell = cell.strip(BLANKS)
    return cell if len(cell) <= MOST_LETTERS else f"{cell[:MOST_LETTERS]} ..."
