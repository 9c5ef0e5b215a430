"""Law 3 for the command line: a run that is killed or interrupted, and resumed, ends in the same model to the byte."""

from __future__ import annotations

import gzip
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from commands import process, run_here
from killing import is_finished, kill_after, run_struck
from onlinear.cli import job
from onlinear.cli.job import SAVING
from onlinear.learning.model import Model

ROWS = 2000  # of each file
EVERY = 100  # rows from one checkpoint to the next
BAD = "bad.txt"
COPIED = ["--bad-lines", BAD]
SGD, AROW = ["--loss", "hinge", "--rule", "sgd"], ["--loss", "hinge", "--rule", "arow"]

#: options by what is special about them; each with the extension of its files
CASES = {
    "normalised, bad lines copied": (".svm", COPIED),
    "sgd with l1 and averages": (".svm", [*SGD, "--l1", "1e-4", "--average"]),
    "ftrl, classes come later": (".vw", ["--rule", "ftrl", "--l1", "0.1", "--bits", "10", "--classes", "open"]),
    "arow, weighted, bad lines skipped": (".vw", [*AROW, "--bits", "8", "--bad-lines", "skip", "--classes", "0,1,2"]),
    "perceptron on a table": (".csv", ["--loss", "perceptron", "--rule", "perceptron", "--bits", "8", *COPIED]),
}


