"""Every loss and every rule by name, and which rule takes which loss and which option.

A class listed here is tested by the laws from that moment. A user's own class need not be listed: a scalar loss works
with every rule that takes every loss, a rule of one's own with every loss.
"""

from __future__ import annotations

from difflib import get_close_matches
from numbers import Real
from typing import Any, NamedTuple

from onlinear import losses, rules
from onlinear.errors import Refused
from onlinear.parameters import schedules_of, with_checked_numbers

LOSSES: dict[str, type] = {
    "perceptron": losses.Perceptron,
    "hinge": losses.Hinge,
    "squared_hinge": losses.SquaredHinge,
    "log_loss": losses.Logistic,
    "binomial": losses.Binomial,
    "modified_huber": losses.ModifiedHuber,
    "squared_error": losses.Squared,
    "absolute_error": losses.Absolute,
    "huber": losses.Huber,
    "quantile": losses.Quantile,
    "epsilon_insensitive": losses.EpsilonInsensitive,
    "squared_epsilon_insensitive": losses.SquaredEpsilonInsensitive,
    "multiclass_perceptron": losses.MulticlassPerceptron,
    "crammer_singer": losses.CrammerSinger,
    "softmax": losses.Softmax,
}

RULES: dict[str, type] = {
    "perceptron": rules.PerceptronStep,
    "sgd": rules.SGD,
    "adagrad": rules.AdaGrad,
    "importance_aware": rules.ImportanceAware,
    "normalised": rules.Normalised,
    "ftrl": rules.FTRLProximal,
    "pa": rules.PA,
    "pa1": rules.PA1,
    "pa2": rules.PA2,
    "arow": rules.AROW,
    "second_order": rules.SecondOrder,
    "diagonal_second_order": rules.DiagonalSecondOrder,
    "newton": rules.OnlineNewton,
    "diagonal_newton": rules.DiagonalNewton,
}

SCHEDULES: dict[str, type] = {
    "constant": rules.Constant,
    "power": rules.Power,
    "pegasos": rules.Pegasos,
    "optimal": rules.Optimal,
    "adaptive": rules.Adaptive,
}

BINARY = frozenset({"perceptron", "hinge", "squared_hinge", "log_loss", "binomial", "modified_huber"})
SEVERAL = frozenset({"multiclass_perceptron", "crammer_singer", "softmax"})
REGRESSION = frozenset(LOSSES) - BINARY - SEVERAL
SMOOTH = frozenset(name for name, loss in LOSSES.items() if hasattr(loss, "curvature"))

#: losses that treat +1 and -1 alike, so that classes can be told apart with them
FOR_CLASSES = frozenset(LOSSES) - {"quantile"}

EVERY_LOSS = frozenset(LOSSES)
PASSIVE = frozenset({"hinge", "squared_hinge", "epsilon_insensitive", "squared_epsilon_insensitive", "crammer_singer"})

#: which rule takes which loss
TAKES: dict[str, frozenset[str]] = {
    "perceptron": frozenset({"perceptron", "hinge", "multiclass_perceptron"}),
    "sgd": EVERY_LOSS,
    "adagrad": EVERY_LOSS,
    "importance_aware": EVERY_LOSS,
    "normalised": EVERY_LOSS,
    "ftrl": EVERY_LOSS,
    "pa": PASSIVE,
    "pa1": PASSIVE,
    "pa2": PASSIVE,
    "arow": frozenset({"hinge"}),
    "second_order": frozenset({"perceptron"}),
    "diagonal_second_order": frozenset({"perceptron"}),
    "newton": SMOOTH,
    "diagonal_newton": SMOOTH,
}

#: rules that take an L1 or L2 penalty (FTRL has its own)
PENALISED = frozenset({"perceptron", "sgd", "adagrad", "normalised"})
#: rules that have gathered something they could forget
FORGETTING = frozenset(name for name, rule in RULES.items() if hasattr(rule, "fade")) | {"sgd"}


def name_of(thing: Any, names: dict[str, type]) -> str | None:
    """The registered name of a loss or a rule, None for a user's own."""
    for name, cls in names.items():
        if type(thing) is cls:
            return name
    return None


class Kind(NamedTuple):
    """Losses, rules or schedules: their names, the module they are in, and the methods of which each has one."""

    names: dict[str, type]
    module: str
    methods: tuple[str, ...]
    example: str  # how a user writes one

    def has(self, thing: Any) -> bool:
        return any(hasattr(thing, method) for method in self.methods)


KINDS: dict[str, Kind] = {
    "loss": Kind(
        LOSSES,
        "losses",
        ("slope", "slopes"),
        "fields such as margin: float = 1.0, and the methods value(self, score, target) and slope(self, score, target)",
    ),
    "rule": Kind(
        RULES, "rules", ("step", "move"), "fields such as rate: float = 0.1, and the method step(self, loss, seen)"
    ),
    "schedule": Kind(SCHEDULES, "rules", ("at",), "fields such as rate: float = 0.1, and the method at(self, t)"),
}


def loss_of(thing: Any) -> Any:
    """A loss by its name, or as it was given; what is none, or has a number out of its range, is refused."""
    return resolve(thing, "loss")


def rule_of(thing: Any) -> Any:
    """A rule by its name, or as it was given; what is none, or has a number out of its range, is refused."""
    return resolve(thing, "rule")


