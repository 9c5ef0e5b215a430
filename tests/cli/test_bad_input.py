"""Whatever is wrong with the input of a command ends in a sentence and an exit code, and leaves nothing half done."""

from __future__ import annotations

import gzip
import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import pandas
import pytest

import onlinear
from commands import Ended, process, run_here

GOOD = {
    "svm": "1 1:1 2:0.5\n-1 1:0.5 3:1\n1 2:1\n-1 3:2\n",
    "vw": "1 | a b\n-1 | c\n1 | a\n-1 | c d\n",
    "csv": "1,Bern,yes\n2,Chur,no\n3,Bern,yes\n4,Chur,no\n",
}
HEADER = {"svm": "", "vw": "", "csv": "size,town,answer\n"}
TRAIN = ["--quiet", "--model", "m"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def refused(ended: Ended, code: int, *says: str, out: str = "") -> None:
    """The command has ended with one sentence that says all this."""
    assert ended.code == code, ended
    assert ended.out == out
    assert ended.err.count("\n") == 1, ended.err
    assert ended.err.endswith("\n")
    for phrase in says:
        assert phrase in ended.err
    assert "Traceback" not in ended.err


# ------------------------------------------------------------------ a bad line


class BadLineCase(NamedTuple):
    """A line of a kind of file, the column in it that the error names, and what the error says."""

    kind: str
    line: bytes
    column: int
    says: str


BAD_LINES = [
    BadLineCase("vw", b"1 a b", 1, "there is no bar"),
    BadLineCase("vw", b"one | a", 1, "the label 'one' is not a finite number"),
    BadLineCase("vw", b"nan | a", 1, "the label 'nan' is not a finite number"),
    BadLineCase("vw", b"1e999 | a", 1, "the label '1e999' is not a finite number"),
    BadLineCase("vw", b"| a", 1, "there is no label to learn from"),
    BadLineCase("vw", b"7 | a", 1, "the label 7 is none of -1, 1"),
    BadLineCase("vw", b"1 -1 | a", 3, "the importance '-1' is not a finite number of at least 0"),
    BadLineCase("vw", b"1 inf | a", 3, "the importance 'inf' is not a finite number of at least 0"),
    BadLineCase("vw", b"1 1 0.5 | a", 5, "a prediction to start from is not supported"),
    BadLineCase("vw", b"1 | a:nan", 7, "the value 'nan' is not a finite number"),
    BadLineCase("vw", b"1 | b a:-inf", 9, "the value '-inf' is not a finite number"),
    BadLineCase("vw", b"1 | a:1e999", 7, "the value '1e999' is not a finite number"),
    BadLineCase("vw", b"1 | :3", 5, "there is no name before the colon"),
    BadLineCase("vw", b"1 |n:x a", 6, "the namespace's weight 'x' is not a finite number"),
    BadLineCase("vw", b"1 | a\0b", 6, "there is a control character in this line"),
    BadLineCase("svm", b"one 1:1", 1, "the label 'one' is not a number"),
    BadLineCase("svm", b"nan 1:1", 1, "the label 'nan' is not a number"),
    BadLineCase("svm", b"7 1:1", 1, "the label 7 is none of -1, 1"),
    BadLineCase("svm", b"1 1:nan", 5, "the value 'nan' is not a finite number"),
    BadLineCase("svm", b"1 1:inf", 5, "the value 'inf' is not a finite number"),
    BadLineCase("svm", b"1 1:1e999", 5, "'1e999' is beyond the range of floating point numbers"),
    BadLineCase("svm", b"1 1:0x10", 5, "the value '0x10' is not a finite number"),
    BadLineCase("svm", b"1 1:1:1", 5, "the value '1:1' is not a finite number"),
    BadLineCase("svm", b"1 2:1 1:", 9, "there is no value behind the colon"),
    BadLineCase("svm", b"1 0:1", 3, "'0:1' has index 0 in a file whose indices start at 1"),
    BadLineCase("svm", b"1 -1:1", 3, "'-1:1' has no index"),
    BadLineCase("svm", b"1 1.5:1", 3, "'1.5:1' has no index"),
    BadLineCase("svm", b"1 4194305:1", 3, "is beyond the 4,194,304 features there may be"),
    BadLineCase("svm", b"1 99999999999999999999999:1", 3, "is beyond the 4,194,304 features there may be"),
    BadLineCase("svm", b"1 2:1 3:1 2:2", 11, "index 2 is there twice"),
    BadLineCase("svm", b"1 1", 3, "'1' has no colon"),
    BadLineCase("svm", b"1 qid:x 1:1", 3, "'qid:x' is no query"),
    BadLineCase("svm", b"1\0 1:1", 1, "the label '1\\x00' is not a number"),
    BadLineCase("svm", b"\xff\xfe 1:1", 1, "is not a number"),
    BadLineCase("svm", b"\x7fELF\x02\x01\x01", 1, "is not a number"),
    BadLineCase("csv", b"5,Bern", 1, "this record has 2 cells, the header 3"),
    BadLineCase("csv", b"5,Bern,yes,no", 12, "this record has 4 cells, the header 3"),
    BadLineCase("csv", b"5,Bern,", 8, "the label, column 'answer', is missing"),
    BadLineCase("csv", b"5,Bern,perhaps", 8, "the label perhaps is none of no, yes"),
    BadLineCase("csv", b"5,B\xffrn,yes", 4, "there is a byte here that is not UTF-8"),
    BadLineCase("csv", b"5,B\0rn,yes", 4, "there is a zero byte in this record"),
    BadLineCase("csv", b'5,"Bern"x,yes', 3, "the cell goes on behind its closing quote"),
]


@pytest.mark.compiles
@pytest.mark.parametrize("case", BAD_LINES, ids=lambda case: f"{case.kind} {case.line!r}")
def test_a_bad_line_stops_is_skipped_or_copied(case: BadLineCase) -> None:
    good, kind = HEADER[case.kind] + GOOD[case.kind], case.kind
    bad_file = written(f"bad.{kind}", good.encode() + case.line + b"\n" + GOOD[kind].encode())
    options = [*TRAIN, "--classes", "no,yes" if kind == "csv" else "-1,1"]

    stopped = run_here("train", bad_file, *options)
    place = f"{bad_file}:{good.count(chr(10)) + 1}:{case.column}: "
    refused(stopped, 1, case.says)
    assert stopped.err.startswith(place)
    assert not Path("m").exists()

    assert run_here("train", written(f"good.{kind}", good + GOOD[kind]), *options) == (0, "", "")
    wanted = Path("m").read_bytes()
    assert run_here("train", bad_file, *options, "--bad-lines", "skip") == (0, "", "")
    assert Path("m").read_bytes() == wanted
    assert run_here("train", bad_file, *options, "--bad-lines", "copied") == (0, "", "")
    assert Path("m").read_bytes() == wanted
    assert Path("copied").read_bytes() == b"# " + stopped.err.encode() + case.line + b"\n"


@pytest.mark.compiles
def test_a_number_column_that_turns_into_words_behind_the_rows_looked_at() -> None:
    rows = "".join(f"{k},{'yes' if k % 2 else 'no'}\n" for k in range(10_050))
    file = written("late.csv", f"size,answer\n{rows}x,yes\n")
    refused(
        run_here("train", file, *TRAIN), 1, "late.csv:10052:1: 'x' in the number column 'size' is not a finite number"
    )


@pytest.mark.compiles
def test_what_was_learned_before_a_bad_line_can_be_kept() -> None:
    bad = written("bad.svm", GOOD["svm"] + "oops\n")
    refused(run_here("train", bad, *TRAIN, "--keep-partial"), 1, "bad.svm:5:1: ")
    refused(run_here("train", bad, "--resume", "m"), 1, "bad.svm:5:1: ", out=HEADINGS)
    written(bad, GOOD["svm"] + GOOD["svm"])  # mended
    assert run_here("train", bad, "--resume", "m", "--quiet").code == 0
    resumed = Path("m").read_bytes()
    assert run_here("train", bad, *TRAIN).code == 0
    assert Path("m").read_bytes() == resumed


HEADINGS = "    examples  loss since last       loss   mistakes  features/s\n"

# ------------------------------------------------------------------ other ways to write the same


def unsorted(text: str) -> str:
    lines = (line.split() for line in text.splitlines())
    return "".join(" ".join([words[0], *reversed(words[1:])]) + "\n" for words in lines)


SAME = {
    "no newline at the end": lambda text: text.removesuffix("\n").encode(),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "byte-order mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "blank lines": lambda text: text.replace("\n", "\n\n").encode(),
    "blanks behind": lambda text: text.replace("\n", "  \n").encode(),
}


@pytest.mark.compiles
@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("name", SAME)
def test_other_ways_to_write_the_same_give_the_same_model(name: str, kind: str) -> None:
    text = HEADER[kind] + GOOD[kind]
    assert run_here("train", written(f"rows.{kind}", text), *TRAIN).code == 0
    wanted = Path("m").read_bytes()
    assert run_here("train", written(f"rows.{kind}", SAME[name](text)), *TRAIN) == (0, "", "")
    assert Path("m").read_bytes() == wanted


@pytest.mark.compiles
def test_indices_need_not_be_sorted() -> None:
    assert run_here("train", written("rows.svm", GOOD["svm"]), *TRAIN).code == 0
    wanted = Path("m").read_bytes()
    assert run_here("train", written("rows.svm", unsorted(GOOD["svm"])), *TRAIN).code == 0
    assert Path("m").read_bytes() == wanted


@pytest.mark.compiles
def test_features_may_come_late() -> None:
    """A checkpoint before the first feature has no columns, and gets some later."""
    files = [written("bare.svm", "1\n-1\n1\n"), written("rows.svm", GOOD["svm"])]
    assert run_here("train", *files, *TRAIN).code == 0
    wanted = Path("m").read_bytes()
    assert run_here("train", *files, *TRAIN, "--checkpoint-every", 1).code == 0
    assert Path("m").read_bytes() == wanted


# ------------------------------------------------------------------ files


class FileCase(NamedTuple):
    """A file of a name, perhaps with options, and what the error begins with and says; it may be missing."""

    name: str
    content: bytes | None
    says: str
    options: tuple[str, ...] = ()
    code: int = 1


TRUNCATED = gzip.compress((GOOD["svm"] * 2000).encode())[:100]
TABLE = (HEADER["csv"] + GOOD["csv"]).encode()

FILES = [
    FileCase("empty.svm", b"", "there are no examples in the files"),
    FileCase("empty.vw", b"", "there are no examples in the files"),
    FileCase("blank.svm", b"\n  \n# nothing\n", "there are no examples in the files"),
    FileCase("empty.csv", b"", "empty.csv: is empty: there is no table in it"),
    FileCase("header.csv", b"size,town,answer\n", "header.csv: has a header, but no records"),
    FileCase("weightless.vw", b"1 0 | a\n-1 0 | b\n", "there are no examples in the files"),
    FileCase("mac.svm", b"1 1:0.05\r-1 2:0.5\r", "mac.svm:1:5: there is a carriage return within this line"),
    FileCase("mac.vw", b"1 | a:0.05\r-1 | b:0.5\r", "mac.vw:1:11: there is a carriage return within this line"),
    FileCase("junk.vw", bytes(range(256)), "junk.vw:1:1: there is no bar in this line"),
    FileCase("wide.csv", "a,b\n1,2\n".encode("utf-16"), "wide.csv: is UTF-16 text, by its first two bytes"),
    FileCase("latin.csv", b"gr\xf6sse,answer\n1,yes\n2,no\n", "latin.csv:1:3: there is a byte here that is not UTF-8"),
    FileCase("twice.csv", b"a,a\n1,2\n", "twice.csv:1:3: the name 'a' is there twice"),
    FileCase("open.csv", TABLE + b'5,"Bern,yes\n', "open.csv:6:3: the quote that opens here is never closed"),
    FileCase("cut.svm.gz", TRUNCATED, "cut.svm.gz: damaged gzip data after "),
    FileCase("false.svm.gz", GOOD["svm"].encode(), "false.svm.gz: damaged gzip data after 0 bytes of text"),
    FileCase("missing.svm", None, "missing.svm: no such file"),
    FileCase("none*.svm", None, "none*.svm: no file matches"),
    FileCase("/", None, "/: is a directory: name the files in it"),
    FileCase("rows.dat", b"1 1:1\n", "rows.dat: its name does not say which format it has: name one of "),
    FileCase("rows.dat", b"1 1:1\n", "the format 'svmlite' is unknown: choose one of ", ("--format", "svmlite"), 2),
    FileCase("t.csv", TABLE, "there is no column 'anser': did you mean 'answer'?", ("--target", "anser")),
    FileCase("t.csv", TABLE, "there is no column 9: count from 1 to 3", ("--target", "9")),
    FileCase("t.csv", TABLE, "column 'answer' cannot be target and weight at once", ("--weight", "answer")),
    FileCase("t.svm", b"0.5 1:1\n", "0.5 is a measurement, not a class", ("--task", "classification")),
    FileCase("t.svm", b"1 1:1\n-1 2:1\n", "--classes names 'a', but the labels", ("--classes", "a,b"), 2),
    FileCase("t.csv", TABLE, "--classes yes,no, has an empty name", ("--classes", "yes,no,"), 2),
    FileCase("t.svm", b"1 1:1\n-1 2:1\n", "names fewer than two classes", ("--classes", "1"), 2),
    FileCase("t.svm", b"1 1:1\n", "t.svm:1:1: learning diverged at example 1", ("--rate", "1e308")),
    FileCase("-", None, "standard input: its name does not say which format it has"),
    FileCase("-", None, "standard input (-) can be read only once", ("-", "--format", "vw")),
    FileCase("-", None, "standard input: is empty: there is no table in it", ("--format", "csv")),
]


@pytest.mark.compiles
@pytest.mark.parametrize("case", FILES, ids=lambda case: f"{case.name} {' '.join(case.options)}")
def test_a_file_that_cannot_be_learned_from(case: FileCase) -> None:
    if case.content is not None:
        written(case.name, case.content)
    ended = run_here("train", case.name, *case.options, *TRAIN)
    refused(ended, case.code, case.says)
    assert not Path("m").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read() -> None:
    os.chmod(written("secret.svm", GOOD["svm"]), 0)
    refused(run_here("train", "secret.svm", *TRAIN), 1, "secret.svm: may not be read by you")


#: runs a command, and says how much memory it took at the most. A child of this process would begin with our own peak
LAUNCHER = """if True:
    import resource, subprocess, sys
    code = subprocess.call(sys.argv[1:])
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
    sys.exit(code)"""


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("kind", "says"), [("vw", "long.vw:1:1: there is no bar in this line"), ("svm", "long.svm:1:3: ")]
)
def test_a_line_of_100_megabytes_takes_a_few_times_its_size(kind: str, says: str) -> None:
    with open(f"long.{kind}", "wb") as file:
        file.write(b"1 ")
        for _ in range(100):
            file.write(b"x" * 1_000_000)
    ended = subprocess.run(
        [sys.executable, "-c", LAUNCHER, sys.executable, "-m", "onlinear", "train", f"long.{kind}", *TRAIN],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(onlinear.__file__).parent.parent)},
    )
    err, _, used = ended.stderr.rstrip("\n").rpartition("\n")
    refused(Ended(ended.returncode, ended.stdout, f"{err}\n"), 1, says)
    assert int(used) < 1_000_000  # kilobytes; the interpreter and the compiler take some 300 MB of them


