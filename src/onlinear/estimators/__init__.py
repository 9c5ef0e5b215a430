"""The scikit-learn face: every learner as an estimator."""

from onlinear.estimators.famous import (
    AROWClassifier,
    FTRLClassifier,
    FTRLRegressor,
    SecondOrderPerceptron,
)
from onlinear.estimators.online import OnlineClassifier, OnlineRegressor
from onlinear.estimators.passive_aggressive import (
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
)
from onlinear.estimators.perceptron import AveragedPerceptron, MarginPerceptron, Perceptron
from onlinear.estimators.sgd import SGDClassifier, SGDRegressor

__all__ = [
    "AROWClassifier",
    "AveragedPerceptron",
    "FTRLClassifier",
    "FTRLRegressor",
    "MarginPerceptron",
    "OnlineClassifier",
    "OnlineRegressor",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SGDClassifier",
    "SGDRegressor",
    "SecondOrderPerceptron",
]
