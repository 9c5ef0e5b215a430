"""The one measurement on the test rows: error or distance with an interval, confusion, calibration, the worst rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onlinear.answers import Answers
from onlinear.selection.intervals import wilson
from onlinear.testing import LEAST_CHANCE
from onlinear.workflow.rows import Held

LEVEL = 0.95
#: of the normal distribution, for that level
DEVIATIONS = 1.959963984540054
BINS = 10
WORST = 10


def tested_classes(answers: Answers, rows: Held, codes: np.ndarray) -> dict[str, Any]:
    """How often a classifier is wrong about rows whose classes have these codes, in the order of its labels."""
    assert answers.labels is not None
    scores = answers.scores(rows.block())
    found = answers.codes(scores)
    wrong = int((found != codes).sum())
    confusion = np.zeros((len(answers.labels), len(answers.labels)), np.int64)
    np.add.at(confusion, (codes, found), 1)
    chances = answers.chances(scores) if answers.has_chances else None
    own = None if chances is None else chances[np.arange(len(codes)), codes]
    low, high = wilson(wrong, len(codes), LEVEL)
    return {
        "rows": len(codes),
        "error": wrong / len(codes),
        "rmse": None,
        "interval": [low, high],
        "level": LEVEL,
        "mistakes": wrong,
        "mean_absolute_error": None,
        "r2": None,
        "log_loss": None if own is None else float(-np.log(np.maximum(own, LEAST_CHANCE)).mean()),
        "confusion": {"labels": [str(label) for label in answers.labels], "counts": confusion.tolist()},
        "calibration": None if chances is None else calibration(chances, codes),
    }


def calibration(chances: np.ndarray, codes: np.ndarray) -> list[dict[str, Any]]:
    """Predicted chances against what came, in bins: of the second of two classes, or of whichever was predicted."""
    if chances.shape[1] == 2:
        predicted, came = chances[:, 1], codes == 1
    else:
        predicted, came = chances.max(axis=1), chances.argmax(axis=1) == codes
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


def tested_numbers(answers: Answers, rows: Held) -> dict[str, Any]:
    """How far predictions are from the numbers; the interval is that of the mean square, by its own spread."""
    distances = answers.scores(rows.block())[:, 0] - rows.labels
    squares = distances**2
    mean = float(squares.mean())
    around = DEVIATIONS * float(squares.std(ddof=1)) / math.sqrt(len(squares)) if len(squares) > 1 else mean
    spread = float(((rows.labels - rows.labels.mean()) ** 2).mean())
    return {
        "rows": len(squares),
        "error": None,
        "rmse": math.sqrt(mean),
        "interval": [math.sqrt(max(mean - around, 0.0)), math.sqrt(mean + around)],
        "level": LEVEL,
        "mistakes": None,
        "mean_absolute_error": float(np.abs(distances).mean()),
        "r2": 1.0 - mean / spread if spread > 0.0 else None,
        "log_loss": None,
        "confusion": None,
        "calibration": None,
    }


def worst_rows(answers: Answers, rows: Held, codes: np.ndarray | None) -> list[dict[str, Any]]:
    """The rows that the model got most wrong, without their cells."""
    scores = answers.scores(rows.block())
    if codes is None or answers.labels is None:
        distances = np.abs(scores[:, 0] - rows.labels)
        order = np.argsort(-distances, kind="stable")[:WORST]
        return [
            {
                "row": int(rows.numbers[i]) + 1,
                "label": float(rows.labels[i]),
                "predicted": float(scores[i, 0]),
                "chance": None,
                "score": float(scores[i, 0]),
            }
            for i in order.tolist()
        ]
    found = answers.codes(scores)
    chances = answers.chances(scores) if answers.has_chances else None
    badness = own_margin(scores, codes) if chances is None else chances[np.arange(len(codes)), codes]
    wrong = [i for i in np.argsort(badness, kind="stable").tolist() if found[i] != codes[i]][:WORST]
    return [
        {
            "row": int(rows.numbers[i]) + 1,
            "label": str(answers.labels[codes[i]]),
            "predicted": str(answers.labels[found[i]]),
            "chance": None if chances is None else float(badness[i]),
            "score": float(scores[i, 0]) if scores.shape[1] == 1 else None,
        }
        for i in wrong
    ]


def own_margin(scores: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """By how much each row is right: its class's score less that of the best other."""
    if scores.shape[1] == 1:
        return np.where(codes == 1, scores[:, 0], -scores[:, 0])
    own = scores[np.arange(len(codes)), codes]
    others = scores.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    return own - others.max(axis=1)
