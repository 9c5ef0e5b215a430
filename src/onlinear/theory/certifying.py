"""``onlinear.certify``: from a model and its rows to a certificate, or one for each class."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from onlinear.classes import Classes
from onlinear.errors import Refused
from onlinear.learner import Learner
from onlinear.rows import DenseRows
from onlinear.streams.stream import Stream, open_stream
from onlinear.theory.certificates import Certificate, certificate_of
from onlinear.theory.examples import Examples, Rows, examples_of
from onlinear.theory.subjects import running, subject_of


def certify(model: Any, X: Any, y: Any = None) -> Certificate | dict[Hashable, Certificate]:
    """What is proven of a classifier that has learned these rows; of several classes one certificate for each.

    The rows are a matrix with its labels ``y``, or X alone is a stream, or what :func:`onlinear.open_stream` takes.

    It holds the radius, the least margin and the bound exactly, and says whether the rows are separable, with a
    witness. Raises :class:`onlinear.BoundFailed` if a proven bound does not hold, which is a bug.

    >>> import numpy as np, onlinear
    >>> X, y = np.eye(3), [1, -1, 1]
    >>> model = onlinear.Perceptron(fit_intercept=False, max_iter=1, tol=None).fit(X, y)
    >>> certificate = certify(model, X, y)
    >>> certificate["updates"], certificate["bound_exact"], certificate["holds"]
    (3, '3', True)
    """
    learner = learner_of(model)
    if y is None:
        stream = X if isinstance(X, Stream) else open_stream(X)
        return certificates_for(learner, model._classes, lambda label: streamed(model, stream, label))
    matrix, labels = checked(model, X, y)
    return certificates_for(learner, model._classes, lambda label: examples_of(matrix, signs(labels == label)))


def certificates_for(
    learner: Learner, classes: Classes, examples_for: Callable[[Hashable], Examples]
) -> Certificate | dict[Hashable, Certificate]:
    """The certificate of two classes, or of several one for each; ``examples_for`` a class has it positive."""
    if hasattr(learner.losses[0], "slopes"):
        raise Refused(
            "the outputs of a multiclass loss move together, and no certificate covers them yet: "
            "certify one class against the rest"
        )
    order = classes.order.tolist()
    labels = [classes.labels[code] for code in order]
    if len(labels) < 2:
        raise Refused("there are fewer than two classes to tell apart: certify on rows of two classes, or more")
    if len(labels) == 2:
        turn = 1.0 if order[0] == 0 else -1.0  # the second class is the one with the positive targets
        return certificate_of(subject_of(learner, 0, turn), examples_for(labels[1]), labels[1])
    return {
        label: certificate_of(subject_of(learner, code), examples_for(label), label)
        for code, label in zip(order, labels, strict=True)
    }


def running_of(model: Any) -> dict[str, Any] | dict[Hashable, dict[str, Any]]:
    """What an estimator knows of its run without another look at the rows; of several classes one for each."""
    learner = learner_of(model)
    classes, order = model.classes_.tolist(), model._classes.order
    if len(classes) <= 2:
        return running(learner, 0, 1.0 if not len(order) or order[0] == 0 else -1.0)
    return {label: running(learner, int(order[c])) for c, label in enumerate(classes)}


def learner_of(model: Any) -> Any:
    if hasattr(model, "classes_") and not hasattr(model, "_learner"):
        raise Refused(
            f"{type(model).__name__} keeps no weights that could be certified: "
            "certify a linear learner of this package, as Perceptron"
        )
    learner = getattr(model, "_learner", None)
    if learner is None or not hasattr(model, "classes_"):
        raise Refused(f"{type(model).__name__} has learned no classes: certify a classifier after fit or partial_fit")
    return learner


def streamed(model: Any, stream: Stream, positive: Hashable) -> Examples:
    """The rows of a stream, those of one class positive."""
    features = len(model.coef_[0])

    def blocks() -> Iterator[Rows]:
        for block in stream:
            dense = isinstance(block.rows, DenseRows)
            check_features(block.rows.values.shape[1] if dense else max(block.width, features), features)
            check_labels(block.labels, model)
            yield Rows(block.rows, features, signs(block.labels == positive))

    return blocks


def checked(model: Any, X: Any, y: Any) -> tuple[Any, np.ndarray]:
    """Rows and labels, if they fit the model and each other."""
    matrix = scipy.sparse.csr_matrix(X) if scipy.sparse.issparse(X) else np.asarray(X)
    labels = np.asarray(y)
    if matrix.ndim != 2 or len(labels) != matrix.shape[0]:
        raise Refused(f"X has the shape {matrix.shape} and y {labels.shape}: give a label for each row of a matrix")
    check_features(matrix.shape[1], len(model.coef_[0]))
    values: Any = matrix.data if scipy.sparse.issparse(matrix) else matrix
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise Refused("X has values that are no finite numbers: certify a model on the rows that it has learned from")
    check_labels(labels, model)
    return matrix, labels


def check_features(found: int, known: int) -> None:
    if found != known:
        raise Refused(
            f"the rows have {found} features and the model {known}: "
            "certify a model on the rows that it has learned from"
        )


def check_labels(labels: np.ndarray, model: Any) -> None:
    unknown = set(labels.tolist()) - set(model.classes_.tolist())
    if unknown:
        raise Refused(f"there is a row with the label {min(unknown, key=str)!r}, which the model has not learned")


def signs(positive: np.ndarray) -> np.ndarray:
    return np.where(positive, 1.0, -1.0)