def schedule_of(thing: Any) -> Any:
    """A schedule by its name, as it was given, or constant at a number."""
    if isinstance(thing, Real):
        thing = rules.Constant(thing)  # type: ignore[arg-type]
    return resolve(thing, "schedule")


def resolve(thing: Any, what: str) -> Any:
    """A loss, a rule or a schedule, by its name or as it was given, with all numbers in their ranges."""
    kind = KINDS[what]
    if isinstance(thing, str):
        thing = instance_by_name(thing, what)
    refuse_what_is_not(thing, what)
    cls: Any = type(thing)
    for field in schedules_of(cls):
        thing = thing._replace(**{field: schedule_of(getattr(thing, field))})
    name = name_of(thing, kind.names)
    return with_checked_numbers(thing, f"the {what} {name!r}" if name else cls.__name__)


def instance_by_name(name: str, what: str) -> Any:
    """What has this name, with its defaults."""
    names = KINDS[what].names
    if name in names:
        return names[name]()
    for other, kind in KINDS.items():
        if name in kind.names:
            raise Refused(f"{name!r} is a {other}, and no {what}: choose one of {', '.join(sorted(names))}")
    close = get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]!r}? There are" if close else "choose one of"
    raise Refused(f"the {what} {name!r:.60} is unknown: {hint} {', '.join(sorted(names))}")


def refuse_what_is_not(thing: Any, what: str) -> None:
    """Refuse a class, an object that compiled code cannot read, and a loss in the place of a rule."""
    kind = KINDS[what]
    cls: Any = thing if isinstance(thing, type) else type(thing)
    if kind.has(thing):
        if not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
            raise Refused(
                f"the {what} is of the class {cls.__name__}, which is no NamedTuple; compiled code can read no other: "
                f"write class {cls.__name__}(typing.NamedTuple), its numbers as fields: it has {kind.example}"
            )
        if cls is thing:
            raise Refused(f"the {what} is the class {cls.__name__}, not an instance of it: {instance_of(cls, kind)}")
        return
    for other, its in KINDS.items():
        if its.has(thing):
            advice = f": write rules.SGD({thing!r:.60})" if (what, other) == ("rule", "schedule") else ""
            raise Refused(f"{thing!r:.60} is a {other}, and no {what}{advice or f': {names_and_example(what)}'}")
    raise Refused(f"{thing!r:.60} is no {what}: {names_and_example(what)}")


def instance_of(cls: Any, kind: Kind) -> str:
    """How to write an instance of a class."""
    module = f"{kind.module}." if cls in kind.names.values() else ""
    missing = [field for field in getattr(cls, "_fields", ()) if field not in cls._field_defaults]
    return f"write {module}{cls.__name__}({', '.join(f'{field}=...' for field in missing)})"


def names_and_example(what: str) -> str:
    """Which there are, and how to write another."""
    names = KINDS[what].names
    return f"give one of the names {', '.join(sorted(names))}, or a NamedTuple with {KINDS[what].example}"


def pairs() -> list[tuple[str, str]]:
    """Every (loss, rule) the table allows."""
    return [(loss, rule) for rule, taken in TAKES.items() for loss in LOSSES if loss in taken]


def check_pair(loss: Any, rule: Any) -> None:
    """Refuse, by name, a loss that the rule does not take."""
    loss_name, rule_name = name_of(loss, LOSSES), name_of(rule, RULES)
    if rule_name is None or (loss_name is not None and loss_name in TAKES[rule_name]):
        return
    if loss_name is None and fits_own(loss, rule_name):
        return
    taken = ", ".join(sorted(TAKES[rule_name]))
    raise Refused(
        f"the rule {rule_name!r} does not take the loss {loss_name or type(loss).__name__!r}: it takes {taken}; "
        "'normalised', 'sgd', 'adagrad' and 'ftrl' take every loss"
    )


def fits_own(loss: Any, rule_name: str) -> bool:
    """Whether a rule takes a loss of the user's own: if it takes all, or the loss brings what it needs."""
    if TAKES[rule_name] is SMOOTH:
        return hasattr(loss, "curvature")
    return TAKES[rule_name] is EVERY_LOSS


def check_options(rule: Any, penalised: bool, forgetting: bool, averaging: bool) -> None:
    """Refuse, by name, an option that the rule has no form of."""
    name = name_of(rule, RULES) or type(rule).__name__
    own = name_of(rule, RULES) is None
    if penalised and not (name in PENALISED or (own and can_shrink(rule))):
        advice = "set its own l1 and l2" if name == "ftrl" else f"use one of {sorted(PENALISED)}"
        raise Refused(f"the rule {name!r} takes no penalty: {advice}")
    if forgetting and not (name in FORGETTING or (own and hasattr(rule, "fade"))):
        raise Refused(f"the rule {name!r} has nothing to forget: use one of {sorted(FORGETTING)}")
    if forgetting and averaging:
        raise Refused("averaging remembers every example and forgetting does not: choose one")
    if forgetting and penalised and hasattr(rule, "fade"):
        raise Refused("a penalty and forgetting together have no exact form here: choose one")


def can_shrink(rule: Any) -> bool:
    return hasattr(rule, "pace") or hasattr(rule, "penalty_rate")