def svmlight_line(rng: random.Random, number: int) -> str:
    if number % 97 == 5:
        return f"1 {number}:x"
    entries = " ".join(f"{index}:{rng.random():.3f}" for index in sorted(rng.sample(range(1, 30 + number // 50), 4)))
    return f"{rng.choice((-1, 1))} {entries}"


def vw_line(rng: random.Random, number: int) -> str:
    if number % 89 == 3:
        return "no bar"
    label = rng.randrange(2 if number < ROWS // 2 else 3)
    return f"{label} {rng.choice((0, 0.5, 1, 2))} | " + " ".join(f"w{rng.randrange(300)}" for _ in range(4))


def csv_line(rng: random.Random, number: int) -> str:
    if number == 0:
        return "size,town,answer"
    if number % 101 == 7:
        return "1,2,3,4"
    return f'{rng.gauss(0, 1):.3f},"T{rng.randrange(20)}, CH",{rng.choice(("yes", "no"))}'


LINES = {".svm": svmlight_line, ".vw": vw_line, ".csv": csv_line}
WITHOUT_BAD = ("sgd with l1 and averages", "ftrl, classes come later")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written_files(extension: str, with_bad: bool) -> list[Path]:
    """Three files, the second of them compressed; in full, as a run that goes on calls them in its bad lines."""
    files = [Path(name).absolute() for name in (f"one{extension}", f"two{extension}.gz", f"three{extension}")]
    rng = random.Random(extension)
    for file in files:
        lines = [LINES[extension](rng, number) for number in range(ROWS)]
        if not with_bad:
            lines = [line for line in lines if not line.endswith((":x", "bar"))]
        text = ("\n".join(lines) + "\n").encode()
        file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return files


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bytes(name: str, folder: Path) -> None:
    extension, options = CASES[name]
    files = written_files(extension, with_bad=name not in WITHOUT_BAD)
    command = ["train", *files, *options, "--passes", 2, "--quiet"]
    assert run_here(*command, "--model", "straight") == (0, "", "")
    bad_lines = Path(BAD).read_bytes() if Path(BAD).exists() else None
    Path(BAD).unlink(missing_ok=True)

    rng = random.Random(name)
    model = folder / "killed"
    begun = [*command, "--model", model.name, "--checkpoint-every", EVERY]
    again = COPIED if COPIED[0] in options and BAD in options else []
    kills = 0
    # the first life may end before its first checkpoint, and then leaves nothing to go on with
    with process(*begun) as young:
        time.sleep(rng.uniform(0.0, 0.4))
        young.kill()
    while True:
        if not model.exists():
            Path(BAD).unlink(missing_ok=True)
        words = ["train", *files, *again, "--resume", model.name, "--quiet"] if model.exists() else begun
        killed = kill_after(model, rng.randrange(5, 25), rng.uniform(0.0, 0.005), *words)
        if is_finished(model):
            break
        assert killed
        kills += 1
    assert kills >= 2
    assert model.read_bytes() == (folder / "straight").read_bytes()
    assert bad_lines == (Path(BAD).read_bytes() if Path(BAD).exists() else None)


# ------------------------------------------------------------------ Ctrl-C

TO_GO_ON = f"{SAVING}\nInterrupted; saved. To go on: onlinear train {{}} --resume m\n"
FILES = "one.svm", "two.svm.gz", "three.svm"
RESUME = ["train", *FILES, "--resume", "m", "--quiet"]


def straight_and(extension: str = ".svm") -> list[Any]:
    """The words of a run, which has been run straight to the model ``straight``."""
    files = written_files(extension, with_bad=True)
    command = ["train", *files, "--bad-lines", "skip", "--passes", 2, "--quiet"]
    assert run_here(*command, "--model", "straight").code == 0
    return command


@pytest.mark.compiles
def test_a_run_that_is_interrupted_says_how_to_go_on_and_ends_in_the_same_bytes(folder: Path) -> None:
    words = [*straight_and(), "--model", "m", "--checkpoint-every", EVERY]
    interrupted = 0
    rng = random.Random(7)
    while True:
        ended = run_struck(folder / "m", rng.randrange(1, 20), rng.uniform(0.0, 0.01), signal.SIGINT, *words)
        if is_finished(folder / "m"):
            break
        assert ended == (130, "", TO_GO_ON.format(" ".join(FILES)))
        interrupted += 1
        words = RESUME
    assert interrupted >= 2
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()
    assert not list(folder.glob(".onlinear-*"))


@pytest.mark.compiles
@pytest.mark.parametrize("method", ["learn", "start_pass", "totals"])
def test_ctrl_c_amid_a_step_waits_for_its_end(folder: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    words = [*straight_and(), "--model", "m"]
    real = getattr(Model, method)

    def struck(training: Model, *rest: Any) -> Any:
        done = real(training, *rest)
        if training.learner.examples >= ROWS:
            os.kill(os.getpid(), signal.SIGINT)
            monkeypatch.setattr(Model, method, real)
        return done

    monkeypatch.setattr(Model, method, struck)
    assert run_here(*words) == (130, "", TO_GO_ON.format(" ".join(FILES)))
    assert run_here(*RESUME).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()


@pytest.mark.compiles
def test_a_second_ctrl_c_ends_at_once_with_the_old_model_intact(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*straight_and(), "--model", "m", "--checkpoint-every", EVERY]
    kept: list[bytes] = []
    real = os.fsync

    def struck(number: int) -> None:
        real(number)
        if os.path.isdir(f"/proc/self/fd/{number}"):  # the folder, after the file
            kept.append((folder / "m").read_bytes())
        elif len(kept) >= 5:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(os, "fsync", struck)
    ended = run_here(*words)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    nothing = "Ended without saving; what was there before is untouched."
    assert ended == (130, "", f"{SAVING}\n{nothing}\n")
    assert len(kept) == 5
    assert (folder / "m").read_bytes() == kept[-1]
    assert not list(folder.glob(".onlinear-*"))
    assert run_here(*RESUME).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()


SHUTDOWN = [(signal.SIGTERM, signal.SIGHUP), (signal.SIGHUP, signal.SIGTERM), (signal.SIGINT, signal.SIGTERM)]


@pytest.mark.compiles
@pytest.mark.parametrize("numbers", SHUTDOWN)
@pytest.mark.parametrize("where", ["step", "save"])
def test_a_shutdown_sends_two_signals_and_the_first_saves(
    folder: Path, monkeypatch: pytest.MonkeyPatch, numbers: tuple[signal.Signals, signal.Signals], where: str
) -> None:
    words = [*straight_and(), "--model", "m"]
    left = list(numbers)
    learn, fsync = Model.learn, os.fsync

    def strike() -> None:
        if left:
            os.kill(os.getpid(), left.pop(0))

    def struck_learn(training: Model, *rest: Any) -> None:
        learn(training, *rest)
        if training.learner.examples >= ROWS:
            strike()
            if where == "step":
                strike()

    def struck_fsync(number: int) -> None:
        fsync(number)
        strike()

    monkeypatch.setattr(Model, "learn", struck_learn)
    monkeypatch.setattr(os, "fsync", struck_fsync)
    assert run_here(*words) == (128 + numbers[0], "", TO_GO_ON.format(" ".join(FILES)))
    assert left == []
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert run_here(*RESUME).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()


@pytest.mark.compiles
def test_a_signal_does_not_end_the_save_before_a_bad_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written_files(".svm", with_bad=True)
    words = ["train", FILES[0], "--keep-partial", "--quiet", "--model"]
    ended = run_here(*words, "straight")
    assert (ended.code, ended.err.startswith("one.svm:6:")) == (1, True)
    fsync = os.fsync

    def struck(number: int) -> None:
        fsync(number)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(os, "fsync", struck)
    assert run_here(*words, "m") == ended
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()


@pytest.mark.compiles
def test_a_run_that_is_killed_in_its_test_learns_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [*straight_and(), "--model", "m", "--test", FILES[0]]
    on_the_disk: list[bytes] = []
    monkeypatch.setattr(job, "figures_of", lambda *_: on_the_disk.append((folder / "m").read_bytes()) or {})
    assert run_here(*words).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()
    (folder / "m").write_bytes(on_the_disk[0])
    assert run_here(*RESUME).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()


@pytest.mark.compiles
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_in_the_test_leaves_a_finished_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    (folder / "test.svm").write_text("1 1:1\n-1 2:1\n")
    words = [*straight_and(), "--test", "test.svm"]
    monkeypatch.setattr(job, "figures_of", lambda *_: os.kill(os.getpid(), number))
    said = "The model is finished and saved; only the test is missing: onlinear test m test.svm\n"
    assert run_here(*words, "--model", "m") == (128 + number, "", said)
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()
    ended = run_here(*words)
    assert (ended.code, "no --model was named" in ended.err) == (128 + number, True)


@pytest.mark.compiles
def test_ctrl_c_does_not_wait_for_a_pipe(folder: Path) -> None:
    line = b"".join(f"{(-1) ** k} {k % 7 + 1}:1 {k % 11 + 9}:0.5\n".encode() for k in range(1000))
    text = line * (6_000_000 // len(line))  # more than is read at once
    rows = text.splitlines(keepends=True)
    words = ["train", "-", "--format", "svmlight"]
    assert run_here(*words, "--quiet", "--model", "straight", stdin=text).code == 0
    with process(*words, "--model", "m", stdin=subprocess.PIPE) as command:
        assert command.stdin is not None
        assert command.stdout is not None
        command.stdin.write(text[: -len(line)])  # the last rows are still to come
        command.stdin.flush()
        assert b"examples" in command.stdout.readline()
        assert command.stdout.readline().split()[0] == b"1"  # something was learned
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 130
        assert command.stderr is not None
        said = command.stderr.read().decode()
    found = re.fullmatch(
        rf"{SAVING}\nInterrupted; saved. The model has learned ([\d,]+) rows; .*: (onlinear train - --resume m)\n", said
    )
    assert found is not None, said
    done = int(found[1].replace(",", ""))
    assert 0 < done < len(rows)
    words = [*found[2].split()[1:], "--quiet"]  # as it was advised: all rows that come are learned, none is skipped
    assert run_here(*words, stdin=b"".join(rows[done:])).code == 0
    assert (folder / "m").read_bytes() == (folder / "straight").read_bytes()
