"""The methods of losses, rules and schedules as free functions.

Compiled code cannot call a method of a named tuple; it can call these, because
:mod:`onlinear.kernels.compiler.overloads` tells it which method each one means for each class. Interpreted code takes
the plain path below. A rule of your own calls ``loss_flow(loss, ...)`` where you would have written ``loss.flow(...)``.
"""

from __future__ import annotations

from typing import Any

from onlinear.rules.context import StepContext

Cell = tuple[float, ...]


def loss_value(self: Any, score: float, target: float) -> float:
    return self.value(score, target)


def loss_slope(self: Any, score: float, target: float) -> float:
    return self.slope(score, target)


def loss_curvature(self: Any, score: float, target: float) -> float:
    """The second derivative of the loss; 0 where the loss has none."""
    if hasattr(self, "curvature"):
        return self.curvature(score, target)
    return no_curvature(self, score, target)


def no_curvature(self: Any, score: float, target: float) -> float:
    return 0.0


def loss_flow(self: Any, context: StepContext, amount: float) -> float:
    """The score after the flow ``ds/da = -slope(s)`` of length ``amount``, see :mod:`onlinear.losses`."""
    if hasattr(self, "row_flow"):
        return self.row_flow(context, amount)
    if hasattr(self, "slopes"):
        return plain_step(self, context, amount)
    if hasattr(self, "flow"):
        return scalar_flow(self, context, amount)
    return implicit_step(self, context, amount)


def flow_method(self: Any, score: float, target: float, amount: float) -> float:
    return self.flow(score, target, amount)


def scalar_flow(self: Any, context: StepContext, amount: float) -> float:
    return flow_method(self, context.score, context.target, amount)


def plain_step(self: Any, context: StepContext, amount: float) -> float:
    """One step along the slope: what a row loss of the user's own takes for a flow."""
    return context.score - amount * context.slope


def implicit_step(self: Any, context: StepContext, amount: float) -> float:
    """``s' = s - amount slope(s')``: for a convex loss it does not jump over the target either.

    The root lies between the score and the plain step; regula falsi, with Illinois's halving of the end that stays.
    """
    near, far = context.score, context.score - amount * context.slope
    near_gap = near - far
    far_gap = far - context.score + amount * loss_slope(self, far, context.target)
    for _ in range(60):
        if near_gap * far_gap >= 0.0 or abs(far - near) <= 1e-12 * (abs(far) + abs(near)):
            break
        middle = far - far_gap * (far - near) / (far_gap - near_gap)
        gap = middle - context.score + amount * loss_slope(self, middle, context.target)
        if gap * far_gap < 0.0:
            near, near_gap = far, far_gap
        else:
            near_gap *= 0.5
        far, far_gap = middle, gap
    return far


def row_value(self: Any, scores: Any, label: int) -> float:
    return self.value(scores, label)


def row_slopes(self: Any, scores: Any, label: int, out: Any) -> None:
    self.slopes(scores, label, out)


def rate_at(self: Any, t: float) -> float:
    return self.at(t)


def rule_rate(self: Any, t: float) -> float:
    """The rate at which penalties are paid; 0 for a rule that knows no penalty."""
    if hasattr(self, "penalty_rate"):
        return self.penalty_rate(t)
    return no_penalty_rate(self, t)


def no_penalty_rate(self: Any, t: float) -> float:
    return 0.0


def rule_norm(self: Any) -> bool:
    """Whether the rule wants to see the row's squared length."""
    return hasattr(self, "needs_norm")


def rule_radius(self: Any) -> bool:
    """Whether the largest squared length of a row is kept: the mistake bounds of the rule speak of it."""
    return hasattr(self, "keeps_radius")


def no(self: Any) -> bool:
    return False


def rule_curved(self: Any) -> bool:
    """Whether the rule learns from the curvature also where the slope is 0."""
    return hasattr(self, "needs_curvature")


def rule_step(self: Any, loss: Any, context: StepContext) -> float:
    """What the row deserves: every weight moves by ``step * x`` or as the rule's ``move`` says."""
    if hasattr(self, "step"):
        return self.step(loss, context)
    return gradient_step(self, loss, context)


def gradient_step(self: Any, loss: Any, context: StepContext) -> float:
    return -context.slope * context.importance


def rule_move(self: Any, cell: Cell, x: float, step: float, context: StepContext) -> Cell:
    return self.move(cell, x, step, context)


def rule_prepare(self: Any, cell: Cell, x: float, context: StepContext) -> tuple[Cell, float, float]:
    return self.prepare(cell, x, context)


def rule_pace(self: Any, cell: Cell) -> float:
    return self.pace(cell)


def rule_fade(self: Any, cell: Cell, keep: float) -> Cell:
    return self.fade(cell, keep)


def rule_growth(self: Any, context: StepContext) -> float:
    return self.growth(context)
