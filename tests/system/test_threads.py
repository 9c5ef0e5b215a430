"""Products of matrices: one BLAS thread each, the same bits with any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from onlinear import Perceptron, certify, descent, losses
from onlinear.data.products import products
from onlinear.descent.course import Course
from onlinear.learning.dual import kernel as kernels
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import Perceptrons
from onlinear.system import threads
from onlinear.theory import certificates
from onlinear.theory.margins import margins_of

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(1400, 300))
TARGETS = np.where(RNG.random((1400, 2)) < 0.5, 1.0, -1.0)  # nothing to learn but by heart: more than one tile is kept


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def learned() -> tuple[np.ndarray, np.ndarray]:
    machine = Perceptrons(Kernel("poly", degree=2), 300, 2, np.float64)
    scores = machine.learn(ROWS, TARGETS)
    assert machine.support.size > 1024
    return scores, machine.scores(ROWS[:100], [0, 1], "last")


def test_every_product_has_one_blas_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def watched(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
        seen.update(blas_threads())
        return products(rows, others)

    monkeypatch.setattr(kernels, "products", watched)
    machine = Perceptrons(Kernel("linear"), 300, 2, np.float64)
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        machine.learn(ROWS[:100], TARGETS[:100])
        machine.scores(ROWS[:10], [0, 1], "average")
        assert blas_threads() == before
    assert seen == {1}


@pytest.mark.parametrize("solve", [descent.gradient_descent, descent.newton, descent.sgd, descent.second_order_sgd])
def test_descent_has_one_blas_thread(solve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, look = set[int](), Course.look

    def watched(*given: Any) -> bool:
        seen.update(blas_threads())
        return look(*given)

    monkeypatch.setattr(Course, "look", watched)
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        solve(descent.mean_loss(ROWS[:50, :3], TARGETS[:50, 0], losses.Logistic(), l2=1.0), 0.1)
        assert blas_threads() == before
    assert seen == {1}


def test_a_certificate_has_one_blas_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()

    def watched(*given: Any) -> Any:
        seen.update(blas_threads())
        return margins_of(*given)

    monkeypatch.setattr(certificates, "margins_of", watched)
    model = Perceptron(max_iter=1, tol=None, shuffle=False).fit(ROWS[:50, :3], TARGETS[:50, 0])
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        certify(model, ROWS[:50, :3], TARGETS[:50, 0])
        assert blas_threads() == before
    assert seen == {1}


def test_the_bits_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = learned()
    for count in (1, 3):
        monkeypatch.setattr(threads, "THREADS", count)
        threads.workers.cache_clear()
        found = learned()
        assert [np.array_equal(one, other) for one, other in zip(wanted, found, strict=True)] == [True, True]
    threads.workers.cache_clear()


@pytest.mark.parametrize("first_to_go", ["this", "the other"])
def test_blas_has_its_threads_back_when_all_are_gone(first_to_go: str) -> None:
    """The last to come finds 1, and must not set that back."""
    inside, leave = threading.Barrier(2), threading.Event()

    def stay() -> None:
        with threads.one_blas_thread:
            inside.wait()
            leave.wait()

    other = threading.Thread(target=stay)
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        with threads.one_blas_thread:
            other.start()
            inside.wait()
            if first_to_go == "the other":
                leave.set()
                other.join()
        leave.set()
        other.join()
        assert blas_threads() == before


def test_a_kernel_of_the_users_own_is_called_by_one_thread() -> None:
    callers: set[int] = set()

    def own(rows: Any, others: Any) -> Any:
        callers.add(threading.get_ident())
        return rows @ others.T

    machine = Perceptrons(Kernel(own), 300, 2, np.float64)
    machine.learn(ROWS, TARGETS)
    assert callers == {threading.get_ident()}
