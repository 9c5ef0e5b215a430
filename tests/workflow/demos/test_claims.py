"""What each demonstration claims, checked by other means than those it was computed by."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
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


# ------------------------------------------------------------------ rows that no vector separates


def test_xor_has_a_witness_and_goes_round() -> None:
    from onlinear.workflow.demos.xor import SEEN, X, Y

    found = result_of("xor", 0)
    multipliers = [Fraction(a) for a in found.witness.multipliers]
    signed = [[int(Y[row] * x) for x in (*X[row], 1)] for row in found.witness.rows]
    assert min(multipliers) > 0
    assert [sum(a * x for a, x in zip(multipliers, column, strict=True)) for column in zip(*signed, strict=True)] == [
        0
    ] * 3
    w = np.zeros(3)
    for number, trial in enumerate(found.trials):
        x = np.append(X[number % 4], 1.0)
        assert (trial.row, trial.score) == (number % 4, w @ x)
        w = w + Y[number % 4] * x if Y[number % 4] * (w @ x) <= 0.0 else w
        assert trial.weights == tuple(w)
    assert len(found.trials) == 4 * SEEN
    last, before = found.trials[-1], found.trials[-1 - 4 * found.period]
    assert last.weights == before.weights
    assert any(trial.weights != last.weights for trial in found.trials[-4 * found.period :])
    assert found.wrong_votes > 0


@each_seed
def test_each_remedy_of_xor_comes_to_rest_with_all_rows_right(seed: int) -> None:
    from onlinear.workflow.demos.xor import PASSES

    found = result_of("xor", seed)
    assert len(found.remedies) == 4
    for each in found.remedies:
        assert each.wrong == 0
        assert each.updates > 0
        assert each.passes < PASSES


@each_seed
def test_the_bound_of_freund_and_schapire_holds_and_is_least_at_its_delta(seed: int) -> None:
    from onlinear.streams.synthetic import Noisy
    from onlinear.workflow.demos.noisy import DIMENSIONS, MARGIN

    found = result_of("noisy", seed)
    for run in found.runs:
        assert run.updates == run.extended_updates <= run.best.bound <= run.plain.bound * (1.0 + 1e-9)
        for each in (run.plain, run.best):
            assert each.delta == pytest.approx(math.sqrt(run.radius * each.deviation))
            assert each.bound == pytest.approx(((run.radius + each.deviation) / each.gamma) ** 2)
            assert each.vacuous == (each.bound >= found.rows)
    assert [run.plain.vacuous for run in found.runs] == [False, False, False, True, True]
    best = next(run for run in found.runs if run.flips == 100).best
    stream = Noisy(n=found.rows, d=DIMENSIONS, flips=100, margin=MARGIN, seed=seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    short = sum(max(0.0, best.gamma - score) ** 2 for score in y * (X @ stream.u))
    assert best.deviation == pytest.approx(math.sqrt(short))
    assert min(each.bound for each in found.sweep) == pytest.approx(best.bound)
    for each in found.sweep:
        stretched = 1.0 + best.deviation**2 / each.delta**2
        assert each.bound == pytest.approx((best.gamma**-2) * (1.0**2 + each.delta**2) * stretched, rel=1e-2)


@each_seed
def test_a_vote_and_an_average_are_better_than_the_last_weights(seed: int) -> None:
    found = result_of("voting", seed)
    last, vote, average = (np.array(found.errors_of(answer)) for answer in ("last", "vote", "average"))
    assert len(last) == len(vote) == len(average) == 20
    assert max(np.median(vote), np.median(average)) < np.median(last) / 2.0
    assert (vote < last).sum() >= 15
    assert max(np.std(vote), np.std(average)) < np.std(last)


def test_the_first_order_is_that_of_a_voted_perceptron_written_down_plainly() -> None:
    from onlinear.streams.synthetic import Noisy

    found, seed = result_of("voting", 0), 0
    stream = Noisy(n=3000, d=20, noise=0.1, margin=0.05, seed=seed)
    X, y = (np.concatenate(parts) for parts in zip(*stream.arrays(), strict=True))
    truth = np.concatenate([labels for _, labels in stream.clean.arrays()])[1000:]
    versions = [np.zeros(20)]
    for row in np.random.default_rng(seed).permutation(1000):
        w = versions[-1]
        versions.append(w + y[row] * X[row] if y[row] * (w @ X[row]) <= 0.0 else w)
    scores = np.array(versions[1:]) @ X[1000:].T
    for answer, chosen in (
        ("last", scores[-1]),
        ("vote", np.sign(scores).sum(axis=0)),
        ("average", scores.sum(axis=0)),
    ):
        assert found.errors_of(answer)[0] == pytest.approx((np.where(chosen > 0.0, 1, -1) != truth).mean(), abs=2e-3)


# ------------------------------------------------------------------ descent, means


def test_steps_grow_as_the_table_says() -> None:
    found = result_of("descent", 0)
    for problem in found.problems:
        gradient, newton, sgd, second = (
            [run.steps[run.first(gap)] for gap in (0.1, 0.01, 0.001)] for run in problem.runs
        )
        assert newton[-1] <= 3
        assert gradient[2] - gradient[1] <= 2 * (gradient[1] - gradient[0]) + 2
        assert sgd[2] > 4 * sgd[1] > 4 * sgd[0]
        assert second[2] > 100 > gradient[2]
    for place in (2, 3):  # steps of the stochastic ones do not know how many rows there are
        steps = [problem.runs[place].steps[-1] for problem in found.growing]
        assert max(steps) < 4 * min(steps)


def test_the_gaps_of_gradient_descent_are_those_of_a_plain_loop() -> None:
    from onlinear.losses import Squared
    from onlinear.workflow.demos.descent import L2, ROWS, objective_of

    objective, run = objective_of(Squared(), ROWS, 0), result_of("descent", 0).problems[0].runs[0]
    X, y = objective.rows, objective.targets
    matrix = X.T @ X / ROWS + L2 * np.eye(X.shape[1])

    def value(w: np.ndarray) -> float:
        return float(0.5 * ((X @ w - y) ** 2).mean() + 0.5 * L2 * w @ w)

    lowest, w = value(np.linalg.solve(matrix, X.T @ y / ROWS)), np.zeros(X.shape[1])
    for gap in run.gaps:
        assert value(w) - lowest == pytest.approx(gap, rel=1e-6, abs=1e-9)
        w = w - (matrix @ w - X.T @ y / ROWS) / np.linalg.eigvalsh(matrix)[-1]


@each_seed
def test_rates_find_a_mean_or_do_not_as_their_sums_say(seed: int) -> None:
    from onlinear.workflow.demos.mean import RATES, SQUARES, SUMS

    errors = {each.rate: each.errors for each in result_of("mean", seed).normal}
    for name, rate in RATES.items():
        assert rate.robbins_monro() == (SUMS[name] == "infinite" and SQUARES[name] == "finite")
    for t, error in zip((10, 100, 1000, 10_000), errors["1/t"], strict=True):
        assert error == pytest.approx(1.0 / math.sqrt(t), rel=0.5)
    for power, name in ((0.6, "t^-0.6"), (0.5, "t^-0.5")):
        assert errors[name][-1] == pytest.approx(math.sqrt(0.5 * 10_000**-power), rel=0.5)
    assert errors["0.1"][-1] == pytest.approx(math.sqrt(0.1 / 1.9), rel=0.5)
    assert errors["1/t^2"][-1] > 0.3


@each_seed
def test_with_a_heavy_tail_large_steps_end_for_one_rate_only(seed: int) -> None:
    slow, mean = result_of("mean", seed).heavy
    for each, power in ((slow, 0.6), (mean, 1.0)):
        chances = np.arange(1.0, 100_001.0) ** (-power * 1.2)
        wanted = [chances[10**k : 10 ** (k + 1)].sum() for k in range(5)]
        assert each.expected == pytest.approx(wanted)
        assert each.jumps == pytest.approx(wanted, abs=5.0 * math.sqrt(max(wanted) / 10.0))
    assert all(later > 1.5 * earlier for earlier, later in pairwise(slow.expected))
    assert all(later < 0.8 * earlier for earlier, later in pairwise(mean.expected))
    assert slow.farthest[-1] > 4.0 * mean.farthest[-1]


# ------------------------------------------------------------------ streams


@each_seed
def test_the_bound_covers_what_one_vector_separates_and_nothing_else(seed: int) -> None:
    found = result_of("stream", seed)
    assert [run.fixed for run in found.runs] == [True] * 4 + [False] * 2
    for run in found.runs:
        assert (np.diff(run.updates) >= 0).all()
        if run.fixed:
            assert run.updates[-1] <= found.bound
    adversary, fastest = found.runs[3], found.runs[-1]
    assert adversary.updates[-1] == adversary.rows[-1] == found.bound
    assert fastest.updates[-1] > 2 * found.bound


@each_seed
def test_an_average_does_not_follow_what_turns(seed: int) -> None:
    for each in result_of("stream", seed).following:
        last, average = np.array(each.last), np.array(each.average)
        assert average[-1] > 0.25
        assert last[5:].max() < 0.2
        assert average[5:].mean() > 5.0 * last[5:].mean()
