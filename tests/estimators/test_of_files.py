"""Models that were trained on files, loaded in Python: rows are answered as the recipe means them, or refused."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import onlinear
from commands import run_here
from onlinear.errors import NotSaved, Refused

ROWS = [(k % 7 + 0.5, ["Bern", "Thun", "Zug"][k % 3], ["free cash", "hello you"][k % 2], k % 2) for k in range(40)]
DICTS: list[dict[str, Any]] = [{"age": age, "town": town, "note": note} for age, town, note, _ in ROWS]


@pytest.fixture
def table(tmp_path: Path) -> str:
    lines = [f"{age},{town},{note},{y}" for age, town, note, y in ROWS]
    (tmp_path / "rows.csv").write_text("\n".join(["age,town,note,y", *lines]))
    return str(tmp_path / "rows.csv")


def trained(table: str, *words: str) -> str:
    model = f"{table}.onlinear"
    assert run_here("train", table, "--target", "y", "--quiet", "--bits", "10", "--model", model, *words).code == 0
    return model


CHANGES = {
    "cuts texts into words": ["--text", "note"],
    "multiplies columns": ["--cross", "age,town"],
    "scales numbers": ["--scale", "standardise"],
}
CALLS: dict[str, tuple[Any, ...]] = {
    "predict": (np.ones((1, 3)),),
    "predict_proba": (np.ones((1, 3)),),
    "predict_log_proba": (np.ones((1, 3)),),
    "decision_function": (np.ones((1, 3)),),
    "score": (np.ones((1, 3)), [1]),
    "fit": (np.ones((1, 3)), [1]),
    "partial_fit": (np.ones((1, 3)), [1]),
    "predict_one": (DICTS[0],),
    "predict_proba_one": (DICTS[0],),
    "learn_one": (DICTS[0], 1),
    "freeze": (),
    "learn_many": (DICTS, [1] * len(DICTS)),
}


@pytest.mark.compiles
@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_the_recipe_would_have_changed_are_refused(table: str, change: str) -> None:
    file = trained(table, *CHANGES[change])
    model = onlinear.load(file)
    assert isinstance(model, onlinear.OnlineClassifier)
    assert model.coef_.any()
    before = model.coef_.tobytes()
    for name, arguments in CALLS.items():
        for each in (model, pickle.loads(pickle.dumps(model))):
            with pytest.raises(
                Refused, match=rf"its recipe {change}, .*: call onlinear.predict\(path of the model, table"
            ):
                getattr(each, name)(*arguments)
    with pytest.raises(NotSaved, match="would be saved without its recipe: copy its file"):
        model.save("elsewhere")
    assert model.coef_.tobytes() == before
    assert len(onlinear.predict(file, table)) == len(ROWS)


@pytest.mark.compiles
def test_a_recipe_that_only_names_features_answers_dicts(table: str) -> None:
    file = trained(table)
    model = onlinear.load(file)
    assert [model.predict_one(row) for row in DICTS] == onlinear.predict(file, table).tolist()
    model.learn_one(DICTS[0], 1)


@pytest.mark.compiles
def test_an_estimator_does_not_take_the_place_of_a_recipe(table: str, tmp_path: Path) -> None:
    """It would be all that is left: no command could read a file by it any more."""
    file = trained(table)
    before = Path(file).read_bytes()
    model = onlinear.load(file)
    model.learn_one(DICTS[0], 1)
    rows = np.eye(2)
    for other in (model, onlinear.Perceptron().fit(rows, [0, 1]), onlinear.KernelPerceptron().fit(rows, [0, 1])):
        with pytest.raises(NotSaved, match="a model is there that says how to read files"):
            other.save(file)
        assert Path(file).read_bytes() == before
        for _ in range(2):  # one that has no recipe is replaced
            other.save(tmp_path / "elsewhere")
    assert run_here("predict", file, table).code == 0
    assert run_here("train", table, "--quiet", "--model", file, "--target", "y").code == 0


@pytest.mark.compiles
def test_a_clone_of_a_model_of_files_learns_as_any_other(table: str) -> None:
    model = onlinear.load(trained(table, "--scale", "standardise", "--rule", "sgd"))
    fresh = clone(model)
    assert type(fresh) is onlinear.OnlineClassifier
    assert fresh.get_params() == model.get_params()
    assert fresh.fit(np.eye(2), ["a", "b"]).predict(np.eye(2)).tolist() == ["a", "b"]


@pytest.mark.compiles
def test_numbers_are_refused_too(table: str) -> None:
    lines = [f"{age},{town},{age * 3}" for age, town, _, _ in ROWS]
    Path(table).write_text("\n".join(["age,town,y", *lines]))
    model = onlinear.load(trained(table, "--scale", "standardise"))
    assert isinstance(model, onlinear.OnlineRegressor)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(Refused, match="its recipe scales numbers"):
        model.predict_one(DICTS[0])


@pytest.mark.compiles
def test_svmlight_answers_arrays_unless_it_was_scaled(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 4))
    text = "".join(f"{int(row[0] > 0)} " + " ".join(f"{k}:{x}" for k, x in enumerate(row, 1)) + "\n" for row in rows)
    (tmp_path / "rows.svm").write_text(text)
    files = [str(tmp_path / "plain"), str(tmp_path / "scaled")]
    for file, words in zip(files, ([], ["--scale", "max-abs"]), strict=True):
        assert run_here("train", tmp_path / "rows.svm", "--quiet", "--model", file, *words).code == 0
    answers = onlinear.predict(files[0], tmp_path / "rows.svm")
    np.testing.assert_array_equal(onlinear.load(files[0]).predict(rows), answers)
    with pytest.raises(Refused, match="its recipe scales numbers"):
        onlinear.load(files[1]).predict(rows)
