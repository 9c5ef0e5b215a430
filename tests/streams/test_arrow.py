"""Tables by columns: Parquet, Arrow and frames say what a CSV of the same cells says."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Context, Decimal, localcontext
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import feather, ipc, parquet

import onlinear
from onlinear.errors import BadInput, BadLine, BadSource, OnlinearError
from onlinear.features.words import Words
from onlinear.streams import tables, text_lines
from onlinear.streams.arrow import ArrowTable, infer_table
from onlinear.streams.arrow_cells import ColumnContent, numbers_of
from onlinear.streams.columns import Column
from onlinear.streams.formats import format_of
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import Stream, open_alike, open_stream, sources_of
from slow_parsers import Feature, entries, placed
from slow_tables import grams
from stream_rows import rows_in, rows_meant, until_error

BITS = 5  # few, so that names collide
MISSING = ("", "?", "NA")
TOWNS = st.sampled_from(["Bern", "Zürich", "a,b", '6" pipe', "?", "NA", "x=y", "日本"])
NOTES = st.lists(st.sampled_from(["Free", "cash", "ÄRGER", "日本", "x_1", "\n", '"', ",", "?", "NA"])).map(" ".join)
ROWS = st.fixed_dictionaries(
    {
        "age": st.none() | st.integers(-(2**60), 2**60),
        "share": st.none() | st.floats(-1e300, 1e300),
        "town": st.none() | TOWNS,
        "note": st.none() | NOTES,
        "w": st.floats(0, 100),
        "y": st.sampled_from(["yes", "no"]),
    }
)
FEATURES = ("age", "share", "town", "note")
TYPES = [pa.int64(), pa.float64(), pa.string(), pa.string(), pa.float64(), pa.string()]
SCHEMA = pa.schema(list(zip((*FEATURES, "w", "y"), TYPES, strict=True)))
PAIRS = st.lists(st.tuples(*[st.sampled_from(FEATURES)] * 2), max_size=3).map(tuple)
WORDS = st.builds(Words, st.integers(1, 3), st.booleans(), st.booleans(), st.booleans())
Pairs = tuple[tuple[str, str], ...]


def features_of(row: dict[str, Any], words: Words) -> Iterator[Feature]:
    """The features of a row, by the specification."""
    for key in FEATURES:
        cell = row[key]
        if cell is None or (isinstance(cell, str) and cell.strip(" \t\r") in MISSING):
            yield Feature(key, f"{key}=?", 1.0)
        elif key == "note":
            yield from (Feature(key, f"{key}={gram}", value) for gram, value in grams(cell, words))
        else:
            yield Feature(key, f"{key}={cell}", 1.0) if isinstance(cell, str) else Feature(key, key, float(cell))


def said_of(words: Words) -> dict[str, Any]:
    """The reading options that cut texts so."""
    return {"ngrams": words.ngrams, "lower": words.lower, "presence": words.presence, "unit_length": words.unit}


def meant(rows: list[dict[str, Any]], words: Words = Words(), crosses: Pairs = ()) -> tuple[list[Any], int]:
    """The good rows, and how many are bad, as a product of theirs is infinite."""
    found = [placed(entries(list(features_of(row, words)), crosses), BITS) for row in rows]
    good = [(row["y"], row["w"], cells) for row, cells in zip(rows, found, strict=True) if cells is not None]
    return good, len(rows) - len(good)


def read(source: Any, **options: Any) -> tuple[list[Any], int]:
    said = {"target": "y", "weight": "w", "text": ["note"], "bits": BITS} | options
    chosen, name = sources_of(source, None)
    bad: list[BadLine] = []
    stream = Stream(chosen, format_of(name, chosen, ReadOptions(**said)), on_bad=lambda line, _: bad.append(line))
    return rows_in(stream), len(bad)


def files_of(table: pa.Table, folder: Path, size: int) -> Iterator[Path]:
    """The table in files of every kind, in batches of a size."""
    parquet.write_table(table, folder / "rows.parquet", row_group_size=size)
    yield folder / "rows.parquet"
    feather.write_feather(table, folder / "rows.feather", chunksize=size)
    yield folder / "rows.feather"
    for name, kind in (("file.arrow", ipc.new_file), ("stream.ipc", ipc.new_stream)):
        with kind(folder / name, table.schema) as out:
            out.write_table(table, max_chunksize=size)
        yield folder / name


def frames_of(table: pa.Table) -> Iterator[Any]:
    """The table in memory of every kind."""
    yield table
    yield pa.RecordBatch.from_pylist(table.to_pylist(), table.schema)
    yield table.to_pandas()
    yield table.to_pandas().astype({"town": "category", "age": "Int64"})
    yield pl.from_arrow(table)
    yield pl.from_arrow(table).with_columns(pl.col("town").cast(pl.Categorical))  # type: ignore[union-attr]
    for name in ("town", "note"):
        encoded = table.column(name).cast(pa.dictionary(pa.int8(), pa.string()))
        yield table.set_column(FEATURES.index(name), name, encoded)


def text_files_of(rows: list[dict[str, Any]], folder: Path) -> Iterator[Path]:
    """The rows as CSV and JSON lines."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(SCHEMA.names), quoting=csv.QUOTE_MINIMAL)
    writer.writeheader()
    writer.writerows(rows)
    (folder / "rows.csv").write_text(out.getvalue(), newline="")
    yield folder / "rows.csv"
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    yield folder / "rows.jsonl"


