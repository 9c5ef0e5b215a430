"""Bounds for rows that are drawn alike: by exact recursion, and by simulation with an exact binomial tolerance.

Rows are drawn from a small table, so that the risk of every hypothesis is known exactly.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import onlinear
from commands import run_here
from onlinear.errors import OnlinearError, Refused
from onlinear.selection.intervals import wilson
from onlinear.theory.confidence import confidence_sequence
from onlinear.theory.online_to_batch import (
    ASSUMPTION,
    FirstPass,
    average_bound,
    bounds_from,
    drawn_excess,
    online_to_batch,
)
from onlinear.theory.penalised_pick import penalised_pick
from theory.drawn import fitted

DELTA = 0.2
#: a right bound fails so often in fewer than one of a million simulations
TOLERATED = 1e-6


def fails_too_often(failures: int, runs: int, delta: float = DELTA) -> bool:
    return bool(failures > binom.isf(TOLERATED, runs, delta))


# ------------------------------------------------------------------ the confidence sequence


def chance_of_ever_outside(p: float, most: int, inside: Any) -> float:
    """The chance that one of the first intervals does not contain p, where each prediction is wrong with chance p."""
    alive, lost = np.array([1.0]), 0.0  # by the number of mistakes
    for t in range(1, most + 1):
        alive = np.concatenate([alive * (1.0 - p), [0.0]]) + np.concatenate([[0.0], alive * p])
        out = np.array([chance > 0.0 and not inside(mistakes, t) for mistakes, chance in enumerate(alive)])
        lost += alive[out].sum()
        alive[out] = 0.0
    return float(lost)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5, 0.9])
def test_intervals_hold_at_all_times_together(p: float) -> None:
    """Howard, Ramdas, McAuliffe & Sekhon 2021, lemma 2 and theorem 2: the exact chance of ever failing."""

    def inside(mistakes: int, t: int) -> bool:
        low, high = confidence_sequence(mistakes, t, DELTA)
        return low <= p <= high

    assert chance_of_ever_outside(p, 60, inside) <= DELTA


def test_intervals_of_one_time_do_not() -> None:
    """What the recursion finds wrong: Wilson's interval, looked at again and again."""

    def inside(mistakes: int, t: int) -> bool:
        low, high = wilson(mistakes, t, 1.0 - DELTA)
        return low <= 0.3 <= high

    assert chance_of_ever_outside(0.3, 60, inside) > 2 * DELTA


def test_chances_may_change_on_the_way() -> None:
    """Howard, Ramdas, McAuliffe & Sekhon 2021, lemma 2, for chances that follow from what came before."""
    rng = np.random.default_rng(5)
    runs, length, looks = 120, 400, {2, 4, 7, 12, 20, 33, 60, 110, 200, 300, 400}
    failures = 0
    for _ in range(runs):
        chances, mistakes, failed = 0.0, 0, False
        for t in range(1, length + 1):
            chance = 0.6 if mistakes > 0.3 * t else 0.1  # an adversary that makes trends longer
            chances += chance
            mistakes += int(rng.random() < chance)
            if t in looks:
                low, high = confidence_sequence(mistakes, t, DELTA)
                failed |= not low <= chances / t <= high
        failures += failed
    assert not fails_too_often(failures, runs)


def test_intervals_shrink_to_the_error() -> None:
    """At most twice as wide as Wilson's, which is of one time only; few mistakes make it narrow."""
    for mistakes, examples in [(1000, 10_000), (5000, 10_000), (10**7, 10**8)]:
        (low, high), (below, above) = confidence_sequence(mistakes, examples), wilson(mistakes, examples)
        assert low < below < above < high
        assert high - low < 2.0 * (above - below)
    assert confidence_sequence(0, 1000)[0] == 0.0
    assert confidence_sequence(0, 1000)[1] < 0.007
    assert confidence_sequence(1000, 1000)[1] == 1.0


@pytest.mark.parametrize(
    ("mistakes", "examples", "delta"), [(1, 0, 0.1), (3, 2, 0.1), (-1, 2, 0.1), (1, 2, 0.0), (1, 2, 1.0)]
)
def test_impossible_counts_are_refused(mistakes: int, examples: int, delta: float) -> None:
    with pytest.raises(OnlinearError, match=r"impossible|delta is"):
        confidence_sequence(mistakes, examples, delta)
    with pytest.raises(OnlinearError, match=r"impossible|delta is"):
        bounds_from(FirstPass(examples, mistakes), delta)


