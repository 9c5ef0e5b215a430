"""Blanks around the cells of a table: no part of them, whatever form it has."""

from __future__ import annotations

#: blanks before a cell, and those around one; a carriage return before one is a letter
BEFORE, BLANKS = " \t", " \t\r"


def bare(text: str) -> str:
    """A category without the blanks around it, as a cell of CSV is read.

    >>> bare(" Bern\\t\\r")
    'Bern'
    """
    return text.lstrip(BEFORE).rstrip(BLANKS)
