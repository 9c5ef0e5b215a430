"""Model files of every release still load, answer what they answered, and learn on."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from onlinear.errors import Refused

FOLDER = Path(__file__).parent / "models"
FILES = sorted(FOLDER.glob("*.onlinear"))


def script() -> Any:
    spec = importlib.util.spec_from_file_location("golden_models", FOLDER / "write.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def expected(file: Path) -> dict[str, Any]:
    version, _, name = file.stem.partition("-")
    return json.loads((FOLDER / f"{version}-expected.json").read_text(encoding="utf-8"))[name]


def check(found: dict[str, Any], wanted: dict[str, Any], rtol: float) -> None:
    assert found["examples"] == wanted["examples"]
    for name in ("coef", "intercept"):
        np.testing.assert_allclose(found[name], wanted[name], rtol=rtol, atol=rtol)
    if isinstance(wanted["predict"][0], float):
        np.testing.assert_allclose(found["predict"], wanted["predict"], rtol=1e-12, atol=1e-12)
    else:
        assert found["predict"] == wanted["predict"]


def taught_by_hand(golden: Any, model: Any) -> dict[str, Any]:
    """What a perceptron must say that learns more from dicts, one class against the rest, with whole steps."""
    coef, intercept, labels = model.coef_.copy(), model.intercept_.copy(), model.classes_.tolist()
    names = model.feature_names_

    def by_name(row: dict[Any, Any]) -> np.ndarray:
        full = {f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v for k, v in row.items()}
        return np.array([full.get(name, 0.0) for name in names])

    rows = golden.as_dicts(golden.X[:20])[::-1]
    for row, label in zip(rows, golden.LETTERS[:20][::-1].tolist(), strict=True):
        x = by_name(row)
        signs = np.array([1.0 if label == each else -1.0 for each in labels])
        wrong = signs * (coef @ x + intercept) <= 0.0
        coef += np.outer(wrong * signs, x)
        intercept += wrong * signs
    answers = [labels[int(np.argmax(coef @ by_name(row) + intercept))] for row in golden.as_dicts(golden.X[:10])]
    return {"examples": model.examples_ + 20, "coef": coef, "intercept": intercept, "predict": answers}


@pytest.mark.compiles
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_old_file_still_answers_and_learns(file: Path) -> None:
    golden, wanted = script(), expected(file)
    model = onlinear.load(file)
    check(golden.answers(model), wanted["now"], rtol=0.0)
    if file.stem == "v1-dicts":  # whose intercept moved by 0.01 of a step then
        later = taught_by_hand(golden, model)
        check(golden.answers(golden.learn_more(model)), later, rtol=1e-9)
    elif "later" in wanted:
        check(golden.answers(golden.learn_more(model)), wanted["later"], rtol=1e-9)
    else:
        with pytest.raises(Refused, match="was saved slim"):
            golden.learn_more(model)


def test_they_are_there_and_small() -> None:
    assert len(FILES) >= 6
    assert all(file.stat().st_size < 20_000 for file in FILES)
