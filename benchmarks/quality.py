"""Claim: as it comes, `OnlineClassifier` errs no more than Vowpal Wabbit in one pass.

Both see the same rows in the same shuffled order, once, and every row is predicted before it is
learned from; the table shows the percentage predicted wrongly (the prequential error).  VW runs
with logistic loss, one against the rest for several classes, and otherwise its own defaults, save
that it gets enough hash bits to keep all weights apart (at its usual 18, collisions cost it eight
points on news20).

    python benchmarks/quality.py --data FOLDER             # the whole table
    python benchmarks/quality.py --only news20 --seed 3    # one data set, another order
    python benchmarks/quality.py --check                   # fails unless the claim holds
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from data import LOADERS, VW_BITS, DataSet, data_folder, load, write_text

WORST_RATIO = 1.03


class Outcome(NamedTuple):
    """The prequential errors on one data set, in percent."""

    name: str
    rows: int
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours over theirs: below 1 is better than VW.  Two perfect runs are a draw."""
        if self.theirs == 0.0:
            return 1.0 if self.ours == 0.0 else float("inf")
        return self.ours / self.theirs


def our_error(data: DataSet) -> float:
    from onlinear import OnlineClassifier

    learner = OnlineClassifier()
    learner.partial_fit(data.rows, data.targets, classes=data.classes)
    return 100.0 * learner.mistakes_ / learner.examples_


def vw_error(data: DataSet) -> float:
    wrong = vw_predictions(data) != data.targets
    return 100.0 * float(np.mean(wrong))


def vw_predictions(data: DataSet) -> np.ndarray:
    """What VW said of each row before learning from it, in the terms of `data.targets`."""
    several = len(data.classes) > 2
    with tempfile.TemporaryDirectory() as folder:
        examples, answers = Path(folder, "examples.txt"), Path(folder, "answers.txt")
        write_text(examples, data.rows, data.targets + 1 if several else data.targets, bar=" |")
        task = f"--oaa {len(data.classes)}" if several else ""
        run_vw(f"-d {examples} -p {answers} -b {VW_BITS} --loss_function logistic {task}")
        said = np.loadtxt(answers)
    return said.astype(np.int64) - 1 if several else np.where(said > 0.0, 1, -1)


def run_vw(options: str) -> None:
    """One pass over the file named in `options`: with `-d`, VW reads it as it starts."""
    try:
        from vowpalwabbit import pyvw
    except ImportError:
        raise SystemExit("this benchmark needs Vowpal Wabbit: pip install vowpalwabbit") from None
    pyvw.Workspace(f"--quiet --no_stdin {options}").finish()


def compare(names: Sequence[str], folder: Path, seed: int) -> Iterator[Outcome]:
    for name in names:
        data = load(name, folder).shuffled(seed)
        yield Outcome(name, len(data.targets), our_error(data), vw_error(data))


def cells(outcome: Outcome) -> tuple[str, ...]:
    errors = (f"{outcome.ours:.2f}", f"{outcome.theirs:.2f}")
    return outcome.name, f"{outcome.rows:,}", *errors, f"{outcome.ratio:.3f}"


HEADINGS = ("data", "rows", "onlinear %", "VW %", "ours / VW")


def show(outcomes: Sequence[Outcome]) -> None:
    """A Rich table for a terminal, plain columns for a pipe or a file."""
    if sys.stdout.isatty():
        Console(width=80).print(rich_table(outcomes))
        return
    for line in (HEADINGS, *map(cells, outcomes)):
        print(f"{line[0]:<16}" + "".join(f"{cell:>13}" for cell in line[1:]))


def rich_table(outcomes: Sequence[Outcome]) -> Table:
    table = Table(title="Prequential error in one pass, as it comes")
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for outcome in outcomes:
        table.add_row(*cells(outcome), style="red" if outcome.ratio > WORST_RATIO else None)
    return table


def complaints(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What the claim gets wrong on these outcomes; nothing if it holds."""
    for outcome in outcomes:
        if not outcome.ratio <= WORST_RATIO:
            yield f"{outcome.name}: {outcome.ratio:.3f} times VW's error, over {WORST_RATIO}"
    better = sum(outcome.ratio < 1.0 for outcome in outcomes)
    if len(outcomes) == len(LOADERS) and 2 * better < len(outcomes):
        yield f"better than VW on {better} of {len(outcomes)} data sets, less than half"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of the data sets, or $ONLINEAR_DATA")
    parser.add_argument("--only", choices=LOADERS, action="append", help="this data set; repeatable")
    parser.add_argument("--seed", type=int, default=0, help="draws the order of the rows")
    parser.add_argument("--check", action="store_true", help="exit 1 unless the claim holds")
    return parser.parse_args()


def main() -> int:
    chosen = arguments()
    names = chosen.only or list(LOADERS)
    outcomes = list(compare(names, data_folder(chosen.data), chosen.seed))
    show(outcomes)
    found = list(complaints(outcomes)) if chosen.check else []
    for complaint in found:
        print(complaint, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