@settings(max_examples=60, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=12), st.tuples(*[st.integers(1, 5)] * 2), st.integers(1, 999), WORDS, PAIRS)
def test_the_same_table_in_every_form_gives_the_same_rows(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[dict[str, Any]],
    size_and_most: tuple[int, int],
    chunk: int,
    words: Words,
    crosses: Pairs,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    table = pa.Table.from_pylist(rows, SCHEMA)
    expected = meant(rows, words, crosses)
    options = said_of(words) | {"bits": BITS, "crosses": crosses}
    size, most = size_and_most
    with mock.patch.object(tables, "MOST_ROWS", most), mock.patch.object(text_lines, "CHUNK", chunk):
        for source in (*files_of(table, folder, size), *frames_of(table)):
            if isinstance(source, pd.DataFrame) and source["age"].dtype == "float64":
                continue  # whole numbers beyond 2**53 were rounded by pandas, as they are here
            assert repr(read(source, **options)) == repr(expected), source  # the same zeros, too
        if all(any(row[key] is not None for row in rows) for key in ("age", "share")):
            for file in text_files_of(rows, folder):
                more = {"header": True} if file.suffix == ".csv" else {}
                assert repr(read(file, **options, **more)) == repr(expected), file


def test_whole_numbers_with_gaps_in_pandas() -> None:
    rows = [{"age": 39, "share": 0.5, "town": "a", "note": "a b", "w": 1.0, "y": "no"}]
    rows += [{"age": None, "share": None, "town": None, "note": None, "w": 2.0, "y": "yes"}]
    assert read(pd.DataFrame(rows)) == meant(rows)


COLUMN_TYPES = [
    (pa.array([1, None, 3], pa.uint8()), [1, "?", 3]),
    (pa.array([2**63 + 1, 5, 0], pa.uint64()), [2**63 + 1, 5, 0]),
    (pa.array([1.5, math.nan, None], pa.float32()), [1.5, "?", "?"]),
    (pa.array([1.5, 2.0, None]).cast(pa.float16()), [1.5, 2.0, "?"]),
    (pa.array([True, False, None]), [1, 0, "?"]),
    (pa.array(["1.50", None, "2.25"]).cast(pa.decimal128(5, 2)), [1.5, "?", 2.25]),
    (pa.array(["a", None, " NA "]), ["a", "?", "?"]),
    (pa.array(["a", "b", None], pa.large_string()), ["a", "b", "?"]),
    (pa.array(["a", "b", None], pa.string_view()), ["a", "b", "?"]),
    (pa.array([None, None, None]), ["?", "?", "?"]),
    (pa.array([None, None, None]).dictionary_encode(), ["?", "?", "?"]),
    (pa.array([3000, None, 3000]).dictionary_encode(), ["3000", "?", "3000"]),
    (pa.DictionaryArray.from_arrays([0, 1, None], pa.array(["a", None, "unused", "words", "many"])), ["a", "?", "?"]),
]


@pytest.mark.parametrize(("column", "cells"), COLUMN_TYPES, ids=[str(column.type) for column, _ in COLUMN_TYPES])
def test_types_of_columns(tmp_path: Path, column: pa.Array, cells: list[Any]) -> None:
    table = pa.table({"x": column, "y": [1.0, 2.0, 3.0]})
    expected = rows_meant([{"x": cell} for cell in cells], [1.0, 2.0, 3.0], [1.0] * 3, BITS)
    assert rows_in(open_stream(table, bits=BITS)) == expected
    with ipc.new_file(tmp_path / "rows.arrow", table.schema) as out:
        out.write_table(table)
    assert rows_in(open_stream(tmp_path / "rows.arrow", bits=BITS)) == expected


#: types of decimals, some of which older versions of Arrow do not know, and their most digits
DECIMALS = {"decimal32": 9, "decimal64": 18, "decimal128": 38, "decimal256": 76}
KNOWN_DECIMALS = st.sampled_from([name for name in DECIMALS if hasattr(pa, name)])


@settings(max_examples=200, deadline=None)
@given(KNOWN_DECIMALS, st.data())
def test_decimals_are_read_as_their_texts_are(kind: str, data: st.DataObject) -> None:
    precision = DECIMALS[kind]
    lowest = -5 if precision > 18 else 0  # Arrow itself cannot make short ones with a negative scale
    scale, most = data.draw(st.integers(lowest, precision)), 10 ** data.draw(st.integers(1, precision)) - 1
    digits = data.draw(st.lists(st.none() | st.integers(-most, most), min_size=1, max_size=20))
    with localcontext(Context(prec=100)):
        cells = [None if each is None else Decimal(each).scaleb(-scale) for each in digits]
    column = pa.array([None, *cells], getattr(pa, kind)(precision, scale))
    expected = [math.nan if cell is None else float(str(cell)) for cell in cells]
    assert repr(numbers_of(column[1:]).tolist()) == repr(expected)


@pytest.mark.parametrize("kind", [name for name in DECIMALS if hasattr(pa, name)])
@pytest.mark.parametrize("as_codes", [False, True])
def test_decimals_that_are_names(kind: str, as_codes: bool) -> None:
    """Of short ones Arrow makes no dictionary; of a dictionary longer than the column only what is there counts."""
    column = pa.array([Decimal("1.50"), None, Decimal("3")], getattr(pa, kind)(5, 2))
    words = ["1.5", "?", "3"]
    if as_codes:
        column, words = pa.DictionaryArray.from_arrays(pa.array([2, 1]), column), ["3", "?"]
    table = pa.table({"price": column, "y": range(len(words))})
    labels = [float(k) for k in range(len(words))]
    expected = rows_meant([{"price": word} for word in words], labels, [1.0] * len(words), BITS)
    assert rows_in(open_stream(table, categories=["price"], bits=BITS)) == expected


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pa.array([3000, None, 3600]), ["3000", "?", "3600"]),
        (pa.array([3000.0, math.nan, 0.5]), ["3000", "?", "0.5"]),
        (pa.array([True, None, False]), ["true", "?", "false"]),
    ],
)
def test_numbers_that_are_names(column: pa.Array, words: list[str]) -> None:
    stream = open_stream(pa.table({"zip": column, "y": [1, 2, 3]}), categories=["zip"], bits=BITS)
    assert rows_in(stream) == rows_meant([{"zip": word} for word in words], [1.0, 2.0, 3.0], [1.0] * 3, BITS)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array([1, 2]), [1.0, 2.0]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array(["a ", "b"]), ["a", "b"]),
        (pa.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
    ],
)
def test_labels(labels: pa.Array, expected: list[Any]) -> None:
    stream = open_stream(pa.table({"y": labels, "x": [1, 2]}), target=1)
    assert [label for label, _, _ in rows_in(stream)] == expected


