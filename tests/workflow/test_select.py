"""The whole job on small tables: what it says is so, by other ways of asking."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import onlinear
from onlinear.errors import BadInput, BadLine, OnlinearError, Refused
from onlinear.files.trained import open_model, save
from onlinear.verify import verify
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.report import page, words
from onlinear.workflow.select import Selected, select
from onlinear.workflow.select_options import SelectOptions
from onlinear.workflow.testing import figures_of
from onlinear.workflow.watching import Watcher
from workflow import tables

pytestmark = pytest.mark.compiles

KEYS = (
    "onlinear asked seconds data columns notes recipe race winner references test weights path certificate "
    "certificate_words worst drift files use"
)


def selected(file: str, ledger: Path, watcher: Watcher | None = None, **options: Any) -> Selected:
    options.setdefault("replicates", 5)
    options.setdefault("references", False)
    return select(SelectOptions.of([file], **options), Ledger(ledger / "ledger.json"), watcher or Watcher())


def by_name(result: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {column["name"]: column for column in result["columns"]}


def test_three_classes(tmp_path: Path) -> None:
    found = selected(tables.iris(tmp_path / "iris.csv"), tmp_path, target="kind", references=True)
    result = found.result
    assert sorted(result) == sorted(KEYS.split())
    assert result["asked"]["task"] == "classification"
    assert result["data"]["split"] | {"words": ""} == {"kind": "stratified", "train": 120, "test": 30, "words": ""}
    assert result["test"]["error"] <= 0.2  # three flowers of thirty are hard for everyone
    assert result["test"]["interval"][0] <= result["test"]["error"] <= result["test"]["interval"][1]
    confusion = np.array(result["test"]["confusion"]["counts"])
    assert confusion.sum() - np.trace(confusion) == result["test"]["mistakes"]
    assert {each["name"] for each in result["references"]} == {
        "majority class",
        "LogisticRegression",
        "k nearest neighbours",
    }
    assert result["certificate"]["separable"] in (True, False)  # 5 dimensions of 3 classes are decided
    scores = [each["score"] for each in result["race"]["configurations"]]
    assert scores == sorted(scores)
    assert result["winner"] == result["race"]["configurations"][0]
    json.loads(json.dumps(result, allow_nan=False))
    assert "<h1>" in page(result).replace(' id="top"', "")
    assert all(len(line) <= 80 for line in words(result))


def test_a_test_file_ids_and_missing_cells(tmp_path: Path) -> None:
    """The figures of the test are those of ``onlinear test`` on the same file, and the model predicts by itself."""
    train = tables.cancer(tmp_path / "train.csv", slice(0, 400))
    test = tables.cancer(tmp_path / "test.csv", slice(400, None))
    found = selected(train, tmp_path, target="diagnosis", test_files=[test])
    result = found.result
    assert by_name(result)["id"]["role"] == "ignored"
    assert 0.05 < by_name(result)["mean radius"]["missing"] < 0.15
    save(tmp_path / "m.onlinear", found.trained)
    trained = open_model(tmp_path / "m.onlinear")
    figures: Any = figures_of(trained.training.snapshot(), trained.recipe, [test])
    assert result["test"]["error"] == pytest.approx(figures["error"])
    assert result["test"]["log_loss"] == pytest.approx(figures["log_loss"])
    assert result["test"]["confusion"]["counts"] == figures["confusion"]
    assert result["test"]["error"] < 0.15 < 0.3
    assert result["data"]["split"]["kind"] == "test file"
    labels = onlinear.predict(tmp_path / "m.onlinear", test)
    truth = np.array([line.rstrip().rsplit(",", 1)[1] for line in Path(test).read_text().splitlines()[1:]])
    assert (labels != truth).mean() == pytest.approx(result["test"]["error"])
    assert {each["name"] for each in result["weights"]} >= {"mean radius"}
    for row in result["worst"]:
        assert truth[row["row"] - 1] == row["label"] != row["predicted"]
        cells = Path(test).read_text().splitlines()[row["row"]].split(",")
        assert row["cells"]["mean radius"] == cells[1]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_worst_rows_of_a_test_file_in_which_targets_are_missing(tmp_path: Path, form: str) -> None:
    """Their numbers count all rows of the file, and the cells beside them are theirs."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=200).round(4)
    y = [None if k % 5 == 0 else "up" if x[k] + rng.normal() > 0.0 else "down" for k in range(200)]
    files = []
    for name, rows in (("train", slice(100)), ("test", slice(100, None))):
        columns = pyarrow.table({"x": x[rows], "n": rng.normal(size=100), "y": y[rows]})
        files.append(str(tmp_path / f"{name}.{form}"))
        if form == "csv":
            pyarrow.csv.write_csv(columns, files[-1])
        else:
            pyarrow.parquet.write_table(columns, files[-1])
    result = selected(files[0], tmp_path, target="y", test_files=[files[1]]).result
    worst = result["worst"]
    assert (result["test"]["rows"], result["test"]["unlabelled"]) == (80, 20)
    assert any(note.startswith("20 of 100 rows to test on have no target") for note in result["notes"])
    assert len(worst) > 2
    for row in worst:
        assert row["label"] == y[99 + row["row"]]
        assert float(row["cells"]["x"]) == x[99 + row["row"]]


