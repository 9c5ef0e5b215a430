"""How commands end: with a sentence on standard error and an exit code that scripts can rely on.

0 all is well; 1 the data cannot be read or learned from; 2 the command line asks for what does not exist; 3 a model
file cannot be read, or an output written; 130 interrupted (129 hung up, 143 terminated); 141 nobody reads the output
any more.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

from onlinear.errors import BadModel, NotSaved, OnlinearError, Refused
from onlinear.system.paths import printable, printable_lines
from onlinear.system.signals import (
    Interrupted as Interrupted,
    handle_signals as handle_signals,
    is_waiting,
    restore_signals as restore_signals,
    set_checking,
    set_last_words,
)

BAD_DATA, BAD_USAGE, BAD_MODEL, BROKEN_PIPE = 1, 2, 3, 141


def outlive_broken_pipes() -> None:
    """Let nobody who stops reading end this process: it is told by an error where it writes."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def interrupted_code(error: KeyboardInterrupt) -> int:
    """The exit code after a signal; Python's own interruption has no number."""
    return (error if isinstance(error, Interrupted) else Interrupted()).code


def code_of(error: OnlinearError) -> int:
    if isinstance(error, BadModel | NotSaved):
        return BAD_MODEL
    if isinstance(error, OutputFailed) and error.is_broken_pipe:
        return BROKEN_PIPE
    return BAD_USAGE if isinstance(error, Refused) else BAD_DATA


@contextmanager
def ending() -> Iterator[None]:
    """Whatever is refused within ends the command with its sentence, and no traceback."""
    before, sys.stdout = sys.stdout, StandardOutput(sys.stdout)
    try:
        yield
        sys.stdout.flush()
    except OnlinearError as error:
        if code_of(error) != BROKEN_PIPE:  # which is no news to whoever has closed it
            say(str(error))
        raise SystemExit(code_of(error)) from None
    except MemoryError:
        say("there is not enough memory: take fewer --bits, features or classes, or a machine that has more")
        raise SystemExit(BAD_DATA) from None
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else "the operating system"
        say(f"{printable(name)}: {error.strerror or error}: check the file, the disk and your rights")
        raise SystemExit(BAD_DATA) from None
    finally:
        sys.stdout = before


class OutputFailed(OnlinearError):
    """Standard output that cannot be written any more."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output: cannot be written ({error.strerror}): make room, or write elsewhere")
        self.is_broken_pipe = isinstance(error, BrokenPipeError)


class StandardOutput:
    """Standard output whose errors are said of it, and of nothing else; one that is closed refuses to be written to.

    Once it has failed it fails for good: whoever goes on without it ends all the same as one that could not write.
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._failure: OutputFailed | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def isatty(self) -> bool:
        return self._file is not None and bool(self._file.isatty())

    def write(self, text: str) -> int:
        if self._file is None:
            raise OnlinearError("standard output: is closed: open it, or write to a file")
        with self._blaming():
            return int(self._file.write(text))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if self._file is not None:
            with self._blaming():
                self._file.flush()

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """Whatever goes wrong within is said of standard output."""
        if self._failure is not None:
            raise self._failure
        try:
            yield
        except UnicodeEncodeError as error:
            letters = printable(error.object[error.start : error.end])[:20]
            raise OnlinearError(
                f"standard output: has no {letters!r} in its encoding, {error.encoding}: "
                "say PYTHONIOENCODING=utf-8, or write to a file"
            ) from None
        except OSError as error:
            forget_output()
            self._failure = OutputFailed(error)
            raise self._failure from None
        except KeyboardInterrupt:
            forget_output()  # it was waited for, and what ends the command is not to wait for it again
            raise


class ProgressOutput:
    """Standard output for what may get lost: work goes on if it fails, and the command says so at its end."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        with suppress(OutputFailed):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OutputFailed):
            self._file.flush()


def forget_output() -> None:
    """Let what is left for standard output go nowhere, or Python would stumble over it at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def say(sentence: str) -> None:
    """A sentence on standard error, if it can be written; names from files may hold what a terminal would obey."""
    if sys.stderr is not None:
        with suppress(OSError):  # as that of a terminal which was closed
            print(printable_lines(sentence.split("\n")), file=sys.stderr, flush=True)


@contextmanager
def last_words(words: str) -> Iterator[None]:
    """Within, have something said if a signal ends the process."""
    before = set_last_words(words)
    try:
        yield
    finally:
        set_last_words(before)


class Interruptions:
    """Ctrl-C within the block: at the next point that is safe, but for what must be done ``whole`` or not at all.

    To be terminated, or hung up, is the same. Only the first signal counts: a shutdown sends two of them. What is done
    about it, once it was ``taken``, may be ended by a further Ctrl-C, once the user was told so. Any second signal ends
    what waits for somebody who may never come, as for the reader of a pipe.
    """

    def __init__(self) -> None:
        self._wanted: int | None = None
        self._again = False  # whether a second one came
        self._busy = self._taken = self._may_be_ended = self._is_ended = False
        self._before: dict[int, Any] = {}
        self._checked_before: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        self._checked_before = set_checking(self.check)
        self._before = handle_signals(self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        restore_signals(self._before)
        set_checking(self._checked_before)
        if kind is None:
            self.check()  # what came too late for the last point

    def check(self) -> None:
        """Raise what was noted, unless it has to wait. Other threads have nothing to do with it."""
        if threading.current_thread() is not threading.main_thread():
            return
        if self._wanted is not None and self._again and is_waiting():
            raise Interrupted(self._wanted)
        if self._busy:
            return
        if self._is_ended:
            raise Interrupted
        if self._wanted is not None and not self._taken:
            raise Interrupted(self._wanted)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Within, a first Ctrl-C waits; it comes at the end, unless something else has gone wrong."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        self.check()

    def take(self) -> None:
        """Say that the first signal is being seen to."""
        self._taken = True

    @contextmanager
    def ended_by_ctrl_c(self) -> Iterator[None]:
        """Within, a Ctrl-C after the first signal counts."""
        self._may_be_ended = True
        try:
            yield
        finally:
            self._may_be_ended = self._is_ended = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._wanted is None:
            self._wanted = number
            return
        self._again = True
        if self._may_be_ended and number == signal.SIGINT:
            self._is_ended = True
