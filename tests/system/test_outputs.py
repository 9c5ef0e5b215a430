"""Outputs: whole or not at all, never over an input or another output, and nothing is left behind."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import onlinear
from commands import process, run_apart, run_here
from onlinear.errors import NotSaved, Refused
from onlinear.system import atomic, places

PACKAGE = Path(onlinear.__file__).parent
ROWS = "".join(f"{(-1) ** k} {k % 7 + 1}:0.5 {k % 11 + 9}:{k % 5 + 1}\n" for k in range(60))
SAVED: dict[str, bytes] = {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows under several names, and a model of them."""
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text(ROWS)
    Path("link.svm").symlink_to("rows.svm")
    Path("sub").mkdir()
    Path("linked").symlink_to("sub")
    os.link("rows.svm", "sub/hard.svm")
    if not SAVED:
        assert run_here("train", "rows.svm", "--model", "m", "--quiet").code == 0
        SAVED["m"] = Path("m").read_bytes()
    Path("m").write_bytes(SAVED["m"])
    return tmp_path


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


NAMES = ["rows.svm", "sub/../rows.svm", "link.svm", "sub/hard.svm", "linked/hard.svm"]
OVER_INPUTS = [
    "train rows.svm --model {}",
    "train m2.svm --test rows.svm --model {}",
    "train rows.svm --resume m --model {}",
    "train rows.svm --model new --bad-lines {}",
    "predict m rows.svm -o {}",
    "predict m rows.svm --bad-lines {}",
    "test m rows.svm --bad-lines {}",
    "certify rows.svm -o {}",
    "certify rows.svm --export {}",
    "convert rows.svm {} --to vw --force",
    "select rows.svm --model {}",
    "select rows.svm --report {}",
    "select rows.svm --export {}",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", OVER_INPUTS)
def test_no_output_takes_the_place_of_an_input(command: str, name: str, folder: Path) -> None:
    shutil.copy("rows.svm", "m2.svm")
    before = contents()
    ended = run_here(*command.format(name).split())
    assert (ended.code, ended.out) == (2, ""), ended
    assert ended.err == f"{name} would be written over, and it is read at the same time: name another file to write\n"
    assert contents() == before


@pytest.mark.parametrize(
    "command",
    [
        "predict m rows.svm -o m",
        "predict m rows.svm --bad-lines m",
        "certify rows.svm --model m -o m",
        "certify rows.svm --model m --export m",
        "train rows.svm m.svm --model ./m.svm",
        "train *.svm --model rows.svm",
    ],
)
def test_nor_that_of_a_model_or_of_what_a_glob_finds(command: str, folder: Path) -> None:
    shutil.copy("rows.svm", "m.svm")
    before = contents()
    ended = run_here(*command.split())
    assert (ended.code, "read at the same time" in ended.err) == (2, True), ended
    assert contents() == before


@pytest.mark.parametrize(
    "command",
    [
        "certify rows.svm -o new --export ./new",
        "predict m rows.svm -o new --bad-lines linked/../new",
        "train rows.svm --model new --bad-lines new",
        "convert rows.svm new.vw --bad-lines new.vw",
        "select rows.svm --model new --report new",
        "select rows.svm --model onlinear-ledger.json",
        "select rows.svm --model new --export new.certificate.json",
        "select rows.svm --report rows.certificate.json",
    ],
)
def test_two_outputs_are_two_files(command: str, folder: Path) -> None:
    before = contents()
    ended = run_here(*command.split())
    assert (ended.code, "would be written over by another output" in ended.err) == (2, True), ended
    assert contents() == before


def test_standard_input_and_output_are_files_too(folder: Path) -> None:
    before = contents()
    words = "train", "-", "--format", "svmlight", "--model", "sub/hard.svm"
    with open("rows.svm", "rb") as rows, process(*words, stdin=rows) as command:
        err = command.communicate(timeout=300)[1]
    assert (command.returncode, b"read at the same time" in err) == (2, True), err
    assert contents() == before


# ------------------------------------------------------------------ what - is, and where the command prints


@pytest.mark.parametrize(
    "command",
    [
        "train rows.svm --model -",
        "train rows.svm -m- -q",
        "train rows.svm --bad-lines -",
        "predict m rows.svm --bad-lines -",
        "certify rows.svm -o -",
        "certify rows.svm --export -",
        "select rows.svm --model -",
        "select rows.svm --report -",
        "select rows.svm --export -",
        "demo --plot -",
    ],
)
def test_a_dash_is_no_file_where_it_is_not_standard_output(command: str, folder: Path) -> None:
    Path("-").write_text(ROWS)
    before = contents()
    ended = run_here(*command.split())
    assert (ended.code, ended.out) == (2, ""), ended
    assert "- is not standard output here: name a file, or say ./- for one of that name" in ended.err
    assert contents() == before


@pytest.mark.compiles
def test_a_file_may_be_called_a_dash(folder: Path) -> None:
    assert run_here("train", "rows.svm", "--model", "./-", "--quiet") == (0, "", "")
    assert Path("-").read_bytes() == Path("m").read_bytes()
    for option in ("--model", "--bad-lines"):
        ended = run_here("train", "./-", "--format", "svmlight", option, "./-")
        assert (ended.code, "read at the same time" in ended.err) == (2, True), ended
    assert Path("-").read_bytes() == Path("m").read_bytes()


@pytest.mark.parametrize("words", ["train rows.svm --model new", "test m rows.svm", "inspect m", "certify rows.svm"])
def test_nothing_is_printed_to_the_end_of_an_input(words: str, folder: Path) -> None:
    before = contents()
    with open(words.split()[1], "ab") as file, process(*words.split(), stdout=file) as command:
        err = command.communicate(timeout=300)[1]
    assert (command.returncode, b"standard output would be written over" in err) == (2, True), err
    assert contents() == before


MIXED = [
    "train rows.svm --model /dev/stdout",
    "train rows.svm --model /dev/fd/1 --json",
    "train rows.svm --model /dev/stdout --json --quiet",
    "certify rows.svm -o /dev/stdout",
    "certify rows.svm -o /dev/stdout --json",
    "certify rows.svm --export /dev/stdout",
    "select rows.svm --model new --report /dev/stdout",
]


@pytest.mark.parametrize("command", MIXED)
def test_no_output_stands_among_what_is_printed(command: str, folder: Path) -> None:
    before = contents()
    ended = run_apart(*command.split())
    assert (ended.code, ended.out, "where the command prints" in ended.err) == (2, "", True), ended
    assert contents() == before


@pytest.mark.parametrize("command", ["train bad.svm --json --model new", "test m bad.svm --json"])
def test_no_bad_lines_stand_among_json(command: str, folder: Path) -> None:
    Path("bad.svm").write_bytes(Path("rows.svm").read_bytes() + b"bad line\n")
    ended = run_apart(*command.split(), "--bad-lines", "/dev/stdout")
    assert (ended.code, ended.out, "where the command prints" in ended.err) == (2, "", True), ended


@pytest.mark.parametrize(
    "command",
    [
        "train bad.svm -q --model /dev/stdout --bad-lines /dev/stdout",
        "train bad.svm -q --model /dev/stdout --bad-lines /dev/fd/1",
        "train bad.svm -q --model /dev/stderr --bad-lines /dev/stdout",
        "predict m bad.svm -o /dev/stdout --bad-lines /proc/self/fd/1",
        "train bad.svm -q --model fifo --bad-lines fifo",
    ],
)
def test_two_outputs_are_not_mixed_in_one_pipe(command: str, folder: Path) -> None:
    Path("bad.svm").write_bytes(Path("rows.svm").read_bytes() + b"bad line\n")
    os.mkfifo("fifo")
    ended = run_apart(*command.split(), stderr=subprocess.STDOUT)
    assert (ended.code, ended.out.splitlines()[0].split(" ", 1)[1:]) == (
        2,
        ["would be mixed with another output: give each a name of its own"],
    ), ended


def test_a_pipe_that_is_printed_to_is_known_by_all_its_names(folder: Path) -> None:
    ended = run_apart("train", "rows.svm", "--model", "/dev/stderr", stderr=subprocess.STDOUT)
    assert (ended.code, ended.out.startswith("/dev/stderr is where the command prints")) == (2, True), ended


@pytest.mark.compiles
def test_a_model_may_be_all_that_is_printed(folder: Path) -> None:
    with open("printed", "wb") as file, process("train", "rows.svm", "-qm", "/dev/stdout", stdout=file) as command:
        assert command.wait(300) == 0
    assert Path("printed").read_bytes() == SAVED["m"]


@pytest.mark.parametrize("name", ["/dev/null", "pipe"])
def test_what_takes_one_model_takes_no_checkpoints(name: str, folder: Path) -> None:
    os.mkfifo("pipe")
    ended = run_here("train", "rows.svm", "--model", name, "--checkpoint-every", 7)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"{name} takes one model, and --checkpoint-every saves several")


