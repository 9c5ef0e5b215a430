"""``onlinear certify --no-intercept`` and ``--against``: the homogeneous perceptron, and weights of one's own."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run_here
from onlinear import verify as verifier


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certificate(*words: str) -> Any:
    ended = run_here("certify", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def write_svmlight(path: Path, X: Any, y: Any) -> None:
    rows = (
        f"{int(label)} " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row, 1))
        for row, label in zip(X.tolist(), y, strict=True)
    )
    path.write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("T", [1, 4, 30])
def test_the_tight_example_as_it_comes_is_met_with_equality(folder: Path, T: int) -> None:
    """T updates = (R / g)^2, all labels +1: the homogeneous perceptron alone, for an intercept would end it at once."""
    (folder / "tight.svm").write_text("".join(f"+1 {t}:1\n" for t in range(1, T + 1)))
    found = certificate("tight.svm", "--no-intercept", "--output", "cert.json")
    assert (found["updates"], found["bound_exact"], found["bound_kind"]) == (T, str(T), "perceptron")
    assert verifier.main(["cert.json", "tight.svm"]) == 0
    assert certificate("tight.svm")["updates"] == 1


def test_weights_of_ones_own_lower_the_bound(folder: Path) -> None:
    """On separable rows the bound of the best of the two; the perceptron's own weights have a smaller margin."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 2))
    X = X[np.abs(X @ [1.0, 2.0]) > 0.3]
    y = np.sign(X @ [1.0, 2.0])
    write_svmlight(folder / "rows.svm", X, y)
    candidates = [np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0.0, 6.28, 1000)]
    best = max(candidates, key=lambda w: (y * (X @ w)).min() / np.linalg.norm(w))
    assert (y * (X @ best)).min() > 0.0
    (folder / "u").write_text("# a direction of ours\n" + ", ".join(map(repr, best.tolist())) + "\n")
    alone, held = (certificate("rows.svm", "--no-intercept", *more) for more in ([], ["--against", "u"]))
    margin_squared = Fraction(float((y * (X @ best)).min())) ** 2 / Fraction(float(best @ best))
    by_hand = float(Fraction(held["radius_squared"]) / margin_squared)
    assert held["bound"] <= min(alone["bound"], by_hand * (1.0 + 1e-9))
    (folder / "u").write_text(" ".join(map(repr, [*best.tolist(), 0.0])))
    assert certificate("rows.svm", "--no-intercept", "--against", "u")["bound"] == held["bound"]


def test_weights_of_a_table_have_names(folder: Path) -> None:
    """Columns of a CSV are hashed: nobody writes 2^18 numbers. These are the best of all weights.

    The nearest point to 0 of the rows y x is halfway between the last two, (1, 1/2, -1/2, 0) in width, Bern, Ulm and 1.
    """
    (folder / "t.csv").write_text("width,town,y\n3,Bern,1\n1,Bern,1\n-1,Ulm,0\n")
    (folder / "u").write_bytes(b"\xef\xbb\xbfwidth 4\r\n(intercept) 0\ntown=Bern 2\ntown=Ulm -2\n")
    found = certificate("t.csv", "--passes", "1", "--against", "u")
    assert found["separable"]
    [witness] = found["witness"]
    assert sorted(witness["values"]) == [-2.0, 2.0, 4.0]
    assert witness["intercept"] == 0.0
    for text, said in (
        ("width 2\n3\n", "u:2: the columns of these rows have names"),
        ("width one\n", "'one' is no finite"),
        ("width 1\ntown=Brn 2\n", "u:2: no row has a feature 'town=Brn': mend the name"),
        ("width 1\ntown=Bern 2\nwidth 3\n", "u:3: 'width' has a weight already"),
    ):
        (folder / "u").write_text(text)
        ended = run_here("certify", "t.csv", "--against", "u")
        assert (ended.code, ended.out) == (1, "")
        assert said in ended.err


BAD = [
    (
        "1 2 3 4\n",
        "u:1: there are 4 weights, and the rows have 2 columns: give one for each, and perhaps the intercept",
    ),
    ("1\n", "u:1: there are 1 weights, and the rows have 2 columns"),
    ("1 2\n3 4\n", "u:1: there are 2 lines of weights, and the model has 1 output"),
    ("# nothing\n", "u: has no weights"),
    ("1 nan\n", "u:1: 'nan' is no finite number"),
]


@pytest.mark.parametrize(("text", "said"), BAD)
def test_weights_of_another_width_are_a_sentence(folder: Path, text: str, said: str) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:2\n")
    (folder / "u").write_text(text)
    ended = run_here("certify", "rows.svm", "--against", "u", "--output", "cert.json")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(said)
    assert not (folder / "cert.json").exists()


def test_what_weights_of_ones_own_prove_is_said(folder: Path) -> None:
    """Whatever better ones there are; of the one class that there is scores are wanted above 0."""
    (folder / "tight.svm").write_text("".join(f"+1 {t}:1\n" for t in range(1, 5)))
    (folder / "u").write_text("1 1 1 2")
    found = certificate("tight.svm", "--no-intercept", "--against", "u")["computed"]["against"]
    assert found == {"margin": pytest.approx(7.0**-0.5), "bound": 7.0, "bound_kind": "perceptron", "vacuous": False}
    said = " ".join(run_here("certify", "tight.svm", "--no-intercept", "--against", "u").out.split())
    assert "Your weights have the margin 0.377964, and prove at most 7.00 updates (perceptron)." in said
    (folder / "xor.svm").write_text("-1\n1 2:1\n1 1:1\n-1 1:1 2:1\n")
    (folder / "u").write_text("1 1 -0.5")
    found = certificate("xor.svm", "--against", "u", "--passes", "3")["computed"]["against"]
    assert found["margin"] == pytest.approx(-1.0)  # of row 4: -(1 + 1 - 0.5) / 1.5
    assert found["vacuous"]
    (folder / "u").write_text("0 0")
    assert "Your weights are all 0, and have no margin." in run_here("certify", "xor.svm", "--against", "u").out


def test_no_intercept_is_refused_beside_a_model(folder: Path) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:2\n")
    run_here("train", "rows.svm", "--model", "m", "--loss", "perceptron", "--rule", "perceptron", "--quiet")
    ended = run_here("certify", "rows.svm", "--model", "m", "--no-intercept")
    assert ended.code == 2
    assert "a model is given" in ended.err
    (folder / "u").write_text("1 1 5 5 5")
    assert run_here("certify", "rows.svm", "--model", "m", "--against", "u").code == 1
    (folder / "u").write_text("-1 3 0.5")
    assert certificate("rows.svm", "--model", "m", "--against", "u")["separable"]
    ended = run_here("certify", "rows.svm", "--against", "none")
    assert (ended.code, ended.err) == (
        1,
        "none: cannot be read (No such file or directory): name a text file of weights\n",
    )
    assert run_here("certify", "rows.svm", "--against", "/dev/zero").err.startswith("/dev/zero: has more than ")


def test_weights_that_cannot_be_read_are_refused_before_anything_is_learned(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:2\n")
    monkeypatch.setattr("onlinear.workflow.certificates.perceptron_of", None)
    for name in ("none", "rows.svm/u", "."):
        assert "cannot be read" in run_here("certify", "rows.svm", "--against", name).err
