"""Columns that were the index of a frame of pandas: a file means what the frame did that it was written from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from onlinear import choose_recipe, profile_of
from onlinear.streams.stream import open_stream
from stream_rows import rows_in

ROWS = 60
UNNAMED = "__index_level_0__"


def frame() -> pd.DataFrame:
    """Rows in another order, as a split leaves them: pandas writes their index as the last column."""
    numbers = np.random.default_rng(1)
    cells = {"x": numbers.normal(size=ROWS), "z": numbers.normal(size=ROWS), "y": numbers.choice(["p", "q"], ROWS)}
    return pd.DataFrame(cells).sample(frac=1.0, random_state=0)


def in_file(table: pd.DataFrame, folder: Path) -> str:
    table.to_parquet(folder / "rows.parquet")
    return str(folder / "rows.parquet")


@pytest.mark.parametrize("options", [{}, {"target": "y"}, {"target": "x"}, {"target": "x", "weight": "z"}])
def test_an_index_without_a_name_is_neither_target_nor_feature(tmp_path: Path, options: dict[str, Any]) -> None:
    table = frame().assign(z=1.0)
    assert pa.Table.from_pandas(table).schema.names[-1] == UNNAMED
    expected = rows_in(open_stream(table, bits=8, **options))
    for source in (in_file(table, tmp_path), pa.Table.from_pandas(table)):
        assert rows_in(open_stream(source, bits=8, **options)) == expected


def test_a_profile_ignores_it_and_takes_the_target_before_it(tmp_path: Path) -> None:
    profile = profile_of(in_file(frame(), tmp_path))
    assert profile.target.name == "y"
    assert {column.name: column.role for column in profile.columns}[UNNAMED] == "ignored"
    assert UNNAMED in choose_recipe(profile).stream["ignore"]


@pytest.mark.parametrize("role", ["target", "weight", "categories"])
def test_it_is_what_it_is_named(tmp_path: Path, role: str) -> None:
    options: dict[str, Any] = {"target": "y"} | {role: [UNNAMED] if role == "categories" else UNNAMED}
    stream = open_stream(in_file(frame(), tmp_path), bits=8, **options)
    kinds = dict(stream.format.columns)  # type: ignore[attr-defined]
    assert kinds[UNNAMED] == {"categories": "category"}.get(role, role)


def test_it_may_be_the_time(tmp_path: Path) -> None:
    table = frame()
    profile = profile_of(in_file(table, tmp_path), target="y", time=UNNAMED)
    assert profile.times is not None
    assert profile.times.tolist() == table.index.tolist()


def test_an_index_with_a_name_is_a_column_but_no_target(tmp_path: Path) -> None:
    table = frame().set_index("x")
    stream = open_stream(in_file(table, tmp_path), bits=8)
    assert dict(stream.format.columns) == {"z": "number", "y": "target", "x": "number"}  # type: ignore[attr-defined]
    assert rows_in(stream) == rows_in(open_stream(table.reset_index(), bits=8))


@pytest.mark.parametrize("noted", [b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": [[], "y"]}', b"[" * 9999])
def test_whatever_a_file_says_of_its_index_it_can_be_read(noted: bytes) -> None:
    table = pa.table({"y": [1.0, 2.0], "x": [3.0, 4.0]}).replace_schema_metadata({b"pandas": noted})
    assert [label for label, _, _ in rows_in(open_stream(table, bits=8))] == [3.0, 4.0]


def test_where_there_is_nothing_else_the_index_is_learned() -> None:
    table = pa.Table.from_pandas(pd.DataFrame(index=pd.Index([1.0, 2.0], name="y")))
    assert [label for label, _, _ in rows_in(open_stream(table, bits=8))] == [1.0, 2.0]
