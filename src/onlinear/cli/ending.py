"""How commands end: with a sentence on standard error and an exit code that scripts can rely on.

0 all is well; 1 the data cannot be read or learned from; 2 the command line asks for what does not exist; 3 a model
file cannot be read or written; 130 interrupted (129 hung up, 143 terminated); 141 nobody reads the output any more.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any, Self

from onlinear.errors import BadModel, NotSaved, OnlinearError, Refused

BAD_DATA, BAD_USAGE, BAD_MODEL = 1, 2, 3
#: signals that end a command early, each as Ctrl-C does
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

Handler = Callable[[int, FrameType | None], None]


class Interrupted(KeyboardInterrupt):
    """A signal that ends the command, by its number."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.code = 128 + number  # as shells say it


def interrupted_code(error: KeyboardInterrupt) -> int:
    """The exit code after a signal; Python's own interruption has no number."""
    return (error if isinstance(error, Interrupted) else Interrupted()).code


def interrupt(number: int, frame: FrameType | None) -> None:
    raise Interrupted(number)


def handle_signals(handler: Handler) -> dict[int, Any]:
    """Let a handler take the signals that end a command; what took them before, for :func:`restore_signals`.

    Those that are ignored, as a hangup under ``nohup``, stay so; but for Ctrl-C, which shells ignore in the background.
    """
    wanted = [number for number in ENDING if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in wanted}


def restore_signals(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def code_of(error: OnlinearError) -> int:
    if isinstance(error, BadModel | NotSaved):
        return BAD_MODEL
    return BAD_USAGE if isinstance(error, Refused) else BAD_DATA


@contextmanager
def ending() -> Iterator[None]:
    """Whatever is refused within ends the command with its sentence, and no traceback."""
    try:
        yield
        sys.stdout.flush()
    except OnlinearError as error:
        say(str(error))
        raise SystemExit(code_of(error)) from None
    except OSError as error:
        say(f"standard output: cannot be written ({error.strerror}): make room, or write elsewhere")
        forget_output()
        raise SystemExit(BAD_DATA) from None


def forget_output() -> None:
    """Let what is left for standard output go nowhere, or Python would stumble over it at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(sentence: str) -> None:
    """A sentence on standard error."""
    print(sentence, file=sys.stderr, flush=True)


class Interruptions:
    """Ctrl-C within the block: at once, but not while ``whole``, what must be done whole or not at all, is under way.

    A second one is not waited for. To be terminated, or hung up, is the same.
    """

    def __init__(self) -> None:
        self._wanted: int | None = None
        self._busy = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = handle_signals(self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        restore_signals(self._before)

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Within, a first Ctrl-C waits; it comes at the end, unless something else has gone wrong."""
        self._busy = True
        try:
            yield
        finally:
            self._busy = False
        if self._wanted is not None:
            raise Interrupted(self._wanted)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._wanted is not None or not self._busy:
            raise Interrupted(number)
        self._wanted = number
