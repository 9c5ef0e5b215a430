"""Law 5: the same in, the same out: run after run, beside other threads, and in a bank."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from cases import CLASSES, PLAIN, Data, batch_of, bits_of, data_for, learner_for, loss_of, rule_of
from covering import KINDS, WIDTHS, Case, bits_in_one_go, compiled_case, every_case
from onlinear import losses, registry, rules
from onlinear.data.batch import Batch
from onlinear.data.rows import DenseRows
from onlinear.data.targets import ClassMembers, Labels, Members, Signs, Watched
from onlinear.kernels.learn.state import ACTIVE, MISTAKES
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner


@every_case
def test_two_runs_give_the_same_bits(case: Case) -> None:
    for settings in case.settings():
        learner = case.learner(settings)
        learner.learn(case.batch())
        assert bits_of(learner) == bits_in_one_go(case, settings)


@compiled_case
def test_threads_that_learn_side_by_side_do_not_meet(case: Case) -> None:
    settings = case.settings()[1]
    expected = bits_in_one_go(case, settings)
    learners = [case.learner(settings) for _ in range(4)]
    batch = case.batch()  # one for all: nobody writes to it
    threads = [threading.Thread(target=learner.learn, args=(batch,)) for learner in learners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for learner in learners:
        assert bits_of(learner) == expected


# ------------------------------------------------------------------ banks


def same_output(bank: Learner, m: int, alone: Learner) -> None:
    """Output m of a bank, to the bit: weights, what the rule keeps, and every figure."""
    for averaged in (True, False) if alone.counters.averages else (True,):
        np.testing.assert_array_equal(bank.weights(averaged=averaged)[m], alone.weights(averaged=averaged)[0])
        np.testing.assert_array_equal(bank.intercepts(averaged=averaged)[m], alone.intercepts(averaged=averaged)[0])
    size = len(getattr(alone.rules[0], "CELL", ("weight",)))
    for learner in (bank, alone):
        learner.turn_table(DenseRows)
    np.testing.assert_array_equal(bank.table.cells[m, :size], alone.table.cells[0, :size])
    np.testing.assert_array_equal(bank.counters.loss_sums[m], alone.counters.loss_sums[0])
    np.testing.assert_array_equal(bank.updates[m], alone.updates[0])
    np.testing.assert_array_equal(bank.mistakes[m], alone.mistakes[0])
    if bank.table.matrix.size:
        np.testing.assert_array_equal(bank.table.matrix[m], alone.table.matrix[0])


def scaled(thing: Any, factor: float) -> Any:
    """A loss or a rule of the same kind with other numbers."""
    if isinstance(thing, tuple):
        return type(thing)(*[scaled(field, factor) for field in thing])
    return thing * factor


SCALAR_PAIRS = [pair for pair in registry.pairs() if pair[0] not in registry.SEVERAL]
FACTORS = (1.0, 0.6, 1.15)


def check_bank(
    loss: Any,
    rule: Any,
    name: str,
    kind: str,
    settings: Any = PLAIN,
    compiled: bool = False,
    features: int = 11,
    dtype: str = "float64",
) -> None:
    """A bank of as many members as the longest list."""
    data = data_for(name, features=features)
    batch = batch_of(data, name, kind, dtype)
    outputs = max(len(thing) for thing in (loss, rule, settings) if isinstance(thing, list))
    bank = learner_for(loss, rule, data, settings, compiled=compiled, outputs=outputs)
    bank.learn(batch)
    for m in range(outputs):
        one = [thing[m] if isinstance(thing, list) else thing for thing in (loss, rule, settings)]
        alone = learner_for(one[0], one[1], data, one[2], compiled=compiled)
        alone.learn(batch)
        same_output(bank, m, alone)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), SCALAR_PAIRS)
def test_a_bank_of_rules_and_losses(loss: str, rule: str, kind: str) -> None:
    many_rules = [scaled(rule_of(rule), factor) for factor in FACTORS]
    many_losses = [scaled(loss_of(loss), factor) for factor in FACTORS]
    check_bank(loss_of(loss), many_rules, loss, kind)
    check_bank(many_losses, rule_of(rule), loss, kind)
    check_bank(many_losses, many_rules, loss, kind, Settings(average=3.0))


def settings_bank(rule: str) -> list[Settings]:
    bank = Case("", rule, "", "", False).settings()
    return [*bank, Settings(intercept=False)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", sorted(registry.RULES))
def test_a_bank_of_settings(rule: str, kind: str) -> None:
    loss = next(loss for loss, taker in SCALAR_PAIRS if taker == rule)
    check_bank(loss_of(loss), rule_of(rule), loss, kind, settings_bank(rule))


@pytest.mark.parametrize(("kind", "features"), [("dense", 150), ("sparse", 400)])
@pytest.mark.parametrize("rule", sorted(set(registry.RULES) - {"second_order", "newton"}))
def test_a_bank_on_wide_rows(rule: str, kind: str, features: int) -> None:
    """A matrix over that many features takes the interpreter minutes; its banks differ in nothing else."""
    loss = next(loss for loss, taker in SCALAR_PAIRS if taker == rule)
    many_rules = [scaled(rule_of(rule), factor) for factor in FACTORS]
    check_bank(loss_of(loss), many_rules, loss, kind, Settings(average=3.0), features=features)


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("loss", "rule", "kind", "dtype", "features"),
    [
        (*case, features)
        for case in [  # of the covering set, whose members alone are compiled already
            ("hinge", "sgd", "sparse", "float32"),
            ("binomial", "normalised", "dense", "float64"),
            ("perceptron", "diagonal_second_order", "sparse", "float32"),
        ]
        for features in (11, *WIDTHS[case[2]])
    ],
)
def test_compiled_banks(loss: str, rule: str, kind: str, dtype: str, features: int) -> None:
    many_rules = [scaled(rule_of(rule), factor) for factor in FACTORS]
    check_bank(loss_of(loss), many_rules, loss, kind, compiled=True, features=features, dtype=dtype)
    if features > 1000 and rule != "sgd":
        return  # some settings visit every cell at every row
    many = settings_bank(rule)
    repeated = [scaled(rule_of(rule), 1.0 + 0.1 * m) for m in range(len(many))]
    check_bank(loss_of(loss), repeated, loss, kind, many, compiled=True, features=features, dtype=dtype)


@pytest.mark.parametrize("features", [11, 400])
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("outputs", [2, 5, 11])
def test_banks_of_any_size(outputs: int, compiled: bool, features: int) -> None:
    """Whole registers of members and those left over, with averages, penalties and a member that has stopped."""
    data = data_for("hinge", features=features)
    batch = batch_of(data, "hinge", "sparse")
    kinds = settings_bank("sgd")
    settings = [kinds[m % len(kinds)] for m in range(outputs)]
    many = [scaled(rule_of("sgd"), 1.0 + 0.1 * m) for m in range(outputs)]
    bank = learner_for("hinge", many, data, settings, compiled=compiled, outputs=outputs)
    bank.counters.array[1, ACTIVE] = 0.0
    bank.learn(batch)
    for m in range(outputs):
        alone = learner_for("hinge", many[m], data, settings[m], compiled=compiled)
        alone.counters.array[0, ACTIVE] = float(m != 1)
        alone.learn(batch)
        same_output(bank, m, alone)


def test_a_bank_of_two_kinds_is_refused() -> None:
    data = data_for("hinge")
    bank = learner_for("hinge", [rules.PA1(), rules.PA2()], data, outputs=2)
    with pytest.raises(ValueError, match="one kind, got PA1, PA2"):
        bank.learn(batch_of(data, "hinge"))


# ------------------------------------------------------------------ one against the rest


def check_against_the_rest(loss: str, rule: str, kind: str, compiled: bool, features: int = 11) -> None:
    data = data_for(loss, features=features, against_the_rest=True)
    for settings in Case(loss, rule, kind, "float64", compiled).settings():
        together = learner_for(loss, rule, data, settings, compiled=compiled)
        batch = batch_of(data, loss, kind)
        together.learn(batch)
        for m in range(data.classes):
            alone = learner_for(loss, rule, Data(*data[:3], 0), settings, compiled=compiled)
            signs = Signs(np.where(data.y == m, 1.0, -1.0))
            alone.learn(Batch(batch.rows, signs, batch.importance))
            together.counters.array[:, MISTAKES] = alone.counters.array[
                :, MISTAKES
            ]  # mistakes are those of the highest score: not comparable
            same_output(together, m, alone)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), [pair for pair in registry.pairs() if pair[0] in registry.BINARY])
def test_each_class_is_the_binary_problem_alone(loss: str, rule: str, kind: str) -> None:
    check_against_the_rest(loss, rule, kind, compiled=False)


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("loss", "rule", "kind", "features"),
    [
        (*case, features)
        for case in [("perceptron", "perceptron", "dense"), ("log_loss", "adagrad", "sparse")]
        for features in (11, *WIDTHS[case[-1]])
    ],
)
def test_each_class_is_the_binary_problem_alone_compiled(loss: str, rule: str, kind: str, features: int) -> None:
    check_against_the_rest(loss, rule, kind, compiled=True, features=features)


def test_a_lone_output_and_a_bank_of_one_are_the_same() -> None:
    data = data_for("log_loss")
    single = learner_for(losses.Logistic(), rules.SGD(), data)
    bank = learner_for([losses.Logistic()], [rules.SGD()], data, [Settings()])
    for learner in (single, bank):
        learner.learn(batch_of(data, "log_loss"))
    assert bits_of(single) == bits_of(bank)


# ------------------------------------------------------------------ banks whose members see rows of their own


def drawn_shares(rows: int, outputs: int) -> np.ndarray:
    """A fold that is left out, as a bootstrap draws, and everything."""
    rng = np.random.default_rng(7)
    shares = rng.poisson(1.0, (rows, outputs)).astype(np.int8)
    shares[:, 0] = np.arange(rows) % 3 != 1
    shares[:, -1] = 1
    return shares


def members_of(targets: Any, width: int, learned: np.ndarray, counted: np.ndarray) -> Any:
    outputs = learned.shape[1] * width
    if width == 1:
        return Members(targets, learned, counted, np.zeros(outputs))
    return ClassMembers(targets, width, learned, counted, np.zeros(outputs))


def check_shares(
    loss: str, rule: str, kind: str, settings: Settings, compiled: bool = False, features: int = 11
) -> None:
    """A member with shares is the same configuration alone, with its shares for the rows' importance."""
    data = data_for(loss, features=features)
    batch = batch_of(data, loss, kind)
    shares = drawn_shares(len(batch), 3)
    many = [scaled(rule_of(rule), factor) for factor in FACTORS]
    bank = learner_for(loss_of(loss), many, data, settings, compiled=compiled, outputs=3)
    scores = np.full(shares.shape, np.nan)
    members = members_of(batch.targets, 1, shares, shares)
    bank.learn(Batch(batch.rows, Watched(members, scores), batch.importance))
    for m in range(3):
        alone = learner_for(loss_of(loss), many[m], data, settings, compiled=compiled)
        before = np.full(len(batch), np.nan)
        for i in np.flatnonzero(batch.importance):
            before[i] = alone.weights()[0] @ data.X[i] + alone.intercepts()[0]
            alone.learn(Batch(batch.rows, batch.targets, batch.importance * shares[:, m]), np.array([i]))
        np.testing.assert_allclose(scores[:, m], before, rtol=1e-10, atol=1e-12)
        np.testing.assert_array_equal(bank.weights()[m], alone.weights()[0])
        np.testing.assert_array_equal(bank.intercepts()[m], alone.intercepts()[0])
        np.testing.assert_array_equal(bank.counters.loss_sums[m], alone.counters.loss_sums[0])
        np.testing.assert_array_equal(bank.counters.unaveraged_loss_sums[m], alone.counters.unaveraged_loss_sums[0])
        np.testing.assert_array_equal(bank.updates[m], alone.updates[0])
        if loss in registry.BINARY:
            wrong = (before > 0.0) != (data.y > 0.0)
            assert members.counts[m] == (shares[:, m] * wrong)[batch.importance > 0.0].sum()
            assert bank.mistakes[m] == alone.mistakes[0]
            assert bank.counters.unaveraged_mistakes[m] == alone.counters.unaveraged_mistakes[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), SCALAR_PAIRS)
