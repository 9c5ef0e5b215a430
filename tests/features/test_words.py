"""Texts, cut into words as the slow parser cuts them, from tables and from anywhere else."""

from __future__ import annotations

import itertools
import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import BadSource, OnlinearError
from onlinear.features.names import HashedNames, hash_name
from onlinear.features.naming import Naming
from onlinear.features.words import Words, grams_in, letters
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.columns import Column
from onlinear.streams.csv_inference import infer
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import format_of
from onlinear.streams.jsonlines import JSONLines
from onlinear.streams.options import ReadOptions
from onlinear.streams.packing import pack_value, unpack_value
from onlinear.streams.text_lines import chunks
from onlinear.streams.texts import grams_for, grams_of_texts
from slow_parsers import entries, placed
from slow_tables import Wrong, grams, table
from stream_rows import ends_of

BITS = 5  # few, so that names collide

LATIN = "free Free FREE cash ÄRGER straße STRASSE ẞ İstanbul ISPARTA \u0131I \u212a Ǆ x² ½ _ a_b a\u0301"
OTHERS = "ΟΔΟΣ ς Москва ё \u0435\u0308 日本語 한국 ٣ 😀 🇨🇭 𐐀 \u200d \ufeff"
PIECES = [*LATIN.split(), *OTHERS.split(), *" \t\n-,'\"?=*\u00a0", *["  ", '""', "NA"], *" " * 9]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.lists(st.sampled_from(["a", "b", "c d"]), max_size=40).map(" ".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)
SETTINGS = st.builds(Words, st.integers(1, 5), st.booleans(), st.booleans(), st.booleans())


@settings(max_examples=500)
@given(st.lists(TEXTS, max_size=5), SETTINGS, st.integers(0, 3))
def test_grams_of_texts_are_those_of_the_slow_parser(texts: list[str], words: Words, gap: int) -> None:
    raw = [text.encode() for text in texts]
    stops = np.cumsum([len(text) + gap for text in raw], dtype=np.int64) - gap
    starts = stops - [len(text) for text in raw]
    between = "ä💧x"[:gap].encode()[:gap].ljust(gap)
    buffer = np.frombuffer(between.join(raw) or b" ", np.uint8)
    rows, hashes, values = grams_of_texts(buffer, starts, stops, "column", words)
    wanted = [grams(text, words) for text in texts]
    assert rows.tolist() == [0, *itertools.accumulate(map(len, wanted))]
    assert hashes.tolist() == [hash_name(f"column={gram}") for found in wanted for gram, _ in found]
    assert values.tolist() == [value for found in wanted for _, value in found]
    assert [grams_in(text, words) for text in texts] == [[gram for gram, _ in found] for found in wanted]


def test_every_character_counts_as_it_should() -> None:
    """The whole Basic Multilingual Plane and some of the others, twice in a text each."""
    plane = [chr(k) for k in range(1, 0x10000) if not 0xD800 <= k < 0xE000]
    characters = plane + [chr(k) for k in range(0x10000, 0x110000, 97)] + [chr(0x10FFFF)]
    for lower in (True, False):
        raw = [character.encode() * 2 for character in characters]
        stops = np.cumsum([len(text) for text in raw])
        starts = stops - [len(text) for text in raw]
        words = Words(lower=lower)
        rows, hashes, _ = grams_of_texts(np.frombuffer(b"".join(raw), np.uint8), starts, stops, "", words)
        for character, a, b in zip(characters, rows[:-1].tolist(), rows[1:].tolist(), strict=True):
            wanted = [hash_name(f"={gram}") for gram, _ in grams(character * 2, words)]
            assert hashes[a:b].tolist() == wanted, unicodedata.name(character, hex(ord(character)))


def test_what_is_cut_off_is_not_read() -> None:
    """Texts that are no UTF-8 are nobody's fault but the caller's; what is behind them stays out of it."""
    for lead in (0xC3, 0xE2, 0xF0):
        text = np.array([ord("a"), lead, 0x9F, 0x98, 0x80], np.uint8)
        found = [
            grams_of_texts(np.append(text[:2], behind), np.array([0]), np.array([2]), "m", Words())[1].tolist()
            for behind in (np.empty(0, np.uint8), text[2:])
        ]
        assert found == [[hash_name("m=a")]] * 2


def test_a_combining_mark_ends_a_word_unless_it_is_composed() -> None:
    assert [gram for gram, _ in grams("e\u0301te", Words())] == ["e", "te"]
    assert grams_in("e\u0301te é", Words()) == ["e", "te", "é"]


def test_a_table_of_letters_is_made_once() -> None:
    assert letters(True) is letters(True)
    assert letters(True)[[ord("A"), ord("a"), ord("_"), ord("-"), 0x130]].tolist() == [97, 97, 95, 0, 0x130]
    assert letters(False)[ord("A")] == ord("A")