TEXT_COLUMNS = [
    (pa.array(["Free cash", None, " NA "]), [{"x=free": 1, "x=cash": 1}, {"x": "?"}, {"x": "?"}]),
    (pa.array(["no", "a a", "-", "b"], pa.large_string())[1:], [{"x=a": 2}, {}, {"x=b": 1}]),
    (pa.array(["a", "twelve bytes and more", None], pa.string_view()), [{"x=a": 1}, None, {"x": "?"}]),
    (pa.array([None, None, None]), [{"x": "?"}] * 3),
    (pa.array(["b a", None, "b a"]).dictionary_encode(), [{"x=b": 1, "x=a": 1}, {"x": "?"}, {"x=b": 1, "x=a": 1}]),
    (pa.array([1.5, math.nan, 30.0]), [{"x=1": 1, "x=5": 1}, {"x": "?"}, {"x=30": 1}]),
    (pa.array([True, None, False]), [{"x=true": 1}, {"x": "?"}, {"x=false": 1}]),
]


@pytest.mark.parametrize(("column", "cells"), TEXT_COLUMNS, ids=[str(column.type) for column, _ in TEXT_COLUMNS])
def test_types_of_text_columns(column: pa.Array, cells: list[Any]) -> None:
    cells = [
        cell if cell is not None else dict.fromkeys(["x=twelve", "x=bytes", "x=and", "x=more"], 1) for cell in cells
    ]
    table = pa.table({"x": column, "y": [1.0, 2.0, 3.0]})
    stream = Stream([table], infer_table([table], ReadOptions(text=["x"], bits=30)))
    assert rows_in(stream) == rows_meant(cells, [1.0, 2.0, 3.0], [1.0] * 3, 30)


