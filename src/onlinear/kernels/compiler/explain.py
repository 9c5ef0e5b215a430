"""Why a loss, a rule or a schedule of the user's own cannot be compiled: in a sentence, not in a wall."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba

from onlinear.errors import Refused
from onlinear.rules.trial import Call, calls_of_loss, calls_of_rule, is_ours

ADVICE = (
    "A loss or a rule may use floats, tuples, the functions of math and onlinear.rules.dispatch, and those under "
    "numba.njit; Learner(..., compiled=False) runs it as it is, slowly"
)


class ExplainedLoop:
    """A compiled loop over classes of the user's own, which says in a sentence what cannot be compiled.

    ``loss`` and ``rule`` are their shapes: see :func:`onlinear.kernels.learn.bank.shape_of`.
    """

    def __init__(self, compiled: Any, loss: Any, rule: Any, *_: Any) -> None:
        self.compiled = compiled
        self.shapes = loss, rule

    @property
    def signatures(self) -> Any:
        """The types for which it is compiled."""
        return self.compiled.signatures

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.compiled(*arguments)
        except Exception as error:  # a loop that is compiled raises nothing
            raise Refused(explanation_of(error, *self.shapes)) from None  # the wall is its __context__


def explanation_of(error: Exception, loss_shape: Any, rule_shape: Any) -> str:
    """Which method cannot be compiled, found by compiling each alone, and what the compiler says of it."""
    loss, rule = instance_of_shape(loss_shape), instance_of_shape(rule_shape)
    for call in own_calls(loss, rule):
        try:
            method = numba.njit(error_model="numpy")(getattr(type(call.thing), call.method))
            method.compile(tuple(numba.typeof(each) for each in (call.thing, *call.arguments)))
        except Exception as reason:
            return f"{call} cannot be compiled: {useful_line(reason)}. {ADVICE}"
    pair = f"the loss {type(loss).__name__} with the rule {type(rule).__name__}"
    return f"{pair} cannot be compiled: {useful_line(error)}. {ADVICE}"


def instance_of_shape(shape: Any) -> Any:
    """A named tuple of this shape: to the compiler only the types matter."""
    return 1.0 if shape is float else shape[0](*map(instance_of_shape, shape[1:]))


def own_calls(loss: Any, rule: Any) -> Iterator[Call]:
    """Each method of the user's own once."""
    made = set()
    for calls in (calls_of_loss(loss), calls_of_rule(rule, loss)):
        for call in calls:
            if not is_ours(call.thing) and str(call) not in made:
                made.add(str(call))
                yield call


def useful_line(reason: Exception) -> str:
    """What the compiler says, without its own steps; and the place in the user's file."""
    lines = [line.strip() for line in str(reason).splitlines()]
    said = next((line for line in lines if line and not line.startswith(("Failed in", "During:"))), str(reason))
    place = next((line.rstrip(":") for line in lines if line.startswith("File ")), "")
    return f"{said} ({place})" if place else said
