"""Tables from which nothing can be learned: each is refused in a sentence that says what to do."""

from __future__ import annotations

import gzip
import math
from pathlib import Path
from typing import Any

import pandas
import pytest

from onlinear.errors import BadInput, BadLine, BadSource, OnlinearError, Refused
from onlinear.workflow.profile.table import profile_of
from tables import table

GOOD: dict[str, list[Any]] = {
    "x": [k * k / 7 for k in range(30)],
    "n": list(range(30)),
    "when": [f"2024-01-{k + 1:02}" for k in range(30)],
    "y": ["a", "b", "b"] * 10,
}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "yy"}, "no column 'yy': did you mean 'y'"),
        ({"target": 9}, "no column 9: count from 1 to 4"),
        ({"time": "wen"}, "no column 'wen': did you mean 'when'"),
        ({"group": "y"}, "column 'y' cannot be target and group at once"),
        ({"ignore": ["x"], "weight": "x"}, "column 'x' cannot be weight and ignore at once"),
        ({"weight": "when"}, "the weight 'when' holds texts: take a column of numbers"),
        ({"task": "ranking"}, "the task 'ranking' is unknown: choose one of classification, regression"),
        ({"task": "regression"}, "the target 'y' holds texts, so there is no regression"),
        ({"target": "when"}, "the target 'when' has another value in each row"),
        ({"target": "n", "task": "classification"}, "another value in each row.*or say that the task is regression"),
    ],
)
def test_what_cannot_be_asked(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnlinearError, match=message):
        profile_of(table(tmp_path, GOOD), **options)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (["a"] * 30, "the target 'y' is a in all rows, so there is nothing to learn"),
        ([1] * 30, "the target 'y' is 1.0 in all rows"),
        (["", "?", "NA"] * 10, "the target 'y' is missing in all rows"),
    ],
)
def test_targets_that_cannot_be_learned(tmp_path: Path, target: list[Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        profile_of(table(tmp_path, GOOD | {"y": target}))


def test_a_class_with_a_single_row_is_told(tmp_path: Path) -> None:
    found = profile_of(table(tmp_path, GOOD | {"y": ["a", "b"] * 14 + ["b", "once"]}))
    assert "The class once has a single row" in " ".join(found.notes)
    found = profile_of(table(tmp_path, GOOD | {"y": ["a", "b"] * 14 + ["twice", "once"]}))
    assert "2 classes have a single row each" in " ".join(found.notes)


@pytest.mark.parametrize(
    ("times", "line", "message"),
    [
        (["2024-01-01"] * 12 + ["31.1.2024"] * 18, 14, "'31.1.2024' in the time column 'when' is neither a number nor"),
        (["2024-01-01"] * 12 + [""] * 18, 14, "the time, column 'when', is missing"),
        ([5] * 20 + [""] * 10, 22, "the time, column 'when', is missing"),
    ],
)
def test_times_that_cannot_be_read(tmp_path: Path, times: list[Any], line: int, message: str) -> None:
    file = table(tmp_path, GOOD | {"when": times})
    with pytest.raises(BadLine, match=message) as raised:
        profile_of(file, time="when")
    assert (raised.value.source, raised.value.line) == (file, line)


@pytest.mark.parametrize("kind", [pandas.to_datetime, pandas.Series, lambda times: [1.5 if t else None for t in times]])
def test_a_missing_time_is_told_at_its_column(kind: Any) -> None:
    when = kind(["2024-01-01", None] * 10)
    frame = pandas.DataFrame({"x": range(20), "when": when, "y": ["a", "b"] * 10})
    with pytest.raises(BadLine, match="DataFrame:2:2: the time, column 'when', is missing"):
        profile_of(frame, target="y", time="when")


@pytest.mark.parametrize("kind", [pandas.to_datetime, list])
def test_bad_rows_have_no_time(kind: Any) -> None:
    days = [f"2024-01-{k + 1:02}" for k in range(30)]
    x = [math.inf if k in (0, 17) else k * k / 7 for k in range(30)]
    frame = pandas.DataFrame({"x": x, "when": kind(days), "y": ["a", "b", "b"] * 10})
    found = profile_of(frame, target="y", time="when", on_bad=lambda line, text: None)
    assert found.times is not None
    good = pandas.to_datetime([day for k, day in enumerate(days) if k not in (0, 17)])
    assert found.times.tolist() == good.astype("datetime64[us]").astype("int64").tolist()


def test_a_missing_time_of_a_frame_is_told() -> None:
    frame = pandas.DataFrame({"when": pandas.to_datetime(["2024-01-01", None] * 10), "y": ["a", "b"] * 10})
    frame["x"] = range(20)
    with pytest.raises(BadLine, match="DataFrame:2:1: the time, column 'when', is missing"):
        profile_of(frame, target="y", time="when")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.csv", b"", "is empty: there is no table in it"),
        ("rows.csv", b"\n \n", "is empty: there is no table in it"),
        ("rows.csv", b"a,b\n", "has a header, but no records"),
        ("rows.csv", b"PAR1\x15\x04", "is a Parquet file, where a file of the format 'csv' should be: rename it"),
        ("rows.csv", b"<!DOCTYPE html>\n<html>", "is a web page.*download the file itself"),
        ("rows.csv", b'{"a": 1, "y": 2}\n', "is JSON.*onlinear convert"),
        ("rows.csv", b"PK\x03\x04....", "is a zip archive, as workbooks of Excel are"),
        (
            "rows.csv",
            gzip.compress(b"a,b\n1,x\n", mtime=0),
            "is gzip data by its first bytes: rename it to .*rows.csv.gz",
        ),
        ("rows.csv.gz", b"a,b\n1,x\n", "is not compressed, though its name says gzip"),
        ("rows.csv.gz", gzip.compress(b"", mtime=0), "is empty: there is no table in it"),
        ("rows.parquet", b"a,b\n1,x\n", "is damaged, or neither a Parquet nor an Arrow file"),
        ("rows.svm", b"1 1:2\n", r"onlinear convert .*rows.svm rows.csv"),
        ("rows.jsonl", b'{"a": 1}\n', r"onlinear convert .*rows.jsonl rows.csv"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(OnlinearError, match=message):
        profile_of(tmp_path / name)


def test_names_that_say_nothing_are_looked_into(tmp_path: Path) -> None:
    file = table(tmp_path, GOOD, "rows.data")
    assert profile_of(file).format == "csv"
    pandas.DataFrame(GOOD).to_parquet(tmp_path / "rows.data")
    assert profile_of(file).format == "parquet"


def test_other_sources_are_refused() -> None:
    with pytest.raises(BadSource, match="standard input can be read only once"):
        profile_of("-")
    with pytest.raises(BadSource, match="there is nothing to read"):
        profile_of([])
    with pytest.raises(OnlinearError, match="has no columns with names: give files, or a frame"):
        profile_of(7)


def test_a_bad_line_is_an_error_or_counted(tmp_path: Path) -> None:
    file = Path(table(tmp_path, GOOD))
    file.write_text(file.read_text() + "1,2\n")
    with pytest.raises(BadLine, match="this record has 2 cells"):
        profile_of(file)
    lines: list[BadLine] = []
    found = profile_of(file, on_bad=lambda line, text: lines.append(line), time="when")
    assert (found.rows, found.bad_lines, [line.line for line in lines]) == (30, 1, [32])
    assert found.times is not None
    assert len(found.times) == 30
    assert "1 line could not be read, and is left out." in found.notes


def test_unknown_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="has the format 'vw'"):
        profile_of(table(tmp_path, GOOD), format="vw")


def test_an_empty_column_is_told(tmp_path: Path) -> None:
    found = profile_of(table(tmp_path, GOOD | {"x": [""] * 30}))
    assert found.column("x").notes == ["All values of column x are missing, so it is ignored."]
