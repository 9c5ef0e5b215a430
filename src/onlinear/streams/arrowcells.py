"""The cells of a column of Arrow's: of which kind they are, and the features they stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from onlinear.features.columns import ABSENT
from onlinear.features.words import Words, grams_in
from onlinear.streams.arrowdecimals import decimals_of
from onlinear.streams.blanks import BEFORE, BLANKS
from onlinear.streams.texts import Cut, grams_of_texts
from onlinear.streams.words import is_missing, text_of


class Feature(NamedTuple):
    """The features of a column: all names there are, and for each row which of them it has, and its value.

    Of a column of texts, ``texts`` are Arrow's, null where one is missing; the others have their grams instead.
    """

    column: str
    names: list[str]
    codes: np.ndarray
    values: np.ndarray
    texts: Any = None


def is_numeric(kind: Any) -> bool:
    from pyarrow import types

    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)


def is_text(kind: Any) -> bool:
    """Whether a column holds texts; a dictionary holds names, whatever they are made of."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_numeric(kind.value_type) or is_text(kind.value_type)
    return is_nothing(kind) or types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def is_nothing(kind: Any) -> bool:
    """Whether all cells of a column are null, and nobody knows what they would be."""
    from pyarrow import types

    return types.is_null(kind)


def is_truth(kind: Any) -> bool:
    from pyarrow import types

    return types.is_boolean(kind)


def category(name: str, words: Sequence[str | None], codes: np.ndarray) -> Feature:
    """The features of texts, as they are ``coded``: ``town=Bern``, or ``town=?``."""
    names = [f"{name}={ABSENT if word is None else word}" for word in words]
    return Feature(name, names, codes, np.ones(len(codes)))


def number(name: str, numbers: np.ndarray) -> Feature:
    """The features of numbers: ``age``, or ``age=?``."""
    absent = np.isnan(numbers)
    return Feature(name, [name, f"{name}=?"], absent.astype(np.intp), np.where(absent, 1.0, numbers))


def uncut(name: str, cells: Any, missing: Sequence[str]) -> Feature:
    """The features of texts to be cut: ``message=?`` of a missing one, and until then of all others."""
    count = len(cells)
    return Feature(name, [f"{name}=?"], np.zeros(count, np.intp), np.ones(count), strings_of(cells, missing))


def strings_of(cells: Any, missing: Sequence[str]) -> Any:
    """Cells as Arrow's large strings, null where one is missing."""
    import pyarrow
    from pyarrow import compute

    cells = decoded(cells)
    if is_numeric(cells.type):
        return pyarrow.array([word_of(value, missing) for value in cells.to_pylist()], pyarrow.large_string())
    cells = without_views(cells).cast(pyarrow.large_string())
    absent = compute.is_in(compute.utf8_trim(cells, BLANKS), pyarrow.array(missing, pyarrow.large_string()))
    return compute.if_else(absent, pyarrow.scalar(None, pyarrow.large_string()), cells)


def decoded(cells: Any) -> Any:
    """The cells themselves, where they are codes of a dictionary."""
    from pyarrow import DictionaryArray, types

    if not types.is_dictionary(cells.type):
        return cells
    if types.is_string_view(cells.type.value_type):  # of which Arrow can decode none
        cells = DictionaryArray.from_arrays(cells.indices, without_views(cells.dictionary))
    return cells.dictionary_decode()


def infinite_in(cells: Any) -> np.ndarray:
    """Where a cell is infinite, as itself or by a dictionary."""
    from pyarrow import types

    if is_numeric(cells.type):
        return np.isinf(numbers_of(cells))
    if types.is_dictionary(cells.type) and is_numeric(cells.type.value_type):
        return np.isinf(numbers_of(decoded(cells)))
    return np.zeros(len(cells), bool)


def without_views(cells: Any) -> Any:
    """Texts that are views, one by one: a cast would follow the view of a null, too, which nobody has checked."""
    import pyarrow

    if not pyarrow.types.is_string_view(cells.type):
        return cells
    return pyarrow.array(cells.to_pylist(), pyarrow.large_string())


def cut_column(feature: Feature, rows: np.ndarray, entries: np.ndarray, words: Words) -> Cut:
    """The texts of a column in these rows, for each of which there is an entry, cut."""
    cells = feature.texts
    there = cells.is_valid().to_numpy(zero_copy_only=False)[rows]
    _, offsets, data = cells.buffers()
    places = np.frombuffer(offsets, np.int64)[cells.offset :]
    buffer = np.frombuffer(data or b"", np.uint8)
    present = rows[there]
    return Cut(entries[there], *grams_of_texts(buffer, places[present], places[present + 1], feature.column, words))


def names_in(feature: Feature, row: int, words: Words) -> list[str]:
    """The names of the features of a row in a column."""
    if feature.texts is None or not feature.texts[row].is_valid:
        return [feature.names[feature.codes[row]]]
    return [f"{feature.column}={gram}" for gram in grams_in(feature.texts[row].as_py(), words)]


def numbers_of(cells: Any) -> np.ndarray:
    """Numbers in double precision, NaN for those that are missing."""
    import pyarrow

    if pyarrow.types.is_decimal(cells.type):
        return decimals_of(cells)
    numbers: np.ndarray = cells.cast(pyarrow.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def exact_numbers(cells: Any) -> list[float]:
    """Numbers to the last digit, if they are whole; none of them is missing."""
    return [plain_decimal(value) if isinstance(value, Decimal) else value for value in cells.to_pylist()]


def plain_decimal(value: Decimal) -> float:
    """A decimal as one of Python's own numbers: exact, if it is a whole one."""
    return int(value) if value == value.to_integral_value() else float(value)


def coded(cells: Any, missing: Sequence[str], trimmed: bool = False) -> tuple[list[str | None], np.ndarray]:
    """The words of a column, None for those that are missing, and which of them each cell is; two may be alike."""
    import pyarrow

    if is_nothing(cells.type):
        return [None], np.zeros(len(cells), np.intp)
    if not pyarrow.types.is_dictionary(cells.type):
        cells = without_views(cells).dictionary_encode()
    elif len(cells.dictionary) > len(cells):  # of a long dictionary, only the words that are there
        cells = decoded(cells).dictionary_encode()
    values = without_blanks(cells.dictionary) if trimmed else cells.dictionary
    words = [word_of(value, missing) for value in values.to_pylist()]
    return [*words, None], cells.indices.cast(pyarrow.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)


def without_blanks(cells: Any) -> Any:
    """Texts without the blanks around them, as :func:`onlinear.streams.blanks.bare` leaves them; others as they are."""
    from pyarrow import compute

    if is_numeric(cells.type) or is_nothing(cells.type):
        return cells
    return compute.utf8_rtrim(compute.utf8_ltrim(without_views(cells), BEFORE), BLANKS)


def word_of(value: Any, missing: Sequence[str]) -> str | None:
    if isinstance(value, str):
        return None if is_missing(value, missing) else value
    return None if value is None or not math.isfinite(value) else text_of(value)
