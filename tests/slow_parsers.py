"""The text formats again: slow and obvious, a line at a time, with Python's own ``float`` and ``split``.

Each answers a row, None for a line without one, or the column (in bytes, from 1) of what is wrong with it.
"""

from __future__ import annotations

import itertools
import math
import re
from typing import NamedTuple

from onlinear.features.names import cross_hash, hash_name

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Feature(NamedTuple):
    group: str
    name: str
    value: float


class Row(NamedTuple):
    label: float
    importance: float
    features: list[tuple[object, float]]
    groups: tuple[bytes, ...] = ()  # of Vowpal Wabbit's features: their namespaces


class Wrong(NamedTuple):
    column: int


def number(word: bytes) -> float:
    """What ``float`` makes of a word that is written as a plain decimal number; NaN for any other."""
    return float(word) if NUMBER.fullmatch(word) else math.nan


def label_of(word: bytes) -> float:
    """The same, but a whole number is exact where neighbouring ones would be the same to ``float``."""
    value = number(word)
    whole, _, fraction = word.partition(b".")
    if not abs(value) >= 2**53 or fraction.strip(b"0") or not whole.lstrip(b"+-").isdigit():
        return value
    return int(whole)


def words(line: bytes, start: int = 0) -> list[tuple[int, bytes]]:
    """The words between blanks and tabs, with the column at which each starts."""
    return [(start + found.start() + 1, found.group()) for found in re.finditer(rb"[^ \t]+", line[start:])]


def svmlight_line(line: bytes, first_index: int, most: int) -> Row | Wrong | None:
    line = line.removesuffix(b"\r").partition(b"#")[0]
    found = words(line)
    if not found:
        return None
    (column, label), *rest = found
    if not math.isfinite(number(label)):
        return Wrong(column)
    if rest and rest[0][1].startswith(b"qid:"):
        if not re.fullmatch(rb"qid:\d+", rest[0][1]):
            return Wrong(rest[0][0])
        del rest[0]
    features: list[tuple[object, float]] = []
    for column, word in rest:
        index, colon, value = word.partition(b":")
        if not re.fullmatch(rb"\d+", index) or not colon or not first_index <= int(index) < first_index + most:
            return Wrong(column)
        if not math.isfinite(number(value)):
            return Wrong(column + len(index) + 1)
        features.append((int(index) - first_index, number(value)))
    seen = set()
    for (column, _), (index, _) in zip(rest, features, strict=True):
        if index in seen:
            return Wrong(column)
        seen.add(index)
    return Row(label_of(label), 1.0, sorted(features))


def vw_line(line: bytes) -> Row | Wrong | None:
    line = line.removesuffix(b"\r")
    if not line.strip(b" \t"):
        return None
    head, bar, _ = line.partition(b"|")
    if not bar:
        return Wrong(1)
    numbers = words(head)
    if numbers and (not head.endswith((b" ", b"\t")) or numbers[-1][1].startswith(b"'")):
        del numbers[-1]  # the tag
    label, importance = math.nan, 1.0
    if numbers:
        label = label_of(numbers[0][1])
        if not abs(label) < math.inf:
            return Wrong(numbers[0][0])
    if len(numbers) > 1:
        importance = number(numbers[1][1])
        if not 0.0 <= importance < math.inf:
            return Wrong(numbers[1][0])
    if len(numbers) > 2:
        return Wrong(numbers[2][0])
    return vw_features(line, len(head), label, importance)


def vw_features(line: bytes, bar: int, label: float, importance: float) -> Row | Wrong:
    features: list[tuple[object, float]] = []
    groups = []
    prefix, weight = b"", 1.0
    for found in re.finditer(rb"\|[^ \t|]*|[^ \t|]+", line[bar:]):
        whole, column = found.group(), bar + found.start() + 1
        word = re.split(rb"[\0-\x1f]", whole)[0]  # control characters end a word, and are wrong themselves
        is_space = word.startswith(b"|")
        name, colon, value = word.removeprefix(b"|").partition(b":")
        after = column + is_space + len(name)
        if not is_space and colon and not name:
            return Wrong(after)
        if colon and not math.isfinite(number(value)):
            return Wrong(after + 1)
        if not is_space and not math.isfinite(weight * number(value) if colon else weight):
            return Wrong(after + 1)
        if word != whole:
            return Wrong(column + len(word))
        if is_space:
            prefix, weight = name + b"^" if name else b"", number(value) if colon else 1.0
            continue
        features.append((prefix + name, weight * number(value) if colon else weight))
        groups.append(prefix.removesuffix(b"^"))
    return Row(label, importance, features, tuple(groups))


class Entry(NamedTuple):
    name: str
    hash: int
    value: float


def entries(features: list[Feature], crosses: tuple[tuple[str, str], ...]) -> list[Entry]:
    """Features, and behind them the products of those in crossed groups."""
    own = [Entry(name, hash_name(name), value) for _, name, value in features]
    found = list(own)
    for first, second in crosses:
        for i, j in itertools.product(range(len(own)), repeat=2):
            if features[i].group != first or features[j].group != second or (first == second and j < i):
                continue
            a, b = sorted((own[i], own[j]), key=lambda entry: entry.hash) if first == second else (own[i], own[j])
            found.append(Entry(f"{a.name}*{b.name}", cross_hash(a.hash, b.hash), a.value * b.value))
    return found


def placed(found: list[Entry], bits: int) -> list[tuple[int, float]] | None:
    """Columns with the sums of their values, added from the smallest on; None if something is beyond all floats."""
    sums: dict[int, float] = {}
    for column, value in sorted((entry.hash >> (64 - bits), entry.value) for entry in found):
        sums[column] = sums[column] + value if column in sums else value
    fine = all(math.isfinite(entry.value) for entry in found) and all(map(math.isfinite, sums.values()))
    return list(sums.items()) if fine else None
