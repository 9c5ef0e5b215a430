"""Law 6: bad input and overflow are noticed when they happen, named, and leave no trace."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from cases import Bits, batch_of, bits_of, cut, data_for, learner_for, loss_of, rule_of, targets_of
from covering import INTERPRETED, KINDS, Case, compiled_case, every_narrow_case
from onlinear import losses, registry, rules
from onlinear.data.batch import Batch, importance_of, numbers_of, rows_of
from onlinear.data.targets import Numbers, Signs
from onlinear.errors import BadInput, Diverged, OnlinearError, Refused
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner

BAD = {"NaN": np.nan, "infinity": np.inf, "-infinity": -np.inf}


def spoiled(case: Case, row: int, feature: int, value: float) -> Batch:
    """The case's batch with one bad number; the names of its features are letters.

    Only a bad row of importance 0 has company of its kind: such rows are looked at before learning begins. A bad number
    in any other row is met on the way, and what was learned before it undone.
    """
    data = case.data()
    if data.importance[row] > 0.0:
        data = data._replace(importance=np.where(data.importance > 0.0, data.importance, 1.0))
    X = data.X.astype(case.dtype)
    X[row, feature] = value
    rows = rows_of(scipy.sparse.csr_matrix(X) if case.kind == "sparse" else X)
    return Batch(rows, targets_of(data, case.loss), data.importance, names="abcdefghijk")


def trained(case: Case, settings: Settings) -> tuple[Learner, Bits]:
    learner = case.learner(settings)
    learner.learn(case.batch())
    return learner, bits_of(learner)


@every_narrow_case
def test_a_bad_number_refuses_the_batch_and_moves_nothing(case: Case) -> None:
    ignored = int(np.flatnonzero(case.data().importance == 0.0)[0])
    spots = [(0, 0), (29, 10), (13, 4), (ignored, 7)]
    for settings, (row, feature) in product(case.settings()[:3], spots):
        learner, before = trained(case, settings)
        name, value = list(BAD.items())[(row + feature) % 3]
        with np.errstate(all="ignore"), pytest.raises(BadInput) as told:
            learner.learn(spoiled(case, row, feature, value))
        message = str(told.value)
        assert name.removeprefix("-") in message
        assert f"row {row}," in message
        assert f"feature {'abcdefghijk'[feature]!r}" in message
        assert "nothing was learned" in message
        assert bits_of(learner) == before
        assert isinstance(told.value, ValueError)


@pytest.mark.parametrize("kind", KINDS)
def test_wherever_the_bad_number_is(kind: str) -> None:
    case = Case("log_loss", "normalised", kind, "float64", False)
    learner, before = trained(case, Settings())
    for row, feature in product(range(30), range(11)):
        with np.errstate(all="ignore"), pytest.raises(BadInput, match=f"row {row}, feature"):
            learner.learn(spoiled(case, row, feature, np.nan))
        assert bits_of(learner) == before


def test_the_first_bad_number_is_the_one_named() -> None:
    X = np.ones((4, 3))
    X[2, 1] = X[1, 2] = np.nan
    learner = Learner(losses.Hinge(), rules.SGD(), features=3, compiled=False)
    with pytest.raises(BadInput, match="row 1, feature 2"):
        learner.learn(Batch(rows_of(X), Signs(np.ones(4)), np.ones(4)))


def test_large_numbers_whose_sum_overflows_are_not_called_infinite() -> None:
    X = np.full((2, 3), 1.5e308)
    learner = Learner(losses.Hinge(), rules.SGD(rules.Constant(1e-300)), features=3, compiled=False)
    learner.learn(Batch(rows_of(X), Signs(np.array([1.0, -1.0])), np.array([1.0, 0.0])))
    assert np.isfinite(learner.weights()).all()


@pytest.mark.parametrize(
    ("importance", "told"),
    [
        ([1.0, np.nan], "importance of row 1 is nan"),
        ([np.inf, 1.0], "importance of row 0 is inf"),
        ([1.0, -0.5], "importance of row 1 is -0.5"),
        ([1.0], r"shape \(1,\), but there are 2 rows"),
    ],
)
def test_bad_importance(importance: list[float], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        importance_of(importance, 2)


@pytest.mark.parametrize(
    ("targets", "told"),
    [([1.0, np.nan], "target of row 1 is nan"), ([np.inf, 1.0], "row 0"), ([1.0], r"shape \(1,\)")],
)
def test_bad_targets(targets: list[float], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        numbers_of(targets, 2)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("kind", KINDS)
def test_rows_with_columns_the_learner_does_not_have(kind: str, compiled: bool) -> None:
    data = data_for("hinge")
    wide = data._replace(X=np.hstack([data.X, np.ones((30, 2))]))
    learner = learner_for("hinge", "sgd", data, compiled=compiled)
    before = bits_of(learner)
    with pytest.raises(BadInput, match=r"1[123]"):
        learner.learn(batch_of(wide, "hinge", kind))
    assert bits_of(learner) == before


# ------------------------------------------------------------------ divergence


def check_divergence(learner: Learner, twin: Learner, batch: Batch, row: int) -> None:
    """The row diverges; the learner is as if only the rows before it had been there."""
    with np.errstate(all="ignore"):
        with pytest.raises(Diverged, match=rf"row {row} of the batch.*undone") as told:
            learner.learn(batch)
        twin.learn(cut(batch, 0, row))
    assert type(learner.rules[0]).__name__ in str(told.value)
    assert f"example {twin.examples + 1} " in str(told.value)
    assert bits_of(learner) == bits_of(twin)
    assert np.isfinite(learner.weights()).all()
    assert np.isfinite(learner.intercepts()).all()


EXPLOSIVE: list[tuple[Any, Any]] = [
    (losses.Squared(), rules.SGD(rules.Constant(1e297))),
    (losses.Squared(), rules.AdaGrad(1e300)),
    (losses.Absolute(), rules.PerceptronStep(1e300)),
    (losses.Squared(), rules.FTRLProximal(alpha=1e300)),
]


def explosive_batch(learner: Learner, kind: str) -> tuple[Batch, int]:
    """Harmless rows of zeros, then rows of growing size; which of them is too much for the learner."""
    X = np.zeros((30, 11))
    X[5:] = np.random.default_rng(0).normal(size=(25, 11)) * 1e5
    y = np.random.default_rng(1).normal(size=30) * 1e10
    rows = rows_of(scipy.sparse.csr_matrix(X) if kind == "sparse" else X)
    batch = Batch(rows, Numbers(y), np.ones(30))
    for row in range(30):
        try:
            with np.errstate(all="ignore"):
                learner.learn(cut(batch, row, row + 1))
        except Diverged:
            return batch, row
    raise AssertionError("nothing diverged")


@pytest.mark.parametrize("sound", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss_and_rule", EXPLOSIVE, ids=lambda pair: type(pair[1]).__name__)
def test_divergence_undoes_one_example_only(loss_and_rule: tuple[Any, Any], kind: str, sound: bool) -> None:
    loss, rule = loss_and_rule
    if isinstance(rule, rules.PerceptronStep):
        loss = losses.Hinge(1e9)
    data = data_for("squared_error")

    def fresh() -> Learner:
        return learner_for(loss, rule, data)

    batch, row = explosive_batch(fresh(), kind)
    batch.sound = sound  # then there is nothing to undo but the row itself
    check_divergence(fresh(), fresh(), batch, row)


@compiled_case
def test_compiled_divergence(case: Case) -> None:
    """One huge row among small ones; whatever it does to a rule, the weights stay finite."""
    data = case.data()
    X = data.X.copy()
    X[17] = 3e38  # the largest that float32 holds, nearly
    batch = case.batch(data._replace(X=X))
    learner, twin = case.learner(), case.learner()
    try:
        learner.learn(batch)
    except Diverged:
        row = int(np.flatnonzero(np.cumsum(data.importance > 0.0) == learner.examples + 1)[0])
        check_divergence(case.learner(), twin, batch, row)
    assert np.isfinite(learner.weights()).all()
    assert np.isfinite(learner.intercepts()).all()


@pytest.mark.parametrize("case", INTERPRETED, ids=str)
def test_weights_stay_finite_whatever_comes(case: Case) -> None:
    data = case.data()
    for size in (1e160, 1e300):
        X = data.X.copy()
        X[[3, 17]] *= size
        learner = case.learner()
        batch = case.batch(data._replace(X=X))
        with np.errstate(all="ignore"):
            for row in range(30):
                try:
                    learner.learn(cut(batch, row, row + 1))
                except OnlinearError as error:
                    assert "row 0" in str(error)  # noqa: PT017
        assert np.isfinite(learner.weights()).all()
        assert np.isfinite(learner.intercepts()).all()


@pytest.mark.parametrize("rule", ["sgd", "importance_aware", "newton"])
def test_an_infinite_loss_does_not_spoil_the_figures(rule: str) -> None:
    learner = learner_for("squared_error", rule, data_for("squared_error"))
    with np.errstate(all="ignore"), suppress(Diverged):
        learner.learn(Batch(rows_of(np.ones((1, 11))), Numbers(np.array([1e200])), np.ones(1)))
    assert np.isfinite(learner.counters.loss_sums).all()


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_weight_that_overflows_is_noticed_at_its_own_example(kind: str, rows: int) -> None:
    X = np.array([[1e20, 1.0], [0.0, 1.0]])[:rows]
    learner = Learner(losses.Hinge(), rules.PerceptronStep(1e300), features=2, compiled=False)
    before = bits_of(learner)
    batch = Batch(rows_of(scipy.sparse.csr_matrix(X) if kind == "sparse" else X), Signs(np.ones(rows)), np.ones(rows))
    with np.errstate(all="ignore"), pytest.raises(Diverged, match="row 0 of the batch"):
        learner.learn(batch)
    assert bits_of(learner) == before


@pytest.mark.parametrize(
    ("rule", "settings"),
    [
        ("sgd", Settings(l2=10.0 - 1e-9)),
        ("sgd", Settings(l1=0.01, l2=0.1)),
        ("sgd", Settings(l1=0.01, average=1.0)),
        ("adagrad", Settings(l1=0.01, l2=0.1)),
        ("adagrad", Settings(l1=0.01, average=1.0)),
    ],
)
def test_undoing_where_penalties_touch_every_weight(rule: str, settings: Settings) -> None:
    """Of a large table only the cells of the batch are kept aside: those it does not name must not have moved."""
    rng = np.random.default_rng(2)
    X = scipy.sparse.random(12, 400, density=0.02, random_state=rng, format="csr")
    first = Batch(rows_of(X), Numbers(rng.normal(size=12)), np.ones(12))
    one = scipy.sparse.csr_matrix(([1.0, 1e308, 1.0], [3, 3, 5], [0, 1, 2, 3]), shape=(3, 400))
    second = Batch(rows_of(one), Numbers(np.array([1e5, 1.0, 1.0])), np.ones(3))
    step = {"sgd": rules.SGD(rules.Constant(0.1)), "adagrad": rules.AdaGrad(10.0)}[rule]
    learner, twin = (Learner(losses.Squared(), step, features=400, settings=settings, compiled=False) for _ in "ab")
    for each in (learner, twin):
        each.learn(first)
    with np.errstate(all="ignore"):
        with pytest.raises(Diverged, match="row 1 of the batch"):
            learner.learn(second)
        twin.learn(cut(second, 0, 1))
    assert bits_of(learner) == bits_of(twin)


def test_after_divergence_learning_goes_on() -> None:
    learner = Learner(losses.Squared(), rules.AdaGrad(1.0), features=1, compiled=False)
    rows = rows_of(np.array([[1.0], [1e200], [1.0]]))
    batch = Batch(rows, Numbers(np.array([1.0, 1e200, 1.0])), np.ones(3))
    with np.errstate(all="ignore"), pytest.raises(Diverged, match=r"example 2 \(row 1 of the batch\)"):
        learner.learn(batch)
    assert learner.examples == 1
    learner.learn(cut(batch, 2, 3))
    assert learner.examples == 2


# ------------------------------------------------------------------ what does not exist is refused by name

UNSUPPORTED = [
    (loss, rule) for loss, rule in product(registry.LOSSES, registry.RULES) if (loss, rule) not in set(registry.pairs())
]


@pytest.mark.parametrize(("loss", "rule"), UNSUPPORTED)
def test_pairs_outside_the_table_are_refused_by_name(loss: str, rule: str) -> None:
    with pytest.raises(Refused) as told:
        Learner(loss_of(loss), rule_of(rule), features=2)
    message = str(told.value)
    assert f"the rule {rule!r} does not take the loss {loss!r}" in message
    for taken in registry.TAKES[rule]:
        assert taken in message


def any_loss(rule: str) -> Any:
    return loss_of(min(registry.TAKES[rule]))


@pytest.mark.parametrize("rule", sorted(set(registry.RULES) - registry.PENALISED))
@pytest.mark.parametrize("settings", [Settings(l1=0.1), Settings(l2=0.1)], ids=["l1", "l2"])
def test_penalties_a_rule_does_not_take(rule: str, settings: Settings) -> None:
    with pytest.raises(Refused, match=f"the rule '{rule}' takes no penalty"):
        Learner(any_loss(rule), rule_of(rule), features=2, settings=settings)


@pytest.mark.parametrize("rule", sorted(set(registry.RULES) - registry.FORGETTING))
def test_rules_with_nothing_to_forget(rule: str) -> None:
    with pytest.raises(Refused, match=f"the rule '{rule}' has nothing to forget"):
        Learner(any_loss(rule), rule_of(rule), features=2, settings=Settings(forget=0.1))


@pytest.mark.parametrize("rule", sorted(registry.FORGETTING))
def test_averaging_and_forgetting_exclude_each_other(rule: str) -> None:
    with pytest.raises(Refused, match="averaging remembers"):
        Learner(any_loss(rule), rule_of(rule), features=2, settings=Settings(forget=0.1, average=1.0))


@pytest.mark.parametrize("rule", ["adagrad", "normalised"])
def test_penalty_and_forgetting_exclude_each_other(rule: str) -> None:
    with pytest.raises(Refused, match="penalty and forgetting"):
        Learner(any_loss(rule), rule_of(rule), features=2, settings=Settings(forget=0.1, l2=0.1))


def test_a_bank_with_one_bad_member_is_refused() -> None:
    with pytest.raises(Refused, match="'pa1' does not take the loss 'log_loss'"):
        Learner([losses.Hinge(), losses.Logistic()], rules.PA1(), features=2, outputs=2)


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_bank_of_another_length_than_the_outputs_is_refused(outputs: int) -> None:
    with pytest.raises(OnlinearError):
        Learner([losses.Hinge(1.0), losses.Hinge(2.0)], rules.SGD(), features=2, outputs=outputs)
