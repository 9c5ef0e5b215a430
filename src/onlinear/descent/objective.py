"""What the batch solvers minimise: the mean loss of all rows, plus a penalty on the weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from scipy.sparse.linalg import LinearOperator, eigsh

from onlinear.data.batch import check_columns, check_rows, importance_of, numbers_of, rows_of, table_of_numbers
from onlinear.descent.elementwise import Form, form_of
from onlinear.errors import BadInput, Refused
from onlinear.losses import Hinge, Perceptron, Squared
from onlinear.registry import loss_of

#: beyond so many features no d x d matrix is built: products with it stand in
WIDE = 1000
#: share of the largest eigenvalue below which rounding may be all that there is of one
FAINT = 1e-10


@dataclass(frozen=True)
class Objective:
    """``f(w) = sum_i share_i loss(<w, x_i>, y_i) + l2/2 |w|^2``, where the shares sum to 1.

    Made by :func:`mean_loss`. There is no intercept: give X a constant column, which is then penalised like the others.
    """

    rows: Any  # float64: a two-dimensional array or a CSR matrix
    targets: Any
    shares: Any
    loss: Any
    l2: float = 0.0

    @property
    def features(self) -> int:
        return int(self.rows.shape[1])

    @cached_property
    def form(self) -> Form:
        return form_of(self.loss)

    @property
    def smooth(self) -> bool:
        """Whether the loss has a curvature."""
        return self.form.curvatures is not None

    @property
    def margin(self) -> float:
        """Where the kink of a hinge is; that of the perceptron loss at 0."""
        return float(getattr(self.loss, "margin", 0.0))

    # ---------------------------------------------------------------- at the weights w

    def value(self, w: Any) -> float:
        values = self.form.values(self.loss, self.rows @ w, self.targets)
        return float(self.shares @ values + 0.5 * self.l2 * (w @ w))

    def slopes(self, w: Any) -> Any:
        """The derivative of each row's loss by its score; at the kink of the hinge, that of the scalar loss."""
        return self.form.slopes(self.loss, self.rows @ w, self.targets)

    def gradient(self, w: Any) -> Any:
        return self.pull(self.slopes(w)) + self.l2 * w

    def pull(self, slopes: Any) -> Any:
        """The rows summed up by share and slope: the gradient without its penalty."""
        return self.rows.T @ (self.shares * slopes)

    def curvatures(self, w: Any) -> Any:
        """The second derivative of each row's loss, times its share."""
        if self.form.curvatures is None:
            raise Refused(f"the loss {type(self.loss).__name__} has no curvature: use a smooth loss")
        return self.shares * self.form.curvatures(self.loss, self.rows @ w, self.targets)

    def hessian(self, w: Any) -> Any:
        """The d x d matrix of second derivatives."""
        return second_moment(self.rows, self.curvatures(w)) + self.l2 * np.eye(self.features)

    # ---------------------------------------------------------------- everywhere

    @cached_property
    def smoothness(self) -> float:
        """L: the largest eigenvalue that the Hessian has anywhere, at most; infinite for the hinge."""
        return self.form.bend(self.loss) * largest_eigenvalue(self.rows, self.shares) + self.l2

    @cached_property
    def row_smoothness(self) -> float:
        """The same for the row with the longest features alone; infinite for the hinge."""
        return self.form.bend(self.loss) * float(squared_lengths(self.rows).max()) + self.l2

    @cached_property
    def convexity(self) -> float:
        """The smallest eigenvalue that the Hessian has anywhere, at least: l2, and of the squared loss its own."""
        if not isinstance(self.loss, Squared) or self.features > WIDE:
            return self.l2
        eigenvalues = np.linalg.eigvalsh(second_moment(self.rows, self.shares))
        return self.l2 + (float(eigenvalues[0]) if eigenvalues[0] > FAINT * eigenvalues[-1] else 0.0)

    def dual_value(self, shares: Any) -> float:
        """A lower bound of the penalised hinge: ``margin mean(a) - |mean(a y x)|^2 / (2 l2)``, any ``0 <= a <= 1``."""
        pull = self.pull(shares * self.targets)
        return float(self.margin * (self.shares @ shares) - (pull @ pull) / (2.0 * self.l2))


