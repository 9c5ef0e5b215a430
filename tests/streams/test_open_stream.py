"""Streams in Python: what estimators learn from blocks is what the command line learns from the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import onlinear
from commands import run_here
from onlinear import BadLine, OnlinearError, OnlineClassifier, Refused, open_stream

ROWS = 200
NAMES = ["age", "town", "weight", "note", "answer"]
OPTIONS: dict[str, Any] = {"target": "answer", "weight": "weight"}
WORDS = ["--target", "answer", "--weight", "weight"]


def people() -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(11)
    rows = []
    for _ in range(ROWS):
        age = None if rng.random() < 0.1 else int(rng.integers(18, 90))
        town = str(rng.choice(["Bern", "Ulm", "Chur, GR"]))
        answer = "yes" if (age or 50) + 30 * (town == "Bern") + rng.normal(0, 9) > 60 else "no"
        rows.append((age, town, float(rng.choice([0.5, 1.0, 2.0])), str(rng.choice(["a b", "b C c", "d"])), answer))
    return rows


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and a file of svmlight."""
    frame(pandas).to_csv(tmp_path / "people.csv", index=False)
    rng = np.random.default_rng(7)
    with (tmp_path / "rows.svm").open("w") as file:
        for _ in range(ROWS):
            entries = " ".join(f"{k}:{rng.normal():.4f}" for k in sorted(rng.choice(np.arange(1, 40), 5, False)))
            file.write(f"{rng.choice([-1, 1])} {entries}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame(package: Any) -> Any:
    columns = dict(zip(NAMES, map(list, zip(*people(), strict=True)), strict=True))
    columns["age"] = [age if age is None else float(age) for age in columns["age"]]
    return package.DataFrame(columns)


def learned(stream: Any, passes: int = 1) -> OnlineClassifier:
    """What a reader of the documentation would write."""
    model = OnlineClassifier()
    for _ in range(passes):
        for block in stream:
            classes = ["no", "yes"] if block.y.dtype.kind in "UO" else [-1, 1]
            model.partial_fit(block.X, block.y, sample_weight=block.importance, classes=classes)
    return model


def trained(*words: Any) -> Any:
    """The model of a command line, as Python loads it."""
    ended = run_here("train", *words, "--quiet", "--model", "m")
    assert ended.code == 0, ended
    return onlinear.load("m")


def assert_same_bits(model: Any, other: Any, columns: int | None = None) -> None:
    assert other.coef_.any()
    assert model.coef_[:, :columns].tobytes() == other.coef_.tobytes()
    assert not model.coef_[:, other.coef_.shape[1] :].any()
    assert model.intercept_.tobytes() == other.intercept_.tobytes()


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "hashed": ({}, []),
    "few bits": ({"bits": 3}, ["--bits", "3"]),
    "kept names": ({"bits": 6, "keep_names": True}, ["--bits", "6", "--keep-names"]),
    "texts, crosses, scales": (
        {"bits": 10, "text": ["note"], "ngrams": 2, "crosses": [("town", "note")], "scale": "standardise"},
        ["--bits", "10", "--text", "note", "--ngrams", "2", "--cross", "town,note", "--scale", "standardise"],
    ),
    "largest": ({"bits": 10, "scale": "max-abs"}, ["--bits", "10", "--scale", "max-abs"]),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
def test_hashed_names_are_learned_as_by_the_command_line(folder: Path, name: str) -> None:
    options, words = CASES[name]
    model = learned(open_stream("people.csv", **OPTIONS, **options))
    assert_same_bits(model, trained("people.csv", *WORDS, *words))


@pytest.mark.compiles
def test_exact_names_are_learned_as_by_the_command_line(folder: Path) -> None:
    model = learned(open_stream("people.csv", **OPTIONS, names="exact", features=50))
    assert_same_bits(model, trained("people.csv", *WORDS, "--names", "exact"), 8)  # age, age=?, 3 towns, 3 notes


@pytest.mark.compiles
@pytest.mark.parametrize("scale", [None, "max-abs"])
def test_svmlight_is_learned_as_by_the_command_line(folder: Path, scale: str | None) -> None:
    model = learned(open_stream("rows.svm", features=39, scale=scale))
    assert_same_bits(model, trained("rows.svm", *([] if scale is None else ["--scale", scale])))


@pytest.mark.compiles
@pytest.mark.parametrize("options", [{}, {"names": "exact", "features": 50, "scale": "standardise"}])
def test_a_second_pass_over_the_same_stream(folder: Path, options: dict[str, Any]) -> None:
    words = ["--names", "exact", "--scale", "standardise"] if options else []
    model = learned(open_stream("people.csv", **OPTIONS, **options), passes=2)
    once, twice = trained("people.csv", *WORDS, *words), trained("people.csv", *WORDS, *words, "--passes", 2)
    assert once.coef_.tobytes() != twice.coef_.tobytes()
    assert_same_bits(model, twice, twice.coef_.shape[1])


@pytest.mark.compiles
@pytest.mark.parametrize("package", [pandas, polars], ids=lambda package: package.__name__)
@pytest.mark.parametrize("options", [{}, {"text": ["note"], "crosses": [("age", "town")]}])
def test_frames_are_learned_as_files(folder: Path, package: Any, options: dict[str, Any]) -> None:
    model = learned(open_stream(frame(package), **OPTIONS, **options))
    words = ["--text", "note", "--cross", "age,town"] if options else []
    assert_same_bits(model, trained("people.csv", *WORDS, *words))


def test_tables_of_arrow_are_frames(folder: Path) -> None:
    table = pyarrow.Table.from_pandas(frame(pandas))
    found = list(open_stream(table, **OPTIONS))
    assert sum(map(len, found)) == ROWS
    assert found[0].y.tolist()[:5] == [row[-1] for row in people()[:5]]


@pytest.mark.compiles
def test_bad_lines_are_handed_over_and_left_out(folder: Path) -> None:
    lines = (folder / "rows.svm").read_text().splitlines()
    (folder / "bad.svm").write_text("\n".join([*lines[:30], "1 4:x", *lines[30:70], "?", *lines[70:]]) + "\n")
    seen: list[tuple[int, bytes]] = []
    stream = open_stream("bad.svm", features=39, on_bad=lambda line, text: seen.append((line.line, text)))
    assert_same_bits(learned(stream), trained("rows.svm"))
    assert [(line, text.strip()) for line, text in seen] == [(31, b"1 4:x"), (72, b"?")]
    blocks = iter(open_stream("bad.svm", features=39))
    assert len(next(blocks)) == 30
    with pytest.raises(BadLine, match=r"bad\.svm:31:5: the value 'x' is not a finite number"):
        next(blocks)


def test_a_matrix_needs_to_know_its_columns(folder: Path) -> None:
    (block,) = open_stream("rows.svm")
    assert block.y.shape == block.importance.shape == (ROWS,)
    with pytest.raises(OnlinearError, match="nobody knows how many columns there will be: open the stream with feat"):
        block.X  # noqa: B018


# ------------------------------------------------------------------ rows one at a time


@pytest.mark.compiles
@pytest.mark.parametrize("options", [[], ["--bits", "4"], ["--names", "exact"], ["--keep-names"]])
def test_a_loaded_model_answers_for_a_dict_as_predict_for_a_row(folder: Path, options: list[str]) -> None:
    model = trained("people.csv", *WORDS, "--ignore", "note", *options)
    new = [{"age": 39, "town": "Bern"}, {"age": 75.5, "town": "Ulm"}, {"age": 20, "town": "Chur, GR"}]
    (folder / "new.csv").write_text('town,age\nBern,39\nUlm,75.5\n"Chur, GR",20\nUlm,\n')
    ended = run_here("predict", "m", "new.csv", "--scores", "--probabilities", "--output-format", "csv")
    assert ended.code == 0, ended
    found = [line.split(",") for line in ended.out.splitlines()[1:]]
    for row, (label, score, _, chance) in zip([*new, {"age": "?", "town": "Ulm"}], found, strict=True):
        assert model.predict_one(row) == label
        odds = model.predict_proba_one(row)
        assert odds["yes"] == pytest.approx(float(chance), rel=1e-12)
        assert np.log(odds["yes"] / odds["no"]) == pytest.approx(float(score), rel=1e-9)
    assert len({label for label, *_ in found}) == 2


def test_a_table_without_features_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("a;b\n1;2\n")
    with pytest.raises(OnlinearError, match="no column to learn from beside the target: is the delimiter right"):
        open_stream(file, delimiter=",")
    with pytest.raises(Refused, match="name columns that are texts"):
        open_stream(file, ngrams=2)
    for text in ("a^b\n1^x\n2^y\n", "1^x\n2^y\n"):  # no delimiter that is looked for
        file.write_text(text)
        with pytest.raises(OnlinearError, match="is the delimiter right"):
            open_stream(file)
    file.write_text("a,b\n1,2\n")
    assert next(iter(open_stream(file, target="b", ignore=["a"]))).width == 0


@pytest.mark.parametrize("text", ["y\n1\n2\n4\n", "1\n2\n4\n", "wage w\nlow\nhigh\nlow\n", "y,w\n1,1\n2,1\n4,1\n"])
def test_a_target_alone_is_a_table(tmp_path: Path, text: str) -> None:
    """An intercept alone is a model: of a mean, or of how frequent classes are."""
    file = tmp_path / "rows.csv"
    file.write_text(text)
    block = next(iter(open_stream(file, target="y" if text[0] == "y" else None, weight="w" if "," in text else None)))
    assert block.width == 0
    assert block.labels.tolist() == (["low", "high", "low"] if "low" in text else [1.0, 2.0, 4.0])


@pytest.mark.parametrize("option", ["ignore", "categories", "text", "missing", "numbers"])
@pytest.mark.parametrize("kind", ["CSV", "frame"])
def test_one_name_alone_is_one_and_not_its_letters(tmp_path: Path, kind: str, option: str) -> None:
    """``ignore="ab"`` must not ignore the columns a and b."""
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "ab": ["u", "v"], "t": ["N", "ab"], "y": [0.0, 1.0]})
    table.to_csv(tmp_path / "t.csv", index=False)
    source: Any = str(tmp_path / "t.csv") if kind == "CSV" else table
    alone, listed = {option: "ab"}, {option: ["ab"]}
    if option == "numbers" and kind == "frame":  # only CSV is told so
        with pytest.raises(Refused):
            open_stream(source, target="y", **alone)  # type: ignore[arg-type]
        return
    assert open_stream(source, target="y", **alone).format == open_stream(source, target="y", **listed).format  # type: ignore[arg-type]
    if option != "numbers":
        one, several = (onlinear.profile_of(source, target="y", **said) for said in (alone, listed))  # type: ignore[arg-type]
        assert one.reading == several.reading
        assert [column.role for column in one.columns] == [column.role for column in several.columns]


