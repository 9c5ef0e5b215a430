"""Standard output that is lost: what was learned is saved all the same, and no command ends in a traceback."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import process
from killing import is_finished
from onlinear.cli.job import SAVING
from onlinear.modelfile import open_model

LONG = 60  # seconds: whatever comes comes sooner on any machine
PAIR = b"-1 1:1\n1 2:2\n"
LEARNING = ["--format", "svmlight", "--classes", "-1,1", "--loss", "perceptron", "--rule", "perceptron"]
FULL = b"standard output: cannot be written (No space left on device): make room, or write elsewhere\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_bytes(PAIR * 50)
    return tmp_path


@pytest.fixture
def broken() -> Iterator[int]:
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize("words", [[], ["--json"], ["--checkpoint-every", "7"]])
def test_a_run_whose_progress_nobody_reads_is_finished_and_saved(folder: Path, broken: int, words: list[str]) -> None:
    with process("train", "rows.svm", "--model", "m", *LEARNING, *words, stdout=broken) as command:
        assert command.communicate(timeout=LONG)[1] == b""
    assert command.returncode == 141
    assert is_finished(Path("m"))
    assert open_model("m").training.totals().examples == 100


def test_a_run_whose_progress_has_no_room_is_finished_and_saved(folder: Path) -> None:
    with (
        open("/dev/full", "w") as full,
        process("train", "rows.svm", "--model", "m", *LEARNING, stdout=full) as command,
    ):
        assert command.communicate(timeout=LONG)[1] == FULL
    assert command.returncode == 1
    assert is_finished(Path("m"))
    assert open_model("m").training.totals().examples == 100


def read_until(terminal: int, wanted: bytes) -> bytes:
    """What a terminal shows, until something is there."""
    seen = b""
    while wanted not in seen:
        assert select.select([terminal], [], [], LONG)[0], seen
        seen += os.read(terminal, 1 << 16)
    return seen


def test_a_terminal_that_is_closed_does_not_end_a_run(folder: Path) -> None:
    terminal, end = pty.openpty()
    words = ["train", "-", "--model", "m", *LEARNING]
    with process(*words, stdin=subprocess.PIPE, stdout=end, stderr=end) as command:
        os.close(end)
        assert command.stdin is not None
        command.stdin.write(PAIR)
        command.stdin.flush()
        read_until(terminal, b"\n           2 ")
        os.close(terminal)
        command.stdin.write(PAIR * 10)
        command.stdin.close()
        assert command.wait(LONG) == 1
    assert is_finished(Path("m"))
    assert open_model("m").training.totals().examples == 22


def test_how_to_go_on_is_one_line_on_standard_error_beside_a_bar(folder: Path) -> None:
    terminal, end = pty.openpty()
    model = f"{'long' * 30}.model"
    with process("train", "-", "--model", model, *LEARNING, stdin=subprocess.PIPE, stdout=end) as command:
        os.close(end)
        assert command.stdin is not None
        assert command.stderr is not None
        command.stdin.write(PAIR)
        command.stdin.flush()
        read_until(terminal, b"\n           2 ")
        command.send_signal(signal.SIGINT)
        said = command.stderr.read().decode().splitlines()
    os.close(terminal)
    assert command.returncode == 130
    assert said[0] == SAVING
    assert said[1].startswith("Interrupted; saved. ")
    assert said[1].endswith(f" onlinear train - --resume {model}")
    assert len(said) == 2


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["--version"], ["--show-completion", "bash"]])
def test_help_that_cannot_be_written(words: list[str], broken: int) -> None:
    with open("/dev/full", "w") as full, process(*words, stdout=full) as command:
        assert command.communicate(timeout=LONG)[1] == FULL
    assert command.returncode == 1
    with process(*words, stdout=broken) as command:
        assert command.communicate(timeout=LONG)[1] == b""
    assert command.returncode in (-13, 141)  # SIGPIPE, which a shell calls 141
