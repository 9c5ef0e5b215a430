"""Calls that users get wrong: each is refused with what to call instead, or understood."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

import onlinear
from onlinear import losses, rules
from onlinear.errors import BadInput, Diverged

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = (X[:, 0] > 0.0).astype(int)
DICTS = [{"a": float(a), "b": float(b)} for a, b, _ in X]

CLASSIFIERS: list[Callable[[], Any]] = [
    onlinear.OnlineClassifier,
    onlinear.Perceptron,
    onlinear.KernelPerceptron,
    onlinear.VotedPerceptron,
]
MODELS = [*CLASSIFIERS, onlinear.OnlineRegressor]
each_model = pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
LEARNED_FROM_DICTS = "has learned from dicts: call predict_one for each dict"


def answering_methods(model: Any) -> list[Callable[[Any], Any]]:
    """All methods that answer for many rows."""
    names = ("predict", "decision_function", "predict_proba", "predict_log_proba")
    found = [getattr(model, name) for name in names if hasattr(model, name)]
    return [*found, lambda rows: model.score(rows, Y)]


def learned_from_dicts(make: Callable[[], Any]) -> Any:
    model = make()
    for x, y in zip(DICTS, Y.tolist(), strict=True):
        model.learn_one(x, y)
    return model


# ------------------------------------------------------------------ dicts and arrays


@each_model
def test_arrays_for_a_model_that_has_learned_from_dicts(make: Callable[[], Any]) -> None:
    model = learned_from_dicts(make)
    frame = pandas.DataFrame(X[:, :2], columns=["b", "a"])  # their names, in another order
    for ask in answering_methods(model):
        for rows in (X, scipy.sparse.csr_matrix(X), X[:, :1], pandas.DataFrame(X), frame):
            with pytest.raises(BadInput, match=LEARNED_FROM_DICTS):
                ask(rows)


@pytest.mark.parametrize("make", [onlinear.OnlineClassifier, onlinear.OnlineRegressor])
def test_a_column_for_each_name_in_order_is_as_good_as_dicts(make: Callable[[], Any]) -> None:
    model = learned_from_dicts(make)
    ordered = pandas.DataFrame(DICTS)[model.feature_names_]
    expected = [model.predict_one(x) for x in DICTS]
    np.testing.assert_allclose(model.predict(ordered), expected)
    np.testing.assert_allclose(model.predict(ordered.to_numpy()), expected)


@each_model
@pytest.mark.parametrize("rows", [DICTS, tuple(DICTS), DICTS[0]], ids=["list", "tuple", "dict"])
def test_dicts_for_a_method_of_arrays(make: Callable[[], Any], rows: Any) -> None:
    message = "X is made of dicts.* use learn_one, learn_many and predict_one"
    for learn in ("fit", "partial_fit"):
        with pytest.raises(BadInput, match=message):
            getattr(make(), learn)(rows, Y)
    fitted = make().fit(X, Y)
    for ask in answering_methods(fitted):
        with pytest.raises(BadInput, match=message):
            ask(rows)


# ------------------------------------------------------------------ frames that cannot be meant

ODD: dict[str, tuple[Any, str]] = {
    "lazy": (
        polars.DataFrame({"a": X[:, 0], "b": X[:, 1]}).lazy(),
        r"a LazyFrame has no rows yet: collect\(\) it first",
    ),
    "pandas, twice": (pandas.DataFrame(X, columns=["a", "b", "a"]), "the frame has 2 columns 'a': give each a name"),
    "Arrow, twice": (pyarrow.table(list(X.T), names=["a", "b", "a"]), "the frame has 2 columns 'a': give each a name"),
}
EMPTY = {
    "pandas": pandas.DataFrame(index=range(len(X))),
    "polars": polars.DataFrame(),
    "Arrow": pyarrow.table({}),
}


@pytest.mark.parametrize("make", [*MODELS, onlinear.OnlineSearch], ids=lambda make: make.__name__)
def test_a_frame_that_cannot_be_meant_is_refused_by_every_method(make: Callable[[], Any]) -> None:
    fitted = make().fit(X, Y)
    learning = [make().fit, make().partial_fit, *([make().learn_many] if hasattr(make(), "learn_many") else [])]
    for frame, said in ODD.values():
        for method in [*learning, *(lambda rows, y, ask=ask: ask(rows) for ask in answering_methods(fitted))]:
            with pytest.raises(BadInput, match=said):
                method(frame, Y)
    with pytest.raises(BadInput, match="a LazyFrame has no rows yet"):
        make().fit(X, polars.DataFrame({"y": Y}).lazy())
    for empty in EMPTY.values():
        for method in (make().fit, make().partial_fit):
            with pytest.raises(BadInput, match="has no columns: give at least one to learn from"):
                method(empty, Y)


@each_model
def test_a_frame_that_is_sparse_around_nan(make: Callable[[], Any]) -> None:
    frame = pandas.DataFrame({name: pandas.arrays.SparseArray(column) for name, column in zip("abc", X.T, strict=True)})
    said = r"the column 'a' is sparse, and nan wherever it holds no value: make it dense"
    for method in (make().fit, make().partial_fit):
        with pytest.raises(BadInput, match=said):
            method(frame, Y)
    around_zero = frame.astype(pandas.SparseDtype(float, 0.0))
    fitted, rows = make().fit(around_zero, Y), scipy.sparse.csr_matrix(X)
    assert fitted.predict(around_zero).tolist() == make().fit(rows, Y).predict(rows).tolist()
    for ask in answering_methods(fitted):
        with pytest.raises(BadInput, match=said):
            ask(frame)


@pytest.mark.parametrize("make", [onlinear.RandomFeatures, onlinear.PolynomialProducts])
def test_an_expansion_refuses_such_frames_too(make: Callable[[], Any]) -> None:
    for frame, said in ODD.values():
        for method in (make().fit, make().fit(X).transform):
            with pytest.raises(BadInput, match=said):
                method(frame)


@each_model
def test_learn_many_takes_a_table_of_arrow_row_by_row(make: Callable[[], Any]) -> None:
    table = pyarrow.Table.from_pylist(DICTS)
    expected = [make().learn_many(DICTS, Y.tolist()).predict_one(x) for x in DICTS]
    for rows in (table, table.to_batches()[0]):
        model = make().learn_many(rows, pyarrow.array(Y))
        assert [model.predict_one(x) for x in DICTS] == expected


# ------------------------------------------------------------------ many dicts

NO_TARGETS: dict[str, Any] = {
    "None": None,
    "number": 3,
    "text": "ab",
    "dict": {0: 1, 1: 0},
    "set": {0, 1},
    "frame": pandas.DataFrame({"y": [0, 1]}),
    "column of an array": np.array([[0], [1]]),
    "one number": np.array(1),
    "lists": [[0], [1]],
    "lists in tuples": [([0],), ([1],)],
}
NO_ROWS: dict[str, Any] = {
    "None": None,
    "number": 3,
    "text": "ab",
    "dict": DICTS[0],
    "array": X[:2],
    "Nones": [None] * 2,
}


@each_model
@pytest.mark.parametrize("y", NO_TARGETS.values(), ids=NO_TARGETS)
def test_what_is_no_column_of_targets_is_refused(make: Callable[[], Any], y: Any) -> None:
    model = make()
    with pytest.raises(BadInput, match=r"the target|targets have shape|is not hashable") as refused:
        model.learn_many(DICTS[:2], y)
    assert "\n" not in str(refused.value)
    assert model.predict_one(DICTS[0]) in (None, 0.0)


@each_model
@pytest.mark.parametrize("rows", NO_ROWS.values(), ids=NO_ROWS)
def test_what_are_no_dicts_is_refused(make: Callable[[], Any], rows: Any) -> None:
    with pytest.raises(BadInput, match=r"the rows are of type|a row is a dict|one dict was given"):
        make().learn_many(rows, [0, 1])


@each_model
def test_dicts_and_targets_of_arrow(make: Callable[[], Any]) -> None:
    columns = pyarrow.Table.from_pylist(DICTS)
    found = make().learn_many(columns, pyarrow.array(Y.tolist()))
    expected = make().learn_many(DICTS, Y.tolist())
    assert [found.predict_one(x) for x in DICTS] == [expected.predict_one(x) for x in DICTS]
    assert type(found.predict_one(DICTS[0])) is type(expected.predict_one(DICTS[0]))


# ------------------------------------------------------------------ before the first example


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda make: make.__name__)
def test_nobody_answers_before_a_class_is_known(make: Callable[[], Any]) -> None:
    no_weight = make().partial_fit(X, Y, sample_weight=np.zeros(len(Y)))
    for model in (no_weight, copy.deepcopy(no_weight)):
        for ask in answering_methods(model):
            with pytest.raises(NotFittedError, match="has learned no example yet, and knows no class"):
                ask(X)
        assert model.predict_one({0: 1.0}) is None
        assert len(model.classes_) == 0
    expected = make().partial_fit(X, Y).predict(X)
    np.testing.assert_array_equal(no_weight.partial_fit(X, Y).predict(X), expected)


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda make: make.__name__)
def test_nobody_answers_before_the_first_dict(make: Callable[[], Any]) -> None:
    model = make().learn_many([], [])
    with pytest.raises(NotFittedError, match="has learned no example yet"):
        model.predict(np.zeros((2, 0)))
    assert model.predict_one({"a": 1.0}) is None


@pytest.mark.parametrize("make", CLASSIFIERS, ids=lambda make: make.__name__)
def test_classes_that_are_named_are_known(make: Callable[[], Any]) -> None:
    model = make().partial_fit(X, Y, classes=[0, 1], sample_weight=np.zeros(len(Y)))
    assert set(model.predict(X).tolist()) == {0}


# ------------------------------------------------------------------ classes, as users write them

NAMED: dict[str, Callable[[], Any]] = {
    "set": lambda: {1, 0},
    "frozenset": lambda: frozenset({1, 0}),
    "generator": lambda: (label for label in (1, 0)),
    "range": lambda: range(2),
    "keys": lambda: {1: "yes", 0: "no"}.keys(),
    "index": lambda: pandas.Index([1, 0]),
    "series": lambda: pandas.Series([1, 0]),
    "categorical": lambda: pandas.Categorical([0], categories=[0, 1]),
    "dtype": lambda: pandas.CategoricalDtype([0, 1]),
    "column": lambda: pandas.Series([0, 0]).astype(pandas.CategoricalDtype([0, 1])),
}


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED.keys())
@pytest.mark.parametrize("make", [*CLASSIFIERS, onlinear.OnlineSearch], ids=lambda make: make.__name__)
def test_classes_in_any_collection(make: Callable[[], Any], named: Callable[[], Any]) -> None:
    model = make().partial_fit(X, Y, classes=named())
    assert model.classes_.tolist() == [0, 1]
    assert model.partial_fit(X, Y, classes=named()) is model


@pytest.mark.parametrize("named", ["no", 2, [[0, 1], [1, 0]]], ids=str)
@pytest.mark.parametrize("make", [*CLASSIFIERS, onlinear.OnlineSearch], ids=lambda make: make.__name__)
def test_classes_that_are_no_collection(make: Callable[[], Any], named: Any) -> None:
    with pytest.raises(BadInput, match=r"classes is .*: give a list of all labels there will be"):
        make().partial_fit(X, Y, classes=named)


# ------------------------------------------------------------------ targets that are missing


def with_target(target: Any, dtype: Any = object) -> Any:
    targets = Y.astype(object)
    targets[7] = target
    return pandas.Series(targets, dtype=dtype)


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        (with_target(np.nan, float), "NaN: the target of row 7 is nan"),
        (with_target(np.inf, float), "infinity: the target of row 7 is inf"),
        (with_target(pandas.NA, "Int64"), "NaN: the target of row 7 is <NA>"),
        (with_target(np.nan), "NaN: the target of row 7 is nan"),
        (with_target(None).tolist(), "the target of row 7 is (None|nan)"),
    ],
    ids=["nan", "inf", "NA", "object", "None"],
)
@pytest.mark.parametrize("make", [*MODELS, onlinear.OnlineSearch], ids=lambda make: make.__name__)
def test_a_missing_target_is_refused_with_its_row(make: Callable[[], Any], targets: Any, said: str) -> None:
    with pytest.raises(BadInput, match=f"{said}.*: drop the row or mend it"):
        make().fit(X, targets)


# ------------------------------------------------------------------ advice that helps


@pytest.mark.compiles
def test_who_diverges_with_normalised_is_not_told_to_take_it() -> None:
    rows = np.full((2, 1), 1e200)
    with pytest.raises(Diverged, match="Look for values or targets that are far too large") as diverged:
        onlinear.OnlineRegressor(losses.Squared(), rules.Normalised()).fit(rows, [1e200, -1e200])
    assert "the rule 'normalised' needs neither" not in str(diverged.value)


DATES = ["2020-01-01", None] * 10


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame({"when": pandas.to_datetime(DATES)}),
        pandas.DataFrame({"x": X[:, 0], "for": pandas.to_timedelta([1, None] * 10)}),
        polars.DataFrame({"when": pandas.to_datetime(DATES), "x": X[:, 0]}),
        pyarrow.table({"when": pyarrow.array([1, None] * 10, pyarrow.timestamp("s")), "x": X[:, 0]}),
        pyarrow.table({"on": pyarrow.array([1, None] * 10, pyarrow.date32())}),
        np.array([["2020-01-01"], ["NaT"]] * 10, "datetime64[D]"),
    ],
    ids=["pandas", "pandas durations", "polars", "arrow", "arrow dates", "numpy"],
)
@each_model
def test_dates_are_no_numbers(make: Callable[[], Any], frame: Any) -> None:
    """A missing one would be -9.2e18."""
    with pytest.raises(BadInput, match=r"X holds dates or durations.*turn them into numbers"):
        make().fit(frame, Y)
    model = make().fit(X[:, : frame.shape[1]], Y)
    with pytest.raises(BadInput, match="X holds dates or durations"):
        model.predict(frame)


@each_model
def test_dates_are_no_targets(make: Callable[[], Any]) -> None:
    for dates in (pandas.Series(pandas.to_datetime(DATES)), np.array(["2020", "NaT"] * 10, "datetime64[D]")):
        with pytest.raises(BadInput, match="y holds dates or durations"):
            make().fit(X, dates)


@pytest.mark.parametrize("weight", [-2.0, float("nan"), float("inf"), "x", None, 1j])
@pytest.mark.parametrize("make", [onlinear.OnlineClassifier, onlinear.Perceptron, onlinear.AROWClassifier])
def test_class_weights_that_are_none(make: Callable[..., Any], weight: Any) -> None:
    model = make(class_weight={0: weight})
    learned = make().learn_many(DICTS, Y)
    learned.set_params(class_weight={0: weight})
    for call in (
        lambda: model.fit(X, Y),
        lambda: model.partial_fit(X, Y, classes=[0, 1]),
        lambda: model.learn_one(DICTS[0], 0),
        lambda: model.learn_many(DICTS, Y),
        lambda: learned.learn_one(DICTS[0], 0),
    ):
        with pytest.raises(BadInput, match=r"class_weight is .* for the class 0: give a finite number of at least 0"):
            call()


def test_a_copy_has_a_table_of_its_own() -> None:
    labels = np.arange(20) % 4
    model = onlinear.OnlineClassifier().partial_fit(X, labels)
    shallow, deep = copy.copy(model), copy.deepcopy(model)
    model.partial_fit(X, labels)
    for twin in (shallow, deep):
        twin.partial_fit(X[:1], labels[:1])
    np.testing.assert_array_equal(shallow.coef_, deep.coef_)


def test_certify_looks_at_the_names_of_columns() -> None:
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = onlinear.Perceptron().fit(frame, Y)
    assert onlinear.certify(model, frame, Y)["rows"] == 20
    with pytest.raises(BadInput, match="the columns are c, b, a, and the model has learned a, b, c"):
        onlinear.certify(model, frame[["c", "b", "a"]], Y)


@pytest.mark.parametrize("make", [onlinear.OnlineRegressor, onlinear.SGDRegressor], ids=lambda make: make.__name__)
@pytest.mark.parametrize("day", [datetime.date(2024, 1, 1), datetime.timedelta(1)], ids=["date", "duration"])
def test_dates_are_no_targets_of_a_regression(make: Callable[[], Any], day: Any) -> None:
    for learn in (make().fit, make().partial_fit):
        with pytest.raises(BadInput, match=r"the target of row 1 is datetime\..*: give a number, or leave the row out"):
            learn([[1.0], [2.0]], [1.0, day])
