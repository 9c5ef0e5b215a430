"""How many files a call passes through: whoever follows one example with a debugger should not get lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import onlinear

PACKAGE = Path(onlinear.__file__).parent
X, Y = np.random.default_rng(0).random((50, 4)), np.arange(50) % 2
#: packages that may know where in the array of a learner's counters which counter is
KNOW_COUNTERS = {"kernels", "learning"}


def files_passed(call: Callable[[], Any]) -> set[str]:
    """The files of the package of which a call runs a function."""
    found: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and frame.f_code.co_name != "<module>" and PACKAGE in path.parents:
            found.add(str(path.relative_to(PACKAGE)))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return found


def examples() -> Iterator[tuple[dict[str, float], str]]:
    return (({"a": 1.0, "b": float(k % 3)}, "xy"[k % 2]) for k in range(40))


@pytest.mark.compiles
def test_fit_passes_through_few_files() -> None:
    onlinear.SGDClassifier().fit(X, Y)  # what is compiled, or looked at once, is not part of it
    files = files_passed(lambda: onlinear.SGDClassifier().fit(X, Y))
    assert "learning/model.py" in files
    assert len(files) <= 14, sorted(files)


@pytest.mark.compiles
def test_learn_one_passes_through_few_files() -> None:
    warm = onlinear.OnlineClassifier()
    for x, y in examples():
        warm.learn_one(x, y)
    model = onlinear.OnlineClassifier()
    first = files_passed(lambda: model.learn_one({"a": 1.0}, "x"))
    assert "learning/dict_path.py" in first
    assert len(first) <= 15, sorted(first)
    later = [files_passed(lambda row=row: model.learn_one(*row)) for row in examples()]  # type: ignore[misc]
    assert {len(files) for files in later[20:30]} <= {1, 2}  # no power of two: one compiled call each
    assert max(map(len, later[2:])) <= 9  # at 4, 8, 16, ... examples, where figures are kept


@pytest.mark.parametrize("name", ["SGDClassifier", "SGDRegressor", "OnlineClassifier", "Perceptron", "AROWClassifier"])
def test_estimators_have_few_ancestors(name: str) -> None:
    cls = getattr(onlinear, name)
    ancestors = [each for each in cls.__mro__[1:] if each not in BaseEstimator.__mro__[1:]]
    assert len(ancestors) <= 6, ancestors


def test_no_other_package_knows_where_a_counter_is() -> None:
    importing = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in KNOW_COUNTERS
        and "onlinear.kernels.learn.state" in path.read_text(encoding="utf-8")
    ]
    assert importing == []
