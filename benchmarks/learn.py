"""How fast we learn beside scikit-learn, River and Vowpal Wabbit, all in one run.

    python benchmarks/learn.py --check

Each row runs ours and the peer's in turn, several times, and keeps the best of each. Everything a
call does counts, validation too; data, and whatever Numba compiles, is made ready before. MNIST is
read from ``--data`` or ``$ONLINEAR_DATA``.
"""

from __future__ import annotations

import argparse
import datetime
import gc
import gzip
import importlib.metadata
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix

import onlinear

Cost = Callable[[], float]  # runs the work once; seconds, or bytes, for one unit of it
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


class NotMeasured(Exception):
    """Why a row cannot be measured here."""


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


def zipf_columns(rng: np.random.Generator, shape: tuple[int, int], columns: int) -> Any:
    """Different columns for each row, sorted; column k is drawn about as often as 1 / (k + 1)."""
    rows, count = shape
    drawn = np.exp(rng.random((rows, 3 * count)) * np.log(columns)).astype(np.int32) - 1
    drawn.sort(axis=1)
    again = np.zeros(drawn.shape, bool)
    again[:, 1:] = drawn[:, 1:] == drawn[:, :-1]
    lots = rng.random(drawn.shape) + again  # repeats draw above 1, so they are taken last
    taken = np.argpartition(lots, count, axis=1)[:, :count]
    assert not np.take_along_axis(again, taken, axis=1).any(), "too few different columns"
    return np.sort(np.take_along_axis(drawn, taken, axis=1), axis=1)


def noisy_labels(rng: np.random.Generator, scores: Any) -> Any:
    centred = scores - np.median(scores)
    return (centred + 0.3 * centred.std() * rng.standard_normal(len(scores)) > 0).astype(np.int64)


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


class Row(NamedTuple):
    """One line: ours must be ``floor`` times as fast as the peer (below 1: may be slower)."""

    work: str
    against: str
    floor: float
    costs: Callable[[], tuple[Cost, Cost]]  # ours and the peer's, made ready
    repeat: int = 7


class AtMost(NamedTuple):
    """One line: ours may cost ``extra`` more than the peer."""

    work: str
    against: str
    extra: float
    costs: Callable[[], tuple[Cost, Cost]]
    repeat: int = 10


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


def rows(mnist: Path | None) -> Iterator[Row | AtMost]:
    yield from fit_rows(mnist)
    yield from stream_rows()
    dense, sparse = partial(partial_fit_costs, dense_data), partial(partial_fit_costs, sparse_data)
    yield Row("partial_fit 1 dense row, log", "scikit-learn", 20, dense, 15)
    yield Row("partial_fit 1 CSR row, log", "scikit-learn", 20, sparse, 15)
    imports = partial(process_costs, "import onlinear", "pass")
    yield AtMost("import onlinear", "empty Python", 0.05, imports)
    first = partial(process_costs, FIRST_FIT, "import numba, sklearn.base")
    yield Row("second process, first fit", "bare imports", 1 / 1.4, first)
    yield Row("memory added by fit, CSR", "its values", 2, lambda: (fit_memory, matrix_bytes), 2)


# Running and printing


class Result(NamedTuple):
    row: Row | AtMost
    ours: float = 0.0
    peer: float = 0.0
    absent: str = ""

    @property
    def ratio(self) -> float:
        return self.peer / self.ours if self.ours else float("inf")

    @property
    def passed(self) -> bool:
        if self.absent:
            return False
        if isinstance(self.row, AtMost):
            return self.ours - self.peer <= self.row.extra
        return self.ratio >= self.row.floor

    def cells(self) -> tuple[str, ...]:
        if self.absent:
            return (self.row.work, self.row.against, "-", "-", "-", self.limit, "?")
        verdict = "ok" if self.passed else "LOW"
        ours, peer = self.amounts
        return (self.row.work, self.row.against, ours, peer, self.distance, self.limit, verdict)

    @property
    def amounts(self) -> tuple[str, str]:
        shown = megabytes if self.row.work.startswith("memory") else duration
        return shown(self.ours), shown(self.peer)

    @property
    def distance(self) -> str:
        if isinstance(self.row, AtMost):
            return f"+{duration(self.ours - self.peer)}"
        return times(self.ratio)

    @property
    def limit(self) -> str:
        if isinstance(self.row, AtMost):
            return f"+{duration(self.row.extra)}"
        return times(self.row.floor)


