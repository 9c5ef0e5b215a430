"""What the classifiers in dual form share: labels become targets of perceptrons, and their scores labels."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import importance_of
from onlinear.errors import BadInput, Refused
from onlinear.estimators.checks import (
    FLOATS,
    check_knows_classes,
    checked_rows,
    refuse_all_zero,
    score_labels,
    validate_with_targets,
)
from onlinear.estimators.classifier import names_on_sight, running_certificate
from onlinear.estimators.dual_dicts import LearnsDicts
from onlinear.estimators.dual_files import dual_parts, restore_dual
from onlinear.estimators.linear import undo_if_refused
from onlinear.estimators.passes import Turns, warn_of_runs
from onlinear.estimators.saving import class_name
from onlinear.files.container import Header, PathLike
from onlinear.files.trained import save_without_recipe
from onlinear.files.values import Unpacker
from onlinear.learning.classes import Classes, classes_from_call, classes_of_labels, distinct_labels, named_classes
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.model import WEIGHED, DualModel, are_whole_steps
from onlinear.system.interrupts import uninterrupted
from onlinear.system.locks import estimator_lock


class DualClassifier(LearnsDicts, ClassifierMixin, BaseEstimator):
    """A classifier made of perceptrons in dual form: see :class:`onlinear.learning.dual.model.DualModel`."""

    _model: DualModel | None = None

    certificate_ = property(running_certificate)
    __dir__ = names_on_sight
    score = score_labels

    def _kernel(self) -> Kernel:
        raise NotImplementedError

    # -------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DualClassifier:
        """Learn from the rows from the beginning, pass after pass, until one brings no update.

        ``sample_weight`` is the importance of each row; 0 is a row absent.
        """
        self._validate_params()
        with undo_if_refused(self):
            X, y, importance = self._checked(X, y, sample_weight, reset=True)
            refuse_all_zero(importance)
            X, y, importance = present(X, y, importance)
            model = self._start(X.shape[1], X.dtype, classes_of_labels(y))
            model.perceptrons.check(X, self.max_iter * importance.sum())
            codes = model.classes.codes_of(y)
            warn_of_runs(self, codes, stacklevel=3)
            self._sweep(model, X, codes, importance)
        return self

    def _sweep(self: Any, model: DualModel, X: Any, codes: np.ndarray, importance: np.ndarray) -> None:
        turns = Turns(self.order, len(codes), self.random_state)
        numbers = np.arange(len(codes))
        self.converged_ = False
        for number in range(1, self.max_iter + 1):
            before = model.updates_in_all()
            model.learn_codes(X, codes, importance, order=turns.next(), numbers=numbers)
            self.n_iter_ = number
            uninterrupted.let_through()
            if turns.comes_to_rest(model.updates_in_all() > before):
                self.converged_ = True
                break
        model.perceptrons.positions = {}  # rows that come later are others

    def _check_stream(self) -> None:
        """Refuse to learn from a stream what only ``fit`` can."""

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> DualClassifier:
        """Learn from these rows, in the order in which they come, after what was learned before.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (rows, features)
        y : labels, one a row
        classes : all labels there will ever be; only needed in the first call. Without them new classes may appear at
            any time, and the result is what it would have been, had they been known.
        sample_weight : importance of each row; 0 is a row absent
        """
        self._validate_params()
        self._check_stream()
        with undo_if_refused(self):
            first = self._model is None
            if not first and not hasattr(self, "n_features_in_"):
                raise BadInput(
                    f"this {type(self).__name__} has learned from dicts: go on with learn_one or learn_many, "
                    "or call fit to start anew"
                )
            X, y, importance = self._checked(X, y, sample_weight, reset=first)
            distinct_labels(y)  # refuses what cannot be a label
            model = self._start(X.shape[1], X.dtype, classes_from_call(classes)) if first else self._going_on(classes)
            model.check_labels(y, importance)
            X, y, importance = present(X, y, importance)
            model.perceptrons.check(X, importance.sum())
            model.learn_labels(X, y, importance)
            self._has_gone_on()
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, np.ndarray, np.ndarray]:
        X, y = validate_with_targets(self, X, y, accept_sparse="csr", dtype=FLOATS, reset=reset)
        importance = importance_of(sample_weight, len(y))
        self._check_steps(importance)
        return X, y, importance

    def _check_steps(self: Any, importance: np.ndarray) -> None:
        """Refuse importances that make steps of another size than a budget counts."""
        if self.budget is not None and not are_whole_steps(importance).all():
            raise Refused(WEIGHED)

    def _start(self: Any, features: int, dtype: Any, classes: Classes) -> DualModel:
        """A model that has seen nothing."""
        kernel, seed = self._kernel(), int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self._model = DualModel.create(
            kernel, classes, vote=self.vote, budget=self.budget, seed=seed, features=features, dtype=dtype
        )
        self.n_iter_ = 1
        return self._model

    def _going_on(self: Any, classes: Any = None) -> DualModel:
        """The model that is there, if the parameters still are its own, with classes that are named late."""
        model: DualModel = self._model
        if (model.kernel, model.budget) != (self._kernel(), self.budget):
            raise Refused("kernel and budget cannot change while it learns: call fit to start anew")
        if classes is not None:
            model.classes.check_named(named_classes(classes))
        if callable(model.kernel.name):  # it may refuse rows in their midst: then only a copy has begun to learn them
            model = self._model = copy.deepcopy(model)
        return model

    def _has_gone_on(self) -> None:
        """The last rows were not in the pass without an update."""
        if vars(self).get("converged_"):
            self.converged_ = False

    # -------------------------------------------------------------- answers

    def decision_function(self: Any, X: Any) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        check_is_fitted(self)
        with estimator_lock(self):
            check_knows_classes(self, self._classes)
            scores = self._scores(checked_rows(self, X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self: Any, X: Any) -> np.ndarray:
        """The labels with the highest scores; a tie, or a score of 0, answers the first class."""
        check_is_fitted(self)
        with estimator_lock(self):
            check_knows_classes(self, self._classes)
            return self._labels(self._scores(checked_rows(self, X)))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        chosen = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]

    def _scores(self: Any, X: Any) -> np.ndarray:
        scores: np.ndarray = self._model.scores(X, self.vote)
        return scores

    # -------------------------------------------------------------- what was learned

    @property
    def _classes(self) -> Classes:
        return self._learned().classes

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted where they can be."""
        with estimator_lock(self):
            return self._learned().classes.sorted

    @property
    def examples_(self) -> int:
        """How many examples were learned from, over all passes."""
        with estimator_lock(self):
            return self._learned().examples

    @property
    def mistakes_(self) -> int:
        """How many examples the last version had wrong, or undecided, before they were learned."""
        with estimator_lock(self):
            return self._learned().mistakes

    @property
    def updates_(self) -> Any:
        """How many examples changed the hypothesis; one number for each class of several."""
        with estimator_lock(self):
            made = self._learned().updates
        return made if isinstance(made, int) else np.array(made)

    @property
    def radius2_(self) -> float:
        """The largest ``K(x, x)`` of all examples: the R^2 of the theorems."""
        return self._learned().perceptrons.radius2

    @property
    def support_vectors_(self) -> np.ndarray:
        """The kept examples, in the order in which they came."""
        with estimator_lock(self):
            coefficients = self._coefficients()
            model = self._learned()
            width = None if model.names is None else model.names.size  # a stream of dicts has room for more
            return model.perceptrons.support.rows[: len(coefficients), :width][coefficients.any(axis=1)]

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficients of the kept examples in the last version: one row for two classes, else one for each."""
        with estimator_lock(self):
            coefficients = self._coefficients()
        return coefficients[coefficients.any(axis=1)].T

    def _coefficients(self) -> np.ndarray:
        model = self._learned()
        return model.perceptrons.coefficients()[:, model.outputs()]

    def _learned(self) -> DualModel:
        if self._model is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return self._model

    # -------------------------------------------------------------- files

    def save(self, path: PathLike, *, slim: bool = False) -> None:
        """Write the classifier to a file, whole or not at all; :func:`onlinear.load` brings it back to the bit.

        Predictions need all there is, so a slim file is the same. A kernel of your own cannot be saved.
        """
        with estimator_lock(self):
            header, arrays = dual_parts(self, class_name(type(self)))
            save_without_recipe(path, header, arrays)

    @classmethod
    def _restored(cls, unpacker: Unpacker, header: Header) -> Any:
        return restore_dual(unpacker, cls, header)

    # -------------------------------------------------------------- conventions

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> Any:
        with estimator_lock(self):
            state = dict(super().__getstate__())
            state.pop("_lock")  # a lock means nothing elsewhere
            if "_model" in state:
                state["_model"] = copy.deepcopy(state["_model"])  # what is learned meanwhile stays out
            return state


def present(X: Any, y: np.ndarray, importance: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The rows that have an importance."""
    rows = importance > 0.0
    return (X, y, importance) if rows.all() else (X[rows], y[rows], importance[rows])
