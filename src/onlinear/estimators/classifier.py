"""LinearClassifier: labels become targets of a model, and its scores labels and probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import Rows, check_rows, importance_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadInput
from onlinear.estimators.checks import (
    check_knows_classes,
    check_length,
    check_rows_and_targets,
    checked_rows,
    importance_for,
    loop_rows,
    one_row,
    records,
    rows_to_score,
    score_labels,
    targets_in,
)
from onlinear.estimators.linear import DataShape, LinearEstimator, Start, undo_if_refused
from onlinear.estimators.passes import classifier_seed
from onlinear.learning.classes import (
    Classes,
    as_array,
    check_hashable,
    classes_from_call,
    classes_of_labels,
    distinct_labels,
    named_classes,
)
from onlinear.learning.dict_rows import learn_label
from onlinear.learning.model import Model
from onlinear.learning.outputs import Decoder, targets_for
from onlinear.learning.predictor import Predictor, probabilities_of
from onlinear.parameters import NOT_NEGATIVE
from onlinear.registry import loss_of
from onlinear.system.locks import estimator_lock

#: what the targets of one row alone come in, if it is to be learned at once
LISTS = (list, tuple, np.ndarray)


def has_probabilities(self: Any) -> bool:
    """Whether the loss turns scores into probabilities."""
    loss = self._answering_loss()
    if hasattr(loss, "link"):
        return True
    name = type(loss).__name__
    if type(self._own_loss()) is type(loss):
        name = getattr(self, "loss", name)
    raise AttributeError(f"probability estimates are not available for loss={name!r}")


def running_certificate(classifier: Any) -> Any:
    """What is known of the run without another look at the rows: see :func:`onlinear.certify`, which proves it.

    Of several classes, one against the rest, it is a dict with one for each. Of a kernel perceptron it speaks of
    the last version. Exact sums over all weights may take seconds, so ``dir`` and notebooks leave it out.
    """
    if not classifier.__sklearn_is_fitted__():
        raise AttributeError(
            f"{type(classifier).__name__!r} object has no attribute 'certificate_' before it has learned anything"
        )
    from onlinear.theory.certifying import running_of  # and with it SciPy's linear programs

    return running_of(classifier)


def names_on_sight(classifier: Any) -> list[str]:
    """What there is, but for the certificate: scikit-learn looks at each name, and a notebook at each value."""
    return [name for name in object.__dir__(classifier) if name != "certificate_" and hasattr(classifier, name)]


class LinearClassifier(ClassifierMixin, LinearEstimator):
    """A linear classifier: one output for two classes, one against the rest for several, or a row loss.

    ``class_weight`` is a dict from label to weight, or "balanced" by the counts so far.
    """

    class_weight: Any = None
    _labelled = True
    _weighs_outputs = False  # as scikit-learn does: a class's weight acts on that class's own output
    _settled_weights: dict[Hashable, Any] | None = None  # what a dict held when the model was brought up to date

    certificate_ = property(running_certificate)
    __dir__ = names_on_sight
    score = score_labels

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
            with estimator_lock(self):
                if self._learn_one_row(X, y):
                    return self
        with undo_if_refused(self):
            self._learn_more(X, y, classes, sample_weight)
        return self

    def _learn_one_row(self, X: Any, y: Any) -> bool:
        """Learn one ordinary row with a known label at once; False if it has to go the long way."""
        if self._settled_weights is not None:
            self._notice_changes()
        if self._settled is None:  # nothing was learned, or a parameter was set
            return False
        rows = one_row(X, self._quick_features)
        model: Any = self._model
        if rows is None or (type(rows) is DenseRows) is not model.dense or not isinstance(y, LISTS):
            return False
        try:
            code = model.classes.codes.get(y[0], -1) if len(y) == 1 else -1
        except (TypeError, KeyError):  # a frame's column, a label that is not hashable
            return False
        learned: bool = code >= 0 and model.learn_row(rows, code)
        return learned

    def _learn_more(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        self._refuse_slim()
        first = self._model is None
        self._notice_changes()
        if self._settled is None:
            self._check_parameters()
        self._refuse_dicts()
        X, y = check_rows_and_targets(self, X, y, reset=first, numbers=False)
        rows = loop_rows(X)
        importance = importance_for(sample_weight, len(y))
        sparse = isinstance(rows, SparseRows)
        model = self._model
        if model is None:
            if classes is None:
                distinct_labels(y)  # refuses what cannot be a label
            model = self._start(X.shape[1], sparse, classes)
            self._data_type = X.dtype
        else:
            if classes is not None:
                self._check_labels(model, classes, y, importance)
                self._name_classes(model, classes, rows)
            self._refresh(sparse)
        self._weigh_stream()
        model.learn_rows(rows, y, importance)

    def _start(self, columns: int | None, sparse: bool = False, classes: Any = None) -> Model:
        """Create the model for a stream; without ``classes`` the set of classes is open."""
        return self._create_for_stream(columns, sparse, classes_from_call(classes))

    def _create(self, shape: DataShape, classes: Any) -> Model:
        model = super()._create(shape, classes)
        model.class_weights.for_outputs = self._weighs_outputs
        return model

    def _check_labels(self, model: Model, classes: Any, y: np.ndarray, importance: np.ndarray) -> None:
        """Refuse labels that are not among the classes named beside them, before these are there for good."""
        if model.classes.open:  # type: ignore[union-attr]
            Classes.closed(named_classes(classes)).checked_codes(y, importance > 0.0)

    def _name_classes(self, model: Model, classes: Any, rows: Rows) -> None:
        """Classes named again, or named late: then those not seen yet join, and the set is closed.

        First the rows that come with them must be ones that can be learned.
        """
        named = named_classes(classes)
        if model.classes.open:  # type: ignore[union-attr]
            check_rows(rows, getattr(self, "feature_names_in_", None))
        model.name_classes(named)

    # -------------------------------------------------------------- classes and their weights

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted where they can be."""
        if self._model is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'classes_' before it is fitted")
        return self._classes.sorted

    @property
    def _classes(self) -> Classes:
        classes = self._model.classes  # type: ignore[union-attr]
        assert classes is not None
        return classes

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.class_weight, dict):
            check_class_weights(self.class_weight)

    def _note_parameters(self, sparse: bool) -> None:
        super()._note_parameters(sparse)
        self._model.class_weights.given = self.class_weight  # type: ignore[union-attr]
        if isinstance(self.class_weight, dict):
            self._settled_weights = dict(self.class_weight)
        else:
            self.__dict__.pop("_settled_weights", None)

    def _notice_changes(self) -> None:
        """Take a dict of weights that was changed within for one that was set."""
        if self._settled_weights is not None and self._settled_weights != self.class_weight:
            self._settled = self._learning_path = None

    def _weigh_stream(self) -> None:
        """Set the class weights that act on outputs, for rows of a stream."""
        model = self._model
        assert model is not None
        weights = None
        if self.class_weight is not None and model.class_weights.act_on_outputs(model.classes):
            labels = self._classes.sorted
            weights = compute_class_weight(self.class_weight, classes=labels, y=labels)
        model.weigh_outputs(weights)

    def _own_loss(self) -> Any:
        """The loss, which does not depend on the data."""
        return loss_of(self._configuration(DataShape(opened=self._model is not None and self._model.began_open)).loss)

    def _answering_loss(self) -> Any:
        """The loss whose link makes probabilities: a new one only answers once an example was learned with it."""
        return self._own_loss() if self._learner is None else self._learner.losses[0]

    # -------------------------------------------------------------- learning from a whole set

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any, start: Start, keep: bool = False
    ) -> tuple[Rows, Any, np.ndarray, np.ndarray]:
        """Check a training set, create the model; answer rows, targets, importance and codes."""
        self._check_parameters()
        X, y = check_rows_and_targets(self, X, y, reset=True, numbers=False)
        importance = importance_for(sample_weight, len(y))
        present = slice(None) if sample_weight is None or not importance.any() else importance > 0.0
        classes = classes_of_labels(y[present])
        rows = loop_rows(X)
        codes = classes.codes_of(y)
        weights = None
        if self.class_weight is not None:
            weights = compute_class_weight(self.class_weight, classes=classes.sorted, y=y[present])
        sparse = isinstance(rows, SparseRows)
        if not (keep and self._knows_just(classes) and self._can_go_on(X, sparse)):
            shape = DataShape(X.shape[1], sparse)
            self._begin_at(self._create(shape, classes), start)
            self._data_type = X.dtype
        model = self._model
        assert model is not None
        if weights is not None:
            model.weigh_outputs(weights if self._weighs_outputs else None)
            importance = importance if self._weighs_outputs else importance * weights[codes]
        if self.class_weight == "balanced":
            model.class_weights.count(self._classes, codes[importance > 0.0])
        return rows, targets_for(self._classes, codes, model.learner), importance, codes

    def _knows_just(self, classes: Classes) -> bool:
        """Whether the model that is there tells apart these classes."""
        return self._model is not None and not self._classes.open and self._classes.labels == classes.labels

    def _shuffle_seed(self: Any) -> int:
        return classifier_seed(self.random_state, len(self._classes))

    # -------------------------------------------------------------- learning from dicts

    learn_one = learn_label

    def _learn_label_slowly(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        """Learn the first example, or one after a parameter was set, or one that takes more than a compiled call."""
        self._notice_changes()
        if self._learning_path is not None:
            return self._model._learn_label_slowly(x, y, importance)  # type: ignore[union-attr]
        with undo_if_refused(self):
            return self._model_for_dicts()._learn_label_slowly(x, y, importance)

    def learn_many(self, rows: Any, y: Sequence[Hashable], importance: Any = None, classes: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A row of a frame is the dict of its cells, as they are; :func:`onlinear.open_stream` reads more into a table:
        blanks around a text do not count there, and a category that is a number is a name.

        A bad row refuses them all before any weight moves. ``classes`` are all labels there will ever be, as in
        ``partial_fit``: only needed in the first call, which may be one without rows.
        """
        given = targets_in(y)
        check_hashable(given)
        labels = as_array(given)
        rows = records(rows)
        check_length(len(rows), len(labels))
        weights = importance_of(importance, len(labels))
        with undo_if_refused(self):
            self._refuse_slim()
            first = self._model is None
            model = self._model_for_dicts(**({} if classes is None else {"classes": classes}))
            if classes is None or first:
                model.checked_codes(labels, weights)  # before names are registered
                read = model.read_dicts(rows)
            else:
                self._check_labels(model, classes, labels, weights)
                read = model.read_dicts(rows)
                self._name_classes(model, classes, read)
                self._weigh_stream()
            model.learn_rows(read, labels, weights)
            self._renew_path()  # which may have classes to learn of
        return self

    # -------------------------------------------------------------- answers

    def _answering(self) -> Predictor:
        """What has been learned, as of one example, if one was."""
        check_is_fitted(self)
        now = self._predictor()
        check_knows_classes(self, now.labels)
        return now

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        return self._answering().decision_function(rows_to_score(checked_rows(self, X)))

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest scores; a tie, or a score of 0, answers the first class."""
        return self._answering().predict(rows_to_score(checked_rows(self, X)))

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class: the loss's link of each score, normalised over several classes."""
        return self._answering().predict_proba(rows_to_score(checked_rows(self, X)))

    @available_if(has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label with the highest score; None before the first example. Changes nothing."""
        path = self._path
        if path is not None:
            view = path.view
            decoder = view.decoder
            pair = decoder.pair
            if pair:
                answer = view.answer
                score = answer(view.place_at, id(x))
                if score == score:
                    return pair[decoder.turn * score > 0.0]
            elif decoder.labels:
                scores = view.scores(x)
                if scores is not None:
                    return decoder.labels[scores[decoder.order].argmax()]
        decoder, scores, _ = self._scores_one(x)
        return None if decoder is None else decoder.label(scores)

    def _scores_one(self, x: Mapping[Any, Any]) -> tuple[Decoder | None, np.ndarray, Any]:
        """All outputs' scores, how they become labels, and the loss: all as of the same example. Changes nothing."""
        path = self._path
        if path is not None:
            view = path.view
            scores = view.scores(x)
            if scores is not None:
                return view.decoder, scores, path.loss
        with estimator_lock(self):
            if self._learner is None:
                return None, np.zeros(0), None
            path = self._renew_path()
            return path.view.decoder, path.scores(x), path.loss

    @available_if(has_probabilities)
    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """The probability of each class seen so far. Changes nothing."""
        path = self._path
        if path is not None:
            view = path.view
            decoder = view.decoder
            pair = decoder.pair
            if pair:
                score = view.answer(view.place_at, id(x))
                if score == score:
                    probability = path.link_of_pair(path.loss, decoder.turn * score)
                    return {pair[0]: 1.0 - probability, pair[1]: probability}
        decoder, scores, loss = self._scores_one(x)
        if decoder is None:
            return {}
        found = probabilities_of(loss, len(decoder.labels), decoder.as_row(scores))
        return dict(zip(decoder.labels, found[0].tolist(), strict=True))


def check_class_weights(weights: dict[Hashable, Any]) -> None:
    """Refuse weights by which rows would be learned backwards, or not at all."""
    for label, weight in weights.items():
        if weight not in NOT_NEGATIVE:
            raise BadInput(f"class_weight is {weight!r:.40} for the class {label!r:.40}: give {NOT_NEGATIVE.words}")