def test_a_frequent_category_and_a_kept_column_alone_are_one() -> None:
    table = pandas.DataFrame({"t": ["ab", "a", "b"], "n": [1.0, 2.0, 3.0], "y": ["p", "q", "p"]})
    stream = open_stream(table, target="y", frequent={"t": "ab"})
    assert stream.format.naming is not None
    assert stream.format.naming.frequent == (("t", ("ab",)),)
    many = pandas.DataFrame({"a": range(90), "ab": [f"id{k}" for k in range(90)], "y": ["p", "q"] * 45})
    choice = onlinear.choose_recipe(onlinear.profile_of(many, target="y"), keep="ab")
    assert choice.roles["ab"] == "feature"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ignore": b"ab"}, r"ignore is b'ab': give a list of names"),
        ({"missing": None}, r"missing is None: give a list of names"),
        ({"missing": [-999]}, r"missing has -999 among its texts: write what stands in the cells, in quotes"),
        ({"crosses": ("ab", "cd")}, r"crosses has 'ab' for a pair: give a list of pairs of names"),
        ({"crosses": "ab"}, r"crosses has 'ab' for a pair"),
        ({"crosses": [("a", "b", "c")]}, r"crosses has \('a', 'b', 'c'\) for a pair"),
        ({"ranges": {"a": "12"}}, r"the edges of 'a' are '12': give numbers"),
        ({"clip": {"a": "12"}}, r"the bounds of 'a' are '12': give two numbers"),
        ({"clip": {"a": 3}}, r"the bounds of 'a' are 3: give two numbers"),
        ({"clip": [("a", 1, 2)]}, r"clip is \[\('a', 1, 2\)\]: give a dict with the names of columns as its keys"),
        ({"frequent": "a"}, r"frequent is 'a': give a dict"),
        ({"on_bad": "skip"}, r"on_bad is 'skip'.*give a function of \(line, text\)"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_option(options: dict[str, Any], said: str) -> None:
    table = pandas.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0], "d": [5.0, 6.0], "y": ["p", "q"]})
    with pytest.raises(OnlinearError, match=said):
        open_stream(table, target="y", **options)


