"""Wilson's interval: its ends are where the normal test just rejects, and it covers what it should."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadInput
from onlinear.selection.intervals import wilson


@given(rows=st.integers(1, 10_000), share=st.floats(0.0, 1.0), level=st.sampled_from([0.5, 0.9, 0.95, 0.99]))
@settings(max_examples=60, deadline=None)
def test_the_ends_are_where_the_test_just_rejects(rows: int, share: float, level: float) -> None:
    mistakes = round(share * rows)
    low, high = wilson(mistakes, rows, level)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    assert 0.0 <= low <= mistakes / rows <= high <= 1.0
    for end in {low, high} - {0.0, 1.0}:
        assert abs(mistakes / rows - end) == pytest.approx(z * math.sqrt(end * (1.0 - end) / rows), rel=1e-6)


def test_a_mirror_counts_the_right_ones() -> None:
    low, high = wilson(3, 20)
    assert wilson(17, 20) == pytest.approx((1.0 - high, 1.0 - low))


def test_it_covers_as_often_as_it_says() -> None:
    rows, share = 60, 0.15
    chances = [math.comb(rows, k) * share**k * (1 - share) ** (rows - k) for k in range(rows + 1)]
    covered = sum(chance for k, chance in enumerate(chances) if wilson(k, rows)[0] <= share <= wilson(k, rows)[1])
    assert 0.93 < covered < 0.98


@pytest.mark.parametrize(("mistakes", "rows", "level"), [(-1, 5, 0.95), (6, 5, 0.95), (0, 0, 0.95), (1, 5, 1.0)])
def test_what_cannot_be(mistakes: int, rows: int, level: float) -> None:
    with pytest.raises(BadInput):
        wilson(mistakes, rows, level)
