"""Rows for the tests of theorems: separable or not, whole numbers or not, and runs over them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import onlinear


def draw(seed: int, rows: int = 25, features: int = 3, *, flipped: int = 0, whole: bool = False) -> Any:
    """A matrix and labels of -1 and +1, both of which occur; ``flipped`` of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    if whole:
        X = np.rint(3.0 * X)
    direction = rng.normal(size=features)
    y = np.where(X @ direction + 0.2 > 0.0, 1.0, -1.0)
    y[:flipped] *= -1.0
    y[-2:] = [1.0, -1.0]
    X[-2:] = [direction, -2.0 * direction]
    return X, y


def draw_classes(seed: int, classes: int, rows: int = 25, *, flipped: int = 0, whole: bool = False) -> Any:
    """A matrix of two columns and labels 0, 1, ..., all of which occur; ``flipped`` of the labels are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 2))
    if whole:
        X = np.rint(3.0 * X)
    directions = rng.normal(size=(classes, 2))
    y = (X @ directions.T + 0.1 * np.arange(classes)).argmax(axis=1).astype(np.float64)
    y[:flipped] = (y[:flipped] + 1) % classes
    y[-classes:] = np.arange(classes)
    return X, y


def fitted(estimator: Any, X: Any, y: Any, **more: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Warning)
        return estimator.fit(X, y, **more)


def perceptrons(intercept: bool, passes: int) -> list[Any]:
    """Every estimator that a bound of ours covers."""
    common = {"fit_intercept": intercept, "max_iter": passes}
    plain = {**common, "tol": None, "shuffle": False}
    return [
        onlinear.Perceptron(**plain),
        onlinear.Perceptron(eta0=0.3, **plain),
        onlinear.AveragedPerceptron(**common),
        onlinear.MarginPerceptron(margin=0.5, rate=0.25, **common),
        onlinear.SGDClassifier(loss="perceptron", penalty=None, learning_rate="invscaling", eta0=0.5, **plain),
        onlinear.SGDClassifier(loss="hinge", penalty=None, learning_rate="constant", eta0=0.5, **plain),
    ]
