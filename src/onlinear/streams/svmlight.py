"""svmlight, also called LIBSVM: ``label index:value index:value ... # comment``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from onlinear.data.rows import SparseRows
from onlinear.data.whole_numbers import whole_of, with_exact
from onlinear.errors import BadLine, OnlinearError
from onlinear.features.blocks import Block
from onlinear.features.naming import MOST_FEATURES, Naming, check_most
from onlinear.kernels.text import svmlight as kernel
from onlinear.kernels.text.parsed import COUNTS, EIGHT, ENTRIES, ROWS, WIDTH, Parsed
from onlinear.streams.text_lines import LONE_RETURN, Chunk, Lines, Text, chunks, prepare_text, read_lines, word_at

REASONS = {
    kernel.BAD_LABEL: "the label {word!r} is not a number: mend it, or take another format",
    kernel.BAD_QUERY: "{word!r} is no query: write qid:17, a whole number",
    kernel.BAD_INDEX: "{word!r} has no index: write index:value, the index a whole number that is not negative",
    kernel.NO_COLON: "{word!r} has no colon: write index:value",
    kernel.NO_VALUE: "there is no value behind the colon: write index:value, or leave the feature out",
    kernel.BAD_VALUE: "the value {word!r} is not a finite number: mend it, or leave the feature out",
    kernel.INFINITE: "{word!r} is beyond the range of floating point numbers: scale it, or leave it out",
    kernel.ZERO_INDEX: "{word!r} has index 0 in a file whose indices start at 1: say that they start at 0",
    kernel.LARGE_INDEX: "the index of {word!r} is beyond the {most:,} features there may be: allow more of them",
    kernel.TWICE: "index {word} is there twice: add the two values, or drop one",
}


@dataclass(frozen=True, slots=True)
class Svmlight:
    """The format: indices start at ``first_index``, and there are at most ``most_features``."""

    first_index: int = 1
    most_features: int = MOST_FEATURES

    def __post_init__(self) -> None:
        if type(self.first_index) is not int or self.first_index not in (0, 1):
            raise OnlinearError(f"the indices of svmlight start at {self.first_index!r:.60}: choose 0 or 1")
        check_most("features", self.most_features)

    @property
    def naming(self) -> Naming | None:
        """None: columns are numbers, not names."""
        return None

    def numbers(self) -> list[str]:
        """None: only a table has number columns."""
        return []

    def pieces(self, source: str) -> Iterator[Chunk]:
        return chunks(source)

    def adapted(self, sources: Sequence[str], labelled: bool) -> Svmlight:
        """The same: every line says what it has."""
        return self

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block:
        """The rows of a chunk; after a bad line none, or all but the bad ones."""
        text = prepare_text(chunk)
        found = room_for(text)
        lines = Lines(chunk, source, found.places)

        def read() -> None:
            loop = kernel.parse_svmlight
            loop(text.buffer, text.stop, text.breaks, self.first_index, self.most_features, found)

        def explain(code: int, where: int) -> tuple[BadLine, bytes]:
            return self._bad_line(lines, code, where)

        bad = read_lines(read, explain, found.counts, text.stop, stop_at_bad)
        rows, entries = found.counts[ROWS], found.counts[ENTRIES]
        sparse = SparseRows(found.starts[: rows + 1], found.columns[:entries], found.values[:entries])
        width = int(found.counts[WIDTH])
        labels = with_exact(found.labels[:rows], lambda which: list(map(whole_of, lines.first_words(which))))
        return Block(sparse, labels, np.ones(rows), lines, bad, chunk.read, width)

    def _bad_line(self, lines: Lines, code: int, where: int) -> tuple[BadLine, bytes]:
        line = lines.line(where)
        if code == kernel.TWICE:
            where += second_time(line)
        word = word_at(lines.chunk.text, where)
        if code == kernel.TWICE:
            word = word.partition(":")[0]
        reason = LONE_RETURN if lines.has_lone_return(where) else REASONS[code]
        return lines.at(where, reason.format(word=word, most=self.most_features)), line


def room_for(text: Text) -> Parsed:
    """Room for all rows and entries there can be: an entry ends two words, one of them at its colon."""
    rows, entries = text.lines + 1, text.words // 2 + 1
    return Parsed(
        np.empty(rows, np.int32),
        np.empty(entries + EIGHT, np.uint32),
        np.empty(entries + EIGHT),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.zeros(COUNTS, np.int64),
    )


def second_time(line: bytes) -> int:
    """Where in a line an index comes for the second time."""
    seen = set()
    at = 0
    for word in line.replace(b"\t", b" ").split(b" "):
        index = word.partition(b":")[0].lstrip(b"0")
        if index in seen and b":" in word:
            return at
        seen.add(index)
        at += len(word) + 1
    raise AssertionError("no index is there twice")
