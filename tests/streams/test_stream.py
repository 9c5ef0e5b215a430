"""Streams as a whole: files in order, formats by name, work ahead of the learner."""

from __future__ import annotations

import gzip
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlinear import BadLine, BadSource, OnlinearError
from onlinear.streams import stream as module, text_lines
from onlinear.streams.stream import Stream, in_order, open_stream


def values(stream: Stream) -> list[float]:
    return [value for block in stream for value in block.rows.values.tolist()]


def test_files_come_in_order_and_again_in_every_pass(tmp_path: Path) -> None:
    for name, number in (("b.svm", 2), ("a.svm", 1)):
        (tmp_path / name).write_text(f"1 1:{number}\n")
    with gzip.open(tmp_path / "c.svm.gz", "wt") as file:
        file.write("1 1:3\n")
    stream = open_stream([tmp_path / "b.svm", tmp_path / "a.svm", tmp_path / "c.svm.gz"])
    assert values(stream) == [2.0, 1.0, 3.0]
    assert values(stream) == [2.0, 1.0, 3.0]
    assert values(open_stream(tmp_path / "*.svm")) == [1.0, 2.0]


def test_the_format_is_told_by_the_extension_or_by_name(tmp_path: Path) -> None:
    (tmp_path / "rows.vw").write_text("1 | a:2\n")
    (tmp_path / "rows").write_text("1 1:4\n")
    assert values(open_stream(tmp_path / "rows.vw")) == [2.0]
    assert values(open_stream(tmp_path / "rows", "svmlight")) == [4.0]
    with pytest.raises(
        OnlinearError,
        match="its name does not say which format it has: name one of arrow, csv, jsonl, parquet, svmlight, vw",
    ):
        open_stream(tmp_path / "rows")
    with pytest.raises(OnlinearError, match="the format 'cvs' is unknown: choose one of"):
        open_stream(tmp_path / "rows", "cvs")
    (tmp_path / "rows.svm").write_text("1 1:4\n")
    with pytest.raises(OnlinearError, match=r"several formats \(svmlight, vw\)"):
        open_stream([tmp_path / "rows.svm", tmp_path / "rows.vw"])


def test_a_missing_file_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(BadSource, match=r"none\.svm"):
        open_stream(tmp_path / "none.svm")


def test_an_empty_file_has_no_examples(tmp_path: Path) -> None:
    (tmp_path / "empty.svm").write_text("")
    assert list(open_stream(tmp_path / "empty.svm")) == []


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_neither_threads_nor_the_size_of_chunks_change_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{row % 2} " + " ".join(f"{j}:{rng.random():.6f}" for j in range(1, 9)) for row in range(300)]
    lines[250] = "1 1:x"
    (tmp_path / "rows.svm").write_text("\n".join(lines))
    monkeypatch.setattr(module, "THREADS", threads)
    expected = [float(entry.split(":")[1]) for line in lines[:250] for entry in line.split()[1:]]
    for size in (50, 1000, 100_000):
        monkeypatch.setattr(text_lines, "CHUNK", size)
        seen: list[float] = []
        problem = None
        try:
            for block in open_stream(tmp_path / "rows.svm"):
                seen += block.rows.values.tolist()
        except BadLine as error:
            problem = (error.line, error.column)
        assert (seen, problem) == (expected, (251, 5))


def test_work_ahead_keeps_its_order_and_its_distance() -> None:
    taken: list[int] = []

    def things() -> Iterator[int]:
        for number in range(50):
            taken.append(number)
            yield number

    for number, made in enumerate(in_order(lambda n: n * n, things(), threads=3)):
        assert made == number * number
        assert len(taken) <= number + 9
    assert taken == list(range(50))


def test_errors_come_where_their_result_would_have() -> None:
    seen: list[float] = []
    with pytest.raises(ZeroDivisionError):
        seen.extend(in_order(lambda n: 1 / n, [1, 2, 0, 4], threads=2))
    assert seen == [1.0, 0.5]


def test_whoever_stops_early_leaves_no_thread_behind() -> None:
    closed = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    before = threading.active_count()
    results = in_order(abs, endless(), threads=2)
    assert next(results) == 1
    results.close()  # type: ignore[attr-defined]
    assert closed.is_set()
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rows.svm", {"target": "y"}),
        ("rows.vw", {"delimiter": ";"}),
        ("rows.vw", {"first_index": 0}),
        ("rows.jsonl", {"header": True}),
        ("rows.csv", {"first_index": 0}),
    ],
)
def test_options_that_say_nothing_of_a_format_are_refused(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    (tmp_path / name).write_text("")
    (option,) = options
    with pytest.raises(OnlinearError, match=f"{option} says nothing of the format '.*': leave it away"):
        open_stream(tmp_path / name, **options)
    with pytest.raises(OnlinearError, match="header says nothing of the format 'array'"):
        open_stream(np.eye(2), header=True)


@pytest.mark.parametrize("bits", [0, 31])
def test_too_few_and_too_many_bits_are_refused(tmp_path: Path, bits: int) -> None:
    (tmp_path / "rows.vw").write_text("1 | a\n")
    with pytest.raises(OnlinearError, match=f"bits is {bits}: choose 1 to 30"):
        open_stream(tmp_path / "rows.vw", bits=bits)


def test_nothing_to_read_is_refused() -> None:
    with pytest.raises(BadSource, match="there is nothing to read: name at least one file"):
        open_stream([])


def test_packages_for_tables_are_loaded_for_tables_only() -> None:
    check = "import sys, onlinear.streams.stream; print({'pyarrow', 'pandas', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, check=True)
    assert done.stdout.strip() == b"set()"


def test_modules_of_a_format_are_loaded_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "rows.svm").write_text("1 2:0.5\n")
    check = """
import sys
from onlinear.streams.formats import FORMATS
from onlinear.streams.stream import open_stream
list(open_stream("rows.svm").blocks(stop_at_bad=True))
known = {path.rpartition(".")[0] for path in FORMATS.values()}
known |= {"streams.csv_inference", "features.vocabulary", "features.scaling"}
print({name for name in known if f"onlinear.{name}" in sys.modules})
"""
    done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.strip() == b"{'streams.svmlight'}"
