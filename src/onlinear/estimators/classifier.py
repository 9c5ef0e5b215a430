"""What all classifiers share: labels become targets, scores become labels and probabilities."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import Batch, Rows, check_rows
from onlinear.data.rows import SparseRows
from onlinear.data.whole_numbers import unless_rounded
from onlinear.errors import BadInput, Refused
from onlinear.estimators.base import LinearEstimator, Recipe, Start
from onlinear.estimators.certified import ShowsCertificate
from onlinear.estimators.checks import (
    accuracy,
    all_or_nothing,
    are_objects,
    check_knows_classes,
    checked,
    checked_rows,
    importance_for,
    loop_rows,
    one_row,
    whole,
)
from onlinear.estimators.class_weights import WeighsClasses
from onlinear.estimators.one import ClassifiesOne, has_probabilities
from onlinear.estimators.shuffles import classifier_seed
from onlinear.kernels.learn.state import NEGATIVE, POSITIVE
from onlinear.learning.classes import Classes, as_array, distinct_labels, named_classes
from onlinear.learning.learner import Learner
from onlinear.learning.one_against_rest import (
    add_class,
    answering,
    check_new_labels,
    has_row_loss,
    is_even,
    outputs_for,
    targets_for,
)
from onlinear.learning.predictor import Predictor
from onlinear.rules.trial import try_out

ONE = np.ones(1)
#: what the targets of one row alone come in, if it is to be learned at once
LISTS = (list, tuple, np.ndarray)


class LinearClassifier(WeighsClasses, ClassifiesOne, ShowsCertificate, ClassifierMixin, LinearEstimator):
    """A linear classifier: one output for two classes, one against the rest for several, or a row loss."""

    _classes: Classes
    _opened = False  # whether the stream began with its classes unknown

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, as scikit-learn has it, which would round large whole numbers of pandas."""
        y = unless_rounded(y)
        if are_objects(y):
            return accuracy(self.predict(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    # -------------------------------------------------------------- learning from a stream

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LinearClassifier:
        """Learn from these rows, in the order in which they come, after what was learned before.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (rows, features)
        y : labels, one a row
        classes : all labels there will ever be; only needed in the first call. Without them new classes may appear
            at any time, and the result is what it would have been, had they been known.
        sample_weight : importance of each row; 0 is a row absent
        """
        if classes is None and sample_weight is None:
            with whole(self):
                batch = self._one_row(X, y)
                if batch is not None:
                    self._learner.learn(batch)  # type: ignore[union-attr]
                    return self
        with all_or_nothing(self):
            self._learn_more(X, y, classes, sample_weight)
        return self

    def _one_row(self, X: Any, y: Any) -> Batch | None:
        """One ordinary row with a known label, as a batch at once; None if it has to go the long way."""
        self._notice_changes()
        if self._learner is None or self._settled is None:  # a parameter was set
            return None
        rows = one_row(X, self._quick_features)
        if rows is None or type(rows) is not self._rows_kind or not isinstance(y, LISTS):
            return None
        try:
            code = self._classes.codes.get(y[0], -1) if len(y) == 1 else -1
        except (TypeError, KeyError):  # a frame's column, a label that is not hashable
            return None
        return self._row_batch(rows, code) if code >= 0 else None

    def _row_batch(self, rows: Rows, code: int) -> Batch | None:
        if self.class_weight == "balanced":
            return None
        targets = self._row_targets.get(code)
        if targets is None:
            assert self._learner is not None
            targets = targets_for(self._classes, np.array([code]), self._learner)
            self._row_targets[code] = targets
        if self.class_weight is None or self._by_output():
            return Batch(rows, targets, ONE)
        weight = self._class_importance(self._classes.labels[code])
        return Batch(rows, targets, np.array([weight]))

    def _learn_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self._refuse_slim()
        first = self._learner is None
        self._notice_changes()
        if self._settled is None:
            self._check_parameters(streaming=True)
        self._refuse_dicts()
        X, y = checked(self, X, y, reset=first, numbers=False)
        rows = loop_rows(X)
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        if first:
            if classes is None:
                distinct_labels(y)  # refuses what cannot be a label
            self._start(X.shape[1], classes, sparse)
            self._data_type = X.dtype
        else:
            if classes is not None:
                self._check_labels(classes, y, importance)
                self._name_classes(classes, rows)
            self._refresh(sparse)
        self._weigh_stream()
        self._learn_labels(rows, y, self._checked_codes(y, importance), importance)

    def _start(self, n_features: int, classes: Any = None, sparse: bool = True, growing: bool = False) -> None:
        """Create the learner for a stream; without ``classes`` the set of classes is open."""
        if classes is None:
            self._opened = True
            self._classes = Classes(open=True)
        else:
            self._opened = False
            self._classes = Classes.closed(named_classes(classes))
            if len(self._classes) < 2:
                raise BadInput("classes names fewer than two classes: name them all, or none")
        recipe = self._recipe(n_features, sparse, growing)
        if self._opened:
            check_even(recipe.loss)
        outputs = outputs_for(self._classes, hasattr(recipe.loss, "slopes"))
        self._create(recipe, n_features, outputs, sparse, growing)
        self._forget_rows()
        self._counts = {}
        self.n_iter_ = 1
        self._begin_pass()

    def _name_classes(self, classes: Any, rows: Rows) -> None:
        """Classes named again, or named late: then those not seen yet join, and the set is closed.

        First the rows that come with them must be ones that can be learned.
        """
        named = named_classes(classes)
        known = self._classes
        if known.open:
            check_rows(rows, getattr(self, "feature_names_in_", None))
        if known.open and all(label in set(named.tolist()) for label in known.labels):
            for label in named.tolist():
                if label not in known.codes:
                    self._add_class(label)
            known.open = False
        if not np.array_equal(known.sorted, named):
            raise BadInput(
                f"`classes={named.tolist()}` is not the same as on last call to partial_fit, was: "
                f"{known.sorted.tolist()}; leave it out, or call fit to start anew"
            )

    def _check_labels(self, classes: Any, y: np.ndarray, importance: np.ndarray) -> None:
        """Refuse labels that are not among the classes named beside them, before these are there for good."""
        if self._classes.open:
            named = Classes.closed(named_classes(classes))
            unknown = np.flatnonzero((named.codes_of(y) < 0) & (importance > 0.0))
            if unknown.size:
                raise named.unknown(y[unknown[:1]].tolist()[0], int(unknown[0]))

    def _checked_codes(self, y: np.ndarray, importance: np.ndarray) -> np.ndarray:
        """The codes of labels, -1 for those of new classes; all are refused if one cannot be learned."""
        known = self._classes
        codes = known.codes_of(y)
        present = importance > 0.0
        new = np.flatnonzero((codes < 0) & present)
        if new.size:
            if not known.open:
                row = int(new[0])
                raise known.unknown(y[row : row + 1].tolist()[0], row)
            known.check_new(y[new].tolist())
            assert self._learner is not None
            check_new_labels(known, self._learner, y[new], present)
        return codes

    def _learn_labels(self, rows: Rows, y: np.ndarray, codes: np.ndarray, importance: np.ndarray) -> None:
        """Learn the rows; where a label is new, its class appears between two rows."""
        new = np.flatnonzero((codes < 0) & (importance > 0.0))
        if not new.size:
            self._learn_codes(rows, codes, importance, None)
            return
        check_rows(rows, getattr(self, "feature_names_in_", None))
        start = 0
        while new.size:
            row = int(new[0])
            self._learn_codes(rows, codes, importance, np.arange(start, row))
            self._add_class(y[row : row + 1].tolist()[0])
            codes[row:] = self._classes.codes_of(y[row:])
            start = row
            new = np.flatnonzero((codes < 0) & (importance > 0.0))
        self._learn_codes(rows, codes, importance, np.arange(start, len(y)))

    def _learn_codes(self, rows: Rows, codes: np.ndarray, importance: np.ndarray, order: np.ndarray | None) -> None:
        if order is not None and not order.size:
            return
        learner = self._learner
        assert learner is not None
        factors = self._stream_weights(codes, importance, order)
        targets = targets_for(self._classes, codes, learner)
        before = learner.examples
        try:
            weighed = importance if factors is None else importance * factors
            self._learn_batch(rows, targets, weighed, order)
        finally:
            if self.class_weight == "balanced":
                self._count(codes, importance, order, learner.examples - before)

    # -------------------------------------------------------------- classes

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted where they can be."""
        if self._learner is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'classes_' before it is fitted")
        return self._classes.sorted

    def _add_class(self, label: Hashable) -> int:
        assert self._learner is not None
        code = add_class(self._classes, self._learner, label)
        self._forget_rows()
        return code

    def _change(self, learner: Learner, recipe: Recipe) -> None:
        if self._classes.open:
            check_even(recipe.loss)
        super()._change(learner, recipe)

    def _label_code(self, label: Hashable) -> int:
        """The code of a label, which may be new where the set of classes is open."""
        code = self._classes.codes.get(label)
        if code is not None:
            return code
        if not self._classes.open:
            raise self._classes.unknown(label, 0)
        assert self._learner is not None
        check_new_labels(self._classes, self._learner, as_array([label]), ONE)
        return self._add_class(label)

    def _forget_rows(self) -> None:
        self._row_targets: dict[int, Any] = {}

    def _answering_outputs(self) -> slice:
        assert self._learner is not None
        return slice(0, max(answering(self._classes, has_row_loss(self._learner)), 1))

    def _class_order(self, outputs: int) -> Any:
        return self._classes.order

    def _recipe_loss(self) -> Any:
        """The loss, which does not depend on the data."""
        return self._recipe(1, False).loss

    def _answering_loss(self) -> Any:
        """The loss whose link makes probabilities: a new one only answers once an example was learned with it."""
        return self._recipe_loss() if self._learner is None else self._learner.losses[0]

    # -------------------------------------------------------------- learning from a whole set

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, start: Start, keep: bool = False
    ) -> tuple[Rows, Any, np.ndarray, np.ndarray]:
        """Check a training set, create the learner; answer rows, targets, importance and codes."""
        self._check_parameters(streaming=False)
        X, y = checked(self, X, y, reset=True, numbers=False)
        importance = importance_for(sample_weight, len(y))
        present = slice(None) if sample_weight is None or not importance.any() else importance > 0.0
        labels = distinct_labels(y[present])
        if len(labels) < 2:
            raise BadInput(
                f"The number of classes has to be greater than one; got {len(labels)} class: "
                "one class needs no classifier, more rows may hold another"
            )
        rows = loop_rows(X)
        classes = Classes.closed(labels)
        codes = classes.codes_of(y)
        balanced = self.class_weight == "balanced"
        weights = None
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=labels, y=y[present])
        sparse = isinstance(rows, SparseRows)
        if not (keep and self._goes_on(X, classes, sparse)):
            self._begin(X, classes, sparse, start)
        learner = self._learner
        assert learner is not None
        if weights is not None:
            learner.clock[:, [POSITIVE, NEGATIVE]] = 1.0
            if self._weighs_outputs:
                self._weigh_outputs(learner, weights)
            else:
                importance = importance * weights[codes]
        if balanced:
            self._count(codes, importance, None, len(codes))
        return rows, targets_for(self._classes, codes, learner), importance, codes

    def _begin(self, X: Any, classes: Classes, sparse: bool, start: Start) -> None:
        self._opened = False
        self._classes = classes
        recipe = self._recipe(X.shape[1], sparse)
        outputs = outputs_for(classes, hasattr(recipe.loss, "slopes"))
        self._create(recipe, X.shape[1], outputs, sparse)
        self._data_type = X.dtype
        self._forget_rows()
        self._counts = {}
        self._begin_at(start, outputs, X.shape[1])

    def _goes_on(self, X: Any, classes: Classes, sparse: bool) -> bool:
        """Whether a warm start can go on with the learner that is there."""
        learner = self._learner
        if learner is None or learner.features != X.shape[1] or self._growing:
            return False
        if self._classes.open or self._classes.labels != classes.labels:
            return False
        self._refresh(sparse)
        return True

    def _shuffle_seed(self: Any) -> int:
        return classifier_seed(self.random_state, len(self._classes))

    # -------------------------------------------------------------- answers

    def _known_classes(self) -> Classes:
        return self._classes

    def _answering(self) -> Predictor:
        """What has been learned, as of one example, if one was."""
        check_is_fitted(self)
        now = self._now()
        check_knows_classes(self, now.labels)
        return now

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        return self._answering().decision_function(loop_rows(checked_rows(self, X)))

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest scores; a tie, or a score of 0, answers the first class."""
        return self._answering().predict(loop_rows(checked_rows(self, X)))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class: the loss's link of each score, normalised over several classes."""
        return self._answering().predict_proba(loop_rows(checked_rows(self, X)))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))


def check_even(loss: Any) -> None:
    """Refuse a loss for which open classes have no meaning; a mistake in one of the user's own is told first."""
    try_out([loss], [])
    if not is_even(loss):
        raise Refused(f"{loss} treats its two targets differently: name the classes in the first call")
