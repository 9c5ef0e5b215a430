"""Model on a stream is what the estimators do with the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import onlinear
from onlinear import (
    BadLine,
    BadModel,
    OnlinearError,
    OnlineClassifier,
    OnlineRegressor,
    Perceptron,
    losses,
    rules,
)
from onlinear.errors import Refused
from onlinear.estimators.saving import restore, save_parts
from onlinear.files import trained as trained_files
from onlinear.files.container import read_model, write_model
from onlinear.files.models import pack_model, unpack_from_files
from onlinear.learning import outputs
from onlinear.learning.classes import Classes, classes_in
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams import tables, text_lines
from onlinear.streams.stream import open_stream

ROWS, COLUMNS = 400, 30


@pytest.fixture(params=[200, 4000, 1 << 20])
def chunk_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    size: int = request.param
    monkeypatch.setattr(text_lines, "CHUNK", size)
    return size


def sparse_rows() -> Any:
    rng = np.random.default_rng(3)
    X = rng.random((ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.3)
    X[0, -1] = 1.0
    return csr_matrix(np.round(X, 6))


def svmlight_file(folder: Path, X: Any, labels: Sequence[Any]) -> Path:
    file = folder / "rows.svm"
    with file.open("w") as out:
        for row, label in enumerate(labels):
            entries = zip(X[row].indices + 1, X[row].data, strict=True)
            out.write(f"{label} " + " ".join(f"{index}:{value}" for index, value in entries) + "\n")
    return file


def trained(training: Model, file: Path, **options: Any) -> Model:
    for block in open_stream(file, **options):
        training.learn(block)
    return training


def same_bits(training: Model, model: Any, columns: int) -> None:
    theirs = model._learner
    ours = training.learner
    np.testing.assert_array_equal(ours.weights()[:, :columns], theirs.weights()[:, :columns])
    np.testing.assert_array_equal(ours.intercepts(), theirs.intercepts())
    np.testing.assert_array_equal(ours.mistakes, theirs.mistakes)


def test_two_classes_from_svmlight(tmp_path: Path, chunk_size: int) -> None:
    X = sparse_rows()
    y = np.where(X[:, :5].sum(axis=1).A1 > 0.7, 1, -1)
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), classes_in([y]))
    trained(training, svmlight_file(tmp_path, X, y))
    same_bits(training, OnlineClassifier().partial_fit(X, y, classes=[-1, 1]), COLUMNS)


def test_several_classes_of_which_nobody_knew(tmp_path: Path, chunk_size: int) -> None:
    X = sparse_rows()
    y = np.minimum(X[:, :5].sum(axis=1).A1 * 3, 4).astype(int)
    training = Model.create(losses.Softmax(), rules.AdaGrad(), Settings(), Classes(open=True))
    trained(training, svmlight_file(tmp_path, X, y))
    model = OnlineClassifier(loss="softmax", rule="adagrad").partial_fit(X, y)
    assert training.classes is not None
    assert training.classes.labels == model._classes.labels
    same_bits(training, model, COLUMNS)


def test_numbers_from_svmlight(tmp_path: Path, chunk_size: int) -> None:
    X = sparse_rows()
    y = np.round(X[:, :5].sum(axis=1).A1 + 1.0, 3)
    training = Model.create(losses.Squared(), rules.Normalised(), Settings(l2=1e-3), None)
    trained(training, svmlight_file(tmp_path, X, y))
    same_bits(training, OnlineRegressor(l2=1e-3).partial_fit(X, y), COLUMNS)


def widening_rows() -> Any:
    """Rows whose highest column is higher and higher."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < 0.3)
    X *= np.arange(COLUMNS) <= np.arange(ROWS)[:, None] * COLUMNS / ROWS
    X[-1, -1] = 1.0
    return csr_matrix(np.round(X, 6))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    ("loss", "rule", "names"),
    [
        (losses.Perceptron(), rules.SecondOrder(), ("perceptron", "second_order")),
        (losses.Logistic(), rules.OnlineNewton(), ("log_loss", "newton")),
    ],
)
def test_a_matrix_that_grows_gives_the_bits_of_one_that_does_not(
    tmp_path: Path, chunk_size: int, loss: Any, rule: Any, names: tuple[str, str], average: bool, intercept: bool
) -> None:
    X = widening_rows()
    y = np.where(X[:, :5].sum(axis=1).A1 > 0.1, 1, -1)
    options = Settings(average=float(average), intercept=intercept)
    training = trained(Model.create(loss, rule, options, classes_in([y])), svmlight_file(tmp_path, X, y))
    model = OnlineClassifier(loss=names[0], rule=names[1], average=average, fit_intercept=intercept)
    same_bits(training, model.partial_fit(X, y, classes=[-1, 1]), COLUMNS)
    np.testing.assert_array_equal(training.learner.table.matrix, model._learner.table.matrix)
    from_matrix = Model.create(loss, rule, options, classes_in([y]))
    for block in open_stream(X, target=y):
        from_matrix.learn(block)
    same_bits(from_matrix, model, COLUMNS)


