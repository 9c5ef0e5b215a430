"""The result in a few lines for a terminal of 80 columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from onlinear.workflow.report.drift import drift_section
from onlinear.workflow.report.headline import sentence, title
from onlinear.workflow.report.markup import clean, shorten
from onlinear.workflow.report.numbers import (
    count,
    finite,
    format_interval,
    format_weight,
    many,
    plain,
    score,
    seconds,
    share,
)
from onlinear.workflow.report.proof import in_a_line
from onlinear.workflow.report.result import Result, baseline, items, measure, pair, part

WIDTH = 80
_MARGIN = " " * 10


def words(result: Result) -> list[str]:
    """What is worth knowing, in lines of at most 80 columns, without colours or controls.

    >>> words({"asked": {"target": "income"}, "notes": ["There are 24 duplicates."]})[-1]
    'Odd       There are 24 duplicates.'
    """
    lines = [*wrap(f"{title(result)}.", ""), *wrap(sentence(result), "")]
    for name, said in name_and_sentences(result):
        lines += wrap(said, name)
    return lines


def name_and_sentences(result: Result) -> Iterable[tuple[str, str]]:
    """Names with sentences."""
    notes = items(result, "notes")
    if part(result, "test").get("used_before"):
        known = [note for note in notes if str(note).startswith("These test rows")]
        notes = [note for note in notes if note not in known]
        yield "Beware", (known or ["These test rows were used before: the result looks better than it is."])[0]
    for note in notes[:3]:
        yield "Odd", note
    for said in items(result, "recipe"):
        if str(said).startswith("Not learned from"):
            yield "Columns", said
    for name, said in (("Missing", missing_words(result)), ("Outliers", outlier_words(result))):
        if said:
            yield name, said
    winner = part(result, "winner")
    if winner.get("name"):
        yield "Winner", race_words(result, winner)
    others = [
        one
        for one in items(result, "references")
        if one is not baseline(result) and finite(one.get("score")) is not None
    ]
    if others:
        by = measure(result)
        yield (
            "Others",
            "; ".join(f"{shorten(one.get('name'), 40)} {score(one['score'], by)}" for one in others[:5]) + ".",
        )
    heavy = sorted(items(result, "weights"), key=lambda one: -abs(finite(one.get("weight")) or 0.0))[:5]
    if heavy:
        yield "Weights", ", ".join(map(weight_words, heavy)) + "."
    if part(result, "drift"):
        yield "Drift", drift_section(result)
    if in_a_line(result):
        yield "Proven", in_a_line(result)
    files = [str(name) for name in part(result, "files").values() if name]
    if files:
        yield "Files", ", ".join(files)
    if finite(result.get("seconds")) is not None:
        yield "Time", f"{seconds(result['seconds'])}."


def missing_words(result: Result) -> str:
    """In which columns cells are missing, most first; empty if none are."""
    return column_words(result, "missing", "cells in", share)


def outlier_words(result: Result) -> str:
    """Which columns have outliers, most first; empty if none have."""
    return column_words(result, "outliers", "values in", count)


def column_words(result: Result, key: str, what: str, shown: Callable[[Any], str]) -> str:
    """How much of something the columns have that are not ignored."""
    amounts = [
        (finite(column.get(key)) or 0.0, column)
        for column in items(result, "columns")
        if column.get("role") != "ignored"
    ]
    found = sorted((pair for pair in amounts if pair[0] > 0.0), key=lambda pair: -pair[0])
    if not found:
        return ""
    listing = ", ".join(f"{shorten(column.get('name'), 40)} {shown(amount)}" for amount, column in found[:5])
    more = ", ..." if len(found) > 5 else "."
    return f"{what} {count(len(found))} of {many(len(amounts), 'column')}: {listing}{more}"


def race_words(result: Result, winner: Result) -> str:
    run = part(result, "race")
    by = run.get("by") or measure(result)
    said = f"{shorten(winner['name'], 100)}"
    if finite(winner.get("score")) is not None:
        said += f": {score(winner['score'], by)}"
        said += f" ({format_interval(winner['interval'], by)})" if pair(winner.get("interval")) else ""
    entries = items(run, "configurations")
    return f"{said}, best of {count(len(entries))}." if len(entries) > 1 else f"{said}."


def weight_words(one: Result) -> str:
    of = f" for {shorten(one['class'], 30)}" if one.get("class") is not None else ""
    return f"{shorten(one.get('name'), 40)} {format_weight(one.get('weight'))}{of}"


def wrap(text: str, name: str) -> list[str]:
    """The text in lines that a terminal can show; the name stands in the margin of the first."""
    margin = _MARGIN if name else ""
    room = WIDTH - len(margin)
    lines, line = [], ""
    for word in re.split("[ \\t\\r\\n]+", clean(text).strip()):  # not at spaces within numbers
        for piece in pieces(printable(plain(word)), room):
            if line and columns(line) + 1 + columns(piece) > room:
                lines.append(line)
                line = piece
            else:
                line = f"{line} {piece}" if line else piece
    lines.append(line)
    return [(name.ljust(len(margin)) if k == 0 else margin) + line for k, line in enumerate(lines)]


def printable(word: str) -> str:
    """The word with a mark for each character that a terminal may take for a command, or does not know."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in word)


def pieces(word: str, room: int) -> Iterable[str]:
    """A word, cut where it is wider than a line."""
    piece = ""
    for letter in word:
        if columns(piece + letter) > room:
            yield piece
            piece = ""
        piece += letter
    yield piece


def columns(text: str) -> int:
    """How wide a terminal shows a text: Chinese characters are two columns wide."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
