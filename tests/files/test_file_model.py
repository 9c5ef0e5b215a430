"""Models that were trained on files, loaded in Python: rows go through the recipe as on the command line."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import onlinear
from commands import run_here
from onlinear.errors import BadInput, BadRow, NotSaved, Refused

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
LEARNING: dict[str, tuple[Any, ...]] = {
    "fit": (np.ones((1, 3)), [1]),
    "partial_fit": (np.ones((1, 3)), [1]),
    "learn_one": (DICTS[0], 1),
    "learn_many": (DICTS, [1] * len(DICTS)),
}


def by_command(model: str, *words: Any) -> list[dict[str, Any]]:
    """What ``onlinear predict`` answers."""
    result = run_here("predict", model, *words, "--output-format", "jsonl", "--scores", "--probabilities")
    assert result.code == 0
    return [json.loads(line) for line in result.out.splitlines()]


@pytest.mark.compiles
@pytest.mark.parametrize("change", CHANGES)
def test_rows_go_through_the_recipe(table: str, change: str) -> None:
    """Files, frames and dicts get what the command line answers, to the bit."""
    file = trained(table, *CHANGES[change])
    expected = by_command(file, table)
    labels, scores = [row["prediction"] for row in expected], [row["score"] for row in expected]
    chances = [[row["probability:0"], row["probability:1"]] for row in expected]
    loaded = onlinear.load(file)
    frame = pd.DataFrame(DICTS)
    for model in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert isinstance(model, onlinear.FileModel)
        for source in (table, [table], frame, pl.DataFrame(DICTS), pa.Table.from_pandas(frame), DICTS):
            assert model.predict(source).tolist() == labels
            assert model.decision_function(source).tolist() == scores
            assert model.predict_proba(source).tolist() == chances
        assert [model.predict_one(row) for row in DICTS[:5]] == labels[:5]
        assert [list(model.predict_proba_one(row).values()) for row in DICTS[:5]] == chances[:5]
        assert (model.classes_.tolist(), model.examples_) == ([0, 1], len(ROWS))
        assert model.snapshot().weights is model.coef_
    assert onlinear.predict(file, DICTS).tolist() == labels


@pytest.mark.compiles
@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_would_be_learned_without_the_recipe_are_refused(table: str, change: str) -> None:
    model = onlinear.load(trained(table, *CHANGES[change]))
    before = model.coef_.tobytes()
    for name, arguments in LEARNING.items():
        with pytest.raises(Refused, match=f"^{name}: .* its recipe {change}, .*: learn from files, by onlinear train"):
            getattr(model, name)(*arguments)
    with pytest.raises(NotSaved, match="copy its file"):
        model.save("elsewhere")
    with pytest.raises(Refused, match="an array has no names"):
        model.predict(np.ones((1, 3)))
    with pytest.raises(BadInput, match="use predict_one"):
        model.predict(DICTS[0])
    with pytest.raises(Refused, match="onlinear certify FILE --model M"):
        onlinear.certify(model, np.ones((1, 3)), [1])
    assert model.coef_.tobytes() == before


@pytest.mark.compiles
def test_what_a_dict_leaves_out_is_an_empty_cell(table: str) -> None:
    model = onlinear.load(trained(table, *CHANGES["scales numbers"]))
    empty = [{**DICTS[0], "town": None}, {**DICTS[1], "age": None}]
    short = [{name: cell for name, cell in row.items() if cell is not None} for row in empty]
    assert model.decision_function(short).tolist() == model.decision_function(empty).tolist()
    assert model.predict_one({}) in (0, 1)
    with pytest.raises(BadRow, match="not of one kind"):
        model.predict([{"age": 1.0, "town": 3, "note": ""}, {"age": 1.0, "town": "Bern", "note": ""}])
    with pytest.raises(BadRow, match="surrogates not allowed"):
        model.predict_one({"town": "\ud800"})


@pytest.mark.compiles
def test_what_pandas_says_is_missing_is_an_empty_cell_of_a_dict(table: str) -> None:
    """A frame's own dicts have NaN among texts, where one is missing."""
    model = onlinear.load(trained(table, *CHANGES["scales numbers"]))
    frame = pd.DataFrame([{**DICTS[0], "town": None}, {**DICTS[1], "age": None}, DICTS[2]])
    expected = model.decision_function(frame).tolist()
    for kind in (frame, frame.convert_dtypes()):
        rows = kind.to_dict("records")
        assert model.decision_function(rows).tolist() == expected
        assert [model.decision_function([row]).item() for row in rows] == expected


