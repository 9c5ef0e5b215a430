"""Live input: rows are learned and answered while the pipe they come from is open; signals end it as Ctrl-C does."""

from __future__ import annotations

import gzip
import os
import select
import signal
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from commands import process, run_here
from onlinear.cli.job import SAVING
from onlinear.files.trained import open_model

LONG = 60  # seconds: whatever comes before the pipe is closed comes sooner on any machine
LEARNING = ["--loss", "perceptron", "--rule", "perceptron"]
CLASSES = ["--classes", "-1,1", *LEARNING]
ROWS = {
    "csv": b"size,town,answer\n" + b"1,Bern,no\n2,Thun,yes\n" * 20,
    "jsonl": b'{"size": 1, "town": "Bern", "answer": "no"}\n{"size": 2, "town": "Thun", "answer": "yes"}\n' * 20,
    "svmlight": b"-1 1:1\n1 2:2\n" * 20,
    "vw": b"-1 | a:1\n1 | b:2\n" * 20,
}


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a pipe as they come."""
    waiting = select.poll()
    waiting.register(file, select.POLLIN)
    held = b""
    while waiting.poll(LONG * 1000):
        more = os.read(file.fileno(), 1 << 16)
        *whole, held = (held + more).split(b"\n")
        yield from whole
        if not more:
            return
    raise AssertionError("nothing came, though the pipe is open")


def sent(command: subprocess.Popen[bytes], text: bytes) -> None:
    assert command.stdin is not None
    command.stdin.write(text)
    command.stdin.flush()


@pytest.mark.parametrize("form", list(ROWS))
@pytest.mark.parametrize("packed", [False, True])
def test_each_row_is_answered_before_the_next_one_comes(tmp_path: Path, form: str, packed: bool) -> None:
    (tmp_path / "rows").write_bytes(ROWS[form])
    named = [] if form in ("svmlight", "vw") else ["--target", "answer"]
    ended = run_here("train", tmp_path / "rows", "--format", form, "--model", tmp_path / "m", *named, *LEARNING)
    assert ended.code == 0, ended.err
    wanted = run_here("predict", tmp_path / "m", tmp_path / "rows").out.encode().splitlines()
    packer = zlib.compressobj(wbits=31)

    def written(text: bytes) -> bytes:
        return packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH) if packed else text

    lines = ROWS[form].splitlines(keepends=True)
    with process("predict", tmp_path / "m", "-", stdin=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stdin is not None
        assert command.stderr is not None
        answers = lines_of(command.stdout)
        if form == "csv":
            sent(command, written(lines.pop(0)))
        sent(command, written(lines.pop(0)))
        assert [next(answers), next(answers)] == wanted[:2]  # a header, and the first answer
        for line, answer in zip(lines[:5], wanted[2:7], strict=True):
            sent(command, written(line))
            assert next(answers) == answer
        sent(command, written(b"".join(lines[5:])) + (packer.flush() if packed else b""))
        command.stdin.close()
        assert list(answers) == wanted[7:]
        assert command.stderr.read() == b""
    assert command.returncode == 0


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(
    ("number", "code", "known"),
    [(*case, CLASSES) for case in SIGNALS] + [(*SIGNALS[1], ["--loss", "squared_error", "--rule", "sgd"])],
)
def test_rows_are_learned_as_they_come_and_a_signal_saves_them(
    tmp_path: Path, number: signal.Signals, code: int, known: list[str]
) -> None:
    words = ["-", "--model", tmp_path / "m", "--format", "svmlight", *known]
    with process("train", *words, stdin=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        seen = lines_of(command.stdout)
        sent(command, b"-1 1:1\n1 2:2\n")
        while next(seen).split()[0] != b"2":
            pass
        sent(command, b"-1 1:1\n1 2:2\n" * 3)
        while next(seen).split()[0] != b"8":
            pass
        command.send_signal(number)
        said = command.stderr.read().decode()
    assert command.returncode == code, said
    assert said.startswith(f"{SAVING}\nInterrupted; saved. The model has learned 8 rows; a pipe cannot be read again")
    assert open_model(tmp_path / "m").training.totals().examples == 8
    assert not list(tmp_path.glob(".onlinear-*"))


@pytest.mark.parametrize("form", list(ROWS))
def test_a_model_that_goes_on_learns_rows_as_they_come(tmp_path: Path, form: str) -> None:
    (tmp_path / "rows").write_bytes(ROWS[form])
    named = [] if form in ("svmlight", "vw") else ["--target", "answer"]
    words = ["train", tmp_path / "rows", "--format", form, "--model", tmp_path / "m", *named, *LEARNING]
    assert run_here(*words).code == 0
    words = ["train", "-", "--resume", tmp_path / "m", "--model", tmp_path / "n", "--checkpoint-every", "2"]
    with process(*words, stdin=subprocess.PIPE) as command:
        sent(command, b"".join(ROWS[form].splitlines(keepends=True)[: 3 if form == "csv" else 2]))
        while not (tmp_path / "n").exists():
            assert command.poll() is None
            time.sleep(0.01)
        assert open_model(tmp_path / "n").training.totals().examples == 42  # while the pipe is open
        command.communicate()
    assert command.returncode == 0


@pytest.mark.parametrize(
    ("number", "code", "form"), [(*SIGNALS[0], "csv"), (*SIGNALS[1], "svmlight"), (*SIGNALS[2], "jsonl")]
)
def test_it_says_that_it_waits_and_that_nothing_was_learned(
    tmp_path: Path, number: signal.Signals, code: int, form: str
) -> None:
    words = ["train", "-", "--format", form, "--model", tmp_path / "m"]
    words += ["--target", "answer"] if form == "jsonl" else []
    with process(*words, stdin=subprocess.PIPE) as command:
        assert command.stderr is not None
        said = lines_of(command.stderr)
        sent(command, ROWS[form])
        assert next(said).startswith(b"Waiting for the first rows of standard input: ")
        command.send_signal(number)
        assert next(said) == b"Interrupted before anything was learned: nothing was saved."
    assert command.returncode == code
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("known", [["--classes", "-1,1"], ["--task", "regression"], ["--loss", "huber"]])
def test_it_says_that_it_waits_for_one_row_where_one_is_enough(tmp_path: Path, known: list[str]) -> None:
    with process("train", "-", "--format", "svmlight", *known, stdin=subprocess.PIPE) as command:
        assert command.stderr is not None
        said = lines_of(command.stderr)
        assert next(said) == b"Waiting for the first row of standard input."
        command.send_signal(signal.SIGTERM)
        assert next(said) == b"Interrupted before anything was learned: nothing was saved."
    assert command.returncode == 143


def test_a_fifo_without_a_writer_is_waited_for_aloud(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with process("train", tmp_path / "pipe.csv") as command:
        assert command.stderr is not None
        said = lines_of(command.stderr)
        assert b"pipe.csv" in next(said)
        command.send_signal(signal.SIGTERM)
        assert next(said).startswith(b"Interrupted before anything was learned")
    assert command.returncode == 143


def test_a_hangup_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """As under nohup."""
    words = ["train", "-", "--format", "svmlight", "--classes", "-1,1", *LEARNING, "--model", tmp_path / "m"]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        started = process(*words, stdin=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGHUP, before)
    with started as command:
        assert command.stdout is not None
        assert command.stdin is not None
        seen = lines_of(command.stdout)
        sent(command, b"-1 1:1\n1 2:2\n")
        while next(seen).split()[0] != b"2":
            pass
        command.send_signal(signal.SIGHUP)
        sent(command, b"-1 1:1\n1 2:2\n")
        command.stdin.close()
        assert b"4 examples" in b"".join(list(seen))
    assert command.returncode == 0


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_predictions_so_far_are_written(tmp_path: Path, number: signal.Signals, code: int) -> None:
    (tmp_path / "rows.svm").write_bytes(ROWS["svmlight"])
    assert run_here("train", tmp_path / "rows.svm", "--model", tmp_path / "m", *LEARNING).code == 0
    with process("predict", tmp_path / "m", "-", stdin=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        answers = lines_of(command.stdout)
        sent(command, b"-1 1:1\n1 2:2\n")
        assert [next(answers) for _ in range(3)] == [b"prediction", b"-1", b"1"]
        command.send_signal(number)
        assert list(answers) == []
        assert command.stderr.read() == b""
    assert command.returncode == code


def test_pauses_do_not_matter(tmp_path: Path) -> None:
    """The same rows, with pauses within lines and without, are the same model to the byte."""
    text = b"".join(b"%d 1:%d 2:3\n" % ((-1, 1)[k % 3 == 0], k) for k in range(300))
    words = ["train", "-", "--format", "svmlight", "--classes", "-1,1", *LEARNING, "--quiet"]
    assert run_here(*words, "--model", tmp_path / "whole", stdin=text).code == 0
    with process(*words, "--model", tmp_path / "parts", stdin=subprocess.PIPE) as command:
        assert command.stdin is not None
        for start in range(0, len(text), 1000):
            sent(command, text[start : start + 1000])
            time.sleep(0.1)
        command.stdin.close()
    assert command.returncode == 0
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_a_member_of_gzip_that_ends_is_answered(tmp_path: Path) -> None:
    """Each part is packed by itself, as by those who append to a log."""
    (tmp_path / "rows.svm").write_bytes(ROWS["svmlight"])
    assert run_here("train", tmp_path / "rows.svm", "--model", tmp_path / "m", *LEARNING).code == 0
    with process("predict", tmp_path / "m", "-", stdin=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stdin is not None
        answers = lines_of(command.stdout)
        sent(command, gzip.compress(b"-1 1:1\n"))
        assert [next(answers), next(answers)] == [b"prediction", b"-1"]
        sent(command, gzip.compress(b"1 2:2\n"))
        assert next(answers) == b"1"
        command.stdin.close()
    assert command.returncode == 0
