"""CSV, read as the slow parser reads it; and a row means what the dict of its cells means."""

from __future__ import annotations

import csv
import io
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadLine, OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.names import HashedNames
from onlinear.features.naming import Naming
from onlinear.streams.columns import Column
from onlinear.streams.csv_cells import RecordEnds
from onlinear.streams.csv_text import CSVText
from onlinear.streams.stream import in_order
from onlinear.streams.text_lines import Chunk, chunks
from slow_tables import Wrong, records, table

BITS = 4  # few, so that names collide

NUMBERS = st.one_of(
    st.sampled_from(["0", "1", "-1", "39", "0.5", ".5", "5.", "+2", "3e2", "0.123456789", "215646", "1e308", "-0"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
)
COUNTS = NUMBERS.map(lambda number: number.lstrip("-"))
NO_NUMBERS = st.sampled_from(["nan", "inf", "1e999", "1_0", "x", "1 2", "-", "0x10", "٣", "1,5", "-999"])
GAPS = st.sampled_from(
    ["", "?", "NA", "NAN", "-999", "n/a", "a rather long word that says that nothing is there, it is"]
)
TEXTS = st.text(
    st.one_of(st.sampled_from('abc ,;\t|"\n\r=?'), st.characters(codec="utf-8", exclude_characters="\0")), max_size=12
)
BLANKS = st.sampled_from(["", "", "", "", " ", "  ", "\t"])
LONG = "a rather long word that says that nothing is there, it is not longer than what a cell may hold"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@st.composite
def cells(draw: st.DrawFn, kind: str) -> bytes:
    likely = {"number": NUMBERS, "weight": COUNTS, "target": COUNTS}.get(kind, TEXTS)
    text = draw(draw(st.sampled_from([likely] * 9 + [TEXTS, GAPS, NO_NUMBERS])))
    if draw(st.integers(0, 3)) == 0 or (set(text) & set('",;\t|\n') and draw(st.integers(0, 9))):
        text = quoted(draw(BLANKS) + text + draw(BLANKS)) + draw(
            st.sampled_from(["", "", "", "", "", "x", '"', ' "x"'])
        )
    cell = (draw(BLANKS) + text + draw(BLANKS)).encode()
    if draw(st.integers(0, 60)) == 0:
        cell += draw(st.sampled_from([b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x82\x82\xac", b"\xc3\xa4"]))
    return cell


@st.composite
def tables(draw: st.DrawFn) -> tuple[bytes, CSVText]:
    kinds = draw(st.lists(st.sampled_from(["number", "category", "number", "category", "ignore"]), max_size=4))
    for kind in ("target", "weight"):
        if draw(st.booleans()):
            kinds.insert(draw(st.integers(0, len(kinds))), kind)
    kinds = kinds or ["target"]
    columns = tuple(Column(f"c{k}", kind) for k, kind in enumerate(kinds))
    delimiter = draw(st.sampled_from([",", ",", "\t", ";", "|"]))
    missing = draw(st.sampled_from([("", "?", "NA"), ("", "?", "NA"), (), ("-999",), (LONG[:57], LONG, LONG[:70])]))
    has_header = draw(st.booleans())
    form = CSVText(
        columns,
        draw(st.sampled_from(["number", "category"])),
        delimiter,
        missing,
        Naming(BITS),
        has_header,
        trimmed=draw(st.booleans()),
    )
    lines = []
    for _ in range(draw(st.integers(0, 6))):
        if draw(st.integers(0, 9)) == 0:
            lines.append(draw(st.sampled_from([b"", b"  ", b"\t", b'"', b'""', b"\0", b"\r"])))
            continue
        row = [draw(cells(kind)) for kind in kinds]
        change = draw(st.integers(0, 19))
        row = row[:-1] if change == 0 else [*row, b"1"] if change == 1 else row
        lines.append(delimiter.encode().join(row))
    if has_header:
        names = delimiter.encode().join(column.name.encode() for column in columns)
        lines[:0] = [*draw(st.sampled_from([[], [], [b"", b" "]])), names]
    text = b"".join(line + draw(st.sampled_from([b"\n", b"\n", b"\r\n"])) for line in lines)
    return text.removesuffix(b"\n") if draw(st.booleans()) else text, form


def rows_of(block: Block) -> list[tuple[object, float, list[tuple[int, float]]]]:
    starts, columns, values = block.rows  # type: ignore[misc]
    return [
        (label, importance, list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)))
        for label, importance, (a, b) in zip(
            block.labels.tolist(), block.importance.tolist(), itertools.pairwise(starts.tolist()), strict=True
        )
    ]


def read(file: Path, form: CSVText, size: int) -> tuple[list[object], list[tuple[int, int, bytes]]]:
    """All rows of a file, and the places of all bad records."""
    rows: list[object] = []
    bad = []
    for chunk in chunks(file, size, RecordEnds(form.delimiter)):
        block = form.parse(chunk, file.name, stop_at_bad=False)
        rows += rows_of(block)
        bad += [(line.line, line.column, raw) for line, raw in block.bad]
    return rows, bad


def expected(text: bytes, form: CSVText) -> tuple[list[object], list[tuple[int, int, bytes]]]:
    """The same, by the slow parser, and by :class:`HashedNames` of dicts."""
    names = HashedNames(BITS)
    rows: list[object] = []
    bad: list[tuple[int, int, bytes]] = []
    missing = tuple(word.encode() for word in form.missing)
    found = table(
        text,
        list(form.columns),
        form.target_kind,
        form.delimiter.encode(),
        missing,
        form.header,
        trimmed=form.trimmed,
    )
    for row in found:
        if isinstance(row, Wrong):
            bad.append(tuple(row))
            continue
        columns, values = names.register(row.x)
        rows.append((row.label, row.importance, list(zip(columns.tolist(), values.tolist(), strict=True))))
    return rows, bad


@settings(max_examples=600)
@given(tables(), st.integers(1, 200))
def test_rows_and_errors_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[bytes, CSVText], size: int
) -> None:
    text, form = drawn
    if text.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return
    file = tmp_path_factory.getbasetemp() / "rows.csv"
    file.write_bytes(text)
    try:
        wanted = expected(text, form)
    except OnlinearError:
        return  # two values add up to infinity: tested below
    assert repr(read(file, form, size)) == repr(wanted)


def test_a_class_begins_and_ends_with_no_carriage_return(tmp_path: Path) -> None:
    form = CSVText((Column("kind", "target"),), target_kind="category", naming=Naming(bits=BITS), header=False)
    text = b'"\ra \r"\n'
    (tmp_path / "rows.csv").write_bytes(text)
    rows, bad = read(tmp_path / "rows.csv", form, 1)
    assert (rows, bad) == expected(text, form) == ([("a", 1.0, [])], [])


@settings(max_examples=200)
@given(tables(), st.integers(1, 200))
def test_the_first_bad_record_ends_the_rows(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[bytes, CSVText], size: int
) -> None:
    text, form = drawn
    file = tmp_path_factory.getbasetemp() / "stop.csv"
    file.write_bytes(text)
    try:
        wanted, wanted_bad = expected(text, form)
    except OnlinearError:
        return
    first = min((line for line, _, _ in wanted_bad), default=None)
    rows: list[object] = []
    bad: list[tuple[int, int, bytes]] = []
    for chunk in chunks(file, size, RecordEnds(form.delimiter)):
        block = form.parse(chunk, "stop.csv", stop_at_bad=True)
        rows += rows_of(block)
        bad = [(line.line, line.column, raw) for line, raw in block.bad]
        if bad:
            break
    assert bad == wanted_bad[:1]
    assert repr(rows) == repr(wanted[: len(rows)])
    assert first is not None or len(rows) == len(wanted)


@settings(max_examples=300)
@given(st.lists(st.sampled_from([b'"', b'"', b",", b"\n", b"a", b" ", b"\t", b"x" * 70])), st.integers(1, 150))
def test_cuts_are_where_records_end(tmp_path_factory: pytest.TempPathFactory, pieces: list[bytes], size: int) -> None:
    text = b"".join(pieces)
    file = tmp_path_factory.getbasetemp() / "cuts.csv"
    file.write_bytes(text)
    ends = set(itertools.accumulate(len(record.raw) + 1 for record in records(text, b",")))
    at = 0
    for chunk in chunks(file, size, RecordEnds(",")):
        at += len(chunk.text)
        assert at in ends or chunk.last
    assert at == len(text)


PEOPLE = (Column("age", "number"), Column("town", "category"), Column("w", "weight"), Column("y", "target"))
PEOPLE_HEADER = b"age,town,w,y\n39,Bern,1,yes\n\n"


@pytest.mark.parametrize(
    ("record", "line", "column", "reason"),
    [
        (b"39,Bern,1", 4, 1, "this record has 3 cells, the header 4: mend it, and quote cells with a comma in them"),
        (b"39", 4, 1, "this record has 1 cell, the header 4"),
        (b"39,Bern,1,yes, no", 4, 16, "this record has 5 cells, the header 4"),
        (b'39,"Be\nrn",1,yes,no', 5, 11, "this record has 5 cells, the header 4"),
        (
            b"old,Bern,1,yes",
            4,
            1,
            "'old' in the number column 'age' is not a finite number: mend it, or make the column",
        ),
        (b" nan,Bern,1,yes", 4, 2, "'nan' in the number column 'age'"),
        (b"inf,Bern,1,yes", 4, 1, "'inf' in the number column 'age'"),
        (b"1e999,Bern,1,yes", 4, 1, "'1e999' in the number column 'age'"),
        (b"1_0,Bern,1,yes", 4, 1, "'1_0' in the number column 'age'"),
        (b'"3""9",Bern,1,yes', 4, 1, "'3\"9' in the number column 'age'"),
        (b"x" * 99 + b",Bern,1,yes", 4, 1, f"'{'x' * 37}...' in the number column 'age'"),
        (b'39,"Bern"s,1,yes', 4, 4, "the cell goes on behind its closing quote: double the quotes"),
        (b"39,Bern,1,", 4, 11, "the label, column 'y', is missing: fill it in"),
        (b"39,Bern,1, ? ", 4, 12, "the label, column 'y', is missing"),
        (b"39,Bern,-1,yes", 4, 9, "the weight '-1' is not a finite number of at least 0"),
        (b"39,Bern,,yes", 4, 9, "the weight '' is not a finite number of at least 0"),
        (b'39,"Bern,1,yes', 4, 4, "the quote that opens here is never closed"),
        (b"39,Be\0rn,1,yes", 4, 6, "there is a zero byte in this record"),
        (b"39,Z\xfcrich,1,yes", 4, 5, "there is a byte here that is not UTF-8"),
        (b'39,"Be\nZ\xfcrich",1,yes', 5, 2, "there is a byte here that is not UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, record: bytes, line: int, column: int, reason: str
) -> None:
    file = tmp_path / "bad.csv"
    file.write_bytes(PEOPLE_HEADER + record + b"\n40,Thun,1,no\n")
    (chunk,) = chunks(file, ends=RecordEnds(","))
    block = CSVText(PEOPLE).parse(chunk, str(file), stop_at_bad=True)
    assert block.labels.tolist() == ["yes"]
    ((error, raw),) = block.bad
    assert str(error).startswith(f"{file}:{line}:{column}: {reason}")
    assert raw.startswith(record)
    block = CSVText(PEOPLE).parse(chunk, str(file), stop_at_bad=False)
    assert block.labels.tolist() == (["yes"] if "never closed" in reason else ["yes", "no"])


def parsed(tmp_path: Path, text: str, form: CSVText) -> Block:
    file = tmp_path / "rows.csv"
    file.write_text(text, newline="")
    (chunk,) = chunks(file, ends=RecordEnds(form.delimiter))
    return form.parse(chunk, str(file), stop_at_bad=False)


def test_a_label_that_is_no_number_in_a_regression(tmp_path: Path) -> None:
    block = parsed(tmp_path, "39,Bern,1,3.5\n39,Bern,1,much\n", CSVText(PEOPLE, "number", header=False))
    assert block.labels.tolist() == [3.5]
    reason = "the label 'much' is not a finite number: mend it, or make the target a category"
    assert [str(error) for error, _ in block.bad] == [f"{tmp_path}/rows.csv:2:11: {reason}"]


def test_a_record_without_header_is_compared_with_the_first_one(tmp_path: Path) -> None:
    block = parsed(tmp_path, "39,Bern,1,yes\n39\n", CSVText(PEOPLE, header=False))
    assert "this record has 1 cell, the first one 4" in str(block.bad[0][0])


def test_a_row_means_the_dict_of_its_cells(tmp_path: Path) -> None:
    text = 'age,town,w,y\r\n0, Bern ,2,yes\r\n\r\nNA,"St. Gallen, ""SG""",1, no\r\n?,,0.5,"yes"\r\n9.5e-06,ä,1,no'
    block = parsed(tmp_path, text, CSVText(PEOPLE))
    expected = [
        {"age": 0, "town": "Bern"},
        {"age": "?", "town": 'St. Gallen, "SG"'},
        {"age": "?", "town": "?"},
        {"age": 9.5e-06, "town": "ä"},
    ]
    starts, columns, values = HashedNames(18).register_many(expected)
    np.testing.assert_array_equal(block.rows.starts, starts)
    np.testing.assert_array_equal(block.rows.columns, columns)
    np.testing.assert_array_equal(block.rows.values, values)
    assert block.importance.tolist() == [2.0, 1.0, 0.5, 1.0]
    assert block.labels.tolist() == ["yes", "no", "yes", "no"]
    assert block.bad == []


def test_without_a_target_there_are_no_labels(tmp_path: Path) -> None:
    block = parsed(tmp_path, "39,Bern,1\n", CSVText(PEOPLE[:3], header=False))
    assert np.isnan(block.labels).tolist() == [True]


@pytest.mark.parametrize("width", [1, 15, 16, 17, 63, 64, 65, 200])
def test_many_columns_and_many_labels(tmp_path: Path, width: int) -> None:
    columns = (*(Column(f"c{k}", "number") for k in range(width - 1)), Column("y", "target"))
    text = "".join(",".join([*map(str, range(i, width - 1 + i)), f"label {i * i}"]) + "\n" for i in range(100))
    for bits in (3, 18):
        block = parsed(tmp_path, text, CSVText(columns, naming=Naming(bits), header=False))
        dicts = [{f"c{k}": k + i for k in range(width - 1)} for i in range(100)]
        starts, found, values = HashedNames(bits).register_many(dicts)
        np.testing.assert_array_equal(block.rows.starts, starts)
        np.testing.assert_array_equal(block.rows.columns, found)
        np.testing.assert_array_equal(block.rows.values, values)
        assert block.labels.tolist() == [f"label {i * i}" for i in range(100)]


def test_words_that_begin_alike_and_columns_that_hold_the_same(tmp_path: Path) -> None:
    """More of them than are remembered."""
    words = [f"Downtown{k}" for k in range(9999)] * 2
    block = parsed(tmp_path, "\n".join(words), CSVText((Column("c", "category"),), header=False))
    _, found, _ = HashedNames(18).register_many({"c": word} for word in words)
    np.testing.assert_array_equal(block.rows.columns, found)
    columns = tuple(Column(f"c{k}", "category") for k in range(5000))
    block = parsed(tmp_path, (",x" * 5000)[1:], CSVText(columns, header=False))
    found, values = HashedNames(18).register({column.name: "x" for column in columns})
    np.testing.assert_array_equal(block.rows.columns, found)
    np.testing.assert_array_equal(block.rows.values, values)


def test_blocks_stay_as_they_are_when_the_next_one_is_read(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    for width in (2, 80):
        form = CSVText((*(Column(f"c{k}", "number") for k in range(width)), Column("y", "target")), header=False)
        file.write_text("".join(",".join([str(k)] * width + ["no" * (k % 3)]) + "\n" for k in range(100)))
        blocks = [
            form.parse(chunk, "rows.csv", stop_at_bad=False) for chunk in chunks(file, 400, RecordEnds(form.delimiter))
        ]
        rows, _ = read(file, form, 1 << 20)
        assert len(blocks) > 1
        assert [row for block in blocks for row in rows_of(block)] == rows
        places = [block.origin.error(0, "").line for block in blocks]
        assert places == sorted(set(places))


@pytest.mark.parametrize("stop_at_bad", [True, False])
def test_features_that_add_up_to_infinity_are_refused_with_their_line(tmp_path: Path, stop_at_bad: bool) -> None:
    columns = (Column("a", "number"), Column("b", "number"), Column("c", "number"), Column("y", "target"))
    file = tmp_path / "rows.csv"
    file.write_text("1,1,1,u\n1e308,1e308,1e308,v\n1,x,1,w\n1e308,1,1,x\n")
    form = CSVText(columns, naming=Naming(1), header=False)
    (chunk,) = chunks(file)
    block = form.parse(chunk, "rows.csv", stop_at_bad)
    assert block.labels.tolist() == (["u"] if stop_at_bad else ["u", "x"])
    errors = [(error.line, error.column, raw) for error, raw in block.bad]
    assert errors == [(2, 1, b"1e308,1e308,1e308,v"), (3, 3, b"1,x,1,w")][: 1 if stop_at_bad else 2]
    assert "add up to infinity" in str(block.bad[0][0])
    if not stop_at_bad:
        assert block.origin.error(1, "").line == 4


@pytest.mark.parametrize(
    ("header", "column", "reason"),
    [
        ("age,city,w,y", 5, "the header has 'city' where 'town' should be: are all files of the same kind?"),
        ("age,town,w", 1, "the header has 3 cells, not 4: are all files of the same kind?"),
        ("age,town,w,y,z", 1, "the header has 5 cells, not 4"),
    ],
)
def test_another_header_is_refused(tmp_path: Path, header: str, column: int, reason: str) -> None:
    with pytest.raises(BadLine) as caught:
        parsed(tmp_path, f"\n{header}\n39,Bern,1,yes\n", CSVText(PEOPLE))
    assert str(caught.value).startswith(f"{tmp_path}/rows.csv:2:{column}: {reason}")


def test_the_header_is_in_the_first_chunk_only(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("\n \n\n\nage,town,w,y\n39,Bern,1,yes\n" + "age,town,1,no\n")
    rows, bad = read(file, CSVText(PEOPLE), 1)
    assert (len(rows), [place[:2] for place in bad]) == (1, [(7, 1)])


def test_a_cell_of_several_megabytes(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    long = 'a ""quoted"" line\n' * 300_000
    file.write_text(f'age,town,w,y\n1,"{long}",1,yes\n2,Bern,1,no\nx,Bern,1,no\n')
    rows, bad = read(file, CSVText(PEOPLE, naming=Naming(BITS)), 1 << 16)
    columns, values = HashedNames(BITS).register({"age": 1, "town": long.replace('""', '"')})
    assert rows[0] == ("yes", 1.0, list(zip(columns.tolist(), values.tolist(), strict=True)))
    assert (len(rows), bad) == (2, [(300_004, 1, b"x,Bern,1,no")])


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"delimiter": '"'}, "is no delimiter: take one character"),
        ({"delimiter": ",,"}, "',,' is no delimiter"),
        ({"columns": ()}, "there is no column"),
        ({"columns": (Column("a", "date"),)}, "column 'a' has kind 'date': choose one of number, category"),
        ({"columns": (Column("a", "number"),) * 2}, "there are two columns 'a'"),
        ({"columns": (Column("a", "target"), Column("b", "target"))}, "there are two columns of kind 'target'"),
        ({"target_kind": "class"}, "the target's kind is 'class': choose one of number, category"),
        ({"missing": (" ",)}, "can be no missing cell"),
        ({"naming": Naming(31)}, "bits is 31: choose 1 to 30"),
    ],
)
def test_formats_that_cannot_be(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(OnlinearError, match=reason):
        CSVText(**({"columns": PEOPLE} | fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "column"), [(b"1,?\n", 1), (b"1,?,a,b\n", 7), (b"1,?,a\n", 3)])
def test_a_wrong_number_of_cells_explains_a_category_that_is_none(tmp_path: Path, text: bytes, column: int) -> None:
    file = tmp_path / "rows.csv"
    file.write_bytes(text)
    form = CSVText((Column("y", "target"), Column("a", "category"), Column("b", "category")), missing=(), header=False)
    assert read(file, form, 100) == expected(text, form) == ([], [(1, column, text.rstrip())])


# Python takes a lone carriage return for a line end, yet does not always quote it.
PLAIN = st.text(st.one_of(st.sampled_from('ab ,;"\n=ä'), st.characters(codec="utf-8", exclude_characters="\0\r")))


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(-1e9, 1e9), PLAIN, PLAIN), max_size=8), st.integers(1, 100), st.data())
def test_what_pythons_csv_module_writes_is_read_as_it_reads_it(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, str, str]], size: int, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "written.csv"
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
    ending = data.draw(st.sampled_from(["\n", "\r\n"]))
    with file.open("w", newline="") as target:
        writer = csv.writer(target, quoting=quoting, lineterminator=ending)
        writer.writerow(["x", "a", "b", "y"])
        writer.writerows([x, a.strip(" \t\r"), b.strip(" \t\r"), 1] for x, a, b in rows)
    columns = (Column("x", "number"), Column("a", "category"), Column("b", "category"), Column("y", "target"))
    form = CSVText(columns, missing=("", "?"))
    with file.open(newline="") as source:
        dicts = [{"x": float(row["x"]), "a": row["a"] or "?", "b": row["b"] or "?"} for row in csv.DictReader(source)]
    found, bad = read(file, form, size)
    expected = [list(zip(*map(np.ndarray.tolist, HashedNames(18).register(row)), strict=True)) for row in dicts]
    assert bad == []
    assert [entries for _, _, entries in found] == expected  # type: ignore[misc]


