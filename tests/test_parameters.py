"""Losses, rules, schedules and settings with numbers that make no sense are refused, before anything is compiled."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import onlinear
from onlinear import losses, registry, rules
from onlinear.descent import gradient_descent, mean_loss, running_means, sgd
from onlinear.errors import BadModel, Refused
from onlinear.files.learners import load_learner, save_learner
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.parameters import POSITIVE, Range, ranges_of
from onlinear.selection import Configuration, configuration

OWNERS = {**registry.LOSSES, **registry.RULES, **registry.SCHEDULES}
FIELDS = [(cls, field) for cls in OWNERS.values() for field in cls._fields if field != "schedule"]


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*shapes: Any) -> None:
        raise AssertionError("a loop was compiled")

    monkeypatch.setattr("onlinear.learning.learner.learning_loop", refuse)


def fields_named(things: list[tuple[type, str]]) -> list[str]:
    return [f"{cls.__name__}.{field}" for cls, field in things]


def learner_with(thing: Any) -> Learner:
    """A learner that would use the thing, whatever it is."""
    if hasattr(thing, "at"):
        return Learner(losses.Hinge(), rules.SGD(thing), features=1)
    if hasattr(thing, "slope") or hasattr(thing, "slopes"):
        return Learner(thing, rules.SGD(), features=1)
    name = registry.name_of(thing, registry.RULES)
    loss = sorted(registry.TAKES[name])[0] if name else "hinge"
    return Learner(loss, thing, features=1)


# ------------------------------------------------------------------ every number has a range, and it holds


def test_every_number_of_the_registry_has_a_range() -> None:
    assert [(cls, field) for cls, field in FIELDS if field not in ranges_of(cls)] == []
    assert set(Settings._fields) - set(ranges_of(Settings)) == {"intercept", "intercept_in_norm"}


@pytest.mark.parametrize(("cls", "field"), FIELDS, ids=fields_named(FIELDS))
def test_numbers_out_of_range_are_refused_by_name(cls: Any, field: str) -> None:
    limits = ranges_of(cls)[field]
    outside: list[Any] = [math.nan, -math.inf, "0.1", None, [1.0]]
    outside += [limits.low - 1.0] if math.isfinite(limits.low) else []
    outside += [limits.high + 1.0] if math.isfinite(limits.high) else [math.inf] if limits.closed != "right" else []
    for number in outside:
        with pytest.raises(Refused, match=f"^the {field} of the .* is .*: give a .*number"):
            learner_with(cls()._replace(**{field: number}))
    learner_with(cls())


@pytest.mark.parametrize(
    "thing",
    [
        rules.Normalised(-1.0),
        losses.Quantile(2.0),
        losses.Quantile(1.0),
        losses.Hinge(-1.0),
        rules.AROW(0.0),
        rules.PA2(0.0),
        rules.FTRLProximal(alpha=0.0),
        rules.FTRLProximal(l1=-1.0),
        rules.Pegasos(0.0),
        rules.SecondOrder(0.0),
    ],
    ids=str,
)
def test_numbers_that_make_no_sense(thing: Any) -> None:
    with pytest.raises(Refused, match="give a"):
        learner_with(thing)


@pytest.mark.parametrize(
    "settings",
    [{"l1": -1.0}, {"l2": math.nan}, {"l2": math.inf}, {"forget": 1.0}, {"average": -1.0}, {"l1": "1"}],
    ids=str,
)
def test_settings_out_of_range(settings: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=f"^{next(iter(settings))} is .*: give a"):
        Learner("hinge", "sgd", features=1, settings=Settings(**settings))
    with pytest.raises(Refused, match=f"^{next(iter(settings))} is .*: give a"):
        configuration("hinge", "sgd", **settings)


def test_a_whole_number_becomes_a_float() -> None:
    """Another type would be another compilation."""
    learner = Learner(losses.Huber(1), rules.Normalised(np.float32(2.0)), features=1, settings=Settings(average=3))
    assert [type(number) for number in (*learner.losses[0], *learner.rules[0], learner.settings[0].average)] == [
        float
    ] * 3


def test_the_words_of_ranges() -> None:
    assert Range(0.0, 1.0).words == "a number above 0 and below 1"
    assert Range(0.0, 1.0, "both").words == "a number of at least 0 and up to 1"
    assert Range(0.0).words == "a finite number above 0"
    assert Range(0.0, closed="right").words == "a number above 0"
    assert Range().words == "a finite number"


# ------------------------------------------------------------------ what users write first


def test_a_number_for_a_schedule_is_constant() -> None:
    for rate in (0.1, 1, np.float32(0.5)):
        (rule,) = Learner("log_loss", rules.SGD(rate), features=1).rules
        assert type(rule.schedule) is rules.Constant
        assert rule.schedule.rate == rate
    assert configuration("hinge", rules.SGD(0.1)) == configuration("hinge", rules.SGD(rules.Constant(0.1)))
    assert Configuration("hinge", rules.SGD(0.1)).check().name == "hinge, sgd constant rate 0.1"
    np.testing.assert_array_equal(running_means([4.0, 0.0], 0.5), running_means([4.0, 0.0], rules.Constant(0.5)))


@pytest.mark.parametrize(
    ("loss", "rule", "message"),
    [
        ("hing", "sgd", "the loss 'hing' is unknown: did you mean 'hinge'"),
        ("hinge", "sdg", "the rule 'sdg' is unknown: did you mean 'sgd'"),
        ("zebra", "sgd", "the loss 'zebra' is unknown: choose one of absolute_error, "),
        ("sgd", "sgd", "'sgd' is a rule, and no loss: choose one of absolute_error, "),
        ("hinge", "log_loss", "'log_loss' is a loss, and no rule: choose one of adagrad, "),
        (losses.Hinge, "sgd", r"the loss is the class Hinge, not an instance of it: write losses.Hinge\(\)"),
        ("hinge", rules.SGD, r"the rule is the class SGD, not an instance of it: write rules.SGD\(\)"),
        ("hinge", rules.SGD(rules.Power), r"the schedule is the class Power, .* write rules.Power\(\)"),
        ("hinge", rules.SGD("powr"), "the schedule 'powr' is unknown: did you mean 'power'"),
        ("hinge", rules.SGD(losses.Hinge()), r"Hinge\(margin=1.0\) is a loss, and no schedule"),
        ("hinge", rules.Constant(0.1), r"is a schedule, and no rule: write rules.SGD\(Constant\(rate=0.1\)\)"),
        ("hinge", losses.Hinge(), r"Hinge\(margin=1.0\) is a loss, and no rule"),
        (rules.PA(), "sgd", r"PA\(\) is a rule, and no loss"),
        ("hinge", 0.1, "0.1 is no rule: give one of the names adagrad, "),
        (None, "sgd", "None is no loss: give one of the names absolute_error, "),
    ],
)
def test_what_is_no_loss_or_rule(loss: Any, rule: Any, message: str) -> None:
    X, y = np.ones((4, 2)), [0, 1, 0, 1]
    for learn in (
        lambda: Learner(loss, rule, features=1),
        lambda: Model.create(loss, rule, Settings(), None),
        lambda: configuration(loss, rule),
        lambda: onlinear.OnlineClassifier(loss, rule).fit(X, y),
        lambda: onlinear.OnlineClassifier(loss, rule).partial_fit(X, y),
        lambda: onlinear.OnlineClassifier(loss, rule).learn_one({"a": 1.0}, "yes"),
        lambda: onlinear.OnlineRegressor("squared_error" if loss == "hinge" else loss, rule).fit(X, y),
        lambda: onlinear.OnlineSearch([{"loss": loss, "rule": rule}]).fit(X, y),
        lambda: onlinear.race(X, [{"loss": loss, "rule": rule}], target=y),
    ):
        with pytest.raises(Refused, match=message):
            learn()


def test_a_regressor_takes_no_loss_for_classes() -> None:
    for loss in ("hinge", losses.Hinge(), losses.Softmax()):
        with pytest.raises(Refused, match="is not for numbers: choose one of absolute_error"):
            onlinear.OnlineRegressor(loss).fit([[1.0]], [1.0])


def test_batch_solvers_look_as_well() -> None:
    with pytest.raises(Refused, match="the margin of the loss 'hinge' is nan"):
        mean_loss([[1.0]], [1.0], losses.Hinge(math.nan))
    objective = mean_loss([[1.0], [2.0]], [1.0, -1.0], "log_loss", l2=0.1)
    for solve in (gradient_descent, sgd):
        for schedule in (-1.0, rules.Constant(math.nan)):
            with pytest.raises(Refused, match="the rate of the schedule 'constant' is"):
                solve(objective, 1e-3, schedule=schedule)


def test_a_model_file_with_such_a_number_is_bad(tmp_path: Any) -> None:
    learner = Learner("hinge", rules.Normalised(), features=1)
    learner.rules = [rules.Normalised(-1.0)]
    save_learner(tmp_path / "backwards.model", learner)
    with pytest.raises(BadModel, match="the rate of the rule 'normalised' is -1"):
        load_learner(tmp_path / "backwards.model")


# ------------------------------------------------------------------ losses and rules of the user's own


class Tilted(NamedTuple):
    """A loss of the user's own, without ranges."""

    tilt: float = -1.0
    limit: float = math.inf

    def value(self, score, target):
        return min(abs(score - target), self.limit)

    def slope(self, score, target):
        return 1.0 if score > target else self.tilt


