"""Edges of ranges: what they promise, of any numbers."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.workflow.profile.counting import Counts
from onlinear.workflow.profile.edges import edges_of, ranges_for, shortest_between
from onlinear.workflow.profile.table import profile_of
from tables import table

NUMBERS = st.lists(
    st.tuples(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9).map(float), st.integers(1, 30)),
    min_size=1,
    max_size=60,
)


@settings(max_examples=200)
@given(NUMBERS, st.integers(1, 12))
def test_what_edges_promise(drawn: list[tuple[float, int]], ranges: int) -> None:
    numbers = np.array([number for number, _ in drawn])
    counts = np.array([count for _, count in drawn])
    edges = edges_of(numbers, ranges, counts)
    assert list(edges) == sorted(set(edges))
    assert all(map(math.isfinite, edges))
    often: Counter[float] = Counter()
    for number, count in drawn:
        often[number] += count
    members: dict[int, list[float]] = {}
    for number in often:
        members.setdefault(bisect_right(edges, number), []).append(number)
    assert sorted(members) == list(range(len(edges) + 1))  # none is empty
    share = sum(often.values()) / ranges
    for inside in members.values():
        if len(inside) > 1:  # no number that fills a range has to share it, and the others are about as many
            assert all(often[number] < share for number in inside)
            assert sum(often[number] for number in inside) < 2 * share
    alone = sum(count >= share for count in often.values())
    assert len(edges) + 1 <= 2 * ranges + alone
    assert edges == edges_of(np.repeat(numbers, counts), ranges)


def test_numbers_that_come_once_are_cut_at_their_quantiles() -> None:
    numbers = np.random.default_rng(2).normal(size=1_000)
    edges = edges_of(numbers, 8)
    counts = np.bincount(np.searchsorted(edges, numbers, side="right"))
    assert counts.tolist() == [125] * 8
    assert max(len(repr(edge)) for edge in edges) <= 10


def test_amounts_that_are_mostly_nothing_are_cut_above() -> None:
    """90 % are 0, and the rest still has the other seven ranges."""
    numbers = np.append(np.zeros(900), np.arange(1, 101.0))
    edges = edges_of(numbers, 8)
    assert len(edges) == 7
    assert edges[0] == 1.0
    assert min(np.bincount(np.searchsorted(edges, numbers, side="right"))) >= 13


@settings(max_examples=200)
@given(st.integers(-(10**6), 10**6), st.integers(1, 200))
def test_the_shortest_number_between_two(low: int, more: int) -> None:
    """Of all whole numbers there are, one with the fewest digits, zeros behind aside."""
    found = shortest_between(float(low), float(low + more))
    assert low < found <= low + more
    assert found == int(found)
    assert digits_of(int(found)) <= min(digits_of(number) for number in range(low + 1, low + more + 1) if number)


def digits_of(number: int) -> int:
    return len(str(abs(number)).rstrip("0"))


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_there_is_always_a_number_between_two(one: float, other: float) -> None:
    low, high = sorted([one, other])
    assert low < shortest_between(low, high) <= high or low == high


def test_more_rows_have_more_ranges() -> None:
    assert [ranges_for(rows) for rows in (0, 2_000, 4_499, 8_000, 10**6)] == [8, 8, 8, 16, 32]


def test_edges_of_a_sample_are_about_those_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many different numbers to count: the edges are those of a sample, and still cut all of them evenly."""
    monkeypatch.setattr("onlinear.workflow.profile.gathering.Counts", lambda: Counts(50))
    monkeypatch.setattr("onlinear.workflow.profile.gathering.sample_size", lambda columns: 2_000)
    numbers = np.random.default_rng(3).normal(size=3_000).round(6)
    profile = profile_of(table(tmp_path, {"x": numbers.tolist(), "y": ["p", "q", "q"] * 1_000}))
    column = profile.column("x")
    assert column.capped
    assert len(column.edges) == 7
    counts = np.bincount(np.searchsorted(column.edges, numbers, side="right"))
    assert abs(counts - 3_000 / 8).max() < 150  # four standard errors of a sample's share are 90
