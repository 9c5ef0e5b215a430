"""``onlinear demo``: scikit-learn's breast-cancer data learned as a stream."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from onlinear import OnlineClassifier

TITLE = "Breast cancer as a stream: 569 rows, 30 raw columns"
HEADINGS = ("examples", "loss since last", "loss", "mistakes", "error %")


class Line(NamedTuple):
    """One line of the progressive table; both losses are means per example."""

    examples: int
    loss_since_last: float
    loss: float
    mistakes: int
    error: float

    def cells(self) -> tuple[str, ...]:
        since, loss, percent = self.loss_since_last, self.loss, 100 * self.error
        return (
            str(self.examples),
            f"{since:.4f}",
            f"{loss:.4f}",
            str(self.mistakes),
            f"{percent:.2f}",
        )


def demo(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the order of the rows.")] = 0,
) -> None:
    """Learn a real data set as a stream and watch the error fall."""
    model = learn_breast_cancer(seed)
    lines = list(progressive_lines(totals(model)))
    if as_json:
        print(json.dumps(document(lines, seed), indent=2))
    else:
        show(lines)
        print(closing_words(lines[-1]))


def learn_breast_cancer(seed: int) -> OnlineClassifier:
    """One pass over the shuffled rows with the classifier as it comes."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    from onlinear import OnlineClassifier

    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return OnlineClassifier().partial_fit(X[order], y[order], classes=[0, 1])


def totals(model: OnlineClassifier) -> Iterator[tuple[int, float, int]]:
    """Examples, summed loss and mistakes at 1, 2, 4, 8, ... examples and at the end."""
    for mark in model.history_:
        yield mark.examples, mark.loss * mark.examples, mark.mistakes


def progressive_lines(totals: Iterable[tuple[int, float, int]]) -> Iterator[Line]:
    """Turn running totals into means.

    >>> [line.loss_since_last for line in progressive_lines([(1, 0.5, 1), (2, 2.0, 2)])]
    [0.5, 1.5]
    """
    examples_before, loss_before = 0, 0.0
    for examples, loss, mistakes in totals:
        since = (loss - loss_before) / (examples - examples_before)
        yield Line(examples, since, loss / examples, mistakes, mistakes / examples)
        examples_before, loss_before = examples, loss


def document(lines: list[Line], seed: int) -> dict[str, Any]:
    last = lines[-1]
    return {
        "data": "breast_cancer",
        "seed": seed,
        "history": [line._asdict() for line in lines],
        "examples": last.examples,
        "loss": last.loss,
        "mistakes": last.mistakes,
        "error": last.error,
    }


def closing_words(last: Line) -> str:
    return (
        f"{last.mistakes} of {last.examples} predicted wrongly: progressive error "
        f"{last.error:.2%}.\nEach example was predicted before it was learned."
    )


def show(lines: list[Line]) -> None:
    """The table: drawn with Rich on a terminal, plain aligned lines in a pipe."""
    if sys.stdout.isatty():
        draw(lines)
    else:
        print(TITLE, *plain(lines), sep="\n")


def draw(lines: list[Line]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=TITLE)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(*line.cells())
    Console().print(table)


def plain(lines: list[Line]) -> Iterator[str]:
    rows = [HEADINGS, *(line.cells() for line in lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
