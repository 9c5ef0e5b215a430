"""Losses: by hand, against differences, at their kinks, far out, and along their flow."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special
from hypothesis import assume, given, strategies as st

import naive
from cases import LOSS_PARAMS, loss_of
from onlinear import losses, registry
from onlinear.rules.context import StepContext

SCALAR = sorted(set(registry.LOSSES) - registry.SEVERAL)
SMOOTH = sorted(registry.SMOOTH)
FLOWING = SCALAR

finite = st.floats(-50.0, 50.0)
amounts = st.floats(0.0, 20.0)


def targets_for(name: str) -> tuple[float, ...]:
    return (-1.0, 1.0) if name in registry.BINARY else (-2.5, 0.0, 0.75)


def kinks(name: str, y: float) -> list[float]:
    """The scores where the slope jumps or bends."""
    p = LOSS_PARAMS.get(name, {})
    epsilon = p.get("epsilon", 0.0)
    match name:
        case "perceptron":
            return [0.0]
        case "hinge" | "squared_hinge":
            return [y * p["margin"]]
        case "modified_huber":
            return [y, -y]
        case "absolute_error" | "quantile":
            return [y]
        case "huber" | "epsilon_insensitive" | "squared_epsilon_insensitive":
            return [y - epsilon, y + epsilon]
    return []


# ------------------------------------------------------------------ by hand


@pytest.mark.parametrize(
    ("loss", "score", "target", "value", "slope"),
    [
        (losses.Perceptron(), -2.0, 1.0, 2.0, -1.0),
        (losses.Perceptron(), 2.0, 1.0, 0.0, 0.0),
        (losses.Perceptron(), 2.0, -1.0, 2.0, 1.0),
        (losses.Hinge(), 0.25, 1.0, 0.75, -1.0),
        (losses.Hinge(), 0.25, -1.0, 1.25, 1.0),
        (losses.Hinge(2.0), 1.5, 1.0, 0.5, -1.0),
        (losses.Hinge(), 1.5, 1.0, 0.0, 0.0),
        (losses.SquaredHinge(), 0.5, 1.0, 0.25, -1.0),
        (losses.SquaredHinge(2.0), 3.0, -1.0, 25.0, 10.0),
        (losses.Logistic(), 0.0, -1.0, math.log(2.0), 0.5),
        (losses.Logistic(), math.log(3.0), 1.0, math.log(4.0 / 3.0), -0.25),
        (losses.ModifiedHuber(), 0.5, 1.0, 0.25, -1.0),
        (losses.ModifiedHuber(), -3.0, 1.0, 12.0, -4.0),
        (losses.ModifiedHuber(), 3.0, -1.0, 12.0, 4.0),
        (losses.Squared(), 3.0, 1.0, 2.0, 2.0),
        (losses.Absolute(), 3.0, 5.0, 2.0, -1.0),
        (losses.Huber(1.0), 3.0, 0.0, 2.5, 1.0),
        (losses.Huber(1.0), 0.5, 0.0, 0.125, 0.5),
        (losses.Quantile(0.75), 0.0, 2.0, 1.5, -0.75),
        (losses.Quantile(0.75), 2.0, 0.0, 0.5, 0.25),
        (losses.EpsilonInsensitive(0.5), 3.0, 1.0, 1.5, 1.0),
        (losses.EpsilonInsensitive(0.5), 1.25, 1.0, 0.0, 0.0),
        (losses.SquaredEpsilonInsensitive(0.5), 3.0, 1.0, 2.25, 3.0),
        (losses.SquaredEpsilonInsensitive(0.5), -1.0, 1.0, 2.25, -3.0),
    ],
)
def test_by_hand(loss: Any, score: float, target: float, value: float, slope: float) -> None:
    assert loss.value(score, target) == pytest.approx(value, rel=1e-15)
    assert loss.slope(score, target) == pytest.approx(slope, rel=1e-15)


# ------------------------------------------------------------------ everywhere


@pytest.mark.parametrize("name", SCALAR)
@given(score=finite)
def test_value_and_slope_are_the_naive_ones(name: str, score: float) -> None:
    loss = loss_of(name)
    for y in targets_for(name):
        p = loss._asdict()
        # two ways to write one formula: a few roundings apart
        assert loss.value(score, y) == pytest.approx(naive.value(name, score, y, p), rel=1e-13)
        assert loss.slope(score, y) == pytest.approx(naive.slope(name, score, y, p), rel=1e-13)


def test_every_loss_of_the_registry_is_tested_here() -> None:
    assert set(SCALAR) | registry.SEVERAL == set(registry.LOSSES)
    assert set(SMOOTH) == {name for name in SCALAR if hasattr(registry.LOSSES[name], "curvature")}


@pytest.mark.parametrize("name", SCALAR)
@given(score=st.floats(-4.0, 4.0))
def test_slope_is_the_derivative(name: str, score: float) -> None:
    loss = loss_of(name)
    step = 1e-4
    for y in targets_for(name):
        assume(all(abs(score - kink) > 2 * step for kink in kinks(name, y)))
        difference = (loss.value(score + step, y) - loss.value(score - step, y)) / (2 * step)
        # exact for pieces of degree two; the logistic's third derivative is below 0.1: step^2 / 60;
        # values up to 50 carry 50 eps / step of rounding
        assert loss.slope(score, y) == pytest.approx(difference, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SMOOTH)
@given(score=st.floats(-4.0, 4.0))
def test_curvature_is_the_derivative_of_the_slope(name: str, score: float) -> None:
    loss = loss_of(name)
    step = 1e-4
    for y in targets_for(name):
        assume(all(abs(score - kink) > 2 * step for kink in kinks(name, y)))
        difference = (loss.slope(score + step, y) - loss.slope(score - step, y)) / (2 * step)
        assert loss.curvature(score, y) == pytest.approx(difference, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SCALAR)
@given(low=finite, high=finite)
def test_losses_are_convex_and_not_negative(name: str, low: float, high: float) -> None:
    assume(low < high)
    loss = loss_of(name)
    for y in targets_for(name):
        assert loss.value(low, y) >= 0.0
        assert loss.slope(low, y) <= loss.slope(high, y)


# ------------------------------------------------------------------ kinks: what stands there is specified


@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_kinks_of_binary_losses(y: float) -> None:
    assert losses.Perceptron().slope(0.0, y) == -y
    assert losses.Perceptron().slope(-0.0, y) == -y
    assert losses.Perceptron().slope(y * 5e-324, y) == 0.0
    for margin in (0.0, 0.5, 1.0, 3.0):
        assert losses.Hinge(margin).slope(y * margin, y) == -y
        assert losses.Hinge(margin).slope(y * math.nextafter(margin, math.inf), y) == 0.0
        assert losses.SquaredHinge(margin).slope(y * margin, y) == 0.0
        assert losses.SquaredHinge(margin).curvature(y * margin, y) == 0.0
    assert losses.ModifiedHuber().slope(y, y) == 0.0
    assert losses.ModifiedHuber().slope(-y, y) == -4.0 * y
    assert losses.ModifiedHuber().value(-y, y) == 4.0
    assert losses.ModifiedHuber().curvature(-y, y) == 2.0
    assert losses.ModifiedHuber().curvature(y, y) == 0.0


@pytest.mark.parametrize("y", [-2.5, 0.0, 0.75])
def test_kinks_of_regression_losses(y: float) -> None:
    assert losses.Absolute().slope(y, y) == 0.0
    assert losses.Quantile(0.9).slope(y, y) == 0.0
    above = math.nextafter(y, math.inf)
    assert losses.Absolute().slope(above, y) == 1.0
    assert losses.Quantile(0.9).slope(above, y) == pytest.approx(0.1)
    for side in (-1.0, 1.0):
        # 0.25 is a power of two: y + side / 4 is exact
        assert losses.EpsilonInsensitive(0.25).slope(y + side * 0.25, y) == 0.0
        assert losses.EpsilonInsensitive(0.25).slope(y + side * 0.5, y) == side
        assert losses.SquaredEpsilonInsensitive(0.25).slope(y + side * 0.25, y) == 0.0
        assert losses.SquaredEpsilonInsensitive(0.25).curvature(y + side * 0.25, y) == 0.0
        assert losses.Huber(0.25).slope(y + side * 0.25, y) == side * 0.25
        assert losses.Huber(0.25).curvature(y + side * 0.25, y) == 1.0
        assert losses.Huber(0.25).value(y + side * 0.25, y) == 0.03125


def test_margin_0_hinge_is_the_perceptron_loss() -> None:
    for score in (-2.0, -0.0, 0.0, 1e-300, 3.0):
        for y in (-1.0, 1.0):
            hinge, perceptron = losses.Hinge(0.0), losses.Perceptron()
            assert hinge.value(score, y) == perceptron.value(score, y)
            assert hinge.slope(score, y) == perceptron.slope(score, y)
            assert hinge.flow(score, y, 0.7) == perceptron.flow(score, y, 0.7)


# ------------------------------------------------------------------ far out


def test_logistic_at_1000() -> None:
    loss = losses.Logistic()
    assert (loss.value(1e3, 1.0), loss.slope(1e3, 1.0)) == (0.0, -0.0)
    assert (loss.value(1e3, -1.0), loss.slope(1e3, -1.0)) == (1e3, 1.0)
    assert (loss.value(-1e3, 1.0), loss.slope(-1e3, 1.0)) == (1e3, -1.0)
    assert (loss.link(1e3), loss.link(-1e3)) == (1.0, 0.0)
    assert loss.curvature(1e3, 1.0) == loss.curvature(-1e3, 1.0) == 0.0
    # e^-30 is far below the last bit of 1, and must not be lost
    assert loss.value(30.0, 1.0) == pytest.approx(math.exp(-30.0), rel=1e-12)
    assert loss.slope(30.0, 1.0) == pytest.approx(-math.exp(-30.0), rel=1e-12)


@pytest.mark.parametrize("name", SCALAR)
@pytest.mark.parametrize("score", [-1e3, 1e3])
def test_scores_of_1000_are_no_trouble(name: str, score: float) -> None:
    loss = loss_of(name)
    for y in targets_for(name):
        p = loss._asdict()
        assert loss.value(score, y) == pytest.approx(naive.value(name, score, y, p), rel=1e-13)
        assert loss.slope(score, y) == pytest.approx(naive.slope(name, score, y, p), rel=1e-13)
        assert math.isfinite(loss.value(score, y))
        for amount in (0.0, 1e-3, 1.0, 1e3, 1e6):
            end = loss.flow(score, y, amount)
            assert math.isfinite(end)
            if name not in EXEMPT:
                assert loss.value(end, y) <= loss.value(score, y)


@given(score=st.floats(-1e3, 1e3))
def test_links(score: float) -> None:
    assert losses.Logistic().link(score) == pytest.approx(float(scipy.special.expit(score)), rel=1e-13)
    huber = losses.ModifiedHuber().link(score)
    assert huber == pytest.approx(float(np.clip((score + 1.0) / 2.0, 0.0, 1.0)), abs=1e-15)


# ------------------------------------------------------------------ flow

#: The perceptron loss (and the hinge of margin 0, which is the same) takes the whole step. Its kink is at
#: score 0, where every learner starts: the flow proper would stop on it, and a tie would then never be broken.
#: A whole step may cross the kink, so two short flows are not one long one.
EXEMPT = {"perceptron"}


@pytest.mark.parametrize("name", FLOWING)
@given(score=st.floats(-5.0, 5.0), amount=st.floats(0.0, 3.0))
def test_flow_is_the_closed_form(name: str, score: float, amount: float) -> None:
    loss = loss_of(name)
    for y in targets_for(name):
        expected = naive.flow(name, score, y, amount, loss._asdict())
        # relative to the distances at hand: score, target and amount are of order 1 to 10
        assert loss.flow(score, y, amount) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def integrated(loss: Any, score: float, target: float, amount: float, steps: int) -> float:
    """Runge-Kutta of order four."""
    h = amount / steps
    for _ in range(steps):
        a = -loss.slope(score, target)
        b = -loss.slope(score + 0.5 * h * a, target)
        c = -loss.slope(score + 0.5 * h * b, target)
        d = -loss.slope(score + h * c, target)
        score += h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
    return score


@pytest.mark.parametrize("name", sorted(set(FLOWING) - EXEMPT))
@pytest.mark.parametrize("score", [-3.2, -0.3, 0.45, 2.9])
@pytest.mark.parametrize("amount", [0.3, 1.7])
def test_flow_solves_its_equation(name: str, score: float, amount: float) -> None:
    loss = loss_of(name)
    steps = 4000
    for y in targets_for(name):
        # where the slope jumps the integral chatters about the kink by one step; elsewhere it is
        # exact to the fourth order, but a bend inside a step costs its square
        jumps = name in {"hinge", "absolute_error", "quantile", "epsilon_insensitive"}
        tolerance = amount / steps * (1.0 if jumps else 1e-2)
        assert loss.flow(score, y, amount) == pytest.approx(integrated(loss, score, y, amount, steps), abs=tolerance)


@pytest.mark.parametrize("name", sorted(set(FLOWING) - EXEMPT))
@given(score=st.floats(-30.0, 30.0), first=amounts, second=amounts)
def test_two_flows_are_one(name: str, score: float, first: float, second: float) -> None:
    loss = loss_of(name)
    for y in targets_for(name):
        twice = loss.flow(loss.flow(score, y, first), y, second)
        once = loss.flow(score, y, first + second)
        # a dozen roundings of numbers up to 70
        assert twice == pytest.approx(once, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("name", sorted(set(FLOWING) - EXEMPT))
@given(score=finite, amount=st.floats(0.0, 1e8))
def test_flow_never_jumps_over_the_minimum(name: str, score: float, amount: float) -> None:
    loss = loss_of(name)
    for y in targets_for(name):
        end = loss.flow(score, y, amount)
        before, after = loss.slope(score, y), loss.slope(end, y)
        assert before * after >= 0.0
        # the end is written as target plus distance: a last bit of 50, times a slope up to 100
        assert (end - score) * before <= 1e-12


def test_flow_of_nothing_is_nothing() -> None:
    for name in FLOWING:
        for y in targets_for(name):
            for score in (-2.0, 0.0, 0.7, 3.0):
                assert loss_of(name).flow(score, y, 0.0) == pytest.approx(score, abs=1e-15)


@given(
    z=st.one_of(st.floats(-1e3, 1e3), st.sampled_from([-700.0, 700.0, -40.0])),
    amount=st.one_of(amounts, st.floats(0.0, 1e12)),
)
def test_logistic_flow_far_out(z: float, amount: float) -> None:
    end = losses.logistic_flow(z, amount)
    assert z <= end <= z + amount
    if max(z, end) < 300.0:
        # z + e^z grows by the amount; both sides sum what may be e^300
        grown = end + math.exp(end)
        assert grown == pytest.approx(z + math.exp(z) + amount, rel=1e-12, abs=1e-12)


# ------------------------------------------------------------------ several classes

UNSEEN = StepContext(**dict.fromkeys(StepContext._fields, 0.0))

rows_of_scores = st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=6).map(np.array)


def slopes_of(loss: Any, scores: np.ndarray, label: int) -> np.ndarray:
    out = np.full(len(scores), np.nan)
    loss.slopes(scores, label, out)
    return out


@pytest.mark.parametrize("name", sorted(registry.SEVERAL))
@given(scores=rows_of_scores, data=st.data())
def test_row_losses_are_the_naive_ones(name: str, scores: np.ndarray, data: Any) -> None:
    label = data.draw(st.integers(0, len(scores) - 1))
    loss = loss_of(name)
    p = loss._asdict()
    expected = naive.row_value(name, scores, label, p)
    # differences of scores up to 1000 are right to 1000 eps
    assert loss.value(scores, label) == pytest.approx(expected, rel=1e-13, abs=2e-13)
    slopes = slopes_of(loss, scores, label)
    assert slopes == pytest.approx(naive.row_slopes(name, scores, label, p), rel=1e-12, abs=1e-15)
    assert slopes.sum() == pytest.approx(0.0, abs=1e-15 * len(scores))
    assert slopes[label] <= 0.0


@pytest.mark.parametrize("name", ["multiclass_perceptron", "crammer_singer"])
@given(scores=rows_of_scores, data=st.data())
def test_only_label_and_strongest_rival_move(name: str, scores: np.ndarray, data: Any) -> None:
    label = data.draw(st.integers(0, len(scores) - 1))
    loss = loss_of(name)
    slopes = slopes_of(loss, scores, label)
    rival = losses.strongest_rival(scores, label)
    assert rival != label
    assert scores[rival] == np.delete(scores, label).max()
    assert set(np.flatnonzero(slopes)) <= {label, rival}
    assert (loss.value(scores, label) > 0.0) <= (slopes[label] == -1.0 and slopes[rival] == 1.0)


def test_kinks_of_row_losses() -> None:
    tie = np.array([1.0, 1.0, 0.0])
    assert slopes_of(losses.MulticlassPerceptron(), tie, 0).tolist() == [-1.0, 1.0, 0.0]
    assert slopes_of(losses.MulticlassPerceptron(), np.zeros(3), 1).tolist() == [1.0, -1.0, 0.0]
    at_margin = np.array([1.5, 0.5, 0.5])
    assert slopes_of(losses.CrammerSinger(1.0), at_margin, 0).tolist() == [-1.0, 1.0, 0.0]
    assert losses.CrammerSinger(1.0).value(at_margin, 0) == 0.0
    beyond = np.array([math.nextafter(1.5, 2.0), 0.5, 0.5])
    assert slopes_of(losses.CrammerSinger(1.0), beyond, 0).tolist() == [0.0, 0.0, 0.0]


def test_a_lone_class_has_no_rival() -> None:
    for name in ("multiclass_perceptron", "crammer_singer"):
        assert loss_of(name).value(np.array([-3.0]), 0) == 0.0
        assert slopes_of(loss_of(name), np.array([-3.0]), 0).tolist() == [0.0]
    assert losses.Softmax().value(np.array([-3.0]), 0) == 0.0


@given(scores=rows_of_scores)
def test_softmax_is_scipys(scores: np.ndarray) -> None:
    out = np.empty(len(scores))
    losses.Softmax().link(scores, out)
    assert out == pytest.approx(scipy.special.softmax(scores), rel=1e-13, abs=1e-300)
    for label in range(len(scores)):
        expected = -scipy.special.log_softmax(scores)[label]
        assert losses.Softmax().value(scores, label) == pytest.approx(expected, rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("name", ["crammer_singer", "softmax"])
@given(
    scores=st.lists(st.floats(-5.0, 5.0), min_size=3, max_size=3).map(np.array),
    amount=st.floats(0.0, 10.0),
)
def test_row_flow_is_the_naive_one(name: str, scores: np.ndarray, amount: float) -> None:
    loss = loss_of(name)
    value, slopes = loss.value(scores, 0), slopes_of(loss, scores, 0)
    for m in range(3):
        if slopes[m] == 0.0:
            continue
        seen = UNSEEN._replace(score=scores[m], value=value, slope=slopes[m])
        expected = naive.row_flow(name, scores[m], slopes[m], value, amount)
        # the softmax's slope near -1 leaves log(1 - |slope|) few digits: 1e-16 / 1e-5 of them lost
        assert loss.row_flow(seen, amount) == pytest.approx(expected, rel=1e-9, abs=1e-9)
