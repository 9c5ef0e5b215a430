"""Let compiled code call the methods of losses, rules, schedules and rows, by type.

Each free function of :mod:`onlinear.rules.dispatch` and :mod:`onlinear.data.rows` stands for a method. When the
compiler meets ``loss_slope(loss, score, target)`` it asks the ``overload`` below, which answers with the ``slope`` of
the loss's class. (``overload_method`` would be global to all named tuples and break their fields.)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from numba import types

from onlinear import losses, powers
from onlinear.data import rows, targets
from onlinear.kernels.compiler.inlining import inlined, overload_of, plain_way
from onlinear.rules import dispatch

#: free function -> (method it stands for, function to take where a class has no such method)
METHODS: dict[Callable[..., Any], tuple[str, Callable[..., Any] | None]] = {
    dispatch.loss_value: ("value", None),
    dispatch.loss_slope: ("slope", None),
    dispatch.loss_curvature: ("curvature", dispatch.no_curvature),
    dispatch.row_value: ("value", None),
    dispatch.row_slopes: ("slopes", None),
    dispatch.rate_at: ("at", None),
    dispatch.rule_rate: ("penalty_rate", dispatch.no_penalty_rate),
    dispatch.rule_norm: ("needs_norm", dispatch.no),
    dispatch.rule_radius: ("keeps_radius", dispatch.no),
    dispatch.rule_curved: ("needs_curvature", dispatch.no),
    dispatch.rule_step: ("step", dispatch.gradient_step),
    dispatch.rule_move: ("move", None),
    dispatch.rule_prepare: ("prepare", None),
    dispatch.rule_pace: ("pace", None),
    dispatch.rule_fade: ("fade", None),
    dispatch.rule_growth: ("growth", None),
    rows.row_fits: ("fits", None),
    rows.row_fetch: ("fetch", None),
    rows.row_fetch_cells: ("fetch_cells", None),
    rows.row_columns: ("columns_of", None),
    rows.row_column: ("column", None),
    rows.row_cells: ("cells", None),
    rows.row_gather: ("gather", None),
    rows.row_scatter: ("scatter", None),
    rows.row_alone: ("alone", None),
    rows.row_gathered_dot: ("gathered_dot", None),
    rows.row_values: ("values_of", None),
    rows.row_dot: ("dot", None),
    rows.row_slot_dot: ("slot_dot", None),
    rows.row_serves_bank: ("serves_bank", None),
    rows.row_dots: ("dots", None),
    rows.row_add_to_all: ("add_to_all", None),
    rows.row_dot_and_square: ("dot_and_square", None),
    rows.row_add: ("add", None),
    rows.row_add_twice: ("add_twice", None),
    rows.cell_get: ("get", None),
    rows.cell_set: ("set", None),
    rows.width_of: ("width", None),
    targets.label_of: ("label_of", None),
    targets.target_of: ("target_of", None),
    targets.target_size: ("size", None),
    targets.judge: ("judge", None),
    targets.badness: ("badness", None),
    targets.missed: ("missed", None),
    targets.count_mistakes: ("count_mistakes", targets.judge_all),
    targets.take_answer: ("take_answer", targets.no_answer),
    targets.share_of: ("share_of", targets.all_of_it),
}


def overload_by_method(function: Callable[..., Any], choose: Callable[[type], Callable[..., Any]]) -> None:
    """Make compiled code answer ``function(self, ...)`` with what ``choose`` picks for the class of ``self``."""
    names = list(inspect.signature(function).parameters)
    arguments = ", ".join(names)

    def implementation_for(cls: type) -> Any:
        method = choose(cls)
        if list(inspect.signature(method).parameters) == names:
            return method
        # Numba insists on equal argument names; a user's method may name its own as it likes
        scope: dict[str, Any] = {"method": inlined(method)}
        exec(f"def renamed({arguments}): return method({arguments})", scope)
        return scope["renamed"]

    scope: dict[str, Any] = {"types": types, "implementation_for": implementation_for}
    exec(
        f"def typed({arguments}):\n"
        f"    if isinstance(self, types.BaseNamedTuple):\n"
        f"        return implementation_for(self.instance_class)\n",
        scope,
    )
    overload_of(function)(scope["typed"])


def method_of(name: str, otherwise: Callable[..., Any] | None) -> Callable[[type], Any]:
    def choose(cls: type) -> Any:
        method = getattr(cls, name, otherwise)
        if method is None:
            raise TypeError(f"{cls.__name__} has no method {name}")
        return method

    return choose


def flow_of(cls: type) -> Any:
    """How the score of this loss flows: see :func:`onlinear.rules.dispatch.loss_flow`."""
    if hasattr(cls, "row_flow"):
        return cls.row_flow
    if hasattr(cls, "slopes"):
        return dispatch.plain_step
    return dispatch.scalar_flow if hasattr(cls, "flow") else dispatch.implicit_step


for function, (name, otherwise) in METHODS.items():
    overload_by_method(function, method_of(name, otherwise))
overload_by_method(dispatch.loss_flow, flow_of)
overload_by_method(dispatch.flow_method, method_of("flow", None))
HELPERS = (
    rows.double,
    rows.added_up,
    rows.filled_up,
    rows.fill_up,
    rows.dense_dot,
    rows.sparse_dot,
    rows.sparse_square,
    rows.dense_square,
    powers.exp_of_less,
    powers.log_of_more,
    losses.logistic_value,
    losses.sigmoid,
    losses.logistic_curvature,
    losses.logistic_flow,
    losses.strongest_rival,
    losses.highest,
    losses.softmax,
)
#: functions that modules of ``internals`` overload, and the piece that does
PLAIN_WAYS: dict[Callable[..., Any], str] = {
    rows.fetch: "prefetch",
    rows.gather: "gather",
    rows.scatter: "gather",
    rows.lane_dot: "dense_dot",
    rows.bank_dots: "bank_simd",
    rows.bank_add: "bank_simd",
    powers.two_to: "powers",
}
for helper in HELPERS:
    inlined(helper)
for plain, piece in PLAIN_WAYS.items():
    plain_way(piece)(plain)
