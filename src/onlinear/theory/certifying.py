"""``onlinear.certify``: from a model and its rows to a certificate, or one for each class."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import scipy.sparse

from onlinear.data.batch import importance_of
from onlinear.data.matrices import as_csr
from onlinear.data.whole_numbers import exact_array
from onlinear.errors import BadInput, Refused
from onlinear.learning.classes import Classes
from onlinear.learning.dual.model import DualModel
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import has_row_loss
from onlinear.streams.sources import refuse_pipes
from onlinear.streams.stream import Stream, open_stream
from onlinear.streams.tables import columns_in
from onlinear.theory.best_margin import GAP, check_gap
from onlinear.theory.certificates import Certificate, certificate_of, within_floats
from onlinear.theory.computed import counted_by, with_computed
from onlinear.theory.examples import (
    Examples,
    against_rest,
    check_features,
    examples_from,
    examples_of,
    places_in,
    places_of,
)
from onlinear.theory.hypotheses import Hypothesis, hypothesis_in
from onlinear.theory.kernel_subjects import check_machine, dual_subject, own_mistakes, running_kernel
from onlinear.theory.operations import MOST_OPERATIONS
from onlinear.theory.replays import STREAM, is_long, learned_alike, order_of_fit, replay_of
from onlinear.theory.subjects import Subject, running, steps_of, subject_of

#: the subject for the class at a place of the sorted ones, over these rows; None asks for all classes together
Subjects = Callable[[int | None, Examples], Subject]


def certify(
    model: Any, X: Any, y: Any = None, *, against: Any = None, gap: float = GAP, sample_weight: Any = None
) -> Certificate | dict[Hashable, Certificate]:
    """What is proven of a classifier that has learned these rows; of one class against the rest one for each.

    It holds the radius, the least margin and the bound exactly, and says whether the rows are separable, with a
    witness. Raises :class:`onlinear.BoundFailed` if a proven bound does not hold, which is a bug. That these rows are
    those it has learned from is your word, of which their number and the longest one are compared; ``replayed`` says
    that they were learned again in the order of ``fit``, and made the same weights and counts.

    Parameters
    ----------
    model : a linear classifier, or a kernel perceptron without a budget
    X : a matrix with its labels ``y``, or alone a stream, or what :func:`onlinear.open_stream` takes
    y : labels, one a row
    against : weights of your own that the run is held against, shaped as ``coef_``, or ``(coef, intercept)``. A bound
        holds for all weights, and the least that is found is certified.
    gap : the share within which the best margin of separable rows is wanted
    sample_weight : the importance of each row, as ``fit`` was given it; rows of importance 0 are absent

    >>> import numpy as np, onlinear
    >>> X, y = np.eye(3), [1, -1, 1]
    >>> model = onlinear.Perceptron(fit_intercept=False, max_iter=1, tol=None).fit(X, y)
    >>> certificate = certify(model, X, y)
    >>> certificate["updates"], certificate["bound_exact"], certificate["holds"]
    (3, '3', True)
    """
    check_gap(gap)
    features = check_model(model)
    if y is None:
        if sample_weight is not None:
            raise BadInput("a stream has the importance of its rows itself: leave sample_weight out")
        stream = X if isinstance(X, Stream) else open_stream(X)
        refuse_pipes(stream.files, "a certificate, which reads all rows more than once")
        examples = examples_from(lambda: stream, features, model._classes)
    else:
        check_names(model, X)
        matrix, labels = check_rows_and_labels(X, y, features)
        importance = importance_of(sample_weight, len(labels))
        present = importance > 0.0
        if not present.all():
            matrix, labels, importance = matrix[present], labels[present], importance[present]
        examples = examples_of(matrix, places_of(labels, model._classes), importance)
    found = certificates_for(subjects_of(model), model._classes, examples, moves_together(model), against, gap)
    if dual_of(model) is not None:  # which keeps examples: no rule, and no count of a first pass
        return found
    return with_computed(found, model._learner, model._classes, examples, counted_by(model))


def check_names(model: Any, X: Any) -> None:
    """Refuse a frame whose columns are not those that a model was fitted on, in their order."""
    learned, given = getattr(model, "feature_names_in_", None), columns_in(X)
    if learned is not None and given is not None and given != list(learned):
        raise BadInput(
            f"the columns are {', '.join(map(str, given))!s:.200}, and the model has learned "
            f"{', '.join(map(str, learned))!s:.200}: give those, in that order"
        )


def certificates_for(
    subjects: Subjects,
    classes: Classes,
    examples: Examples,
    together: bool,
    against: Any = None,
    gap: float = GAP,
    most: int = MOST_OPERATIONS,
) -> Certificate | dict[Hashable, Certificate]:
    """The certificate of two classes, or of several that move together; else one for each class against the rest.

    ``most`` limits the operations that each may take to decide what is separable.
    """
    labels = [classes.labels[code] for code in classes.order.tolist()]
    present = places_in(examples)
    if len(present) == 1 and len(labels) <= 2 and not together:
        return certificate_of_one(subjects, present[0], labels, examples, against, gap)
    if len(present) < len(labels):
        missing = min(set(range(len(labels))) - set(present))
        raise Refused(
            f"no row is of the class {labels[missing]!r}: certify a model on the rows that it has learned from, of all "
            "its classes, or one that knows fewer"
        )
    if together:
        subject = subjects(None, examples)
        return certificate_of(subject, examples, labels, rival_of(subject, table_of(against, len(labels))), gap, most)
    given = table_of(against, 1 if len(labels) == 2 else len(labels))

    def one(place: int, named: list[Any]) -> Certificate:
        seen = against_rest(examples, place)
        subject = subjects(place, seen)
        part = None if given is None else given[[0 if len(given) == 1 else place]]
        return certificate_of(subject, seen, named, rival_of(subject, part), gap, most)

    if len(labels) == 2:
        return one(1, labels)
    return {label: one(place, [None, label]) for place, label in enumerate(labels)}


def certificate_of_one(
    subjects: Subjects, place: int, labels: list[Any], examples: Examples, against: Any, gap: float
) -> Certificate:
    """The certificate of rows that are all of one class: the updates are made at ties, and have their bound, too."""
    seen = against_rest(examples, place)
    subject = subjects(place, seen)
    given = table_of(against, 1)
    if given is not None and place == 0:
        given = -given  # which is of the second class
    return certificate_of(subject, seen, [labels[place]], rival_of(subject, given), gap)


def table_of(given: Any, outputs: int) -> np.ndarray | None:
    """Weights of a user's own as a table: a row for each output, the intercept last."""
    if given is None:
        return None
    coef, intercept = given if isinstance(given, tuple) else (given, 0.0)
    table = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    intercepts = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    if table.ndim > 2 or len(table) != outputs or intercepts.shape not in ((1,), (outputs,)):
        raise Refused(
            f"against has weights of the shape {table.shape}, and the model has {outputs} output(s): "
            "give an array as coef_, or (coef, intercept)"
        )
    return np.column_stack([table, np.broadcast_to(intercepts, outputs)])


