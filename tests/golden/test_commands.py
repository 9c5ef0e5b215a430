"""Command lines and what comes of them: cases in ``commands/*.toml``, and their numbers checked by other means."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction import DictVectorizer
from sklearn.metrics import confusion_matrix, log_loss, mean_absolute_error, mean_squared_error, roc_auc_score

import onlinear
from commands import Ended, process, run_apart, run_here
from onlinear import OnlineClassifier, OnlineRegressor
from onlinear.cli import COMMANDS
from onlinear.cli.commands import Command, fields
from onlinear.registry import LOSSES, RULES, SCHEDULES

FOLDER = Path(__file__).parent / "commands"
CASES = [case for file in ("cases.toml", "reading.toml") for case in tomllib.loads((FOLDER / file).read_text())["case"]]
KEYS = {"name", "files", "packed", "before", "run", "stdin", "apart", "code", "out", "err", "json", "holds", "same"}
KEYS |= {"absent", "after", "equal", "learned", "asked"}
ANYTHING = "~"
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?")
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda text: pyarrow.compress(text, codec="zstd", asbytes=True),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that commands read."""
    shutil.copytree(FOLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ------------------------------------------------------------------ the cases


@pytest.mark.compiles
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_command_does_what_its_case_says(
    case: dict[str, Any], folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(case, folder)
    run_all(case.get("before", []))
    ended = run(case)
    assert ended.code == case.get("code", 0), ended
    check_text(ended.err, case.get("err", ""))
    if "json" in case:
        check_json(json.loads(ended.out), case["json"])
    else:
        check_text(ended.out, case.get("out", ""))
    for name, content in case.get("holds", {}).items():
        check_text((folder / name).read_text(encoding="utf-8"), content)
    for name in case.get("absent", []):
        assert not (folder / name).exists()
    run_all(case.get("after", []))
    if "equal" in case:
        first, second = ((folder / name).read_bytes() for name in case["equal"])
        assert first == second != b""
    if "learned" in case:
        check_learned(case["learned"], case.get("asked", {}))
    if "same" in case:
        monkeypatch.chdir(shutil.copytree(folder, tmp_path_factory.mktemp("same"), dirs_exist_ok=True))
        Path("m").unlink()
        assert run_here(*shlex.split(case["same"])).code == 0
        assert (folder / "m").read_bytes() == Path("m").read_bytes()


def prepare(case: dict[str, Any], folder: Path) -> None:
    """The files of a case."""
    assert set(case) <= KEYS
    for name, content in case.get("files", {}).items():
        (folder / name).write_text(content, encoding="utf-8")
    for name, of in case.get("packed", {}).items():
        (folder / name).write_bytes(PACKERS[Path(name).suffix]((folder / of).read_bytes()))


def run_all(commands: list[str]) -> None:
    for words in commands:
        ended = run_here(*shlex.split(words))
        assert ended.code == 0, ended


def run(case: dict[str, Any]) -> Ended:
    stdin = Path(case["stdin"]).read_bytes() if "stdin" in case else b""
    return (run_apart if case.get("apart") else run_here)(*shlex.split(case["run"]), stdin=stdin)


def check_text(found: str, wanted: str) -> None:
    """The same lines, but that the wanted ones leave open what ~ stands for, and numbers may be off a little."""
    lines, wanted_lines = found.splitlines(), wanted.removeprefix("\n").splitlines()
    assert len(lines) == len(wanted_lines), found
    for line, wanted_line in zip(lines, wanted_lines, strict=True):
        match = re.fullmatch(pattern_of(wanted_line), line)
        assert match is not None, found
        wanted_numbers = [float(number) for number in NUMBER.findall(wanted_line)]
        assert [float(number) for number in match.groups()] == pytest.approx(wanted_numbers, rel=1e-6, abs=2e-9), found


def pattern_of(wanted: str) -> str:
    """A pattern for a line, with a group for each number that has a point."""
    texts = (".*".join(map(re.escape, text.split(ANYTHING))) for text in NUMBER.split(wanted))
    return f"({NUMBER.pattern})".join(texts)


def check_json(found: Any, wanted: Any) -> None:
    """The wanted keys with the wanted values; TOML has no word for null, so "none" is one."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            check_json(found[key], value)
    elif wanted == "none":
        assert found is None
    elif isinstance(wanted, float):
        assert found == pytest.approx(wanted, rel=1e-6)
    else:
        assert found == wanted


def check_learned(rows: list[dict[str, Any]], asked: dict[str, list[dict[str, Any]]]) -> None:
    """The weights of the model m by name, and its scores of files, are those of the classifier with these rows."""
    columns, labels = DictVectorizer(), [row["y"] for row in rows]
    X = columns.fit_transform([row["x"] for row in rows])
    classes = [0, 1] if len(set(labels)) == 1 else np.unique(labels)
    model = OnlineClassifier().partial_fit(X, labels, classes=classes, sample_weight=[row.get("w", 1) for row in rows])
    found = json.loads(run_here("inspect", "m", "--json", "--top", 1000).out)
    wanted = dict(zip(columns.feature_names_, model.coef_[0].tolist(), strict=True))
    weights = {name: each["weight"] for each in found["largest"] for name in each["names"]}
    assert weights == pytest.approx({name: weight for name, weight in wanted.items() if weight}, rel=1e-9)
    assert found["intercepts"] == pytest.approx(model.intercept_.tolist(), rel=1e-9)
    for file, features in asked.items():
        scores = predicted("m", file, "--scores")["score"].astype(float)
        assert scores == pytest.approx(model.decision_function(columns.transform(features)), rel=1e-9)


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES) >= 25


def test_text_is_compared_with_care() -> None:
    check_text("loss 0.50000001 in 3.2 s\n", "loss 0.5 in 3.2 s\n")
    check_text("a 17 s\nb\n", "\na ~ s\nb\n")
    for found, wanted in [
        ("loss 0.51", "loss 0.5"),
        ("a 1", "a 2"),
        ("a", "a\nb"),
        ("a 3 m", "a ~ s"),
        ("0.5 x", "0.6 ~"),
    ]:
        with pytest.raises(AssertionError):
            check_text(found, wanted)


# ------------------------------------------------------------------ their numbers, by other means


def predicted(*words: str) -> dict[str, np.ndarray]:
    """The columns of a command's predictions."""
    ended = run_here("predict", *words)
    assert ended.code == 0, ended
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def rows_of(name: str, columns: int) -> tuple[csr_matrix, np.ndarray]:
    X, y = load_svmlight_file(name, n_features=columns)
    return csr_matrix(X), y


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["rows.svm", "three.svm"])
def test_scores_and_probabilities_are_those_of_the_classifier(folder: Path, name: str) -> None:
    X, y = rows_of(name, 5)
    y = y.astype(int)
    model = OnlineClassifier().partial_fit(X, y, classes=np.unique(y) if name == "rows.svm" else None)
    assert run_here("train", name, "--model", "m").code == 0
    found = predicted("m", name, "--scores", "--probabilities")
    labels = np.unique(y)
    names = ["score"] if len(labels) == 2 else [f"score:{label}" for label in labels]
    scores = np.column_stack([found[each].astype(float) for each in names])
    chances = np.column_stack([found[f"probability:{label}"].astype(float) for label in labels])
    np.testing.assert_allclose(scores, model.decision_function(X).reshape(len(y), -1), rtol=1e-12)
    np.testing.assert_allclose(chances, model.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(found["prediction"].astype(int), model.predict(X))


@pytest.mark.compiles
def test_progressive_figures_are_those_of_predicting_first(folder: Path) -> None:
    X, y = rows_of("rows.svm", 4)
    model, losses, wrong = OnlineClassifier(), [], 0
    for row, label in zip(X, y.astype(int), strict=True):
        known = bool(losses)
        chance = model.predict_proba(row)[0, int(label > 0)] if known else 0.5
        losses.append(-np.log(chance))
        wrong += (model.predict(row)[0] if known else -1) != label
        model.partial_fit(row, [label], classes=[-1, 1])
    found = json.loads(run_here("train", "rows.svm", "--json").out)
    assert found["progressive_loss"] == pytest.approx(np.mean(losses), rel=1e-12)
    assert found["mistakes"] == wrong
    assert found["progressive_error"] == wrong / len(y)
    table = [line.split()[:3] for line in run_here("train", "rows.svm").out.splitlines()[1:5]]
    for (examples, since, mean), (start, stop) in zip(table, [(0, 1), (1, 2), (2, 4), (4, 6)], strict=True):
        assert int(examples) == stop
        assert float(since) == pytest.approx(np.mean(losses[start:stop]), abs=6e-5)
        assert float(mean) == pytest.approx(np.mean(losses[:stop]), abs=6e-5)


@pytest.mark.compiles
def test_figures_of_a_test_are_those_of_scikit_learn(folder: Path) -> None:
    assert run_here("train", "more.svm", "--model", "m").code == 0  # badly trained, so that there are mistakes
    X, y = rows_of("rows.svm", 5)
    rows, labels = rows_of("more.svm", 5)
    model = OnlineClassifier().partial_fit(rows, labels.astype(int), classes=[-1, 1])
    found = json.loads(run_here("test", "m", "rows.svm", "--json").out)
    assert found["error"] == pytest.approx(np.mean(model.predict(X) != y))
    assert found["log_loss"] == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert found["auc"] == pytest.approx(roc_auc_score(y, model.decision_function(X)))
    assert found["confusion"] == confusion_matrix(y, model.predict(X)).tolist()


@pytest.mark.compiles
def test_figures_by_weight_are_those_of_scikit_learn(folder: Path) -> None:
    """All rows count alike, in every figure that does not say that it is weighted."""
    lines = [("1", 2.0, "bad"), ("-1", 1.0, "bad poor"), ("1", 0.0, "good"), ("-1", 0.5, "good"), ("1", 3.5, "fine")]
    Path("w.vw").write_text("".join(f"{label} {weight} |words {words}\n" for label, weight, words in lines))
    Path("plain.vw").write_text("".join(f"{label} |words {words}\n" for label, _, words in lines))
    assert run_here("train", "rows.vw", "--model", "m").code == 0
    found, plain = (json.loads(run_here("test", "m", name, "--json").out) for name in ("w.vw", "plain.vw"))
    y, weights = np.array([int(line[0]) for line in lines]), [line[1] for line in lines]
    answers = predicted("m", "w.vw", "--probabilities")
    chances = answers["probability:1"].astype(float)
    wrong = answers["prediction"].astype(int) != y
    assert plain == {name: figure for name, figure in found.items() if not name.startswith("weight")}
    assert found["error"] == pytest.approx(wrong.mean())
    assert found["weight_sum"] == sum(weights)
    assert found["weighted_error"] == pytest.approx(np.average(wrong, weights=weights))
    assert found["weighted_log_loss"] == pytest.approx(log_loss(y, chances, sample_weight=weights))
    assert found["weighted_auc"] == pytest.approx(roc_auc_score(y, chances, sample_weight=weights))
    said = run_here("test", "m", "w.vw").out
    assert "sum of the weights: 7\n" in said
    assert "weighted error: " in said


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["rows.svm", "./rows.svm", "other.svm"])
def test_a_test_on_what_was_learned_says_so(folder: Path, name: str) -> None:
    Path("other.svm").write_bytes(Path("rows.svm").read_bytes())
    ended = run_here("train", "rows.svm", "--test", name, "--json")
    is_learned = name != "other.svm"
    assert ended.code == 0
    assert (f"{name}: the test rows were learned from" in ended.err) == is_learned
    assert json.loads(ended.out)["test"].get("learned_from") == ([name] if is_learned else None)


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("labels", "options", "task", "reason"),
    [
        (
            range(12),
            "",
            "classification",
            "the target 'y' has 12 different whole numbers, so they are taken for classes",
        ),
        (range(101), "", "regression", "the target 'y' has more than 100 different whole numbers"),
        (range(12), "--task regression", "regression", None),
        (range(2), "--task classification", "classification", None),
        (range(12), "--loss squared_error", "regression", None),
    ],
)
def test_what_is_learned_of_whole_numbers_is_said(
    folder: Path, labels: range, options: str, task: str, reason: str | None
) -> None:
    Path("t.csv").write_text("x,y\n" + "".join(f"{k / 2},{label}\n" for k, label in enumerate([*labels] * 2)))
    ended = run_here("train", "t.csv", "--json", *options.split())
    found = json.loads(ended.out)
    assert found["task"] == task
    assert (ended.err == "") == (found["task_reason"] is None) == (reason is None)
    if reason is not None:
        assert ended.err == f"{found['task_reason']}.\n"
        assert reason in ended.err
        assert "say --task " in ended.err
    assert run_here("train", "t.csv", "--quiet", *options.split()).err == ""


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("labels", "reason"),
    [("01", "2 different whole numbers"), (["0.5", "1"], "numbers with a fraction"), ("ab", "has texts")],
)
def test_what_nobody_doubts_is_only_in_the_document(folder: Path, labels: list[str], reason: str) -> None:
    Path("t.csv").write_text("x,y\n" + "".join(f"{k / 2},{label}\n" for k, label in enumerate([*labels] * 5)))
    ended = run_here("train", "t.csv", "--json")
    assert ended.err == ""
    assert reason in json.loads(ended.out)["task_reason"]


