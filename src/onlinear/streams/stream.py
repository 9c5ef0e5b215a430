"""Stream: examples from files, a pass for each iteration."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import Any, Protocol

from onlinear.errors import BadLine, BadSource, OnlinearError, Refused
from onlinear.streams.ahead import in_order
from onlinear.streams.blocks import Block
from onlinear.streams.csvtext import CSVText
from onlinear.streams.inference import infer
from onlinear.streams.naming import Naming
from onlinear.streams.sources import STANDARD_INPUT, Chunk, Ends, Path, chunks, expand, inner_name, total_bytes
from onlinear.streams.svmlight import Svmlight
from onlinear.streams.vwtext import VWText

#: how many threads read ahead of the learner
THREADS = 2

#: names are hashed to 2**BITS columns, unless told
BITS = 18

#: called with each bad line and its text
OnBad = Callable[[BadLine, bytes], None]


class Format(Protocol):
    """How the text of a file becomes rows."""

    def parse(self, chunk: Chunk, source: str, stop_at_bad: bool) -> Block: ...

    def ends(self) -> Ends:
        """Where a file may be cut: a new one for each file."""


EXTENSIONS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".csv": "csv",
    ".tsv": "csv",
}
FORMATS: dict[str, Any] = {"csv": CSVText, "svmlight": Svmlight, "vw": VWText}


class Stream:
    """Examples from files, in order. Each iteration is a pass: blocks of rows, whose size means nothing.

    The first bad line ends the stream with a :class:`onlinear.BadLine`, after all rows before it; with ``on_bad`` bad
    lines are handed there and left out.
    """

    def __init__(self, files: Sequence[str], format: Format, on_bad: OnBad | None = None) -> None:
        self.files = list(files)
        self.format = format
        self.on_bad = on_bad
        self.read = 0  # bytes on disk of this pass so far
        self._begun = False

    @property
    def total_bytes(self) -> int | None:
        """The size of all files on disk; None if standard input is among them."""
        return total_bytes(self.files)

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
        for file in self.files:
            for block in self._blocks(file, stop_at_bad):
                self.read = before + block.read
                yield block
                if block.bad and stop_at_bad:
                    return
            before = self.read

    def _blocks(self, file: str, stop_at_bad: bool) -> Iterator[Block]:
        def parse(chunk: Chunk) -> Block:
            return self.format.parse(chunk, file, stop_at_bad)

        return in_order(parse, chunks(file, ends=self.format.ends()), THREADS)


def open_stream(
    paths: Path | Sequence[Path],
    format: str | None = None,
    *,
    bits: int | None = None,
    first_index: int = 1,
    target: str | int | None = None,
    weight: str | int | None = None,
    on_bad: OnBad | None = None,
) -> Stream:
    """Examples from files: re-iterable, constant in memory.

    Parameters
    ----------
    paths : a file, a glob, ``-`` for standard input, or a list of them; ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` are
        decompressed
    format : "svmlight", "vw" or "csv"; by default told from the extension
    bits : hash names to 2**bits columns
    first_index : of svmlight's indices, 1 or 0
    target, weight : columns of a table, by name or by position; the target is the last one if you do not say
    on_bad : called with every bad line instead of ending the stream there
    """
    files = expand(paths)
    name = format or common_format(files)
    if name not in FORMATS:
        raise Refused(f"the format {name!r} is unknown: choose one of {', '.join(FORMATS)}")
    if name == "csv":
        return Stream(files, infer(files, target=target, weight=weight, naming=Naming(bits or BITS)), on_bad)
    if name == "vw":
        return Stream(files, VWText(Naming(bits or BITS)), on_bad)
    return Stream(files, Svmlight(first_index), on_bad)


def common_format(files: Sequence[str]) -> str:
    """The format that the extensions of all files stand for."""
    found = {EXTENSIONS.get(extension_of(file)) for file in files}
    if len(found) == 1 and None not in found:
        return next(iter(found))  # type: ignore[return-value]
    strange = [file for file in files if extension_of(file) not in EXTENSIONS]
    if strange:
        raise OnlinearError(
            f"{strange[0]}: its name does not say which format it has: name one of {', '.join(FORMATS)}"
        )
    raise OnlinearError(f"the files have several formats ({', '.join(sorted(map(str, found)))}): read them apart")


def extension_of(file: str) -> str:
    return PurePath(inner_name(os.fspath(file))).suffix.lower()
