"""What is seen of a run or a selection: a bar on a terminal, plain lines in a pipe, nothing with ``--json``."""

from __future__ import annotations

import math
import os
import sys
import time
from contextlib import suppress
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, cast

from onlinear.cli.ending import ProgressOutput, handle_signals, restore_signals, say
from onlinear.system.signals import end_at_once
from onlinear.workflow.watching import Watcher

if TYPE_CHECKING:
    from onlinear.drift.adapting import Alarm
    from onlinear.learning.progress import Totals
    from onlinear.workflow.run import Run

HEADINGS = ("examples", "loss since last", "loss", "mistakes", "features/s")
#: of the lines for passes, if there are several
PASS_HEADINGS = ("pass", "updates", "loss", "mistakes", "error")
WIDTHS = (12, 16, 10, 10, 11)


class SilentProgress:
    """Watches nothing."""

    def begin(self, run: Run) -> None: ...

    def update(self, run: Run) -> None: ...

    def end(self, run: Run) -> None: ...


class ProgressLines(SilentProgress):
    """Prints a line at 1, 2, 4, 8, ... examples of the first pass, and at its end."""

    def begin(self, run: Run) -> None:
        self.began = time.perf_counter()
        self.last = run.training.totals()
        self.alarms = len(alarms_of(run))
        self.passes = 0  # that have a line
        self.write(line_of(HEADINGS))

    def update(self, run: Run) -> None:
        first = run.progress.first
        if first is not None:
            self._finish(first, run)
        else:
            for totals in run.training.history()[self.last.examples.bit_length() :]:
                self._print(totals, run)
        self._print_alarms(run)
        self._print_passes(run)

    def end(self, run: Run) -> None:
        self._finish(run.progress.first or run.training.totals(), run)
        self._print_passes(run)

    def _print_passes(self, run: Run) -> None:
        """A line for each pass that has ended, if there are to be several."""
        if run.passes == 1 or run.progress.first is None:
            return
        for figures in run.per_pass()[self.passes :]:
            if self.passes == 0:
                self.write(line_of(PASS_HEADINGS))
            self.passes += 1
            wrong = ("-", "-")
            if run.training.classes is not None:
                wrong = f"{figures.mistakes}", f"{figures.mistakes / max(figures.examples, 1):.2%}"
            self.write(line_of((f"{figures.number}", f"{figures.updates}", f"{figures.loss:.4f}", *wrong)))

    def _finish(self, totals: Totals, run: Run) -> None:
        """The last line of the first pass, once."""
        if totals.examples > self.last.examples:
            self._print(totals, run)

    def _print_alarms(self, run: Run, up_to: float = math.inf) -> None:
        """Those that were not printed yet, up to an example."""
        for alarm in alarms_of(run)[self.alarms :]:
            if alarm.example > up_to:
                break
            self.alarms += 1
            example = alarm.example - run.progress.before.examples
            self.write(f"{example:>{WIDTHS[0]}} drift: the error has risen by {alarm.rise:.4f}")

    def _print(self, totals: Totals, run: Run) -> None:
        self._print_alarms(run, totals.examples)
        last, self.last, before = self.last, totals, run.progress.before
        since = (totals.loss - last.loss) / (totals.importance - last.importance)
        loss = (totals.loss - before.loss) / (totals.importance - before.importance)
        rate = run.progress.features / max(time.perf_counter() - self.began, 1e-9)
        mistakes = "-" if run.training.classes is None else f"{totals.mistakes - before.mistakes}"
        cells = f"{totals.examples - before.examples}", f"{since:.4f}", f"{loss:.4f}", mistakes, shorten_rate(rate)
        self.write(line_of(cells))

    def write(self, line: str) -> None:
        print(line, file=ProgressOutput(sys.stdout), flush=True)


class ProgressBar(ProgressLines):
    """The lines with a bar below them: bytes, rate and time left."""

    def begin(self, run: Run) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

        columns: tuple[Any, ...] = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        console = Console(file=cast("IO[str]", ProgressOutput(sys.stdout)))
        # what is said on standard error is for scripts, too, and stays there as it is
        self.bar = Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False)
        total = run.stream.total_bytes
        self.size = total or 0
        self.task = self.bar.add_task("", total=total and total * run.passes)
        self.bar.start()
        super().begin(run)

    def update(self, run: Run) -> None:
        super().update(run)
        before = self.size * (run.progress.number - 1)
        self.bar.update(self.task, completed=before + run.stream.read)

    def end(self, run: Run) -> None:
        self.bar.stop()
        super().end(run)

    def write(self, line: str) -> None:
        self.bar.console.print(line, highlight=False, soft_wrap=True)  # the terminal breaks what is too long for it


def alarms_of(run: Run) -> list[Alarm]:
    """Those of all that the model has learned."""
    return [] if run.training.adapting is None else run.training.adapting.alarms


def progress_for(quiet: bool) -> SilentProgress:
    """What suits whoever looks at standard output."""
    if quiet:
        return SilentProgress()
    return ProgressBar() if sys.stdout.isatty() else ProgressLines()


def line_of(cells: tuple[str, ...]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def shorten_rate(rate: float) -> str:
    """A rate for people.

    >>> shorten_rate(1234567.0), shorten_rate(950.0)
    ('1.2 M', '950')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.1f} {letter}"
    return f"{rate:.0f}"


class StepLines(Watcher):
    """A line for each step."""

    def __init__(self) -> None:
        self.stopped = False
        self.ended_by: int | None = None  # the first signal that wants an end
        self._step = ""
        self._before: dict[int, Any] = {}

    def tell(self, step: str, share: float) -> None:
        if step != self._step:
            self._step = step
            self.show(step)

    def show(self, step: str) -> None:
        say(f"{step} ...")

    def __enter__(self) -> StepLines:
        self._before = handle_signals(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        restore_signals(self._before)

    def _note(self, number: int, frame: FrameType | None) -> None:
        """A first Ctrl-C, or its like, ends what can be ended early; a second one everything."""
        if self.stopped:
            end_at_once(number, frame)
        self.stopped, self.ended_by = True, number
        with suppress(OSError):  # not by say: the signal may have come while something was being said
            os.write(2, b"ending with what is done; once more to end at once\n")


class SilentSteps(StepLines):
    """Shows nothing, but ends early all the same."""

    def show(self, step: str) -> None: ...


class StepBar(StepLines):
    """A bar that fills with each step."""

    def __enter__(self) -> StepBar:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns: tuple[Any, ...] = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task("", total=None)
        self.bar.start()
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.bar.stop()

    def tell(self, step: str, share: float) -> None:
        self.bar.update(self.task, description=step, total=1.0 if share else None, completed=share)


def steps_for(silent: bool) -> StepLines:
    """What suits whoever looks."""
    if silent:
        return SilentSteps()
    return StepBar() if sys.stderr is not None and sys.stderr.isatty() else StepLines()
