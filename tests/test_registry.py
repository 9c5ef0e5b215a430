"""The table: who takes whom, and that every class of the package is in it."""

from __future__ import annotations

import inspect
from itertools import product

import pytest

from onlinear import losses, registry, rules
from onlinear.errors import OnlinearError, Refused

# The table as the issue words it, written out by hand.
BINARY = {"perceptron", "hinge", "squared_hinge", "log_loss", "binomial", "modified_huber"}
REGRESSION = {
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
}
SEVERAL = {"multiclass_perceptron", "crammer_singer", "softmax"}


def test_kinds_of_losses() -> None:
    assert registry.BINARY == BINARY
    assert registry.REGRESSION == REGRESSION
    assert registry.SEVERAL == SEVERAL
    assert set(registry.LOSSES) == BINARY | REGRESSION | SEVERAL


def test_who_takes_whom() -> None:
    every = BINARY | REGRESSION | SEVERAL
    for rule in ("sgd", "adagrad", "importance_aware", "normalised", "ftrl"):
        assert registry.TAKES[rule] == every
    passive = {"hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive", "crammer_singer"}
    for rule in ("pa", "pa1", "pa2"):
        assert registry.TAKES[rule] == passive
    assert registry.TAKES["perceptron"] == {"perceptron", "hinge", "multiclass_perceptron"}
    for rule in ("arow", "second_order", "diagonal_second_order"):
        assert registry.TAKES[rule] <= BINARY
    smooth = {
        "squared_hinge",
        "log_loss",
        "binomial",
        "modified_huber",
        "squared_error",
        "huber",
        "squared_epsilon_insensitive",
    }
    for rule in ("newton", "diagonal_newton"):
        assert registry.TAKES[rule] == smooth


def test_who_forgets() -> None:
    """The matrix rules refuse: a fading matrix becomes singular. Their diagonal forms do not."""
    cells = {"adagrad", "normalised", "arow", "diagonal_second_order", "diagonal_newton"}
    assert cells | {"sgd"} == registry.FORGETTING
    for name in ("second_order", "newton"):
        with pytest.raises(Refused, match=f"the rule '{name}' has nothing to forget"):
            registry.check_options(registry.RULES[name](), penalised=False, forgetting=True, averaging=False)


def test_pairs_are_the_table() -> None:
    found = registry.pairs()
    assert len(found) == len(set(found)) == sum(len(taken) for taken in registry.TAKES.values())
    assert all(loss in registry.TAKES[rule] for loss, rule in found)


def classes_of(module: object, method: str) -> set[type]:
    return {
        cls
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, tuple) and cls is not rules.StepContext and hasattr(cls, method)
    }


def test_every_class_of_the_package_is_registered() -> None:
    assert classes_of(losses, "value") == set(registry.LOSSES.values())
    assert classes_of(rules, "step") | classes_of(rules, "move") == set(registry.RULES.values())
    assert classes_of(rules, "at") == set(registry.SCHEDULES.values())


@pytest.mark.parametrize("cls", [*registry.LOSSES.values(), *registry.RULES.values()])
def test_all_fields_are_floats_or_tuples_of_floats(cls: type) -> None:
    """An int would be another type, and another compilation."""

    def check(thing: object) -> None:
        for field in thing:  # type: ignore[attr-defined]
            if isinstance(field, tuple):
                check(field)
            else:
                assert type(field) is float

    check(cls())
    assert cls.__doc__


def test_names_tell_equal_tuples_apart() -> None:
    """Tuples of different classes compare equal: ``PA1(1.0) == PA2(1.0)``."""
    for name, cls in registry.RULES.items():
        assert registry.name_of(cls(), registry.RULES) == name
    for name, cls in registry.LOSSES.items():
        assert registry.name_of(cls(), registry.LOSSES) == name
    assert registry.name_of(object(), registry.RULES) is None


@pytest.mark.parametrize(("loss", "rule"), list(product(registry.LOSSES, registry.RULES)))
def test_check_pair_agrees_with_the_table(loss: str, rule: str) -> None:
    pair = registry.LOSSES[loss](), registry.RULES[rule]()
    if loss in registry.TAKES[rule]:
        registry.check_pair(*pair)
    else:
        with pytest.raises(Refused, match=repr(loss)) as told:
            registry.check_pair(*pair)
        assert isinstance(told.value, OnlinearError)
        assert isinstance(told.value, ValueError)
