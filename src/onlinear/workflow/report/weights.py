"""The weights that matter, by name and sign, and how few features do."""

from __future__ import annotations

from onlinear.workflow.report.markup import NOTHING, Html, details, join, name_of, paragraph, row, shorten, table, tag
from onlinear.workflow.report.numbers import count, finite, format_interval, format_weight, many, score
from onlinear.workflow.report.result import Result, is_regression, items, measure, pair, part, positive, thin_points
from onlinear.workflow.report.scales import Axis, even, logarithmic
from onlinear.workflow.report.svg import Chart, PlottedCurve, bar, figure

SHOWN, FOLDED = 12, 100  # rows of one class, and folded rows of all classes together
OPEN = 4  # so many classes are shown unfolded
CLASSES = 60


def weights(result: Result) -> Html:
    known = [one for one in items(result, "weights") if finite(one.get("weight")) is not None]
    if not known:
        return paragraph("No weights were kept.", class_="quiet")
    labels = items(part(part(result, "test"), "confusion"), "labels")
    classes: dict[str | None, list[Result]] = {str(label): [] for label in labels}
    for one in known:
        classes.setdefault(None if one.get("class") is None else str(one["class"]), []).append(one)
    classes = {name: rows for name, rows in classes.items() if rows}
    axis = axis_of(known)
    most = FOLDED // len(classes)
    parts = [paragraph(meaning(result, known))]
    for place, (name, rows) in enumerate(list(classes.items())[:CLASSES]):
        rows = sorted(rows, key=lambda one: -abs(float(one["weight"])))
        caption = "Weights, the largest first" if name is None else f"For {shorten(name)}, the largest first"
        if name is None or len(classes) <= OPEN:
            shown = join([weight_table(caption, rows[:SHOWN], axis), more(caption, rows[SHOWN:], axis, most)])
            parts += [tag("h3", shorten(name)) if name is not None else NOTHING, shown]
        else:
            if len(rows) > SHOWN:
                caption = f"For {shorten(name)}, the {SHOWN} largest of {count(len(rows))}"
            parts.append(details(f"{place + 1}. {gist(name, rows)}", weight_table(caption, rows[:SHOWN], axis)))
    if len(classes) > CLASSES:
        parts.append(paragraph(f"{many(len(classes) - CLASSES, 'more class', 'more classes')} are not listed here."))
    return join(parts)


def axis_of(known: list[Result]) -> Axis:
    """From the leftmost to the rightmost end of any bar or whisker that is not far beyond all bars, zero included."""
    sizes = [finite(one["weight"]) or 0.0 for one in known]
    limit = 2.0 * max(map(abs, sizes))
    ends = [end for one in known for key in ("low", "high") if (end := finite(one.get(key))) is not None]
    return even([0.0, *sizes, *(max(-limit, min(limit, end)) for end in ends)])


def meaning(result: Result, known: list[Result]) -> str:
    """What the sign of a weight says, and how far it can be trusted."""
    if is_regression(result):
        said = "A feature with a positive weight raises the prediction, one with a negative weight lowers it."
    elif any(one.get("class") is not None for one in known):
        said = "A feature with a positive weight speaks for the class, one with a negative weight against it."
    elif positive(result) is not None:
        name = shorten(positive(result), 60)
        said = f"A feature with a positive weight speaks for {name}, one with a negative weight against it."
    else:
        said = "A feature with a positive weight raises the score, one with a negative weight lowers it."
    unsure = sum(not sure(one) for one in known if interval_of(one))
    if any(interval_of(one) for one in known):
        said += " Whiskers are bootstrap intervals"
        said += f"; {many(unsure, 'weight')} may have either sign." if unsure else "; no listed sign is in doubt."
    return said


def interval_of(one: Result) -> tuple[float, float] | None:
    return pair([one.get("low"), one.get("high")])


def sure(one: Result) -> bool:
    """Whether the interval leaves no doubt of the sign."""
    limits = interval_of(one)
    return limits is None or limits[0] > 0.0 or limits[1] < 0.0