@pytest.mark.parametrize("mode", ["ab", "r+b"])
@pytest.mark.parametrize("words", [("rows.svm", "--model"), ("rows.svm", "--resume")])
def test_a_model_is_not_mixed_with_what_an_open_file_holds(words: tuple[str, ...], mode: str, folder: Path) -> None:
    before = Path("m").read_bytes()
    with open("m", mode) as file:
        number = file.fileno()
        ended = run_apart("train", *words, f"/dev/fd/{number}", "--quiet", pass_fds=(number,))
    said = f"/dev/fd/{number} holds something already, and a model cannot be read behind it: name a file\n"
    assert ended == (2, "", said)
    assert Path("m").read_bytes() == before


@pytest.mark.parametrize("command", ["select rows.svm --quiet --model {}", "convert rows.vw {} --to svmlight"])
def test_nothing_is_written_beside_what_is_no_file(command: str, folder: Path) -> None:
    Path("rows.vw").write_text("1 | a\n-1 | b\n")
    os.mkfifo("pipe")
    Path("linked-out").symlink_to("/dev/stdout")
    before = sorted(os.listdir())
    for name in ("pipe", "linked-out"):
        ended = run_apart(*command.format(name).split())
        assert (ended.code, ended.out, ": name a file" in ended.err) == (2, "", True), ended
    assert sorted(os.listdir()) == before


