"""How fast we learn beside scikit-learn, River and Vowpal Wabbit, all in one run.

    python benchmarks/learn.py --check

Each row runs ours and the peer's in turn, several times, and keeps the best of each. Everything a
call does counts, validation too; data, and whatever Numba compiles, is made ready before. MNIST is
read from ``--data`` or ``$ONLINEAR_DATA``.
"""

from __future__ import annotations

import gc
import gzip
import importlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import claims
import numpy as np
from claims import AtMost, Cost, Line, NotMeasured, Row, megabytes
from generated import noisy_labels, zipf_columns
from scipy.sparse import csr_matrix

import onlinear

Example = tuple[dict[str, float], bool]

ONE_PASS: dict[str, Any] = {"max_iter": 1, "tol": None, "shuffle": False}
AVERAGED: dict[str, Any] = {
    "loss": "perceptron",
    "average": True,
    "learning_rate": "constant",
    "eta0": 1.0,
    "penalty": None,
}
LOG: dict[str, Any] = {"loss": "log_loss"}


# The data


@cache
def sparse_data(rows: int = 200_000, columns: int = 47_236, nonzeros: int = 68) -> Any:
    """Rows like Reuters': float32, sorted unique columns drawn by Zipf's law, a planted truth."""
    rng = np.random.default_rng(0)
    blocks = range(0, rows, 10_000)
    sizes = [min(10_000, rows - start) for start in blocks]
    indices = np.concatenate([zipf_columns(rng, (n, nonzeros), columns) for n in sizes])
    data = rng.random(indices.size, np.float32) + np.float32(0.1)
    starts = np.arange(0, indices.size + 1, nonzeros, dtype=np.int32)
    X = csr_matrix((data, indices.ravel(), starts), shape=(rows, columns))
    return X, noisy_labels(rng, X @ rng.standard_normal(columns).astype(np.float32))


@cache
def dense_data(rows: int = 100_000, columns: int = 784) -> Any:
    rng = np.random.default_rng(1)
    X = rng.random((rows, columns), np.float32)
    return X, noisy_labels(rng, X @ rng.standard_normal(columns).astype(np.float32))


@cache
def mnist_data(folder: Path | None, sparse: bool) -> Any:
    def read(name: str, header: int) -> Any:
        path = Path(folder or "nowhere") / "mnist" / f"train-{name}-ubyte.gz"
        if not path.exists():
            raise NotMeasured("MNIST: set --data or $ONLINEAR_DATA")
        return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)

    X = read("images-idx3", 16).reshape(-1, 784).astype(np.float32) / np.float32(255)
    return csr_matrix(X) if sparse else X, read("labels-idx1", 8)


@cache
def phishing() -> list[Example]:
    """River's bundled stream: 1250 examples of 9 numbers."""
    return [(x, bool(y)) for x, y in river("datasets").Phishing()]


@cache
def texts(count: int = 2000, words: int = 70) -> list[Example]:
    """Bags of 70 words, as a tokeniser would give them."""
    X, y = sparse_data(count, 47_236, words)
    rows = X.indices.reshape(count, words)
    return [({f"word{j}": 1.0 for j in row}, bool(t)) for row, t in zip(rows, y, strict=True)]


def river(module: str) -> Any:
    try:
        return importlib.import_module(f"river.{module}")
    except ImportError:
        raise NotMeasured("River: pip install '.[bench]'") from None


# The measurements: each returns a function that does the work once and says what it cost


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def fit(estimator: Any, data: tuple[Any, Any]) -> Cost:
    """One pass of ``fit`` over all rows."""
    return lambda: seconds(lambda: estimator.fit(*data))


def partial_fit(make: Callable[[], Any], data: tuple[Any, Any], count: int = 200) -> Cost:
    """``partial_fit`` of one row, given as a matrix of one row; the mean over ``count`` rows."""
    rows = [(data[0][i : i + 1], data[1][i : i + 1]) for i in range(count)]

    def work(model: Any) -> None:
        for x, y in rows:
            model.partial_fit(x, y)

    def cost() -> float:
        model = make().partial_fit(*rows[0], classes=[0, 1])
        return seconds(lambda: work(model)) / count

    return cost


