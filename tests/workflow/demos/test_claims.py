"""What each demonstration claims, checked by other means than those it was computed by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from onlinear.workflow.demos import demonstration

pytestmark = pytest.mark.compiles

SEEDS = [0, 1, 2]
each_seed = pytest.mark.parametrize("seed", SEEDS)


@cache
def result_of(name: str, seed: int) -> Any:
    return demonstration(name).compute(seed)


def plain_updates(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[int, int, float, np.ndarray]]:
    """The textbook's perceptron in a few lines: trial, row, score and the weights after each update."""
    w, trial = np.zeros(X.shape[1]), 0
    for _ in range(100_000):
        updated = False
        for row, (x, label) in enumerate(zip(X, y, strict=True)):
            trial += 1
            score = float(w @ x)
            if label * score <= 0.0:
                w, updated = w + label * x, True
                yield trial, row, score, w
        if not updated:
            return


# ------------------------------------------------------------------ perceptron, board


@each_seed
def test_each_line_of_the_trace_is_an_update_of_the_textbook(seed: int) -> None:
    found = result_of("perceptron", seed)
    X, y = np.array(found.X), np.array(found.y)
    wanted = list(plain_updates(X, y))
    assert [(each.trial, each.row) for each in found.updates] == [(trial, row) for trial, row, _, _ in wanted]
    for each, (_, _, score, w) in zip(found.updates, wanted, strict=True):
        assert each.score == pytest.approx(score, abs=1e-12)
        np.testing.assert_allclose(each.weights, w, atol=1e-12)
        angle = math.radians(each.boundary)
        assert abs(math.cos(angle) * w[0] + math.sin(angle) * w[1]) < 1e-9
    assert (y * (X @ found.updates[-1].weights) > 0.0).all()
    assert len(found.updates) <= found.bound
    assert found.trials == found.passes * len(y)
    assert (X.round(2) == X).all()


@each_seed
def test_the_board_shows_updates_of_the_textbook(seed: int) -> None:
    found = result_of("board", seed)
    x, y = np.array(found.x, float), np.array(found.y)
    wanted = list(plain_updates(np.column_stack([x, np.ones_like(x)]), y))
    assert [(each.trial, each.row, each.score) for each in found.updates] == [each[:3] for each in wanted]
    assert [[each.weight, each.intercept] for each in found.updates] == [w.tolist() for _, _, _, w in wanted]
    assert ((y > 0) == (x > found.threshold)).all()
    assert set(found.y) == {-1, 1}
    assert len(found.updates) <= found.bound


def test_the_printed_line_shows_who_is_wrong() -> None:
    module = demonstration("board")
    found = result_of("board", 0)
    drawn = [module.line_of(found, each) for each in found.updates]  # type: ignore[attr-defined]
    for each, line in zip(found.updates, drawn, strict=True):
        wrong = sum(y * (each.weight * x + each.intercept) <= 0.0 for x, y in zip(found.x, found.y, strict=True))
        assert sum(letter in "OX" for letter in line) == wrong
    assert not set(drawn[-1]) & set("OX")


# ------------------------------------------------------------------ the theorems


@each_seed
def test_the_bound_holds_in_all_dimensions_and_orders(seed: int) -> None:
    found = result_of("bound", seed)
    assert [run.dimensions for run in found.runs] == [2, 20, 200, 2000]
    for run in found.runs:
        assert len(run.updates) == len(run.passes) == 5
        assert 0 < max(run.updates) <= (run.radius / run.margin) ** 2
        assert run.radius <= 1.0
        assert run.margin >= 0.1
    assert any(len(set(run.updates)) > 1 for run in found.runs)  # the orders are different ones


@each_seed
def test_both_quantities_keep_to_the_proof(seed: int) -> None:
    found = result_of("proof", seed)
    k = np.arange(1, len(found.along) + 1)
    along, length = np.array(found.along), np.array(found.length)
    assert (k * found.margin <= along * (1.0 + 1e-12)).all()
    assert (along <= length * (1.0 + 1e-12)).all()
    assert (length <= np.sqrt(k) * found.radius * (1.0 + 1e-12)).all()
    assert (np.diff(along) >= found.margin * (1.0 - 1e-9)).all()
    assert k[-1] <= found.bound


@each_seed
def test_the_bound_is_met_with_equality(seed: int) -> None:
    found = result_of("tight", seed)
    for run in found.runs:
        assert run.updates == run.rows == Fraction(run.bound)
    assert len(found.forced) == 5
    for each in found.forced:
        assert sum(each.wrong) == len(each.wrong) == round(found.bound)


@each_seed
def test_no_less_than_the_promised_share_of_the_best_margin_is_found(seed: int) -> None:
    found = result_of("margin", seed)
    X, y = np.array(found.X), np.array(found.y)
    angles = np.linspace(0.0, 2.0 * math.pi, 20_001)
    best = (y * (np.column_stack([np.cos(angles), np.sin(angles)]) @ X.T)).min(axis=1).max()
    assert best <= found.most * (1.0 + 1e-9)
    for run in found.runs:
        w = np.array(run.weights) / np.hypot(*run.weights)
        assert run.margin == pytest.approx((y * (X @ w)).min(), rel=1e-9)
        assert run.promised * best <= run.margin <= best + 4e-4  # the angles' distance
        assert run.updates <= run.bound
    promised = [run.promised for run in found.runs]
    assert promised == sorted(promised)
    assert promised[0] == 0.0
    assert 1.0 / 3.0 <= promised[2] < promised[-1] < 0.5
    assert found.share_of(found.runs[-1]) > 0.5