@pytest.mark.compiles
def test_bad_lines_are_added_to_an_open_file(folder: Path) -> None:
    Path("bad.svm").write_text("1 2:x\n")
    for which in ("stdout", "stderr"):
        with open("log", "wb") as log:
            log.write(b"before\n")
            log.flush()
            words = "predict", "m", "bad.svm", "-o", "/dev/null", "--bad-lines", f"/dev/{which}"
            with process(*words, **{which: log}) as running:
                assert running.wait(300) == 0
        lines = Path("log").read_text().splitlines()
        assert lines[0] == "before"
        assert lines[1].startswith("# bad.svm:1:5: ")
        assert lines[2] == "1 2:x"


@pytest.mark.compiles
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no files of other processes here")
@pytest.mark.parametrize("option", ["-o", "--bad-lines"])
def test_what_another_process_has_open_is_added_to(option: str, folder: Path) -> None:
    with open("log", "wb") as log:
        log.write(b"before\n")
        log.flush()
        Path("bad.svm").write_text("1 2:x\n")
        words = "predict", "m", "bad.svm", "--bad-lines", "skip", option, f"/proc/{os.getpid()}/fd/{log.fileno()}"
        assert run_apart(*words).code == 0
    assert Path("log").read_bytes().startswith(b"before\n")
    assert len(Path("log").read_bytes()) > len(b"before\n")


