"""Ranges of numbers: as if the file had a column more for each, with the range written out as a category."""

from __future__ import annotations

import json
import math
from bisect import bisect_right
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given, settings, strategies as st

from commands import run_here
from onlinear import losses, rules
from onlinear.data.rows import SparseRows
from onlinear.errors import BadInput, OnlinearError, Refused
from onlinear.features.derived import range_names
from onlinear.features.names import hash_name
from onlinear.files.trained import Trained, open_model, save
from onlinear.learning.classes import classes_in
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.streams import text_lines
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import Stream, open_alike, open_stream
from onlinear.workflow.run import Run
from tables import table

RANGES = {"age": [25.0, 37.0, 48.0], "size": [0.5]}
NAMES: list[dict[str, Any]] = [{"names": "exact"}, {"keep_names": True}, {}]
COLUMNS = ("age", "size", "other", "town", "note", "y")

Row = tuple[Any, Any, float, str, str, str]
ROWS = st.lists(
    st.tuples(
        st.sampled_from([25, 37, 48]) | st.integers(0, 99) | st.just(""),  # edges are frequent
        st.sampled_from([0.5, math.nextafter(0.5, 0.0), -0.0])
        | st.floats(-3, 3).map(lambda x: round(x, 2))
        | st.just("?"),
        st.integers(-5, 5).map(float),
        st.sampled_from(["Bern", "Thun", ""]),
        st.sampled_from(["late again", "never seen, never late", ""]),
        st.sampled_from("mn"),
    ),
    max_size=20,
)
#: whatever is drawn, each column holds what it should
FIRST: list[Row] = [(30, 0.75, 1.0, "Bern", "not now", "m"), (99, 2.5, 0.0, "Thun", "not now", "n")]


def file_of(folder: Path, rows: list[Row], name: str = "rows.csv") -> str:
    return table(folder, dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)), name)


def frame_of(rows: list[Row]) -> pandas.DataFrame:
    """The same as a frame: NaN for numbers that are missing."""
    numbers = {
        name: [float(row[k]) if row[k] not in ("", "?") else math.nan for row in rows]
        for k, name in enumerate(COLUMNS[:3])
    }
    return pandas.DataFrame(numbers | {name: [row[k] for row in rows] for k, name in enumerate(COLUMNS) if k > 2})


def oracle(row: Row, crossed: bool) -> dict[str, float]:
    """The features of a row, by name."""
    found: dict[str, float] = defaultdict(float)
    groups: dict[str, dict[str, float]] = {}
    for name, cell in zip(COLUMNS[:5], row[:5], strict=True):
        own: dict[str, float] = defaultdict(float)
        if cell in ("", "?"):
            own[f"{name}=?"] = 1.0
        elif name == "town":
            own[f"town={cell}"] = 1.0
        elif name == "note":
            for word in str(cell).replace(",", "").split():
                own[f"note={word}"] += 1.0
        else:
            own[name] = float(cell)
            if name in RANGES:
                own[range_name(name, float(cell))] = 1.0
        groups[name] = own
        found |= own
    if crossed:
        for one, x in groups["age"].items():
            found |= {f"{one}*{other}": x * z for other, z in groups["town"].items()}
    return found


def range_name(name: str, value: float) -> str:
    """The name of the range that a value lies in: as it is written in this test, not in the code."""
    names = {
        "age": ["age<25", "25<=age<37", "37<=age<48", "age>=48"],
        "size": ["size<0.5", "size>=0.5"],
    }
    return names[name][bisect_right(RANGES[name], value)]