@pytest.mark.compiles
def test_labels_that_are_all_the_same_are_told(folder: Path) -> None:
    """No answer can be wrong, so the error says nothing."""
    for label in ("p", 7):
        Path("t.csv").write_text("x,y\n" + "".join(f"{k / 2},{label}\n" for k in range(9)))
        ended = run_here("train", "t.csv", "--json")
        assert ended.code == 0
        assert ended.err == f"the target 'y' is {label!r} in all rows, so there is nothing to tell apart yet.\n"
        for options in ("--quiet", "--task regression", "--classes p,q" if label == "p" else "--classes 7,8"):
            assert "nothing to tell apart" not in run_here("train", "t.csv", *options.split()).err
    Path("rows.vw").write_text("1 | a\n")
    assert run_here("train", "rows.vw", "--json").err == ""


@pytest.mark.compiles
def test_numbers_are_those_of_the_regressor(folder: Path) -> None:
    X, y = rows_of("numbers.svm", 2)
    answers = OnlineRegressor().partial_fit(X, y).predict(X)
    assert run_here("train", "numbers.svm", "--model", "m").code == 0
    np.testing.assert_allclose(predicted("m", "numbers.svm")["prediction"].astype(float), answers, rtol=1e-12)
    found = json.loads(run_here("test", "m", "numbers.svm", "--json").out)
    assert found["rmse"] == pytest.approx(mean_squared_error(y, answers) ** 0.5)
    assert found["mae"] == pytest.approx(mean_absolute_error(y, answers))


