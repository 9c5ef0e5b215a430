"""The examples that the model got most wrong, with their cells: the telling ones first."""

from __future__ import annotations

from onlinear.workflow.report.markup import NOTHING, Html, details, join, paragraph, shorten, tag, terms
from onlinear.workflow.report.numbers import NONE, count, digits_apart, finite, many, number, share, value
from onlinear.workflow.report.result import Result, is_regression, items, part

EXAMPLES, CELLS, FOLDED = 10, 12, 24


def worst(result: Result) -> Html:
    found = items(result, "worst")[:EXAMPLES]
    if not found:
        return paragraph("No examples were kept.", class_="quiet")
    said = "Labels that are wrong in the data are often found here."
    return join([paragraph(said, class_="quiet"), *(example(result, one) for one in found)])


def example(result: Result, one: Result) -> Html:
    ranks = telling(result)
    cells = sorted(part(one, "cells").items(), key=lambda cell: ranks.get(str(cell[0]), len(ranks)))
    pairs = [(shorten(name, 40), shorten(cell, 120) or NONE) for name, cell in cells]
    # Folding fewer than a row of cells saves nothing.
    first = CELLS if len(pairs) > CELLS + 4 else CELLS + 4
    shown, rest = pairs[:first], pairs[first : first + FOLDED]
    more = many(len(pairs) - first, "more cell")
    if len(pairs) > first + FOLDED:
        more += f", {count(len(rest))} of them here"
    return tag(
        "div",
        tag("h3", heading(one)),
        paragraph(verdict(result, one)),
        terms(shown, "cells") if shown else NOTHING,
        details(more, terms(rest, "cells")) if rest else NOTHING,
        class_="example",
    )


def heading(one: Result) -> str:
    row = one.get("row")
    return "A row" if row is None else f"Row {count(row) if isinstance(row, int) else shorten(row, 60)}"


def verdict(result: Result, one: Result) -> str:
    """What it is and what it was taken for; how far off, or how surely."""
    label, said = one.get("label"), one.get("predicted")
    if is_regression(result):
        true, guess = _number(label), _number(said)
        off, digits = "", 3
        if true is not None and guess is not None:
            off = f", {number(abs(guess - true))} too {'high' if guess > true else 'low'}"
            digits = digits_apart(true, guess)
        return f"It is {_written(label, digits)}; the model said {_written(said, digits)}{off}."
    sure = f", which it gave a chance of {share(one['chance'])}" if finite(one.get("chance")) is not None else ""
    return f"It is {_written(label)}{sure}; the model said {_written(said)}."


def _number(given: object) -> float | None:
    """A number, also if it is written as one."""
    try:
        return finite(float(given)) if isinstance(given, str) else finite(given)
    except ValueError:
        return None


def _written(given: object, digits: int = 3) -> str:
    if given is None:
        return "unknown"
    return value(given, digits) if isinstance(given, int | float) else shorten(given, 80)


def telling(result: Result) -> dict[str, int]:
    """Columns by the rank of their largest weight: a weight is named for its column, or ``column=category``."""
    ranks: dict[str, int] = {}
    for rank, one in enumerate(items(result, "weights")[:500]):
        name = str(one.get("name"))
        for column in (name, name.rpartition("=")[0]):
            if column:
                ranks.setdefault(column, rank)
    return ranks