def test_a_word_for_on_bad_is_refused_at_every_door() -> None:
    table, word = pandas.DataFrame({"a": [1.0, 2.0] * 9, "y": ["p", "q"] * 9}), {"on_bad": "skip"}
    for door in (onlinear.profile_of, onlinear.race):
        with pytest.raises(Refused, match="on_bad is 'skip'"):
            door(table, target="y", **word)  # type: ignore[operator]


# ------------------------------------------------------------------ a missing cell, and a category of its name


def towns(folder: Path, form: str, towns: list[Any]) -> Any:
    """Rows of a town and a label, in a file or a frame."""
    rows = [{"t": town, "y": label} for town, label in zip(towns, "pqpq", strict=True)]
    table = pyarrow.Table.from_pylist(rows)
    match form:
        case "CSV":
            cells = [f"{row['t'] or ''},{row['y']}" for row in rows]
            (folder / "t.csv").write_text("\n".join(["t,y", *cells]))
        case "JSON lines":
            (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
        case "Parquet":
            pyarrow.parquet.write_table(table, folder / "t.parquet")
        case "pandas":
            return table.to_pandas()
        case "categories":
            return table.to_pandas().astype({"t": "category"})
    return str(next(iter(folder.iterdir())))


FORMS = ["CSV", "JSON lines", "Parquet", "pandas", "categories"]


@pytest.mark.parametrize(
    "how", [{"names": "exact", "features": 9}, {"bits": 10}, {"bits": 10, "keep_names": True}], ids=str
)
@pytest.mark.parametrize("form", FORMS)
def test_a_category_that_has_the_name_of_a_missing_cell_is_a_bad_row(
    tmp_path: Path, form: str, how: dict[str, Any]
) -> None:
    """With words of one's own for what is missing, a question mark is a category; but no other than the missing one."""
    source, bad = towns(tmp_path, form, ["Bern", "none", "?", None]), list[BadLine]()
    own: dict[str, Any] = {"target": "y", "missing": ["none", ""], **how}
    said = r":\d+:\d+: the category '\?' of 't' is how a missing cell is named: rename it, or train with --missing"
    with pytest.raises(BadLine, match=said):
        list(open_stream(source, **own))
    blocks = list(open_stream(source, **own, on_bad=lambda line, text: bad.append(line)))
    assert [label for block in blocks for label in block.y.tolist()] == ["p", "q", "q"]
    assert [line.line for line in bad] == [4 if form == "CSV" else 3]
    (block,) = open_stream(source, **own | {"missing": ["none", "", "?"]})
    assert len(set(block.X.indices[1:].tolist())) == 1  # all of them are missing


@pytest.mark.parametrize("form", ["CSV", "Parquet", "pandas"])
def test_a_question_mark_is_a_label_and_a_text_as_any_other(tmp_path: Path, form: str) -> None:
    source = towns(tmp_path, form, ["Bern", "?", "Ulm", "?"])
    (block,) = open_stream(source, target="t", missing="none", categories="y", names="exact", features=9)
    assert block.y.tolist() == ["Bern", "?", "Ulm", "?"]
    (block,) = open_stream(source, target="y", missing="none", text="t", names="exact", features=9)
    assert block.X.getnnz(axis=1).tolist() == [1, 0, 1, 0]  # there is no word in it


def test_a_word_of_a_list_that_has_the_name_of_a_missing_one_is_a_bad_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"y": "p", "t": ["a", "?"]}\n')
    with pytest.raises(BadLine, match=r"t.jsonl:1:12: the category '\?' of 't'"):
        list(open_stream(str(tmp_path / "t.jsonl"), target="y", missing="none"))