def test_a_matrix_learner_without_a_single_feature(tmp_path: Path) -> None:
    file = tmp_path / "rows.svm"
    file.write_text("1\n-1\n1\n")
    training = trained(Model.create(losses.Squared(), rules.OnlineNewton(), Settings(), None), file)
    assert training.learner.table.matrix.shape == (1, 1, 1)
    assert training.learner.intercepts()[0] == pytest.approx(1 / 4)  # the ridge solution: a sum of 1, three rows and a


def test_hashed_words_from_vw_text(tmp_path: Path, chunk_size: int) -> None:
    rng = np.random.default_rng(4)
    rows = [{f"w{j}": 1.0 for j in rng.integers(0, 50, 8)} for _ in range(ROWS)]
    labels = [1 if "w3" in row else -1 for row in rows]
    file = tmp_path / "rows.vw"
    file.write_text("".join(f"{y} | {' '.join(row)}\n" for row, y in zip(rows, labels, strict=True)))
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True), 10)
    trained(training, file, bits=10)
    model = OnlineClassifier(bits=10)
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    same_bits(training, model, 1 << 10)


def test_a_table_with_missing_cells(tmp_path: Path, chunk_size: int) -> None:
    rng = np.random.default_rng(5)
    rows: list[dict[str, Any]] = []
    for number in rng.normal(size=ROWS).round(4).tolist():
        rows.append({"age": "?" if number > 2.0 else number, "town": "Bern" if number > 0.3 else "St. Gallen, SG"})
    labels = ["yes" if row["town"] == "Bern" else "no" for row in rows]
    file = tmp_path / "rows.csv"
    lines = (f'{row["age"]},"{row["town"]}",{label}' for row, label in zip(rows, labels, strict=True))
    file.write_text("age,town,answer\n" + "\n".join(lines))
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True), 10)
    trained(training, file, target="answer", bits=10)
    model = OnlineClassifier(bits=10).learn_many(rows, labels)
    same_bits(training, model, 1 << 10)
    assert training.mistakes == model.mistakes_


def test_a_label_that_was_not_named_is_refused_with_its_line(tmp_path: Path, chunk_size: int) -> None:
    X = sparse_rows()
    y = [0, 1] * (ROWS // 2)
    y[300] = 7
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes.closed(np.array([0, 1])))
    with pytest.raises(BadLine, match=r"rows.svm:301:1: the label 7 is none of 0, 1: name all classes beforehand"):
        trained(training, svmlight_file(tmp_path, X, y))
    assert training.learner.examples == 300


def test_an_example_without_a_label_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "rows.vw"
    file.write_text("1 | a\n| b\n")
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes.closed(np.array([0, 1])), 18)
    with pytest.raises(BadLine, match=r"rows.vw:2:1: there is no label to learn from"):
        trained(training, file)


