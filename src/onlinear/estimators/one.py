"""One example at a time: dict rows for every estimator.

``x`` is a dict of name to number, bool or string; a string is the category ``name=value``. The order of the keys does
not matter. Names are exact and grow, or are hashed to a table of fixed size (``bits``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from onlinear.batch import importance_of, numbers_of
from onlinear.classes import as_array
from onlinear.errors import BadInput, BadRow, OnlinearError, Refused, TooManyNames
from onlinear.estimators.checks import all_or_nothing, whole
from onlinear.features.names import ExactNames, HashedNames
from onlinear.learner import Learner
from onlinear.one_against_rest import answering, has_row_loss
from onlinear.rows import SparseRows
from onlinear.targets import Numbers

if TYPE_CHECKING:
    from onlinear.dictpath import DictPath

Names = ExactNames | HashedNames

#: features the table of a growing stream has room for at first
FIRST_FEATURES = 1024


class OneByOne:
    """``learn_one``, ``learn_many`` and ``predict_one`` for an estimator with a ``_learner``."""

    bits: int | None = None
    names_cap: int | None = None
    _labelled = False  # whether targets are labels
    _learner: Learner | None
    _path: DictPath | None = None
    _names: Names | None = None

    # -------------------------------------------------------------- the way

    def _way(self) -> DictPath:
        """The way of dict rows to the answers of the learner that is there: it may not be up to date to learn."""
        from onlinear.dictpath import DictPath  # whoever learns from arrays need not wait for it

        path = self._path
        if path is not None and path.learner is self._learner:
            return path
        if hasattr(self, "n_features_in_"):
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            self._names = ExactNames(list(names), cap=self.n_features_in_)
        assert self._learner is not None
        assert self._names is not None
        self._path = DictPath(self._learner, self._names, labels=self._labelled)
        self._classes_changed()
        return self._path

    def _learning_way(self) -> DictPath:
        """The way of dict rows into the learner that is there, up to date with the parameters, or into a new one."""
        path = self._path
        if path is not None and path.is_current and path.learner is self._learner:
            return path
        with whole(self):
            if self._learner is None:
                self._check_parameters(streaming=True)  # type: ignore[attr-defined]
                self._names = ExactNames(cap=self.names_cap) if self.bits is None else HashedNames(self.bits)
                features = FIRST_FEATURES if self.bits is None else self._names.size
                self._start(features, sparse=False, growing=True)  # type: ignore[attr-defined]
            else:
                self._check_parameters(streaming=True)  # type: ignore[attr-defined]
                self._renew_names()
                self._refresh(False)  # type: ignore[attr-defined]
            path = self._way()
            path.is_current = True
            self._classes_changed()
        return path

    def _renew_names(self) -> None:
        """Take a new cap of names; names that were hashed, or were not, stay so."""
        names = self._names
        if names is None or hasattr(self, "n_features_in_"):  # columns are what they are
            return
        bits = names.bits if isinstance(names, HashedNames) else None
        if bits != self.bits:
            raise Refused(
                f"bits cannot change from {bits} to {self.bits} while a model learns, since its weights are found by "
                "them: set it back, or learn from the beginning with a clone"
            )
        if isinstance(names, HashedNames) or names.cap == self.names_cap:
            return
        if self.names_cap is not None and self.names_cap < names.size:
            raise Refused(
                f"names_cap={self.names_cap}, and {names.size} names are known: give at least as many, or learn from "
                "the beginning with a clone"
            )
        names.cap = self.names_cap
        self._path = None  # it has a copy of the cap

    def _classes_changed(self) -> None:
        """Tell the way which output stands for which class."""
        assert self._path is not None
        self._path.set_classes(0, 0)

    def set_params(self, **params: Any) -> Any:
        """Set parameters, as scikit-learn does; what is learned from now on follows them."""
        super().set_params(**params)  # type: ignore[misc]
        self._path = None
        if self._learner is not None and params:
            self._settled = None
        return self

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        state = dict(state)
        state.pop("_path", None)  # addresses mean nothing elsewhere
        state.pop("_whole", None)  # nor does a lock
        return state

    @property
    def feature_names_(self) -> list[Hashable]:
        """The names of the features learned from dicts, in the order of ``coef_``'s columns."""
        if not isinstance(self._names, ExactNames):
            raise AttributeError("feature_names_ is there after learning from dicts with exact names")
        return self._names.names()

    def _learn_row(self, x: Mapping[Any, Any], target: float, importance: float) -> float:
        try:
            return self._learning_way().learn(x, target, importance)
        except TooManyNames as refusal:
            raise self._explained(refusal) from None

    def _explained(self, refusal: TooManyNames) -> OnlinearError:
        """A name too many is an unknown column where the model was fitted on columns."""
        return unknown_feature(refusal) if hasattr(self, "n_features_in_") else refusal

    def _read_many(self, rows: Any) -> SparseRows:
        """Dicts or a frame as sparse rows; the table has room for their names."""
        self._refuse_slim()  # type: ignore[attr-defined]
        path = self._learning_way()
        rows = records(rows)
        with path.learner.lock, path.learner.busy:
            try:
                starts, columns, values = path.names.register_many(rows)
            except TooManyNames as refusal:
                raise self._explained(refusal) from None
            path.make_room(0)
        if starts[-1] <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return SparseRows(starts, columns, values)

    def _known_features(self) -> int | None:
        """How many columns ``coef_`` has: the table of a growing stream has room for more."""
        growing = isinstance(self._names, ExactNames) and not hasattr(self, "n_features_in_")
        return self._names.size if growing else None  # type: ignore[union-attr]