# ------------------------------------------------------------------ what is wrong

GOOD = {"x": 1.0, "town": "a", "w": 1.0, "n": 2.0}


@pytest.mark.parametrize(
    ("change", "column", "reason"),
    [
        ({"x": math.inf}, 1, "inf in the column 'x' is not a finite number: mend it, or make it null"),
        ({"x": -math.inf, "w": -1.0}, 1, "-inf in the column 'x' is not a finite number"),
        ({"w": -1.0}, 3, "the weight -1.0 is not a finite number of at least 0: mend it, or take another column"),
        ({"w": None}, 3, "the weight None is not a finite number"),
        ({"w": math.inf}, 3, "the weight inf is not a finite number"),
        ({"n": None}, 4, "the label, column 'n', is missing: fill it in, or leave the row out"),
        ({"n": math.nan}, 4, "the label, column 'n', is missing"),
        ({"n": math.inf}, 4, "the label inf is not a finite number: mend it, or leave the row out"),
    ],
)
@pytest.mark.parametrize("kind", range(4))
def test_bad_rows_are_named_by_row_and_column(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: dict[str, Any], column: int, reason: str, kind: int
) -> None:
    rows = [GOOD, GOOD, GOOD | change, GOOD]
    file = str(list(files_of(pa.Table.from_pylist(rows), tmp_path, 10))[kind])
    for most in (1, 2, 3, 10):
        monkeypatch.setattr(tables, "MOST_ROWS", most)
        learned, error = until_error(open_stream(file, weight="w"))
        assert isinstance(error, BadLine)
        assert (len(learned), error.source, error.line, error.column) == (2, file, 3, column)
        assert reason in error.reason
        bad: list[tuple[int, dict[str, Any]]] = []
        stream = open_stream(file, weight="w", on_bad=lambda line, text: bad.append((line.line, json.loads(text))))  # noqa: B023
        assert len(rows_in(stream)) == 3
        assert [(line, str(row)) for line, row in bad] == [(3, str(rows[2]))]


