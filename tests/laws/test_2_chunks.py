"""Law 2: how the stream is cut changes no bit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import HealthCheck, example, given, settings as budget, strategies as st

from cases import bits_of, cut
from covering import Case, bits_in_one_go, every_case

ROWS = 30


@every_case
@budget(max_examples=2, suppress_health_check=[HealthCheck.differing_executors])
@example(set(range(1, ROWS)))
@given(st.sets(st.integers(0, ROWS)))
def test_any_split_gives_the_same_bits(case: Case, cuts: set[int]) -> None:
    edges = [0, *sorted(cuts), ROWS]
    for settings in case.settings():
        parts = case.learner(settings)
        batch = case.batch()
        for start, stop in pairwise(edges):
            parts.learn(cut(batch, start, stop))
        assert bits_of(parts) == bits_in_one_go(case, settings)


@every_case
def test_an_order_is_a_stream_of_those_rows(case: Case) -> None:
    order = np.random.default_rng(3).integers(0, ROWS, size=ROWS)  # drawn with replacement
    data = case.data()
    drawn = data._replace(X=data.X[order], y=data.y[order], importance=data.importance[order])
    by_order, by_rows = case.learner(), case.learner()
    by_order.learn(case.batch(), order)
    by_rows.learn(case.batch(drawn))
    assert bits_of(by_order) == bits_of(by_rows)
