"""Configurations: what a learner learns with, a loss, a rule and settings; which go together, and which may follow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from onlinear.kernels.learn.bank import shape_of
from onlinear.parameters import NOT_NEGATIVE, SHARE, with_checked_numbers
from onlinear.registry import LOSSES, RULES, check_options, check_pair, loss_of, name_of, rule_of
from onlinear.rules.trial import try_out

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner


class Settings(NamedTuple):
    """How to learn, beside loss and rule.

    The penalty is ``alpha (l1 |w| + l2 w^2 / 2)`` for every weight but the intercept. ``average`` is the example from
    which on weights are averaged (0: not at all); ``forget`` the share of its evidence that a rule forgets with each
    example; the last three fit the intercept to another library's habits.
    """

    l1: Annotated[float, NOT_NEGATIVE] = 0.0
    l2: Annotated[float, NOT_NEGATIVE] = 0.0
    alpha: Annotated[float, NOT_NEGATIVE] = 1.0
    average: Annotated[float, NOT_NEGATIVE] = 0.0
    forget: Annotated[float, SHARE] = 0.0
    intercept: bool = True
    intercept_rate: Annotated[float, NOT_NEGATIVE] = 1.0
    intercept_in_norm: bool = True


def settings_as_parameters(settings: Settings) -> dict[str, Any]:
    """Settings under the names that they have as parameters of an estimator."""
    average = settings.average
    return {
        "l1": settings.l1,
        "l2": settings.l2,
        "average": average if average > 1.0 else average == 1.0,
        "forget": settings.forget,
        "fit_intercept": settings.intercept,
    }


class Configuration(NamedTuple):
    """A loss and a rule around the settings of a learner."""

    loss: Any
    rule: Any
    settings: Settings = Settings()

    @property
    def name(self) -> str:
        """It in words: the parameters that are not what they are anyway."""
        words = [describe_changes(self.loss, LOSSES), describe_changes(self.rule, RULES)]
        words += [
            f"{field} {getattr(self.settings, field):g}" for field in ("l1", "l2") if getattr(self.settings, field)
        ]
        if self.settings.average:
            words.append("averaged" if self.settings.average == 1.0 else f"averaged from {self.settings.average:g} on")
        if self.settings.forget:
            words.append(f"forget {self.settings.forget:g}")
        if not self.settings.intercept:
            words.append("no intercept")
        return ", ".join(words)

    def parameters(self) -> dict[str, Any]:
        """All numbers of loss, rule and settings that are not what they are anyway, by name."""
        found = {**changed_fields(self.loss), **changed_fields(self.rule), **changed_fields(self.settings)}
        if "average" in found:
            found["average"] = True if found["average"] == 1.0 else found["average"]
        return found

    def value_of(self, parameter: str) -> Any:
        """What a parameter is, also where it is what it is anyway; NaN if nothing here has it."""
        changed_here = self.parameters()
        if parameter in changed_here:
            return changed_here[parameter]
        for part in (self.rule, *self.rule, self.loss, self.settings):
            if parameter in getattr(part, "_fields", ()):
                return bool(part.average) if parameter == "average" else getattr(part, parameter)
        return math.nan

    def check(self) -> Configuration:
        """The same, names and numbers resolved, if the rule takes the loss and the options, and all are in range."""
        losses, rules, settings = resolve_names([self.loss], [self.rule], [self.settings])
        check_settings(rules, settings)
        return Configuration(losses[0], rules[0], settings[0])


def describe_changes(thing: Any, names: dict[str, type]) -> str:
    """The name of a loss or a rule with what is changed in it."""
    shown = ({"rate": thing.rate} if "rate" in thing._fields else {}) | changed_fields(thing)  # a rate is worth knowing
    parts = " ".join(value if isinstance(value, str) else f"{field} {value:g}" for field, value in shown.items())
    return f"{name_of(thing, names) or type(thing).__name__} {parts}".rstrip()


def changed_fields(thing: Any) -> dict[str, Any]:
    """The fields of a named tuple, and of those in it, that differ from its defaults."""
    found: dict[str, Any] = {}
    defaults = thing._field_defaults
    for field, value in thing._asdict().items():
        if isinstance(value, tuple):  # a schedule
            found |= {field: type(value).__name__.lower(), **value._asdict()}  # type: ignore[attr-defined]
        elif field not in defaults or value != defaults[field]:
            found[field] = value
    return found


# ------------------------------------------------------------------ which go together


def try_configurations(
    losses: list[Any], rules: list[Any], settings: Sequence[Settings], compiled: bool
) -> tuple[list[Any], list[Any], list[Settings]]:
    """Losses, rules and settings, by their names or as they were given, if they are fine and go with each other.

    Those of the user's own are tried out: :func:`onlinear.learning.learner.resolve_configurations` remembers them.
    """
    losses, rules, settings = resolve_names(losses, rules, settings)
    try_out(losses, rules, compiled)
    check_settings(rules, settings)
    return losses, rules, settings


def resolve_names(
    losses: list[Any], rules: list[Any], settings: Sequence[Settings]
) -> tuple[list[Any], list[Any], list[Settings]]:
    """Losses and rules by their names, and numbers as floats, if every rule takes every loss."""
    losses = [loss_of(each) for each in losses]
    rules = [rule_of(each) for each in rules]
    settings = [with_checked_numbers(each) for each in settings]
    for loss in losses:
        for rule in rules:
            check_pair(loss, rule)
    return losses, rules, settings


def check_settings(rules: list[Any], settings: Sequence[Settings]) -> None:
    """Refuse a penalty, an average or a forgetting that a rule has no form of."""
    for rule in rules:
        for setting in settings:
            penalised = setting.l1 > 0.0 or setting.l2 > 0.0
            check_options(rule, penalised, setting.forget > 0.0, setting.average > 0.0)


# ------------------------------------------------------------------ which may follow another, amid learning


def identify_configuration(learner: Learner) -> Any:
    """What a learner learns with; tuples of different classes can be equal, so their classes come along."""
    loss, rule = learner.losses[0], learner.rules[0]
    return shape_of(loss), loss, shape_of(rule), rule, learner.settings[0]


def step_alike(learner: Learner, other: Learner) -> bool:
    """Whether both step at the same rows, and move all weights alike; how far may differ."""
    return identify_configuration(learner)[:3] == identify_configuration(other)[:3] and (
        learner.settings[0] == other.settings[0]
    )


def unchangeable_part(learner: Learner, other: Learner) -> str | None:
    """What of another's configuration does not go with what a learner has gathered, with both values; None if all does.

    What is kept beside the weights, and how, can only be begun anew.
    """
    before, after = learner.rules[0], other.rules[0]
    stateful = type(before) is not type(after) or (other.kind == "matrix" and before != after)
    if other.kind != learner.kind or (learner.kind != "uniform" and stateful):
        return f"the rule (from {before} to {after}, which keeps other numbers beside the weights)"
    if hasattr(other.losses[0], "slopes") != hasattr(learner.losses[0], "slopes"):
        return f"the loss (from {learner.losses[0]} to {other.losses[0]}: one of them sees all classes at once)"
    if (other.slots.mean < 0) != (learner.slots.mean < 0):
        return "averaging (average=...)"
    if (other.slots.last_touched < 0) != (learner.slots.last_touched < 0):
        return "whether there is an L1 penalty" if learner.kind == "uniform" else "whether there is a penalty"
    return None