class Bounded(NamedTuple):
    """A rule of the user's own, with a range."""

    pull: Annotated[float, "how far", POSITIVE] = 0.1
    strange: NotThere = 1.0  # noqa: F821

    def step(self, loss, seen):
        return -self.pull * seen.slope


class Stated(NamedTuple):
    """A rule of the user's own, with a range."""

    pull: Annotated[float, "how far", POSITIVE] = 0.1

    def step(self, loss, seen):
        return -self.pull * seen.slope


def test_a_class_without_ranges_takes_anything() -> None:
    assert Learner(Tilted(-3.0), Bounded(-1.0), features=1).losses == [Tilted(-3.0)]


def test_a_class_of_ones_own_may_state_ranges() -> None:
    with pytest.raises(Refused, match="the pull of Stated is -1: give a finite number above 0"):
        Learner(Tilted(), Stated(-1), features=1)


def test_the_class_of_a_users_own_instead_of_an_instance() -> None:
    with pytest.raises(Refused, match=r"the rule is the class Stated, not an instance of it: write Stated\(\)"):
        Learner("hinge", Stated, features=1)


def test_compiling_would_have_been_noticed() -> None:
    from onlinear.data.batch import Batch, rows_of
    from onlinear.data.targets import Signs

    with pytest.raises(AssertionError, match="a loop was compiled"):
        Learner("hinge", "sgd", features=1).learn(Batch(rows_of(np.ones((1, 1))), Signs(np.ones(1)), np.ones(1)))