def test_members_that_take_shares_of_rows(loss: str, rule: str, kind: str) -> None:
    check_shares(loss, rule, kind, PLAIN)
    check_shares(loss, rule, kind, Settings(average=3.0))


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("loss", "rule", "kind", "features"),
    [
        (*case, features)
        for case in [
            ("log_loss", "sgd", "sparse"),
            ("binomial", "normalised", "dense"),
            ("squared_error", "newton", "dense"),
        ]
        for features in (11, *WIDTHS[case[-1]])
    ],
)
def test_compiled_members_that_take_shares_of_rows(loss: str, rule: str, kind: str, features: int) -> None:
    check_shares(loss, rule, kind, Settings(average=1.0), compiled=True, features=features)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiles)])
@pytest.mark.parametrize("rule", ["perceptron", "normalised"])
def test_classifiers_of_several_classes_side_by_side(rule: str, compiled: bool) -> None:
    """Two configurations of three classes each: every one learns and errs as a classifier of its own."""
    data = data_for("multiclass_perceptron")
    loss = losses.Perceptron() if rule == "perceptron" else losses.Logistic()
    rules_of_two = [rule_of(rule), scaled(rule_of(rule), 0.5)]
    rows = batch_of(data, "multiclass_perceptron", "sparse").rows
    codes = data.y.astype(np.int64)
    bank = learner_for(loss, [one for one in rules_of_two for _ in range(3)], data, compiled=compiled, outputs=6)
    once = np.ones((len(codes), 2), np.int8)
    bank.learn(Batch(rows, members_of(Labels(codes, 0, 3), 3, once, once), data.importance))
    for c, one in enumerate(rules_of_two):
        alone = learner_for(loss, one, data, compiled=compiled, outputs=3)
        alone.learn(Batch(rows, Labels(codes, 0, 3), data.importance))
        np.testing.assert_array_equal(bank.weights()[3 * c : 3 * c + 3], alone.weights())
        np.testing.assert_array_equal(bank.mistakes[3 * c : 3 * c + 3], alone.mistakes)


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.compiles)])
def test_folds_are_left_out_and_judged(compiled: bool) -> None:
    """Two configurations by three folds of three classes: each member skips its fold, and errs on it alone."""
    data = data_for("multiclass_perceptron", plain=True)
    many, folds = [rule_of("normalised"), scaled(rule_of("normalised"), 0.5)], np.arange(len(data.y)) * 7 % 3
    rows, codes = batch_of(data, "multiclass_perceptron", "sparse").rows, data.y.astype(np.int64)
    each = [rule for rule in many for _ in range(3 * CLASSES)]
    bank = learner_for(losses.Logistic(), each, data, compiled=compiled, outputs=len(each))
    counted = (folds[:, None] == np.arange(6) % 3).astype(np.int8)
    judged = members_of(Labels(codes, 0, CLASSES), CLASSES, 1 - counted, counted)
    bank.learn(
        Batch(
            rows,
            judged,
            data.importance,
        )
    )
    for c, rule in enumerate(many):
        for fold in range(3):
            alone = learner_for(losses.Logistic(), rule, data, compiled=compiled, outputs=CLASSES)
            wrong = 0
            for i in range(len(codes)):
                if folds[i] == fold:
                    scores = alone.weights() @ data.X[i] + alone.intercepts()
                    wrong += int(scores.argmax() != codes[i])
                else:
                    alone.learn(Batch(rows, Labels(codes, 0, CLASSES), data.importance), np.array([i]))
            first = (3 * c + fold) * CLASSES
            np.testing.assert_array_equal(bank.weights()[first : first + CLASSES], alone.weights())
            assert judged.counts[first] == wrong
