"""Profile: the condition of a table's columns, by one pass over it, and what splitting its rows needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onlinear.errors import BadLine, BadSource, OnlinearError
from onlinear.streams.columns import position_of
from onlinear.streams.options import ReadOptions, takes_read_options
from onlinear.streams.stream import OnBad, check_on_bad
from onlinear.streams.tables import label_of
from onlinear.workflow.profile.cells import OpenTable, open_cells
from onlinear.workflow.profile.columns import ColumnProfile, TargetSample, column_profile
from onlinear.workflow.profile.contents import digest_of
from onlinear.workflow.profile.gathering import GatheredColumn, Pass, gather_columns
from onlinear.workflow.profile.splitting import groups_of, times_of
from onlinear.workflow.profile.targets import Target, codes_of, target_of

#: a share of duplicates that is worth a sentence
MANY_DUPLICATES = 0.01


@dataclass(frozen=True, slots=True)
class Profile:
    """What is in a table.

    ``columns`` are in the order of the table. ``times`` can be sorted and ``groups`` are codes, a number for each row,
    None where nobody asked. ``notes`` say what is odd, the most important first. ``reading`` are the options with which
    :func:`onlinear.open_stream` reads the same cells.
    """

    sources: list[Any]
    format: str
    rows: int
    duplicates: int
    sha256: str
    columns: list[ColumnProfile]
    target: Target
    times: np.ndarray | None
    groups: np.ndarray | None
    notes: list[str]
    reading: dict[str, Any] = field(default_factory=dict)
    bad_lines: int = 0

    def column(self, name: str | int) -> ColumnProfile:
        """The column of a name, or else by its number."""
        return self.columns[position_of([column.name for column in self.columns], name)]


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What the user says of columns, by their names."""

    target: str
    time: str | None
    group: str | None
    weight: str | None
    ignore: tuple[str, ...]
    text: tuple[str, ...]
    categories: tuple[str, ...]

    def role(self, name: str) -> str:
        roles = {self.weight: "weight", self.group: "group", self.time: "time", self.target: "target"}
        return roles.get(name, "ignored" if name in self.ignore else "feature")

    def kind(self, name: str) -> str | None:
        """The kind that a column has to have."""
        return "text" if name in self.text else "category" if name in self.categories else None


@takes_read_options(profiled=True)
def profile_of(
    source: Any,
    *,
    time: str | int | None = None,
    group: str | int | None = None,
    task: str | None = None,
    seed: int = 0,
    on_bad: OnBad | None = None,
    **options: Any,
) -> Profile:
    """The condition of a table's columns, by one pass over it in memory that hardly grows (some 16 bytes a row).

    Parameters
    ----------
    source : CSV files, compressed or not, Parquet or Arrow files, or a frame of pandas, polars or Arrow
    time, group : columns that are no features: when a row came, and which rows belong together
    task : "classification" or "regression"; by default texts and up to 20 different whole numbers are classes
    seed : of the sample by which medians of many different numbers, ids and leaks are told
    on_bad : called with every bad line instead of ending with the first one
    {options}
    """
    bad = BadLineCounter(on_bad)
    reading = ReadOptions(**options)
    cells = open_cells(source, reading)
    asked = asked_for(cells, time, group, reading)
    whole = [name for name in {asked.target, asked.time, asked.group} if name is not None and name not in cells.strange]
    found = gather_columns(cells, whole, [asked.target], seed, bad if on_bad is not None else None)
    if not found.rows:
        raise BadSource(f"{label_of(cells.sources[0])}: has no rows: there is nothing to learn from")
    goal = target_of(
        found.columns[cells.place(asked.target)], found.whole(asked.target), found.whole_keys(asked.target), task
    )
    columns = columns_of(cells, found, asked, goal)
    is_file = isinstance(cells.sources[0], str)
    profile = Profile(
        cells.sources,
        cells.format,
        found.rows,
        found.duplicates(),
        digest_of(cells.sources) if is_file else found.digest(),
        columns,
        goal,
        None if asked.time is None else times_of(cells, found, asked.time, bad.count),
        None if asked.group is None else groups_of(found, asked.group),
        [],
        reading_of(cells, asked, is_file),
        bad.count,
    )
    profile.notes.extend(notes_of(profile))
    return profile


class BadLineCounter:
    """Bad lines, handed on and counted."""

    def __init__(self, on_bad: OnBad | None) -> None:
        check_on_bad(on_bad)
        self.count = 0
        self._on_bad = on_bad

    def __call__(self, line: BadLine, text: bytes) -> None:
        self.count += 1
        assert self._on_bad is not None
        self._on_bad(line, text)


