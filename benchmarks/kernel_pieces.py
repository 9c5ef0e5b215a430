"""What each hand-written piece of the kernels gains against the plain way, in CPU time, both ways in one run.

    python benchmarks/kernel_pieces.py [PIECE ...]

A piece is measured by a process that takes it the plain way (``onlinear/kernels/compiler/plain.py``) beside one that
does not: they work in turn, and the best of each counts. The ratio stands in the piece's docstring. The first run also
compiles; about a minute each later one.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse
from generated import write_sparse, write_table, write_words, zipf_columns

import onlinear
from onlinear.kernels.compiler.plain import VARIABLE
from onlinear.kernels.text import hash_to_column

SCRIPT = Path(__file__).resolve()
ROUNDS = 7
MEGABYTES = 8_000_000
LEAST_GAIN = 1.2

Job = Callable[[], object]


def read(name: str, **options: Any) -> Job:
    """All blocks of a file."""
    return lambda: sum(len(block) for block in onlinear.open_stream(name, **options))


def write_files() -> None:
    """Text of every format, drawn."""
    write_sparse(Path("rows.svm"), Path("rows.vw"), MEGABYTES)
    write_words(Path("words.vw"), MEGABYTES)
    write_table(Path("table.csv"), MEGABYTES)


# ------------------------------------------------------------------ the jobs


def svmlight() -> Job:
    return read("rows.svm", features=1 << 17)


def words() -> Job:
    return read("words.vw", bits=18)


def table() -> Job:
    return read("table.csv", target="answer", bits=18)


def table_by_pyarrow() -> Job:
    """The same table, read by PyArrow, and its columns hashed by us."""
    import pyarrow.csv

    return lambda: sum(
        len(b) for b in onlinear.open_stream(pyarrow.csv.read_csv("table.csv"), target="answer", bits=18)
    )


def words_sorted() -> Job:
    """Rows sorted digit by digit, in place of counting what comes before each entry."""
    numba.config.CACHE_DIR = tempfile.mkdtemp(dir=".")  # type: ignore[attr-defined]
    hash_to_column.MOST = 0  # type: ignore[attr-defined]
    return words()


def sparse_rows(features: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    columns = zipf_columns(rng, (4_000, 68), 40_000).astype(np.uint32) * np.uint32(features // 40_000)
    starts = np.arange(0, columns.size + 1, 68, dtype=np.int32)
    X = scipy.sparse.csr_matrix((rng.random(columns.size), columns.ravel(), starts), (4_000, features))
    return X, rng.integers(0, 2, 4_000)


def learn(model: Any, X: Any, y: Any) -> Job:
    """Passes over rows that are learned again and again."""
    model.partial_fit(X, y, classes=np.unique(y))
    return lambda: [model.partial_fit(X, y) for _ in range(3)]


def far_cells() -> Job:
    """Rows in any order, whose cells are anywhere in half a gigabyte."""
    rng = np.random.default_rng(0)
    X = scipy.sparse.random(20_000, 1 << 22, density=68 / (1 << 22), format="csr", random_state=rng)
    model, y = onlinear.OnlineClassifier("hinge", "adagrad", order="shuffle"), rng.integers(0, 2, 20_000)
    return lambda: model.fit(X, y)


def sparse_sgd() -> Job:
    return learn(onlinear.OnlineClassifier("hinge", "sgd"), *sparse_rows(1 << 22))


def shuffled_sgd() -> Job:
    """Rows in any order, whose cells are near."""
    X = scipy.sparse.random(20_000, 47_000, density=68 / 47_000, format="csr", random_state=np.random.default_rng(0))
    model, y = onlinear.SGDClassifier(max_iter=1, tol=None), np.arange(20_000) % 2
    return lambda: model.fit(X, y)


def sparse_adagrad() -> Job:
    return learn(onlinear.OnlineClassifier("log_loss", "adagrad"), *sparse_rows(1 << 16))


def dense_rows() -> Job:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2_000, 784)).astype(np.float32)
    return learn(onlinear.OnlineClassifier("perceptron", "perceptron"), X, rng.integers(0, 2, 2_000))


def bank(loss: Any = "hinge") -> Job:
    X, _ = sparse_rows(1 << 16)
    return learn(onlinear.OnlineClassifier(loss, "sgd"), X[:1_000], np.arange(1_000) % 20)


def logistic_bank() -> Job:
    return bank("log_loss")


class LogisticOfMath(NamedTuple):
    """The logistic loss by the functions of the C library."""

    def value(self, score: float, target: float) -> float:
        z = score * target
        return math.log1p(math.exp(-abs(z))) + max(-z, 0.0)

    def slope(self, score: float, target: float) -> float:
        return -target / (1.0 + math.exp(score * target))


def bank_by_math() -> Job:
    return bank(LogisticOfMath())


def dict_rows() -> tuple[Any, list[dict[str, float]]]:
    X, y = sparse_rows(1 << 16)
    X, names = X[:1_000], [f"name of feature {j}" for j in range(1 << 16)]
    rows = [
        {names[j]: v for j, v in zip(X.indices[a:b], X.data[a:b], strict=True)}
        for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]
    model = onlinear.OnlineClassifier("hinge", "sgd")
    for x, label in zip(rows, y[:1_000].tolist(), strict=True):
        model.learn_one(x, label)
    return model, rows


def dicts() -> Job:
    model, rows = dict_rows()
    return lambda: [model.learn_one(x, 1) for x in rows]


def compiling() -> Job:
    """Compile a loop, as the very first process does: once, whatever the rounds."""
    X, y = sparse_rows(1 << 16)
    numba.config.CACHE_DIR = tempfile.mkdtemp(dir=".")  # type: ignore[attr-defined]
    return lambda: onlinear.OnlineClassifier("log_loss", "adagrad").partial_fit(X, y, classes=[0, 1])


def starting() -> Job:
    """A process that finds its machine code on disk."""
    program = "import onlinear; list(onlinear.open_stream('few.svm', features=9))"
    Path("few.svm").write_text("1 2:3\n")
    call = [sys.executable, "-c", program]
    subprocess.run(call, check=True)
    return lambda: subprocess.run(call, check=True)


def dicts_without_index() -> Job:
    """Names are looked up in Python's dict."""
    model, rows = dict_rows()
    index = model._path.index
    index.slots[:] = 0
    index.entered[0] = 0
    return lambda: [model.predict_one(x) for x in rows]


