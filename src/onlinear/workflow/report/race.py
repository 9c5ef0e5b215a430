"""The race: how the configurations fared as examples went by, who stopped early, and what other methods reach."""

from __future__ import annotations

from onlinear.workflow.report.markup import (
    NOTHING,
    Html,
    details,
    escape,
    join,
    name_of,
    paragraph,
    row,
    shorten,
    table,
    tag,
)
from onlinear.workflow.report.numbers import count, finite, format_interval, many, number, score, seconds, share
from onlinear.workflow.report.result import (
    Result,
    baseline,
    error_on_test_rows,
    items,
    measure,
    pair,
    part,
    points,
    thin_points,
)
from onlinear.workflow.report.scales import even, logarithmic
from onlinear.workflow.report.svg import Chart, PlottedCurve, figure, interval

BEST = 5
SHOWN, FOLDED = 10, 90


def race(result: Result) -> Html:
    run = part(result, "race")
    entries = items(run, "configurations")
    if not entries:
        return join([paragraph("No configurations were compared.", class_="quiet"), references(result)])
    by = run.get("by") or measure(result)
    return join(
        [paragraph(how(result)), curves(result, by), ranking(entries, by), new_rows(result), references(result)]
    )


def new_rows(result: Result) -> Html:
    """What the race says of new rows, and if it says nothing, why."""
    found = part(part(result, "race"), "online_to_batch")
    if found.get("refused"):
        return paragraph(f"The race proves nothing of new rows: {found['refused']}.", class_="quiet")
    said = new_rows_words(found)
    if not said:
        return NOTHING
    theorems = [part(found, name).get("theorem") for name in ("at_any_time", "drawn_at_random", "picked")]
    of = "; ".join(str(theorem) for theorem in theorems if theorem)
    return join([tag("h3", "What follows for new rows"), paragraph(said), paragraph(of, class_="quiet")])


def new_rows_words(found: Result) -> str:
    """The bounds on the error on new rows, with what they assume; nothing where they are not known."""
    limits = pair(part(found, "at_any_time").get("mean_error"))
    if limits is None or not found.get("assumption"):
        return ""
    said = (
        f"{str(found['assumption']).capitalize()}, then with {share(finite(found.get('confidence')))} confidence each: "
    )
    said += (
        f"the winner, as it was on its way, errs on {share(limits[0])} to {share(limits[1])} of new rows in the mean"
    )
    for name, whose in (
        ("drawn_at_random", "one of its states drawn at random"),
        ("picked", "the best one, as picked"),
    ):
        bound = finite(part(found, name).get("error_at_most"))
        if bound is not None and bound < 1.0:
            said += f"; {whose} on at most {share(bound)}"
    many_tried = finite(found.get("configurations"))
    tried = f" That it is the best of {count(many_tried)} is allowed for." if many_tried and many_tried > 1 else ""
    return f"{said}.{tried}"


def how(result: Result) -> str:
    """Who ran, over what, and who won."""
    run, winner = part(result, "race"), part(result, "winner")
    entries = items(run, "configurations")
    said = many(len(entries), "configuration")
    said += " was tried" if len(entries) == 1 else " were compared"
    if run.get("how"):
        said += " by progressive validation" if run["how"] == "progressive" else f" by {run['how']}"
    if finite(run.get("examples")) is not None:
        said += f" on {many(run['examples'], 'example')}"
    if (finite(run.get("passes")) or 1) > 1:
        said += f" in {many(run['passes'], 'pass', 'passes')}"
    if finite(run.get("seconds")) is not None:
        said += f", in {seconds(run['seconds'])}"
    if run.get("how") == "progressive":
        said += "; each example is predicted before it is learned from"
    if winner.get("name"):
        said += f". The best is {shorten(winner['name'], 120)}"
    return f"{said}."


def curves(result: Result, by: str) -> Html:
    """The curves of the best few, numbered as in the table, over those of the rest."""
    best, rest = lines_of(items(part(result, "race"), "configurations"))
    if not any(len(line.points) > 1 for line in best):
        return NOTHING
    said = "The numbers are ranks in the table below."
    if rest:
        said += " Pale lines: the others; a cross: stopped early."
    if finite(baseline(result).get("score")) is not None:
        said += f" Dotted: the {baseline(result)['name']}."
    return figure(chart_of(result, by, best, rest), said)


def lines_of(entries: list[Result]) -> tuple[list[PlottedCurve], list[PlottedCurve]]:
    """The best few with their names, and some of the rest without."""
    known = [
        (rank, entry, thin_points(points(entry.get("curve")))) for rank, entry in enumerate(entries[: BEST + 20], 1)
    ]
    first = beginning([x for _, _, curve in known for x, _ in curve])
    best, rest = [], []
    for rank, entry, curve in known:
        drawn = [(x, y) for x, y in curve if x >= first]
        stopped = entry.get("stopped_at") is not None
        if drawn and rank <= BEST:
            label = f"{rank} {shorten(entry.get('name'), 60)}"
            best.append(PlottedCurve(drawn, label, str(rank), f"s{rank - 1}", stopped=stopped))
        elif drawn:
            rest.append(PlottedCurve(drawn, look="back", stopped=stopped))
    return best, rest