def test_the_first_rows_tell_the_classes() -> None:
    assert classes_in([np.array([1.0, -1.0]), np.array([1.0])]).labels == [-1, 1]
    assert not classes_in([np.array([1.0, -1.0])]).open
    assert classes_in([np.array([1.0, 2.0, 3.0])]).open
    assert classes_in([np.array([1.0])]).open


@pytest.mark.parametrize("most", [7, 1000])
@pytest.mark.parametrize(
    ("kind", "rule"),
    [
        ("dense", rules.Normalised()),
        ("dense", rules.OnlineNewton()),
        ("sparse", rules.Normalised()),
    ],
)
def test_arrays_and_matrices(monkeypatch: pytest.MonkeyPatch, most: int, kind: str, rule: Any) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", most)
    X, y = two_classes()
    X = X.toarray() if kind == "dense" else X
    training = Model.create(losses.Logistic(), rule, Settings(), Classes(open=True))
    for block in open_stream(X, target=y):
        training.learn(block)
    same_bits(training, OnlineClassifier(rule=rule).partial_fit(X, y), COLUMNS)


def test_dense_rows_of_another_width_are_refused() -> None:
    training = Model.create(losses.Squared(), rules.Normalised(), Settings(), None)
    (block,) = open_stream(np.eye(3), target=[1, 2, 3])
    training.learn(block)
    (wider,) = open_stream(np.eye(4), target=[1, 2, 3, 4])
    with pytest.raises(OnlinearError, match="the rows have 4 columns, but the learner has 3 features"):
        training.learn(wider)


def test_an_array_without_labels_is_refused_with_its_row() -> None:
    training = Model.create(losses.Squared(), rules.Normalised(), Settings(), None)
    (block,) = open_stream(np.eye(2), target=[1, np.nan])
    with pytest.raises(BadLine, match="Matrix:2:1: there is no label to learn from"):
        training.learn(block)


# ------------------------------------------------------------------ model files


def two_classes() -> tuple[Any, np.ndarray]:
    X = sparse_rows()
    return X, np.where(X[:, :5].sum(axis=1).A1 > 0.7, 1, -1)


@pytest.mark.parametrize("kind", ["two", "open", "numbers", "hashed", "dense"])
def test_a_training_is_saved_as_the_estimator_that_has_learned_the_same(tmp_path: Path, kind: str) -> None:
    X, y = two_classes()
    if kind == "hashed":
        file = tmp_path / "rows.vw"
        rows = [{f"w{j}": value for j, value in zip(X[i].indices, X[i].data, strict=True)} for i in range(ROWS)]
        lines = (
            f"{label} | " + " ".join(f"{name}:{value}" for name, value in row.items())
            for row, label in zip(rows, y, strict=True)
        )
        file.write_text("\n".join(lines))
        training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True), 10)
        model: Any = OnlineClassifier(bits=10).learn_many(rows, y.tolist())
        trained(training, file, bits=10)
    elif kind == "dense":
        training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True))
        for block in open_stream(X.toarray(), target=y):
            training.learn(block)
        model = OnlineClassifier().partial_fit(X.toarray(), y)
    else:
        file = svmlight_file(tmp_path, X, y)
        if kind == "numbers":
            training = Model.create(losses.Squared(), rules.Normalised(), Settings(), None)
            model = OnlineRegressor().partial_fit(X, y)
        else:
            classes = classes_in([y]) if kind == "two" else Classes(open=True)
            training = Model.create(losses.Logistic(), rules.AdaGrad(), Settings(average=1.0), classes)
            named = [-1, 1] if kind == "two" else None
            model = OnlineClassifier(rule="adagrad", average=True).partial_fit(X, y, classes=named)
        trained(training, file)
    header, arrays = pack_model(training)
    theirs, their_arrays = save_parts(model)
    theirs["parameters"] = {name: theirs["parameters"][name] for name in header["parameters"]}
    if kind == "hashed":
        assert theirs.pop("rows") == "dense"  # an estimator learns dicts by the recipe of dense rows
        assert header.pop("rows") == "sparse"
    for version in (header, theirs):
        del version["learner"]["version"]
    assert header == theirs
    for name, array in their_arrays.items():
        np.testing.assert_array_equal(arrays[name], array, err_msg=name)
    loaded = restore(*pack_model(training))
    np.testing.assert_array_equal(loaded.coef_, model.coef_)


