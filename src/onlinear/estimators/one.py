"""One example at a time: dict rows for every estimator.

``x`` is a dict of name to number, bool or string; a string is the category ``name=value``. The order of the keys does
not matter. Names are exact and grow, or are hashed to a table of fixed size (``bits``).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from onlinear.data.batch import importance_of, numbers_of, plain_number
from onlinear.data.masked import refuse_masked
from onlinear.data.rows import SparseRows
from onlinear.data.targets import Numbers
from onlinear.errors import BadInput, BadRow, OnlinearError, Refused, TooManyNames
from onlinear.estimators.checks import all_or_nothing, whole
from onlinear.features.names import ExactNames, HashedNames
from onlinear.learning.classes import as_array, check_hashable
from onlinear.learning.learner import Learner
from onlinear.learning.one_against_rest import Decoder, answering, decoder_of, has_row_loss
from onlinear.learning.predictor import probabilities_of
from onlinear.streams.sources import is_frame
from onlinear.streams.tables import check_different, names_in
from onlinear.system.interrupts import uninterrupted

if TYPE_CHECKING:
    from onlinear.learning.dict_calls import View
    from onlinear.learning.dict_path import DictPath

Names = ExactNames | HashedNames

#: the importance of an example that is given none: this very object needs no look
ONE = 1.0
#: the types of most numbers that are no floats
NUMBERS = frozenset([np.float64, np.float32, np.int64, np.int32, int, bool])

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

    def _way(self, is_current: bool = False) -> DictPath:
        """The way of dict rows to the answers of the learner that is there, with the classes of now.

        Unless that ``is_current``, it may not be up to date to learn. The caller holds the lock of the whole estimator.
        """
        from onlinear.learning.dict_path import DictPath  # whoever learns from arrays need not wait for it

        if self._shown.by_hand:  # type: ignore[attr-defined]
            self._take_over()  # type: ignore[attr-defined]
        path = self._path
        if path is None or path.learner is not self._learner:
            if hasattr(self, "n_features_in_"):
                names = getattr(self, "feature_names_in_", range(self.n_features_in_))
                self._names = ExactNames(list(names), cap=self.n_features_in_)
            assert self._learner is not None
            assert self._names is not None
            path = DictPath(self._learner, self._names, labels=self._labelled)
            path.is_current = is_current
            self._tell_classes(path)
            self._path = path
        elif is_current or not self._knows_classes(path):
            path.is_current = is_current or path.is_current
            self._tell_classes(path)
        return path

    def _learning_way(self, **start: Any) -> DictPath:
        """The way of dict rows into the learner that is there, up to date with the parameters, or into a new one.

        A new one is told how to ``start``. The caller holds the lock of the whole estimator.
        """
        self._notice_changes()
        path = self._path
        if path is not None and path.is_current and path.learner is self._learner:
            return self._way()
        self._refuse_slim()  # type: ignore[attr-defined]
        self._check_parameters(streaming=True)  # type: ignore[attr-defined]
        if self._learner is None:
            self._names = ExactNames(cap=self.names_cap) if self.bits is None else HashedNames(self.bits)
            features = FIRST_FEATURES if self.bits is None else self._names.size
            self._start(features, sparse=False, growing=True, **start)  # type: ignore[attr-defined]
        else:
            self._renew_names()
            self._refresh(False)  # type: ignore[attr-defined]
        self._weigh_stream()
        return self._way(is_current=True)

    def _notice_changes(self) -> None:
        """Take a parameter that was changed within for one that was set."""

    def _weigh_stream(self) -> None:
        """Set the weights that outputs have."""

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

    def _knows_classes(self, path: DictPath) -> bool:
        """Whether it was told of all classes there are."""
        return True

    def _tell_classes(self, path: DictPath) -> None:
        """Tell the way which output stands for which class."""
        path.set_classes(0, 0)

    def _fast_view(self) -> View | None:
        """The calls that answer without a lock; None where there is no way yet, or another learner."""
        path = self._path
        return path.view if path is not None and path.learner is self._learner else None

    def __getstate__(self) -> Any:
        with whole(self):
            given: Any = super().__getstate__()
            state = dict(given)
            for name in ("_path", "_whole"):  # addresses mean nothing elsewhere, nor does a lock
                state.pop(name, None)
            learner = self._learner
            if learner is not None:  # what is learned meanwhile stays out
                with learner.lock, learner.busy:
                    state["_learner"] = learner.copy_unlocked()
                    if self._names is not None:
                        state["_names"] = self._names.copy()
            return copied_containers(state)

    @property
    def feature_names_(self) -> list[Hashable]:
        """The names of the features learned from dicts, in the order of ``coef_``'s columns."""
        if not isinstance(self._names, ExactNames):
            raise AttributeError("feature_names_ is there after learning from dicts with exact names")
        return self._names.names()

    def _learn_row(self, path: DictPath, x: Mapping[Any, Any], target: float, importance: float) -> np.ndarray:
        """Learn a row that one compiled call alone could not; answer the scores of all outputs before."""
        try:
            return path.learn(x, target, importance)
        except TooManyNames as refusal:
            raise self._explained(refusal) from None

    def _explained(self, refusal: TooManyNames) -> OnlinearError:
        """A name too many is an unknown column where the model was fitted on columns."""
        return unknown_feature(refusal) if hasattr(self, "n_features_in_") else refusal

    def _read_many(self, rows: Any) -> SparseRows:
        """Dicts or a frame as sparse rows; the table has room for their names."""
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
    loss = self._answering_loss()
    if hasattr(loss, "link"):
        return True
    name = type(loss).__name__
    if type(self._recipe_loss()) is type(loss):
        name = getattr(self, "loss", name)
    raise AttributeError(f"probability estimates are not available for loss={name!r}")


