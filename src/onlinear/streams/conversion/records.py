"""Record: a row as label, importance and named features, whichever format it comes from."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import NamedTuple

from onlinear.data.rows import SparseRows
from onlinear.errors import OnlinearError
from onlinear.features.blocks import Block
from onlinear.streams.stream import Stream

#: rows that are looked at before the first is written
LOOK = 10_000

Features = list[tuple[str, float]]


class Record(NamedTuple):
    """A row. Its label is a number, NaN if there is none, or the name of a class; a feature may come more than once."""

    label: float | str
    importance: float
    features: Features


def records(stream: Stream) -> Iterator[Record]:
    """The rows of a stream whose format keeps names; those of svmlight are its indices."""
    first_index = getattr(stream.format, "first_index", 0)
    for block in stream.before_recipe():
        features = features_of(block, first_index)
        for row, (label, importance) in enumerate(zip(block.labels.tolist(), block.importance.tolist(), strict=True)):
            yield Record(label, importance, features(row))


def features_of(block: Block, first_index: int) -> Callable[[int], Features]:
    """The features of each row of a block."""
    named, rows = block.named, block.rows
    if named is not None:
        starts, values, names_of = named.starts.tolist(), named.values.tolist(), named.names_of
        return lambda row: list(zip(names_of(row), values[starts[row] : starts[row + 1]], strict=True))
    assert isinstance(rows, SparseRows)
    starts, values = rows.starts.tolist(), rows.values.tolist()
    names = [str(column + first_index) for column in rows.columns.tolist()]

    def features(row: int) -> Features:
        entries = slice(starts[row], starts[row + 1])
        return list(zip(names[entries], values[entries], strict=True))

    return features


def look_at_labels(rows: Iterable[Record]) -> tuple[list[Record], Iterator[Record]]:
    """The first rows, and all of them."""
    rows = iter(rows)
    first = list(islice(rows, LOOK))
    return first, chain(first, rows)


def merge_names(features: Features) -> dict[str, float]:
    """Each name once: the values of those that come more often are added, as a learner adds them.

    >>> merge_names([("a", 1.0), ("b", 2.0), ("a", 3.0)])
    {'a': 4.0, 'b': 2.0}
    """
    found = dict(features)
    if len(found) == len(features):
        return found
    found = dict.fromkeys(found, -0.0)  # to which any number may be added without a change, -0.0 too
    for name, value in features:
        found[name] += value
    for name, value in found.items():
        if not math.isfinite(value):
            raise OnlinearError(f"the values of {name!r} in one row add up to infinity: scale them")
    return found
