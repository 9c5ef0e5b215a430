"""Checkpoint: what a model file says of a run that stopped on its way.

Nothing in it is trusted. What it says is checked, and a path in it is only shown: files are read and written where the
user names them.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onlinear.cli.badlines import FAIL, SKIP, Log
from onlinear.errors import BadModel
from onlinear.learning.model import Totals
from onlinear.system.outputs import as_argument, printable
from onlinear.workflow.run import MOST_PASSES, VERSION, Progress

#: whole numbers in a model file
MOST = 1 << 62
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Where a run stopped, and what it was asked for."""

    files: list[str]  # full paths, as they are shown
    passes: int
    checkpoint_every: int
    bad_lines: str  # fail, skip, or the full path of a file
    log: Log | None  # how much of that file is right
    slim: bool
    progress: Progress

    def packed(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self) | {"log": None if self.log is None else self.log._asdict()}

    @classmethod
    def unpacked(cls, packed: Any, totals: Totals) -> Checkpoint:
        """What :meth:`packed` gave; whatever else it may be is refused. ``totals`` are what the model has learned."""
        said = Said(
            packed, "checkpoint", ("files", "passes", "checkpoint_every", "bad_lines", "log", "slim", "progress")
        )
        passes, wish = said.whole("passes", least=1), said.text("bad_lines")
        log = None if said.values["log"] is None else unpacked_log(said.values["log"])
        if (log is None) != (wish in (FAIL, SKIP)):
            raise said.wrong("log")
        return cls(
            said.texts("files"),
            passes,
            said.whole("checkpoint_every"),
            wish,
            log,
            said.flag("slim"),
            unpacked_progress(said.values["progress"], passes, totals),
        )

    def command(self, resume: Path, test: Sequence[str] = ()) -> str:
        """How the run goes on, and is tested at its end, in words that are safe to print."""
        files = [relative(file) for file in self.files]
        words = ["onlinear", "train", *map(as_argument, files), "--resume", as_argument(resume)]
        words += ["--bad-lines", as_argument(relative(self.bad_lines))] if self.log is not None else []
        words += ["--passes", str(self.passes)] if self.passes > MOST_PASSES else []
        words += [word for file in test for word in ("--test", as_argument(file))]
        return " ".join(shlex.quote(printable(word)) for word in words)


def lasting(wish: str) -> str:
    """A wish for bad lines, good in other folders, too."""
    return wish if wish in (FAIL, SKIP) else printable(os.path.abspath(wish))


def relative(path: str) -> str:
    """A full path as one would type it here."""
    found = os.path.relpath(path) if os.path.isabs(path) else path
    return path if found.startswith(os.pardir) else found


def unpacked_log(packed: Any) -> Log:
    said = Said(packed, "file of bad lines", Log._fields)
    return Log(said.whole("size"), said.digest("sha256"))


def unpacked_progress(packed: Any, passes: int, totals: Totals) -> Progress:
    said = Said(packed, "progress", tuple(Progress.__dataclass_fields__))
    number = said.whole("number", least=1, most=passes + 1)
    first = None if number == 1 else said.totals("first", totals)
    if number == 1 and said.values["first"] is not None:
        raise said.wrong("first")
    before = said.totals("before", first or totals)
    digest, whole = said.digest_of_rows("digest"), "" if number == 1 else said.digest_of_rows("whole")
    rows, passed, bad_lines, features = (said.whole(name) for name in ("rows", "passed", "bad_lines", "features"))
    return Progress(number, rows, passed, bad_lines, features, first, before, digest, whole)


class Said:
    """A JSON object of a model file, of which each value has to be of its kind."""

    def __init__(self, packed: Any, what: str, names: tuple[str, ...]) -> None:
        if not isinstance(packed, dict) or set(packed) != set(names):
            raise BadModel(f"its {what} does not have the entries {', '.join(names)}; train anew")
        self.values, self.what = packed, what

    def wrong(self, name: str) -> BadModel:
        return BadModel(f"its {self.what} has {name} {self.values[name]!r:.60}, which cannot be; train anew")

    def whole(self, name: str, least: int = 0, most: int = MOST) -> int:
        found = self.values[name]
        if type(found) is not int or not least <= found <= most:
            raise self.wrong(name)
        return found

    def flag(self, name: str) -> bool:
        found = self.values[name]
        if type(found) is not bool:
            raise self.wrong(name)
        return found

    def text(self, name: str) -> str:
        found = self.values[name]
        if type(found) is not str or not found:
            raise self.wrong(name)
        return found

    def texts(self, name: str) -> list[str]:
        found = self.values[name]
        if type(found) is not list or not found or not all(type(each) is str and each for each in found):
            raise self.wrong(name)
        return found

    def digest(self, name: str) -> str:
        found = self.text(name)
        if not DIGEST.fullmatch(found):
            raise self.wrong(name)
        return found

    def digest_of_rows(self, name: str) -> str:
        """A digest of rows as this version takes it: that of another one would be of other rows, or miss edits."""
        found = self.text(name)
        if DIGEST.fullmatch(found):
            raise BadModel(
                f"its {self.what} is of an older version, whose digest of rows does not tell all edits: "
                "go on with that version, or train anew"
            )
        if not DIGEST.fullmatch(found.removeprefix(VERSION)):
            raise self.wrong(name)
        return found

    def totals(self, name: str, most: Totals) -> Totals:
        """Sums of examples of which there are no more than in others."""
        found = self.values[name]
        kinds = [int, int, float, float]
        if type(found) is not list or [type(each) for each in found] != kinds or not all(map(math.isfinite, found)):
            raise self.wrong(name)
        totals = Totals(*found)
        if not (0 <= totals.examples <= most.examples and 0.0 <= totals.importance <= most.importance):
            raise self.wrong(name)
        if not 0 <= totals.mistakes <= MOST:
            raise self.wrong(name)
        return totals
