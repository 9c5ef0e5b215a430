"""``onlinear certify`` on files: separable or not, each class's own counts, models and the rows they learned."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import run_apart, run_here
from onlinear import verify as verifier
from onlinear.cli.certificate_slide import counted
from onlinear.files.container import read_model, write_model
from onlinear.kernels.learn.state import EXAMPLES
from onlinear.theory.certificates import replace_and_seal

XOR = {
    "xor.csv": "0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n",
    "xor.svm": "-1\n+1 2:1\n+1 1:1\n-1 1:1 2:1\n",
    "xor.vw": "-1 | a:0\n1 | b\n1 | a\n-1 | a b\n",
}
#: a point with two labels
TWICE = "1 1:0.1 2:0.7\n-1 1:0.1 2:0.7\n1 1:3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def certificate(*words: str) -> Any:
    ended = run_here("certify", *words, "--json")
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


def train(file: str, *words: str) -> Any:
    common = ["--model", "m", "--loss", "perceptron", "--rule", "perceptron", "--quiet"]
    return run_here("train", file, *common, *words)


@pytest.mark.parametrize(("name", "text"), [*XOR.items(), ("twice.svm", TWICE)])
def test_what_is_not_separable_is_said_to_be(folder: Path, name: str, text: str) -> None:
    """The table's room for columns is no dimension: 1,024 of an svmlight file, 2^18 of a CSV file."""
    (folder / name).write_text(text)
    said = run_here("certify", name, "--output", "cert.json", "--export", "rows.svm")
    assert (said.code, said.out.splitlines()[1][:14]) == (0, "Not separable:")
    found = json.loads((folder / "cert.json").read_text())
    assert found["separable"] is False
    assert len(found["witness"]["rows"]) >= 2
    assert verifier.main(["cert.json", "rows.svm"]) == 0


@pytest.mark.parametrize("zeros", ["-1 0 | b:1\n", "-1 0 | a b\n1 0 |\n", "3 0 | a:2\n-1 0 | a:1e308\n"])
@pytest.mark.parametrize("where", [0, 1, 3])
def test_rows_of_importance_0_are_absent(folder: Path, zeros: str, where: int) -> None:
    """As to the learner: what is proven is what is proven without them, though their labels are of no class."""
    lines = ["1 1 | a:1\n", "-1 2 | a:-1 b:1\n", "1 0.5 | a:0.5 b:-1\n"]
    (folder / "less.vw").write_text("".join(lines))
    (folder / "more.vw").write_text("".join([*lines[:where], zeros, *lines[where:]]))
    for words in ([], ["--model", "m"]):
        found = []
        for file in ("more.vw", "less.vw"):
            if words:
                assert train(file, "--passes", "3", "--classes", "-1,1").code == 0
            found.append(certificate(file, *words, "--export", "rows.svm") | {"file_sha256": None, "sha256": None})
            assert len(Path("rows.svm").read_text().splitlines()) == 3
        assert found[0] == found[1]
        assert found[0]["replayed"]


def test_rows_without_a_single_entry(folder: Path) -> None:
    """A model of no columns has learned them, and only an intercept."""
    (folder / "none.svm").write_text("1\n-1\n")
    assert train("none.svm").code == 0
    assert certificate("none.svm", "--model", "m")["separable"] is False


THREE = "a 1:1 2:0.5\nb 1:-1\nc 2:-1\na 1:0.5 2:1\nb 1:-2 2:0.5\nc 1:0.5 2:-2\na 1:0.2\nb 2:0.3\n"


def own_counts(text: str, label: str, passes: int) -> tuple[int, int]:
    """Updates and mistakes of a perceptron for one class against the rest, by hand; a tie is answered by the rest."""
    weights, updates, mistakes = [0.0, 0.0, 0.0], 0, 0
    for line in text.splitlines() * passes:
        name, *cells = line.split()
        x = [0.0, 0.0, 1.0]
        for cell in cells:
            j, _, value = cell.partition(":")
            x[int(j) - 1] = float(value)
        score, y = sum(w * v for w, v in zip(weights, x, strict=True)), 1.0 if name == label else -1.0
        mistakes += (score > 0.0) != (y > 0.0)
        if y * score <= 0.0:
            updates += 1
            weights = [w + y * v for w, v in zip(weights, x, strict=True)]
    return updates, mistakes


