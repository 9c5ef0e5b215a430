"""``DecayingPA1`` and ``DecayingPA2``, scikit-learn's pairing of PA with a penalty, against an obvious eager loop."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from cases import Data, batch_of, bits_of, cut, data_for, learner_for, loss_of
from onlinear.errors import Refused
from onlinear.learning.configuration import Settings
from onlinear.rules import PA1, PA2
from onlinear.rules.passive import DecayingPA1, DecayingPA2

RULES = (DecayingPA1(0.2), DecayingPA2(0.2))
PENALTIES = {"l2": (0.0, 0.3), "l1": (0.05, 0.0), "elastic net": (0.05, 0.3)}
LOSSES = ("hinge", "epsilon_insensitive")

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
every_kind = pytest.mark.parametrize("kind", ["dense", "sparse"])
every_penalty = pytest.mark.parametrize("penalty", PENALTIES)


def eagerly(loss: str, rule: Any, data: Data, settings: Settings) -> tuple[np.ndarray, float]:
    """Weights and intercept: shrink every weight, step, then pay the cumulative L1 penalty of every weight."""
    w, b, C = np.zeros(data.X.shape[1]), 0.0, rule.C
    owed, paid = 0.0, np.zeros(len(w))
    for x, y, h in zip(data.X, data.y, data.importance, strict=True):
        if h == 0.0:
            continue
        score = w @ x + b
        if loss == "hinge":
            value, sign = max(0.0, loss_of(loss).margin - y * score), y
        else:
            value, sign = max(0.0, abs(y - score) - loss_of(loss).epsilon), np.sign(y - score)
        norm = x @ x + float(settings.intercept_in_norm)
        if isinstance(rule, DecayingPA1):
            tau = min(C, value / norm) if norm > 0.0 else 0.0
        else:
            tau = value / (norm + 0.5 / C)
        w *= max(0.0, 1.0 - C * settings.l2)  # at the rate C, whatever the step and the importance
        w += h * tau * sign * x
        b += h * tau * sign * settings.intercept_rate
        owed += C * settings.l1
        before = w.copy()
        w = np.where(w > 0.0, np.maximum(0.0, w - (owed + paid)), np.minimum(0.0, w + (owed - paid)))
        w[before == 0.0] = 0.0
        paid += w - before
    return w, b


def check(loss: str, rule: Any, kind: str, settings: Settings, *, compiled: bool = False) -> None:
    data = data_for(loss, rows=60)
    learner = learner_for(loss, rule, data, settings, compiled=compiled)
    learner.learn(batch_of(data, loss, kind))
    w, b = eagerly(loss, rule, data, settings)
    np.testing.assert_allclose(learner.weights()[0], w, rtol=1e-10, atol=1e-12)
    assert learner.intercepts()[0] == pytest.approx(b, rel=1e-10)
    assert np.abs(w).max() > 0.01
    if settings.l1:
        assert (w == 0.0).any()  # the penalty bites: all 11 features have been seen


@every_penalty
@every_kind
@every_rule
@pytest.mark.parametrize("loss", LOSSES)
def test_the_eager_loop(loss: str, rule: Any, kind: str, penalty: str) -> None:
    l1, l2 = PENALTIES[penalty]
    check(loss, rule, kind, Settings(l1=l1, l2=l2))
    # scikit-learn's habits with the intercept
    check(loss, rule, kind, Settings(l1=l1, l2=l2, intercept_rate=0.01, intercept_in_norm=False))


@pytest.mark.compiles
@every_kind
@every_rule
def test_the_eager_loop_compiled(rule: Any, kind: str) -> None:
    for l1, l2 in PENALTIES.values():
        check("hinge", rule, kind, Settings(l1=l1, l2=l2), compiled=True)


@every_kind
@pytest.mark.parametrize(("plain", "decaying"), [(PA1(0.2), RULES[0]), (PA2(0.2), RULES[1])], ids=["PA1", "PA2"])
def test_without_a_penalty_they_are_the_plain_ones(plain: Any, decaying: Any, kind: str) -> None:
    for loss in LOSSES:
        data = data_for(loss)
        one, other = (learner_for(loss, rule, data) for rule in (plain, decaying))
        for learner in (one, other):
            learner.learn(batch_of(data, loss, kind))
        assert bits_of(one) == bits_of(other)
        with pytest.raises(Refused, match="takes no penalty"):
            learner_for(loss, plain, data, Settings(l2=0.1))


@every_penalty
@every_kind
@every_rule
def test_pickled_they_go_on_with_the_same_bits(rule: Any, kind: str, penalty: str) -> None:
    loaded = pickle.loads(pickle.dumps(rule))
    assert type(loaded) is type(rule)  # tuples of both classes are equal
    assert loaded == rule
    l1, l2 = PENALTIES[penalty]
    data = data_for("hinge")
    straight, stopped = (learner_for("hinge", rule, data, Settings(l1=l1, l2=l2)) for _ in "ab")
    batch = batch_of(data, "hinge", kind)
    straight.learn(batch)
    for start, stop in ((0, 11), (11, 30)):
        stopped = pickle.loads(pickle.dumps(stopped))
        stopped.learn(cut(batch, start, stop))
    assert bits_of(stopped) == bits_of(straight)