def rival_of(subject: Subject, table: np.ndarray | None) -> Hypothesis | None:
    """The hypothesis that the weights of a user's own are."""
    if table is None:
        return None
    space = subject.weights.space
    if space is None:
        raise Refused("no weights can be written down for this kernel: leave against out")
    if not space.constant_squared and not table[:, -1].any():
        table = table[:, :-1]
    if table.size != space.dimensions or not np.isfinite(table).all():
        raise Refused(
            "against has weights that are not finite, not one for each feature, or with an intercept though the model "
            "has none: give an array as coef_, or (coef, intercept)"
        )
    return hypothesis_in(space, table.ravel())


def running_of(model: Any) -> dict[str, Any] | dict[Hashable, dict[str, Any]]:
    """What an estimator knows of its run without another look at the rows; of one against the rest one for each."""
    check_model(model)
    with within_floats():
        return running_parts(model)


def running_parts(model: Any) -> dict[str, Any] | dict[Hashable, dict[str, Any]]:
    classes = model.classes_.tolist()
    dual = dual_of(model)
    if dual is not None:
        outputs = dual.outputs()
        found = [running_kernel(dual.perceptrons, output, own_mistakes(dual)) for output in outputs]
        return found[0] if len(found) == 1 else dict(zip(classes, found, strict=True))
    learner, known = model._learner, model._classes
    if moves_together(model):
        return running(subject_of(steps_of(learner, known, None)))
    if len(classes) <= 2:
        return running(subject_of(steps_of(learner, known, len(classes) - 1)))
    return {label: running(subject_of(steps_of(learner, known, place))) for place, label in enumerate(classes)}


