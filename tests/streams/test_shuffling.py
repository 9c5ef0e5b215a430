"""Rows in a random order: a permutation within buffers, the same however the rows are cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from onlinear import open_stream
from onlinear.features.blocks import Block
from onlinear.streams import shuffling
from onlinear.streams.shuffling import order_of, shuffled

ROWS = 25


@pytest.fixture(params=["rows.svm", "rows.csv", "array"])
def stream(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Rows of which each has its number as its label, and a feature with that value."""
    if request.param == "array":
        return open_stream(np.column_stack([np.arange(1.0, ROWS + 1), np.ones(ROWS)]), target=np.arange(ROWS))
    path = tmp_path / request.param
    if request.param == "rows.svm":
        path.write_text("".join(f"{k} 1:{k + 1} {k % 3 + 2}:1\n" for k in range(ROWS)))
        return open_stream(str(path))
    path.write_text("x,town,y\n" + "".join(f"{k + 1},T{k},{k}\n" for k in range(ROWS)))
    return open_stream(str(path), names="exact")


@pytest.fixture(autouse=True)
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_ROWS", 10)
    monkeypatch.setattr(shuffling, "PIECE", 4)


def cut(stream: Any, sizes: list[int]) -> Iterator[Block]:
    """The blocks of a stream, cut anew."""
    for block in stream.blocks():
        for size in sizes:
            part, block = block.split(min(size, len(block)))
            yield part
        yield block


def mixed(number: int) -> int:
    """SplitMix64 in plain Python."""
    number = (number + 0x9E3779B97F4A7C15) % 2**64
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % 2**64
    return number ^ (number >> 31)


@given(st.integers(0, 2**64 - 1), st.integers(0, 5), st.integers(0, 2**40), st.integers(0, 30))
def test_the_order_is_that_of_keys_that_anybody_can_compute(seed: int, number: int, first: int, rows: int) -> None:
    key = mixed((mixed(seed) + number) % 2**64)
    wanted = sorted(range(rows), key=lambda row: mixed((key + first + row) % 2**64))
    assert order_of(seed, number, first, rows).tolist() == wanted


@pytest.mark.parametrize("sizes", [[], [1, 1, 1], [10], [9, 0, 2], [25]])
def test_all_rows_come_once_in_the_order_of_their_buffer(stream: Any, sizes: list[int]) -> None:
    wanted = np.concatenate([first + order_of(7, 1, first, rows) for first, rows in ((0, 10), (10, 10), (20, 5))])
    found = [stream.recipe.learn(block, True) for block in shuffled(cut(stream, sizes), 7, 1)]
    assert np.concatenate([block.labels for block in found]).tolist() == wanted.tolist()
    assert sorted(wanted.tolist()) == list(range(ROWS))
    for block in found:
        for row, label in enumerate(block.labels.tolist()):
            rows = block.rows
            if hasattr(rows, "starts"):
                values = rows.values[rows.starts[row] : rows.starts[row + 1]]
            else:
                values = rows.values[row]
            assert sorted(values.tolist()) == [1.0, label + 1.0]
    if stream.recipe.vocabulary is not None:
        names = stream.recipe.vocabulary.names()
        assert [name for name in names if name != "x"] == [f"town=T{k}" for k in wanted]


def test_errors_name_the_place_in_the_file(stream: Any) -> None:
    if not stream.files:
        return
    header = stream.files[0].endswith(".csv")
    for block in shuffled(cut(stream, [4, 9]), 0, 0):
        for row, label in enumerate(block.labels.tolist()):
            assert block.origin.error(row, "").line == label + 1 + header
            assert str(int(label)) in block.origin.text(row).decode()


def test_bad_lines_come_before_the_rows_of_their_buffer(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("".join("oops\n" if k in (3, 14) else f"{k} 1:1\n" for k in range(22)))
    stream = open_stream(str(path), on_bad=lambda line, text: None)
    seen: list[Any] = []
    for block in shuffled(stream.blocks(), 0, 0):
        seen += [line.line for line, _ in block.bad] + [None] * len(block)
    assert seen == [4] + [None] * 10 + [15] + [None] * 10


def test_a_buffer_ends_with_the_row_that_fills_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_ENTRIES", 5)
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{k} 1:1 2:1\n" for k in range(7)))
    found = [block.labels.tolist() for block in shuffled(open_stream(str(path)).blocks(), 0, 0) if len(block)]
    assert [sorted(labels) for labels in found] == [[0, 1, 2], [3, 4, 5], [6]]


@pytest.mark.parametrize("chunk", [1, 50, 1 << 20])
def test_a_buffer_holds_so_much_text_wherever_the_file_is_cut(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, chunk: int
) -> None:
    """A row is as long as what lies between its start and the one before, so that the last may be of any length."""
    monkeypatch.setattr(shuffling, "BUFFER_BYTES", 70)
    monkeypatch.setattr("onlinear.streams.text_lines.CHUNK", chunk)
    path, other = tmp_path / "rows.svm", tmp_path / "other.svm"
    path.write_text("".join(f"{k} 1:1 # {'x' * 30}\n" for k in range(4)) + f"4 1:1\n\n# {'x' * 90}\n5 1:1\n6 1:1\n")
    other.write_text("7 1:1\n8 1:1\n")
    found = [sorted(block.labels.tolist()) for block in shuffled(open_stream([path, other]).blocks(), 0, 0)]
    assert found == [[0, 1, 2], [3, 4], [5], [6, 7, 8]]


def test_bad_lines_are_not_gathered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file may have nothing else, and be larger than the memory."""
    monkeypatch.setattr("onlinear.streams.text_lines.CHUNK", 10)
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n" + "oops\n" * 50)
    stream = open_stream(str(path), on_bad=lambda line, text: None)
    seen = [len(block.bad) for block in shuffled(stream.blocks(), 0, 0) if block.bad]
    assert (sum(seen), max(seen)) == (50, 2)
