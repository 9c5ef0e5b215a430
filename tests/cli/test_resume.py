"""``train --resume``: what a model file says is not trusted, and what goes on has to be what was begun."""

from __future__ import annotations

import errno
import hashlib
import io
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import run_apart, run_here
from onlinear.cli import badlines
from onlinear.cli.job import MOST
from onlinear.errors import BadLine, BadSource
from onlinear.files.container import read_model, write_model

ROWS = [f"{(-1) ** k} {k % 7 + 1}:0.5 {k % 11 + 9}:{k % 5 + 1}\n" for k in range(60)]
BAD = 40  # where a bad line stops the run
SAVED: dict[str, bytes] = {}
NOTHING = hashlib.sha256().hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a run has stopped at a bad line, and the model m says so."""
    monkeypatch.chdir(tmp_path)
    write([*ROWS[:BAD], "oops\n", *ROWS[BAD:]])
    if not SAVED:
        ended = run_here("train", "rows.svm", "--model", "m", "--keep-partial", "--quiet", "--passes", 2)
        assert ended.code == 1
        SAVED["m"] = Path("m").read_bytes()
    Path("m").write_bytes(SAVED["m"])
    write(ROWS)
    return tmp_path


def write(lines: list[str], name: str = "rows.svm") -> None:
    Path(name).write_text("".join(lines))


def crafted(change: Callable[[dict[str, Any]], Any]) -> None:
    """The model, with a checkpoint that a stranger has changed, and all digests right."""
    header, arrays = read_model("m")
    change(header["unfinished"])
    write_model("m", header, arrays)


def refused(*words: Any, code: int, says: str) -> None:
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    ended = run_here(*words)
    assert ended.code == code, ended
    assert says in ended.err
    assert ended.err.count("\n") == 1
    assert "\x1b" not in ended.err
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


# ------------------------------------------------------------------ a stranger's model


def test_files_are_read_and_written_where_the_user_names_them_only() -> None:
    Path("profile").write_text("alias ls='ls --color'\n")
    write(["evil\n"], "evil.svm")

    def trap(left: dict[str, Any]) -> None:
        left["files"] = [str(Path("evil.svm").absolute())]
        left["bad_lines"] = str(Path("profile").absolute())
        left["log"] = {"size": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
        left["progress"]["rows"] = 0

    crafted(trap)
    refused("train", "--resume", "m", code=2, says="onlinear train evil.svm --resume m --bad-lines profile")
    refused("train", "rows.svm", "--resume", "m", code=2, says="--bad-lines profile")
    # Even if it is typed as advised: a file that holds anything but bad lines is not touched.
    refused("train", "rows.svm", "--resume", "m", "--bad-lines", "profile", code=1, says="is not the file of bad lines")


def test_names_of_a_stranger_are_printed_without_escapes() -> None:
    crafted(lambda left: left.update(files=["a\x1b]0;title\x07\n.svm", "b"]))
    refused("train", "--resume", "m", code=2, says="a\\x1b]0;title\\x07\\x0a.svm")


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda left: left.pop(name)


def put(name: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda left: left.update({name: value})


def put_progress(name: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda left: left["progress"].update({name: value})


CHECKPOINT = "files", "passes", "checkpoint_every", "bad_lines", "log", "slim", "progress"
PROGRESS = "number", "rows", "passed", "bad_lines", "features", "first", "before", "digest", "whole", "ends"
WRONG: list[Any] = [None, -1, 1.5, True, "", "x", [], [1], {}, 1 << 63]
#: what is right, by name
RIGHT = {
    "log": [None],
    "first": [None],
    "slim": [True],
    "bad_lines": ["x"],
    "files": [],
    "whole": WRONG,  # it means nothing before the second pass
    "ends": [[]],  # an older version wrote none
}


@pytest.mark.parametrize("name", CHECKPOINT)
def test_a_checkpoint_that_cannot_be_is_refused(name: str) -> None:
    crafted_again = [without(name), *(put(name, value) for value in WRONG if value not in RIGHT.get(name, []))]
    for change in [*crafted_again, put("more", 1)]:
        Path("m").write_bytes(SAVED["m"])
        crafted(change)
        refused("train", "rows.svm", "--resume", "m", code=3, says="m cannot be loaded: its ")


@pytest.mark.parametrize("name", PROGRESS)
def test_progress_that_cannot_be_is_refused(name: str) -> None:
    right = [] if name == "bad_lines" else RIGHT.get(name, [])
    values = [value for value in WRONG if value not in right or (value is True and name != "whole")]
    for value in values:
        Path("m").write_bytes(SAVED["m"])
        crafted(put_progress(name, value))
        refused("train", "rows.svm", "--resume", "m", code=3, says="m cannot be loaded: its progress has ")


@pytest.mark.parametrize(
    "before", [[0, 0, 0.0], [0, 0, 0, 0.0], [10**6, 0, 0.0, 0.0], [0, 0, 0.0, 1e9], [0, -1, 0.0, 0.0], "0000"]
)
def test_sums_that_cannot_be_are_refused(before: Any) -> None:
    crafted(put_progress("before", before))
    refused("train", "rows.svm", "--resume", "m", code=3, says="its progress has before")


@pytest.mark.parametrize("value", [[], 1, "text", {"files": []}])
def test_a_checkpoint_of_another_kind_is_refused(value: Any) -> None:
    header, arrays = read_model("m")
    header["unfinished"] = value
    write_model("m", header, arrays)
    refused("train", "rows.svm", "--resume", "m", code=3, says="m cannot be loaded: its checkpoint")


def test_a_checkpoint_with_a_digest_of_an_older_version_is_refused() -> None:
    crafted(put_progress("digest", "0" * 64))
    refused("train", "rows.svm", "--resume", "m", code=3, says="is of an older version, whose digest of rows does not")


def test_a_billion_passes_are_not_made_because_a_file_says_so() -> None:
    crafted(put("passes", 10**9))
    refused("train", "rows.svm", "--resume", "m", code=2, says="say --passes 1000000000 if that is meant")
    refused("train", "rows.svm", "--resume", "m", "--passes", 3, code=2, says="leave out --passes")


@pytest.mark.parametrize("option", ["--passes", "--checkpoint-every"])
def test_what_no_checkpoint_can_hold_is_refused_before_anything_is_learned(option: str) -> None:
    write(["oops\n"])  # or it would go on for ever
    for place in ("--model", "--resume"):
        refused("train", "rows.svm", place, "m", option, MOST + 1, code=2, says=f"{option} is {MOST + 1}: give at most")


# ------------------------------------------------------------------ what was begun


@pytest.mark.compiles
def test_a_run_goes_on_with_the_same_rows_in_another_place() -> None:
    Path("rows.svm").rename("elsewhere.svm")
    assert run_here("train", "elsewhere.svm", "--resume", "m", "--quiet") == (0, "", "")
    resumed = Path("m").read_bytes()
    assert run_here("train", "elsewhere.svm", "--model", "m", "--quiet", "--passes", 2).code == 0
    assert Path("m").read_bytes() == resumed


def relabelled(lines: list[str]) -> list[str]:
    return [line.removeprefix("-") if k == 17 else line for k, line in enumerate(lines)]


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "cut": lambda lines: lines[: BAD - 1],
    "replaced": lambda lines: lines[::-1],
    "another label": relabelled,
    "another value": lambda lines: [*lines[:3], lines[3].replace(":0.5", ":0.25"), *lines[4:]],
    "another column": lambda lines: [*lines[:3], lines[3].replace("4:", "5:"), *lines[4:]],
    "values that make up for each other": lambda lines: [
        lines[0].replace(":0.5", ":0.25"),
        lines[1].replace(":0.5", ":1"),
        *lines[2:],
    ],
    "values in each other's place": lambda lines: [lines[0].replace(":0.5 9:1", ":1 9:0.5"), *lines[1:]],
    "a row less": lambda lines: lines[1:],
    "a row more": lambda lines: [lines[0], *lines],
    "empty": lambda lines: [],
}


@pytest.mark.compiles
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_file_that_is_not_what_it_was_is_refused(change: Callable[[list[str]], list[str]]) -> None:
    write(change(ROWS))
    for more in ([], ["--keep-partial"]):
        refused(
            "train", "rows.svm", "--resume", "m", "--quiet", *more, code=1, says="rows.svm: changed since the model"
        )


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["rows.vw", "rows.csv"])
def test_a_file_with_other_weights_is_refused(name: str) -> None:
    rows = {
        "rows.vw": [f"{(-1) ** k} {k % 3 + 1} | a{k % 5}\n" for k in range(30)] + ["no bar\n"],
        "rows.csv": ["x,w,y\n", *(f"{k}.5,{k % 3 + 1},{k % 2}\n" for k in range(30)), "1\n"],
    }[name]
    write(rows, name)
    weight = ["--weight", "w"] if name == "rows.csv" else []
    assert run_here("train", name, "--model", "m", "--keep-partial", "--quiet", *weight).code == 1
    row = rows[11]
    write([*rows[:11], row.replace(" 3 |", " 2 |").replace(",2,", ",3,"), *rows[12:-1]], name)
    assert row not in Path(name).read_text().splitlines(keepends=True)[11]
    refused("train", name, "--resume", "m", "--quiet", code=1, says=f"{name}: changed since the model")


@pytest.mark.compiles
@pytest.mark.parametrize("change", [lambda rows: rows[:-1], relabelled], ids=["cut", "another label"])
def test_a_file_that_changes_between_passes_is_refused(
    change: Callable[[list[str]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from onlinear.learning.model import Model

    start = Model.start_pass

    def changed(training: Model) -> None:
        start(training)
        write(change(ROWS))

    monkeypatch.setattr(Model, "start_pass", changed)
    ended = run_here("train", "rows.svm", "--model", "new", "--quiet", "--passes", 3)
    assert (ended.code, "rows.svm: changed since" in ended.err) == (1, True)
    assert not Path("new").exists()


def checkpoints(*words: Any, keep: tuple[str, ...] = ("m",)) -> list[tuple[bytes, ...]]:
    """What some files are whenever a run saves the model m."""
    from onlinear.cli.job import Job

    saved: list[tuple[bytes, ...]] = []
    save = Job._save

    def kept(job: Job, **how: Any) -> None:
        save(job, **how)
        saved.append(tuple(Path(name).read_bytes() for name in keep))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Job, "_save", kept)
        assert run_here(*words, "--model", "m").code == 0
    return saved


@pytest.mark.compiles
@pytest.mark.parametrize("at", [6, 7, 11], ids=["begun", "amid", "done"])
@pytest.mark.parametrize("edited", [[*ROWS[:50], *ROWS[:50:-1]], ROWS[:-1], [*ROWS, ROWS[0]], [*ROWS[:55], "oops\n"]])
def test_a_later_pass_sees_the_rows_of_the_first_before_a_checkpoint_is_lost(edited: list[str], at: int) -> None:
    write(ROWS, "a.svm")
    write(ROWS, "b.svm")
    write(edited, "b2.svm")
    words = ["train", "--quiet", "--bad-lines", "skip"]
    saved = checkpoints(*words, "a.svm", "b.svm", "--passes", 2, "--checkpoint-every", 20)
    straight = Path("m").read_bytes()
    Path("m").write_bytes(saved[at][0])
    left = read_model("m")[0]["unfinished"]["progress"]
    assert (left["number"], left["rows"]) == (2, 20 * (at - 5))
    for more in ([], ["--keep-partial"]):
        refused(
            *words, "a.svm", "b2.svm", "--resume", "m", *more, code=1, says="a.svm, b2.svm: changed since the model"
        )
    assert run_here(*words, "a.svm", "b.svm", "--resume", "m") == (0, "", "")
    assert Path("m").read_bytes() == straight


@pytest.mark.compiles
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("at", range(6))
def test_a_bad_line_that_was_skipped_is_named_by_a_run_that_goes_on_and_fails_at_one(passes: int, at: int) -> None:
    write([*ROWS[:20], "oops\n", *ROWS[20:]])
    words = ["train", "rows.svm", "--quiet", "--passes", passes]
    saved = checkpoints(*words, "--bad-lines", "skip", "--checkpoint-every", 10)
    Path("m").write_bytes(saved[at + 6 * (passes - 1)][0])
    again = ["train", "rows.svm", "--quiet", "--resume", "m"]
    refused(*again, "--bad-lines", "fail", code=1, says="rows.svm:21:1: the label 'oops' is not a number")
    assert run_here(*again) == (0, "", "")
    assert Path("m").read_bytes() == saved[-1][0]


@pytest.mark.compiles
def test_as_many_files_are_named_as_there_were() -> None:
    write(ROWS, "more.svm")
    refused("train", "rows.svm", "more.svm", "--resume", "m", code=2, says="through 1 file: name the same again")


@pytest.mark.compiles
def test_bad_lines_go_on_in_their_file_only() -> None:
    write([*ROWS[:20], "one\n", *ROWS[20:BAD], "two\n", *ROWS[BAD:]])
    words = ["train", "rows.svm", "--quiet", "--passes", 2, "--bad-lines", "bad"]
    assert run_here(*words, "--model", "straight").code == 0
    bad = Path("bad").read_bytes()
    Path("bad").unlink()
    saved = checkpoints(*words, "--checkpoint-every", 30, keep=("m", "bad"))
    Path("m").write_bytes(saved[0][0])
    again = ["train", "rows.svm", "--resume", "m", "--quiet"]
    Path("bad").write_bytes(saved[0][1].replace(b"one", b"ONE"))
    refused(*again, "--bad-lines", "bad", code=1, says="is not the file of bad lines")
    Path("bad").write_bytes(saved[0][1][:-1])
    refused(*again, "--bad-lines", "bad", code=1, says="is not the file of bad lines")
    Path("bad").write_bytes(saved[0][1] + b"# rows.svm:9:9: of a run that was killed\n")
    assert run_here(*again, "--bad-lines", "bad").code == 0
    assert Path("bad").read_bytes() == bad
    assert Path("m").read_bytes() == Path("straight").read_bytes()


def open_log_of(size: int) -> Callable[[dict[str, Any]], None]:
    def change(left: dict[str, Any]) -> None:
        left["bad_lines"], left["log"] = "/dev/stderr", badlines.Log(size, NOTHING)._asdict()

    return change


def test_bad_lines_go_on_in_a_pipe_of_which_nothing_can_be_read() -> None:
    write([*ROWS, "oops\n"])
    again = "train", "rows.svm", "--resume", "m", "--bad-lines", "/dev/stderr", "--quiet"
    crafted(open_log_of(0))
    ended = run_apart(*again)
    assert (ended.code, ended.err.splitlines()[1:]) == (0, ["oops"]), ended
    Path("m").write_bytes(SAVED["m"])
    crafted(open_log_of(5))
    ended = run_apart(*again)
    assert (ended.code, "is not the file of bad lines" in ended.err) == (1, True), ended


def test_nothing_of_an_open_file_is_counted_on() -> None:
    with open("log", "wb") as log, badlines.BadLines(f"/dev/fd/{log.fileno()}") as bad:
        bad.take(BadLine("a", 1, 2, "why"), b"text")
        assert bad.sync() == badlines.Log(0, NOTHING)
    assert Path("log").read_bytes() == b"# a:1:2: why\ntext\n"


@pytest.mark.compiles
def test_bad_lines_whose_file_is_gone_are_said_to_be_missing() -> None:
    write([*ROWS[:20], "one\n", *ROWS[20:]])
    words = ["train", "rows.svm", "--quiet", "--bad-lines", "bad"]
    saved = checkpoints(*words, "--checkpoint-every", 30, keep=("m",))
    Path("m").write_bytes(saved[0][0])
    Path("bad").unlink()
    refused(*words, "--resume", "m", code=1, says="bad: is missing, and the run goes on in it: put it back, or name")
    Path("bad").mkdir()
    ended = run_here(*words, "--resume", "m")
    assert ended.code != 0
    assert "is missing" not in ended.err


@pytest.mark.compiles
def test_how_to_go_on_names_the_test_and_passes_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from onlinear.learning.model import Model

    start = Model.start_pass

    def struck(training: Model) -> None:
        start(training)
        if training.totals().examples:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Model, "start_pass", struck)
    write(ROWS, "-t.svm")
    words = ["--test", "rows.svm", "--test", "./-t.svm"]
    ended = run_here("train", "rows.svm", "--model", "m", "--quiet", "--passes", 1001, *words)
    again = "train rows.svm --resume m --passes 1001 --test rows.svm --test ./-t.svm"
    assert (ended.code, ended.err.endswith(f"To go on: onlinear {again}\n")) == (130, True), ended
    assert run_here(*again.split(), "--quiet").code == 130  # as it was advised


def test_a_checkpoint_says_what_it_holds() -> None:
    left = read_model("m")[0]["unfinished"]
    assert set(left) == set(CHECKPOINT)
    assert set(left["progress"]) == set(PROGRESS)


# ------------------------------------------------------------------ --keep-partial


@pytest.mark.compiles
def test_what_was_learned_before_a_damaged_file_is_kept_and_goes_on() -> None:
    import gzip

    whole = gzip.compress("".join(ROWS).encode())
    Path("rows.svm.gz").write_bytes(whole[:-20])
    words = ["train", "rows.svm.gz", "--quiet", "--model", "part", "--keep-partial"]
    ended = run_here(*words)
    assert (ended.code, "damaged gzip data" in ended.err) == (1, True)
    Path("rows.svm.gz").write_bytes(whole)
    assert run_here("train", "rows.svm.gz", "--resume", "part", "--quiet") == (0, "", "")
    assert run_here("train", "rows.svm.gz", "--quiet", "--model", "straight").code == 0
    assert Path("part").read_bytes() == Path("straight").read_bytes()


@pytest.mark.compiles
def test_what_was_learned_before_it_diverged_is_kept() -> None:
    write([*ROWS[:20], "1 1:1e300\n", "1 1:1e300\n", "-1 1:1e300\n", *ROWS[20:]])
    sgd = ["--loss", "squared_error", "--rule", "sgd", "--rate", "1"]
    ended = run_here("train", "rows.svm", "--quiet", "--model", "part", "--keep-partial", *sgd)
    assert (ended.code, "rows.svm:2" in ended.err) == (1, True), ended
    kept = read_model("part")[0]
    assert 20 <= kept["figures"]["examples"] < 23
    assert "unfinished" not in kept  # at the same row it would diverge again


# ------------------------------------------------------------------ a log of bad lines that is full


class Full(io.FileIO):
    """A file on a disk with little room."""

    room = 0

    def write(self, content: Any) -> int:
        left = self.room - self.tell()
        if left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(bytes(content)[:left])


REFUSED = [f"{3 if k % 4 == 1 else (-1) ** k} {k % 7 + 1}:0.5\n" for k in range(60)]  # 3 is no class
UNREADABLE = [line if k % 4 != 1 else "oops\n" for k, line in enumerate(REFUSED)]
BOTH = [line if k % 8 != 1 else "oops\n" for k, line in enumerate(REFUSED)]
DAMAGED = [*["oops\n"] * 6, *ROWS[:20], *["oops\n"] * 6, *ROWS[20:]]  # blocks of bad lines alone
CASES = {"refused": REFUSED, "unreadable": UNREADABLE, "both": BOTH, "damaged": DAMAGED}


@pytest.mark.parametrize("lines", CASES.values(), ids=CASES)
@pytest.mark.parametrize("room", [1, 100, 500, 900])
@pytest.mark.parametrize(("log", "order"), [("bad", []), ("more", []), ("bad", ["--shuffle"])])
def test_no_row_is_learned_twice_after_the_log_of_bad_lines_was_full(
    monkeypatch: pytest.MonkeyPatch, lines: list[str], room: int, log: str, order: list[str]
) -> None:
    words = ("train", "rows.svm", "--quiet", "--classes=-1,1", "--passes", 2, *order)
    monkeypatch.setattr("onlinear.streams.shuffling.BUFFER_ROWS", 8)
    monkeypatch.setattr("onlinear.streams.text_lines.CHUNK", 10)
    write(lines)
    assert run_here(*words, "--model", "whole", "--bad-lines", "all").code == 0
    with monkeypatch.context() as patch:
        patch.setattr(Full, "room", room)
        patch.setattr(badlines, "open_log", lambda name, kept: Full(name, "x"))
        ended = run_here(*words, "--model", "m", "--bad-lines", "bad", "--keep-partial")
        assert ended.code == 1
        assert "bad: cannot be written" in ended.err
    before = Path("bad").read_bytes()
    assert Path("all").read_bytes().startswith(before)
    ended = run_here("train", "rows.svm", "--quiet", "--resume", "m", "--bad-lines", log)
    assert ended.code == 0, ended
    written = Path(log).read_bytes()
    assert (written if log == "bad" else before + written) == Path("all").read_bytes()
    assert Path("m").read_bytes() == Path("whole").read_bytes()


def test_a_file_of_bad_lines_that_cannot_be_written_does_not_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("onlinear.system.pipes.WaitingFile.write", full)
    with pytest.raises(BadSource, match="cannot be written"), badlines.BadLines("bad") as bad:
        bad.take(BadLine("a", 1, 2, "why"), b"text")
    assert not Path("bad").exists()
