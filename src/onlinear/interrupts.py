"""Ctrl-C waits until what was begun is whole.

Python raises KeyboardInterrupt between any two of its instructions: also between a compiled loop that has moved the
weights and the line that writes down that it has. So whoever changes a model in more than one step does it within
``with uninterrupted:``. A signal that comes meanwhile is noted, and given to its handler at the end. A second Ctrl-C
does not wait.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from threading import get_ident, main_thread
from types import FrameType
from typing import Any

#: signals whose handlers may raise: Ctrl-C, and what commands, time limits and schedulers use
NUMBERS = [
    int(getattr(signal, name))
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
]

# What the signal module wraps to answer with enums, which takes ten times as long: 2.3 us and not 0.2.
get_handler: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
set_handler: Callable[[int, Any], Any] = getattr(signal.signal, "__wrapped__", signal.signal)


class Uninterrupted:
    """Blocks within which signals wait. They may be nested; only the main thread is ever interrupted."""

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: dict[int, Any] = {}
        self._pending: list[int] = []
        self._noting = self._note  # one object, by which it is known again

    def __enter__(self) -> None:
        if get_ident() == main_thread().ident:
            if self._depth == 0:
                self._take_signals()
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        if get_ident() == main_thread().ident:
            self._depth -= 1
            if self._depth == 0:
                self._give_signals_back()

    def let_through(self) -> None:
        """Give a signal that waits to its handler: for long work, at a moment when all is whole."""
        if self._pending and get_ident() == main_thread().ident:
            self._deliver(self._handlers)

    def _take_signals(self) -> None:
        try:
            for number in NUMBERS:
                handler = get_handler(number)
                if callable(handler):
                    set_handler(number, self._noting)
                    self._handlers[number] = handler
        except ValueError:
            return  # an interpreter within another one, which gets no signals
        except BaseException:
            self._give_signals_back()
            raise

    def _give_signals_back(self) -> None:
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            if get_handler(number) is self._noting:
                set_handler(number, handler)
        if self._pending:
            self._deliver(handlers)

    def _deliver(self, handlers: dict[int, Any]) -> None:
        pending, self._pending = self._pending, []
        for number in pending:
            handlers[number](number, sys._getframe())

    def _note(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and number in self._pending:
            self._pending.remove(number)
            self._handlers[number](number, frame)
        elif number not in self._pending:
            self._pending.append(number)


uninterrupted = Uninterrupted()
