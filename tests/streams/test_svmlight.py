"""svmlight, read as the slow parser reads it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear import BadLine
from onlinear.features.blocks import Block
from onlinear.kernels.text import line_breaks as breaks
from onlinear.streams import text_lines
from onlinear.streams.stream import Stream
from onlinear.streams.svmlight import Svmlight
from onlinear.streams.text_lines import chunks
from slow_parsers import Row, Wrong, svmlight_line

MOST = 1 << 22

# Words that are right, wrong, and nearly right, joined by blanks of all kinds.
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-100, max_value=100).map(str),
    st.sampled_from(
        ["0.5", "1", "+1", "-1", "1e5", ".5", "5.", "1e999", "1e-999", "0.12345678", "0.123456789", "00.5"]
    ),
    st.sampled_from(["5.7e-05", "-1.5E3", "1.5e", "2.x"]),
    st.sampled_from(["nan", "inf", "-inf", "", "1_0", "0x1", "1.2.3", "e5", "1e", "+-1", "٣", "\0"]),
)
INDICES = st.one_of(
    st.integers(1, 50).map(str),
    st.integers(0, MOST + 2).map(str),
    st.sampled_from(["0", "007", "-3", "", "a", "1.5", str(2**32), str(2**64 + 1), "9" * 30]),
)
ENTRIES = st.one_of(
    st.tuples(st.integers(1, 50).map(str), st.just(":"), NUMBERS).map("".join),
    st.tuples(INDICES, st.sampled_from([":", "", "::", " :"]), NUMBERS).map("".join),
    st.sampled_from(["qid:3", "qid:", "qid:x", "# a comment", "#", "1:2#3:4"]),
)
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t", " \t "])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=30)).replace(b"\n", b"")
    if draw(st.booleans()):  # a plain row
        indices = sorted(draw(st.sets(st.integers(1, 300), max_size=20)))
        text = draw(NUMBERS) + "".join(f" {index}:{draw(NUMBERS)}" for index in indices)
    else:
        words = [draw(NUMBERS), *draw(st.lists(ENTRIES, max_size=6))]
        text = draw(st.sampled_from(["", "", " "])) + "".join(word + draw(BLANKS) for word in words)
    return (text + draw(st.sampled_from(["", "", "\r", " "]))).encode()


def read_all(text: bytes, folder: Path, size: int, format: Svmlight) -> tuple[list[Row], list[BadLine]]:
    file = folder / "rows.svm"
    file.write_bytes(text)
    rows: list[Row] = []
    bad: list[BadLine] = []
    for chunk in chunks(file, size):
        block = format.parse(chunk, "rows.svm", stop_at_bad=False)
        rows += rows_of(block)
        bad += [line for line, _ in block.bad]
    return rows, bad


def rows_of(block: Block) -> list[Row]:
    starts, columns, values = block.rows  # type: ignore[misc]
    return [
        Row(label, importance, list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
        for label, importance, a, b in zip(
            block.labels.tolist(), block.importance.tolist(), starts[:-1], starts[1:], strict=True
        )
    ]


def bits(rows: list[Row]) -> list[str]:
    return [repr(row) for row in rows]  # tells -0.0 from 0.0


@settings(max_examples=400)
@given(st.lists(lines(), max_size=8), st.booleans(), st.integers(1, 200), st.sampled_from([0, 1]))
def test_rows_and_errors_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], newline: bool, size: int, first_index: int
) -> None:
    expected = [svmlight_line(line, first_index, MOST) for line in texts]
    text = b"\n".join(texts) + b"\n" * newline
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return
    rows, bad = read_all(text, tmp_path_factory.getbasetemp(), size, Svmlight(first_index, MOST))
    assert bits(rows) == bits([row for row in expected if isinstance(row, Row)])
    wrong = [(number, row.column) for number, row in enumerate(expected, 1) if isinstance(row, Wrong)]
    assert [(line.line, line.column) for line in bad] == wrong


def test_many_plain_rows(tmp_path: Path) -> None:
    """Eight entries are read at once: rows of all lengths, indices and numbers of all lengths."""
    rng = np.random.default_rng(0)
    lines = []
    for length in range(200):
        indices = np.unique(10 ** rng.uniform(0, 9, size=length % 40)).astype(np.int64)
        values = [
            f"{'-' * int(rng.integers(2))}{rng.integers(10)}.{rng.integers(10**digits):0{digits}d}"
            if rng.integers(3)
            else f"{'-' * int(rng.integers(2))}{rng.integers(10**digits)}"
            for digits in rng.integers(1, 11, size=len(indices))
        ]
        lines.append(" ".join(["1", *(f"{i}:{x}" for i, x in zip(np.unique(indices), values, strict=False))]).encode())
    rows, bad = read_all(b"\n".join(lines), tmp_path, 1 << 20, Svmlight(1, 10**9))
    assert bits(rows) == [repr(svmlight_line(line, 1, 10**9)) for line in lines]
    assert bad == []


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("x 1:2", 1, "the label 'x' is not a number"),
        ("1 2", 3, "'2' has no colon"),
        ("1 a:2", 3, "'a:2' has no index"),
        ("1 -3:2", 3, "'-3:2' has no index"),
        ("1 3:", 5, "there is no value behind the colon"),
        ("1 3:x", 5, "the value 'x' is not a finite number"),
        ("1 3:nan", 5, "the value 'nan' is not a finite number"),
        ("1 3:1e999", 5, "'1e999' is beyond the range of floating point numbers"),
        ("1e999 3:1", 1, "'1e999' is beyond the range of floating point numbers"),
        ("1 0:2", 3, "'0:2' has index 0"),
        ("1 99999999999999999999:2", 3, "the index of '99999999999999999999:2' is beyond the 4,194,304 features"),
        ("1 4194305:2", 3, "the index of '4194305:2' is beyond the 4,194,304 features"),
        ("1 7:1 3:2 7:3", 11, "index 7 is there twice"),
        ("1 7:1 07:3", 7, "index 07 is there twice"),
        ("1 qid:x 7:1", 3, "'qid:x' is no query"),
        ("3:1 4:2", 1, "the label '3:1' is not a number"),
        ("\x001 1:2", 1, "the label"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, line: str, column: int, reason: str) -> None:
    file = tmp_path / "bad.svm"
    file.write_text(f"1 1:2\n# nothing\n{line}\n1 2:3\n")
    stream = Stream([str(file)], Svmlight())
    with pytest.raises(BadLine) as caught:
        assert sum(len(block) for block in stream) == 1
    assert str(caught.value).startswith(f"{file}:3:{column}: {reason}")


@pytest.mark.parametrize("behind", ["#c", "#", "# c", "#|", "\t#", " # 1:2", "\r"])
def test_a_label_beyond_the_floats_may_have_a_comment_behind_it(tmp_path: Path, behind: str) -> None:
    (tmp_path / "rows.svm").write_bytes(f"9007199254740993{behind}\n1 1:1\n".encode())
    (block,) = Stream([str(tmp_path / "rows.svm")], Svmlight())
    assert block.labels.tolist() == [9007199254740993, 1.0]


def test_a_bad_line_ends_the_stream_after_the_rows_before_it(tmp_path: Path) -> None:
    file = tmp_path / "bad.svm"
    file.write_text("1 1:2\n1 1:3\n1 1:x\n1 1:4\n")
    blocks = iter(Stream([str(file)], Svmlight()))
    assert next(blocks).rows.values.tolist() == [2.0, 3.0]
    with pytest.raises(BadLine, match=r"bad.svm:3:5: "):
        next(blocks)


def test_bad_lines_are_handed_over_where_somebody_wants_them(tmp_path: Path) -> None:
    file = tmp_path / "bad.svm"
    file.write_bytes(b"1 1:2\nx 1:3\r\n1 1:4\n1 5\n")
    bad: list[tuple[int, bytes]] = []
    stream = Stream([str(file)], Svmlight(), on_bad=lambda line, text: bad.append((line.line, text)))
    assert np.concatenate([block.rows.values for block in stream]).tolist() == [2.0, 4.0]
    assert bad == [(2, b"x 1:3"), (4, b"1 5")]


def test_a_row_of_many_entries_out_of_order_is_sorted(tmp_path: Path) -> None:
    order = np.random.default_rng(0).permutation(200_000) + 1
    file = tmp_path / "long.svm"
    file.write_text("1 " + " ".join(f"{index}:{index / 8}" for index in order) + "\n")
    (block,) = Stream([str(file)], Svmlight())
    assert block.rows.columns.tolist() == list(range(200_000))
    np.testing.assert_array_equal(block.rows.values, np.arange(1, 200_001) / 8)


def test_there_is_as_much_slack_as_the_parsers_need() -> None:
    assert text_lines.SLACK >= breaks.SLACK
