"""Vowpal Wabbit's text format: ``label importance 'tag|namespace feature feature:value ...``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from onlinear.errors import BadLine
from onlinear.kernels import vwtext as kernel
from onlinear.kernels.parsed import COUNTS, ENTRIES, ROWS
from onlinear.streams.blocks import Block
from onlinear.streams.hashing import placed, without
from onlinear.streams.lines import Lines, word_at
from onlinear.streams.reading import Text, prepared, read_lines
from onlinear.streams.sources import Chunk, Ends, last_line_end

REASONS = {
    kernel.NO_BAR: "there is no bar in this line: write label | feature feature:value",
    kernel.BAD_LABEL: "the label {word!r} is not a finite number: mend it, or leave it out to predict only",
    kernel.BAD_IMPORTANCE: "the importance {word!r} is not a finite number of at least 0: mend it, or leave it out",
    kernel.HAS_BASE: "{word!r} is one number too many before the bar: a prediction to start from is not supported",
    kernel.BAD_WEIGHT: "the namespace's weight {word!r} is not a finite number: mend it, or leave it out",
    kernel.NO_NAME: "there is no name before the colon: write name:value",
    kernel.BAD_VALUE: "the value {word!r} is not a finite number: mend it, or leave the feature out",
    kernel.BAD_BYTE: "there is a control character in this line: is it a text file?",
}


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
        sparse, broken = placed(found.starts[: rows + 1], found.hashes, found.values, entries, self.bits)
        block = Block(sparse, found.labels[:rows], found.importance[:rows], lines, bad, chunk.read)
        return without(block, broken, lines, lines.line, stop_at_bad) if broken.any() else block


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
