"""Standard input, which is looked at before it is read, and read once."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import run_here
from onlinear.errors import BadSource
from onlinear.streams import text_lines
from onlinear.streams.decompression import open_bytes
from onlinear.streams.sources import Pipe, looks_at, with_looks
from onlinear.streams.stream import open_alike, open_stream
from stream_rows import rows_in, rows_meant

SHOW = """
import sys
from onlinear.streams.stream import open_stream
stream = open_stream("-", sys.argv[1], target="y", bits=8)
for block in stream:
    print(block.labels.tolist(), block.rows.values.tolist())
"""
CSV = b"a,y\n" + b"".join(b"%d,%d\n" % (k, k + 1) for k in range(200))
JSON = b"".join(b'{"a": %d, "y": %d}\n' % (k, k + 1) for k in range(200))


@pytest.mark.parametrize(("form", "text"), [("csv", CSV), ("jsonl", JSON), ("csv", gzip.compress(CSV))])
def test_all_of_it_is_read_from_a_pipe(form: str, text: bytes) -> None:
    done = subprocess.run([sys.executable, "-c", SHOW, form], input=text, capture_output=True, check=False)
    assert done.stderr == b""
    numbers = [float(k) for k in range(200)]
    assert done.stdout.decode().strip() == f"{[k + 1 for k in numbers]} {numbers}"


def fed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> io.BytesIO:
    class Stdin:
        buffer = io.BufferedReader(Unseekable(data))

    monkeypatch.setattr(sys, "stdin", Stdin)
    return Stdin.buffer  # type: ignore[return-value]


class Unseekable(io.RawIOBase):
    """A pipe that hands over a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self.data.readinto(memoryview(buffer)[:7])


@pytest.mark.parametrize("size", [1, 10, 100, 10_000])
@pytest.mark.parametrize(("form", "text"), [("csv", CSV), ("jsonl", JSON)])
def test_any_size_of_chunks(monkeypatch: pytest.MonkeyPatch, form: str, text: bytes, size: int) -> None:
    monkeypatch.setattr(text_lines, "CHUNK", size)
    fed(monkeypatch, text)
    stream = open_stream("-", form, target="y", bits=8)
    dicts = [{"a": k} for k in range(200)]
    assert rows_in(stream) == rows_meant(dicts, [k + 1.0 for k in range(200)], [1.0] * 200, 8)
    with pytest.raises(BadSource, match="standard input can be read only once: save it to a file for a second pass"):
        next(iter(stream))


def test_only_what_was_looked_at_is_remembered_and_only_until_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_lines, "CHUNK", 1000)
    lines = b"a,y\n" + b"1,2\n" * 50_000
    fed(monkeypatch, lines)
    stream = open_stream("-", "csv", delimiter=",")
    (name,) = stream.sources
    assert 40_000 <= len(name._content.head) <= 45_000
    for number, _ in enumerate(stream):
        if number == 60:
            assert len(name._content.head) == 0


def test_files_beside_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "rows.csv").write_text("a,y\nx,1\n")
    fed(monkeypatch, b"a,y\n1,2\n")
    stream = open_stream([tmp_path / "rows.csv", "-"], "csv", bits=8)
    assert rows_in(stream) == rows_meant([{"a": "x"}, {"a": "1"}], [1.0, 2.0], [1.0, 1.0], 8)


def test_rows_to_predict(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "rows.csv").write_text("a,b,y\n5,6,1\n")
    known = open_stream(tmp_path / "rows.csv", bits=8).format
    fed(monkeypatch, b"b,a\n2,1\n")
    ((_, _, entries),) = rows_in(open_alike("-", known, labelled=False))
    assert entries == rows_meant([{"a": 1, "b": 2}], [0], [1.0], 8)[0][2]


def test_a_look_leaves_everything_for_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    fed(monkeypatch, bytes(range(100)))
    (name,) = with_looks(["-"])
    (look,) = looks_at([name])
    with open_bytes(look) as source:
        assert bytes(source.read(1)[0] for _ in range(10)) == bytes(range(10))
    with open_bytes(look) as source:
        assert bytes(source.read(1)[0] for _ in range(30)) == bytes(range(30))
    with open_bytes(name) as source:
        assert source.read() == bytes(range(100))


def test_without_a_memory_it_cannot_be_looked_at() -> None:
    with pytest.raises(BadSource, match="standard input cannot be looked at beforehand"):
        looks_at(["-"])
    assert with_looks(["a", "-"]) == ["a", "-"]
    assert isinstance(with_looks(["-"])[0], Pipe)
    with pytest.raises(BadSource, match="there is no file to look at"):
        looks_at([])


def test_formats_that_need_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    fed(monkeypatch, b"1 1:2\n")
    assert [block.rows.values.tolist() for block in open_stream("-", "svmlight")] == [[2.0]]


def test_bad_lines_of_it_are_named_as_in_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run_here("convert", "-", "o.vw", "--format", "svmlight", "--bad-lines", "bad", stdin=b"1 1:1\n1 2:x\n")
    assert ended.code == 0, ended
    assert Path("bad").read_text().startswith("# standard input:2:5: ")