@pytest.mark.parametrize("target", ["kind", "size"])
def test_rows_of_a_test_count_alike_and_by_weight_beside_it(tmp_path: Path, target: str) -> None:
    """A selection and ``onlinear test`` say the same of the same file, and scikit-learn says so, too."""
    rng = np.random.default_rng(8)
    files = []
    for name, rows in (("train", 300), ("test", 100)):
        a, b = rng.normal(size=(2, rows)).round(3)
        kind = np.where(a + rng.normal(size=rows) > 0.0, "up", "down")
        size = (3 * a + rng.normal(size=rows)).round(3)
        lines = zip(a, b, rng.integers(0, 5, rows), kind if target == "kind" else size, strict=True)
        files.append(tables.write(tmp_path / f"{name}.csv", ["a", "b", "w", target], lines))
    found = selected(files[0], tmp_path, target=target, weight="w", test_files=[files[1]])
    test = found.result["test"]
    figures: Any = figures_of(found.trained.training.snapshot(), found.trained.recipe, [files[1]])
    save(tmp_path / "m.onlinear", found.trained)
    predicted = onlinear.predict(tmp_path / "m.onlinear", files[1])
    *_, weights, truth = zip(*(line.split(",") for line in Path(files[1]).read_text().splitlines()[1:]), strict=True)
    w = np.array(weights, float)
    assert figures["examples"] == test["rows"] == 100
    assert figures["weight_sum"] == test["weight_sum"] == w.sum()
    if target == "kind":
        wrong = predicted != np.array(truth)
        assert figures["error"] == test["error"] == wrong.mean()
        assert figures["weighted_error"] == pytest.approx(np.average(wrong, weights=w))
        assert test["weighted_error"] == pytest.approx(figures["weighted_error"])
        assert np.sum(figures["confusion"]) == 100
    else:
        squares = (predicted - np.array(truth, float)) ** 2
        assert figures["rmse"] == pytest.approx(squares.mean() ** 0.5)
        assert test["rmse"] == pytest.approx(figures["rmse"])
        assert figures["weighted_rmse"] == pytest.approx(np.average(squares, weights=w) ** 0.5)
        assert test["weighted_rmse"] == pytest.approx(figures["weighted_rmse"])
    assert "all rows count alike; by their weights" in test["words"]


def test_numbers(tmp_path: Path) -> None:
    result = selected(tables.diabetes(tmp_path / "d.csv"), tmp_path, target="progression", references=True).result
    assert result["asked"]["task"] == "regression"
    mean, ridge = (each["score"] for each in result["references"][:2])
    assert result["test"]["rmse"] < 0.85 * mean
    assert result["test"]["rmse"] < 1.1 * ridge
    assert result["test"]["interval"][0] < result["test"]["rmse"] < result["test"]["interval"][1]
    assert result["test"]["error"] is None
    assert result["certificate"] is None
    assert result["path"][0]["features"] > result["path"][-1]["features"]


def test_the_path_of_numbers_far_from_zero(tmp_path: Path) -> None:
    """Years: whatever they are counted from, as few features cost as much."""
    x = np.random.default_rng(7).normal(size=(200, 3)).round(3)
    scores = []
    for start in (0.0, 2000.0):
        years = (start + 6.0 * x[:, 0] - 2.0 * x[:, 1]).round(1)
        file = tables.write(tmp_path / "t.csv", ["a", "b", "c", "year"], np.column_stack([x, years]).tolist())
        result = selected(file, tmp_path, target="year", configurations=3).result
        scores.append([step["score"] for step in result["path"]])
    assert scores[1] == pytest.approx(scores[0], rel=0.01, abs=0.01)


