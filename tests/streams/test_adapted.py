"""A format that is known, for other files: those to predict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from onlinear.errors import BadLine, OnlinearError
from onlinear.streams.stream import Stream, open_alike, open_stream
from stream_rows import rows_in, rows_meant

BITS = 12
FEATURES = [{"age": 39.0, "town": "Bern"}, {"age": 7.0, "town": "Thun"}]
MEANT = rows_meant(FEATURES, [0, 0], [1.0, 1.0], BITS)
ROWS = [row | {"w": 2.0, "y": y} for row, y in zip(FEATURES, ["yes", "no"], strict=True)]


def saved(folder: Path, form: str, rows: list[dict[str, Any]]) -> Any:
    """The rows as a source of some form."""
    frame, file = pd.DataFrame(rows), folder / f"rows{len(list(folder.iterdir()))}.{form}"
    match form:
        case "csv":
            frame.to_csv(file, index=False)
        case "jsonl":
            file.write_text("\n".join(map(json.dumps, rows)))
        case "parquet":
            parquet.write_table(pa.Table.from_pylist(rows), file)
        case "pandas":
            return frame
        case "polars":
            return pl.DataFrame(rows)
    return file


def trained(folder: Path, form: str) -> Stream:
    return open_stream(saved(folder, form, ROWS), target="y", weight="w", bits=BITS)


def reordered(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: row.get(name, "extra") for name in names}


FORMS = ["csv", "jsonl", "parquet", "pandas", "polars"]
TABLES = [form for form in FORMS if form != "jsonl"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "names",
    [
        ("age", "town", "w", "y"),
        ("y", "town", "age", "w"),
        ("town", "age"),
        ("town", "w", "age"),
        ("y", "age", "town"),
    ],
)
def test_columns_in_another_order_and_without_labels(tmp_path: Path, form: str, names: tuple[str, ...]) -> None:
    known = trained(tmp_path, form).format
    rows = [reordered(row, *names) for row in ROWS]
    found = rows_in(open_alike(saved(tmp_path, form, rows), known, labelled=False))
    assert [entries for _, _, entries in found] == [entries for _, _, entries in MEANT]
    assert all(np.isnan(label) and weight == 1.0 for label, weight, _ in found)


@pytest.mark.parametrize("form", FORMS)
def test_labels_that_are_missing_do_not_matter_to_who_predicts(tmp_path: Path, form: str) -> None:
    known = trained(tmp_path, form).format
    rows = [row | {"y": None, "w": None} for row in ROWS]
    found = rows_in(open_alike(saved(tmp_path, form, rows), known, labelled=False))
    assert [entries for _, _, entries in found] == [entries for _, _, entries in MEANT]


@pytest.mark.parametrize("form", FORMS)
def test_labelled_rows_in_another_order(tmp_path: Path, form: str) -> None:
    stream = trained(tmp_path, form)
    other = saved(tmp_path, form, [reordered(row, "y", "w", "town", "age") for row in ROWS])
    assert rows_in(open_alike(other, stream.format)) == rows_in(stream)


@pytest.mark.parametrize("form", TABLES)
def test_columns_nobody_knows_are_ignored(tmp_path: Path, form: str) -> None:
    known = trained(tmp_path, form).format
    rows = [reordered(row, "new", "town", "newer", "age") for row in ROWS]
    found = rows_in(open_alike(saved(tmp_path, form, rows), known, labelled=False))
    assert [entries for _, _, entries in found] == [entries for _, _, entries in MEANT]


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize(
    ("names", "labelled", "absent"),
    [(("age", "y", "w"), False, "town"), (("age", "town", "w"), True, "y"), (("age", "town", "y"), True, "w")],
)
def test_columns_that_are_needed(
    tmp_path: Path, form: str, names: tuple[str, ...], labelled: bool, absent: str
) -> None:
    known = trained(tmp_path, form).format
    rows = [reordered(row, *names) for row in ROWS]
    advice = "add it, with empty cells if nothing is known of it" if absent == "town" else "add it"
    said = f"has no column '{absent}': {advice}; its columns are {', '.join(names)}$"
    with pytest.raises(OnlinearError, match=said):
        open_alike(saved(tmp_path, form, rows), known, labelled=labelled)


def test_an_ignored_column_need_not_be_there(tmp_path: Path) -> None:
    known = open_stream(saved(tmp_path, "csv", ROWS), target="y", ignore=["w"], bits=BITS).format
    rows = [reordered(row, "age", "town") for row in ROWS]
    found = rows_in(open_alike(saved(tmp_path, "csv", rows), known, labelled=False))
    assert [entries for _, _, entries in found] == [entries for _, _, entries in MEANT]


@pytest.mark.parametrize("text", ["39,Bern,2,yes\n7,Thun,2,\n", "39,Bern,2\n7,Thun,2\n", "39,Bern\n7,Thun\n"])
def test_without_a_header_columns_are_counted(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.csv").write_text("39,Bern,2,yes\n7,Thun,2,no\n")
    (tmp_path / "new.csv").write_text(text)
    stream = open_stream(tmp_path / "train.csv", weight=3, bits=BITS)
    found = rows_in(open_alike(tmp_path / "new.csv", stream.format, labelled=False))
    assert [entries for _, _, entries in found] == [entries for _, _, entries in rows_in(stream)]
    assert all(np.isnan(label) and weight == 1.0 for label, weight, _ in found)


@pytest.mark.parametrize(("text", "labelled"), [("39\n", False), ("1,2,3,4,5\n", False), ("39,Bern,2\n", True)])
def test_without_a_header_another_number_of_columns_is_refused(tmp_path: Path, text: str, labelled: bool) -> None:
    (tmp_path / "train.csv").write_text("39,Bern,2,yes\n7,Thun,2,no\n")
    (tmp_path / "new.csv").write_text(text)
    known = open_stream(tmp_path / "train.csv", weight=3).format
    with pytest.raises(OnlinearError, match=r"new.csv: the first record has \d cells, not 4: has it the same columns"):
        open_alike(tmp_path / "new.csv", known, labelled=labelled)


@pytest.mark.parametrize("known", [",", "\t", ";", "|"])
@pytest.mark.parametrize("other", [",", "\t", ";", "|"])
@pytest.mark.parametrize("header", ["age,town,w,y\n", ""])
def test_the_delimiter_may_be_another_one(tmp_path: Path, known: str, other: str, header: str) -> None:
    text = header + '39,Bern,2,yes\n7,"Thun",2,no\n'
    options: dict[str, Any] = {"weight": 3, "bits": BITS, "header": bool(header)}
    (tmp_path / "train.csv").write_text(text.replace(",", known))
    (tmp_path / "new.csv").write_text(text.replace(",", other))
    stream = open_stream(tmp_path / "train.csv", **options)
    assert rows_in(open_alike(tmp_path / "new.csv", stream.format)) == rows_in(stream)


def test_another_delimiter_does_not_make_another_table_fit(tmp_path: Path) -> None:
    known = trained(tmp_path, "csv").format
    (tmp_path / "new.tsv").write_text("size\tplace\n1\t2\n")
    with pytest.raises(OnlinearError, match="has no column 'age'"):
        open_alike(tmp_path / "new.tsv", known, labelled=False)


def test_a_name_that_comes_twice_is_refused(tmp_path: Path) -> None:
    known = trained(tmp_path, "csv").format
    (tmp_path / "new.csv").write_text("age,town,age\n1,Bern,2\n")
    with pytest.raises(OnlinearError, match="there are two columns 'age'"):
        open_alike(tmp_path / "new.csv", known, labelled=False)


def test_texts_where_numbers_were_are_refused_and_nothing_at_all_is_missing(tmp_path: Path) -> None:
    known = trained(tmp_path, "pandas").format
    stream = open_alike(pd.DataFrame({"age": ["old"], "town": ["Bern"]}), known, labelled=False)
    with pytest.raises(
        OnlinearError, match=r"DataFrame: column 'age' has texts .* where numbers should be: convert it"
    ):
        list(stream)
    nothing = pd.DataFrame({"age": [None], "town": [np.nan]})
    found = rows_in(open_alike(nothing, known, labelled=False))
    assert found[0][2] == rows_meant([{"age": "?", "town": "?"}], [0], [1.0], BITS)[0][2]


def test_json_lines_without_a_label_are_refused_where_one_is_needed(tmp_path: Path) -> None:
    known = trained(tmp_path, "jsonl").format
    other = saved(tmp_path, "jsonl", FEATURES)
    with pytest.raises(BadLine, match=r":1:1: the label, key 'y', is missing"):
        list(open_alike(other, known))


@pytest.mark.parametrize(("name", "text"), [("rows.svm", "1 1:2\n"), ("rows.vw", "| a:2\n")])
def test_formats_that_say_everything_in_each_line_stay_as_they_are(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    stream = open_stream(tmp_path / name)
    assert [block.rows.values.tolist() for block in open_alike(tmp_path / name, stream.format, labelled=False)] == [
        [2.0]
    ]
    assert stream.format.adapted([tmp_path / name], labelled=True) == stream.format


def test_arrays_are_found_by_their_numbers() -> None:
    stream = open_stream(np.eye(2), target=[1, 2])
    (block,) = open_alike(2 * np.eye(2), stream.format, labelled=False)
    assert block.rows.values.tolist() == [[2.0, 0.0], [0.0, 2.0]]
    assert np.isnan(block.labels).all()