# ------------------------------------------------------------------ hypotheses of a run


def table_of_rows(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows from which others are drawn, each with the same chance; nothing separates them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(40, 2))
    y = np.where(X @ [1.0, 0.5] > 0.0, 1, -1)
    y[:6] *= -1
    return X, y


def perceptron_hypotheses(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weights before each row; a tie is taken for the first class, as by the estimator."""
    w, found = np.zeros(X.shape[1]), []
    for x, target in zip(X, y, strict=True):
        found.append(w)
        if target * (w @ x) <= 0.0:
            w = w + target * x
    return np.array(found)


def wrong(w: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(y != np.where(X @ w.T > 0.0, 1, -1).T)


def test_hypothesis_drawn_at_random() -> None:
    """Cesa-Bianchi, Conconi & Gentile 2004, proposition 1 (Blum, Kalai & Langford 1999): the mean risk of the run."""
    table, labels = table_of_rows(0)
    rng, runs, length, failures = np.random.default_rng(1), 300, 120, 0
    for _ in range(runs):
        drawn = rng.integers(len(table), size=length)
        X, y = table[drawn], labels[drawn]
        hypotheses = perceptron_hypotheses(X, y)
        mistakes = sum(bool(wrong(w[None], x[None], t)[0, 0]) for w, x, t in zip(hypotheses, X, y, strict=True))
        found = bounds_from(FirstPass(length, mistakes), DELTA)
        mean_risk = wrong(hypotheses, table, labels).mean()
        failures += mean_risk > found.drawn
        assert found.error < found.drawn < found.picked
    assert failures > 0
    assert not fails_too_often(failures, runs)


def test_hypothesis_that_the_penalised_estimate_picks() -> None:
    """Cesa-Bianchi, Conconi & Gentile 2004, theorem 4: below its estimate and the run's bound."""
    table, labels = table_of_rows(2)
    rng, runs, length, failures = np.random.default_rng(3), 40, 100, 0
    for _ in range(runs):
        drawn = rng.integers(len(table), size=length)
        X, y = table[drawn], labels[drawn]
        model = onlinear.Perceptron(fit_intercept=False)
        found = penalised_pick(model, X, y, DELTA)
        hypotheses = perceptron_hypotheses(X, y)
        np.testing.assert_allclose(found.coef[0], hypotheses[found.number], atol=1e-12)
        left = wrong(hypotheses[found.number][None], X[found.number :], y[found.number :])
        assert (found.mistakes, found.left) == (left.sum(), left.size)
        penalties = np.sqrt(np.log(length * (length + 1) / DELTA) / (2.0 * (length - np.arange(length))))
        losses = [wrong(w[None], X[t:], y[t:]).mean() for t, w in enumerate(hypotheses)]
        assert found.bound == pytest.approx(np.min(losses + penalties))
        risk = wrong(hypotheses[found.number][None], table, labels).mean()
        counted = bounds_from(FirstPass(length, model.partial_fit(X, y).mistakes_), DELTA)
        failures += risk > min(found.bound, counted.picked)
    assert not fails_too_often(failures, runs)


def test_constants_of_theorem_4() -> None:
    """The sums of the proof are never more than the theorem says for them, nor less than what they bound."""
    for n in (1, 2, 10, 100, 5000):
        for delta in (0.5, 0.05, 1e-6):
            spread = math.sqrt(math.log(n * (n + 1) / (delta / 2)) / 2)
            sums = drawn_excess(n, delta / 2) + 2 * spread * sum(1 / math.sqrt(left) for left in range(1, n + 1)) / n
            found = bounds_from(FirstPass(10**6 * n, 0), delta).picked
            theorem = 6 * math.sqrt(math.log(2 * (10**6 * n + 1) / delta) / (10**6 * n))
            assert found <= theorem * (1 + 1e-9)
            assert min(1.0, sums) <= bounds_from(FirstPass(n, 0), delta).picked


def test_average_of_hypotheses() -> None:
    """Cesa-Bianchi, Conconi & Gentile 2004, corollary 2: the hinge loss of the averaged weights on a new row."""
    table, labels = table_of_rows(4)
    rng, runs, length, failures, most = np.random.default_rng(6), 60, 80, 0, 8.0
    for _ in range(runs):
        drawn = rng.integers(len(table), size=length)
        model = onlinear.OnlineClassifier(
            loss="hinge", rule=onlinear.rules.SGD(onlinear.rules.Constant(0.05)), average=True
        )
        model.partial_fit(table[drawn], labels[drawn])
        scores = model.decision_function(table)
        assert np.maximum(0.0, 1.0 - labels * scores).max() < most  # and so, with 80 such steps, of the others
        failures += np.maximum(0.0, 1.0 - labels * scores).mean() > average_bound(model, most, DELTA)
    assert not fails_too_often(failures, runs)


# ------------------------------------------------------------------ what is counted, and refused


def test_only_the_first_pass_counts() -> None:
    X, y = table_of_rows(1)
    model = onlinear.Perceptron(max_iter=4, tol=None, random_state=0).fit(X, y)
    found = online_to_batch(model)
    assert (found.examples, found.mistakes) == (len(y), model.mistakes_per_pass_[0])
    assert model.examples_ == 4 * len(y)
    once = onlinear.Perceptron(max_iter=1, tol=None, random_state=0).fit(X, y)
    assert online_to_batch(once) == found
    with pytest.raises(Refused, match="counts no mistakes"):
        online_to_batch(onlinear.KernelPerceptron().fit(X, y))
    with pytest.raises(Refused, match="counts no mistakes"):
        online_to_batch(onlinear.OnlineRegressor().partial_fit(X, X[:, 0]))


def test_rows_that_were_learned_before_are_refused() -> None:
    X, y = table_of_rows(1)
    again = onlinear.OnlineClassifier(max_iter=1, warm_start=True).fit(X, y).fit(X, y)
    with pytest.raises(Refused, match="had learned before"):
        online_to_batch(again)
    drawn = onlinear.AveragedPerceptron(order="replacement", max_iter=1).fit(X, y)
    with pytest.raises(Refused, match="with replacement"):
        online_to_batch(drawn)


def test_averages_that_have_no_bound_are_refused() -> None:
    X, y = table_of_rows(1)
    options: dict[str, Any] = {"loss": "hinge", "rule": "sgd"}
    with pytest.raises(Refused, match="average=True"):
        average_bound(onlinear.OnlineClassifier(**options).partial_fit(X, y), 3.0)
    averaged = onlinear.OnlineClassifier(**options, average=True)
    with pytest.raises(Refused, match="most_loss"):
        average_bound(averaged.partial_fit(X, y), math.inf)
    with pytest.raises(Refused, match="several passes"):
        average_bound(fitted(onlinear.OnlineClassifier(**options, average=True, max_iter=3), X, y), 3.0)
    with pytest.raises(Refused, match="weights"):
        average_bound(onlinear.OnlineClassifier(**options, average=True).partial_fit(X, y, sample_weight=y + 2.0), 3.0)


def test_too_many_hypotheses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlinear.theory.penalised_pick.MOST_WORK", 10.0)
    X, y = table_of_rows(1)
    with pytest.raises(Refused, match="too many hypotheses"):
        penalised_pick(onlinear.Perceptron(), X, y)
    with pytest.raises(Refused, match="one class"):
        penalised_pick(onlinear.Perceptron(), X, np.ones(len(y)))


def test_a_training_reports_the_bounds_of_its_first_pass(tmp_path: Path) -> None:
    X, y = table_of_rows(3)
    file = tmp_path / "rows.csv"
    file.write_text(
        "a,b,y\n" + "".join(f"{a},{b},{'yes' if t > 0 else 'no'}\n" for (a, b), t in zip(X, y, strict=True))
    )
    found = [json.loads(run_here("train", str(file), "--passes", passes, "--json").out) for passes in (1, 3)]
    said = found[0]["online_to_batch"]
    assert said == found[1]["online_to_batch"] == bounds_from(FirstPass(40, found[0]["mistakes"])).document()
    assert said["assumption"] == ASSUMPTION
    assert said["average"]["error_at_most"] is None
    numbers = json.loads(run_here("train", str(file), "--target", "a", "--ignore", "y", "--json").out)
    assert numbers["online_to_batch"] is None