def subjects_of(model: Any) -> Subjects:
    """The subjects of an estimator."""
    drawn = getattr(model, "order", None) == "replacement"  # then nobody knows which rows a pass has had
    dual = dual_of(model)

    def subject(place: int | None, examples: Examples) -> Subject:
        if dual is not None:
            found = dual_subject(dual, place, examples)
        else:
            found = estimator_subject(model, place, examples)
        return found._replace(whole_passes=not drawn)

    return subject


def dual_of(model: Any) -> DualModel | None:
    """The model that an estimator in dual form holds."""
    found = getattr(model, "_model", None)
    return found if isinstance(found, DualModel) else None


def estimator_subject(model: Any, place: int | None, examples: Examples) -> Subject:
    """The output of a linear estimator, and in which order it has learned these rows, if in one that is known."""
    learner, classes, opened = model._learner, model._classes, model._model.began_open
    steps = steps_of(learner, classes, place)
    found, is_open = subject_of(steps), opened and steps.counts_mistakes
    replay = replay_of(steps, STREAM, is_open, examples)
    if isinstance(replay, str) or found.examples == 0:
        return found._replace(replay=replay)
    if is_long(examples, found.examples):
        return found._replace(replay="long")
    fitted = order_of_fit(model)
    for order in [STREAM] if opened else dict.fromkeys([fitted or STREAM, STREAM]):
        if learned_alike(found, steps, order, is_open, examples):
            return found._replace(replayed=True, replay=replay_of(steps, order, is_open, examples))
    return found._replace(replay="order" if fitted is None else "unlike")


def learner_subjects(learner: Learner, classes: Classes) -> Subjects:
    return lambda place, _: subject_of(steps_of(learner, classes, place))


def moves_together(model: Any) -> bool:
    return dual_of(model) is None and has_row_loss(model._learner)


def check_model(model: Any) -> int:
    """How many features a model has that can be certified."""
    dual = dual_of(model)
    if dual is not None:
        check_machine(dual.perceptrons)
        return getattr(model, "n_features_in_", None) or (0 if dual.names is None else dual.names.size)
    learner_of(model)
    return int(model.coef_.shape[1])  # which may be shown as a sparse matrix


def learner_of(model: Any) -> Any:
    if hasattr(model, "recipe"):
        raise Refused(
            "the model was trained on files, and its recipe changes rows: say onlinear certify FILE --model M"
        )
    learner = getattr(model, "_learner", None)
    if learner is None or not hasattr(model, "classes_"):
        raise Refused(f"{type(model).__name__} has learned no classes: certify a classifier after fit or partial_fit")
    return learner


def check_rows_and_labels(X: Any, y: Any, features: int) -> tuple[Any, np.ndarray]:
    """Rows and labels, if they fit the model and each other."""
    matrix = scipy.sparse.csr_matrix(as_csr(X)) if scipy.sparse.issparse(X) else np.asarray(X)
    labels = exact_array(y)
    if matrix.ndim != 2 or len(labels) != matrix.shape[0]:
        raise Refused(f"X has the shape {matrix.shape} and y {labels.shape}: give a label for each row of a matrix")
    check_features(matrix.shape[1], features)
    values: Any = matrix.data if scipy.sparse.issparse(matrix) else matrix
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise Refused("X has values that are no finite numbers: certify a model on the rows that it has learned from")
    return matrix, labels
