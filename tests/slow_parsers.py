"""The text formats again: slow and obvious, a line at a time, with Python's own ``float`` and ``split``.

Each answers a row, None for a line without one, or the column (in bytes, from 1) of what is wrong with it.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Row(NamedTuple):
    label: float
    importance: float
    features: list[tuple[object, float]]


class Wrong(NamedTuple):
    column: int


def number(word: bytes) -> float:
    """What ``float`` makes of a word that is written as a plain decimal number; NaN for any other."""
    return float(word) if NUMBER.fullmatch(word) else math.nan


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
    return Row(number(label), 1.0, sorted(features))


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
        label = number(numbers[0][1])
        if not math.isfinite(label):
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
    return Row(label, importance, features)
