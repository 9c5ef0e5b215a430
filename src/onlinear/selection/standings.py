"""Standings: how the configurations of a race have done, best first, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from onlinear.errors import Refused
from onlinear.learning.configuration import Configuration
from onlinear.registry import LOSSES, RULES, name_of
from onlinear.selection.intervals import wilson
from onlinear.selection.race import Outcome, Race, RaceTask

#: columns of a terminal
WIDTH = 80


class Place(NamedTuple):
    """A configuration, how far it has come, and on how many rows it was judged."""

    rank: int
    configuration: Configuration
    finish: Outcome
    rows: int
    interval: tuple[float, float] | None  # of the error, with 95 % confidence; None for numbers, or if it diverged


class Comparison(NamedTuple):
    """How configurations were compared: over so many rows, by how many folds, in how many passes."""

    rows: int
    folds: int = 0
    passes: int = 1


class Standings:
    """The configurations of a race, best first: ``print`` shows the table."""

    def __init__(
        self, configurations: Sequence[Configuration], finishes: Sequence[Outcome], task: RaceTask, how: Comparison
    ) -> None:
        self.task = task
        self.how = how
        self.places = [
            self._place(rank, configurations[finish.number], finish) for rank, finish in enumerate(finishes, 1)
        ]

    @classmethod
    def of(cls, race: Race, how: Comparison) -> Standings:
        """Those of a race as it stands."""
        return cls(race.configurations, race.finishes(), race.task, how)

    def _place(self, rank: int, one: Configuration, finish: Outcome) -> Place:
        rows = rows_judged(finish.stopped_at, self.how.rows)
        sound = bool(self.task.classes) and rows > 0 and math.isfinite(finish.score)
        interval = wilson(min(round(finish.score * rows), rows), rows) if sound else None
        return Place(rank, one, finish, rows, interval)

    @property
    def best(self) -> Configuration:
        """The configuration that won."""
        return self.places[0].configuration

    def __len__(self) -> int:
        return len(self.places)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<{self._title()}; best: {self.best.name}>"

    def _title(self) -> str:
        judged_by = f"{self.how.folds}-fold" if self.how.folds else "progressive"
        passes = f", {self.how.passes} passes" if self.how.passes > 1 else ""
        many = f"{len(self.places)} configuration{'s' * (len(self.places) != 1)}"
        return f"race of {many} over {self.how.rows:,} rows: {judged_by} {self.task.measure}{passes}"

    def table(self, most: int | None = None) -> str:
        """The best (so many of them, or all) as plain text, 80 columns wide."""
        return "\n".join(self._lines(self.places[:most]))

    def _lines(self, places: Sequence[Place]) -> Iterator[str]:
        classes = bool(self.task.classes)
        yield self._title()
        some_stopped = any(place.finish.stopped_at is not None for place in self.places)
        interval, at = "  95 % interval" * classes, "  stopped at" * some_stopped
        yield f"rank  {self.task.measure:>8}{interval}{at}  configuration"
        for place in places:
            limits = f"  {span(place.interval):>13}" * classes
            stopped = f"  {'' if place.finish.stopped_at is None else format(place.finish.stopped_at, ','):>10}"
            head = f"{place.rank:>4}  {self._score(place.finish.score):>8}{limits}{stopped * some_stopped}  "
            yield from wrap(place.configuration.name, WIDTH, initial_indent=head, subsequent_indent=" " * len(head))
        if len(places) < len(self.places):
            yield f"and {len(self.places) - len(places)} more"

    def _score(self, score: float) -> str:
        if not math.isfinite(score):
            return "diverged" if score == math.inf else "-"
        return f"{100.0 * score:.2f} %" if self.task.classes else f"{score:.5g}"

    def frame(self) -> Any:
        """The same as a pandas frame: a row for each configuration, with its parameters in columns."""
        try:
            import pandas
        except ImportError:
            raise Refused("a frame is made by pandas, which is not installed: pip install pandas") from None
        chosen = [place.configuration for place in self.places]
        names = dict.fromkeys(name for one in chosen for name in one.parameters())
        if any("rate" in one.rule._fields for one in chosen):  # a rate is worth knowing
            names["rate"] = None
        return pandas.DataFrame([self._record(place, names) for place in self.places]).set_index("rank")

    def _record(self, place: Place, parameters: Iterable[str]) -> dict[str, Any]:
        low, high = place.interval or (math.nan, math.nan)
        one, limits = place.configuration, {"low": low, "high": high} if self.task.classes else {}
        return {
            "rank": place.rank,
            "number": place.finish.number,
            "configuration": one.name,
            self.task.measure: place.finish.score,
            **limits,
            "rows": place.rows,
            "stopped_at": math.nan if place.finish.stopped_at is None else place.finish.stopped_at,
            "loss": name_of(one.loss, LOSSES) or type(one.loss).__name__,
            "rule": name_of(one.rule, RULES) or type(one.rule).__name__,
            **{name: one.value_of(name) for name in parameters},
        }


def rows_judged(stopped_at: int | None, rows: int) -> int:
    """On how many rows the last figure stands: those of the pass in which it stopped, or of a whole one."""
    if stopped_at is None or rows == 0:
        return rows
    return (stopped_at - 1) % rows + 1


def span(interval: tuple[float, float] | None) -> str:
    """An interval of shares in per cent."""
    return "" if interval is None else f"{100.0 * interval[0]:.2f}-{100.0 * interval[1]:.2f}"
