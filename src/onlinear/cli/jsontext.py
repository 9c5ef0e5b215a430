"""JSON that every reader takes: NaN and infinity, for which it has no numbers, are null."""

from __future__ import annotations

import json
import math
from typing import Any


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON.

    >>> json_text({"rmse": float("inf"), "rows": [1, 2.5]})
    '{"rmse": null, "rows": [1, 2.5]}'
    """
    try:
        return json.dumps(value, indent=indent, allow_nan=False)
    except ValueError:
        return json.dumps(with_finite_numbers(value), indent=indent, allow_nan=False)


def with_finite_numbers(value: Any) -> Any:
    """The value with None for each number in it that is not finite."""
    if isinstance(value, dict):
        return {name: with_finite_numbers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [with_finite_numbers(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
