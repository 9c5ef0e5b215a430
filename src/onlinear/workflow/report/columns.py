"""The condition of the data: the odd columns first, then the rest, folded if there are many; and the recipe."""

from __future__ import annotations

from collections import Counter
from typing import Any

from onlinear.workflow.report.markup import (
    NOTHING,
    Html,
    details,
    join,
    list_items,
    name_of,
    paragraph,
    row,
    shorten,
    table,
    tag,
)
from onlinear.workflow.report.numbers import NONE, count, finite, many, share, value
from onlinear.workflow.report.result import Result, items, part

ALL = 24  # so many columns are shown one and all
ODD = 30  # of more columns, so many odd ones
FOLDED = 120  # and so many of the rest; a page of two thousand columns has to stay a page
NOUNS = {"number": ("number",), "category": ("category", "categories"), "text": ("text",)}
HEADS = ["Column", ("Missing", "n"), ("Distinct", "n"), ("Range, or most frequent", "range")]


def data(result: Result) -> Html:
    columns = items(result, "columns")
    return join(
        [
            paragraph(counts(result)),
            tag("h3", "What looked odd") if items(result, "notes") else NOTHING,
            list_items(items(result, "notes")),
            column_tables(columns) if columns else paragraph("Nothing was noted of the columns.", class_="quiet"),
        ]
    )


def recipe(result: Result) -> Html:
    steps = items(result, "recipe")
    return list_items(steps) if steps else paragraph("The columns are taken as they are.", class_="quiet")


def counts(result: Result) -> str:
    """How many rows and columns of which kind, and how the rows were divided."""
    found = part(result, "data")
    said = []
    if found.get("rows") is not None:
        twice = finite(found.get("duplicates"))
        same = "" if twice is None else f", {many(twice, 'duplicate')} among them"
        said.append(f"{many(found['rows'], 'row')}{same}.")
    columns = items(result, "columns")
    if columns:
        kinds = Counter(str(column.get("kind") or "other") for column in columns)
        listing = ", ".join(many(n, *NOUNS.get(kind, (kind, kind))) for kind, n in kinds.items())
        said.append(f"{many(len(columns), 'column')}: {listing}.")
    split = part(found, "split")
    if split.get("train") is not None and split.get("test") is not None:
        how = f": {split['words']}" if split.get("words") else ""
        said.append(f"Learned from {count(split['train'])} rows, tested on {count(split['test'])}{how}.")
    return " ".join(said) or "Nothing was noted of the data."


def oddness(column: Result) -> tuple[int, float]:
    """What sorts columns: leaks first, then identifiers and constants, notes, missing values, special roles."""
    flags = [
        column.get("leak"),
        column.get("id") or column.get("constant"),
        column.get("notes"),
        (finite(column.get("missing")) or 0.0) > 0.0,
        column.get("role") != "feature",
    ]
    rank = next((k for k, flag in enumerate(flags) if flag), len(flags))
    return rank, -(finite(column.get("missing")) or 0.0)


def column_tables(columns: list[Result]) -> Html:
    ordered = sorted(columns, key=oddness)
    if len(ordered) <= ALL:
        return table("The columns, the odd ones first", HEADS, map(column_row, ordered), "columns")
    odd = [column for column in ordered if oddness(column)[0] < 5][:ODD]
    rest = ordered[len(odd) :]
    parts = [table("The columns that stand out", HEADS, map(column_row, odd), "columns")] if odd else []
    shown = rest[:FOLDED]
    body = table("The other columns", HEADS, (column_row(column, 1) for column in shown), "columns")
    if len(rest) > len(shown):
        left = f"{many(len(rest) - len(shown), 'column')} more are not listed here; the JSON of this result has all."
        body = join([body, paragraph(left, class_="quiet")])
    name = "more column" if odd else "column"
    return join([*parts, details(many(len(rest), name), body)])


def column_row(column: Result, notes: int = 3) -> Html:
    """A row of the table, and under it a second one with at most so many notes, if there are any."""
    kind = " · ".join(str(word) for word in (column.get("kind"), column.get("role")) if word and word != "feature")
    head = join([name_of(column.get("name"), 60), tag("small", kind) if kind else NOTHING])
    missing = finite(column.get("missing"))
    cells = [
        ("none" if missing == 0.0 else share(missing), "n"),
        (count(column.get("distinct")), "n"),
        (spread(column), "range"),
    ]
    said = remarks(column, notes)
    if not said:
        return row(head, *cells)
    first = tag(
        "tr",
        tag("th", head, scope="row", rowspan="2"),
        *(tag("td", content, class_=look) for content, look in cells),
        class_="noted",
    )
    return join([first, tag("tr", tag("td", said, colspan="3"), class_="note")])


def spread(column: Result) -> str:
    """From the least to the greatest, with the median and the outliers; or the most frequent categories."""
    low, high, middle = (finite(column.get(key)) for key in ("low", "high", "median"))
    if low is not None and high is not None:
        said = f"{value(low)} to {value(high)}"
        said += "" if middle is None else f", median {value(middle)}"
        return f"{said}, {many(column['outliers'], 'outlier')}" if finite(column.get("outliers")) else said
    common = [pair for pair in items(column, "common") if isinstance(pair, list | tuple) and len(pair) == 2]
    return ", ".join(f"{shorten(name, 24)} ({count(rows)})" for name, rows in common[:3]) or NONE


def remarks(column: Result, most: int) -> Html:
    """The flags of a column, in words, and its notes."""
    flags = [
        word
        for key, word in (
            ("leak", "May give the target away."),
            ("id", "Looks like an identifier."),
            ("constant", "Constant."),
        )
        if column.get(key)
    ]
    notes: list[Any] = [tag("span", " ".join(flags), class_="flag")] if flags else []
    notes += [shorten(note, 160) for note in items(column, "notes")[:most]]
    return tag("small", join(notes, " ")) if notes else NOTHING
