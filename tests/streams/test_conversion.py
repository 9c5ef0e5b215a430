"""Conversion: every format to every other, what comes back unharmed, and what is refused."""

from __future__ import annotations

import csv
import decimal
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, strategies as st

from commands import run_apart
from onlinear.cli import app
from onlinear.errors import OnlinearError
from onlinear.files.trained import open_model
from onlinear.streams.columns import is_number
from onlinear.streams.conversion.directions import ConvertOptions, convert
from onlinear.streams.conversion.numbers import ClassNumbers, keeps_digits, text_of
from onlinear.streams.conversion.records import merge_names
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import open_stream
from stream_rows import Row, rows_in

EXTENSIONS = ("svm", "vw", "csv", "tsv", "jsonl", "parquet", "arrow")
TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")
COMPRESSIONS = ("gz", "bz2", "xz", "zst")

#: no header is a number, no cell a missing word; every row differs
PEOPLE = 'age,town,note,weight,wage\n39,Bern,"a ""b"", c",1,high\n-0.0,,x,2,low\n1e-308,"New\nYork",NA,0.5,high\n'
SPARSE = "-1 1:0.1 3:1e308\n1 2:-0.0 3:1\n-1 1:5e-324\n"
SPACED = "-1 |a x y:0.25 |b:2 z | v\n1 | v:3\n-1 |a x |b z:0.5\n"


def run(*arguments: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["convert", *map(str, arguments)], input=stdin)


def converted(source: Path, output: Path, *options: object) -> Path:
    result = run(source, output, *options)
    assert result.exit_code == 0, result.stderr
    return output


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


def rows_read(path: Path, **options: Any) -> list[Row]:
    return rows_in(open_stream(str(path), **options))


def cells_read(path: Path) -> list[dict[str, Any]]:
    """The cells of a table, read by somebody else; numbers of CSV are texts."""
    match path.suffix:
        case ".jsonl":
            return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        case ".parquet":
            return pyarrow.parquet.read_table(path).to_pylist()
        case ".arrow":
            return pyarrow.ipc.open_file(path.read_bytes()).read_all().to_pylist()
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))


def weights_of(path: Path, model: Path, *options: str) -> np.ndarray:
    result = CliRunner().invoke(app, ["train", str(path), "--model", str(model), "--quiet", *options])
    assert result.exit_code == 0, result.stderr
    return np.asarray(open_model(model).training.learner.weights())


# ------------------------------------------------------------------ every pair


def sample(folder: Path, extension: str) -> Path:
    """A file of each format with the rows of SPARSE."""
    path = written(folder / "sparse.svm", SPARSE)
    if extension == "jsonl":  # with every key in every row: what is not there would be missing in a table
        path = converted(path, folder / "sample.csv")
    return path if extension == "svm" else converted(path, folder / f"sample.{extension}")


def options_for(path: Path) -> dict[str, Any]:
    return {"target": "label"} if path.suffix == ".jsonl" else {}


@pytest.mark.parametrize("before", EXTENSIONS)
@pytest.mark.parametrize("after", EXTENSIONS)
def test_labels_and_values_survive_every_direction(tmp_path: Path, before: str, after: str) -> None:
    source = sample(tmp_path, before)
    options = ["--target", "label"] if before == "jsonl" else []
    there = converted(source, tmp_path / f"there.{after}", *options)
    told = {"header": True} if after in ("csv", "tsv") else {}  # names that are numbers leave it open
    rows = rows_read(there, **options_for(there), **told)
    assert [label for label, _, _ in rows] == [-1.0, 1.0, -1.0]
    values = [sorted(value for _, value in features if value) for _, _, features in rows]
    assert values == [[0.1, 1e308], [1.0], [5e-324]]


@pytest.mark.parametrize("first", TABLES)
@pytest.mark.parametrize("second", TABLES)
def test_a_table_keeps_its_columns(tmp_path: Path, first: str, second: str) -> None:
    people = written(tmp_path / "people.csv", PEOPLE)
    there = converted(people, tmp_path / f"there.{first}")
    back = converted(converted(there, tmp_path / f"on.{second}"), tmp_path / "back.csv")
    assert back.read_text() == PEOPLE
    assert list(cells_read(there)[0]) == ["age", "town", "note", "weight", "wage"]


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "arrow"])
def test_cells_are_numbers_texts_or_nothing(tmp_path: Path, extension: str) -> None:
    path = converted(written(tmp_path / "people.csv", PEOPLE), tmp_path / f"people.{extension}")
    first, second, third = cells_read(path)
    assert first == {"age": 39, "town": "Bern", "note": 'a "b", c', "weight": 1, "wage": "high"}
    assert math.copysign(1.0, second["age"]) == -1.0
    assert second["town"] is None
    assert third == {"age": 1e-308, "town": "New\nYork", "note": "NA", "weight": 0.5, "wage": "high"}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("extension", ["svm", "vw", "csv", "jsonl"])
