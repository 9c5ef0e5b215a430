"""Blocks cut in two: the same rows, the same bad lines, in the same order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlinear.data.rows import DenseRows
from onlinear.features.blocks import Block
from onlinear.features.naming import Naming
from onlinear.streams.columns import Column
from onlinear.streams.csv_text import CSVText
from onlinear.streams.svmlight import Svmlight
from onlinear.streams.vwtext import VWText

KEPT = Naming(bits=None)
COLUMNS = (Column("town", "category"), Column("age", "number"), Column("y", "target"))
TEXTS: dict[str, tuple[str, Any]] = {
    "svmlight": ("1 1:1\nx\n1 2:2 7:3\n1\ny\nz\n1 3:4\nend\n", Svmlight()),
    "vw": ("1 | a:2 b\nx\n1 | a\n1 |\ny\nz\n-1 5 | c d a\nend\n", VWText()),
    "named vw": ("1 | a:2 b\nx\n1 | a\n1 |\ny\nz\n-1 5 | c d a\nend\n", VWText(KEPT)),
    "named csv": ('town,age,y\nBern,1,a\nx\n"B\nern",2,b\nUri,,a\ny\nz\n?,4,c\nend\n', CSVText(COLUMNS, naming=KEPT)),
}


def parsed(path: Path, kind: str) -> Block:
    text, form = TEXTS[kind]
    (path / "rows").write_text(text)
    (chunk,) = form.pieces(str(path / "rows"))
    return form.parse(chunk, "rows", stop_at_bad=False)


def rows_of(block: Block) -> list[Any]:
    """Everything about each row, and what is bad, by line."""
    starts, values = (block.named or block.rows).starts, (block.named or block.rows).values
    which = block.named.hashes if block.named else block.rows.columns
    return [
        (
            block.origin.error(row, "").line,
            block.labels[row],
            block.importance[row],
            which[starts[row] : starts[row + 1]].tolist(),
            values[starts[row] : starts[row + 1]].tolist(),
            block.named and block.named.names_of(row),
        )
        for row in range(len(block))
    ]


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("row", range(5))
def test_the_parts_of_a_block_are_the_block(tmp_path: Path, kind: str, row: int) -> None:
    block = parsed(tmp_path, kind)
    assert len(block) == 4
    head, tail = block.split(row)
    assert (len(head), len(tail)) == (row, 4 - row)
    assert rows_of(head) + rows_of(tail) == rows_of(block)
    assert head.bad + tail.bad == block.bad
    if row < 4:
        line = block.origin.error(row, "").line
        assert [bad.line < line for bad, _ in block.bad] == [True] * len(head.bad) + [False] * len(tail.bad)
    else:
        assert tail.bad == []


def test_a_part_is_as_wide_as_its_rows(tmp_path: Path) -> None:
    block = parsed(tmp_path, "svmlight")
    assert block.width == 7
    assert [[part.width for part in block.split(row)] for row in range(5)] == [[0, 7], [1, 7], [7, 3], [7, 3], [7, 0]]


def test_parts_of_parts_and_no_entry_is_copied(tmp_path: Path) -> None:
    block = tail = parsed(tmp_path, "named vw")
    assert block.named is not None
    pieces = []
    for _ in range(2000):  # an empty part in front again and again: nothing piles up
        tail = tail.split(0)[1]
    for _ in range(4):
        head, tail = tail.split(1)
        assert head.named is not None
        assert np.shares_memory(head.named.values, block.named.values) == (len(head.named.values) > 0)
        pieces += rows_of(head)
    assert pieces == rows_of(block)


def test_dense_rows_are_cut_too(tmp_path: Path) -> None:
    block = parsed(tmp_path, "svmlight")
    block.rows = DenseRows(np.arange(8.0).reshape(4, 2))
    head, tail = block.split(3)
    assert head.rows.values.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert tail.rows.values.tolist() == [[6.0, 7.0]]


def test_names_can_be_asked_for_when_the_thread_has_read_on(tmp_path: Path) -> None:
    form = CSVText((Column("a", "category"), Column("b", "category")), naming=KEPT)
    (tmp_path / "others").write_text("a,b\n" + ",\n" * 100)

    def read_others() -> None:
        (chunk,) = form.pieces(str(tmp_path / "others"))
        form.parse(chunk, "others", stop_at_bad=True)

    read_others()  # takes room that is used again
    block = parsed(tmp_path, "named csv")
    read_others()
    assert block.named is not None
    assert block.named.names_of(1) == ["town=B\nern", "age"]
    assert block.named.text_at(int(block.origin.places[1])) == b'"B\nern",2,b'  # type: ignore[attr-defined]
