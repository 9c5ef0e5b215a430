"""The covering set covers, and the interpreted cases are the whole registry."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from covering import COVERING, DTYPES, INTERPRETED, KINDS, WIDE, WIDTHS, covering_set
from onlinear import registry
from onlinear.data.rows import IN_CACHE, LANES, LONG_DENSE, LONG_SPARSE


def test_each_loss_has_two_rules_and_each_rule_two_losses() -> None:
    rules, losses = defaultdict(set), defaultdict(set)
    for case in COVERING:
        rules[case.loss].add(case.rule)
        losses[case.rule].add(case.loss)
    for name in registry.LOSSES:
        assert len(rules[name]) >= 2
    for name, taken in registry.TAKES.items():
        assert len(losses[name]) >= min(2, len(taken))
        assert losses[name] <= taken


def test_each_kind_of_row_and_dtype_comes_twice_and_each_rule_sees_both() -> None:
    for kind in KINDS:
        for dtype in DTYPES:
            assert sum((case.kind, case.dtype) == (kind, dtype) for case in COVERING) >= 2
        assert {case.rule for case in COVERING if case.kind == kind} == set(registry.RULES)
    for dtype in DTYPES:
        assert {case.rule for case in COVERING if case.dtype == dtype} == set(registry.RULES)


def test_it_is_the_same_every_time_and_small() -> None:
    assert covering_set() == COVERING
    assert len(set(COVERING)) == len(COVERING) < len(registry.pairs()) / 2


def test_every_pair_is_interpreted() -> None:
    assert {(case.loss, case.rule) for case in INTERPRETED} == set(registry.pairs())


def test_each_rule_sees_rows_and_tables_of_every_width() -> None:
    wide = {(case.rule, case.features) for case in WIDE}
    matrices = {"second_order", "newton"}  # which take no table of 200 000 features
    assert wide == {(rule, width) for rule in registry.RULES for widths in WIDTHS.values() for width in widths} - {
        (rule, 200_000) for rule in matrices
    }
    assert {case.loss for case in WIDE} == set(registry.LOSSES)
    assert {case._replace(features=11) for case in WIDE} <= set(COVERING)  # nothing else to compile


def test_wide_rows_are_long_and_short_and_the_table_is_large() -> None:
    for case in WIDE:
        lengths = np.count_nonzero(case.data().X, axis=1)
        if case.kind == "dense":
            assert case.features >= LONG_DENSE
            assert case.features % LANES
        else:
            assert {LONG_SPARSE - 1, LONG_SPARSE, LONG_SPARSE + 1} <= set(lengths)
            assert {length % 4 for length in lengths if length >= LONG_SPARSE} == set(range(4))
            assert lengths.max() > 2 * LONG_SPARSE
            assert case.data().X[:, -1].any()
    assert max(WIDTHS["sparse"]) > IN_CACHE
