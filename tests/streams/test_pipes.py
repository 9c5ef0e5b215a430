"""Pipes by name: FIFOs, standard input by its file name, and what a shell makes of <(command)."""

from __future__ import annotations

import gzip
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import onlinear
from commands import run_here
from onlinear.errors import BadSource
from onlinear.streams import text_lines
from onlinear.streams.stream import open_stream
from stream_rows import rows_in

ROWS = 6_000  # more than a pipe holds, in every format

#: what a row says of its number, by the extension of its file
LINES = {
    ".svm": "{sign} 1:{number} 2:{rest}\n",
    ".vw": "{sign} | size:{number} T{rest}\n",
    ".csv": "{number},T{rest},{answer}\n",
    ".tsv": "{number}\tT{rest}\t{answer}\n",
    ".jsonl": '{{"size": {number}, "town": "T{rest}", "answer": "{answer}"}}\n',
}
HEADERS = {".csv": "size,town,answer\n", ".tsv": "size\ttown\tanswer\n"}
LEARNING = ["--loss", "perceptron", "--rule", "perceptron"]
TARGET = {".csv": ["--target", "answer"], ".tsv": ["--target", "answer"], ".jsonl": ["--target", "answer"]}
BITS = {extension: [] if extension == ".svm" else ["--bits", "8"] for extension in LINES}

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names")


def written_text(extension: str, rows: int = ROWS) -> bytes:
    lines = [
        LINES[extension].format(
            number=number * 7919 % 1000 / 1000,
            rest=number % 7,
            sign=(-1, 1)[number % 2],
            answer=("no", "yes")[number % 2],
        )
        for number in range(rows)
    ]
    return (HEADERS.get(extension, "") + "".join(lines)).encode()


@contextmanager
def fifo(path: Path, data: bytes) -> Iterator[Path]:
    """A FIFO that somebody writes to once, and closes."""
    os.mkfifo(path)

    def write() -> None:
        with suppress(BrokenPipeError):  # nobody wants the rest
            path.write_bytes(data)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield path
    if writer.is_alive():  # as when it was refused before it was opened
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    writer.join(60)
    path.unlink()


