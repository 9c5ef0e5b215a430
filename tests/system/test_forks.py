"""A process that was forked while another thread was at work: it goes on, or is told, and never waits for ever."""

from __future__ import annotations

import gc
import json
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlinear import KernelPerceptron, OnlineClassifier, open_stream
from onlinear.errors import OnlinearError
from onlinear.streams import jsonlines
from onlinear.system import locks as forks, threads
from onlinear.system.locks import estimator_lock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")

X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, 0.5], [0.5, -1.0]])
Y = np.array(["a", "b", "a", "b"])


def in_fork(function: Callable[[], Any]) -> str:
    """What a function comes to in a forked process: its value or its error, as text; an alarm ends one that waits."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of what is tested here
        child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60)
        try:
            found = str(function())
        except BaseException as error:
            found = f"{type(error).__name__}: {error}"
        os.write(writing, found.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        found = file.read().decode()
    _, status = os.waitpid(child, 0)
    return found if status == 0 else f"ended by {status}"


@contextmanager
def another_thread_in(*contexts: Any, seconds: float | None = None) -> Iterator[None]:
    """Within, another thread is in these contexts: so long, or as long as the block lasts."""
    begun, over = threading.Event(), threading.Event()

    def hold(left: tuple[Any, ...]) -> None:
        if left:
            with left[0]:
                hold(left[1:])
        else:
            begun.set()
            over.wait(seconds)

    thread = threading.Thread(target=hold, args=(contexts,))
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def learned(kind: type = OnlineClassifier) -> Any:
    return kind().partial_fit(X, Y, classes=["a", "b"])


def answers(model: Any) -> list[float]:
    return [float(score) for score in np.ravel(model.decision_function(X))]


@pytest.mark.compiles
def test_a_fork_waits_until_what_other_threads_do_to_a_model_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 60.0)
    model, other, dual = learned(), learned(), learned(KernelPerceptron)
    expected = answers(model.partial_fit(X, Y)), answers(other.partial_fit(X, Y)), answers(dual)
    learner = other._learner
    with (
        another_thread_in(estimator_lock(model), seconds=0.2),
        another_thread_in(learner.lock, learner.busy, seconds=0.3),
        another_thread_in(estimator_lock(dual), seconds=0.1),
    ):
        assert in_fork(lambda: (answers(model), answers(other), answers(dual))) == str(expected)
    assert answers(model) == expected[0]


CALLS = {
    "partial_fit": lambda model: model.partial_fit(X, Y),
    "predict": lambda model: model.predict(X),
    "snapshot": lambda model: model.snapshot(),
    "pickle": pickle.dumps,
    "learn_one": lambda model: model.learn_one({0: 1.0, 1: 2.0}, "a"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("call", CALLS)
def test_a_model_that_is_learned_too_long_is_refused_where_it_was_forked(
    call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 0.05)
    model, spared = learned(), learned()
    expected = answers(learned())  # the model itself would remember what it has answered, and may go on to
    learner = model._learner
    with another_thread_in(estimator_lock(model), learner.lock, learner.busy):
        found = in_fork(lambda: CALLS[call](model))
        assert found.startswith("Refused: this process was forked while another thread was busy with this model")
        assert in_fork(lambda: answers(spared)) == str(expected)
    assert answers(model) == expected
    assert in_fork(lambda: answers(model)) == str(expected)


@pytest.mark.compiles
def test_forks_beside_a_thread_that_learns_all_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "PATIENCE", 60.0)
    model = learned()
    rows, labels = np.tile(X, (5000, 1)), np.tile(Y, 5000)
    over = threading.Event()

    def learn() -> None:
        while not over.is_set():
            model.partial_fit(rows, labels)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        found = {in_fork(lambda: len(model.partial_fit(X, Y).predict(X))) for _ in range(5)}
    finally:
        over.set()
        thread.join()
    assert found == {"4"}


def test_a_stream_that_was_begun_before_a_fork_is_refused_behind_it(tmp_path: Path) -> None:
    """Its reading threads are not there; those of the parent go on."""
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5 2:0.25\n-1 1:1\n" * 200_000)
    blocks = iter(open_stream(path))
    first = next(blocks)
    found = in_fork(lambda: len(list(blocks)))
    assert found.startswith("BadSource: this process was forked amid reading")
    assert in_fork(lambda: len(next(iter(open_stream(path))))) == str(len(first))
    assert len(first) + sum(map(len, blocks)) == 400_000


def test_no_lock_of_reading_or_multiplying_stays_locked_behind_a_fork(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"x": i % 7, "y": i % 2}) + "\n" for i in range(20)))

    def work() -> int:
        with threads.one_blas_thread:
            return sum(len(block) for block in open_stream(path, target="y"))

    with another_thread_in(jsonlines.READING, threads.one_blas_thread._lock):
        assert in_fork(work) == "20"


def test_a_fork_amid_compiling_is_told_instead_of_waiting_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba
    from numba.core.compiler_lock import global_compiler_lock

    def compile_something() -> Any:
        return numba.njit(lambda x: x + 1)(2)

    monkeypatch.setattr(forks, "PATIENCE", 0.05)
    with another_thread_in(global_compiler_lock):
        found = in_fork(compile_something)
    assert found.startswith("Refused: this process was forked while another thread compiled a loop")
    monkeypatch.setattr(forks, "PATIENCE", 60.0)
    with another_thread_in(global_compiler_lock, seconds=0.2):
        assert in_fork(compile_something) == "3"
    assert compile_something() == 3


def test_locks_of_models_that_are_gone_are_forgotten() -> None:
    gc.collect()  # those of other tests
    before = len(forks._known)
    models = [OnlineClassifier().partial_fit(X, Y, classes=["a", "b"]) for _ in range(3)]
    assert len(forks._known) > before
    del models
    gc.collect()
    assert len(forks._known) <= before


def test_a_lost_lock_is_an_error_of_this_package() -> None:
    with pytest.raises(OnlinearError, match="busy with this model"), forks.Lost():
        pass