def test_output_is_compressed_as_its_name_says(tmp_path: Path, extension: str, compression: str) -> None:
    source = written(tmp_path / "a.svm", SPARSE)
    plain = converted(source, tmp_path / f"b.{extension}")
    packed = converted(source, tmp_path / f"c.{extension}.{compression}")
    assert packed.read_bytes() != plain.read_bytes()
    assert rows_read(packed, **options_for(plain)) == rows_read(plain, **options_for(plain))


# ------------------------------------------------------------------ what cells say


@pytest.mark.parametrize("texts", [["first\tline\nsecond", "plain"], ['"', "a\nb\n", '"\n"'], ['x"\ty\n"z', "plain"]])
@pytest.mark.parametrize("others", [{"y": ["p", "q", "r"]}, {}])
@pytest.mark.parametrize("extension", ["csv", "tsv"])
def test_cells_of_several_lines_come_back(
    tmp_path: Path, texts: list[str], others: dict[str, list[str]], extension: str
) -> None:
    table = pyarrow.table({"t": texts} | {name: cells[: len(texts)] for name, cells in others.items()})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    there = converted(tmp_path / "a.parquet", tmp_path / f"b.{extension}")
    assert cells_read(converted(there, tmp_path / "c.jsonl", "--header")) == table.to_pylist()


#: ids that double precision merges, codes with zeros in front, words that stand for nothing to a learner
CODES = "id,zip,land,amount,y\n1000000000000000007,01201,NA,1.50,p\n1000000000000000008,08001,?,2,q\n"


@pytest.mark.parametrize("first", TABLES)
@pytest.mark.parametrize("second", TABLES)
def test_cells_say_what_they_said(tmp_path: Path, first: str, second: str) -> None:
    there = converted(written(tmp_path / "codes.csv", CODES), tmp_path / f"there.{first}")
    back = converted(converted(there, tmp_path / f"on.{second}"), tmp_path / "back.csv")
    stays = {first, second} <= {"csv", "tsv"}  # a number is the same however it is written
    assert back.read_text() == (CODES if stays else CODES.replace("1.50", "1.5"))


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "arrow"])
def test_numbers_have_a_type_that_holds_them(tmp_path: Path, extension: str) -> None:
    text = (
        "whole,wide,code,huge,mixed,size,gap\n"
        f"-5,{2**64 - 1},007,{2**70 + 1},{2**53 + 1},1,NA\n"
        "9007199254740993,0,12,1,0.5,2.5,3\n"
    )
    source = written(tmp_path / "a.csv", text)
    result = run(source, tmp_path / f"b.{extension}", "--header")
    first, second = cells_read(tmp_path / f"b.{extension}")
    exact = extension == "jsonl"  # whose numbers have any number of digits
    assert first == {
        "whole": -5,
        "wide": 2**64 - 1,
        "code": "007",
        "huge": 2**70 + 1 if exact else str(2**70 + 1),
        "mixed": 2**53 + 1 if exact else str(2**53 + 1),
        "size": 1,
        "gap": None,
    }
    assert second["whole"] == 2**53 + 1
    assert (second["code"], second["size"], second["gap"]) == ("12", 2.5, 3)
    assert "The numbers of the column 'code' are texts now" in result.stderr
    assert ("'huge' are texts now" in result.stderr) is not exact


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "arrow", "csv"])
@pytest.mark.parametrize("piped", [True, False])
def test_whole_numbers_with_a_point_keep_their_digits(tmp_path: Path, extension: str, piped: bool) -> None:
    text = "id,size,wage,sign,y\n9007199254740993.0,1.0,9007199254740993.,-0.0,p\n9007199254740992.0,2.0,1.0,1.0,q\n"
    source, there = written(tmp_path / "a.csv", text), tmp_path / f"b.{extension}"
    result = run("-" if piped else source, there, "--format", "csv", stdin=text.encode() if piped else None)
    assert (result.exit_code, result.stderr) == (0, "")
    first, second = cells_read(there)
    if extension == "csv":
        assert there.read_text() == text
        return
    assert (first["id"], second["id"], first["wage"], second["wage"]) == (2**53 + 1, 2**53, 2**53 + 1, 1)
    assert math.copysign(1.0, first["sign"]) == -1.0
    assert extension == "jsonl" or type(first["size"]) is float


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "arrow"])
def test_digits_that_double_precision_does_not_hold_are_told_of(tmp_path: Path, extension: str) -> None:
    fine = [
        "0.1",
        "0.10000000000000000555",
        "1.000000000000000056e-01",
        "5e-324",
        "1e22",
        "0.30000000000000004",
        "-0.0",
    ]
    lost = {"long": "0.12345678901234567890123", "tiny": "1e-9999999999999999999999", "mixed": "12345678901234567890.5"}
    rows = [",".join([each, *["1.5"] * len(lost), "p"]) for each in fine]
    rows.append(",".join(["0.5", *lost.values(), "q"]))
    source = written(tmp_path / "a.csv", "\n".join([",".join(["fine", *lost, "y"]), *rows]))
    result = run(source, tmp_path / f"b.{extension}")
    said = [f"{name!r} have more digits than double precision holds, and are rounded: {lost[name]} is" for name in lost]
    assert [each in line for each, line in zip(said, result.stderr.splitlines(), strict=True)] == [True] * 3
    assert cells_read(tmp_path / f"b.{extension}")[-1]["tiny"] == 0


