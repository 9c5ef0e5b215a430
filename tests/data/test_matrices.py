"""Sparse matrices whose parts do not fit each other, at every door: compiled code would read wherever they point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import onlinear
from onlinear.data.batch import rows_of
from onlinear.data.matrices import as_csr
from onlinear.descent import mean_loss
from onlinear.errors import BadInput
from onlinear.learning.dual.unique import unique_features
from onlinear.learning.learner import Learner
from onlinear.plots import MarginBoxDisplay
from onlinear.streams.stream import open_stream
from onlinear.theory.certifying import certify
from onlinear.theory.regret import regret

ROWS, COLUMNS = 12, 4
TABLE = np.random.default_rng(0).normal(size=(ROWS, COLUMNS)) * (np.arange(ROWS * COLUMNS).reshape(ROWS, -1) % 3 > 0)
Y = np.arange(ROWS) % 2
FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")


def built(kind: str = "csr", array: bool = False) -> Any:
    matrix = (scipy.sparse.csr_array if array else scipy.sparse.csr_matrix)(TABLE)
    return matrix.asformat(kind)


def pointing_to(column: int) -> Any:
    """A matrix of which row 5 begins with this column."""
    matrix = built()
    matrix.indices[matrix.indptr[5]] = column
    return matrix


def changed(part: str, value: Any, kind: str = "csr") -> Any:
    """A matrix with another part: SciPy looks at them only when it is built."""
    matrix = built(kind)
    setattr(matrix, part, value(getattr(matrix, part)))
    return matrix


DAMAGED: dict[str, tuple[Callable[[], Any], str]] = {
    "negative": (lambda: pointing_to(-1), "row 5 has a column -1, but there are 4 columns: build the matrix anew"),
    "beyond": (lambda: pointing_to(4), "row 5 has a column 4, but there are 4 columns"),
    "far": (lambda: pointing_to(2**31 - 1), "row 5 has a column 2147483647, but"),
    "fewer values": (lambda: changed("data", lambda data: data[:-3]), r"has \d+ values at \d+ places"),
    "fewer columns": (lambda: changed("indices", lambda at: at[:-3]), r"has \d+ values at \d+ places"),
    "starts late": (lambda: changed("indptr", lambda at: at + np.eye(1, ROWS + 1, dtype=np.int32)[0]), "indptr"),
    "goes back": (lambda: changed("indptr", lambda at: np.where(np.arange(ROWS + 1) == 4, -9, at)), "indptr"),
    "ends behind": (lambda: changed("indptr", lambda at: np.where(np.arange(ROWS + 1) == ROWS, 999, at)), "indptr"),
    "too few rows": (lambda: changed("indptr", lambda at: at[:-1]), "into 12 parts: build the matrix anew"),
    "csc": (lambda: changed("indices", lambda at: at + 12, "csc"), "column 0 has a row 13, but there are 12 rows"),
    "bsr": (lambda: changed("indices", lambda at: at - 9, "bsr"), "row 0 has a column -8"),
    "coo": (lambda: changed("col", lambda at: at + 2, "coo"), "entry 1 has a column 4, but there are 4 columns"),
}


def fitted(name: str) -> Any:
    return getattr(onlinear, name)().fit(TABLE, Y)


def perceptron() -> Any:
    return onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(TABLE, Y)


MODELS = ("OnlineClassifier", "OnlineRegressor", "Perceptron", "VotedPerceptron", "KernelPerceptron", "OnlineSearch")
DOORS: dict[str, Callable[[Any], Any]] = {
    "rows_of": rows_of,
    "Learner.scores": lambda X: Learner("hinge", "sgd", features=COLUMNS).scores(X),
    "open_stream": lambda X: list(open_stream(X, target=Y)),
    "certify": lambda X: certify(perceptron(), X, Y),
    "regret": lambda X: regret(perceptron(), X, Y, bound=1.0),
    "mean_loss": lambda X: mean_loss(X, 2.0 * Y - 1.0, "log_loss"),
    "unique_features": lambda X: unique_features(X, 1.0),
    "race": lambda X: onlinear.race(X, target=Y),
    "RandomFeatures.fit": lambda X: onlinear.RandomFeatures(3).fit(X),
    "RandomFeatures.transform": lambda X: onlinear.RandomFeatures(3).fit(TABLE).transform(X),
    "plots": lambda X: MarginBoxDisplay.from_estimator(perceptron(), X, Y),
    **{f"{name}.fit": lambda X, name=name: getattr(onlinear, name)().fit(X, Y) for name in MODELS},
    **{f"{name}.partial_fit": lambda X, name=name: fitted(name).partial_fit(X, Y) for name in MODELS},
    **{f"{name}.predict": lambda X, name=name: fitted(name).predict(X) for name in MODELS},
    **{f"{name}.score": lambda X, name=name: fitted(name).score(X, Y) for name in MODELS},
    "decision_function": lambda X: fitted("OnlineClassifier").decision_function(X),
    "predict_proba": lambda X: fitted("OnlineClassifier").predict_proba(X),
}


@pytest.mark.parametrize(("damage", "message"), DAMAGED.values(), ids=DAMAGED)
def test_parts_that_do_not_fit(damage: Callable[[], Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        as_csr(damage())


@pytest.mark.parametrize("column", [-1, 4, 2**31 - 1])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_refuses_a_column_that_is_not_there(door: Callable[[Any], Any], column: int) -> None:
    with pytest.raises(BadInput, match=f"row 5 has a column {column}, but there are 4 columns: build the matrix anew"):
        door(pointing_to(column))


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_every_door_refuses_rows_that_end_behind_the_entries(door: Callable[[Any], Any]) -> None:
    with pytest.raises(BadInput, match="the indptr of the sparse matrix does not cut its"):
        door(DAMAGED["ends behind"][0]())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("array", [False, True], ids=["matrix", "array"])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_the_same_matrix(kind: str, array: bool, name: str) -> None:
    expected = getattr(onlinear, name)().fit(built(), Y).predict(built())
    model = getattr(onlinear, name)().fit(built(kind, array), Y)
    np.testing.assert_array_equal(model.predict(built(kind, array)), expected)
    assert model.partial_fit(built(kind, array), Y) is model


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_is_the_same_rows(kind: str) -> None:
    for found, expected in zip(rows_of(built(kind)), rows_of(built()), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_room_behind_the_entries_is_not_read() -> None:
    """SciPy may keep room for entries to come."""
    matrix, longer = built(), built()
    longer.data = np.append(longer.data, np.nan)
    longer.indices = np.append(longer.indices, np.int32(-7))
    np.testing.assert_array_equal(rows_of(longer).values, rows_of(matrix).values)
    model = onlinear.OnlineClassifier().fit(longer, Y)
    np.testing.assert_array_equal(model.predict(longer), model.predict(matrix))


def test_a_matrix_without_entries_or_rows() -> None:
    model = onlinear.OnlineClassifier().fit(built(), Y)
    assert model.predict(scipy.sparse.csr_matrix((3, COLUMNS))).shape == (3,)
    assert as_csr(scipy.sparse.csr_matrix((0, COLUMNS))).shape == (0, COLUMNS)


def test_long_indices() -> None:
    matrix = built()
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    assert as_csr(matrix) is matrix
    matrix.indices[0] = -(2**40)
    with pytest.raises(BadInput, match=f"row 0 has a column {-(2**40)}"):
        as_csr(matrix)
