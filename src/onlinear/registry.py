"""Every loss and every rule by name, and which rule takes which loss and which option.

A class listed here is tested by the laws from that moment. A user's own class need not be listed: a scalar loss works
with every rule that takes every loss, a rule of one's own with every loss.
"""

from __future__ import annotations

from typing import Any

from onlinear import losses, rules
from onlinear.errors import Refused

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


def made(thing: Any, names: dict[str, type], what: str) -> Any:
    """A loss or a rule by its name, with its defaults, or as it was given."""
    if isinstance(thing, str) and thing not in names:
        raise Refused(f"the {what} {thing!r:.60} is unknown: choose one of {', '.join(sorted(names))}")
    return names[thing]() if isinstance(thing, str) else thing


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