def test_a_missing_word_is_no_label() -> None:
    with pytest.raises(BadLine, match=r"Table:2:2: the label, column 'y', is missing"):
        list(open_stream(pa.table({"x": [1, 2], "y": ["a", " ? "]})))


def test_features_that_add_up_to_infinity() -> None:
    columns = {name: rows_meant([{name: 1}], [0], [1.0], 1)[0][2][0][0] for name in "abcdefgh"}
    other = next(name for name in "bcdefgh" if columns[name] == columns["a"])
    table = pa.table({"a": [1.0, 1e308, 2.0], other: [1.0, 1e308, 2.0], "y": [1, 2, 3]})
    bad: list[int] = []
    stream = open_stream(table, bits=1, on_bad=lambda line, text: bad.append(line.line))
    assert [label for label, _, _ in rows_in(stream)] == [1.0, 3.0]
    assert bad == [2]


def test_types_that_are_neither_numbers_nor_texts_are_refused_unless_ignored() -> None:
    table = pa.table({"x": [1, 2], "when": [datetime(2024, 1, 1, tzinfo=UTC)] * 2, "l": [[1], [2]], "y": [1, 2]})
    with pytest.raises(OnlinearError, match=r"Table: column 'when' is of the type timestamp.*make it numbers or texts"):
        open_stream(table)
    with pytest.raises(OnlinearError, match="column 'l' is of the type list"):
        open_stream(table, ignore=["when"])
    with pytest.raises(OnlinearError, match="column 'when' is of the type timestamp"):
        open_stream(table, categories=["when"], ignore=["l"])
    with pytest.raises(OnlinearError, match="column 'when' is of the type timestamp"):
        open_stream(table, target="when", ignore=["l"])
    assert len(rows_in(open_stream(table, ignore=["when", 3]))) == 2


def test_a_dictionary_of_dictionaries_is_refused() -> None:
    inner = pa.DictionaryArray.from_arrays([0, 1], ["a", "b"])
    table = pa.table({"x": [1, 2], "d": pa.DictionaryArray.from_arrays([0, 1], inner), "y": [1, 2]})
    for options in ({}, {"categories": ["d"]}, {"text": ["d"]}):
        with pytest.raises(
            OnlinearError, match=r"column 'd' is of the type dictionary<values=dictionary<.*or ignore it"
        ):
            open_stream(table, **options)
    assert len(rows_in(open_stream(table, ignore=["d"]))) == 2


def test_a_weight_of_texts_is_refused() -> None:
    with pytest.raises(OnlinearError, match=r"column 'w' has texts \(string\) where numbers should be: convert it"):
        open_stream(pa.table({"w": ["a"], "y": [1]}), weight="w")


def test_text_that_is_not_utf_8() -> None:
    town = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    with pytest.raises(BadSource, match=r"Table: column 't' has a text that is not UTF-8 in rows 1 to 2: convert it"):
        list(open_stream(pa.table({"t": town, "y": [1, 2]})))


