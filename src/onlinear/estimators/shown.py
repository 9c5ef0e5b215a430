"""The weights as scikit-learn shows them: ``coef_`` and ``intercept_``, read from the learner when asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from onlinear.errors import BadInput, Refused
from onlinear.estimators.checks import whole
from onlinear.learning.learner import Frozen, Learner


class Snapshot(NamedTuple):
    """What was read of a learner at one of its versions, and the classes of that moment. Nothing in it changes."""

    learner: Learner
    version: int
    weights: np.ndarray
    intercepts: np.ndarray
    classes: np.ndarray | None  # as ``classes_`` has them; None for a regressor

    def scores(self, X: Any) -> np.ndarray:
        """``X w + b`` in double precision."""
        return linear(X, self.weights) + self.intercepts


class Shown:
    """What was last read, or assigned: an object of its own, so that a prediction leaves ``__dict__`` untouched."""

    def __init__(self) -> None:
        self.version = -1
        self.weights = np.zeros((0, 0))
        self.intercepts = np.zeros(0)
        self.by_hand = False  # someone has assigned coef_ or intercept_: they are here
        self.sparse = False  # sparsify() was called
        self.snapshot: Snapshot | None = None  # replaced as a whole: others may be reading it

    def __getstate__(self) -> dict[str, Any]:
        state = dict(vars(self if self.by_hand else Shown()), sparse=self.sparse)
        del state["snapshot"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.snapshot = None


class ShowsWeights:
    """``coef_``, ``intercept_``, ``sparsify``, ``densify`` and ``freeze`` for an estimator with a ``_learner``."""

    _path: Any
    _current: Any
    _settled: Any
    _shown: Shown
    _data_type: Any = np.float64
    _flat = False  # a regressor shows one row of weights as a vector

    @property
    def _learner(self) -> Learner | None:
        raise NotImplementedError

    def _arranged(self, weights: np.ndarray, intercepts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The learner's weights as they are shown: a row for each class, in the order of ``classes_``."""
        return weights, intercepts

    def _known_features(self) -> int | None:
        """How many columns ``coef_`` has; None for all of them."""
        return None

    def _classes_now(self) -> np.ndarray | None:
        """The classes as they are shown; None for a regressor."""
        return None

    def _now(self) -> Snapshot:
        """Weights, intercepts and classes as of a whole example; the same arrays until something is learned."""
        learner = self._learner
        if learner is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        snapshot = self._shown.snapshot
        if snapshot is not None and snapshot.learner is learner and snapshot.version == learner.version:
            return snapshot
        with whole(self):  # no class appears, and no other learner takes its place
            snapshot = self._shown.snapshot = self._read_now()
        return snapshot

    def _read_now(self) -> Snapshot:
        learner, shown = self._learner, self._shown
        assert learner is not None
        with learner.lock:  # no class appears
            version = learner.version
            if shown.by_hand:
                return Snapshot(learner, version, shown.weights, shown.intercepts, self._classes_now())
            weights, intercepts = learner._read(True)
            weights, intercepts = self._arranged(weights[:, : self._known_features()], intercepts)
            parts = np.ascontiguousarray(weights), np.ascontiguousarray(intercepts)
            return Snapshot(learner, version, *parts, self._classes_now())

    def _attribute(self, name: str) -> None:
        if self._learner is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r} before it is fitted")

    @property
    def coef_(self) -> Any:
        """The weights: a row for each class, one row for two classes, a vector for a regressor."""
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
            self._settled = self._path = self._current = None  # the next learning, or answer, has to look twice

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

    def freeze(self) -> Frozen:
        """Copies of weights and intercepts as of a whole example, which nothing will change."""
        check_is_fitted(self)
        now = self._now()
        weights, intercepts = now.weights.copy(), now.intercepts.copy()
        weights.flags.writeable = intercepts.flags.writeable = False
        return Frozen(weights, intercepts)


def linear(X: Any, weights: np.ndarray, block: int = 8192) -> np.ndarray:
    """``X w`` in double precision, a block of rows at a time."""
    if scipy.sparse.issparse(X) or X.dtype == np.float64 or len(X) <= block:
        return np.asarray(X @ weights.T)
    parts = [X[start : start + block] @ weights.T for start in range(0, len(X), block)]
    return np.concatenate(parts)
