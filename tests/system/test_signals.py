"""Signals that end a command: none is lost, whenever it comes, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from commands import PLAIN, Ended, process, run_here, source_folder
from killing import is_finished
from onlinear.cli.ending import Interrupted, Interruptions
from onlinear.cli.job import NOT_SAVED, NOTHING_LEARNED
from onlinear.files.trained import open_model
from onlinear.system import pipes, signals
from onlinear.system.atomic import replacing
from onlinear.system.pipes import WaitingFile

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
ROWS = "-1 1:1\n1 2:2\n" * 200
LEARNING = ["--loss", "perceptron", "--rule", "perceptron"]
TRAIN = ["train", "rows.svm", *LEARNING, "--model", "m", "--quiet", "--bad-lines", "bad"]

#: the command line, to which a signal comes at a place that a name says
STRUCK = """
import os, sys

where, number = sys.argv.pop(1), int(sys.argv.pop(1))

def strike(*_):
    global where
    if where:
        where = ""
        os.kill(os.getpid(), number)

class Dying:
    def __del__(self):
        strike()

class Finder:  # asked for every module, with the lock of that module held
    def find_spec(self, name, path=None, target=None):
        if name == where:
            strike()

def dies_before(owner, name):
    real = getattr(owner, name)

    def called(*given, **named):
        Dying()
        return real(*given, **named)

    setattr(owner, name, called)

sys.meta_path.insert(0, Finder())
if where == "deletion before all":
    dies_before(__import__("onlinear.files.trained").files.trained, "open_model")
elif where == "deletion in a step":
    dies_before(__import__("onlinear.workflow.run").workflow.run.Run, "_parts")
elif where == "write":
    dies_before(__import__("onlinear.system.pipes").system.pipes.OutputFile, "write")
from onlinear.__main__ import main
main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text(ROWS)
    return tmp_path


def run_struck(where: str, number: int, *words: str) -> Ended:
    env = os.environ | PLAIN | {"PYTHONPATH": source_folder()}
    command = [sys.executable, "-c", STRUCK, where, str(int(number)), *words]
    ended = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize(("number", "code"), SIGNALS)
@pytest.mark.parametrize("module", ["click", "onlinear.cli.commands", "onlinear.cli.measure"])
def test_a_signal_while_the_commands_are_imported_ends_without_a_word(
    folder: Path, number: signal.Signals, code: int, module: str
) -> None:
    assert run_struck(module, number, *TRAIN) == (code, "", "")
    assert names(folder) == {"rows.svm"}


@pytest.mark.parametrize("module", ["numpy", "onlinear.cli.job", "onlinear.learning.learner"])
def test_a_signal_before_anything_is_learned_says_so(folder: Path, module: str) -> None:
    ended = run_struck(module, signal.SIGTERM, *TRAIN)
    assert (ended.code, ended.out) == (143, "")
    assert ended.err in ("", f"{NOTHING_LEARNED}\n")
    assert names(folder) == {"rows.svm"}


@pytest.mark.compiles
@pytest.mark.parametrize("words", ["test m rows.svm", "predict m rows.svm -o p", "inspect m"])
def test_a_signal_where_exceptions_are_lost_is_not_lost(folder: Path, words: str) -> None:
    assert run_here("train", "rows.svm", *LEARNING, "--model", "m", "--quiet").code == 0
    assert run_struck("deletion before all", signal.SIGTERM, *words.split()) == (143, "", "")
    assert names(folder) == {"rows.svm", "m"}


@pytest.mark.compiles
def test_a_signal_where_exceptions_are_lost_saves_what_was_learned(folder: Path) -> None:
    ended = run_struck("deletion in a step", signal.SIGTERM, *TRAIN)
    assert (ended.code, "Exception ignored" in ended.err) == (143, False)
    assert "Interrupted; saved. To go on: onlinear train rows.svm --resume m" in ended.err
    assert not is_finished(Path("m"))
    assert run_here("train", "rows.svm", "--resume", "m", "--bad-lines", "bad", "--quiet").code == 0
    assert open_model("m").training.totals().examples == 400


@pytest.mark.compiles
@pytest.mark.parametrize(
    "words", ["predict m rows.svm -o p --bad-lines bad", "convert rows.svm p.vw --quiet", "certify rows.svm -o p"]
)
def test_a_signal_amid_an_output_leaves_nothing_of_it(folder: Path, words: str) -> None:
    assert run_here("train", "rows.svm", *LEARNING, "--model", "m", "--quiet").code == 0
    ended = run_struck("write", signal.SIGINT, *words.split())
    assert (ended.code, ended.err) == (130, "")
    assert names(folder) == {"rows.svm", "m"}


def test_a_signal_ends_the_wait_for_whoever_reads_an_output() -> None:
    reader, writer = os.pipe()
    with Interruptions() as interruptions, WaitingFile(writer, "wb") as file:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Interrupted):
            fill(file)
        interruptions.take()
    os.close(reader)


def fill(file: WaitingFile) -> None:
    while True:
        file.write(b"x" * 512)


def test_importing_the_package_handles_no_signal() -> None:
    code = "import onlinear, onlinear.system.signals, onlinear.cli, onlinear.__main__"
    code = f"import signal; before = signal.getsignal(2); {code}; assert signal.getsignal(2) is before"
    command = [sys.executable, "-c", code]
    assert subprocess.run(command, env=os.environ | {"PYTHONPATH": source_folder()}, timeout=300).returncode == 0


def test_what_must_be_whole_is_done_before_a_signal_ends_the_block() -> None:
    done = []

    def struck_within() -> None:
        with Interruptions() as interruptions:
            with interruptions.whole():
                signal.raise_signal(signal.SIGTERM)
                signals.check()
                done.append("whole")
            done.append("more")

    with pytest.raises(Interrupted):
        struck_within()
    assert done == ["whole"]
    signals.check()


def test_a_signal_after_the_last_safe_point_comes_at_the_end() -> None:
    with pytest.raises(Interrupted), Interruptions():
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_that_nobody_reads_is_waited_for_and_can_be_left(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    tries = 0

    def leave() -> None:
        nonlocal tries
        tries += 1
        if tries == 3:
            raise Interrupted

    before = signals.set_checking(leave)
    try:
        with pytest.raises(Interrupted), replacing(tmp_path / "pipe"):
            pass
    finally:
        signals.set_checking(before)
    assert tries == 3
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with replacing(tmp_path / "pipe") as file:
        file.write(b"answers")
    assert os.read(reader, 100) == b"answers"
    os.close(reader)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("second", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_second_signal_ends_what_waits_for_a_reader(
    second: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    coming = [signal.SIGTERM, getattr(signal, second)]
    monkeypatch.setattr(pipes.time, "sleep", lambda _: signal.raise_signal(coming.pop(0)))
    with (
        pytest.raises(Interrupted) as found,
        Interruptions() as interruptions,
        interruptions.whole(),
        replacing(tmp_path / "pipe"),
    ):
        pass
    assert (found.value.code, coming) == (143, [])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("testing", [[], ["--test", "rows.svm"]])
def test_a_run_whose_model_nobody_reads_can_be_ended(
    testing: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:1\n-1 2:1\n" * 32)
    os.mkfifo("pipe")
    with process("train", "rows.svm", "--model", "pipe", *testing) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        while not command.stdout.readline().startswith(b"          64 "):
            assert command.poll() is None
        for _ in range(10):
            command.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                command.wait(5)  # a second signal would not let the first one speak
                break
        said = command.stderr.read().decode()
    assert (command.returncode, said.splitlines()[-1]) == (143, NOT_SAVED), said
