"""FittedAttributes: what an estimator that holds a model shows of it, under scikit-learn's names.

Weights are shown as copies, and may be assigned; figures are those of a whole example. How it learns is said in
:mod:`onlinear.estimators.linear`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from onlinear.errors import BadInput
from onlinear.features.names import ExactNames
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.learning.predictor import Predictor
from onlinear.learning.state import Mark
from onlinear.system.locks import estimator_lock


@dataclass
class ShownWeights:
    """What was last read, or assigned: an object of its own, so that a prediction leaves ``__dict__`` untouched."""

    version: int = -1
    weights: Any = None  # that someone has assigned, as those that follow
    intercepts: Any = None
    by_hand: bool = False  # someone has assigned coef_ or intercept_: they are here
    sparse: bool = False  # sparsify() was called
    #: the learner, its version, and what was read of it: replaced as a whole, others may be reading it
    snapshot: tuple[Learner, int, Predictor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self if self.by_hand else ShownWeights()), sparse=self.sparse)
        del state["snapshot"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.snapshot = None


class FittedAttributes(BaseEstimator):
    """What is known of the model that an estimator holds; nothing here is there before it has learned."""

    average: Any = False
    _model: Model | None = None
    _flat = False  # a regressor shows one row of weights as a vector
    _shown: ShownWeights
    _data_type: Any = np.float64

    @property
    def _learner(self) -> Learner | None:
        return None if self._model is None else self._model.learner

    def __sklearn_is_fitted__(self) -> bool:
        return self._model is not None

    # -------------------------------------------------------------- weights

    def _predictor(self) -> Predictor:
        """What has been learned, as of a whole example; the same until something is learned."""
        learner = self._learner
        if learner is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        snapshot = self._shown.snapshot
        if snapshot is not None and snapshot[0] is learner and snapshot[1] == learner.version:
            return snapshot[2]
        del snapshot  # whose weights the next one may take over
        with estimator_lock(self):  # no class appears, and no other learner takes its place
            model, shown = self._model, self._shown
            assert model is not None
            with model.learner.lock:
                shown.snapshot = None
                shown.snapshot = model.learner, model.learner.version, self._read_predictor(model)
                return shown.snapshot[2]

    def _read_predictor(self, model: Model) -> Predictor:
        shown, learner = self._shown, model.learner
        if shown.by_hand:
            return Predictor.of_weights(shown.weights, shown.intercepts, learner.losses[0], model.classes, model.names)
        return model.snapshot()

    def _check_learned(self, name: str) -> None:
        if self._learner is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r} before it is fitted")

    @property
    def coef_(self) -> Any:
        """The weights: a row for each class, one row for two classes, a vector for a regressor.

        The array is a copy: assign another to ``coef_`` to go on from other weights.
        """
        self._check_learned("coef_")
        weights = self._in_shape(self._predictor().weights)
        return scipy.sparse.csr_matrix(weights) if self._shown.sparse else weights

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._check_learned("coef_")
        self._shown.sparse = scipy.sparse.issparse(value)
        weights = value.toarray() if self._shown.sparse else np.asarray(value, dtype=np.float64)
        now = self._predictor()
        if weights.size != now.weights.size:
            raise BadInput(f"coef_ has the shape {self.coef_.shape}, and not {weights.shape}: give as many numbers")
        if not np.array_equal(now.weights.ravel(), weights.ravel()):
            self._assign_weights(weights.reshape(now.weights.shape), now.intercepts)

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts, one for each row of ``coef_``."""
        self._check_learned("intercept_")
        return self._predictor().intercepts.astype(self._data_type)

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._check_learned("intercept_")
        now, given = self._predictor(), np.asarray(value, dtype=np.float64)
        if given.shape not in ((), now.intercepts.shape):
            raise BadInput(
                f"intercept_ has the shape {now.intercepts.shape}, and not {given.shape}: give as many numbers"
            )
        intercepts = np.full(now.intercepts.shape, given)
        if not np.array_equal(now.intercepts, intercepts):
            self._assign_weights(now.weights, intercepts)

    def _in_shape(self, weights: np.ndarray) -> np.ndarray:
        weights = weights.astype(self._data_type)
        return weights.reshape(-1) if self._flat else weights

    def _assign_weights(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        assert self._learner is not None
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise BadInput("coef_ or intercept_ would hold NaN or infinity: give finite numbers")
        with estimator_lock(self):
            shown = self._shown
            shown.weights, shown.intercepts = weights, intercepts
            shown.by_hand, shown.version = True, self._learner.version
            shown.snapshot = None
            self._settled = self._path = self._learning_path = None  # the next learning, or answer, has to look twice

    def sparsify(self) -> Any:
        """Show ``coef_`` as a sparse matrix: worth it where an L1 penalty has left few weights."""
        check_is_fitted(self)
        self._shown.sparse = True
        return self

    def densify(self) -> Any:
        """Show ``coef_`` as an array again."""
        check_is_fitted(self)
        self._shown.sparse = False
        return self

    def snapshot(self) -> Predictor:
        """What has been learned so far, for answers only, as of a whole example: nothing will change it.

        Any number of threads may share it. It is the same until something is learned.
        """
        check_is_fitted(self)
        return self._predictor()

    @property
    def feature_names_(self) -> list[Hashable]:
        """The names of the features learned from dicts, in the order of ``coef_``'s columns."""
        names = None if self._model is None else self._model.names
        if not isinstance(names, ExactNames):
            raise AttributeError("feature_names_ is there after learning from dicts with exact names")
        return names.names()

    # -------------------------------------------------------------- figures

    @contextmanager
    def _model_alone(self) -> Iterator[Model]:
        """The model, as of a whole example: nobody learns, and no class appears, until the caller is done."""
        if self._model is None:  # before there is one, nothing is locked
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        with estimator_lock(self):
            model = self._model
            with model.alone():
                yield model

    @property
    def examples_(self) -> int:
        """How many examples were learned from, over all passes; rows of importance 0 do not count."""
        with self._model_alone() as model:
            return model.examples

    @property
    def mistakes_(self) -> int:
        """How many examples were predicted wrongly before they were learned: with the average, where there is one."""
        with self._model_alone() as model:
            return model.mistakes

    @property
    def updates_(self) -> Any:
        """How many examples changed the weights (the k of the theorems); one number for each class of several."""
        with self._model_alone() as model:
            updates = model.updates
        return np.array(updates) if isinstance(updates, list) else updates

    @property
    def loss_(self) -> float:
        """The mean loss of the answers, each given before its example was learned from."""
        with self._model_alone() as model:
            return model.loss

    @property
    def history_(self) -> list[Mark]:
        """Loss and mistakes of the answers at 1, 2, 4, 8, ... examples and now; training from the second pass on."""
        with self._model_alone() as model:
            return model.marks()

    @property
    def t_(self) -> float:
        """One more than the number of examples learned from, as scikit-learn counts."""
        with self._model_alone() as model:
            return 1.0 + model.learner.counters.t

    @property
    def updates_per_pass_(self) -> list[int]:
        """Updates in each pass of the last ``fit``, of all classes; what ``partial_fit`` adds goes to the last."""
        with self._model_alone() as model:
            return [updates for updates, _ in model.passes()]

    @property
    def mistakes_per_pass_(self) -> list[int]:
        """Mistakes in each pass of the last ``fit``; what ``partial_fit`` adds goes to the last."""
        with self._model_alone() as model:
            return [mistakes for _, mistakes in model.passes()]

    # -------------------------------------------------------------- both sets of weights, under scikit-learn's names

    def _unaveraged_predictor(self) -> Predictor:
        model = self._averaging_model()
        return Predictor.of(model.learner, model.classes, averaged=False)

    def _averaging_model(self) -> Model:
        if not self.average or self._model is None:
            raise AttributeError("there is no average: set average=True and fit")
        return self._model

    @property
    def _standard_coef(self) -> Any:
        return self._unaveraged_predictor().weights

    @property
    def _standard_intercept(self) -> Any:
        return self._unaveraged_predictor().intercepts

    @property
    def _average_coef(self) -> Any:
        self._averaging_model()
        return self.coef_

    @property
    def _average_intercept(self) -> Any:
        self._averaging_model()
        return self.intercept_
