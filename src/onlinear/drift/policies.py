"""What a learner does about drift: it starts again, or forgets what makes its steps small.

The counts of examples, losses and mistakes go on in either case: they are those of the whole stream.
"""

from __future__ import annotations

from collections.abc import Callable

from onlinear.errors import Refused
from onlinear.learning.learner import Learner
from onlinear.learning.restarts import forget_evidence, start_again
from onlinear.registry import check_options
from onlinear.rules.dispatch import rule_rate


def ignore(learner: Learner) -> None:
    """Go on as before."""


def reset(learner: Learner) -> None:
    """Start again from zero weights, as if nothing had been learned."""
    start_again(learner)


def faster(learner: Learner) -> None:
    """Keep the weights, and forget all evidence: sums of squares, and the examples that a schedule has counted."""
    forget_evidence(learner)


POLICIES: dict[str, Callable[[Learner], None]] = {"ignore": ignore, "reset": reset, "faster": faster}


def check_policy(on_drift: str, learner: Learner) -> None:
    """Refuse a policy that there is not, or that would do nothing for the learner."""
    if on_drift not in POLICIES:
        raise Refused(f"there is no policy {on_drift!r} for drift: choose one of {', '.join(POLICIES)}")
    if on_drift != "faster":
        return
    for rule in learner.rules:
        for setting in learner.settings:
            try:
                check_options(rule, setting.l1 > 0.0 or setting.l2 > 0.0, True, setting.average > 0.0)
            except Refused as error:
                raise Refused(f"faster forgets at an alarm, and {error}; or reset at an alarm instead") from None
        if learner.kind == "uniform" and rule_rate(rule, 1.0) == rule_rate(rule, 2.0):
            raise Refused("faster means nothing at a constant rate, which never slows down: reset, or take a schedule")
