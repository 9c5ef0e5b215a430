"""Work done ahead of its consumer, by other threads, and handed over in order."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from onlinear.errors import BadSource
from onlinear.system.signals import check

Given = TypeVar("Given")
Made = TypeVar("Made")

#: seconds that threads have to end when nobody wants their results; longer, they wait for a pipe, perhaps for ever
PATIENCE = 2.0
#: seconds between two questions whether a signal has come, while nothing does
STEP = 0.1


def in_order(work: Callable[[Given], Made], things: Iterable[Given], threads: int) -> Iterator[Made]:
    """``map(work, things)``, done by other threads, at most two results for each ahead of the consumer.

    The threads take the things themselves, one at a time. An error of ``work`` or of ``things`` is raised where its
    result would have come, after all those before it. A process that is forked meanwhile has no such threads, and is
    refused what comes next.

    >>> list(in_order(abs, [-1, 2, -3], threads=2))
    [1, 2, 3]
    """
    ahead = _Ahead(work, iter(things), threads)
    workers = [threading.Thread(target=ahead.run, name="onlinear-reader", daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield from ahead.results()
    finally:
        if ahead.is_at_home():
            ahead.stop()
            close = getattr(things, "close", None)
            if have_ended(workers) and close is not None:
                close()


def have_ended(workers: Sequence[threading.Thread]) -> bool:
    """Whether threads end in time."""
    deadline = time.monotonic() + PATIENCE
    for worker in workers:
        worker.join(max(deadline - time.monotonic(), 0.0))
    return not any(worker.is_alive() for worker in workers)


class _Ahead(Generic[Given, Made]):
    """What the threads share: the things, the results by number, and how many of each there are."""

    def __init__(self, work: Callable[[Given], Made], things: Iterator[Given], threads: int) -> None:
        self.work = work
        self.things = things
        self.taking = threading.Lock()  # things are taken one at a time, each with the next number
        self.changed = threading.Condition()
        # How many may be taken that the consumer has not got. With fewer, whoever has a core of its own waits for those
        # that share one.
        self.room = 2 * threads + 1
        self.taken = self.given = 0
        self.end: int | None = None  # the number that will never come
        self.made: dict[int, Made | _Failure] = {}
        self.process = os.getpid()

    def run(self) -> None:
        while True:
            with self.taking:
                if not self._may_take():
                    return
                number = self.taken
                try:
                    thing = next(self.things)
                except StopIteration:
                    self._ends(number)
                    return
                except BaseException as error:
                    self._ends(number + 1)
                    self._hand_over(number, _Failure(error))
                    return
                self.taken += 1
            self._hand_over(number, self._made_of(thing))

    def _may_take(self) -> bool:
        """Wait until there is room; False if nothing more is to be taken."""
        with self.changed:
            self.changed.wait_for(lambda: self.end is not None or self.taken < self.given + self.room)
            return self.end is None

    def _made_of(self, thing: Given) -> Made | _Failure:
        try:
            return self.work(thing)
        except BaseException as error:
            return _Failure(error)

    def _hand_over(self, number: int, made: Made | _Failure) -> None:
        with self.changed:
            self.made[number] = made
            self.changed.notify_all()

    def _ends(self, number: int) -> None:
        with self.changed:
            self.end = number if self.end is None else min(self.end, number)
            self.changed.notify_all()

    def stop(self) -> None:
        """Let the threads end after what they are doing."""
        self._ends(0)

    def is_at_home(self) -> bool:
        """Whether this is the process that has the threads, and not one that was forked from it."""
        return os.getpid() == self.process

    def results(self) -> Iterator[Made]:
        while True:
            check()
            if not self.is_at_home():
                raise BadSource("this process was forked amid reading, and only its parent can go on: begin again")
            with self.changed:
                while not self.changed.wait_for(lambda: self.given in self.made or self.end == self.given, STEP):
                    check()
                if self.given not in self.made:
                    return
                made = self.made.pop(self.given)
                self.given += 1
                self.changed.notify_all()
            if isinstance(made, _Failure):
                raise made.error
            yield made


class _Failure:
    """An error in place of a result."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
