"""Vowpal Wabbit's text, read as the slow parser reads it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear import BadLine
from onlinear.features.blocks import Block
from onlinear.features.names import HashedNames
from onlinear.features.naming import Naming
from onlinear.streams.stream import Stream
from onlinear.streams.text_lines import chunks
from onlinear.streams.vwtext import VWText
from slow_parsers import Row, Wrong, vw_line

BITS = 10  # few, so that names collide

NUMBERS = st.one_of(
    st.sampled_from(["1", "-1", "0.5", "2", "1.25", "3e2", "0.123456789", "5.7e-05", "-1.5E3", "1.5e", "2.x"]),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(repr),
    st.sampled_from(["nan", "inf", "1e999", "", "x", "1:2", "-"]),
)
NAMES = st.one_of(
    st.sampled_from(["a", "b", "price", "a^b", "ä", "'q", "\0", "\x01b", "=", "#"]),
    st.text(st.characters(codec="utf-8", exclude_characters="\n|: \t", exclude_categories=("Cc", "Cs")), max_size=6),
)
FEATURES = st.one_of(NAMES, st.tuples(NAMES, NUMBERS).map(":".join))
BLANKS = st.sampled_from([" ", " ", " ", "  ", "\t", ""])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=30)).replace(b"\n", b"")
    text = "".join(draw(NUMBERS) + draw(BLANKS) for _ in range(draw(st.integers(0, 3))))
    text += draw(st.sampled_from(["", "", "'tag", "tag", "'tag "]))
    for _ in range(draw(st.integers(0, 3))):
        text += "|" + draw(st.sampled_from(["", "", "ns", "f:2", "f:", ":3", "ns:x"]))
        text += "".join(draw(BLANKS) + draw(FEATURES) for _ in range(draw(st.integers(0, 5)))) + draw(BLANKS)
    return (text + draw(st.sampled_from(["", "", "\r"]))).encode()


def rows_of(block: Block) -> list[tuple[float, float, list[tuple[int, float]]]]:
    starts, columns, values = block.rows  # type: ignore[misc]
    return [
        (label, importance, list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
        for label, importance, a, b in zip(
            block.labels.tolist(), block.importance.tolist(), starts[:-1], starts[1:], strict=True
        )
    ]


def hashed(row: Row | Wrong, bits: int = BITS) -> tuple[float, float, list[tuple[int, float]]]:
    """The row as the slow parser and :class:`HashedNames` have it."""
    assert isinstance(row, Row)
    names = HashedNames(bits)
    entries = []
    for name, value in row.features:
        assert isinstance(name, bytes)
        columns, _ = names.look_up({name.decode("utf-8", "surrogateescape"): 1})
        entries.append((int(columns[0]), value))
    sums: dict[int, float] = {}
    for column, value in sorted(entries):
        sums[column] = sums[column] + value if column in sums else value
    return row.label, row.importance, list(sums.items())


@settings(max_examples=400)
@given(st.lists(lines(), max_size=6), st.booleans(), st.integers(1, 200))
def test_rows_and_errors_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory, texts: list[bytes], newline: bool, size: int
) -> None:
    text = b"\n".join(texts) + b"\n" * newline
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return
    file = tmp_path_factory.getbasetemp() / "rows.vw"
    file.write_bytes(text)
    rows, bad = [], []
    for chunk in chunks(file, size):
        block = VWText(Naming(BITS)).parse(chunk, "rows.vw", stop_at_bad=False)
        rows += rows_of(block)
        bad += [(line.line, line.column) for line, _ in block.bad]
    expected = [vw_line(line) for line in texts]
    assert bad == [(number, row.column) for number, row in enumerate(expected, 1) if isinstance(row, Wrong)]
    for found, wanted in zip(rows, [row for row in expected if isinstance(row, Row)], strict=True):
        if all(b"\\" not in name and is_utf8(name) for name, _ in wanted.features):  # type: ignore[operator]
            assert repr(found) == repr(hashed(wanted))


@pytest.mark.parametrize("bits", [1, 6, 18, 24, 25, 30])
def test_rows_of_many_words(tmp_path: Path, bits: int) -> None:
    """Words of all lengths, hashed eight at a time; rows of all lengths with repetitions, sorted in either way."""
    rng = np.random.default_rng(bits)
    words = ["".join(rng.choice(list("abcdefghij"), size=length)) for length in range(1, 41)]
    lines = []
    for length in (*range(20), 63, 64, 65, 127, 128, 129, 300):
        chosen = rng.choice(words, size=length).tolist()
        values = rng.normal(size=length)
        valued = [f"{word}:{x:g}" if x > 0 else word for word, x in zip(chosen, values, strict=True)]
        lines.append(f"1 |a {' '.join(chosen)} |b:0.5 {' '.join(valued)} | {' '.join(valued)}".encode())
    file = tmp_path / "rows.vw"
    file.write_bytes(b"\n".join(lines))
    (chunk,) = chunks(file)
    block = VWText(Naming(bits)).parse(chunk, "rows.vw", stop_at_bad=True)
    assert [repr(row) for row in rows_of(block)] == [repr(hashed(vw_line(line), bits)) for line in lines]


def is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ("1 a b", 1, "there is no bar in this line"),
        ("z | a", 1, "the label 'z' is not a finite number"),
        ("5garbage | a", 1, "the label '5garbage' is not a finite number"),
        ("nan | a", 1, "the label 'nan' is not a finite number"),
        ("1 -2 | a", 3, "the importance '-2' is not a finite number of at least 0"),
        ("1 2 3 | a", 5, "'3' is one number too many before the bar"),
        ("1 | a:inf", 7, "the value 'inf' is not a finite number"),
        ("1 | a:1e999", 7, "the value '1e999' is not a finite number"),
        ("1 | a:", 7, "the value '' is not a finite number"),
        ("1 | :3", 5, "there is no name before the colon"),
        ("1 | a:1:2", 7, "the value '1:2' is not a finite number"),
        ("1 |f:x a", 6, "the namespace's weight 'x' is not a finite number"),
        ("1 |f:1:2 a", 6, "the namespace's weight '1:2' is not a finite number"),
        ("1 | a\0b", 6, "there is a control character in this line"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, line: str, column: int, reason: str) -> None:
    file = tmp_path / "bad.vw"
    file.write_text(f"1 | a\n\n{line}\n1 | b\n")
    blocks = iter(Stream([str(file)], VWText()))
    assert len(next(blocks)) == 1
    with pytest.raises(BadLine) as caught:
        next(blocks)
    assert str(caught.value).startswith(f"{file}:3:{column}: {reason}")


def test_label_importance_tag_and_namespaces(tmp_path: Path) -> None:
    file = tmp_path / "rows.vw"
    file.write_text("1 2.5 'tag|user:2 age:3 tall |item red\n| only\n-1 zebra| striped\n")
    (block,) = Stream([str(file)], VWText())
    names = HashedNames(18)
    expected = [{"user^age": 6, "user^tall": 2, "item^red": 1}, {"only": 1}, {"striped": 1}]
    starts, columns, values = names.register_many(expected)
    np.testing.assert_array_equal(block.rows.starts, starts)
    np.testing.assert_array_equal(block.rows.columns, columns)
    np.testing.assert_array_equal(block.rows.values, values)
    assert block.importance.tolist() == [2.5, 1.0, 1.0]
    assert [math.isnan(label) for label in block.labels.tolist()] == [False, True, False]


def test_features_that_add_up_to_infinity_are_refused_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.vw"
    file.write_text("1 | a:5\n1 | a:1e308 a:1e308 b\n1 | b:6\nx | c\n1 | c:7\n")
    blocks = iter(Stream([str(file)], VWText()))
    assert next(blocks).rows.values.tolist() == [5.0]
    with pytest.raises(BadLine, match=r"rows.vw:2:1: features that share a cell"):
        next(blocks)
    bad: list[int] = []
    (block,) = Stream([str(file)], VWText(), on_bad=lambda line, text: bad.append(line.line))
    assert bad == [2, 4]
    assert block.rows.values.tolist() == [5.0, 6.0, 7.0]
    assert block.rows.starts.tolist() == [0, 1, 2, 3]
    assert block.origin.error(2, "").line == 5
