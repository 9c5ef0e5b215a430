"""The rows of a stream, plainly, and those that dicts stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.names import HashedNames
from onlinear.streams.csv_cells import RecordEnds
from onlinear.streams.csv_text import CSVText
from onlinear.streams.text_lines import last_line_end

#: label, importance, and columns with values
Row = tuple[Any, float, list[tuple[int, float]]]


def ends_of(form: Any) -> Any:
    """Where a text of this format may be cut."""
    return RecordEnds(form.delimiter) if isinstance(form, CSVText) else last_line_end


def rows_in(blocks: Iterable[Block]) -> list[Row]:
    return [row for block in blocks for row in rows_of(block)]


def until_error(blocks: Iterable[Block]) -> tuple[list[Row], OnlinearError]:
    """The rows before the error that a stream ends with, and the error."""
    rows: list[Row] = []
    try:
        for block in blocks:
            rows += rows_of(block)
    except OnlinearError as error:
        return rows, error
    raise AssertionError("the stream ended well")


def rows_of(block: Block) -> list[Row]:
    starts, columns, values = (part.tolist() for part in block.rows)
    rows = []
    for k, (label, importance) in enumerate(zip(block.labels.tolist(), block.importance.tolist(), strict=True)):
        entries = slice(starts[k], starts[k + 1])
        rows.append((label, importance, list(zip(columns[entries], values[entries], strict=True))))
    return rows


def rows_meant(
    dicts: Iterable[Mapping[str, Any]], labels: Iterable[Any], weights: Iterable[float], bits: int
) -> list[Row]:
    """The rows of dicts, as the specification of names has them."""
    starts, columns, values = (part.tolist() for part in HashedNames(bits).register_many(dicts))
    rows = []
    for k, (label, weight) in enumerate(zip(labels, weights, strict=True)):
        entries = slice(starts[k], starts[k + 1])
        rows.append((label, weight, list(zip(columns[entries], values[entries], strict=True))))
    return rows