def gist(name: str, rows: list[Result]) -> str:
    """A class in one line: what speaks most for it, and what against."""
    fors = [shorten(one.get("name"), 30) for one in rows if float(one["weight"]) > 0.0][:2]
    againsts = [shorten(one.get("name"), 30) for one in rows if float(one["weight"]) < 0.0][:2]
    said = [f"for it {' and '.join(fors)}"] if fors else []
    said += [f"against it {' and '.join(againsts)}"] if againsts else []
    return f"{shorten(name, 60)}: {', '.join(said)}" if said else shorten(name, 60)


def weight_table(caption: str, rows: list[Result], axis: Axis) -> Html:
    heads = ["Feature", "Weight, drawn", ("Weight", "n")]
    return table(caption, heads, (weight_row(one, axis) for one in rows), "bars")


def weight_row(one: Result, axis: Axis) -> Html:
    limits = interval_of(one)
    low, high = limits or (None, None)
    said = tag("small", format_interval(limits, "weight")) if limits else NOTHING
    doubt = NOTHING if sure(one) else tag("small", "either sign", class_="flag")
    return row(
        name_of(one.get("name")),
        (bar(finite(one["weight"]) or 0.0, low, high, axis), "bar"),
        (join([format_weight(one["weight"]), said, doubt]), "n"),
    )


def more(caption: str, rows: list[Result], axis: Axis, most: int) -> Html:
    if not rows:
        return NOTHING
    some = f", {count(most)} of them here" if len(rows) > most else ""
    return details(f"{count(len(rows))} more{some}", weight_table(f"{caption}, continued", rows[:most], axis))


def path(result: Result) -> Html:
    """How few features cost how much: the score along a path of penalties."""
    by = measure(result)
    steps = sorted(
        {
            (features, found)
            for one in items(result, "path")
            if (features := finite(one.get("features"))) is not None and (found := finite(one.get("score"))) is not None
        }
    )
    if not steps:
        return paragraph("No path from few features to many was followed.", class_="quiet")
    rows = (row(count(features), (score(found, by), "n")) for features, found in thin_points(steps, 50))
    numbers = table("The path", ["Features", ("Error" if by == "error" else "RMSE", "n")], rows, "path")
    return join(
        [
            paragraph(bargain(steps, by)),
            path_chart(steps, by),
            details("The numbers" if len(steps) <= 50 else "Some of the numbers", numbers),
        ]
    )


def path_chart(steps: list[tuple[float, float]], by: str) -> Html:
    drawn = [(features, found) for features, found in steps if features >= 1.0]
    if len(drawn) < 2:
        return NOTHING
    chart = Chart(
        "path",
        "Error against the number of features" if by == "error" else "RMSE against the number of features",
        bargain(steps, by),
        logarithmic(x for x, _ in drawn)._replace(whole=True),
        even(y for _, y in drawn),
        "features (logarithmic)",
        "error" if by == "error" else "RMSE",
        [PlottedCurve(thin_points(drawn, 50), dots=True)],
        shares=(False, by == "error"),
    )
    return figure(chart)


def bargain(steps: list[tuple[float, float]], by: str) -> str:
    """The best of the path, and the fewest features that come within five per cent of it.

    >>> from onlinear.workflow.report.numbers import plain
    >>> plain(bargain([(3, 0.18), (12, 0.152), (100, 0.150)], "error"))
    'With 100 features the error is 15.0 %; with 12 it is 15.2 %; with 3 it is 18.0 %.'
    """
    best = min(steps, key=lambda step: (step[1], step[0]))
    near = next(step for step in steps if step[1] <= best[1] + 0.05 * abs(best[1]))
    few = [step for step in (near, steps[0]) if step[0] < best[0]]
    name = "error" if by == "error" else "RMSE"
    said = [f"With {many(best[0], 'feature')} the {name} is {score(best[1], by)}"]
    said += [f"with {count(features)} it is {score(found, by)}" for features, found in dict.fromkeys(few)]
    return "; ".join(said) + "."
