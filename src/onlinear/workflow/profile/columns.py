"""A column's profile: its condition in figures, and what is odd about it in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlinear.workflow.profile import ids, words
from onlinear.workflow.profile.edges import edges_of, ranges_for
from onlinear.workflow.profile.gathering import GatheredColumn
from onlinear.workflow.profile.leaks import leak_in, leak_of_numbers
from onlinear.workflow.profile.misread import misread
from onlinear.workflow.profile.numbers import FAR, FEWEST_VALUES, MOST_OUTLIERS, Spread, spread_of

#: values that are told as the most common
COMMON = 5
#: a share of missing cells that is worth a sentence
MANY_MISSING = 0.2


@dataclass(slots=True)
class ColumnProfile:
    """The condition of a column; figures that say nothing of its kind are None.

    ``missing`` is a share. ``distinct`` counts the different values, ``capped`` if there are more than that. ``kind``
    is "number", "category", "text" or, for types that can only be ignored, "other"; ``role`` what the user said it is:
    "feature", "target", "time", "group", "weight" or "ignored". ``bounds`` lie around all numbers but the outliers,
    where these are few; ``edges`` cut numbers with many different values into ranges, about as many of them in each.
    ``whole`` says that all are whole numbers.
    """

    name: str
    kind: str
    role: str = "feature"
    missing: float = 0.0
    distinct: int = 0
    capped: bool = False
    whole: bool = False
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    median: float | None = None
    skew: float | None = None
    outliers: int | None = None
    bounds: tuple[float, float] | None = None
    edges: tuple[float, ...] = ()
    common: list[tuple[str, int]] = field(default_factory=list)
    constant: bool = False
    empty: bool = False
    dates: bool = False
    id: bool = False
    leak: bool = False
    #: dates of which hardly any comes again: as categories they say nothing
    useless: bool = False
    #: the type of a column that would be a feature if it held numbers or texts
    strange: str | None = None
    #: what to say of numbers that are read as texts
    misread: str | None = None
    words: float = 0.0
    #: how often each text comes, None where not all of them are known
    categories: dict[str, int] | None = None
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """The column for JSON."""
        kept = ("name", "role", "kind", "missing", "distinct", "low", "high", "mean", "median", "skew", "outliers")
        flags = ("constant", "id", "leak")
        return {
            **{name: getattr(self, name) for name in kept},
            "common": [list(pair) for pair in self.common],
            **{name: getattr(self, name) for name in flags},
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class TargetSample:
    """A sample of rows, all of which have a target: one column, and the target as codes or as numbers."""

    bits: np.ndarray
    keys: np.ndarray  # by which cells differ
    missing: np.uint64
    target: np.ndarray
    of_classes: bool

    @property
    def present(self) -> np.ndarray:
        return self.bits != self.missing


def column_profile(found: GatheredColumn, role: str, drawn: TargetSample, said: str | None) -> ColumnProfile:
    """The profile of a column from what a pass gathered; ``said`` is the kind that the user gave it."""
    rows = found.absent + found.present
    column = ColumnProfile(found.name, found.kind, role)
    column.missing = found.absent / rows if rows else 0.0
    column.distinct, column.capped = len(found.counts), not found.counts.complete
    column.empty = rows > 0 and not found.present
    column.constant = not column.capped and column.distinct == 1 and not found.absent
    column.whole = found.kind == "number" and found.whole
    if column.empty:
        column.notes.append(f"All values of column {column.name} are missing, so it is ignored.")
        return column
    if column.constant:
        column.notes.append(f"Column {column.name} is {only_value(found)} in all rows.")
    if found.kind == "number":
        add_numbers(column, found, drawn)
    else:
        add_texts(column, found, drawn, said)
    if column.missing >= MANY_MISSING:
        column.notes.append(f"Column {column.name} is missing in {column.missing:.0%} of the rows.")
    if role == "feature" and not column.constant:
        add_suspicion(column, found, drawn)
    if role == "feature" and found.rounded and not (column.id or column.leak or column.constant):
        column.notes.append(
            f"Column {column.name} holds whole numbers from 2^53 on, which are learned rounded to 16 digits: if they "
            "are names, make it a category."
        )
    if role == "feature" and column.bounds is not None and not (column.id or column.leak):
        column.notes.append(outliers_note(column))
    return column


def add_numbers(column: ColumnProfile, found: GatheredColumn, drawn: TargetSample) -> None:
    """What is said of numbers. Median, outliers and edges are a sample's if there are too many different numbers."""
    column.low, column.high = found.low, found.high
    column.mean = found.moments.mean if math.isfinite(found.moments.mean) else None
    column.skew = found.moments.skew
    spread = spread_now(found, drawn)
    column.median, column.outliers = spread.median, spread.outliers
    few = 0 < spread.outliers <= MOST_OUTLIERS * found.present
    if column.distinct > FEWEST_VALUES:
        column.bounds = spread.bounds if few else None
        column.edges = edges_now(found, drawn)
    if column.role == "target" and drawn.of_classes:
        column.common = [(number_text(found, value), count) for value, count in found.counts.most_common(COMMON)]


