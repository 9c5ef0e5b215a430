"""What columns are, by a look at the first records."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadLine, BadSource, OnlinearError
from onlinear.streams.columns import Column
from onlinear.streams.csv_inference import infer
from onlinear.streams.csv_text import CSVText
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import open_alike, open_stream


def written(folder: Path, text: str, name: str = "rows.csv") -> str:
    file = folder / name
    file.write_text(text, newline="")
    return str(file)


def kinds(form: CSVText) -> dict[str, str]:
    return dict(form.columns)


def test_names_kinds_and_target(tmp_path: Path) -> None:
    text = "age,town,zip,nothing,wage\n39,Bern,3000,,yes\n?, Thun ,3600,NA,no\n9e-06,7,3601,?,\n"
    form = infer(written(tmp_path, text), ReadOptions(categories=["zip"], bits=20))
    expected = {"age": "number", "town": "category", "zip": "category", "nothing": "category", "wage": "target"}
    assert kinds(form) == expected
    assert (form.target_kind, form.delimiter, form.naming.bits, form.header) == ("category", ",", 20, True)


def test_without_a_header_columns_are_numbered(tmp_path: Path) -> None:
    form = infer(written(tmp_path, "39, State-gov, <=50K\n50, ?, >50K\n"))
    assert form.columns == (Column("1", "number"), Column("2", "category"), Column("3", "target"))
    assert not form.header


@pytest.mark.parametrize(
    ("text", "is_header"),
    [
        ("a,b\n1,x\n2,y\n", True),
        ("1,x\n2,y\n", False),
        ("?,x\n2,y\n", False),
        ("colour,size\nred,big\nblue,small\n", True),
        ("red,big\nblue,small\nred,small\n", False),
        ("red,red\nblue,small\n", False),
        ("a,b\n", True),
        ("1,b\n", False),
        ('"a","b"\n"1","x"\n', True),
        ("a,b\n1,x\noops,y\n", False),  # two texts in a column: the first may be one, too
    ],
)
def test_a_header_is_told_from_what_stands_below_it(tmp_path: Path, text: str, is_header: bool) -> None:
    file = written(tmp_path, text)
    if text == "a,b\n":
        with pytest.raises(BadSource, match="has a header, but no records"):
            infer(file)
    elif "oops" not in text:
        assert infer(file).header is is_header
    assert infer(file, ReadOptions(header=False)).header is False


def test_a_first_record_that_may_be_either_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "town,2019,2020\n1,2,3\n4,5,6\n")
    with pytest.raises(OnlinearError, match="may be a header or a row, with both 'town' and '2019' above numbers: say"):
        infer(file)
    assert kinds(infer(file, ReadOptions(header=True))) == {"town": "number", "2019": "number", "2020": "target"}
    assert kinds(infer(file, ReadOptions(header=False))) == {"1": "category", "2": "number", "3": "target"}


def test_a_number_above_texts_alone_may_be_a_name(tmp_path: Path) -> None:
    """Years in a header; with few rows, or a number among the texts, it is a code as others."""
    rows = ["1,2,good", "3,4,bad"]
    file = written(tmp_path, "\n".join(["2019,2020,2021", *rows * 5]))
    with pytest.raises(OnlinearError, match="may be a header or a row, with '2021' above texts: say which"):
        infer(file)
    assert kinds(infer(file, ReadOptions(header=True))) == {"2019": "number", "2020": "number", "2021": "target"}
    for others in (rows, [*rows * 5, "5,6,7"]):
        assert infer(written(tmp_path, "\n".join(["2019,2020,2021", *others]))).header is False


TOWNS = ["Bern,yes", "Thun,no", "Ulm,no", "Bern,no", "Thun,yes", "Ulm,yes"] * 5
SIZES = [f"town {k},{k * 0.7:.2f},{k * 1.3:.2f}" for k in range(3, 30)]


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        (",town,y", [f"{k},{row}" for k, row in enumerate(TOWNS)]),
        (",town,y", [f"i{k},{row}" for k, row in enumerate(TOWNS)]),
        (",0,1", [f"{k},{row}" for k, row in enumerate(TOWNS)]),
        (",0,1", [f"{k},0.{k},1.{k}" for k in range(3)]),
        (",0", ["0,1.5", "1,2.5"]),
    ],
)
def test_an_index_of_pandas_without_a_name_is_a_header(tmp_path: Path, header: str, rows: list[str]) -> None:
    with pytest.raises(BadLine, match=r"rows\.csv:1:1: column 1 has no name: name it, or leave it out \(pandas"):
        infer(written(tmp_path, "\n".join([header, *rows])))


@pytest.mark.parametrize(
    ("header", "rows", "reason"),
    [
        ("NA,y", TOWNS, "'NA' among words that never come again below"),
        ("?,y", TOWNS, "'[?]' among words that never come again below"),
        ("town,", TOWNS, "an empty cell among words that never come again below"),
        ("y,y", TOWNS, "'y' among words that never come again below"),
        ("0,1", TOWNS, "'0' above texts"),
        ("town,2019", TOWNS, "'2019' above texts"),
        ("town,2019,2020", SIZES, "words that never come again below, and numbers that may be names"),
        ("town,0,1", SIZES, "words that never come again below, and numbers that may be names"),
        ("0,1,2", [row.replace("town ", "0.") for row in SIZES], "numbers that may be names"),
        ("2019,2020,2021", [row.replace("town ", "0.") for row in SIZES], "numbers that may be names"),
        ("town,y", [*TOWNS, "town,y", *TOWNS], "all of it again further down, as where files with headers"),
        ("size,y", ["1,yes", "2,no", "3,yes"] * 5 + ["size,y", "4,no"], "all of it again further down"),
    ],
)
def test_names_that_look_like_cells_are_refused(tmp_path: Path, header: str, rows: list[str], reason: str) -> None:
    file = written(tmp_path, "\n".join([header, *rows]))
    with pytest.raises(OnlinearError, match=f"may be a header or a row, with {reason}.*: say which"):
        infer(file)
    assert infer(file, ReadOptions(header=False)).header is False


@pytest.mark.parametrize(
    "rows",
    [
        TOWNS,
        ["?,yes", *TOWNS],  # the label comes again
        ["7,yes", *TOWNS],  # so it does below a code
        ["u,yes", "v,no"] * 15,  # pairs come again as a whole, but there are no others
        ["Bern,1995,2001", *(f"{row.split(',')[0]},{1960 + k},{2001 + k}" for k, row in enumerate(SIZES))],  # years
        ["Bern,7,8", *SIZES],
        ["Bern,0,1", *SIZES, "Basel,0,3"],
        [",Bern,yes", *(f"{k},{row}" for k, row in enumerate(TOWNS[1:], 5))],
        ["7,Bern", *TOWNS, "8,Ulm"],
        ["0.5,2019,2020", *(f"1.{k},{k},3{k}" for k in range(12))],  # numbers alone are rows
        ["hello", *map(str, "abcdefghijkl"), "hello"],  # one column says nothing
        [f"{k},{2 * k + 1}" for k in range(20)],  # points of a curve
        ["0,1,2", *(f"{k % 3},{k % 5}.5,{k}" for k in range(20))],  # they come again
    ],
)
def test_ordinary_rows_are_no_header(tmp_path: Path, rows: list[str]) -> None:
    assert infer(written(tmp_path, "\n".join(rows))).header is False


def test_a_name_that_is_no_column_of_numbered_ones_may_be_in_a_header(tmp_path: Path) -> None:
    with pytest.raises(OnlinearError, match=r"no column 'y': the columns are 1, 2; if the first record has .*--header"):
        infer(written(tmp_path, "1,2\n3,4\n"), ReadOptions(target="y"))


@pytest.mark.parametrize(
    ("name", "text", "delimiter"),
    [
        ("rows.csv", "a,b\n1,2\n", ","),
        ("rows.tsv", "a\tb\n1\t2\n", "\t"),
        ("rows.csv", "a;b\n1,5;2\n", ";"),
        ("rows.data", "a|b\n1|2\n", "|"),
        ("rows.txt", "a\tb\n1,5\t2\n", "\t"),
        ("rows.csv", '"a;b;c",d\n"1;2;3",4\n', ","),
        ("rows.csv", "a\n1\n", ","),
        ("rows.tsv", "a\n1\n", "\t"),
    ],
)
def test_the_delimiter_is_told(tmp_path: Path, name: str, text: str, delimiter: str) -> None:
    assert infer(written(tmp_path, text, name)).delimiter == delimiter


def test_the_delimiter_may_be_given(tmp_path: Path) -> None:
    assert kinds(infer(written(tmp_path, "a;b,c\n1;2,3\n"), ReadOptions(delimiter=";"))) == {
        "a": "number",
        "b,c": "target",
    }


@pytest.mark.parametrize("target", ["town", 2, -2, "2", "-2"])
def test_columns_are_named_or_counted(tmp_path: Path, target: str | int) -> None:
    form = infer(written(tmp_path, "age,town,w\n1,x,2\n"), ReadOptions(target=target, weight=-1, ignore=["age"]))
    assert kinds(form) == {"age": "ignore", "town": "target", "w": "weight"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"target": "towm"}, "there is no column 'towm': did you mean 'town'? The columns are age, town, w"),
        ({"target": "Town"}, "there is no column 'Town': did you mean 'town'? The columns are age, town, w"),
        ({"target": "label"}, "there is no column 'label': the columns are age, town, w"),
        ({"target": 4}, "there is no column 4: count from 1 to 3, or from the end with -1"),
        ({"target": 0}, "there is no column 0"),
        ({"weight": "w"}, "column 'w' cannot be target and weight at once: choose one"),
        ({"ignore": ["agee"]}, "there is no column 'agee': did you mean 'age'?"),
        ({"delimiter": "ab"}, "'ab' is no delimiter"),
        ({"delimiter": ""}, "'' is no delimiter"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, options: dict[str, object], reason: str) -> None:
    file = written(tmp_path, "age,town,w\n1,x,2\n")
    with pytest.raises(OnlinearError) as caught:
        infer(file, ReadOptions(**options))  # type: ignore[arg-type]
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        (",a,b\n0,1,2\n", 1, 1, "column 1 has no name: name it, or leave it out (pandas: to_csv(index=False))"),
        ("\na, b,\n1,2,3\n", 2, 6, "column 3 has no name"),
        ('a,b,"a"\n1,2,3\n', 1, 5, "the name 'a' is there twice, as column 1 too: rename one of them"),
        ('a,"b\n1,2\n', 1, 3, "the quote that opens here is never closed"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, text: str, line: int, column: int, reason: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(BadLine) as caught:
        infer(file)
    assert str(caught.value).startswith(f"{file}:{line}:{column}: {reason}")


def test_a_header_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(b"age,Z\xfcrich\n1,2\n")
    with pytest.raises(BadLine, match=r"rows.csv:1:6: there is a byte here that is not UTF-8"):
        infer(file)


@pytest.mark.parametrize("text", ["", "\n", " \n\r\n"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSource, match="is empty: there is no table in it"):
        infer(written(tmp_path, text))


def test_standard_input_is_refused() -> None:
    with pytest.raises(BadSource, match="standard input cannot be looked at beforehand"):
        infer("-")


def test_so_many_records_are_looked_at_and_no_more(tmp_path: Path) -> None:
    text = "a,b\n" + "\n1,2\n" * 9 + "x,2\n"
    assert kinds(infer(written(tmp_path, text), rows=9))["a"] == "number"
    assert kinds(infer(written(tmp_path, text), ReadOptions(header=True), rows=10))["a"] == "category"


def test_a_short_first_file_is_not_all_that_is_looked_at(tmp_path: Path) -> None:
    files = [written(tmp_path, "a,b\n1,2\n", "1.csv"), written(tmp_path, "a,b\nx,2\n", "2.csv")]
    assert kinds(infer(files)) == {"a": "category", "b": "target"}
    assert kinds(infer(files, rows=1)) == {"a": "number", "b": "target"}


def test_compressed_files_are_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "rows.tsv.gz"
    file.write_bytes(gzip.compress(b"a\tb\n1\t2\n"))
    assert kinds(infer(file)) == {"a": "number", "b": "target"}


@settings(max_examples=100)
@given(st.lists(st.lists(st.sampled_from(["1", "2.5", "x", "", "?", "1e5", '"3"', '"a,b"']), min_size=2, max_size=3)))
def test_what_was_inferred_can_read_what_was_looked_at(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]
) -> None:
    """Rows of the right width are read, and no cell is refused but a missing label."""
    file = tmp_path_factory.getbasetemp() / "inferred.csv"
    text = "a,b,c\n" + "".join(",".join(row) + "\n" for row in cells)
    file.write_text(text)
    if not any(cells):
        return
    form = infer(file, ReadOptions(header=True))
    for chunk in form.pieces(str(file)):
        block = form.parse(chunk, "inferred.csv", stop_at_bad=False)
        wrong = [str(line) for line, _ in block.bad]
        assert len(block) + len(wrong) == len(cells)
        assert all("has 2 cells" in reason or "is missing" in reason for reason in wrong)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["", "\r", "\r\n", "\n"])
def test_lines_that_a_carriage_return_alone_ends_are_refused(tmp_path: Path, delimiter: str, end: str) -> None:
    lines = [line.replace(" ", delimiter) for line in ["a b y", "1 2 no", "3 4 yes", '5 "6\r7" yes']]
    path = tmp_path / "old.csv"
    path.write_bytes(("\r".join(lines) + end).encode())
    with pytest.raises(BadLine, match=r"old\.csv:1:1: lines end with a carriage return alone"):
        open_stream(path, delimiter=delimiter)
    (tmp_path / "new.csv").write_bytes(("\r\n".join(lines) + end).encode())
    known = open_stream(tmp_path / "new.csv", delimiter=delimiter, bits=8).format
    with pytest.raises(BadLine, match=r"old\.csv:1:1: lines end with a carriage return alone"):
        open_alike(path, known)


def test_carriage_returns_within_cells_are_none_of_that(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'"a\r,1",y\n1,2\n3,4\n')
    (tmp_path / "b.csv").write_bytes(b"a,y\nsay,it\rso,no\n")
    assert [column.name for column in open_stream(tmp_path / "a.csv", bits=8).format.columns] == ["a\r,1", "y"]
    assert [column.name for column in open_stream(tmp_path / "b.csv", bits=8).format.columns] == ["a", "y"]
