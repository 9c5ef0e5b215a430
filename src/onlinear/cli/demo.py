"""``onlinear demo``: a real stream, or what a teacher would put on a slide."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from onlinear.cli.commands import ARGUMENTS, OUTPUT, Declared
from onlinear.cli.ending import ending
from onlinear.cli.jsontext import json_text
from onlinear.learning.progress import HEADINGS, ProgressLine, align_columns
from onlinear.workflow.demos import DEMONSTRATIONS, demonstration

if TYPE_CHECKING:
    from collections.abc import Iterator

Name = Annotated[
    str | None,
    Declared("The demonstration; without a name all are listed.", ARGUMENTS, metavar="NAME", choices=DEMONSTRATIONS),
]
Seed = Annotated[int, Declared("Seed of what is drawn, or of the order of the rows.", min=0, metavar="N")]
Picture = Annotated[
    str | None, Declared("Draw the picture that goes with it: .png, .svg or .pdf.", metavar="FILE", file=OUTPUT)
]


def demo(
    name: Name = None,
    as_json: Annotated[bool, Declared("Print one JSON document.", names=("--json",))] = False,
    seed: Seed = 0,
    plot: Picture = None,
) -> None:
    """Show a theorem at work, or learn a real data set as a stream and watch the error fall."""
    with ending():
        if plot is not None:
            from onlinear.workflow.demos.pictures import check_picture

            check_picture(plot)
        if name is None:
            learn_a_stream(as_json, seed, plot)
        else:
            demonstrate(name, as_json, seed, plot)


def demonstrate(name: str, as_json: bool, seed: int, plot: str | None) -> None:
    """Run one demonstration, say what came of it, and draw it."""
    shown = demonstration(name)
    result = shown.compute(seed)
    if as_json:
        print(json_text({"demonstration": name, "seed": seed, **asdict(result)}, indent=2))
    else:
        print(shown.TITLE, "", *shown.lines(result), sep="\n")
    if plot is not None:
        from onlinear.workflow.demos.pictures import save_slide

        save_slide(shown.draw, result, shown.TITLE, plot)


def learn_a_stream(as_json: bool, seed: int, plot: str | None) -> None:
    """List the demonstrations, and learn the breast-cancer data."""
    from onlinear.workflow.demos.breast_cancer import (
        closing_words,
        document,
        figure_of,
        learn_breast_cancer,
        progress_of,
    )

    model = learn_breast_cancer(seed)
    progress = progress_of(model)
    if as_json:
        print(json_text({"demonstrations": DEMONSTRATIONS, **document(progress, seed)}, indent=2))
    else:
        print(*list_of_demonstrations(), "", sep="\n")
        show(progress)
        print(*closing_words(progress[-1]), sep="\n")
    if plot is not None:
        from onlinear.workflow.demos.pictures import save_figure

        save_figure(figure_of(model), plot)


def list_of_demonstrations() -> Iterator[str]:
    width = max(map(len, DEMONSTRATIONS))
    yield "Demonstrations: onlinear demo NAME [--plot FILE]"
    for name, says in DEMONSTRATIONS.items():
        yield f"  {name:{width}}  {says}"


def show(lines: list[ProgressLine]) -> None:
    """The table: drawn with Rich on a terminal, plain aligned lines in a pipe."""
    from onlinear.workflow.demos.breast_cancer import TITLE

    if sys.stdout.isatty():
        draw_table(TITLE, lines)
    else:
        print(TITLE, *align_columns([HEADINGS, *(line.cells() for line in lines)]), sep="\n")


def draw_table(title: str, lines: list[ProgressLine]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(*line.cells())
    Console().print(table)
