"""The map fits the house, and who follows one example with a debugger does not get lost in it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import onlinear

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
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


def paths_in(tree: str) -> Iterator[str]:
    """The paths that an indented tree shows, below its first line."""
    parents: list[str] = []
    for line in tree.splitlines()[1:]:
        depth = (len(line) - len(line.lstrip())) // 2 - 1
        for name in line.split("  ")[depth + 1].split():
            parents[depth:] = [name]
            yield "".join(parents)


def test_the_page_shows_the_tree() -> None:
    tree = re.search(r"```\n(src/onlinear/\n.*?)```", PAGE, re.DOTALL)
    assert tree is not None
    shown = set(paths_in(tree[1]))
    assert {path for path in shown if not (PACKAGE / path).exists()} == set()
    packages = {str(path.parent.relative_to(PACKAGE)) + "/" for path in PACKAGE.rglob("__init__.py")} - {"./"}
    assert packages <= shown
    assert {path.name for path in PACKAGE.glob("*.py") if path.name[0] != "_"} <= shown


def test_the_top_is_no_list_of_everything() -> None:
    assert sum(path.name[0] != "_" for path in PACKAGE.glob("*.py")) <= 8
    assert len(list(PACKAGE.glob("*/__init__.py"))) <= 16


def test_the_page_explains_at_most_thirty_words() -> None:
    words = re.findall(r"^\| (?!to |word |module |change |add |make )([a-z, ]+) \| ", PAGE, re.MULTILINE)
    assert 10 < len(words) <= 30


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?|[a-z_]+\.py)`", PAGE))))
def test_paths_on_the_page_exist(path: str) -> None:
    places = [PACKAGE / path, PACKAGE.parents[1] / path, PACKAGE / "workflow/report" / path]
    assert any(place.exists() for place in places)
