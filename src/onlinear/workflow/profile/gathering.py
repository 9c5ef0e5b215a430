"""What a pass over a table gathers: of each column, of whole rows, and of the columns that rows are split by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onlinear.streams.columns import Column
from onlinear.streams.stream import OnBad
from onlinear.workflow.profile.cells import OpenTable, TableBlock
from onlinear.workflow.profile.counting import ColumnMoments, Counts, mix_bits, moments_of
from onlinear.workflow.profile.exact import Exact
from onlinear.workflow.profile.sampling import Sample, sample_size

#: texts of a column that are remembered
MOST_TEXTS = 5_000


class GatheredColumn:
    """What was seen of one column. Cells are 64 bits each: numbers, or the hashes of texts."""

    def __init__(self, column: Column, missing: np.uint64, most_texts: int) -> None:
        self.name, self.kind = column
        self.absent = 0
        self.counts = Counts()
        self.moments = ColumnMoments()
        self.low, self.high = np.inf, -np.inf
        self.whole = self.ascending = True
        self.rounded = False  # whether there is a whole number that double precision does not have
        self.texts: dict[int, str] = {}
        self.wholes: dict[int, int] = {}  # numbers too large for double precision, by the keys they are counted by
        self._missing, self._most_texts = missing, most_texts

    @property
    def present(self) -> int:
        """How many cells are not missing."""
        return self.moments.rows if self.kind == "number" else self._seen

    _seen = 0

    def add(self, bits: np.ndarray, keys: np.ndarray, exact: Exact | None = None) -> None:
        """Cells by their bits, and by the keys by which they differ; some of their numbers may be known exactly."""
        is_there = bits != self._missing
        there = bits[is_there]
        self.absent += len(bits) - len(there)
        if not len(there):
            return
        if self.kind == "number":
            numbers = bits.view(np.float64)
            self._add_numbers(there.view(np.float64), (numbers if exact is None else exact.among(numbers))[is_there])
        else:
            self._seen += len(there)
        self.rounded = self.rounded or (exact is not None and exact.are_rounded())
        if self.kind != "number" or self.counts.complete:
            self.counts.add(keys[is_there])
            if exact is not None:
                self.wholes.update(zip(keys[exact.rows].tolist(), exact.values, strict=True))

    def _add_numbers(self, numbers: np.ndarray, exact: np.ndarray) -> None:
        self.moments = self.moments.merge(moments_of(numbers))
        if self.ascending:
            self.ascending = bool(exact[0] >= self._last and (exact[1:] >= exact[:-1]).all())
            self._last = exact[-1]
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))
        self.whole = self.whole and bool((numbers == np.floor(numbers)).all())

    _last: float = -np.inf

    def numbers_counted(self) -> np.ndarray:
        """The numbers whose counts are known, in double precision."""
        numbers = self.counts.values.view(np.float64)
        if not self.wholes:
            return numbers
        pairs = zip(self.counts.values.tolist(), numbers.tolist(), strict=True)
        return np.array([self.wholes.get(key, number) for key, number in pairs], np.float64)

    def new_texts(self, bits: np.ndarray) -> dict[int, int]:
        """Texts that are not remembered yet, as far as there is room: their hashes, and the first row of each."""
        if self.kind == "number" or len(self.texts) >= self._most_texts:
            return {}
        found, rows = np.unique(bits, return_index=True)
        order = np.argsort(rows)
        pairs = zip(found[order].tolist(), rows[order].tolist(), strict=True)
        new = [(text, row) for text, row in pairs if text not in self.texts and text != int(self._missing)]
        return dict(new[: self._most_texts - len(self.texts)])


class KeptCells(NamedTuple):
    """Some cells of a column that is kept for every row."""

    bits: np.ndarray
    keys: np.ndarray
    exact: Exact | None

    def numbers(self) -> np.ndarray:
        numbers = self.bits.view(np.float64)
        return numbers if self.exact is None else self.exact.among(numbers)


def kept_of(piece: TableBlock, place: int) -> KeptCells:
    bits, exact = piece.bits[place].copy(), piece.exact.get(place)
    return KeptCells(bits, bits if exact is None else piece.keys[place].copy(), exact)


class Pass:
    """All columns, a sample of the rows, a hash of each row, and some columns as a whole."""

    def __init__(self, cells: OpenTable, whole: Sequence[str], named: Sequence[str], seed: int) -> None:
        """``whole`` columns are kept for every row; of ``named`` ones, all texts are."""
        columns = cells.columns
        self.columns = [
            GatheredColumn(column, missing, MOST_TEXTS if column.name not in named else 1 << 62)
            for column, missing in zip(columns, cells.missing, strict=True)
        ]
        self.sample = Sample(len(columns), sample_size(len(columns)), seed)
        self.rows = 0
        self._row_hashes: list[np.ndarray] = []
        self._exact_sample: Sample | None = None
        self._whole: dict[int, list[KeptCells]] = {cells.place(name): [] for name in whole}
        self._names = [column.name for column in columns]

    def add(self, piece: TableBlock) -> None:
        self.rows += len(piece)
        if piece.exact and self._exact_sample is None:
            self._exact_sample = self.sample.copy()
        self.sample.add(piece.first, piece.bits)
        if self._exact_sample is not None:
            self._exact_sample.add(piece.first, piece.keys)
        self._row_hashes.append(row_hashes(piece.keys, piece.unread))
        for place, kept in self._whole.items():
            kept.append(kept_of(piece, place))
        for place, column in enumerate(self.columns):
            column.add(piece.bits[place], piece.keys[place], piece.exact.get(place))
        self._remember_texts(piece)

    @property
    def sampled_keys(self) -> np.ndarray:
        """The cells of the sample's rows, by the keys by which they differ."""
        return (self._exact_sample or self.sample).bits

    def _remember_texts(self, piece: TableBlock) -> None:
        names: dict[int, list[str]] = {}
        for place, column in enumerate(self.columns):
            for text, row in column.new_texts(piece.bits[place]).items():
                if row not in names:
                    names[row] = piece.names_of(row)
                column.texts[text] = names[row][place].removeprefix(f"{column.name}=")

    def whole(self, name: str) -> np.ndarray:
        """The bits of all cells of a column that is kept."""
        return concatenate([kept.bits for kept in self._whole[self._names.index(name)]])

    def whole_keys(self, name: str) -> np.ndarray:
        """The same as keys, by which all cells differ that are not the same."""
        return concatenate([kept.keys for kept in self._whole[self._names.index(name)]])

    def exact_numbers(self, name: str) -> np.ndarray:
        """All numbers of a column that is kept: float64, or objects if some of them are too large for that."""
        kept = self._whole[self._names.index(name)]
        return np.concatenate([np.empty(0), *(each.numbers() for each in kept)])

    def duplicates(self) -> int:
        """How many rows are the same as one before them."""
        if not self._row_hashes:
            return 0
        return self.rows - len(np.unique(np.concatenate(self._row_hashes)))

    def digest(self) -> str:
        """SHA-256 of all rows and the names of their columns."""
        digest = hashlib.sha256("\n".join(self._names).encode())
        for hashes in self._row_hashes:
            digest.update(hashes.astype("<u8").tobytes())
        return digest.hexdigest()


def gather_columns(
    cells: OpenTable, whole: Sequence[str], named: Sequence[str], seed: int, on_bad: OnBad | None
) -> Pass:
    """One pass over a table."""
    found = Pass(cells, whole, named, seed)
    for piece in cells.pieces(on_bad):
        found.add(piece)
    return found


def concatenate(parts: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def row_hashes(bits: np.ndarray, unread: np.ndarray | None) -> np.ndarray:
    """A hash for each row, by that of its cells which are not read, and by the others in order."""
    hashes = np.zeros(bits.shape[1], np.uint64) if unread is None else unread
    for column in bits:
        hashes = mix_bits(hashes, column)
    return hashes
