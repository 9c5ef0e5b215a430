"""Output: a file that is whole or not there, compressed as its name says; or standard output."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePath
from typing import Any, BinaryIO

from onlinear.errors import BadSource, Refused
from onlinear.streams.conversion import FORMATS
from onlinear.streams.formats import EXTENSIONS, extension_of
from onlinear.streams.sources import COMPRESSIONS
from onlinear.system.atomic import replacing, replacing_with
from onlinear.system.descriptors import holds_something
from onlinear.system.pipes import standard_output
from onlinear.system.places import check_outputs, is_in_place

STANDARD_OUTPUT = "-"
#: formats that are no text: they are compressed within, and need a file
BINARY = ("parquet", "arrow")
#: lines that are written at once
LINES = 1_000


def format_for(output: str, wanted: str | None) -> str:
    """The format of the output: as said, or by its extension."""
    extension = extension_of(output)
    found = wanted or ("tsv" if extension == ".tsv" else EXTENSIONS.get(extension))
    if found is None:
        name = "standard output" if output == STANDARD_OUTPUT else output
        raise Refused(f"{name}: its name does not say which format it is to have: say --to {'|'.join(FORMATS)}")
    if found in BINARY and output == STANDARD_OUTPUT:
        raise Refused(f"{found} cannot be written to standard output: name a file")
    if found in BINARY and holds_something(output):
        raise Refused(f"{output} holds something already, and {found} cannot be read behind it: name a file")
    if found in BINARY and compression_of(output):
        raise Refused(f"{output}: {found} is compressed within: name it without {PurePath(output).suffix}")
    return found


def check_places(outputs: Sequence[str], inputs: Sequence[str], others: Sequence[str], force: bool) -> None:
    """Refuse to write where something is: never what is read or written meanwhile, and nothing else unless forced."""
    check_outputs([*others, *outputs], inputs)
    for output in outputs:
        if output != STANDARD_OUTPUT and not is_in_place(output) and os.path.lexists(output) and not force:
            raise Refused(f"{output} is there already: name another output, or say --force to replace it")


@contextmanager
def open_output(output: str) -> Iterator[BinaryIO]:
    """The file to write to. It has its name once all is written."""
    with blaming_names():
        if output == STANDARD_OUTPUT:
            with standard_output() as file:
                yield file
        else:
            with replacing(output) as file, compressed(file, compression_of(output)) as packed:
                yield packed


@contextmanager
def open_outputs(output: str, beside: str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file to write to, and one whose name follows from its name. They have these once both are written."""
    with (
        blaming_names(),
        replacing_with(output, beside) as (file, second),
        compressed(file, compression_of(output)) as packed,
    ):
        yield packed, second


@contextmanager
def blaming_names() -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError:
        raise BadSource("there is a name that is not UTF-8: convert the files to UTF-8 first") from None


def compression_of(output: str) -> str | None:
    return COMPRESSIONS.get(PurePath(output).suffix.lower())


@contextmanager
def compressed(file: BinaryIO, compression: str | None) -> Iterator[BinaryIO]:
    """What takes bytes and writes them to a file, packed; the file stays open."""
    if compression is None:
        yield file
        return
    packer = packer_for(file, compression)
    with packer:
        yield packer


def packer_for(file: BinaryIO, compression: str) -> Any:
    match compression:
        case "gzip":
            return gzip.GzipFile("", "wb", fileobj=file, mtime=0)  # the same bytes tomorrow
        case "bzip2":
            return bz2.BZ2File(file, "wb")
        case "xz":
            return lzma.LZMAFile(file, "wb")
    import pyarrow

    return pyarrow.CompressedOutputStream(pyarrow.PythonFile(_LeftOpen(file), "w"), "zstd")


class _LeftOpen(io.RawIOBase):
    """A file that whoever writes to it does not close."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        return self._file.write(content)


def write_lines(file: BinaryIO, lines: Iterable[str], errors: str = "strict") -> None:
    """Write lines as UTF-8; what is none is refused, unless ``errors`` says how to write it."""
    lines = iter(lines)
    while some := "".join(islice(lines, LINES)):
        file.write(some.encode("utf-8", errors))
