"""Drift: the error of a moving window over time, and when an alarm was raised."""

from __future__ import annotations

from onlinear.workflow.report.markup import NOTHING, Html, details, join, paragraph
from onlinear.workflow.report.numbers import count, finite, many, score
from onlinear.workflow.report.result import Result, items, measure, part, points, thin_points
from onlinear.workflow.report.scales import Axis, even
from onlinear.workflow.report.svg import Chart, PlottedCurve, figure

MARKS = 50
POLICIES = {
    "ignore": "The learner went on as before.",
    "reset": "At each alarm the learner began anew.",
    "faster": "At each alarm the learner took larger steps for a while.",
}


def drift(result: Result) -> Html:
    found = part(result, "drift")
    return (
        join([paragraph(drift_section(result)), curve(result), alarm_list(items(found, "alarms"))])
        if found
        else NOTHING
    )


def drift_section(result: Result) -> str:
    """How often the data changed, what was done, and what it was worth."""
    found, by = part(result, "drift"), measure(result)
    said = f"{found.get('detector') or 'The detector'} raised {many(len(items(found, 'alarms')), 'alarm')}."
    if items(found, "alarms"):
        said += " " + POLICIES.get(str(found.get("policy")), "")
    name = "error" if by == "error" else "RMSE"
    ours, still = finite(found.get("error")), finite(found.get("static_error"))
    if ours is not None:
        said = f"{said.rstrip()} Learning all the time, the {name} is {score(ours, by)}"
        said += "." if still is None else f"; without acting on alarms, it is {score(still, by)}."
    return said.rstrip()


def curve(result: Result) -> Html:
    found, by = part(result, "drift"), measure(result)
    drawn = points(found.get("curve"))
    if len(drawn) < 2:
        return NOTHING
    alarms = [mark for alarm in items(found, "alarms") if (mark := finite(alarm)) is not None]
    still = finite(found.get("static_error"))
    levels = [] if still is None else [(still, "without acting")]
    xs, ys = [x for x, _ in drawn], [y for _, y in drawn]
    low, high = min(xs + alarms), max(xs + alarms)
    chart = Chart(
        "drift",
        "Error in a moving window" if by == "error" else "RMSE in a moving window",
        f"It ranges from {score(min(ys), by)} to {score(max(ys), by)}. {drift_section(result)}",
        Axis(low, high) if low < high else even([low]),
        even([*ys, *(value for value, _ in levels)]),
        "examples",
        "error in a moving window" if by == "error" else "RMSE in a moving window",
        [PlottedCurve(thin_points(drawn))],
        levels,
        alarms[:MARKS],
        (False, by == "error"),
    )
    said = "" if not alarms else "Wedges: alarms." if len(alarms) <= MARKS else f"Wedges: the first {MARKS} alarms."
    return figure(
        chart, f"{said} Dotted: the same model, learning on without acting on alarms.".strip() if levels else said
    )


def alarm_list(alarms: list[object]) -> Html:
    if not alarms:
        return NOTHING
    said = ", ".join(count(alarm) for alarm in alarms[:500])
    return details("When the alarms were raised", paragraph(f"After so many examples: {said}."))
