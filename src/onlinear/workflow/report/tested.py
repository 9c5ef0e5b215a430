"""The test: the result with its interval, what was taken for what, and whether chances can be believed."""

from __future__ import annotations

from typing import Any

from onlinear.workflow.report.headline import interval_name, warning
from onlinear.workflow.report.markup import (
    NOTHING,
    Html,
    join,
    list_items,
    name_of,
    paragraph,
    shorten,
    table,
    tag,
    terms,
)
from onlinear.workflow.report.numbers import count, finite, format_interval, many, number, score, share
from onlinear.workflow.report.result import Result, error_on_test_rows, items, measure, pair, part
from onlinear.workflow.report.scales import Axis
from onlinear.workflow.report.svg import Chart, draw_calibration

CLASSES = 25  # a larger matrix tells less than the list of its largest cells


def test(result: Result) -> Html:
    found = part(result, "test")
    if error_on_test_rows(result) is None:
        return paragraph("No test was made.", class_="quiet")
    said = paragraph(found["words"]) if found.get("words") else NOTHING
    return join([said, warning(result), terms(measures(result), "cells"), confusion(result), calibration(result)])


def measures(result: Result) -> list[tuple[str, str]]:
    test, by = part(result, "test"), measure(result)
    shown = [("error" if by == "error" else "RMSE", score(error_on_test_rows(result), by))]
    if pair(test.get("interval")):
        shown.append((interval_name(result), format_interval(test["interval"], by)))
    for key, name, write in (
        ("mistakes", "mistakes", count),
        ("rows", "test rows", count),
        ("weighted_error", "error by weight", share),
        ("weighted_rmse", "RMSE by weight", number),
        ("weight_sum", "sum of the weights", number),
        ("mean_absolute_error", "mean absolute error", number),
        ("r2", "R²", number),
        ("log_loss", "log loss", number),
    ):
        if finite(test.get(key)) is not None:
            shown.append((name, write(test[key])))
    return shown


def matrix_of(result: Result) -> tuple[list[str], list[list[float]]]:
    """The classes and how often each was taken for which; nothing if that is not a square table."""
    found = part(part(result, "test"), "confusion")
    labels = [str(label) for label in items(found, "labels")]
    counts = [[finite(cell) or 0.0 for cell in line] for line in items(found, "counts") if isinstance(line, list)]
    square = len(counts) == len(labels) and all(len(line) == len(labels) for line in counts)
    return (labels, counts) if labels and square else ([], [])


def confusion(result: Result) -> Html:
    labels, counts = matrix_of(result)
    if not labels:
        return NOTHING
    shown = matrix(labels, counts) if len(labels) <= CLASSES else NOTHING
    return join([tag("h3", "What was taken for what"), shown, list_items(mixed_up(labels, counts))])


def matrix(labels: list[str], counts: list[list[float]]) -> Html:
    """A shaded table: the darker a cell, the larger its share of the row; what was right lies on the diagonal."""
    numbered = len(labels) > 6 or sum(min(len(label), 16) for label in labels) > 60
    heads: list[Any] = ["true class"]
    rows = []
    for i, (label, line) in enumerate(zip(labels, counts, strict=True)):
        heads.append(count(i + 1) if numbered else shorten(label, 16))
        name = f"{i + 1} {shorten(label, 20)}" if numbered else name_of(label, 40)
        cells = (_cell(amount, sum(line), right=i == j) for j, amount in enumerate(line))
        rows.append(tag("tr", tag("th", name, scope="row"), *cells))
    shown = table("Rows: true. Columns: predicted.", heads, rows, "confusion dense" if len(labels) > 8 else "confusion")
    return join([paragraph("The columns have the numbers of the rows.") if numbered else NOTHING, shown])


def _cell(amount: float, whole: float, right: bool) -> Html:
    shade = round(0.5 * amount / whole, 2) if whole > 0.0 and amount > 0.0 else 0.0
    style = f"background:rgb(var(--tint)/{shade:g})" if shade else None
    return tag("td", count(amount) if amount else "0", class_="right" if right else None, style=style)


def mixed_up(labels: list[str], counts: list[list[float]]) -> list[str]:
    """The largest cells beside the diagonal, in words."""
    wrong = [
        (amount, i, j) for i, line in enumerate(counts) for j, amount in enumerate(line) if i != j and amount > 0.0
    ]
    worst = sorted(wrong, key=lambda cell: -cell[0])[: 2 if len(labels) == 2 else 5]
    return [
        f"{many(amount, 'row')} of class {shorten(labels[i], 60)} ({share(amount / sum(counts[i]))} of them) "
        f"{'was' if amount == 1 else 'were'} taken for {shorten(labels[j], 60)}."
        for amount, i, j in worst
    ]


def bins_of(result: Result) -> list[tuple[float, float, float]]:
    """What was predicted, what was observed, and on which share of the rows."""
    found = [
        (finite(one.get("predicted")), finite(one.get("observed")), finite(one.get("rows")) or 0.0)
        for one in items(part(result, "test"), "calibration")
    ]
    whole = sum(rows for _, _, rows in found) or 1.0
    return [(p, o, rows / whole) for p, o, rows in found if p is not None and o is not None]


def calibration(result: Result) -> Html:
    bins = bins_of(result)
    if not bins:
        return NOTHING
    unit = Axis(0.0, 1.0)
    chart = Chart(
        "calibration",
        "Predicted chances against what happened",
        " ".join(f"Predicted {share(p)}, observed {share(o)}." for p, o, _ in bins[:30]),
        unit,
        unit,
        "predicted chance",
        "observed share",
        shares=(True, True),
    )
    caption = tag("figcaption", "The larger a dot, the more rows. On the dotted line, chances are what they say.")
    pictures = tag(
        "figure", draw_calibration(chart, bins, 680.0, "wide"), draw_calibration(chart, bins, 340.0, "narrow"), caption
    )
    return join([tag("h3", "Can the chances be believed?"), paragraph(describe_calibration(bins)), pictures])


def describe_calibration(bins: list[tuple[float, float, float]]) -> str:
    """The calibration in words: the mean distance, and where it is largest.

    >>> from onlinear.workflow.report.numbers import plain
    >>> plain(describe_calibration([(0.1, 0.1, 0.5), (0.8, 0.7, 0.5)])).split(": ")[-1]
    'of the rows given about 80.0 %, 70.0 % came true (too sure).'
    """
    apart = sum(abs(p - o) * weight for p, o, weight in bins)
    worst = max((one for one in bins if one[2] >= 0.02), key=lambda one: abs(one[0] - one[1]), default=bins[0])
    good = "nearly what they say" if apart < 0.02 else "roughly what they say" if apart < 0.05 else "not what they say"
    said = f"The chances are {good}: they are off by {100.0 * apart:.1f} points on average. "
    if abs(worst[0] - worst[1]) < 0.005:
        return said.rstrip()
    # A chance below one half that is too high is too timid, not too sure.
    sure = abs(worst[0] - 0.5) > abs(worst[1] - 0.5)
    lean = "too sure" if sure else "too timid"
    return f"{said}Farthest off: of the rows given about {share(worst[0])}, {share(worst[1])} came true ({lean})."