def test_texts(tmp_path: Path) -> None:
    result = selected(tables.messages(tmp_path / "m.csv"), tmp_path, target="kind").result
    assert by_name(result)["message"]["kind"] == "text"
    assert result["test"]["error"] < 0.05
    telling = {each["name"]: each["weight"] for each in result["weights"][:8]}
    spam = {f"message={word}" for word in ("prize", "win", "free", "cash")}
    assert all((weight > 0.0) == (name in spam) for name, weight in telling.items())  # spam is the second class
    assert all(each["low"] <= each["weight"] <= each["high"] for each in result["weights"])


def test_drift(tmp_path: Path) -> None:
    """Rows in the order of time: the last are tested, alarms come after each turn, and acting on them helps."""
    file = tables.drifting(tmp_path / "d.csv")
    result = selected(file, tmp_path, target="goes", in_order=True, on_drift="reset").result
    drift = result["drift"]
    assert result["data"]["split"]["kind"] == "time"
    assert drift["error"] < drift["static_error"]
    turns = (1500, 3000, 4500)
    assert all(any(turn < alarm < turn + 500 for alarm in drift["alarms"]) for turn in turns)
    ignored = selected(file, tmp_path / "..", target="goes", in_order=True).result
    assert ignored["drift"]["policy"] == "ignore"
    assert ignored["drift"]["error"] == ignored["drift"]["static_error"]


@pytest.mark.parametrize(("option", "kind"), [("time", "time"), ("group", "group")])
def test_time_and_groups(tmp_path: Path, option: str, kind: str) -> None:
    file = tables.visits(tmp_path / "v.csv")
    column = {"time": "day", "group": "person"}[option]
    result = selected(file, tmp_path, target="rent", **{option: column}).result
    assert result["data"]["split"]["kind"] == kind
    assert by_name(result)[column]["role"] == option
    assert result["test"]["error"] < 0.2


def test_time_decides_and_groups_on_both_sides_are_counted(tmp_path: Path) -> None:
    """Groups a and b have visits early and late, c only early and d only late."""
    rows = [(day, "ab"[day % 2] if day % 3 else "c" if day < 80 else "d") for day in range(100)]
    lines = [
        f"2024-01-01T{day // 60:02}:{day % 60:02},{who},{day % 7},{(day % 7 > 3) != (day % 5 == 0)}"
        for day, who in rows
    ]
    (tmp_path / "t.csv").write_text("\n".join(["when,who,x,y", *lines]) + "\n")
    result = selected(str(tmp_path / "t.csv"), tmp_path, time="when", group="who", configurations=2).result
    assert result["data"]["split"]["kind"] == "time"
    assert any(note.startswith("2 groups have rows before and after the split by time") for note in result["notes"])


@pytest.mark.parametrize("numbers", [False, True])
def test_the_ledger_knows_rows_in_another_file(tmp_path: Path, numbers: bool) -> None:
    """Compressed, with other line ends, in another order, or with fewer columns asked for: they are the same rows."""
    rng = np.random.default_rng(0)
    target = [f"{number:.3f}" if numbers else ["no", "yes"][int(number > 0)] for number in rng.normal(size=200)]
    rows = [f"{a:.4f},{b:.4f},{y}" for (a, b), y in zip(rng.normal(size=(200, 2)), target, strict=True)]
    head, learned, tested = "a,b,y", rows[:120], rows[120:]
    (tmp_path / "t.csv").write_text("\n".join([head, *learned]))
    (tmp_path / "n.csv").write_text("\n".join([head, *tested]))
    (tmp_path / "crlf.csv").write_text("\r\n".join([head, *tested]), newline="")
    (tmp_path / "turned.csv").write_text("\n".join([head, *tested[::-1]]))
    (tmp_path / "n.csv.gz").write_bytes(gzip.compress((tmp_path / "n.csv").read_bytes()))
    (tmp_path / "others.csv").write_text("\n".join([head, *tested[1:]]))
    used = []
    for name in ("n.csv", "crlf.csv", "turned.csv", "n.csv.gz", "n.csv", "others.csv"):
        less: dict[str, Any] = {"configurations": 1, "replicates": 0, "references": False}
        less["ignore"] = ["b"] if len(used) == 4 else []
        found = selected(str(tmp_path / "t.csv"), tmp_path, target="y", test_files=[str(tmp_path / name)], **less)
        used.append(found.result["test"]["used_before"])
    assert used == [False, True, True, True, True, False]


