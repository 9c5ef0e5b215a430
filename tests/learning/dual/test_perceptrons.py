"""Blocked perceptrons in dual form against the slow obvious ones, and against themselves in other chunks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from onlinear.data.products import products, squares
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import Perceptrons
from slow_perceptrons import SlowPerceptron, linear, poly, rbf

#: whole numbers have exact sums, in whatever order; the RBF kernel's rounding does not reach a sign here
KERNELS = {
    "linear": (Kernel("linear"), linear),
    "poly": (Kernel("poly", degree=3, gamma=2.0, coef0=1.0), poly(3, 2.0, 1.0)),
    "rbf": (Kernel("rbf", gamma=0.1), rbf(0.1)),
    "own": (Kernel(lambda X, Z: (X @ Z.T + 2.0) ** 2), poly(2, 1.0, 2.0)),
}


def rows_and_targets(count: int, outputs: int = 1, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (count, 4)).astype(float)
    targets = np.sign(rows[:, :1] * rows[:, 1:2] + rng.normal(0, 3, (count, outputs)))
    return rows, targets


def learned_slowly(similarity: Any, rows: np.ndarray, targets: np.ndarray, budget: int | None = None) -> SlowPerceptron:
    slow = SlowPerceptron(similarity, budget)
    for row, target in zip(rows, targets.tolist(), strict=True):
        slow.learn(row, int(target))
    return slow


@pytest.mark.parametrize("name", KERNELS)
def test_every_vote_is_the_slow_one(name: str) -> None:
    kernel, similarity = KERNELS[name]
    rows, targets = rows_and_targets(150)
    asked, _ = rows_and_targets(20, seed=1)
    fast = Perceptrons(kernel, 4, 1, np.float64)
    fast.learn(rows, targets)
    slow = learned_slowly(similarity, rows, targets[:, 0])
    assert fast.versions[0].made == slow.updates > 40
    survived = fast.versions[0].arrays().survived(fast.examples).tolist()
    assert survived == [rows_survived for _, rows_survived in slow.versions[1:]]
    for vote in ("vote", "average", "last"):
        answers = fast.scores(asked, [0], vote)[:, 0]
        np.testing.assert_allclose(answers, [getattr(slow, vote)(x) for x in asked], rtol=1e-9, atol=1e-9)
    moments = [*range(0, 150, 8), 149]
    answers = fast.scores(asked, [0], "random", np.array(moments))[:, 0]
    expected = [slow.at(moment, x) for moment, x in zip(moments, asked, strict=True)]
    np.testing.assert_allclose(answers, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["poly", "rbf"])
def test_a_budget_is_the_slow_one(name: str) -> None:
    kernel, similarity = KERNELS[name]
    rows, targets = rows_and_targets(200)
    fast = Perceptrons(kernel, 4, 1, np.float64, budget=12)
    fast.learn(rows, targets)
    slow = learned_slowly(similarity, rows, targets[:, 0], budget=12)
    assert fast.versions[0].made == slow.updates > 40
    kept = slow.versions[-1][0]
    assert len(kept) == 12
    np.testing.assert_allclose(fast.versions[0].amounts, [amount for amount, _ in kept], rtol=1e-9)
    assert (fast.support.rows[fast.versions[0].positions] == [slow.seen[number] for _, number in kept]).all()
    assert fast.versions[0].debt == pytest.approx(slow.debt)


def everything(machine: Perceptrons) -> list[Any]:
    """All that is learned, as plain values."""
    lists = [(v.positions, v.amounts, v.times, v.made, v.debt) for v in machine.versions]
    support = machine.support
    steps = [(step.place, step.position, step.amounts.tolist(), step.drops) for step in machine.steps]
    kept = support.rows[: support.size].tolist(), support.coefficients[: support.size].tolist()
    return [lists, kept, steps, machine.examples, machine.importance, machine.radius2]


@settings(max_examples=12, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 200), max_size=8),
    name=st.sampled_from(sorted(KERNELS)),
    dtype=st.sampled_from([np.float32, np.float64]),
    budget=st.sampled_from([None, 9]),
)
def test_any_chunking_gives_the_same_bits(cuts: list[int], name: str, dtype: Any, budget: int | None) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(200, 11)).astype(dtype)  # no whole numbers: rounding would show
    targets = np.sign(rng.normal(size=(200, 3)))
    whole = Perceptrons(KERNELS[name][0], 11, 3, dtype, budget)
    scores = whole.learn(rows, targets)
    cut = Perceptrons(KERNELS[name][0], 11, 3, dtype, budget)
    borders = [0, *sorted(cuts), 200]
    parts = [slice(*pair) for pair in pairwise(borders)]
    in_parts = [cut.learn(rows[part], targets[part]) for part in parts]
    assert everything(cut) == everything(whole)
    assert (np.concatenate(in_parts) == scores).all()


def test_rows_one_by_one_give_the_same_bits() -> None:
    rows, targets = np.random.default_rng(0).normal(size=(2, 90, 7))
    whole, single = (Perceptrons(Kernel("rbf", gamma=0.3), 7, 7, np.float64, 5) for _ in range(2))
    whole.learn(rows, np.sign(targets))
    for row, target in zip(rows, targets, strict=True):
        single.learn(row[None], np.sign(target)[None])
    assert everything(single) == everything(whole)


@pytest.mark.parametrize("features", [300, 500])  # BLAS cuts the longer ones, elsewhere with two threads than with one
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_do_not_matter(dtype: Any, features: int) -> None:
    rng = np.random.default_rng(0)
    rows, targets = rng.normal(size=(700, features)).astype(dtype), np.sign(rng.normal(size=(700, 2)))
    machines = [Perceptrons(KERNELS["poly"][0], features, 2, dtype) for _ in range(2)]
    for threads, machine in enumerate(machines, start=1):
        with threadpool_limits(threads, user_api="blas"):
            machine.learn(rows, targets)
    assert machines[0].support.size > 512  # so that products have more than one tile
    assert everything(machines[0]) == everything(machines[1])


@given(width=st.integers(1, 700), more=st.integers(1, 700), seed=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_features_that_are_zero_change_no_bit_of_products(width: int, more: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, others = rng.normal(size=(512, width)), rng.normal(size=(64, width))
    wide, wide_others = (np.pad(table, ((0, 0), (0, more))) for table in (rows, others))
    np.testing.assert_array_equal(products(wide, wide_others), products(rows, others))
    np.testing.assert_array_equal(products(wide, wide_others[:1]), products(rows, others[:1]))
    np.testing.assert_array_equal(squares(wide), squares(rows))
    np.testing.assert_allclose(products(rows, others), np.einsum("ij,kj->ik", rows, others), atol=1e-9)
    np.testing.assert_allclose(products(rows, others[:1]), products(rows, others)[:, :1], atol=1e-9)
    np.testing.assert_allclose(squares(rows), (rows**2).sum(axis=1))


def test_outputs_beside_change_no_bit_of_the_scores() -> None:
    rng = np.random.default_rng(1)
    coefficients, alike = rng.normal(size=(512, 40)), rng.normal(size=(512, 64))
    expected = products(coefficients.T, alike.T)
    for outputs in (1, 2, 3, 7, 20):
        found = products(np.ascontiguousarray(coefficients[:, :outputs]).T, alike.T)
        np.testing.assert_array_equal(found, expected[:outputs])


def test_outputs_beside_each_other_are_outputs_alone() -> None:
    rows, targets = rows_and_targets(150, outputs=3)
    together = Perceptrons(KERNELS["poly"][0], 4, 3, np.float64)
    together.learn(rows, targets)
    asked, _ = rows_and_targets(70, seed=1)
    for output in range(3):
        alone = Perceptrons(KERNELS["poly"][0], 4, 1, np.float64)
        alone.learn(rows, targets[:, [output]])
        assert alone.versions[0].times == together.versions[output].times
        assert (alone.scores(asked, [0], "vote") == together.scores(asked, [output], "vote")).all()


def test_sparse_rows_are_dense_rows() -> None:
    rows, targets = rows_and_targets(100)
    dense, sparse = (Perceptrons(KERNELS["rbf"][0], 4, 1, np.float64) for _ in range(2))
    dense.learn(rows, targets)
    sparse.learn(csr_matrix(rows), targets)
    assert everything(sparse) == everything(dense)
    assert (sparse.scores(csr_matrix(rows), [0], "vote") == dense.scores(rows, [0], "vote")).all()


def test_the_same_example_is_kept_once() -> None:
    rows, targets = rows_and_targets(70)
    named, nameless = (Perceptrons(KERNELS["poly"][0], 4, 1, np.float64) for _ in range(2))
    for _ in range(3):
        named.learn(rows, targets, numbers=np.arange(70))
        nameless.learn(rows, targets)
    assert named.versions[0].times == nameless.versions[0].times
    assert named.support.size == len(set(named.versions[0].positions)) < nameless.support.size
    assert (named.scores(rows, [0], "last") == nameless.scores(rows, [0], "last")).all()


def test_the_scores_are_those_before_learning() -> None:
    rows, targets = rows_and_targets(80)
    machine = Perceptrons(KERNELS["poly"][0], 4, 1, np.float64)
    scores = machine.learn(rows, targets)[:, 0]
    slow = SlowPerceptron(KERNELS["poly"][1])
    for row, target, score in zip(rows, targets[:, 0].tolist(), scores.tolist(), strict=True):
        assert score == slow.last(row)
        slow.learn(row, int(target))


def test_the_radius_is_the_largest_kernel_of_a_row_with_itself() -> None:
    rows, targets = rows_and_targets(100)
    machine = Perceptrons(KERNELS["poly"][0], 4, 1, np.float64)
    machine.learn(rows, targets)
    assert machine.radius2 == max(KERNELS["poly"][1](x, x) for x in rows)
