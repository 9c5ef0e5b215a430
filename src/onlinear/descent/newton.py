"""Newton's method: every step solves for where the quadratic at hand is lowest."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from onlinear.descent.course import Course, Solution, started, whole_steps
from onlinear.descent.objective import WIDE, Objective, diagonal_moment
from onlinear.errors import Refused
from onlinear.system.threads import one_blas_thread

#: the share of the promised decrease that a step must bring (Armijo 1966)
WORTH = 1e-4
HALVINGS = 50


@one_blas_thread
def newton(
    objective: Objective,
    epsilon: float = 1e-4,
    optimum: float | None = None,
    max_steps: int = 100,
    start: Any = None,
) -> Solution:
    """``w <- w - step H^-1 gradient(w)`` from the ``start`` (0), with step 1, 1/2, 1/4, ... until the value falls
    enough.

    Near the optimum the whole step is taken and the gap's digits double in every step (Boyd & Vandenberghe 2004,
    section 9.5). Up to 1000 features H is factored, in O(n d^2); beyond, conjugate gradients solve with products
    only. The hinge is refused: it has no curvature.

    >>> from onlinear.descent import mean_loss
    >>> from onlinear.losses import Squared
    >>> newton(mean_loss([[1.0], [1.0]], [0.0, 2.0], Squared(), l2=1.0), epsilon=1e-9).steps
    1
    """
    if not objective.smooth:
        raise Refused(
            f"Newton's method does not take the loss {type(objective.loss).__name__}, which has no curvature: "
            "use gradient_descent, sgd, second_order_sgd or best_in_ball"
        )
    max_steps = whole_steps(max_steps)
    course = Course(objective, epsilon, optimum)
    w = started(objective, start)
    for steps in range(max_steps):
        if course.look(steps, w):
            return course.solution(w)
        w = damped_step(objective, w, objective.gradient(w)).weights
    course.look(max_steps, w)
    return course.solution(w)


class Move(NamedTuple):
    """Where a step led, and whether rounding hides what it brought: the next one would bring nothing."""

    weights: Any
    hidden: bool


def damped_step(objective: Objective, w: Any, gradient: Any, enough: float = 0.0) -> Move:
    """One step, halved until it keeps a ten-thousandth of its promise; the weights as they were if it never does."""
    direction = solve_newton_system(objective, w, gradient, enough)
    promise = float(gradient @ direction)
    value = objective.value(w)
    blur = 4.0 * sys.float_info.epsilon * abs(value)  # what rounding may hide of a decrease
    step = 1.0
    for _ in range(HALVINGS):
        reached = w - step * direction
        if objective.value(reached) <= value - WORTH * step * promise + blur:
            return Move(reached, promise <= blur)
        step *= 0.5
    return Move(w, hidden=True)


def solve_newton_system(objective: Objective, w: Any, right: Any, enough: float = 0.0) -> Any:
    """``H^-1 right`` with the Hessian at w.

    Of many features it is solved to a hundredth, then to the gradient's own length, so that the digits keep doubling
    (Dembo, Eisenstat & Steihaug 1982); a residual of half of what is ``enough`` ends it sooner.
    """
    if objective.features <= WIDE:
        return solved_by_factors(objective.hessian(w), right)
    rows, curvatures, l2 = objective.rows, objective.curvatures(w), objective.l2
    diagonal = diagonal_moment(rows, curvatures) + l2
    scale = np.where(diagonal > 0.0, diagonal, 1.0)
    shape = (objective.features, objective.features)
    hessian = LinearOperator(shape, lambda v: rows.T @ (curvatures * (rows @ v)) + l2 * v, dtype=np.float64)
    scaled = LinearOperator(shape, lambda v: v / scale, dtype=np.float64)
    accuracy = min(0.01, float(np.linalg.norm(right)))
    return cg(hessian, right, rtol=accuracy, atol=0.5 * enough, maxiter=500, M=scaled)[0]


def solved_by_factors(hessian: Any, right: Any) -> Any:
    """Cholesky's factors; a matrix that rounding left indefinite is lifted a little: its step still leads down."""
    lift = 0.0
    for _ in range(4):
        try:
            return cho_solve(cho_factor(hessian + lift * np.eye(len(right))), right)
        except LinAlgError:
            lift = max(1e-14 * float(np.trace(hessian)), 100.0 * lift)
    raise Refused("the Hessian is 0 or close to it, and no step can be solved for: give l2 above 0")
