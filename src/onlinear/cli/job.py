"""Job: a run with what surrounds it: checkpoints, Ctrl-C, and what is said at the end.

A checkpoint is what a model file says of a run that stopped on its way. Nothing in it is trusted: what it says is
checked, and a path in it is only shown. Files are read and written where the user names them.
"""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onlinear.cli.badlines import FAIL, SKIP, BadLines, Log
from onlinear.cli.ending import Interruptions, interrupted_code, say
from onlinear.cli.progress import SilentProgress
from onlinear.drift.adapting import Adapting
from onlinear.errors import BadInput, BadLine, BadModel, BadSource, Diverged, OnlinearError
from onlinear.files.trained import Trained, save
from onlinear.learning.progress import Totals
from onlinear.streams.sources import expand
from onlinear.system.paths import as_argument, printable
from onlinear.system.places import is_in_place
from onlinear.theory.online_to_batch import FirstPass, bounds_from
from onlinear.workflow.run import MOST_PASSES, VERSION, PassEnd, PassFigures, Progress, Run
from onlinear.workflow.testing import figures_of

NOTHING_LEARNED = "Interrupted before anything was learned: nothing was saved."
NOT_SAVED = "Ended without saving; what was there before is untouched."
SAVING = "Interrupted; saving what was learned. Ctrl-C ends without it."


