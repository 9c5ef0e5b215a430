"""JSON lines: a row means what the dict of its keys means, and every bad line is named."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadLine, BadSource, OnlinearError
from onlinear.features.naming import Naming
from onlinear.features.words import Words
from onlinear.streams import text_lines
from onlinear.streams.jsonlines import JSONLines, infer_keys
from onlinear.streams.options import ReadOptions
from onlinear.streams.stream import open_stream
from onlinear.streams.text_lines import chunks
from slow_parsers import Feature, entries, placed
from slow_tables import grams
from stream_rows import Row, rows_in, rows_meant

BITS = 5  # few, so that names collide
KEYS = st.text(st.characters(codec="utf-8", exclude_characters=".="), max_size=4).filter(lambda key: key not in "yw")
TEXTS = st.text(st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["", "?", "NA", " ? ", "Zürich", "NaN"])
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(-1e300, 1e300) | st.booleans()
VALUES = (
    NUMBERS
    | TEXTS
    | st.none()
    | st.lists(TEXTS.filter(lambda word: word.strip(" \t\r") not in ("", "?", "NA")), unique=True)
)
RECORDS = st.dictionaries(KEYS, VALUES | st.dictionaries(KEYS, VALUES, max_size=3), max_size=5)


def meaning(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """The plain dict that a record stands for."""
    said: dict[str, Any] = {}
    for key, value in record.items():
        name = prefix + key
        if isinstance(value, dict):
            said |= meaning(value, f"{name}.")
        elif isinstance(value, list):
            said |= {f"{name}={word}": 1.0 for word in value}
        elif value is None or (isinstance(value, str) and value.strip(" \t\r") in ("", "?", "NA")):
            said[name] = "?"
        else:
            said[name] = value
    return said


def form(**fields: Any) -> JSONLines:
    return JSONLines(**{"target": "y", "naming": Naming(BITS)} | fields)


@settings(max_examples=150)
@given(st.lists(st.tuples(RECORDS, TEXTS, st.floats(0, 9))), st.integers(1, 300), st.booleans())
def test_a_row_means_the_dict_of_its_keys(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[dict[str, Any], str, float]], size: int, ascii: bool
) -> None:
    file = tmp_path_factory.getbasetemp() / "rows.jsonl"
    rows = [(record, f"x{label}".strip(" \t\r"), weight) for record, label, weight in rows]
    lines = [json.dumps(record | {"y": y, "w": w}, ensure_ascii=ascii) for record, y, w in rows]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="")
    read = [form(weight="w").parse(chunk, "rows.jsonl", stop_at_bad=True) for chunk in chunks(file, size)]
    assert not any(block.bad for block in read)
    dicts, labels, weights = zip(*rows, strict=True) if rows else ((), (), ())
    assert rows_in(read) == rows_meant(map(meaning, dicts), labels, weights, BITS)


def written(folder: Path, *lines: str) -> str:
    file = folder / "rows.jsonl"
    file.write_text("\n".join(lines), newline="")
    return str(file)


def read_one(folder: Path, line: str, **fields: Any) -> Row:
    (block,) = (form(**fields).parse(chunk, "rows.jsonl", stop_at_bad=True) for chunk in chunks(written(folder, line)))
    for problem, _ in block.bad:
        raise problem
    (row,) = rows_in([block])
    return row


def test_a_word_that_comes_twice_counts_twice(tmp_path: Path) -> None:
    row = read_one(tmp_path, '{"words": ["a", "b", "a"], "y": "x"}', naming=Naming(30))
    assert [row] == rows_meant([{"words=a": 2, "words=b": 1}], ["x"], [1.0], 30)


NOTES = st.lists(st.sampled_from(["Free", "cash", "\u00c4RGER", "\U0001f600", "a-b", "\0", "?"]), max_size=6).map(
    " ".join
)
CUT = {"note", "meta.note"}
CROSSABLE = st.sampled_from(["note", "meta", "n", "tags"])


@st.composite
def notes(draw: st.DrawFn) -> dict[str, Any]:
    """A record whose keys are in any order."""
    note = st.none() | NOTES | st.integers(-99, 99) | st.booleans()
    inner = st.fixed_dictionaries({}, optional={"note": note, "b": st.floats(-1e200, 1e200)})
    values = {"note": note, "meta": inner, "n": NUMBERS, "tags": st.lists(st.sampled_from("abc"), unique=True)}
    record = draw(st.fixed_dictionaries({}, optional=values))
    return {key: record[key] for key in draw(st.permutations(list(record)))}


def features_of(record: dict[str, Any], words: Words, prefix: str = "", group: str = "") -> Iterator[Feature]:
    """The features of a record, by the specification."""
    for name, value in record.items():
        key, top = prefix + name, group or name
        if isinstance(value, dict):
            yield from features_of(value, words, f"{key}.", top)
        elif isinstance(value, list):
            yield from (Feature(top, f"{key}={word}", 1.0) for word in value)
        elif key not in CUT:
            yield Feature(top, key, float(value))
        elif value is None or (text := str(value).lower() if isinstance(value, bool) else str(value)) in ("", "?"):
            yield Feature(top, f"{key}=?", 1.0)
        else:
            yield from (Feature(top, f"{key}={gram}", count) for gram, count in grams(text, words))


@settings(max_examples=150)
@given(
    st.lists(notes(), max_size=5),
    st.builds(Words, st.integers(1, 3), st.booleans(), st.booleans(), st.booleans()),
    st.lists(st.tuples(CROSSABLE, CROSSABLE), max_size=2).map(tuple),
    st.integers(1, 300),
)
def test_texts_and_crosses_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory,
    records: list[dict[str, Any]],
    words: Words,
    crosses: tuple[tuple[str, str], ...],
    size: int,
) -> None:
    file = tmp_path_factory.getbasetemp() / "notes.jsonl"
    file.write_text("".join(json.dumps(record | {"y": "x"}) + "\n" for record in records))
    wanted = []
    for number, record in enumerate(records, 1):
        found = entries(list(features_of(record, words)), crosses)
        wanted.append((number, found, placed(found, BITS)))
    hashed = form(text=frozenset(CUT), words=words, naming=Naming(BITS, crosses=crosses))
    blocks = [hashed.parse(chunk, "notes.jsonl", stop_at_bad=False) for chunk in chunks(file, size)]
    assert repr([row for _, _, row in rows_in(blocks)]) == repr([row for _, _, row in wanted if row is not None])
    bad = [line.line for block in blocks for line, _ in block.bad]
    assert bad == [number for number, _, row in wanted if row is None]

    exact = form(text=frozenset(CUT), words=words, naming=Naming(None, crosses=crosses))
    names = []
    for chunk in chunks(file, size):
        named = exact.parse(chunk, "notes.jsonl", stop_at_bad=False).named
        assert named is not None
        for row, (a, b) in enumerate(itertools.pairwise(named.starts.tolist())):
            names.append(list(zip(named.names_of(row), named.hashes[a:b].tolist(), strict=True)))
    fine = [found for _, found, _ in wanted if all(math.isfinite(entry.value) for entry in found)]
    assert names == [[(entry.name, entry.hash) for entry in found] for found in fine]


def test_ignored_keys_and_numbers_that_are_names(tmp_path: Path) -> None:
    line = '{"id": 7, "zip": 3000, "share": 0.5, "a": {"b": 1, "c": [1]}, "y": "x"}'
    row = read_one(tmp_path, line, ignore=frozenset(["id", "a.c"]), categories=frozenset(["zip", "share"]))
    assert [row] == rows_meant([{"zip": "3000", "share": "0.5", "a.b": 1}], ["x"], [1.0], BITS)


@pytest.mark.parametrize(("value", "label"), [("true", "true"), ('" yes "', "yes"), ("false", "false")])
def test_labels_that_are_categories(tmp_path: Path, value: str, label: str) -> None:
    assert read_one(tmp_path, f'{{"y": {value}}}') == (label, 1.0, [])


def test_a_label_within_an_object_is_no_feature(tmp_path: Path) -> None:
    row = read_one(tmp_path, '{"meta": {"y": 3, "b": 1}}', target="meta.y", target_kind="number")
    assert [row] == rows_meant([{"meta.b": 1}], [3.0], [1.0], BITS)


@pytest.mark.parametrize(
    ("line", "column", "reason"),
    [
        ('{"a": 1, "y": }', 15, "this is not JSON (Expecting value): write each record as one object"),
        ('{"é": 1 "y": 2}', 10, "this is not JSON (Expecting ',' delimiter)"),
        ('{"y": "x"} {}', 12, "this is not JSON (Extra data)"),
        ('{"y": "x"', 10, "this is not JSON (Expecting ',' delimiter)"),
        ('[{"y": "x"}]', 1, "a line is one object, {...}, and this one is [{'y': 'x'}]: write each record"),
        ("3", 1, "a line is one object, {...}, and this one is 3"),
        ("null", 1, "a line is one object, {...}, and this one is None"),
        ('{"y": "x", "a": NaN}', 1, "NaN is not a finite number, and no JSON: mend it, or write null"),
        ('{"y": "x", "a": -Infinity}', 1, "-Infinity is not a finite number, and no JSON"),
        ('{"y": "x", "a": 1e999}', 12, "inf of 'a' is not a finite number: mend it, or write null"),
        ('{"y": "x", "a": {"bb" : -1e999}}', 18, "-inf of 'a.bb' is not a finite number"),
        ('{"y": "x", "a": 1' + "0" * 400 + "}", 12, "0... of 'a' is not a finite number"),
        ('{"y": "x", "a": 1' + "0" * 5000 + "}", 1, "there is a number with thousands of digits in this line"),
        ('{"y": "x", "a": 1, "a": 2}', 12, "the key 'a' is there twice: rename one of them, or leave it out"),
        ('{"y": "x", "a": {"b": 1, "b": 2}}', 18, "the key 'b' is there twice"),
        ('{"y": "x", "a": {"b": 1}, "a.b": 2}', 18, "the key 'a.b' is there twice, within an object and without"),
        ('{"y": "x", "a": {"b": "u"}, "a.b": null}', 18, "the key 'a.b' is there twice, within an object and"),
        ('{"y": "x", "a": {"b.c": 1}, "a.b": {"c": 2}}', 37, "the key 'a.b.c' is there twice"),
        ('{"y": "x", "a": [1]}', 12, "1 in the list of 'a' is neither a number nor a text nor a list of texts"),
        ('{"y": "x", "a": [["b"]]}', 12, "['b'] in the list of 'a' is neither"),
        ('{"y": "x", "a": [null]}', 12, "None in the list of 'a' is neither"),
        ('{"y": "x", "a": "\\ud800"}', 18, "there is half of a surrogate pair in this line, which is no character"),
        ('{"y": "x", "\\udc00": 1}', 13, "there is half of a surrogate pair"),
        ('{"y": "x", "a": "\t"}', 18, "this is not JSON (Invalid control character at)"),
        *(('{"a": ' * n + "1" + "}" * n, 1, "objects lie more than 100 deep within each other: flatten them")
          for n in (101, 500, 5000, 100_000)),
        ('{"a": ' * 100 + "1" + "}" * 100, 1, "the label, key 'y', is missing: fill it in, or leave the record out"),
        ('{"a": 1}', 1, "the label, key 'y', is missing: fill it in, or leave the record out"),
        ('{"a": 1, "y": null}', 10, "the label, key 'y', is missing"),
        ('{"a": 1, "y": " NA"}', 10, "the label, key 'y', is missing"),
        ('{"a": 1, "y": 3}', 10, "the label 3 is not a text, as other labels are: write all of them in quotes"),
        ('{"a": 1, "y": ["x"]}', 10, "the label ['x'] is not a text"),
        ('{"y": "x", "w": -1}', 12, "the weight -1 is not a finite number of at least 0: mend it, or take another key"),
        ('{"y": "x", "w": "1"}', 12, "the weight '1' is not a finite number"),
        ('{"y": "x", "w": true}', 12, "the weight True is not a finite number"),
        ('{"y": "x", "w": null}', 12, "the weight None is not a finite number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, line: str, column: int, reason: str) -> None:
    weight = "w" if '"w"' in line else None
    good = json.dumps({"a": 2, "y": "x", "w": 1})
    file = written(tmp_path, good, "", line, good)
    stream = open_stream(file, target="y")
    stream.format = form(weight=weight)
    blocks = iter(stream)
    assert len(next(blocks)) == 1
    with pytest.raises(BadLine) as caught:
        next(blocks)
    assert (caught.value.source, caught.value.line, caught.value.column) == (file, 3, column)
    assert reason in caught.value.reason

    bad: list[tuple[int, bytes]] = []
    stream.on_bad = lambda problem, text: bad.append((problem.line, text))
    assert len(rows_in(stream)) == 2
    assert bad == [(3, line.encode())]


@pytest.mark.parametrize("label", ['"x"', "true", "[1]", "{}"])
def test_a_label_of_another_kind_than_those_before(tmp_path: Path, label: str) -> None:
    with pytest.raises(BadLine, match=r"rows.jsonl:1:2: the label .* is not a finite number, as other labels are"):
        read_one(tmp_path, f'{{"y": {label}}}', target_kind="number")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ('["a", "b"]', "['a', 'b'] of 'note' is not a text to be cut into words: mend it, or do not have the key cut"),
        ('{"a": 1}', "{'a': 1} of 'note' is not a text to be cut into words"),
        ("1e999", "inf of 'note' is not a finite number"),
    ],
)
def test_what_cannot_be_cut_into_words(tmp_path: Path, value: str, reason: str) -> None:
    with pytest.raises(BadLine) as caught:
        read_one(tmp_path, f'{{"a": 1, "note": {value}, "y": "x"}}', text=frozenset(["note"]))
    assert caught.value.column == 10
    assert reason in caught.value.reason


def test_text_that_is_not_utf_8(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_bytes('{"y": "é"}\n{"y": "'.encode() + b'\xed\xa0\x80"}\n')
    blocks = iter(open_stream(file, target="y"))
    assert next(blocks).labels.tolist() == ["é"]
    with pytest.raises(BadLine, match=r"rows.jsonl:2:8: there is a byte here that is not UTF-8"):
        next(blocks)


@pytest.mark.parametrize("stop_at_bad", [True, False])
def test_features_that_add_up_to_infinity(tmp_path: Path, stop_at_bad: bool) -> None:
    columns = {name: rows_meant([{name: 1}], [0], [1.0], 1)[0][2][0][0] for name in "abcdefgh"}
    other = next(name for name in "bcdefgh" if columns[name] == columns["a"])
    sum_line = f'{{"a": 1e308, "{other}": 1e308, "y": "x"}}'
    (chunk,) = chunks(written(tmp_path, '{"a": 1, "y": "x"}', sum_line, '{"a": 2, "y": "z"}'))
    block = form(naming=Naming(1)).parse(chunk, "rows.jsonl", stop_at_bad)
    assert block.labels.tolist() == (["x"] if stop_at_bad else ["x", "z"])
    ((problem, text),) = block.bad
    assert (problem.line, text) == (2, sum_line.encode())
    assert "add up to infinity" in problem.reason


def test_the_names_of_a_row_in_order(tmp_path: Path) -> None:
    file = written(tmp_path, '{"y": "x", "b": 1}', '{"z": null, "y": "x", "t": "Bern", "l": ["u", "v"], "o": {"k": 2}}')
    (chunk,) = chunks(file)
    block = form(naming=Naming(None)).parse(chunk, "rows.jsonl", stop_at_bad=True)
    assert block.named is not None
    assert [block.named.names_of(row) for row in range(2)] == [["b"], ["z=?", "t=Bern", "l=u", "l=v", "o.k"]]


# ------------------------------------------------------------------ a look


def test_the_target_has_to_be_named(tmp_path: Path) -> None:
    file = written(tmp_path, '{"a": 1, "b": 2, "label": 3}')
    with pytest.raises(OnlinearError) as caught:
        open_stream(file)
    assert str(caught.value) == "the target is not named: name its key, of which the first record has a, b, label"


@pytest.mark.parametrize("options", [{"target": "c"}, {"target": "a", "weight": "c"}])
def test_keys_that_are_not_there(tmp_path: Path, options: dict[str, str]) -> None:
    file = written(tmp_path, '{"a": 1}', '{"b": 2}')
    with pytest.raises(OnlinearError, match="there is no key 'c' in the first records: their keys are a, b"):
        open_stream(file, **options)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text": ["c"]}, "there is no key 'c' in the first records: their keys are a, b"),
        ({"text": ["a"]}, "key 'a' cannot be target and text at once: choose one"),
        ({"text": ["b"], "ignore": ["b"]}, "key 'b' cannot be text and ignore at once: choose one"),
        ({"text": ["b"], "ngrams": 0}, "ngrams is 0: choose 1 to 5"),
        ({"crosses": [("b", "a")]}, "the key 'a' cannot be crossed: those with features are b"),
        ({"crosses": [("b", "c")]}, "the key 'c' cannot be crossed: those with features are b"),
        ({"crosses": [("b", "b")], "ignore": ["b"]}, "the key 'b' cannot be crossed: .* are none"),
    ],
)
def test_texts_and_crosses_that_cannot_be(tmp_path: Path, options: dict[str, Any], reason: str) -> None:
    file = written(tmp_path, '{"a": 1}', '{"b": {"t": "x"}}')
    assert infer_keys([file], ReadOptions(target="a", text=["b.t"])).text == {"b.t"}
    with pytest.raises(OnlinearError, match=reason):
        infer_keys([file], ReadOptions(target="a", **options))


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["1", "2.5"], "number"),
        (["null", "1"], "number"),
        (['"?"', "1"], "number"),
        (['"1"'], "category"),
        (["true"], "category"),
        (["1", '"x"'], "category"),
        (["null"], "category"),
        (["oops", "1"], "number"),
    ],
)
def test_the_kind_of_the_target(tmp_path: Path, labels: list[str], kind: str) -> None:
    file = written(tmp_path, *(f'{{"y": {label}}}' for label in labels))
    assert infer_keys([file], ReadOptions(target="y")).target_kind == kind


def test_so_many_records_are_looked_at_however_they_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, *['{"y": 1}'] * 9, '{"y": "x"}')
    for size in (1, 20, 1000):
        monkeypatch.setattr(text_lines, "CHUNK", size)
        assert infer_keys([file], ReadOptions(target="y"), rows=9).target_kind == "number"
        assert infer_keys([file, file], ReadOptions(target="y"), rows=10).target_kind == "category"


def test_numbers_as_labels_that_are_names(tmp_path: Path) -> None:
    stream = open_stream(written(tmp_path, '{"y": 1}', '{"y": 2.0}'), target="y", categories=["y"])
    assert [label for label, _, _ in rows_in(stream)] == ["1", "2"]


def test_a_file_without_a_single_record_says_why(tmp_path: Path) -> None:
    file = written(tmp_path, "[", '  {"y": 1},', '  {"y": 2},', "]")
    with pytest.raises(BadLine, match=r"rows.jsonl:1:2: this is not JSON .* write each record as one object on a line"):
        open_stream(file, target="y")
    with pytest.raises(BadSource, match=r"rows.jsonl: is empty: there is no record in it"):
        open_stream(written(tmp_path, "", " "), target="y")


@pytest.mark.parametrize("labels", [["1", '"1"'], ['"1"', "1"]])
def test_labels_of_two_kinds_are_blamed_on_none_before(tmp_path: Path, labels: list[str]) -> None:
    """Whichever kind comes first, all labels that are looked at say which kind they are to be."""
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"a": 1, "y": {label}}}\n' for label in labels))
    reason = f"rows.jsonl:{labels.index('1') + 1}:10: the label 1 is not a text, as other labels are: write all"
    with pytest.raises(BadLine, match=reason):
        list(open_stream(str(file), target="y"))
