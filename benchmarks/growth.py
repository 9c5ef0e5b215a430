"""What has to stay quick as things grow: long rows and numbers, many names, a loss of the user's own, the import.

    python benchmarks/growth.py --check

The peer of a row is our own code on a tenth of the size, both by the unit: 1 is linear growth, 0.1 quadratic.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import claims
import numba
import numpy as np
from claims import AtMost, Cost, Line, Row
from processes import python

from onlinear import OnlineClassifier, losses, rules
from onlinear.cli.printing import with_gaps
from onlinear.data.batch import Batch, rows_of
from onlinear.data.targets import Signs
from onlinear.features.vocabulary import collisions_of
from onlinear.kernels.compiler.inlining import register_overloads
from onlinear.kernels.text import decimals
from onlinear.learning.learner import Learner
from onlinear.powers import exp_of_less

#: n log n, and larger tables that leave the cache, cost up to three times as much by the unit; quadratic growth ten
LINEAR = 0.3
IMPORT_LIMIT = 0.05


def seconds_per(units: int, work: Callable[[], object]) -> Cost:
    """What a unit of the work takes."""

    def cost() -> float:
        began = time.perf_counter()
        work()
        return (time.perf_counter() - began) / units

    return cost


# Growth


def answer_long_row(names: int) -> Cost:
    """A dict in the order that an insertion sort would take longest for."""
    row = {str(k): float(k % 7) for k in reversed(range(names))}
    model = OnlineClassifier()
    model.learn_one(row, 1)
    model.learn_one({"0": 1.0}, 0)
    return seconds_per(names, lambda: model.predict_one(row))


register_overloads()  # of the functions that compiled ones call


@numba.njit(nogil=True, error_model="numpy")
def read_number(text: Any, start: int, stop: int) -> Any:
    return decimals.read_number(text, start, stop)


def read_long_number(digits: int) -> Cost:
    text = f"9007199254740993{'0' * digits}1{'0' * digits}e-{2 * digits + 1}"
    characters = np.frombuffer(text.encode(), np.uint8)
    return seconds_per(len(characters), lambda: read_number(characters, 0, len(characters)))


def find_collisions(names: int) -> Cost:
    rng = np.random.default_rng(0)
    cells, counts = rng.integers(0, names, names).astype(np.uint32), rng.integers(1, 1000, names)
    return seconds_per(names, lambda: collisions_of(cells, counts, ["x"] * names, most=10))


def predict_around_bad_lines(lines: int) -> Cost:
    """Rows of which every other line is bad, in one chunk: the gaps for them in what is printed."""
    rows, places, missing = [(1,)] * lines, list(range(0, 2 * lines, 2)), list(range(1, 2 * lines, 2))
    return seconds_per(lines, lambda: with_gaps(rows, places, missing, [None]))


def take_snapshots(bits: int) -> tuple[Cost, Cost]:
    """A snapshot after ten rows of 60 words, and the same by a copy of all weights."""
    model = OnlineClassifier(bits=bits)
    rng = np.random.default_rng(0)

    def learn(rows: int) -> None:
        for k in range(rows):
            model.learn_one({f"{word}": 1.0 for word in rng.integers(0, 1 << bits, 60)}, k % 2)

    def snapshot(anew: bool) -> Cost:
        def cost() -> float:
            learn(10)
            if anew:
                model._learner.change_any()  # type: ignore[union-attr]
            began = time.perf_counter()
            model.snapshot()
            return time.perf_counter() - began

        return cost

    learn(5000)
    return snapshot(anew=False), snapshot(anew=True)


# A loss and a rule of the user's own


class MyLogistic(NamedTuple):
    """Our logistic loss, written by a user."""

    def value(self, score, target):  # type: ignore
        z = target * score
        return math.log1p(math.exp(-z)) if z > 0.0 else math.log1p(math.exp(z)) - z

    def slope(self, score, target):  # type: ignore
        z = target * score
        tail = exp_of_less(-abs(z))
        return -target * (tail if z > 0.0 else 1.0) / (1.0 + tail)


class MyAdaGrad(NamedTuple):
    """Our AdaGrad, written by a user."""

    rate: float = 0.1
    epsilon: float = 1e-8

    CELL = ("weight", "squares")  # type: ignore[misc]

    def move(self, cell, x, step, seen):  # type: ignore
        w, squares = cell
        pull = step * x
        squares += pull * pull
        return w + self.rate * pull / (math.sqrt(squares) + self.epsilon), squares


class MySteps(NamedTuple):
    """Our SGD at a constant rate, written by a user."""

    rate: float = 0.1

    def step(self, loss, seen):  # type: ignore
        return -self.rate * min(max(seen.slope, -1e12), 1e12) * seen.importance


def learn_with(loss: Any, rule: Any) -> Cost:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 60))
    y = np.where(X[:, 0] + rng.normal(size=10_000) > 0.0, 1.0, -1.0)
    batch = Batch(rows_of(X), Signs(y), np.ones(10_000))
    learner = Learner(loss, rule, features=60)
    return seconds_per(10_000, lambda: learner.learn(batch))


# Rows


def import_seconds(code: str) -> Cost:
    return lambda: python("-c", code).seconds


def grown(work: str, cost: Callable[[int], Cost], size: int) -> Row:
    return Row(f"{work} of {size:,}", f"{size // 10:,}", LINEAR, lambda: (cost(size), cost(size // 10)))


def as_fast(name: str, theirs: Any, ours: Any) -> Row:
    """A user's copy of our loss and rule beside ours; what makes a rule is given (mypy takes CELL for a field)."""
    return Row(
        f"own loss and {name}",
        "built in",
        1 / 1.5,
        lambda: (learn_with(MyLogistic(), theirs()), learn_with(losses.Logistic(), ours())),
    )


def rows() -> Iterator[Line]:
    yield grown("dict row", answer_long_row, 200_000)
    yield grown("digits of a number", read_long_number, 10_000_000)
    yield grown("collisions of names", find_collisions, 1_000_000)
    yield grown("bad lines of a prediction", predict_around_bad_lines, 100_000)
    yield Row("snapshot of 2^22 columns", "all copied", 20.0, lambda: take_snapshots(22))
    yield as_fast("AdaGrad", MyAdaGrad, rules.AdaGrad)
    yield as_fast("SGD", MySteps, lambda: rules.SGD(rules.Constant(0.1)))
    imports = import_seconds("import onlinear"), import_seconds("pass")
    yield AtMost("import onlinear", "no import", IMPORT_LIMIT, lambda: imports)


NOTES = ("ours and the peer's by the unit (a name, a digit, a row), the best of several in turn",)


def main() -> int:
    return claims.main(rows(), NOTES, claims.parser(str(__doc__)).parse_args())


if __name__ == "__main__":
    sys.exit(main())