@pytest.mark.parametrize("extension", ["jsonl", "parquet", "csv"])
def test_numbers_of_json_keep_their_digits_or_are_told_of(tmp_path: Path, extension: str) -> None:
    source = written(tmp_path / "a.jsonl", '{"a": {"b": 0.5}, "n": 9007199254740993.0}\n')
    result = run(source, tmp_path / f"b.{extension}")
    assert (result.stderr, str(cells_read(tmp_path / f"b.{extension}")[0]["n"])) == ("", str(2**53 + 1))
    source = written(tmp_path / "c.jsonl", '{"a": {"b": 0.12345678901234567890123}, "n": 1.50}\n')
    result = run(source, tmp_path / f"d.{extension}")
    assert result.stderr == (
        "Numbers have more digits than double precision holds, and are rounded: "
        "0.12345678901234567890123 is 0.12345678901234568 now.\n"
    )


def test_decimals_that_json_rounds_are_told_of(tmp_path: Path) -> None:
    decimals = [decimal.Decimal("0.1234567890123456789012345678901234567890"), decimal.Decimal("1.5")]
    table = pyarrow.table({"d": pyarrow.array(decimals, pyarrow.decimal256(60, 40)), "short": decimals[1:] * 2})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    result = run(tmp_path / "a.parquet", tmp_path / "b.jsonl")
    assert "The numbers of the column 'd' have more digits than double precision holds" in result.stderr
    assert "'short'" not in result.stderr


@pytest.mark.parametrize("written_as", [str, "{:.17g}".format, "{:.18e}".format, "{:.40f}".format])
@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_no_digits_of_a_double_are_lost(written_as: Any, number: float) -> None:
    assert keeps_digits(written_as(number), float(written_as(number)))


@given(st.decimals(allow_nan=False, allow_infinity=False).map(str))
def test_digits_are_kept_if_they_come_back(text: str) -> None:
    decimals = len(decimal.Decimal(text).as_tuple().digits) - 1
    assert keeps_digits(text, float(text)) == (decimal.Decimal(f"{float(text):.{decimals}e}") == decimal.Decimal(text))


def test_a_number_of_thousands_of_digits_is_one(tmp_path: Path) -> None:
    long = "0" * 5000 + "1"
    source = written(tmp_path / "a.csv", f"x,z,y\n{long},0.{long},p\n2,3,q\n")
    for extension in ("jsonl", "parquet", "tsv"):
        there = converted(source, tmp_path / f"b.{extension}")
        assert cells_read(there)[0]["x"] == long


@pytest.mark.parametrize("extension", TABLES)
@pytest.mark.parametrize(
    ("numbers", "names"),
    [
        ([1.5, math.nan, 2.0], ["1.5", None, "2"]),
        ([decimal.Decimal("1.50"), None, decimal.Decimal("2.00")], ["1.5", None, "2"]),
        (
            [decimal.Decimal("0.1234567890123456789012"), decimal.Decimal("0.1234567890123456789010"), None],
            ["0.1234567890123456789012", "0.123456789012345678901", None],
        ),
        ([True, False, None], ["true", "false", None]),
    ],
)
def test_names_that_are_numbers_become_texts(
    tmp_path: Path, extension: str, numbers: list[Any], names: list[str | None]
) -> None:
    codes = pyarrow.array([0, 1, 2])
    columns = {"c": pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(numbers)), "y": ["p", "q", "r"]}
    table = pyarrow.table(columns)
    with pyarrow.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    there = converted(tmp_path / "a.arrow", tmp_path / f"b.{extension}")
    empty = "" if extension in ("csv", "tsv") else None
    assert [row["c"] for row in cells_read(there)] == [empty if name is None else name for name in names]


