"""Class weights: on a class's own output, as scikit-learn has it, or on the importance of its rows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from onlinear.errors import BadInput
from onlinear.kernels.learn.state import NEGATIVE, POSITIVE
from onlinear.learning.classes import NUMBER, TEXT, Classes, kind_of_label
from onlinear.learning.learner import Learner
from onlinear.parameters import NOT_NEGATIVE


class WeighsClasses:
    """What ``class_weight`` does: a dict from label to weight, or "balanced" by the counts so far."""

    class_weight: Any = None
    _learner: Learner | None
    _classes: Classes
    _counts: dict[Hashable, int]
    _weighs_outputs = False  # as scikit-learn does: a class's weight acts on that class's own output
    _settled_weights: dict[Hashable, Any] | None = None  # what a dict held when the learner was brought up to date
    _settled: Any
    _path: Any

    def _check_parameters(self, streaming: bool) -> None:
        super()._check_parameters(streaming)  # type: ignore[misc]
        if isinstance(self.class_weight, dict):
            check_class_weights(self.class_weight)

    def _settle(self, sparse: bool) -> None:
        super()._settle(sparse)  # type: ignore[misc]
        if isinstance(self.class_weight, dict):
            self._settled_weights = dict(self.class_weight)
        else:
            vars(self).pop("_settled_weights", None)

    def _notice_changes(self) -> None:
        """Take a dict of weights that was changed within for one that was set."""
        if self._settled_weights is not None and self._settled_weights != self.class_weight:
            self._settled = self._path = None

    def _by_output(self) -> bool:
        """Whether class weights act on each class's own output, not on the row."""
        return self._weighs_outputs and not self._classes.open and self.class_weight != "balanced"

    def _class_importance(self, label: Hashable) -> float:
        """What a class's weight makes of the importance of its rows."""
        if isinstance(self.class_weight, dict) and not self._by_output():
            if label not in self.class_weight:
                check_kinds(self.class_weight, label)
            return float(self.class_weight.get(label, 1.0))
        return 1.0

    def _weigh_stream(self) -> None:
        """Set the class weights that act on outputs, for rows of a stream."""
        learner = self._learner
        assert learner is not None
        with learner.lock:
            learner.clock[:, [POSITIVE, NEGATIVE]] = 1.0
            if self.class_weight is not None and self._by_output():
                weights = compute_class_weight(self.class_weight, classes=self._classes.sorted, y=self._classes.sorted)
                self._weigh_outputs(learner, weights)

    def _weigh_outputs(self, learner: Learner, weights: np.ndarray) -> None:
        if learner.outputs == 1:
            learner.clock[:, NEGATIVE], learner.clock[:, POSITIVE] = weights
        else:
            learner.clock[:, POSITIVE] = weights

    def _stream_weights(self, codes: np.ndarray, importance: np.ndarray, order: np.ndarray | None) -> np.ndarray | None:
        """The factor on the importance of each row; None where all are 1."""
        if self.class_weight is None or self._by_output():
            return None
        if self.class_weight != "balanced":
            table = np.array([self._class_importance(label) for label in self._classes.labels])
            return table[codes]
        return self._balance(codes, importance, order)

    def _balance(self, codes: np.ndarray, importance: np.ndarray, order: np.ndarray | None) -> np.ndarray:
        """``examples / (classes * examples of this class)``, of those so far, the row itself included."""
        factors = np.ones(len(codes))
        counts = [self._counts.get(label, 0) for label in self._classes.labels]
        total = sum(counts)
        for row in range(len(codes)) if order is None else order.tolist():
            if importance[row] > 0.0:
                total += 1
                counts[codes[row]] += 1
                factors[row] = total / (len(counts) * counts[codes[row]])
        return factors

    def _count(self, codes: np.ndarray, importance: np.ndarray, order: np.ndarray | None, learned: int) -> None:
        rows = np.arange(len(codes)) if order is None else order
        done = rows[importance[rows] > 0.0][:learned]
        for label, count in zip(
            self._classes.labels,
            np.bincount(codes[done], minlength=len(self._classes)).tolist(),
            strict=True,
        ):
            self._counts[label] = self._counts.get(label, 0) + count


def check_kinds(weights: dict[Hashable, Any], label: Hashable) -> None:
    """Refuse weights of which none can ever act, since they name numbers and the labels are text, or the reverse."""
    kinds = {kind_of_label(named) for named in weights}
    if kinds in ({TEXT}, {NUMBER}) and kind_of_label(label) in {TEXT, NUMBER} - kinds:
        raise BadInput(
            f"class_weight names {next(iter(weights))!r:.40}, which is {kinds.pop()}, and the label {label!r:.40} is "
            f"{kind_of_label(label)}: name the labels as they are"
        )


def check_class_weights(weights: dict[Hashable, Any]) -> None:
    """Refuse weights by which rows would be learned backwards, or not at all."""
    for label, weight in weights.items():
        if weight not in NOT_NEGATIVE:
            raise BadInput(f"class_weight is {weight!r:.40} for the class {label!r:.40}: give {NOT_NEGATIVE.words}")
