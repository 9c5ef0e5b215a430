"""Batch: rows, targets and importance, checked at the door. The only currency between modules."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from onlinear.data.masked import refuse_masked
from onlinear.data.matrices import as_csr
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Averaged, ClassMembers, Labels, Members, Numbers, Signs, Watched
from onlinear.errors import BadInput

Rows = DenseRows | SparseRows
Targets = Numbers | Signs | Labels | Members | ClassMembers | Watched | Averaged


@dataclass(slots=True)
class Batch:
    """Rows with their targets and importance; ``names`` of the features, for errors.

    ``sound`` rows are known to be finite, and to have no column beyond the learner's.
    """

    rows: Rows
    targets: Targets
    importance: np.ndarray
    names: Any = None
    sound: bool = False

    def __len__(self) -> int:
        return len(self.importance)


def rows_of(X: Any) -> Rows:
    """View an array or a compressed sparse matrix as rows: no copy where the dtype is float32 or float64."""
    if hasattr(X, "tocsr"):  # SciPy's: asked for without importing it, which takes longer than most streams
        return rows_of_compressed(as_csr(X))
    refuse_masked(X, "X")
    return DenseRows(np.ascontiguousarray(as_float(np.asarray(X))))


def rows_of_compressed(X: Any) -> SparseRows:
    """View a CSR matrix that was looked at as rows, each with its columns in order and none twice."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    columns = X.indices.view(np.uint32 if X.indices.dtype.itemsize == 4 else np.uint64)
    return SparseRows(X.indptr, columns, as_float(X.data))


def as_float(values: np.ndarray) -> np.ndarray:
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


class _Memory:
    """The memory of a read-only array, presented as an ordinary one. The loops only read rows."""

    def __init__(self, array: np.ndarray) -> None:
        self.owner = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (array.__array_interface__["data"][0], False),
        }


def open_up(array: np.ndarray) -> np.ndarray:
    """The same memory without the read-only mark, which would be another type to the compiler."""
    return array if array.flags.writeable or not array.size else np.asarray(_Memory(array))


def writeable(array: np.ndarray) -> np.ndarray:
    """The array itself, or a copy of one that must not be written to, or whose memory is a file's.

    joblib hands large arrays to its workers as read-only maps of a file, and so does ``joblib.load(mmap_mode="r")``;
    compiled code that has nothing but an address would crash on them.
    """
    return array if type(array) is np.ndarray and array.flags.writeable else np.array(array)


def length_of(rows: Rows) -> int:
    """How many rows."""
    return len(rows.starts) - 1 if isinstance(rows, SparseRows) else len(rows.values)


def take_rows(rows: Rows, which: np.ndarray) -> Rows:
    """Some rows by their numbers, in that order."""
    return DenseRows(rows.values[which]) if isinstance(rows, DenseRows) else take_sparse_rows(rows, which)


def take_sparse_rows(rows: SparseRows, which: np.ndarray) -> SparseRows:
    """The same of sparse rows."""
    counts = np.diff(rows.starts)[which]
    starts = np.zeros(len(which) + 1, rows.starts.dtype)
    np.cumsum(counts, out=starts[1:])
    entries = np.repeat(rows.starts[:-1][which] - starts[:-1], counts) + np.arange(starts[-1])
    return SparseRows(starts, rows.columns[entries], rows.values[entries])


def importance_of(weights: Any, length: int) -> np.ndarray:
    """Importance weights as float64, one a row: finite, not negative; 1 where none are given."""
    if weights is None:
        return np.ones(length)
    importance = float_array(weights, "importance")
    if importance.ndim == 0:
        importance = np.full(length, float(importance))
    if importance.shape != (length,):
        raise BadInput(f"importance has shape {importance.shape}, but there are {length} rows: give one a row")
    if not np.isfinite(importance).all():
        row = int(np.flatnonzero(~np.isfinite(importance))[0])
        raise BadInput(f"the importance of row {row} is {importance[row]}: use a finite number, 0 to ignore the row")
    if importance.size and importance.min() < 0:
        row = int(np.argmin(importance))
        raise BadInput(
            f"the importance of row {row} is {importance[row]}: it must not be negative; use 0 to ignore the row"
        )
    return importance


def numbers_of(y: Any, length: int) -> np.ndarray:
    """Regression targets as float64: finite, one a row."""
    numbers = float_array(y, "target")
    if numbers.shape != (length,):
        raise BadInput(f"targets have shape {numbers.shape}, but there are {length} rows: give one a row")
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise BadInput(f"the target of row {row} is {numbers[row]}: drop the row or mend it")
    return numbers


def float_array(values: Any, what: str) -> np.ndarray:
    """Numbers as float64; anything else is refused with its row, text that could be read as a number too."""
    if hasattr(values, "__next__"):
        values = list(values)
    refuse_masked(values, what)
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind is not None and kind in "biuf" and isinstance(values, np.ndarray):
        return np.asarray(values, dtype=np.float64)
    given = np.asarray(values, dtype=object)
    if given.ndim == 0:
        return np.array(plain_number(given.item(), f"the {what}"))
    if given.ndim > 1:
        return np.empty(given.shape)  # it is refused for its shape
    pairs = enumerate(given.tolist())
    return np.array([plain_number(each, f"the {what} of row {row}") for row, each in pairs], dtype=np.float64)


def plain_number(value: Any, what: str) -> float:
    """A number as a float; text, None, lists and arrays are refused."""
    if getattr(value, "ndim", None) == 0:  # of NumPy and its kin
        value = value.item()
    if isinstance(value, Real | Decimal | np.bool_):
        try:
            return float(value)
        except OverflowError:
            raise BadInput(f"{what} is {value!r:.40}..., too large for a float: drop the row or mend it") from None
    kind = type(value).__name__
    raise BadInput(f"{what} is {value!r:.60}, of type {kind}: give a number, or leave the row out")


def check_columns(rows: Rows, features: int) -> None:
    """Refuse rows of another width, and a sparse matrix with columns it does not have (SciPy lets one be built)."""
    if isinstance(rows, DenseRows) and rows.values.shape[1] != features:
        raise BadInput(f"the rows have {rows.values.shape[1]} columns, but the learner has {features} features")
    if isinstance(rows, SparseRows) and len(rows.columns) and rows.columns.max() >= features:
        where = int(rows.columns.argmax())
        row = int(np.searchsorted(rows.starts, where, side="right")) - 1
        raise BadInput(
            f"row {row} has a column {rows.columns[where]}, but there are {features} features: build the matrix anew"
        )


def check_rows(rows: Rows, names: Any = None) -> None:
    """Refuse rows with NaN or infinity, naming row and feature."""
    values = rows.values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(np.add.reduce(values, axis=None, dtype=np.float64)):
            return
    bad = np.flatnonzero(~np.isfinite(values.ravel()))
    if not bad.size:
        return  # only the sum overflowed
    if isinstance(rows, SparseRows):
        row = int(np.searchsorted(rows.starts, bad[0], side="right")) - 1
        column = int(rows.columns[bad[0]])
    else:
        row, column = divmod(int(bad[0]), values.shape[1])
    value = values.ravel()[bad[0]]
    said = "NaN" if np.isnan(value) else "infinity"
    raise BadInput(
        f"Input X contains {said}: row {row}, feature {feature_name(column, names)}; "
        "nothing was learned from this batch: drop the row or impute the value"
    )


def feature_name(column: int, names: Any) -> str:
    return str(column) if names is None else repr(names[column])