VW_ROWS = [
    {"words^good": 1.0, "words^fine": 1.0, "size^long": 1.5},
    {"words^bad": 1.0, "words^poor": 1.0},
    {"words^good": 1.0},
    {"words^bad": 1.0, "size^short": 1.0},
]
CSV_ROWS = [
    {"age": 31.0, "town": "Bern"},
    {"age": 45.0, "town": "Chur, GR"},
    {"age": "?", "town": "Bern"},
    {"age": 28.0, "town": "Chur, GR"},
]


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("file", "options", "rows", "labels", "weights"),
    [
        ("rows.vw", [], VW_ROWS, [1, -1, 1, -1], [2.0, 1.0, 1.0, 0.5]),
        ("rows.csv", ["--weight", "weight"], CSV_ROWS, ["yes", "no", "yes", "no"], [1.0, 2.0, 1.0, 0.5]),
    ],
)
def test_named_features_are_those_of_dicts(
    folder: Path, file: str, options: list[str], rows: list[Any], labels: list[Any], weights: list[float]
) -> None:
    model = OnlineClassifier(bits=18)
    for row, label, weight in zip(rows, labels, weights, strict=True):
        model.learn_one(row, label, weight)
    assert run_here("train", file, *options, "--classes", "open", "--model", "m").code == 0
    found = predicted("m", file, "--probabilities")
    for label in set(labels):
        wanted = [model.predict_proba_one(row)[label] for row in rows]
        np.testing.assert_allclose(found[f"probability:{label}"].astype(float), wanted, rtol=1e-12)