class ClassifiesOne(OneByOne):
    """A classifier's dict rows."""

    _labelled = True

    def learn_one(self, x: Mapping[Any, Any], y: Hashable, importance: float = ONE) -> Any:
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
        if path is None or path.learner is not self._learner or (importance is not ONE and not is_one(importance)):
            return self._learn_unusual(x, y, importance)
        try:
            target = path.targets[y]
        except (KeyError, TypeError):
            return self._learn_unusual(x, y, importance)
        view = path.view
        decoder = view.decoder
        turn = decoder.turn
        if turn:
            learn = view.learn
            score = learn(view.place_at, id(x), target, 1.0)
            if score == score:
                return turn * score
        else:
            scores = view.learn_scores(x, target, 1.0)
            if scores is not None:
                return scores[decoder.order]
        return self._learn_whole(path, x, y)

    def _learn_whole(self, path: DictPath, x: Mapping[Any, Any], y: Hashable) -> Any:
        """Learn an example with a known label that one compiled call alone could not: no class may appear meanwhile."""
        with uninterrupted, whole(self):
            if path is not self._path or not self._knows_classes(path) or path.learner is not self._learner:
                return self._learn_unusual(x, y, 1.0)
            scores = self._learn_row(path, x, path.targets[y], 1.0)
            return path.view.decoder.shown(scores)

    def _learn_unusual(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        """Learn an example with a new label, an importance or a class weight."""
        with all_or_nothing(self):
            return self._learn_closely(x, y, importance)

    def _learn_closely(self, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
        path = self._learning_way()
        importance = checked_importance(importance)
        if importance == 0.0:
            return path.view.decoder.shown(path.scores(x))
        try:
            code = self._classes.codes.get(y, -1)  # type: ignore[attr-defined]
        except TypeError:
            raise BadInput(f"the label {y!r} is not hashable: use a number, a string or a tuple") from None
        if code < 0:
            code = self._new_label(path, x, y)
        scores = self._learn_row(path, x, float(code), importance * self._factor(code))
        if self.class_weight == "balanced":  # type: ignore[attr-defined]
            self._count(np.array([code]), np.ones(1), None, 1)  # type: ignore[attr-defined]
        return path.view.decoder.shown(scores)

    def _new_label(self, path: DictPath, x: Any, label: Hashable) -> int:
        """Let a class appear; but first the row must be one that can be read."""
        self._classes.check_new([label])  # type: ignore[attr-defined]
        path.names.look_up(x)
        code: int = self._label_code(label)  # type: ignore[attr-defined]
        self._tell_classes(path)
        return code

    def _factor(self, code: int) -> float:
        """What class weights make of an importance of 1."""
        factors = self._stream_weights(np.array([code]), np.ones(1), None)  # type: ignore[attr-defined]
        return 1.0 if factors is None else float(factors[0])

    def _knows_classes(self, path: DictPath) -> bool:
        return len(path.view.decoder.labels) == len(self._classes)  # type: ignore[attr-defined]

    def _tell_classes(self, path: DictPath) -> None:
        classes = self._classes  # type: ignore[attr-defined]
        row_loss = has_row_loss(path.learner)
        several = row_loss or len(classes) > 2
        path.set_classes(0 if several else 1, answering(classes, row_loss), decoder_of(classes, row_loss))
        # labels whose examples need no second look
        plain = self.class_weight is None and path.is_current  # type: ignore[attr-defined]
        path.targets = {label: float(code) for label, code in classes.codes.items()} if plain else {}

    def learn_many(self, rows: Any, y: Sequence[Hashable], importance: Any = None, classes: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A row of a frame is the dict of its cells, as they are; :func:`onlinear.open_stream` reads more into a table:
        blanks around a text do not count there, and a category that is a number is a name.

        A bad row refuses them all before any weight moves. ``classes`` are all labels there will ever be, as in
        ``partial_fit``: only needed in the first call, which may be one without rows.
        """
        labels = labels_in(y)
        rows = records(rows)
        check_length(len(rows), len(labels))
        weights = importance_of(importance, len(labels))
        with all_or_nothing(self):
            self._refuse_slim()  # type: ignore[attr-defined]
            first = self._learner is None
            self._learning_way(**({} if classes is None else {"classes": classes}))
            if classes is None or first:
                codes = self._checked_codes(labels, weights)  # type: ignore[attr-defined]
                read = self._read_many(rows)
            else:
                self._check_labels(classes, labels, weights)  # type: ignore[attr-defined]
                read = self._read_many(rows)
                self._name_classes(classes, read)  # type: ignore[attr-defined]
                self._weigh_stream()
                codes = self._checked_codes(labels, weights)  # type: ignore[attr-defined]
            self._learn_labels(read, labels, codes, weights)  # type: ignore[attr-defined]
            self._way()  # which may have classes to learn of
        return self

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """The label with the highest score; None before the first example. Changes nothing."""
        path = self._path
        if path is not None and path.learner is self._learner:
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
        if path is not None and path.learner is self._learner:
            view = path.view
            scores = view.scores(x)
            if scores is not None:
                return view.decoder, scores, path.loss
        with whole(self):
            if self._learner is None:
                return None, np.zeros(0), None
            path = self._way()
            return path.view.decoder, path.scores(x), path.loss

    @available_if(has_probabilities)
    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Hashable, float]:
        """The probability of each class seen so far. Changes nothing."""
        decoder, scores, loss = self._scores_one(x)
        if decoder is None:
            return {}
        found = probabilities_of(loss, len(decoder.labels), decoder.as_row(scores))
        return dict(zip(decoder.labels, found[0].tolist(), strict=True))


class PredictsOne(OneByOne):
    """A regressor's dict rows."""

    def learn_one(self, x: Mapping[Any, Any], y: float, importance: float = ONE) -> float:
        """Learn from one example; answer the score it had before.

        >>> from onlinear import OnlineRegressor
        >>> rent = OnlineRegressor()
        >>> rent.learn_one({"rooms": 3, "town": "Bern"}, 1900.0)
        0.0
        """
        kind = type(y)
        try:
            target = y if kind is float else float(y) if kind in NUMBERS else plain_number(y, "the target")
        except OverflowError:
            target = plain_number(y, "the target")  # which says so
        if target - target != 0.0:  # infinity or NaN: quicker than isfinite
            raise BadInput(f"the target is {target}: drop the example or mend it")
        path = self._path
        usual = importance is ONE or is_one(importance)
        if usual and path is not None and path.is_current and path.learner is self._learner:
            view = path.view
            score = view.learn(view.place_at, id(x), target, 1.0)
            return score if score == score else self._learn_whole(x, target)
        importance = checked_importance(importance)
        with all_or_nothing(self):
            path = self._learning_way()
            scores = self._learn_row(path, x, target, importance) if importance > 0.0 else path.scores(x)
            return float(scores[0])

    def _learn_whole(self, x: Mapping[Any, Any], target: float) -> float:
        with uninterrupted, whole(self):
            return float(self._learn_row(self._learning_way(), x, target, 1.0)[0])

    def learn_many(self, rows: Any, y: Any, importance: Any = None) -> Any:
        """Learn from a list of dicts or a frame: the same bits as ``learn_one`` row by row.

        A row of a frame is the dict of its cells, as they are; :func:`onlinear.open_stream` reads more into a table:
        blanks around a text do not count there, and a category that is a number is a name.
        """
        rows = records(rows)
        targets = numbers_of(y if isinstance(y, np.ndarray) else targets_in(y), len(rows))
        weights = importance_of(importance, len(rows))
        with all_or_nothing(self):
            self._learn_batch(self._read_many(rows), Numbers(targets), weights)  # type: ignore[attr-defined]
        return self

    def predict_one(self, x: Mapping[Any, Any]) -> float:
        """The score; 0 before the first example. Changes nothing."""
        view = self._fast_view()
        if view is not None:
            score = view.answer(view.place_at, id(x))
            if score == score:
                return score
        with whole(self):
            return 0.0 if self._learner is None else float(self._way().scores(x)[0])


def copied_containers(state: dict[str, Any]) -> dict[str, Any]:
    """The same attributes; lists, dicts and classes, to which learning adds, as copies."""
    state = {name: value.copy() if type(value) in (list, dict) else value for name, value in state.items()}
    if "_classes" in state:
        state["_classes"] = state["_classes"].copy()
    return state


def records(rows: Any) -> list[Any]:
    """A list of dicts: as it is, or from a frame of pandas or polars, or a table of Arrow."""
    if is_frame(rows):
        check_different(names_in(rows))
    if hasattr(rows, "to_dicts"):
        return rows.to_dicts()
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return rows.to_dict("records")
    if hasattr(rows, "to_pylist"):
        rows = rows.to_pylist()
    if isinstance(rows, Mapping):
        raise BadRow("one dict was given where a list of them is wanted: use learn_one, or put it into a list")
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes):
        raise BadInput(f"the rows are of type {type(rows).__name__}: give a list of dicts, or a frame")
    return list(rows)


def targets_in(y: Any) -> list[Any]:
    """The targets of many rows as a list; what has no order, or is no single column, is refused."""
    refuse_masked(y, "y")
    if hasattr(y, "to_pylist") and not hasattr(y, "columns"):  # of Arrow
        y = y.to_pylist()
    no_column = isinstance(y, str | bytes | Mapping | Set) or hasattr(y, "columns") or getattr(y, "ndim", 1) != 1
    if no_column or not isinstance(y, Iterable):
        shape = f" with the shape {y.shape}" if hasattr(y, "shape") else ""
        raise BadInput(f"the targets are of type {type(y).__name__}{shape}: give a list or a column, one target a row")
    return list(y)


def labels_in(y: Any) -> np.ndarray:
    """The labels of many rows as an array; one that cannot be a label is refused with its row."""
    labels = targets_in(y)
    check_hashable(labels)
    return as_array(labels)


def check_length(rows: int, targets: int) -> None:
    if rows != targets:
        raise BadInput(f"there are {rows} rows and {targets} targets: give one target a row")


def is_one(importance: Any) -> bool:
    """Whether an importance that was given is 1; an array is no number, whatever it holds."""
    return isinstance(importance, float | int) and importance == 1.0


def checked_importance(importance: Any) -> float:
    """An importance as a float."""
    number = plain_number(importance, "the importance")
    if not 0.0 <= number < math.inf:
        raise BadInput(f"the importance is {importance}: it must be a finite number, not negative; 0 ignores the row")
    return number


def unknown_feature(refusal: TooManyNames) -> BadRow:
    return BadRow(
        f"{refusal.args[0].partition(' would be')[0]} is unknown: the model was fitted on columns, and knows only "
        "those; leave the key out, or learn from dicts from the start"
    )
