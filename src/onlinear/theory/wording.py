"""A certificate's witness in words, for people: which rows combine to zero."""

from __future__ import annotations

import math
from typing import Any

#: terms, and digits of a multiplier, up to which a combination is written out
MOST_TERMS, MOST_DIGITS = 8, 6


def cancelling_words(certificate: dict[str, Any]) -> str:
    """Why no weights separate the rows of a certificate that says so; rows are counted from 1.

    >>> xor = {"rows": [0, 1, 2, 3], "rivals": [1, 0, 0, 1], "multipliers": ["1", "1", "1", "1"]}
    >>> cancelling_words({"witness": xor, "classes": [-1, 1], "weights": [{}]})
    'Row 1 + row 4 (of -1) = row 2 + row 3 (of 1), entry by entry: no weights score one below 0 and the other above it.'
    """
    rows, rivals, multipliers = (certificate["witness"][name] for name in ("rows", "rivals", "multipliers"))
    if len(rows) == 1:
        return f"Row {rows[0] + 1} is 0, entry by entry."
    digits = max(map(digits_of, multipliers))
    if len(rows) == 2 and rivals[0] != rivals[1] and multipliers[0] == multipliers[1]:
        return f"Rows {rows[0] + 1} and {rows[1] + 1} are the same, and of two classes."
    if len(rows) > MOST_TERMS or digits > MOST_DIGITS or len(certificate["weights"]) > 1:
        long = f"of up to {digits:,} digits" if digits > 1 else "of one digit"
        return f"{len(rows):,} rows, with whole multipliers {long}, combine to exactly zero."
    sides = [
        " + ".join(
            f"{'' if a == '1' else f'{a} x '}row {row + 1}"
            for row, other, a in zip(rows, rivals, multipliers, strict=True)
            if other == rival
        )
        for rival in (1, 0)
    ]
    if not all(sides):
        return f"{capital(max(sides))} is 0, entry by entry."
    names = [name_of(label) for label in certificate["classes"]]
    sums = [f"{side} (of {name})" for side, name in zip(sides, names, strict=True)]
    return f"{capital(sums[0])} = {sums[1]}, entry by entry: no weights score one below 0 and the other above it."


def digits_of(number: str) -> int:
    """How many decimal digits a whole number has, as it is in a certificate, to within one."""
    return len(number) if not number.startswith("0x") else math.ceil(int(number, 16).bit_length() * math.log10(2))


def name_of(label: Any) -> str:
    if label is None:
        return "the rest"
    return str(label) if str(label).isprintable() else ascii(label)


def capital(text: str) -> str:
    return text[0].upper() + text[1:]