@st.composite
def tables(draw: st.DrawFn) -> tuple[bytes, CSVText]:
    kinds = draw(st.permutations(["text", "text", "number", "category", "target"]))
    columns = tuple(Column(f"c{k}", kind) for k, kind in enumerate(kinds))
    pairs = st.tuples(*[st.sampled_from([column.name for column in columns if column.kind != "target"])] * 2)
    crosses = draw(st.one_of(st.just(()), st.lists(pairs, max_size=3).map(tuple)))
    form = CSVText(columns, naming=Naming(BITS, crosses=crosses), header=False, words=draw(SETTINGS))
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        cells = []
        for kind in kinds:
            if kind == "number":
                cell = draw(st.sampled_from(["1", "2.5", "-3", "0", "?", "1e200", "x"]))
            else:
                cell = draw(TEXTS)
                if draw(st.booleans()) or set(cell) & set('",\n\r'):
                    cell = '"' + cell.replace('"', '""') + '"'
            cells.append(cell)
        lines.append(",".join(cells))
    ending = draw(st.sampled_from(["\n", "\r\n"]))
    return ending.join(lines).encode(), form


@settings(max_examples=500)
@given(tables(), st.integers(1, 200))
def test_tables_with_texts_and_crosses_are_those_of_the_slow_parser(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[bytes, CSVText], size: int
) -> None:
    text, form = drawn
    if text.startswith(b"\xef\xbb\xbf"):
        return
    file = tmp_path_factory.getbasetemp() / "words.csv"
    file.write_bytes(text)
    rows, bad = [], []
    for chunk in chunks(file, size, ends_of(form)):
        block = form.parse(chunk, file.name, stop_at_bad=False)
        starts, columns, values = block.rows  # type: ignore[misc]
        for label, a, b in zip(block.labels.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            rows.append((label, list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True))))
        bad += [(line.line, line.column, raw) for line, raw in block.bad]
    wanted, wanted_bad = [], []
    for row in table(text, list(form.columns), header=False, words=form.words):
        found = None if isinstance(row, Wrong) else placed(entries(row.features, form.naming.crosses), BITS)
        if isinstance(row, Wrong):
            wanted_bad.append(tuple(row))
        elif found is None:
            wanted_bad.append(tuple(row.place))
        else:
            wanted.append((row.label, found))
    assert repr(rows) == repr(wanted)
    assert bad == wanted_bad


@settings(max_examples=300)
@given(tables(), st.integers(1, 200), st.booleans())
def test_names_are_those_of_the_entries(
    tmp_path_factory: pytest.TempPathFactory, drawn: tuple[bytes, CSVText], size: int, stop_at_bad: bool
) -> None:
    text, form = drawn
    if text.startswith(b"\xef\xbb\xbf"):
        return
    file = tmp_path_factory.getbasetemp() / "names.csv"
    file.write_bytes(text)
    crosses = form.naming.crosses
    form = CSVText(form.columns, naming=Naming(None, crosses=crosses), header=False, words=form.words)
    found = []
    for chunk in chunks(file, size, ends_of(form)):
        block = form.parse(chunk, file.name, stop_at_bad)
        assert block.named is not None
        assert len(block) == len(block.named.starts) - 1
        for row, (a, b) in enumerate(itertools.pairwise(block.named.starts.tolist())):
            names = block.named.names_of(row)
            found.append(
                list(zip(names, block.named.hashes[a:b].tolist(), block.named.values[a:b].tolist(), strict=True))
            )
        if block.bad and stop_at_bad:
            break
    rows = table(text, list(form.columns), header=False, words=form.words)
    wanted = [None if isinstance(row, Wrong) else entries(row.features, crosses) for row in rows]
    fine = [row is not None and all(np.isfinite(entry.value) for entry in row) for row in wanted]
    if stop_at_bad and not all(fine):
        wanted, fine = wanted[: fine.index(False)], fine[: fine.index(False)]
    assert repr(found) == repr(
        [list(map(tuple, row or [])) for row, is_fine in zip(wanted, fine, strict=True) if is_fine]
    )


