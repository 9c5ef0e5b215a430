"""Batch solvers: what learning online is compared with.

They minimise the mean loss of all rows plus ``l2/2 |w|^2``, for the squared, the logistic and (not by Newton's
method) the hinge and the perceptron loss, until the objective is within epsilon of its lowest value,
and show their course.

>>> import numpy as np
>>> from onlinear.losses import Logistic
>>> X = np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, 1.0], [1.5, 1.0]])  # the column of ones is the intercept
>>> objective = mean_loss(X, [1, 1, -1, -1], Logistic(), l2=0.1)
>>> exact, slow = newton(objective, epsilon=1e-12), gradient_descent(objective, epsilon=1e-6)
>>> exact.steps < slow.steps, bool(0.0 <= slow.value - exact.value <= slow.gap <= 1e-6)
(True, True)

:func:`descend` takes any function with its gradient, from any start, with noise of any law.
:func:`best_in_ball` finds the best weights of bounded length, which regret is measured against. :func:`steps_table` and
:func:`rows_table` measure how steps and seconds grow with 1/epsilon and with the rows: ``docs/descent.md``.
"""

from onlinear.descent.ball import best_in_ball
from onlinear.descent.course import Point, Solution
from onlinear.descent.functions import NOISES, Path, descend
from onlinear.descent.gradient import gradient_descent
from onlinear.descent.growth import StepsTable, drawn_problem, rows_table, steps_table
from onlinear.descent.means import running_means
from onlinear.descent.newton import newton
from onlinear.descent.objective import Objective, mean_loss
from onlinear.descent.stochastic import second_order_sgd, sgd

__all__ = [
    "NOISES",
    "Objective",
    "Path",
    "Point",
    "Solution",
    "StepsTable",
    "best_in_ball",
    "descend",
    "drawn_problem",
    "gradient_descent",
    "mean_loss",
    "newton",
    "rows_table",
    "running_means",
    "second_order_sgd",
    "sgd",
    "steps_table",
]
