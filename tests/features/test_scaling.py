"""Rows that are scaled by those before them: as slowly computed, whatever the blocks."""

from __future__ import annotations

import math
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.naming import Naming, cells_of
from onlinear.features.scaling import MaxAbs, Standardise, UnitLength
from onlinear.features.vocabulary import Vocabulary
from onlinear.streams.columns import Column
from onlinear.streams.csv_text import CSVText
from onlinear.streams.text_lines import Chunk, Lines
from slow_stages import Entries, max_abs, standardised, unit_length

MOST = sys.float_info.max
ORDINARY = st.floats(-1e6, 1e6).map(lambda x: round(x, 3))
ANY = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([MOST, -MOST, 1e308, 5e-324, 0.0, -0.0])


def rows_with(values: st.SearchStrategy[float]) -> st.SearchStrategy[list[Entries]]:
    row = st.dictionaries(st.integers(0, 6) | st.just(3000), values, max_size=5)
    return st.lists(row.map(lambda entries: sorted(entries.items())), max_size=20)


def block_of(rows: list[Entries]) -> Block:
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int32)
    columns = np.array([column for row in rows for column, _ in row], np.uint32)
    values = np.array([value for row in rows for _, value in row], float)
    chunk = Chunk(np.zeros(100, np.uint8), 0, 1, 0, 0, True, 0)
    lines = Lines(chunk, "rows", np.zeros(len(rows), np.int64))
    return Block(SparseRows(starts, columns, values), np.zeros(len(rows)), np.ones(len(rows)), lines)


def entries_of(block: Block) -> list[Entries]:
    starts, columns, values = block.rows  # type: ignore[misc]
    return [
        list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def places(names: Any) -> np.ndarray:
    """Where the number columns "1" and "4" stand."""
    return np.array([int(name) for name in names])


def scaler_of(kind: type) -> Any:
    return Standardise(["4", "1"], places) if kind is Standardise else kind()


def restored(scaler: Any, arrays: dict[str, np.ndarray]) -> Any:
    """A scaler of the same kind, from arrays."""
    if isinstance(scaler, Standardise):
        return Standardise.from_arrays(arrays, scaler.names, scaler.columns_of)
    return type(scaler).from_arrays(arrays)


def bits_of(arrays: dict[str, np.ndarray]) -> Any:
    return {name: numbers.tobytes() for name, numbers in arrays.items()}


@given(rows_with(ANY))
def test_max_abs_is_what_it_says(rows: list[Entries]) -> None:
    assert entries_of(MaxAbs().learn(block_of(rows))) == max_abs(rows)


@settings(max_examples=300)
@given(rows_with(ANY))
def test_unit_length_is_what_it_says(rows: list[Entries]) -> None:
    found = entries_of(UnitLength().learn(block_of(rows)))
    for row, others in zip(found, unit_length(rows), strict=True):
        assert [x for _, x in row] == pytest.approx([x for _, x in others], rel=1e-9, abs=1e-9)
        if any(x for _, x in row):
            assert math.hypot(*(x for _, x in row)) == pytest.approx(1.0, rel=1e-12)


@settings(max_examples=300)
@given(rows_with(ORDINARY))
def test_standardised_values_are_those_of_all_values_so_far(rows: list[Entries]) -> None:
    found = entries_of(scaler_of(Standardise).learn(block_of(rows)))
    wanted = standardised(rows, {1, 4})
    assert [[column for column, _ in row] for row in found] == [[column for column, _ in row] for row in wanted]
    for row, others in zip(found, wanted, strict=True):
        assert [x for _, x in row] == pytest.approx([x for _, x in others], rel=1e-6, abs=1e-6)


@settings(max_examples=300)
@given(rows_with(ANY), st.sampled_from([MaxAbs, Standardise, UnitLength]), st.lists(st.integers(0, 20)), st.booleans())
def test_neither_blocks_nor_saving_change_a_bit_and_all_stays_finite(
    rows: list[Entries], kind: type, cuts: list[int], save: bool
) -> None:
    block = block_of(rows)
    before = block.rows.values.tobytes()
    whole, cut = scaler_of(kind), scaler_of(kind)
    wanted = whole.learn(block).rows.values
    assert np.isfinite(wanted).all()
    found, done = [], 0
    for stop in [*sorted(min(row, len(rows)) for row in cuts), len(rows)]:
        part, _ = block.split(done)[1].split(stop - done)
        found.append(cut.learn(part).rows.values)
        cut, done = restored(cut, cut.arrays()) if save else cut, stop
    assert np.concatenate(found).tobytes() == wanted.tobytes()
    state = bits_of(whole.arrays())
    assert bits_of(cut.arrays()) == state
    assert all(np.isfinite(numbers).all() for numbers in whole.arrays().values())
    assert np.isfinite(whole.apply(block).rows.values).all()
    assert bits_of(whole.arrays()) == state
    assert block.rows.values.tobytes() == before


def one_column(scaler: Any, values: list[float]) -> list[float]:
    return scaler.learn(block_of([[(1, value)] for value in values])).rows.values.tolist()


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300, 2.0**1023, 1e-310])
def test_no_size_is_too_large_or_too_small_to_standardise(size: float) -> None:
    found = one_column(scaler_of(Standardise), [size, -size, size, -size, 0.0])
    assert found == pytest.approx([0.0, -1.0, 2**-0.5, -1.0, 0.0], rel=1e-9, abs=1e-9)


