"""What is seen of a run: a bar and a table on a terminal, plain lines in a pipe, nothing with ``--json``."""

from __future__ import annotations

import math
import sys
import time
from typing import IO, Any, cast

from onlinear.cli.ending import ProgressOutput
from onlinear.drift.adapting import Alarm
from onlinear.learning.model import Totals
from onlinear.workflow.run import Run

HEADINGS = ("examples", "loss since last", "loss", "mistakes", "features/s")
WIDTHS = (12, 16, 10, 10, 11)


class Silent:
    """Watches nothing."""

    def begin(self, run: Run) -> None: ...

    def update(self, run: Run) -> None: ...

    def end(self, run: Run) -> None: ...


class Lines(Silent):
    """Prints a line at 1, 2, 4, 8, ... examples of the first pass, and at its end."""

    def begin(self, run: Run) -> None:
        self.began = time.perf_counter()
        self.last = run.training.totals()
        self.alarms = len(alarms_of(run))
        self.write(line_of(HEADINGS))

    def update(self, run: Run) -> None:
        first = run.progress.first
        if first is not None:
            self._finish(first, run)
        else:
            for totals in run.training.history()[self.last.examples.bit_length() :]:
                self._print(totals, run)
        self._print_alarms(run)

    def end(self, run: Run) -> None:
        self._finish(run.progress.first or run.training.totals(), run)

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
        cells = f"{totals.examples - before.examples}", f"{since:.4f}", f"{loss:.4f}", mistakes, shortened(rate)
        self.write(line_of(cells))

    def write(self, line: str) -> None:
        print(line, file=ProgressOutput(sys.stdout), flush=True)


class Bar(Lines):
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
        self.bar.console.print(line, highlight=False)


def alarms_of(run: Run) -> list[Alarm]:
    """Those of all that the model has learned."""
    return [] if run.training.adapting is None else run.training.adapting.alarms


def watcher(quiet: bool) -> Silent:
    """What suits whoever looks at standard output."""
    if quiet:
        return Silent()
    return Bar() if sys.stdout.isatty() else Lines()


def line_of(cells: tuple[str, ...]) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))


def shortened(rate: float) -> str:
    """A rate for people.

    >>> shortened(1234567.0), shortened(950.0)
    ('1.2 M', '950')
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate >= size:
            return f"{rate / size:.1f} {letter}"
    return f"{rate:.0f}"
