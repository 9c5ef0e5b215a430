"""What ``onlinear demo`` runs after its list: scikit-learn's breast-cancer data learned as a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onlinear.learning.progress import ProgressLine, progressive_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from onlinear import OnlineClassifier

TITLE = "Breast cancer as a stream: 569 rows, 30 raw columns"


def learn_breast_cancer(seed: int) -> OnlineClassifier:
    """One pass over the shuffled rows with the classifier as it comes."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from onlinear import OnlineClassifier

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return OnlineClassifier().partial_fit(X[order], y[order], classes=[0, 1])


def progress_of(model: OnlineClassifier) -> list[ProgressLine]:
    """The figures at 1, 2, 4, 8, ... examples and at the end."""
    return list(progressive_lines((mark.examples, mark.loss * mark.examples, mark.mistakes) for mark in model.history_))


def document(lines: list[ProgressLine], seed: int) -> dict[str, Any]:
    last = lines[-1]
    return {
        "data": "breast_cancer",
        "seed": seed,
        "history": [line._asdict() for line in lines],
        "examples": last.examples,
        "loss": last.loss,
        "mistakes": last.mistakes,
        "error": last.error,
    }


def closing_words(last: ProgressLine) -> Iterator[str]:
    yield f"{last.mistakes} of {last.examples} predicted wrongly: progressive error {last.error:.2%}."
    yield "Each example was predicted before it was learned."


def figure_of(model: OnlineClassifier) -> Figure:
    """Mistakes and loss over time, side by side."""
    from matplotlib.figure import Figure

    from onlinear.plots import LossCurveDisplay

    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    figure.suptitle(TITLE)
    left, right = figure.subplots(1, 2)
    LossCurveDisplay.from_mistakes(model, ax=left)
    LossCurveDisplay.from_estimator(model, ax=right)
    return figure