def asked_for(cells: OpenTable, time: str | int | None, group: str | int | None, options: ReadOptions) -> ColumnOptions:
    """What the user says of columns; each has one role at most."""
    names = [column.name for column in cells.table.columns]

    def named(wanted: str | int) -> str:
        return names[position_of(names, wanted)]

    one = {"target": cells.target}
    for role, wanted in (("time", time), ("group", group), ("weight", options.weight)):
        if wanted is not None:
            one[role] = named(wanted)
    several = {"ignore": options.ignore, "text": options.text, "categories": options.categories}
    many = {role: tuple(map(named, wanted)) for role, wanted in several.items()}
    many["ignore"] += tuple(name for name in cells.index if name not in one.values())
    uses = list(one.items()) + [(role, name) for role in ("ignore", "text") for name in many[role]]
    seen: dict[str, str] = {}
    for role, name in uses:
        if seen.setdefault(name, role) != role:
            raise OnlinearError(f"column {name!r} cannot be {seen[name]} and {role} at once: choose one")
    for role in ("group", "weight", "text"):
        for name in [one[role]] if role in one else many.get(role, ()):
            if name in cells.strange:
                raise OnlinearError(f"column {name!r} is of the type {cells.strange[name]}, and can be no {role}")
    for name in many["text"]:
        if cells.columns[cells.place(name)].kind == "number":
            raise OnlinearError(
                f"column {name!r} holds numbers, so there are no words in it: leave it out of the texts"
            )
    check_weight(cells, one.get("weight"))
    return ColumnOptions(one["target"], one.get("time"), one.get("group"), one.get("weight"), **many)


def check_weight(cells: OpenTable, name: str | None) -> None:
    if name is not None and cells.columns[cells.place(name)].kind != "number":
        raise OnlinearError(f"the weight {name!r} holds texts: take a column of numbers of at least 0")


def columns_of(cells: OpenTable, found: Pass, asked: ColumnOptions, goal: Target) -> list[ColumnProfile]:
    """The profile of each column."""
    sample, keys, place = found.sample.bits, found.sampled_keys, cells.place(asked.target)
    wanted, there = drawn_target(found.columns[place], sample[place], keys[place], cells.missing[place], goal)
    of_classes = goal.task == "classification"
    by_name = {
        gathered_.name: (gathered_, TargetSample(bits[there], own[there], missing, wanted, of_classes))
        for gathered_, bits, own, missing in zip(found.columns, sample, keys, cells.missing, strict=True)
    }
    columns = []
    for name, _ in cells.table.columns:
        if name in cells.strange:
            columns.append(strange_column(name, cells.strange[name], asked.role(name)))
        else:
            columns.append(column_profile(by_name[name][0], asked.role(name), by_name[name][1], asked.kind(name)))
    return columns


def drawn_target(
    column: GatheredColumn, bits: np.ndarray, keys: np.ndarray, missing: np.uint64, goal: Target
) -> tuple[np.ndarray, np.ndarray]:
    """The target of the rows of a sample that have one, as codes or numbers, and which rows those are."""
    there = bits != missing
    if goal.task == "regression":
        return bits[there].view(np.float64), there
    return codes_of(keys[there], column.counts.values), there


def strange_column(name: str, type_name: str, role: str) -> ColumnProfile:
    """A column that nothing can be learned from."""
    column = ColumnProfile(name, "other", "ignored" if role == "feature" else role)
    if role == "feature":
        column.strange = type_name
        column.notes.append(f"Column {name} is of the type {type_name}, neither numbers nor texts, so it is ignored.")
    return column


def reading_of(cells: OpenTable, asked: ColumnOptions, is_file: bool) -> dict[str, Any]:
    """How a stream reads the same cells, but for what becomes of the columns."""
    options: dict[str, Any] = {"target": asked.target, "missing": cells.table.missing}
    if is_file:
        options["format"] = cells.format
    if cells.format == "csv":
        options |= {name: getattr(cells.table, name) for name in ("header", "delimiter", "quoted")}
    return options | {"weight": asked.weight, "categories": asked.categories}


def notes_of(profile: Profile) -> list[str]:
    """What is odd about the table as a whole; leaks and misread numbers come first, as they spoil everything."""
    leaks = [note for column in profile.columns if column.leak for note in column.notes if "away" in note]
    notes = leaks + [column.misread for column in profile.columns if column.misread] + profile.target.notes
    if profile.bad_lines:
        lines = (
            "1 line could not be read, and is"
            if profile.bad_lines == 1
            else f"{profile.bad_lines:,} lines could not be read, and are"
        )
        notes.append(f"{lines} left out.")
    if profile.duplicates:
        rows = "1 row is" if profile.duplicates == 1 else f"{profile.duplicates:,} rows are"
        tested = profile.duplicates >= MANY_DUPLICATES * profile.rows
        hint = ": such rows may be both learned and tested, which flatters" if tested else ""
        notes.append(f"{rows} the same as another one{hint}.")
    if profile.rows < 100:
        notes.append(f"There are only {profile.rows} rows: whatever is measured on them is rough.")
    return notes
