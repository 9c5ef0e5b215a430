"""How demonstrations are told: in lines that any terminal has room for."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from onlinear.learning.progress import align_columns

WIDTH = 80

#: rows of a table, the first of them its headings
Cells: TypeAlias = list[tuple[str, ...]]


def paragraph(text: str) -> list[str]:
    """An empty line, and a text in lines.

    >>> paragraph("The bound holds.")
    ['', 'The bound holds.']
    """
    return ["", *textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)]


def table(cells: Sequence[Sequence[str]], names: bool = False) -> Iterator[str]:
    """Lines with columns right-aligned; if the first is one of names, it is left-aligned.

    >>> list(table([("rate", "error"), ("1/t", "0.01")], names=True))
    ['rate  error', '1/t    0.01']
    """
    width = max(len(first) for first, *_ in cells) if names else 0
    for line in align_columns([(first.ljust(width), *others) for first, *others in cells]):
        yield line.rstrip()