def test_a_text_to_be_cut_that_is_not_utf_8() -> None:
    note = pa.Array.from_buffers(pa.string(), 2, pa.array([b"a", b"\xff"]).buffers())
    table = pa.table({"t": note, "y": [1, 2]})
    with pytest.raises(BadSource, match=r"Table: column 't' has a text that is not UTF-8 in rows 1 to 2: convert it"):
        list(Stream([table], infer_table([table], ReadOptions(text=["t"]))))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text": ["n0te"]}, "there is no column 'n0te': did you mean 'note'"),
        ({"text": ["y"]}, "column 'y' cannot be target and text at once"),
        ({"text": ["note"], "ignore": ["note"]}, "column 'note' cannot be text and ignore at once"),
        ({"text": ["note"], "ngrams": 6}, "ngrams is 6: choose 1 to 5"),
        ({"crosses": [("note", "y")]}, "column 'y' cannot be crossed: those with features are note, x"),
    ],
)
def test_texts_and_crosses_that_cannot_be(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(OnlinearError, match=reason):
        infer_table([pa.table({"note": ["a"], "x": [1], "y": [1]})], ReadOptions(**options))


def test_columns_may_have_the_names_of_methods() -> None:
    rows = [{"to_arrow": 1.0, "num_rows": 2.0, "to_batches": 3.0, "tocsr": 4.0, "select": 5.0, "y": 6.0}]
    dicts = [{name: value for name, value in rows[0].items() if name != "y"}]
    for source in (pd.DataFrame(rows), pl.DataFrame(rows), pa.Table.from_pylist(rows)):
        assert rows_in(open_stream(source, bits=BITS)) == rows_meant(dicts, [6.0], [1.0], BITS)


def test_weights_and_labels_of_which_nothing_is_known() -> None:
    table = pa.table({"x": [1], "w": pa.nulls(1), "y": [1.0]})
    with pytest.raises(BadLine, match=r"Table:1:2: the weight None is not a finite number of at least 0"):
        list(open_stream(table, weight="w"))
    known = open_stream(pa.table({"x": [1], "y": [1.0]})).format
    with pytest.raises(BadLine, match=r"Table:1:2: the label, column 'y', is missing"):
        list(open_alike(pa.table({"x": [1], "y": pa.nulls(1)}), known))
    with pytest.raises(OnlinearError, match=r"Table: column 'y' has texts \(string\) where numbers should be"):
        list(open_alike(pa.table({"x": [1], "y": ["a"]}), known))


@pytest.mark.parametrize("column", [[3, None], ["Bern", None], [True, False]], ids=["numbers", "texts", "truths"])
def test_a_column_of_nulls_is_what_a_later_file_says(tmp_path: Path, column: list[Any]) -> None:
    """As one of the parts of a table has, if nothing is known there."""
    empty, filled = str(tmp_path / "empty.parquet"), str(tmp_path / "filled.parquet")
    parquet.write_table(pa.table({"x": pa.nulls(4), "z": pa.nulls(4), "y": ["a", "b"] * 2}), empty)
    parquet.write_table(pa.table({"x": column * 2, "z": pa.nulls(4), "y": ["b", "a"] * 2}), filled)
    known = open_stream(filled)
    rows, others = rows_in(open_alike(empty, known.format)), rows_in(known)
    for files, expected in (([empty, filled], [*rows, *others]), ([filled, empty], [*others, *rows])):
        stream = open_stream(files)
        assert stream.format == known.format
        assert rows_in(stream) == expected
        kinds = {each.name: each.kind for each in onlinear.profile_of(files, target="y").columns}
        assert kinds == {each.name: each.kind for each in onlinear.profile_of([filled], target="y").columns}


def test_a_frame_whose_column_has_no_type_is_refused() -> None:
    with pytest.raises(BadInput, match=r"the frame has column 'x' that is of no single type \(Could not convert 'a'"):
        open_stream(pd.DataFrame({"a": [1, 2], "x": pd.Series([1, "a"], dtype=object), "y": [1, 2]}))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (
            pd.arrays.SparseArray([0.0, 1.0], fill_value=0.0),
            r"Sparse\[float64, 0.*\]: make it dense \(sparse.to_dense\)",
        ),
        (np.array([1j, 2.0]), "complex128: make it float64 or texts"),
        (np.array([1.0, 2.0], np.longdouble), f"{np.dtype(np.longdouble)}: make it float64 or texts"),
    ],
)
def test_a_frame_with_a_type_that_arrow_does_not_have_is_refused(column: Any, said: str) -> None:
    with pytest.raises(BadInput, match=f"the frame's column 'x' is of the type {said}, or drop it"):
        open_stream(pd.DataFrame({"a": ["u", "v"], "x": column, "y": [1, 2]}))


