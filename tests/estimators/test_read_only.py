"""Models whose arrays came back read-only, as joblib's workers and memory-mapped files have them, learn on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest

import onlinear
from onlinear.estimators.saving import restore, save_parts

ROWS = [{"a": 1.0 + k, "b": 2.0 - k % 3, f"w{k % 5}": 1.0} for k in range(12)]
LABELS = ["x", "y", "z"]
X = np.random.default_rng(0).normal(size=(12, 3))

MODELS: dict[str, Any] = {
    "classifier": lambda: onlinear.OnlineClassifier(),
    "hashed": lambda: onlinear.OnlineClassifier(bits=6),
    "kernel": lambda: onlinear.KernelPerceptron("rbf"),
    "matrix": lambda: onlinear.SecondOrderPerceptron(),
}


def answers(model: Any) -> list[Any]:
    """Learn on, and say what came of it."""
    if hasattr(model, "n_features_in_"):
        model.partial_fit(X[6:], np.resize(LABELS, 6))
        return model.decision_function(X).tolist()
    scores = [model.learn_one(x, LABELS[k % 2]) for k, x in enumerate(ROWS[6:])]
    return [np.asarray(score).tolist() for score in scores] + [model.predict_one(x) for x in ROWS]


def learned(kind: str, arrays: bool) -> Any:
    model = MODELS[kind]()
    if arrays:
        return model.partial_fit(X[:6], np.resize(LABELS, 6))
    for k, x in enumerate(ROWS[:6]):
        model.learn_one(x, LABELS[k % 3])
    return model


@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("kind", MODELS)
def test_a_mapped_model_learns_on(kind: str, arrays: bool, mode: str, tmp_path: Path) -> None:
    model = learned(kind, arrays)
    joblib.dump(model, tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    mapped = joblib.load(tmp_path / "model", mmap_mode=mode)
    assert answers(mapped) == answers(model)
    assert (tmp_path / "model").read_bytes() == before  # and leaves the file alone


@pytest.mark.parametrize("kind", ["classifier", "kernel"])
def test_a_model_restored_from_read_only_arrays_learns_on(kind: str, tmp_path: Path) -> None:
    model = learned(kind, False)
    if kind == "kernel":
        from onlinear.estimators.dual_files import dual_parts
        from onlinear.estimators.saving import class_name

        header, arrays = dual_parts(model, class_name(type(model)))
    else:
        header, arrays = save_parts(model)
    for array in arrays.values():
        array.flags.writeable = False
    assert answers(restore(header, arrays)) == answers(learned(kind, False))
