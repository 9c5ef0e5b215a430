"""Predictions around bad lines: a gap for each, so that lines stay side by side."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from commands import run_here
from onlinear.cli.printing import with_gaps


@given(st.lists(st.booleans(), max_size=50))
def test_a_gap_for_each_line_that_is_missing(good: list[bool]) -> None:
    lines = [line for line, there in enumerate(good) if there]
    missing = [line for line, there in enumerate(good) if not there]
    found = with_gaps([f"row {line}" for line in lines], lines, missing[::-1], None)
    assert found == [f"row {line}" if there else None for line, there in enumerate(good)]


@pytest.mark.compiles
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_predictions_stay_side_by_side(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("".join(f"{k % 3} {k % 3 + 1}:1\n" for k in range(60)))
    assert run_here("train", "rows.svm", "--model", "m", "--quiet").code == 0
    kinds = [(k * k // 3) % 5 for k in range(5000)]
    Path("many.svm").write_text("".join(f"0 {kind + 1}:1\n" if kind < 3 else "oops\n" for kind in kinds))
    ended = run_here("predict", "m", "many.svm", "--bad-lines", "skip", "--output", f"out.{form}")
    assert ended.code == 0
    found = Path(f"out.{form}").read_text().splitlines()[form == "csv" :]
    shown = {"csv": "{}", "jsonl": '{{"prediction": {}}}'}[form]
    nothing = {"csv": '""', "jsonl": '{"prediction": null}'}[form]
    assert found == [shown.format(kind) if kind < 3 else nothing for kind in kinds]