def test_a_format_that_holds_what_no_column_holds_is_refused() -> None:
    with pytest.raises(OnlinearError, match="column 'x' holds 'dates': choose one of texts, numbers, truth values"):
        ArrowTable((Column("x", "category"),), held=(ColumnContent("x", "dates"),))


def test_columns_that_are_not_there() -> None:
    with pytest.raises(OnlinearError, match="there is no column 'yy': did you mean 'y'"):
        open_stream(pa.table({"x": [1], "y": [1]}), target="yy")
    with pytest.raises(OnlinearError, match="the target of a table is one of its columns: give its name or its number"):
        open_stream(pa.table({"x": [1], "y": [1]}), target=np.array([1]))
    with pytest.raises(OnlinearError, match="there are two columns 'x'"):
        open_stream(pa.table([[1], [2], [3]], ["x", "x", "y"]))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.arrow"])
@pytest.mark.parametrize("data", [b"", b"no such thing at all", b"PAR1....", b"ARROW1\0\0...."])
def test_files_that_are_damaged(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(BadSource, match=rf"{name}: is damaged, or neither a Parquet nor an Arrow file"):
        open_stream(tmp_path / name)


def test_a_file_that_was_cut_off(tmp_path: Path) -> None:
    whole = tmp_path / "whole.arrow"
    table = pa.table({"x": np.arange(1000.0), "y": np.arange(1000.0)})
    with ipc.new_stream(whole, table.schema) as out:
        out.write_table(table, max_chunksize=100)
    (tmp_path / "cut.arrow").write_bytes(whole.read_bytes()[:-600])
    learned, error = until_error(open_stream(tmp_path / "cut.arrow"))
    assert isinstance(error, BadSource)
    assert f"{tmp_path / 'cut.arrow'}: is damaged" in str(error)
    assert [label for label, _, _ in learned] == list(range(900))


def test_standard_input_is_refused() -> None:
    with pytest.raises(BadSource, match="standard input cannot be read as Parquet or Arrow"):
        open_stream("-", "parquet")


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1], "y": [1]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table({"z": [1], "y": [1]}), tmp_path / "2.parquet")
    parquet.write_table(pa.table({"x": ["a"], "y": [1]}), tmp_path / "3.parquet")
    with pytest.raises(BadSource, match=r"2.parquet: has the columns z, y: are all tables of the same kind"):
        list(open_stream([tmp_path / "1.parquet", tmp_path / "2.parquet"]))
    with pytest.raises(OnlinearError, match=r"3.parquet: column 'x' has texts \(string\) where numbers should be"):
        list(open_stream([tmp_path / "1.parquet", tmp_path / "3.parquet"]))


# ------------------------------------------------------------------ the rest


def test_the_names_of_a_row_in_order() -> None:
    table = pa.table({"a": [1.0, math.inf, None], "t": ["u", "u", None], "y": [1, 2, 3]})
    form = infer_table([table], ReadOptions(names="exact"))
    (piece,) = form.pieces(table)
    block = form.parse(piece, "rows", stop_at_bad=False)
    assert block.named is not None
    assert [block.named.names_of(row) for row in range(2)] == [["a", "t=u"], ["a=?", "t=?"]]