def test_the_same_again_and_a_ledger_that_remembers(tmp_path: Path) -> None:
    file = tables.iris(tmp_path / "iris.csv")
    first = selected(file, tmp_path, target="kind", seed=3).result
    (tmp_path / "first.json").write_text(json.dumps(first))
    asked = SelectOptions.from_result(tmp_path / "first.json", [file], [])
    second = select(asked, Ledger(tmp_path / "ledger.json"), Watcher()).result
    assert not first["test"]["used_before"]
    assert second["test"]["used_before"]
    assert "measured on once before" in second["notes"][0]
    for name in ("test", "weights", "path", "certificate", "worst", "columns", "recipe"):
        left, right = first[name], second[name]
        assert left == right if name != "test" else {**left, "used_before": True} == right
    other = selected(file, tmp_path, target="kind", seed=4).result
    assert not other["test"]["used_before"]  # other rows are tested


def test_the_certificate_verifies(tmp_path: Path) -> None:
    """By the verifier alone, on rows that are made from the model's own recipe."""
    found = selected(tables.cancer(tmp_path / "c.csv", with_id=False), tmp_path, target="diagnosis")
    cert = found.result["certificate"]
    rows = rows_learned(tmp_path / "c.csv", found)
    verify(cert, rows)


def rows_learned(path: Path, found: Selected) -> list[Any]:
    from onlinear.workflow.parts import parts_of
    from onlinear.workflow.profile.choice import choose_recipe
    from onlinear.workflow.profile.table import profile_of

    asked = SelectOptions.of([str(path)], target="diagnosis")
    profile = profile_of([str(path)], target="diagnosis")
    parts = parts_of(asked, profile, choose_recipe(profile))
    starts, columns, values = parts.train.rows
    return [
        (
            int(parts.targets[i]),
            {
                int(j): float(x)
                for j, x in zip(columns[starts[i] : starts[i + 1]], values[starts[i] : starts[i + 1]], strict=True)
                if x
            },
        )
        for i in range(len(parts.targets))
    ]


class StopsInTheRace(Watcher):
    """Somebody presses Ctrl-C while configurations race."""

    def tell(self, step: str, share: float) -> None:
        self.stopped = self.stopped or step == "racing configurations"


def test_an_interrupted_race_still_gives_a_model(tmp_path: Path) -> None:
    models: list[Any] = []
    asked = SelectOptions.of([tables.iris(tmp_path / "iris.csv")], target="kind", replicates=0)
    found = select(asked, Ledger(tmp_path / "ledger.json"), StopsInTheRace(), models.append)
    assert models == [found.trained]
    assert any("interrupted" in note for note in found.result["notes"])
    assert found.result["path"] is None
    assert found.result["test"]["rows"] == 30
    page(found.result)


# ------------------------------------------------------------------ bad input


def refused(tmp_path: Path, text: str, kind: type[OnlinearError], said: str, name: str = "t.csv", **more: Any) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(kind, match=said):
        selected(str(tmp_path / name), tmp_path, **more)


ROWS = "".join(f"{k % 7},{'ab'[k % 2]},{'yes' if k % 3 else 'no'}\n" for k in range(60))


def test_targets_that_cannot_be_learned(tmp_path: Path) -> None:
    refused(tmp_path, "x,c,y\n" + ROWS, OnlinearError, "did you mean|no column|there is no", target="z")
    refused(tmp_path, "x,y\n" + "1,a\n" * 30, BadInput, "in all rows, so there is nothing to learn", target="y")
    unique = "".join(f"{k % 5},name{k}\n" for k in range(40))
    refused(tmp_path, "x,y\n" + unique, BadInput, "another value in each row", target="y")


def test_fewer_rows_than_folds(tmp_path: Path) -> None:
    refused(tmp_path, "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n", BadInput, "rows cannot be divided into 9 folds", folds=9)