class Job:
    """A run, its bad lines, and where its model goes."""

    #: whether the first labels come in runs; None where nobody has looked
    label_runs: bool | None = None
    #: why labels are taken for classes or for amounts, where nobody has said it
    task_reason: str | None = None
    #: whether the last save is done, or there was none to do
    is_saved = False

    def __init__(
        self, run: Run, bad: BadLines, watch: SilentProgress, path: Path | None, *, slim: bool, keep: bool
    ) -> None:
        self.run, self.bad, self.watch = run, bad, watch
        self.path, self.slim, self.keep = path, slim, keep
        self.can_go_on = run.stream.total_bytes is not None  # a pipe is read once

    def go(self, test: Sequence[str] = ()) -> None:
        """Run to the end, and save the model; the files to ``test`` on are read later."""
        with self.bad, Interruptions() as interruptions:
            self.watch.begin(self.run)
            try:
                self._steps(interruptions, test)
            except (BadLine, BadSource, Diverged) as error:
                if self.keep:
                    self._save_partial(interruptions, error)
                raise
            finally:
                self.watch.end(self.run)

    def _steps(self, interruptions: Interruptions, test: Sequence[str]) -> None:
        try:
            for due in self.run.steps(interruptions.whole):
                self.watch.update(self.run)
                if due:
                    self._save(unfinished=True)
            self._finish(bool(test))
        except KeyboardInterrupt as error:
            with suppress(KeyboardInterrupt):  # again, if standard output would be waited for
                self.watch.end(self.run)  # a bar would be in the way of what is said
            interruptions.take()
            self._save_interrupted(interruptions, test)
            raise SystemExit(interrupted_code(error)) from None

    def _save_partial(self, interruptions: Interruptions, error: OnlinearError) -> None:
        """Save what was learned before an error, which ends the command even if a signal would."""
        with suppress(KeyboardInterrupt), interruptions.whole():
            self._save(unfinished=not isinstance(error, Diverged))  # it would diverge there again

    def _finish(self, test_follows: bool) -> None:
        """Save the model: before a test as a checkpoint, so that a run which is killed there learns no row twice."""
        if self.run.figures().examples == 0:
            raise BadInput("there are no examples in the files: is there a line that is neither empty nor a comment?")
        if not (test_follows and self.path is not None and is_in_place(self.path)):  # a pipe takes one model only
            self._save(unfinished=test_follows)

    def tested(self, files: list[str]) -> dict[str, Any]:
        """The figures of a test on other files; the model is saved as finished whatever becomes of it."""
        try:
            with Interruptions() as interruptions:
                try:
                    figures = figures_of(self.run.training.snapshot(), self.run.recipe, files)
                    return figures | self._learned_from(files)
                finally:
                    with interruptions.whole():
                        self._save()
        except KeyboardInterrupt as error:
            say(self._how_to_test(files) if self.is_saved else NOT_SAVED)
            raise SystemExit(interrupted_code(error)) from None

    def _learned_from(self, files: list[str]) -> dict[str, list[str]]:
        """Say which of the files to test on the model has just learned from; they are figures of the test, too."""
        learned = [file for file in expand(files) if any(is_same_file(file, known) for known in self.run.stream.files)]
        for file in learned:
            say(f"{file}: the test rows were learned from, so their figures flatter: test on another file")
        return {"learned_from": learned} if learned else {}

    def _how_to_test(self, files: list[str]) -> str:
        if self.path is None:
            return "Interrupted; the test is missing, and nothing was saved, since no --model was named."
        words = ["onlinear", "test", *map(as_argument, [str(self.path), *files])]
        command = " ".join(shlex.quote(printable(word)) for word in words)
        return f"The model is finished and saved; only the test is missing: {command}"

    def _save_interrupted(self, interruptions: Interruptions, test: Sequence[str]) -> None:
        """Save a checkpoint, and say how to go on; a Ctrl-C meanwhile ends that, too."""
        if self.run.figures().examples == 0:
            say(NOTHING_LEARNED)
        elif self.path is None:
            say("Interrupted; nothing was saved, since no --model was named.")
        else:
            say(SAVING)
            try:
                with interruptions.ended_by_ctrl_c():
                    self._save(unfinished=True)
            except KeyboardInterrupt:
                say(NOT_SAVED)
            else:
                say(f"Interrupted; saved. {self._how_to_go_on(self.path, test)}")

    def _how_to_go_on(self, path: Path, test: Sequence[str]) -> str:
        if self.can_go_on:
            return f"To go on: {self._checkpoint().command(path, test)}"
        return (
            f"The model has learned {self.run.progress.rows:,} rows; a pipe cannot be read again, so what comes next "
            f"counts as new: onlinear train - --resume {printable(as_argument(path))}"
        )

    def _save(self, *, unfinished: bool = False) -> None:
        if self.path is not None:
            left = self._checkpoint().pack() if unfinished and self.can_go_on else None
            trained = Trained(self.run.training, self.run.recipe, left)
            self.is_saved = False
            save(self.path, trained, slim=self.slim and not unfinished)
        self.is_saved = True

    def _checkpoint(self) -> Checkpoint:
        """What it takes to go on."""
        return Checkpoint(
            [printable(os.path.abspath(file)) for file in self.run.stream.files],
            self.run.passes,
            self.run.every,
            full_path(self.bad.wanted),
            self.bad.sync(),
            self.slim,
            self.run.progress_now(),
            self.run.seed,
        )

    def document(self, seconds: float) -> dict[str, Any]:
        """All there is to say about the run."""
        training, progress = self.run.training, self.run.progress
        figures, classes = self.run.figures(), training.classes
        return {
            "model": None if self.path is None else str(self.path),
            "files": self.run.stream.files,
            "task": "regression" if classes is None else "classification",
            "task_reason": self.task_reason,
            "classes": None if classes is None else [classes.labels[code] for code in classes.order.tolist()],
            "learner": training.kind,
            "loss": training.loss_name,
            "rule": training.rule_name,
            "passes": self.run.progress.number - 1,
            "converged": self.run.is_at_rest if training.comes_to_rest else None,
            "per_pass": [pass_document(each, classes is not None) for each in self.run.per_pass()],
            "shuffled": self.run.seed,
            "label_runs": self.label_runs,
            "examples": figures.examples,
            "weight_sum": figures.importance,
            "mistakes": None if classes is None else figures.mistakes,
            "progressive_error": None if classes is None else figures.mistakes / figures.examples,
            "progressive_loss": figures.loss,
            "features": progress.features,
            "seconds": seconds,
            "features_per_second": progress.features / seconds,
            "bad_lines": progress.bad_lines,
            "drift": None if training.adapting is None else describe_drift(training.adapting),
        }

    def bounds_on_new_rows(self) -> dict[str, Any] | None:
        """What the first pass proves of new rows, if they are drawn alike; None for numbers."""
        if self.run.training.classes is None:
            return None
        return bounds_from(FirstPass(*self.run.figures()[:2])).document()


def pass_document(figures: PassFigures, has_classes: bool) -> dict[str, Any]:
    """What there is to say about one pass."""
    return {
        "pass": figures.number,
        "updates": figures.updates,
        "mistakes": figures.mistakes if has_classes else None,
        "error": figures.mistakes / figures.examples if has_classes and figures.examples else None,
        "loss": figures.loss,
    }


