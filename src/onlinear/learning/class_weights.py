"""Weights of classes: factors on the importance of their examples, given or balanced by the counts so far."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlinear.errors import BadInput
from onlinear.learning.classes import NUMBER, TEXT, Classes, kind_of_label


@dataclass
class ClassWeights:
    """``given`` is a dict from label to weight, "balanced" by the counts so far, or None.

    It is a factor on the importance of a class's rows, unless it is ``for_outputs``: then it acts on the class's own
    output, as scikit-learn does, where all classes are known.
    """

    given: Any = None
    for_outputs: bool = False
    counts: dict[Hashable, int] = field(default_factory=dict)  # examples of each class, if its weight depends on them

    def copy(self) -> ClassWeights:
        """The same, to count on its own."""
        return ClassWeights(self.given, self.for_outputs, dict(self.counts))

    def act_on_outputs(self, classes: Classes | None) -> bool:
        """Whether they act on each class's own output, not on the row."""
        closed = classes is not None and not classes.open
        return self.for_outputs and closed and self.given != "balanced"

    def importance_of(self, label: Hashable) -> float:
        """What the weight of a label's class makes of the importance of its rows."""
        if label not in self.given:
            check_kinds(self.given, label)
        return float(self.given.get(label, 1.0))

    def factors(self, classes: Classes, codes: np.ndarray, importance: np.ndarray, rows: range) -> np.ndarray | None:
        """The factor on the importance of each row; None where all are 1. For weights that are given."""
        if self.act_on_outputs(classes):
            return None
        if self.given != "balanced":
            table = np.array([self.importance_of(label) for label in classes.labels])
            return table[codes]
        return self._balance(classes, codes, importance, rows)

    def _balance(self, classes: Classes, codes: np.ndarray, importance: np.ndarray, rows: range) -> np.ndarray:
        """``examples / (classes * examples of this class)``, of those so far, the row itself included."""
        factors = np.ones(len(codes))
        counts = [self.counts.get(label, 0) for label in classes.labels]
        total = sum(counts)
        for row in rows:
            if importance[row] > 0.0:
                total += 1
                counts[codes[row]] += 1
                factors[row] = total / (len(counts) * counts[codes[row]])
        return factors

    def count(self, classes: Classes, codes: np.ndarray) -> None:
        """Count the examples of each class, which its weight depends on if they are balanced."""
        counts = np.bincount(codes, minlength=len(classes)).tolist()
        for label, count in zip(classes.labels, counts, strict=True):
            self.counts[label] = self.counts.get(label, 0) + count


def check_kinds(weights: dict[Hashable, Any], label: Hashable) -> None:
    """Refuse weights of which none can ever act, since they name numbers and the labels are text, or the reverse."""
    kinds = {kind_of_label(named) for named in weights}
    if kinds in ({TEXT}, {NUMBER}) and kind_of_label(label) in {TEXT, NUMBER} - kinds:
        raise BadInput(
            f"class_weight names {next(iter(weights))!r:.40}, which is {kinds.pop()}, and the label {label!r:.40} is "
            f"{kind_of_label(label)}: name the labels as they are"
        )
