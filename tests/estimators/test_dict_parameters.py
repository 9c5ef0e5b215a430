"""Parameters that change while a model learns from dicts, and drop-ins that learn from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

import onlinear
from onlinear import rules
from onlinear.errors import Refused, TooManyNames

RNG = np.random.default_rng(11)
X = RNG.normal(size=(120, 4))
Y = (X[:, 0] + 0.4 > 0.0).astype(int).tolist()
DICTS = [dict(enumerate(row)) for row in X.tolist()]


def learn(model: Any, start: int = 0, stop: int = 60) -> Any:
    for row, label in zip(DICTS[start:stop], Y[start:stop], strict=True):
        model.learn_one(row, label)
    return model


def assigned(model: Any, values: dict[str, Any]) -> Any:
    """The model, whose parameters are set as any attribute is."""
    for name, value in values.items():
        setattr(model, name, value)
    return model


def shown(model: Any) -> Any:
    return model.coef_.tolist(), model.intercept_.tolist(), model.mistakes_, model.examples_


# ------------------------------------------------------------------ the intercept of drop-ins


def test_the_intercept_of_a_drop_in_moves_by_whole_steps_on_dicts() -> None:
    assert shown(learn(onlinear.Perceptron())) == shown(onlinear.Perceptron().partial_fit(X[:60], Y[:60]))
    assert shown(learn(onlinear.SGDClassifier())) == shown(onlinear.SGDClassifier().partial_fit(X[:60], Y[:60]))
    assert shown(onlinear.SGDClassifier().learn_many(DICTS[:60], Y[:60])) == shown(learn(onlinear.SGDClassifier()))


def test_dicts_and_sparse_rows_each_have_their_intercept_rate() -> None:
    """However they take turns: by hand, with whole steps for dicts, and hundredths for rows of a sparse matrix."""
    model = onlinear.Perceptron().partial_fit(scipy.sparse.csr_matrix(X[:1]), Y[:1], classes=[0, 1])
    for number in range(1, 60):
        before, updates = model.intercept_[0], model.updates_
        kind = ("one", "sparse", "many", "sparse", "dense")[number % 5]
        if kind == "one":
            model.learn_one(DICTS[number], Y[number])
        elif kind == "many":
            model.learn_many(DICTS[number : number + 1], Y[number : number + 1])
        else:
            rows = X[number : number + 1]
            model.partial_fit(scipy.sparse.csr_matrix(rows) if kind == "sparse" else rows, Y[number : number + 1])
        moved = abs(model.intercept_[0] - before)
        assert moved == pytest.approx((model.updates_ - updates) * (0.01 if kind == "sparse" else 1.0))
    assert model.certificate_["margin_upper"] is None  # no one constant feature stands for such an intercept


# ------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ({"rule": rules.SGD(rules.Constant(0.1))}, {"rule": rules.SGD(rules.Constant(0.7))}),
        ({"rule": "sgd"}, {"rule": "pa1", "loss": "hinge"}),
        ({"rule": "sgd"}, {"l2": 0.3}),
        ({"rule": "sgd"}, {"loss": "perceptron"}),
        ({"rule": "sgd"}, {"fit_intercept": False}),
    ],
    ids=["rate", "rule", "l2", "loss", "intercept"],
)
def test_a_change_takes_effect_from_the_next_example_on(first: dict[str, Any], later: dict[str, Any]) -> None:
    model = onlinear.OnlineClassifier(**first)
    ours = learn(learn(clone(model)).set_params(**later), 60, 120)
    assert shown(learn(assigned(learn(clone(model)), later), 60, 120)) == shown(ours)
    table = clone(model).partial_fit(X[:60], Y[:60]).set_params(**later).partial_fit(X[60:], Y[60:])
    np.testing.assert_allclose(ours.coef_, table.coef_, rtol=1e-9)
    assert ours.coef_.tolist() != learn(clone(model), 0, 120).coef_.tolist()
    together = learn(clone(model)).set_params(**later)
    together.predict_one(DICTS[0])  # which finds a way to the answers, and none to learn
    assert shown(together.learn_many(DICTS[60:], Y[60:])) == shown(ours)


@pytest.mark.parametrize(
    "set_in", [lambda model, **values: model.set_params(**values), lambda model, **values: assigned(model, values)]
)
def test_a_regressor_follows_its_parameters(set_in: Any) -> None:
    model = onlinear.OnlineRegressor(rule=rules.SGD(rules.Constant(0.25)))
    model.learn_one({"a": 1.0}, 1.0)
    model.predict_one({"a": 1.0})
    set_in(model, rule=rules.SGD(rules.Constant(0.0625)))
    before = model.predict_one({"a": 1.0})
    model.learn_one({"a": 1.0}, 2.0)
    assert model.coef_[0] == 0.25 + 0.0625 * (2.0 - before)


def test_the_cap_can_be_raised_as_its_refusal_advises() -> None:
    model = learn(onlinear.OnlineClassifier(names_cap=4))
    with pytest.raises(TooManyNames, match="raise the cap"):
        model.learn_one({"new": 1.0}, 0)
    model.set_params(names_cap=5).learn_one({"new": 1.0}, 0)
    assert len(model.feature_names_) == 5
    with pytest.raises(TooManyNames, match="the cap is 5"):
        model.learn_one({"newer": 1.0}, 0)


def test_a_kernel_perceptron_sees_parameters_that_are_assigned() -> None:
    model = learn(onlinear.KernelPerceptron("rbf", gamma=0.5))
    model.gamma = 2.0
    with pytest.raises(Refused, match="kernel and budget cannot change"):
        model.learn_one(DICTS[60], Y[60])
    model.gamma = 0.5
    again = learn(onlinear.KernelPerceptron("rbf", gamma=0.5), 0, 120)
    assert learn(model, 60, 120).dual_coef_.tolist() == again.dual_coef_.tolist()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"bits": 6}, "bits cannot change from None to 6"),
        ({"names_cap": 3}, "names_cap=3, and 4 names are known"),
        ({"rule": "adagrad"}, "the rule .from Normalised.* to AdaGrad"),
        ({"average": True}, "averaging"),
        ({"loss": "softmax"}, "the loss .from Logistic.* to Softmax"),
        ({"l1": 0.1}, "whether there is a penalty"),
    ],
    ids=["bits", "names_cap", "rule", "average", "loss", "l1"],
)
def test_what_cannot_change_is_refused_before_anything_moves(change: dict[str, Any], named: str) -> None:
    model = learn(onlinear.OnlineClassifier())
    before, back = shown(model), {name: model.get_params()[name] for name in change}
    assigned(model, change)
    answers = [model.predict_one(row) for row in DICTS]
    for call in (lambda: model.learn_one(DICTS[60], Y[60]), lambda: model.learn_many(DICTS[60:], Y[60:])):
        with pytest.raises(Refused, match=named):
            call()
    assert [model.predict_one(row) for row in DICTS] == answers
    assert shown(model) == before
    assert shown(learn(model.set_params(**back), 60, 120)) == shown(learn(onlinear.OnlineClassifier(), 0, 120))


def test_a_rule_with_other_numbers_beside_its_weights_is_refused_of_tables_too() -> None:
    """AdaGrad's sums of squares are no certainties: both keep two numbers, which is how the change went unnoticed."""
    model = onlinear.OnlineClassifier(loss="hinge", rule="adagrad").partial_fit(X, Y)
    with pytest.raises(Refused, match="the rule"):
        model.set_params(rule="arow").partial_fit(X, Y)
    slots = onlinear.OnlineClassifier(rule="sgd", average=True).partial_fit(X, Y)
    with pytest.raises(Refused, match="averaging"):
        slots.set_params(average=False, l1=0.1).partial_fit(X, Y)


def test_a_cap_of_names_may_be_larger_than_any_table() -> None:
    model = onlinear.OnlineClassifier(names_cap=2**63)
    model.learn_one({"a": 1.0}, "x")
    model.learn_one({"b": 1.0}, "y")
    assert model.predict_one({"a": 1.0}) == "x"