@pytest.mark.compiles
def test_dicts_are_records_of_json_lines(tmp_path: Path) -> None:
    file, model = tmp_path / "rows.jsonl", str(tmp_path / "model")
    records = [{**row, "y": y} for row, (*_, y) in zip(DICTS, ROWS, strict=True)]
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    words = ["--target", "y", "--quiet", "--text", "note", "--bits", "10"]
    assert run_here("train", file, *words, "--model", model).code == 0
    expected = [row["score"] for row in by_command(model, file)]
    loaded = onlinear.load(model)
    assert loaded.decision_function(DICTS).tolist() == expected
    assert loaded.decision_function([{**row, "age": np.float64(row["age"])} for row in DICTS]).tolist() == expected
    with pytest.raises(BadRow, match="none that JSON has"):
        loaded.predict([{"age": float("nan")}])


@pytest.mark.compiles
def test_a_recipe_that_only_names_features_answers_dicts(table: str) -> None:
    file = trained(table)
    model = onlinear.load(file)
    assert [model.predict_one(row) for row in DICTS] == onlinear.predict(file, table).tolist()
    model.learn_one(DICTS[0], 1)


@pytest.mark.compiles
def test_numbers_go_through_the_recipe_too(table: str) -> None:
    lines = [f"{age},{town},{age * 3}" for age, town, _, _ in ROWS]
    Path(table).write_text("\n".join(["age,town,y", *lines]))
    file = trained(table, "--scale", "standardise")
    model = onlinear.load(file)
    expected = onlinear.predict(file, table).tolist()
    assert model.predict(DICTS).tolist() == expected
    assert model.predict_one(DICTS[0]) == expected[0]
    assert not hasattr(model, "classes_")
    with pytest.raises(Refused, match="no link"):
        model.predict_proba(DICTS)


def predicted_scores(model: str, file: Path) -> list[str]:
    result = run_here("predict", model, file, "--output-format", "jsonl", "--scores")
    assert result.code == 0
    return result.out.splitlines()


@pytest.mark.compiles
def test_svmlight_answers_arrays(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 4))
    text = "".join(f"{int(row[0] > 0)} " + " ".join(f"{k}:{x}" for k, x in enumerate(row, 1)) + "\n" for row in rows)
    (tmp_path / "rows.svm").write_text(text)
    files = [str(tmp_path / "plain"), str(tmp_path / "scaled")]
    for file, words in zip(files, ([], ["--scale", "max-abs"]), strict=True):
        assert run_here("train", tmp_path / "rows.svm", "--quiet", "--model", file, *words).code == 0
    answers = onlinear.predict(files[0], tmp_path / "rows.svm")
    np.testing.assert_array_equal(onlinear.load(files[0]).predict(rows), answers)
    expected = [json.loads(line)["score"] for line in predicted_scores(files[1], tmp_path / "rows.svm")]
    for matrix in (rows, scipy.sparse.csr_matrix(rows)):
        assert onlinear.load(files[1]).decision_function(matrix).tolist() == expected


def beyond() -> scipy.sparse.csc_matrix:
    """A matrix with an entry outside of it, which SciPy's own code would follow."""
    matrix = scipy.sparse.csc_matrix(np.ones((3, 4)))
    matrix.indices[0] = 3
    return matrix


