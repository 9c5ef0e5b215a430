"""The whole page: one file that needs nothing else."""

from __future__ import annotations

from onlinear.workflow.report.columns import data, recipe
from onlinear.workflow.report.drift import drift
from onlinear.workflow.report.headline import headline, title
from onlinear.workflow.report.markup import Html, tag
from onlinear.workflow.report.proof import certificate
from onlinear.workflow.report.race import race
from onlinear.workflow.report.result import Result
from onlinear.workflow.report.style import POLICY, SCRIPT, STYLE
from onlinear.workflow.report.tested import test
from onlinear.workflow.report.using import small_print, use
from onlinear.workflow.report.weights import path, weights
from onlinear.workflow.report.worst import worst

SECTIONS = (
    ("data", "The data", data),
    ("recipe", "The recipe", recipe),
    ("race", "The race", race),
    ("test", "The test", test),
    ("weights", "The weights that matter", weights),
    ("path", "How few features do", path),
    ("drift", "Drift", drift),
    ("certificate", "What is proven", certificate),
    ("worst", "What it got most wrong", worst),
    ("use", "How to use the model", use),
    ("print", "Small print", small_print),
)


def page(result: Result) -> str:
    """The result of a selection as one HTML page, for a screen of any width and for paper.

    It loads nothing and reads well without its few lines of script; whatever the data hold stays text.

    >>> page({"asked": {"target": "<b>income</b>"}}).count("<b>")
    0
    """
    written = [(name, heading, section(result)) for name, heading, section in SECTIONS]
    shown = [(name, heading, body) for name, heading, body in written if body]
    links = (tag("li", tag("a", heading, href=f"#{name}")) for name, heading, _ in shown)
    main = tag(
        "main",
        headline(result),
        tag("nav", tag("ul", *links), aria_label="Contents"),
        *(tag("section", tag("h2", heading), body, id=name) for name, heading, body in shown),
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Html(POLICY)),
        tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title(result)),
        tag("style", Html(f"\n{STYLE}\n")),
    )
    whole = tag("html", head, "\n", tag("body", main, tag("script", Html(SCRIPT))), lang="en")
    return f"<!doctype html>\n{whole}\n"
