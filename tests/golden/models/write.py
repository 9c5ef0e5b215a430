"""Write the golden model files: ``python tests/golden/models/write.py``. Once released, a file is never written again.

``v1-expected.json`` says what each of them must answer, and what its weights are after it has learned a little more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

import onlinear

FOLDER = Path(__file__).parent
EXPECTED = FOLDER / "v1-expected.json"


def data(rows: int = 60, features: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Numbers that no library had to draw: multiples of 1/8, about half of them 0."""
    k = np.arange(rows * features)
    X = (((k * k + 3 * k) % 17 - 8.0) / 8.0 * (k * 7 % 11 > 4)).reshape(rows, features)
    return X, X @ np.array([1.0, -2.0, 0.5, 0.25, -1.0]) + np.arange(rows) % 3 / 8.0


X, SCORES = data()
LETTERS = np.array(["low", "middle", "high"])[np.digitize(SCORES, [-0.5, 0.5])]


def as_dicts(X: np.ndarray) -> list[dict[Any, Any]]:
    return [
        {**{f"x{j}": float(x) for j, x in enumerate(row) if x}, "kind": "ab"[k % 2], 7: 1} for k, row in enumerate(X)
    ]


def models() -> dict[str, tuple[Any, bool]]:
    """Each model, and whether it is saved slim."""
    perceptron = onlinear.Perceptron()
    for x, y in zip(as_dicts(X), LETTERS.tolist(), strict=True):
        perceptron.learn_one(x, y)
    return {
        "dense": (onlinear.OnlineClassifier().partial_fit(X, LETTERS), False),
        "averaged": (
            onlinear.SGDRegressor(penalty="l1", average=5).partial_fit(scipy.sparse.csr_matrix(X), SCORES),
            False,
        ),
        "matrix": (onlinear.SecondOrderPerceptron().partial_fit(X, SCORES > 0.0), False),
        "dicts": (perceptron, False),
        "hashed": (onlinear.FTRLRegressor(bits=5, l1=0.01).learn_many(as_dicts(X), SCORES), False),
        "kernel": (
            onlinear.KernelPerceptron("rbf", gamma=0.5).learn_many(as_dicts(X[:40]), LETTERS[:40].tolist()),
            False,
        ),
        "budget": (onlinear.KernelPerceptron(budget=12).partial_fit(X, SCORES > 0.0, classes=[False, True]), False),
        "slim": (onlinear.SGDClassifier(loss="log_loss", average=True).partial_fit(X, LETTERS), True),
    }


def answers(model: Any) -> dict[str, Any]:
    """What a model must still say."""
    weights, intercepts = (model.coef_, model.intercept_) if hasattr(model, "coef_") else (model.dual_coef_, X[:0, 0])
    said = {"coef": weights.tolist(), "intercept": intercepts.tolist(), "examples": model.examples_}
    if hasattr(model, "n_features_in_"):
        said["predict"] = model.predict(X[:10]).tolist()
    else:
        said["predict"] = [model.predict_one(x) for x in as_dicts(X[:10])]
    return said


def learn_more(model: Any) -> Any:
    """The first rows again, turned round."""
    y = SCORES if isinstance(model, onlinear.SGDRegressor | onlinear.FTRLRegressor) else LETTERS
    y = SCORES > 0.0 if getattr(model, "classes_", X).tolist() == [False, True] else y
    if hasattr(model, "n_features_in_"):
        return model.partial_fit(X[:20][::-1].copy(), y[:20][::-1])
    return model.learn_many(as_dicts(X[:20])[::-1], y[:20][::-1].tolist())


def write() -> None:
    expected = {}
    for name, (model, slim) in models().items():
        model.save(FOLDER / f"v1-{name}.onlinear", slim=slim)
        expected[name] = {"now": answers(model)}
        if not slim:
            expected[name]["later"] = answers(learn_more(model))
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
