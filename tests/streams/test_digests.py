"""The digest of rows: whatever is changed in them changes it, and how they are cut does not."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.features.blocks import Block
from onlinear.streams.stream import open_stream
from onlinear.workflow.run import RowDigest

LINES = {
    "rows.svm": [f"{(-1) ** k} {k % 7 + 1}:{k}.5 {k % 11 + 9}:1\n" for k in range(40)],
    "rows.vw": [f"{k % 2} |a u{k % 3} |b v{k % 5}:{k}.5\n" for k in range(40)],
    "rows.csv": ["size,town,answer\n", *(f"{k}.5,T{k % 3},{'a' * (k % 2 + 1)}\n" for k in range(40))],
}
NAMED = {"rows.csv": {"names": "exact"}, "rows.svm": {}, "rows.vw": {"keep_names": True}}


def blocks_of(path: Path, **options: Any) -> Iterator[Block]:
    return open_stream(path, **options).blocks(stop_at_bad=True)


def digest_of(path: Path, **options: Any) -> str:
    digest = RowDigest()
    for block in blocks_of(path, **options):
        digest.take(block, len(block))
    return digest.hexdigest()


@pytest.mark.compiles
@pytest.mark.parametrize("options", [{}, NAMED], ids=["columns", "names"])
@pytest.mark.parametrize("name", LINES)
@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 40)))
def test_cuts_mean_nothing(
    name: str, options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("rows") / name
    path.write_text("".join(LINES[name]))
    (block,) = blocks_of(path, **options.get(name, {}))
    whole, parts = RowDigest(), RowDigest()
    whole.take(block, len(block))
    for start, stop in pairwise(sorted({0, 40, *cuts})):
        part = block.split(stop)[0].split(start)[1]
        parts.take(part, len(part))
    assert parts.hexdigest() == whole.hexdigest()
    first = RowDigest()
    first.take(block, 17)
    again = RowDigest()
    again.take(block.split(17)[0], 17)
    assert first.hexdigest() == again.hexdigest() != whole.hexdigest()


@pytest.mark.compiles
@pytest.mark.parametrize("name", LINES)
def test_every_change_is_seen(name: str, tmp_path: Path) -> None:
    lines, path = LINES[name], tmp_path / name
    path.write_text("".join(lines))
    seen = {digest_of(path)}
    first = len(lines) - 40
    at = first + 7
    edits = [
        lines[:-1],
        [*lines, lines[-1]],
        [*lines[:first], *lines[first:][::-1]],
        [*lines[:9], lines[10], lines[9], *lines[11:]],  # of another label
        *([*lines[:at], lines[at].replace(*words), *lines[at + 1 :]] for words in ((".5", ".25"), ("1", "2"))),
    ]
    for edited in edits:
        path.write_text("".join(edited))
        seen.add(digest_of(path))
    assert len(seen) == len(edits) + 1


#: edits of a file with two rows, of which sums of columns and of values' bits tell nothing
UNDONE = {
    "one value doubled, one halved": ("1 1:0.8402\n-1 1:0.7984\n", "1 1:1.6804\n-1 1:0.3992\n"),
    "the same in a row": ("1 1:2 2:2\n-1 3:1\n", "1 1:1 2:4\n-1 3:1\n"),
    "values of two rows": ("1 1:2\n-1 1:3\n", "1 1:3\n-1 1:2\n"),
    "values of two columns": ("1 1:2 2:3\n-1 1:3\n", "1 1:3 2:2\n-1 1:3\n"),
    "columns of two rows": ("1 1:2\n-1 2:2\n", "1 2:2\n-1 1:2\n"),
    "a column up, a column down": ("1 3:2\n-1 6:2\n", "1 4:2\n-1 5:2\n"),
    "a feature in the other row": ("1 1:1 2:1\n-1 3:1 4:1\n", "1 1:1 3:1\n-1 2:1 4:1\n"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("rows", UNDONE.values(), ids=UNDONE)
@pytest.mark.parametrize("form", ["svm", "dense", "named"])
def test_no_edit_undoes_another(rows: tuple[str, str], form: str, tmp_path: Path) -> None:
    def digest(text: str) -> str:
        if form == "dense":
            entries = [dict(word.split(":") for word in line.split()[1:]) for line in text.splitlines()]
            X = np.array([[float(row.get(str(column), 0.0)) for column in range(1, 7)] for row in entries])
            (block,) = open_stream(X, target=np.array([1.0, -1.0])).blocks(True)
            found = RowDigest()
            found.take(block, len(block))
            return found.hexdigest()
        path = tmp_path / ("rows.vw" if form == "named" else "rows.svm")
        path.write_text(text.replace(" ", " | ", 1).replace("\n-1 ", "\n-1 | ") if form == "named" else text)
        return digest_of(path, keep_names=True) if form == "named" else digest_of(path)

    assert digest(rows[0]) != digest(rows[1])


@pytest.mark.compiles
def test_weights_are_looked_at(tmp_path: Path) -> None:
    def digest(name: str, text: str, **options: Any) -> str:
        (tmp_path / name).write_text(text)
        return digest_of(tmp_path / name, **options)

    assert digest("rows.vw", "1 2 | a\n-1 1 | b\n") != digest("rows.vw", "1 1 | a\n-1 2 | b\n")
    table = "y,x,w\n1,2,3\n0,4,5\n"
    weighted = {"target": "y", "weight": "w"}
    assert digest("rows.csv", table, **weighted) != digest("rows.csv", table.replace("3", "2"), **weighted)


@pytest.mark.compiles
def test_it_is_what_whole_numbers_of_python_make_it(tmp_path: Path) -> None:
    """The same on every machine, and in every version that calls it by the same number."""
    (tmp_path / "rows.svm").write_text("1 1:2 7:0.5\n-1\n")
    word = (1 << 64) - 1

    def mixed(state: int) -> int:
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            state = (state ^ (state >> 33)) * factor & word
        return state ^ (state >> 33)

    def bits(number: float) -> int:
        return int.from_bytes(struct.pack(">d", number))

    def key(label: float, entries: list[tuple[int, float]]) -> int:
        added = [
            bits(x) + column * 0x9E3779B97F4A7C15 + k * 0xD1342543DE82EF95 for k, (column, x) in enumerate(entries)
        ]
        total = sum(mixed(each & word) for each in added) + len(entries)
        return mixed(mixed(mixed(total & word) + bits(label) & word) + bits(1.0) & word)

    first, second = key(1.0, [(0, 2.0), (6, 0.5)]), key(-1.0, [])
    keys = hashlib.sha256(first.to_bytes(8, "little") + second.to_bytes(8, "little")).digest()
    assert digest_of(tmp_path / "rows.svm") == "2-" + hashlib.sha256(keys + hashlib.sha256().digest()).hexdigest()


def test_labels_of_any_kind() -> None:
    def digest(*labels: Any) -> str:
        kind = object if any(isinstance(label, str | None) for label in labels) else np.float64
        (block,) = open_stream(np.ones((len(labels), 2)), target=np.zeros(len(labels))).blocks(True)
        block.labels = np.array(labels, kind)
        found = RowDigest()
        found.take(block, len(block))
        return found.hexdigest()

    assert digest("a", None) != digest(None, "a")
    assert digest("a", "aa") != digest("aa", "a")
    assert digest("\udcff") != digest("b")
    assert digest(1.0) != digest(-1.0) != digest(float("nan"))
    assert digest("a\x1fb", "a") != digest("a", "b\x1fa")
    assert digest("a\\e") != digest("a\x1f")
