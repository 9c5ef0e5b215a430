"""``onlinear inspect``: what is in a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onlinear.cli import arguments as cli
from onlinear.cli.ending import ending
from onlinear.cli.jsontext import json_text
from onlinear.learning.progress import align_columns
from onlinear.system.paths import printable_lines


def inspect(model: cli.ModelFile, top: cli.Top = 20, as_json: cli.AsJson = False) -> None:
    """Show what is in a model: recipe, counters, and the largest weights by name."""
    with ending():
        from onlinear.files.trained import open_model
        from onlinear.workflow.inspection import inspect_model

        found = inspect_model(open_model(model), top)
        print(json_text(found, indent=2) if as_json else printable_lines(words_of(found)))


def words_of(found: dict[str, Any]) -> Iterator[str]:
    """What was found, for people."""
    figures = found["figures"]
    yield f"{found['holds']} of onlinear {found['onlinear']}{', slim' * found['slim']}: {found['task']}"
    if found["unfinished"] is not None:
        yield "It stopped on its way: go on with onlinear train FILE... --resume MODEL"
    if found["classes"] is not None:
        yield f"classes: {join_things(found['classes'])}"
    if "kernel" in found:
        yield f"learner: {found['learner']}, answers by: {found['vote']}"
        yield f"kernel: {call_of(found['kernel'])}"
    for what in ("loss", "rule") if "loss" in found else ():
        yield f"{what}: {call_of(found[what])}"
    yield f"learned: {figures['examples']:,} examples, loss {figures['loss']:.4f}" + mistakes_of(found)
    (name,) = found["recipe"]["format"]
    yield f"format: {name}, scaled by {found['recipe']['scaling'] or 'nothing'}"
    for stage, state in found["recipe"].get("stages", {}).items():
        yield f"then: {call_of({'name': stage.replace('_', ' '), **state})}"
    if "kernel" in found:
        yield from kept_words(found)
        return
    yield f"weights that are not 0: {found['weights']:,}, norm {found['norm']:.6g}"
    yield f"intercept: {', '.join(f'{value:.6g}' for value in found['intercepts'])}"
    yield from collision_words(found["collisions"])
    if found["largest"]:
        yield "largest weights:"
        yield from align_columns([weight_cells(each) for each in found["largest"]])


def kept_words(found: dict[str, Any]) -> Iterator[str]:
    """What a model keeps that answers by its examples."""
    budget = "" if found["budget"] is None else f", of a budget of {found['budget']:,}"
    yield f"kept examples: {found['kept']:,}{budget}, with {found['columns']:,} columns each"
    updates = found["figures"]["updates"]
    yield f"updates: {updates:,}" if isinstance(updates, int) else f"updates: {join_things(updates)}, class by class"
    yield f"largest K(x, x): {found['largest_kernel']:.6g}"


def mistakes_of(found: dict[str, Any]) -> str:
    return "" if found["classes"] is None else f", {found['figures']['mistakes']:,} mistakes"


def weight_cells(each: dict[str, Any]) -> list[str]:
    name = " or ".join(each["names"]) or f"cell {each['column']}"
    return [*([str(each["class"])] if "class" in each else []), f"{each['weight']:+.6g}", name]


def collision_words(found: dict[str, Any] | None) -> Iterator[str]:
    if found is None:
        return
    if "expected_names" in found:
        about = (
            "more names than can be told"
            if found["expected_names"] is None
            else f"about {found['expected_names']:,} names"
        )
        yield f"cells in use: {found['cells']:,}, for {about} (train with --keep-names to count)"
        return
    yield f"{found['names']:,} names in {found['cells']:,} cells, of which {found['sharing']:,} share theirs"
    for each in found["worst"][:5]:
        pairs = ", ".join(f"{name} ({count:,})" for name, count in zip(each["names"], each["counts"], strict=True))
        yield f"  cell {each['cell']}: {pairs}"


def join_things(things: list[Any]) -> str:
    shown = ", ".join(map(str, things[:20]))
    return shown if len(things) <= 20 else f"{shown}, ... ({len(things)} of them)"


def call_of(described: dict[str, Any]) -> str:
    """
    >>> call_of({"name": "hinge", "margin": 1.0})
    'hinge (margin 1)'
    >>> call_of({"name": "sgd", "schedule": {"name": "power", "rate": 0.5, "power": 0.75}})
    'sgd (schedule power: rate 0.5, power 0.75)'
    """
    name, fields = described["name"], fields_of(described)
    return f"{name} ({', '.join(fields)})" if fields else name


def fields_of(described: dict[str, Any]) -> list[str]:
    """The numbers of a loss or a rule, and its schedule with its own."""
    found = [f"{name} {value:g}" for name, value in described.items() if type(value) in (int, float)]
    for name, value in described.items():
        if isinstance(value, dict):
            found.append(f"{name} {value['name']}" + (f": {', '.join(fields_of(value))}" if fields_of(value) else ""))
    return found
