"""What each rule promises, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings as budget, strategies as st

from cases import batch_of, cut, data_for, learner_for, loss_of, rule_of
from onlinear import losses, registry, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Labels, Numbers, Signs
from onlinear.errors import Refused
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.learning.restarts import set_weights

seeds = st.integers(0, 2**32 - 1)


def learned(loss: Any, rule: Any, X: np.ndarray, targets: Any, **more: Any) -> Learner:
    more.setdefault("settings", Settings())
    importance = more.pop("importance", np.ones(len(X)))
    learner = Learner(loss, rule, features=X.shape[1], compiled=False, **more)
    learner.learn(Batch(rows_of(X), targets, importance))
    return learner


def with_ones(X: np.ndarray) -> np.ndarray:
    return np.hstack([X, np.ones((len(X), 1))])


def joined(learner: Learner) -> np.ndarray:
    return np.append(learner.weights()[0], learner.intercepts()[0])


# ------------------------------------------------------------------ second order


@budget(max_examples=25)
@given(seed=seeds, a=st.sampled_from([0.1, 1.0, 10.0]))
def test_newton_with_the_squared_loss_is_ridge(seed: int, a: float) -> None:
    rng = np.random.default_rng(seed)
    X, y, h = rng.normal(size=(20, 4)), rng.normal(size=20), rng.exponential(size=20)
    Z = with_ones(X)
    for n in (1, 5, 20):
        learner = learned(losses.Squared(), rules.OnlineNewton(a), X[:n], Numbers(y[:n]), importance=h[:n])
        left = a * np.eye(5) + (Z[:n].T * h[:n]) @ Z[:n]
        ridge = np.linalg.solve(left, (Z[:n].T * h[:n]) @ y[:n])
        # the condition number is below |Z|^2 / a, about 1000
        np.testing.assert_allclose(joined(learner), ridge, rtol=1e-10, atol=1e-12)


def test_newton_counts_rows_it_predicts_exactly() -> None:
    X = np.array([[1.0, 2.0], [0.5, -1.0]])
    y = np.array([0.0, 1.0])  # the first row is predicted exactly: the weights are 0
    learner = learned(losses.Squared(), rules.OnlineNewton(1.0), X, Numbers(y))
    ridge = np.linalg.solve(np.eye(3) + with_ones(X).T @ with_ones(X), with_ones(X).T @ y)
    np.testing.assert_allclose(joined(learner), ridge, rtol=1e-14)


def test_diagonal_newton_counts_rows_it_predicts_exactly() -> None:
    X = np.array([[2.0], [1.0]])
    learner = learned(
        losses.Squared(),
        rules.DiagonalNewton(1.0),
        X,
        Numbers(np.array([0.0, 3.0])),
        settings=Settings(intercept=False),
    )
    assert learner.weights()[0, 0] == pytest.approx(3.0 / (1.0 + 4.0 + 1.0))


@budget(max_examples=25)
@given(seed=seeds, a=st.sampled_from([0.1, 1.0, 10.0]))
def test_second_order_perceptron_is_its_closed_form(seed: int, a: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(25, 4)), rng.choice([-1.0, 1.0], size=25)
    learner = learned(losses.Perceptron(), rules.SecondOrder(a), X[:0], Signs(y[:0]))
    S, v = a * np.eye(5), np.zeros(5)
    for x, target in zip(X, y, strict=True):
        z = np.append(x, 1.0)
        before = learner.updates[0]
        learner.learn(Batch(rows_of(x[None]), Signs(np.array([target])), np.ones(1)))
        # the prediction is that of the paper, whose matrix already holds the row
        papers = v @ np.linalg.solve(S + np.outer(z, z), z)
        updated = learner.updates[0] > before
        if abs(papers) > 1e-12:
            assert updated == (target * papers <= 0.0)
        if updated:
            S += np.outer(z, z)
            v += target * z
        np.testing.assert_allclose(joined(learner), np.linalg.solve(S, v), rtol=1e-9, atol=1e-11)


def test_diagonal_forms_are_the_matrix_forms_on_one_feature() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(30, 1)), rng.choice([-1.0, 1.0], size=30)
    alone = Settings(intercept=False)
    for loss, whole, diagonal in (
        (losses.Perceptron(), rules.SecondOrder(0.7), rules.DiagonalSecondOrder(0.7)),
        (losses.Logistic(), rules.OnlineNewton(0.7), rules.DiagonalNewton(0.7)),
    ):
        a = learned(loss, whole, X, Signs(y), settings=alone)
        b = learned(loss, diagonal, X, Signs(y), settings=alone)
        np.testing.assert_allclose(a.weights(), b.weights(), rtol=1e-12)


@pytest.mark.parametrize("rule", [rules.SecondOrder(), rules.OnlineNewton()])
def test_matrix_rules_refuse_many_features_and_name_the_diagonal_form(rule: Any) -> None:
    loss = losses.Perceptron() if isinstance(rule, rules.SecondOrder) else losses.Logistic()
    with pytest.raises(Refused, match=r"2001 features.*rules\.Diagonal") as told:
        Learner(loss, rule, features=2001)
    assert hasattr(rules, str(told.value).rpartition("rules.")[2])


# ------------------------------------------------------------------ passive-aggressive


@pytest.mark.parametrize("name", sorted(registry.PASSIVE))
@budget(max_examples=20)
@given(seed=seeds)
def test_pa_closes_the_loss_of_each_example(name: str, seed: int) -> None:
    data = data_for(name, rows=12, seed=seed, plain=True)
    loss = loss_of(name)
    learner = learner_for(loss, rules.PA(), data)
    batch = batch_of(data, name)
    for i in range(len(batch)):
        one = cut(batch, i, i + 1)
        before, length = learner.weights(), learner.updates.sum()
        learner.learn(one)
        scores = learner.scores(data.X[i : i + 1])[0]
        after = loss.value(scores, int(data.y[i])) if data.classes else loss.value(scores[0], data.y[i])
        rounding = 1e-13 * (1.0 + np.abs(scores).max() + abs(data.y[i]))
        if name.startswith("squared"):
            rounding *= rounding
        elif name == "crammer_singer" and data.classes > 2:
            # the rival it closed on; another class may be the strongest by now
            moved = np.flatnonzero((learner.weights() != before).any(axis=1))
            if len(moved):
                label = int(data.y[i])
                (rival,) = set(moved) - {label}
                after = max(0.0, loss.margin - scores[label] + scores[rival])
        assert after <= rounding
        assert learner.updates.sum() >= length


@budget(max_examples=30)
@given(seed=seeds, C=st.floats(0.01, 10.0), h=st.floats(0.1, 3.0))
def test_pa_formulas(seed: int, C: float, h: float) -> None:
    """Crammer et al. 2006, equation 6 for the hinge and section 5 for the insensitive loss."""
    rng = np.random.default_rng(seed)
    w, x, b = rng.normal(size=3), rng.normal(size=3), rng.normal()
    norm = x @ x + 1.0
    for loss, target, make in (
        (losses.Hinge(), rng.choice([-1.0, 1.0]), Signs),
        (losses.EpsilonInsensitive(0.3), rng.normal(), Numbers),
    ):
        score = w @ x + b
        if isinstance(loss, losses.Hinge):
            short, sign = max(0.0, 1.0 - target * score), target
        else:
            short, sign = max(0.0, abs(target - score) - 0.3), np.sign(target - score)
        steps = (
            (rules.PA(), short / norm),
            (rules.PA1(C), min(C, short / norm)),
            (rules.PA2(C), short / (norm + 1.0 / (2.0 * C))),
        )
        for rule, tau in steps:
            learner = Learner(loss, rule, features=3, compiled=False)
            set_weights(learner, w[None], np.array([b]))
            learner.learn(Batch(rows_of(x[None]), make(np.array([target])), np.array([h])))
            np.testing.assert_allclose(learner.weights()[0], w + h * tau * sign * x, rtol=1e-12, atol=1e-13)
            assert learner.intercepts()[0] == pytest.approx(b + h * tau * sign, rel=1e-12, abs=1e-13)


def test_a_row_of_zeros_moves_nothing() -> None:
    for name, rule in (("pa", rules.PA()), ("pa1", rules.PA1()), ("aware", rules.ImportanceAware())):
        learner = learned(losses.Hinge(), rule, np.zeros((1, 2)), Signs(np.ones(1)), settings=Settings(intercept=False))
        assert not learner.weights().any(), name


# ------------------------------------------------------------------ importance


def check_importance_adds_up(name: str, data: Any, h: float, more: float) -> None:
    twice, once = (learner_for(name, rules.ImportanceAware(0.3), data) for _ in range(2))
    batch = batch_of(data, name)
    for learner, amounts in ((twice, (h, more)), (once, (h + more,))):
        for amount in amounts:
            learner.learn(Batch(batch.rows, batch.targets, np.array([amount])))
    # the flow is closed to a few last bits
    np.testing.assert_allclose(twice.weights(), once.weights(), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(twice.intercepts(), once.intercepts(), rtol=1e-12, atol=1e-14)
    assert once.updates[0] == 0 or once.intercepts().any()


@pytest.mark.parametrize("name", sorted(set(registry.LOSSES) - registry.SEVERAL - {"perceptron"}))
@budget(max_examples=20)
@given(seed=seeds, h=st.floats(0.01, 5.0), more=st.floats(0.01, 5.0))
def test_h_then_more_on_one_row_is_their_sum(name: str, seed: int, h: float, more: float) -> None:
    """Karampatziakis & Langford 2011. The perceptron loss takes whole steps: see ``Perceptron.flow``."""
    check_importance_adds_up(name, data_for(name, rows=1, seed=seed), h, more)


def test_importance_adds_up_for_two_classes_that_meet_at_the_margin() -> None:
    """Two, for among three the rival may change on the way."""
    data = data_for("crammer_singer", rows=1)._replace(classes=2)
    check_importance_adds_up("crammer_singer", data._replace(y=data.y % 2), 1.0, 3.0)


@pytest.mark.parametrize(("loss", "rule"), registry.pairs())
def test_importance_0_is_a_row_absent(loss: str, rule: str) -> None:
    data = data_for(loss)
    kept = data.importance > 0.0
    assert not kept.all()
    there, absent = learner_for(loss, rule, data), learner_for(loss, rule, data)
    there.learn(batch_of(data, loss))
    short = data._replace(X=data.X[kept], y=data.y[kept], importance=data.importance[kept])
    absent.learn(batch_of(short, loss))
    np.testing.assert_array_equal(there.weights(), absent.weights())
    np.testing.assert_array_equal(there.counters.array, absent.counters.array)


# ------------------------------------------------------------------ scale


def test_normalised_does_not_see_the_scale_of_a_column() -> None:
    for loss in ("log_loss", "hinge", "squared_error", "softmax"):
        data = data_for(loss, rows=60)
        for factors, exact in (((1000.0, 0.001, 3.0), False), ((1024.0, 2.0**-20, 8.0), True)):
            scale = np.ones(data.X.shape[1])
            scale[[0, 4, 7]] = factors
            plain, scaled = learner_for(loss, "normalised", data), learner_for(loss, "normalised", data)
            plain.learn(batch_of(data, loss))
            scaled.learn(batch_of(data._replace(X=data.X * scale), loss))
            if exact:  # powers of two: not one bit differs
                np.testing.assert_array_equal(scaled.weights() * scale, plain.weights())
            np.testing.assert_allclose(scaled.weights() * scale, plain.weights(), rtol=1e-11, atol=1e-13)
            np.testing.assert_allclose(scaled.counters.loss_sums, plain.counters.loss_sums, rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "quantile"])
def test_normalised_does_not_see_the_scale_of_the_targets(loss: str) -> None:
    data = data_for(loss, rows=60)
    plain, scaled = learner_for(loss, "normalised", data), learner_for(loss, "normalised", data)
    plain.learn(batch_of(data, loss))
    scaled.learn(batch_of(data._replace(y=1000.0 * data.y), loss))
    np.testing.assert_allclose(scaled.weights(), 1000.0 * plain.weights(), rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("rule", ["perceptron", "normalised", "adagrad"])
def test_weights_given_beforehand_are_where_learning_starts(rule: str) -> None:
    data = data_for("hinge", rows=1, plain=True)
    learner = learner_for("hinge", rule, data)
    start = np.arange(1.0, 12.0)[None] * data.y[0]
    set_weights(learner, start, np.array([0.5 * data.y[0]]))
    np.testing.assert_array_equal(learner.weights(), start)
    free = learner_for("hinge", rule, data)
    free.learn(batch_of(data, "hinge"))
    x = data.X[0]
    x_with_small_score = np.where(x * data.y[0] > 0.0, -x, x)
    data = data._replace(X=x_with_small_score[None])
    learner.learn(batch_of(data, "hinge"))
    changed = np.abs(learner.weights() - start)[0]
    assert (changed[x == 0.0] == 0.0).all()
    assert 0.0 < changed.max() < 2.0  # it moved from there, and did not start again


# ------------------------------------------------------------------ the perceptron


def test_the_rate_only_scales_the_perceptron() -> None:
    data = data_for("perceptron", plain=True)
    one, three = (learner_for("perceptron", rules.PerceptronStep(rate), data) for rate in (1.0, 4.0))
    for learner in (one, three):
        learner.learn(batch_of(data, "perceptron"))
    np.testing.assert_array_equal(three.weights(), 4.0 * one.weights())
    assert three.updates[0] == one.updates[0]


def test_a_tie_is_an_update_and_a_mistake_only_for_the_second_class() -> None:
    for target, mistakes in ((1.0, 1), (-1.0, 0)):
        learner = learned(losses.Perceptron(), rules.PerceptronStep(), np.ones((1, 1)), Signs(np.array([target])))
        assert learner.weights()[0, 0] == target
        assert (learner.updates[0], learner.mistakes[0]) == (1, mistakes)


def test_the_multiclass_perceptron_moves_two_classes() -> None:
    labels = Labels(np.array([2]), 0, 3)
    learner = learned(losses.MulticlassPerceptron(), rules.PerceptronStep(), np.array([[2.0]]), labels, outputs=3)
    assert learner.weights()[:, 0].tolist() == [-2.0, 0.0, 2.0]


# ------------------------------------------------------------------ schedules


@pytest.mark.parametrize(
    ("schedule", "answer"),
    [
        (rules.Constant(0.1), False),
        (rules.Power(1.0, 0.5), False),  # the squares 1/t sum to infinity
        (rules.Power(1.0, 0.51), True),
        (rules.Power(1.0, 1.0), True),
        (rules.Power(1.0, 1.01), False),  # the rates themselves sum to something finite
        (rules.Power(1.0, 0.0), False),
        (rules.InvScaling(0.5, 0.25), False),
        (rules.Pegasos(0.1), True),
        (rules.Optimal(0.1, 10.0), True),
        (rules.Adaptive(0.1), None),
    ],
)
def test_robbins_monro(schedule: Any, answer: bool | None) -> None:
    assert schedule.robbins_monro() is answer


def test_rates_by_hand() -> None:
    assert [rules.Constant(0.3).at(t) for t in (1.0, 9.0)] == [0.3, 0.3]
    assert [rules.Power(2.0, 0.5).at(t) for t in (1.0, 4.0, 16.0)] == [2.0, 1.0, 0.5]
    assert [rules.Pegasos(0.5).at(t) for t in (1.0, 4.0)] == [2.0, 0.5]
    assert [rules.Optimal(0.5, 3.0).at(t) for t in (1.0, 2.0)] == [1.0 / 1.5, 0.5]
    assert rules.Adaptive(0.01).at(77.0) == 0.01


def test_sgd_clips_slopes_as_scikit_learn_does() -> None:
    learner = learned(losses.Squared(), rules.SGD(rules.Constant(1.0)), np.ones((1, 1)), Numbers(np.array([1e20])))
    assert learner.weights()[0, 0] == 1e12


# ------------------------------------------------------------------ penalties


def test_l1_makes_weights_exactly_zero() -> None:
    for rule in ("sgd", "adagrad", "ftrl"):
        loss, data = "log_loss", data_for("log_loss", rows=60)
        if rule == "ftrl":
            learner = learner_for(loss, rules.FTRLProximal(l1=2.0), data)
        else:
            learner = learner_for(loss, rule_of(rule), data, Settings(l1={"sgd": 0.1, "adagrad": 0.3}[rule]))
        learner.learn(batch_of(data, loss, "sparse"))
        weights = learner.weights()[0]
        assert (weights == 0.0).any(), rule
        assert (weights != 0.0).any(), rule


def test_ftrl_without_penalties_is_adagrad_with_beta() -> None:
    """McMahan et al. 2013: with l1 = l2 = 0 the update is ``w -= alpha g / (beta + sqrt(G))`` ... at constant G.

    The closed form that holds always: ``w = -z (alpha / (beta + sqrt G))``; on one example it is the step itself.
    """
    data = data_for("log_loss", rows=1, plain=True)
    ftrl = learner_for("log_loss", rules.FTRLProximal(alpha=0.3, beta=0.5), data)
    ftrl.learn(batch_of(data, "log_loss"))
    g = -0.5 * data.y[0] * data.X[0]
    np.testing.assert_allclose(ftrl.weights()[0], -0.3 * g / (0.5 + np.abs(g)), rtol=1e-14)


def learn_rows(learner: Learner, X: list[list[float]], y: list[float]) -> None:
    learner.learn(Batch(rows_of(np.array(X)), Signs(np.array(y)), np.ones(len(y))))


def test_normalised_leaves_weights_alone_where_nothing_is_to_be_learned() -> None:
    learner = Learner(losses.Logistic(), rules.Normalised(), features=2, compiled=False)
    learn_rows(learner, [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [1.0, 1.0, -1.0])
    before = learner.weights().copy()
    far = 40.0 / float(before[0, 0])
    learn_rows(learner, [[far, 0.0]], [1.0])  # a score of 40 and more: right beyond all doubt
    assert learner.weights().tolist() == before.tolist()
    learn_rows(learner, [[far, 0.0]], [-1.0])
    assert abs(learner.weights()[0, 0]) < abs(before[0, 0]) / 10  # wrong: now its scale counts


def test_normalised_with_half_the_rate_is_vowpal_wabbit() -> None:
    """Raw predictions of ``vw --loss_function logistic -r`` 9.11 for these lines, in single precision."""
    X = [[0.5, 0.0, 1.0], [1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [2.0, 0.0, 0.5]]
    y, theirs = [1.0, -1.0, 1.0, -1.0], [0.0, 0.706055, 0.142776, 0.374079]
    learner = Learner(losses.Logistic(), rules.Normalised(0.5), features=3, compiled=False)
    ours = []
    for x, target in zip(X, y, strict=True):
        ours.append(float(learner.scores(np.array([x]))[0, 0]))
        learn_rows(learner, [x], [target])
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)
