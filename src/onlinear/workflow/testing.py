"""Figures of a test: how wrong a model is about rows it has not learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.data.whole_numbers import are_numbers, as_floats, missing_in
from onlinear.errors import BadInput
from onlinear.features.blocks import Block
from onlinear.learning.classes import whole_to_int
from onlinear.learning.predictor import Answers
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import OnBad, open_alike

#: log loss takes no probability for less than this
LEAST_CHANCE = 1e-15


NO_EXAMPLES = "there are no examples to test on: give a file that has some"


class ClassTest:
    """Error, log loss, area under the curve and confusion: all rows count alike; and, where rows have weights, the same
    by their weights.

    The scores of two classes are kept until the end, eight bytes a row: the area under the curve needs them all.
    """

    def __init__(self, predictor: Answers) -> None:
        assert predictor.labels is not None
        self.predictor = predictor
        self.labels = predictor.labels
        self.codes = {label: code for code, label in enumerate(predictor.labels)}
        self.confusion = np.zeros((len(self.labels), len(self.labels)), np.int64)
        self.importance = Importance()
        self.sums = {"error": Sums(), "log_loss": Sums()}
        self.kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def find_refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label the model does not know, and why."""
        for row, label in enumerate(block.labels.tolist()):
            if label != label:
                return row, "there is no label to compare with: label it, or use predict"
            if label not in self.codes:
                known = ", ".join(map(str, self.labels))
                name = whole_to_int(label)
                return row, f"the label {name} is unknown to the model, which has learned {known}: mend it"
        return None

    def take(self, block: Block) -> None:
        scores = self.predictor.scores(block)
        wanted = np.array([self.codes[label] for label in block.labels.tolist()], np.int64)
        found = self.predictor.codes(scores)
        np.add.at(self.confusion, (wanted, found), 1)
        self.importance.add(block.importance)
        self.sums["error"].add(wanted != found, block.importance)
        if self.predictor.has_probabilities:
            own = self.predictor.probabilities(scores)[np.arange(len(wanted)), wanted]
            self.sums["log_loss"].add(-np.log(np.maximum(own, LEAST_CHANCE)), block.importance)
        if len(self.labels) == 2:
            self.kept.append((self.predictor.decision(scores), wanted == 1, block.importance))

    def figures(self) -> dict[str, Any]:
        importance, sums = self.importance, self.sums
        means = importance.means(sums)
        log_loss = means["log_loss"] if self.predictor.has_probabilities else None
        found: dict[str, Any] = {
            "examples": importance.rows,
            "error": means["error"],
            "log_loss": log_loss,
            "auc": self._auc(False),
        }
        found |= {"labels": self.labels, "confusion": self.confusion.tolist()}
        if not importance.is_weighted:
            return found
        weighted = importance.weighted_means(sums) | {"weighted_auc": self._auc(True)}
        if log_loss is None:
            weighted["weighted_log_loss"] = None
        return found | weighted

    def _auc(self, weighted: bool) -> float | None:
        if not self.kept:
            return None
        scores, positive, importance = map(np.concatenate, zip(*self.kept, strict=True))
        return area_under_curve(scores, positive, importance if weighted else np.ones(len(scores)))


class NumberTest:
    """Root mean squared and mean absolute error: all rows count alike; and, where rows have weights, by these."""

    def __init__(self, predictor: Answers) -> None:
        self.predictor = predictor
        self.importance = Importance()
        self.sums = {"rmse": Sums(), "mae": Sums()}

    def find_refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label is no number, and why."""
        if not are_numbers(block.labels):
            return 0, f"the label {block.labels[0]!r:.60} is no number, and the model predicts numbers: mend it"
        missing = np.flatnonzero(missing_in(block.labels))
        return (
            (int(missing[0]), "there is no label to compare with: label it, or use predict") if len(missing) else None
        )

    def take(self, block: Block) -> None:
        residuals = self.predictor.scores(block)[:, 0] - as_floats(block.labels)
        self.importance.add(block.importance)
        self.sums["rmse"].add(residuals**2, block.importance)
        self.sums["mae"].add(np.abs(residuals), block.importance)

    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = {"examples": self.importance.rows, **self.importance.means(self.sums)}
        if self.importance.is_weighted:
            found |= self.importance.weighted_means(self.sums)
        return found | {name: mean**0.5 for name, mean in found.items() if name.endswith("rmse") and mean is not None}


class Sums:
    """A figure of rows, summed up as it is and by the weights of the rows."""

    def __init__(self) -> None:
        self.plain = self.weighted = 0.0

    def add(self, values: np.ndarray, importance: np.ndarray) -> None:
        self.plain += float(values.sum())
        self.weighted += float((importance * values).sum())


class Importance:
    """How many rows there are, and what they weigh together."""

    def __init__(self) -> None:
        self.rows, self.weight, self.is_weighted = 0, 0.0, False

    def add(self, importance: np.ndarray) -> None:
        self.rows += len(importance)
        self.weight += float(importance.sum())
        self.is_weighted = self.is_weighted or bool((importance != 1.0).any())

    def means(self, sums: dict[str, Sums]) -> dict[str, float]:
        """Of figures by their names, where all rows count alike."""
        if not self.rows:
            raise BadInput(NO_EXAMPLES)
        return {name: each.plain / self.rows for name, each in sums.items()}

    def weighted_means(self, sums: dict[str, Sums]) -> dict[str, float | None]:
        """The same by weights, with the sum of these; None where all are 0."""
        some = self.weight > 0.0
        means = {f"weighted_{name}": each.weighted / self.weight if some else None for name, each in sums.items()}
        return {"weight_sum": self.weight, **means}


def figures_of(predictor: Answers, recipe: Recipe, files: list[str], on_bad: OnBad | None = None) -> dict[str, Any]:
    """The figures of a test on the rows of files."""
    test = fitting(predictor)
    for block in open_alike(files, recipe.format, on_bad=on_bad, recipe=recipe).as_known(test.find_refused):
        test.take(block)
    return test.figures()


def fitting(predictor: Answers) -> ClassTest | NumberTest:
    """The test that fits what a model answers."""
    return NumberTest(predictor) if predictor.labels is None else ClassTest(predictor)


def area_under_curve(scores: np.ndarray, positive: np.ndarray, importance: np.ndarray) -> float | None:
    """The chance that a positive example scores higher than a negative one, ties counted half; None without both.

    >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]), np.ones(4))
    0.875
    """
    order = np.argsort(scores, kind="stable")
    _, groups = np.unique(scores[order], return_inverse=True)
    weights, positive = importance[order], positive[order]
    above = np.bincount(groups, weights * positive)
    below = np.bincount(groups, weights * ~positive)
    pairs = above.sum() * below.sum()
    if not pairs > 0.0:
        return None
    return float((above * (np.cumsum(below) - 0.5 * below)).sum() / pairs)
