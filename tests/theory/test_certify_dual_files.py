"""``onlinear certify`` and ``verify`` on model files of perceptrons that keep examples."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from commands import run_here
from onlinear import verify as verifier
from onlinear.theory.certificates import replace_and_seal

LEARNERS: dict[str, list[str]] = {
    "voted": ["--learner", "voted"],
    "pocket": ["--learner", "pocket", "--no-intercept"],
    "poly": ["--learner", "kernel", "--degree", "2"],
    "rbf": ["--learner", "kernel", "--kernel", "rbf", "--gamma", "0.5"],
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(classes: int = 2, rows: int = 24) -> str:
    """Rows of numbers that are exact, which a square separates and a line does not."""
    rng, lines = random.Random(classes), []
    for _ in range(rows):
        x, y = rng.randrange(-8, 9) / 8, rng.randrange(-8, 9) / 8
        lines.append(f"{int(x * y > 0) + (classes > 2) * int(x * y > 0.5)} 1:{x} 2:{y}")
    Path("rows.svm").write_text("\n".join(lines) + "\n")
    return "rows.svm"


def train(*words: Any) -> None:
    ended = run_here("train", "rows.svm", "--model", "m", "--quiet", *words)
    assert ended.code == 0, ended.err


def certificate(*words: str) -> Any:
    ended = run_here("certify", "rows.svm", "--model", "m", "--json", "--output", "cert", *words)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_is_learned_again_certified_and_verified(name: str) -> None:
    written()
    train(*LEARNERS[name], "--passes", 3)
    found = certificate()
    assert found["replayed"] is True
    assert (found["rows"], found["passes"], found["holds"]) == (24, 3, True)
    assert found["run_pull"] == str(found["updates"])
    assert verifier.main(["cert", "rows.svm"]) == 0
    ended = run_here("verify", "cert", "rows.svm", "--model", "m")
    assert ended.code == 0, ended.err
    assert "verified, from the model file" in ended.out


def test_the_voted_perceptron_proves_what_the_perceptron_proves() -> None:
    written()
    common = ["--passes", 5]
    train(*LEARNERS["voted"], *common)
    voted = certificate()
    train("--loss", "perceptron", "--rule", "perceptron", *common)
    plain = certificate()
    for name in ("updates", "radius_squared", "norm_squared", "least_score", "run_pull", "separable"):
        assert voted[name] == plain[name]
    assert voted["inseparable_bound"]["bound"] == pytest.approx(plain["inseparable_bound"]["bound"], rel=0.02)


def test_each_class_has_its_own_certificate() -> None:
    written(3)
    train(*LEARNERS["poly"], "--passes", 2)
    found = certificate()
    assert sorted(found) == ["0", "1", "2"]
    assert all(each["replayed"] for each in found.values())
    assert run_here("verify", "cert", "rows.svm", "--model", "m").code == 0


def test_rows_in_another_order_prove_nothing_of_the_run() -> None:
    written()
    train(*LEARNERS["rbf"], "--shuffle", "--passes", 2)
    found = certificate()
    assert (found["replayed"], found["bound"], found["run_pull"]) == (False, None, None)
    assert found["radius"] == 1.0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--budget", "9"], "with a budget examples are forgotten"),
        (["--scale", "max-abs"], "the model keeps examples that are not among these rows"),
    ],
)
def test_what_has_no_certificate_is_refused(words: list[str], says: str) -> None:
    written()
    train(*LEARNERS["rbf"], *words)
    ended = run_here("certify", "rows.svm", "--model", "m")
    assert (ended.code, says in ended.err) == (2, True)


def test_rows_with_weights_have_no_certificate() -> None:
    Path("rows.svm").write_text("")
    Path("rows.vw").write_text("1 2 | a\n-1 0.5 | b\n1 1 | a b\n")
    assert run_here("train", "rows.vw", "--learner", "kernel", "--model", "m", "--quiet").code == 0
    ended = run_here("certify", "rows.vw", "--model", "m")
    assert (ended.code, "rows had weights" in ended.err) == (2, True)


@pytest.mark.parametrize("name", ["updates", "mistakes", "examples", "run_pull", "weights", "kernel"])
def test_a_certificate_of_another_run_is_not_of_the_model(name: str) -> None:
    written()
    train(*LEARNERS["poly"], "--passes", 2)
    found = certificate()
    other = {"run_pull": "1", "weights": [{"rows": [0], "amounts": [5]}], "kernel": ["linear", 1, "1", "0"]}
    changed = other[name] if name in other else found[name] + 24
    Path("forged").write_text(json.dumps(replace_and_seal(found, **{name: changed})))
    ended = run_here("verify", "forged", "rows.svm", "--model", "m")
    assert ended.code == 1
    assert "are not those of the model" in ended.err