#: arrays that are no rows of numbers, and why
NO_ROWS: list[tuple[Any, str]] = [
    (np.ma.masked_array(np.ones((3, 4)), mask=np.eye(3, 4)), "row 0 of column 0 is masked"),
    (np.ones(4), "X has 1 dimensions"),
    (np.ones((3, 4)).astype(str), "give a table of numbers"),
    (beyond(), "column 0 has a row 3, but there are 3 rows"),
]


@pytest.mark.compiles
@pytest.mark.parametrize(("matrix", "problem"), NO_ROWS, ids=["masked", "flat", "texts", "beyond"])
def test_svmlight_takes_the_arrays_that_streams_take(tmp_path: Path, matrix: Any, problem: str) -> None:
    (tmp_path / "rows.svm").write_text("1 1:1 4:2\n0 2:1 3:1\n")
    assert run_here("train", tmp_path / "rows.svm", "--quiet", "--model", tmp_path / "model").code == 0
    with pytest.raises(BadInput, match=problem):
        onlinear.predict(tmp_path / "model", matrix)


@pytest.mark.compiles
def test_svmlight_takes_any_of_the_sparse_matrices(tmp_path: Path) -> None:
    """Also the one that is a dict."""
    (tmp_path / "rows.svm").write_text("1 1:1 4:2\n0 2:1 3:1\n")
    assert run_here("train", tmp_path / "rows.svm", "--quiet", "--model", tmp_path / "model").code == 0
    rows = scipy.sparse.csr_matrix([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]])
    for kind in ("csr", "csc", "coo", "lil", "dok"):
        assert onlinear.predict(tmp_path / "model", rows.asformat(kind)).tolist() == [1, 0]


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


def zips(folder: Path, kind: str) -> str:
    """A file whose numbers ``zip`` are names of categories, and ``age`` are numbers."""
    rows = [{"zip": 3000 + k % 3, "age": k % 7, "town": "Bern", "y": "ab"[k % 3 == 0]} for k in range(40)]
    path = folder / f"rows.{kind}"
    if kind == "csv":
        pd.DataFrame(rows).to_csv(path, index=False)
    elif kind == "parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


@pytest.mark.compiles
@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("names", ["hashed", "exact"])
def test_a_number_is_no_category(tmp_path: Path, kind: str, names: str) -> None:
    """Where the recipe makes names of numbers, a dict has to give texts, in every call, and in copies and files."""
    file, model = zips(tmp_path, kind), str(tmp_path / "model")
    words = ["--target", "y", "--category", "zip", "--names", names, "--model", model]
    assert run_here("train", file, *words, "--quiet").code == 0
    answers = [row["prediction"] for row in by_command(model, file)]
    loaded = onlinear.load(model)
    loaded.save(tmp_path / "again")
    number: dict[Any, Any] = {"zip": 3001, "age": 1, "town": "Bern"}
    text = {**number, "zip": "3001"}
    for each in (loaded, pickle.loads(pickle.dumps(loaded)), onlinear.load(tmp_path / "again")):
        before = pickle.dumps(each)
        for _ in range(2):  # the second time it is compiled
            calls: list[Any] = [each.predict_one, each.predict_proba_one, each.snapshot().predict_one]
            calls += [lambda x, each=each: each.learn_one(x, "a"), lambda x, each=each: each.learn_many([x], ["a"])]
            calls += [lambda x, each=each: each.learn_many(pd.DataFrame([x]), ["a"])]
            for call in calls:
                for bad in (number, {"zip": np.int64(3001)}, {"zip": 3001.0}, {"zip": True}):
                    with pytest.raises(BadRow, match=r"feature 'zip' is the number .*give text, such as {'zip': '"):
                        call(bad)
            assert pickle.dumps(each) == before
            assert each.predict_one(text) == answers[1]
        assert each.predict_one({"age": 1.5, "new": 2}) in ("a", "b")
        each.learn_one(text, "a")
        each.learn_one({**text, "zip": "9", "new": 1}, "a")
        each.learn_many([text], ["b"])
        with pytest.raises(BadRow, match=r"give text, such as {'zip': '3001'}"):
            each.learn_one({**number, "newer": 1}, "a")
    if kind != "jsonl":  # where each value says whether it is a text
        with pytest.raises(BadRow, match="'town' is the number 7"):
            loaded.predict_one({"zip": "3000", "town": 7})


