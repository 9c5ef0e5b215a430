"""Cells of X that are no numbers: which they are, what they hold, and what to do about them.

Only asked once scikit-learn or NumPy has refused X, whose errors name neither row nor column.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from numbers import Complex, Real
from typing import Any, NoReturn

import numpy as np
import scipy.sparse

from onlinear.errors import BadInput
from onlinear.streams.tables import columns_in

#: types of pandas and NumPy, by name, that say when something is
TIMES = ("Period", "datetime64", "timedelta64")
#: what pandas calls a cell that is missing
MISSING = ("NAType", "NaTType")


class NoNumber(BadInput, TypeError):
    """A cell of a type of which no number is made: to scikit-learn a TypeError."""


def refuse_unreadable(X: Any, takes_dicts: bool = False) -> None:
    """Refuse the first cell of X that is no number, if there is one; a column after the other."""
    for name, cells in columns_of(X):
        for row, cell in enumerate(cells):
            if type(cell) is not float:
                check_cell(cell, row, name, takes_dicts)


def columns_of(X: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns that may hold something else than numbers, each with what errors call it."""
    names = columns_in(X)
    if names is not None:
        columns = [column_at(X, place) for place in range(len(names))]
        for name, column in zip(names, columns, strict=True):
            if may_hold_others(column):
                yield f"the column {name!r}", column.to_pylist() if hasattr(column, "to_pylist") else column.to_list()
    elif not scipy.sparse.issparse(X) and may_hold_others(X):
        table = as_table(X)
        for place, cells in enumerate(table.T if table.ndim == 2 else ()):
            yield f"column {place}", cells.tolist()


def may_hold_others(cells: Any) -> bool:
    """Whether cells may be something else than real numbers, as far as their type tells."""
    return getattr(getattr(cells, "dtype", None), "kind", "O") not in "biuf"


def as_table(X: Any) -> np.ndarray:
    """Rows in lists, or in an array, as an array of whatever they hold; an empty one if they do not make a table."""
    try:
        return np.asarray(X, dtype=object)
    except ValueError:  # they are of different lengths
        return np.empty(0, dtype=object)


def column_at(frame: Any, place: int) -> Any:
    """A column of a frame of pandas, of polars, or of Arrow's."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, place]
    return frame.to_series(place) if hasattr(frame, "to_series") else frame.column(place)


def check_cell(cell: Any, row: int, column: str, takes_dicts: bool) -> None:
    """Refuse a cell of which NumPy makes no number."""
    try:
        float(cell)
    except OverflowError:
        raise too_large(f" in row {row} of {column}") from None
    except (TypeError, ValueError):
        if cell is not None:
            refuse(cell, row, column, takes_dicts)


def refuse(cell: Any, row: int, column: str, takes_dicts: bool) -> NoReturn:
    kind, where = type(cell).__name__, f"row {row} of {column}"
    if kind in MISSING:
        raise BadInput(f"Input X contains NaN: {where} is {cell}: drop the row or impute the value")
    if isinstance(cell, str | bytes):
        taker = ", or give the rows to learn_many, to which a text is a category" if takes_dicts else ""
        raise BadInput(f"{where} holds the text {cell!r:.60}: turn the column into numbers, or drop it{taker}")
    if isinstance(cell, Complex) and not isinstance(cell, Real):
        raise BadInput(f"Complex data not supported: {where} is {cell}: give its real and imaginary part, or its size")
    if isinstance(cell, date | time | timedelta) or kind in TIMES:
        advice = "turn the column into numbers first, such as days since the first"
        raise NoNumber(f"{where} holds {cell!r:.60}: X holds dates or durations: {advice}")
    raise NoNumber(
        f"{where} holds {cell!r:.60}, of type {kind}, where an argument must be a string of digits or a number: "
        "turn the column into numbers, or drop it"
    )


def too_large(where: str = "") -> BadInput:
    return BadInput(
        f"X holds a whole number that is too large for a float{where}: scale the column, or take its logarithm"
    )
