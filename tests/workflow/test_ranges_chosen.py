"""A selection cuts numbers into ranges, unless told otherwise or given rows in order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run_here
from tables import table

ROWS = 2_000
FEW = ("--configurations", 2, "--folds", 0, "--passes", 1, "--replicates", 0, "--no-references", "--json")


@pytest.fixture(scope="module")
def bent(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table whose class is that of the middle half: whichever number parts the two, a quarter is wrong."""
    x = np.random.default_rng(6).uniform(-1, 1, ROWS).round(3)
    columns = {"x": x.tolist(), "y": np.where(abs(x) < 0.5, "in", "out").tolist()}
    return table(tmp_path_factory.mktemp("bent"), columns)


def selected(file: str, folder: Path, *words: Any) -> dict[str, Any]:
    ended = run_here("select", file, *words, *FEW, "-m", folder / "model.onlinear")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.mark.compiles
def test_what_no_line_can_tell_is_told_by_ranges(bent: str, tmp_path: Path) -> None:
    found = selected(bent, tmp_path)
    assert found["test"]["error"] < 0.1  # one range in each half may hold both classes
    assert any("The numbers of x also give the range they lie in" in sentence for sentence in found["recipe"])
    tested = run_here("test", tmp_path / "model.onlinear", bent, "--json")
    assert json.loads(tested.out)["error"] < 0.1
    assert any(" or " not in each["name"] and "x<" in each["name"] for each in found["weights"])


@pytest.mark.compiles
@pytest.mark.parametrize("words", [["--no-ranges"], ["--in-order"]])
def test_without_ranges_a_quarter_is_wrong(bent: str, tmp_path: Path, words: list[str]) -> None:
    found = selected(bent, tmp_path, *words)
    assert found["test"]["error"] > 0.2
    assert not any("range" in sentence for sentence in found["recipe"])


@pytest.mark.compiles
def test_ranges_of_rows_in_order_may_be_asked_for(bent: str, tmp_path: Path) -> None:
    found = selected(bent, tmp_path, "--in-order", "--ranges")
    assert found["test"]["error"] < 0.1
    assert found["asked"]["options"]["ranges"] is True
