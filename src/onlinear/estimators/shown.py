"""The weights as scikit-learn has them: ``coef_`` and ``intercept_``, of a snapshot taken when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from onlinear.errors import BadInput, Refused
from onlinear.estimators.checks import whole
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.learning.predictor import Predictor


class Shown:
    """What was last read, or assigned: an object of its own, so that a prediction leaves ``__dict__`` untouched."""

    def __init__(self) -> None:
        self.version = -1
        self.weights = np.zeros((0, 0))
        self.intercepts = np.zeros(0)
        self.by_hand = False  # someone has assigned coef_ or intercept_: they are here
        self.sparse = False  # sparsify() was called
        #: the learner, its version, and what was read of it: replaced as a whole, others may be reading it
        self.snapshot: tuple[Learner, int, Predictor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self if self.by_hand else Shown()), sparse=self.sparse)
        del state["snapshot"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.snapshot = None


class ShowsWeights:
    """``coef_``, ``intercept_``, ``sparsify``, ``densify`` and ``snapshot`` for an estimator with a ``_learner``."""

    _model: Model | None
    _learner: Any  # the model's; None before there is one
    _path: Any
    _learning_path: Any
    _settled: Any
    _shown: Shown
    _data_type: Any = np.float64
    _flat = False  # a regressor shows one row of weights as a vector

    def _now(self) -> Predictor:
        """What has been learned, as of a whole example; the same until something is learned."""
        learner = self._learner
        if learner is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        snapshot = self._shown.snapshot
        if snapshot is not None and snapshot[0] is learner and snapshot[1] == learner.version:
            return snapshot[2]
        with whole(self):  # no class appears, and no other learner takes its place
            model, shown = self._model, self._shown
            assert model is not None
            with model.learner.lock:
                shown.snapshot = model.learner, model.learner.version, self._read_now(model)
            return shown.snapshot[2]

    def _read_now(self, model: Model) -> Predictor:
        shown, learner = self._shown, model.learner
        if shown.by_hand:
            return Predictor.of_weights(shown.weights, shown.intercepts, learner.losses[0], model.classes, model.names)
        return model.snapshot()

    def _attribute(self, name: str) -> None:
        if self._learner is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r} before it is fitted")

    @property
    def coef_(self) -> Any:
        """The weights: a row for each class, one row for two classes, a vector for a regressor.

        The array is read-only: assign another to ``coef_`` to go on from other weights.
        """
        self._attribute("coef_")
        weights = self._as_shown(self._now().weights)
        return scipy.sparse.csr_matrix(weights) if self._shown.sparse else weights

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._attribute("coef_")
        self._shown.sparse = scipy.sparse.issparse(value)
        weights = value.toarray() if self._shown.sparse else np.asarray(value, dtype=np.float64)
        now = self._now()
        if weights.size != now.weights.size:
            raise BadInput(f"coef_ has the shape {self.coef_.shape}, and not {weights.shape}: give as many numbers")
        if not np.array_equal(now.weights.ravel(), weights.ravel()):
            self._assign(weights.reshape(now.weights.shape), now.intercepts)

    @property
    def intercept_(self) -> np.ndarray:
        """The intercepts, one for each row of ``coef_``."""
        self._attribute("intercept_")
        return self._now().intercepts.astype(self._data_type, copy=False)

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._attribute("intercept_")
        now, given = self._now(), np.asarray(value, dtype=np.float64)
        if given.shape not in ((), now.intercepts.shape):
            raise BadInput(
                f"intercept_ has the shape {now.intercepts.shape}, and not {given.shape}: give as many numbers"
            )
        intercepts = np.full(now.intercepts.shape, given)
        if not np.array_equal(now.intercepts, intercepts):
            self._assign(now.weights, intercepts)

    def _as_shown(self, weights: np.ndarray) -> np.ndarray:
        weights = weights.astype(self._data_type, copy=False)
        return weights.reshape(-1) if self._flat else weights

    def _assign(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        assert self._learner is not None
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise BadInput("coef_ or intercept_ would hold NaN or infinity: give finite numbers")
        with whole(self):
            shown = self._shown
            shown.weights, shown.intercepts = weights, intercepts
            shown.by_hand, shown.version = True, self._learner.version
            shown.snapshot = None
            self._settled = self._path = self._learning_path = None  # the next learning, or answer, has to look twice

    def _take_over(self) -> None:
        """Let the learner go on from weights that someone has assigned."""
        learner, shown = self._learner, self._shown
        assert learner is not None
        if learner.kind != "uniform" or len(shown.weights) != learner.outputs:
            raise Refused(
                "coef_ was assigned, but this learner keeps more than weights and cannot go on from them: "
                "call fit to start anew"
            )
        learner.restart_at(shown.weights, shown.intercepts)
        shown.by_hand = False

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
        return self._now()
