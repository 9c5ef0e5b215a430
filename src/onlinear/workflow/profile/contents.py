"""Files by their contents: whether each is what its name says, and its digest."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import PurePath

from onlinear.errors import BadSource, Refused
from onlinear.streams.decompression import LONGEST_SIGNATURE, SIGNATURES, open_bytes
from onlinear.streams.formats import EXTENSIONS, TABLES, common_format, extension_of
from onlinear.streams.sources import COMPRESSIONS

#: how files begin that are no text
MARKS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive, as workbooks of Excel are",
    b"%PDF": "a PDF document",
    b"SQLite format 3": "a database of SQLite",
    b"\xd0\xcf\x11\xe0": "an old workbook of Excel",
}
FORMATS_OF_MARKS = {"a Parquet file": "parquet", "an Arrow file": "arrow"}
WEB_PAGE, JSON = "a web page", "JSON"
#: what to do with those that can be no table
REMEDIES = {
    WEB_PAGE: "download the file itself, not the page that shows it",
    JSON: "write it as CSV (onlinear convert lines.jsonl table.csv)",
}
HEAD = 512


def format_of_files(files: Sequence[str], format: str | None) -> str:
    """The format of files: as told, by their extensions, or by a look if these say nothing. All have to have it."""
    if format is None and not any(extension_of(file) in EXTENSIONS for file in files):
        format = FORMATS_OF_MARKS.get(said_by_contents(files[0]) or "", "csv")
    format = format or common_format(files)
    if format not in TABLES:
        table = PurePath(files[0]).name.split(".")[0] + ".csv"
        raise Refused(
            f"{files[0]}: has the format {format!r}, whose columns cannot be looked at: make it a table "
            f"(onlinear convert {files[0]} {table})"
        )
    for file in files:
        check_contents(file, format)
    return format


def check_contents(file: str, format: str) -> None:
    """Refuse a file that is something else than it should be."""
    found = said_by_contents(file)
    wanted = "csv" if found is None else FORMATS_OF_MARKS.get(found, found)
    if wanted == format or (wanted == "csv" and format != "csv"):  # Arrow says itself what is wrong with its files
        return
    remedy = REMEDIES.get(wanted, "save the table in it as CSV")
    if wanted in TABLES:
        remedy = f"rename it, or say that its format is {wanted}"
    raise BadSource(f"{file}: is {found}, where a file of the format {format!r} should be: {remedy}")


def said_by_contents(file: str) -> str | None:
    """What the first bytes of a file say, decompressed; None if it may be any text."""
    check_compression(file)
    with open_bytes(file) as source:
        head = source.read(HEAD) or b""
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            return kind
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html", b"<head")):
        return WEB_PAGE
    return JSON if text.startswith((b'{"', b'[{"', b"[\n")) else None


def check_compression(file: str) -> None:
    """Refuse a file that is compressed in another way than its name says."""
    with open(file, "rb") as raw:
        head = raw.read(LONGEST_SIGNATURE)
    if not head:
        raise BadSource(f"{file}: is empty: there is no table in it")
    named = COMPRESSIONS.get(os.path.splitext(file)[1].lower())
    found = next((kind for kind, signature in SIGNATURES.items() if signature.match(head)), None)
    if named is not None and found != named:
        raise BadSource(
            f"{file}: is {'not compressed' if found is None else found + ' data'}, though its name says {named}: "
            "rename it, or download it again"
        )
    if named is None and found is not None:
        ending = next(ending for ending, kind in COMPRESSIONS.items() if kind == found)
        raise BadSource(f"{file}: is {found} data by its first bytes: rename it to {file}{ending}")


def digest_of(files: Sequence[str]) -> str:
    """SHA-256 of a file as it lies on disk, in hexadecimal; of several, that of their digests one behind the other."""
    digests = []
    for name in files:
        with open(name, "rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
