"""Threads for products of matrices: ours, each of which gives BLAS one.

The threads of OpenBLAS wait for each other by turning in circles: on a machine that has other work to do, products took
ten times as long as with one thread. So the work is cut here, and no product waits for another.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ContextDecorator
from functools import cache
from typing import Any, TypeVar

#: threads that work on the parts of one task
THREADS = min(2, os.cpu_count() or 1)

Part = TypeVar("Part")
Result = TypeVar("Result")


class OneBlasThread(ContextDecorator):
    """While anyone is within, BLAS has one thread. How many it has belongs to the process, not to a thread.

    So it is quick beside busy processes, and its sums are the same whatever the number of threads.

    The first to come remembers how many there were, and the last to go sets them back. The main thread does so
    whenever it goes: OpenBLAS (0.3.31) may not listen to any other thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._within = 0
        self._before: list[int] = []

    def renew_lock(self) -> None:
        """Take another lock, in a process that was forked: whoever held this one is not there."""
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        libraries = blas_libraries()
        with self._lock:
            if not self._within:
                self._before = [library.get_num_threads() for library in libraries]
            self._within += 1
            for library in libraries:
                library.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within or threading.current_thread() is threading.main_thread():
                for library, count in zip(blas_libraries(), self._before, strict=True):
                    library.set_num_threads(count)


one_blas_thread = OneBlasThread()


@cache
def blas_libraries() -> list[Any]:
    """The BLAS libraries that are loaded; finding them takes some milliseconds."""
    from threadpoolctl import ThreadpoolController

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def workers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "onlinear")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=workers.cache_clear)  # a child has no threads but its own
    os.register_at_fork(after_in_child=one_blas_thread.renew_lock)


def each(function: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """What the function makes of each part, several at a time. It must not mind the others."""
    parts = list(parts)
    if len(parts) < 2 or THREADS < 2:
        return [function(part) for part in parts]
    return list(workers().map(function, parts))