def learn_dicts(make: Callable[[], Any], examples: list[Example]) -> Cost:
    """``learn_one`` alone, a fresh model each time; the mean over the examples."""

    def work(model: Any) -> None:
        for x, y in examples:
            model.learn_one(x, y)

    return lambda: seconds(partial(work, make())) / len(examples)


def predict_and_learn_dicts(make: Callable[[], Any], examples: list[Example]) -> Cost:
    """``predict_one``, then ``learn_one``."""

    def work(model: Any) -> None:
        for x, y in examples:
            model.predict_one(x)
            model.learn_one(x, y)

    return lambda: seconds(partial(work, make())) / len(examples)


def learn_lines(examples: list[Example]) -> Cost:
    """Vowpal Wabbit: the line built from the dict, then ``learn``."""
    try:
        from vowpalwabbit import Workspace
    except ImportError:
        raise NotMeasured("Vowpal Wabbit: pip install '.[bench]'") from None

    def work(model: Any) -> None:
        for x, y in examples:
            features = " ".join([f"{name}:{value}" for name, value in x.items()])
            model.learn(f"{1 if y else -1} | {features}")

    def cost() -> float:
        model = Workspace("--quiet --loss_function logistic")
        spent = seconds(lambda: work(model)) / len(examples)
        model.finish()
        return spent

    return cost


def process(code: str) -> Cost:
    """A whole Python process that runs ``code``."""
    command = [sys.executable, "-c", code]
    return lambda: seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


FIRST_FIT = """
import numpy as np
from onlinear import SGDClassifier
X = np.arange(60.0).reshape(20, 3) / 60
SGDClassifier(loss="log_loss", max_iter=1, tol=None).fit(X, np.arange(20) % 2)
"""

FIT_MEMORY = """
import sys; sys.path.insert(0, {folder!r})
from learn import ONE_PASS, memory_now, memory_peak, sparse_data
from onlinear import SGDClassifier
X, y = sparse_data()
model = SGDClassifier(loss="log_loss", **ONE_PASS).fit(X[:100], y[:100])
before = memory_now()
model.fit(X, y)
print(max(memory_peak() - before, 0))
"""


def memory_now() -> int:
    """Bytes resident, and the peak forgotten: Linux only."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory_peak()


def memory_peak() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def fit_memory() -> float:
    """Bytes by which ``fit`` on the sparse matrix grows a fresh process at its peak."""
    if not Path("/proc/self/clear_refs").exists():
        raise NotMeasured("memory: read from Linux's /proc")
    code = FIT_MEMORY.format(folder=str(Path(__file__).parent))
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(run.stdout)


def matrix_bytes() -> float:
    """The values of the sparse matrix alone: a copy of any kind is at least this."""
    return float(sparse_data()[0].data.nbytes)


# The table


def fit_row(work: str, floor: float, data: Callable[[], Any], name: str, ours: str = "", **params: Any) -> Row:
    """Ours (the class of the same name, unless told) against scikit-learn's, one pass each."""

    def costs() -> tuple[Cost, Cost]:
        import sklearn.linear_model

        peer = getattr(sklearn.linear_model, name)(**ONE_PASS, **params)
        if ours:
            mine = getattr(onlinear, ours)(max_iter=1, order="stream")
        else:
            mine = getattr(onlinear, name)(**ONE_PASS, **params)
        return fit(mine, data()), fit(peer, data())

    return Row(work, "scikit-learn", floor, costs)


def fit_rows(mnist: Path | None) -> Iterator[Row]:
    row = fit_row
    yield row("CSR 200k: Perceptron", 1.6, sparse_data, "Perceptron")
    yield row("CSR 200k: SGD log", 1.4, sparse_data, "SGDClassifier", **LOG)
    # each averaged answer is scored, too, which scikit-learn does not do: its figures would be of other weights
    yield row("CSR 200k: averaged SGD", 1.8, sparse_data, "SGDClassifier", **AVERAGED)
    yield row(
        "CSR 200k: AveragedPerceptron",
        1.8,
        sparse_data,
        "SGDClassifier",
        ours="AveragedPerceptron",
        **AVERAGED,
    )
    yield row("dense 100k: Perceptron", 2.5, dense_data, "Perceptron")
    yield row("dense 100k: SGD log", 3.0, dense_data, "SGDClassifier", **LOG)
    yield row("MNIST dense: Perceptron", 3.0, partial(mnist_data, mnist, False), "Perceptron")
    yield row("MNIST CSR: Perceptron", 1.5, partial(mnist_data, mnist, True), "Perceptron")


