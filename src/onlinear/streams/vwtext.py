"""Vowpal Wabbit's text format: ``label importance 'tag|namespace feature feature:value ...``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.errors import BadLine
from onlinear.kernels import vwtext as kernel
from onlinear.kernels.parsed import COUNTS, ENTRIES, ROWS
from onlinear.kernels.placing import place_by_hash
from onlinear.rows import SparseRows
from onlinear.streams.blocks import Block
from onlinear.streams.lines import Lines, word_at
from onlinear.streams.reading import Text, prepared, read_lines
from onlinear.streams.sources import Chunk, Ends, last_line_end

REASONS = {
    kernel.NO_BAR: "there is no bar in this line: write label | feature feature:value",
    kernel.BAD_LABEL: "the label {word!r} is not a finite number: mend it, or leave it out to predict only",
    kernel.BAD_IMPORTANCE: "the importance {word!r} is not a finite number of at least 0",
    kernel.HAS_BASE: "{word!r} before the bar is one number too many: predictions to start from are not supported",
    kernel.BAD_WEIGHT: "the namespace's weight {word!r} is not a finite number",
    kernel.NO_NAME: "there is no name before the colon: write name:value",
    kernel.BAD_VALUE: "the value {word!r} is not a finite number: mend it, or leave the feature out",
    kernel.BAD_BYTE: "there is a control character in this line: is it a text file?",
}


INFINITE = "features that share a cell add up to infinity: scale them, or take more bits"


class VWText(NamedTuple):
    """The format, with names hashed to 2**bits columns."""

    bits: int = 18

    def ends(self) -> Ends:
        return last_line_end

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block:
        """The rows of a chunk; after a bad line none, or all but the bad ones."""
        text = prepared(chunk)
        found = room_for(text)
        lines = Lines(chunk, source, found.places)

        def read() -> None:
            kernel.parse_vw()(text.buffer, text.stop, text.breaks, found)

        def explain(code: int, where: int) -> tuple[BadLine, bytes]:
            return lines.at(where, REASONS[code].format(word=word_at(chunk.text, where))), lines.line(where)

        bad = read_lines(read, explain, found.counts, text.stop, stop_at_bad)
        rows, entries = found.counts[ROWS], found.counts[ENTRIES]
        starts, columns, broken = found.starts[: rows + 1], np.empty(entries, np.uint32), np.empty(rows, np.bool_)
        place_by_hash()(starts, found.hashes, found.values, columns, self.bits, broken)
        sparse = SparseRows(starts, columns[: starts[-1]], found.values[: starts[-1]])
        block = Block(sparse, found.labels[:rows], found.importance[:rows], lines, bad, chunk.read)
        return without(block, broken, lines, stop_at_bad) if broken.any() else block


def without(block: Block, broken: np.ndarray, lines: Lines, stop_at_bad: bool) -> Block:
    """The block without its broken rows, which have no entries; or with none from the first one on."""
    where = np.flatnonzero(broken)
    places = [int(lines.places[row]) for row in where.tolist()]
    bad = [(lines.at(place, INFINITE), lines.line(place)) for place in places] + block.bad
    bad = sorted(bad, key=lambda pair: pair[0].line)
    left = ~broken
    if stop_at_bad:
        left[where[0] :] = False
        bad = bad[:1]
    starts, columns, values = block.rows  # type: ignore[misc]
    stop = int(starts[where[0]]) if stop_at_bad else int(starts[-1])
    rows = SparseRows(np.append(starts[:-1][left], np.int32(stop)), columns[:stop], values[:stop])
    origin = Lines(lines.chunk, lines.source, lines.places[: len(left)][left])
    return Block(rows, block.labels[left], block.importance[left], origin, bad, block.read)


def room_for(text: Text) -> kernel.Named:
    """Room for all rows and features there can be."""
    rows, entries = text.lines + 1, text.words + 1
    return kernel.Named(
        np.empty(rows, np.int32),
        np.empty(entries, np.uint64),
        np.empty(entries),
        np.empty(rows),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.zeros(COUNTS, np.int64),
    )
