"""Answers: what a trained model says about rows of a stream. Nothing is learned."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.features.blocks import Block
from onlinear.kernels.learn.scoring import score_rows
from onlinear.learning.model import Model
from onlinear.learning.one_against_rest import arranged


class Predictor:
    """The weights of a training as they are now, one column for two classes or a number, else one for each class."""

    def __init__(self, training: Model) -> None:
        learner, classes = training.learner, training.classes
        weights, intercepts = learner.freeze()
        if classes is None:
            self.labels: list[Hashable] | None = None
        else:
            self.labels = [classes.labels[code] for code in classes.order.tolist()]
            weights, intercepts = arranged(classes, learner, weights, intercepts)
        self.loss: Any = learner.losses[0]
        self.weights = np.ascontiguousarray(weights.T)
        self.intercepts = intercepts

    @property
    def has_chances(self) -> bool:
        """Whether scores stand for probabilities."""
        return self.labels is not None and hasattr(self.loss, "link")

    def scores(self, block: Block) -> np.ndarray:
        """The scores of a block's rows, one column an output."""
        scores = np.empty((len(block), len(self.intercepts)))
        rows = block.rows
        if isinstance(rows, SparseRows):
            score_rows(rows.starts, rows.columns, rows.values, self.weights, self.intercepts, scores)
            return scores
        return rows.values @ self.weights + self.intercepts

    def codes(self, scores: np.ndarray) -> np.ndarray:
        """Which of the labels has the highest score, the first of equals."""
        assert self.labels is not None
        if len(self.labels) == 2:
            return (scores[:, 0] > 0.0).astype(np.int64)
        return scores.argmax(axis=1) if len(self.labels) > 1 else np.zeros(len(scores), np.int64)

    def chances(self, scores: np.ndarray) -> np.ndarray:
        """The probability of each label."""
        assert self.labels is not None
        if len(self.labels) < 2 or not len(scores):
            return np.ones((len(scores), len(self.labels)))
        if hasattr(self.loss, "slopes"):
            if len(self.labels) == 2:
                scores = np.column_stack([np.zeros(len(scores)), scores[:, 0]])  # differences are all that counts
            return np.array([self._row_chances(row) for row in scores])
        chances = np.array([[self.loss.link(score) for score in row] for row in scores.tolist()])
        if len(self.labels) == 2:
            return np.column_stack([1.0 - chances[:, 0], chances[:, 0]])
        totals = chances.sum(axis=1, keepdims=True)
        return np.divide(chances, totals, out=np.full_like(chances, 1.0 / len(self.labels)), where=totals > 0.0)

    def _row_chances(self, scores: np.ndarray) -> np.ndarray:
        chances = np.empty(len(scores))
        self.loss.link(scores, chances)
        return chances
