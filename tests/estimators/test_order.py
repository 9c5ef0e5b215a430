"""In which order ``fit`` goes over its rows, if nobody says: as they come once, and shuffled more often."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

import onlinear
from theory.test_replay import believed
from theory.test_verify import rows_of

X, Y = load_iris(return_X_y=True)  # sorted by class
PERCEPTRON = {"loss": "perceptron", "rule": "perceptron"}

SEVERAL = [
    lambda **how: onlinear.OnlineClassifier(max_iter=20, **how),
    lambda **how: onlinear.SecondOrderPerceptron(**how),
    lambda **how: onlinear.AROWClassifier(max_iter=5, **how),
    lambda **how: onlinear.KernelPerceptron("poly", degree=2, **how),
    lambda **how: onlinear.VotedPerceptron(max_iter=10, **how),
]


def scores(model: Any) -> np.ndarray:
    found: np.ndarray = model.decision_function(X)
    return found


def fitted(model: Any, y: Any = Y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize("make", SEVERAL)
def test_several_passes_are_shuffled_by_a_seed(make: Any) -> None:
    model = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y)
    assert not [each for each in caught if "come in runs" in str(each.message)]
    assert (
        scores(model).tobytes() == scores(fitted(make())).tobytes() == scores(fitted(make(order="shuffle"))).tobytes()
    )
    assert scores(model).tobytes() != scores(fitted(make(random_state=1))).tobytes()
    assert model.get_params()["order"] is None


def test_rows_that_are_sorted_by_their_labels_are_learned() -> None:
    for model in (onlinear.OnlineClassifier(max_iter=20), onlinear.KernelPerceptron("poly", degree=2)):
        assert fitted(model).score(X, Y) > 0.9


def test_one_pass_takes_rows_as_they_come() -> None:
    with pytest.warns(UserWarning, match="come in runs"):
        model = onlinear.OnlineClassifier().fit(X, Y)
    assert scores(model).tobytes() == scores(onlinear.OnlineClassifier().partial_fit(X, Y, classes=[0, 1, 2])).tobytes()
    target = X[:, 0] + 1.0
    once = onlinear.OnlineRegressor().fit(X, target)
    assert once.coef_.tolist() == onlinear.OnlineRegressor().partial_fit(X, target).coef_.tolist()


def test_the_order_of_a_stream_is_kept_if_that_is_said() -> None:
    model, again = onlinear.OnlineClassifier(max_iter=3, order="stream"), onlinear.OnlineClassifier()
    with pytest.warns(UserWarning, match="come in runs"):
        model.fit(X, Y)
    for _ in range(3):
        again.partial_fit(X, Y, classes=[0, 1, 2])
    assert scores(model).tobytes() == scores(again).tobytes()


def test_shuffled_passes_are_learned_again_in_plain_python() -> None:
    y = np.where(Y == 0, 1.0, -1.0)
    model = onlinear.OnlineClassifier(max_iter=3, **PERCEPTRON)
    certificate = onlinear.certify(fitted(model, y), X, y)
    assert certificate["replay"]["order"] == "shuffle"
    believed(certificate, rows_of(X, y))
