"""Whole numbers from 2**53 on: labels, ids, groups and times that double precision would merge stay apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import onlinear
from onlinear.cli import app
from onlinear.data.whole_numbers import whole_of
from onlinear.errors import BadInput
from onlinear.learning.classes import as_array
from onlinear.streams.stream import open_stream
from onlinear.workflow.profile.table import profile_of
from onlinear.workflow.run import RowDigest

#: one double, and one that is not
LABELS = (2**60, 2**60 + 1, 2**60 + 300)
#: beyond 64 bits with a sign, too
WIDE = (2**63 + 2, 2**63 + 3, 5)
ROWS = 60


def csv_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "table.csv"
    path.write_text("x,y\n" + "".join(f"{k % 3},{label}\n" for k, label in enumerate(labels)))
    return path


def quoted_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "quoted.csv"
    path.write_text("y,x\n" + "".join(f'" {label}.0 ",{k % 3}\n' for k, label in enumerate(labels)))
    return path


def json_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "table.jsonl"
    path.write_text("".join(json.dumps({"x": k % 3, "y": label}) + "\n" for k, label in enumerate(labels)))
    return path


def parquet_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "table.parquet"
    kind = pa.int64() if max(labels) < 2**63 else pa.uint64()
    pq.write_table(pa.table({"x": [k % 3 for k in range(len(labels))], "y": pa.array(labels, kind)}), path)
    return path


def decimal_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "decimal.parquet"
    cells = pa.array(labels, pa.uint64()).cast(pa.decimal128(20, 0))
    pq.write_table(pa.table({"x": [k % 3 for k in range(len(labels))], "y": cells}), path)
    return path


def svmlight_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "table.svm"
    path.write_text("".join(f"{label} 1:{k % 3 + 1}\n" for k, label in enumerate(labels)))
    return path


def vw_file(folder: Path, labels: list[int]) -> Path:
    path = folder / "table.vw"
    path.write_text("".join(f"{label} |n x:{k % 3 + 1}\n" for k, label in enumerate(labels)))
    return path


TABLES = (csv_file, quoted_file, parquet_file, decimal_file)
FILES = (*TABLES, json_file, svmlight_file, vw_file)


def options_of(path: Path) -> dict[str, Any]:
    return {} if path.suffix in (".svm", ".vw") else {"target": "y"}


def labels_in(stream: Any) -> list[Any]:
    return [label for block in stream for label in block.labels.tolist()]


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.stderr
    return result


# ------------------------------------------------------------------ labels


@pytest.mark.parametrize("different", [LABELS, WIDE], ids=["signed", "unsigned"])
@pytest.mark.parametrize("write", FILES)
def test_a_label_is_the_number_in_the_file(tmp_path: Path, write: Callable[..., Path], different: Any) -> None:
    labels = list(different) * (ROWS // 3)
    path = write(tmp_path, labels)
    assert labels_in(open_stream(str(path), **options_of(path))) == labels


@pytest.mark.parametrize("write", FILES)
def test_predictions_are_labels_that_there_are(tmp_path: Path, write: Callable[..., Path]) -> None:
    labels = list(LABELS) * (ROWS // 3)
    path, model = write(tmp_path, labels), tmp_path / "model"
    target = ["--target", "y"] if options_of(path) else []
    said = run("train", path, "--model", model, "--json", "--passes", 30, *target)
    assert json.loads(said.stdout)["classes"] == list(LABELS)
    answers = run("predict", model, path).stdout.split()[1:]
    assert {int(answer) for answer in answers} <= set(LABELS)
    tested = json.loads(run("test", model, path, "--json").stdout)
    wrong = sum(int(answer) != label for answer, label in zip(answers, labels, strict=True))
    assert tested["error"] == pytest.approx(wrong / ROWS)
    assert tested["labels"] == list(LABELS)


@pytest.mark.parametrize("write", [csv_file, parquet_file])
def test_large_numbers_are_learned_as_numbers_if_they_are_to_be(tmp_path: Path, write: Callable[..., Path]) -> None:
    path, model = write(tmp_path, [2**60 + 10**15 * (k % 7) for k in range(ROWS)]), tmp_path / "model"
    run("train", path, "--model", model, "--task", "regression", "--rule", "sgd", "--rate", 1e-3, "--target", "y")
    assert json.loads(run("test", model, path, "--json").stdout)["rmse"] > 0.0


@pytest.mark.parametrize("write", TABLES)
def test_a_table_has_as_many_classes_as_its_target(tmp_path: Path, write: Callable[..., Path]) -> None:
    path = write(tmp_path, [LABELS[k % 2 + k % 3 // 2] for k in range(ROWS)])
    target = profile_of(str(path), target="y").target
    assert target.classes is not None
    assert target.codes is not None
    labels = labels_in(open_stream(str(path), target="y"))
    assert dict(target.classes) == {label: labels.count(label) for label in LABELS}
    assert [target.classes[code][0] for code in target.codes.tolist()] == labels


def test_a_digest_does_not_depend_on_the_blocks_of_rows(tmp_path: Path) -> None:
    path = csv_file(tmp_path, [1, 2, *LABELS, 3])
    (block,) = open_stream(str(path), target="y").before_recipe()
    whole, parts = RowDigest(), RowDigest()
    whole.take(block, len(block))
    for part in (half for k in (1, 2) for half in [block.split(k)[0].split(k - 1)[1]]):
        small = part
        small.labels = np.array(small.labels.tolist(), np.float64)
        parts.take(small, 1)
    rest = block.split(2)[1]
    parts.take(rest, len(rest))
    assert parts.hexdigest() == whole.hexdigest()


def test_classes_of_numbers_that_no_type_holds_stay_exact() -> None:
    for labels in ([-1, 2**63], [1, 2**63 + 1, 2**63 + 2], [2**53 + 1, 2.5]):
        assert as_array(labels).tolist() == labels


def test_a_number_with_an_exponent_is_the_one_of_double_precision() -> None:
    assert whole_of("1e300") == 1e300
    assert whole_of("+009007199254740993.00") == 2**53 + 1


# ------------------------------------------------------------------ estimators


@pytest.mark.parametrize("make", [onlinear.OnlineClassifier, lambda: onlinear.KernelPerceptron("linear")])
@pytest.mark.parametrize("kind", ["Int64", "UInt64", "int64[pyarrow]", "uint64[pyarrow]", "object"])
def test_columns_of_pandas_keep_their_labels(make: Callable[[], Any], kind: str) -> None:
    X = np.arange(9.0)[:, None]
    y = pd.Series(LABELS * 3, dtype=kind)
    model = make().fit(X, y)
    assert model.classes_.tolist() == list(LABELS)
    if kind != "object":  # of which scikit-learn computes no accuracy
        right = [found == wanted for found, wanted in zip(model.predict(X), y, strict=True)]
        assert model.score(X, y) == np.mean(right)
    assert make().partial_fit(X, y, classes=y[:3]).classes_.tolist() == list(LABELS)


def test_intervals_of_whole_numbers_are_labels() -> None:
    """As pandas cuts numbers at whole ones: their type is made of one of numbers, and they are none."""
    X = np.arange(6.0)
    for y in (pd.cut(pd.Series(X), [-1, 2, 5]), pd.Series(pd.interval_range(0, 6))):
        assert onlinear.OnlineClassifier().fit(X[:, None], y).classes_.tolist() == y.unique().tolist()


def test_a_list_of_numbers_that_no_type_holds_keeps_its_labels() -> None:
    labels = [-1, 2**63, 2**63 + 1]
    assert onlinear.OnlineClassifier().fit([[0.0], [1.0], [2.0]], labels).classes_.tolist() == labels


def test_numbers_too_large_for_a_float_are_refused() -> None:
    with pytest.raises(BadInput, match=r"the target of row 1 is 1000.*too large for a float"):
        onlinear.OnlineRegressor().fit([[1.0], [2.0]], [1, 10**400])
    for model in (onlinear.OnlineRegressor(), onlinear.OnlineClassifier()):
        with pytest.raises(BadInput, match="X holds a whole number that is too large for a float"):
            model.fit([[1.0], [10**400]], [0, 1])
        with pytest.raises(BadInput, match="X holds a whole number that is too large for a float"):
            model.fit([[1.0], [2.0]], [0, 1]).predict([[10**400]])


# ------------------------------------------------------------------ ids, groups and times

IDS = [10**18 + 7 * k for k in range(ROWS)]


def table_of(form: str, folder: Path, column: list[int]) -> Any:
    frame = pd.DataFrame({"u": column, "x": np.tile([1.5, 2.5, 0.5], ROWS // 3), "y": np.tile(["a", "b"], ROWS // 2)})
    if form == "frame":
        return frame
    path = folder / f"table.{form}"
    frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    return str(path)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_ids_are_counted_to_the_last_digit(tmp_path: Path, form: str) -> None:
    found = profile_of(table_of(form, tmp_path, IDS), target="y")
    assert found.column("u").distinct == ROWS
    assert found.column("u").id
    assert found.duplicates == 0


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_a_column_of_close_numbers_is_not_constant(tmp_path: Path, form: str) -> None:
    found = profile_of(table_of(form, tmp_path, [2**63 + k % 3 for k in range(ROWS)]), target="y").column("u")
    assert (found.distinct, found.constant) == (3, False)
    assert any("rounded" in note for note in found.notes)
    only = profile_of(table_of(form, tmp_path, [2**63 + 1] * ROWS), target="y").column("u")
    assert only.constant
    assert only.notes == [f"Column u is {2**63 + 1} in all rows."]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_numbers_within_one_double_do_not_ascend_unless_they_do(tmp_path: Path, form: str) -> None:
    down = profile_of(table_of(form, tmp_path, [2**62 + ROWS - k for k in range(ROWS)]), target="y").column("u")
    assert not any("ascend" in note for note in down.notes)


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_groups_are_those_of_the_file(tmp_path: Path, form: str) -> None:
    groups = profile_of(table_of(form, tmp_path, [10**18 + k // 3 for k in range(ROWS)]), target="y", group="u").groups
    assert groups is not None
    assert groups.tolist() == [k // 3 for k in range(ROWS)]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_times_are_in_the_order_of_the_file(tmp_path: Path, form: str) -> None:
    stamps = [20240131235959000 + ROWS - k for k in range(ROWS)]
    times = profile_of(table_of(form, tmp_path, stamps), target="y", time="u").times
    assert times is not None
    assert times.tolist() == stamps


def test_select_splits_by_exact_groups_and_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = 120
    classes = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {"u": 10**18 + np.arange(rows) // 3, "x": classes + rng.normal(size=rows), "y": np.array(LABELS)[classes]}
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    quick = ["--configurations", 2, "--replicates", 0, "--no-references", "--report", tmp_path / "r.html"]
    said = run(
        "select", tmp_path / "table.csv", "--target", "y", "--group", "u", "--json", "-m", tmp_path / "m", *quick
    )
    assert f"of {rows // 3} groups" in json.loads(said.stdout)["data"]["split"]["words"]
    answers = run("predict", tmp_path / "m", tmp_path / "table.csv").stdout.split()[1:]
    assert {int(answer) for answer in answers} <= set(LABELS)
