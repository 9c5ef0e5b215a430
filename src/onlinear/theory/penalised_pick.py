"""The hypothesis of a run that the penalised estimate picks, with the bound on its own risk."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.data.batch import table_of_numbers
from onlinear.errors import BadInput, Refused
from onlinear.learning.classes import classes_and_codes, label_array
from onlinear.theory.confidence import check_counts
from onlinear.theory.online_to_batch import penalty

#: products of entries of rows and hypotheses that are computed at most
MOST_WORK = 1e10


class Pick(NamedTuple):
    """A hypothesis: the weights before the example of this number, from 0 on, was learned.

    ``mistakes`` are those on the ``left`` examples that it had not seen, and the chance of one on a new row is at most
    ``bound``, with the confidence that was asked for.
    """

    number: int
    coef: np.ndarray
    intercept: np.ndarray
    mistakes: int
    left: int
    bound: float


def penalised_pick(model: Any, X: Any, y: Any, delta: float = 0.05) -> Pick:
    """Of all hypotheses of one pass over the rows in their order, the one whose penalised estimate is least.

    That is ``mistakes / left + sqrt(ln(n (n+1)/delta) / (2 left))``, over the rows that were left to it: with
    confidence ``1 - delta`` no hypothesis has a larger risk, if the rows are drawn independently from one
    distribution. So what is picked has the bound that it was picked for (Cesa-Bianchi, Conconi & Gentile 2004).

    The ``model`` is a linear classifier with ``partial_fit``; it is not changed, a new one like it learns.

    >>> import numpy as np, onlinear
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> picked = penalised_pick(onlinear.Perceptron(), X, X[:, 0] > 0.0)
    >>> picked.left == 500 - picked.number, picked.mistakes / picked.left < picked.bound < 1.0
    (True, True)
    """
    matrix, labels = table_of_numbers(X), label_array(y)
    sparse, count = scipy.sparse.issparse(matrix), len(labels)
    matrix = scipy.sparse.csr_matrix(matrix) if sparse else matrix
    if matrix.ndim != 2 or matrix.shape[0] != count or not count:
        raise BadInput(f"X has the shape {matrix.shape} and y {labels.shape}: give a label for each row of a matrix")
    check_counts(0, count, delta)
    classes, codes = classes_and_codes(labels)
    if len(classes) < 2:
        raise Refused("all rows are of one class, and there is nothing to pick: give rows of two classes or more")
    best: Pick | None = None
    work, entries = 0.0, int(matrix.nnz if sparse else matrix.size) / count
    for first, stop, coef, intercept in hypotheses_of(model, matrix, labels, classes):
        work += (count - first) * entries * len(coef)
        if work > MOST_WORK:
            raise Refused(
                f"the run has too many hypotheses to try each on what was left of {count:,} rows: give fewer rows, or "
                "take the bound of online_to_batch, which needs none"
            )
        wrong = answers(matrix[first:], coef, intercept) != codes[first:]
        mistakes = np.cumsum(wrong[::-1])[::-1]  # on the rows from here on
        for number in range(first, stop):
            many, left = int(mistakes[number - first]), count - number
            bound = many / left + penalty(left, count, delta)
            if best is None or bound < best.bound:
                best = Pick(number, coef, intercept, many, left, bound)
    assert best is not None
    return best


def hypotheses_of(
    model: Any, matrix: Any, labels: np.ndarray, classes: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Each hypothesis of a pass, with the numbers of the examples before which it stood: from one up to another."""
    if not learns_classes(model):
        raise no_linear_classifier(model)
    learning = type(model)(**model.get_params())
    outputs = 1 if len(classes) == 2 else len(classes)
    coef, intercept, first = np.zeros((outputs, matrix.shape[1])), np.zeros(outputs), 0
    for number in range(len(labels)):
        learning.partial_fit(matrix[number : number + 1], labels[number : number + 1], classes=classes)
        if not hasattr(learning, "coef_"):
            raise no_linear_classifier(model)
        now = np.array(learning.coef_), np.array(learning.intercept_)
        if not (np.array_equal(now[0], coef) and np.array_equal(now[1], intercept)):
            yield first, number + 1, coef, intercept
            (coef, intercept), first = now, number + 1
    if first < len(labels):
        yield first, len(labels), coef, intercept


def learns_classes(model: Any) -> bool:
    """Whether it learns row by row, and labels, whose classes it is told."""
    learn = None if isinstance(model, type) else getattr(model, "partial_fit", None)
    return learn is not None and "classes" in signature(learn).parameters


def no_linear_classifier(model: Any) -> Refused:
    return Refused(f"{kind_of_model(model)} is no linear classifier that learns row by row: give one, as Perceptron()")


def kind_of_model(model: Any) -> str:
    return f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__


def answers(matrix: Any, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """The places of the classes that weights predict."""
    scores = np.asarray(matrix @ coef.T) + intercept
    return scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0.0).astype(np.int64)
