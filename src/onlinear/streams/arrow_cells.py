"""The cells of a column of Arrow's: of which kind they are, and the features they stand for.

A column of categories, texts or classes has to hold what it held at first: texts, numbers or truth values, of which
each makes its own names. ``01201`` is not 1201, and ``2.0`` is not 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.whole_numbers import places_beyond
from onlinear.errors import OnlinearError, Refused
from onlinear.features.words import Words, grams_in
from onlinear.streams.columns import ABSENT, BEFORE, BLANKS, Column
from onlinear.streams.texts import CutTexts, grams_of_texts, is_missing, text_of


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
        names = kind.value_type
        return not types.is_dictionary(names) and (is_numeric(names) or is_text(names))
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

    cells = decode_dictionary(cells)
    if is_numeric(cells.type):
        return pyarrow.array([word_of(value, missing) for value in cells.to_pylist()], pyarrow.large_string())
    cells = without_views(cells).cast(pyarrow.large_string())
    absent = compute.is_in(compute.utf8_trim(cells, BLANKS), pyarrow.array(missing, pyarrow.large_string()))
    return compute.if_else(absent, pyarrow.scalar(None, pyarrow.large_string()), cells)


def decode_dictionary(cells: Any) -> Any:
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
        return np.isinf(numbers_of(decode_dictionary(cells)))
    return np.zeros(len(cells), bool)


def without_views(cells: Any) -> Any:
    """Texts that are views, one by one: a cast would follow the view of a null, too, which nobody has checked."""
    import pyarrow

    if not pyarrow.types.is_string_view(cells.type):
        return cells
    return pyarrow.array(cells.to_pylist(), pyarrow.large_string())


def cells_at(cells: Any, rows: np.ndarray) -> Any:
    """The cells of some rows; of views as texts, since Arrow takes none of them."""
    return without_views(cells).take(rows)


def cut_column(feature: Feature, rows: np.ndarray, entries: np.ndarray, words: Words) -> CutTexts:
    """The texts of a column in these rows, for each of which there is an entry, cut."""
    cells = feature.texts
    there = cells.is_valid().to_numpy(zero_copy_only=False)[rows]
    _, offsets, data = cells.buffers()
    places = np.frombuffer(offsets, np.int64)[cells.offset :]
    buffer = np.frombuffer(data or b"", np.uint8)
    present = rows[there]
    return CutTexts(
        entries[there], *grams_of_texts(buffer, places[present], places[present + 1], feature.column, words)
    )


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


def without_numbers(cells: Any, missing: Sequence[float]) -> Any:
    """Cells, or those of a dictionary, in which each number is null that equals one which stands for nothing."""
    from pyarrow import DictionaryArray, types

    if types.is_dictionary(cells.type):
        held = without_numbers(cells.dictionary, missing)
        return cells if held is cells.dictionary else DictionaryArray.from_arrays(cells.indices, held)
    if not missing or not is_numeric(cells.type) or is_truth(cells.type):
        return cells
    absent = np.isin(numbers_of(cells), np.array(missing, np.float64))
    beyond = places_beyond(np.where(absent, numbers_of(cells), 0.0))
    absent[beyond] = [number in missing for number in exact_numbers(cells.take(beyond))]
    if not absent.any():
        return cells
    import pyarrow

    return cells.take(pyarrow.array(np.arange(len(cells)), mask=absent))


def exact_numbers(cells: Any) -> list[float]:
    """Numbers to the last digit, if they are whole; none of them is missing."""
    return [plain_decimal(value) if isinstance(value, Decimal) else value for value in cells.to_pylist()]


def plain_decimal(value: Decimal) -> float:
    """A decimal as one of Python's own numbers: exact, if it is a whole one."""
    return int(value) if value == value.to_integral_value() else float(value)


def code_cells(cells: Any, missing: Sequence[str], trimmed: bool = False) -> tuple[list[str | None], np.ndarray]:
    """The words of a column, None for those that are missing, and which of them each cell is; two may be alike."""
    import pyarrow

    if is_nothing(cells.type):
        return [None], np.zeros(len(cells), np.intp)
    if not pyarrow.types.is_dictionary(cells.type):
        cells = encode(cells)
    elif len(cells.dictionary) > len(cells):  # of a long dictionary, only the words that are there
        cells = encode(decode_dictionary(cells))
    values = without_blanks(cells.dictionary) if trimmed else cells.dictionary
    words = [word_of(value, missing) for value in values.to_pylist()]
    return [*words, None], cells.indices.cast(pyarrow.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)


