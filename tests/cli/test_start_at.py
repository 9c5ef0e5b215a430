"""``train --start-at``: a new model that begins with the weights of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from commands import run_here
from onlinear import MarginPerceptron, load

ROWS = [f"{1 if (k * 7) % 5 < 2 else -1} {k % 4 + 1}:{k % 3 + 1} {k % 6 + 5}:0.5\n" for k in range(30)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.svm").write_text("".join(ROWS))
    Path("rows.csv").write_text("x,town,y\n" + "".join(f"{k % 5},T{k % 3},{'ab'[k * k % 3]}\n" for k in range(30)))


def trained(*words: Any) -> dict[str, Any]:
    ended = run_here("train", "--json", *words)
    assert ended.code == 0, ended
    document: dict[str, Any] = json.loads(ended.out)
    return document


@pytest.mark.compiles
def test_it_learns_on_from_the_weights_with_another_rule() -> None:
    trained("rows.svm", "--rule", "ftrl", "--model", "first")
    first = load("first")
    words = ["--rule", "perceptron", "--loss", "perceptron", "--passes", 2, "--model", "m"]
    trained("rows.svm", "--start-at", "first", *words)
    X, y = load_svmlight_file("rows.svm")
    own = MarginPerceptron(0.0, order="stream", max_iter=2)
    with pytest.warns(match="there still are updates"):
        own.fit(X, y, coef_init=first.coef_, intercept_init=first.intercept_)
    np.testing.assert_allclose(load("m").coef_, own.coef_, rtol=1e-12)


@pytest.mark.compiles
@pytest.mark.parametrize("options", [["--names", "exact"], ["--bits", 8], ["--names", "exact", "--scale", "max-abs"]])
def test_it_reads_files_as_the_model_does(options: list[Any]) -> None:
    trained("rows.csv", *options, "--model", "first")
    run_here("predict", "first", "rows.csv", "--scores", "--output", "first.csv")
    Path("none.csv").write_text("x,town,y\n1,T9,a\n")
    trained("none.csv", "--start-at", "first", "--rule", "sgd", "--rate", 0, "--model", "m")
    run_here("predict", "m", "rows.csv", "--scores", "--output", "m.csv")
    assert Path("first.csv").read_text() == Path("m.csv").read_text()


@pytest.mark.compiles
def test_a_run_that_stopped_goes_on_to_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    from onlinear.cli.job import Job

    trained("rows.svm", "--model", "first")
    saved: list[bytes] = []
    save = Job._save

    def keep(job: Job, **how: Any) -> None:
        save(job, **how)
        saved.append(Path("m").read_bytes())

    monkeypatch.setattr(Job, "_save", keep)
    trained("rows.svm", "--start-at", "first", "--checkpoint-every", 13, "--model", "m")
    *checkpoints, straight = saved
    for each in checkpoints:
        Path("m").write_bytes(each)
        trained("rows.svm", "--resume", "m")
        assert Path("m").read_bytes() == straight


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--start-at", "first", "--scale", "unit"], 2, "--scale is settled in first, where it starts: leave it out"),
        (["--start-at", "first", "--classes", "a,b"], 2, "--classes is settled in first"),
        (["--start-at", "first", "--resume", "first"], 2, "--start-at is settled in the model that goes on"),
        (["--start-at", "first", "--loss", "softmax"], 2, "choose a loss of its kind"),
        (["--start-at", "first", "--loss", "quantile"], 2, "the loss quantile is not for classification"),
        (["--start-at", "slim"], 2, "slim was saved slim"),
        (["--start-at", "rows.csv"], 3, "rows.csv is no onlinear model"),
        (["--start-at", "missing"], 3, "missing"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], code: int, says: str) -> None:
    trained("rows.svm", "--model", "first")
    trained("rows.svm", "--model", "slim", "--slim")
    before = Path("first").read_bytes()
    ended = run_here("train", "rows.svm", *words, "--model", "m")
    assert (ended.code, says in ended.err) == (code, True), ended
    assert not Path("m").exists()
    assert Path("first").read_bytes() == before
