"""Lines of VW's text and of svmlight: what records look like there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from onlinear.errors import OnlinearError
from onlinear.streams.conversion.naming import Mended
from onlinear.streams.conversion.numbers import ClassNumbers, text_of
from onlinear.streams.conversion.records import Features, Record, merge_names

WEIGHTED = "row {row:,} has the importance {importance}, which svmlight cannot say: convert to vw, or drop the weights"
UNLABELLED = "row {row:,} has no label, which svmlight cannot do without: give it one, or convert to another format"


def vw_lines(rows: Iterable[Record], numbers: ClassNumbers, mended: Mended, has_spaces: bool) -> Iterator[str]:
    """Lines of VW's text. If names have namespaces (``space^name``), these are kept."""
    for label, importance, features in rows:
        head = "" if label != label else f"{numbers.text(label)} "
        weight = "" if importance == 1.0 else f"{text_of(importance)} "
        yield f"{head}{weight}{vw_features(features, mended, has_spaces)}\n"


def vw_features(features: Features, mended: Mended, has_spaces: bool) -> str:
    """All that stands behind the first bar, and the bar.

    >>> from onlinear.streams.conversion.naming import NOT_IN_VW
    >>> vw_features([("a^x", 1.0), ("a^y", 0.5), ("z", 2.0)], Mended(NOT_IN_VW), has_spaces=True)
    '|a x y:0.5 | z:2'
    """
    if not has_spaces:
        return "| " + " ".join(vw_feature(mended(name), value) for name, value in features)
    placed = [(*in_space(name), value) for name, value in features]
    spaces = groupby(placed, key=lambda feature: feature[0])
    words = (f"|{space} {' '.join(vw_feature(name, value) for _, name, value in inside)}" for space, inside in spaces)
    return " ".join(words) or "|"


def vw_feature(name: str, value: float) -> str:
    return name if value == 1.0 else f"{name}:{text_of(value)}"


def in_space(name: str) -> tuple[str, str]:
    """The namespace of a name, and what it is called there.

    >>> in_space("a^x^y"), in_space("x"), in_space("^x"), in_space("x^")
    (('a', 'x^y'), ('', 'x'), ('', '^x'), ('', 'x^'))
    """
    space, _, inner = name.partition("^")
    return (space, inner) if space and inner else ("", name)


def svmlight_lines(rows: Iterable[Record], numbers: ClassNumbers, index_of: Callable[[str], int]) -> Iterator[str]:
    """Lines of svmlight, with the indices in order."""
    for row, (label, importance, features) in enumerate(rows, 1):
        if importance != 1.0:
            raise OnlinearError(WEIGHTED.format(row=row, importance=text_of(importance)))
        if isinstance(label, float) and math.isnan(label):
            raise OnlinearError(UNLABELLED.format(row=row))
        entries = sorted((index_of(name), value) for name, value in merge_names(features).items())
        yield " ".join([numbers.text(label), *(f"{index}:{text_of(value)}" for index, value in entries)]) + "\n"
