"""Vowpal Wabbit's text format: ``label importance 'tag|namespace feature feature:value ...``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onlinear.data.whole_numbers import whole_of, with_exact
from onlinear.errors import BadLine
from onlinear.features.blocks import Block
from onlinear.features.naming import NO_ROWS, NamedRows, Naming, check_naming, with_columns
from onlinear.kernels.text import vwtext as kernel
from onlinear.kernels.text.parsed import COUNTS, EIGHT, ENTRIES, ROWS
from onlinear.streams.text_lines import (
    LONE_RETURN,
    Chunk,
    Lines,
    Text,
    chunk_size,
    chunks,
    own_room,
    prepare_text,
    read_lines,
    word_at,
)

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


@dataclass(frozen=True, slots=True)
class VWText:
    """The format."""

    naming: Naming = Naming()

    def __post_init__(self) -> None:
        check_naming(self.naming, of_table=False)

    def numbers(self) -> list[str]:
        """None: only a table has number columns."""
        return []

    def pieces(self, source: str) -> Iterator[Chunk]:
        return chunks(source, chunk_size(self.naming))

    def adapted(self, sources: Sequence[str], labelled: bool) -> VWText:
        """The same: every line says what it has."""
        return self

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block:
        """The rows of a chunk; after a bad line none, or all but the bad ones."""
        text = prepare_text(chunk)
        found = room_for(text, self.naming)
        lines = Lines(chunk, source, found.places)

        def read() -> None:
            kernel.parse_vw(text.buffer, text.stop, text.breaks, found)

        def explain(code: int, where: int) -> tuple[BadLine, bytes]:
            reason = LONE_RETURN if lines.has_lone_return(where) else REASONS[code]
            return lines.at(where, reason.format(word=word_at(chunk.text, where))), lines.line(where)

        bad = read_lines(read, explain, found.counts, text.stop, stop_at_bad)
        rows, entries = found.counts[ROWS], found.counts[ENTRIES]
        labels = with_exact(found.labels[:rows], lambda which: list(map(whole_of, lines.first_words(which))))
        block = Block(NO_ROWS, labels, found.importance[:rows], lines, bad, chunk.read)

        hashes, values = found.hashes[:entries], found.values[:entries]
        if self.naming.remembers:  # this thread will have read more when they are looked at
            hashes, values = hashes.copy(), values.copy()

        def names_of(row: int) -> list[str]:
            return names_in(lines.line(int(found.places[row])).decode("utf-8", "surrogateescape"))

        named = NamedRows(found.starts[: rows + 1], hashes, values, names_of, lines.line, found.groups)
        return with_columns(block, named, self.naming, stop_at_bad)


def names_in(line: str) -> list[str]:
    """The names of the features of a good line, in order.

    >>> names_in("1 'tag|a x y:2 |b:3 z | v")
    ['a^x', 'a^y', 'b^z', 'v']
    """
    names = []
    for space in line.split("|")[1:]:
        head, _, rest = space.replace("\t", " ").partition(" ")
        prefix = head.partition(":")[0]
        words = [word.partition(":")[0] for word in rest.split(" ")]
        names += [f"{prefix}^{word}" if prefix else word for word in words if word]
    return names


def room_for(text: Text, naming: Naming) -> kernel.Named:
    """Room for all rows and features there can be, and for the groups of these if there are crosses.

    Hashes and values are there until the same thread reads the next text.
    """
    rows, entries = text.lines + 1, text.words + 1
    return kernel.Named(
        np.empty(rows, np.int32),
        own_room("hashes", entries + EIGHT, np.uint64),
        own_room("values", entries + EIGHT, np.float64),
        np.empty(rows),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.zeros(COUNTS, np.int64),
        np.empty(entries, np.uint64) if naming.crosses else None,
    )
