"""Numbers that are read as texts: the profile says so, whatever becomes of the column."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onlinear.errors import BadInput
from onlinear.workflow.profile.choice import choose_recipe
from onlinear.workflow.profile.misread import misread
from onlinear.workflow.profile.table import profile_of
from tables import table

NUMBERS = [f"{x:.3f}" for x in np.random.default_rng(4).normal(size=100)]
CLASSES = ["a", "b"] * 50


@pytest.mark.parametrize("word", ["nan", "NULL", "-", "inf", "unknown"])
def test_a_word_among_numbers_is_told(tmp_path: Path, word: str) -> None:
    """One such cell makes names of all numbers, of which nothing can be learned."""
    profile = profile_of(table(tmp_path, {"x": [*NUMBERS[:99], word], "z": range(100), "y": CLASSES}))
    (note,) = [note for note in profile.notes if "Column x holds numbers" in note]
    assert repr(word) in note
    assert note in profile.columns[0].notes
    named = profile_of(table(tmp_path, {"x": [*NUMBERS[:99], word], "z": NUMBERS, "y": CLASSES}), missing=(word,))
    assert named.columns[0].kind == "number"
    assert not any("holds numbers" in note for note in named.notes)


def test_a_word_of_many_digits_is_looked_at_once() -> None:
    """A regular expression that tries every digit as the last one before the point would take a day for these."""
    word = "1" * 1_000_000 + "x"
    assert f"{word:.20}" in str(misread("x", [*NUMBERS, word]))


@pytest.mark.parametrize("how", ["{:.3f}", "{:,.2f}", "{:.2f} %", "€{:.2f}"])
def test_numbers_as_people_write_them(how: str) -> None:
    texts = [how.format(1e6 * float(x)).replace(".", ",") for x in NUMBERS if float(x) > 0.0]
    assert "such as" in str(misread("x", texts))


@pytest.mark.parametrize(
    "texts",
    [
        [f"{day}.1.2024" for day in range(1, 29)],
        [f"2024-01-{day:02}" for day in range(1, 29)],
        [f"k{number}" for number in range(50)],
        [f"{number} Main Street" for number in range(50)],
        ["1", "2", "3+"],
        NUMBERS,
        [],
    ],
)
def test_other_texts_are_no_numbers(texts: list[str]) -> None:
    assert misread("x", texts) is None


def test_nothing_is_left_of_decimal_commas(tmp_path: Path) -> None:
    commas = [text.replace(".", ",") for text in NUMBERS]
    profile = profile_of(table(tmp_path, {"x": commas, "y": CLASSES}))
    with pytest.raises(BadInput, match=r"no column is left to learn from.*write them as 1234\.5"):
        choose_recipe(profile)
    with pytest.raises(BadInput, match=r"no class can be learned.*write them as 1234\.5"):
        profile_of(table(tmp_path, {"x": NUMBERS, "y": commas}))


def test_classes_that_hardly_come_again_are_refused(tmp_path: Path) -> None:
    """Hundreds of classes of one row each take minutes, and nobody can learn them."""
    file = table(tmp_path, {"x": NUMBERS, "y": [1.5 * (k % 90) for k in range(100)]})
    with pytest.raises(BadInput, match=r"another value in nearly each row.*the task is regression"):
        profile_of(file, task="classification")
