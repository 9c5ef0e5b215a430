"""What the cells of a named column are made of: texts, numbers or truth values, of which each makes its own names.

``01201`` is not 1201, and ``2.0`` is not 2: so a column of categories, texts or classes has to hold what it held at
first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.errors import OnlinearError, Refused
from onlinear.streams.arrowcells import decoded, is_nothing, is_numeric, is_truth, numbers_of
from onlinear.streams.csvtext import Column

TEXTS, NUMBERS, TRUTHS = "texts", "numbers", "truth values"
#: kinds of columns whose cells become names
NAMED_KINDS = ("category", "text")
NUMBERS_FOR_TEXTS = ", where 007 and 7.0 are not 7: read it as text (pandas: dtype={{{name!r}: str}})"


class Held(NamedTuple):
    """A column, and what its cells are made of."""

    name: str
    what: str


def held_in(columns: Iterable[Column], target_kind: str, schema: Any) -> tuple[Held, ...]:
    """What a table of this schema holds in its columns of names; nothing is said of those of nulls."""
    found = zip(columns, schema, strict=True)
    return tuple(
        Held(column.name, made_of(field.type))
        for column, field in found
        if is_of_names(column, target_kind) and not is_nothing(field.type)
    )


def texts_in(columns: Iterable[Column], target_kind: str) -> tuple[Held, ...]:
    """What a CSV file holds there."""
    return tuple(Held(column.name, TEXTS) for column in columns if is_of_names(column, target_kind))


def is_of_names(column: Column, target_kind: str) -> bool:
    """Whether the cells of a column become names: of features, or of the classes."""
    return (target_kind if column.kind == "target" else column.kind) in NAMED_KINDS


def check_known(held: Sequence[Held]) -> None:
    """Refuse what a model file says of columns if no column can hold it."""
    for name, what in held:
        if what not in (TEXTS, NUMBERS, TRUTHS):
            raise OnlinearError(f"column {name!r} holds {what!r:.60}: choose one of {TEXTS}, {NUMBERS}, {TRUTHS}")


def made_of(kind: Any) -> str:
    """What a column of one of Arrow's types holds, as itself or by a dictionary."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if is_truth(kind):
        return TRUTHS
    return NUMBERS if is_numeric(kind) else TEXTS


def check_held(held: Sequence[Held], batch: Any, source: str) -> None:
    """Refuse a batch with a column that holds something else; one with nothing but missing cells may be anything."""
    for name, known in held:
        if name in batch.schema.names:
            cells = batch.column(name)
            found = made_of(cells.type)
            if found != known and not is_all_missing(cells):
                is_written = found == NUMBERS and known == TEXTS
                advice = NUMBERS_FOR_TEXTS.format(name=name) if is_written else ": convert it to those"
                raise Refused(f"{source}: column {name!r} holds {found}, which the model knows as {known}{advice}")


def is_all_missing(cells: Any) -> bool:
    cells = decoded(cells)
    if is_numeric(cells.type):
        return bool(np.isnan(numbers_of(cells)).all())
    return bool(cells.null_count == len(cells))
