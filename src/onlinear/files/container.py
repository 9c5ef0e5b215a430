"""The container: a header that people can read, and arrays to the bit, in one file.

::

    onlinear model 1
    header 0000001234 bytes, sha256 5a0c...
    {
      ...                              the header: one JSON document, UTF-8
      "arrays": [
        {"name": "learner/bias", "dtype": "float64", "shape": [1, 2], "offset": 0, "sha256": "..."},
        ...
      ]
    }
    (zeros up to a multiple of 64 bytes, and then one array after the other, each padded likewise)

Numbers are little-endian; an offset counts from the first array. There is one way only to lay out a file, and every
byte of it is checked: the lines at the top by their form, the header and the arrays by their digests, the padding for
being zero. So whatever is flipped, missing or too much is found. Nothing in a file is executed, and no array is
allocated before the file is known to be as long as its header claims.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np

from onlinear.errors import BadModel, NotSaved
from onlinear.system.atomic import replacing
from onlinear.system.paths import PathLike as PathLike
from onlinear.system.places import reason_of

Header: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, np.ndarray]

#: the newest format that this version reads, and the one that it writes
FORMAT = 1
FIRST_LINE = re.compile(rb"onlinear model ([1-9]\d{0,8})\n")
SECOND_LINE = re.compile(rb"header (\d{10}) bytes, sha256 ([0-9a-f]{64})\n")
SECOND_LENGTH = len("header 0123456789 bytes, sha256 ") + 64 + 1
MAGIC = b"onlinear model "

ALIGNMENT = 64
DTYPES = ("float64", "float32", "int64", "int32", "uint64", "uint32", "uint8")

#: a JSON document takes up to some 25 times its size in memory
MOST_HEADER = 1 << 24
MOST_DIMENSIONS = 8


class Entry(NamedTuple):
    """Where an array lies, and what its bytes must be."""

    name: str
    dtype: str
    shape: list[int]
    offset: int
    sha256: str

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


# ------------------------------------------------------------------ writing


def write_model(path: PathLike, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a model file, whole or not at all: until the last byte is on the disk, the old file stays.

    ``header`` is anything that JSON can say; its key "arrays" is ours.
    """
    if "arrays" in header:
        raise NotSaved(f"{path} was not saved: its header has a key 'arrays', which lists the arrays; use another")
    laid_out = {name: little_endian(path, name, array) for name, array in arrays.items()}
    head = head_of(path, header, entries_of(laid_out))
    with replacing(path) as file:
        file.write(head)
        for array in laid_out.values():
            file.write(bytes_of(array))
            file.write(bytes(padding(array.nbytes)))


