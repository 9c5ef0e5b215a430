"""``onlinear train --random-features`` and ``--unique-features``: what comes between reading and a linear learner."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from commands import run_here
from onlinear import OnlineClassifier, RandomFeatures, unique_features
from onlinear.features import random_features
from onlinear.files.container import read_model, write_model

ROWS = 130
PERCEPTRON = ["--loss", "perceptron", "--rule", "perceptron"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, rows: int = ROWS, seed: int = 0) -> str:
    """A file in the format that its name says, whose classes no line separates; later rows have further columns."""
    rng, lines = random.Random(seed), []
    for number in range(rows):
        x, y, town = rng.gauss(0, 1), rng.gauss(0, 1), rng.randrange(2 + number // 12)
        label = int(x * y > 0)
        lines.append(
            {
                "svm": f"{label} 1:{x:.3f} 2:{y:.3f} {town + 3}:1",
                "vw": f"{label} |a x:{x:.3f} y:{y:.3f} |b t{town}",
                "csv": f"{x:.3f},{y:.3f},t{town},{label}",
                "jsonl": f'{{"x": {x:.3f}, "y": {y:.3f}, "town": "t{town}", "kind": {label}}}',
            }[Path(name).suffix[1:]]
        )
    header = ["x,y,town,kind"] * name.endswith(".csv")
    Path(name).write_text("\n".join(header + lines) + "\n")
    return name


def trained(*words: Any) -> Any:
    """What a run says of itself."""
    ended = run_here("train", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def scores_of(model: str, file: str) -> list[float]:
    ended = run_here("predict", model, file, "--scores")
    assert ended.code == 0, ended.err
    return [float(line.split(",")[1]) for line in ended.out.splitlines()[1:]]


def read(name: str, **options: Any) -> tuple[Any, np.ndarray]:
    """The rows and labels of a file, as Python reads them."""
    (block,) = onlinear.open_stream(name, **options)
    return block.X, block.y


# ------------------------------------------------------------------ random features

FORMATS: dict[str, dict[str, Any]] = {
    "rows.svm": {"features": 20},
    "rows.vw": {"names": "exact", "features": 20},
    "rows.csv": {"names": "exact", "features": 20},
    "rows.jsonl": {"names": "exact", "features": 20, "target": "kind"},
}


@pytest.mark.parametrize("name", FORMATS)
def test_random_features_are_those_of_python_to_the_bit(name: str) -> None:
    target = ["--target", "kind"] if name.endswith("jsonl") else []
    trained(written(name), *target, "--random-features", 50, "--gamma", 0.5, "--seed", 6, "--model", "m")
    X, y = read(name, **FORMATS[name])
    features = RandomFeatures(50, gamma=0.5, random_state=6).fit_transform(X.toarray())
    model = OnlineClassifier(loss="log_loss", rule="normalised").partial_fit(features, y, classes=[0, 1])
    assert scores_of("m", name) == model.decision_function(features).tolist()
    loaded = onlinear.load("m")
    assert isinstance(loaded, onlinear.FileModel)
    assert (loaded.coef_ == model.coef_).all()


def test_a_kernel_of_random_features_learns_what_no_line_separates() -> None:
    file = written("rows.svm", 600)
    drawn = trained(file, "--random-features", 300, "--gamma", 0.5, "--passes", 3, "--test", file)
    plain = trained(file, "--passes", 3, "--test", file)
    assert drawn["test"]["error"] < 0.1 < plain["test"]["error"]


def test_columns_that_were_never_learned_count_nothing() -> None:
    trained(written("rows.svm"), "--random-features", 30, "--model", "m")
    Path("more.svm").write_text("1 1:1 900:5\n1 1:1\n")
    one, other = scores_of("m", "more.svm")
    assert one == other


def test_more_columns_than_there_is_room_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_features, "MOST_BYTES", 8 * 30 * 19)
    trained(written("rows.svm"), "--random-features", 30)
    Path("wide.svm").write_text("1 1:1\n0 20:1\n")
    ended = run_here("train", "wide.svm", "--random-features", 30)
    assert (ended.code, "30 random features of 20 columns are drawn by" in ended.err) == (2, True)


def test_votes_may_stand_behind_random_features() -> None:
    trained(written("rows.svm"), "--learner", "voted", "--random-features", 40, "--gamma", 2, "--model", "m")
    X, y = read("rows.svm", features=20)
    features = RandomFeatures(40, gamma=2.0).fit_transform(X.toarray())
    model = onlinear.VotedPerceptron().partial_fit(features, y, classes=[0, 1])
    assert scores_of("m", "rows.svm") == model.decision_function(features).tolist()


# ------------------------------------------------------------------ a feature of its own for each row


@pytest.mark.parametrize("passes", [1, 3])
def test_features_of_rows_are_those_of_python_to_the_bit(passes: int) -> None:
    words = ["--unique-features", 0.5, "--features", 20, *PERCEPTRON, "--model", "m"]
    document = trained(written("rows.svm"), *words, "--passes", passes)
    X, y = read("rows.svm", features=20)
    extended, model = unique_features(X, 0.5), OnlineClassifier(loss="perceptron", rule="perceptron")
    for _ in range(passes):
        model.partial_fit(extended, y, classes=[0, 1])
    assert sum(each["updates"] for each in document["per_pass"]) == model.updates_
    loaded = onlinear.load("m")
    assert (loaded.coef_ == model.coef_).all()
    new = model.coef_[:, :20]  # a new row has no feature of its own
    assert scores_of("m", "rows.svm") == pytest.approx((X @ new.T)[:, 0] + model.intercept_[0], abs=1e-12)


def test_in_the_first_pass_it_predicts_as_without_them() -> None:
    with_them = trained(written("rows.csv"), "--unique-features", 3, *PERCEPTRON)
    without = trained("rows.csv", *PERCEPTRON)
    for name in ("mistakes", "progressive_loss"):
        assert with_them[name] == without[name]


@pytest.mark.parametrize("shuffle", [[], ["--shuffle"]])
def test_any_rows_are_separated_within_the_bound(shuffle: list[str]) -> None:
    """R, D and g by hand, for u = (1, 0): half of the rows are on the wrong side of it."""
    rows = [(1.0, 0.5, 1), (-1.0, 0.25, -1), (0.5, 1.0, -1), (0.5, 1.0, 1), (-0.75, 0.0, 1)] * 3
    Path("rows.svm").write_text("".join(f"{y} 1:{a} 2:{b}\n" for a, b, y in rows))
    radius = max(np.hypot(a, b) for a, b, _ in rows)
    short = [max(0.0, 0.5 - y * a) for a, _, y in rows]
    deviation, delta = float(np.sqrt(sum(d * d for d in short))), 2.0
    bound = (radius**2 + delta**2) * (1 + deviation**2 / delta**2) / 0.5**2
    words = ["rows.svm", "--unique-features", delta, "--features", 2, "--no-intercept", "--until-separated"]
    document = trained(*words, *shuffle, "--model", "m")
    assert document["converged"] is True
    updates = sum(each["updates"] for each in document["per_pass"])
    assert updates <= bound
    assert run_here("train", *words[:1], *words[5:], "--passes", 40).err.startswith("None of 40 passes")
    if shuffle:
        return
    found = json.loads(run_here("certify", "rows.svm", "--model", "m", "--json", "--export", "out.svm").out)
    assert (found["replayed"], found["separable"], found["updates"]) == (True, True, updates)
    assert found["bound"] <= bound
    Path("cert").write_text(json.dumps(found))
    assert run_here("verify", "cert", "out.svm", "--model", "m").code == 0


def test_rows_of_more_files_have_features_of_their_own() -> None:
    words = ["--unique-features", 0.5, "--features", 20]
    trained(written("rows.svm"), *words, *PERCEPTRON, "--model", "m", "--passes", 2)
    trained(written("more.svm", 40, seed=5), "--resume", "m", "--passes", 2)
    (X, y), (more, labels) = read("rows.svm", features=20), read("more.svm", features=20)
    model, examples = OnlineClassifier(loss="perceptron", rule="perceptron"), ROWS + 40
    for first, rows, classes in ((0, X, y), (ROWS, more, labels)):
        for _ in range(2):
            model.partial_fit(unique_features(rows, 0.5, first=first, examples=examples), classes, classes=[0, 1])
    assert (onlinear.load("m").coef_ == model.coef_).all()


def test_inspect_names_rows_and_stages() -> None:
    trained(written("rows.csv"), "--unique-features", 9, "--bits", 4, *PERCEPTRON, "--model", "m", "--passes", 5)
    out = run_here("inspect", "m").out
    assert "then: own features (delta 9, first 16, rows 130, before 0)" in out
    assert " of those learned\n" in out
    trained("rows.csv", "--random-features", 7, "--model", "m")
    out = run_here("inspect", "m").out
    assert "then: random features (features 7, gamma 1, seed 0, columns 13)" in out
    assert "  random feature 7\n" in out


# ------------------------------------------------------------------ what cannot be meant

REFUSED: dict[str, str] = {
    "--random-features 5 --bits 9": "--bits hashes names, and --random-features takes rows with a column for each name",
    "--random-features 5 --names hashed": "--names hashes names",
    "--random-features 5 --learner kernel": "--random-features means nothing to --learner kernel",
    "--random-features 5 --gamma 0": "--gamma is 0: give a number above 0",
    "--random-features 5 --seed 4294967296": "give at most 4294967295 where something is drawn",
    "--random-features 5 --start-at rows.csv": "--random-features is settled in rows.csv",
    "--gamma 3": "belongs to the kernel poly and rbf, and to --random-features",
    "--unique-features 0": "--unique-features is 0: give a number above 0",
    "--unique-features inf": "--unique-features is inf",
    "--unique-features 1 --learner voted": "--unique-features means nothing to --learner voted",
    "--unique-features 1 --names exact": "say how many there may be, with --features N",
    "--unique-features 1 --start-at rows.csv": "--unique-features is settled in rows.csv",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_meant_is_refused_by_name(words: str) -> None:
    ended = run_here("train", written("rows.csv"), *words.split(), "--model", "m")
    assert ended.code == 2
    assert REFUSED[words] in ended.err
    assert not Path("m").exists()


def test_rows_of_svmlight_may_have_any_number_of_columns() -> None:
    ended = run_here("train", written("rows.svm"), "--unique-features", 1)
    assert (ended.code, "with --features N" in ended.err) == (2, True)


DAMAGE: dict[str, Callable[[Any], object]] = {
    "an unknown stage": lambda stages: stages.update(hashed_features={"bits": 3}),
    "no features": lambda stages: stages["random_features"].update(features=0),
    "a kernel that is none": lambda stages: stages["random_features"].update(gamma=-1.0),
    "a seed that is none": lambda stages: stages["random_features"].update(seed=-1),
    "more columns than there is memory for": lambda stages: stages["random_features"].update(columns=1 << 50),
    "a column too few": lambda stages: stages["random_features"].pop("columns"),
    "a text": lambda stages: stages["own_features"].update(delta="1"),
    "a value of 0": lambda stages: stages["own_features"].update(delta=0.0),
    "rows that are none": lambda stages: stages["own_features"].update(rows=-1),
    "more rows before than there are": lambda stages: stages["own_features"].update(before=999),
    "columns beyond any": lambda stages: stages["own_features"].update(first=1 << 40),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_model_that_we_did_not_write_is_refused(name: str) -> None:
    trained(written("rows.svm"), "--random-features", 5, "--unique-features", 1, "--model", "m")
    header, arrays = read_model("m")
    DAMAGE[name](header["recipe"]["stages"])
    write_model("m", header, arrays)
    ended = run_here("predict", "m", "rows.svm")
    assert (ended.code, ended.err.startswith("m cannot be loaded: ")) == (3, True), ended.err