@pytest.fixture(scope="module", params=list(LINES))
def trained(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An extension, and a folder with a file of that format and the model that has learned it."""
    extension, folder = request.param, tmp_path_factory.mktemp("trained")
    (folder / f"rows{extension}").write_bytes(written_text(extension))
    ended = run_here(*train_words(folder / f"rows{extension}", folder / "m", extension))
    assert ended.code == 0, ended.err
    return extension, folder


def train_words(file: Path, model: Path, extension: str) -> list[str]:
    return ["train", str(file), "--model", str(model), *LEARNING, *TARGET.get(extension, []), *BITS[extension]]


@pytest.mark.parametrize("packed", [False, True])
def test_every_format_gives_the_same_through_a_fifo(trained: tuple[str, Path], tmp_path: Path, packed: bool) -> None:
    """All rows are learned, predicted and tested, the first of them too, which somebody looks at beforehand."""
    extension, folder = trained
    text, rows, model = written_text(extension), folder / f"rows{extension}", folder / "m"
    data = gzip.compress(text) if packed else text
    pipe = tmp_path / (f"pipe{extension}" + ".gz" * packed)
    with fifo(pipe, data):
        assert run_here(*train_words(pipe, tmp_path / "n", extension)).code == 0
    assert (tmp_path / "n").read_bytes() == model.read_bytes()
    for words in (["predict", model], ["test", model, "--json"]):
        wanted = run_here(*words, rows)
        with fifo(pipe, data):
            assert run_here(*words, pipe) == wanted
    with fifo(pipe, data):
        assert onlinear.predict(model, pipe).tolist() == onlinear.predict(model, rows).tolist()


@pytest.mark.parametrize("to", ["jsonl", "vw"])
def test_converting_a_fifo(trained: tuple[str, Path], tmp_path: Path, to: str) -> None:
    extension, folder = trained
    words = ["--to", to, *(TARGET.get(extension, []) if to == "vw" else [])]
    wanted = run_here("convert", folder / f"rows{extension}", "-", *words)
    assert wanted.code == 0, wanted.err
    with fifo(tmp_path / f"pipe{extension}", written_text(extension)) as pipe:
        assert run_here("convert", pipe, "-", *words) == wanted


@pytest.mark.parametrize("size", [1, 100, 10_000])
def test_a_fifo_in_python_and_any_size_of_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    text = written_text(".csv", 300)
    (tmp_path / "rows.csv").write_bytes(text)
    wanted = rows_in(open_stream(tmp_path / "rows.csv", bits=8))
    monkeypatch.setattr(text_lines, "CHUNK", size)
    with fifo(tmp_path / "pipe.csv", text) as pipe:
        stream = open_stream(pipe, bits=8)
        assert rows_in(stream) == wanted
        with pytest.raises(BadSource, match=r"pipe\.csv can be read only once: save it to a file for a second pass"):
            next(iter(stream))


def test_skipped_lines_of_a_fifo(tmp_path: Path, trained: tuple[str, Path]) -> None:
    """Bad lines take the place of none but themselves."""
    extension, folder = trained
    text = written_text(extension) + b"{what: is this?\n" + written_text(extension).partition(b"\n")[2]
    (tmp_path / "rows").write_bytes(text)
    words = ["predict", folder / "m", "--bad-lines", "skip"]
    wanted = run_here(*words, tmp_path / "rows")
    assert wanted.code == 0
    assert len(wanted.out.splitlines()) >= 2 * ROWS
    with fifo(tmp_path / "pipe", text) as pipe:
        assert run_here(*words, pipe) == wanted


SHELL = {
    "by a shell": "{command} predict {model} <(cat {rows})",
    "as /dev/stdin": "cat {rows} | {command} predict {model} /dev/stdin",
    "as a file at /dev/stdin": "{command} predict {model} /dev/stdin < {rows}",
    "as /dev/fd/3": "{command} predict {model} /dev/fd/3 3< <(cat {rows})",
    "packed": "{command} predict {model} <(gzip -c {rows})",
}


@pytest.mark.parametrize("how", list(SHELL))
def test_pipes_of_a_shell(tmp_path: Path, how: str) -> None:
    rows, model = tmp_path / "rows.csv", tmp_path / "m"
    rows.write_bytes(written_text(".csv"))
    assert run_here(*train_words(rows, model, ".csv")).code == 0
    names = {"command": f"{sys.executable} -m onlinear", "model": model, "rows": rows}
    command = SHELL[how].format_map({name: shlex.quote(str(word)) for name, word in names.items()} | names)
    env = os.environ | {"PYTHONPATH": str(Path(onlinear.__file__).parent.parent)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, env=env, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run_here("predict", model, rows).out


READ_TWICE = {
    "passes": ["train", "{pipe}", "--format", "svmlight", "--passes", "2"],
    "passes of a model that goes on": ["train", "{pipe}", "--resume", "{model}", "--passes", "2"],
    "a certificate": ["certify", "{pipe}", "--format", "svmlight"],
    "the certificate of a model": ["certify", "{pipe}", "--model", "{model}"],
    "a selection": ["select", "{pipe}", "--target", "answer"],
    "a test of a selection": ["select", "{rows}", "--target", "3", "--test", "{pipe}"],
    "columns that all rows have": ["convert", "{pipe}", "out.csv", "--format", "svmlight"],
    "twice": ["predict", "{model}", "{pipe}", "{pipe}"],
}


@pytest.mark.parametrize("words", READ_TWICE.values(), ids=READ_TWICE.keys())
def test_what_reads_twice_refuses_a_pipe_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_bytes(written_text(".svm", 100))
    assert run_here(*train_words(Path("rows.svm"), Path("m"), ".svm")).code == 0
    os.mkfifo("pipe")  # nobody writes to it: to open it would last for ever
    ended = run_here(*(word.format(pipe="pipe", model="m", rows="rows.svm") for word in words))
    assert ended.code != 0
    assert re.fullmatch(
        r"pipe can be read only once(: save it to a file for .*|: name it once|, and .*: .*)\n", ended.err
    ), ended.err
    assert ended.out == ""


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_formats_that_need_a_file(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadSource, match=r"pipe cannot be read as Parquet or Arrow, which need a file: save it to one"):
        open_stream(tmp_path / "pipe", form)


def test_a_pipe_that_nobody_reads_is_closed(tmp_path: Path) -> None:
    """Its writer would wait for ever."""
    with fifo(tmp_path / "pipe.csv", written_text(".csv", 100_000)) as pipe:
        before = len(os.listdir("/dev/fd"))
        stream = open_stream(pipe, bits=8)
        assert len(os.listdir("/dev/fd")) == before + 1
        del stream
        assert len(os.listdir("/dev/fd")) == before


def test_a_device_without_anything() -> None:
    with pytest.raises(BadSource, match="/dev/null: is empty"):
        open_stream("/dev/null", "csv")


def test_what_comes_of_a_pipe_that_pauses_takes_no_more_memory_than_it_has(tmp_path: Path) -> None:
    """Those that gather rows keep all chunks: with the room of a whole one for each, no process may have so many."""
    with fifo(tmp_path / "pipe.svm", b"1 1:1\n") as pipe:
        (chunk,) = text_lines.chunks(pipe)
        assert (chunk.text.tobytes(), len(chunk.buffer) < 1000) == (b"1 1:1\n", True)
