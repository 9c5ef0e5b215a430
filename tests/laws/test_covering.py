"""The covering set covers, and the interpreted cases are the whole registry."""

from __future__ import annotations

from collections import defaultdict

from covering import COVERING, DTYPES, INTERPRETED, KINDS, covering_set
from onlinear import registry


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