@pytest.mark.compiles
def test_the_model_of_a_command_is_one_of_ours(folder: Path) -> None:
    assert run_here("train", "rows.svm", "--model", "m").code == 0
    X, y = rows_of("rows.svm", 4)
    np.testing.assert_array_equal(onlinear.load("m").predict(X), y)


# ------------------------------------------------------------------ what people see


def help_of(command: str) -> str:
    ended = run_here(command, "--help")
    assert (ended.code, ended.err) == (0, "")
    assert max(map(len, ended.out.splitlines())) <= 80
    return re.sub(r"\s+", " ", ended.out)


def test_help_names_every_loss_rule_schedule_and_field() -> None:
    shown = help_of("train")
    for name in [*LOSSES, *RULES, *SCHEDULES]:
        assert re.search(rf"\b{name}\b", shown), name
    for name in fields():
        assert f"--{name} " in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_every_option_with_a_word_about_it(command: str) -> None:
    shown, built = help_of(command), Command(command, COMMANDS[command])
    for parameter in built.params:
        assert built.declared[parameter.name].says in shown
        for name in parameter.opts if parameter.param_type_name == "option" else [parameter.human_readable_name]:
            assert name in shown


# ------------------------------------------------------------------ as a real process


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("train --rule ad", {"plain,adagrad"}),
        ("train --sc", {"plain,--scale", "plain,--schedule"}),
        ("train --task regression --scale m", {"plain,max-abs"}),
        ("predict mo", {"file,mo"}),
    ],
)
def test_the_shell_completes_words(words: str, wanted: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_ONLINEAR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", f"onlinear {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(words.split())))
    ended = run_apart()
    assert (ended.code, ended.err) == (0, "")
    assert set(ended.out.split()) == wanted


