"""The profile of tables: what it says, and that it reads as streams do."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.streams.stream import open_stream
from onlinear.workflow.profile.counting import Counts
from onlinear.workflow.profile.table import Profile, profile_of
from tables import table

RANDOM = np.random.default_rng(5)
SIZE = 300


def columns() -> dict[str, list[Any]]:
    """A table with a column of each condition."""
    age = RANDOM.integers(18, 90, SIZE)
    town = RANDOM.choice(["Bern", "Thun", "Biel"], SIZE)
    bought = (age + RANDOM.normal(0, 20, SIZE) > 50).astype(int)
    wage = RANDOM.lognormal(8, 0.3, SIZE).round(2)
    wage[7] = 1e7
    words = ["late", "train", "coast", "seen", "never", "other", "again", "sorry", "today", "station"]
    return {
        "row": list(range(1, SIZE + 1)),
        "age": ["" if k % 10 == 0 else x for k, x in enumerate(age.tolist())],
        "town": town.tolist(),
        "wage": wage.tolist(),
        "nothing": [""] * SIZE,
        "always": ["yes"] * SIZE,
        "bill": (bought * 2 + 1).tolist(),
        "day": [f"2024-{1 + k % 12:02}-{1 + k // 12:02}" for k in range(SIZE)],
        "letter": [" ".join(RANDOM.choice(words, 7)) for _ in range(SIZE)],
        "bought": [["no", "yes"][k] for k in bought.tolist()],
    }


COLUMNS = columns()


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile_of(table(tmp_path_factory.mktemp("profile"), COLUMNS))


def test_what_is_wrong_with_each_column(profile: Profile) -> None:
    conditions = {
        column.name: [name for name in ("id", "leak", "constant", "empty", "dates") if getattr(column, name)]
        for column in profile.columns
    }
    expected = {
        "row": ["id"],
        "nothing": ["empty"],
        "always": ["constant"],
        "bill": ["leak"],
        "day": ["dates"],
    }
    assert conditions == {name: expected.get(name, []) for name in COLUMNS}
    assert {column.name: column.kind for column in profile.columns if column.kind != "number"} == {
        "town": "category",
        "nothing": "category",
        "always": "category",
        "day": "category",
        "letter": "text",
        "bought": "category",
    }


def test_figures_of_a_number_column(profile: Profile) -> None:
    wage, column = np.array(COLUMNS["wage"]), profile.column("wage")
    assert (column.low, column.high, column.median) == (wage.min(), wage.max(), np.median(wage))
    assert column.mean == pytest.approx(wage.mean())
    assert column.outliers is not None
    assert column.outliers >= 1
    assert column.bounds is not None
    assert column.bounds[1] < 1e7
    age = profile.column("age")
    assert age.missing == 0.1
    assert age.distinct == len({x for x in COLUMNS["age"] if x != ""})


def test_the_most_common_categories_come_first(profile: Profile) -> None:
    towns = COLUMNS["town"]
    expected = sorted(((name, towns.count(name)) for name in set(towns)), key=lambda pair: -pair[1])
    assert profile.column("town").common == expected
    assert profile.column("town").categories == dict(expected)


def test_leaks_are_told_first(profile: Profile) -> None:
    assert profile.notes[0].startswith("Column bill gives the target away")


def test_the_target_is_counted_and_coded(profile: Profile) -> None:
    target = profile.target
    assert (target.task, target.kind, target.missing) == ("classification", "category", 0)
    assert target.classes is not None
    assert target.codes is not None
    labels = [label for label, _ in target.classes]
    assert [labels[code] for code in target.codes.tolist()] == COLUMNS["bought"]
    assert dict(target.classes) == {label: COLUMNS["bought"].count(label) for label in labels}


def test_every_figure_fits_into_json(profile: Profile) -> None:
    keys = ["name", "role", "kind", "missing", "distinct", "low", "high", "mean", "median", "skew", "outliers"]
    keys += ["common", "constant", "id", "leak", "notes"]
    for column in profile.columns:
        assert list(column.as_dict()) == keys


def test_files_frames_and_parquet_say_the_same(tmp_path: Path, profile: Profile) -> None:
    frame = pandas.read_csv(table(tmp_path, COLUMNS)).astype({"nothing": object})
    frame.to_parquet(tmp_path / "rows.parquet")
    for source in (frame, polars.from_pandas(frame), tmp_path / "rows.parquet"):
        other = profile_of(source)
        for ours, theirs in zip(profile.columns, other.columns, strict=True):
            assert ours.as_dict() == theirs.as_dict()
        assert np.array_equal(profile.target.codes, other.target.codes)
        assert other.duplicates == profile.duplicates


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    text = b"a,b\n" + b"1,x\n2,y\n" * 3
    plain, packed = tmp_path / "rows.csv", tmp_path / "rows.csv.gz"
    plain.write_bytes(text)
    packed.write_bytes(gzip.compress(text))
    one, two = profile_of(plain), profile_of(packed)
    assert one.sha256 == hashlib.sha256(text).hexdigest()
    assert two.sha256 == hashlib.sha256(packed.read_bytes()).hexdigest()
    assert (one.rows, one.duplicates) == (two.rows, two.duplicates) == (6, 4)


CELLS = st.sampled_from(["1", "2.5", "-0", "0", " 7 ", "x", '"a, b"', "?", "NA", "", '"say ""so"""', '" y "'])


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from("mn")), min_size=6, max_size=20))
def test_cells_are_those_of_a_stream(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]]
) -> None:
    """Quotes, blanks and missing words mean what they mean to a learner: the same values are counted."""
    rows = [*rows, ("1", "1", "m"), ("1", "1", "n"), ("1", "1", "n")]
    file = tmp_path_factory.mktemp("cells") / "rows.csv"
    file.write_text("a,b,t\n" + "\n".join(", ".join(row) for row in rows) + "\n\n")
    found = profile_of(file)
    stream = open_stream(file, names="exact")
    names: dict[str, set[Any]] = {"a": set(), "b": set()}
    for block in stream:
        for row, values in zip(*rows_of(block, stream.recipe.exact_names), strict=True):
            for name, value in zip(row, values, strict=True):
                column, _, text = name.partition("=")
                if text != "?":
                    names[column].add(text if "=" in name else value + 0.0)
    for name, values in names.items():
        assert found.column(name).distinct == len(values)
    labels = [label for block in stream for label in block.y]
    assert {label: labels.count(label) for label in set(labels)} == dict(found.target.classes or [])


