"""Bounds for numbers and a common feature for rare categories: as if the file had been changed by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings, strategies as st

from commands import run_here
from onlinear import losses, rules
from onlinear.data.rows import SparseRows
from onlinear.errors import OnlinearError, Refused
from onlinear.features.naming import Naming
from onlinear.files.trained import Trained, save
from onlinear.learning.classes import classes_in
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams import text_lines
from onlinear.streams.packing import pack_value, unpack_value
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import Stream, open_alike, open_stream
from onlinear.workflow.run import Run
from tables import table

CLIP = {"age": (18.0, 60.0), "size": (-1.0, 1.5)}
FREQUENT = {"town": ("Bern", "Thun"), "tool": ("saw",)}
NAMES: list[dict[str, Any]] = [{"names": "exact"}, {"keep_names": True}, {}]

Row = tuple[Any, Any, str, str, str, str]
ROWS = st.lists(
    st.tuples(
        st.integers(0, 99) | st.just(""),
        st.floats(-3, 3).map(lambda x: round(x, 2)) | st.just("?"),
        st.sampled_from(["Bern", "Thun", "Uri", "Zug", "", "Bern "]),
        st.sampled_from(["saw", "axe", "NA", "plane"]),
        st.sampled_from(["late again", "never seen, never late", ""]),
        st.sampled_from("mn"),
    ),
    min_size=3,
    max_size=25,
)
COLUMNS = ("age", "size", "town", "tool", "note", "y")
#: whatever is drawn, each column holds what it should
FIRST: list[Row] = [(30, 0.5, "Bern", "saw", "not now", "m"), (99, 2.5, "Uri", "axe", "not now", "n")]


def by_hand(row: Row) -> Row:
    """A row as it has to be understood."""
    age, size, town, tool, note, y = row
    age = age if age == "" else min(max(age, 18), 60)
    size = size if size == "?" else min(max(size, -1.0), 1.5)
    town = town if town.strip() in ("Bern", "Thun", "") else "(rare)"
    return age, size, town, tool if tool in ("saw", "NA") else "(rare)", note, y


def file_of(folder: Path, rows: list[Row], name: str) -> str:
    return table(folder, dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)), name)


def learned(stream: Stream) -> tuple[list[Any], list[str] | None]:
    """All rows of a pass, and the names of their columns."""
    found = []
    for block in stream:
        assert isinstance(block.rows, SparseRows)
        starts, columns, values = block.rows
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            found.append(list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
    return found, stream.recipe.exact_names


@pytest.mark.parametrize("options", NAMES)
@pytest.mark.parametrize("scale", [None, "standardise"])
@settings(max_examples=15)
@given(ROWS, st.integers(20, 200), st.booleans())
def test_rows_are_those_of_a_file_changed_by_hand(
    tmp_path_factory: pytest.TempPathFactory,
    options: dict[str, Any],
    scale: str | None,
    rows: list[Row],
    chunk: int,
    crossed: bool,
) -> None:
    folder, rows = tmp_path_factory.mktemp("rows"), FIRST + rows
    options = options | {"text": ["note"], "scale": scale, "crosses": [("town", "tool")] if crossed else ()}
    expected = learned(open_stream(file_of(folder, [by_hand(row) for row in rows], "changed.csv"), **options))
    file = file_of(folder, rows, "rows.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "CHUNK", chunk)  # in whatever pieces
        assert learned(open_stream(file, clip=CLIP, frequent=FREQUENT, **options)) == expected
    frame = pandas.DataFrame([row[2:] for row in rows], columns=COLUMNS[2:])
    for place, name in enumerate(COLUMNS[:2]):
        frame.insert(place, name, [row[place] if row[place] not in ("", "?") else np.nan for row in rows])
    frame["town"] = frame["town"].str.strip()  # of a frame blanks are part of a category
    if not crossed:  # of Arrow, products come in another order
        assert sorted(map(str, learned(open_stream(frame, clip=CLIP, frequent=FREQUENT, **options))[0])) == sorted(
            map(str, expected[0])
        )


@pytest.mark.parametrize("options", NAMES)
def test_a_restored_recipe_knows_bounds_and_categories(tmp_path: Path, options: dict[str, Any]) -> None:
    stream = open_stream(file_of(tmp_path, FIRST * 3, "rows.csv"), clip=CLIP, frequent=FREQUENT, **options)
    for _ in stream:
        pass
    header, arrays = stream.recipe.parts()
    recipe = Recipe.from_header(json.loads(json.dumps(header)), arrays)
    assert recipe.bounds == stream.recipe.bounds
    assert recipe.format == stream.recipe.format
    new = file_of(tmp_path, [(1, 9, "Rome", "awl", "late", "n")], "new.csv")
    found = [
        each.apply(block, True).rows.values.tolist()
        for each in (stream.recipe, recipe)
        for block in open_alike(new, each.format).blocks(True)
    ]
    assert found[0] == found[1]
    assert {18.0, 1.5} <= set(found[1])


def test_models_that_know_of_neither_still_load(tmp_path: Path) -> None:
    stream = open_stream(file_of(tmp_path, FIRST * 3, "rows.csv"))
    header, arrays = stream.recipe.parts()
    assert "clipping" not in header
    old = json.loads(json.dumps(header))
    for unknown in ("frequent", "ranges"):
        del old["format"]["csv"]["naming"][unknown]
    for unknown in ("quoted", "trimmed"):
        del old["format"]["csv"][unknown]
    assert Recipe.from_header(old, arrays).format == replace(stream.recipe.format, trimmed=False)
    with pytest.raises(OnlinearError, match="where the fields"):
        unpack_value(Naming, {"bits": 18})
    assert unpack_value(Naming, pack_value(Naming(5))) == Naming(5)


def trained(stream: Stream) -> Trained:
    classes = classes_in([block.labels for block in stream.before_recipe()])
    training = Model.create(losses.Logistic(), rules.AdaGrad(), Settings(), classes, stream.recipe.bits)
    for _ in Run(training, stream, 2).steps():
        pass
    return Trained(training, stream.recipe)


@pytest.mark.compiles
def test_a_model_answers_without_options(tmp_path: Path) -> None:
    """Trained on the rows or on rows changed by hand, tested on the like: the same answers."""
    random = np.random.default_rng(3)
    rows: list[Row] = FIRST + [
        (int(random.integers(0, 99)), round(float(random.normal()), 2), town, "saw", "", "m" if town < "C" else "n")
        for town in random.choice(["Bern", "Thun", "Uri", "Zug"], 40)
    ]
    unseen = [*rows[:10], (500, -40.0, "Rome", "awl", "", "n")]
    answers = []
    for change, options in ((tuple, {"clip": CLIP, "frequent": FREQUENT}), (by_hand, {})):
        learning = file_of(tmp_path, [change(row) for row in rows], "learning.csv")
        testing = file_of(tmp_path, [change(row) for row in unseen], "testing.csv")
        model = tmp_path / "model.onlinear"
        save(model, trained(open_stream(learning, names="exact", scale="standardise", **options)))
        commands = (["predict", model, testing], ["test", model, testing, "--json"])
        ended = [run_here(*words) for words in commands]
        assert [each.code for each in ended] == [0, 0], ended
        answers.append([ended[0].out, json.loads(ended[1].out)["error"]])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clip": {"town": (0, 1)}}, "the column 'town' cannot be clipped: those of numbers are age, size"),
        ({"clip": {"age": (2, 1)}}, "the bounds of 'age' are 2.0 and 1.0: give two numbers, the smaller one first"),
        ({"clip": {"age": (0, float("nan"))}}, "the bounds of 'age'"),
        ({"frequent": {"age": ["1"]}}, "the column 'age' has no rare categories: those of categories are town, tool"),
        ({"frequent": {"y": ["m"]}}, "the column 'y' has no rare categories"),
    ],
)
def test_what_cannot_be_clipped_or_rare(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OnlinearError, match=message):
        open_stream(file_of(tmp_path, FIRST * 3, "rows.csv"), **options)


def test_only_tables_have_columns_to_clip(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="an array has no names"):
        open_stream(np.eye(3), target=np.ones(3), clip={"1": (0, 1)})
    (tmp_path / "rows.vw").write_text("1 |a b\n")
    with pytest.raises(Refused, match="only columns of a table have rare categories"):
        open_stream(tmp_path / "rows.vw", frequent=FREQUENT)
