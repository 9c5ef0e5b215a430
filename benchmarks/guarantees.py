"""What proofs and votes cost: margins beside learning, a replay, and a kernel perceptron on MNIST beside SVC.

    python benchmarks/guarantees.py --check

The box: R and the least margin of the weights found, to the last bit, from one look at the rows. Certified: the whole
of ``onlinear.certify`` after a perceptron's run, whose best margin and mistake bounds must be within 1 % of the best.
Separable or not: with a witness that is exact; a9a has alike rows of two classes, so it is asked without these, too.
The replay: ``onlinear verify CERT FILE --replay``, from the two files to the last line printed, in plain Python. Real
data are read from ``--data`` or ``$ONLINEAR_DATA``. Best measured on a quiet machine: threads of BLAS wait for each
other.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import claims
import numpy as np
from claims import AtMost, Cost, Line, NotMeasured, Row, megabytes
from learn import ONE_PASS, dense_data, mnist_data, sparse_data
from mnist_voted import digits

from data import DataSet, load
from onlinear import AveragedPerceptron, KernelPerceptron, MarginPerceptron, Perceptron, certify, replay
from onlinear.theory.best_margin import linear_problem
from onlinear.theory.comparators import least_deviation, least_hinge_loss
from onlinear.theory.examples import examples_of
from onlinear.theory.margins import margins_of
from onlinear.theory.separability import Inseparable, separability
from onlinear.theory.soft_margins import SoftMargins
from onlinear.theory.spaces import LinearSpace
from onlinear.theory.subjects import steps_of, subject_of

LONGEST_TRAINING, LONGEST_PREDICTING = 8.0, 15.0  # seconds
LONGEST_DECIDING = 30.0  # seconds
LONGEST_CERTIFYING = {"agaricus": 2.0, "a9a": 20.0, "ijcnn1": 20.0}  # seconds
GAP = 0.01
LARGEST_MEMORY = 4e9  # bytes
LONGEST_REPLAY, REPLAYED_ROWS, REPLAYED_ENTRIES = 10.0, 50_000, 20  # seconds, for rows of so many entries
FEWEST_TIMES_SVC = 15.0
MOST_PASSES = 1.5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def box_costs(data: Callable[[], Any]) -> tuple[Cost, Cost]:
    """The box of a perceptron's weights, and a pass of learning."""
    X, y = data()
    model = Perceptron(**ONE_PASS).fit(X, y)
    assert model._learner is not None
    weights = subject_of(steps_of(model._learner, model._classes, 1)).weights
    examples = examples_of(X, np.where(y == model.classes_[1], 1.0, -1.0))
    return lambda: seconds(lambda: margins_of(weights, examples)), lambda: seconds(lambda: model.fit(X, y))


def certifying_costs(folder: Path | None, name: str) -> tuple[Cost, Cost]:
    """The certificate of a perceptron: until no mistake is left on agaricus, which is separable, else of one pass."""
    data = load_data(folder, name)
    model = MarginPerceptron(0.0) if name == "agaricus" else Perceptron(**ONE_PASS)
    model.fit(data.rows, data.targets)

    found: list[Any] = []

    def cost() -> float:
        spent = seconds(lambda: found.append(certify(model, data.rows, data.targets)))
        check_tightness(found.pop(), data)
        return spent

    return cost, lambda: 0.0


def check_tightness(certificate: dict[str, Any], data: DataSet) -> None:
    """That nothing could be proven that is better by more than the gap: no bound below what multipliers show."""
    if certificate["separable"]:
        assert certificate["margin_lower"] >= (1.0 - GAP) * certificate["margin_upper"], certificate["margin_lower"]
    examples = examples_of(data.rows, np.where(data.targets > 0, 1.0, -1.0))
    problem = linear_problem(examples, LinearSpace(data.rows.shape[1], Fraction(certificate["kernel"][3])))
    assert problem is not None
    search, passes = SoftMargins(problem.signed), certificate["passes"]
    deviation = least_deviation(search, 1, passes, 0.1 * GAP)
    hinge = least_hinge_loss(search, 1, passes, 0.1 * GAP, deviation.l2)
    for found, best in ((certificate["inseparable_bound"], deviation), (certificate["hinge_bound"], hinge)):
        assert found["bound"] <= (1.0 + GAP) * best.least**2, (found["bound"], best.least**2)


def load_data(folder: Path | None, name: str) -> DataSet:
    try:
        return load(name, Path(folder or "nowhere"))
    except OSError:
        raise NotMeasured(f"{name}: set --data or $ONLINEAR_DATA") from None


