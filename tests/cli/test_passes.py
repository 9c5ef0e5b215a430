"""``train`` with several passes: when it stops, what it says of each, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from commands import run_here
from onlinear import MarginPerceptron, load
from onlinear.cli.job import Job

OR = "-1 1:0 2:0\n1 1:1 2:0\n1 1:0 2:1\n1 1:1 2:1\n"
XOR = OR.replace("1 1:1 2:1", "-1 1:1 2:1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("or.svm").write_text(OR)
    Path("xor.svm").write_text(XOR)


def trained(*words: Any) -> dict[str, Any]:
    """The document of a run."""
    ended = run_here("train", "--json", *words)
    assert ended.code == 0, ended
    document: dict[str, Any] = json.loads(ended.out)
    return document


@pytest.mark.compiles
@pytest.mark.parametrize("words", [["--until-separated"], ["--loss", "perceptron", "--rule", "perceptron"]])
def test_the_perceptron_stops_after_a_pass_without_an_update(words: list[str]) -> None:
    X, y = load_svmlight_file("or.svm")
    made = MarginPerceptron(0.0, order="stream").fit(X, y)
    document = trained("or.svm", "--passes", 100, *words, "--model", "m")
    assert document["converged"] is True
    assert document["passes"] == made.n_iter_ < 100
    assert [each["updates"] for each in document["per_pass"]] == made.updates_per_pass_
    assert [each["mistakes"] for each in document["per_pass"]] == made.mistakes_per_pass_
    learned = load("m")
    np.testing.assert_array_equal(learned.coef_, made.coef_)
    np.testing.assert_array_equal(learned.intercept_, made.intercept_)


@pytest.mark.compiles
def test_each_pass_has_a_line_and_its_figures() -> None:
    ended = run_here("train", "or.svm", "--until-separated")
    lines = ended.out.splitlines()
    begin = lines.index("        pass          updates       loss   mistakes       error")
    assert lines[begin + 1].split() == ["1", "3", "0.2500", "2", "50.00%"]
    assert [line.split()[0] for line in lines[begin + 1 : begin + 7]] == ["1", "2", "3", "4", "5", "6"]
    assert "Pass 6 brought no update." in lines
    assert "pass " not in run_here("train", "or.svm").out


@pytest.mark.compiles
def test_what_is_not_separated_says_so() -> None:
    ended = run_here("train", "xor.svm", "--until-separated", "--passes", 7)
    assert ended.err == (
        "None of 7 passes was without an update: the classes may not be separable, which onlinear certify tells.\n"
    )
    assert trained("xor.svm", "--until-separated", "--passes", 7)["converged"] is False


@pytest.mark.compiles
@pytest.mark.parametrize(
    "words", [["--loss", "hinge", "--margin", 0.1, "--rule", "sgd", "--l2", 0.1], ["--loss", "log_loss"]]
)
def test_learners_that_never_rest_make_all_passes(words: list[Any]) -> None:
    document = trained("or.svm", "--passes", 40, *words)
    assert document["passes"] == len(document["per_pass"]) == 40
    assert not document["converged"]


@pytest.mark.compiles
def test_several_classes_are_separated_from_each_other_not_each_from_the_rest() -> None:
    Path("line.svm").write_text("0 1:-2\n1 1:0\n2 1:2\n")  # the middle one is not separable from the rest
    document = trained("line.svm", "--until-separated")
    assert (document["loss"], document["converged"]) == ("multiclass_perceptron", True)


@pytest.mark.compiles
def test_a_run_that_comes_to_rest_goes_on_to_the_same_bytes_wherever_it_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved: list[bytes] = []
    save = Job._save

    def keep(job: Job, **how: Any) -> None:
        save(job, **how)
        saved.append(Path("m").read_bytes())

    monkeypatch.setattr(Job, "_save", keep)
    straight = trained("or.svm", "--until-separated", "--checkpoint-every", 3, "--test", "or.svm", "--model", "m")
    bytes_of_all = saved[:]
    assert len(bytes_of_all) == 6 + 2  # one in each pass, one before the test, one behind it
    for each in bytes_of_all[:-1]:
        Path("m").write_bytes(each)
        again = trained("or.svm", "--resume", "m", "--test", "or.svm")
        assert Path("m").read_bytes() == bytes_of_all[-1]
        assert again["per_pass"] == straight["per_pass"]
        assert again["passes"] == straight["passes"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--average"], "--until-separated learns weights that separate, and --average others: leave it out"),
        (["--l2", 0.1], "and --l2 others"),
        (["--loss", "log_loss", "--rule", "sgd"], "the loss log_loss always asks for updates"),
        (["--task", "regression"], "always asks for updates"),
        (["--on-drift", "reset"], "a second pass would go back to the first"),
    ],
)
def test_what_cannot_separate_is_refused(words: list[Any], says: str) -> None:
    ended = run_here("train", "or.svm", "--until-separated", *words)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert says in ended.err
