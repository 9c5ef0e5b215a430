"""Reference points: what others come to on the same rows. They play no part in the choice."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from onlinear.workflow.rows import RowsInMemory

#: rows that each learns from, and neighbours are looked for among; rows of the test that neighbours are asked about
MOST_ROWS, MOST_NEIGHBOURS, MOST_ASKED = 20_000, 5_000, 2_000
NEIGHBOURS = 15


def references(
    train: RowsInMemory, test: RowsInMemory, targets: np.ndarray, wanted: np.ndarray, features: int, classes: int
) -> Iterator[dict[str, Any]]:
    """The majority class or the mean, a linear model of scikit-learn's, and nearest neighbours."""
    yield simplest(targets, wanted, classes)
    X, Z = matrix_of(train, features), matrix_of(test, features)
    for name, make, most, asked in models(classes):
        yield measure_reference(
            name, make(), (X[:most], targets[:most]), (Z[:asked], wanted[:asked]), len(targets), classes
        )


def models(classes: int) -> list[tuple[str, Callable[[], Any], int, int | None]]:
    """scikit-learn's, each with the rows that it learns and is asked about at most. Importing them takes a second."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    if classes:
        return [
            ("LogisticRegression", lambda: LogisticRegression(max_iter=200), MOST_ROWS, None),
            (
                "k nearest neighbours",
                lambda: KNeighborsClassifier(NEIGHBOURS, algorithm="brute"),
                MOST_NEIGHBOURS,
                MOST_ASKED,
            ),
        ]
    return [
        ("Ridge", lambda: Ridge(), MOST_ROWS, None),
        (
            "k nearest neighbours",
            lambda: KNeighborsRegressor(NEIGHBOURS, algorithm="brute"),
            MOST_NEIGHBOURS,
            MOST_ASKED,
        ),
    ]


def simplest(targets: np.ndarray, wanted: np.ndarray, classes: int) -> dict[str, Any]:
    """What knows nothing of a row."""
    if classes:
        answer = int(np.bincount(targets, minlength=classes).argmax())
        return {"name": "majority class", "score": float((wanted != answer).mean()), "rows": None, "seconds": 0.0}
    score = math.sqrt(float(((wanted - targets.mean()) ** 2).mean()))
    return {"name": "mean", "score": score, "rows": None, "seconds": 0.0}


def measure_reference(name: str, model: Any, learned: Any, asked: Any, rows: int, classes: int) -> dict[str, Any]:
    began = time.perf_counter()
    count = len(learned[1])
    if hasattr(model, "n_neighbors") and count < model.n_neighbors:
        model.set_params(n_neighbors=count)
    if classes and len(np.unique(learned[1])) < 2:
        return {"name": name, "score": None, "rows": count, "seconds": 0.0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged is no concern of a reference point
        found = model.fit(*learned).predict(asked[0])
    score = float((found != asked[1]).mean()) if classes else math.sqrt(float(((found - asked[1]) ** 2).mean()))
    seconds = time.perf_counter() - began
    return {"name": name, "score": score, "rows": count if count < rows else None, "seconds": round(seconds, 3)}


def matrix_of(rows: RowsInMemory, features: int) -> Any:
    starts, columns, values = rows.rows
    return scipy.sparse.csr_matrix((values, columns.astype(np.int32), starts), shape=(len(rows), features))