def mean_loss(X: Any, y: Any, loss: Any, l2: float = 0.0, sample_weight: Any = None) -> Objective:
    """The objective ``sum h loss / sum h + l2/2 |w|^2`` with the importance h of the rows, 1 if not given.

    ``X`` is an array or a SciPy matrix, ``y`` numbers for the squared loss and -1 or +1 for the others: the logistic,
    the hinge and the perceptron loss. The intercept is the caller's: append a column of ones.

    >>> from onlinear.losses import Squared
    >>> f = mean_loss([[1.0], [3.0]], [0.0, 2.0], Squared())
    >>> f.value(np.array([1.0])), f.gradient(np.array([1.0]))
    (0.5, array([2.]))
    """
    loss = loss_of(loss)
    form_of(loss)
    if not 0.0 <= l2 < float("inf"):
        raise BadInput(f"l2 is {l2}: the strength of a penalty is a finite number, not below 0")
    matrix = checked_matrix(X)
    targets = numbers_of(y, matrix.shape[0])
    if not isinstance(loss, Squared) and not np.isin(targets, (-1.0, 1.0)).all():
        row = int(np.flatnonzero(~np.isin(targets, (-1.0, 1.0)))[0])
        raise BadInput(f"the target of row {row} is {targets[row]:g}: the {type(loss).__name__} loss takes -1 and +1")
    importance = importance_of(sample_weight, matrix.shape[0])
    if not importance.sum() > 0.0:
        raise BadInput("there is no row with some importance: an empty mean; give at least one")
    return Objective(matrix, targets, importance / importance.sum(), loss, float(l2))


def checked_matrix(X: Any) -> Any:
    """Finite float64 rows: a two-dimensional array, or a CSR matrix that has each entry once."""
    matrix: Any = table_of_numbers(X)
    if issparse(matrix):
        matrix = csr_matrix(matrix)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise BadInput(f"X has the shape {matrix.shape}: give a row for each example, a column for each feature")
    if issparse(matrix) and not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    rows = rows_of(matrix)
    check_columns(rows, matrix.shape[1])
    check_rows(rows)
    return matrix


def is_hinge(objective: Objective) -> bool:
    """Whether the loss is a hinge, of which the perceptron loss is that with the margin 0."""
    return isinstance(objective.loss, Hinge | Perceptron)


def is_perceptron(objective: Objective) -> bool:
    """Whether the weights 0 have the least loss there is, though they say nothing of any row."""
    return is_hinge(objective) and objective.margin == 0.0


def row_scale(objective: Objective) -> float:
    """How fast the slope of a row's loss changes along the longest row, if that of a hinge bends like a parabola's."""
    bend = objective.form.bend(objective.loss) if objective.smooth else 1.0
    return bend * float(squared_lengths(objective.rows).max()) or 1.0


def squared_lengths(rows: Any) -> Any:
    """``|x|^2`` of each row."""
    if issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", rows, rows)


def second_moment(rows: Any, weights: Any) -> Any:
    """``sum_i weight_i x_i x_i'`` as an array."""
    if issparse(rows):
        return (rows.T @ rows.multiply(weights[:, None]).tocsr()).toarray()
    return rows.T @ (rows * weights[:, None])


def diagonal_moment(rows: Any, weights: Any) -> Any:
    """The diagonal of the same."""
    squares = rows.multiply(rows).tocsr() if issparse(rows) else rows * rows
    return squares.T @ weights


def largest_eigenvalue(rows: Any, weights: Any) -> float:
    """That of the second moment: exact for few features, by Lanczos' method to a thousandth, from above, for many."""
    features = rows.shape[1]
    if features <= WIDE:
        return float(np.linalg.eigvalsh(second_moment(rows, weights))[-1])
    moment = LinearOperator((features, features), matvec=lambda v: rows.T @ (weights * (rows @ v)), dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(features)  # else ARPACK draws one, another each time
    return 1.001 * float(eigsh(moment, k=1, tol=1e-4, v0=start, return_eigenvectors=False)[0])