@given(st.lists(ROWS, max_size=5), WORDS, PAIRS, st.booleans())
def test_names_are_those_of_the_entries(rows: list[dict[str, Any]], words: Words, crosses: Pairs, stop: bool) -> None:
    table = pa.Table.from_pylist(rows, SCHEMA)
    options = ReadOptions(weight="w", text=["note"], names="exact", crosses=crosses, **said_of(words))
    form = infer_table([table], options)
    found = []
    for piece in form.pieces(table):
        block = form.parse(piece, "rows", stop_at_bad=stop)
        assert block.named is not None
        for row, (a, b) in enumerate(itertools.pairwise(block.named.starts.tolist())):
            parts = (block.named.names_of(row), block.named.hashes[a:b].tolist(), block.named.values[a:b].tolist())
            found.append(list(zip(*parts, strict=True)))
        if block.bad and stop:
            break
    wanted = [entries(list(features_of(row, words)), crosses) for row in rows]
    fine = [all(math.isfinite(entry.value) for entry in row) for row in wanted]
    last = fine.index(False) if stop and not all(fine) else len(rows)
    assert found == [list(map(tuple, row)) for row, good in zip(wanted[:last], fine[:last], strict=True) if good]


def test_names_with_dots_and_one_that_begins_as_another(tmp_path: Path) -> None:
    table = pa.table({"a": [1.0], "a.b": [2.0], "a.c": [3.0], "y": [4.0]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    expected = rows_meant([{"a": 1.0, "a.c": 3.0}], [4.0], [1.0], BITS)
    assert rows_in(open_stream(tmp_path / "rows.parquet", bits=BITS, ignore=["a.b"])) == expected


def test_frames_whose_columns_are_numbers() -> None:
    frame = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]])
    assert rows_in(open_stream(frame, bits=BITS)) == rows_meant([{"0": 1.0}, {"0": 3.0}], [2.0, 4.0], [1.0, 1.0], BITS)


def test_a_pandas_column_that_begins_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", 2)
    frame = pd.DataFrame({"t": [None, None, "a"], "y": [1.0, 2.0, 3.0]})
    expected = rows_meant([{"t": "?"}, {"t": "?"}, {"t": "a"}], [1.0, 2.0, 3.0], [1.0] * 3, BITS)
    assert rows_in(open_stream(frame, bits=BITS)) == expected


def test_how_much_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"x": np.arange(100.0), "y": np.arange(100.0)})
    monkeypatch.setattr(tables, "MOST_ROWS", 30)
    for file in files_of(table, tmp_path, 30):
        stream = open_stream(file)
        read = [block.read for block in stream]
        assert read == sorted(read)
        assert read[-1] <= file.stat().st_size == stream.total_bytes
        assert len(set(read)) == 4
    assert open_stream(table).total_bytes is None


def test_a_wide_table_is_read_a_few_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_CELLS", 100)
    table = pa.table({f"x{k}": np.arange(50.0) for k in range(25)})
    assert {len(block) for block in open_stream(table)} == {4, 2}


def test_the_memory_for_a_file_is_that_of_a_few_batches(tmp_path: Path) -> None:
    rows = 2_000_000
    with parquet.ParquetWriter(tmp_path / "rows.parquet", pa.schema([("x", pa.float64()), ("y", pa.float64())])) as out:
        for start in range(0, rows, 100_000):
            numbers = np.arange(start, start + 100_000, dtype=np.float64)
            out.write_table(pa.table({"x": numbers, "y": numbers}))
    before = pa.total_allocated_bytes()
    most = count = 0
    for block in open_stream(tmp_path / "rows.parquet"):
        count += len(block)
        most = max(most, pa.total_allocated_bytes() - before)
    assert count == rows
    assert most < 16 * rows / 2


def test_what_is_read_of_a_table_is_what_was_asked_for() -> None:
    form = ArrowTable((Column("a", "ignore"), Column("y", "target")), "number")
    table = pa.table({"a": [1], "y": [2]})
    (piece,) = form.pieces(table)
    assert piece.batch.schema.names == ["y"]
    assert [len(block) for block in Stream([table], form)] == [1]