def test_threads_read_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("".join(f"{k},town {k % 77},1,{'yes' if k % 3 else 'no'}\n" for k in range(20_000)))
    form = CSVText(PEOPLE, header=False)
    alone, _ = read(file, CSVText(PEOPLE, header=False), 1 << 20)

    def parse(chunk: Chunk) -> Block:
        return form.parse(chunk, "rows.csv", stop_at_bad=False)

    together = [
        row for block in in_order(parse, chunks(file, 10_000, RecordEnds(form.delimiter)), 4) for row in rows_of(block)
    ]
    assert together == alone


LATE = st.lists(
    st.tuples(*[st.sampled_from(["a", "b c", "x\ny", '6" pipe', "\n\n", "p,q", "ä", "long" * 9])] * 2),
    min_size=1,
    max_size=9,
)


@given(LATE, st.integers(1, 120), st.sampled_from([Naming(5), Naming(None), Naming(5, crosses=(("t", "c"),))]))
def test_the_text_of_a_row_is_there_long_after_the_same_thread_has_read_others(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], size: int, naming: Naming
) -> None:
    lines = []
    for number, cells in enumerate(rows):
        out = io.StringIO()
        csv.writer(out).writerow([*cells, number])
        lines.append(out.getvalue().removesuffix("\r\n").encode())
    file = tmp_path_factory.getbasetemp() / "late.csv"
    file.write_bytes(b"t,c,y\n" + b"\r\n".join(lines))
    columns = (Column("t", "text"), Column("c", "category"), Column("y", "target"))
    form = CSVText(columns, "number", naming=naming)
    blocks = [form.parse(chunk, "late.csv", stop_at_bad=True) for chunk in chunks(file, size, RecordEnds(","))]
    late = [(block, row) for block in blocks for row in range(len(block))]
    assert [block.origin.text(row) for block, row in late] == lines
    assert [block.split(row)[1].origin.text(0) for block, row in reversed(late)] == lines[::-1]
    for block, row in late:
        left = np.arange(len(block)) == row
        assert block.origin.only(left).text(0) == lines[int(block.labels[row])]
        if block.named is not None:
            text, category = rows[int(block.labels[row])]
            words = list(dict.fromkeys(re.findall(r"\w+", text)))
            assert block.named.names_of(row) == [*(f"t={word}" for word in words), f"c={category}"]