def test_each_class_has_its_own_mistakes(folder: Path) -> None:
    numbers = THREE.replace("a", "1").replace("b", "2").replace("c", "3")
    (folder / "three.svm").write_text(numbers)
    for words in (["three.svm"], ["three.svm", "--model", "m"]):
        if "--model" in words:
            assert train("three.svm", "--passes", "3").code == 0
        found = certificate(*words)
        for label, each in found.items():
            assert (each["updates"], each["mistakes"]) == own_counts(numbers, label, each["passes"])
    said = run_here("certify", "three.svm", "--model", "m").out
    for each in found.values():
        updates, mistakes = counted(each["updates"], "update"), counted(each["mistakes"], "mistake")
        assert f"The run: {updates} and {mistakes} in 24 trials" in said


def test_rows_that_the_model_never_had(folder: Path) -> None:
    """As many, as long, of the same classes: learned again they do not make its weights."""
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:1\n-1 1:-2\n")
    (folder / "others.svm").write_text("1 1:2 2:1\n-1 1:1 2:-1\n1 1:1 2:2\n-1 2:-2\n")
    assert (
        run_here(
            *[
                "train",
                "rows.svm",
                "-m",
                "m",
                "--loss",
                "perceptron",
                "--rule",
                "perceptron",
                "--passes",
                "2",
                "--quiet",
            ]
        ).code
        == 0
    )
    own, other = certificate("rows.svm", "--model", "m"), certificate("others.svm", "--model", "m")
    assert own["replayed"]
    assert own["bound"] is not None
    assert other["examples"] == own["examples"]
    assert other["radius"] == own["radius"]
    assert not other["replayed"]
    assert other["combination"] is not None  # which the rows tell, whoever has learned them
    names = ("bound", "bound_kind", "promised_share", "inseparable_bound", "hinge_bound", "run_pull", "pull")
    assert [other[name] for name in names] == [None] * len(names)
    said = run_here("certify", "others.svm", "--model", "m", "--output", "cert").out
    assert "Nothing is proven of the model's run" in said
    assert "The run: " not in said
    said = run_here("verify", "cert", "others.svm", "--model", "m").out
    assert "It does not say that it learned these rows: " in said
    assert "learned from these rows" not in said
    assert said.endswith("examples and updates are those of the certificate, which names no sums of steps.\n")


def says_examples(examples: int) -> None:
    """Let the model file m say that it has learned so many examples."""
    header, arrays = read_model("m")
    header["figures"]["examples"] = examples
    arrays["learner/clock"][:, EXAMPLES] = examples
    arrays["learner/history"] = np.zeros((examples.bit_length(), 1, 3))
    write_model("m", header, arrays)


def test_a_run_without_end_is_not_learned_again(folder: Path) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:1\n-1 1:-2\n")
    assert train("rows.svm", "--passes", "2").code == 0
    for examples in (4 * 10**15, 4004):
        says_examples(examples)
        found = certificate("rows.svm", "--model", "m")
        assert not found["replayed"]
        assert found["bound"] is None
    said = " ".join(run_here("certify", "rows.svm", "--model", "m").out.split())
    assert "in 1,000 passes or as many more as --passes allows" in said


def test_a_run_of_many_passes_is_learned_again_if_that_is_said(folder: Path) -> None:
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:1 2:2\n")  # of two classes: every pass brings updates
    assert train("rows.svm", "--passes", "1100").code == 0
    assert not certificate("rows.svm", "--model", "m")["replayed"]
    assert certificate("rows.svm", "--model", "m", "--passes", "1100")["replayed"]


