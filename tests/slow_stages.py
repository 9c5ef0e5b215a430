"""The stages of a stream that have a memory, again: plain Python, one row after the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

from onlinear.features.names import FNV_OFFSET, FNV_PRIME, MIX_FIRST, MIX_SECOND

Feature = tuple[str, float]
Entries = list[tuple[int, float]]


def hash_of(name: str) -> int:
    """The hash of a name's bytes, of which some may be no UTF-8."""
    word = FNV_OFFSET
    for byte in name.encode("utf-8", "surrogateescape"):
        word = (word ^ byte) * FNV_PRIME % 2**64
    for factor in (MIX_FIRST, MIX_SECOND):
        word = (word ^ word >> 33) * factor % 2**64
    return word ^ word >> 33


def summed(entries: Entries) -> Entries | None:
    """Sorted by column, values added from the smallest on; None if that is infinite."""
    sums: dict[int, float] = {}
    for column, value in sorted(entries):
        sums[column] = sums[column] + value if column in sums else value
    return list(sums.items()) if all(map(math.isfinite, sums.values())) else None


@dataclass
class SlowVocabulary:
    """Names with their counts, in the order in which they came."""

    bits: int | None
    cap: int
    counts: dict[str, int] = field(default_factory=dict)
    unnamed: int = 0

    def take(self, row: list[Feature]) -> Entries | None:
        """The entries of a row; None if it is bad."""
        new = list(dict.fromkeys(name for name, _ in row if name not in self.counts))
        if self.bits is None:
            known = {name: column for column, name in enumerate([*self.counts, *new])}
            entries = summed([(known[name], value) for name, value in row])
            if len(known) > self.cap and new:
                return None
        else:
            entries = summed([(hash_of(name) >> (64 - self.bits), value) for name, value in row])
        if entries is None:
            return None
        for name, _ in row:
            if name in self.counts or len(self.counts) < self.cap:
                self.counts[name] = self.counts.get(name, 0) + 1
            else:
                self.unnamed += 1
        return entries

    def look_up(self, row: list[Feature]) -> Entries | None:
        if self.bits is not None:
            return summed([(hash_of(name) >> (64 - self.bits), value) for name, value in row])
        known = {name: column for column, name in enumerate(self.counts)}
        return summed([(known[name], value) for name, value in row if name in known])


def max_abs(rows: list[Entries]) -> list[Entries]:
    """Each value by the largest of its column so far."""
    largest: dict[int, float] = {}
    scaled = []
    for row in rows:
        for column, value in row:
            largest[column] = max(largest.get(column, 0.0), abs(value))
        scaled.append([(column, value / largest[column] if value else 0.0) for column, value in row])
    return scaled


def unit_length(rows: list[Entries]) -> list[Entries]:
    """Each row by its length."""
    found = []
    for row in rows:
        squares = sum((Fraction(value) ** 2 for _, value in row), Fraction(0))
        found.append([(column, share_of(Fraction(value), squares)) for column, value in row])
    return found


def share_of(value: Fraction, squares: Fraction) -> float:
    """``value`` divided by the root of ``squares``, which may be beyond floats."""
    return math.copysign(math.sqrt(value * value / squares), value) if squares else float(value)


def standardised(rows: list[Entries], columns: set[int]) -> list[Entries]:
    """Each value of some columns less the mean so far, by the deviation so far; both computed anew for each row."""
    seen: dict[int, list[float]] = {column: [] for column in columns}
    scaled = []
    for row in rows:
        for column, value in row:
            if column in columns:
                seen[column].append(value)
        scaled.append(
            [(column, standard(value, seen[column]) if column in columns else value) for column, value in row]
        )
    return scaled


def standard(value: float, values: list[float]) -> float:
    exact = [Fraction(x) for x in values]
    mean = sum(exact, Fraction(0)) / len(exact)
    deviation = math.sqrt(sum(((x - mean) ** 2 for x in exact), Fraction(0)) / len(exact))
    return float(Fraction(value) - mean) / deviation if deviation else 0.0