def test_the_most_extreme_values_stay_finite() -> None:
    scaler = scaler_of(Standardise)
    found = one_column(scaler, [MOST, -MOST] * 500)
    assert found[-1] == pytest.approx(-1.0)
    assert scaler.arrays()["means"].tolist() == pytest.approx([0.0, 0.0], abs=MOST * 1e-3)


def test_many_values_are_as_well_known_as_numpy_knows_them() -> None:
    values = np.random.default_rng(0).normal(1e6, 3.0, 100_000)
    scaler = scaler_of(Standardise)
    one_column(scaler, values.tolist())
    arrays = scaler.arrays()
    assert arrays["counts"].tolist() == [0, 100_000]
    assert arrays["means"][1] == pytest.approx(values.mean(), rel=1e-12)
    assert arrays["deviations"][1] == pytest.approx(values.std(), rel=1e-9)


def test_what_was_never_seen_is_zero_and_what_is_far_away_is_finite() -> None:
    largest, standard = MaxAbs(), scaler_of(Standardise)
    assert one_column(largest, [1e-300, 0.0]) == [1.0, 0.0]
    one_column(standard, [1e-300, 0.0])
    block = block_of([[(1, MOST), (4, 3.0), (9000, 2.0)]])
    assert entries_of(largest.apply(block)) == [[(1, MOST), (4, 0.0), (9000, 0.0)]]
    assert entries_of(standard.apply(block)) == [[(1, MOST), (4, 0.0), (9000, 2.0)]]


def test_a_constant_column_is_zero() -> None:
    assert one_column(scaler_of(Standardise), [0.1] * 50) == [0.0] * 50


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", [MaxAbs, Standardise, UnitLength])
def test_dense_rows_are_scaled_as_sparse_ones(kind: type, dtype: type) -> None:
    values = np.random.default_rng(1).normal(size=(20, 6)).astype(dtype)
    sparse = block_of([list(enumerate(row)) for row in values.astype(float).tolist()])
    dense = block_of([[]] * 20)
    dense.rows = DenseRows(values)
    found = scaler_of(kind).learn(dense).rows
    assert isinstance(found, DenseRows)
    assert found.values.shape == values.shape
    assert found.values.ravel().tolist() == scaler_of(kind).learn(sparse).rows.values.tolist()


@pytest.mark.parametrize("naming", [Naming(None), Naming(20, keep=True), Naming(20)])
def test_the_numbers_of_a_table_are_found_however_they_are_named(tmp_path: Path, naming: Naming) -> None:
    columns = (Column("town", "category"), Column("age", "number"), Column("size", "number"), Column("y", "target"))
    form = CSVText(columns, naming=naming)
    (tmp_path / "rows.csv").write_text("town,age,size,y\nBern,,1,a\nUri,30,?,b\nUri,50,1,b\nBern,40,3,a\n")
    (chunk,) = form.pieces(str(tmp_path / "rows.csv"))
    block = form.parse(chunk, "rows.csv", stop_at_bad=True)
    columns_of = partial(cells_of, bits=20)
    if naming.remembers:
        vocabulary = Vocabulary(naming)
        block, columns_of = vocabulary.take(block, stop_at_bad=True), vocabulary.columns_of
    scaler = Standardise(["age", "size"], columns_of)
    found = [dict(row) for row in entries_of(scaler.learn(block))]
    age, size = columns_of(["age", "size"]).tolist()
    assert [row.get(age) for row in found] == [None, 0.0, 1.0, 0.0]
    assert [row.get(size) for row in found] == [0.0, None, 0.0, pytest.approx(math.sqrt(2.0))]
    assert all(value == 1.0 for row in found for column, value in row.items() if column not in (age, size))
    assert scaler.arrays()["counts"].tolist() == [3, 3]


def test_without_number_columns_there_is_nothing_to_standardise() -> None:
    with pytest.raises(OnlinearError, match="scale by max-abs instead"):
        Standardise([], places)


@pytest.mark.parametrize("kind", [MaxAbs, Standardise])
def test_damaged_arrays_are_refused(kind: type) -> None:
    scaler = scaler_of(kind)
    one_column(scaler, [1.0, 2.0])
    for name, numbers in scaler.arrays().items():
        others: list[Any] = [numbers.astype(np.float32), numbers.reshape(1, -1), -numbers.astype(numbers.dtype) - 1]
        if numbers.dtype == np.float64:
            others += [numbers * math.nan, numbers + math.inf]
        if name == "means":
            del others[2]  # they may be negative
        if kind is Standardise:
            others.append(numbers[:-1])
        for other in [*others, None]:
            broken = {key: value for key, value in (scaler.arrays() | {name: other}).items() if value is not None}
            with pytest.raises(OnlinearError, match="damaged"):
                restored(scaler, broken)
