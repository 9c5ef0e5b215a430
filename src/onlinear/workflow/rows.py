"""The rows of a table in memory, as a recipe makes them, and the parts of them that are learned and tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onlinear.data.batch import take_sparse_rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.whole_numbers import as_floats, missing_in
from onlinear.errors import BadInput, BadLine, BadLineKind, OnlinearError
from onlinear.features.blocks import Block, RowNumbers
from onlinear.learning.classes import Classes, as_array, whole_to_int
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import Stream


@dataclass(frozen=True, slots=True)
class RowsInMemory:
    """Rows in memory. ``numbers`` count them in their files, from 0 on; rows without a label are left out."""

    rows: SparseRows
    labels: np.ndarray
    importance: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, which: np.ndarray) -> RowsInMemory:
        """Some rows, in an order."""
        return RowsInMemory(
            take_sparse_rows(self.rows, which), self.labels[which], self.importance[which], self.numbers[which]
        )

    def with_numbers(self) -> RowsInMemory:
        """The same with its labels in double precision, as numbers to learn."""
        return replace(self, labels=as_floats(self.labels))

    def block(self) -> Block:
        """All rows as a block, whose origin is their number."""
        origin = RowNumbers("the table", self.numbers + 1, lambda place: b"")
        return Block(self.rows, self.labels, self.importance, origin, width=width_of(self.rows))


def width_of(rows: SparseRows) -> int:
    return int(rows.columns.max()) + 1 if len(rows.columns) else 0


def pass_over_unlabelled(line: BadLine, text: bytes) -> None:
    """Let a row without a label be left out, and any other bad line end the pass."""
    if line.kind is not BadLineKind.NO_LABEL:
        raise line


def read_labelled_rows(stream: Stream, has_label: np.ndarray | None, *, learns: bool) -> RowsInMemory:
    """All rows of a stream that have a label, with columns but not scaled; it passes over the others.

    ``has_label`` says of each row of the table whether it has one, if that is known. New names are only remembered
    where it ``learns``.
    """
    read = list(read_unscaled(stream, learns=learns))
    blocks = [block for block, _ in read]
    labels = np.concatenate([block.labels for block in blocks]) if blocks else np.empty(0)
    rows = join_rows([block.rows for block in blocks])
    importance = np.concatenate([block.importance for block in blocks]) if blocks else np.empty(0)
    numbers = np.concatenate([counted for _, counted in read]) if read else np.empty(0, np.int64)
    if (absent := missing_in(labels)).any():  # a missing number is read as one
        there = np.flatnonzero(~absent)
        rows, labels, importance, numbers = (
            take_sparse_rows(rows, there),
            labels[there],
            importance[there],
            numbers[there],
        )
    if has_label is not None and not np.array_equal(numbers, np.flatnonzero(has_label)):
        raise OnlinearError(
            f"the table has {len(labels):,} rows with a label, but {has_label.sum():,} were counted: "
            "let nothing write to it meanwhile, and start again"
        )
    if not len(labels):
        raise BadInput(f"{stream.sources[0]!s:.200}: has no rows with a label: there is nothing to measure on")
    return RowsInMemory(rows, labels, importance, numbers)


def read_unscaled(stream: Stream, *, learns: bool) -> Iterator[tuple[Block, np.ndarray]]:
    """The blocks of a pass before scaling, less the lines without a label; and the numbers of their rows, from 0 on."""
    recipe, first = stream.recipe, 0
    for block in stream.blocks(stop_at_bad=False):
        stream.report(block.bad)
        numbers = first + places_among(block)
        first += len(block) + len(block.bad)
        if not len(block):
            continue
        block.bad = []
        if recipe.vocabulary is not None:
            take = recipe.vocabulary.take if learns else recipe.vocabulary.look_up
            block = take(block, True)
        stream.report(block.bad)
        yield recipe.clip(block), numbers


def places_among(block: Block) -> np.ndarray:
    """The place of each row of a block among its rows and bad lines."""
    places = np.arange(len(block))
    if not block.bad:
        return places
    lines = np.array([block.origin.error(row, "").line for row in range(len(block))], np.int64)
    return places + np.searchsorted(sorted(line.line for line, _ in block.bad), lines)


def join_rows(parts: Sequence[SparseRows | DenseRows]) -> SparseRows:
    """The rows of all parts."""
    if not parts:
        return SparseRows(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0))
    starts, columns, values, total = [np.zeros(1, np.int64)], [], [], 0
    for rows in parts:
        assert isinstance(rows, SparseRows)  # those of a table are
        starts.append(rows.starts[1:].astype(np.int64) - rows.starts[0] + total)
        total = int(starts[-1][-1]) if len(starts[-1]) else total
        columns.append(rows.columns)
        values.append(rows.values)
    return SparseRows(np.concatenate(starts), np.concatenate(columns), np.concatenate(values))


def scale_rows(recipe: Recipe, rows: RowsInMemory, *, learns: bool) -> RowsInMemory:
    """The rows as the model sees them: by the means and deviations of the rows that it learns."""
    if recipe.scaler is None:
        return rows
    if learns:
        recipe.scaler.learn(rows.block())
    block = recipe.scaler.apply(rows.block())
    assert isinstance(block.rows, SparseRows)
    return replace(rows, rows=block.rows)


def classes_of(labels: np.ndarray) -> Classes:
    """All classes there are, in order."""
    return Classes.closed(as_array([whole_to_int(label) for label in np.unique(labels).tolist()]))


def check_labels(labels: np.ndarray, classes: Classes, what: str) -> np.ndarray:
    """The codes of labels, all of which have to be known."""
    codes = classes.codes_of(labels)
    if (codes < 0).any():
        unknown = whole_to_int(labels[int((codes < 0).argmax())])
        known = ", ".join(str(label) for label in classes.labels[:20])
        raise BadInput(
            f"{what} has a row of the class {unknown!r:.60}, but those to learn are {known}: "
            "write it alike, or leave those rows out"
        )
    return codes
