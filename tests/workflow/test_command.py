"""``onlinear select`` on the command line: what it writes, says and refuses."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commands import Ended, process, run_here
from onlinear.cli.select import stem_of
from onlinear.errors import BadInput, Refused
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.select_options import SelectOptions
from workflow import tables

pytestmark = pytest.mark.compiles
LESS = "--no-references --replicates 3"


def run(words: str) -> Ended:
    return run_here(*words.split())


def test_the_files_it_leaves_and_what_can_be_done_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables.cancer(tmp_path / "cells.csv")
    ended = run(f"select cells.csv --target diagnosis --export rows.svm {LESS}")
    assert ended.code == 0, ended
    assert all(len(line) <= 80 for line in ended.out.splitlines())
    assert "wrong on" in ended.out
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {
        *("cells.csv", "cells.onlinear", "cells.certificate.json", "cells.report.html", "onlinear-ledger.json"),
        "rows.svm",
    }
    assert run("verify cells.certificate.json rows.svm --replay").code == 0
    assert run("predict cells.onlinear cells.csv").out.count("\n") == 570
    inspected = json.loads(run("inspect cells.onlinear --json").out)
    assert inspected["classes"] == ["benign", "malignant"]
    assert "<script" in (tmp_path / "cells.report.html").read_text()
    again = run(f"select cells.csv --target diagnosis {LESS} --quiet")
    assert (again.code, again.out) == (0, "")


def test_json_and_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables.iris(tmp_path / "iris.csv")
    first = run(f"select iris.csv --target kind --json -m a.onlinear --report a.html {LESS}")
    Path("a.json").write_text(first.out)
    second = run("select iris.csv --repeat a.json --json -m b.onlinear --report b.html")
    one, two = json.loads(first.out), json.loads(second.out)
    assert {*("test", "winner", "race", "columns", "seconds")} <= set(one)
    assert one["test"]["error"] == two["test"]["error"]
    assert one["files"] == {
        "model": "a.onlinear",
        "certificate": "a.certificate.json",
        "report": "a.html",
        "ledger": "onlinear-ledger.json",
    }
    assert two["test"]["used_before"]
    assert Path("a.onlinear").read_bytes() == Path("b.onlinear").read_bytes()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("", 2, "name at least one file"),
        ("nothing.csv", 1, "nothing.csv"),
        ("iris.csv --target color", 1, "color"),
        ("iris.csv --target kind --on-drift later", 2, "later"),
        ("iris.csv --target kind --folds 1000", 1, "cannot be divided into 1000 folds"),
        ("iris.csv --target kind --loss squashed", 2, "squashed"),
        ("iris.csv --target kind --test-share 2", 2, "test-share"),
        ("iris.csv --repeat iris.csv", 1, "not the result of a selection"),
        ("iris.csv --repeat /dev/zero", 1, "it is no file"),
        ("iris.csv --target kind --loss hinge --loss hinge", 2, "--loss hinge is there 2 times"),
        ("iris.csv --repeat iris.csv --seed 3", 2, "--seed cannot be said beside --repeat"),
        ("iris.csv --on-drift reset", 2, "add --time COLUMN or --in-order"),
        ("iris.csv --in-order --time kind", 2, "leave out one of them"),
        ("iris.csv --in-order --folds 3", 2, "no --folds"),
        ("iris.csv --in-order --passes 3", 2, "no --passes"),
        ("iris.csv --target 1 --loss hinge", 2, "is not for regression"),
        ("iris.csv --report nowhere/r.html", 3, "nowhere/r.html cannot be saved: there is no such folder"),
        ("iris.csv --export nowhere/rows.svm", 3, "nowhere/rows.svm cannot be saved"),
        ("iris.csv --model .", 3, ". cannot be saved: it is not a file"),
        ("iris.csv --model iris.csv", 2, "iris.csv would be written over"),
        ("iris.csv --report iris.csv", 2, "iris.csv would be written over"),
        ("iris.csv --report a --export a", 2, "a would be written over"),
        ("iris.csv --test i*.csv", 1, "iris.csv: holds the rows that are learned, so it is no test"),
        (f"iris.csv --target kind --seed {1 << 64}", 2, "--seed"),
        ("iris.csv --text 1", 1, "'sepal length' holds numbers, so there are no words in it"),
    ],
)
def test_what_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    tables.iris(tmp_path / "iris.csv")
    ended = run(f"select {words}")
    assert ended.code == code, ended
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["iris.csv"]  # above all, no test row is used up


def test_globs_stand_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is tested, too; what is written is named for the first of them."""
    monkeypatch.chdir(tmp_path)
    tables.cancer(tmp_path / "cells.csv", slice(0, 400))
    for number in (1, 2):
        tables.cancer(tmp_path / f"later{number}.csv", slice(300 + 100 * number, 400 + 100 * number))
    ended = run(f"select ce*.csv --test later*.csv --json --configurations 2 {LESS}")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["test"]["rows"] == 169
    assert Path("cells.onlinear").exists()


