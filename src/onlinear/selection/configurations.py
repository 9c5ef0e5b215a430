"""Configurations: what a race compares. Each is a loss, a rule and how to learn with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from onlinear import losses
from onlinear.errors import Refused
from onlinear.learning.configuration import Configuration, Settings
from onlinear.registry import BINARY, FOR_CLASSES, LOSSES, REGRESSION, RULES, SEVERAL, name_of

#: losses, and rates of rules, that are raced where nobody says which
RATES = (0.05, 0.2, 0.8, 3.0)
PENALTIES = (1e-5, 1e-3)
FORGETS = (0.001, 0.01)


def configuration(
    loss: Any = "log_loss",
    rule: Any = "normalised",
    *,
    l1: float = 0.0,
    l2: float = 0.0,
    average: bool | int = False,
    forget: float = 0.0,
    fit_intercept: bool = True,
) -> Configuration:
    """A configuration, with the parameters of :class:`onlinear.OnlineClassifier`.

    >>> from onlinear import rules
    >>> configuration("hinge", rules.SGD(rules.Constant(0.1)), l2=0.001, average=True).name
    'hinge, sgd constant rate 0.1, l2 0.001, averaged'
    """
    settings = Settings(l1=l1, l2=l2, average=average, forget=forget, intercept=bool(fit_intercept))
    return Configuration(loss, rule, settings).check()


def as_configuration(thing: Any) -> Configuration:
    """A configuration as it is, or made of a dict with the parameters of :func:`configuration`."""
    if isinstance(thing, Configuration):
        return thing.check()
    if not isinstance(thing, Mapping):
        raise Refused(f"{thing!r:.60} is no configuration: make one with onlinear.selection.configuration, or grid")
    try:
        return configuration(**thing)
    except TypeError:
        raise Refused(
            f"{dict(thing)!r:.80} is no configuration: its keys are loss, rule, l1, l2, average, forget, fit_intercept"
        ) from None


def wanted_task(configurations: Sequence[Configuration]) -> str | None:
    """What the losses are for, if they say: "classification" or "regression"."""
    names = {name_of(each.loss, LOSSES) for each in configurations}
    if names & (BINARY | SEVERAL) or any(hasattr(each.loss, "slopes") for each in configurations):
        return "classification"
    return "regression" if names and names <= REGRESSION else None


def check_task(configurations: Sequence[Configuration], task: str) -> None:
    """Refuse a loss that is not for this task."""
    for each in configurations:
        name = name_of(each.loss, LOSSES)
        fits = REGRESSION if task == "regression" else FOR_CLASSES
        several = task == "regression" and hasattr(each.loss, "slopes")
        if several or (name is not None and name not in fits):
            learned = "numbers" if task == "regression" else "classes"
            raise Refused(
                f"the loss {name or type(each.loss).__name__!r} of the configuration {each.name!r:.60} is not for "
                f"{task}: the targets are {learned}; choose another loss, or another task"
            )


def grid(**choices: Any) -> list[Configuration]:
    """All combinations of lists of parameters of :func:`configuration`; a parameter alone is the same in all.

    >>> [each.name for each in grid(loss=["log_loss", "hinge"], rule="adagrad", average=[False, True])]
    ['log_loss, adagrad rate 0.1', 'log_loss, adagrad rate 0.1, averaged',
     'hinge, adagrad rate 0.1', 'hinge, adagrad rate 0.1, averaged']
    """
    lists = [list(choice) if isinstance(choice, list) else [choice] for choice in choices.values()]
    return [configuration(**dict(zip(choices, values, strict=True))) for values in product(*lists)]


def sample_configurations(configurations: Sequence[Configuration], count: int, seed: int = 0) -> list[Configuration]:
    """So many of them at random, in the order in which they are given; all, if there are no more."""
    if count >= len(configurations):
        return list(configurations)
    chosen = np.random.default_rng(seed).choice(len(configurations), count, replace=False)
    return [configurations[place] for place in sorted(chosen.tolist())]


def usual(task: str, *, unit: float = 1.0, forgetting: bool = False) -> list[Configuration]:
    """What is raced where nobody says what: for "classification" or "regression".

    ``unit`` is how far the numbers of a regression spread, which AdaGrad's rates are multiples of; with ``forgetting``
    also what rows in the order of time may need.
    """
    loss: Any = losses.Squared() if task == "regression" else losses.Logistic()
    normalised = [RULES["normalised"](rate=rate) for rate in RATES]
    adagrad = [RULES["adagrad"](rate=rate * unit) for rate in RATES]
    found = grid(loss=loss, rule=normalised + adagrad, average=[False, True])
    found += grid(loss=loss, rule=normalised[1:], l2=list(PENALTIES))
    return found + (grid(loss=loss, rule=normalised, forget=list(FORGETS)) if forgetting else [])
