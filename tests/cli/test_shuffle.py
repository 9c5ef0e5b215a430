"""``train --shuffle``: the same seed gives the same bytes, runs go on to them, and labels in runs are spoken of."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import load_iris

from commands import run_apart, run_here
from onlinear.cli.job import Job
from onlinear.streams import shuffling

LINES = [f"{k % 5 - 2},T{k % 7},{'ab'[(k * k) % 3 % 2]}\n" for k in range(40)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shuffling, "BUFFER_ROWS", 16)
    monkeypatch.setattr(shuffling, "PIECE", 5)
    Path("rows.csv").write_text("x,town,y\n" + "".join(LINES))


def bytes_of(*words: Any) -> bytes:
    """The model of a run."""
    ended = run_here("train", "--quiet", *words, "--model", "m")
    assert (ended.code, ended.err) == (0, "")
    return Path("m").read_bytes()


def iris_in_order(name: str = "iris.svm") -> None:
    X, y = load_iris(return_X_y=True)
    rows = zip(X.tolist(), y.tolist(), strict=True)
    Path(name).write_text("".join(f"{label} 1:{a} 2:{b} 3:{c} 4:{d}\n" for (a, b, c, d), label in rows))


@pytest.mark.compiles
def test_the_seed_decides_the_order() -> None:
    words = ["rows.csv", "--shuffle", "--passes", 2]
    one = bytes_of(*words, "--seed", 1)
    assert one == bytes_of(*words, "--seed", 1)
    assert bytes_of(*words) == bytes_of(*words, "--seed", 0) != one != bytes_of("rows.csv", "--passes", 2)


@pytest.mark.compiles
def test_where_the_file_is_cut_means_nothing() -> None:
    whole = bytes_of("rows.csv", "--shuffle")
    for name, lines in (("1.csv", LINES[:9]), ("2.csv", LINES[9:])):
        Path(name).write_text("x,town,y\n" + "".join(lines))
    assert bytes_of("1.csv", "2.csv", "--shuffle") == whole


@pytest.mark.compiles
@pytest.mark.parametrize("names", ["hashed", "exact"])
@pytest.mark.parametrize("bad", [False, True])
def test_a_run_goes_on_to_the_same_bytes_wherever_it_stopped(
    names: str, bad: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if bad:
        Path("rows.csv").write_text("x,town,y\n" + "".join([*LINES[:20], "1,2\n", *LINES[20:35], "1\n", *LINES[35:]]))
    saved: list[bytes] = []
    save = Job._save

    def keep(job: Job, **how: Any) -> None:
        save(job, **how)
        saved.append(Path("m").read_bytes())

    words = ["--bad-lines", "skip"] * bad
    monkeypatch.setattr(Job, "_save", keep)
    straight = bytes_of(
        "rows.csv", "--shuffle", "--seed", 5, "--passes", 2, "--checkpoint-every", 7, "--names", names, *words
    )
    checkpoints = saved[:-1]
    assert len(checkpoints) == 10
    for each in checkpoints:
        Path("m").write_bytes(each)
        assert run_here("train", "--quiet", "rows.csv", "--resume", "m").code == 0
        assert Path("m").read_bytes() == straight


@pytest.mark.compiles
def test_a_run_that_goes_on_refuses_rows_that_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    saved: list[bytes] = []
    save = Job._save

    def keep(job: Job, **how: Any) -> None:
        save(job, **how)
        saved.append(Path("m").read_bytes())

    monkeypatch.setattr(Job, "_save", keep)
    bytes_of("rows.csv", "--shuffle", "--passes", 2, "--checkpoint-every", 20)
    Path("rows.csv").write_text("x,town,y\n" + "".join([*LINES[1:], LINES[0]]))
    for each in saved[:-1]:
        Path("m").write_bytes(each)
        ended = run_here("train", "rows.csv", "--resume", "m")
        assert (ended.code, "changed since the model began to learn from it" in ended.err) == (1, True)
        assert Path("m").read_bytes() == each


@pytest.mark.compiles
def test_a_bad_line_stops_before_the_rows_of_its_buffer_and_the_run_goes_on_once_it_is_mended() -> None:
    straight = bytes_of("rows.csv", "--shuffle")
    Path("rows.csv").write_text("x,town,y\n" + "".join([*LINES[:20], "1,2\n", *LINES[20:]]))
    ended = run_here("train", "rows.csv", "--shuffle", "--quiet", "--keep-partial", "--model", "m")
    assert (ended.code, "rows.csv:22:" in ended.err) == (1, True)
    Path("rows.csv").write_text("x,town,y\n" + "".join(LINES))
    assert run_here("train", "rows.csv", "--resume", "m", "--quiet") == (0, "", "")
    assert Path("m").read_bytes() == straight


@pytest.mark.compiles
def test_a_pipe_is_shuffled_as_a_file_is() -> None:
    text = Path("rows.csv").read_bytes()
    words = ["--shuffle", "--quiet", "--model"]
    assert run_apart("train", "-", "--format", "csv", *words, "piped", stdin=text).code == 0
    assert run_apart("train", "rows.csv", *words, "m").code == 0
    assert Path("piped").read_bytes() == Path("m").read_bytes()


@pytest.mark.compiles
def test_labels_in_runs_are_spoken_of_and_a_shuffled_run_errs_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffling, "BUFFER_ROWS", 1 << 18)
    iris_in_order()
    ended = run_here("train", "iris.svm", "--passes", 20)
    assert "the label comes in runs, as in a file that is sorted by it" in ended.err
    assert "This error flatters, since the labels come in runs: say --shuffle." in ended.out
    words = ["train", "iris.svm", "--passes", 20, "--shuffle", "--json", "--test", "iris.svm"]
    document = json.loads(run_here(*words).out)
    assert (document["label_runs"], document["shuffled"]) == (True, 0)
    assert abs(document["per_pass"][-1]["error"] - document["test"]["error"]) < 0.06
    lines = Path("iris.svm").read_text().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    Path("mixed.svm").write_text("".join(lines))
    ended = run_here("train", "mixed.svm", "--passes", 2)
    assert "runs" not in ended.err + ended.out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--seed", 3], "--seed means nothing without --shuffle"),
        (["--shuffle", "--on-drift", "reset"], "--on-drift follows the rows in time, and --shuffle has another order"),
    ],
)
def test_what_means_nothing_is_refused(words: list[Any], says: str) -> None:
    ended = run_here("train", "rows.csv", *words)
    assert (ended.code, says in ended.err) == (2, True)


@pytest.mark.compiles
def test_a_run_that_stopped_keeps_its_order() -> None:
    Path("rows.csv").write_text("x,town,y\n" + "".join([*LINES, "1\n"]))
    run_here("train", "rows.csv", "--keep-partial", "--quiet", "--model", "m", "--shuffle")
    ended = run_here("train", "rows.csv", "--resume", "m", "--shuffle")
    assert (ended.code, "goes on in the order it began with" in ended.err) == (2, True)
    finished = bytes_of("rows.csv", "--bad-lines", "skip")
    assert run_here("train", "rows.csv", "--resume", "m", "--bad-lines", "skip", "--shuffle", "--quiet").code == 0
    assert Path("m").read_bytes() != finished
