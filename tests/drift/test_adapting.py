"""Adapting learners: the laws hold, policies do what they say, and drift is followed."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from onlinear import Learner, losses, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Labels, Numbers, Signs
from onlinear.drift import ADWIN, Adapting, PageHinkley
from onlinear.drift.curve import Curve
from onlinear.drift.policies import faster, reset
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.kernels.learn.state import EXAMPLES, MISTAKES
from onlinear.learning.configuration import Settings
from onlinear.learning.restarts import set_weights
from onlinear.registry import LOSSES, REGRESSION, RULES, SEVERAL, TAKES
from onlinear.streams.synthetic import Drifting


def turning(n: int = 3000, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose labels turn around half way."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ np.arange(1.0, d + 1.0) > 0.0, 1.0, -1.0)
    y[n // 2 :] *= -1.0
    return X, y


def batch_of(X: Any, targets: Any, importance: np.ndarray | None = None) -> Batch:
    rows = rows_of(X)
    return Batch(rows, targets, np.ones(X.shape[0]) if importance is None else importance)


def learner_of(rule: Any = None, **settings: float) -> Learner:
    """Interpreted, unless with the rule that is compiled once for all tests: compiling takes longer than they do."""
    compiled = rule is None
    rule = rule or rules.AdaGrad()
    return Learner(losses.Logistic(), rule, features=4, settings=Settings(**settings), compiled=compiled)


def everything(learner: Learner, adapting: Adapting) -> tuple[Any, ...]:
    table = learner.table
    arrays = [array.tobytes() for array in (table.cells, table.bias, learner.counters.array, table.matrix)]
    return *arrays, json.dumps(adapting.state(), allow_nan=False)


# ------------------------------------------------------------------ what is watched


def mistakes_one_by_one(make: Any, X: np.ndarray, targets: Any) -> list[float]:
    learner, wrong = make(), []
    for i in range(len(X)):
        before = int(learner.mistakes[0])
        learner.learn(batch_of(X[i : i + 1], targets._replace(values=targets.values[i : i + 1])))
        wrong.append(float(learner.mistakes[0] - before))
    return wrong


@pytest.mark.parametrize("loss", [losses.Logistic(), losses.Softmax()], ids=["binary", "softmax"])
def test_what_is_watched_are_the_answers_before_learning(loss: Any) -> None:
    X, y = turning(300)
    several = hasattr(loss, "slopes")
    targets: Any = Labels((y > 0).astype(np.int64), 0, 2) if several else Signs(y)

    def make() -> Learner:
        return Learner(loss, rules.AdaGrad(), features=4, outputs=1 + several, compiled=not several)

    learner, adapting = make(), Adapting("ignore")
    adapting.learn(learner, batch_of(X, targets))
    expected = Curve()
    expected.add(mistakes_one_by_one(make, X, targets))
    assert adapting.curve.state() == expected.state()
    assert adapting.error == learner.mistakes[0] / 300


def test_of_a_regression_the_relative_error_is_watched() -> None:
    X, _ = turning(200)
    y = 1e9 * (X @ np.arange(4.0) + 3.0)
    y[7] = 0.0

    def make() -> Learner:
        return Learner(losses.Squared(), rules.Normalised(), features=4, compiled=False)

    learner, alone, adapting = make(), make(), Adapting("ignore")
    adapting.learn(learner, batch_of(X, Numbers(y)))
    relative = []
    for i in range(len(X)):
        score = float(alone.scores(X[i : i + 1])[0, 0])
        relative.append(abs(score - y[i]) / (abs(score) + abs(y[i])) if score or y[i] else 0.0)
        alone.learn(batch_of(X[i : i + 1], Numbers(y[i : i + 1])))
    assert adapting.error == pytest.approx(np.mean(relative), rel=1e-9)
    assert 0.0 < adapting.error < 1.0


def test_ignoring_drift_changes_no_bit() -> None:
    X, y = turning()
    watched, plain, adapting = learner_of(), learner_of(), Adapting("ignore")
    adapting.learn(watched, batch_of(X, Signs(y)))
    plain.learn(batch_of(X, Signs(y)))
    assert adapting.alarms
    assert watched.table.cells.tobytes() == plain.table.cells.tobytes()
    counts, expected = (each.counters.array[:, [EXAMPLES, MISTAKES]].tolist() for each in (watched, plain))
    assert counts == expected


# ------------------------------------------------------------------ laws 2 and 3

CASES = {
    "adagrad faster": (rules.AdaGrad(), "faster", ADWIN()),
    "normalised faster": (rules.Normalised(), "faster", ADWIN()),
    "power faster": (rules.SGD(rules.Power()), "faster", PageHinkley(10.0)),
    "arow reset": (rules.AROW(), "reset", PageHinkley(10.0)),
    "matrix reset": (rules.OnlineNewton(), "reset", ADWIN()),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_chunks_do_not_matter_and_resume_is_continue(case: str, sparse: bool) -> None:
    rule, policy, detector = CASES[case]
    X, y = turning()
    importance = np.where(np.arange(len(y)) % 7 == 3, 0.0, 1.5)  # rows that are never scored count for nothing
    loss = losses.Hinge() if isinstance(rule, rules.AROW) else losses.Logistic()
    results = []
    for size in (len(y), 1000, 37):
        learner = Learner(loss, rule, features=4, compiled=case == "adagrad faster")
        adapting = Adapting(policy, detector.anew())
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            adapting.learn(learner, batch_of(as_rows(X[part], sparse), Signs(y[part]), importance[part]))
            adapting = Adapting.from_state(json.loads(json.dumps(adapting.state())))
        results.append(everything(learner, adapting))
    assert results[0] == results[1] == results[2]
    assert all(alarm.example % 32 == 0 for alarm in adapting.alarms)
    assert 1250 < adapting.alarms[0].example < 1500


def as_rows(X: np.ndarray, sparse: bool) -> Any:
    return csr_matrix(X) if sparse else X


def test_a_part_of_a_batch_can_be_learned() -> None:
    X, y = turning()
    (whole, parts), (first, second) = (learner_of(), learner_of()), (Adapting(), Adapting())
    first.learn(whole, batch_of(X, Signs(y)))
    for start, stop in ((0, 17), (17, 17), (17, 1600), (1600, None)):
        second.learn(parts, batch_of(X, Signs(y)), start, stop)
    assert everything(whole, first) == everything(parts, second)


# ------------------------------------------------------------------ law 6


def test_a_bad_row_refuses_the_batch_before_any_weight_moves() -> None:
    X, y = turning(200)
    X[150, 2] = np.nan
    learner, adapting = learner_of(), Adapting()
    with pytest.raises(BadInput, match="row 150"):
        adapting.learn(learner, batch_of(X, Signs(y)))
    assert learner.examples == adapting.curve.examples == 0
    with pytest.raises(BadInput, match="columns"):
        adapting.learn(learner, batch_of(X[:, :3], Signs(y)))


def test_rows_before_one_that_diverges_are_learned_and_watched() -> None:
    X, y = turning(100)
    X[70] = 1e200
    learner = Learner(losses.Squared(), rules.SGD(rules.Constant(0.01)), features=4)
    adapting = Adapting("reset")
    with pytest.raises(Diverged):
        adapting.learn(learner, batch_of(X, Numbers(y)))
    assert learner.examples == adapting.curve.examples
    assert 70 <= learner.examples <= 71


# ------------------------------------------------------------------ policies


@pytest.mark.parametrize(
    ("rule", "settings"),
    [
        (rules.AdaGrad(), {"l1": 0.001, "l2": 0.001}),
        (rules.AdaGrad(), {"average": 1.0}),
        (rules.Normalised(), {"forget": 0.01}),
        (rules.SGD(rules.Pegasos(0.01)), {"l2": 0.01}),
        (rules.SGD(rules.Power()), {"average": 5.0, "l1": 0.001}),
        (rules.OnlineNewton(), {}),
        (rules.FTRLProximal(), {}),
    ],
    ids=str,
)
def test_a_reset_learner_learns_as_a_new_one(rule: Any, settings: dict[str, float]) -> None:
    X, y = turning(400)
    old, new = learner_of(rule, **settings), learner_of(rule, **settings)
    old.learn(batch_of(X[:200], Signs(y[:200])))
    reset(old)
    assert not old.weights().any()
    for learner in (old, new):
        learner.learn(batch_of(X[200:], Signs(y[200:])))
    assert old.weights().tobytes() == new.weights().tobytes()
    assert old.intercepts().tobytes() == new.intercepts().tobytes()
    assert (old.examples, new.examples) == (400, 200)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_can_start_again(name: str) -> None:
    X, y = turning(80)
    loss = LOSSES[min(TAKES[name] - SEVERAL - REGRESSION)]()
    old, new = (Learner(loss, RULES[name](), features=4, compiled=False) for _ in range(2))
    old.learn(batch_of(X[:40], Signs(y[:40])))
    reset(old)
    for learner in (old, new):
        learner.learn(batch_of(X[40:], Signs(y[40:])))
    assert old.table.cells.tobytes() == new.table.cells.tobytes()
    assert old.table.matrix.tobytes() == new.table.matrix.tobytes()


def test_nothing_is_proven_of_updates_before_and_after_a_reset() -> None:
    X, y = turning(400)
    learner = Learner(losses.Perceptron(), rules.PerceptronStep(), features=4, compiled=False)
    learner.learn(batch_of(X[:200], Signs(y[:200])))
    reset(learner)
    learner.learn(batch_of(X[:200], Signs(y[:200])))
    from onlinear.theory.subjects import StepGroup, pull_of, run_of

    steps = StepGroup(learner, [0], 1.0, 1)
    assert run_of(steps) is None
    assert pull_of(steps) is None


class OwnRule(rules.AdaGrad):
    """AdaGrad that takes numbers only."""

    def fade(self, cell: Any, keep: float) -> Any:
        return super().fade(cell if isinstance(cell[0], float) else (math.nan, math.nan), keep)


@pytest.mark.parametrize("rule", [rules.AdaGrad(), OwnRule()], ids=["ours", "own"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_faster_is_adagrad_with_the_same_weights_and_no_sums(rule: Any, sparse: bool) -> None:
    X, y = turning(400)
    learner = Learner(losses.Logistic(), rule, features=4, compiled=False)
    learner.learn(batch_of(as_rows(X[:200], sparse), Signs(y[:200])))
    weights, intercepts = learner.weights(), learner.intercepts()
    faster(learner)
    assert learner.weights().tobytes() == weights.tobytes()
    learner.learn(batch_of(as_rows(X[200:201], sparse), Signs(y[200:201])))
    moved = np.abs(learner.weights() - weights)[0]
    assert moved == pytest.approx(np.full(4, 0.1), rel=1e-4)  # rate g / (sqrt(g^2) + epsilon)
    assert abs(learner.intercepts() - intercepts)[0] == pytest.approx(0.1, rel=1e-4)


def test_faster_sets_a_schedule_back() -> None:
    X, y = turning(101)
    learner, fresh = learner_of(rules.SGD(rules.Power(1.0, 0.5))), learner_of(rules.SGD(rules.Constant(1.0)))
    learner.learn(batch_of(X[:100], Signs(y[:100])))
    set_weights(fresh, learner.weights(), learner.intercepts())
    faster(learner)
    for each in (learner, fresh):
        each.learn(batch_of(X[100:], Signs(y[100:])))
    assert learner.weights().tobytes() == fresh.weights().tobytes()


@pytest.mark.parametrize(
    ("rule", "settings", "words"),
    [
        (rules.FTRLProximal(), {}, "nothing to forget"),
        (rules.SGD(), {}, "constant rate"),
        (rules.AdaGrad(), {"average": 1.0}, "averaging"),
        (rules.AdaGrad(), {"l2": 0.1}, "penalty"),
    ],
    ids=["ftrl", "constant", "averaging", "penalty"],
)
def test_faster_is_refused_where_it_means_nothing(rule: Any, settings: dict[str, float], words: str) -> None:
    X, y = turning(10)
    with pytest.raises(Refused, match=words):
        Adapting("faster").learn(learner_of(rule, **settings), batch_of(X, Signs(y)))
    Adapting("reset").learn(learner_of(rule, **settings), batch_of(X, Signs(y)))


def test_an_unknown_policy_is_refused() -> None:
    with pytest.raises(Refused, match="ignore, reset, faster"):
        Adapting("restart")


# ------------------------------------------------------------------ what it is for


@pytest.mark.parametrize("policy", ["reset", "faster"])
def test_drift_is_followed(policy: str) -> None:
    stream = Drifting(n=16_000, d=4, angle=np.pi / 4000)
    errors = {}
    for on_drift in ("ignore", policy):
        learner, adapting = learner_of(), Adapting(on_drift)
        for X, y in stream.arrays(1000):
            adapting.learn(learner, batch_of(X, Signs(y)))
        errors[on_drift] = adapting.error
    assert errors[policy] < 0.75 * errors["ignore"]


def test_where_nothing_drifts_nothing_is_done() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 4))
    y = np.where(X @ np.ones(4) + 0.5 * rng.standard_normal(5000) > 0.0, 1.0, -1.0)
    learner, plain, adapting = learner_of(), learner_of(), Adapting("reset")
    adapting.learn(learner, batch_of(X, Signs(y)))
    plain.learn(batch_of(X, Signs(y)))
    assert adapting.alarms == []
    assert learner.table.cells.tobytes() == plain.table.cells.tobytes()


def test_a_curve_is_the_means_of_windows_that_double() -> None:
    values = np.random.default_rng(0).random(32 * 128 * 4 + 100)
    curve = Curve()
    curve.add(values.tolist())
    window = curve.window
    expected = [values[start : start + window].mean() for start in range(0, len(values), window)]
    assert [mean for _, mean in curve.points()] == pytest.approx(expected)
    assert [end for end, _ in curve.points()][-2:] == [len(values) // window * window, len(values)]
    assert 64 <= len(expected) <= 128
    assert Curve().points() == []