def little_endian(path: PathLike, name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.name not in DTYPES or array.ndim > MOST_DIMENSIONS:
        raise NotSaved(
            f"{path} was not saved: the array {name!r} is of {array.dtype} with {array.ndim} dimensions; "
            f"convert it to one of {', '.join(DTYPES)}, with at most {MOST_DIMENSIONS}"
        )
    return array.astype(array.dtype.newbyteorder("<"), order="C", copy=False)


def entries_of(arrays: Arrays) -> list[Entry]:
    entries, offset = [], 0
    for name, array in arrays.items():
        digest = hashlib.sha256(bytes_of(array)).hexdigest()
        entries.append(Entry(name, array.dtype.name, list(array.shape), offset, digest))
        offset += array.nbytes + padding(array.nbytes)
    return entries


def bytes_of(array: np.ndarray) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def padding(length: int) -> int:
    """How many bytes are missing to the next multiple of the alignment."""
    return -length % ALIGNMENT


def head_of(path: PathLike, header: Mapping[str, Any], entries: list[Entry]) -> bytes:
    """The two lines, the header and its padding."""
    try:
        text = json_lines({**header, "arrays": [entry._asdict() for entry in entries]}) + "\n"
        body = text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotSaved(f"{path} was not saved: JSON cannot say its header ({error}); use plain values only") from error
    if len(body) > MOST_HEADER:
        raise NotSaved(
            f"{path} was not saved: its header has {len(body)} bytes, and {MOST_HEADER} is the most; "
            "are there so many labels, or parameters so large?"
        )
    lines = f"onlinear model {FORMAT}\nheader {len(body):010} bytes, sha256 {hashlib.sha256(body).hexdigest()}\n"
    head = lines.encode() + body
    return head + bytes(padding(len(head)))


def json_lines(value: Any, depth: int = 0) -> str:
    """JSON for people: the first two levels a line for each entry, everything deeper on one."""
    if depth == 2 or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    indent = "  " * (depth + 1)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that is no string")
        lines = [f"{json.dumps(key, ensure_ascii=False)}: {json_lines(item, depth + 1)}" for key, item in value.items()]
    else:
        lines = [json_lines(item, depth + 1) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{indent}".join(lines)
    return f"{opening}\n{indent}{body}\n{indent[2:]}{closing}"


# ------------------------------------------------------------------ reading


class Source(NamedTuple):
    """A model file being read."""

    path: PathLike
    file: BinaryIO
    size: int

    def damage_error(self, what: str) -> BadModel:
        return BadModel(f"{self.path} is damaged: {what}; copy it anew, or save the model again")

    def read(self, length: int, what: str) -> bytes:
        found = self.file.read(length)
        if len(found) < length:
            raise self.damage_error(f"it ends within {what}")
        return found


def read_model(path: PathLike) -> tuple[Header, Arrays]:
    """Header and arrays of a model file; anything but a whole and unharmed one is refused with a sentence."""
    with open_model_file(path) as source:
        header = read_header(source)
        entries = read_entries(source, header)
        return header, {entry.name: read_array(source, entry) for entry in entries}


def header_of(path: PathLike) -> Header:
    """The header of a model file, whatever becomes of its arrays."""
    with open_model_file(path) as source:
        return read_header(source)


@contextmanager
def open_model_file(path: PathLike) -> Iterator[Source]:
    """A model file to be read."""
    check_is_path(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise BadModel(f"{path} is no file: give the path of one that save() wrote")
        with open(path, "rb") as file:
            yield Source(path, file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {reason_of(error)}; check the path") from error


def check_is_path(path: Any) -> None:
    """Refuse what is no path, with what to call instead if it is a model itself."""
    if isinstance(path, str | bytes | os.PathLike):
        return
    kind = type(path).__name__
    advice = f": ask the {kind} itself, by its own predict" if hasattr(path, "predict") else ""
    raise BadModel(f"a model is given by the path of its file, and this is of the type {kind}{advice}")


def read_header(source: Source) -> Header:
    check_first_line(source)
    line = SECOND_LINE.fullmatch(source.read(SECOND_LENGTH, "its second line"))
    if line is None:
        raise source.damage_error("its second line is not the length and the digest of a header")
    length = int(line[1])
    if length > MOST_HEADER or length > source.size:
        raise source.damage_error(f"its header would have {length} bytes")
    body = source.read(length, "its header")
    if hashlib.sha256(body).hexdigest().encode() != line[2]:
        raise source.damage_error("its header does not match its digest")
    try:
        header = json.loads(
            body.decode(), object_pairs_hook=without_duplicates, parse_constant=refuse_constant, parse_float=finite
        )
    except (ValueError, RecursionError) as error:
        raise source.damage_error(f"its header is no JSON that we write ({error})") from None
    if not isinstance(header, dict):
        raise source.damage_error("its header is no JSON object")
    check_padding(source)
    return header


def check_first_line(source: Source) -> None:
    line = source.file.readline(len(MAGIC) + 10)
    if not line:
        raise BadModel(f"{source.path} is empty: it may never have been written; save the model again")
    if not line.startswith(MAGIC):
        if MAGIC.startswith(line):
            raise source.damage_error("it ends within its first line")
        raise BadModel(
            f"{source.path} is no onlinear model: it does not begin with 'onlinear model'; "
            "give the path of a file that save() wrote"
        )
    version = FIRST_LINE.fullmatch(line)
    if version is None:
        raise source.damage_error("its first line does not name a format")
    if int(version[1]) > FORMAT:
        raise BadModel(
            f"{source.path} is of model format {int(version[1])}, and this version of onlinear reads up to {FORMAT}: "
            "install a newer onlinear"
        )


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")


def finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text:.20} is beyond the range of floating point numbers")
    return number


def check_padding(source: Source) -> None:
    if any(source.read(padding(source.file.tell()), "its padding")):
        raise source.damage_error("its padding is not zero")


def read_entries(source: Source, header: Header) -> list[Entry]:
    """The header's list of arrays, taken out of it and checked against the size of the file."""
    listed = header.pop("arrays", None)
    if not isinstance(listed, list):
        raise source.damage_error("its header lists no arrays")
    entries = [checked_entry(source, each) for each in listed]
    if len({entry.name for entry in entries}) < len(entries):
        raise source.damage_error("two of its arrays have the same name")
    expected = 0
    for entry in entries:
        if entry.offset != expected:
            raise source.damage_error(f"its array {entry.name!r} is said to begin at {entry.offset}, not at {expected}")
        expected += entry.size + padding(entry.size)
    there = source.size - source.file.tell()
    if there != expected:
        raise source.damage_error(f"its arrays should take {expected} bytes, and there are {there}")
    return entries


def checked_entry(source: Source, listed: Any) -> Entry:
    kinds = {"name": str, "dtype": str, "shape": list, "offset": int, "sha256": str}
    if not isinstance(listed, dict) or {key: type(value) for key, value in listed.items()} != kinds:
        raise source.damage_error(f"its header describes an array as {listed!r:.80}")
    entry = Entry(**listed)
    if entry.dtype not in DTYPES:
        raise source.damage_error(f"its array {entry.name!r} is said to be of {entry.dtype!r:.80}")
    if not is_shape(entry.shape):
        raise source.damage_error(f"its array {entry.name!r} is said to have the shape {entry.shape!r:.80}")
    return entry


def is_shape(shape: list[Any]) -> bool:
    """Whether NumPy could count the elements, were none of the dimensions 0."""
    if len(shape) > MOST_DIMENSIONS or not all(type(length) is int and length >= 0 for length in shape):
        return False
    return math.prod(max(length, 1) for length in shape) < 1 << 59


def read_array(source: Source, entry: Entry) -> np.ndarray:
    array = np.empty(entry.shape, np.dtype(entry.dtype).newbyteorder("<"))
    content = bytes_of(array)
    if source.file.readinto(content) < len(content):  # type: ignore[attr-defined]
        raise source.damage_error(f"it ends within its array {entry.name!r}")
    if hashlib.sha256(content).hexdigest() != entry.sha256:
        raise source.damage_error(f"its array {entry.name!r} does not match its digest")
    check_padding(source)
    return array.astype(entry.dtype, copy=False)
