"""Names that are remembered: as the slow vocabulary remembers them, whatever the blocks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.names import hash_name
from onlinear.features.naming import Naming
from onlinear.features.vocabulary import Collisions, Shared, Vocabulary, collisions_of, expected_names
from onlinear.streams.columns import Column
from onlinear.streams.csv_text import CSVText
from onlinear.streams.text_lines import chunks
from onlinear.streams.vwtext import VWText
from slow_stages import Entries, Feature, SlowVocabulary

NAMES = st.sampled_from([*"abcdefgh", "long_name", "ä", "a^b", "\udcff"])
VALUES = st.sampled_from([0.0, 1.0, -1.0, 0.1, 0.2, 0.3, 1e16, -1e16, 1e308, 1.7e308, -1.7e308])
ROWS = st.lists(st.one_of(st.none(), st.lists(st.tuples(NAMES, VALUES), max_size=6)), max_size=12)
NAMINGS = st.sampled_from([Naming(None, cap=cap) for cap in (3, 7, 5000)] + [Naming(3, True, cap) for cap in (3, 5000)])


def long_rows(seed: int) -> list[list[Feature]]:
    """More names than there is room for at first, in rows of up to 300 entries."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 300, 12)
    return [[(str(name), rng.normal()) for name in rng.integers(0, 3000, n).tolist()] for n in lengths.tolist()]


def line_of(row: list[Feature] | None) -> str:
    """A row as Vowpal Wabbit writes it; None for a bad line."""
    return "?" if row is None else "1 | " + " ".join(f"{name}:{value!r}" for name, value in row)


def blocks_of(file: Path, naming: Naming, size: int, stop_at_bad: bool = False) -> Iterator[Block]:
    form = VWText(naming)
    for chunk in chunks(file, size):
        yield form.parse(chunk, "rows", stop_at_bad)


def written(folder: Path, rows: list[Any]) -> Path:
    file = folder / "rows.vw"
    file.write_bytes("\n".join(map(line_of, rows)).encode("utf-8", "surrogateescape"))
    return file


def entries_of(block: Block) -> list[Entries]:
    starts, columns, values = block.rows  # type: ignore[misc]
    return [
        list(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]


def all_of(vocabulary: Vocabulary) -> Any:
    return vocabulary.names(), vocabulary.counts().tolist(), vocabulary.unnamed


def expected(slow: SlowVocabulary, rows: list[Any], stop: bool) -> tuple[list[Entries], list[int]]:
    """The entries of the good rows, and the lines of the bad ones."""
    good, bad = [], []
    for line, row in enumerate(rows, 1):
        entries = None if row is None else slow.take(row)
        if entries is None:
            bad.append(line)
            if stop:
                break
        else:
            good.append(entries)
    return good, bad


@settings(max_examples=400)
@given(
    ROWS | st.integers(0, 1000).map(long_rows),
    NAMINGS,
    st.integers(1, 300),
    st.lists(st.integers(0, 5), min_size=1),
    st.booleans(),
)
def test_rows_names_and_counts_are_those_of_the_slow_vocabulary(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, naming: Naming, size: int, cuts: list[int], resume: bool
) -> None:
    file = written(tmp_path_factory.getbasetemp(), rows)
    slow = SlowVocabulary(naming.bits, naming.cap)
    good, bad = expected(slow, rows, stop=False)
    vocabulary = Vocabulary(naming)
    found: list[Entries] = []
    lines: list[int] = []
    for number, block in enumerate(blocks_of(file, naming, size)):
        cut = min(cuts[number % len(cuts)], len(block))
        for part in block.split(cut):
            taken = vocabulary.take(part, stop_at_bad=False)
            found += entries_of(taken)
            lines += [line.line for line, _ in taken.bad]
            assert [taken.origin.error(row, "").line for row in range(len(taken))] == sorted(
                taken.origin.error(row, "").line for row in range(len(taken))
            )
        if resume:
            vocabulary = Vocabulary.from_arrays(vocabulary.arrays(), naming)
    assert repr(found) == repr(good)
    assert lines == bad
    assert all_of(vocabulary) == (list(slow.counts), list(slow.counts.values()), slow.unnamed)


@settings(max_examples=200)
@given(ROWS, NAMINGS.filter(lambda naming: naming.bits is None), st.integers(1, 300))
def test_the_first_bad_row_ends_the_rows_and_registers_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, naming: Naming, size: int
) -> None:
    file = written(tmp_path_factory.getbasetemp(), rows)
    slow = SlowVocabulary(naming.bits, naming.cap)
    good, bad = expected(slow, rows, stop=True)
    vocabulary, found, lines = Vocabulary(naming), [], []
    for block in blocks_of(file, naming, size, stop_at_bad=True):
        taken = vocabulary.take(block, stop_at_bad=True)
        found += entries_of(taken)
        lines += [line.line for line, _ in taken.bad]
        if lines:
            break
    assert repr(found) == repr(good)
    assert lines == bad
    assert all_of(vocabulary) == (list(slow.counts), list(slow.counts.values()), slow.unnamed)


