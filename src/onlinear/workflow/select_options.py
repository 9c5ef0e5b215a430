"""What is asked of a selection: files, columns, and every choice that is not left to it."""

from __future__ import annotations

import json
import math
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from onlinear.errors import BadInput, Refused
from onlinear.streams.options import DEFAULTS, ReadOptions, read_options
from onlinear.streams.packing import is_number
from onlinear.system.paths import printable
from onlinear.workflow.run import MOST_PASSES

#: seeds there are: what is drawn by rows mixes their numbers with 64 bits
SEEDS = 1 << 64
#: what to do when a stream in time order drifts
ON_DRIFT = ("ignore", "reset", "faster")


@dataclass(slots=True)
class SelectOptions:
    """All options of ``onlinear select``; a result has them, so that it can be repeated."""

    files: list[str]
    reading: ReadOptions = DEFAULTS
    test_files: list[str] = field(default_factory=list)
    time: str | int | None = None
    in_order: bool = False  # the rows are in the order of time as they stand
    group: str | int | None = None
    keep: list[str | int] = field(default_factory=list)
    task: str | None = None
    names: str | None = None
    scale: str | None = None
    clip: bool = True
    ranges: bool | None = None  # whether numbers also give the range they lie in; None: with many rows, in no order
    losses: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    configurations: int = 0  # how many are drawn from the grid; 0: all
    folds: int | None = None
    passes: int | None = None
    test_share: float = 0.2
    replicates: int = 30
    on_drift: str = "ignore"
    seed: int = 0
    references: bool = True

    @classmethod
    def of(cls, files: Sequence[str], **options: Any) -> SelectOptions:
        """What options by their names ask for, those of reading among them; one of these without a value says nothing.

        >>> SelectOptions.of(["rows.csv"], target="y", folds=5).reading.target
        'y'
        """
        reading = {name: options.pop(name) for name in profiled_options() if name in options}
        said = {name: value for name, value in reading.items() if value not in (None, [])}
        return cls(list(files), ReadOptions(**said), **options)

    @classmethod
    def from_result(cls, path: str | Path, files: Sequence[str], test_files: Sequence[str]) -> SelectOptions:
        """What was asked of a selection whose result was written as JSON; the files are those that the user names.

        A result may be a stranger's: it does not decide what is read.
        """
        try:
            result: Any = result_in(path)
            said = result["asked"]["options"]
            kinds = get_type_hints(cls) | profiled_options()
            del kinds["reading"]
            for name, value in said.items():
                if name in kinds and not is_of_kind(value, kinds[name]):
                    raise TypeError(f"{name} is {value!r:.40}")
            if type(result["data"]["sha256"]) is not str:
                raise TypeError("it does not say of which data it is")
            asked = cls.of(**{name: value for name, value in said.items() if name in kinds})
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadInput(f"{path}: is not the result of a selection that could be repeated ({error!r:.80})") from None
        if (asked.passes or 0) > MOST_PASSES:
            raise Refused(f"{path} would make {asked.passes:,} passes: say --passes {asked.passes}, and not --repeat")
        if not files or bool(test_files) != bool(asked.test_files):
            names = [*asked.files, *(word for file in asked.test_files for word in ("--test", file))]
            raise Refused(
                f"a result is not trusted to say what is read: name its files again, as in "
                f"onlinear select {printable(shlex.join(names))} --repeat {printable(path)}"
            )
        asked.files, asked.test_files = list(files), list(test_files)
        return asked

    def options(self) -> dict[str, Any]:
        """All of them by their names."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "reading"}
        return own | {name: getattr(self.reading, name) for name in profiled_options()}

    def check(self) -> None:
        """Refuse what cannot be done at once."""
        if not 0 <= self.seed < SEEDS:
            raise Refused(f"--seed is {self.seed!r:.60}: give a whole number from 0 to {SEEDS - 1}")
        for option, names in (("--loss", self.losses), ("--rule", self.rules)):
            for name, count in Counter(names).items():
                if count > 1:
                    raise Refused(f"{option} {name!s:.60} is there {count:,} times: name it once")
        in_order = "--in-order" if self.in_order else "--time"
        if not self.in_order and self.time is None:
            if self.on_drift != "ignore":
                raise Refused("--on-drift is for rows in the order of time: add --time COLUMN or --in-order")
            return
        if self.in_order and self.time is not None:
            raise Refused("--time and --in-order both say how the rows are ordered: leave out one of them")
        for name, is_said in (
            ("--folds", bool(self.folds)),
            ("--passes", (self.passes or 1) > 1),
        ):
            if is_said:
                raise Refused(
                    f"with {in_order} rows are learned once, each judged before, and the last are tested, so there is "
                    f"no {name}: leave out one of them"
                )


def profiled_options() -> dict[str, Any]:
    """The reading options that a selection has, with the types of their values."""
    hints = get_type_hints(ReadOptions)
    return {name: hints[name] for name, option in read_options().items() if option.profiled}


def is_of_kind(value: Any, kind: Any) -> bool:
    """Whether a value read from JSON is what an annotation says.

    >>> is_of_kind(["a", 1], list[str | int]), is_of_kind(True, int), is_of_kind(None, str | None)
    (True, False, True)
    """
    if get_origin(kind) in (list, tuple):
        return type(value) is list and all(is_of_kind(each, get_args(kind)[0]) for each in value)
    if get_args(kind):  # a union
        return any(is_of_kind(value, each) for each in get_args(kind))
    if kind is float:
        return is_number(value) and math.isfinite(value)
    return type(value) is kind


def result_in(path: str | Path) -> Any:
    if not Path(path).is_file() and Path(path).exists():
        raise OSError("it is no file")
    return json.loads(Path(path).read_text(encoding="utf-8"))
