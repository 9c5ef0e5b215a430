"""How demonstrations are told: in lines that any terminal has room for."""

from __future__ import annotations

import textwrap

WIDTH = 80


def paragraph(text: str) -> list[str]:
    """An empty line, and a text in lines.

    >>> paragraph("The bound holds.")
    ['', 'The bound holds.']
    """
    return ["", *textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)]