STREAMS: dict[str, Callable[[], list[Example]]] = {"Phishing": phishing, "70 words": texts}

# label, our class and its parameters, and River's class
LEARNERS: list[tuple[str, str, dict[str, Any], str]] = [
    ("log", "SGDClassifier", LOG, "LogisticRegression"),
    ("Perceptron", "Perceptron", {}, "Perceptron"),
    ("Online", "OnlineClassifier", {}, "LogisticRegression"),
]


def stream_rows() -> Iterator[Row]:
    for stream, examples in STREAMS.items():
        for label, name, params, peer in LEARNERS:
            ours = partial(make_ours, name, params)
            both = partial(river_costs, predict_and_learn_dicts, ours, peer, examples)
            alone = partial(river_costs, learn_dicts, ours, peer, examples)
            same = label != "Online"  # our default does more than River's two, and need only be no slower
            yield Row(f"{stream}: both, {label}", "River's both", 1.5 if same else 1.0, both, 21)
            yield Row(f"{stream}: learn, {label}", "River's both", 2.5 if same else 1.0, alone, 21)
            if label != "Perceptron":
                lines = partial(vw_costs, ours, examples)
                yield Row(f"{stream}: learn, {label}", "VW's line", 3.0 if same else 1.0, lines, 21)


def make_ours(name: str, params: dict[str, Any]) -> Any:
    return getattr(onlinear, name)(**params)


def river_costs(
    measure: Callable[[Callable[[], Any], list[Example]], Cost],
    ours: Callable[[], Any],
    peer: str,
    examples: Callable[[], list[Example]],
) -> tuple[Cost, Cost]:
    theirs = getattr(river("linear_model"), peer)
    return measure(ours, examples()), predict_and_learn_dicts(theirs, examples())


def vw_costs(ours: Callable[[], Any], examples: Callable[[], list[Example]]) -> tuple[Cost, Cost]:
    return learn_dicts(ours, examples()), learn_lines(examples())


def partial_fit_costs(data: Callable[[], Any]) -> tuple[Cost, Cost]:
    from sklearn.linear_model import SGDClassifier

    ours, peer = partial(make_ours, "SGDClassifier", LOG), partial(SGDClassifier, **LOG)
    return partial_fit(ours, data()), partial_fit(peer, data())


def process_costs(ours: str, peer: str) -> tuple[Cost, Cost]:
    return process(ours), process(peer)


def rows(mnist: Path | None) -> Iterator[Line]:
    yield from fit_rows(mnist)
    yield from stream_rows()
    dense, sparse = partial(partial_fit_costs, dense_data), partial(partial_fit_costs, sparse_data)
    yield Row("partial_fit 1 dense row, log", "scikit-learn", 20, dense, 15)
    yield Row("partial_fit 1 CSR row, log", "scikit-learn", 20, sparse, 15)
    imports = partial(process_costs, "import onlinear", "pass")
    yield AtMost("import onlinear", "empty Python", 0.05, imports)
    first = partial(process_costs, FIRST_FIT, "import numba, sklearn.base")
    yield Row("second process, first fit", "bare imports", 1 / 1.4, first)
    yield Row("memory added by fit, CSR", "its values", 2, lambda: (fit_memory, matrix_bytes), 2, megabytes)


NOTES = (
    "both: predict_one, then learn_one; learn: learn_one alone",
    "VW's line: built from the dict, then learned",
    "bare imports: import numba, sklearn.base; its values: the matrix's, in bytes",
)


def main() -> int:
    options = claims.parser(str(__doc__)).parse_args()
    return claims.main(rows(options.data), NOTES, options)


if __name__ == "__main__":
    sys.exit(main())
