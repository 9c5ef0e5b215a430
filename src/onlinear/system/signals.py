"""Signals that end a command: at once, or where something has to be saved first, at the next point that is safe.

A handler runs between any two steps of Python: also within an import, whose lock it would leave locked, and where an
object is deleted, from which no exception gets out. So no handler raises. Until there is something to save, it removes
the files that were begun and ends the process; while there is, it takes a note, and :func:`check` raises.

This is imported before anything else, so that a signal finds its handler at once; importing it handles none.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any, TypeAlias

    Handler: TypeAlias = Callable[[int, FrameType | None], None]

#: signals that end a command early, each as Ctrl-C does
ENDING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

#: files that are worth nothing if the process ends now
_begun: set[str] = set()
#: what is said if it does
_last_words = ""
#: what raises if a signal was noted
_checking: Callable[[], None] | None = None
_is_ending = False
#: whether it asks for somebody who may never come
_is_waiting = False


class Interrupted(KeyboardInterrupt):
    """A signal that ends the command, by its number."""

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.code = 128 + number  # as shells say it


def handle_signals(handler: Handler) -> dict[int, Any]:
    """Let a handler take the signals that end a command; what took them before, for :func:`restore_signals`.

    Those that are ignored, as a hangup under ``nohup``, stay so; but for Ctrl-C, which shells ignore in the background.
    """
    wanted = [number for number in ENDING if number == signal.SIGINT or signal.getsignal(number) != signal.SIG_IGN]
    return {number: signal.signal(number, handler) for number in wanted}


def restore_signals(before: dict[int, Any]) -> None:
    for number, handler in before.items():
        signal.signal(number, handler)


def end_at_once(number: int, frame: FrameType | None) -> None:
    """A handler: remove what was begun, and end. A second signal does not wait for the first."""
    global _is_ending
    if not _is_ending:
        _is_ending = True
        for path in list(_begun):
            with suppress(OSError):
                os.unlink(path)
        _write_what_is_left()
        if _last_words:
            with suppress(OSError):
                os.write(2, f"{_last_words}\n".encode())
    os._exit(128 + number)


def _write_what_is_left() -> None:
    """Let standard output end with a whole line, if there is room for it and nobody is writing it now."""
    global _checking
    _checking = _give_up
    with suppress(BaseException):  # closed, lost, full, or amid a line: there is nothing left to do for it
        sys.stdout.flush()


def _give_up() -> None:
    raise Interrupted


def begin_file(path: str) -> None:
    """Have a file removed if a signal ends the process before :func:`keep_file`."""
    _begun.add(path)


def keep_file(path: str) -> None:
    _begun.discard(path)


def set_last_words(words: str) -> str:
    """Have something said if a signal ends the process; what was to be said before."""
    global _last_words
    before, _last_words = _last_words, words
    return before


def set_checking(checking: Callable[[], None] | None) -> Callable[[], None] | None:
    """Say what :func:`check` has to ask; what it has asked before."""
    global _checking
    before, _checking = _checking, checking
    return before


def check() -> None:
    """End here what is done, by an exception, if a signal has asked for it: to be called where that does no harm."""
    if _checking is not None:
        _checking()


def check_waiting() -> None:
    """As :func:`check`, where somebody is waited for who may never come: a reader, or room for what is written."""
    global _is_waiting
    _is_waiting = True
    try:
        check()
    finally:
        _is_waiting = False


def is_waiting() -> bool:
    """Whether somebody is waited for, to whoever is asked by :func:`check`."""
    return _is_waiting
