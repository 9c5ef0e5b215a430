"""The door of the estimators: what becomes rows, what becomes importance, and what is refused.

Ordinary input (an array or a CSR matrix of float32 or float64) passes without a copy and without a look at its
values: the learner notices NaN and infinity by itself. Everything else takes scikit-learn's way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import validate_data

from onlinear.data.batch import Rows, importance_of, open_up, plain_number, rows_of_compressed
from onlinear.data.masked import refuse_masked
from onlinear.data.matrices import as_csr
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.whole_numbers import unless_rounded
from onlinear.errors import BadInput, BadRow
from onlinear.estimators.unreadable import refuse_unreadable, too_large
from onlinear.features.names import ExactNames, HashedNames
from onlinear.learning.classes import check_hashable, refuse_mixed
from onlinear.parameters import ranges_of
from onlinear.streams.sources import is_frame
from onlinear.streams.tables import check_different, check_widths, columns_in, is_too_wide, names_in, without_batches

FLOATS = [np.float64, np.float32]
FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
INT32 = np.dtype(np.int32)
#: NumPy's own dates and durations
DATES: set[type] = {np.datetime64, np.timedelta64}
#: how the names of Arrow's types of dates and durations begin
ARROW_DATES = ("timestamp", "date", "time", "duration", "month_day_nano")
CSR = (scipy.sparse.csr_matrix, scipy.sparse.csr_array)


class FloatInterval(Interval):
    """scikit-learn's range of numbers, but for whole ones that are too large for a float."""

    def __contains__(self, number: Any) -> bool:
        try:
            float(number)
        except OverflowError:
            return False
        return bool(super().__contains__(number))


def interval_of(cls: type, field: str) -> Interval:
    """The range of a parameter that becomes a field of a loss, a rule, a schedule or the settings."""
    limits = ranges_of(cls)[field]
    return FloatInterval(Real, limits.low, limits.high, closed=limits.closed)


def one_row(X: Any, features: int) -> Rows | None:
    """A single ordinary row, at once; None for anything that deserves a closer look."""
    kind = type(X)
    if kind is np.ndarray:
        if X.shape != (1, features) or (X.dtype != FLOAT64 and X.dtype != FLOAT32):
            return None
        flags = X.flags
        return DenseRows(X) if flags.c_contiguous and flags.writeable else None
    return one_sparse_row(X, features) if kind in CSR else None


def one_sparse_row(X: Any, features: int) -> Rows | None:
    columns, values, starts = X.indices, X.data, X.indptr
    if X.shape != (1, features) or columns.dtype != INT32 or starts.dtype != INT32:
        return None
    if values.dtype != FLOAT64 and values.dtype != FLOAT32:
        return None
    if len(columns) != len(values) or starts[0] != 0 or starts[1] != len(values):
        return None
    if not (columns.flags.writeable and values.flags.writeable and starts.flags.writeable):
        return None
    unsigned = columns.view(np.uint32)  # a negative column becomes a large one
    if len(columns) and not (unsigned[-1] < features and ascends(unsigned)):
        return None
    return SparseRows(starts, unsigned, values)


def ascends(columns: np.ndarray) -> bool:
    """Whether every column is larger than the one before: a search of bytes is quicker than ``all`` for one row."""
    return b"\0" not in (columns[1:] > columns[:-1]).tobytes()


def check_rows_and_targets(estimator: Any, X: Any, y: Any, *, reset: bool, numbers: bool) -> tuple[Any, Any]:
    """X and y as scikit-learn's conventions want them; the values of X are not looked at."""
    return validate_with_targets(
        estimator,
        X,
        y,
        accept_sparse="csr",
        dtype=FLOATS,
        order="C",
        reset=reset,
        ensure_all_finite=False,
        ensure_min_features=fewest_columns(estimator),
        y_numeric=numbers,
    )


def checked_rows(estimator: Any, X: Any) -> Any:
    """X for a prediction: finite, with the features that were learned."""
    fewest = fewest_columns(estimator)
    X = plausible(X, fewest)
    if not hasattr(estimator, "n_features_in_"):
        X = in_order_of_names(estimator, X)
    return validate_rows(estimator, X, accept_sparse="csr", dtype=FLOATS, reset=False, ensure_min_features=fewest)