def times(ratio: float) -> str:
    if ratio > 999:
        return ">999x"
    return f"{ratio:.2f}x" if ratio < 10 else f"{ratio:.0f}x"


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def megabytes(count: float) -> str:
    return f"{count / 1e6:.1f} MB"


def measure(row: Row | AtMost, repeat: int | None) -> Result:
    """Ours and the peer's in turn, the best of each; the first round only warms up."""
    try:
        ours, peer = row.costs()
        ours(), peer()
        pairs = [(ours(), peer()) for _ in range(repeat or row.repeat)]
    except NotMeasured as reason:
        return Result(row, absent=str(reason))
    return Result(row, min(a for a, _ in pairs), min(b for _, b in pairs))


NOTES = (
    "both: predict_one, then learn_one; learn: learn_one alone",
    "VW's line: built from the dict, then learned",
    "bare imports: import numba, sklearn.base; its values: the matrix's, in bytes",
)
HEADINGS = ("work", "against", "ours", "peer", "ratio", "floor", "")
WIDTHS = (28, 12, 8, 8, 8, 6, 3)


def text_line(cells: Sequence[str]) -> str:
    left = [cells[0][: WIDTHS[0]].ljust(WIDTHS[0]), cells[1].ljust(WIDTHS[1])]
    right = [c.rjust(w) for c, w in zip(cells[2:], WIDTHS[2:], strict=True)]
    return " ".join(left + right)


def markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def machine() -> Iterator[str]:
    """Date, processor and versions."""
    names = ("numba", "numpy", "scikit-learn", "river", "vowpalwabbit")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    yield f"{datetime.date.today()}, {cpu_model()}, {os.cpu_count()} cores"
    yield f"onlinear {onlinear.__version__}, Python {platform.python_version()}, best of several"
    yield versions


def version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


@contextmanager
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass rarely converges, and both sides may say so
        yield


def run(chosen: Iterable[Row | AtMost], repeat: int | None, markdown: bool) -> list[Result]:
    line = markdown_line if markdown else text_line
    print(*machine(), "", line(HEADINGS), sep="\n")
    if markdown:
        print("|---|---|--:|--:|--:|--:|---|")
    results = []
    for row in chosen:
        with quiet():
            results.append(measure(row, repeat))
        print(line(results[-1].cells()), flush=True)
    return results


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="exit 1 unless every floor is met")
    parser.add_argument("--only", metavar="TEXT", action="append", help="rows that contain TEXT")
    parser.add_argument("--data", type=Path, default=os.environ.get("ONLINEAR_DATA"))
    parser.add_argument("--repeat", type=int, help="rounds per row")
    parser.add_argument("--markdown", action="store_true", help="print the table for the README")
    parser.add_argument("--list", action="store_true", help="print the rows and measure nothing")
    return parser.parse_args()


def wanted(row: Row | AtMost, only: list[str] | None) -> bool:
    name = f"{row.work} {row.against}".lower()
    return only is None or any(text.lower() in name for text in only)


def main() -> int:
    options = arguments()
    chosen = [row for row in rows(options.data) if wanted(row, options.only)]
    if options.list:
        print(*(f"{row.work} / {row.against}" for row in chosen), sep="\n")
        return 0
    results = run(chosen, options.repeat, options.markdown)
    print("", *NOTES, sep="\n")
    for reason in sorted({result.absent for result in results} - {""}):
        print(f"not measured: {reason}")
    failed = [result.row.work for result in results if not result.passed]
    print(f"{len(results) - len(failed)} of {len(results)} rows reach their floor")
    return 1 if options.check and failed else 0


if __name__ == "__main__":
    sys.exit(main())
