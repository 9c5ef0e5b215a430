"""How a model learns from dicts: by one compiled call where that is enough, and otherwise step by step.

The fast way is :class:`onlinear.learning.dict_path.DictPath`, which knows the learner, the names and which output
stands for which class. A new label or name, an importance or a class weight takes the slow way, which ends in the same
calls.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.data.batch import plain_number
from onlinear.data.rows import SparseRows
from onlinear.errors import BadInput, BadRow, OnlinearError, Refused, TooManyNames
from onlinear.features.names import ExactNames, HashedNames, Names
from onlinear.learning.classes import as_array
from onlinear.learning.outputs import check_new_labels, count_answering, decoder_of, has_row_loss
from onlinear.system.interrupts import uninterrupted

if TYPE_CHECKING:
    from onlinear.learning.dict_path import DictPath
    from onlinear.learning.model import Model

#: the importance of an example that is given none: this very object needs no look
ONE = 1.0
#: the importance of one row alone
ONE_ROW = np.ones(1)
#: the types of most numbers that are no floats
NUMBERS = frozenset([np.float64, np.float32, np.int64, np.int32, int, bool])


# A model and the estimator that holds it have the two functions that follow in common: one call less for each row.


def learn_label(self: Any, x: Mapping[Any, Any], y: Hashable, importance: float = ONE) -> Any:
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
    path = self._learning_path
    if path is None or (importance is not ONE and not is_one(importance)):
        return self._learn_label_slowly(x, y, importance)
    try:
        target = path.targets[y]
    except (KeyError, TypeError):
        return self._learn_label_slowly(x, y, importance)
    view = path.view
    decoder = view.decoder
    turn = decoder.turn
    if turn:
        score = view.learn(view.place_at, id(x), target, 1.0)  # NaN if that is not enough
        if score == score:
            return turn * score
    else:
        scores = view.learn_scores(x, target, 1.0)
        if scores is not None:
            return scores[decoder.order]
    return self._learn_label_slowly(x, y, importance)


def learn_number(self: Any, x: Mapping[Any, Any], y: float, importance: float = ONE) -> float:
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
    path = self._learning_path
    if path is not None and (importance is ONE or is_one(importance)):
        view = path.view
        score: float = view.learn(view.place_at, id(x), target, 1.0)
        if score == score:
            return score
    answer: float = self._learn_number_slowly(x, target, importance)
    return answer


# ------------------------------------------------------------------ step by step


def learn_label_slowly(model: Model, x: Mapping[Any, Any], y: Hashable, importance: float) -> Any:
    """Learn an example with a new label or name, an importance or a class weight."""
    assert model.classes is not None
    with uninterrupted, model.learner.lock:
        path = dict_path(model)
        importance = checked_importance(importance)
        if importance == 0.0:
            return path.view.decoder.in_order(path.scores(x))
        code = find_code(model, path, x, y)
        weights, codes = model.class_weights, np.array([code])
        if weights.given is not None:
            factors = weights.factors(model.classes, codes, ONE_ROW, range(1))
            importance *= 1.0 if factors is None else float(factors[0])
        scores = learn_dict(model, path, x, float(code), importance)
        if weights.given == "balanced":
            weights.count(model.classes, codes)
        return path.view.decoder.in_order(scores)


def find_code(model: Model, path: DictPath, x: Any, label: Hashable) -> int:
    """The code of a label; if it is new, its class appears."""
    assert model.classes is not None
    try:
        return model.classes.codes[label]
    except (KeyError, TypeError):  # new, or not hashable
        return add_label(model, path, x, label)


def add_label(model: Model, path: DictPath, x: Any, label: Hashable) -> int:
    """Let a class appear, if the label can be one; but first the row must be one that can be read."""
    assert model.classes is not None
    model.classes.checked_code(label)
    path.names.look_up(x)
    check_new_labels(model.classes, model.learner, as_array([label]), ONE_ROW)
    code = model.add_class(label)
    tell_classes(model, path)
    return code


def learn_number_slowly(model: Model, x: Mapping[Any, Any], target: float, importance: float) -> float:
    """Learn an example of a regression with a new name, or an importance."""
    importance = checked_importance(importance)
    with uninterrupted, model.learner.lock:
        path = dict_path(model)
        scores = learn_dict(model, path, x, target, importance) if importance > 0.0 else path.scores(x)
        return float(scores[0])


def learn_dict(model: Model, path: DictPath, x: Mapping[Any, Any], target: float, importance: float) -> np.ndarray:
    """Learn a row that one compiled call alone could not; answer the scores of all outputs before."""
    try:
        return path.learn(x, target, importance)
    except TooManyNames as refusal:
        raise explain_refusal(model, refusal) from None


def read_dicts(model: Model, rows: Sequence[Mapping[Any, Any]]) -> SparseRows:
    """Dicts as sparse rows; the table has room for their names."""
    path = dict_path(model)
    with model.alone():
        try:
            starts, columns, values = path.names.register_many(rows)
        except TooManyNames as refusal:
            raise explain_refusal(model, refusal) from None
        path.make_room(0)
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)
    return SparseRows(starts, columns, values)


def explain_refusal(model: Model, refusal: TooManyNames) -> OnlinearError:
    """A name too many is an unknown column where the model was fitted on columns."""
    return refusal if model.columns is None else unknown_feature(refusal)


def unknown_feature(refusal: TooManyNames) -> BadRow:
    return BadRow(
        f"{refusal.args[0].partition(' would be')[0]} is unknown: the model was fitted on columns, and knows only "
        "those; leave the key out, or learn from dicts from the start"
    )


def is_one(importance: Any) -> bool:
    """Whether an importance that was given is 1; an array is no number, whatever it holds."""
    return isinstance(importance, float | int) and importance == 1.0


def checked_importance(importance: Any) -> float:
    """An importance as a float."""
    if importance is ONE:
        return ONE
    number = plain_number(importance, "the importance")
    if not 0.0 <= number < math.inf:
        raise BadInput(f"the importance is {importance}: it must be a finite number, not negative; 0 ignores the row")
    return number


# ------------------------------------------------------------------ the way to the learner


def dict_path(model: Model) -> DictPath:
    """The way of dicts to the learner, with the classes of now. Nobody else changes the model meanwhile."""
    from onlinear.learning.dict_path import DictPath  # whoever learns from arrays need not wait for it

    path = model._learning_path
    if path is None:
        path = DictPath(model.learner, names_of_dicts(model), labels=model.classes is not None)
        tell_classes(model, path)
        model._learning_path = path
    elif model.classes is not None:
        weights_are_known = path.are_weighed is (model.class_weights.given is not None)
        if not weights_are_known or len(path.view.decoder.labels) != len(model.classes.labels):
            tell_classes(model, path)
    return path


def names_of_dicts(model: Model) -> Names:
    if model.columns is not None:
        names = range(model.columns) if model.column_names is None else model.column_names
        model.names = ExactNames(list(names), cap=model.columns)
    elif model.names is None:
        model.names = ExactNames() if model.bits is None else HashedNames(model.bits)
    return model.names


def tell_classes(model: Model, path: DictPath) -> None:
    """Tell the way of dicts which output stands for which class."""
    classes = model.classes
    if classes is None:
        path.set_classes(0, 0)
        return
    row_loss = has_row_loss(model.learner)
    several = row_loss or len(classes) > 2
    path.set_classes(0 if several else 1, count_answering(classes, row_loss), decoder_of(classes, row_loss))
    path.are_weighed = model.class_weights.given is not None
    # labels whose examples need no second look
    quick = {} if path.are_weighed else classes.codes
    path.targets = {label: float(code) for label, code in quick.items()}


def cap_names(model: Model, cap: int | None) -> None:
    """Take another cap of names."""
    names = model.names
    if not isinstance(names, ExactNames) or names.cap == cap:
        return
    if cap is not None and cap < names.size:
        raise Refused(
            f"names_cap={cap}, and {names.size} names are known: give at least as many, or learn from "
            "the beginning with a clone"
        )
    names.cap = cap
    model._learning_path = None  # it has a copy of the cap
