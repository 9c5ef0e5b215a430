"""Paths: what a user may name, and how a path is printed, or put on a command line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeAlias

PathLike: TypeAlias = str | os.PathLike[str]

#: standard output, or standard input, in place of the name of a file; as a path it is the file of that name
STANDARD = "-"


def printable(path: PathLike) -> str:
    """A path that is safe to print, whatever bytes it has.

    >>> print(printable("caf\\x1b[2Jé\\udcff"))
    caf\\x1b[2Jé\\xff
    """
    text = os.fspath(path)
    return "".join(letter if letter.isprintable() else escape_of(letter) for letter in text)


def as_argument(path: PathLike) -> str:
    """A path as a word of a command line, where one that begins with a dash would be an option.

    >>> as_argument("-q.csv"), as_argument("q.csv"), as_argument(STANDARD), as_argument(Path("-"))
    ('./-q.csv', 'q.csv', '-', './-')
    """
    text = os.fspath(path)
    return os.path.join(os.curdir, text) if text.startswith("-") and path != STANDARD else text


def printable_lines(lines: Iterable[str]) -> str:
    """Lines that are safe to print, whatever names are in them: none can begin a line of its own.

    >>> print(printable_lines(["classes: a, b\\nweights: 0", "weights: 3"]))
    classes: a, b\\x0aweights: 0
    weights: 3
    """
    return "\n".join(map(printable, lines))


def escape_of(letter: str) -> str:
    code = ord(letter)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is no UTF-8, as Python keeps it in names
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
