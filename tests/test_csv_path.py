"""The way of one CSV line: through how many files of the package it passes, from its bytes to the weights.

Numbers that grow say that one subject was cut into crumbs, or that a layer was put in between.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import onlinear
from commands import run_here
from onlinear.workflow.run import Run

PACKAGE = str(Path(onlinear.__file__).parent) + "/"
#: files with a function that is called while rows are read and learned; and in all of ``onlinear train``, which looks
#: at the options, the columns and runs of labels before, and saves the model at the end
MOST_FOR_ROWS, MOST_FOR_TRAIN = 28, 61


def files_called(work: Callable[[], object]) -> list[str]:
    """The files of the package in which a function is called meanwhile, in whichever thread."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            found.add(frame.f_code.co_filename.removeprefix(PACKAGE))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return sorted(found)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    drawn = random.Random(7)
    lines = [f"{drawn.gauss(0, 1):.3f},{drawn.choice('abc')},{drawn.randrange(2)}\n" for _ in range(2000)]
    (tmp_path / "rows.csv").write_text("x,town,y\n" + "".join(lines))
    monkeypatch.chdir(tmp_path)
    return "rows.csv"


def test_a_row_passes_through_few_files(rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["train", rows, "--target", "y", "--passes", "2", "--quiet"]  # the second pass reads all rows anew
    assert run_here(*command).code == 0  # whatever is loaded or compiled once
    found: list[str] = []
    steps = Run.steps

    def traced(run: Run, *given: Any) -> Iterator[bool]:
        done: list[bool] = []
        found.extend(files_called(lambda: done.extend(steps(run, *given))))
        yield from done

    monkeypatch.setattr(Run, "steps", traced)
    assert run_here(*command).code == 0
    assert "streams/csv_text.py" in found
    assert len(found) <= MOST_FOR_ROWS, found


def test_the_command_passes_through_few_files(rows: str) -> None:
    def train() -> int:
        return run_here("train", rows, "--target", "y", "--model", "m", "--quiet").code

    assert train() == 0
    found = files_called(lambda: pytest.fail("train") if train() else None)
    assert "cli/train.py" in found
    assert len(found) <= MOST_FOR_TRAIN, found


def test_calls_in_other_threads_count(rows: str) -> None:
    stream = onlinear.open_stream(rows, target="y")
    found = files_called(lambda: list(stream))
    assert "streams/decompression.py" in found  # files are opened by those that read ahead
