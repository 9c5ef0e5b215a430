"""What a pass over a table gathers: of each column, of whole rows, and of the columns that rows are split by."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from onlinear.profile.cells import Cells, Piece
from onlinear.profile.counting import Counts, Moments, mix_bits, moments_of
from onlinear.profile.sampling import Sample, sample_size
from onlinear.streams.csvtext import Column
from onlinear.streams.stream import OnBad

#: texts of a column that are remembered
MOST_TEXTS = 5_000


class Gathered:
    """What was seen of one column. Cells are 64 bits each: numbers, or the hashes of texts."""

    def __init__(self, column: Column, missing: np.uint64, most_texts: int) -> None:
        self.name, self.kind = column
        self.absent = 0
        self.counts = Counts()
        self.moments = Moments()
        self.low, self.high = np.inf, -np.inf
        self.whole = self.ascending = True
        self.texts: dict[int, str] = {}
        self._missing, self._most_texts = missing, most_texts

    @property
    def present(self) -> int:
        """How many cells are not missing."""
        return self.moments.rows if self.kind == "number" else self._seen

    _seen = 0

    def add(self, bits: np.ndarray) -> None:
        there = bits[bits != self._missing]
        self.absent += len(bits) - len(there)
        if not len(there):
            return
        if self.kind == "number":
            self._add_numbers(there.view(np.float64))
        else:
            self._seen += len(there)
        if self.kind != "number" or self.counts.complete:
            self.counts.add(there)

    def _add_numbers(self, numbers: np.ndarray) -> None:
        self.moments = self.moments.joined(moments_of(numbers))
        if self.ascending:
            self.ascending = bool(numbers[0] >= self._last and (numbers[1:] >= numbers[:-1]).all())
            self._last = float(numbers[-1])
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))
        self.whole = self.whole and bool((numbers == np.floor(numbers)).all())

    _last = -np.inf

    def new_texts(self, bits: np.ndarray) -> dict[int, int]:
        """Texts that are not remembered yet, as far as there is room: their hashes, and the first row of each."""
        if self.kind == "number" or len(self.texts) >= self._most_texts:
            return {}
        found, rows = np.unique(bits, return_index=True)
        order = np.argsort(rows)
        pairs = zip(found[order].tolist(), rows[order].tolist(), strict=True)
        new = [(text, row) for text, row in pairs if text not in self.texts and text != int(self._missing)]
        return dict(new[: self._most_texts - len(self.texts)])


class Pass:
    """All columns, a sample of the rows, a hash of each row, and some columns as a whole."""

    def __init__(self, cells: Cells, whole: Sequence[str], named: Sequence[str], seed: int) -> None:
        """``whole`` columns are kept for every row; of ``named`` ones, all texts are."""
        columns = cells.columns
        self.columns = [
            Gathered(column, missing, MOST_TEXTS if column.name not in named else 1 << 62)
            for column, missing in zip(columns, cells.missing, strict=True)
        ]
        self.sample = Sample(len(columns), sample_size(len(columns)), seed)
        self.rows = 0
        self._row_hashes: list[np.ndarray] = []
        self._whole: dict[int, list[np.ndarray]] = {cells.place(name): [] for name in whole}
        self._names = [column.name for column in columns]

    def add(self, piece: Piece) -> None:
        self.rows += len(piece)
        self.sample.add(piece.first, piece.bits)
        self._row_hashes.append(row_hashes(piece.bits, piece.unread))
        for place, kept in self._whole.items():
            kept.append(piece.bits[place].copy())
        for place, column in enumerate(self.columns):
            column.add(piece.bits[place])
        self._remember_texts(piece)

    def _remember_texts(self, piece: Piece) -> None:
        names: dict[int, list[str]] = {}
        for place, column in enumerate(self.columns):
            for text, row in column.new_texts(piece.bits[place]).items():
                if row not in names:
                    names[row] = piece.names_of(row)
                column.texts[text] = names[row][place].removeprefix(f"{column.name}=")

    def whole(self, name: str) -> np.ndarray:
        """The bits of all cells of a column that is kept."""
        kept = self._whole[self._names.index(name)]
        return np.concatenate(kept) if kept else np.empty(0, np.uint64)

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


def gathered(cells: Cells, whole: Sequence[str], named: Sequence[str], seed: int, on_bad: OnBad | None) -> Pass:
    """One pass over a table."""
    found = Pass(cells, whole, named, seed)
    for piece in cells.pieces(on_bad):
        found.add(piece)
    return found


def row_hashes(bits: np.ndarray, unread: np.ndarray | None) -> np.ndarray:
    """A hash for each row, by that of its cells which are not read, and by the others in order."""
    hashes = np.zeros(bits.shape[1], np.uint64) if unread is None else unread
    for column in bits:
        hashes = mix_bits(hashes, column)
    return hashes