def test_an_open_file_that_cannot_be_written_to_is_no_place(folder: Path) -> None:
    with open("rows.svm", "rb") as file:
        number = file.fileno()
        with pytest.raises(NotSaved, match="it is not open for writing"):
            places.check_place(f"/dev/fd/{number}")
    for name in (number, "9" * 30):
        with pytest.raises(NotSaved, match="it is closed"):
            places.check_place(f"/dev/fd/{name}")
    with pytest.raises(NotSaved, match="there is no such open file"):
        places.check_place("/dev/fd/none")
    ended = run_here("train", "rows.svm", "--model", f"/dev/fd/{number}")
    assert (ended.code, ended.out, "it is closed" in ended.err) == (3, "", True)


def test_a_socket_is_no_place(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        with pytest.raises(NotSaved, match="it is a socket"):
            places.check_place("socket")


# ------------------------------------------------------------------ whole or not at all


@pytest.mark.compiles
def test_predictions_are_whole_or_not_there(folder: Path) -> None:
    Path("out.csv").write_text("old")
    Path("bad.svm").write_text(ROWS + "oops\n")
    Path("other.csv").write_text("a,b\n1,2\n")
    for words, code in (
        (["m", "bad.svm"], 1),
        (["m", "other.csv"], 2),
        (["missing", "rows.svm"], 3),
    ):
        assert run_here("predict", *words, "-o", "out.csv").code == code
        assert Path("out.csv").read_text() == "old"
    assert run_here("predict", "m", "rows.svm", "-o", "out.csv") == (0, "", "")
    assert Path("out.csv").read_text() == run_here("predict", "m", "rows.svm").out
    assert not list(Path().glob(".onlinear-*"))


@pytest.mark.compiles
@pytest.mark.parametrize("command", ["predict m rows.svm -o {}", "convert rows.svm {} --to vw --quiet"])
def test_what_cannot_be_replaced_is_written_in_place(command: str, folder: Path) -> None:
    assert run_here(*command.format("plain.csv").split()) == (0, "", "")
    wanted = Path("plain.csv").read_bytes()
    assert run_here(*command.format("/dev/null").split()) == (0, "", "")
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        assert run_apart(*command.format(name).split()) == (0, wanted.decode(), "")
    with open("log", "wb") as log:
        log.write(b"before\n")
        log.flush()
        with process(*command.format("/dev/stdout").split(), stdout=log) as running:
            assert running.wait(300) == 0
    assert Path("log").read_bytes() == b"before\n" + wanted
    os.mkfifo("pipe")
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_bytes()))
    reader.start()
    assert run_here(*command.format("pipe").split()) == (0, "", "")
    reader.join(60)
    assert found == [wanted]
    assert not list(Path().glob(".onlinear-*"))


def test_files_that_belong_together_are_both_replaced_or_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        Path(name).write_text("old")
    sync, failing = os.fsync, [False, True]

    def full(number: int) -> None:
        if failing.pop(0):
            raise OSError(28, "No space left on device")
        sync(number)

    for order in ([False, True], [True]):
        failing[:] = order
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(NotSaved, match="no space left"), atomic.replacing_with("a", "b") as files:
            files[0].write(b"new")
        assert (Path("a").read_text(), Path("b").read_text()) == ("old", "old")
    monkeypatch.undo()
    with atomic.replacing_with(folder / "a", folder / "b") as (first, second):
        first.write(b"new")
        second.write(b"new too")
    assert ((folder / "a").read_text(), (folder / "b").read_text()) == ("new", "new too")
    assert not list(folder.glob(".onlinear-*"))


def test_what_goes_wrong_elsewhere_is_not_said_of_the_output(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), atomic.replacing(tmp_path / "out"):
        raise PermissionError(13, "of another file")
    assert not list(tmp_path.iterdir())


def test_a_place_that_is_none_is_refused_first(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "out", f"{tmp_path}/nul\0"):
        with pytest.raises(NotSaved, match="cannot be saved"):
            places.check_place(path)
    with pytest.raises(Refused, match="written over"):
        places.check_outputs([tmp_path / "a", tmp_path / "b" / ".." / "a"], [])
    places.check_outputs(["/dev/null", "/dev/null", "-"], ["/dev/null", "-"])


