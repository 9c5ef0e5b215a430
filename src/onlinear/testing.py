"""Figures of a test: how wrong a model is about rows it has not learned."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.answers import Answers
from onlinear.errors import BadInput
from onlinear.streams.blocks import Block, good_parts
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import OnBad, open_alike
from onlinear.training import plain
from onlinear.wholes import are_numbers, as_floats, missing_in

#: log loss takes no probability for less than this
LEAST_CHANCE = 1e-15


class ClassTest:
    """Error, log loss, area under the curve and confusion, weighted by importance.

    The scores of two classes are kept until the end, eight bytes a row: the area under the curve needs them all.
    """

    def __init__(self, answers: Answers) -> None:
        assert answers.labels is not None
        self.answers = answers
        self.labels = answers.labels
        self.codes = {label: code for code, label in enumerate(answers.labels)}
        self.confusion = np.zeros((len(self.labels), len(self.labels)))
        self.log_loss = 0.0
        self.examples = 0
        self.kept: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label the model does not know, and why."""
        for row, label in enumerate(block.labels.tolist()):
            if label != label:
                return row, "there is no label to compare with: label it, or use predict"
            if label not in self.codes:
                known = ", ".join(map(str, self.labels))
                return row, f"the label {plain(label)} is unknown to the model, which has learned {known}: mend it"
        return None

    def take(self, block: Block) -> None:
        scores = self.answers.scores(block)
        wanted = np.array([self.codes[label] for label in block.labels.tolist()], np.int64)
        np.add.at(self.confusion, (wanted, self.answers.codes(scores)), block.importance)
        self.examples += len(block)
        if self.answers.has_chances:
            chances = self.answers.chances(scores)[np.arange(len(wanted)), wanted]
            self.log_loss -= float((block.importance * np.log(np.maximum(chances, LEAST_CHANCE))).sum())
        if len(self.labels) == 2:
            self.kept.append((scores[:, 0], wanted == 1, block.importance))

    def figures(self) -> dict[str, Any]:
        total = self.confusion.sum()
        if not total > 0.0:
            raise BadInput("there are no examples to test on: give a file that has some")
        wrong = total - np.trace(self.confusion)
        counts = self.confusion if (self.confusion % 1.0).any() else self.confusion.astype(np.int64)
        return {
            "examples": self.examples,
            "error": float(wrong / total),
            "log_loss": self.log_loss / float(total) if self.answers.has_chances else None,
            "auc": area_under_curve(*map(np.concatenate, zip(*self.kept, strict=True))) if self.kept else None,
            "labels": self.labels,
            "confusion": counts.tolist(),
        }


class NumberTest:
    """Root mean squared and mean absolute error, weighted by importance."""

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.examples = 0
        self.importance = self.squares = self.sizes = 0.0

    def refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label is no number, and why."""
        if not are_numbers(block.labels):
            return 0, f"the label {block.labels[0]!r:.60} is no number, and the model predicts numbers: mend it"
        missing = np.flatnonzero(missing_in(block.labels))
        return (
            (int(missing[0]), "there is no label to compare with: label it, or use predict") if len(missing) else None
        )

    def take(self, block: Block) -> None:
        residuals = self.answers.scores(block)[:, 0] - as_floats(block.labels)
        self.examples += len(block)
        self.importance += float(block.importance.sum())
        self.squares += float((block.importance * residuals**2).sum())
        self.sizes += float((block.importance * np.abs(residuals)).sum())

    def figures(self) -> dict[str, Any]:
        if not self.importance > 0.0:
            raise BadInput("there are no examples to test on: give a file that has some")
        rmse, mae = (self.squares / self.importance) ** 0.5, self.sizes / self.importance
        return {"examples": self.examples, "rmse": rmse, "mae": mae}


def figures_of(answers: Answers, recipe: Recipe, files: list[str], on_bad: OnBad | None = None) -> dict[str, Any]:
    """The figures of a test on the rows of files."""
    test, stop_at_bad = fitting(answers), on_bad is None
    for block in open_alike(files, recipe.format).blocks(stop_at_bad):
        for part, bad in good_parts(block, test.refused):
            if len(part):
                part = recipe.apply(part, stop_at_bad)
                test.take(part)
            for line, text in part.bad + bad:
                if on_bad is None:
                    raise line
                on_bad(line, text)
    return test.figures()


def fitting(answers: Answers) -> ClassTest | NumberTest:
    """The test that fits what a model answers."""
    return NumberTest(answers) if answers.labels is None else ClassTest(answers)


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