@pytest.mark.parametrize(("groups", "folds"), [(3, 2), (5, 4), (30, 5)])
def test_there_are_no_more_folds_than_groups(tmp_path: Path, groups: int, folds: int) -> None:
    """A group or more is tested, and the others are divided into five folds, if there are as many."""
    rows = "".join(f"{k % 11},g{k % groups},{'yes' if k * k % 7 > 2 else 'no'}\n" for k in range(90))
    (tmp_path / "t.csv").write_text("x,g,y\n" + rows)
    race = selected(str(tmp_path / "t.csv"), tmp_path, group="g", configurations=2).result["race"]
    assert race["how"] == f"{folds}-fold cross-validation"


def test_one_group_left_to_learn_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"{k % 11},g{k % 2},{'yes' if k * k % 7 > 2 else 'no'}\n" for k in range(90))
    refused(tmp_path, "x,g,y\n" + rows, BadInput, "1 group cannot be divided into 2 folds: give more groups", group="g")


def test_a_test_file_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("u,v\n1,2\n")
    refused(tmp_path, "x,c,y\n" + ROWS, OnlinearError, "other.csv.*column", test_files=[str(tmp_path / "other.csv")])
    (tmp_path / "maybe.csv").write_text("x,c,y\n1,a,perhaps\n2,b,yes\n")
    refused(
        tmp_path, "x,c,y\n" + ROWS, BadInput, "a row of the class 'perhaps'", test_files=[str(tmp_path / "maybe.csv")]
    )


