"""A learner followed row by row: which weights it had after each, and what that tells of the margins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.base import clone

from onlinear.data.batch import table_of_numbers
from onlinear.errors import BadInput, Refused
from onlinear.estimators.dual import DualClassifier
from onlinear.learning.classes import label_array, sorted_unique
from onlinear.theory.penalised_pick import kind_of_model, learns_classes

if TYPE_CHECKING:
    from onlinear.plots.theorems import Theorem

#: by how much, relatively to the weights, a move may differ from a multiple of the row, and a score from the learner's
ROUNDING = 1e-9
#: what a learner is told of the two sides
LABELS = np.array([-1, 1])


class PlottedExamples(NamedTuple):
    """Rows, dense or sparse, their sides as -1 and +1, and the names of these."""

    X: Any
    y: np.ndarray
    classes: Any

    @property
    def labels(self) -> np.ndarray:
        return LABELS[(self.y > 0.0).astype(np.intp)]


class LearnedStep(NamedTuple):
    """One example learned: its row, and the updates and the weights after it."""

    row: int
    updates: int
    weights: np.ndarray


class ProofStep(NamedTuple):
    """What is known after one more example."""

    row: int
    updates: int
    changed: bool  # by this example
    gains: np.ndarray  # y f(x) of each row
    length: float  # of the weights, also of those that a kernel stands for
    factors: float  # the weights are a sum of signed rows with factors that add up to this; NaN if they are no such sum


def examples_of(X: Any, y: Any, class_: Any = None) -> PlottedExamples:
    """The rows of two classes, checked: the label that sorts last is +1; or of ``class_``, which is, and the rest."""
    X, y = table_of_numbers(X), label_array(y)
    sparse = scipy.sparse.issparse(X)
    X = scipy.sparse.csr_matrix(X) if sparse else X
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise BadInput(f"X has shape {X.shape} and y {y.shape}: give a table of rows, and a label for each")
    if not np.isfinite(X.data if sparse else X).all():
        raise BadInput("X has values that are not finite: drop their rows or impute them")
    classes = sorted_unique(y)
    if class_ is None:
        if len(classes) != 2:
            advice = ", or of one against the rest: choose it by class_" if len(classes) > 2 else ""
            raise Refused(f"there are {len(classes)} classes: this picture is of two{advice}")
        return PlottedExamples(X, np.where(y == classes[1], 1.0, -1.0), classes)
    if class_ not in classes.tolist() or len(classes) < 2:
        raise Refused(f"class_ is {class_!r}, and y has {classes.tolist()}: choose one of several")
    return PlottedExamples(X, np.where(y == class_, 1.0, -1.0), ("the rest", class_))


def readable_label(label: Any) -> str:
    """
    >>> readable_label(-1.0), readable_label("yes")
    ('-1', 'yes')
    """
    return f"{label:g}" if isinstance(label, float) else str(label)


def follow(
    estimator: Any, examples: PlottedExamples, passes: int = 1, quiet: Callable[[int], int] = int
) -> Iterator[LearnedStep]:
    """Learn the rows one after the other with a clone, pass after pass, until a whole pass brings no update.

    The rows from i up to, but without, ``quiet(i)`` are known to change nothing: they are learned at once, which comes
    out the same to the bit, and costs as much as a row alone.
    """
    check_classifier(estimator)
    if isinstance(estimator, DualClassifier):
        raise no_weights(estimator)
    model, updates, labels = clone(estimator), 0, examples.labels
    weights = np.zeros(examples.X.shape[1] + has_intercept(estimator))
    for _ in range(passes):
        before, start = updates, 0
        while start < len(labels):
            stop = max(start + 1, quiet(start))
            model.partial_fit(examples.X[start:stop], labels[start:stop], classes=LABELS)
            yield from (LearnedStep(row, updates, weights) for row in range(start, stop - 1))
            now = weights_of(model, estimator)
            updates = int(getattr(model, "updates_", updates + (not np.array_equal(now, weights))))
            weights, start = now, stop
            yield LearnedStep(stop - 1, updates, weights)
        if updates == before:
            return


def check_classifier(estimator: Any) -> None:
    """Refuse what does not learn labels row by row."""
    if not learns_classes(estimator):
        raise Refused(
            f"{kind_of_model(estimator)} learns no labels row by row, as this picture does: choose a classifier with "
            "partial_fit"
        )


def no_weights(estimator: Any) -> Refused:
    return Refused(f"{type(estimator).__name__} has no weights that could be drawn: choose a linear learner")


def end_of_quiet(gains: np.ndarray, start: int, threshold: float) -> int:
    """The first row from ``start`` on of which ``y f(x)`` is not above a threshold; behind the last if there is none.

    >>> end_of_quiet(np.array([2.0, 3.0, 1.0, 4.0]), 0, 1.0), end_of_quiet(np.array([2.0, 3.0, 1.0, 4.0]), 3, 1.0)
    (2, 4)
    """
    loud = np.flatnonzero(gains[start:] <= threshold)
    return start + int(loud[0]) if len(loud) else len(gains)


def proof_steps(
    estimator: Any, examples: PlottedExamples, passes: int = 1, theorem: Theorem | None = None
) -> Iterator[ProofStep]:
    """What is known after each example that is learned: of weights, or of a hypothesis in dual form.

    A theorem says which rows bring no update, so that they need not be learned one by one.
    """
    if isinstance(estimator, DualClassifier):
        return proof_steps_of_kernel(estimator, examples, passes)
    return proof_steps_of_weights(estimator, examples, passes, theorem)


def proof_steps_of_weights(
    estimator: Any, examples: PlottedExamples, passes: int, theorem: Theorem | None
) -> Iterator[ProofStep]:
    constant = 1.0 if theorem is None else theorem.constant
    signed = signed_rows(estimator, examples, constant)
    radius = longest_so_far(estimator, examples, constant)[-1]
    scale = np.ones(signed.shape[1])
    if has_intercept(estimator):
        scale[-1] = 1.0 / constant
    weights, gains, length, factors = np.zeros(signed.shape[1]), np.zeros(len(examples.y)), 0.0, 0.0

    def quiet(start: int) -> int:
        if theorem is None or theorem.averaged:  # an average moves with every row
            return start
        return end_of_quiet(gains, start, theorem.beta + ROUNDING * (theorem.beta + radius * length))

    for step in follow(estimator, examples, passes, quiet):
        now = step.weights * scale
        changed = not np.array_equal(now, weights)
        if changed:
            row = signed[step.row : step.row + 1]
            row = (row.toarray() if scipy.sparse.issparse(row) else row)[0]
            factors += factor_of(now - weights, row, length)
            weights, length = now, float(np.linalg.norm(now))
            gains = signed @ weights
        yield ProofStep(step.row, step.updates, changed, gains, length, factors)


def proof_steps_of_kernel(estimator: Any, examples: PlottedExamples, passes: int) -> Iterator[ProofStep]:
    """An update adds a signed row to the hypothesis: its scores and its length follow from the kernels alone."""
    model, alike = clone(estimator), signed_kernels(estimator, examples)
    gains, squared, updates, labels = np.zeros(len(examples.y)), 0.0, 0, examples.labels
    radius = float(np.sqrt(alike.diagonal().max()))
    for _ in range(passes):
        before, start = updates, 0
        while start < len(labels):
            length = float(np.sqrt(squared))
            stop = max(start + 1, end_of_quiet(gains, start, ROUNDING * radius * length))
            model.partial_fit(examples.X[start:stop], labels[start:stop], classes=LABELS)
            last = stop - 1
            yield from (ProofStep(row, updates, False, gains, length, float(updates)) for row in range(start, last))
            changed, updates = model.updates_ > updates, model.updates_
            if changed:
                squared += 2.0 * gains[last] + alike[last, last]
                gains = gains + alike[last]
            yield ProofStep(last, updates, changed, gains, float(np.sqrt(squared)), float(updates))
            start = stop
        if updates == before:
            return


def signed_kernels(estimator: Any, examples: PlottedExamples) -> np.ndarray:
    """``y K(x, z) y`` of each row with each."""
    if estimator.budget is not None:
        raise Refused("a budget shrinks the hypothesis, which is no sum of signed rows then: leave it out here")
    X = examples.X.toarray() if scipy.sparse.issparse(examples.X) else examples.X
    found: np.ndarray = estimator._kernel().matrix(X, X) * np.multiply.outer(examples.y, examples.y)
    return found


def longest_so_far(estimator: Any, examples: PlottedExamples, constant: float = 1.0) -> np.ndarray:
    """The length of the longest of the first row, the first two, ...; in the space of the kernel, if there is one."""
    if isinstance(estimator, DualClassifier):
        squares = signed_kernels(estimator, examples).diagonal()
    else:
        rows = signed_rows(estimator, examples, constant)
        squared = rows.multiply(rows) if scipy.sparse.issparse(rows) else rows**2
        squares = np.asarray(squared.sum(axis=1)).ravel()
    return np.sqrt(np.maximum.accumulate(squares))


def has_intercept(estimator: Any) -> bool:
    return bool(getattr(estimator, "fit_intercept", False))


def signed_rows(estimator: Any, examples: PlottedExamples, constant: float = 1.0) -> Any:
    """``y x`` of each row as the theorems see it: an intercept is the weight of one more feature, always the same."""
    ones = np.full((len(examples.y), int(has_intercept(estimator))), constant)
    if scipy.sparse.issparse(examples.X):
        return scipy.sparse.csr_matrix(scipy.sparse.diags(examples.y) @ scipy.sparse.hstack([examples.X, ones]))
    return examples.y[:, None] * np.column_stack([examples.X, ones])


def scores_by(u: Any, estimator: Any, examples: PlottedExamples, constant: float = 1.0) -> tuple[np.ndarray, float]:
    """``y <u, x>`` of each row, and the length of u, which may leave out the intercept."""
    if isinstance(estimator, DualClassifier):
        raise Refused("u has an entry for each feature, and a kernel hides its features: leave it out")
    signed = signed_rows(estimator, examples, constant)
    vector = pad_intercept(u, signed.shape[1])
    return signed @ vector, float(np.linalg.norm(vector))


def pad_intercept(u: Any, width: int) -> np.ndarray:
    """A vector with a 0 for the intercept, if it has no entry for it."""
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    if len(u) == width - 1:
        u = np.append(u, 0.0)
    if len(u) != width or not u.any():
        raise Refused(f"u has {len(u)} entries for {width} weights, or they are all 0: give one entry for each feature")
    return u


def weights_of(model: Any, estimator: Any) -> np.ndarray:
    """A copy of the weights, with that of the intercept behind them if there is one."""
    if not hasattr(model, "coef_"):
        raise no_weights(model)
    weights = np.asarray(model.coef_, dtype=np.float64).reshape(-1)
    return np.append(weights, model.intercept_) if has_intercept(estimator) else weights.copy()


def factor_of(move: np.ndarray, signed_row: np.ndarray, size: float) -> float:
    """The a >= 0 of a move ``a y x`` of weights of some size; NaN if it was no such move.

    Found in the move itself, because learners of other packages keep no account of their steps.
    """
    if not move.any():
        return 0.0
    squared = float(signed_row @ signed_row)
    a = float(move @ signed_row) / squared if squared else 0.0
    far = float(np.linalg.norm(move - a * signed_row))
    return a if a >= 0.0 and far <= ROUNDING * (size + np.linalg.norm(move)) else np.nan
