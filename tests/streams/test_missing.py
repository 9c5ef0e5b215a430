"""Numbers that stand for nothing: the same cells are missing in every form of a table, however they are written."""

from __future__ import annotations

import decimal
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from onlinear import profile_of
from onlinear.errors import BadLine
from onlinear.streams.packing import pack_value, unpack_value
from onlinear.streams.stream import Stream, open_alike, open_stream

CELLS: dict[str, list[Any]] = {
    "whole": [1, -9, 3, -9],
    "size": [1.5, 2.0, -9.0, 0.25],
    "town": ["Bern", "-9", "Thun", "-9.0"],
    "y": ["p", "q", "p", "q"],
}
EXPECTED = [
    {"whole": 1.0, "size": 1.5, "town=Bern": 1.0},
    {"whole=?": 1.0, "size": 2.0, "town=?": 1.0},
    {"whole": 3.0, "size=?": 1.0, "town=Thun": 1.0},
    {"whole=?": 1.0, "size": 0.25, "town=-9.0": 1.0},
]


def in_csv(folder: Path, cells: dict[str, list[Any]]) -> str:
    pl.DataFrame(cells).write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def in_json(folder: Path, cells: dict[str, list[Any]]) -> str:
    pl.DataFrame(cells).write_ndjson(folder / "rows.jsonl")
    return str(folder / "rows.jsonl")


def in_parquet(folder: Path, cells: dict[str, list[Any]]) -> str:
    parquet.write_table(pa.table(cells), folder / "rows.parquet")
    return str(folder / "rows.parquet")


FORMS: dict[str, Callable[[Path, dict[str, list[Any]]], Any]] = {
    "CSV": in_csv,
    "JSON lines": in_json,
    "Parquet": in_parquet,
    "pandas": lambda folder, cells: pd.DataFrame(cells),
    "polars": lambda folder, cells: pl.DataFrame(cells),
    "Arrow": lambda folder, cells: pa.table(cells),
}


def features_in(stream: Stream) -> list[dict[str, float]]:
    """The features of each row, by their names."""
    found = []
    for block in stream.before_recipe():
        assert block.named is not None
        starts, values = block.named.starts.tolist(), block.named.values.tolist()
        for row in range(len(block)):
            found.append(dict(zip(block.named.names_of(row), values[starts[row] : starts[row + 1]], strict=True)))
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("missing", ["-9", ["", "-9"]])
def test_a_number_is_missing_by_its_value_and_a_text_by_its_letters(tmp_path: Path, form: str, missing: Any) -> None:
    source = FORMS[form](tmp_path, CELLS)
    assert features_in(open_stream(source, target="y", missing=missing, names="exact")) == EXPECTED


@pytest.mark.parametrize("form", [form for form in FORMS if form != "JSON lines"])
def test_so_it_is_to_a_profile(tmp_path: Path, form: str) -> None:
    profile = profile_of(FORMS[form](tmp_path, CELLS), target="y", missing=["-9"])
    assert [column.missing for column in profile.columns] == [0.5, 0.25, 0.25, 0.0]
    assert (profile.column("whole").low, profile.column("size").low) == (1.0, 0.25)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("role", ["target", "weight"])
def test_a_label_and_a_weight_may_be_missing_so(tmp_path: Path, form: str, role: str) -> None:
    cells = {"x": [1, 2], "n": [2.0, -9.0]}
    options = {"target": "n"} if role == "target" else {"target": "x", "weight": "n"}
    stream = open_stream(FORMS[form](tmp_path, cells), missing=["-9"], bits=4, **options)
    with pytest.raises(BadLine, match="is missing" if role == "target" else "the weight .* is not a finite number"):
        list(stream)


@pytest.mark.parametrize("form", ["CSV", "JSON lines", "Arrow"])
def test_labels_that_double_precision_merges_are_told_apart(tmp_path: Path, form: str) -> None:
    labels = [2**53, 2**53 + 1, 2**53, 2**53 + 2]
    found: list[BadLine] = []
    source = FORMS[form](tmp_path, {"x": [1, 2, 3, 4], "y": labels})
    stream = open_stream(
        source, target="y", missing=[str(2**53 + 1)], bits=4, on_bad=lambda line, text: found.append(line)
    )
    assert [label for block in stream for label in block.labels.tolist()] == [2**53, 2**53, 2**53 + 2]
    assert len(found) == 1


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (pa.array([decimal.Decimal("-9.00"), decimal.Decimal("9")]), ["a=?", "a"]),
        (pa.array([-9, 9, None], pa.int8()), ["a=?", "a", "a=?"]),
        (pa.array([-9.0, 2.0], pa.float16()), ["a=?", "a"]),
        (pa.array([-9, 9]).dictionary_encode(), ["a=?", "a=9"]),
        (pa.array([True, False]), ["a", "a"]),
    ],
    ids=["decimals", "bytes", "half precision", "codes", "truth values"],
)
def test_columns_of_every_type_of_numbers(column: pa.Array, names: list[str]) -> None:
    table = pa.table({"a": column, "y": ["p", "q", "p"][: len(column)]})
    stream = open_stream(table, missing=["-9", "1"], names="exact")
    assert [list(row) for row in features_in(stream)] == [[name] for name in names]


@pytest.mark.parametrize("form", FORMS)
def test_older_models_know_numbers_as_they_learned_them(tmp_path: Path, form: str) -> None:
    """Those whose format does not say so: of CSV the letters counted, and elsewhere no number was missing."""
    source = FORMS[form](tmp_path, CELLS)
    known = open_stream(source, target="y", missing=["-9"], names="exact").format
    fields = json.loads(json.dumps(pack_value(known)))
    old = {name: field for name, field in fields.items() if name != "valued"}
    if "held" in old:
        old = {name: field for name, field in old.items() if name not in ("held", "trimmed")}
    rows = features_in(open_alike(source, unpack_value(type(known), old)))
    assert [row.get("size") for row in rows] == [1.5, 2.0, -9.0, 0.25]
    letters = form == "CSV"
    assert [row.get("whole") for row in rows] == [1.0, None if letters else -9.0, 3.0, None if letters else -9.0]
