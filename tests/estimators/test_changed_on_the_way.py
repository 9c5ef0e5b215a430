"""What an estimator says between a change of its parameters, or a fit, and the next example."""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest

import onlinear
from onlinear import losses
from onlinear.errors import Refused

X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
Y = np.array([0, 0, 1, 1])
ROW = {0: 0.3, 1: 0.2}


def test_a_new_loss_makes_probabilities_from_the_next_example_on() -> None:
    model = onlinear.OnlineClassifier().fit(X, Y)
    before, before_one = model.predict_proba(X[:1]).tolist(), model.predict_proba_one(ROW)
    model.set_params(loss="modified_huber")
    assert model.predict_proba(X[:1]).tolist() == before
    assert model.predict_proba_one(ROW) == before_one
    model.set_params(loss="hinge")
    assert model.predict_proba(X[:1]).tolist() == before
    model.set_params(loss="modified_huber").partial_fit(X[:1], Y[:1])
    score = float(model.decision_function(X[:1])[0])
    assert model.predict_proba(X[:1])[0, 1] == (min(max(score, -1.0), 1.0) + 1.0) / 2.0
    assert model.predict_proba_one(dict(enumerate(X[0])))[1] == model.predict_proba(X[:1])[0, 1]
    model.set_params(loss="hinge").partial_fit(X[:1], Y[:1])
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("weight", ["balanced", {"ham": 3.0}, None])
@pytest.mark.parametrize("classes", [None, ["eggs", "ham"], ["eggs", "ham", "spam"]])
def test_class_weights_that_are_set_on_the_way_act_on_the_dicts_to_come(weight: Any, classes: Any) -> None:
    labels = classes or ["eggs", "ham", "spam"]
    examples = [({"a": 1.0, "b": k % 5}, labels[k % 7 % len(labels)]) for k in range(40)]
    model = onlinear.OnlineClassifier(class_weight={"ham": 2.0} if weight is None else None)
    model.learn_many([], [], classes=classes)
    for x, y in examples[:20]:
        model.learn_one(x, y)
    model.set_params(class_weight=weight)
    loaded = pickle.loads(pickle.dumps(model))
    loaded.learn_many(*zip(*examples[20:], strict=True))
    for x, y in examples[20:]:
        model.learn_one(x, y)
    assert model.coef_.tolist() == loaded.coef_.tolist()


class NoValue(NamedTuple):
    def slope(self, score: float, target: float) -> float:
        return -target


class Misspelt(NamedTuple):
    def value(self, score: float, target: float) -> float:
        return max(0.0, -score * target)

    def slope(self, score: float, target: float) -> float:
        return -targett  # noqa: F821


class Words(NamedTuple):
    def value(self, score: float, target: float) -> Any:
        return "much" if score * target < 0.0 else "little"

    def slope(self, score: float, target: float) -> float:
        return -target


@pytest.mark.parametrize(
    ("loss", "said"),
    [(NoValue(), "no method value"), (Misspelt(), "NameError"), (Words(), "has to answer a number")],
)
def test_a_mistake_in_a_loss_is_told_before_it_is_used(loss: Any, said: str) -> None:
    for learn in (
        lambda model: model.learn_one({"a": 1.0}, "yes"),
        lambda model: model.learn_many([{"a": 1.0}], ["yes"]),
        lambda model: model.partial_fit(X, Y),
        lambda model: model.partial_fit(X, Y, classes=[0, 1]),
        lambda model: model.fit(X, Y),
    ):
        with pytest.raises(Refused, match=said):
            learn(onlinear.OnlineClassifier(loss=loss))


class WithoutNumbers(NamedTuple):
    """A loss that Python has no number for at a margin of 0."""

    def value(self, score: float, target: float) -> float:
        return 1.0 / (score * target) if score * target >= 0.0 else 0.0

    def slope(self, score: float, target: float) -> float:
        return -target


def test_a_loss_without_a_number_here_and_there_has_even_targets() -> None:
    from onlinear.learning.outputs import is_even

    assert is_even(WithoutNumbers())
    assert is_even(losses.Logistic())
    assert not is_even(Lopsided())


class Lopsided(NamedTuple):
    def value(self, score: float, target: float) -> float:
        return -score if target > 0.0 else 2.0 * score

    def slope(self, score: float, target: float) -> float:
        return -1.0 if target > 0.0 else 2.0


PERCEPTRON = [lambda: onlinear.OnlineClassifier("perceptron", rule="perceptron", max_iter=20)]
CONVERGING = [*PERCEPTRON, lambda: onlinear.KernelPerceptron("linear", max_iter=20)]


@pytest.mark.compiles
@pytest.mark.parametrize("made", CONVERGING)
@pytest.mark.parametrize(
    "learn",
    [
        lambda model: model.partial_fit(X[:1], Y[2:3]),
        lambda model: model.partial_fit(X, Y[::-1]),
        lambda model: model.learn_one(dict(enumerate(X[0])), 1),
        lambda model: model.learn_many([dict(enumerate(X[0]))], [1]),
    ],
)
def test_a_model_that_learns_more_has_not_converged(made: Any, learn: Any) -> None:
    model = made().fit(X, Y)
    assert model.converged_
    model.predict_one(dict(enumerate(X[0])))
    with pytest.raises(onlinear.OnlinearError):
        model.partial_fit(X[:1], [None])
    assert model.converged_
    learn(model)
    assert not model.converged_
    assert model.fit(X, Y).converged_
