"""The recipe for a table: which columns are learned from, how, and in which words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import onlinear
from onlinear.data.rows import SparseRows
from onlinear.errors import BadInput, OnlinearError, Refused
from onlinear.workflow.profile.choice import Choice, choose_recipe
from onlinear.workflow.profile.table import profile_of
from stream_rows import rows_in
from tables import table

SIZE = 400
RANDOM = np.random.default_rng(8)
WORDS = ["late", "train", "coast", "seen", "never", "other", "again", "sorry", "today", "station"]


def people() -> dict[str, list[Any]]:
    """A table with something for each sentence."""
    bought = RANDOM.integers(0, 2, SIZE)
    wage = RANDOM.normal(50, 5, SIZE).round(3)
    wage[5] = 10_000.0
    town = RANDOM.choice(["Bern", "Thun"], SIZE).tolist()
    town[3], town[4], town[8] = "Uri", "Zug", ""
    return {
        "id": (RANDOM.permutation(SIZE) + 1).tolist(),
        "wage": wage.tolist(),
        "town": town,
        "rooms": RANDOM.integers(1, 5, SIZE).tolist(),
        "nothing": [""] * SIZE,
        "land": ["CH"] * SIZE,
        "bill": bought.tolist(),
        "when": [f"2024-01-01T{k // 60:02}:{k % 60:02}" for k in range(SIZE)],
        "letter": [" ".join(RANDOM.choice(WORDS, 7)) for _ in range(SIZE)],
        "bought": [["no", "yes"][k] for k in bought.tolist()],
    }


PEOPLE = people()


@pytest.fixture(scope="module")
def choice(tmp_path_factory: pytest.TempPathFactory) -> Choice:
    return choose_recipe(profile_of(table(tmp_path_factory.mktemp("choice"), PEOPLE)))


def test_roles(choice: Choice) -> None:
    assert choice.roles == {
        "id": "ignored",
        "wage": "feature",
        "town": "feature",
        "rooms": "feature",
        "nothing": "ignored",
        "land": "ignored",
        "bill": "ignored",
        "when": "ignored",
        "letter": "feature",
        "bought": "target",
    }
    assert [column["role"] for column in choice.columns()] == list(choice.roles.values())


def test_the_stream_learns_what_was_chosen(choice: Choice) -> None:
    stream = choice.open()
    for _ in stream:
        pass
    names = set(stream.recipe.exact_names or [])
    assert names == {"wage", "rooms", "town=Bern", "town=Thun", "town=(rare)", "town=?"} | {
        f"letter={word}" for word in WORDS
    }
    assert (stream.recipe.scaling, [bounds.name for bounds in stream.recipe.bounds]) == ("standardise", ["wage"])
    ((_, low, high),) = stream.recipe.bounds
    assert low < 50.0 < high < 100.0


def test_each_choice_has_its_sentence(choice: Choice) -> None:
    assert choice.sentences[0].startswith("Column bill is NOT learned from, as it gives the target away")
    said = " ".join(choice.sentences)
    for words in (
        "--keep bill",
        "id (an id)",
        "nothing (all missing)",
        "land (always the same)",
        "when (dates, each for itself)",
        "4 columns are learned from: 2 of numbers, 1 of categories, 1 of texts.",
        "The texts of letter are cut into words",
        "Numbers are standardised",
        "Outliers are moved to the bounds of their column: wage above ",
        "A missing cell is a feature of its own, such as town=?: town.",
        "Categories with fewer than 5 rows share one feature, as do those never seen, such as town=(rare): 2 of town.",
        "Each number, category and word has a weight of its own.",
        "Few different whole numbers are taken for amounts: rooms (--category if they are codes).",
    ):
        assert words in said


def test_what_is_kept_is_learned_from(choice: Choice) -> None:
    kept = choose_recipe(choice.profile, keep=["bill", "id"])
    assert kept.roles["bill"] == kept.roles["id"] == "feature"
    assert "Column bill is learned from, as you asked, though it gives the target away" in kept.sentences[0]
    with pytest.raises(OnlinearError, match="no column 'bil': did you mean 'bill'"):
        choose_recipe(choice.profile, keep=["bil"])


def test_choices_may_be_told(choice: Choice) -> None:
    told = choose_recipe(choice.profile, names="hashed", scale="none", clip=False, rare_below=0)
    stream = told.open()
    assert (stream.recipe.bits, stream.recipe.scaling, stream.recipe.bounds) == (18, None, ())
    assert stream.recipe.format.naming is not None
    assert stream.recipe.format.naming.frequent == ()
    assert any("hashed to 262,144 weights" in sentence for sentence in told.sentences)


def test_very_many_names_are_hashed(choice: Choice, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlinear.workflow.profile.choice.MOST_NAMES", 100)
    assert choose_recipe(choice.profile).stream["names"] == "hashed"


def test_without_numbers_nothing_is_standardised(tmp_path: Path) -> None:
    file = table(tmp_path, {"town": ["a", "b", "c", "d"] * 10, "y": ["p", "q", "q", "p", "q"] * 8})
    found = choose_recipe(profile_of(file))
    assert found.stream["scale"] is None
    assert len(list(found.open())) == 1


def test_roles_that_were_told_are_no_features(tmp_path: Path) -> None:
    columns = {"t": list(range(40)), "who": [1, 2] * 20, "w": [0.5, 1.5] * 20, "n": [3, 1, 4, 1, 5] * 8}
    columns |= {"left": [7, 1] * 20, "y": ["p", "q", "q", "p", "q"] * 8}
    profile = profile_of(table(tmp_path, columns), time="t", group="who", weight="w", ignore=["left"], categories=["n"])
    found = choose_recipe(profile)
    assert found.roles == {"t": "time", "who": "group", "w": "weight", "n": "feature", "left": "ignored", "y": "target"}
    stream = found.open()
    (block,) = stream
    assert block.importance.tolist() == columns["w"]
    assert set(stream.recipe.exact_names or []) == {"n=1", "n=3", "n=4", "n=5"}


def test_a_table_with_nothing_to_learn_from_is_refused(tmp_path: Path) -> None:
    file = table(tmp_path, {"a": [1] * 30, "b": [""] * 30, "y": ["p", "q", "q"] * 10})
    with pytest.raises(BadInput, match=r"no column is left to learn from: a \(always the same\); b \(all missing\)"):
        choose_recipe(profile_of(file))
    with pytest.raises(BadInput, match="there is no column beside the target to learn from: is the delimiter right"):
        choose_recipe(profile_of(table(tmp_path, {"y": ["p", "q", "q"] * 10})))


def many(rows: int) -> dict[str, list[Any]]:
    """Columns with many and with few different values; a number of the first is missing, and mostly 0 in the second."""
    ages = RANDOM.integers(18, 90, rows).tolist()
    return {
        "age": ["", *ages[1:]],
        "gain": [0 if k % 8 else k for k in range(rows)],
        "rooms": [k % 20 for k in range(rows)],
        "town": RANDOM.choice(["Bern", "Thun"], rows).tolist(),
        "y": RANDOM.choice(["p", "q"], rows).tolist(),
    }


def test_numbers_of_many_rows_also_give_their_range(tmp_path: Path) -> None:
    found = choose_recipe(profile_of(table(tmp_path, many(2_000))))
    edges = found.stream["ranges"]
    assert list(edges) == ["age", "gain"]  # rooms has too few values
    assert 0 < edges["gain"][0] <= 8  # 0 has a range of its own
    said = "The numbers of age and gain also give the range they lie in, 8 each, so that their effect may bend."
    assert said in found.sentences
    stream = found.open()
    (block,) = stream
    assert isinstance(block.rows, SparseRows)
    assert np.diff(block.rows.starts).tolist() == [5] + [6] * 1_999  # the missing age is in none
    names = set(stream.recipe.exact_names or [])
    assert {"age", "age=?", "gain", "rooms", "town=Bern"} <= names
    assert sum("<" in name or ">" in name for name in names) == sum(len(each) + 1 for each in edges.values())


def test_one_column_with_ranges_is_said_in_other_words(tmp_path: Path) -> None:
    columns = {"x": list(range(2_000)), "y": RANDOM.choice(["p", "q"], 2_000).tolist()}
    found = choose_recipe(profile_of(table(tmp_path, columns)), keep=["x"])
    assert found.stream["ranges"] == {"x": tuple(250.0 * k for k in range(1, 8))}
    assert (
        "The numbers of x also give the range they lie in, one of 8, so that their effect may bend." in found.sentences
    )


@pytest.mark.parametrize(
    ("rows", "time", "wanted", "cut"),
    [
        (1_999, None, None, False),
        (1_999, None, True, True),
        (2_000, None, None, True),
        (2_000, None, False, False),
        (2_000, "rooms", None, False),
        (2_000, "rooms", True, True),
    ],
)
def test_whether_there_are_ranges(tmp_path: Path, rows: int, time: str | None, wanted: bool | None, cut: bool) -> None:
    found = choose_recipe(profile_of(table(tmp_path, many(rows)), time=time), ranges=wanted)
    assert bool(found.stream["ranges"]) is cut
    assert any("range they lie in" in sentence for sentence in found.sentences) is cut


def test_rows_without_a_target_are_bad_lines(tmp_path: Path) -> None:
    file = table(tmp_path, {"x": [0.5, 2.5, 1.5, 7.0, 0.1] * 8, "y": ["p", "q", "", "p", "q"] * 8})
    profile, bad = profile_of(file), []
    rows = sum(len(block) for block in choose_recipe(profile).open(on_bad=lambda line, text: bad.append(line)))
    assert (rows, len(bad)) == (profile.rows - profile.target.missing, profile.target.missing) == (32, 8)


def test_frames_are_opened_as_they_are() -> None:
    frame = pandas.DataFrame(PEOPLE | {"day": pandas.date_range("2024-01-01", periods=SIZE)})
    found = onlinear.choose_recipe(onlinear.profile_of(frame, target="bought"))
    assert found.roles["day"] == "ignored"
    assert sum(len(block) for block in found.open()) == SIZE


def test_columns_of_types_that_cannot_be_learned_are_named() -> None:
    frame = pandas.DataFrame(
        {
            "when": pandas.date_range("2024-01-01", periods=60),
            "for": pandas.to_timedelta(range(60), unit="h"),
            "x": [k * k % 17 / 3 for k in range(60)],
            "y": ["a", "b", "b"] * 20,
        }
    )
    profile = profile_of(frame, target="y")
    (said,) = [each for each in choose_recipe(profile).sentences if each.startswith("Not learned from")]
    for name in ("when", "for"):
        strange = profile.column(name).strange
        assert strange is not None
        assert f"{name} (of the type {strange}, neither numbers nor texts)" in said
    with pytest.raises(Refused, match="column 'when' cannot be kept, as it is of the type timestamp"):
        choose_recipe(profile, keep=["when"])
    asked = profile_of(frame, target="y", time="when", ignore=["for"])
    assert not [each for each in choose_recipe(asked).sentences if each.startswith("Not learned from")]
    with pytest.raises(BadInput, match=r"no column is left to learn from: when \(of the type timestamp"):
        choose_recipe(profile_of(frame[["when", "y"]], target="y"))


@pytest.mark.parametrize("options", [{}, {"scale": "none"}, {"names": "hashed"}])
def test_another_table_is_not_numbered_or_scaled_anew(choice: Choice, options: dict[str, Any]) -> None:
    """A model of the first one would take its columns for others."""
    chosen = choose_recipe(choice.profile, **options)
    assert len(list(chosen.open())) == 1
    with pytest.raises(Refused, match=r"numbered and scaled anew.*names=\"hashed\" and scale=\"none\""):
        chosen.open(choice.profile.sources)
    same = choose_recipe(choice.profile, names="hashed", scale="none")
    first, other = (rows_in(same.open(source)) for source in (None, choice.profile.sources))
    assert first == other
