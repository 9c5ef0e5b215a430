"""The locks of models: for threads, for compiled code that takes no lock, and across a fork.

Whoever changes or reads a learner in more than one step holds its lock and says that it is busy:
``with learner.lock, learner.busy``. Both may be entered again by a signal handler that interrupts their holder, which
may read but not change. Learning one dict row is a single compiled call that keeps the interpreter's lock,
so no other thread can be in between: instead of taking the learner's lock, which would take a tenth of the time, it
looks at the first word of a sequence lock.

A fork copies all memory, but only the thread that forks. A lock that another thread held would stay locked in the new
process for ever, and what it guards may be half changed there. So before a fork the locks of all models are taken,
which waits until what other threads do is whole. They are not waited for longer than :data:`PATIENCE`, since a ``fit``
may take hours: what could not be had by then is refused in the new process, and is as it was in the old one.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from itertools import count
from typing import Any, NoReturn
from weakref import ref

import numpy as np

from onlinear.errors import Refused

#: words of a sequence lock: the generation of the learner's arrays, or BUSY; how often it has changed
GENERATION, VERSION = 0, 1
BUSY = -1


class SequenceLock:
    """What compiled code looks at that takes no lock: while this is entered, or arrays have moved, it does nothing.

    Only for those who hold the lock.
    """

    __slots__ = ("depth", "generation", "words")

    def __init__(self) -> None:
        self.words = np.zeros(2, dtype=np.int64)
        self.generation = 0
        self.depth = 0  # how often it was entered: more than once by a handler of signals

    def __enter__(self) -> None:
        self.depth += 1
        self.words[GENERATION] = BUSY

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.words[GENERATION] = self.generation

    def refuse_handler(self, lock: Any) -> None:
        """Refuse to change anything amid a call of the same thread, which a signal has interrupted.

        ``lock`` is the one that whoever has entered holds, as often as it has entered.
        """
        if self.depth > 1:  # who was interrupted amid entering or leaving has given the lock back: nobody is there now
            self.depth = min(self.depth, entries_of(lock))
        if self.depth > 1:
            raise Refused(
                "a signal handler cannot learn with a model whose own call it has interrupted: "
                "take a note of the signal, and learn when the call is over"
            )

    def moved(self) -> int:
        """A new generation: whoever remembers where the arrays were has to look again."""
        self.generation += 1
        if self.words[GENERATION] != BUSY:
            self.words[GENERATION] = self.generation
        return self.generation


def entries_of(lock: Any) -> int:
    """How often the thread that holds a reentrant lock has entered it, by what the lock shows of itself.

    It has no method that says so, but for private ones: one came with Python 3.11.5, and the others give the lock away
    for a moment, in which a thread that waits for it would come in amid the interrupted call.

    >>> lock = threading.RLock()
    >>> with lock, lock:
    ...     entries_of(lock)
    2
    """
    return int(repr(lock).partition(" count=")[2].split()[0])


# ------------------------------------------------------------------ across a fork

#: seconds that a fork waits, at most, for threads that learn or read
PATIENCE = 1.0

_numbers = count()
#: by number: what has a lock, as which attribute, and what to say where it is lost
_known: dict[int, tuple[ref[Any], str, str]] = {}
#: what to say of a model whose lock is lost
HALF_CHANGED = (
    "this process was forked while another thread was busy with this model, which may be half changed here: "
    "fork while no thread learns, load the model from a file, or let multiprocessing spawn its processes"
)


class Taken(threading.local):
    """The locks that a thread has taken to fork."""

    def __init__(self) -> None:
        self.locks: list[Any] = []


_taken = Taken()


class Lost:
    """In place of a lock that a thread held which is not in this process."""

    def __init__(self, reason: str = HALF_CHANGED) -> None:
        self.reason = reason

    def acquire(self, blocking: bool = True, timeout: float = -1) -> NoReturn:
        raise Refused(self.reason)

    def __enter__(self) -> NoReturn:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        """Nothing was entered."""


def lock_of(holder: Any, attribute: str) -> Any:
    """A lock that ``holder`` will have as this attribute, and that survives a fork; its thread may take it again."""
    watch_lock(holder, attribute, HALF_CHANGED)
    return threading.RLock()


def estimator_lock(estimator: Any) -> Any:
    """The lock of whoever changes, or saves, more than the learner alone: its classes, counts and names as well."""
    attributes = vars(estimator)
    return attributes.get("_lock") or attributes.setdefault("_lock", lock_of(estimator, "_lock"))


def watch_lock(holder: Any, attribute: str, reason: str) -> None:
    """Let the reentrant lock that ``holder`` has as this attribute survive a fork; where it is lost, say why."""
    number = next(_numbers)
    _known[number] = ref(holder, lambda _: _known.pop(number, None)), attribute, reason


def _locks() -> list[tuple[Any, str, Any, str]]:
    """All holders that there are, with their attributes and locks, and what to say where these are lost."""
    found = []
    for holder_of, attribute, reason in list(_known.values()):
        holder = holder_of()
        lock = None if holder is None else vars(holder).get(attribute)
        if lock is not None and not isinstance(lock, Lost):
            found.append((holder, attribute, lock, reason))
    return found


def _take_locks() -> None:
    """Take all locks at once, as far as they can be had in time: none is held while another is waited for."""
    wanted = [lock for _, _, lock, _ in _locks()]
    deadline = time.monotonic() + PATIENCE
    while True:
        held = next((lock for lock in wanted if not _take(lock)), None)
        left = deadline - time.monotonic()
        if held is None:
            return
        if left <= 0.0:
            break
        _give_back()
        if held.acquire(timeout=left):
            held.release()
    for lock in wanted[wanted.index(held) + 1 :]:
        _take(lock)


def _take(lock: Any) -> bool:
    taken: bool = lock.acquire(blocking=False)
    if taken:
        _taken.locks.append(lock)
    return taken


def _give_back() -> None:
    while _taken.locks:
        _taken.locks.pop().release()


def _give_back_in_child() -> None:
    """Give back what was taken, and refuse what was not."""
    _give_back()
    for holder, attribute, lock, reason in _locks():
        if lock.acquire(blocking=False):
            lock.release()
        else:
            with suppress(Exception):
                vars(holder)[attribute] = Lost(reason)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_locks, after_in_parent=_give_back, after_in_child=_give_back_in_child)
