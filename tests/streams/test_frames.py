"""Frames in memory, however their columns lie there: in chunks, as codes, with gaps, or under odd names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from onlinear import profile_of
from onlinear.errors import BadInput, BadSource
from onlinear.streams import tables
from onlinear.streams.arrow_cells import check_held, held_in
from onlinear.streams.columns import Column
from onlinear.streams.stream import open_stream
from stream_rows import rows_in

ROWS = 12
TOWNS = ["Bern", "Thun", "Zürich", "Genève"] * (ROWS // 4)
CELLS = {"x": np.arange(float(ROWS)), "town": TOWNS, "y": [0, 1, 2] * (ROWS // 3)}
FIRST = 5  # rows of the first of two parts


def parts() -> list[pa.Table]:
    table = pa.table(CELLS)
    return [table.slice(0, FIRST), table.slice(FIRST)]


def coded_apart() -> pa.Table:
    """A column of codes whose dictionary is another one in the second chunk."""
    coded = [part.set_column(1, "town", part.column("town").combine_chunks().dictionary_encode()) for part in parts()]
    return pa.concat_tables(coded)


def arrow_backed() -> pd.DataFrame:
    return pd.concat([part.to_pandas(types_mapper=pd.ArrowDtype) for part in parts()], ignore_index=True)


FORMS: dict[str, Callable[[], Any]] = {
    "pandas, concatenated": lambda: pd.concat([part.to_pandas() for part in parts()], ignore_index=True),
    "pandas, an index with every row twice": lambda: pd.concat([part.to_pandas() for part in parts()]),
    "pandas, columns of Arrow's": arrow_backed,
    "pandas, codes of Arrow's": lambda: coded_apart().to_pandas(types_mapper=pd.ArrowDtype),
    "pandas, strings with a type": lambda: pd.concat([part.to_pandas() for part in parts()]).astype({"town": "string"}),
    "polars, concatenated": lambda: pl.concat([pl.from_arrow(part) for part in parts()], rechunk=False),
    "Arrow, concatenated": lambda: pa.concat_tables(parts()),
    "Arrow, codes": coded_apart,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("most", [1 << 16, 4])
def test_chunks_of_a_frame_do_not_matter(monkeypatch: pytest.MonkeyPatch, form: str, most: int) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", most)
    frame = FORMS[form]()
    assert rows_in(open_stream(frame, bits=8)) == rows_in(open_stream(pa.table(CELLS), bits=8))
    assert profile_of(frame).rows == ROWS


def test_columns_of_the_same_name_are_refused() -> None:
    with pytest.raises(BadInput, match="the frame has 2 columns 'x': give each a name of its own"):
        open_stream(pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"]))
    with pytest.raises(BadInput, match="the frame has 2 columns '1': give each a name of its own"):
        open_stream(pd.DataFrame([[1, 2, 3]], columns=[1, "1", "y"]))


def test_names_in_levels_are_told_as_pandas_writes_them() -> None:
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    named = frame.set_axis(["('a', 1)", "('a', 2)", "('b', 1)"], axis=1)
    assert rows_in(open_stream(frame)) == rows_in(open_stream(named))


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame(), pa.table({})], ids=["pandas", "polars", "Arrow"])
def test_a_frame_without_columns_is_refused(frame: Any) -> None:
    with pytest.raises(BadSource, match="is empty: there is no table in it"):
        open_stream(frame)


@pytest.mark.parametrize(
    "frame", [pd.DataFrame(CELLS), pl.DataFrame(CELLS), pa.table(CELLS)], ids=["pandas", "polars", "Arrow"]
)
def test_a_frame_without_rows_is_a_stream_without_rows(frame: Any) -> None:
    assert list(open_stream(frame[:0])) == []


def test_a_lazy_frame_is_to_be_collected() -> None:
    for ask in (open_stream, profile_of):
        with pytest.raises(BadInput, match=r"a LazyFrame has no rows yet: collect\(\) it first"):
            ask(pl.DataFrame(CELLS).lazy())


@pytest.mark.parametrize("ask", [open_stream, profile_of])
@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([2**63, 1], "more than 63 bits: make it uint64"),
        ([10**400, 1], "or else texts"),
        (["\ud800", "b"], "surrogate"),
    ],
)
def test_cells_of_pandas_that_arrow_has_not(ask: Callable[..., Any], cells: list[Any], said: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "u": pd.Series(cells, dtype=object), "y": ["a", "b"]})
    with pytest.raises(BadInput, match=f"the frame has column 'u' with .*{said}"):
        ask(frame)


def test_a_name_that_is_no_text_is_refused() -> None:
    frame = pd.DataFrame([[1.0, 2.0]]).set_axis(pd.Index(["\ud800", "y"], dtype=object), axis=1)
    with pytest.raises(BadInput, match=r"the frame has column '\\ud800' with half of a surrogate pair"):
        open_stream(frame)


@pytest.mark.parametrize("ask", [open_stream, profile_of])
@pytest.mark.parametrize("kind", ["Int128", "UInt128"])
def test_whole_numbers_of_polars_that_arrow_has_not(ask: Callable[..., Any], kind: str) -> None:
    if not hasattr(pl, kind):
        pytest.skip(f"this polars has no {kind}")
    frame = pl.DataFrame({"u": [1, 2], "y": ["a", "b"]}).with_columns(pl.col("u").cast(getattr(pl, kind)))
    with pytest.raises(BadInput, match=f"column 'u' is of the type {kind}, which Arrow has not: cast it to Int64"):
        ask(frame)


@pytest.mark.parametrize("ask", [open_stream, profile_of])
def test_whole_numbers_of_128_bits_within_lists(ask: Callable[..., Any]) -> None:
    if not hasattr(pl, "Int128"):
        pytest.skip("this polars has no Int128")
    kinds = {"List(Int128)": pl.List(pl.Int128), "Struct({'Int128': UInt128})": pl.Struct({"Int128": pl.UInt128})}
    for shown, kind in kinds.items():
        frame = pl.DataFrame({"u": [None, None], "y": ["a", "b"]}, schema={"u": kind, "y": pl.String})
        with pytest.raises(BadInput, match=f"column 'u' is of the type {re.escape(shown)}, which Arrow has not: cast"):
            ask(frame)
    ask(pl.DataFrame({"x": [1.0, 2.0] * 9, "Int128": [1, 2] * 9, "y": ["a", "b"] * 9}))


@pytest.mark.parametrize("target", ["u", "y"])
def test_half_a_surrogate_pair_in_texts_with_a_type(target: str) -> None:
    texts = pd.array(["x", "\ud800"] * 5, dtype=pd.StringDtype("python"))
    frame = pd.DataFrame({"x": [1.0, 2.0] * 5, "u": texts, "y": ["a", "b"] * 5})
    for ask in (lambda: list(open_stream(frame, target=target)), lambda: profile_of(frame, target=target)):
        with pytest.raises(BadInput, match="the frame has column 'u' with half of a surrogate pair"):
            ask()


@pytest.mark.parametrize("form", ["pandas", "Arrow", "floats"])
def test_infinity_in_a_dictionary_of_numbers_is_bad(form: str) -> None:
    numbers = [1.0, None, np.inf] * 4
    codes = pd.Categorical(numbers) if form == "pandas" else pa.array(numbers).dictionary_encode()
    cells = {"x": numbers if form == "floats" else codes, "y": [0, 1, 2] * 4}
    frame = pa.table(cells) if form == "Arrow" else pd.DataFrame(cells)
    said = ":3:1: inf in the column 'x' is not a finite number: mend it, or make it null"
    for options in ({}, {"text": ["x"]}):
        with pytest.raises(BadInput, match=said):
            list(open_stream(frame, target="y", **options))
    with pytest.raises(BadInput, match=said):
        profile_of(frame, target="y")
    labels = frame.slice(2) if form == "Arrow" else frame[2:]
    with pytest.raises(BadInput, match=":1:1: the label inf is not a finite number"):
        list(open_stream(labels, target="x"))


def test_codes_of_views() -> None:
    words = ["so many words", "w", None]
    codes = pa.array([0, 1, None, 2] * 3, pa.int32())
    views, plain = (pa.DictionaryArray.from_arrays(codes, pa.array(words, k)) for k in (pa.string_view(), pa.string()))
    for options in ({"text": ["c"]}, {"categories": ["c"]}):
        found, expected = (
            rows_in(open_stream(pa.table({"c": cells, "y": range(12)}), target="y", bits=8, **options))
            for cells in (views, plain)
        )
        assert found == expected
    absent = pa.DictionaryArray.from_arrays(pa.array([None] * 2, pa.int32()), pa.array(words, pa.string_view()))
    numbers = held_in((Column("c", "category"),), "number", pa.schema([("c", pa.int64())]))
    check_held(numbers, pa.record_batch({"c": absent}), "a frame")
    (block,) = open_stream(pa.table({"c": views.slice(0, 1), "y": [1]}), target="y")  # fewer rows than words
    assert len(block) == 1


# ------------------------------------------------------------------ columns whose names are numbers


def frame_of_numbers() -> pd.DataFrame:
    """As ``read_csv(header=None)`` names them: 0, 1, 2, 3, of which each holds its own name."""
    return pd.DataFrame([[0.0, 1.0, 2.0, 3.0]] * 3)


@pytest.mark.parametrize("target", [2, "2", np.int64(2)])
def test_a_number_that_is_a_name_is_no_position(target: Any) -> None:
    (block,) = open_stream(frame_of_numbers(), target=target)
    assert block.y.tolist() == [2.0] * 3


def test_every_role_is_looked_for_by_its_name_first() -> None:
    frame = frame_of_numbers()
    (block,) = open_stream(frame, target=0, weight=1, ignore=[2], names="exact", features=1)
    assert block.y.tolist() == [0.0] * 3
    assert block.importance.tolist() == [1.0] * 3
    assert block.X.toarray().tolist() == [[3.0]] * 3
    profile = profile_of(frame.assign(**{"4": [5, 6, 5]}), target=4, time=1, group=2, weight=3, ignore=[0])
    roles = {column.name: column.role for column in profile.columns}
    assert roles == {"0": "ignored", "1": "time", "2": "group", "3": "weight", "4": "target"}


def test_without_such_a_name_a_number_is_a_position() -> None:
    (block,) = open_stream(pd.DataFrame(CELLS)[["y", "x"]], target=1)
    assert block.y.tolist() == CELLS["y"]
    (block,) = open_stream(frame_of_numbers(), target=-1)
    assert block.y.tolist() == [3.0] * 3


def test_the_last_column_is_the_target_whatever_the_names_are() -> None:
    (block,) = open_stream(pd.DataFrame([[1.0, 2.0, 3.0]], columns=[-1, 0, 1]))
    assert block.y.tolist() == [3.0]
    assert profile_of(pd.DataFrame([[1, 2, 3], [1, 2, 4]] * 5, columns=[-1, 0, 1])).target.name == "1"


def test_a_target_in_levels() -> None:
    frame = pd.DataFrame([[1.0, 2.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("b", 1)]))
    (block,) = open_stream(frame, target=("a", 1))
    assert block.y.tolist() == [1.0]
