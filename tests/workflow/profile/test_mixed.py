"""A word among numbers makes a column one of categories: ``train`` says so first, and can refuse it."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from commands import run_here
from onlinear.cli.ending import BAD_DATA
from onlinear.errors import BadLine, OnlinearError
from onlinear.streams.columns import MISSING
from onlinear.streams.csv_inference import ROWS, infer
from onlinear.streams.csv_text import CSVText
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import open_stream
from onlinear.workflow.profile.misread import mixed_columns
from onlinear.workflow.profile.table import profile_of
from tables import table

NUMBERS = [f"{x:.3f}" for x in np.random.default_rng(4).normal(size=100)]
CLASSES = ["a", "b"] * 50


def with_word(folder: Path, word: str, row: int = 70, name: str = "rows.csv") -> str:
    cells = [*NUMBERS[:row], word, *NUMBERS[row + 1 :]]
    return table(folder, {"x": cells, "town": ["Bern", "Thun"] * 50, "y": CLASSES}, name)


def told(file: str | list[str], **options: object) -> list[str]:
    files = [file] if isinstance(file, str) else file
    found = infer(files, ReadOptions(**options))  # type: ignore[arg-type]
    return [str(line) for line in mixed_columns(found, files, options.get("categories", ()))]  # type: ignore[arg-type]


@pytest.mark.parametrize("word", ["nan", "NaN", "n/a", "unknown", "-", "inf", "1e400"])
def test_the_first_word_among_numbers_is_told_with_its_line(tmp_path: Path, word: str) -> None:
    file = with_word(tmp_path, word)
    (line,) = told(file)
    assert line.startswith(f"{file}:72:1: Column x holds numbers but for {word!r}, so each number is taken for a name")
    note = next(note for note in profile_of(file).notes if "Column x" in note)
    assert note in line  # as select says it


@pytest.mark.parametrize("written", ["{},5", "${}", "{}%", "1 {:03},5"])
def test_a_column_of_numbers_as_people_write_them_is_told(tmp_path: Path, written: str) -> None:
    """Not one of its cells is a number to a stream, so nothing stands out."""
    cells = [written.format(k) for k in range(100)]
    file = table(tmp_path, {"x": cells, "town": ["Bern", "Thun"] * 50, "y": CLASSES}, "rows.csv")
    (line,) = told(file)
    assert line.startswith(f"{file}:2:1: Column x holds numbers that are read as texts, such as {cells[0]!r}")
    assert told(file, categories=["x"]) == told(file, ignore=["x"]) == told(file, text=["x"]) == []


def test_what_is_meant_is_not_told(tmp_path: Path) -> None:
    file = with_word(tmp_path, "nan")
    assert told(file, categories=["x"]) == told(file, ignore=["x"]) == told(file, missing=("nan",)) == []
    assert told(file, numbers=["x"]) == []
    assert told(file, target="x", numbers=["x"]) == []
    assert told(with_word(tmp_path, "NA")) == []


@pytest.mark.parametrize(("missing", "usual"), [(MISSING, ["", "?", "NA"]), (("none",), ["none"])])
def test_the_advice_keeps_what_was_missing_before(tmp_path: Path, missing: tuple[str, ...], usual: list[str]) -> None:
    (line,) = told(with_word(tmp_path, "n a"), missing=missing)
    advice = line.partition("as missing (")[2].partition(")")[0]
    words = shlex.split(advice)
    assert words[::2] == ["--missing"] * (len(usual) + 1)
    assert words[1::2] == ["n a", *usual]


@pytest.mark.parametrize("options", [("--task", "regression"), ("--loss", "squared_error"), ("--number", "x")])
def test_a_word_among_the_labels_of_a_regression_is_blamed_itself(tmp_path: Path, options: tuple[str, str]) -> None:
    file = with_word(tmp_path, "nan")
    ended = run_here("train", file, "--target", "x", "--quiet", *options)
    assert ended.code == BAD_DATA
    assert ended.err.splitlines() == [
        f"{file}:72:1: the label 'nan' is not a finite number: mend it, or make the target a category"
    ]


def test_a_target_of_words_alone_is_no_regression(tmp_path: Path) -> None:
    file = with_word(tmp_path, "1.5")
    ended = run_here("train", file, "--target", "town", "--quiet", "--task", "regression")
    assert ended.code == BAD_DATA
    assert ended.err.startswith(f"{file}:2:8: the label 'Bern' is no number: learn classes")


def test_a_later_file_is_looked_at_if_the_first_is_short(tmp_path: Path) -> None:
    files = [with_word(tmp_path, "1.5"), with_word(tmp_path, "nan", 3, "more.csv")]
    (line,) = told(files)
    assert line.startswith(f"{files[1]}:5:1: ")


def test_only_the_records_that_decide_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from onlinear.workflow.profile import misread

    file = with_word(tmp_path, "nan")
    monkeypatch.setattr(misread, "MOST_CELLS", 3 * 70)  # up to the record before
    assert told(file) == []
    monkeypatch.setattr(misread, "MOST_CELLS", 3 * 71)
    assert len(told(file)) == 1


def test_a_column_of_numbers_refuses_words(tmp_path: Path) -> None:
    file = with_word(tmp_path, "nan")
    with pytest.raises(BadLine, match=r"rows.csv:72:1: 'nan' in the number column 'x' is not a finite number"):
        list(open_stream(file, target="y", numbers=["x"]))
    bad: list[int] = []
    stream = open_stream(file, target="y", numbers=[1], on_bad=lambda line, text: bad.append(line.line))
    assert sum(map(len, stream)) == 99
    assert bad == [72]
    assert isinstance(stream.format, CSVText)
    assert stream.format.columns[0].kind == "number"
    with pytest.raises(OnlinearError, match="column 'x' cannot be numbers and categories at once"):
        open_stream(file, target="y", numbers=["x"], categories=["x"])
    (tmp_path / "rows.jsonl").write_text('{"x": 1, "y": 2}')
    with pytest.raises(OnlinearError, match="numbers says nothing of the format 'jsonl'"):
        open_stream(str(tmp_path / "rows.jsonl"), target="y", numbers=["x"])


@pytest.mark.compiles
def test_train_says_it_first_and_can_refuse_it(tmp_path: Path) -> None:
    file = with_word(tmp_path, "nan")
    ended = run_here("train", file, "--target", "y", "--quiet")
    assert ended.code == 0
    assert ended.err.startswith(f"{file}:72:1: Column x holds numbers but for 'nan'")
    refused = run_here("train", file, "--target", "y", "--quiet", "--number", "x")
    assert refused.code != 0
    assert refused.err.startswith(f"{file}:72:1: 'nan' in the number column 'x'")
    named = run_here("train", file, "--target", "y", "--quiet", "--missing", "nan")
    assert (named.code, named.err) == (0, "")


@pytest.mark.compiles
def test_train_says_of_which_columns_nothing_is_known(tmp_path: Path) -> None:
    """Where records come behind those that are looked at: of a short file it knows all cells."""
    lines = [f",{k % 5},{'ab'[k % 2]}" for k in range(ROWS)]
    short, long = tmp_path / "short.csv", tmp_path / "long.csv"
    short.write_text("\n".join(["x,z,y", *lines[:-1]]))
    long.write_text("\n".join(["x,z,y", *lines, "7,1,a"]))
    said = f"{long}: Column x has nothing in the first 10,000 records, so a number further down is taken for a name"
    assert run_here("train", long, "--target", "y", "--quiet").err.startswith(said)
    for file, words in ((short, []), (long, ["--number", "x"]), (long, ["--category", "x"]), (long, ["--ignore", "x"])):
        ended = run_here("train", file, "--target", "y", "--quiet", *words)
        assert (ended.code, ended.err) == (0, "")
