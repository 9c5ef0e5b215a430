"""Rows of a test that the model has learned: the same cells in every column that is learned from, and the same target.

They are compared by value, whatever the form or the order of their tables: a number is its bits, a text its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.whole_numbers import are_numbers, as_floats
from onlinear.streams.arrow import ArrowTable
from onlinear.streams.columns import ABSENT, FEATURE_KINDS, Column
from onlinear.streams.csv_text import CSVText
from onlinear.streams.stream import open_alike
from onlinear.workflow.profile.cells import NAMED, OpenTable
from onlinear.workflow.profile.counting import mix_bits
from onlinear.workflow.profile.gathering import row_hashes
from onlinear.workflow.rows import RowsInMemory

#: a share of different rows among those learned: with fewer, a test of new rows repeats them, too
OFTEN = 0.5


class RepeatedRows(NamedTuple):
    """How many of the ``tested`` rows are the same as a learned one; of ``repetitive`` rows that is to be expected.

    ``unlabelled`` are the rows of test files that have no target, and are not tested. ``digest`` is of the values of
    the tested rows: the same for other files, and another order, of the same rows.
    """

    rows: int
    tested: int
    repetitive: bool
    unlabelled: int
    digest: str


def seen_rows(
    learned: RowsInMemory, tested: RowsInMemory, sources: Sequence[Any], test_files: Sequence[str], table: Any
) -> RepeatedRows:
    """The tested rows that are the same as a learned one. All come from the same sources, or from the test files."""
    assert isinstance(table, CSVText | ArrowTable)
    hashes = hashes_in(sources, table)
    others = hashes_in(test_files, table) if test_files else hashes
    codes = np.unique(np.concatenate([learned.labels, tested.labels]), return_inverse=True)[1].astype(np.uint64)
    known = mix_bits(hashes[learned.numbers], codes[: len(learned)])
    found = mix_bits(others[tested.numbers], codes[len(learned) :])
    repetitive = len(np.unique(known)) <= OFTEN * len(known)
    unlabelled = len(others) - len(tested) if test_files else 0
    digest = digest_of_values(others[tested.numbers], tested.labels)
    return RepeatedRows(int(np.isin(found, known).sum()), len(found), repetitive, unlabelled, digest)


def digest_of_values(hashes: np.ndarray, labels: np.ndarray) -> str:
    """A digest of rows, by the hashes of their cells and their labels, whatever their order."""
    if are_numbers(labels):
        bits = as_floats(labels).view(np.uint64)
    else:
        texts, codes = np.unique(labels.astype(str), return_inverse=True)
        each = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
        bits = np.frombuffer(b"".join(each), "<u8").astype(np.uint64)[codes]
    return hashlib.sha256(np.sort(mix_bits(hashes, bits)).astype("<u8").tobytes()).hexdigest()


def hashes_in(sources: Sequence[Any], table: CSVText | ArrowTable) -> np.ndarray:
    """A hash of each row's cells in the columns that are learned from, in the order of their names."""
    kinds = [(name, kind if kind in FEATURE_KINDS else "ignore") for name, kind in table.columns]
    columns = tuple(Column(name, "category" if kind == "text" else kind) for name, kind in kinds)
    missing = (*table.missing, *({ABSENT} - set(table.missing)))  # which is fine in a text
    stream = open_alike(list(sources), replace(table, columns=columns, naming=NAMED, missing=missing), labelled=False)
    assert isinstance(stream.format, CSVText | ArrowTable)
    cells = OpenTable(stream.sources, "", stream.format, "", {})
    order = np.argsort([column.name for column in cells.columns])
    return np.concatenate([np.empty(0, np.uint64), *(row_hashes(piece.keys[order], None) for piece in cells.pieces())])
