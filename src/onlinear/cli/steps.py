"""What is seen of a job in steps: a bar on a terminal, plain lines in a pipe; and how Ctrl-C ends it early."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from types import FrameType
from typing import Any

from onlinear.cli.ending import handle_signals, restore_signals, say
from onlinear.system.signals import end_at_once
from onlinear.workflow.watching import Watcher


class Steps(Watcher):
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

    def __enter__(self) -> Steps:
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


class Silent(Steps):
    """Shows nothing, but ends early all the same."""

    def show(self, step: str) -> None: ...


class Bar(Steps):
    """A bar that fills with each step."""

    def __enter__(self) -> Bar:
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


def watching(silent: bool) -> Steps:
    """What suits whoever looks."""
    if silent:
        return Silent()
    return Bar() if sys.stderr is not None and sys.stderr.isatty() else Steps()
