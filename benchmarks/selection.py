"""What choosing a configuration costs: a race in one pass beside a grid search by cross-validation.

    python benchmarks/selection.py --check --data FOLDER

64 configurations of logistic SGD (16 constant rates times 4 L2 penalties) on the shuffled training rows of a9a, from
``--data`` or ``$ONLINEAR_DATA``: ours by ``onlinear.race``, scikit-learn's by ``GridSearchCV`` with 5 folds and two
processes. Ours is timed warm, after a first call in which Numba compiles; so are scikit-learn's processes. Then the
whole job, ``onlinear select``, on adult and on covtype (class 2 against the rest), each in a process of its own.
"""

from __future__ import annotations

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import claims
import numpy as np
from claims import AtMost, Cost, Line, NotMeasured, Row, percent
from jobs import job_rows
from learn import sparse_data

import onlinear
from data import load, svmlight
from onlinear import rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Signs
from onlinear.selection import Configuration, configuration
from onlinear.selection.race import Race, RaceExamples, RaceTask

RATES = np.geomspace(1e-3, 1.0, 16).tolist()
PENALTIES = (1e-6, 1e-5, 1e-4, 1e-3)
FOLDS = 5
ORDERS, REFITS = 5, 10


class Split(NamedTuple):
    """Model rows in a drawn order, and test rows, with their labels."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray


@cache
def a9a(folder: Path | None) -> Split:
    if folder is None or not (Path(folder) / "a9a" / "a9a.t").exists():
        raise NotMeasured("a9a: set --data or $ONLINEAR_DATA")
    train = load("a9a", Path(folder)).shuffled(seed=0)
    X_test, labels = svmlight(Path(folder) / "a9a" / "a9a.t")
    X_test.resize(X_test.shape[0], train.rows.shape[1])
    return Split(train.rows, train.targets, X_test, np.where(labels > 0, 1, -1))


def sgd(rate: float, l2: float = 0.0) -> Configuration:
    return configuration("log_loss", rules.SGD(rules.Constant(rate)), l2=l2)


def seconds(work: Callable[[], object]) -> float:
    gc.collect()
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# Ours


def raced(split: Split, **how: Any) -> onlinear.RaceResult:
    return onlinear.race(split.X, [sgd(rate, l2) for rate in RATES for l2 in PENALTIES], target=split.y, **how)


def our_choice(split: Split) -> tuple[float, float]:
    best = raced(split).best
    return best.rule.schedule.rate, best.settings.l2


# scikit-learn's


def searched(split: Split, passes: int = 1) -> Any:
    from sklearn.linear_model import SGDClassifier
    from sklearn.model_selection import GridSearchCV

    model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.1, max_iter=passes, tol=None)
    model.set_params(random_state=0)
    return GridSearchCV(model, {"eta0": RATES, "alpha": PENALTIES}, cv=FOLDS, n_jobs=2).fit(split.X, split.y)


def their_choice(split: Split) -> tuple[float, float]:
    best = searched(split).best_params_
    return best["eta0"], best["alpha"]


# What a choice is worth


def mean_error(folder: Path | None, choice: Callable[[Split], tuple[float, float]]) -> float:
    """The test error of what is chosen from training rows in several orders.

    One pass at a constant rate ends where its last rows leave it: a single fit says more about them than about the
    choice. So each choice is refitted in several orders, the same for both, by the same learner.
    """
    split = a9a(folder)
    orders = [np.random.default_rng(seed).permutation(len(split.y)) for seed in range(ORDERS)]
    chosen = [choice(split._replace(X=split.X[order], y=split.y[order])) for order in orders]
    return float(np.mean([refitted_error(folder, *each) for each in chosen]))


@cache
def refitted_error(folder: Path | None, rate: float, l2: float) -> float:
    split = a9a(folder)
    model = onlinear.OnlineClassifier(rule=rules.SGD(rules.Constant(rate)), l2=l2, order="shuffle")
    right = [
        model.set_params(random_state=seed).fit(split.X, split.y).score(split.X_test, split.y_test)
        for seed in range(REFITS)
    ]
    return 1.0 - float(np.mean(right))


# The table


def choosing(folder: Path | None) -> tuple[Cost, Cost]:
    split = a9a(folder)
    return lambda: seconds(lambda: raced(split)), lambda: seconds(lambda: searched(split))


def choosing_by_folds(folder: Path | None) -> tuple[Cost, Cost]:
    split = a9a(folder)
    ours = partial(raced, split, folds=FOLDS, passes=5)
    return lambda: seconds(ours), lambda: seconds(lambda: searched(split, 5))


def errors(folder: Path | None) -> tuple[Cost, Cost]:
    a9a(folder)
    return partial(mean_error, folder, our_choice), partial(mean_error, folder, their_choice)


class Bank(NamedTuple):
    """Sixteen configurations and their data: a pass of a bank, of a race, and of one configuration alone."""

    data: Callable[[], tuple[Any, np.ndarray]]

    def ready(self) -> tuple[Batch, RaceExamples, int, list[Configuration]]:
        X, y = self.data()
        rows, importance, positive = rows_of(X), np.ones(len(y)), (y > 0).astype(np.int64)
        chosen = [sgd(rate, l2) for rate in RATES[::4] for l2 in PENALTIES]
        batch = Batch(rows, Signs(positive * 2.0 - 1.0), importance, sound=True)
        return batch, RaceExamples(rows, positive, importance, sound=True), X.shape[1], chosen

    def together(self) -> tuple[Cost, Cost]:
        """Learned, and mistakes counted as they learn."""
        batch, _, features, chosen = self.ready()

        def costs(members: list[Configuration]) -> float:
            losses, rules_, settings = (list(each) for each in zip(*members, strict=True))
            bank = onlinear.Learner(losses, rules_, features=features, outputs=len(members), settings=settings)
            return seconds(lambda: bank.learn(batch))

        return lambda: costs(chosen), lambda: costs(chosen[:1])

    def raced(self) -> tuple[Cost, Cost]:
        """The same as a race, in two threads, which judges each as it answers."""
        _, examples, features, chosen = self.ready()

        def costs() -> float:
            race = Race(chosen, RaceTask(2), features)
            return seconds(lambda: race.learn(examples))

        return costs, self.together()[1]


def a9a_rows(folder: Path | None) -> tuple[Any, np.ndarray]:
    split = a9a(folder)
    return split.X, split.y


def rows(folder: Path | None, work: Path) -> Iterator[Line]:
    yield Row("a9a: best of 64, 1 pass", "GridSearchCV", 20, partial(choosing, folder), 3)
    yield AtMost("a9a: error of the choice", "GridSearchCV", 0.002, partial(errors, folder), 1, percent, False)
    yield Row("a9a: best of 64, 5 passes", "GridSearchCV", 0, partial(choosing_by_folds, folder), 1, rehearsed=False)
    for name, data, floor in (("a9a", partial(a9a_rows, folder), 1 / 6), ("CSR 200k", sparse_data, 0)):
        yield Row(f"{name}: 16 in a bank", "one alone", floor, Bank(data).together)
        yield Row(f"{name}: 16 in a race", "one alone", 0, Bank(data).raced)
    yield from job_rows(folder, work)


NOTES = (
    "1 pass: ours progressive, theirs 5 folds of max_iter=1 and a refit; n_jobs=2, and two threads of ours",
    f"error of the choice: on the test rows, mean over {ORDERS} orders and {REFITS} refits of each choice",
    "5 passes: both by 5 folds, ours in one race of 320 members, with no floor",
    "one alone: a pass of one configuration; on a9a a bank of 16, in one thread, may cost six of them",
    "16 in a race: the same in two threads, each judged as it answers; with no floor",
    "best peer: the better of VW's default on the columns as they are, and scikit-learn's scaled logistic SGD",
)


def main() -> int:
    options = claims.parser(str(__doc__)).parse_args()
    with tempfile.TemporaryDirectory() as work:
        return claims.main(rows(options.data, Path(work)), NOTES, options)


if __name__ == "__main__":
    sys.exit(main())