# ------------------------------------------------------------------ what is left behind

STRUCK = """
import os, signal, sys
from onlinear.system.atomic import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("begun", flush=True)
    sys.stdin.readline()
"""


def begun(path: Path) -> subprocess.Popen[str]:
    command = subprocess.Popen(
        [sys.executable, "-c", STRUCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert command.stdout is not None
    assert command.stdout.readline() == "begun\n"
    return command


@pytest.fixture
def swept_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has not written yet."""
    monkeypatch.setattr(atomic, "_swept", set())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_the_next_run_removes_what_a_killed_one_left(number: int, tmp_path: Path, swept_anew: None) -> None:
    with begun(tmp_path / "killed") as killed:
        killed.send_signal(number)
    left = list(tmp_path.glob(".onlinear-*.part"))
    assert len(left) == 1
    foreign = [tmp_path / name for name in (".onlinear-mine.part", ".onlinear-0123456789abcdef.part.bak")]
    for path in foreign:
        path.write_text("not ours")
    (tmp_path / ".onlinear-0123456789abcdef.part").symlink_to("elsewhere")
    with begun(tmp_path / "running") as running:  # what is still being written stays
        with atomic.replacing(tmp_path / "next") as file:
            file.write(b"whole")
        assert not left[0].exists()
        assert len(list(tmp_path.glob(".onlinear-*.part"))) == 3
        running.communicate("\n", timeout=60)
    assert (tmp_path / "running").read_bytes() == b"half"
    assert (tmp_path / "next").read_bytes() == b"whole"
    assert all(path.exists() for path in foreign)


def test_a_part_that_is_swept_before_it_is_locked_is_begun_again(
    tmp_path: Path, swept_anew: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock, swept = atomic.lock, []

    def late(number: int, **how: bool) -> bool:
        if not swept:
            swept.extend(tmp_path.glob(".onlinear-*.part"))
            swept[0].unlink()
        return lock(number, **how)

    monkeypatch.setattr(atomic, "lock", late)
    with atomic.replacing(tmp_path / "out") as file:
        file.write(b"whole")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("out", b"whole")]


# ------------------------------------------------------------------ one way

#: calls that write, wherever they are; and modules that may
WRITERS = {
    "write_text",
    "write_bytes",
    "savefig",
    "mkstemp",
    "NamedTemporaryFile",
    "FileIO",
    "WaitingFile",
    "truncate",
    "rename",
    "touch",
}
ALLOWED = {"system/atomic.py", "system/pipes.py"}


def writes(tree: ast.AST) -> list[int]:
    """The lines where files are opened to be written."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        modes = [
            each.value
            for each in [*node.args, *(word.value for word in node.keywords)]
            if isinstance(each, ast.Constant)
        ]
        to_write = name == "open" and any(
            isinstance(mode, str) and mode and set(mode) <= set("wax+bt") for mode in modes
        )
        to_name = name == "savefig" and not any(word.arg == "format" for word in node.keywords)
        if to_write or to_name or name in WRITERS - {"savefig"}:
            found.append(node.lineno)
    return found


def test_the_test_below_finds_writers() -> None:
    for line in ("open(p, 'w')", "open(p, mode='ab')", "p.open('x')", "p.write_text('')", "io.FileIO(p, 'r+')"):
        assert writes(ast.parse(line)) == [1]
    assert writes(ast.parse("open(p, 'rb'); open(p)")) == []


def test_files_are_written_in_one_place() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): lines
        for path in PACKAGE.rglob("*.py")
        if (lines := writes(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert set(found) <= ALLOWED, found


def test_bad_lines_are_not_copied_to_the_names_beside_an_output(folder: Path) -> None:
    Path("rows.csv").write_text("size,answer\n1,a\n2,b\n")
    before = contents()
    ended = run_here("convert", "rows.csv", "o.svm", "--bad-lines", "o.svm.names", "--force")
    assert (ended.code, "o.svm.names would be written over by another output" in ended.err) == (2, True), ended
    assert contents() == before
