"""How commands end when something goes wrong: with a sentence about the right thing, and no traceback."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import PLAIN, run_apart, run_here
from onlinear.cli import jsontext, progress, training
from onlinear.errors import BadInput, BadLine, BadLineKind, BadSource
from onlinear.learning.model import Model
from onlinear.streams import text_lines
from onlinear.streams.stream import open_stream
from onlinear.workflow.ledger import NAME, Ledger

ROWS = "".join(f"{(-1) ** k} {k % 7 + 1}:0.5 {k % 11 + 9}:{k % 5 + 1}\n" for k in range(60))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text(ROWS)
    return tmp_path


# ------------------------------------------------------------------ errors say what they are of


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            PermissionError(13, "Permission denied", "secret\x1b[2J"),
            "secret\\x1b[2J: Permission denied: check the file",
        ),
        (OSError(5, "Input/output error"), "the operating system: Input/output error: check the file"),
        (MemoryError(), "there is not enough memory: take fewer --bits"),
    ],
)
def test_an_error_is_not_said_of_standard_output(
    error: BaseException, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(training, "begin_job", fail)
    ended = run_here("train", "rows.svm", "--quiet")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(said)
    assert ended.err.count("\n") == 1


def run_in_shell(words: str, **env: str) -> tuple[int, str]:
    """A command line of the shell, and what it says on standard error."""
    package = str(Path(text_lines.__file__).parents[2])
    found = subprocess.run(
        ["bash", "-c", words.replace("onlinear", f"{sys.executable} -m onlinear")],
        env=os.environ | PLAIN | {"PYTHONPATH": package} | env,
        capture_output=True,
        timeout=300,
    )
    return found.returncode, found.stderr.decode()


@pytest.mark.compiles
def test_standard_output_that_is_closed_or_full_or_of_another_encoding(folder: Path) -> None:
    Path("rows.csv").write_text("size,answer\n" + "1,häää\n2,jö\n" * 20, encoding="utf-8")
    assert run_in_shell("onlinear train rows.csv --model m --quiet >&-") == (0, "")
    assert Path("m").exists()
    closed = "standard output: is closed: open it, or write to a file\n"
    for words in ("predict m rows.csv", "test m rows.csv", "inspect m", "train rows.csv", "convert rows.csv - --to vw"):
        assert run_in_shell(f"onlinear {words} >&-") == (1, closed), words
        code, err = run_in_shell(f"onlinear {words} > /dev/full")
        assert (code in (1, 3), err.startswith("standard output"), err.count("\n")) == (True, True, 1), err
    assert run_in_shell("onlinear inspect m > out 2>&-")[0] == 0
    assert run_in_shell("onlinear inspect nothing 2>&-")[0] == 3
    code, err = run_in_shell("onlinear predict m rows.csv", PYTHONIOENCODING="ascii")
    assert (code, err.startswith("standard output: has no '"), err.count("\n")) == (1, True, 1), err
    assert "in its encoding, ascii: say PYTHONIOENCODING=utf-8, or write to a file" in err


@pytest.mark.compiles
def test_names_that_are_no_utf_8(folder: Path) -> None:
    name = os.fsdecode(b"caf\xe9.svm")
    Path(name).write_text(f"{ROWS}oops\n")
    words = [
        "train",
        name,
        "--bad-lines",
        os.fsdecode(b"b\xe9"),
        "--model",
        os.fsdecode(b"m\xe9"),
        "--checkpoint-every",
        20,
    ]
    ended = run_apart(*words)
    assert (ended.code, ended.err) == (0, "")
    assert "onlinear predict m\\xe9 FILE" in ended.out
    assert Path(os.fsdecode(b"b\xe9")).read_bytes().startswith(b"# caf\xe9.svm:61:1: ")


def test_a_command_that_is_refused_leaves_no_empty_file_of_bad_lines(folder: Path) -> None:
    Path("there.vw").write_text("")
    for words in (["convert", "rows.svm", "there.vw"], ["predict", "rows.svm", "rows.svm"]):
        assert run_here(*words, "--bad-lines", "bad").code in (2, 3)
        assert not Path("bad").exists()


@pytest.mark.compiles
def test_a_run_that_fails_leaves_no_empty_file_of_bad_lines(folder: Path) -> None:
    """Nor is its like refused the next time, since the file were there."""
    Path("none.svm").write_text("# nothing\n")
    Path("cut.svm.gz").write_bytes(gzip.compress(ROWS.encode())[:-20])
    diverging = ["rows.svm", "--loss", "squared_error", "--rule", "sgd", "--rate", "1e308", "--schedule", "constant"]
    for words in (["none.svm"], ["cut.svm.gz"], diverging):
        first = run_here("train", *words, "--bad-lines", "bad", "--quiet")
        assert (first.code, Path("bad").exists()) == (1, False), first
        assert run_here("train", *words, "--bad-lines", "bad", "--quiet") == first


@pytest.mark.compiles
def test_an_empty_file_of_bad_lines_stays_if_a_checkpoint_counts_on_it(folder: Path) -> None:
    whole = gzip.compress(ROWS.encode())
    Path("rows.svm.gz").write_bytes(whole[:-20])
    copied = ["--bad-lines", "bad", "--quiet"]
    assert run_here("train", "rows.svm.gz", "--keep-partial", "--model", "m", *copied).code == 1
    assert Path("bad").read_bytes() == b""
    Path("rows.svm.gz").write_bytes(whole)
    assert run_here("train", "rows.svm.gz", "--resume", "m", *copied) == (0, "", "")


def test_a_seed_below_zero_is_refused() -> None:
    ended = run_here("demo", "--seed", -1)
    assert (ended.code, "-1 is not in the range x>=0" in ended.err) == (2, True)


@pytest.mark.compiles
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_no_good_row(classes: int, folder: Path) -> None:
    Path("rows.csv").write_text("size,answer\n" + "".join(f"{k},c{k % classes}\n" for k in range(30)))
    assert run_here("train", "rows.csv", "--model", "m", "--quiet").code == 0
    Path("bad.csv").write_text("size,answer\n1,2,3\n")
    ended = run_here("predict", "m", "bad.csv", "--probabilities", "--scores", "--bad-lines", "skip")
    assert (ended.code, ended.out.splitlines()[1]) == (0, "," * ended.out.splitlines()[0].count(","))


@pytest.mark.compiles
def test_json_has_no_infinity(folder: Path) -> None:
    Path("rows.csv").write_text("size,answer\n" + "".join(f"{k},{k / 2}\n" for k in range(30)))
    assert run_here("train", "rows.csv", "--model", "m", "--quiet", "--task", "regression").code == 0
    Path("far.csv").write_text("size,answer\n1,1e300\n")
    for words in (["test", "m", "far.csv"], ["train", "rows.csv", "--test", "far.csv", "--task", "regression"]):
        with np.errstate(over="ignore"):
            out = run_here(*words, "--json").out
        found = json.loads(out, parse_constant=lambda constant: pytest.fail(constant))
        assert found.get("test", found)["rmse"] is None
    assert jsontext.json_text([{"a": (float("nan"), 1.0)}]) == '[{"a": [null, 1.0]}]'


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("onlinear predict m rows.svm -o /dev/stdout >&-", "/dev/stdout"),
        ("onlinear train rows.svm -q --model /dev/fd/1 >&-", "/dev/fd/1"),
        ("onlinear convert rows.svm /dev/stdout --to vw >&-", "/dev/stdout"),
        ("onlinear predict m rows.svm -o /dev/stderr 2>&- | cat >&2", ""),
        ("onlinear predict m rows.svm --bad-lines /dev/stdin <&-", "/dev/stdin"),
    ],
)
def test_nothing_is_written_to_a_standard_file_that_is_closed(words: str, name: str, folder: Path) -> None:
    assert run_here("train", "rows.svm", "--model", "m", "--quiet").code == 0
    said = f"{name} cannot be saved: it is closed; save it elsewhere\n" if name else ""
    assert run_in_shell(f"set -o pipefail; {words}") == (3, said)


@pytest.mark.compiles
def test_nothing_is_read_from_a_standard_file_that_is_closed(folder: Path) -> None:
    assert run_here("train", "rows.svm", "--model", "m", "--quiet").code == 0
    said = "/dev/fd/0 is closed: name a file, or pipe something in\n"
    assert run_in_shell("onlinear predict m /dev/fd/0 <&-") == (1, said)
    assert run_in_shell("onlinear train /dev/fd/0 --format svmlight <&-") == (1, said)


def test_steps_are_shown_to_nobody_where_standard_error_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with progress.steps_for(silent=False) as watcher:
        watcher.tell("reading", 0.5)


# ------------------------------------------------------------------ before anything is learned


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("train rows.svm --test missing.svm", 1, "missing.svm: no such file"),
        ("train rows.svm --test missing.svm --model m", 1, "missing.svm: no such file"),
        ("train rows.svm --model nowhere/m", 3, "nowhere/m cannot be saved"),
        ("train rows.svm --bad-lines nowhere/b", 3, "nowhere/b cannot be saved"),
        ("predict m rows.svm -o nowhere/p", 3, "nowhere/p cannot be saved"),
        ("certify rows.svm -o nowhere/c", 3, "nowhere/c cannot be saved"),
        ("certify rows.svm --export nowhere/c", 3, "nowhere/c cannot be saved"),
        ("convert rows.svm nowhere/c.vw", 3, "nowhere/c.vw cannot be saved"),
        ("train - --format svmlight --classes=-1,1 --test - --model m", 1, "standard input (-) can be read only once"),
        ("train rows.svm --test - --test -", 1, "standard input (-) can be read only once"),
        ("select rows.svm --test missing.svm", 1, "missing.svm: no such file"),
        ("demo --plot nowhere/p.png", 3, "nowhere/p.png cannot be saved"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_read(
    words: str, code: int, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "learn", lambda *_: pytest.fail("something was learned"))
    ended = run_here(*words.split())
    assert (ended.code, ended.out, ended.err.startswith(said)) == (code, "", True), ended
    assert [path.name for path in folder.iterdir()] == ["rows.svm"]


def test_standard_input_under_two_names_is_read_once(folder: Path) -> None:
    rows = Path("rows.svm").read_bytes()
    for words in ("- --test /dev/stdin", "/dev/stdin --test -"):
        ended = run_apart("train", *words.split(), "--format", "svmlight", "--model", "m", stdin=rows)
        assert (ended.code, ended.out, "can be read only once: name it once" in ended.err) == (1, "", True), ended
    assert not Path("m").exists()


# ------------------------------------------------------------------ bad lines have a kind


def kinds(file: str, **options: Any) -> list[BadLineKind]:
    found: list[BadLineKind] = []
    for _ in open_stream(file, on_bad=lambda line, text: found.append(line.kind), **options):
        pass
    return found


def test_a_line_without_a_label_says_so_by_its_kind(folder: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    Path("rows.csv").write_text("size,answer\n1,a\n2,b\n3,\nx,y,z\n")
    assert kinds("rows.csv") == [BadLineKind.NO_LABEL, BadLineKind.UNREADABLE]
    Path("rows.jsonl").write_text('{"size": 1, "answer": "a"}\n{"size": 2}\n[]\n{"size": 3, "answer": "b"}\n')
    assert kinds("rows.jsonl", target="answer") == [BadLineKind.NO_LABEL, BadLineKind.UNREADABLE]
    parquet.write_table(pyarrow.table({"size": [1.0, 2.0], "answer": ["a", None]}), "rows.parquet")
    assert kinds("rows.parquet") == [BadLineKind.NO_LABEL]


def test_a_bad_line_survives_pickling() -> None:
    line = pickle.loads(pickle.dumps(BadLine("a", 1, 2, "why", BadLineKind.NO_LABEL)))
    assert (str(line), line.kind) == ("a:1:2: why", BadLineKind.NO_LABEL)


# ------------------------------------------------------------------ files that change


def test_a_file_that_is_cut_while_it_is_read_is_refused(folder: Path) -> None:
    pieces = text_lines.chunks("rows.svm", 200)
    next(pieces)
    os.truncate("rows.svm", 500)
    with pytest.raises(BadSource, match=r"rows.svm: was cut while it was read, from [\d,]+ to 500 bytes"):
        list(pieces)


# ------------------------------------------------------------------ the ledger

ENTERING = """
import sys
from pathlib import Path
from onlinear.workflow.ledger import Ledger
for number in range(25):
    Ledger(Path(sys.argv[1])).enter(sys.argv[2], {"score": number})
