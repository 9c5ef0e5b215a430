"""The first thing to read: what was asked, and the result in one sentence beside the simplest answer."""

from __future__ import annotations

from onlinear.workflow.report.markup import NOTHING, Html, join, paragraph, shorten, tag, terms
from onlinear.workflow.report.numbers import count, finite, format_interval, level, many, score, seconds
from onlinear.workflow.report.result import BASELINES, Result, baseline, error_on_test_rows, items, measure, pair, part


def headline(result: Result) -> Html:
    asked, data = part(result, "asked"), part(result, "data")
    files = [shorten(name, 60) for name in items(asked, "files")]
    shown = ", ".join(files[:3]) + (f" and {many(len(files) - 3, 'more file')}" if len(files) > 3 else "")
    over = [f"onlinear {result.get('onlinear') or ''}".strip(), shown]
    if data.get("rows") is not None:
        over.append(many(data["rows"], "row"))
    if finite(result.get("seconds")) is not None:
        over.append(seconds(result["seconds"]))
    return tag(
        "header",
        paragraph(" · ".join(word for word in over if word), class_="over"),
        tag("h1", title(result)),
        paragraph(sentence(result), class_="lead"),
        figures(result),
        warning(result),
        id="result",
    )


def title(result: Result) -> str:
    """What was asked; columns without names have numbers.

    >>> title({"asked": {"target": "income"}}), title({"asked": {"target": "24"}})
    ('A linear model of “income”', 'A linear model of column 24')
    """
    target = part(result, "asked").get("target")
    if target is None:
        return "A linear model"
    shown = f"column {target}" if str(target).isdigit() else f"“{shorten(target, 120)}”"
    return f"A linear model of {shown}"


def sentence(result: Result) -> str:
    """The result, its interval, and what the simplest answer achieves.

    >>> sentence({})
    'No test was made, so nothing is known of how good the model is on rows that it has not seen.'
    """
    test, by, found = part(result, "test"), measure(result), error_on_test_rows(result)
    if found is None:
        return "No test was made, so nothing is known of how good the model is on rows that it has not seen."
    rows = "rows" if test.get("rows") is None else many(test["rows"], "row")
    said = "The model is wrong on" if by == "error" else "The model has a root mean squared error of"
    said += f" {score(found, by)} {'of' if by == 'error' else 'on'} {rows}{seen_before(result)}"
    if pair(test.get("interval")) is not None:
        said += f" ({interval_name(result)} {format_interval(test['interval'], by)})"
    return f"{said}{against(result)}."


def seen_before(result: Result) -> str:
    """How many of the test rows the model knows.

    >>> seen_before({"test": {"rows": 600, "seen": 100}}), seen_before({"test": {"rows": 600, "seen": 0}})
    (', of which 100 are the same as rows it was trained on', ' that it had not seen')
    """
    seen = finite(part(result, "test").get("seen"))
    if not seen:
        return " that it had not seen"
    return f", of which {count(seen)} {'is' if seen == 1 else 'are'} the same as rows it was trained on"


def against(result: Result) -> str:
    """How the result compares with the simplest answer, and whether the difference can be chance."""
    simple, by = baseline(result), measure(result)
    simple_score, limits = finite(simple.get("score")), pair(part(result, "test").get("interval"))
    if simple_score is None:
        return ""
    said = f"; {BASELINES[simple['name']]} gives {score(simple_score, by)}"
    if limits is not None and limits[0] <= simple_score <= limits[1]:
        said += ", which lies in that interval: the model is not shown to be better"
    elif limits is not None and simple_score < limits[0]:
        said += ", which is better: do not use this model"
    return said


def interval_name(result: Result) -> str:
    known = part(result, "test").get("level")
    return "interval" if finite(known) is None else f"{level(known)} interval"


def figures(result: Result) -> Html:
    """The two numbers to remember."""
    test, by, found, simple = part(result, "test"), measure(result), error_on_test_rows(result), baseline(result)
    shown: list[tuple[str, Html]] = []
    if found is not None:
        limits = format_interval(test.get("interval"), by) if pair(test.get("interval")) else ""
        which = "test" if finite(test.get("seen")) else "unseen"
        name = f"error on {which} rows" if by == "error" else f"RMSE on {which} rows"
        shown.append((name, join([score(found, by), tag("small", limits)])))
    if finite(simple.get("score")) is not None:
        shown.append((f"always the {simple['name']}", join([score(simple["score"], by), tag("small", "baseline")])))
    return terms(shown, "figures") if shown else NOTHING


def warning(result: Result) -> Html:
    if not part(result, "test").get("used_before"):
        return NOTHING
    said = "these test rows were used before. A model that was chosen by them looks better on them than it is."
    return paragraph(tag("span", "Beware:", class_="flag"), f" {said}", class_="warn")
