"""``onlinear.predict``: a table means the same to a model in every form, and no row is left out silently."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import onlinear
from commands import run_here
from onlinear import losses, rules
from onlinear.errors import BadLine, BadModel, BadSource, OnlinearError, Refused
from onlinear.files import trained as trained_files
from onlinear.files.trained import Trained
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams.conversion.directions import ConvertOptions, convert
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import open_alike, open_stream

ROWS = 60
NUMBERS = np.random.default_rng(3)
CELLS: dict[str, Any] = {
    "x": NUMBERS.normal(size=ROWS).tolist(),
    "count": [None if k % 7 == 0 else int(k) for k in NUMBERS.integers(0, 50, ROWS)],
    "town": [["Bern", " Thun ", "Thun", " Bern", "a,b", None, "Zürich"][k] for k in NUMBERS.integers(0, 7, ROWS)],
    "zip": [f"{k:04}" for k in NUMBERS.integers(995, 1005, ROWS)],
    "note": [" ".join(NUMBERS.choice(["free", "cash", "Hello", "x_1"], 3)) for _ in range(ROWS)],
    "y": NUMBERS.normal(size=ROWS).tolist(),
}
OPTIONS: dict[str, Any] = {"target": "y", "text": ["note"], "categories": ["zip"], "bits": 10, "scale": "max-abs"}


def in_csv(folder: Path) -> str:
    pl.DataFrame(CELLS).write_csv(folder / "rows.csv")
    return str(folder / "rows.csv")


def in_quotes(folder: Path) -> str:
    pd.DataFrame(CELLS).to_csv(folder / "quotes.csv", index=False, quoting=csv.QUOTE_NONNUMERIC)
    return str(folder / "quotes.csv")


def in_parquet(folder: Path) -> str:
    parquet.write_table(pa.table(CELLS), folder / "rows.parquet")
    return str(folder / "rows.parquet")


def in_arrow(folder: Path) -> str:
    with ipc.new_file(folder / "rows.arrow", pa.table(CELLS).schema) as out:
        out.write_table(pa.table(CELLS))
    return str(folder / "rows.arrow")


FORMS: dict[str, Callable[[Path], Any]] = {
    "CSV": in_csv,
    "CSV in quotes": in_quotes,
    "Parquet": in_parquet,
    "Arrow": in_arrow,
    "pandas": lambda folder: pd.DataFrame(CELLS),
    "pandas, from a CSV file": lambda folder: pd.read_csv(in_csv(folder), dtype={"zip": str}),
    "pandas, categories": lambda folder: pd.DataFrame(CELLS).astype({"town": "category", "zip": "category"}),
    "polars": lambda folder: pl.DataFrame(CELLS),
    "Arrow in memory": lambda folder: pa.table(CELLS),
    "views": lambda folder: pa.table(CELLS).cast(pa.table(CELLS).schema.set(2, pa.field("town", pa.string_view()))),
}


def learned_from(source: Any, path: Path, **options: Any) -> Path:
    """A model file of a regression on rows."""
    stream = open_stream(source, **(OPTIONS | options))
    training = Model.create(losses.Squared(), rules.Normalised(), Settings(), None, stream.recipe.bits)
    for block in stream:
        training.learn(block)
    trained_files.save(path, Trained(training, stream.recipe))
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learned", ["CSV", "CSV in quotes", "Parquet", "pandas, categories"])
def test_a_model_of_a_table_answers_every_form_to_the_bit(tmp_path: Path, learned: str, form: str) -> None:
    model = learned_from(FORMS[learned](tmp_path), tmp_path / "m")
    expected = onlinear.predict(learned_from(in_csv(tmp_path), tmp_path / "csv"), in_csv(tmp_path))
    assert len(set(expected.tolist())) == ROWS
    source = FORMS[form](tmp_path)
    assert onlinear.predict(model, source).tolist() == expected.tolist()


@pytest.mark.parametrize("form", ["CSV in quotes", "Parquet"])
def test_blanks_around_a_category_are_no_part_of_its_name(tmp_path: Path, form: str) -> None:
    names = {"bits": None, "names": "exact", "crosses": [("town", "zip")]}
    model = learned_from(FORMS[form](tmp_path), tmp_path / "m", **names)
    known = trained_files.open_model(model).recipe.exact_names
    assert known is not None
    towns = {"?" if town is None else town.strip() for town in CELLS["town"]}
    assert {name for name in known if name.startswith("town=") and "*" not in name} == {f"town={t}" for t in towns}
    assert {name.partition("*")[0] for name in known if "*zip=" in name} == {f"town={t}" for t in towns}
    rare = learned_from(FORMS[form](tmp_path), tmp_path / "rare", frequent={"town": [" Thun"]})
    plain = learned_from(FORMS[form](tmp_path), tmp_path / "plain", frequent={"town": ["Thun"]})
    assert rare.read_bytes() == plain.read_bytes()


@pytest.mark.parametrize("form", ["CSV in quotes", "Parquet"])
def test_older_models_know_categories_with_their_blanks(tmp_path: Path, form: str) -> None:
    """Those whose format does not say that they are trimmed."""
    source = FORMS[form](tmp_path)
    stream = open_stream(source, **OPTIONS | {"bits": None, "names": "exact"})
    header, arrays = stream.recipe.parts()
    ((name, fields),) = header["format"].items()
    old = {field: said for field, said in fields.items() if field not in ("trimmed", "held", "valued")}
    recipe = Recipe.from_header(header | {"format": {name: old}}, arrays)
    for _ in open_alike(source, recipe.format, recipe=recipe):
        pass
    assert recipe.exact_names is not None
    assert {"town= Bern", "town= Thun ", "town=Bern", "town=Thun"} <= set(recipe.exact_names)


def test_columns_in_another_order_and_without_the_target(tmp_path: Path) -> None:
    model = learned_from(in_csv(tmp_path), tmp_path / "m")
    frame = pd.DataFrame(CELLS)[["note", "zip", "town", "x", "count"]].assign(more=1)
    assert onlinear.predict(model, frame).tolist() == onlinear.predict(model, in_csv(tmp_path)).tolist()
    with pytest.raises(OnlinearError, match="DataFrame: has no column 'zip': add it"):
        onlinear.predict(model, frame.drop(columns="zip"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("left", [["y"], [], ["y", "x"]])
def test_a_model_that_reads_no_column_answers_every_row(tmp_path: Path, form: str, left: list[str]) -> None:
    """That is an intercept alone, which has learned the mean."""
    ignored = {"ignore": [name for name in CELLS if name != "y"], "text": [], "categories": [], "scale": None}
    model = learned_from(in_csv(tmp_path), tmp_path / "m", **ignored)
    source = FORMS[form](tmp_path)
    if isinstance(source, pd.DataFrame | pl.DataFrame) and left:
        source = source[left]
    answers = onlinear.predict(model, source)
    assert (len(answers), len(set(answers.tolist()))) == (ROWS, 1)


def test_what_a_frame_cannot_tell_a_model_of_csv(tmp_path: Path) -> None:
    model = learned_from(in_csv(tmp_path), tmp_path / "m")
    frame = pd.DataFrame(CELLS)
    with pytest.raises(Refused, match="column 'zip' holds truth values, which the model knows as texts: convert"):
        onlinear.predict(model, frame.assign(zip=frame["zip"] > "1004"))
    with pytest.raises(OnlinearError, match=r"DataFrame: column 'x' has texts .* where numbers should be"):
        onlinear.predict(model, frame.assign(x="a"))
    with pytest.raises(Refused, match="an array has no names: give a file or a frame"):
        onlinear.predict(model, np.eye(5))


@pytest.mark.parametrize("dtype", ["int64", "float64", "category", "Int64"])
@pytest.mark.parametrize("column", ["zip", "note"])
@pytest.mark.parametrize("learned", ["CSV", "Parquet", "pandas, categories"])
def test_numbers_are_not_the_texts_that_a_model_knows(tmp_path: Path, learned: str, column: str, dtype: str) -> None:
    model = learned_from(FORMS[learned](tmp_path), tmp_path / "m")
    frame = pd.DataFrame(CELLS)
    numbers = frame.assign(**{column: frame["zip"].astype(int).astype(dtype)})
    numbers.to_parquet(tmp_path / "numbers.parquet")
    for source in (numbers, tmp_path / "numbers.parquet"):
        with pytest.raises(Refused, match=rf"column '{column}' holds numbers, .* dtype={{'{column}': str}}"):
            onlinear.predict(model, source)


NAMES = {"numbers": [1.0, 2.0, 2.5, None] * 9, "truth values": [True, False, None] * 12}


@pytest.mark.parametrize("held", NAMES)
@pytest.mark.parametrize("role", ["categories", "text"])
def test_names_that_are_no_texts_are_not_asked_of_texts(tmp_path: Path, held: str, role: str) -> None:
    frame = pd.DataFrame({"k": NAMES[held], "y": range(36)})
    options = {"text": [], "categories": []} | {role: ["k"]}
    model = learned_from(pa.Table.from_pandas(frame), tmp_path / "m", **options)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(
        Refused, match=rf"rows.csv: the names in column 'k' are {held} to the model, .*pandas: read_csv"
    ):
        onlinear.predict(model, tmp_path / "rows.csv")
    expected = onlinear.predict(model, frame).tolist()
    assert onlinear.predict(model, pd.read_csv(tmp_path / "rows.csv")).tolist() == expected
    with pytest.raises(Refused, match=f"DataFrame: column 'k' holds texts, which the model knows as {held}: convert"):
        onlinear.predict(model, pd.read_csv(tmp_path / "rows.csv", dtype=str))


def test_numbers_that_are_names_go_from_csv_by_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"k": NAMES["numbers"], "y": range(36)})
    model = learned_from(pa.Table.from_pandas(frame), tmp_path / "m", text=[], categories=["k"])
    frame.to_csv(tmp_path / "rows.csv", index=False)
    convert(ConvertOptions([str(tmp_path / "rows.csv")], str(tmp_path / "rows.parquet")))
    assert onlinear.predict(model, tmp_path / "rows.parquet").tolist() == onlinear.predict(model, frame).tolist()


def test_files_of_one_training_hold_the_same(tmp_path: Path) -> None:
    pd.DataFrame({"zip": ["01201", "3000"], "y": [1, 2]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"zip": [1201, 3000], "y": [1, 2]}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(Refused, match=r"b.parquet: column 'zip' holds numbers, which the model knows as texts"):
        list(open_stream([tmp_path / "a.parquet", tmp_path / "b.parquet"]))


TARGETS: dict[str, list[Any]] = {"texts": ["1", "0"] * 4, "numbers": [1, 0] * 4, "truth values": [True, False] * 4}


def with_target(folder: Path, what: str) -> str:
    path = folder / f"{what.partition(' ')[0]}.parquet"
    parquet.write_table(pa.table({"x": [1.0, 2.0] * 4, "y": TARGETS[what]}), path)
    return str(path)


@pytest.mark.parametrize("first", ["texts", "truth values"])
def test_classes_are_of_one_kind_in_all_files(tmp_path: Path, first: str) -> None:
    known = open_stream(with_target(tmp_path, first), target="y")
    for other in TARGETS.keys() - {first}:
        source = with_target(tmp_path, other)
        said = rf"parquet: column 'y' holds {other}, which the model knows as {first}"
        with pytest.raises(Refused, match=said):
            list(open_stream([with_target(tmp_path, first), source], target="y"))
        with pytest.raises(Refused, match=said):
            list(open_alike(source, known.recipe.format, recipe=known.recipe))
        unlabelled = open_alike(source, known.recipe.format, labelled=False, recipe=known.recipe)
        assert sum(map(len, unlabelled)) == 8


def test_classes_of_a_table_and_of_csv(tmp_path: Path) -> None:
    source = tmp_path / "rows.csv"
    source.write_text("x,y\n1.0,True\n2.0,False\n")
    of_csv = open_stream(source, target="y").recipe
    with pytest.raises(Refused, match="column 'y' holds truth values, which the model knows as texts: convert"):
        list(open_alike(with_target(tmp_path, "truth values"), of_csv.format, recipe=of_csv))
    of_table = open_stream(with_target(tmp_path, "truth values"), target="y").recipe
    (block,) = open_alike(str(source), of_table.format, labelled=False, recipe=of_table)  # which needs no labels
    assert len(block) == 2


@pytest.mark.parametrize("learned", ["CSV", "Parquet"])
def test_a_column_that_is_missing_everywhere_is_no_column_of_numbers(tmp_path: Path, learned: str) -> None:
    model = learned_from(FORMS[learned](tmp_path), tmp_path / "m")
    frame = pd.DataFrame(CELLS)
    expected = onlinear.predict(model, frame.assign(zip=pd.Series([None] * ROWS, dtype=object)))
    assert onlinear.predict(model, frame.assign(zip=np.nan)).tolist() == expected.tolist()


def test_columns_without_names_are_told_by_number_and_not_shifted(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("".join(f"{k},{k * k},{3 * k}\n" for k in range(9)))
    model = learned_from(tmp_path / "rows.csv", tmp_path / "m", target=3, text=[], categories=[], header=False)
    frame = pd.read_csv(tmp_path / "rows.csv", header=None)
    with pytest.raises(
        Refused, match=r"DataFrame: the model has learned from CSV without a header.*name the columns 1, 2"
    ):
        onlinear.predict(model, frame)
    named = frame.set_axis([1, 2, 3], axis=1)
    assert onlinear.predict(model, named).tolist() == onlinear.predict(model, tmp_path / "rows.csv").tolist()


def test_models_of_other_formats_refuse_a_frame(tmp_path: Path) -> None:
    (tmp_path / "rows.vw").write_text("1 | a b\n-1 | c\n")
    model = learned_from(tmp_path / "rows.vw", tmp_path / "m", target=None, text=[], categories=[])
    with pytest.raises(Refused, match="a DataFrame is given, and the model has learned from vw: convert it first"):
        onlinear.predict(model, pd.DataFrame(CELLS))


@pytest.mark.parametrize("learned", ["CSV", "Parquet"])
def test_nothing_to_read_is_refused(tmp_path: Path, learned: str) -> None:
    model = learned_from(FORMS[learned](tmp_path), tmp_path / "m")
    with pytest.raises(BadSource, match="there is nothing to read: name at least one file"):
        onlinear.predict(model, [])


@pytest.mark.parametrize("learned", ["CSV", "Parquet"])
@pytest.mark.parametrize("forms", [("CSV", "Parquet"), ("Arrow", "CSV")])
def test_files_of_one_call_are_of_one_form(tmp_path: Path, learned: str, forms: tuple[str, str]) -> None:
    model = learned_from(FORMS[learned](tmp_path), tmp_path / "m")
    files = [FORMS[form](tmp_path) for form in forms]
    with pytest.raises(Refused, match=r"by its name, and .* is .*: files that are read at once .* read them apart"):
        onlinear.predict(model, files)


@pytest.mark.parametrize(("labels", "kind"), [(["no", "yes"], "U"), ([1, 2], "iuf"), ([0.5, 1.25], "f")])
def test_answers_to_no_rows_are_of_the_type_of_all_others(tmp_path: Path, labels: list[Any], kind: str) -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0] * 9, "y": labels * 9})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    assert run_here("train", tmp_path / "rows.csv", "-m", tmp_path / "m", "-q").code == 0
    answers = onlinear.predict(tmp_path / "m", frame)
    nothing = onlinear.predict(tmp_path / "m", frame[:0])
    assert nothing.dtype == answers.dtype
    assert (len(nothing), nothing.dtype.kind in kind) == (0, True)


# ------------------------------------------------------------------ bad rows


def model_with_names(folder: Path) -> Path:
    """A model that remembers its names, so that its recipe adds up what shares a cell: two of three in two cells."""
    (folder / "rows.csv").write_text("a,b,c,y\n1,2,3,4\n2,1,4,3\n")
    return learned_from(folder / "rows.csv", folder / "m", text=[], categories=[], scale=None, bits=1, keep_names=True)


def test_a_row_that_is_bad_to_the_recipe_is_an_error(tmp_path: Path) -> None:
    model = model_with_names(tmp_path)
    recipe: Recipe = trained_files.open_model(model).recipe
    (tmp_path / "new.csv").write_text("a,b,c\n1,2,3\n1e308,1e308,1e308\n2,1,4\n")
    with pytest.raises(BadLine, match=r"new.csv:3:1: features that share a cell add up to infinity"):
        onlinear.predict(model, tmp_path / "new.csv")
    bad: list[int] = []
    answers = onlinear.predict(model, tmp_path / "new.csv", on_bad=lambda line, text: bad.append(line.line))
    (tmp_path / "good.csv").write_text("a,b,c\n1,2,3\n2,1,4\n")
    assert answers.tolist() == onlinear.predict(model, tmp_path / "good.csv").tolist()
    assert bad == [3]
    with pytest.raises(BadLine, match=r"new.csv:3:1"):
        list(open_alike(str(tmp_path / "new.csv"), recipe.format, labelled=False, recipe=recipe).as_known())


@pytest.mark.parametrize("ask", [lambda model: onlinear.predict(model, "rows.csv"), onlinear.load])
def test_a_model_where_the_path_of_one_is_wanted(ask: Callable[[Any], Any]) -> None:
    learned = onlinear.OnlineClassifier().fit([[1.0], [-1.0]], ["p", "q"])
    for model in (learned, onlinear.OnlineSearch(), onlinear.KernelPerceptron()):
        with pytest.raises(BadModel, match=f"ask the {type(model).__name__} itself, by its own predict"):
            ask(model)
    for number in (None, 0, [learned]):  # a number would be a file that someone else has opened
        with pytest.raises(BadModel, match="a model is given by the path of its file, and this is of the type"):
            ask(number)


def test_on_bad_is_looked_at_before_any_row(tmp_path: Path) -> None:
    model = model_with_names(tmp_path)
    with pytest.raises(Refused, match="on_bad is 'skip'"):
        onlinear.predict(model, tmp_path / "rows.csv", on_bad="skip")  # type: ignore[arg-type]


def test_a_row_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    model = model_with_names(tmp_path)
    (tmp_path / "new.csv").write_text("a,b,c\n1,2,3\none,2,3\n")
    with pytest.raises(BadLine, match=r"new.csv:3:1: 'one' in the number column 'a'"):
        onlinear.predict(model, tmp_path / "new.csv")
