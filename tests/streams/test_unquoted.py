"""Files in which a quote is a letter as any other."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from onlinear.streams import text_lines
from onlinear.streams.csv_inference import has_quotes
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import open_stream

CELL = st.text('"a ,', min_size=1, max_size=6).filter(lambda cell: cell.strip() not in ("",))


def names_of_rows(file: Path, **options: object) -> tuple[list[set[str]], list[str]]:
    """The names of the features of each row, and its label."""
    stream = open_stream(file, names="exact", header=False, delimiter="\t", categories=[1, 2], **options)
    rows, labels = [], []
    for block in stream:
        starts, columns, _ = block.rows
        names = stream.recipe.exact_names or []
        rows += [{names[c] for c in columns[a:b]} for a, b in pairwise(starts)]
        labels += list(block.labels)
    return rows, labels


@settings(max_examples=60)
@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12), st.integers(8, 100))
def test_cells_are_those_of_pythons_reader_without_quotes(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, str]], chunk: int
) -> None:
    file = tmp_path_factory.mktemp("unquoted") / "rows.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    with file.open(newline="") as text:
        cells = [[cell.strip() for cell in row] for row in csv.reader(text, delimiter="\t", quoting=csv.QUOTE_NONE)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "CHUNK", chunk)
        found = names_of_rows(file, quoted=False)
    assert found == ([{f"1={one}", f"2={two}"} for one, two, _ in cells], [label for _, _, label in cells])


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('ham\t"so it goes\nspam\tfree " now\n', False),
        ('ham\t"so" it goes\nspam\tfree\n', False),
        ('ham\t"so it goes"\nspam\t"a ""b"""\n', True),
        ('ham\t"so it\ngoes"\nspam\tfree\n', True),  # a line end in quotes
        ('ham\t"so\tit"\nspam\tfree\n', True),  # a tab in quotes
        ("ham\tso it goes\nspam\tfree\n", True),
        ('text\ty\n"so\tit\ngoes"\tham\nfree\tspam\n', True),  # both, so that all lines have two cells
        ('text\ty\n"so\tit\ngoes" on\tham\nfree\tspam\n', False),
        ('text\ty\n"so\tit\ngoes\tham\nfree\tspam"\n', False),  # one record has another number of cells
        ('so\n"it\n\ngoes"\nfree\n', True),  # one column
        ('so\n"it\n\ngoes"\n6" pipe\n', False),  # no writer of quoted cells leaves that as it is
        ('so\n"it\ngoes" on\nfree\n', False),
        ('so\n"it\ngoes\n', False),
        ('so\n"it\n' + "goes\n" * 500 + 'on"\n', True),
        ('so\tit\n"it\tb\n' + "goes\ton\n" * 101 + 'on"\tit\n', False),  # two stray quotes
        ('so\tit\n"it\tb\n' + "goes\ton\n" * 99 + 'on"\tit\n', True),
        ('ham,"so it goes\nspam,free\n', True),  # commas: a quote that is never closed is a mistake
    ],
)
def test_quotes_that_make_no_sense_between_tabs_are_letters(tmp_path: Path, text: str, quoted: bool) -> None:
    file = tmp_path / "rows.tsv"
    file.write_text(text)
    assert has_quotes(str(file), "," if text.startswith("ham,") else "\t") is quoted


def test_a_cell_that_goes_on_behind_the_first_megabyte_may_end_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rows.tsv"
    file.write_text('"so\tit\ngoes"\tham\n' * 3)
    for size in range(1, 60):
        monkeypatch.setattr("onlinear.streams.csv_inference.SNIFFED_BYTES", size)
        assert has_quotes(str(file), "\t"), size


def test_a_model_remembers_that_quotes_are_letters(tmp_path: Path) -> None:
    file = tmp_path / "rows.tsv"
    file.write_text('one\t"so it goes\ntwo\tfree\n' * 3)
    stream = open_stream(file, target=1, header=False)
    header, arrays = stream.recipe.parts()
    assert Recipe.from_header(json.loads(json.dumps(header)), arrays).format == stream.format
    assert header["format"]["csv"]["quoted"] is False
    assert sum(len(block) for block in stream) == 6
