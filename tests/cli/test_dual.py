"""``onlinear train --learner voted|pocket|kernel``: the bits of Python, on every format, and what cannot be meant."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onlinear
from commands import Ended, run_here
from onlinear import KernelPerceptron, PocketPerceptron, VotedPerceptron
from onlinear.files.container import read_model, write_model
from onlinear.learning.dual import model as dual

ROWS = 150
COLUMNS = 20


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, classes: tuple[Any, ...] = (-1, 1), rows: int = ROWS, seed: int = 0) -> str:
    """A file in the format that its name says; no line separates the classes, and later rows have further names."""
    rng, lines = random.Random(seed), []
    for number in range(rows):
        x, y = rng.gauss(0, 1), rng.gauss(0, 1)
        town = rng.randrange(2 + number * (COLUMNS - 4) // rows)
        label = classes[(int(x * y > 0) + int(x > 1)) % len(classes)]
        lines.append(
            {
                "svm": f"{label} 1:{x:.3f} 2:{y:.3f} {town + 3}:1",
                "vw": f"{label} |a x:{x:.3f} y:{y:.3f} |b t{town}",
                "csv": f"{x:.3f},{y:.3f},t{town},{label}",
                "jsonl": f'{{"x": {x:.3f}, "y": {y:.3f}, "town": "t{town}", "kind": "{label}"}}',
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


def scores_of(model: str, file: str) -> list[list[str]]:
    """What ``onlinear predict --scores`` prints."""
    ended = run_here("predict", model, file, "--scores")
    assert ended.code == 0, ended.err
    return [line.split(",") for line in ended.out.splitlines()[1:]]


#: the words that train, and the estimator that learns the same
SAME: dict[str, tuple[list[Any], Callable[[], Any]]] = {
    "voted": (["voted"], VotedPerceptron),
    "voted by average, without an intercept": (
        ["voted", "--no-intercept", "--vote", "average"],
        lambda: VotedPerceptron(fit_intercept=False, vote="average"),
    ),
    "a version drawn": (
        ["voted", "--vote", "random", "--seed", 7],
        lambda: VotedPerceptron(vote="random", random_state=7),
    ),
    "pocket": (["pocket"], PocketPerceptron),
    "poly": (["kernel"], KernelPerceptron),
    "poly of degree 3": (
        ["kernel", "--degree", 3, "--gamma", 0.5, "--coef0", 2, "--vote", "last"],
        lambda: KernelPerceptron(degree=3, gamma=0.5, coef0=2.0, vote="last"),
    ),
    "rbf": (["kernel", "--kernel", "rbf", "--gamma", 0.7], lambda: KernelPerceptron("rbf", gamma=0.7)),
    "a budget": (["kernel", "--kernel", "rbf", "--budget", 25], lambda: KernelPerceptron("rbf", budget=25)),
}
FORMATS: dict[str, dict[str, Any]] = {
    "rows.svm": {"features": COLUMNS},
    "rows.vw": {"names": "exact", "features": COLUMNS},
    "rows.csv": {"names": "exact", "features": COLUMNS},
    "rows.jsonl": {"names": "exact", "features": COLUMNS, "target": "kind"},
}


def read_from(name: str) -> tuple[Any, np.ndarray]:
    """The rows and labels of a file, as Python reads them."""
    blocks = list(onlinear.open_stream(name, **FORMATS[name]))
    (block,) = blocks
    return block.X, block.y


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("same", SAME)
def test_it_learns_and_answers_as_in_python_to_the_bit(name: str, same: str) -> None:
    words, make = SAME[same]
    target = ["--target", "kind"] if name.endswith("jsonl") else []
    document = trained(written(name), *target, "--learner", *words, "--model", "m")
    X, y = read_from(name)
    labels = sorted(set(y.tolist()))
    model, edges = make(), [0, 1, 2, 70, 133, ROWS]
    for start, stop in pairwise(edges):
        model.partial_fit(X[start:stop], y[start:stop], classes=labels)
    assert (document["mistakes"], document["per_pass"][0]["updates"]) == (model.mistakes_, model.updates_)
    loaded = onlinear.load("m")
    assert type(loaded) is type(model)
    assert (loaded.dual_coef_ == model.dual_coef_).all()
    columns = loaded.support_vectors_.shape[1]
    assert (loaded.support_vectors_ == model.support_vectors_[:, :columns]).all()
    scores = model.decision_function(X)
    assert scores.any()
    assert [float(row[1]) for row in scores_of("m", name)] == scores.tolist()
    assert [row[0] for row in scores_of("m", name)] == [str(label).removesuffix(".0") for label in model.predict(X)]


@pytest.mark.parametrize("same", ["voted", "rbf", "poly of degree 3"])
def test_passes_are_those_of_fit_to_the_bit(same: str) -> None:
    words, make = SAME[same]
    document = trained(written("rows.svm", (1, 2, 3)), "--learner", *words, "--passes", 3, "--model", "m")
    X, y = read_from("rows.svm")
    model = make().set_params(max_iter=3, order="stream").fit(X, y)
    assert len(document["per_pass"]) == 3
    loaded = onlinear.load("m")
    assert loaded.mistakes_ == model.mistakes_ == sum(each["mistakes"] for each in document["per_pass"])
    assert loaded.updates_.tolist() == model.updates_.tolist()
    width = loaded.support_vectors_.shape[1]
    assert (loaded.support_vectors_ == model.support_vectors_[:, :width]).all()
    assert len(loaded.support_vectors_) <= ROWS < model.updates_.sum()  # a row that comes again is kept once
    found = np.array([[float(score) for score in row[1:]] for row in scores_of("m", "rows.svm")])
    assert (found == model.decision_function(X)).all()


@pytest.mark.parametrize(("name", "classes"), [("rows.svm", (-1, 1)), ("rows.csv", ("a", "b"))])
def test_the_linear_kernel_counts_what_the_perceptron_counts(name: str, classes: tuple[Any, ...]) -> None:
    file = written(name, classes)
    voted = trained(file, "--learner", "voted", "--vote", "last", "--passes", 4, "--model", "m")
    plain = trained(file, "--loss", "perceptron", "--rule", "perceptron", "--passes", 4, "--model", "plain")
    assert voted["progressive_loss"] == pytest.approx(plain["progressive_loss"], rel=1e-9)
    for one, other in zip(voted["per_pass"], plain["per_pass"], strict=True):
        assert one["updates"] == other["updates"] > 10
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-9)
        assert one["mistakes"] >= other["mistakes"]  # a tie is a mistake
    one, other = ([float(row[1]) for row in scores_of(model, file)] for model in ("m", "plain"))
    assert one == pytest.approx(other, rel=1e-9, abs=1e-9)
    assert (voted["learner"], voted["rule"], plain["learner"], plain["rule"]) == ("voted", None, "linear", "perceptron")


def test_the_loss_of_several_classes_is_by_how_much_the_strongest_rival_is_ahead() -> None:
    file = written("rows.svm", (1, 2, 3), rows=60)
    document = trained(file, "--learner", "kernel", "--kernel", "linear", "--classes", "1,2,3")
    X, y = read_from("rows.svm")
    model, seen, loss, mistakes = KernelPerceptron("linear", vote="last"), set[float](), 0.0, 0
    for row, label in zip(X, y.tolist(), strict=True):
        known = hasattr(model, "classes_")
        scores = model.decision_function(row)[0].tolist() if known else [0.0, 0.0, 0.0]
        by_class = dict(zip((1.0, 2.0, 3.0), scores, strict=True))
        ahead = max((by_class[rival] for rival in seen - {label}), default=0.0) - by_class[label]
        loss, mistakes = loss + max(0.0, ahead), mistakes + (ahead >= 0.0)
        seen.add(label)
        model.partial_fit(row, [label], classes=[1.0, 2.0, 3.0])
    assert document["loss"] == "multiclass_perceptron"
    assert document["progressive_loss"] == pytest.approx(loss / 60, rel=1e-9)
    assert document["mistakes"] == mistakes == model.mistakes_


def test_xor_is_separated_by_a_kernel_and_the_run_ends() -> None:
    Path("xor.svm").write_text("-1 3:0\n1 1:1\n1 2:1\n-1 1:1 2:1\n")
    words = ["xor.svm", "--until-separated", "--model", "m", "--learner"]
    document = trained(*words, "kernel", "--kernel", "rbf")
    assert document["converged"] is True
    assert document["per_pass"][-1]["updates"] == 0
    assert document["passes"] < 20
    tested = json.loads(run_here("test", "m", "xor.svm", "--json").out)
    assert (tested["error"], tested["auc"], tested["log_loss"]) == (0.0, 1.0, None)
    assert len(onlinear.load("m").support_vectors_) <= 4
    linear = run_here("train", *words, "voted", "--passes", 30)
    assert (linear.code, "None of 30 passes" in linear.err) == (0, True)


def test_a_recipe_that_changes_rows_is_answered_by_a_file_model() -> None:
    file = written("rows.csv")
    trained(file, "--scale", "standardise", "--learner", "kernel", "--kernel", "rbf", "--model", "m")
    model = onlinear.load("m")
    assert isinstance(model, onlinear.FileModel)
    labels = onlinear.predict("m", file).tolist()
    assert labels == model.predict(file).tolist() == [int(row[0]) for row in scores_of("m", file)]
    assert model.decision_function(file).tolist() == [float(row[1]) for row in scores_of("m", file)]
    assert model.examples_ == ROWS
    assert not hasattr(model, "coef_")


def test_a_model_of_names_answers_dicts_and_learns_from_them() -> None:
    trained(written("rows.csv"), "--learner", "voted", "--model", "m")
    model = onlinear.load("m")
    one = {"x": 0.5, "y": -0.25, "town": "t1"}
    Path("one.csv").write_text("x,y,town\n0.5,-0.25,t1\n")
    assert model.predict_one(one) == int(scores_of("m", "one.csv")[0][0])
    before = model.predict_one(one)
    for _ in range(9):
        model.learn_one(one, -before)
    assert model.set_params(vote="last").predict_one(one) == -before
    with pytest.raises(onlinear.BadRow, match="has learned it as a category"):
        model.learn_one({"town": 3.0}, 1)


def test_inspect_says_what_is_kept() -> None:
    trained(written("rows.svm"), "--learner", "kernel", "--kernel", "rbf", "--budget", 20, "--model", "m")
    lines = run_here("inspect", "m").out.splitlines()
    assert lines[2:4] == ["learner: kernel, answers by: vote", "kernel: rbf (gamma 1)"]
    assert "kept examples: 20, of a budget of 20, with 17 columns each" in lines
    found = json.loads(run_here("inspect", "m", "--json").out)
    assert (found["holds"], found["kept"], found["budget"]) == ("KernelPerceptron", 20, 20)
    assert found["figures"]["updates"] > 20


# ------------------------------------------------------------------ what stops a run

HUGE = "1 1:1\n-1 1:-2 2:1\n1 1:1e200\n-1 2:3\n"


def test_a_row_beyond_the_range_of_numbers_is_named_and_those_before_it_are_learned() -> None:
    Path("huge.svm").write_text(HUGE)
    ended = run_here("train", "huge.svm", "--learner", "kernel", "--keep-partial", "--model", "m", "--quiet")
    assert ended.code == 1
    assert ended.err.startswith("huge.svm:3:1: the kernel of these rows may leave the range")
    assert onlinear.load("m").examples_ == 2
    answer = run_here("predict", "m", "huge.svm")
    assert answer.code == 1
    assert answer.err.startswith("huge.svm:3:1: ")


def test_a_budget_refuses_rows_that_count_otherwise() -> None:
    Path("rows.vw").write_text("1 1 | a\n-1 1 | b\n1 2 | a b\n-1 0 | a\n-1 1 | b:2\n")
    words = ["rows.vw", "--learner", "kernel", "--budget", 9, "--model", "m"]
    stopped = run_here("train", *words)
    assert stopped.code == 1
    assert "rows.vw:3:" in stopped.err
    assert "its importance is 2: a budget is kept by steps of 1" in stopped.err
    assert trained(*words, "--bad-lines", "skip")["examples"] == 3


def test_weights_count_as_in_python() -> None:
    Path("rows.vw").write_text("1 2 | a:1\n-1 0.5 | b:1 a:3\n1 0 | a:9\n1 3 | b:2\n-1 1 | a:1\n")
    document = trained("rows.vw", "--learner", "kernel", "--model", "m")
    assert (document["examples"], document["weight_sum"]) == (4, 6.5)
    X, y, weights = np.array([[1, 0], [3, 1], [0, 2], [1, 0]]), [1, -1, 1, -1], [2, 0.5, 3, 1]
    model = KernelPerceptron().partial_fit(X.astype(float), y, classes=[-1, 1], sample_weight=weights)
    assert (onlinear.load("m").dual_coef_ == model.dual_coef_).all()


def test_examples_that_would_fill_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dual, "MOST_BYTES", 64 * 30 * 8)
    trained(written("rows.svm", rows=3), "--learner", "voted")
    Path("wide.svm").write_text("1 1:1\n-1 40:1\n")
    ended = run_here("train", "wide.svm", "--learner", "voted")
    assert ended.code == 2
    assert "0 examples are kept, and with 40 columns the next ones come to" in ended.err


def test_labels_that_look_like_ids_are_refused_before_a_perceptron_is_made_for_each() -> None:
    """20,000 steps of 20,000 perceptrons are 3.2 GB, and hours."""
    Path("ids.csv").write_text("x,y\n" + "".join(f"{k % 5},id{k}\n" for k in range(20_000)))
    ended = run_here("train", "ids.csv", "--learner", "voted", "--quiet", "--model", "m")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("20,000 different labels in 20,000 examples: with a perceptron for each, ")
    assert not Path("m").exists()


def test_columns_and_names_that_were_never_learned_count_nothing() -> None:
    Path("few.svm").write_text("1 1:1\n-1 2:1\n1 1:2\n")
    trained("few.svm", "--learner", "kernel", "--kernel", "rbf", "--model", "m")
    Path("more.svm").write_text("1 1:1 9:5\n1 1:1\n")
    one, other = scores_of("m", "more.svm")
    assert one == other


# ------------------------------------------------------------------ model files that we did not write

DAMAGE: dict[str, Callable[[Any, Any], object]] = {
    "a number twice": lambda header, arrays: arrays["numbers"].__setitem__(slice(2), 3),
    "fewer numbers than rows": lambda header, arrays: arrays.update(numbers=arrays["numbers"][1:]),
    "numbers that are none": lambda header, arrays: arrays.update(numbers=arrays["numbers"] * 0.5),
    "a vote that there is not": lambda header, arrays: header["parameters"].update(vote="loudest"),
    "no vote": lambda header, arrays: header["parameters"].pop("vote"),
    "another estimator": lambda header, arrays: header.update(holds="OnlineClassifier"),
    "a shorter history": lambda header, arrays: arrays.update(history=arrays["history"][1:]),
    "a history of nothing": lambda header, arrays: arrays["history"].__setitem__((0, 0), -1.0),
    "more mistakes than examples": lambda header, arrays: header["state"].update(_mistakes=ROWS + 1),
    "a loss below 0": lambda header, arrays: header["perceptrons"].update(loss=-1.0),
    "a loss that is a word": lambda header, arrays: header["perceptrons"].update(loss="low"),
    "figures that are none": lambda header, arrays: header["figures"].update(examples=-1),
    "names of other columns": lambda header, arrays: header["state"].update(n_features_in_=3),
    "a recipe that hashes": lambda header, arrays: header["recipe"].update(format={"vw": {"naming": {"bits": 4}}}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_model_that_we_did_not_write_is_refused(name: str) -> None:
    lines = Path(written("rows.svm")).read_text().splitlines()
    Path("rows.svm").write_text("\n".join([*lines, "x"]))
    assert run_here("train", "rows.svm", "--learner", "kernel", "--model", "m", "--keep-partial").code == 1
    assert run_here("inspect", "m").code == 0
    header, arrays = read_model("m")
    DAMAGE[name](header, arrays)
    write_model("m", header, arrays)
    ended = run_here("train", "rows.svm", "--resume", "m")
    assert (ended.code, ended.err.startswith("m cannot be loaded: ")) == (3, True), ended.err


# ------------------------------------------------------------------ what cannot be meant

REFUSED: dict[str, str] = {
    "voted --loss hinge": "--loss is of linear learners, and --learner voted keeps examples instead of weights",
    "kernel --rule arow": "--rule is of linear learners",
    "kernel --rate 2": "--rate is of linear learners",
    "voted --l2 0.1": "--l2 is of linear learners",
    "pocket --average": "--average is of linear learners",
    "voted --forget 0.1": "--forget is of linear learners",
    "voted --on-drift reset": "--on-drift is of linear learners",
    "voted --slim": "--slim is of linear learners",
    "voted --start-at rows.svm": "--start-at is of linear learners",
    "voted --bits 9": "--bits hashes names",
    "voted --names hashed": "--names hashes names",
    "kernel --keep-names": "--keep-names hashes names",
    "voted --task regression": "tells classes apart, and numbers are asked for",
    "voted --budget 10": "--budget means nothing to --learner voted: it belongs to --learner kernel",
    "voted --kernel rbf": "--kernel means nothing to --learner voted",
    "pocket --vote last": "--vote means nothing to --learner pocket: it belongs to --learner voted and kernel",
    "linear --vote last": "--vote means nothing to --learner linear",
    "linear --gamma 2": "--gamma means nothing here: it belongs to the kernel poly and rbf",
    "kernel --kernel linear --gamma 2": "--gamma means nothing here",
    "kernel --kernel rbf --degree 2": "--degree means nothing here: it belongs to the kernel poly",
    "kernel --kernel rbf --coef0 2": "--coef0 means nothing here",
    "kernel --no-intercept": "--intercept says nothing of kernels",
    "kernel --gamma 0": "--gamma is 0: give a number above 0",
    "kernel --gamma inf": "--gamma is inf: give a number above 0",
    "kernel --coef0 -1": "--coef0 is -1: give a number from 0 on",
    "kernel --seed 3": "--seed means nothing without --shuffle, --vote random or --random-features",
    "kernel --vote random --seed 4294967296": "give at most 4294967295",
    "voted --until-separated --average": "--average",
    "kernel --budget 20 --classes open": "--budget is shared out among the classes",
    "kernel --budget 1 --classes 1,2,3": "a budget of 1 does not suffice for 3 classes",
    "boosted": "'boosted' is none that there is: did you mean voted?",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_meant_is_refused_by_name(words: str) -> None:
    written("rows.svm")
    ended = run_here("train", "rows.svm", "--learner", *words.split(), "--model", "m")
    assert ended.code == 2
    assert REFUSED[words] in ended.err
    assert not Path("m").exists()


def test_a_model_that_goes_on_has_settled_its_learner() -> None:
    trained(written("rows.svm"), "--learner", "kernel", "--model", "m")
    more = written("more.svm", seed=3)
    for words in (["--learner", "kernel"], ["--kernel", "poly"], ["--vote", "last"]):
        ended = run_here("train", more, "--resume", "m", *words)
        assert (ended.code, f"{words[0]} is settled in the model" in ended.err) == (2, True)
    slim = run_here("train", more, "--resume", "m", "--slim")
    assert (slim.code, "--learner kernel needs all that it keeps to answer" in slim.err) == (2, True)
    started: Ended = run_here("train", more, "--start-at", "m", "--model", "n")
    assert (started.code, "a kernel perceptron keeps examples, and has no weights" in started.err) == (2, True)


def test_more_files_are_more_rows_for_a_finished_model() -> None:
    trained(written("rows.svm"), "--learner", "kernel", "--model", "m")
    trained(written("more.svm", seed=3), "--resume", "m")
    (X, y), (more, labels) = read_from("rows.svm"), read_from_more()
    model = KernelPerceptron().partial_fit(X, y, classes=[-1, 1]).partial_fit(more, labels)
    assert (onlinear.load("m").dual_coef_ == model.dual_coef_).all()


def read_from_more() -> tuple[Any, np.ndarray]:
    (block,) = onlinear.open_stream("more.svm", features=COLUMNS)
    return block.X, block.y


def test_the_help_is_readable_at_80_columns() -> None:
    lines = run_here("train", "--help").out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "Perceptrons that keep examples:" in lines
