"""``onlinear demo``: scikit-learn's breast-cancer data learned as a stream."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from onlinear.cli.commands import OUTPUT, Declared
from onlinear.cli.ending import ending
from onlinear.cli.jsontext import json_text
from onlinear.errors import Refused
from onlinear.learning.progress import HEADINGS, Line, align_columns, progressive_lines
from onlinear.system.outputs import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from onlinear import OnlineClassifier

TITLE = "Breast cancer as a stream: 569 rows, 30 raw columns"
PICTURES = ("png", "svg", "pdf")


def demo(
    as_json: Annotated[bool, Declared("Print one JSON document.", names=("--json",))] = False,
    seed: Annotated[int, Declared("Seed of the order of the rows.", min=0, metavar="N")] = 0,
    plot: Annotated[
        str | None, Declared("Draw mistakes and loss over time: .png, .svg or .pdf.", metavar="FILE", file=OUTPUT)
    ] = None,
) -> None:
    """Learn a real data set as a stream and watch the error fall."""
    with ending():
        if plot is not None:
            check_picture(plot)
        model = learn_breast_cancer(seed)
        lines = list(progressive_lines(totals(model)))
        if as_json:
            print(json_text(document(lines, seed), indent=2))
        else:
            show(lines)
            print(closing_words(lines[-1]))
        if plot is not None:
            draw_progress(model, plot)


def check_picture(file: str) -> None:
    """Refuse, before anything is learned, a picture that cannot be drawn."""
    from onlinear.plots.drawing import require_matplotlib

    require_matplotlib()
    if extension_of(file) not in PICTURES:
        raise Refused(f"{file}: its name says no kind of picture: end it with .{', .'.join(PICTURES)}")


def extension_of(file: str) -> str:
    return Path(file).suffix.lower().removeprefix(".")


def draw_progress(model: OnlineClassifier, file: str) -> None:
    """Mistakes and loss over time, side by side, in a file."""
    from matplotlib.figure import Figure

    from onlinear.plots import LossCurveDisplay

    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    figure.suptitle(TITLE)
    left, right = figure.subplots(1, 2)
    LossCurveDisplay.from_mistakes(model, ax=left)
    LossCurveDisplay.from_estimator(model, ax=right)
    with replacing(file) as picture:
        figure.savefig(picture, format=extension_of(file))


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
        print(TITLE, *align_columns([HEADINGS, *(line.cells() for line in lines)]), sep="\n")


def draw(lines: list[Line]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=TITLE)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(*line.cells())
    Console().print(table)
