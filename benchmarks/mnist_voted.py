"""The voted perceptron on MNIST, beside the figures of Freund & Schapire 1999.

Ten perceptrons, one against the rest, with the kernel (1 + x.z)^degree on pixels scaled to [0, 1], rows in one
shuffled order, pass after pass.  The table shows the test error in percent of the four ways to answer, the support
vectors of all ten, and the mistakes (updates) of all ten.

    python benchmarks/mnist_voted.py --data FOLDER                    # the whole table: a quarter of an hour
    python benchmarks/mnist_voted.py --quick                          # a tenth of a pass and one pass
    python benchmarks/mnist_voted.py --degrees 4 --passes 1 2 3       # a part of it
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from data import data_folder, idx
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import Perceptrons
from onlinear.learning.dual.versions import VOTES

PASSES = (0.1, 1.0, 2.0, 3.0, 10.0)


class Digits(NamedTuple):
    """Pictures as rows of 784 float32 in [0, 1], and what they show."""

    rows: np.ndarray
    labels: np.ndarray


class Outcome(NamedTuple):
    """A line of the table."""

    degree: int
    passes: float
    errors: dict[str, float]
    support: int
    mistakes: int
    seconds: float


def digits(folder: Path, part: str) -> Digits:
    """The digits to learn from ("train"), or those to be tested with ("t10k")."""
    pixels = idx(folder / "mnist" / f"{part}-images-idx3-ubyte.gz").reshape(-1, 784)
    return Digits(pixels.astype(np.float32) / np.float32(255), idx(folder / "mnist" / f"{part}-labels-idx1-ubyte.gz"))


def outcomes(degree: int, marks: Sequence[float], train: Digits, test: Digits, seed: int) -> Iterator[Outcome]:
    """Learn up to one mark after another, and test there."""
    machine = Perceptrons(Kernel("poly", degree, 1.0, 1.0), 784, 10, np.float32)
    targets = np.where(train.labels[:, None] == np.arange(10), 1.0, -1.0)
    order = np.random.default_rng(seed).permutation(len(targets))
    spent = 0.0
    for mark in sorted(marks):
        start = time.perf_counter()
        while machine.examples < round(mark * len(order)):
            done = machine.examples % len(order)
            machine.learn(train.rows, targets, order[done : done + round(mark * len(order)) - machine.examples])
        spent += time.perf_counter() - start
        support = int(machine.coefficients().any(axis=1).sum())
        mistakes = sum(versions.made for versions in machine.versions)
        yield Outcome(degree, mark, errors(machine, test, seed), support, mistakes, spent)


def errors(machine: Perceptrons, test: Digits, seed: int) -> dict[str, float]:
    """The test error of each vote, in percent."""
    moments = np.random.default_rng(seed).integers(0, machine.examples, len(test.labels))
    answers = {vote: machine.scores(test.rows, list(range(10)), vote, moments).argmax(axis=1) for vote in VOTES}
    return {vote: 100.0 * float(np.mean(said != test.labels)) for vote, said in answers.items()}


def show_table(lines: Iterator[Outcome]) -> None:
    print("| degree | passes | vote | average | last | random | support vectors | mistakes | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for line in lines:
        wrong = " | ".join(f"{line.errors[vote]:.2f}" for vote in VOTES)
        print(
            f"| {line.degree} | {line.passes:g} | {wrong} | {line.support} | {line.mistakes} | {line.seconds:.1f} |",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--degrees", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--passes", type=float, nargs="+", default=list(PASSES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="up to one pass")
    asked = parser.parse_args()
    folder = data_folder(asked.data)
    train, test = digits(folder, "train"), digits(folder, "t10k")
    marks = [mark for mark in asked.passes if mark <= 1.0 or not asked.quick]
    show_table(line for degree in asked.degrees for line in outcomes(degree, marks, train, test, asked.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
