"""Standard output that is lost: what was learned is saved all the same, and no command ends in a traceback."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from commands import process, run_apart, run_here
from killing import is_finished
from onlinear.cli.job import SAVING
from onlinear.files.trained import open_model

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


# ------------------------------------------------------------------ output that somebody has made non-blocking


class SlowReader(threading.Thread):
    """Reads a pipe that is non-blocking for its writer, and full until it begins."""

    def __init__(self) -> None:
        super().__init__()
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.writer, False)
        self.filled = 0
        while True:
            try:
                self.filled += os.write(self.writer, b"x" * 512)
            except BlockingIOError:
                break
        self.read = b""

    def run(self) -> None:
        while piece := os.read(self.reader, 4096):
            self.read += piece
        os.close(self.reader)

    def read_from(self, command: subprocess.Popen[bytes]) -> bytes:
        """What a command writes, of which nothing is read before it has had time to lose it."""
        os.close(self.writer)
        with suppress(subprocess.TimeoutExpired):
            command.wait(3)
        self.start()
        self.join(LONG)
        command.wait(LONG)
        return self.read[self.filled :]


@pytest.mark.parametrize(
    "words",
    [
        "--help",
        "inspect m",
        "test m rows.svm --json",
        "predict m many.svm --scores",
        "predict m many.svm --output-format jsonl",
        "predict m rows.svm -o /dev/stdout",
        "predict m bad.svm --bad-lines /dev/stdout",
        "train rows.svm --loss perceptron --rule perceptron",
        "convert many.svm - --to vw",
    ],
)
def test_nothing_is_lost_if_standard_output_is_non_blocking(folder: Path, words: str) -> None:
    assert run_here("train", "rows.svm", *LEARNING, "--model", "m", "--quiet").code == 0
    Path("many.svm").write_bytes(PAIR * 10_000)  # more than a pipe holds
    Path("bad.svm").write_bytes(b"1 2:x\n")
    wanted = run_apart(*words.split())
    slow = SlowReader()
    with process(*words.split(), stdout=slow.writer) as command:
        found = slow.read_from(command).decode()
    assert (command.returncode, without_rates(found)) == (wanted.code, without_rates(wanted.out))


def without_rates(text: str) -> list[str]:
    """What a run says, but for how fast it was."""
    return [line[:52] for line in text.splitlines() if "features in" not in line]


def test_nothing_is_lost_if_standard_error_is_non_blocking(folder: Path) -> None:
    slow = SlowReader()
    with process("predict", "nothing", "rows.svm", stderr=slow.writer) as command:
        assert slow.read_from(command).startswith(b"nothing cannot be read")
    assert command.returncode == 3
