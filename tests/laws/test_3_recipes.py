"""Law 3 for what a recipe remembers: names, counts and scales go on from a checkpoint to the same bytes."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from commands import run_here
from killing import is_finished, kill_after
from onlinear.cli.job import Job

ROWS = 1500
EXACT = ["--names", "exact", "--cross", "town,size", "--cross", "note,town", "--text", "note", "--ngrams", "2"]

#: what is remembered; with the extension of the file
CASES = {
    "exact names, crosses, texts, means and deviations": (".csv", [*EXACT, "--scale", "standardise"]),
    "exact names, unit length, largest values": (".csv", [*EXACT, "--unit-length", "--scale", "max-abs"]),
    "hashed names that are kept": (".csv", ["--bits", "6", "--keep-names", "--scale", "standardise"]),
    "largest values of indices": (".svm", ["--scale", "max-abs"]),
    "rows of length 1": (".csv", [*EXACT, "--scale", "unit"]),
    "random features of columns that come": (".svm", ["--random-features", "20", "--gamma", "1e-6", "--seed", "4"]),
    "a feature of its own for each row": (".csv", ["--bits", "6", "--scale", "standardise", "--unique-features", "2"]),
    "exact names of namespaces, with a cap": (".vw", ["--names", "exact", "--features", "400", "--cross", "a,b"]),
}


def lines_of(extension: str, rng: random.Random, rows: int) -> list[str]:
    """Lines whose names and largest values go on to change."""
    if extension == ".csv":
        return [
            f"{rng.gauss(0, 1 + k):.3f},T{rng.randrange(2 + k // 30)},w{rng.randrange(9)} W{k // 40},{rng.choice('ab')}"
            for k in range(rows)
        ]
    if extension == ".svm":
        return [
            f"{rng.choice((-1, 1))} {rng.randrange(1, 9)}:{rng.gauss(0, 1 + k):.3f} {9 + k // 9}:{k}"
            for k in range(rows)
        ]
    return [
        f"{rng.choice((-1, 1))} |a u{rng.randrange(3)} |b v{rng.randrange(2 + k // 30)}:{rng.random():.3f}"
        for k in range(rows)
    ]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, rows: int = ROWS, bad: int | None = None) -> tuple[Path, list[str]]:
    """The file of a case, with a bad line if so wanted, and the words that train on it."""
    extension, options = CASES[name]
    lines = lines_of(extension, random.Random(name), rows)
    if bad is not None:
        lines.insert(bad, {".csv": "1,2", ".svm": "1 x", ".vw": "x | a"}[extension])
    file = Path(f"rows{extension}").absolute()
    file.write_text("\n".join(["size,town,note,kind"] * (extension == ".csv") + lines) + "\n")
    skip = ["--bad-lines", "skip"] if ".vw" in extension else []
    return file, ["train", str(file), *options, *skip, "--passes", "2", "--quiet"]


@pytest.mark.compiles
@pytest.mark.parametrize("name", CASES)
def test_every_checkpoint_goes_on_to_the_same_bytes(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, words = written(name)
    saved: list[Path] = []
    save = Job._save

    def kept(job: Job, *, unfinished: bool = False) -> None:
        save(job, unfinished=unfinished)
        if unfinished:
            saved.append(Path(shutil.copy("m", f"checkpoint-{len(saved)}")))

    assert run_here(*words, "--model", "straight") == (0, "", "")
    monkeypatch.setattr(Job, "_save", kept)
    assert run_here(*words, "--model", "m", "--checkpoint-every", 370) == (0, "", "")
    monkeypatch.setattr(Job, "_save", save)
    straight = Path("straight").read_bytes()
    assert Path("m").read_bytes() == straight
    assert len(saved) >= 7
    for checkpoint in [saved[0], saved[3], saved[4], saved[-1]]:  # of both passes
        assert not is_finished(checkpoint)
        assert run_here("train", file, "--resume", checkpoint, "--quiet") == (0, "", "")
        assert checkpoint.read_bytes() == straight


@pytest.mark.compiles
@pytest.mark.parametrize("name", [name for name in CASES if ".vw" not in CASES[name][0]])
@pytest.mark.parametrize("bad", [0, 1, 700])
def test_what_a_bad_line_left_goes_on_to_the_same_bytes(name: str, bad: int, folder: Path) -> None:
    file, words = written(name)
    assert run_here(*words, "--classes", "a,b" if file.suffix == ".csv" else "-1,1", "--model", "straight").code == 0
    written(name, bad=bad)
    stopped = run_here(
        *words, "--classes", "a,b" if file.suffix == ".csv" else "-1,1", "--model", "m", "--keep-partial"
    )
    assert stopped.code == 1
    assert f"{file}:{bad + 1 + (file.suffix == '.csv')}:" in stopped.err
    written(name)  # the line is taken out
    assert run_here("train", file, "--resume", "m", "--quiet") == (0, "", "")
    assert Path("m").read_bytes() == Path("straight").read_bytes()


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["exact names, crosses, texts, means and deviations", "largest values of indices"])
def test_a_run_that_is_killed_ends_in_the_same_bytes(name: str, folder: Path) -> None:
    file, words = written(name, 6000)
    assert run_here(*words, "--model", "straight") == (0, "", "")
    model, rng = folder / "m", random.Random(5)
    begun, kills = [*words, "--model", model.name, "--checkpoint-every", 200], 0
    while not (model.exists() and is_finished(model)):
        again = ["train", file, "--resume", model.name, "--quiet"] if model.exists() else begun
        kills += kill_after(model, rng.randrange(10, 30), rng.uniform(0.0, 0.005), *again)
    assert kills >= 1
    assert model.read_bytes() == (folder / "straight").read_bytes()
