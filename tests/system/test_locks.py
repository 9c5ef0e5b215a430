"""A learner's sequence lock that a signal handler finds entered, or that an exception left amid entering it."""

from __future__ import annotations

import threading
import time

import pytest

from onlinear.errors import Refused
from onlinear.system.locks import BUSY, GENERATION, SequenceLock


def test_no_thread_comes_in_while_a_handler_is_refused() -> None:
    came_amid = []
    for _ in range(50):  # a thread that waits is not always quick enough
        lock, busy, over = threading.RLock(), SequenceLock(), threading.Event()

        def wait(lock: threading.RLock = lock, over: threading.Event = over) -> None:
            with lock:
                came_amid.append(not over.is_set())

        with lock, busy:
            thread = threading.Thread(target=wait)
            thread.start()
            time.sleep(0.002)
            with lock, busy, pytest.raises(Refused, match="a signal handler cannot learn"):
                busy.refuse_handler(lock)
            over.set()
        thread.join()
    assert came_amid == [False] * 50


def test_who_has_given_the_lock_back_is_forgotten() -> None:
    lock, busy = threading.RLock(), SequenceLock()
    with lock:
        busy.__enter__()  # and an exception came amid leaving it
    with lock:
        with busy:
            busy.refuse_handler(lock)
        assert busy.words[GENERATION] != BUSY