@settings(max_examples=200)
@given(ROWS, ROWS, NAMINGS)
def test_looking_up_leaves_out_what_is_unknown_and_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, rows: Any, others: Any, naming: Naming
) -> None:
    folder = tmp_path_factory.getbasetemp()
    slow, vocabulary = SlowVocabulary(naming.bits, naming.cap), Vocabulary(naming)
    expected(slow, rows, stop=False)
    for block in blocks_of(written(folder, rows), naming, 1000):
        vocabulary.take(block, stop_at_bad=False)
    before = all_of(vocabulary)
    wanted = [None if row is None else slow.look_up(row) for row in others]
    for block in blocks_of(written(folder, others), naming, 1 << 20):
        seen = vocabulary.look_up(block, stop_at_bad=False)
        assert repr(entries_of(seen)) == repr([row for row in wanted if row is not None])
        assert [line.line for line, _ in seen.bad] == [line for line, row in enumerate(wanted, 1) if row is None]
        assert block.named is not None
    assert all_of(vocabulary) == before


def one_block(tmp_path: Path, text: str, form: Any) -> Block:
    (tmp_path / "rows").write_text(text)
    (chunk,) = form.pieces(str(tmp_path / "rows"))
    return form.parse(chunk, "rows", stop_at_bad=False)


def test_what_is_wrong_is_said_with_its_line(tmp_path: Path) -> None:
    naming = Naming(None, cap=2)
    block = one_block(tmp_path, "1 | a\n1 | a b c\n1 | b:1e308 b:1e308\n1 | b a\n", VWText(naming))
    taken = Vocabulary(naming).take(block, stop_at_bad=False)
    assert [(str(line), text) for line, text in taken.bad] == [
        (
            "rows:2:1: feature 'c' would be name number 3, and there may be 2 features: allow more, or hash the "
            "names, which need no more room",
            b"1 | a b c",
        ),
        (
            "rows:3:1: a feature that comes more than once adds up to infinity: scale it, or leave it out",
            b"1 | b:1e308 b:1e308",
        ),
    ]
    assert (taken.width, taken.named) == (2, None)
    assert entries_of(taken) == [[(0, 1.0)], [(0, 1.0), (1, 1.0)]]


@pytest.mark.parametrize("cap", [0, -1, (1 << 31) + 1])
def test_a_cap_that_makes_no_sense_is_refused(cap: int) -> None:
    with pytest.raises(OnlinearError, match="the cap of names is"):
        Vocabulary(Naming(None, cap=cap))


def test_tables_have_names_too(tmp_path: Path) -> None:
    columns = (Column("town", "category"), Column("age", "number"), Column("y", "target"))
    text = 'town,age,y\nBern,3,a\n"Bern",,b\n Uri ,4,a\n'
    exact, hashed = Naming(None), Naming(20, keep=True)
    vocabulary = Vocabulary(exact)
    block = vocabulary.take(one_block(tmp_path, text, CSVText(columns, naming=exact)), stop_at_bad=True)
    assert vocabulary.names() == ["town=Bern", "age", "age=?", "town=Uri"]
    assert entries_of(block) == [[(0, 1.0), (1, 3.0)], [(0, 1.0), (2, 1.0)], [(1, 4.0), (3, 1.0)]]
    assert vocabulary.columns_of(["town=Uri", "none", "age"]).tolist() == [3, -1, 1]
    assert (vocabulary.names_at(1), vocabulary.names_at(9)) == (["age"], [])
    vocabulary = Vocabulary(hashed)
    vocabulary.take(one_block(tmp_path, text, CSVText(columns, naming=hashed)), stop_at_bad=True)
    assert vocabulary.names() == ["town=Bern", "age", "age=?", "town=Uri"]
    cell = hash_name("age") >> 44
    assert (vocabulary.columns_of(["age"]).tolist(), vocabulary.names_at(cell)) == ([cell], ["age"])