def encode(cells: Any) -> Any:
    """Cells as codes of a dictionary; Arrow has none for views, nor for short decimals."""
    import pyarrow

    if pyarrow.types.is_decimal(cells.type) and cells.type.byte_width < LONG_DECIMAL:
        cells = cells.cast(pyarrow.decimal128(38, cells.type.scale))
    return without_views(cells).dictionary_encode()


def without_blanks(cells: Any) -> Any:
    """Texts without the blanks around them, as ``bare`` of :mod:`onlinear.streams.columns` leaves them."""
    from pyarrow import compute

    if is_numeric(cells.type) or is_nothing(cells.type):
        return cells
    return compute.utf8_rtrim(compute.utf8_ltrim(without_views(cells), BEFORE), BLANKS)


def word_of(value: Any, missing: Sequence[str]) -> str | None:
    if isinstance(value, str):
        return None if is_missing(value, missing) else value
    return None if value is None or not math.isfinite(value) else text_of(value)


#: bytes of a decimal that all of Arrow knows
LONG_DECIMAL = 16
#: whole numbers and powers of ten that doubles hold exactly, so that a quotient of them is rounded just once
MOST_WHOLE, MOST_DIGITS = 1 << 53, 22


def is_readable(kind: Any) -> bool:
    """Whether Arrow can say what the decimals of a type are: one may have any scale, and those of some have no text."""
    import pyarrow

    zero = pyarrow.Array.from_buffers(kind, 1, [None, pyarrow.py_buffer(bytes(kind.byte_width))])
    try:
        zero.to_pylist()
    except ArithmeticError:
        return False
    return True


def decimals_of(cells: Any) -> np.ndarray:
    """The nearest doubles, NaN for those that are null. Arrow's own cast is a few bits off now and then."""
    width, scale = cells.type.byte_width, cells.type.scale
    size = min(width, 8)
    stop = cells.offset + len(cells)  # behind which a buffer may have any number of bytes
    words = np.frombuffer(cells.buffers()[1] or b"", f"<i{size}", stop * width // size).reshape(-1, width // size)
    words = words[cells.offset :]
    absent = cells.is_null().to_numpy(zero_copy_only=False)
    whole, is_exact = whole_numbers(words)
    if 0 <= scale <= MOST_DIGITS:
        numbers = whole / float(10**scale)
    else:
        numbers, is_exact = np.empty(len(cells)), np.zeros(len(cells), np.bool_)
    numbers[absent] = np.nan
    for row in np.flatnonzero(~is_exact & ~absent).tolist():
        digits = int.from_bytes(words[row].tobytes(), "little", signed=True)
        numbers[row] = float(f"{digits}e{-scale}")
    return numbers


def whole_numbers(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The digits of decimals as whole numbers, lowest word first, and whether these are exact, as doubles too."""
    whole = words[:, 0].astype(np.int64)
    is_short = (words[:, 1:] == (whole >> 63)[:, None]).all(axis=1)  # the higher words only repeat the sign
    return whole, is_short & (whole >= -MOST_WHOLE) & (whole <= MOST_WHOLE)


TEXTS, NUMBERS, TRUTHS = "texts", "numbers", "truth values"
#: kinds of columns whose cells become names
NAMED_KINDS = ("category", "text")
NUMBERS_FOR_TEXTS = ", where 007 and 7.0 are not 7: read it as text (pandas: dtype={{{name!r}: str}})"


class ColumnContent(NamedTuple):
    """A column, and what its cells are made of."""

    name: str
    what: str


def held_in(columns: Iterable[Column], target_kind: str, schema: Any) -> tuple[ColumnContent, ...]:
    """What a table of this schema holds in its columns of names; nothing is said of those of nulls."""
    found = zip(columns, schema, strict=True)
    return tuple(
        ColumnContent(column.name, made_of(field.type))
        for column, field in found
        if is_of_names(column, target_kind) and not is_nothing(field.type)
    )


def texts_in(columns: Iterable[Column], target_kind: str) -> tuple[ColumnContent, ...]:
    """What a CSV file holds there."""
    return tuple(ColumnContent(column.name, TEXTS) for column in columns if is_of_names(column, target_kind))


def is_of_names(column: Column, target_kind: str) -> bool:
    """Whether the cells of a column become names: of features, or of the classes."""
    return (target_kind if column.kind == "target" else column.kind) in NAMED_KINDS


def check_known(held: Sequence[ColumnContent]) -> None:
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


def check_held(held: Sequence[ColumnContent], batch: Any, source: str) -> None:
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
    cells = decode_dictionary(cells)
    if is_numeric(cells.type):
        return bool(np.isnan(numbers_of(cells)).all())
    return bool(cells.null_count == len(cells))
