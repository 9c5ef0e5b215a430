"""Figures of columns: as slowly computed, whatever the pieces."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet
from scipy import stats

from onlinear import profile_of
from onlinear.workflow.profile.counting import ColumnMoments, Counts, moments_of
from onlinear.workflow.profile.numbers import FAR, spread_of
from onlinear.workflow.profile.sampling import Sample

NUMBERS = st.lists(st.integers(-8, 8).map(float) | st.floats(-1e3, 1e3), min_size=1, max_size=60)
CUTS = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def pieces(values: np.ndarray, sizes: list[int]) -> list[np.ndarray]:
    """The values in parts of these sizes, again and again."""
    found, start = [], 0
    while start < len(values):
        size = sizes[len(found) % len(sizes)]
        found.append(values[start : start + size])
        start += size
    return found


@settings(max_examples=50)
@given(st.lists(st.integers(0, 12), max_size=60), CUTS, st.integers(1, 15))
def test_counts_are_those_of_a_dict(values: list[int], sizes: list[int], most: int) -> None:
    counts, known = Counts(most), Counter(values)
    for piece in pieces(np.array(values, np.uint64), sizes):
        counts.add(piece)
    assert counts.complete == (len(known) <= most)
    assert len(counts) == min(len(known), most)
    if counts.complete:
        expected = sorted(known.items(), key=lambda pair: (-pair[1], pair[0]))
        assert counts.most_common(3) == expected[:3]


def test_known_values_are_counted_on_when_there_are_too_many() -> None:
    counts = Counts(2)
    for piece in ([1, 1], [2, 3, 4], [1, 3, 2]):
        counts.add(np.array(piece, np.uint64))
    assert not counts.complete
    assert counts.most_common(5) == [(1, 3), (2, 2)]


@settings(max_examples=50)
@given(NUMBERS, CUTS)
def test_moments_are_those_of_all_numbers(numbers: list[float], sizes: list[int]) -> None:
    found = ColumnMoments()
    for piece in pieces(np.array(numbers), sizes):
        found = found.merge(moments_of(piece))
    assert found.rows == len(numbers)
    assert found.mean == pytest.approx(math.fsum(numbers) / len(numbers), abs=1e-9)
    deviation = float(np.std(numbers))
    if deviation > 1e-3:
        assert found.skew == pytest.approx(stats.skew(numbers), abs=1e-4)


def test_numbers_that_are_all_the_same_have_no_skew() -> None:
    assert moments_of(np.array([2.0, 2.0])).skew is None
    assert ColumnMoments().skew is None


@pytest.mark.parametrize("far", [-1.7976931348623157e308, 1e110])
def test_a_number_whose_third_power_overflows(far: float) -> None:
    found = moments_of(np.array([far])).merge(moments_of(np.array([1.0, 2.0])))
    assert found.rows == 3
    assert found.mean == pytest.approx(far / 3.0)
    assert found.skew is None


def slow_spread(numbers: list[float]) -> tuple[float, int]:
    """The median and how many numbers are outliers, by the words of the rule."""
    median = float(np.median(numbers))
    deviation = 1.4826 * float(np.median([abs(x - median) for x in numbers]))
    if deviation == 0.0:
        deviation = 0.7413 * float(np.quantile(numbers, 0.75) - np.quantile(numbers, 0.25))
    far = [x for x in numbers if abs(x - median) > FAR * deviation]
    return median, len(far) if deviation > 0.0 else 0


@settings(max_examples=100)
@given(st.lists(st.integers(-30, 30), min_size=1, max_size=40), st.integers(0, 3))
def test_outliers_follow_the_rule(whole: list[int], far: int) -> None:
    numbers = [float(x) for x in whole] + [1000.0] * far
    found, (median, outliers) = spread_of(np.array(numbers)), slow_spread(numbers)
    assert (found.median, found.outliers) == (median, outliers)
    values, counts = np.unique(numbers, return_counts=True)
    assert spread_of(values, counts) == pytest.approx(found)


def test_bounds_hold_all_but_outliers() -> None:
    numbers = np.concatenate([np.arange(100.0), [1e6]])
    spread = spread_of(numbers)
    assert spread.bounds is not None
    low, high = spread.bounds
    assert ((numbers < low) | (numbers > high)).sum() == spread.outliers == 1
    assert spread_of(np.arange(100.0)).bounds is None


@settings(max_examples=30)
@given(st.integers(0, 40), CUTS, st.integers(1, 10))
def test_a_sample_does_not_depend_on_pieces(rows: int, sizes: list[int], size: int) -> None:
    cells = np.arange(rows, dtype=np.uint64)
    whole, parts = Sample(1, size, seed=3), Sample(1, size, seed=3)
    whole.add(0, cells[None])
    start = 0
    for piece in pieces(cells, sizes):
        parts.add(start, piece[None])
        start += len(piece)
    assert np.array_equal(whole.bits, parts.bits)
    drawn = parts.bits[0].tolist()
    assert drawn == sorted(set(drawn))
    assert len(drawn) == min(rows, size)


def test_each_row_is_drawn_equally_often() -> None:
    times = np.zeros(20)
    for seed in range(2000):
        sample = Sample(1, 5, seed)
        sample.add(0, np.arange(20, dtype=np.uint64)[None])
        times[sample.bits[0].astype(int)] += 1
    # 500 times each in the mean; 2000 draws of probability 1/4 stray by 19.4, and hardly ever five times that
    assert np.abs(times - 500).max() < 97


def test_rows_that_differ_in_a_column_that_is_not_read_are_no_duplicates(tmp_path: Path) -> None:
    """Timestamps, dates, times, durations, lists: rows of a log differ in nothing else."""
    moments = pandas.date_range("2024-01-01", periods=6)
    columns: dict[str, Any] = {
        "moment": pyarrow.array(moments),
        "day": pyarrow.array([moment.date() for moment in moments]),
        "hour": pyarrow.array([moment.time().replace(hour=hour) for hour, moment in enumerate(moments)]),
        "lasted": pyarrow.array(moments - moments[0]),
        "list": pyarrow.array([[number] for number in range(6)]),
        "bytes": pyarrow.array([bytes([number]) for number in range(6)]),
    }
    for name, cells in columns.items():
        for order, duplicates in ((range(6), 0), ([0, 1, 2, 3, 0, 1], 2)):
            plain = {"x": pyarrow.array([1.0] * 6), "y": pyarrow.array(["a", "b"] * 3)}
            table = pyarrow.table({name: cells.take(pyarrow.array(list(order))), **plain})
            parquet.write_table(table, tmp_path / "log.parquet")
            for source in (table, table.to_pandas(), tmp_path / "log.parquet"):
                assert profile_of(source, target="y").duplicates == duplicates, (name, type(source))


def test_a_missing_moment_is_one_more_moment() -> None:
    moments = pyarrow.array([None, 0, None, 0], pyarrow.timestamp("us"))
    table = pyarrow.table({"moment": moments, "x": [1.0] * 4, "y": ["a", "b", "a", "a"]})
    assert profile_of(table, target="y").duplicates == 1


def test_the_digest_sees_the_columns_that_are_not_read() -> None:
    tables = [
        pyarrow.table(
            {"moment": pyarrow.array([0, 0, last], pyarrow.timestamp("us")), "x": [1.0] * 3, "y": list("aba")}
        )
        for last in (1, 1, 2)
    ]
    one, same, other = (profile_of(table, target="y").sha256 for table in tables)
    assert one == same
    assert one != other


def test_bad_rows_do_not_shift_the_columns_that_are_not_read() -> None:
    moments = pyarrow.array([0, 1, 2, 1, 2], pyarrow.timestamp("us"))
    table = pyarrow.table({"moment": moments, "x": [1.0, math.inf, 2.0, 2.0, 2.0], "y": list("baaaa")})
    found = profile_of(table, target="y", on_bad=lambda line, text: None)
    assert (found.rows, found.duplicates) == (4, 1)
