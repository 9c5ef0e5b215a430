"""Laws 2 and 3 for perceptrons that keep examples, on the command line: any cut, any stop, and the same bytes."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

import onlinear
from commands import run_here
from killing import is_finished, kill_after
from onlinear.cli.job import Job

ROWS = 330
RBF = ["--learner", "kernel", "--kernel", "rbf", "--gamma", "0.4"]

#: what is special about a run; with the extension of the file, and its options
CASES: dict[str, tuple[str, list[str]]] = {
    "voted, columns come later": (".svm", ["--learner", "voted", "--passes", "3"]),
    "pocket, one pass, classes come later": (".vw", ["--learner", "pocket", "--classes", "open"]),
    "rows shuffled, and kept once": (".svm", [*RBF, "--passes", "3", "--shuffle", "--seed", "5"]),
    "rows that scales move, bad lines": (".csv", [*RBF, "--scale", "standardise", "--passes", "2"]),
    "several classes share a budget": (".vw", [*RBF, "--budget", "40", "--classes", "0,1,2", "--passes", "2"]),
    "a version drawn": (".csv", ["--learner", "kernel", "--degree", "3", "--vote", "random", "--seed", "9"]),
}


def line_of(extension: str, rng: random.Random, number: int) -> str:
    """Rows that nothing separates, whose names and classes go on to come; now and then a bad line."""
    x, y, late = rng.gauss(0, 1), rng.gauss(0, 1), rng.randrange(2 + number // 30)
    label = int(x * y > 0.1) + int(number > ROWS // 2 and x > 1.0) * (extension == ".vw")
    if number % 97 == 20:
        return {".svm": "1 x", ".vw": "x | a", ".csv": "1,2"}[extension]
    if extension == ".svm":
        return f"{label} 1:{x:.3f} 2:{y:.3f} {late + 3}:1"
    if extension == ".vw":
        return f"{label} {number % 5 and 1} | x:{x:.3f} y:{y:.3f} t{late}"
    return f"{x:.3f},{y:.3f},t{late},{'ab'[label]}"


def written(name: str) -> tuple[Path, list[Any]]:
    """The file of a case, and the words that train on it."""
    extension, options = CASES[name]
    rng = random.Random(name)
    lines = [line_of(extension, rng, number) for number in range(ROWS)]
    file = Path(f"rows{extension}").absolute()
    file.write_text("\n".join(["x,y,town,kind"] * (extension == ".csv") + lines) + "\n")
    return file, ["train", file, *options, "--bad-lines", "skip", "--quiet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("every", [1, 37, 64, 100])
@pytest.mark.parametrize("name", CASES)
def test_every_cut_and_every_checkpoint_ends_in_the_same_bytes(
    name: str, every: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, words = written(name)
    saved: list[Path] = []
    save = Job._save

    def kept(job: Job, *, unfinished: bool = False) -> None:
        if unfinished and every == 1 and job.run.progress.rows % 50:
            return  # a cut is enough
        save(job, unfinished=unfinished)
        if unfinished:
            saved.append(Path(shutil.copy("m", f"checkpoint-{len(saved)}")))

    assert run_here(*words, "--model", "straight").code == 0
    monkeypatch.setattr(Job, "_save", kept)
    assert run_here(*words, "--model", "m", "--checkpoint-every", every).code == 0
    monkeypatch.setattr(Job, "_save", save)
    straight = Path("straight").read_bytes()
    assert Path("m").read_bytes() == straight
    assert len(saved) >= 3
    for checkpoint in {saved[0], saved[len(saved) // 2], saved[-1]}:
        assert not is_finished(checkpoint)
        assert run_here("train", file, "--resume", checkpoint, "--quiet").code == 0
        assert checkpoint.read_bytes() == straight


def test_a_run_that_is_killed_ends_in_the_same_bytes(folder: Path) -> None:
    file, words = written("several classes share a budget")
    assert run_here(*words, "--model", "straight").code == 0
    model, rng = folder / "m", random.Random(5)
    begun, kills = [*words, "--model", model.name, "--checkpoint-every", 20], 0
    while not (model.exists() and is_finished(model)):
        again = ["train", file, "--resume", model.name, "--quiet"] if model.exists() else begun
        kills += kill_after(model, rng.randrange(5, 15), rng.uniform(0.0, 0.005), *again)
    assert kills >= 1
    assert model.read_bytes() == (folder / "straight").read_bytes()


def test_a_kept_row_is_kept_once_in_any_order(folder: Path) -> None:
    _, words = written("rows shuffled, and kept once")
    assert run_here(*words, "--model", "m").code == 0
    found = json.loads(run_here("inspect", "m", "--json").out)
    assert found["kept"] <= ROWS
    assert len(onlinear.load("m").support_vectors_) <= found["kept"]  # some of which are taken back
    assert found["figures"]["updates"] > found["kept"]  # some were wrong in several passes