def test_another_data_set_is_not_replaced_unless_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other").mkdir()
    for name in ("g.csv", "g.v2.csv", "other/g.csv"):
        tables.iris(tmp_path / name)
    words = f"--target kind --quiet --configurations 2 {LESS}"
    assert run(f"select g.csv {words}").code == 0
    first = {path.name: path.read_bytes() for path in tmp_path.glob("g.*")}
    assert run(f"select g.v2.csv {words}").code == 0
    refused = run(f"select other/g.csv {words}")
    assert (refused.code, "g.onlinear is there already" in refused.err, "--model" in refused.err) == (2, True, True)
    assert {name: Path(name).read_bytes() for name in first} == first
    assert run(f"select ./g.csv {words}").code == 0  # the same once more
    assert run(f"select other/g.csv --model g.onlinear {words}").code == 0
    assert run(f"select g.csv {words}").code == 2
    Path("g.onlinear").unlink()
    refused = run(f"select g.csv {words}")
    assert (refused.code, "is there already" in refused.err) == (2, True)  # whose certificate and report they are


@pytest.mark.parametrize("name", ["m.certificate.json", "m.report.html"])
@pytest.mark.parametrize("write", [lambda path: path.write_text('{"mine": 1}'), lambda path: path.symlink_to("mine")])
def test_what_nobody_has_named_stays_beside_a_named_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, write: Callable[[Path], None]
) -> None:
    """Of numbers nothing is proven, and a certificate beside the model would be removed; of classes replaced."""
    monkeypatch.chdir(tmp_path)
    tables.iris(tmp_path / "iris.csv")
    write(tmp_path / name)
    before = {path.name for path in tmp_path.iterdir()}
    refused = run(f"select iris.csv --model m.onlinear --configurations 2 {LESS}")
    assert (refused.code, f"{name} is there already" in refused.err) == (2, True), refused
    assert {path.name for path in tmp_path.iterdir()} == before
    assert (tmp_path / name).is_symlink() or (tmp_path / name).read_text() == '{"mine": 1}'


@pytest.mark.parametrize(
    ("file", "stem"),
    [
        *(("d/2024.01.csv.gz", "2024.01"), ("2024.02.csv", "2024.02"), ("iris.data", "iris.data")),
        *(("g.v2.parquet", "g.v2"), ("plain", "plain"), (".csv", ".csv"), ("A.TSV", "A")),
    ],
)
def test_outputs_keep_the_name_of_the_data(file: str, stem: str) -> None:
    assert stem_of(file) == stem


def test_a_name_that_begins_with_a_dash_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables.iris(tmp_path / "-q.csv")
    ended = run(f"select ./-q.csv --target kind --json --configurations 2 {LESS}")
    use = json.loads(ended.out)["use"]["command"]
    assert run(use.removeprefix("onlinear ")).code == 0


def test_rows_of_weight_0_are_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is learned from them, and the certificate does not speak of them."""
    monkeypatch.chdir(tmp_path)
    lines = Path(tables.iris(tmp_path / "iris.csv")).read_text().splitlines()
    weights = ["weight", *(str(number % 3) for number in range(150))]
    Path("w.csv").write_text("".join(f"{one},{line}\n" for one, line in zip(weights, lines, strict=True)))
    ended = run(f"select w.csv --weight weight --export rows.svm --configurations 2 {LESS}")
    assert ended.code == 0, ended.err
    assert 0 < len(Path("rows.svm").read_text().splitlines()) <= 100
    assert run("verify w.certificate.json rows.svm").code == 0


def test_a_column_that_is_named_by_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name goes before its place: in a table of years, 2 is no year, and 2020 no place."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k % 7},{k % 5},{'ab'[k * k % 11 > 4]}\n" for k in range(80))
    Path("years.csv").write_text("2019,2021,2020\n" + rows)
    for target, column in (("2020", "2020"), ("2", "2021"), ("-3", "2019")):
        words = f"select years.csv --header --target {target} --configurations 2 --json {LESS}"
        assert json.loads(run(words).out)["asked"]["target"] == column
    assert "say so (--header)" in run("select years.csv --no-header --target 2020").err


def test_a_repetition_on_other_data_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = Path(tables.iris(tmp_path / "iris.csv"))
    Path("a.json").write_text(run(f"select iris.csv --target kind --json {LESS}").out)
    assert "no repetition" not in run("select iris.csv --repeat a.json").out
    table.write_text(table.read_text().replace("5.1,", "5.2,"))
    assert "The data are not those of a.json any more" in run("select iris.csv --repeat a.json").out


def put(place: str, value: object) -> Callable[[Any], None]:
    *above, last = place.split()

    def change(result: Any) -> None:
        for name in above:
            result = result[name]
        result[last] = value

    return change


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (lambda result: result.pop("data"), 1, "KeyError('data')"),
        (put("data", []), 1, "is not the result of a selection"),
        (put("data", {}), 1, "KeyError('sha256')"),
        (put("data sha256", 7), 1, "does not say of which data it is"),
        (put("asked options passes", 10**9), 2, "would make 1,000,000,000 passes"),
        (put("asked options seed", 10**21), 2, "--seed"),
        (put("asked options seed", -1), 2, "--seed"),
        (put("asked options test_share", 10**400), 1, "test_share is 1000"),
        (put("asked options test_share", float("nan")), 1, "test_share is nan"),
        (put("asked options losses", ["hinge"] * 5000), 2, "--loss hinge is there 5,000 times: name it once"),
        (put("asked options rules", ["sgd", "pa", "sgd"]), 2, "--rule sgd is there 2 times: name it once"),
    ],
)
def test_a_result_is_looked_at_before_anything_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Any], None], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.iris(tmp_path / "iris.csv")
    result = {
        "asked": {"options": SelectOptions.of(["iris.csv"], target="kind").options()},
        "data": {"sha256": "0" * 64},
    }
    change(result)
    Path("a.json").write_text(json.dumps(result))
    ended = run("select iris.csv --repeat a.json")
    assert ended.code == code, ended
    assert said in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "iris.csv"]


@pytest.mark.parametrize("seed", [-1, 1 << 64, 10**21])
def test_seeds_that_there_are_not(seed: int) -> None:
    with pytest.raises(Refused, match="--seed is"):
        SelectOptions(["iris.csv"], seed=seed).check()


def test_a_ledger_that_is_no_file(tmp_path: Path) -> None:
    """A pipe that nobody writes to would be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(BadInput, match="is no file"):
            Ledger(path).known()
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link").symlink_to("real.json")
    assert Ledger(tmp_path / "link").known() == {}


