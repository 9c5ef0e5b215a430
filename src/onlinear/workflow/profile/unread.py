"""A hash for each row of the columns that are not read: dates, times, lists and the like.

They say nothing to a learner, but rows that differ in one are different rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from onlinear.streams.tables import label_of, pieces_of, rows_of_a_piece
from onlinear.workflow.profile.counting import FACTOR, mix_bits


def hashes_of_unread(sources: Sequence[Any], names: Sequence[str]) -> dict[str, np.ndarray]:
    """For each table, by its label, a hash of each row's cells in these columns."""
    return {label_of(source): hashes_in(source, names) for source in sources} if names else {}


def hashes_in(source: Any, names: Sequence[str]) -> np.ndarray:
    pieces = pieces_of(source, names, rows_of_a_piece(len(names)))
    hashes = [row_hashes(piece.batch.columns, piece.batch.num_rows) for piece in pieces]
    return np.concatenate(hashes) if hashes else np.empty(0, np.uint64)


def row_hashes(columns: Iterable[Any], rows: int) -> np.ndarray:
    hashes = np.zeros(rows, np.uint64)
    for cells in columns:
        hashes = mix_bits(hashes, bits_of(cells))
    return hashes


def bits_of(cells: Any) -> np.ndarray:
    """64 bits for each cell: of a moment its number, of anything else a hash of what Python shows."""
    import pyarrow
    from pyarrow import types

    kind = cells.type
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind) or types.is_duration(kind):
        whole = cells.cast(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        bits = whole.cast(pyarrow.int64()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64)
    else:
        shown = (repr(value).encode() for value in cells.to_pylist())
        bits = np.array([int.from_bytes(blake2b(each, digest_size=8).digest()) for each in shown], np.uint64)
    return np.where(cells.is_null().to_numpy(zero_copy_only=False), FACTOR, bits)  # of a cell without a value, any bits