def chart_of(result: Result, by: str, best: list[PlottedCurve], rest: list[PlottedCurve]) -> Chart:
    simple = finite(baseline(result).get("score"))
    scores = [y for line in best for _, y in line.points]
    ceiling = top(scores, simple)
    return Chart(
        "race",
        "Running error of the best configurations" if by == "error" else "Running RMSE of the best configurations",
        describe_curves(items(part(result, "race"), "configurations"), by),
        logarithmic(x for line in best for x, _ in line.points)._replace(whole=True),
        even([min(score, ceiling) for score in scores] + ([] if simple is None else [simple])),
        "examples (logarithmic)",
        "error so far" if by == "error" else "RMSE so far",
        [*rest, *reversed(best)],  # what is drawn last lies on top
        [] if simple is None else [(simple, str(baseline(result)["name"]))],
        shares=(False, by == "error"),
    )


def beginning(places: list[float]) -> float:
    """Where curves begin to mean something: after the first few examples, if there are many."""
    return 16.0 if max(places, default=0.0) >= 1024.0 else 1.0


def top(scores: list[float], simple: float | None) -> float:
    """The highest score to draw: what is far above the simplest answer only flattens the rest."""
    highest = max(scores)
    return highest if simple is None or simple <= 0.0 else min(highest, 2.0 * max(simple, min(scores)))


def describe_curves(entries: list[Result], by: str) -> str:
    """The curves for those who cannot see them."""
    said = [
        f"{rank} {shorten(entry.get('name'), 60)}: {score(entry.get('score'), by)}"
        for rank, entry in enumerate(entries, 1)
    ]
    return f"Scores at the end, best first. {'; '.join(said[:BEST])}."


def ranking(entries: list[Result], by: str) -> Html:
    heads = [("Rank", "n"), "Configuration", ("Error" if by == "error" else "RMSE", "n"), "Ran"]
    rows = [rank_row(rank, entry, by) for rank, entry in enumerate(entries, 1)]
    shown = table("The configurations, best first", heads, rows[:SHOWN], "race")
    rest = rows[SHOWN : SHOWN + FOLDED]
    if not rest:
        return shown
    more = table("The other configurations", heads, rest, "race")
    if len(rows) > SHOWN + FOLDED:
        more = join([more, paragraph(f"{many(len(rows) - SHOWN - FOLDED, 'more')} in the JSON of this result.")])
    return join([shown, details(f"{count(len(rows) - SHOWN)} more", more)])


def rank_row(rank: int, entry: Result, by: str) -> Html:
    limits = tag("small", format_interval(entry.get("interval"), by)) if pair(entry.get("interval")) else NOTHING
    stopped = entry.get("stopped_at")
    ran = "to the end" if stopped is None else f"stopped at {count(stopped)}"
    return tag(
        "tr",
        tag("td", rank, class_="n"),
        tag("th", shorten(entry.get("name"), 120), scope="row"),
        tag("td", score(entry.get("score"), by), limits, class_="n"),
        tag("td", ran, class_=None if stopped is None else "quiet"),
        class_="first" if rank == 1 else None,
    )


def references(result: Result) -> Html:
    """Other methods, with this model among them, on one line."""
    by, own = measure(result), error_on_test_rows(result)
    known = [(one, finite(one.get("score"))) for one in items(result, "references")[:30]]
    limits = pair(part(result, "test").get("interval"))
    scores = [found for _, found in known if found is not None] + [own or 0.0, *(limits or ())]
    if not known:
        return NOTHING
    axis = even(scores, zero=True)
    rows = [
        row(
            join([name_of(one.get("name"), 60), tag("small", training_note(one)) if training_note(one) else NOTHING]),
            (interval(None, None, found, axis), "bar"),
            (score(found, by), "n"),
        )
        for one, found in known
    ]
    if own is not None:
        low, high = limits or (None, None)
        middle = interval(low, high, own, axis)
        said = tag("small", format_interval(limits, by)) if limits else NOTHING
        rows.insert(0, row("This model", (middle, "bar"), (join([score(own, by), said]), "n"), class_="first"))
    heads = [
        "Method",
        f"Drawn from {number(axis.low)}" if axis.low else "Drawn from 0",
        ("Error" if by == "error" else "RMSE", "n"),
    ]
    return join([tag("h3", "Beside other methods"), table("The same measure for other methods", heads, rows, "bars")])


def training_note(reference: Result) -> Html:
    """On what a reference was learned, and how long that took."""
    said = []
    if finite(reference.get("rows")) is not None:
        said.append(f"learned from {count(reference['rows'])} rows")
    if finite(reference.get("seconds")) is not None:
        said.append(seconds(reference["seconds"]))
    return escape(", ".join(said))
