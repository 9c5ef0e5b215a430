"""The verifier: it believes what is true, and nothing that was altered; alone in an empty Python, too."""

from __future__ import annotations

import copy
import csv
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear import verify as verifier
from onlinear.theory.certificates import seal_of
from theory.drawn import draw, fitted, perceptrons


def rows_of(X: np.ndarray, y: np.ndarray) -> list[tuple[int, dict[int, float]]]:
    return [
        (max(int(t), 0), {j: x for j, x in enumerate(row) if x != 0.0})
        for row, t in zip(X.tolist(), y.tolist(), strict=True)
    ]


def certified(seed: int = 3, flipped: int = 0, which: int = 0, passes: int = 3) -> tuple[dict[str, Any], Any, Any]:
    X, y = draw(seed, 15, 2, flipped=flipped)
    model = fitted(perceptrons(True, passes)[which], X, y)
    return json.loads(json.dumps(onlinear.certify(model, X, y))), X, y


@given(st.integers(0, 10**6), st.sampled_from([0, 3]), st.integers(0, 5), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_believes_what_is_true(seed: int, flipped: int, which: int, passes: int) -> None:
    certificate, X, y = certified(seed, flipped, which, passes)
    verifier.verify(certificate, rows_of(X, y))


def digits(certificate: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every way to alter a certificate in one digit, or to turn a truth value over."""
    parts = certificate.items() if isinstance(certificate, dict) else enumerate(certificate)
    for name, value in parts:
        if isinstance(value, dict | list):
            yield from digits(value, (*path, name))
        elif isinstance(value, bool):
            yield (*path, name), not value
        else:
            text = repr(value) if isinstance(value, float) else str(value)
            for at, digit in enumerate(text):
                if digit.isdigit():
                    other = type(value)(text[:at] + str((int(digit) + 1) % 10) + text[at + 1 :])
                    if other != value:  # a float may end in a digit that means nothing
                        yield (*path, name), other


def altered(certificate: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    other = copy.deepcopy(certificate)
    part: Any = other
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = value
    return other


@pytest.mark.parametrize("flipped", [0, 3])
def test_believes_no_altered_digit(flipped: int) -> None:
    certificate, X, y = certified(flipped=flipped)
    rows = rows_of(X, y)
    for path, value in digits(certificate):
        with pytest.raises(verifier.Failed):
            verifier.verify(altered(certificate, path, value), rows)


#: what the rows themselves do not tell: the learner's own word, and which theorem it chose to speak of
WORD = {
    "examples",
    "passes",
    "updates",
    "mistakes",
    "run_pull",
    "run_squares",
    "run_margin",
    "pull",
    "classes",
    "replayed",
    "replay",
    "file_sha256",
    "computed",
}


#: a claim that is not so, or a certificate that makes no sense: the command says NOT verified of both
REFUSED = (verifier.Failed, ArithmeticError, LookupError, TypeError, ValueError)


@pytest.mark.parametrize("flipped", [0, 3])
def test_believes_no_altered_number_under_a_new_seal(flipped: int) -> None:
    """Whoever alters a number can also seal anew; then the rows speak against it."""
    certificate, X, y = certified(flipped=flipped)
    rows = rows_of(X, y)
    for path, value in digits(certificate):
        if path[0] in WORD | {"onlinear_certificate", "sha256"}:
            continue
        other = altered(certificate, path, value)
        other["sha256"] = seal_of(other)
        if path[0] in ("witness", "combination") and certificate["separable"]:
            continue  # others may prove as much
        with pytest.raises(REFUSED):
            verifier.verify(other, rows)


def test_believes_no_theorem_that_does_not_fit() -> None:
    """The bound for what is not separable is one of the perceptron with equal steps."""
    certificate, X, y = certified(flipped=3)
    for name in ("run_margin", "run_squares"):
        other = {**certificate, name: "1/3"}
        with pytest.raises(verifier.Failed, match=r"steps|which cannot be"):
            verifier.verify({**other, "sha256": seal_of(other)}, rows_of(X, y))


def test_a_witness_of_other_kernels_proves_nothing() -> None:
    certificate, X, y = certified(flipped=3)
    for kernel in (["poly", 2, "1", "1"], ["rbf", 1, "1", "1"], ["linear", 1, "-1", "1"]):
        other = {**certificate, "kernel": kernel}
        with pytest.raises(verifier.Failed):
            verifier.verify({**other, "sha256": seal_of(other)}, rows_of(X, y))


def test_believes_no_altered_data() -> None:
    certificate, X, y = certified()
    X[4, 1] = np.nextafter(X[4, 1], np.inf)
    with pytest.raises(verifier.Failed, match="data_sha256"):
        verifier.verify(certificate, rows_of(X, y))


def written(folder: Path, certificate: dict[str, Any], X: np.ndarray, y: np.ndarray) -> list[str]:
    (folder / "cert.json").write_text(json.dumps(certificate))
    lines = [
        f"{t:g} " + " ".join(f"{j + 1}:{x!r}" for j, x in enumerate(row)) + "\n"
        for row, t in zip(X.tolist(), y.tolist(), strict=True)
    ]
    (folder / "rows.svm").write_text("# rows\n" + "".join(lines))
    return [str(folder / "cert.json"), str(folder / "rows.svm")]


def run_alone(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The one file in a Python that has nothing else."""
    alone = folder / "verify.py"
    alone.write_bytes(Path(verifier.__file__).read_bytes())
    command = [sys.executable, "-I", "-S", str(alone), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_alone(tmp_path: Path) -> None:
    certificate, X, y = certified()
    done = run_alone(tmp_path, *written(tmp_path, certificate, X, y))
    assert done.returncode == 0
    proven, _, word = done.stdout.partition("not verified, the learner's word and what follows from it:\n")
    assert proven.startswith("verified, from the rows:\n  15 rows (")
    assert "They are separable by weights and an intercept, a feature whose square is 1." in proven
    assert f"at least {certificate['margin_lower']}." in proven
    assert f"at most {math.floor(certificate['bound'])} updates" in proven
    assert f"{certificate['updates']} updates and {certificate['mistakes']} mistakes" in word
    assert f"at most {certificate['margin_upper']}." in proven
    certificate["updates"] -= 1
    done = run_alone(tmp_path, *written(tmp_path, certificate, X, y))
    assert done.returncode == 1
    assert done.stderr.startswith("NOT verified: sha256")


def test_csv_with_a_header(tmp_path: Path) -> None:
    certificate, X, y = certified()
    cert, _ = written(tmp_path, certificate, X, y)
    table = tmp_path / "rows.csv"
    lines = [",".join(map(repr, [*row, t])) for row, t in zip(X.tolist(), y.tolist(), strict=True)]
    table.write_text("\n".join(["a,b,label", *lines]) + "\n")
    assert verifier.main([cert, str(table)]) == 0


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"sha256": 3}', "no json"])
def test_a_file_that_is_no_certificate(tmp_path: Path, text: str) -> None:
    certificate, X, y = certified()
    cert, rows = written(tmp_path, certificate, X, y)
    Path(cert).write_text(text)
    assert "NOT verified" in str(verifier.main([cert, rows]))


def test_is_short_and_needs_nothing() -> None:
    lines = Path(verifier.__file__).read_text().splitlines()
    assert sum(bool(line.strip()) for line in lines) <= 400
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= set(sys.stdlib_module_names)


def test_sparse_rows_have_the_same_digest() -> None:
    X, y = draw(3, 15, 2, whole=True)
    model = fitted(onlinear.AveragedPerceptron(max_iter=3), X, y)
    dense, sparse = onlinear.certify(model, X, y), onlinear.certify(model, scipy.sparse.csr_matrix(X), y)
    assert dense["data_sha256"] == sparse["data_sha256"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("quote.csv", '1,0,ham\n-1,0,"spam\n-1,0,spam\n1,0,spam\n'),  # a quote that swallows what contradicts
        ("inner.csv", '1,0,ham\n-1,0,"h"am\n'),
        ("joined.csv", '1,0,1\n-1,0,"1"2\n'),
        ("late.csv", '1,0,ham\n-1,0, "spam"\n'),
        ("missing.csv", "1,0,ham\n-1,0,?\n"),
        ("na.csv", "1,0,ham\n-1,0,NA\n"),
        ("nan.csv", "1,0,ham\n-1,0,nan\n"),
        ("nul.csv", "1,0,ham\n-1,0,sp\0am\n"),
        ("escape.csv", "1,0,ham\n-1,0,\x1b[31mspam\n"),
        ("qid.svm", "1 qid:x 1:1\n"),
        ("nothing.svm", "1 qid: 1:1\n"),
        ("returns.svm", "1 1:1\r\r\n"),
        ("space.svm", "1 1:1\xa02:7\n"),
        ("tab.svm", "1 1:1\x0b2:7\n"),
        ("separator.svm", "1 1:1\x1c2:7\n"),
        ("wide.svm", "1 1:1\n　\n-1 1:2\n"),
    ],
)
def test_reads_nothing_that_the_learner_reads_otherwise(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_bytes(text.encode())
    with pytest.raises((verifier.Failed, csv.Error)):
        verifier.read_rows(tmp_path / name)


def test_blanks_around_cells_are_no_part_of_them(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text('a, b ,y\n 1,0 , spam\n-1,\t2,"spam"\n3,4,ham \n5,6,1 \n')
    labels = [label for label, _ in verifier.read_rows(tmp_path / "rows.csv")]
    assert labels == ["spam", "spam", "ham", "1"]
    read = [label for block in onlinear.open_stream(tmp_path / "rows.csv", target="y") for label in block.y]
    assert read == ["spam", "spam", "ham", "1"]
    (tmp_path / "rows.svm").write_text("1 qid:3 1:1 \t2:2 # a comment\n\n-1 1:2\r\n")
    rows = verifier.read_rows(tmp_path / "rows.svm")
    assert rows == [(1, {0: 1.0, 1: 2.0}), (-1, {0: 2.0})]


def test_refuses_what_would_take_hours() -> None:
    rows = [(k % 2, {0: k % 7 + 1.0}) for k in range(3000)]
    with pytest.raises(verifier.Failed, match="hours"):
        verifier.scale(rows, ("linear", 1, 1, 1), [3000])
    verifier.scale(rows, ("linear", 1, 1, 1), [0])  # a vector
    primes = [2**k + 1 for k in range(9000, 9400)]
    witness = {"rows": [0] * 400, "rivals": [1] * 400, "multipliers": [f"1/{p}" for p in primes]}
    certificate = {"weights": [{}], "classes": [-1, 1], "witness": witness}
    with pytest.raises(verifier.Failed, match="too long"):
        verifier.check_not_separable(certificate, ("linear", 1, 1, 1), rows)


@pytest.mark.parametrize(
    ("name", "text", "classes"),
    [
        ("near.svm", "1 1:1\n1.00000000000000000001 1:1\n", ["1", "1.00000000000000000001"]),
        ("small.svm", "0 1:1\n1e-400 1:1\n", ["0", "1e-400"]),
        ("large.svm", "9007199254740993e0 1:1\n9007199254740992 1:1\n", ["9007199254740993e0", "9007199254740992"]),
        ("long.csv", "1,10\n1,1e0001\n", [10, "1e0001"]),
        ("texts.csv", "1,1\n1,1.0\n-1,a\n", [1, "a"]),
    ],
)
def test_classes_are_those_of_the_learner(tmp_path: Path, name: str, text: str, classes: list[Any]) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(verifier.Failed):
        verifier.place_rows(verifier.read_rows(tmp_path / name), classes)


def test_labels_that_are_numbers_and_texts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,1\n1,1.0\n-1,a\n")
    rows = verifier.read_rows(tmp_path / "a.csv")
    assert [place for place, _ in verifier.place_rows(rows, ["1", "1.0", "a"])] == [0, 1, 2]
    assert [str(label) for block in onlinear.open_stream(tmp_path / "a.csv", header=False) for label in block.y] == [
        "1",
        "1.0",
        "a",
    ]
    (tmp_path / "b.csv").write_text("1,1\n1,1.0\n-1,2\n")
    rows = verifier.read_rows(tmp_path / "b.csv")
    assert [place for place, _ in verifier.place_rows(rows, [1, "2"])] == [0, 0, 1]


@pytest.mark.parametrize("name", ["rows.vw", "rows.tsv", "rows.jsonl", "rows.parquet", "rows.CSV", "rows.feather"])
def test_rows_of_another_format_are_not_read_as_svmlight(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("1 1:1\n-1 1:-1\n")
    with pytest.raises(verifier.Failed, match="name what certify --export has written"):
        verifier.read_rows(tmp_path / name)
