"""``onlinear train --on-drift``: alarms are shown, the error falls, and resume is continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run_here
from onlinear import load
from onlinear.files.trained import open_model

ADAGRAD = ["--rule", "adagrad"]


def write_turning(path: Path, classes: int = 2, rows: range = range(4000)) -> Path:
    """Rows of a table whose classes change places after 2000; the same row for the same number."""
    lines = ["a,b,class"]
    for number in rows:
        x = np.random.default_rng(number).standard_normal(2)
        sector = int((np.arctan2(x[1], x[0]) / np.pi + 1.0) / 2.0 * classes) % classes
        lines.append(f"{x[0]:.6f},{x[1]:.6f},{(sector + (number >= 2000)) % classes}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_turning(tmp_path_factory.mktemp("drift") / "turning.csv")


def document(*words: Any) -> dict[str, Any]:
    ended = run_here("train", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def test_alarms_are_found_and_the_error_falls(turning: Path) -> None:
    found = {wish: document(turning, *ADAGRAD, "--on-drift", wish) for wish in ("ignore", "reset", "faster")}
    plain = document(turning, *ADAGRAD)
    assert plain["drift"] is None
    assert found["ignore"]["mistakes"] == plain["mistakes"]
    assert found["reset"]["mistakes"] < plain["mistakes"]
    assert found["faster"]["mistakes"] < plain["mistakes"]
    for each in found.values():
        assert 2000 < each["drift"]["alarms"][0]["example"] < 2100
        assert each["drift"]["curve"][-1]["examples"] == 4000
        curve = [point["error"] for point in each["drift"]["curve"]]
        assert np.mean(curve) == pytest.approx(each["progressive_error"])


def test_several_classes_that_come_as_they_come(tmp_path: Path) -> None:
    rows = write_turning(tmp_path / "three.csv", classes=3)
    reset = document(rows, *ADAGRAD, "--rate", 0.5, "--classes", "open", "--on-drift", "reset")
    early, late = (
        np.mean([each["error"] for each in reset["drift"]["curve"][part]]) for part in (slice(20), slice(-20, None))
    )
    assert late < early < 0.3
    assert 2000 < reset["drift"]["alarms"][0]["example"] < 2100


@pytest.mark.parametrize("wish", [["reset", "--detector", "page-hinkley"], ["faster", "--drift-delta", "0.05"]])
def test_resume_is_continue(turning: Path, tmp_path: Path, wish: list[str]) -> None:
    words = *ADAGRAD, "--quiet", "--on-drift", *wish
    first = write_turning(tmp_path / "first.csv", rows=range(2010))  # stops between the drift and its alarm
    second = write_turning(tmp_path / "second.csv", rows=range(2010, 4000))
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run_here("train", turning, *words, "--model", whole).code == 0
    assert run_here("train", first, *words, "--model", parts).code == 0
    assert open_model(parts).training.adapting.alarms == []
    assert run_here("train", "--resume", parts, second, "--quiet").code == 0
    one, two = open_model(whole).training, open_model(parts).training
    assert one.adapting.state() == two.adapting.state()
    assert one.adapting.alarms
    assert one.learner.table.cells.tobytes() == two.learner.table.cells.tobytes()
    assert one.learner.counters.array.tobytes() == two.learner.counters.array.tobytes()


def test_checkpoints_change_nothing(turning: Path, tmp_path: Path) -> None:
    models = tmp_path / "one", tmp_path / "two"
    words = "train", turning, *ADAGRAD, "--on-drift", "reset", "--quiet", "--model"
    assert run_here(*words, models[0]).code == run_here(*words, models[1], "--checkpoint-every", "77").code == 0
    assert models[0].read_bytes() == models[1].read_bytes()


def test_the_model_answers_as_any_other(turning: Path, tmp_path: Path) -> None:
    assert run_here("train", turning, *ADAGRAD, "--on-drift", "reset", "--quiet", "--model", tmp_path / "m").code == 0
    assert run_here("predict", tmp_path / "m", turning).code == 0
    learner = open_model(tmp_path / "m").training.learner
    assert load(tmp_path / "m").coef_.ravel().any()
    assert learner.weights().any()


def test_alarms_are_shown_in_their_place(turning: Path) -> None:
    lines = run_here("train", turning, *ADAGRAD, "--on-drift", "faster").out.splitlines()
    numbers = [int(line.split()[0]) for line in lines[1:] if line.startswith(" ")]
    assert numbers == sorted(numbers)
    assert any("drift: the error has risen by 0." in line for line in lines)
    assert any(line.startswith("The error rose ") and line.endswith(" (adwin): learning sped up.") for line in lines)


def test_no_drift_is_said_to_be_none(tmp_path: Path) -> None:
    rows = write_turning(tmp_path / "still.csv", rows=range(1000))
    assert "No drift was found (adwin)." in run_here("train", rows, *ADAGRAD, "--on-drift", "reset").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--on-drift", "reset", "--passes", "2"], "second pass"),
        (["--drift-delta", "0.1"], "without --on-drift"),
        (["--detector", "page-hinkley"], "without --on-drift"),
        (["--detector", "adwin"], "without --on-drift"),
        (["--on-drift", "reset", "--detector", "page-hinkley", "--drift-delta", "0.1"], "belongs to adwin"),
        (["--on-drift", "faster", "--rule", "ftrl"], "nothing to forget"),
        (["--on-drift", "faster", "--rule", "sgd"], "constant rate"),
        (["--on-drift", "reset", "--drift-delta", "0"], "probability"),
        (["--on-drift", "restart"], "reset"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_refused(turning: Path, words: list[str], said: str) -> None:
    ended = run_here("train", turning, *words)
    assert ended.code == 2
    assert said in ended.err


def test_a_second_pass_is_refused_later_too(turning: Path, tmp_path: Path) -> None:
    assert run_here("train", turning, "--on-drift", "reset", "--quiet", "--model", tmp_path / "m").code == 0
    for words, said in ((["--passes", "2"], "second pass"), (["--on-drift", "faster"], "is settled")):
        ended = run_here("train", "--resume", tmp_path / "m", turning, *words)
        assert ended.code == 2
        assert said in ended.err