def test_an_export_of_nothing_is_refused_when_all_else_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.diabetes(tmp_path / "d.csv")
    ended = run(f"select d.csv --export rows.svm --configurations 2 {LESS}")
    assert ended.code == 2
    assert "no rows to export" in ended.err
    assert "root mean squared error" in ended.out
    left = {"d.csv", "d.onlinear", "d.report.html", "onlinear-ledger.json"}
    assert {path.name for path in tmp_path.iterdir()} == left
    (tmp_path / "d.certificate.json").write_text("{}")  # of an earlier selection, of classes
    assert run(f"select d.csv --quiet --configurations 2 {LESS}").code == 0
    assert {path.name for path in tmp_path.iterdir()} == left


def test_what_an_earlier_selection_wrote_is_not_left_beside_a_new_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tables.cancer(tmp_path / "c.csv")
    words = f"select c.csv --target diagnosis --quiet --configurations 2 {LESS}"
    assert run(words).code == 0
    assert (tmp_path / "c.certificate.json").exists()
    (tmp_path / "notes").write_text("mine")
    first = (tmp_path / "c.onlinear").read_bytes()

    def ended(*_: Any) -> None:
        raise BadInput("no more")

    with monkeypatch.context() as patch:
        patch.setattr("onlinear.workflow.select.chosen_from", ended)
        assert run(words).code == 1
    left = {"c.csv", "c.onlinear", "c.certificate.json", "c.report.html", "onlinear-ledger.json", "notes"}
    assert {path.name for path in tmp_path.iterdir()} == left  # there is no new model
    for more in ("", " --report notes"):
        monkeypatch.setattr("onlinear.workflow.select.prove", ended)
        assert run(f"{words} --seed 5{more}").code == 1
        assert (tmp_path / "c.onlinear").read_bytes() != first
        assert {path.name for path in tmp_path.iterdir()} == left - {"c.certificate.json", "c.report.html"}
    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.parametrize(("number", "phase"), [(signal.SIGINT, b"racing"), (signal.SIGTERM, b"looking")])
def test_ctrl_c_keeps_what_is_done(tmp_path: Path, number: signal.Signals, phase: bytes) -> None:
    """A first one ends the race: the model and the report of what is done are there, and scripts are told."""
    tables.visits(tmp_path / "v.csv", rows=15_000)
    words = f"select v.csv --target rent --passes 400 {LESS}".split()
    with process(*words, cwd=tmp_path) as command:
        assert command.stderr is not None
        while phase not in command.stderr.readline():
            assert command.poll() is None
        command.send_signal(number)
        out, err = command.communicate(timeout=240)
    assert command.returncode == 128 + number, err
    assert b"interrupted" in out
    assert (tmp_path / "v.onlinear").exists()
    assert (tmp_path / "v.report.html").exists()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="there is no Chromium to open the page with")
def test_the_page_of_a_real_selection_opens_in_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables.diabetes(tmp_path / "d.csv")
    assert run(f"select d.csv --target progression {LESS}").code == 0
    page = (tmp_path / "d.report.html").as_uri()
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page]
    found = subprocess.run(
        command, capture_output=True, text=True, timeout=120, env=os.environ | {"HOME": str(tmp_path)}
    )
    assert "root mean squared error" in found.stdout
    assert "<svg" in found.stdout