def test_a_training_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    X, y = two_classes()
    straight = Model.create(losses.Logistic(), rules.Normalised(), Settings(l1=1e-4), classes_in([y]))
    trained(straight, svmlight_file(tmp_path, X, y))
    stopped = Model.create(losses.Logistic(), rules.Normalised(), Settings(l1=1e-4), classes_in([y]))
    for start, stop in ((0, 1), (1, 150), (150, ROWS)):
        trained(stopped, svmlight_file(tmp_path, X[start:stop], y[start:stop]))
        write_model(tmp_path / "model", *pack_model(stopped))
        stopped = unpack_from_files(*read_model(tmp_path / "model"))
    header, arrays = pack_model(straight)
    again, same = pack_model(stopped)
    for version in (header, again):
        del version["learner"]["version"]
    assert header == again
    for name, array in arrays.items():
        np.testing.assert_array_equal(same[name], array, err_msg=name)


def test_a_model_that_was_not_trained_on_a_stream_is_refused() -> None:
    with pytest.raises(BadModel, match="was not trained on a stream"):
        unpack_from_files(*save_parts(Perceptron().fit([[0.0], [1.0]], [0, 1])))


def test_a_block_with_too_many_new_classes_is_refused_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    X = sparse_rows()
    training = Model.create(losses.Logistic(), rules.Normalised(), Settings(), Classes(open=True))
    trained(training, svmlight_file(tmp_path, X, np.arange(20) % 5))
    pack_model(training)  # which takes the room behind the last column away
    before, features = training.learner.table.cells.tobytes(), training.learner.features
    per_class = 8 * features * training.learner.table.bias.shape[1]
    monkeypatch.setattr(outputs, "MOST_BYTES_OF_IDS", 100 * per_class)
    with pytest.raises(Refused, match="305 different labels in 320 examples"):
        trained(training, svmlight_file(tmp_path, X, np.arange(300) + 5))
    assert training.learner.table.cells.tobytes() == before
    assert training.classes is not None
    assert len(training.classes) == 5


def test_names_of_rows_that_were_refused_have_columns_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "rows.vw").write_text("1 | a b\n-1 | a\n1 | a c\n")
    stream = open_stream(tmp_path / "rows.vw", names="exact")
    training = Model.create(losses.Logistic(), rules.SGD(), Settings(), Classes(open=True))
    (block,) = stream
    training.learn(replace(block.split(2)[0], width=2))  # as if it had not come as far as the third row
    trained_files.save(tmp_path / "model", trained_files.Trained(training, stream.recipe))
    assert trained_files.open_model(tmp_path / "model").training.learner.features == 3
    assert onlinear.load(tmp_path / "model").predict_one({"a": 1.0, "c": 1.0}) in (1, -1)


def test_names_before_the_first_example(tmp_path: Path) -> None:
    (tmp_path / "rows.vw").write_text("1 | a b\n")
    stream = open_stream(tmp_path / "rows.vw", names="exact")
    assert len(list(stream)) == 1
    training = Model.create(losses.Logistic(), rules.SGD(), Settings(), Classes(open=True))
    trained_files.save(tmp_path / "model", trained_files.Trained(training, stream.recipe))
    assert trained_files.open_model(tmp_path / "model").training.learner.features >= 2
    assert onlinear.load(tmp_path / "model").predict_one({"a": 1.0}) is None
