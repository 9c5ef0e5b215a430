"""Splits: which rows are learned and which are tested, and in what order; the folds of a cross-validation.

By row, so that classes keep their shares; by time, where the last rows are the test; by group, where rows that belong
together stay together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.errors import BadInput


class Split(NamedTuple):
    """The numbers of the rows to learn, in the order in which they are learned, and of those to test."""

    kind: str  # "rows", "stratified", "time", "group" or "test file"
    train: np.ndarray
    test: np.ndarray
    words: str

    @property
    def shuffled(self) -> bool:
        """Whether the order of the rows means nothing."""
        return self.kind != "time"


def split_rows(
    rows: int,
    *,
    share: float = 0.2,
    seed: int = 0,
    codes: np.ndarray | None = None,
    times: np.ndarray | None = None,
    groups: np.ndarray | None = None,
) -> Split:
    """Learn most of the rows, and test a share of them; ``codes`` are their classes, if they have any.

    >>> split = split_rows(10, share=0.3, times=np.arange(10)[::-1])
    >>> split.train.tolist(), split.test.tolist()
    ([9, 8, 7, 6, 5, 4, 3], [2, 1, 0])
    """
    if not 0.0 < share < 1.0:
        raise BadInput(f"the share of rows to test is {share}: give a number between 0 and 1")
    if rows < 2:
        raise BadInput(f"{rows} rows cannot be split into some to learn and some to test: give more, or a test file")
    if times is not None:
        return by_time(times, share)
    rng = np.random.default_rng(seed)
    if groups is not None:
        return by_group(groups, share, rng)
    order = rng.permutation(rows)
    if codes is None:
        count = min(max(round(share * rows), 1), rows - 1)
        return Split("rows", order[count:], order[:count], f"{format_share(share)} of the rows, drawn by the seed")
    tested = drawn_from_each(codes[order], share)
    words = f"{format_share(share)} of the rows of each class, drawn by the seed"
    return Split("stratified", order[~tested], order[tested], words)


def drawn_from_each(codes: np.ndarray, share: float) -> np.ndarray:
    """Whether each row is tested: of each class the first rows; one that is alone in its class is learned."""
    tested = np.zeros(len(codes), bool)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        count = min(max(round(share * len(members)), 1), len(members) - 1)
        tested[members[:count]] = True
    return tested


def by_time(times: np.ndarray, share: float) -> Split:
    """The last rows are tested, and all rows of one moment are on one side."""
    order = np.argsort(times, kind="stable")
    count = min(max(round(share * len(times)), 1), len(times) - 1)
    first = times[order[len(times) - count]]
    tested = times[order] >= first
    if tested.all():
        raise BadInput("all rows are of one time, so none are later than others: leave out --time")
    return Split("time", order[~tested], order[tested], f"the last {format_share(tested.mean())} of the rows by time")


def by_group(groups: np.ndarray, share: float, rng: np.random.Generator) -> Split:
    """Groups are drawn until there are enough rows; those of one group are on one side."""
    names, sizes = np.unique(groups, return_counts=True)
    if len(names) < 2:
        raise BadInput("all rows are of one group, so no group can be tested on its own: leave out --group")
    turns = rng.permutation(len(names))
    enough = int(np.searchsorted(np.cumsum(sizes[turns]), share * len(groups))) + 1
    chosen = names[turns[: min(enough, len(names) - 1)]]
    order = rng.permutation(len(groups))
    tested = np.isin(groups[order], chosen)
    words = f"{len(chosen):,} of {len(names):,} groups, drawn by the seed ({format_share(tested.mean())} of the rows)"
    return Split("group", order[~tested], order[tested], words)


def folds_of(
    rows: int, number: int, *, seed: int = 0, codes: np.ndarray | None = None, groups: np.ndarray | None = None
) -> np.ndarray:
    """The fold of each row, from 0 on: of each class, or of all rows, as many in each as can be; groups stay together.

    >>> np.bincount(folds_of(10, 3)).tolist()
    [4, 3, 3]
    """
    units = rows if groups is None else len(np.unique(groups))
    if not 2 <= number <= units:
        what = "row" if groups is None else "group"
        number_of = f"1 {what}" if units == 1 else f"{units} {what}s"
        advice = f"ask for 2 to {units}, or give more {what}s" if units > 2 else f"give more {what}s"
        raise BadInput(f"{number_of} cannot be divided into {number} folds: {advice}")
    rng = np.random.default_rng([seed, number])
    if groups is not None:
        _, which = np.unique(groups, return_inverse=True)
        return dealt(rng.permutation(units), number)[which]
    order = rng.permutation(rows)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]  # class after class, and dealt in turn
    return dealt(order, number)


def dealt(order: np.ndarray, number: int) -> np.ndarray:
    """Deal things out in turn: the hand that each is in."""
    folds = np.empty(len(order), np.int64)
    folds[order] = np.arange(len(order)) % number
    return folds


def format_share(share: float) -> str:
    return f"{100 * share:.3g} %"
