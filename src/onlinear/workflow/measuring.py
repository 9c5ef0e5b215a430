"""The one measurement on the test rows: error or distance with an interval, confusion, calibration, the worst rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onlinear.learning.predictor import Predictor
from onlinear.selection.intervals import wilson
from onlinear.workflow.parts import Parts
from onlinear.workflow.rows import RowsInMemory
from onlinear.workflow.testing import LEAST_CHANCE

LEVEL = 0.95
#: of the normal distribution, for that level
DEVIATIONS = 1.959963984540054
BINS = 10
WORST = 10


class JudgedClasses:
    """What a classifier says of rows whose classes have these codes, in the order of its labels."""

    def __init__(self, predictor: Predictor, rows: RowsInMemory, codes: np.ndarray) -> None:
        assert predictor.labels is not None
        self.labels = predictor.labels
        self.rows = rows
        self.codes = codes
        self.scores = predictor.scores(rows.block())
        self.decision = predictor.decision(self.scores)
        self.found = predictor.codes(self.scores)
        self.probabilities = predictor.probabilities(self.scores) if predictor.has_probabilities else None

    @property
    def own_probabilities(self) -> np.ndarray | None:
        """How likely each row's class was said to be."""
        return None if self.probabilities is None else self.probabilities[np.arange(len(self.codes)), self.codes]

    def figures(self) -> dict[str, Any]:
        """How often it is wrong, and how far its probabilities can be trusted."""
        wrong, rows, own = int((self.found != self.codes).sum()), len(self.codes), self.own_probabilities
        confusion = np.zeros((len(self.labels), len(self.labels)), np.int64)
        np.add.at(confusion, (self.codes, self.found), 1)
        low, high = wilson(wrong, rows, LEVEL)
        weight, by_weight = weighted_mean(self.found != self.codes, self.rows.importance)
        return {
            "rows": rows,
            "error": wrong / rows,
            "rmse": None,
            "weight_sum": weight,
            "weighted_error": by_weight,
            "weighted_rmse": None,
            "interval": [low, high],
            "level": LEVEL,
            "mistakes": wrong,
            "mean_absolute_error": None,
            "r2": None,
            "log_loss": None if own is None else float(-np.log(np.maximum(own, LEAST_CHANCE)).mean()),
            "confusion": {"labels": [str(label) for label in self.labels], "counts": confusion.tolist()},
            "calibration": None if self.probabilities is None else calibration(self.probabilities, self.codes),
        }

    def worst(self) -> list[dict[str, Any]]:
        """The rows that it got most wrong, without their cells."""
        own = self.own_probabilities
        badness = own_margin(self.scores, self.codes) if own is None else own
        order = np.argsort(badness, kind="stable").tolist()
        return [
            {
                "row": int(self.rows.numbers[i]) + 1,
                "label": str(self.labels[self.codes[i]]),
                "predicted": str(self.labels[self.found[i]]),
                "chance": None if own is None else float(own[i]),
                "score": float(self.decision[i]) if self.decision.ndim == 1 else None,
            }
            for i in [i for i in order if self.found[i] != self.codes[i]][:WORST]
        ]


class JudgedNumbers:
    """What a model of numbers says of rows."""

    def __init__(self, predictor: Predictor, rows: RowsInMemory) -> None:
        self.rows = rows
        self.predicted = predictor.scores(rows.block())[:, 0]
        self.distances = self.predicted - rows.labels

    def figures(self) -> dict[str, Any]:
        """How far predictions are from the numbers; the interval is that of the mean square, by its own spread."""
        squares, labels = self.distances**2, self.rows.labels
        mean = float(squares.mean())
        around = DEVIATIONS * float(squares.std(ddof=1)) / math.sqrt(len(squares)) if len(squares) > 1 else mean
        spread = float(((labels - labels.mean()) ** 2).mean())
        weight, by_weight = weighted_mean(squares, self.rows.importance)
        return {
            "rows": len(squares),
            "error": None,
            "rmse": math.sqrt(mean),
            "weight_sum": weight,
            "weighted_error": None,
            "weighted_rmse": None if by_weight is None else math.sqrt(by_weight),
            "interval": [math.sqrt(max(mean - around, 0.0)), math.sqrt(mean + around)],
            "level": LEVEL,
            "mistakes": None,
            "mean_absolute_error": float(np.abs(self.distances).mean()),
            "r2": 1.0 - mean / spread if spread > 0.0 else None,
            "log_loss": None,
            "confusion": None,
            "calibration": None,
        }

    def worst(self) -> list[dict[str, Any]]:
        """The rows that it got most wrong, without their cells."""
        order = np.argsort(-np.abs(self.distances), kind="stable")[:WORST]
        return [
            {
                "row": int(self.rows.numbers[i]) + 1,
                "label": float(self.rows.labels[i]),
                "predicted": float(self.predicted[i]),
                "chance": None,
                "score": float(self.predicted[i]),
            }
            for i in order.tolist()
        ]


Judged = JudgedClasses | JudgedNumbers


def judged_on(predictor: Predictor, parts: Parts) -> Judged:
    """What a model says of the test rows: asked once, for all that is to be told of it."""
    if parts.classes is None:
        return JudgedNumbers(predictor, parts.test)
    return JudgedClasses(predictor, parts.test, parts.wanted)


def weighted_mean(values: np.ndarray, importance: np.ndarray) -> tuple[float | None, float | None]:
    """The sum of weights, and the mean of values by them; None where all are 1, which say nothing, or 0."""
    if (importance == 1.0).all():
        return None, None
    weight = float(importance.sum())
    return weight, float((importance * values).sum()) / weight if weight > 0.0 else None


def calibration(probabilities: np.ndarray, codes: np.ndarray) -> list[dict[str, Any]]:
    """Predicted probability against what came, in bins: of the second of two classes, or of whichever was predicted."""
    if probabilities.shape[1] == 2:
        predicted, came = probabilities[:, 1], codes == 1
    else:
        predicted, came = probabilities.max(axis=1), probabilities.argmax(axis=1) == codes
    bins = np.minimum((predicted * BINS).astype(int), BINS - 1)
    return [
        {
            "predicted": float(predicted[bins == each].mean()),
            "observed": float(came[bins == each].mean()),
            "rows": int((bins == each).sum()),
        }
        for each in range(BINS)
        if (bins == each).any()
    ]


def own_margin(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """By how much each row is right: its class's score less that of the best other."""
    if scores.shape[1] == 1:
        return np.where(codes == 1, scores[:, 0], -scores[:, 0])
    own = scores[np.arange(len(codes)), codes]
    others = scores.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    return own - others.max(axis=1)
