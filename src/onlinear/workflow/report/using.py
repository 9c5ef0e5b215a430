"""How to use the model, ready to be copied, and the small print: what is needed to do it all again."""

from __future__ import annotations

from onlinear.workflow.report.markup import Html, join, paragraph, shorten, tag, terms
from onlinear.workflow.report.numbers import finite, seconds
from onlinear.workflow.report.result import Result, items, part


def use(result: Result) -> Html:
    found = part(result, "use")
    parts = []
    for key, said in (("command", "On the command line:"), ("python", "In Python:")):
        if found.get(key):
            parts += [paragraph(said), copyable(found[key])]
    return join(parts) if parts else paragraph("No model was saved.", class_="quiet")


def copyable(text: object) -> Html:
    """Text with a button; the button shows only where the script runs that makes it work."""
    button = tag("button", "Copy", type="button", hidden=True)
    return tag("div", tag("pre", tag("code", text)), button, class_="copy")


def small_print(result: Result) -> Html:
    """Versions, digests and times, and how to repeat it."""
    asked, data, files = part(result, "asked"), part(result, "data"), part(result, "files")
    known = [
        ("version", f"onlinear {result['onlinear']}" if result.get("onlinear") else None),
        ("files", ", ".join(shorten(name) for name in items(asked, "files")[:50])),
        ("test files", ", ".join(shorten(name) for name in items(asked, "test_files")[:50])),
        ("target", shorten(asked.get("target"), 120)),
        ("time column", shorten(asked.get("time"), 120)),
        ("group column", shorten(asked.get("group"), 120)),
        ("split", part(data, "split").get("kind")),
        ("seed", asked.get("seed")),
        ("SHA-256 of the data", tag("code", data["sha256"]) if data.get("sha256") else None),
        ("time", seconds(result.get("seconds")) if finite(result.get("seconds")) is not None else None),
        *((name, shorten(file, 120)) for name, file in files.items()),
    ]
    pairs = [(name, content) for name, content in known if content is not None and content != ""]
    parts = [terms(pairs, "print") if pairs else paragraph("Nothing was noted.", class_="quiet")]
    if asked.get("command"):
        said = "The same version, data and seed give the same model, to the bit, on the same kind of machine:"
        parts += [tag("h3", "To repeat it"), paragraph(said), copyable(asked["command"])]
    return join(parts)
