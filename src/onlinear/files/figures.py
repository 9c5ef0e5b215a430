"""The figures of a model file: nothing is restored from them, but people and commands read them."""

from __future__ import annotations

from typing import Any

from onlinear.errors import BadModel
from onlinear.files.container import Header
from onlinear.streams.packing import is_number


def check_figures(header: Header) -> None:
    """Refuse figures of another form than we write: counts, the updates perhaps of each output, and a loss."""
    figures = header["figures"]
    updates = figures["updates"] if type(figures["updates"]) is list else [figures["updates"]]
    fine = type(header["onlinear"]) is str and all(map(is_count, [figures["examples"], figures["mistakes"], *updates]))
    if not fine or not (is_number(figures["loss"]) or type(figures["loss"]) is dict):
        raise BadModel(f"the model's figures are {figures!r:.80}: it is not one that we wrote")


def is_count(value: Any) -> bool:
    return type(value) is int and is_number(value) and value >= 0


def checked_passes(starts: Any) -> list[tuple[int, int]]:
    """How many updates and mistakes there were when each pass began."""
    if (
        type(starts) is not list
        or not starts
        or not all(type(pair) in (tuple, list) and len(pair) == 2 and all(map(is_count, pair)) for pair in starts)
    ):
        raise BadModel(f"the model's passes began at {starts!r:.80}: it is not one that we wrote")
    return starts
