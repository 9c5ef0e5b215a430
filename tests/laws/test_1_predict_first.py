"""Law 1: every example is scored before it is learned from."""

from __future__ import annotations

import numpy as np
import pytest

from cases import cut, loss_of
from covering import Case, every_case
from onlinear.learner import Learner, Settings


def scores_now(learner: Learner, x: np.ndarray) -> np.ndarray:
    """The scores of the weights as they are: averages are for predicting, not for learning."""
    return learner.weights(averaged=False) @ x + learner.intercepts(averaged=False)


@every_case
def test_losses_and_mistakes_are_of_scores_made_before_learning(case: Case) -> None:
    data, loss = case.data(), loss_of(case.loss)
    for settings in case.settings():
        learner = case.learner(settings)
        batch = case.batch()
        suffered, mistakes, importance, examples = np.zeros(learner.outputs), 0, 0.0, 0
        marks = {}
        for i in range(len(batch)):
            h = data.importance[i]
            if h > 0.0:
                scores = scores_now(learner, data.X[i])
                if data.classes:
                    suffered += h * loss.value(scores, int(data.y[i]))
                    mistakes += scores.argmax() != data.y[i]
                else:
                    suffered += h * loss.value(scores[0], data.y[i])
                    mistakes += data.y[i] in (-1.0, 1.0) and (scores[0] > 0.0) != (data.y[i] > 0.0)
                importance += h
                examples += 1
            learner.learn(cut(batch, i, i + 1))
            if examples & (examples - 1) == 0:
                marks[examples] = suffered[0] / importance if importance else 0.0
            # the kernel sums its dot product in lanes: the score may differ in its last bits
            np.testing.assert_allclose(learner.loss_sums, suffered, rtol=1e-11, atol=1e-12)
            assert learner.mistakes.sum() == mistakes
            assert learner.examples == examples
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
