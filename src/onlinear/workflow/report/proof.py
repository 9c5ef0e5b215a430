"""What is proven of the run: mistakes against their bound, and the box that the best margin lies in."""

from __future__ import annotations

from shlex import quote

from onlinear.workflow.report.markup import NOTHING, Html, join, list_items, name_of, paragraph, table, tag
from onlinear.workflow.report.numbers import NONE, count, finite, many, number
from onlinear.workflow.report.result import Result, items, part
from onlinear.workflow.report.scales import even
from onlinear.workflow.report.svg import interval

CLASSES = 60


def certificate(result: Result) -> Html:
    said, found = items(result, "certificate_words"), certificates(result)
    if not said and not found:
        return paragraph("Nothing was certified.", class_="quiet")
    shown = [(name, one) for name, one in list(found.items())[:CLASSES]]
    file = part(result, "files").get("certificate")
    how = (
        paragraph(
            "Anyone can prove it again: ",
            tag("code", f"onlinear verify {quote(str(file))} ROWS"),
            ", with the rows that select writes if asked to --export them.",
        )
        if file
        else NOTHING
    )
    return join([list_items(said), claims(shown), margins(shown), how])


def certificates(result: Result) -> dict[str, Result]:
    """A certificate by the name of its class; of two classes there is one, without a name."""
    found = part(result, "certificate")
    if "onlinear_certificate" in found or "updates" in found:
        return {"": found}
    return {str(name): one for name, one in found.items() if isinstance(one, dict)}


def claims(shown: list[tuple[str, Result]]) -> Html:
    """Mistakes against the bound, for each class."""
    if not shown:
        return NOTHING
    rows = [
        tag(
            "tr",
            tag("th", name_of(name, 60) or "The run", scope="row"),
            tag("td", count(one.get("mistakes")), class_="n"),
            tag("td", count(one.get("updates")), class_="n"),
            tag("td", bound_of(one), class_="n"),
            tag("td", separable(one)),
        )
        for name, one in shown
    ]
    heads = ["Run" if not shown[0][0] else "Class", ("Mistakes", "n"), ("Updates", "n"), ("At most", "n"), "Separable"]
    return table("Updates, and the most that the theorem allows", heads, rows, "proof")


def bound_of(one: Result) -> str:
    """The bound as a whole number of updates: a part of an update is none."""
    bound = finite(one.get("bound"))
    if bound is None:
        return NONE
    return count(bound // 1) if abs(bound) < 1e15 else number(bound)


def separable(one: Result) -> str:
    known = one.get("separable")
    return "undecided" if known is None else "yes, with a witness" if known else "no, with a witness"


def margins(shown: list[tuple[str, Result]]) -> Html:
    """The box of the best margin, drawn as a line from what is reached to what is possible."""
    boxes = [(name, finite(one.get("margin_lower")), finite(one.get("margin_upper"))) for name, one in shown]
    known = [end for _, low, high in boxes for end in (low, high) if end is not None]
    if not known:
        return NOTHING
    axis = even([0.0, *known], zero=True)
    rows = [
        tag(
            "tr",
            tag("th", name_of(name, 60) or "Best margin", scope="row"),
            tag("td", interval(low, high, None, axis, zero=True), class_="bar"),
            tag("td", box_words(low, high), class_="n"),
        )
        for name, low, high in boxes
    ]
    heads = ["Margin" if not shown[0][0] else "Class", "Drawn, with a line at 0", ("Between", "n")]
    return table("The best margin of any weights lies in the box", heads, rows, "bars")


def box_words(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"at least {number(low)}" if low is not None else f"at most {number(high)}"
    return f"{number(low)} and {number(high)}"


def in_a_line(result: Result) -> str:
    """The certificate in one line, or nothing."""
    said = items(result, "certificate_words")
    if said:
        return str(said[0])
    found = certificates(result)
    if not found:
        return ""
    decided = [one for one in found.values() if one.get("separable") is not None]
    yes = sum(bool(one["separable"]) for one in decided)
    if len(found) > 1:
        return f"{count(yes)} of {many(len(found), 'class', 'classes')} can be separated from the rest."
    updates, bound = (next(iter(found.values())).get(key) for key in ("updates", "bound"))
    if updates is None or bound is None:
        return ""
    return f"{count(updates)} updates; the theorem allows {bound_of(next(iter(found.values())))}."
