"""``onlinear test``: how wrong a model is about the rows of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinear.cli import arguments as cli
from onlinear.cli.ending import ending
from onlinear.cli.jsontext import json_text
from onlinear.learning.progress import align_columns
from onlinear.system.paths import printable_lines

#: what figures are called, where their names in JSON do not say it to people
NAMES = {"weight_sum": "sum of the weights"}


def measure(
    model: cli.ModelFile,
    files: cli.Files,
    bad_lines: cli.BadLineWish = "fail",
    as_json: cli.AsJson = False,
) -> None:
    """Test a model on files: error, log loss, area under the curve and confusion; or errors of numbers."""
    with ending():
        from onlinear.cli.badlines import BadLines
        from onlinear.files.trained import open_model
        from onlinear.workflow.testing import figures_of

        trained = open_model(model)
        with BadLines(bad_lines) as bad:
            on_bad = bad.on_bad
            figures = figures_of(trained.training.snapshot(), trained.recipe, files, on_bad) | {"bad_lines": bad.count}
        print(json_text(figures, indent=2) if as_json else printable_lines(words_of(figures)))


def format_figure(name: str, figure: float) -> str:
    """A figure for people, by its name.

    >>> format_figure("weighted_error", 0.125), format_figure("rmse", 0.125)
    ('12.50%', '0.1250')
    >>> format_figure("examples", 1250), format_figure("weight_sum", 1250.5)
    ('1,250', '1,250.5')
    """
    if isinstance(figure, int):
        return f"{figure:,}"
    if name == "weight_sum":
        return f"{figure:,.10g}"
    return f"{figure:.2%}" if name.endswith("error") else f"{figure:.4f}"


def words_of(figures: dict[str, Any]) -> Iterator[str]:
    """The figures of a test, for people."""
    for name, figure in figures.items():
        if isinstance(figure, int | float):
            yield f"{NAMES.get(name, name.replace('_', ' '))}: {format_figure(name, figure)}"
    if "confusion" in figures and len(figures["labels"]) <= 20:
        yield "confusion (a line for each label, a column for each prediction):"
        labels = [str(label) for label in figures["labels"]]
        rows = [
            [label, *(f"{count:g}" for count in counts)]
            for label, counts in zip(labels, figures["confusion"], strict=True)
        ]
        yield from align_columns([["", *labels], *rows])