def noisy(rows: int, seed: int) -> pyarrow.Table:
    rng = np.random.default_rng(seed)
    x, town = rng.normal(size=rows).round(4), rng.choice(["Bern", "Thun"], rows)
    y = np.where(x + rng.normal(size=rows) > 0.0, "up", "down")
    return pyarrow.table(
        {"id": np.arange(rows) + 1000 * seed, "x": x, "n": rng.integers(0, 9, rows), "t": town, "y": y}
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("change", ["shuffled", "reversed", "shorter", "other ids"])
def test_a_test_file_of_learned_rows_is_refused(tmp_path: Path, form: str, change: str) -> None:
    learned = noisy(200, 1)
    changed = {
        "shuffled": learned.take(np.random.default_rng(0).permutation(200)),
        "reversed": learned.select(learned.column_names[::-1]),
        "shorter": learned.slice(1),
        "other ids": learned.set_column(0, "id", [np.arange(200) * 7]),
    }
    train, test = str(tmp_path / "train.csv"), str(tmp_path / f"test.{form}")
    pyarrow.csv.write_csv(learned, train)
    write = pyarrow.csv.write_csv if form == "csv" else pyarrow.parquet.write_table
    write(changed[change], test)
    with pytest.raises(BadInput, match=r"test\.\w+: all \d+ rows are the same as rows that are learned"):
        selected(train, tmp_path, target="y", test_files=[test])


@pytest.mark.parametrize("learned", [0, 1, 30])
def test_learned_rows_among_those_of_a_test_are_counted(tmp_path: Path, learned: int) -> None:
    train, test = str(tmp_path / "train.csv"), str(tmp_path / "test.parquet")
    rows = noisy(200, 1)
    pyarrow.csv.write_csv(rows, train)
    pyarrow.parquet.write_table(pyarrow.concat_tables([rows.slice(0, learned), noisy(100, 2)]), test)
    result = selected(train, tmp_path, target="y", test_files=[test]).result
    said = " ".join(words(result))
    assert result["test"]["seen"] == learned
    assert ("that it had not seen" in said) == (learned == 0)
    assert ("the same as rows it was trained on" in said) == (learned > 0)
    assert any("test rows" in note and "trained on" in note for note in result["notes"]) == (learned > 0)


def test_rows_that_repeat_are_no_learned_ones(tmp_path: Path) -> None:
    """Where a table has few cells, new rows are the same as old ones: that is said, but not refused."""
    files = []
    for name, seed in (("train", 1), ("test", 2)):
        files.append(str(tmp_path / f"{name}.csv"))
        pyarrow.csv.write_csv(noisy(200, seed).select(["n", "t", "y"]), files[-1])
    result = selected(files[0], tmp_path, target="y", test_files=[files[1]]).result
    assert result["test"]["seen"] > 150


def test_duplicates_on_both_sides_of_a_split_are_counted(tmp_path: Path) -> None:
    file = str(tmp_path / "twice.csv")
    pyarrow.csv.write_csv(pyarrow.concat_tables([noisy(100, 1), noisy(100, 1)]), file)
    result = selected(file, tmp_path, target="y").result
    assert 20 < result["test"]["seen"] <= result["test"]["rows"]
    assert "that it had not seen" not in " ".join(words(result))


def test_new_categories_in_a_test_file_are_no_harm(tmp_path: Path) -> None:
    (tmp_path / "new.csv").write_text("x,c,y\n1,zebra,yes\n2,b,no\n3,a,yes\n")
    (tmp_path / "t.csv").write_text("x,c,y\n" + ROWS)
    found = selected(str(tmp_path / "t.csv"), tmp_path, test_files=[str(tmp_path / "new.csv")])
    assert found.result["test"]["rows"] == 3


def test_rows_without_a_target_and_empty_columns_are_said(tmp_path: Path) -> None:
    rows = "".join(f"{k % 7},,{('yes' if k * k % 11 > 4 else 'no') if k % 10 else ''}\n" for k in range(100))
    (tmp_path / "t.csv").write_text("x,nothing,y\n" + rows)
    result = selected(str(tmp_path / "t.csv"), tmp_path).result
    assert result["data"]["split"]["train"] + result["data"]["split"]["test"] == 90
    assert any("10 of 100 rows have no target" in note for note in result["notes"])
    assert by_name(result)["nothing"]["role"] == "ignored"


def test_times_that_do_not_parse(tmp_path: Path) -> None:
    rows = "".join(f"{'2024-01-01' if k else 'yesterday'},{k % 3},{'ab'[k % 2]}\n" for k in range(30))
    refused(tmp_path, "day,x,y\n" + rows, BadLine, "t.csv:2:.*'yesterday' in the time column 'day'", time="day")


def test_a_class_of_one_row_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,c,y\n" + ROWS + "3,a,maybe\n")
    result = selected(str(tmp_path / "t.csv"), tmp_path).result
    assert any("The class maybe has a single row" in note for note in result["notes"])


@pytest.mark.parametrize(("name", "start"), [("t.csv", b"PAR1\x00\x01"), ("t.csv.gz", b"x,y\n1,2\n")])
def test_a_file_that_is_not_what_its_name_says(tmp_path: Path, name: str, start: bytes) -> None:
    (tmp_path / name).write_bytes(start + b"\x00" * 40)
    with pytest.raises(OnlinearError, match=name):
        selected(str(tmp_path / name), tmp_path)


def test_a_damaged_ledger_or_result_is_refused(tmp_path: Path) -> None:
    for damaged in ("{", "[]"):
        (tmp_path / "ledger.json").write_text(damaged)
        with pytest.raises(BadInput, match="cannot be read as the ledger"):  # before the file is looked for
            selected(str(tmp_path / "none.csv"), tmp_path, target="kind")
    (tmp_path / "folder" / "ledger.json").mkdir(parents=True)
    with pytest.raises(BadInput, match="is no file, and the ledger of tests should be there"):
        selected(str(tmp_path / "none.csv"), tmp_path / "folder", target="kind")
    with pytest.raises(BadInput, match="not the result of a selection"):
        SelectOptions.from_result(tmp_path / "ledger.json", ["iris.csv"], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [("files", "iris.csv"), ("files", [1]), ("passes", True), ("seed", "0"), ("test_share", None), ("ignore", [None])],
)
def test_a_result_of_other_types_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    options = SelectOptions(["iris.csv"]).options() | {name: value}
    (tmp_path / "a.json").write_text(json.dumps({"asked": {"options": options}}))
    with pytest.raises(BadInput, match=f"not the result of a selection.*{name} is"):
        SelectOptions.from_result(tmp_path / "a.json", ["iris.csv"], [])


def test_a_result_does_not_say_what_is_read(tmp_path: Path) -> None:
    options = SelectOptions(["/etc/passwd"], test_files=["\x1b[2J"]).options()
    result = {"asked": {"options": options}, "data": {"sha256": "0" * 64}}
    (tmp_path / "a.json").write_text(json.dumps(result))
    with pytest.raises(
        Refused, match=r"name its files again, as in onlinear select /etc/passwd --test '.x1b\[2J' --repeat"
    ):
        SelectOptions.from_result(tmp_path / "a.json", [], [])
    asked = SelectOptions.from_result(tmp_path / "a.json", ["mine.csv"], ["later.csv"])
    assert (asked.files, asked.test_files) == (["mine.csv"], ["later.csv"])
