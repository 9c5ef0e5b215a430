"""The result of a selection, read with care: any value may be null, and a list may be empty."""

from __future__ import annotations

from typing import Any

from onlinear.workflow.report.numbers import finite

Result = dict[str, Any]


def part(result: Result, name: str) -> Result:
    """A part of a result that is a dict, or an empty one."""
    found = result.get(name)
    return found if isinstance(found, dict) else {}


def items(result: Result, name: str) -> list[Any]:
    """A part of a result that is a list, or an empty one."""
    found = result.get(name)
    return [item for item in found if item is not None] if isinstance(found, list) else []


def is_regression(result: Result) -> bool:
    return part(result, "asked").get("task") == "regression"


def measure(result: Result) -> str:
    """What counts: the error, or the rmse of a regression."""
    return "rmse" if is_regression(result) else "error"


def error_on_test_rows(result: Result) -> float | None:
    """The error or rmse on the test rows."""
    return finite(part(result, "test").get(measure(result)))


def pair(given: Any) -> tuple[float, float] | None:
    """The two ends of an interval, the lower first."""
    if not isinstance(given, list | tuple) or len(given) != 2:
        return None
    low, high = finite(given[0]), finite(given[1])
    return None if low is None or high is None else (min(low, high), max(low, high))


def points(given: Any) -> list[tuple[float, float]]:
    """The points of a curve that can be drawn."""
    found = [pair_of for pair_of in given or [] if isinstance(pair_of, list | tuple) and len(pair_of) == 2]
    known = [(finite(x), finite(y)) for x, y in found]
    return [(x, y) for x, y in known if x is not None and y is not None]


def baseline(result: Result) -> Result:
    """The reference that looks at no feature, or an empty dict."""
    found = [one for one in items(result, "references") if one.get("name") in ("majority class", "mean")]
    return found[0] if found else {}


BASELINES = {
    "majority class": "always answering the most frequent class",
    "mean": "always answering the mean",
}


def positive(result: Result) -> str | None:
    """The class that positive scores stand for: the second of two."""
    labels = items(part(part(result, "test"), "confusion"), "labels")
    return str(labels[1]) if len(labels) == 2 else None


def thin_points(drawn: list[tuple[float, float]], most: int = 300) -> list[tuple[float, float]]:
    """At most so many points, the first and the last among them."""
    if len(drawn) <= most:
        return drawn
    return [drawn[k * (len(drawn) - 1) // (most - 1)] for k in range(most)]