def test_a_name_that_is_infinity_is_refused_as_the_number_is(tmp_path: Path) -> None:
    numbers = pyarrow.array([1.5, math.inf, -math.inf])
    names = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 2]), numbers)
    for column in (numbers, names):
        table = pyarrow.table({"c": column, "y": ["p", "q", "r"]})
        with pyarrow.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
            file.write_table(table)
        refused = run(tmp_path / "a.arrow", tmp_path / "b.csv")
        assert refused.exit_code == 1
        assert "a.arrow:2:1: inf in the column 'c' is not a finite number" in refused.stderr


def test_json_numbers_keep_their_digits_in_a_table(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", '{"n": 12345678901234567890, "s": "NA"}\n{"n": 1, "s": ""}\n')
    assert converted(source, tmp_path / "b.csv").read_text() == "n,s\n12345678901234567890,NA\n1,\n"
    assert cells_read(converted(source, tmp_path / "b.parquet")) == [
        {"n": 12345678901234567890, "s": "NA"},
        {"n": 1, "s": ""},
    ]


@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_whole_numbers_among_fractions_are_doubles(tmp_path: Path, extension: str) -> None:
    source = written(tmp_path / "a.jsonl", f'{{"n": {2**53 + 2}}}\n{{"n": 0.5}}\n{{"n": null}}\n')
    found = cells_read(converted(source, tmp_path / f"b.{extension}"))
    assert [row["n"] for row in found] == [float(2**53 + 2), 0.5, None]


@pytest.mark.parametrize("extension", TABLES)
def test_texts_that_are_views(tmp_path: Path, extension: str) -> None:
    """As polars writes them."""
    texts = ["Bern", None, "a text of more than twelve letters"]
    polars.DataFrame({"town": texts, "y": ["p", "q", "p"]}).write_ipc(tmp_path / "a.arrow")
    assert pyarrow.ipc.open_file(tmp_path / "a.arrow").schema.field("town").type == pyarrow.string_view()
    found = cells_read(converted(tmp_path / "a.arrow", tmp_path / f"b.{extension}"))
    assert [row["town"] or None for row in found] == texts


@pytest.mark.parametrize("second", ["parquet", "arrow"])
def test_columns_of_arrow_keep_their_types(tmp_path: Path, second: str) -> None:
    table = pyarrow.table(
        {
            "id": pyarrow.array([2**63 + 1, None], pyarrow.uint64()),
            "short": pyarrow.array([0.5, float("nan")], pyarrow.float32()),
            "price": pyarrow.array([decimal.Decimal("12345678901234567.25"), None]),
            "yes": [True, None],
            "land": ["NA", "?"],
            "town": pyarrow.array(["Bern", None]).dictionary_encode(),
            "shop": pyarrow.array([3000, 1]).dictionary_encode(),
        }
    )
    with pyarrow.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    there = converted(tmp_path / "a.arrow", tmp_path / f"b.{second}")
    found = pyarrow.parquet.read_table(there) if second == "parquet" else pyarrow.ipc.open_file(there).read_all()
    for name in ("id", "short", "price", "yes", "land"):
        assert found.schema.field(name).type == table.schema.field(name).type
        assert found[name].null_count == table[name].null_count
    assert found["id"].to_pylist() == [2**63 + 1, None]
    assert (found["town"].to_pylist(), found["shop"].to_pylist()) == (["Bern", None], ["3000", "1"])
    lines = converted(there, tmp_path / "c.csv").read_text().splitlines()
    assert lines[1:] == [f"{2**63 + 1},0.5,12345678901234567.25,1,NA,Bern,3000", ",,,,?,,1"]


def test_a_pipe_whose_later_numbers_do_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlinear.streams.conversion.directions.LOOK", 2)
    for late in ("007", "0.5", str(2**64)):
        output = tmp_path / "b.parquet"
        result = run("-", output, "--format", "csv", stdin=f"x,y\n1,a\n2,b\n{late},c\n".encode())
        assert result.exit_code == 1
        assert f"row 3 has '{late}' in the column 'x'" in result.stderr
        assert "save the input to a file" in result.stderr
        assert not output.exists()


# ------------------------------------------------------------------ round trips

NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 1e-308, 5e-324, 1e308, 2.0**53])
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.sampled_from(
    ['"', "a,b", "a\nb", " x ", "\ttab", "\r\n", "a|b;c", "1.5", "ü", "\ufeffx"]
)


def is_word(text: str) -> bool:
    return text.strip(" \t\r") not in ("", "?", "NA")


#: the second column has a text that is no number in its first row
TABLE = st.lists(
    st.tuples(st.none() | NUMBERS, st.none() | WORDS.filter(is_word), NUMBERS),
    min_size=1,
    max_size=6,
).map(lambda rows: [(1.0, "word", 1.0), *rows])


