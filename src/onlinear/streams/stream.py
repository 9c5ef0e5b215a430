"""Stream: examples from files or memory, a pass for each iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from onlinear.errors import BadLine, BadSource
from onlinear.features.names import HashedNames
from onlinear.streams.ahead import in_order
from onlinear.streams.arrays import Arrays, is_matrix, matrix_of
from onlinear.streams.blocks import Block
from onlinear.streams.csvtext import MISSING
from onlinear.streams.formats import Format, Options, check_used, common_format, format_of
from onlinear.streams.naming import Naming
from onlinear.streams.sources import expand, total_bytes
from onlinear.streams.standard_input import STANDARD_INPUT, with_looks
from onlinear.streams.tables import is_frame

#: how many threads read ahead of the learner
THREADS = 2

#: names are hashed to 2**BITS columns, unless told
BITS = 18

#: called with each bad line and its text
OnBad = Callable[[BadLine, bytes], None]


class Stream:
    """Examples from sources, in order. Each iteration is a pass: blocks of rows, whose size means nothing.

    A source is the name of a file, or something in memory. The first bad line ends the stream with a
    :class:`onlinear.BadLine`, after all rows before it; with ``on_bad`` bad lines are handed there and left out.
    """

    def __init__(self, sources: Sequence[Any], format: Format, on_bad: OnBad | None = None) -> None:
        self.sources = list(sources)
        self.format = format
        self.on_bad = on_bad
        self.read = 0  # bytes on disk of this pass so far
        self._begun = False

    @property
    def files(self) -> list[str]:
        """Those sources that are files."""
        return [source for source in self.sources if isinstance(source, str)]

    @property
    def total_bytes(self) -> int | None:
        """The size of all files on disk; None if there is another source, as standard input."""
        return total_bytes(self.files) if len(self.files) == len(self.sources) else None

    def __iter__(self) -> Iterator[Block]:
        for block in self.blocks(stop_at_bad=self.on_bad is None):
            if len(block):
                yield block
            for line, text in block.bad:
                if self.on_bad is None:
                    raise line
                self.on_bad(line, text)

    def blocks(self, stop_at_bad: bool) -> Iterator[Block]:
        """A pass with its bad lines in the blocks; with ``stop_at_bad`` the first of them is in the last block."""
        if self._begun and STANDARD_INPUT in self.files:
            raise BadSource("standard input can be read only once: save it to a file for a second pass")
        self._begun = True
        before = 0
        for source in self.sources:
            for block in self._blocks(source, stop_at_bad):
                self.read = before + block.read
                yield block
                if block.bad and stop_at_bad:
                    return
            before = self.read

    def _blocks(self, source: Any, stop_at_bad: bool) -> Iterator[Block]:
        name = source if isinstance(source, str) else type(source).__name__

        def parse(piece: Any) -> Block:
            return self.format.parse(piece, name, stop_at_bad)

        return in_order(parse, self.format.pieces(source), THREADS)


def open_stream(
    source: Any,
    format: str | None = None,
    *,
    target: Any = None,
    weight: Any = None,
    ignore: Sequence[str | int] = (),
    categories: Sequence[str | int] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    missing: Sequence[str] = MISSING,
    bits: int | None = None,
    first_index: int = 1,
    on_bad: OnBad | None = None,
) -> Stream:
    """Examples from files or memory: re-iterable, constant in memory.

    Parameters
    ----------
    source : a file, a glob, ``-`` for standard input, or a list of them, of which ``.gz``, ``.bz2``, ``.xz`` and
        ``.zst`` are decompressed; a frame of pandas or polars, a table of Arrow; an array or a sparse matrix
    format : "svmlight", "vw", "csv", "jsonl", "parquet" or "arrow"; by default told from the extension
    target, weight : columns of a table, by name or by position (from 1, or from the end with -1); the target is the
        last one if you do not say, but of JSON lines it has to be named. For an array or a matrix, arrays
    ignore, categories : columns to leave out, and those whose numbers are only names (postal codes)
    header, delimiter : of CSV: whether the first record has the names, and what is between cells; told by a look
    missing : texts that stand for nothing
    bits : hash names to 2**bits columns
    first_index : of svmlight's indices, 1 or 0
    on_bad : called with every bad line instead of ending the stream there
    """
    naming = Naming(HashedNames(BITS if bits is None else bits).bits)  # refuses too many
    columns = (target, weight, tuple(ignore), tuple(categories))
    options = Options(*columns, header, delimiter, missing, first_index, naming)
    if is_matrix(source):
        check_used("array", options)
        return Stream([matrix_of(source, target, weight)], Arrays(), on_bad)
    sources, name = sources_of(source, format)
    return Stream(sources, format_of(name, sources, options), on_bad)


def open_alike(source: Any, format: Format, *, labelled: bool = True, on_bad: OnBad | None = None) -> Stream:
    """Examples from other sources of a format that is known, as that of a stream before.

    Columns of a table are found by their names. If the examples need not be ``labelled``, their labels are NaN, and
    neither target nor weight need be there.
    """
    if is_matrix(source):
        return Stream([matrix_of(source, None, None)], format, on_bad)
    sources = [source] if is_frame(source) else with_looks(expand(source))
    return Stream(sources, format.adapted(sources, labelled), on_bad)


def sources_of(source: Any, format: str | None) -> tuple[list[Any], str]:
    """What is to be read, and the name of its format."""
    if is_frame(source):
        return [source], "arrow"
    files = with_looks(expand(source))
    if not files:
        raise BadSource("there is nothing to read: name at least one file")
    return list(files), format or common_format(files)