@pytest.mark.parametrize("names", [["--names", "exact"], ["--keep-names"], []])
@pytest.mark.parametrize("line", ["1 | a:1e308 a:1e308", "1 | a:x"])
def test_bad_rows_are_reported(folder: Path, line: str, names: list[str]) -> None:
    """Those that only the recipe finds, too: a name whose values add up to infinity."""
    good = "1 | a b:2\n-1 | b c\n1 | a c:0.5\n-1 | c:2\n"
    (folder / "good.vw").write_text(good)
    (folder / "bad.vw").write_text(good + line + "\n")
    assert train("good.vw", *names).code == 0
    assert run_here("certify", "good.vw", "--model", "m").code == 0
    ended = run_here("certify", "bad.vw", "--model", "m")
    assert ended.code == 1
    assert "bad.vw:5" in ended.err


def test_a_recipe_that_does_not_fit_its_table(folder: Path) -> None:
    """Columns are compared with the table before a compiled loop reads it."""
    (folder / "rows.vw").write_text("1 | a b\n-1 | b c\n1 | a\n-1 | c d e f g\n")
    assert (
        run_here(
            *["train", "rows.vw", "-m", "m", "--bits", "8", "--loss", "perceptron", "--rule", "perceptron", "--quiet"]
        ).code
        == 0
    )
    header, arrays = read_model(folder / "m")
    text = json.dumps(header["recipe"])
    assert '"bits": 8' in text
    header["recipe"] = json.loads(text.replace('"bits": 8', '"bits": 24'))
    write_model(folder / "crafted", header, arrays)
    ended = run_here("certify", "rows.vw", "--model", "crafted")
    assert ended.code == 3
    assert "its recipe has names hashed to 24 bits, and its table 256 columns" in ended.err


def test_one_class_on_its_own(folder: Path) -> None:
    (folder / "one.svm").write_text("1 1:1\n1 2:1\n1 3:1\n")
    found = certificate("one.svm", "--output", "cert")
    assert (found["classes"], found["separable"], found["updates"]) == ([1], True, 1)  # the intercept is enough
    assert verifier.main(["cert", "one.svm"]) == 0
    assert run_here("certify", "one.svm", "--output", "cert", "--export", "rows.svm").code == 0
    assert verifier.main(["cert", "rows.svm"]) == 0


def test_verify_compares_with_the_model_file(folder: Path) -> None:
    """Whoever writes the digest of a model file into a certificate has not written its weights."""
    (folder / "rows.svm").write_text("1 1:1 2:2\n-1 1:-1 2:1\n1 1:2 2:1\n-1 1:-2\n")
    for name, loss in (("m", "perceptron"), ("other", "hinge")):
        assert run_here(*f"train rows.svm -m {name} --loss {loss} --rule sgd --passes 2 --quiet".split()).code == 0
    found = certificate("rows.svm", "--model", "m", "--output", "cert")
    ended = run_here("verify", "cert", "rows.svm", "--model", "m")
    assert ended.code == 0
    assert ended.out.endswith("Its weights, examples, updates and sums of steps are those of the certificate.\n")
    assert "file_sha256" in run_here("verify", "cert", "rows.svm", "--model", "other").err
    digest = hashlib.sha256((folder / "other").read_bytes()).hexdigest()
    (folder / "forged").write_text(json.dumps(replace_and_seal(found, file_sha256=digest)))
    ended = run_here("verify", "forged", "rows.svm", "--model", "other")
    assert (ended.code, ended.out) == (1, "")
    assert "are not those of the model" in ended.err
    for name in ("updates", "mistakes"):
        (folder / "forged").write_text(json.dumps(replace_and_seal(found, **{name: found[name] + 1})))
        assert run_here("verify", "forged", "rows.svm", "--model", "m").code == 1


