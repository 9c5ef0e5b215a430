"""A stray quote in a CSV file: no record may vanish into the cell that it opens."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import run_here
from onlinear.cli.ending import BAD_DATA
from onlinear.errors import BadLine
from onlinear.files.trained import open_model
from onlinear.streams import text_lines
from onlinear.streams.columns import Column
from onlinear.streams.csv_text import CSVText
from onlinear.streams.stream import Stream, open_alike, open_stream

HEADER = "age,town,y\n"
ROWS = [f"{place % 7},{('Bern', 'Thun')[place % 3 % 2]},{('yes', 'no')[place % 2]}\n" for place in range(600)]
STRAY = '3,"Bern,yes\n'


def rows_before_refusal(stream: Stream) -> tuple[int, BadLine]:
    """How many rows came before the line at which a stream was refused."""
    sizes: list[int] = []
    with pytest.raises(BadLine) as refused:
        sizes.extend(map(len, stream))
    return sum(sizes), refused.value


@pytest.mark.parametrize("chunk", [40, 1000, text_lines.CHUNK])
@pytest.mark.parametrize(
    ("second", "reason"),
    [
        (None, "the quote that opens here is never closed"),
        ('4,Bern",no\n', "the quote that opens here closes 400 lines further down"),
        ('4,"Bern,no\n', "the quote that opens here closes 400 lines further down"),  # and the cell goes on behind it
    ],
)
def test_records_that_a_stray_quote_swallows_are_refused_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str | None, reason: str, chunk: int
) -> None:
    rows = list(ROWS)
    rows[20], rows[100] = "3,Bern\n", STRAY
    if second is not None:
        rows[500], rows[550] = second, "3,Bern\n"
    file = tmp_path / "rows.csv"
    file.write_text(HEADER + "".join(rows))
    monkeypatch.setattr(text_lines, "CHUNK", chunk)
    left_out: list[int] = []
    options = {"target": "y", "categories": ["town"], "numbers": ["age"]}
    stream = open_stream(file, on_bad=lambda line, _: left_out.append(line.line), **options)  # type: ignore[arg-type]
    came, line = rows_before_refusal(stream)
    assert (came, left_out) == (99, [22])
    assert str(line).startswith(f"{file}:102:3: {reason}")

    rows[20] = ROWS[20]
    file.write_text(HEADER + "".join(rows))
    came, line = rows_before_refusal(open_stream(file, **options))  # type: ignore[arg-type]
    assert came == 100
    assert str(line).startswith(f"{file}:102:3: {reason}")


@pytest.mark.parametrize("first", range(100))
@pytest.mark.parametrize("between", [99, 100])
def test_more_than_a_hundred_line_ends_are_looked_at_wherever_they_are(
    tmp_path: Path, first: int, between: int
) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(HEADER + "".join([*ROWS[:first], STRAY, *ROWS[:between], '4,Bern",no\n', *ROWS[:60]]))
    stream = open_stream(file, target="y", categories=["town"], numbers=["age"])
    if between < 100:
        assert sum(map(len, stream)) == first + 61
    else:
        assert rows_before_refusal(stream)[0] == first


@pytest.mark.parametrize("lines", ["so it goes", "well, so it goes, on, and on", "a,b"])
def test_long_texts_are_cells(tmp_path: Path, lines: str) -> None:
    text = "\n".join([lines] * 5000)
    file = tmp_path / "rows.csv"
    file.write_text(HEADER + f'1,"{text}",yes\n2,"short\nones",no\n' * 3)
    assert sum(len(block) for block in open_stream(file, target="y", text=["town"])) == 6


def test_lines_of_a_text_alone_are_no_records(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("message\n" + '"{}"\n'.format("\n".join(["so it goes"] * 300)) * 2)
    format = CSVText((Column("message", "text"),))
    assert sum(len(block) for block in open_alike(file, format, labelled=False)) == 2


def test_predictions_and_bad_lines_of_a_file_with_a_stray_quote(tmp_path: Path) -> None:
    good, stray, model, log = (tmp_path / name for name in ("good.csv", "stray.csv", "m.onlinear", "bad.txt"))
    good.write_text(HEADER + "".join(ROWS))
    stray.write_text(HEADER + "".join([*ROWS[:100], STRAY, *ROWS[101:]]))
    assert run_here("train", good, "--target", "y", "--model", model).code == 0
    for wanted in ("skip", log):
        ended = run_here("predict", model, stray, "--bad-lines", wanted)
        assert ended.code == BAD_DATA
        assert f"{stray}:102:3: the quote that opens here is never closed" in ended.err
        assert len(ended.out.splitlines()) == 101  # a header, and the rows before
    assert not log.exists()
    partial = tmp_path / "partial.onlinear"
    ended = run_here("train", stray, "--target", "y", "--bad-lines", "skip", "--keep-partial", "--model", partial)
    assert ended.code == BAD_DATA
    assert f"{stray}:102:3: the quote that opens here is never closed" in ended.err
    assert open_model(partial).training.learner.examples == 100


@pytest.mark.parametrize("command", ["train", "select"])
def test_a_quote_in_the_first_record_that_is_never_closed(tmp_path: Path, command: str) -> None:
    """Below the header no record ends: the quote is to blame, not the header."""
    file = tmp_path / "rows.csv"
    file.write_text('a,y\n"x,p\nz,q\n')
    ended = run_here(command, file)
    assert ended.code == BAD_DATA
    assert f"{file}:2:1: the quote that opens here is never closed: close it" in ended.err