def learned(tmp_path: Path) -> Vocabulary:
    naming = Naming(None)
    vocabulary = Vocabulary(naming)
    vocabulary.take(one_block(tmp_path, "1 | a bc\n1 | d a\n", VWText(naming)), stop_at_bad=True)
    return vocabulary


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("hashes", lambda found: found[::-1].copy()),
        ("hashes", lambda found: found[:-1]),
        ("hashes", lambda found: found.astype(np.int64)),
        ("hashes", lambda found: found.reshape(1, -1)),
        ("counts", lambda found: found * 0),
        ("counts", lambda found: found.astype(float)),
        ("unnamed", lambda found: found - 1),
        ("unnamed", lambda found: found[:0]),
        ("names/text", lambda found: found ^ 1),
        ("names/text", lambda found: found | 128),
        ("names/text", lambda found: found[:-1]),
        ("names/ends", lambda found: found[::-1].copy()),
        ("names/ends", lambda found: -found),
        ("names/ends", lambda found: found + (1 << 40)),
    ],
)
def test_damaged_arrays_are_refused(tmp_path: Path, name: str, damage: Any) -> None:
    arrays = learned(tmp_path).arrays()
    arrays[name] = damage(arrays[name])
    with pytest.raises(OnlinearError):
        Vocabulary.from_arrays(arrays, Naming(None))
    del arrays[name]
    with pytest.raises(OnlinearError):
        Vocabulary.from_arrays(arrays, Naming(None))


def test_names_that_are_there_twice_are_refused_even_if_crossed(tmp_path: Path) -> None:
    arrays = learned(tmp_path).arrays()
    crossed = Naming(None, crosses=(("a", "b"),))
    arrays["hashes"] = arrays["hashes"] + np.uint64(1)
    assert Vocabulary.from_arrays(arrays, crossed).names() == ["a", "bc", "d"]
    arrays["hashes"][2] = arrays["hashes"][0]
    with pytest.raises(OnlinearError, match="the hashes among the saved"):
        Vocabulary.from_arrays(arrays, crossed)


def test_collisions_are_counted_and_the_worst_come_first() -> None:
    cells = np.array([5, 2, 5, 2, 9, 2], np.uint32)
    counts = np.array([7, 1, 3, 50, 1000, 2])
    assert collisions_of(cells, counts, [*"abcdef"], most=10) == Collisions(
        6, 3, 5, [Shared(5, ["a", "c"], [7, 3]), Shared(2, ["d", "f", "b"], [50, 2, 1])]
    )
    assert len(collisions_of(cells, counts, [*"abcdef"], most=1).worst) == 1
    assert collisions_of(cells[4:], counts[4:], ["e", "f"], most=3) == Collisions(2, 2, 0, [])
    assert collisions_of(cells[:0], counts[:0], [], most=3) == Collisions(0, 0, 0, [])


def test_a_vocabulary_knows_its_collisions(tmp_path: Path) -> None:
    naming = Naming(1, keep=True)
    vocabulary = Vocabulary(naming)
    vocabulary.take(one_block(tmp_path, "1 | a b c a\n", VWText(naming)), stop_at_bad=True)
    found = vocabulary.collisions()
    assert (found.names, sum(len(shared.names) for shared in found.worst)) == (3, found.sharing)
    assert found.cells == len({hash_name(name) >> 63 for name in "abc"})


def test_collisions_of_a_million_names() -> None:
    rng = np.random.default_rng(0)
    cells, counts = rng.integers(0, 1 << 20, 1_000_000).astype(np.uint32), rng.integers(1, 1000, 1_000_000)
    names = ["x"] * 1_000_000
    found = collisions_of(cells, counts, names, most=10)
    assert found.cells == len(np.unique(cells))
    assert expected_names(found.cells, 20) == pytest.approx(1_000_000, rel=0.01)


def test_as_many_names_as_cells_can_tell() -> None:
    assert expected_names(0, 18) == 0.0
    assert expected_names(4, 2) == float("inf")