def spread_now(found: GatheredColumn, drawn: TargetSample) -> Spread:
    """The spread of a column: exact, or that of a sample, with as many outliers as there are then in all rows."""
    if found.counts.complete:
        return spread_of(found.numbers_counted(), found.counts.counts)
    numbers = drawn.bits[drawn.present].view(np.float64)
    spread = spread_of(numbers)
    reach = FAR * spread.deviation
    sure = (found.low < spread.median - reach) + (found.high > spread.median + reach) if spread.deviation else 0
    return spread._replace(outliers=max(sure, round(spread.outliers * found.present / len(numbers))))


def edges_now(found: GatheredColumn, drawn: TargetSample) -> tuple[float, ...]:
    """The edges of a column's ranges: exact, or those of a sample."""
    ranges = ranges_for(found.present)
    if found.counts.complete:
        return edges_of(found.numbers_counted(), ranges, found.counts.counts)
    return edges_of(drawn.bits[drawn.present].view(np.float64), ranges)


def outliers_note(column: ColumnProfile) -> str:
    lie = "1 value of column {} lies" if column.outliers == 1 else f"{column.outliers:,} values of column {{}} lie"
    return (
        f"{lie.format(column.name)} more than {FAR:g} robust deviations from the median {column.median:.6g}: "
        f"they reach from {column.low:.6g} to {column.high:.6g}."
    )


def add_texts(column: ColumnProfile, found: GatheredColumn, drawn: TargetSample, said: str | None) -> None:
    """What is said of texts."""
    texts = list(found.texts.values())
    common = found.counts.most_common(len(found.counts))
    column.common = [(found.texts[value], count) for value, count in common if value in found.texts][:COMMON]
    if found.counts.complete and all(value in found.texts for value, count in common):
        column.categories = {found.texts[value]: count for value, count in common}
    column.words = words.words_in(texts[: words.LOOKED_AT])
    column.dates = words.are_dates(texts)
    if said is None and column.role in ("feature", "target"):
        column.misread = misread(column.name, texts)
        column.notes += [column.misread] if column.misread else []
    prose = words.is_prose(texts, different_share(found, drawn))
    if said == "text" or (said is None and prose):
        column.kind = "text"
        column.common, column.categories = [], None
    if said is None and prose and column.role == "feature":
        column.notes.append(
            f"Column {column.name} holds texts of {column.words:.0f} words on average, nearly all of them different: "
            "they are cut into words."
        )


def add_suspicion(column: ColumnProfile, found: GatheredColumn, drawn: TargetSample) -> None:
    """Whether a column only names the row, or says the target outright."""
    numbers = drawn.bits.view(np.float64) if found.kind == "number" else None
    reason = id_now(column, found, drawn)
    if reason is not None:
        column.id = True
        column.notes.append(f"Column {column.name} names the row rather than says something of it: {reason}.")
    elif column.dates and different_share(found, drawn) >= ids.DIFFERENT:
        column.useless = True
        column.notes.append(
            f"Column {column.name} holds dates, nearly all of them different: name it as the time to learn in "
            "its order."
        )
    elif column.kind != "text":
        look = leak_in if drawn.of_classes else leak_of_numbers
        leak = look(drawn.keys, drawn.missing, numbers, drawn.target)
        if leak is not None:
            column.leak = True
            column.notes.append(
                f"Column {column.name} gives the target away: {leak}, in all {len(drawn.target):,} rows looked at. "
                "Is it known when the target is not? It is left out unless you keep it."
            )


def id_now(column: ColumnProfile, found: GatheredColumn, drawn: TargetSample) -> str | None:
    """Why a column is an id, if it is one."""
    different, rows = different_share(found, drawn), found.present
    if column.kind == "category" and not column.dates:
        return ids.id_of_texts(different, rows, column.words)
    there = drawn.present
    if column.kind != "number" or not found.whole or not there.any():
        return None
    values, target = drawn.bits[there].view(np.float64), drawn.target[there].astype(np.float64)
    return ids.id_of_numbers(column.name, different, rows, found.ascending, values, target)


def different_share(found: GatheredColumn, drawn: TargetSample) -> float:
    """The share of values that are different; that of a sample, if there are too many to count."""
    if found.counts.complete:
        return len(found.counts) / found.present
    values = drawn.keys[drawn.present]
    return len(np.unique(values)) / max(1, len(values))


def only_value(found: GatheredColumn) -> str:
    """The only value of a column."""
    (value,) = found.counts.values.tolist()
    return number_text(found, value) if found.kind == "number" else repr(found.texts[value])


def number_text(found: GatheredColumn, value: int) -> str:
    """A number for people; to the last digit, where that is what it differs by."""
    if value in found.wholes:
        return str(found.wholes[value])
    return f"{float(np.uint64(value).view(np.float64)):.6g}"
