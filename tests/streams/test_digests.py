"""The digest of rows: whatever is changed in them changes it, and how they are cut does not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from onlinear.streams.blocks import Block
from onlinear.streams.digests import RowDigest
from onlinear.streams.stream import open_stream

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
