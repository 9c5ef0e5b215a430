"""Whole numbers from 2**53 on, of which double precision takes several for one: labels, ids and times are exact.

Numbers are float64 as long as that says them all. An array that holds larger ones is of Python's own numbers: whole
ones as ints, which are equal to no other number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onlinear.data.masked import refuse_masked

#: from here on not every whole number is one of double precision
FIRST_INEXACT = 2.0**53
#: a whole number as people write it; one with an exponent has been rounded already
WHOLE = re.compile(r"([+-]?)0*([0-9]+)(?:\.0*)?")


def places_beyond(numbers: np.ndarray) -> np.ndarray:
    """Where numbers are too large to be told from their neighbours."""
    return np.flatnonzero(np.abs(numbers) >= FIRST_INEXACT)


def whole_of(text: str) -> int | float:
    """The number that a text says, to the last digit if it is a whole one.

    >>> whole_of("1152921504606846977"), whole_of("1e18")
    (1152921504606846977, 1e+18)
    """
    found = WHOLE.fullmatch(text)
    return int(found[1] + found[2]) if found else float(text)


def with_exact(numbers: np.ndarray, exact_at: Callable[[np.ndarray], Sequence[Any]]) -> np.ndarray:
    """The numbers, exact where they are too large for their type: ``exact_at`` answers what stands at some places.

    >>> with_exact(np.array([1.0, 2.0**53]), lambda places: [2**53 + 1])
    array([1.0, 9007199254740993], dtype=object)
    """
    places = places_beyond(numbers)
    if not len(places):
        return numbers
    found = numbers.astype(object)
    found[places] = as_objects(exact_at(places))
    return found


def as_objects(values: Sequence[Any]) -> np.ndarray:
    """An array of just these objects; NumPy would make floats of whole numbers that fit no type of its own."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def exact_array(values: Any) -> np.ndarray:
    """Values as an array in which no whole number is rounded."""
    return np.asarray(unless_rounded(values))


def unless_rounded(values: Any) -> Any:
    """The values as they are; as an array where NumPy or scikit-learn would make others of them.

    They round whole numbers, and make numbers of truth values, in pandas' columns of which some may be missing, though
    none is, that are categories, or sparse; and they round in lists in which some are larger than those of any type.
    Of a text that is a member of an enumeration they take what ``str`` says, cut to the text's length. Of a masked
    array they would take what the mask hides, so it is refused.
    """
    refuse_masked(values, "y")
    if hasattr(values, "columns"):
        return column_unless_rounded(values)
    kind = plain_type(getattr(values, "dtype", None))
    if kind is not None and hasattr(values, "isna"):
        return values if values.isna().any() else np.asarray(values, dtype=kind)
    if isinstance(values, list | tuple) and any(isinstance(each, str) and type(each) is not str for each in values):
        return [str.__str__(each) if isinstance(each, str) else each for each in values]
    if isinstance(values, list | tuple) and any(type(each) is int and abs(each) >= FIRST_INEXACT for each in values):
        return as_objects(values) if np.asarray(values).dtype.kind == "f" else values
    return values


def column_unless_rounded(values: Any) -> Any:
    """The same of a frame of one column of pandas, which stays one of rows and columns; any other as it is."""
    if len(values.columns) != 1 or not hasattr(values, "iloc"):
        return values
    column = values.iloc[:, 0]
    found = unless_rounded(column)
    return values if found is column else found[:, None]


def plain_type(dtype: Any) -> Any:
    """NumPy's type of whole numbers or truth values that one of pandas' own types holds; None where there is none."""
    if hasattr(dtype, "categories"):
        dtype = getattr(dtype.categories, "dtype", None)
        return dtype if isinstance(dtype, np.dtype) and dtype.kind in "iub" else plain_type(dtype)
    is_sparse = hasattr(dtype, "fill_value")  # intervals have a subtype, too, and are no numbers
    held = getattr(dtype, "subtype" if is_sparse else "numpy_dtype", None)
    return held if isinstance(held, np.dtype) and held.kind in "iub" else None


def are_numbers(labels: np.ndarray) -> bool:
    """Whether labels are numbers: of double precision, or exact ones; where there are none, as their type says."""
    if labels.dtype.kind == "O":
        return len(labels) > 0 and all(type(label) in (int, float) for label in labels.tolist())
    return labels.dtype.kind == "f"


def missing_in(labels: np.ndarray) -> np.ndarray:
    """Where a label that should be a number is missing."""
    return np.isnan(as_floats(labels)) if are_numbers(labels) else np.zeros(len(labels), bool)


def as_floats(labels: np.ndarray) -> np.ndarray:
    """Labels that are numbers, in double precision."""
    return labels if labels.dtype.kind == "f" else labels.astype(np.float64)