def test_one_of_several_certificates_is_not_the_model(folder: Path) -> None:
    """It has the weights of one class, and the model those of three."""
    (folder / "rows.svm").write_text("1 1:1 2:0.5\n2 1:-1\n3 2:-1\n1 1:0.5 2:1\n2 1:-2 2:0.5\n3 1:0.5 2:-2\n")
    assert train("rows.svm", "--passes", "3").code == 0
    certificate("rows.svm", "--model", "m", "--output", "cert")
    found = json.loads((folder / "cert").read_text())
    assert run_here("verify", "cert", "rows.svm", "--model", "m").code == 0
    for label, each in found.items():
        for alone in (each, {label: each}):
            (folder / "alone").write_text(json.dumps(alone))
            assert run_here("verify", "alone", "rows.svm").code == 0
            ended = run_here("verify", "alone", "rows.svm", "--model", "m")
            assert (ended.code, ended.out) == (1, "")
            assert "the model has 3 classes, and there is 1 certificate" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("cert missing.svm", "missing.svm: no such file: name the rows that the certificate is of"),
        ("missing rows.svm", "missing: no such file: name a certificate that certify has written"),
        (
            "cert -",
            "standard input is not read by verify: save it to a file, and name the rows that the certificate is of",
        ),
        ("cert .", ".: is a directory: name the rows that the certificate is of"),
    ],
)
def test_verify_says_which_file_is_not_there(folder: Path, words: str, said: str) -> None:
    (folder / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    assert run_here("certify", "rows.svm", "--output", "cert").code == 0
    assert run_here("verify", *words.split()) == (1, "", f"{said}\n")
    assert run_here("verify", "cert", "rows.svm").code == 0


def soon_ended() -> None:
    """A process that would read or wait without end is ended."""
    signal.alarm(60)
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


@pytest.mark.parametrize("file", ["/dev/zero", "pipe", "large"])
def test_verify_reads_no_certificate_without_end(folder: Path, file: str) -> None:
    (folder / "rows.svm").write_text("1 1:1\n-1 1:-1\n")
    assert train("rows.svm").code == 0
    os.mkfifo(folder / "pipe")
    with (folder / "large").open("wb") as large:
        large.truncate(verifier.MOST_BYTES + 1)
    for model in ([], ["--model", "m"]):
        ended = run_apart("verify", file, "rows.svm", *model, cwd=folder, preexec_fn=soon_ended)
        assert ended.code == 1
        assert "no such file, or a device or a pipe, or more than" in ended.err


@pytest.mark.parametrize("rows", ["a,b,y\n1,0,1\n0,1,-1\n1,0.5,1\n", "a,y,b\n1,yes,Bern\n0,no,Thun\n1,yes,Thun\n"])
def test_a_certificate_of_a_table_asks_for_the_exported_rows(folder: Path, rows: str) -> None:
    (folder / "rows.csv").write_text(rows)
    words = ["certify", "rows.csv", "--target", "y", "--output", "cert.json"]
    ended = run_here(*words)
    assert ended.code == 0
    assert "(--export rows.svm)" in ended.err
    refused = run_here("verify", "cert.json", "rows.csv")
    assert refused.code != 0
    assert refused.err.startswith("NOT verified: ")
    assert refused.err.endswith("; is this the file that certify exported (--export)?\n")
    assert run_here(*words, "--export", "rows.svm").err == ""
    assert run_here("verify", "cert.json", "rows.svm").code == 0
    assert run_here("certify", "rows.svm", "--output", "cert.json").err == ""


def test_a_class_may_be_called_as_the_seal_is(folder: Path) -> None:
    rows = "".join(f"{x},{z},{label}\n" for x, z, label in ((1, 0, "sha256"), (0, 1, "b"), (-1, -1, "c")))
    (folder / "rows.csv").write_text("x,z,y\n" + rows)
    common = ["--loss", "perceptron", "--rule", "perceptron", "--quiet", "--names", "exact"]
    assert run_here("train", "rows.csv", "--model", "m", *common).code == 0
    said = run_here("certify", "rows.csv", "--model", "m", "--output", "cert.json", "--export", "rows.svm")
    assert said.code == 0, said
    assert "sha256 against the rest:" in said.out
    assert sorted(json.loads((folder / "cert.json").read_text())) == ["b", "c", "sha256"]
    assert run_here("verify", "cert.json", "rows.svm", "--model", "m").code == 0
