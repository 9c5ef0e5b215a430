"""Law 1: every example is scored before it is learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cases import Data, cut, loss_of
from covering import Case, every_case
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner


class Figures:
    """The losses and mistakes of one kind of weights: those that answer, or those that learn."""

    def __init__(self, learner: Learner, data: Data, loss: Any, averaged: bool) -> None:
        self.learner, self.data, self.loss, self.averaged = learner, data, loss, averaged
        self.suffered, self.mistakes = np.zeros(learner.outputs), 0

    def add(self, i: int) -> None:
        """Score row i with the weights as they are."""
        weights, intercepts = (read(averaged=self.averaged) for read in (self.learner.weights, self.learner.intercepts))
        scores, target = weights @ self.data.X[i] + intercepts, self.data.y[i]
        if self.data.classes:
            self.suffered += self.data.importance[i] * self.loss.value(scores, int(target))
            self.mistakes += scores.argmax() != target
        else:
            self.suffered += self.data.importance[i] * self.loss.value(scores[0], target)
            self.mistakes += target in (-1.0, 1.0) and (scores[0] > 0.0) != (target > 0.0)


@every_case
def test_losses_and_mistakes_are_of_answers_given_before_learning(case: Case) -> None:
    """With the averaged weights, where there are: those are what it would have answered."""
    data, loss = case.data(), loss_of(case.loss)
    for settings in case.settings():
        learner = case.learner(settings)
        batch = case.batch()
        learning = Figures(learner, data, loss, averaged=False)
        answering = Figures(learner, data, loss, averaged=True) if settings.average else learning
        importance, examples = 0.0, 0
        marks = {}
        found: list[Any] = []
        expected: list[Any] = []
        for i in range(len(batch)):
            if data.importance[i] > 0.0:
                learning.add(i)
                if answering is not learning:
                    answering.add(i)
                importance += data.importance[i]
                examples += 1
            learner.learn(cut(batch, i, i + 1))
            if examples & (examples - 1) == 0:
                marks[examples] = answering.suffered[0] / importance if importance else 0.0
            found.append((learner.counters.loss_sums.copy(), learner.counters.unaveraged_loss_sums.copy()))
            expected.append((answering.suffered.copy(), learning.suffered.copy()))
            assert learner.mistakes.sum() == answering.mistakes
            assert learner.counters.unaveraged_mistakes.sum() == learning.mistakes
            assert learner.examples == examples
        # the kernel sums its dot product in lanes: the score may differ in its last bits
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
        for mark in learner.marks(row_loss=True)[:-1]:
            assert mark.loss == pytest.approx(marks[mark.examples], rel=1e-11)
            assert not mark.training


def test_from_the_second_pass_on_losses_are_called_training_losses() -> None:
    case = Case("hinge", "perceptron", "dense", "float64", False)
    learner = case.learner(Settings())
    for _ in range(2):
        learner.start_pass()
        learner.learn(case.batch(case.data(plain=True)))
    labels = [(mark.examples, mark.training) for mark in learner.marks()]
    assert labels == [(n, n > 30) for n in (1, 2, 4, 8, 16, 32)] + [(60, True)]
