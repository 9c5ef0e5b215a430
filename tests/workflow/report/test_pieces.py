"""The pieces of a page: numbers, axes, labels that keep apart, lines for a terminal."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings as budget, strategies as st

from onlinear.workflow.report import words
from onlinear.workflow.report.numbers import count, finite, many, number, plain, share
from onlinear.workflow.report.scales import Axis, even, labels, logarithmic
from onlinear.workflow.report.style import STYLE
from onlinear.workflow.report.svg import apart
from onlinear.workflow.report.words import columns
from onlinear.workflow.report.worst import verdict
from workflow.report.made_results import MAKERS, adult, elec2, housing, wide
from workflow.report.test_page import EVIL, poisoned

ANY = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(ANY)
def test_a_number_is_written_to_three_digits(value: float) -> None:
    written = float(plain(number(value)).replace(" ", ""))
    assert written == pytest.approx(value, rel=0.00501, abs=1e-322)


@given(st.integers(-(10**14), 10**14))
def test_a_count_keeps_all_digits(value: int) -> None:
    assert int(plain(count(value)).replace(" ", "")) == value


@given(st.floats(0.0, 1.0, exclude_min=True, exclude_max=True))
def test_a_share_is_never_rounded_to_all_or_nothing(value: float) -> None:
    assert plain(share(value)) not in ("0 %", "100 %", "0.00 %", "100.0 %")


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, "3", True, [1]])
def test_what_is_no_number_is_a_dash(value: object) -> None:
    assert finite(value) is None
    assert number(value) == count(value) == share(value) == "–"  # noqa: RUF001


def test_nouns_follow_their_count() -> None:
    assert [many(n, "row") for n in (0, 1, 2)] == ["no rows", "1 row", "2 rows"]


@given(st.lists(ANY, min_size=1, max_size=6), st.booleans(), st.integers(2, 8))
def test_an_even_axis_holds_its_values_in_order(values: list[float], zero: bool, most: int) -> None:
    check_axis(even(values, zero), values, most)


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=6), st.integers(2, 8))
def test_a_logarithmic_axis_holds_its_values_in_order(values: list[float], most: int) -> None:
    check_axis(logarithmic(values), values, most)


def check_axis(axis: Axis, values: list[float], most: int) -> None:
    places = [axis.at(value) for value in sorted(values)]
    assert all(0.0 <= place <= 1.0 for place in places)
    assert places == sorted(places)
    ticks = axis.ticks(most)
    assert len(ticks) <= most
    assert all(axis.low <= tick <= axis.high for tick in ticks)
    assert len(labels(ticks, shares=False)) == len(ticks)


def test_ticks_are_round_and_their_labels_differ() -> None:
    axis = Axis(0.1493, 0.1621)
    ticks = axis.ticks(6)
    assert ticks == [0.15, 0.155, 0.16]
    assert [plain(word) for word in labels(ticks, shares=True)] == ["15.0 %", "15.5 %", "16.0 %"]
    assert Axis(1.0, 20000.0, log=True).ticks(7) == pytest.approx([1.0, 10.0, 100.0, 1000.0, 10000.0])


@given(st.lists(st.floats(0.0, 300.0), max_size=12), st.floats(1.0, 40.0))
def test_labels_keep_apart_in_order_and_within_limits(places: list[float], gap: float) -> None:
    moved = apart(places, gap, 0.0, 300.0)
    order = sorted(range(len(places)), key=lambda k: places[k])
    room = min(gap, 300.0 / max(len(places) - 1, 1))
    for before, after in pairwise(order):
        assert moved[after] - moved[before] >= room - 1e-6
    assert all(-1e-6 <= place <= 300.0 + 1e-6 for place in moved)


def test_labels_that_are_apart_stay_where_they_are() -> None:
    assert apart([200.0, 20.0, 100.0], 15.0, 0.0, 300.0) == [200.0, 20.0, 100.0]


@pytest.mark.parametrize("maker", MAKERS.values())
def test_words_fit_a_terminal(maker: object) -> None:
    for result in (maker(), poisoned(maker())):  # type: ignore[operator]
        lines = words(result)
        assert lines
        assert all(columns(line) <= 80 for line in lines)
        assert all(line.isprintable() for line in lines)


def test_that_test_rows_were_used_before_is_said_once() -> None:
    note = "These test rows have been measured on once before (see ledger.json): get new rows."
    result = elec2() | {"notes": [note, "There are 3 duplicates."]}
    said = " ".join(" ".join(words(result)).split())
    assert said.count("These test rows") == 1
    assert f"Beware {note}" in said
    assert "Odd There are 3 duplicates." in said


def test_a_number_and_a_wrong_one_are_told_apart() -> None:
    one = {"label": 100_000.25, "predicted": 99_999.5}
    assert plain(verdict(housing(), one)) == "It is 100 000.25; the model said 99 999.5, 0.750 too low."


def test_words_say_the_result() -> None:
    said = " ".join(words(adult()))
    assert "wrong on 15.0 % of 6513 rows" in said
    assert "log_loss, normalised, rate 0.1: 15.1 %" in said
    assert "capital-gain +2.31" in said
    assert any("69 300" in line for line in words(housing()))  # no line ends within a number


def test_words_name_the_columns_with_missing_cells_and_outliers() -> None:
    said = " ".join(" ".join(words(adult())).split())
    assert (
        "Missing cells in 3 of 15 columns: occupation 5.66 %, workclass 5.64 %, native-country 1.79 %. "
        "Outliers values in 3 of 15 columns: capital-loss 300, capital-gain 159, age 12." in said
    )


def test_words_name_the_five_worst_columns_and_none_that_is_ignored() -> None:
    columns = [{"name": f"c{k}", "role": "feature", "missing": 0.1 * k, "outliers": 0} for k in range(7)]
    columns.append({"name": "left out", "role": "ignored", "missing": 0.9, "outliers": 3})
    said = " ".join(" ".join(words({"columns": columns})).split())
    assert "Missing cells in 6 of 7 columns: c6 60.0 %, c5 50.0 %, c4 40.0 %, c3 30.0 %, c2 20.0 %, ..." in said
    assert "Outliers" not in said
    assert "Missing" not in " ".join(words({"columns": columns[:1]}))


def test_wide_letters_are_two_columns() -> None:
    result = wide(3, 4)
    result["asked"]["target"] = "目" * 100
    lines = words(result)
    assert all(columns(line) <= 80 for line in lines)
    assert columns("目a") == 3


@budget(max_examples=30)
@given(st.text(max_size=200))
def test_any_note_is_printable(note: str) -> None:
    lines = words({"notes": [note + EVIL]})
    assert all(line.isprintable() and columns(line) <= 80 for line in lines)


def luminance(colour: str) -> float:
    """How bright a colour is, as the Web Content Accessibility Guidelines measure it."""
    digits = colour if len(colour) == 6 else "".join(2 * digit for digit in colour)
    parts = [int(digits[k : k + 2], 16) / 255.0 for k in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_has_the_contrast_of_the_guidelines() -> None:
    assert contrast("000", "ffffff") == pytest.approx(21.0)


@pytest.mark.parametrize("palette", [0, 1, 2], ids=["light", "dark", "print"])
def test_letters_and_lines_can_be_told_from_the_paper(palette: int) -> None:
    colours = dict(re.findall(r"--(\w+): #(\w+)", STYLE.split(":root")[1 + palette].split("}")[0]))
    assert colours.keys() >= {"paper", "ink", "quiet", "s0", "s1", "s2", "s3", "s4", "warn", "shade"}
    for name in ("ink", "quiet", "s0", "s1", "s2", "s3", "s4", "warn"):
        assert contrast(colours[name], colours["paper"]) >= 4.5, name
    assert contrast(colours["ink"], colours["shade"]) >= 4.5


@pytest.mark.parametrize("palette", [0, 1], ids=["light", "dark"])
def test_the_darkest_cell_of_a_matrix_can_be_read(palette: int) -> None:
    block = STYLE.split(":root")[1 + palette].split("}")[0]
    colours = dict(re.findall(r"--(\w+): #(\w+)", block))
    tint = [int(part) for part in re.findall(r"--tint: (\d+) (\d+) (\d+)", block)[0]]
    digits = colours["paper"] if len(colours["paper"]) == 6 else "".join(2 * digit for digit in colours["paper"])
    paper = [int(digits[k : k + 2], 16) for k in (0, 2, 4)]
    shade = "".join(f"{round(0.5 * t + 0.5 * p):02x}" for t, p in zip(tint, paper, strict=True))
    assert contrast(colours["ink"], shade) >= 4.5