def is_same_file(one: str, other: str) -> bool:
    """Whether two names are of the same file; standard input is none."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def describe_drift(adapting: Adapting) -> dict[str, Any]:
    """The alarms of a run and the error over time, of all that the model has learned."""
    return {
        "on_drift": adapting.on_drift,
        "detector": adapting.detector_name,
        "alarms": [alarm._asdict() for alarm in adapting.alarms],
        "curve": [{"examples": examples, "error": error} for examples, error in adapting.curve.points()],
    }


#: whole numbers in a model file
MOST = 1 << 62
MOST_SEED = (1 << 64) - 1
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
    shuffled: int | None = None  # the seed, where rows are

    def pack(self) -> dict[str, Any]:
        """All of it as JSON."""
        packed = asdict(self) | {"log": None if self.log is None else self.log._asdict()}
        if self.shuffled is None:  # as older versions wrote it
            del packed["shuffled"]
        return packed

    @classmethod
    def unpack(cls, packed: Any, totals: Totals) -> Checkpoint:
        """What :meth:`packed` gave; whatever else it may be is refused. ``totals`` are what the model has learned."""
        has_seed = isinstance(packed, dict) and "shuffled" in packed
        names = ("files", "passes", "checkpoint_every", "bad_lines", "log", "slim", "progress")
        said = CheckedEntries(packed, "checkpoint", (*names, "shuffled") if has_seed else names)
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
            said.whole("shuffled", most=MOST_SEED) if has_seed else None,
        )

    def command(self, resume: Path, test: Sequence[str] = ()) -> str:
        """How the run goes on, and is tested at its end, in words that are safe to print."""
        files = [relative_path(file) for file in self.files]
        words = ["onlinear", "train", *map(as_argument, files), "--resume", as_argument(resume)]
        words += ["--bad-lines", as_argument(relative_path(self.bad_lines))] if self.log is not None else []
        words += ["--passes", str(self.passes)] if self.passes > MOST_PASSES else []
        words += [word for file in test for word in ("--test", as_argument(file))]
        return " ".join(shlex.quote(printable(word)) for word in words)


def full_path(wish: str) -> str:
    """A wish for bad lines, good in other folders, too."""
    return wish if wish in (FAIL, SKIP) else printable(os.path.abspath(wish))


def relative_path(path: str) -> str:
    """A full path as one would type it here."""
    found = os.path.relpath(path) if os.path.isabs(path) else path
    return path if found.startswith(os.pardir) else found


def unpacked_log(packed: Any) -> Log:
    said = CheckedEntries(packed, "file of bad lines", Log._fields)
    return Log(said.whole("size"), said.digest("sha256"))


def unpacked_progress(packed: Any, passes: int, totals: Totals) -> Progress:
    if isinstance(packed, dict):
        packed = {"ends": []} | packed  # older versions did not write them
    said = CheckedEntries(packed, "progress", tuple(Progress.__dataclass_fields__))
    number = said.whole("number", least=1, most=passes + 1)
    first = None if number == 1 else said.totals("first", totals)
    if number == 1 and said.values["first"] is not None:
        raise said.wrong("first")
    before = said.totals("before", first or totals)
    digest, whole = said.digest_of_rows("digest"), "" if number == 1 else said.digest_of_rows("whole")
    rows, passed, bad_lines, features = (said.whole(name) for name in ("rows", "passed", "bad_lines", "features"))
    return Progress(
        number, rows, passed, bad_lines, features, first, before, digest, whole, said.ends("ends", number, totals)
    )


class CheckedEntries:
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

    def ends(self, name: str, most: int, totals: Totals) -> list[PassEnd]:
        """The sums at the ends of passes: so many at most, and none of more than was learned in all."""
        found = self.values[name]
        if type(found) is not list or len(found) > most:
            raise self.wrong(name)
        ends = []
        for each in found:
            if type(each) is not list or len(each) != len(PassEnd._fields) or type(each[-1]) is not int:
                raise self.wrong(name)
            ends.append(PassEnd(*self.totals_in(name, each[:-1], totals), each[-1]))
        return ends

    def totals(self, name: str, most: Totals) -> Totals:
        """Sums of examples of which there are no more than in others."""
        return self.totals_in(name, self.values[name], most)

    def totals_in(self, name: str, found: Any, most: Totals) -> Totals:
        """What may be sums, of the value with this name."""
        kinds = [int, int, float, float]
        if type(found) is not list or [type(each) for each in found] != kinds or not all(map(math.isfinite, found)):
            raise self.wrong(name)
        totals = Totals(*found)
        if not (0 <= totals.examples <= most.examples and 0.0 <= totals.importance <= most.importance):
            raise self.wrong(name)
        if not 0 <= totals.mistakes <= MOST:
            raise self.wrong(name)
        return totals