@pytest.mark.compiles
def test_a_bad_line_does_not_wait_for_the_end_of_a_pipe() -> None:
    text = b"oops\n" + GOOD["svm"].encode() * 150_000  # more than is read at once
    with process("train", "-", "--format", "svmlight", *TRAIN, stdin=subprocess.PIPE) as command:
        assert command.stdin is not None
        assert command.stderr is not None
        left = memoryview(text)
        with suppress(BrokenPipeError):  # it may have ended at the line before all is written
            while left:
                left = left[os.write(command.stdin.fileno(), left) :]
        said = command.stderr.read().decode().splitlines(keepends=True)
        if said[0].startswith("Waiting for the first rows"):  # as it does after a second, on a busy machine
            said = said[1:]
        ended = Ended(command.wait(60), "", "".join(said))
    refused(ended, 1, "standard input:1:1: the label 'oops' is not a number")


# ------------------------------------------------------------------ model files


@pytest.mark.compiles
@pytest.mark.parametrize("path", ["missing/m", ".", "rows.svm/m"])
def test_a_model_that_cannot_be_saved_is_refused_before_anything_is_read(path: str) -> None:
    written("rows.svm", "this would be refused, were it read\n")
    refused(run_here("train", "rows.svm", "--model", path, "--bad-lines", "bad"), 3, f"{path} cannot be saved: ")
    assert not Path("bad").exists()


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """What a full disk does, to this process alone."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.compiles
def test_a_full_disk_leaves_the_old_model_as_it_was(folder: Path) -> None:
    old = run_here("train", written("rows.svm", GOOD["svm"]), *TRAIN)
    assert old == (0, "", "")
    kept = Path("m").read_bytes()
    larger = written("larger.svm", "1 9000:1\n" + GOOD["svm"])
    for more in ([], ["--checkpoint-every", "2"]):
        with no_file_larger_than(20_000):
            ended = run_here("train", "--resume", "m", larger, "--quiet", *more)
        refused(ended, 3, "m was not saved: ", "make room, or save it elsewhere", "what was there before is untouched")
        assert Path("m").read_bytes() == kept
        assert not list(folder.glob(".onlinear-*"))


@pytest.mark.compiles
def test_a_full_disk_while_bad_lines_are_copied() -> None:
    bad = written("bad.svm", GOOD["svm"] + "oops\n" * 1000)
    with no_file_larger_than(10_000):
        ended = run_here("train", bad, "--quiet", "--bad-lines", "copied")
    refused(ended, 1, "copied: cannot be written (File too large)")


@pytest.mark.compiles
@pytest.mark.parametrize("command", ["train", "predict", "test"])
def test_standard_output_without_room(command: str) -> None:
    assert run_here("train", written("rows.svm", GOOD["svm"]), *TRAIN).code == 0
    words = ["train", "rows.svm", "--json"] if command == "train" else [command, "m", "rows.svm"]
    with open("/dev/full", "w") as full, process(*words, stdout=full) as ended:
        assert ended.stderr is not None
        err = ended.stderr.read().decode()
    refused(Ended(ended.returncode, "", err), 1, "standard output: cannot be written (No space left on device)")


def flipped(model: bytes) -> bytes:
    return model[:-100] + bytes([model[-100] ^ 1]) + model[-99:]


def made_in_python(_: bytes) -> bytes:
    onlinear.OnlineClassifier().fit([[0.0], [1.0]], [0, 1]).save("python.m")
    return Path("python.m").read_bytes()


MODELS = {
    "m is damaged: its array ": flipped,
    "m is damaged: its arrays should take ": lambda model: model[:-5],
    "m is damaged: its header does not match its digest": lambda model: model.replace(b"log_loss", b"lag_loss", 1),
    "m is of model format 2, and this version of onlinear reads up to 1": lambda m: m.replace(b"model 1", b"model 2"),
    "m is no onlinear model: it does not begin with 'onlinear model'": lambda model: b"\x80\x04pickle",
    "m is empty: it may never have been written": lambda model: b"",
    "m cannot be loaded: it was not trained on files": made_in_python,
}


@pytest.mark.compiles
@pytest.mark.parametrize("says", MODELS)
def test_a_model_that_cannot_be_read(says: str) -> None:
    assert run_here("train", written("rows.svm", GOOD["svm"]), *TRAIN).code == 0
    damaged = MODELS[says](Path("m").read_bytes())
    Path("m").write_bytes(damaged)
    for words in (["predict", "m", "rows.svm"], ["test", "m", "rows.svm"], ["train", "--resume", "m", "rows.svm"]):
        refused(run_here(*words), 3, says)
    assert Path("m").read_bytes() == damaged


@pytest.mark.parametrize("path", ["missing", "."])
def test_a_model_that_is_not_there(path: str) -> None:
    refused(run_here("predict", path, written("rows.svm", GOOD["svm"])), 3, path)


@pytest.mark.compiles
def test_rows_that_the_model_cannot_be_tested_on() -> None:
    assert run_here("train", written("rows.vw", GOOD["vw"]), *TRAIN).code == 0
    strange = written("strange.vw", GOOD["vw"] + "7 | a\n")
    refused(
        run_here("test", "m", strange),
        1,
        "strange.vw:5:1: the label 7 is unknown to the model, which has learned -1, 1",
    )
    refused(run_here("test", "m", written("bare.vw", "| a\n")), 1, "bare.vw:1:1: there is no label to compare with")
    refused(run_here("test", "m", written("empty.vw", "")), 1, "there are no examples to test on")
    refused(run_here("predict", "m", written("rows.svm", "1 1:1\n")), 2, "rows.svm: is svmlight by its name")
    refused(run_here("predict", "m", written("rows.txt", "1 1:1\n")), 1, "rows.txt:1:1: ", out="prediction\n")


@pytest.mark.parametrize("other", ["rows.svm", "other.csv"])
def test_a_file_to_test_on_is_looked_at_before_anything_is_learned(other: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written(other, "1 1:1\n" if other.endswith(".svm") else "width,answer\n1,yes\n")
    monkeypatch.setattr("onlinear.cli.job.Job.go", None)
    ended = run_here("train", written("t.csv", TABLE), "--test", other, *TRAIN)
    refused(ended, 2 if other.endswith(".svm") else 1, other)


EMPTY = [
    "train ''",
    "train t.csv --model ''",
    "train t.csv --bad-lines ''",
    "predict '' t.csv",
    "certify t.csv --export ''",
]


@pytest.mark.parametrize("words", EMPTY)
def test_an_empty_name_is_none(words: str) -> None:
    """As that of a file in a variable of the shell that has no value; as a path it would be this folder."""
    written("t.csv", TABLE)
    ended = run_here(*shlex.split(words))
    assert (ended.code, ended.out) == (2, "")
    assert "the name is empty: is there a variable without a value?" in ended.err


LABELLED = {
    "places.csv": ("x,y,z\n1, {},3\n2,a,4\n", "2:4"),
    "quoted.csv": ('x,y,z\n"o\nn",{},3\n2,a,4\n', "3:4"),
    "places.jsonl": ('{{"x": 1, "y": "{}"}}\n{{"x": 2, "y": "a"}}\n', "1:10"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("name", [*LABELLED, "places.parquet"])
def test_a_label_that_is_refused_is_told_at_its_place(name: str) -> None:
    """Bytes are counted in the line of a text, columns in a table."""
    text, place = LABELLED.get(name, ("", "1:2"))
    for label in ("b", "new"):
        if text:
            written(f"{label}-{name}", text.format(label))
        else:
            pandas.DataFrame({"x": [1, 2], "y": [label, "a"], "z": [3, 4]}).to_parquet(f"{label}-{name}")
    assert run_here("train", f"b-{name}", "--target", "y", *TRAIN).code == 0
    refused(run_here("test", "m", f"new-{name}"), 1, f"new-{name}:{place}: the label new is unknown to the model")
    closed = run_here("train", f"new-{name}", "--target", "y", "--classes", "a,b", "--quiet")
    refused(closed, 1, f"new-{name}:{place}: the label new is none of a, b")
