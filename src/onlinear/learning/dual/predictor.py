"""DualPredictor: what perceptrons in dual form have learned so far, for answers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.features.blocks import Block
from onlinear.learning.predictor import Answers
from onlinear.losses import Perceptron

if TYPE_CHECKING:
    from onlinear.learning.dual.model import DualModel


class DualPredictor(Answers):
    """A snapshot of a model in dual form, which takes the model over, and answers by its vote.

    ``scores`` have one column for two classes, else one for each class; they are no probabilities.
    """

    loss = Perceptron()

    def __init__(self, model: DualModel) -> None:
        self._model = model
        self._take_labels(model.classes)

    @property
    def outputs(self) -> int:
        return len(self._model.outputs())

    def scores(self, rows: Any) -> np.ndarray:
        """The scores of the rows of a block, or of a table as wide as what was learned."""
        if not isinstance(rows, Block):
            return self._model.scores(rows, self._model.vote)
        table = self._model.table_of(rows.rows)
        row, error = self._model.first_beyond(table, np.zeros(len(rows)))
        if error is not None:
            raise rows.origin.error(row, str(error))
        return self._model.scores(table, self._model.vote)
