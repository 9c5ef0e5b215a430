"""A terminal that is narrower than a table shows its figures all the same."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from onlinear.cli.demo import draw_table, show
from onlinear.cli.progress import HEADINGS, ProgressBar, line_of
from onlinear.learning.progress import Line

LINES = [Line(512, 0.3112, 0.3968, 74, 0.1445)]


def test_a_line_beside_a_bar_is_not_broken_between_its_figures() -> None:
    shown = io.StringIO()
    progress: Any = ProgressBar()
    progress.bar = SimpleNamespace(console=Console(width=20, file=shown))
    progress.write(line_of(HEADINGS))
    assert shown.getvalue() == line_of(HEADINGS) + "\n"


@pytest.mark.parametrize(("columns", "is_drawn"), [(20, False), (60, True), (80, True)])
def test_a_table_is_drawn_where_it_has_room_and_else_printed(
    columns: int, is_drawn: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert draw_table("Rows", LINES) == is_drawn
    assert bool(capsys.readouterr().out) == is_drawn
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    show(LINES)
    shown = capsys.readouterr().out
    assert "\u2026" not in shown
    for cell in LINES[0].cells():
        assert cell in shown