@pytest.mark.compiles
@pytest.mark.parametrize("names", ["hashed", "exact"])
def test_a_text_is_no_number(table: str, tmp_path: Path, names: str) -> None:
    """Such as the rows of ``csv.DictReader``, all of whose cells are texts: their numbers would be unknown names."""
    model = str(tmp_path / "model")
    assert run_here("train", table, "--target", "y", "--quiet", "--names", names, "--model", model).code == 0
    loaded = onlinear.load(model)
    loaded.save(tmp_path / "again")
    number: dict[Any, Any] = {"age": 1.5, "town": "Bern", "note": "free cash"}
    answer = loaded.predict_proba_one(number)
    for each in (loaded, pickle.loads(pickle.dumps(loaded)), onlinear.load(tmp_path / "again")):
        before = pickle.dumps(each)
        for _ in range(2):  # the second time it is compiled
            calls: list[Any] = [each.predict_one, each.predict_proba_one, each.snapshot().predict_one]
            calls += [lambda x, each=each: each.learn_one(x, 1), lambda x, each=each: each.learn_many([x], [1])]
            for call in calls:
                for bad in ({**number, "age": "1.5"}, {"age": ""}, {"age": np.str_("2")}):
                    with pytest.raises(BadRow, match=r"feature 'age' is the text .*give a number, such as"):
                        call(bad)
            assert pickle.dumps(each) == before
            assert each.predict_proba_one(number) == answer
        assert each.predict_proba_one({**number, "age": "?"}) != answer  # which stands for a missing one
        each.learn_one({**number, "age": "?", "new": "text"}, 1)


@pytest.mark.parametrize("names", ["hashed", "exact"])
def test_a_number_is_the_name_of_the_column_that_is_called_so(table: str, tmp_path: Path, names: str) -> None:
    """As in the dicts of a frame whose columns are counted."""
    lines = Path(table).read_text().splitlines()[1:]
    (tmp_path / "bare.csv").write_text("\n".join(lines))
    model = str(tmp_path / "bare.onlinear")
    words = ["--no-header", "--names", names, "--model", model]
    assert run_here("train", tmp_path / "bare.csv", *words, "--quiet").code == 0
    loaded = onlinear.load(model)
    expected = loaded.predict_proba_one({"1": 2.5, "2": "Bern", "3": "free cash"})
    for _ in range(2):  # the second time it is compiled
        assert loaded.predict_proba_one({1: 2.5, 2: "Bern", 3: "free cash"}) == expected
    assert expected != loaded.predict_proba_one({"2": "Bern", "3": "free cash"})


def test_a_number_names_a_column_for_a_recipe_too_and_other_keys_are_ignored(table: str, tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("\n".join(Path(table).read_text().splitlines()[1:]))
    model = str(tmp_path / "bare.onlinear")
    words = ["--no-header", "--scale", "standardise", "--model", model]
    assert run_here("train", tmp_path / "bare.csv", *words, "--quiet").code == 0
    loaded = onlinear.load(model)
    row: dict[Any, Any] = {1: 2.5, 2: "Bern", 3: "free cash"}
    expected = loaded.predict_proba_one({str(key): cell for key, cell in row.items()})
    assert loaded.predict_proba_one(row) == expected
    ids = [{**row, "id": "a1"}, {**row, "id": 7, "other": object()}]  # of no single kind, as a frame may have them
    assert loaded.predict_proba(ids).tolist() == [list(expected.values())] * 2
