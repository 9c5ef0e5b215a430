"""Splits and folds: every row once, classes and groups and times as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadInput
from onlinear.selection.splits import folds_of, split_rows

codes = st.lists(st.integers(0, 3), min_size=4, max_size=60).map(np.array)


@settings(max_examples=40, deadline=None)
@given(codes, st.integers(0, 5), st.sampled_from([0.1, 0.2, 0.5]))
def test_every_row_is_on_one_side_and_classes_keep_their_shares(codes: np.ndarray, seed: int, share: float) -> None:
    split = split_rows(len(codes), share=share, seed=seed, codes=codes)
    assert sorted([*split.train, *split.test]) == list(range(len(codes)))
    for code in np.unique(codes):
        members, tested = (codes == code).sum(), (codes[split.test] == code).sum()
        assert tested == (0 if members == 1 else min(max(round(share * members), 1), members - 1))
    again = split_rows(len(codes), share=share, seed=seed, codes=codes)
    assert again.train.tolist() == split.train.tolist()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=50).map(np.array))
def test_what_is_tested_comes_later(times: np.ndarray) -> None:
    if len(np.unique(times)) == 1:
        with pytest.raises(BadInput, match="all rows are of one time"):
            split_rows(len(times), times=times)
        return
    try:
        split = split_rows(len(times), times=times)
    except BadInput:  # the first time is also that of the last share
        assert (times == times.min()).mean() > 0.5
        return
    assert times[split.train].max() < times[split.test].min()
    assert (np.diff(times[split.train]) >= 0).all()
    assert sorted([*split.train, *split.test]) == list(range(len(times)))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=3, max_size=50).map(np.array), st.integers(0, 3))
def test_groups_stay_together(groups: np.ndarray, seed: int) -> None:
    if len(np.unique(groups)) == 1:
        with pytest.raises(BadInput, match="one group"):
            split_rows(len(groups), groups=groups, seed=seed)
        return
    split = split_rows(len(groups), groups=groups, seed=seed)
    assert len(split.train)
    assert len(split.test)
    assert not set(groups[split.train]) & set(groups[split.test])
    folds = folds_of(len(groups), 2, seed=seed, groups=groups)
    assert all(len(set(folds[groups == group])) == 1 for group in np.unique(groups))


@settings(max_examples=40, deadline=None)
@given(codes, st.integers(2, 4), st.integers(0, 3))
def test_folds_are_even_within_classes(codes: np.ndarray, number: int, seed: int) -> None:
    folds = folds_of(len(codes), number, seed=seed, codes=codes)
    sizes = np.bincount(folds, minlength=number)
    assert sizes.max() - sizes.min() <= 1
    for code in np.unique(codes):
        sizes = np.bincount(folds[codes == code], minlength=number)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize(("rows", "share"), [(1, 0.2), (10, 0.0), (10, 1.0)])
def test_what_cannot_be_split_is_refused(rows: int, share: float) -> None:
    with pytest.raises(BadInput, match=r"cannot be split|between 0 and 1"):
        split_rows(rows, share=share)


def test_more_folds_than_rows_are_refused() -> None:
    with pytest.raises(BadInput, match="3 rows cannot be divided into 5 folds: ask for 2 to 3"):
        folds_of(3, 5)
    with pytest.raises(BadInput, match="1 group cannot be divided into 5 folds: give more groups"):
        folds_of(3, 5, groups=np.zeros(3))