"""


def test_entries_of_several_processes_are_all_kept(folder: Path) -> None:
    path = folder / "ledger.json"
    writers = [subprocess.Popen([sys.executable, "-c", ENTERING, str(path), name]) for name in "aabb"]
    assert [writer.wait(300) for writer in writers] == [0] * 4
    known = Ledger(path).known()
    assert {name: len(uses) for name, uses in known.items()} == {"a": 50, "b": 50}
    assert [each.name for each in folder.iterdir() if each.name != "rows.svm"] == ["ledger.json"]


def test_what_a_terminal_would_obey_is_written_out(tmp_path: Path) -> None:
    """In names of files, columns and classes."""
    (tmp_path / "rows.csv").write_text("a\x1b[2J,y\n" + "1,no\x1b]0;x\x07\n2,yes\n" * 20)
    model = tmp_path / "m"
    assert run_here("train", tmp_path / "rows.csv", "--target", "y", "--model", model, "--quiet").code == 0
    for ended in (
        run_here("inspect", model),
        run_here("test", model, tmp_path / "rows.csv"),
        run_here("train", tmp_path / "rows.csv", "--target", "z"),
        run_here("predict", tmp_path / "no\x1b[2J", tmp_path / "rows.csv"),
    ):
        assert "\x1b" not in ended.out + ended.err
        assert "\\x1b" in ended.out + ended.err


@pytest.mark.parametrize("entry", ["5", "{}", "null", "[5]"])
def test_a_ledger_of_other_things_is_refused(tmp_path: Path, entry: str) -> None:
    (tmp_path / NAME).write_text(f'{{"abc": {entry}}}')
    with pytest.raises(BadInput, match="cannot be read as the ledger of tests"):
        Ledger(tmp_path / NAME).uses("abc")
