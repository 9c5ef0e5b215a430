"""``onlinear inspect``: the rule of a model with its schedule and rates, in words and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import run_here


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("options", "line", "rule"),
    [
        (
            "--rule sgd --schedule power --rate 0.5 --power 0.75",
            "rule: sgd (schedule power: rate 0.5, power 0.75)",
            {"name": "sgd", "schedule": {"name": "power", "rate": 0.5, "power": 0.75}},
        ),
        (
            "--rule sgd --rate 0.25",
            "rule: sgd (schedule constant: rate 0.25)",
            {"name": "sgd", "schedule": {"name": "constant", "rate": 0.25}},
        ),
        ("--rule normalised --rate 0.5", "rule: normalised (rate 0.5)", {"name": "normalised", "rate": 0.5}),
    ],
)
def test_the_schedule_and_its_rate_are_shown(
    options: str, line: str, rule: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("1 1:1\n-1 1:-1\n" * 4)
    for slim in ([], ["--slim"]):
        assert run_here("train", "rows.svm", "--model", "m", "--quiet", *options.split(), *slim).code == 0
        assert line in run_here("inspect", "m").out.splitlines()
        assert json.loads(run_here("inspect", "m", "--json").out)["rule"] == rule