def test_ctrl_c_ends_a_command_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("onlinear.files.trained.open_model", interrupted)
    assert run_here("inspect", "m") == Ended(130, "", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_completion_is_shown(shell: str) -> None:
    ended = run_here("--show-completion", shell)
    assert (ended.code, ended.err) == (0, "")
    assert f"_ONLINEAR_COMPLETE={shell}_complete" in ended.out


def test_nobody_reads_the_output_any_more(folder: Path) -> None:
    assert run_here("train", "rows.svm", "--quiet", "--model", "m").code == 0
    Path("many.svm").write_bytes(Path("rows.svm").read_bytes() * 50_000)
    with process("predict", "m", "many.svm") as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert [command.stdout.readline() for _ in range(3)] == [b"prediction\n", b"1\n", b"-1\n"]
        command.stdout.close()
        assert command.stderr.read() == b""
    assert command.returncode in (-13, 141)  # SIGPIPE, which a shell calls 141


def test_commands_work_in_a_pipeline(folder: Path) -> None:
    assert run_here("train", "rows.svm", "--quiet", "--model", "m").code == 0
    with open("rows.svm", "rb") as rows, process("predict", "m", "-", stdin=rows) as command:
        sorting = subprocess.run(["sort"], stdin=command.stdout, capture_output=True, check=True)
    assert command.returncode == 0
    assert sorted(sorting.stdout.decode().split()) == sorted(["prediction", *["-1"] * 3, *["1"] * 3])


def test_lines_fit_80_columns(folder: Path) -> None:
    ended = run_apart("train", "rows.svm")
    assert ended.code == 0
    assert max(map(len, ended.out.splitlines())) <= 80
    assert "\x1b" not in ended.out