def parsed(file: Path, form: CSVText) -> list[dict[int, float]]:
    found = []
    for chunk in form.pieces(str(file)):
        starts, columns, values = form.parse(chunk, file.name, stop_at_bad=True).rows  # type: ignore[misc]
        found += [
            dict(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in itertools.pairwise(starts)
        ]
    return found


def row(features: dict[str, float]) -> dict[int, float]:
    columns, values = HashedNames(18).register(features)
    return dict(zip(columns.tolist(), values.tolist(), strict=True))


def test_a_text_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mail.csv"
    file.write_text('message,y\n"Free cash, FREE ""cash""!",spam\n?,spam\n...,ham\n"see you",ham\n')
    form = infer(file, ReadOptions(text=["message"]))
    assert form.columns == (Column("message", "text"), Column("y", "target"))
    assert parsed(file, form) == [
        row({"message=free": 2, "message=cash": 2}),
        row({"message=?": 1}),
        {},
        row({"message=see": 1, "message=you": 1}),
    ]
    # twice free, cash and free cash, once cash free: together of length 13 ** 0.5
    twice, once = 2 / 13**0.5, 1 / 13**0.5
    pairs = infer(file, ReadOptions(text=["message"], ngrams=2, unit_length=True))
    assert parsed(file, pairs)[0] == row(
        {"message=free": twice, "message=cash": twice, "message=free cash": twice, "message=cash free": once}
    )


def test_a_text_of_several_megabytes(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("y,m\n1," + "a b " * 1_000_000 + "\n2,a\n")
    form = infer(file, ReadOptions(target="y", text=["m"], ngrams=5, presence=True))
    wanted = [run[: 2 * size - 1] for run in ("a b a b a", "b a b a b") for size in range(1, 6)]
    assert parsed(file, form) == [row({f"m={gram}": 1 for gram in wanted}), row({"m=a": 1})]
    counted = infer(file, ReadOptions(target="y", text=["m"]))
    assert parsed(file, counted)[0] == row({"m=a": 1_000_000, "m=b": 1_000_000})


def test_one_letter_words_fill_all_the_room_there_is(tmp_path: Path) -> None:
    file = tmp_path / "short.csv"
    file.write_text("a a a a\n" * 1000)
    for words in (Words(ngrams=5), Words(ngrams=5, unit=True)):
        form = CSVText((Column("m", "text"),), header=False, words=words)
        found = parsed(file, form)
        assert found == [row({f"m={gram}": value for gram, value in grams("a a a a", words)})] * 1000


def test_a_text_with_more_grams_than_rows_can_count_is_refused() -> None:
    with pytest.raises(BadSource, match="a text may have 2,147,483,648 grams, too many to count: take fewer n-grams"):
        grams_for(Words(ngrams=4), 2**31)


def test_a_named_text_column_may_hold_numbers(tmp_path: Path) -> None:
    file = tmp_path / "codes.csv"
    file.write_text("code,y\n1.5,1\n2,0\n")
    assert parsed(file, infer(file, ReadOptions(text=["code"]))) == [
        row({"code=1": 1, "code=5": 1}),
        row({"code=2": 1}),
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"text": ["massage"]}, "there is no column 'massage': did you mean 'message'"),
        ({"text": ["y"]}, "column 'y' cannot be target and text at once"),
        ({"text": ["message"], "ignore": ["message"]}, "column 'message' cannot be text and ignore at once"),
        ({"text": ["message"], "ngrams": 6}, "ngrams is 6: choose 1 to 5"),
        ({"text": ["message"], "ngrams": 0}, "ngrams is 0: choose 1 to 5"),
        (
            {"crosses": [("message", "town")]},
            "'town' cannot be crossed: those with features are message",
        ),
        ({"crosses": [("y", "message")]}, "'y' cannot be crossed: those with features are message"),
    ],
)
def test_texts_and_crosses_that_cannot_be(tmp_path: Path, options: dict[str, object], reason: str) -> None:
    file = tmp_path / "mail.csv"
    file.write_text("message,y\nfree,1\nsee,0\n")
    with pytest.raises(OnlinearError, match=reason):
        infer(file, ReadOptions(**options))  # type: ignore[arg-type]


CHOSEN: dict[str, Any] = {"words": Words(3, unit=True), "naming": Naming(9, crosses=(("m", "n"),))}


@pytest.mark.parametrize(
    "form",
    [
        CSVText((Column("m", "text"), Column("n", "number")), **CHOSEN),
        ArrowTable((Column("m", "text"), Column("n", "number")), **CHOSEN),
        JSONLines("y", text=frozenset(["m", "n"]), **CHOSEN),
    ],
)
def test_a_format_comes_back_from_a_recipe_with_its_texts(form: Any) -> None:
    assert unpack_value(type(form), json.loads(json.dumps(pack_value(form)))) == form


@pytest.mark.parametrize("name", ["svmlight", "vw"])
def test_where_there_are_no_columns_nothing_is_said_of_texts(name: str) -> None:
    with pytest.raises(OnlinearError, match=f"text says nothing of the format '{name}': leave it away"):
        format_of(name, [], ReadOptions(text=["m"]))
    with pytest.raises(OnlinearError, match=f"how texts are cut .* says nothing of the format '{name}': leave it away"):
        format_of(name, [], ReadOptions(ngrams=2))
    assert format_of(name, [], ReadOptions())