def learned(stream: Stream) -> list[dict[int, float]]:
    """All rows of a pass, by column."""
    found = []
    for block in stream:
        assert isinstance(block.rows, SparseRows)
        starts, columns, values = block.rows
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            found.append(dict(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
    return found


def by_name(stream: Stream) -> list[dict[str, float]]:
    """All rows of a pass, by the names that were remembered."""
    rows = learned(stream)
    return [{" or ".join(stream.recipe.names_at(column)): x for column, x in row.items()} for row in rows]


@settings(max_examples=25)
@given(ROWS, st.integers(20, 200), st.booleans(), st.sampled_from([0, 1]))
def test_rows_are_what_they_should_be(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], chunk: int, crossed: bool, naming: int
) -> None:
    rows = FIRST + rows
    options = NAMES[naming] | {"text": ["note"], "crosses": [("age", "town")] if crossed else (), "ranges": RANGES}
    expected = [oracle(row, crossed) for row in rows]
    file = file_of(tmp_path_factory.mktemp("ranges"), rows)
    frame = frame_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "CHUNK", chunk)
        patch.setattr("onlinear.streams.tables.MOST_ROWS", 1 + chunk % 7)
        for source in (file, frame, pyarrow.Table.from_pandas(frame)):
            assert by_name(open_stream(source, **options)) == expected


@settings(max_examples=15)
@given(ROWS)
def test_hashed_names_are_those_of_the_ranges(tmp_path_factory: pytest.TempPathFactory, rows: list[Row]) -> None:
    """Without a memory for names: a range is where its name is hashed to."""
    rows = FIRST + rows
    file = file_of(tmp_path_factory.mktemp("ranges"), rows)
    cells = [{hash_name(name) >> (64 - 20): x for name, x in oracle(row, False).items()} for row in rows]
    assert learned(open_stream(file, text=["note"], bits=20, ranges=RANGES)) == cells


@pytest.mark.parametrize("options", NAMES)
@pytest.mark.parametrize("scale", ["standardise", "max-abs"])
@settings(max_examples=8)
@given(ROWS)
def test_only_the_numbers_are_scaled_and_clipped(
    tmp_path_factory: pytest.TempPathFactory, options: dict[str, Any], scale: str, rows: list[Row]
) -> None:
    """What is not a range is what it is without ranges; a range is 1."""
    file = file_of(tmp_path_factory.mktemp("ranges"), FIRST + rows)
    options = options | {"scale": scale, "clip": {"age": (30.0, 40.0)}, "text": ["note"]}
    plain, cut = open_stream(file, **options), open_stream(file, ranges=RANGES, **options)
    without, found = learned(plain), learned(cut)
    texts = [name for name, edges in RANGES.items() for name in range_names(name, edges)]
    columns = cut.recipe._columns_of()(texts).tolist()
    for row, (old, new) in zip(FIRST + rows, zip(without, found, strict=True), strict=True):
        ranges = [new[column] for column in columns if column in new]
        assert ranges == [1.0] * ((row[0] != "") + (row[1] != "?"))
        left = sorted(x for column, x in new.items() if column not in columns)
        assert left == sorted(old.values())


def test_a_bad_row_takes_its_ranges_with_it(tmp_path: Path) -> None:
    rows = [*FIRST, (40, "big", 0.0, "Bern", "", "m"), (20, 0.25, 2.0, "", "", "n")]
    file, bad = file_of(tmp_path, rows), []
    kinds = {"missing": ("", "?")}
    format_ = open_stream(file_of(tmp_path, FIRST, "first.csv"), names="exact", ranges=RANGES, **kinds)
    stream = Stream([file], format_.format, lambda line, text: bad.append(line.line), recipe=format_.recipe)
    assert by_name(stream) == [without_notes(oracle(row, False)) | note(row) for row in (*rows[:2], rows[3])]
    assert bad == [4]
    assert "37<=age<48" not in (stream.recipe.exact_names or [])


def without_notes(row: dict[str, float]) -> dict[str, float]:
    return {name: x for name, x in row.items() if not name.startswith("note")}


def note(row: Row) -> dict[str, float]:
    """The note as a category."""
    return {f"note={row[4] or '?'}": 1.0}


def trained(stream: Stream) -> Trained:
    classes = classes_in([block.labels for block in stream.before_recipe()])
    training = Model.create(losses.Logistic(), rules.AdaGrad(), Settings(), classes, stream.recipe.bits)
    for _ in Run(training, stream, 2).steps():
        pass
    return Trained(training, stream.recipe)