@given(TABLE, st.lists(st.sampled_from(TABLES), min_size=1, max_size=3))
def test_any_table_comes_back_to_the_bit(rows: list[tuple[Any, Any, Any]], path: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at = folder / "0.jsonl"
        lines = [json.dumps(dict(zip(("number", "a word", 'last"'), row, strict=True))) for row in rows]
        written(at, "\n".join(lines))
        for k, extension in enumerate([*path, "jsonl"], 1):
            output = folder / f"{k}.{extension}"
            reading = ReadOptions(header=True if at.suffix in (".csv", ".tsv") else None)
            convert(ConvertOptions([str(at)], str(output), reading=reading))
            at = output
        found = [tuple(cells.values()) for cells in cells_read_exactly(at)]
    assert [tuple(map(repr, map(floated, row))) for row in found] == [tuple(map(repr, row)) for row in rows]


def cells_read_exactly(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def floated(cell: Any) -> Any:
    return float(cell) if isinstance(cell, int) else cell


FEATURES = st.dictionaries(st.integers(1, 50), NUMBERS, max_size=5)


@given(st.lists(st.tuples(st.sampled_from([-1.0, 1.0, 0.5]), FEATURES), min_size=1, max_size=5))
def test_svmlight_comes_back_by_way_of_vw(rows: list[tuple[float, dict[int, float]]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        first, there, back = (str(Path(name) / file) for file in ("a.svm", "b.vw", "c.svm"))
        lines = [" ".join([repr(label), *(f"{k}:{v!r}" for k, v in sorted(row.items()))]) for label, row in rows]
        written(Path(first), "".join(f"{line}\n" for line in lines))
        convert(ConvertOptions([first], there))
        convert(ConvertOptions([there], back))
        names = [int(line) for line in Path(f"{back}.names").read_text().splitlines()]
        found = [
            (label, {names[column]: repr(value) for column, value in features})
            for label, _, features in rows_read(Path(back))
        ]
    assert found == [(label, {k: repr(v) for k, v in row.items()}) for label, row in rows]


@pytest.mark.parametrize("extension", [*TABLES, "vw"])
def test_a_model_learns_the_same_from_the_copy_of_a_table(tmp_path: Path, extension: str) -> None:
    rng = np.random.default_rng(7)
    rows = (
        f"{rng.normal()!r},{'' if rng.random() < 0.1 else rng.choice(['Bern', 'Ulm'])},{k % 3},{rng.choice(['a', 'b'])}"
        for k in range(300)
    )
    people = written(tmp_path / "people.csv", "\n".join(["size,town,care,kind", *rows, ""]))
    copy = converted(people, tmp_path / f"copy.{extension}", "--weight", "care")
    named = ("--target", "kind", "--weight", "care")
    before = weights_of(people, tmp_path / "before.model", *named)
    after = weights_of(copy, tmp_path / "after.model", *(() if extension == "vw" else named))
    assert np.any(before)
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize(("extension", "options"), [("vw", []), ("jsonl", ["--target", "label"])])
def test_a_model_learns_the_same_from_the_copy_of_vw(tmp_path: Path, extension: str, options: list[str]) -> None:
    source = written(tmp_path / "a.vw", SPACED * 20)
    copy = converted(source, tmp_path / f"b.{extension}")
    before = weights_of(source, tmp_path / "before.model")
    assert np.any(before)
    np.testing.assert_array_equal(weights_of(copy, tmp_path / "after.model", *options), before)


# ------------------------------------------------------------------ what each format looks like


def test_vw_keeps_namespaces_and_importance(tmp_path: Path) -> None:
    source = written(tmp_path / "a.vw", "1 2 'tag|a x y:0.5 |b:2 z | v\n|a x\n")
    assert converted(source, tmp_path / "b.vw").read_text() == "1 2 |a x y:0.5 |b z:2 | v\n|a x\n"


def test_names_that_vw_cannot_say_are_mended_and_counted(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "a b,t,y\n1,x:|\t,0\n2,x:|\t,1\n")
    result = run(source, tmp_path / "b.vw")
    assert (tmp_path / "b.vw").read_text() == "0 | a_b t=x__\n1 | a_b:2 t=x__\n"
    assert "2 names were changed" in result.stderr
    assert "'a b' is 'a_b'" in result.stderr


def test_two_classes_are_minus_one_and_one(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "x,y\n1,no\n2,yes\n3,no\n4,yes\n")
    result = run(source, tmp_path / "b.vw")
    assert [line.split()[0] for line in (tmp_path / "b.vw").read_text().splitlines()] == ["-1", "1", "-1", "1"]
    assert "no is -1, yes is 1" in result.stderr


def test_more_classes_are_counted_in_sorted_order(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "x,y\n1,c\n2,a\n3,b\n4,c\n")
    converted(source, tmp_path / "b.svm")
    assert (tmp_path / "b.svm").read_text() == "3 1:1\n1 1:2\n2 1:3\n3 1:4\n"


def test_a_late_class_is_the_next_but_no_third_of_two() -> None:
    many, two = ClassNumbers(["a", "b", "c"]), ClassNumbers(["a", "b"])
    assert many.text("0") == "4"
    with pytest.raises(OnlinearError, match="move a row of it to the top"):
        two.text("c")


@pytest.mark.parametrize("first_index", [0, 1])
def test_svmlight_has_its_names_beside(tmp_path: Path, first_index: int) -> None:
    source = written(tmp_path / "a.csv", "x,t,y\n1,u,0\n2,v,1\n")
    output = converted(source, tmp_path / "b.svm", "--first-index", first_index)
    k = first_index
    assert output.read_text() == f"0 {k}:1 {k + 1}:1\n1 {k}:2 {k + 2}:1\n"
    assert (tmp_path / "b.svm.names").read_text() == "x\nt=u\nt=v\n"


def test_svmlight_indices_stay_theirs(tmp_path: Path) -> None:
    source = written(tmp_path / "a.svm", "1 0:5 7:2\n")
    assert converted(source, tmp_path / "b.svm.gz", "--first-index", 0).exists()
    assert not (tmp_path / "b.svm.gz.names").exists()
    assert rows_read(tmp_path / "b.svm.gz", first_index=0) == [(1.0, 1.0, [(0, 5.0), (7, 2.0)])]
    assert converted(source, tmp_path / "b.vw", "--first-index", 0).read_text() == "1 | 0:5 7:2\n"


def test_json_has_an_importance_in_every_row_or_in_none(tmp_path: Path) -> None:
    source = written(tmp_path / "a.vw", "1 | x\n-1 2 | x x:3\n")
    rows = cells_read(converted(source, tmp_path / "b.jsonl", "--target", "y"))
    assert rows == [{"y": 1, "importance": 1, "x": 1}, {"y": -1, "importance": 2, "x": 4}]
    source = written(tmp_path / "c.vw", "1 | x\n")
    assert cells_read(converted(source, tmp_path / "c.jsonl")) == [{"label": 1, "x": 1}]


def test_an_importance_that_comes_late_is_refused_unless_named(tmp_path: Path) -> None:
    source = written(tmp_path / "a.vw", "1 | x\n" * 10_000 + "1 2 | x\n")
    result = run(source, tmp_path / "b.jsonl")
    assert (result.exit_code, "row 10,001" in result.stderr) == (1, True)
    rows = cells_read(converted(source, tmp_path / "b.jsonl", "--weight", "w"))
    assert (rows[0]["w"], rows[-1]["w"]) == (1, 2)


def test_rows_without_columns_become_a_table_with_the_label_last(tmp_path: Path) -> None:
    source = written(tmp_path / "a.svm", "1 2:0.5\n-1 1:3\n")
    assert converted(source, tmp_path / "b.csv").read_text() == "x2,x1,label\n0.5,0,1\n0,3,-1\n"


def test_json_lines_become_a_table_of_all_keys(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", '{"a": {"b": true}, "m": 1}\n{"c": "x", "m": "t"}\n{"n": null}\n')
    output = converted(source, tmp_path / "b.parquet")
    assert cells_read(output) == [
        {"a.b": 1.0, "m": "1", "c": None, "n": None},
        {"a.b": None, "m": "t", "c": "x", "n": None},
        {"a.b": None, "m": None, "c": None, "n": None},
    ]


def test_texts_that_csv_makes_numbers_are_told_of(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", '{"zip": "8001", "town": "Bern", "2019": 1}\n')
    stderr = run(source, tmp_path / "b.csv").stderr
    assert "'zip' all look like numbers" in stderr
    assert "'town'" not in stderr
    assert "'2019' is called like a number" in stderr


@pytest.mark.parametrize(
    ("texts", "is_said"),
    [
        (["nan", "inf", "1_0"], False),
        (["1e999"], False),
        (["\u0661"], False),
        (["8001", "NA"], True),
        ([" 5", "+.5e3"], True),
        (["NA", "?"], False),
    ],
)
def test_texts_look_like_numbers_if_a_reader_takes_them_for_such(
    tmp_path: Path, texts: list[str], is_said: bool
) -> None:
    source = written(tmp_path / "a.jsonl", "".join(json.dumps({"d": text, "y": "p"}) + "\n" for text in texts))
    assert ("'d' all look like numbers" in run(source, tmp_path / "b.csv").stderr) is is_said
    assert (open_stream(str(tmp_path / "b.csv"), header=True).format.columns[0].kind == "number") is is_said


def test_columns_that_are_called_like_missing_cells_are_told_of(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", '{"NA": "Bern", "y": "p"}\n')
    assert "The column 'NA' is called like a missing cell: whoever reads" in run(source, tmp_path / "b.csv").stderr


def test_a_record_of_one_empty_cell_is_no_blank_line(tmp_path: Path) -> None:
    source = written(tmp_path / "a.jsonl", '{"a": "x"}\n{"a": null}\n{"a": "y"}\n')
    there = converted(source, tmp_path / "b.csv")
    back = converted(there, tmp_path / "c.jsonl", "--header")
    assert back.read_text() == source.read_text()


def test_a_label_may_be_missing_where_nothing_is_learned(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "x,y\n1,\n2,b\n")
    assert cells_read(converted(source, tmp_path / "b.parquet")) == [{"x": 1.0, "y": None}, {"x": 2.0, "y": "b"}]
    assert run(source, tmp_path / "b.vw").exit_code == 1


def test_csv_without_a_header_stays_without(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "1,2\n3,4\n")
    assert converted(source, tmp_path / "b.tsv").read_text() == "1\t2\n3\t4\n"


def test_files_are_joined_and_parquet_is_cut_into_groups(tmp_path: Path) -> None:
    source = written(tmp_path / "a.csv", "x,y\n" + "1,2\n" * 50_000)
    output = tmp_path / "b.parquet"
    assert run(source, source, output).exit_code == 0
    metadata = pyarrow.parquet.ParquetFile(output).metadata
    assert (metadata.num_rows, metadata.num_row_groups) == (100_000, 2)


# ------------------------------------------------------------------ standard input and output


def test_pipes_go_through() -> None:
    result = run("-", "-", "--format", "csv", "--to", "vw", stdin=b"x,y\n1,0\n2,1\n")
    assert (result.exit_code, result.stdout) == (0, "0 | x\n1 | x:2\n")


def test_a_pipe_of_texts_alone_goes_through() -> None:
    result = run("-", "-", "--format", "csv", "--to", "jsonl", stdin=b"a,b\nx,y\nz,w\n")
    assert (result.exit_code, result.stdout) == (0, '{"a": "x", "b": "y"}\n{"a": "z", "b": "w"}\n'), result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-", "b.csv", "--format", "vw"), "only once"),
        (("a.svm", "-"), "say --to"),
        (("a.svm", "-", "--to", "arrow"), "name a file"),
        (("a.csv", "-", "--to", "svmlight"), "a file beside"),
        (("a.svm", "b.parquet.gz"), "compressed within"),
        (("a.svm", "there.vw"), "there already"),
        (("a.csv", "named.svm"), "named.svm.names is there already"),
        (("a.svm", "a.svm", "--to", "vw", "--force"), "at the same time"),
        (("a.svm", "b.what", "--to", "what"), "choose one of"),
    ],
)
def test_what_the_command_line_cannot_have_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"a.svm": SPARSE, "a.csv": PEOPLE, "there.vw": "old", "named.svm.names": "old"}.items():
        written(tmp_path / name, text)
    before = sorted(tmp_path.iterdir())
    result = run(*arguments, stdin=b"1 | x\n")
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "there.vw").read_text() == "old"


@pytest.mark.parametrize(
    ("name", "text", "output", "said"),
    [
        ("a.vw", "1 2 | x\n", "b.svm", "cannot say"),
        ("a.vw", "| x\n", "b.svm", "no label"),
        ("a.vw", "1 | label\n", "b.jsonl", "--target"),
        ("a.vw", "1 | x:1e308 x:1e308\n", "b.jsonl", "add up to infinity"),
        ("a.jsonl", '{"a": ["x", "y"]}\n', "b.csv", "is a list"),
        ("a.jsonl", '{"a": {"b": 1}, "a.b": 2}\n', "b.csv", "twice"),
        ("a.jsonl", '{" a": 1}\n', "b.csv", "cannot be called"),
        ("a.jsonl", '{"a": "x\\u0000"}\n', "b.csv", "zero byte"),
        ("a.jsonl", '{"a": 1}\n', "b.vw", "target is not named"),
        ("a.csv", "x,y\n1,2\n3\n", "b.vw", "a.csv:3:1"),
        ("a.vw", "1 | " + " ".join(f"n{k}" for k in range(10_001)), "b.csv", "convert to jsonl"),
    ],
)
def test_what_the_rows_cannot_be_ends_with_1_and_without_output(
    tmp_path: Path, name: str, text: str, output: str, said: str
) -> None:
    source = written(tmp_path / name, text)
    result = run(source, tmp_path / output)
    assert (result.exit_code, said in result.stderr) == (1, True), result.stderr
    assert list(tmp_path.iterdir()) == [source]


def test_a_name_that_is_not_utf_8_stays_in_vw_and_is_refused_elsewhere(tmp_path: Path) -> None:
    source = tmp_path / "a.vw"
    source.write_bytes(b"1 | x\xff\n")
    assert converted(source, tmp_path / "b.vw").read_bytes() == source.read_bytes()
    for extension in ("jsonl", "csv", "parquet"):
        result = run(source, tmp_path / f"b.{extension}")
        assert (result.exit_code, "UTF-8" in result.stderr) == (1, True), extension


def test_force_replaces_and_failure_leaves_what_was_there(tmp_path: Path) -> None:
    good, bad = written(tmp_path / "a.vw", "1 | x\n"), written(tmp_path / "bad.vw", "1 | x\n1 x\n")
    there = written(tmp_path / "b.jsonl", "old")
    assert run(bad, there, "--force").exit_code == 1
    assert there.read_text() == "old"
    assert run(good, there, "--force").exit_code == 0
    assert there.read_text() == '{"label": 1, "x": 1}\n'


def test_a_link_that_has_the_name_of_the_names_is_replaced(tmp_path: Path) -> None:
    source, other = written(tmp_path / "a.csv", "size,y\n1,p\n2,q\n"), written(tmp_path / "other", "kept")
    (tmp_path / "b.svm.names").symlink_to(other)
    converted(source, tmp_path / "b.svm", "--force")
    assert other.read_text() == "kept"
    assert (tmp_path / "b.svm.names").read_text() == "size\n"
    assert not (tmp_path / "b.svm.names").is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of the size of files")
def test_names_are_not_replaced_without_their_rows(tmp_path: Path) -> None:
    rows = "".join(f"{k / 7},{'pq'[k % 2]}\n" for k in range(2000))
    source, there = written(tmp_path / "a.csv", f"size,y\n{rows}"), written(tmp_path / "b.svm", "old")
    names = written(tmp_path / "b.svm.names", "old names\n")

    def small() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    ended = run_apart("convert", source, there, "--force", preexec_fn=small)
    assert (ended.code, "was not saved: file too large" in ended.err) == (3, True), ended
    assert (there.read_text(), names.read_text()) == ("old", "old names\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.svm", "b.svm.names"]


@pytest.mark.parametrize("output", ["b.jsonl", "b.csv"])
def test_bad_lines_are_skipped_or_copied_once(tmp_path: Path, output: str) -> None:
    source = written(tmp_path / "a.vw", "1 | x\nbad\n-1 | x\n")
    result = run(source, tmp_path / output, "--bad-lines", tmp_path / "bad.txt")
    assert (result.exit_code, "1 bad line skipped" in result.stderr) == (0, True)
    assert (tmp_path / "bad.txt").read_text().splitlines()[1:] == ["bad"]
    assert len(rows_read(tmp_path / output, **options_for(tmp_path / output))) == 2
    result = run(source, tmp_path / "c.csv", "--bad-lines", tmp_path / "c.csv", "--force")
    assert (result.exit_code, "by another output" in result.stderr) == (2, True)


# ------------------------------------------------------------------ small things


@given(NUMBERS)
def test_numbers_read_back_to_the_same_bits(number: float) -> None:
    assert math.copysign(1.0, float(text_of(number))) == math.copysign(1.0, number)
    assert float(text_of(number)) == number


def test_a_negative_zero_survives_its_merging() -> None:
    found = merge_names([("a", -0.0), ("a", -0.0), ("b", 1.0)])
    assert math.copysign(1.0, found["a"]) == -1.0


def test_what_is_no_text_is_not_added_to_a_file(tmp_path: Path) -> None:
    rows = written(tmp_path / "rows.csv", "a,y\n1,2\n2,1\n")
    for form in ("parquet", "arrow"):
        output = tmp_path / f"all.{form}"
        for held in (b"", b"something"):
            output.write_bytes(held)
            with open(output, "ab") as file:
                ended = run_apart("convert", rows, f"/dev/fd/{file.fileno()}", "--to", form, pass_fds=(file.fileno(),))
            assert (ended.code, "holds something already" in ended.err) == ((2, True) if held else (0, False)), ended
            assert output.read_bytes().startswith(held)


def test_a_cell_of_many_digits_is_looked_at_once() -> None:
    """A regular expression that tries every digit as the last one before the point would take a day for these."""
    assert not is_number("1" * 1_000_000 + "x")
    assert all(map(is_number, ("1", "1.", "1.5", ".5", "-1.e5", "+.5E-3")))
    assert not any(map(is_number, (".", "1e", "1.2.3", "e5")))