def replay_costs() -> tuple[Cost, Cost]:
    """A verification with a replay of one pass over a million entries, of which the reading is not left out."""
    X, y = sparse_data(REPLAYED_ROWS, nonzeros=REPLAYED_ENTRIES)
    X = X.astype(np.float64)
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    certificate, rows = folder / "cert.json", folder / "rows.svm"
    certificate.write_text(json.dumps(certify(AveragedPerceptron(max_iter=1, order="shuffle").fit(X, y), X, y)))
    with rows.open("w") as file:
        for i, label in enumerate(y.tolist()):
            span = slice(*X.indptr[i : i + 2])
            cells = zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True)
            file.write(f"{label:g} {' '.join(f'{j + 1}:{x!r}' for j, x in cells)}\n")

    def verified() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            failed = replay.main([str(certificate), str(rows)])
        assert not failed, failed

    return lambda: seconds(verified), lambda: 0.0


@cache
def trained(folder: Path | None) -> tuple[Any, float, float]:
    """A kernel perceptron of one pass over MNIST, the seconds that took, and the memory of the process."""
    mnist_data(folder, sparse=False)  # says so if it is not there
    order = np.random.default_rng(0).permutation(60_000)
    train = digits(Path(folder or "nowhere"), "train")
    rows, labels = train.rows[order], train.labels[order]
    model = KernelPerceptron(kernel="poly", degree=4, coef0=1, max_iter=1)
    spent = seconds(lambda: model.fit(rows, labels))
    return model, spent, 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def training_costs(folder: Path | None) -> tuple[Cost, Cost]:
    return lambda: trained(folder)[1], lambda: 0.0


def memory_costs(folder: Path | None) -> tuple[Cost, Cost]:
    return lambda: trained(folder)[2], lambda: 0.0


def voting_costs(folder: Path | None) -> tuple[Cost, Cost]:
    model, rows = trained(folder)[0], digits(Path(folder or "nowhere"), "t10k").rows
    return lambda: seconds(lambda: model.predict(rows)), lambda: 0.0


def svc_costs(folder: Path | None) -> tuple[Cost, Cost]:
    from sklearn.svm import SVC

    spent = trained(folder)[1]
    train = digits(Path(folder or "nowhere"), "train")
    peer = SVC(kernel="poly", degree=4, gamma=1.0, coef0=1.0, cache_size=1000)
    return lambda: spent, lambda: seconds(lambda: peer.fit(train.rows, train.labels))


def deciding_costs(folder: Path | None, contradicting: bool) -> tuple[Cost, Cost]:
    """Whether a9a can be separated; without rows that another class has, too, if that is asked."""
    data = load_data(folder, "a9a")
    X, y = data.rows, data.targets
    if not contradicting:
        first: dict[bytes, float] = {}
        keys = [X.indices[start:stop].tobytes() for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
        kept = [i for i, key in enumerate(keys) if first.setdefault(key, y[i]) == y[i]]  # all of its values are 1
        X, y = X[kept], y[kept]
    examples, space = examples_of(X, y), LinearSpace(X.shape[1], Fraction(1))

    def decide() -> None:
        assert isinstance(separability(examples, space), Inseparable)

    return lambda: seconds(decide), lambda: 0.0


def rows(folder: Path | None) -> Iterator[Line]:
    for name, data in (("CSR 200k", sparse_data), ("dense 100k", dense_data)):
        yield Row(f"{name}: box, exact", "learning", 1.0 / MOST_PASSES, partial(box_costs, data))
    for name, limit in LONGEST_CERTIFYING.items():
        yield AtMost(f"{name}: certified within 1 %", "-", limit, partial(certifying_costs, folder, name), repeat=2)
    for name, contradicting in (("a9a", True), ("a9a, none alike", False)):
        costs = partial(deciding_costs, folder, contradicting)
        yield AtMost(f"{name}: separable?", "-", LONGEST_DECIDING, costs, repeat=1, rehearsed=False)
    once: dict[str, Any] = {"repeat": 1, "rehearsed": False}
    yield AtMost("10^6 entries: verify --replay", "-", LONGEST_REPLAY, replay_costs, **once)
    yield AtMost("MNIST, degree 4: one pass", "-", LONGEST_TRAINING, partial(training_costs, folder), **once)
    yield AtMost("MNIST, degree 4: vote", "-", LONGEST_PREDICTING, partial(voting_costs, folder), **once)
    yield AtMost("MNIST: memory", "-", LARGEST_MEMORY, partial(memory_costs, folder), shown=megabytes, **once)
    yield Row("MNIST, degree 4: one pass", "SVC", FEWEST_TIMES_SVC, partial(svc_costs, folder), **once)


if __name__ == "__main__":
    options = claims.parser(__doc__ or "").parse_args()
    notes = ["vote: of the 10 000 test rows; SVC: scikit-learn's, the same kernel and rows, once"]
    sys.exit(claims.main(rows(options.data), notes, options))