def rows_of(block: Any, names: list[str]) -> tuple[list[list[str]], list[list[float]]]:
    starts, columns, values = block.rows
    cuts = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
    return [[names[c] for c in columns[a:b]] for a, b in cuts], [values[a:b].tolist() for a, b in cuts]


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b", "c"] * 10, "classification"),
        ([1, 2, 3] * 10, "classification"),
        (list(range(20)) * 3, "classification"),
        (list(range(21)) * 3, "regression"),
        (list(range(20)) * 2, "regression"),
        ([0.5, 1.0] * 10, "regression"),
    ],
)
def test_the_task_follows_from_the_target(tmp_path: Path, values: list[Any], task: str) -> None:
    file = table(tmp_path, {"x": RANDOM.random(len(values)).tolist(), "y": values})
    assert profile_of(file).target.task == task


def test_the_task_may_be_told(tmp_path: Path) -> None:
    file = table(tmp_path, {"x": RANDOM.random(30).tolist(), "y": [1, 2, 3] * 10})
    target = profile_of(file, task="regression").target
    assert target.task == "regression"
    assert target.numbers is not None
    assert target.numbers.tolist() == [1.0, 2.0, 3.0] * 10


def test_times_and_groups_of_each_row(tmp_path: Path) -> None:
    days = [f"2024-01-{31 - k:02}T12:00" for k in range(30)]
    columns = {"when": days, "n": list(range(30)), "who": ["b", "a", "b"] * 10, "y": ["p", "q", "q"] * 10}
    found = profile_of(table(tmp_path, columns), time="when", group="who")
    assert found.times is not None
    assert found.groups is not None
    assert np.argsort(found.times).tolist() == list(range(30))[::-1]
    assert found.groups.tolist() == [0, 1, 0] * 10
    assert {column.name: column.role for column in found.columns} == {
        "when": "time",
        "n": "feature",
        "who": "group",
        "y": "target",
    }
    by_number = profile_of(table(tmp_path, columns), time="n")
    assert by_number.times is not None
    assert by_number.times.tolist() == list(range(30))


def test_dates_of_a_frame_are_times_or_ignored() -> None:
    days = pandas.date_range("2024-01-01", periods=30)[::-1]
    frame = pandas.DataFrame({"when": days, "x": range(30), "y": ["p", "q", "q"] * 10})
    found = profile_of(frame, time="when")
    assert found.times is not None
    assert found.times.tolist() == (days.asi8 // 1000 if days.unit == "ns" else days.asi8).tolist()
    assert profile_of(frame).column("when").role == "ignored"


def test_rows_that_cannot_be_learned_are_counted(tmp_path: Path) -> None:
    file = table(tmp_path, {"x": list(range(30)), "y": ["a", "b", ""] * 10})
    found = profile_of(file)
    assert found.target.missing == 10
    assert found.target.codes is not None
    assert found.target.codes.tolist().count(-1) == 10
    assert any("10 of 30 rows have no target" in note for note in found.notes)


def test_many_different_values_are_capped_and_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlinear.workflow.profile.gathering.Counts", lambda: Counts(50))
    monkeypatch.setattr("onlinear.workflow.profile.gathering.sample_size", lambda columns: 2000)
    numbers = np.append(RANDOM.normal(size=4999), 1e9)
    found = profile_of(table(tmp_path, {"x": numbers.tolist(), "y": ["a", "b"] * 2500})).column("x")
    assert (found.distinct, found.capped, found.high) == (50, True, 1e9)
    assert found.median == pytest.approx(0.0, abs=0.15)  # four standard errors of a median of 2000 are 0.11
    assert found.outliers is not None
    assert found.outliers >= 1
    assert not found.id


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_labels_that_look_the_same_are_the_classes_of_a_stream(tmp_path: Path, form: str) -> None:
    labels = ["yes", "no", "yes\u00a0", " no", "\u200bno"] * 6
    frame = pandas.DataFrame({"x": range(30), "y": labels})
    source: Any = frame if form == "frame" else str(tmp_path / "look.csv")
    if form == "csv":
        frame.to_csv(source, index=False)
    found = profile_of(source, target="y")
    assert found.target.classes is not None
    streamed = {label for block in open_stream(source, target="y") for label in block.labels}
    assert {label for label, _ in found.target.classes} == streamed
    notes = [note for note in found.notes if "look the same" in note]
    assert len(notes) == 2
    assert "'yes\\xa0'" in " ".join(notes)