def has_probabilities(self: Any) -> bool:
    """Whether the loss turns scores into probabilities."""
    loss = self._recipe_loss()
    if hasattr(loss, "link"):
        return True
    name = getattr(self, "loss", type(loss).__name__)
    raise AttributeError(f"probability estimates are not available for loss={name!r}")


class ClassifiesOne(OneByOne):
    """A classifier's dict rows."""

    _labelled = True

    def learn_one(self, x: Mapping[Any, Any], y: Hashable, importance: float = 1.0) -> Any:
        """Learn from one example; answer the score it had before.

        That is one number for up to two classes (positive for the second of ``classes_``), else an array in the order
        of ``classes_``. A label may be anything hashable, and new at any time.

        >>> from onlinear import OnlineClassifier
        >>> spam = OnlineClassifier()
        >>> spam.learn_one({"free": 1, "hour": "night"}, "spam")
        0.0
        >>> _ = spam.learn_one({"lunch": 1, "hour": "noon"}, "ham")
        >>> spam.predict_one({"free": 1})
        'spam'
        """
        path = self._path
        if path is None or importance != 1.0 or path.learner is not self._learner:
            return self._learn_unusual(x, y, importance)
        try:
            target = path.targets[y]
        except (KeyError, TypeError):
            return self._learn_unusual(x, y, importance)
        try:
            score = path.learn(x, target, 1.0)
        except TooManyNames as refusal:
            raise self._explained(refusal) from None
        return self._turn * score if self._turn else self._shown_score(path.last_scores())

    def _learn_unusual(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        """Learn an example with a new label, an importance or a class weight."""
        self._refuse_slim()  # type: ignore[attr-defined]
        with all_or_nothing(self):
            return self._learn_closely(x, y, importance)

    def _learn_closely(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        path = self._learning_way()
        check_importance(importance)
        if importance == 0.0:
            return self._shown_score(path.scores(x))
        try:
            code = self._classes.codes.get(y, -1)  # type: ignore[attr-defined]
        except TypeError:
            raise BadInput(f"the label {y!r} is not hashable: use a number, a string or a tuple") from None
        if code < 0:
            code = self._new_label(x, y)
        score = self._learn_row(x, float(code), importance * self._factor(code))
        if self.class_weight == "balanced":  # type: ignore[attr-defined]
            self._count(np.array([code]), np.ones(1), None, 1)  # type: ignore[attr-defined]
        return self._turn * score if self._turn else self._shown_score(path.last_scores())

    def _new_label(self, x: Any, label: Hashable) -> int:
        """Let a class appear; but first the row must be one that can be read."""
        self._classes.check_new([label])  # type: ignore[attr-defined]
        assert self._path is not None
        self._path.names.look_up(x)
        code: int = self._label_code(label)  # type: ignore[attr-defined]
        self._classes_changed()
        return code

    def _factor(self, code: int) -> float:
        """What class weights make of an importance of 1."""
        factors = self._stream_weights(np.array([code]), np.ones(1), None)  # type: ignore[attr-defined]
        return 1.0 if factors is None else float(factors[0])

    def _classes_changed(self) -> None:
        classes, path, learner = self._classes, self._path, self._learner  # type: ignore[attr-defined]
        assert path is not None
        assert learner is not None
        row_loss = has_row_loss(learner)
        several = row_loss or len(classes) > 2
        path.set_classes(0 if several else 1, answering(classes, row_loss))
        # labels whose examples need no second look
        plain = self.class_weight is None and path.is_current  # type: ignore[attr-defined]
        path.targets = {label: float(code) for label, code in classes.codes.items()} if plain else {}
        #: the sign that makes the first output's score that of the second of ``classes_``; 0 for several
        self._turn = 0.0 if several else 1.0
        if len(classes) == 2 and not several:
            self._pair = [classes.labels[code] for code in classes.order.tolist()]
            self._turn = 1.0 if classes.order[0] == 0 else -1.0

    def _shown_score(self, scores: np.ndarray) -> Any:
        return scores[self._classes.order] if self._turn == 0.0 else self._turn * float(scores[0])  # type: ignore[attr-defined]

    def learn_many(self, rows: Any, y: Sequence[Hashable], importance: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A bad row refuses them all before any weight moves.
        """
        labels = as_array(list(y))
        rows = records(rows)
        check_length(len(rows), len(labels))
        weights = importance_of(importance, len(labels))
        with all_or_nothing(self):
            self._learn_labels(self._read_many(rows), labels, weights)  # type: ignore[attr-defined]
            self._classes_changed()
        return self

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label with the highest score; None before the first example. Changes nothing."""
        if self._learner is None:
            return None
        path = self._path
        if path is None or path.learner is not self._learner:
            path = self._way()
        classes = self._classes  # type: ignore[attr-defined]
        if self._turn == 0.0:
            return classes.labels[self._best(path.scores(x))] if classes.labels else None
        if len(classes.labels) < 2:
            return classes.labels[0] if classes.labels else None
        return self._pair[self._turn * path.answer(x) > 0.0]

    def _best(self, scores: np.ndarray) -> int:
        order = self._classes.order  # type: ignore[attr-defined]
        return int(order[scores[order].argmax()])

    @available_if(has_probabilities)
    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """The probability of each class seen so far. Changes nothing."""
        if self._learner is None:
            return {}
        path = self._way()
        order = self._classes.order  # type: ignore[attr-defined]
        scores = path.scores(x)
        if self._turn == 0.0:
            chances = self._several_chances(scores[order])
        elif len(order) < 2:
            chances = np.ones(len(order))
        else:
            chance = self._recipe_loss().link(self._turn * float(scores[0]))  # type: ignore[attr-defined]
            chances = np.array([1.0 - chance, chance])
        labels = self._classes.labels  # type: ignore[attr-defined]
        return {labels[code]: chance for code, chance in zip(order.tolist(), chances.tolist(), strict=True)}

    def _several_chances(self, scores: np.ndarray) -> np.ndarray:
        loss = self._recipe_loss()  # type: ignore[attr-defined]
        if hasattr(loss, "slopes"):
            chances = np.empty(len(scores))
            loss.link(scores, chances)
            return chances
        chances = np.array([loss.link(score) for score in scores.tolist()])
        total = float(chances.sum())
        return chances / total if total > 0.0 else np.full(len(scores), 1.0 / len(scores))


class PredictsOne(OneByOne):
    """A regressor's dict rows."""

    def learn_one(self, x: Mapping[Any, Any], y: float, importance: float = 1.0) -> float:
        """Learn from one example; answer the score it had before.

        >>> from onlinear import OnlineRegressor
        >>> rent = OnlineRegressor()
        >>> rent.learn_one({"rooms": 3, "town": "Bern"}, 1900.0)
        0.0
        """
        target = float(y)
        if not math.isfinite(target):
            raise BadInput(f"the target is {target}: drop the example or mend it")
        path = self._path
        if path is not None and path.is_current and importance == 1.0 and path.learner is self._learner:
            try:
                return path.learn(x, target, 1.0)
            except TooManyNames as refusal:
                raise self._explained(refusal) from None
        check_importance(importance)
        with all_or_nothing(self):
            return self._learn_row(x, target, importance) if importance > 0.0 else self._learning_way().answer(x)

    def learn_many(self, rows: Any, y: Sequence[float], importance: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row."""
        rows = records(rows)
        targets = numbers_of(y, len(rows))
        weights = importance_of(importance, len(rows))
        with all_or_nothing(self):
            self._learn_batch(self._read_many(rows), Numbers(targets), weights)  # type: ignore[attr-defined]
        return self

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The score; 0 before the first example. Changes nothing."""
        return 0.0 if self._learner is None else self._way().answer(x)


def records(rows: Any) -> list[Any]:
    """A list of dicts: as it is, or from a frame of pandas or polars."""
    if hasattr(rows, "to_dicts"):
        return rows.to_dicts()
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return rows.to_dict("records")
    if isinstance(rows, Mapping):
        raise BadRow("one dict was given where a list of them is wanted: use learn_one, or put it into a list")
    return list(rows)


def check_length(rows: int, targets: int) -> None:
    if rows != targets:
        raise BadInput(f"there are {rows} rows and {targets} targets: give one target a row")


def check_importance(importance: float) -> None:
    if not 0.0 <= importance < math.inf:
        raise BadInput(f"the importance is {importance}: it must be a finite number, not negative; 0 ignores the row")


def unknown_feature(refusal: TooManyNames) -> BadRow:
    return BadRow(
        f"{refusal.args[0].partition(' would be')[0]} is unknown: the model was fitted on columns, and knows only "
        "those; leave the key out, or learn from dicts from the start"
    )