def fewest_columns(estimator: Any) -> int:
    """With how few columns an estimator learns: with none if an intercept alone is a model to it."""
    return int(not (getattr(estimator, "_learns_intercept_alone", False) and estimator.fit_intercept))


def validate_rows(estimator: Any, X: Any, **options: Any) -> Any:
    """Plausible X by scikit-learn's ``validate_data``; a cell that is no number is refused with its row and column."""
    try:
        return validate_data(estimator, X, **options)
    except Exception as error:  # each kind of frame has errors of its own
        refuse_unreadable(X)
        if isinstance(error, OverflowError):
            raise too_large() from None
        raise


def validate_with_targets(estimator: Any, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
    """X and y by scikit-learn's ``validate_data``; a cell or a target that cannot be is refused with its row."""
    numbers = bool(options.get("y_numeric"))
    X, y = plausible(X, options.get("ensure_min_features", 1)), plausible_targets(y, numbers)
    try:
        X, checked_y = validate_data(estimator, X, y, **options)
    except Exception as error:  # each kind of frame has errors of its own
        refuse_missing_target(y)
        refuse_unreadable(X, hasattr(estimator, "learn_many"))
        if numbers:
            refuse_no_numbers(y)
        if isinstance(error, OverflowError):
            raise too_large() from None
        raise
    if not numbers and checked_y.dtype.kind == "O":
        labels = checked_y.tolist()
        check_hashable(labels)
        if None in labels:
            refuse_missing_target(checked_y)
    return X, checked_y


def plausible_targets(y: Any, numbers: bool) -> Any:
    """Targets as scikit-learn may look at them: neither missing nor mixed labels, and no text among numbers."""
    if type(y) is np.ndarray and y.dtype.kind in "biuf":
        return y
    is_frame(y)  # which refuses one that has no rows yet
    if type(y).__module__.startswith("polars") and is_too_wide(getattr(y, "dtype", None)):
        raise BadInput(f"y is of the type {y.dtype}, which NumPy has not: cast it to Int64, or to String for labels")
    refuse_dates(y, "y")
    if numbers:
        refuse_text(y)
    else:
        refuse_bad_labels(y)
    return unless_rounded(y)


def check_knows_classes(estimator: Any, classes: Any) -> None:
    """Refuse to answer before any class is known, as before a call of ``fit``."""
    if not len(classes):
        raise NotFittedError(
            f"this {type(estimator).__name__} has learned no example yet, and knows no class: all rows had an "
            "importance of 0, or there were none; learn one with some importance, or name the classes in the first call"
        )


def plausible(X: Any, fewest: int = 1) -> Any:
    """X as scikit-learn may look at it: a sparse matrix in CSR whose parts fit each other; neither dicts nor dates.

    A frame has so many columns at least.
    """
    if scipy.sparse.issparse(X):  # also the one of SciPy's that is a dict
        return as_csr(X)
    if type(X) is not np.ndarray and is_frame(X):
        check_frame(X, fewest)
        X = without_batches(X) if names_in(X) else np.empty((len(X), 0))
    if type(X) is np.ndarray and X.dtype.kind in "biuf":
        return X
    refuse_dicts(X)
    refuse_dates(X, "X")
    refuse_masked(X, "X")
    return X


def refuse_bad_labels(y: Any) -> None:
    """Refuse labels that are missing, with their row, or text among numbers."""
    try:
        refuse_mixed(y)
    except BadInput:
        refuse_missing_target(y)
        raise


def refuse_text(y: Any) -> None:
    """Refuse targets of a regression that are text, which NumPy would read as numbers where it can."""
    if getattr(getattr(y, "dtype", None), "kind", "O") not in "OSUT":
        return
    for row, target in enumerate(column_of(y)):
        if isinstance(target, str | bytes):
            plain_number(target, f"the target of row {row}")


def refuse_missing_target(y: Any) -> None:
    """Refuse the first target that is None, NaN or infinite, if there is one."""
    for row, target in enumerate(column_of(y)):
        missing = target is None or type(target).__name__ in ("NAType", "NaTType")
        if missing or (isinstance(target, float | np.floating | Decimal) and not is_finite(target)):
            said = "infinity" if "inf" in str(target).lower() else "NaN"
            raise BadInput(f"Input y contains {said}: the target of row {row} is {target}: drop the row or mend it")


def is_finite(number: Any) -> bool:
    return bool(number.is_finite() if isinstance(number, Decimal) else np.isfinite(number))


def refuse_no_numbers(y: Any) -> None:
    """Refuse the first target of a regression that is no number, if there is one."""
    for row, target in enumerate(column_of(y)):
        plain_number(target, f"the target of row {row}")


def column_of(y: Any) -> list[Any]:
    """Targets one by one, also of a frame, an array or a list with a single column; none where there are several."""
    targets = np.asarray(y, dtype=object)
    if targets.ndim == 2 and targets.shape[1] == 1 and not isinstance(y, list | tuple):
        targets = targets[:, 0]
    return targets.tolist() if targets.ndim == 1 else []


def are_objects(y: Any) -> bool:
    """Whether labels come as an array of objects that are no texts, of which scikit-learn knows no kind."""
    labels = np.asarray(y)
    return labels.dtype == object and not all(isinstance(label, str) for label in labels.ravel().tolist())


def score_labels(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """The accuracy, as scikit-learn has it, which would round large whole numbers of pandas."""
    y = unless_rounded(y)
    if are_objects(y):
        return accuracy(self.predict(X), y, sample_weight)
    return float(ClassifierMixin.score(self, X, y, sample_weight))


def accuracy(predicted: np.ndarray, y: Any, sample_weight: Any) -> float:
    """The share of labels of any kind that were predicted."""
    labels = np.asarray(y, dtype=object).ravel().tolist()
    if len(labels) != len(predicted):
        raise BadInput(f"there are {len(predicted)} rows and {len(labels)} labels: give one label a row")
    right = [bool(one == other) for one, other in zip(predicted.tolist(), labels, strict=True)]
    return float(np.average(right, weights=sample_weight))


def check_frame(X: Any, fewest: int = 1) -> None:
    """Refuse a frame without rows yet, with too few columns, two of one name, or sparse around what is not 0."""
    names = names_in(X)
    if len(names) < fewest or not (names or len(X)):
        raise BadInput(f"the {type(X).__name__} has no columns: give at least one to learn from")
    check_different(names)
    if type(X).__module__.startswith("polars"):
        check_widths(X, "NumPy")
    kinds = list(getattr(X, "dtypes", ()))
    if all(hasattr(kind, "fill_value") for kind in kinds):  # else scikit-learn makes it dense
        for name, kind in zip(names, kinds, strict=False):
            if kind.fill_value != 0:
                raise BadInput(
                    f"the column {name!r} is sparse, and {kind.fill_value} wherever it holds no value: make it dense "
                    "(sparse.to_dense), or one that holds all but zeros"
                )


def refuse_dicts(X: Any) -> None:
    """Refuse rows that are dicts, with what takes them."""
    first = X[0] if type(X) in (list, tuple) and X else X
    if isinstance(first, Mapping):
        raise BadInput(
            "X is made of dicts, and this method takes arrays, sparse matrices and frames: "
            "use learn_one, learn_many and predict_one for dicts"
        )


def refuse_dates(given: Any, name: str) -> None:
    """Refuse dates and durations, which NumPy would take for whole numbers, and missing ones for -9.2e18."""
    kinds = getattr(given, "dtypes", None)  # of a frame
    if kinds is None or not hasattr(given, "columns"):
        kinds = given.schema.types if hasattr(given, "schema") else [getattr(given, "dtype", None)]
    if isinstance(given, list | tuple):
        kinds = [np.dtype(kind) for kind in types_in(given) & DATES][:1]
    for column, kind in enumerate(kinds):
        temporal = getattr(kind, "is_temporal", None)  # of polars
        is_arrow = type(kind).__module__.startswith("pyarrow") and str(kind).startswith(ARROW_DATES)
        if getattr(kind, "kind", "") in ("m", "M") or is_arrow or (callable(temporal) and temporal()):
            place = "" if len(list(kinds)) == 1 else f" in column {column}"
            raise BadInput(
                f"{name} holds dates or durations{place}: turn them into numbers first, such as days since the first"
            )


def types_in(rows: list[Any] | tuple[Any, ...]) -> set[type]:
    """The types of what stands in a list, or in the rows that it holds."""
    found = set(map(type, rows))
    found.update(*(map(type, row) for row in rows if isinstance(row, list | tuple)))
    return found | {row.dtype.type for row in rows if isinstance(row, np.ndarray)}


def in_order_of_names(estimator: Any, X: Any) -> Any:
    """X for a model that has learned from dicts, if it has a column for each of their names, in order."""
    model: Any = getattr(estimator, "_model", None)
    names = estimator._names if model is None else model.names
    advice = "call predict_one for each dict"
    if hasattr(model, "learner"):  # it has a weight for each name, unlike a kernel's learner
        features = model.learner.features if model.known_features is None else model.known_features
        columns = columns_in(X)
        named = columns is None or not isinstance(names, ExactNames) or columns == names.names()
        if named and np.shape(X)[1:] == (features,):
            return X if columns is None else np.asarray(X)  # names that were looked at
        if not isinstance(names, HashedNames):
            advice += f", or give an array with a column for each of the {features} names in feature_names_, in order"
        if columns is not None:
            advice += ", or onlinear.predict(path of the model, table) if it was trained on a table"
    raise BadInput(f"this {type(estimator).__name__} has learned from dicts: {advice}")


def loop_rows(X: Any) -> Rows:
    """Rows as the compiled loops take them: 32-bit columns where they fit, and no read-only types.

    Every other kind of array would cost a compilation of its own.
    """
    if scipy.sparse.issparse(X):
        rows = rows_of_compressed(with_short_indices(X))
        return SparseRows(open_up(rows.starts), open_up(rows.columns), open_up(rows.values))
    values = np.ascontiguousarray(X)
    return DenseRows(values if values.flags.writeable else open_up(values))


def rows_to_score(X: Any) -> Rows:
    """Rows as a predictor takes them, which reads a data frame's columns where they lie."""
    return loop_rows(X) if scipy.sparse.issparse(X) else DenseRows(X)


def with_short_indices(X: Any) -> Any:
    if X.indices.dtype == X.indptr.dtype == INT32:
        return X
    if max(X.shape[1], X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return scipy.sparse.csr_matrix(parts, shape=X.shape)


def importance_for(sample_weight: Any, rows: int) -> np.ndarray:
    """Sample weights as importance: one a row, finite, not negative."""
    if sample_weight is None:
        return np.ones(rows)
    return open_up(np.ascontiguousarray(importance_of(sample_weight, rows)))


def records(rows: Any) -> list[Any]:
    """A list of dicts: as it is, or from a frame of pandas or polars, or a table of Arrow."""
    if is_frame(rows):
        check_different(names_in(rows))
    if hasattr(rows, "to_dicts"):
        return rows.to_dicts()
    if hasattr(rows, "to_dict") and hasattr(rows, "columns"):
        return rows.to_dict("records")
    if hasattr(rows, "to_pylist"):
        rows = rows.to_pylist()
    if isinstance(rows, Mapping):
        raise BadRow("one dict was given where a list of them is wanted: use learn_one, or put it into a list")
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes):
        raise BadInput(f"the rows are of type {type(rows).__name__}: give a list of dicts, or a frame")
    return list(rows)


def targets_in(y: Any) -> list[Any]:
    """The targets of many rows as a list; what has no order, or is no single column, is refused."""
    refuse_masked(y, "y")
    if hasattr(y, "to_pylist") and not hasattr(y, "columns"):  # of Arrow
        y = y.to_pylist()
    no_column = isinstance(y, str | bytes | Mapping | Set) or hasattr(y, "columns") or getattr(y, "ndim", 1) != 1
    if no_column or not isinstance(y, Iterable):
        shape = f" with the shape {y.shape}" if hasattr(y, "shape") else ""
        raise BadInput(f"the targets are of type {type(y).__name__}{shape}: give a list or a column, one target a row")
    return list(y)


def check_length(rows: int, targets: int) -> None:
    if rows != targets:
        raise BadInput(f"there are {rows} rows and {targets} targets: give one target a row")


def refuse_all_zero(importance: np.ndarray) -> None:
    if not importance.any():
        raise BadInput("all sample weights are zero, so there is no row to learn from: give one a weight")
