"""Products of features, as the slow parser makes them; those of tables with texts are in ``test_words.py``."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from onlinear.errors import BadLine, OnlinearError
from onlinear.features import blocks, derived
from onlinear.features.derived import with_products
from onlinear.features.names import cross_hash, hash_name
from onlinear.features.naming import NamedRows, Naming
from onlinear.kernels.text import crosses as kernel
from onlinear.streams import tables, text_lines
from onlinear.streams.arrow import infer_table
from onlinear.streams.csv_inference import infer
from onlinear.streams.formats import Format
from onlinear.streams.jsonlines import infer_keys
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import Stream
from onlinear.streams.text_lines import chunks
from onlinear.streams.vwtext import VWText
from slow_parsers import Feature, Row, entries, placed, vw_line
from stream_rows import rows_in

BITS = 6  # few, so that names collide

PAIRS = st.lists(st.tuples(*[st.sampled_from(["", "a", "b", "ä", "c"])] * 2), min_size=1, max_size=3).map(tuple)


@st.composite
def lines(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["1 ", "-1 ", "", "1 2 ", "x "]))
    for _ in range(draw(st.integers(0, 4))):
        text += "|" + draw(st.sampled_from(["", "a", "b", "ä", "a:2", "b:1e200", ":3"]))
        for _ in range(draw(st.integers(0, 4))):
            text += " " + draw(st.sampled_from(["x", "y", "z", "a^x", "x*y", "x:2", "y:-0.5", "z:1e200", "q:0", "q:"]))
        text += " "
    return text


def features_of(row: Row) -> list[Feature]:
    return [
        Feature(group.decode(), name.decode(), value)  # type: ignore[attr-defined]
        for (name, value), group in zip(row.features, row.groups, strict=True)
    ]


@settings(max_examples=400)
@given(st.lists(lines(), max_size=6), PAIRS, st.integers(1, 200), st.sampled_from([BITS, 18]))
def test_lines_with_crosses_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], pairs: tuple[tuple[str, str], ...], size: int, bits: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "crosses.vw"
    file.write_text("\n".join(texts))
    rows, bad = [], []
    for chunk in chunks(file, size):
        block = VWText(Naming(bits, crosses=pairs)).parse(chunk, "crosses.vw", stop_at_bad=False)
        starts, columns, values = block.rows  # type: ignore[misc]
        for a, b in itertools.pairwise(starts.tolist()):
            rows.append(list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
        bad += [line.line for line, _ in block.bad]
    wanted, wrong = [], []
    for number, text in enumerate(texts, 1):
        row = vw_line(text.encode())
        found = placed(entries(features_of(row), pairs), bits) if isinstance(row, Row) else None
        if found is not None:
            wanted.append(found)
        elif row is not None:
            wrong.append(number)
    assert repr(rows) == repr(wanted)
    assert bad == wrong


@settings(max_examples=200)
@given(st.lists(lines(), max_size=4), PAIRS)
def test_names_are_those_of_the_entries(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], pairs: tuple[tuple[str, str], ...]
) -> None:
    file = tmp_path_factory.getbasetemp() / "names.vw"
    file.write_text("\n".join(texts))
    found = []
    for chunk in chunks(file):
        named = VWText(Naming(None, crosses=pairs)).parse(chunk, "names.vw", stop_at_bad=False).named
        assert named is not None
        for row, (a, b) in enumerate(itertools.pairwise(named.starts.tolist())):
            values = named.values[a:b].tolist()
            found.append(list(zip(named.names_of(row), named.hashes[a:b].tolist(), values, strict=True)))
    read = [vw_line(text.encode()) for text in texts]
    wanted = [entries(features_of(row), pairs) for row in read if isinstance(row, Row)]
    fine = [row for row in wanted if all(np.isfinite(entry.value) for entry in row)]
    assert repr(found) == repr([list(map(tuple, row)) for row in fine])


def named_rows(rows: list[list[Feature]]) -> NamedRows:
    """Rows as any format may have them."""
    flat = [feature for row in rows for feature in row]
    return NamedRows(
        np.array([0, *itertools.accumulate(map(len, rows))], np.int32),
        np.array([hash_name(name) for _, name, _ in flat], np.uint64),
        np.array([value for _, _, value in flat], float),
        lambda row: [name for _, name, _ in rows[row]],
        lambda place: b"",
        np.array([hash_name(group) for group, _, _ in flat], np.uint64),
    )


def test_products_by_hand() -> None:
    rows = [
        [
            Feature("u", "u^age", 3.0),
            Feature("i", "i^red", 2.0),
            Feature("u", "u^tall", -1.0),
            Feature("x", "x^o", 9.0),
        ],
        [],
        [Feature("i", "i^red", 5.0)],
    ]
    named, wrong = with_products(named_rows(rows), (("u", "i"), ("i", "u"), ("u", "u")))
    assert not wrong.any()
    assert named.starts.tolist() == [0, 11, 11, 12]
    own = [name for _, name, _ in rows[0]]
    both = "*".join(sorted(["u^age", "u^tall"], key=hash_name))
    products = ["u^age*i^red", "u^tall*i^red", "i^red*u^age", "i^red*u^tall", "u^age*u^age", both, "u^tall*u^tall"]
    assert named.names_of(0) == own + products
    assert named.values[:11].tolist() == [3, 2, -1, 9, 6, -2, 6, -2, 9, -3, 1]
    wanted = [cross_hash(*map(hash_name, name.split("*"))) for name in products]
    assert named.hashes[4:11].tolist() == wanted
    assert named.names_of(2) == ["i^red"]


@given(st.permutations(["w", "x", "y", "z"]))
def test_within_a_group_the_order_does_not_matter(names: list[str]) -> None:
    named, _ = with_products(named_rows([[Feature("g", name, 1.0) for name in names]]), (("g", "g"),))
    usual, _ = with_products(named_rows([[Feature("g", name, 1.0) for name in "wxyz"]]), (("g", "g"),))
    assert sorted(zip(named.names_of(0), named.hashes, strict=True)) == sorted(
        zip(usual.names_of(0), usual.hashes, strict=True)
    )


def test_many_groups_and_all_their_pairs() -> None:
    """More groups than there is room for before two of them meet in a slot."""
    names = [f"c{k}" for k in range(60)]
    rows = [[Feature(name, name, float(k + 1)) for k, name in enumerate(names)]]
    pairs = tuple(itertools.combinations_with_replacement(names, 2))
    named, _ = with_products(named_rows(rows), pairs)
    wanted = entries(rows[0], pairs)
    assert named.hashes.tolist() == [entry.hash for entry in wanted]
    assert named.values.tolist() == [entry.value for entry in wanted]
    assert len(set(named.hashes.tolist())) == 60 + 60 * 61 // 2


@pytest.mark.parametrize("bits", [10, 16, 22])
def test_products_are_spread_as_evenly_as_chance_would(bits: int) -> None:
    """In any of the columns there is one in 2**bits; how often two meet there is nearly Poisson."""
    first = [hash_name(f"a={k}") for k in range(256)]
    second = [hash_name(f"b={k}") for k in range(256)]
    columns = [cross_hash(a, b) >> (64 - bits) for a in first for b in second]
    counts = np.bincount(columns, minlength=1 << bits)
    n = len(columns)
    meetings = float((counts * (counts - 1) // 2).sum())
    expected = n * (n - 1) / 2 / (1 << bits)
    assert abs(meetings - expected) < 6 * expected**0.5


def test_a_row_with_too_many_features_is_a_bad_line(tmp_path: Path) -> None:
    many = " ".join(f"x{k}" for k in range(1 << 12))
    file = tmp_path / "many.vw"
    file.write_text(f"1 |a x |b y\n1 |a {many} |b {many}\n1 |a x |b z\n")
    form = VWText(Naming(18, crosses=(("a", "b"),)))
    with pytest.raises(BadLine, match=r"many.vw:2:1: crosses give this row more than 16,777,216 features"):
        list(Stream([str(file)], form))
    bad: list[int] = []
    (block,) = Stream([str(file)], form, on_bad=lambda line, text: bad.append(line.line))
    assert (bad, block.rows.starts.tolist()) == ([2], [0, 3, 6])
    assert block.origin.error(1, "").line == 3


def test_as_many_features_as_there_may_be_are_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[Feature("a", f"x{k}", 1.0) for k in range(5792)]]  # 5792 * 5793 / 2 products, and themselves
    rows.append(rows[0][:5791])
    _, wrong = with_products(named_rows(rows), (("a", "a"),))
    most = 5791 + 5791 * 5792 // 2
    assert 5792 + 5792 * 5793 // 2 > kernel.MOST >= most
    assert wrong.tolist() == [kernel.TOO_MANY, kernel.FINE]
    monkeypatch.setattr(derived, "MOST_ENTRIES", 10**6)
    with pytest.raises(OnlinearError, match=f"crosses give 2 rows {most:,} features, too many to hold"):
        with_products(named_rows(rows), (("a", "a"),))


def test_an_infinite_product_is_a_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "huge.vw"
    file.write_text("1 |a x:5\n1 |a x:1e200 |b y:1e200\n1 |a x:6 |b y:2\n")
    form = VWText(Naming(18, crosses=(("a", "b"),)))
    blocks = iter(Stream([str(file)], form))
    assert next(blocks).rows.values.tolist() == [5.0]
    with pytest.raises(BadLine, match=r"huge.vw:2:1: a product of two crossed features is infinite: scale them"):
        next(blocks)
    (block,) = Stream([str(file)], form, on_bad=lambda line, text: None)
    assert [sorted(block.rows.values[a:b].tolist()) for a, b in itertools.pairwise(block.rows.starts)] == [
        [5.0],
        [2.0, 6.0, 12.0],
    ]


# ------------------------------------------------------------------ pieces

CROSSED = Naming(BITS, crosses=(("a", "b"), ("b", "b")))


def sources_and_formats(folder: Path, rows: int) -> Iterator[tuple[Any, Format]]:
    """The same rows in a file of each kind, and in memory, with crosses of two texts."""
    rng = np.random.default_rng(7)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 50, 6)) for _ in range(2 * rows)]
    table = pa.table({"a": texts[:rows], "b": texts[rows:], "y": np.arange(float(rows))})
    lines = table.to_pylist()
    (folder / "rows.vw").write_text("".join(f"{row['y']} |a {row['a']} |b {row['b']}\n" for row in lines))
    yield str(folder / "rows.vw"), VWText(CROSSED)
    (folder / "rows.csv").write_text("a,b,y\n" + "".join(f"{row['a']},{row['b']},{row['y']}\n" for row in lines))
    yield (
        str(folder / "rows.csv"),
        infer(folder / "rows.csv", ReadOptions(text=["a", "b"], bits=BITS, crosses=CROSSED.crosses)),
    )
    file = str(folder / "rows.jsonl")
    Path(file).write_text("".join(json.dumps(row) + "\n" for row in lines))
    yield file, infer_keys([file], ReadOptions(target="y", text=["a", "b"], bits=BITS, crosses=CROSSED.crosses))
    yield table, infer_table([table], ReadOptions(text=["a", "b"], bits=BITS, crosses=CROSSED.crosses))
    parquet.write_table(table, folder / "rows.parquet")
    yield (
        str(folder / "rows.parquet"),
        infer_table([table], ReadOptions(text=["a", "b"], bits=BITS, crosses=CROSSED.crosses)),
    )


def test_pieces_are_smaller_where_features_are_crossed_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 400
    monkeypatch.setattr(tables, "MOST_ROWS", rows)
    for source, form in sources_and_formats(tmp_path, rows):
        monkeypatch.setattr(text_lines, "CHUNK", 1 << 16)
        found = {}
        for smaller in (1, 16, 1 << 30):
            monkeypatch.setattr(blocks, "SMALLER", smaller)
            read = list(Stream([source], form))
            found[smaller] = (repr(rows_in(read)), max(map(len, read)))
        everything, largest = found[1]
        assert largest == rows
        assert {rows for rows, _ in found.values()} == {everything}
        assert found[1 << 30][1] < 5 < found[16][1] <= rows / 4, form