def bent(rows: int) -> list[Row]:
    """Rows whose class no line tells: it is that of the middle ages."""
    random = np.random.default_rng(7)
    ages = random.integers(0, 80, rows).tolist()
    return FIRST + [
        (age, round(float(random.normal()), 2), 0.0, "Bern", "", "m" if 25 <= age < 48 else "n") for age in ages
    ]


@pytest.mark.compiles
@pytest.mark.parametrize("options", NAMES[::2])
def test_a_model_answers_without_options(tmp_path: Path, options: dict[str, Any]) -> None:
    """It knows the middle ages, in a file with other columns and the same ones in another order, too."""
    testing, model = file_of(tmp_path, bent(90)[2:], "testing.csv"), tmp_path / "model.onlinear"
    learning = file_of(tmp_path, bent(300), "learning.csv")
    trained_ = trained(open_stream(learning, ranges=RANGES, scale="standardise", **options))
    save(model, trained_)
    turned = tmp_path / "turned.csv"
    frame = pandas.read_csv(testing, keep_default_na=False)
    frame.assign(more=1)[["more", *COLUMNS[::-1]]].to_csv(turned, index=False)
    answers = [run_here("predict", model, file) for file in (testing, turned)]
    assert [ended.code for ended in answers] == [0, 0]
    assert answers[0].out == answers[1].out
    tested = run_here("test", model, testing, "--json")
    assert json.loads(tested.out)["error"] == 0.0
    loaded = open_model(model)
    assert loaded.recipe.format == trained_.recipe.format
    found = [
        [list(map(list, each.apply(block, True).rows)) for block in open_alike(testing, each.format).blocks(True)]
        for each in (trained_.recipe, loaded.recipe)
    ]
    assert found[0] == found[1]


def test_models_that_know_of_no_ranges_still_load(tmp_path: Path) -> None:
    stream = open_stream(file_of(tmp_path, FIRST * 3))
    header, arrays = stream.recipe.parts()
    old = json.loads(json.dumps(header))
    del old["format"]["csv"]["naming"]["ranges"]
    assert Recipe.from_header(old, arrays).format == stream.recipe.format


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"town": [1]}, "the column 'town' cannot be cut into ranges: those of numbers are age, size, other"),
        ({"y": [1]}, "the column 'y' cannot be cut into ranges"),
        ({"years": [1]}, "the column 'years' cannot be cut into ranges"),
        ({"age": [1, 1]}, r"the edges of 'age' are 1.0, 1.0: give finite numbers, each larger than the last"),
        ({"age": [2, 1]}, "the edges of 'age' are 2.0, 1.0"),
        ({"age": []}, "the edges of 'age' are none"),
        ({"age": [0.0, math.inf]}, "the edges of 'age' are 0.0, inf"),
        ({"age": [math.nan]}, "the edges of 'age' are nan"),
    ],
)
@pytest.mark.parametrize("framed", [False, True])
def test_ranges_that_cannot_be(tmp_path: Path, ranges: dict[str, Any], message: str, framed: bool) -> None:
    with pytest.raises(OnlinearError, match=message):
        open_stream(frame_of(FIRST) if framed else file_of(tmp_path, FIRST), ranges=ranges)


@pytest.mark.parametrize("edges", [25.0, ["a"], [None], [10**400]])
def test_edges_that_are_no_numbers(tmp_path: Path, edges: Any) -> None:
    with pytest.raises(BadInput, match=r"the edges of 'age' are .*: give numbers, each larger than the last"):
        open_stream(file_of(tmp_path, FIRST), ranges={"age": edges})


def test_only_tables_have_ranges(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"ranges\) says nothing of the format 'array'"):
        open_stream(np.eye(3), target=np.ones(3), ranges={"1": [0]})
    (tmp_path / "rows.vw").write_text("1 |a b\n")
    (tmp_path / "rows.jsonl").write_text('{"a": 1, "y": 1}\n')
    for name in ("rows.vw", "rows.jsonl"):
        with pytest.raises(Refused, match="only columns of a table are cut into ranges"):
            open_stream(tmp_path / name, ranges=RANGES)