def dicts_with_index() -> Job:
    model, rows = dict_rows()
    return lambda: [model.predict_one(x) for x in rows]


class Piece(NamedTuple):
    """What is measured: a job both ways, which differ by the pieces that are plain, or two jobs."""

    job: Callable[[], Job]
    plain: str
    also: str = ""  # plain both ways
    rounds: int = ROUNDS
    other: Callable[[], Job] | None = None


PIECES = {
    "svmlight_simd": Piece(svmlight, "svmlight_simd"),
    "byte_marks": Piece(svmlight, "byte_marks"),
    "text_bytes": Piece(table, "text_bytes", "svmlight_simd byte_marks hash_simd"),
    "hash_simd": Piece(words, "hash_simd"),
    "rank_simd": Piece(words, "rank_simd"),
    "uncounted": Piece(sparse_sgd, "uncounted"),
    "prefetch": Piece(far_cells, "prefetch"),
    "prefetch of rows": Piece(shuffled_sgd, "prefetch"),
    "gather": Piece(sparse_adagrad, "gather"),
    "dense_dot": Piece(dense_rows, "dense_dot"),
    "bank_simd": Piece(bank, "bank_simd"),
    "powers": Piece(logistic_bank, "powers"),
    "dicts": Piece(dicts, "dicts"),
    "inlining": Piece(compiling, "inlining", rounds=1),
    "lean_cache": Piece(starting, "lean_cache"),
    "powers.py": Piece(logistic_bank, "", other=bank_by_math),
    "rank_sort": Piece(words, "", other=words_sorted),
    "csv": Piece(table, "", other=table_by_pyarrow),
    "name_index": Piece(dicts_with_index, "", other=dicts_without_index),
}


# ------------------------------------------------------------------ both ways in turn


def cpu_seconds() -> float:
    """What this process has used, and those it started."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def work(name: str, way: str) -> None:
    """What the started processes do: a job whenever a line comes, and the seconds as a line."""
    piece = PIECES[name]
    job = piece.other() if piece.other is not None and way == "plain" else piece.job()
    if piece.rounds > 1:
        job()
    print("ready", flush=True)
    for _ in sys.stdin:
        before = cpu_seconds()
        job()
        print(cpu_seconds() - before, flush=True)


def measure(name: str) -> float:
    """How many times as long the plain way takes."""
    piece = PIECES[name]
    ways = [start_worker(name, "known", piece.also), start_worker(name, "plain", f"{piece.also} {piece.plain}")]
    times: list[list[float]] = [[], []]
    for way in ways:
        if answer_of(way) != "ready":
            raise SystemExit(f"{name} could not be made ready")
    for _ in range(piece.rounds):
        for way, found in zip(ways, times, strict=True):
            print("go", file=way.stdin, flush=True)
            found.append(float(answer_of(way)))
    for way in ways:
        way.communicate()
    return min(times[1]) / min(times[0])


def answer_of(way: subprocess.Popen[str]) -> str:
    """The next line that a worker says."""
    assert way.stdout is not None
    return way.stdout.readline().strip()


def start_worker(name: str, way: str, plain: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), "--work", name, way]
    environment = os.environ | {VARIABLE: plain.strip() or "0"}
    return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def names_wanted() -> Iterator[str]:
    wanted = sys.argv[1:]
    yield from (name for name in PIECES if not wanted or name in wanted)


def main() -> None:
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:])
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_files()
        for name in names_wanted():
            gain = measure(name)
            print(f"{name:20} {gain:6.2f}x{'' if gain >= LEAST_GAIN else '  too little'}", flush=True)


if __name__ == "__main__":
    main()
