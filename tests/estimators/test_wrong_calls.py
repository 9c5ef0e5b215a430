"""Calls that users get wrong: each is refused with what to call instead, or understood."""

from __future__ import annotations

import copy
import datetime
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
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
from onlinear.theory.regret import regret

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
    alone = make in (
        onlinear.OnlineClassifier,
        onlinear.OnlineRegressor,
    )  # which learn an intercept of rows without columns
    for empty in EMPTY.values() if not alone else (EMPTY["polars"], EMPTY["Arrow"]):
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


# ------------------------------------------------------------------ names of columns, whoever holds them

NAMED_FRAME = pandas.DataFrame(X, columns=["a", "b", "c"])
TURNED = NAMED_FRAME[["c", "b", "a"]]
ALL_FRAMES: dict[str, Callable[[pandas.DataFrame], Any]] = {
    "pandas": lambda frame: frame,
    "polars": polars.from_pandas,
    "table": pyarrow.table,
    "batch": pyarrow.record_batch,
}
each_frame = pytest.mark.parametrize("made", ALL_FRAMES.values(), ids=ALL_FRAMES)


@each_frame
@pytest.mark.parametrize("make", [*MODELS, onlinear.OnlineSearch], ids=lambda make: make.__name__)
def test_columns_in_another_order_are_refused_of_every_frame(make: Callable[[], Any], made: Any) -> None:
    model = make().fit(made(NAMED_FRAME), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict(made(NAMED_FRAME)), model.predict(NAMED_FRAME))
    said = "feature names should match those that were passed during fit"
    for ask in answering_methods(model):
        with pytest.raises(ValueError, match=said):
            ask(made(TURNED))
    named = {"classes": [0, 1]} if isinstance(model, onlinear.OnlineSearch) else {}
    streaming = make().partial_fit(made(NAMED_FRAME), Y, **named)
    with pytest.raises(ValueError, match=said):
        streaming.partial_fit(made(TURNED), Y)


@each_frame
@pytest.mark.parametrize("make", [onlinear.RandomFeatures, onlinear.PolynomialProducts])
def test_an_expansion_looks_at_names_too(make: Callable[[], Any], made: Any) -> None:
    with pytest.raises(ValueError, match="feature names should match those that were passed during fit"):
        make().fit(made(NAMED_FRAME)).transform(made(TURNED))


@each_frame
def test_a_frame_for_a_model_of_dicts_needs_their_names(made: Any) -> None:
    model = onlinear.OnlineClassifier().learn_many(made(NAMED_FRAME), Y)
    assert model.predict(made(NAMED_FRAME)).tolist() == model.predict(NAMED_FRAME).tolist()
    with pytest.raises(BadInput, match="array with a column for each of the 3 names in feature_names_, in order"):
        model.predict(made(TURNED))


@each_frame
def test_certify_and_regret_look_at_the_names_of_columns(made: Any) -> None:
    model = onlinear.Perceptron(max_iter=1, tol=None, shuffle=False).fit(NAMED_FRAME, Y)
    assert onlinear.certify(model, made(NAMED_FRAME), Y)["rows"] == 20
    found, expected = (regret(model, rows, Y, bound=1.0) for rows in (made(NAMED_FRAME), X))
    assert found.gap == pytest.approx(expected.gap)
    for ask in (onlinear.certify, lambda *what: regret(*what, bound=1.0)):
        with pytest.raises(BadInput, match="the columns are c, b, a, and the model has learned a, b, c"):
            ask(model, made(TURNED), Y)


def test_a_table_for_a_model_of_hashed_names(tmp_path: Path) -> None:
    onlinear.race(NAMED_FRAME.assign(y=Y), target="y").save(tmp_path / "m")
    model = onlinear.load(tmp_path / "m")
    with pytest.raises(BadInput, match=r"for each dict, or onlinear.predict\(path of the model, table\)"):
        model.predict(NAMED_FRAME)
    assert len(onlinear.predict(tmp_path / "m", NAMED_FRAME)) == len(Y)


# ------------------------------------------------------------------ cells that are no numbers

DAY = datetime.date(2020, 1, 1)
NO_NUMBERS: dict[str, tuple[Any, str]] = {
    "text": (["u"] * 20, "row 0 of the column 'z' holds the text 'u': turn the column into numbers, or drop it"),
    "text below": ([*["1"] * 7, "u", *["1"] * 12], "row 7 of the column 'z' holds the text 'u'"),
    "categories": (pandas.Categorical(["u"] * 20), "row 0 of the column 'z' holds the text 'u'"),
    "dates": ([DAY] * 20, "row 0 of the column 'z' holds .*date.*turn the column into numbers first, such as days"),
    "durations": (pandas.Series([DAY - DAY] * 20, dtype=object), "row 0 of the column 'z' holds .*such as days"),
    "periods": (
        pandas.period_range("2020", periods=20, freq="D"),
        "row 0 of the column 'z' holds Period.*such as days",
    ),
    "intervals": (pandas.interval_range(0, 20), "row 0 of the column 'z' holds Interval.*, of type Interval"),
    "ids": ([uuid.UUID(int=1)] * 20, "row 0 of the column 'z' holds UUID.*, of type UUID"),
    "NaT": (pandas.Series([1.0, pandas.NaT] * 10, dtype=object), "contains NaN: row 1 of the column 'z' is NaT: drop"),
    "decimals": (
        pandas.array([Decimal("1.5"), None] * 10, dtype=pandas.ArrowDtype(pyarrow.decimal128(5, 2))),
        "contains NaN: row 1 of the column 'z' is <NA>: drop the row or impute",
    ),
    "lists": ([[1]] * 20, r"row 0 of the column 'z' holds \[1\], of type list"),
    "complex": ([1j] * 20, "Complex data not supported: row 0 of the column 'z' is 1j"),
    "huge": ([1, 10**400] * 10, "too large for a float in row 1 of the column 'z': scale the column"),
}


@pytest.mark.parametrize(("cells", "said"), NO_NUMBERS.values(), ids=NO_NUMBERS)
@each_model
def test_a_cell_that_is_no_number_is_named(make: Callable[[], Any], cells: Any, said: str) -> None:
    frame = NAMED_FRAME.assign(z=cells)
    for learn in (make().fit, make().partial_fit):
        with pytest.raises(BadInput, match=said) as refused:
            learn(frame, Y)
        assert "\n" not in str(refused.value)
    with pytest.raises(BadInput, match=said):
        make().fit(NAMED_FRAME.assign(z=1.0), Y).predict(frame)


def test_every_container_names_a_cell_that_is_no_number() -> None:
    union = pyarrow.UnionArray.from_dense(
        pyarrow.array([0, 1] * 10, pyarrow.int8()),
        pyarrow.array(np.repeat(np.arange(10), 2), pyarrow.int32()),
        [pyarrow.array([1.0] * 10), pyarrow.array(["u"] * 10)],
    )
    rows = [[1.0, "u"]] * 20
    frames = {
        "row 1 of the column 'z' holds the text 'u'": [pyarrow.table({"z": union})],
        "row 0 of the column 'z' holds the text 'u'": [
            pyarrow.table({"z": ["u"] * 20}),
            pyarrow.record_batch({"z": pyarrow.array(["u"] * 20).dictionary_encode()}),
            polars.DataFrame({"z": ["u"] * 20}),
        ],
        r"row 0 of the column 'z' holds \[1\], of type list": [
            pyarrow.table({"z": [[1]] * 20}),
            polars.DataFrame({"z": [[1]] * 20}),
        ],
        "row 0 of column 1 holds the text 'u'": [rows, np.array(rows, object), np.array(rows)],
    }
    for said, many in frames.items():
        for frame in many:
            for make in (onlinear.OnlineClassifier, onlinear.OnlineSearch, onlinear.KernelPerceptron):
                with pytest.raises(BadInput, match=said):
                    make().fit(frame, Y)
            with pytest.raises(BadInput, match=f"{said}.*turn the column into numbers, or drop it$"):
                onlinear.RandomFeatures().fit(frame)


def test_rows_of_different_lengths_are_said_to_be_so() -> None:
    for rows in ([[1.0], [1.0, 2.0]], [np.ones((2, 3)), np.ones((2, 4))]):
        with pytest.raises(ValueError, match="inhomogeneous"):
            onlinear.OnlineClassifier().fit(rows, [0, 1])


def test_whole_numbers_of_128_bits() -> None:
    if not hasattr(polars, "Int128"):
        pytest.skip("this polars has no Int128")
    for make in MODELS:
        with pytest.raises(BadInput, match="y is of the type Int128, which NumPy has not: cast it to Int64"):
            make().fit(X, polars.Series(Y.tolist(), dtype=polars.Int128))
        with pytest.raises(BadInput, match="column 'z' is of the type Int128, which NumPy has not: cast it to Int64"):
            make().fit(polars.DataFrame({"z": Y.tolist()}, schema={"z": polars.Int128}), Y)


# ------------------------------------------------------------------ targets that are none

NO_LABELS: dict[str, Any] = {
    "lists": pandas.Series([[1], [2]] * 10),
    "lists of Arrow": pyarrow.array([[1], [2]] * 10),
    "lists of polars": polars.Series([[1], [2]] * 10),
    "lists in tuples": pandas.Series([([1],), ([2],)] * 10),
    "sets": [{1}, {2}] * 10,
    "sets in an array": np.array([{1}, {2}] * 10, object),
    "dicts": [{"q": 1}] * 20,
    "structs": pyarrow.array([{"q": 1}] * 20),
}


@pytest.mark.parametrize("labels", NO_LABELS.values(), ids=NO_LABELS)
def test_a_label_that_is_not_hashable_is_refused_with_its_row(labels: Any) -> None:
    for make in (*CLASSIFIERS, onlinear.OnlineSearch):
        for learn in (make().fit, make().partial_fit):
            with pytest.raises(
                BadInput, match=r"the label .* of row 0 is not hashable: use a number, a string or a tuple"
            ):
                learn(X, labels)
    for learn in (onlinear.OnlineRegressor().fit, onlinear.OnlineRegressor().partial_fit):
        with pytest.raises(BadInput, match=r"the target of row 0 is .*: give a number, or leave the row out"):
            learn(X, labels)


TEXTS = ["1", "2"] * 10


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ([Decimal(1)] * 19 + [Decimal("NaN")], "Input y contains NaN: the target of row 19 is NaN: drop the row"),
        ([Decimal(1)] * 19 + [Decimal("-Infinity")], "the target of row 19 is -[Ii]nf.*: drop the row"),
        (pandas.DataFrame({"y": TEXTS}), "the target of row 0 is '1', of type str: give a number"),
        (pyarrow.table({"y": TEXTS}), "the target of row 0 is '1', of type str: give a number"),
        (pyarrow.record_batch({"y": TEXTS}), "the target of row 0 is '1', of type str: give a number"),
        (polars.DataFrame({"y": TEXTS}), "the target of row 0 is '1', of type str: give a number"),
    ],
    ids=["NaN", "infinity", "pandas", "Arrow", "batch", "polars"],
)
def test_a_target_of_a_regression_that_is_no_number(targets: Any, said: str) -> None:
    for make in (onlinear.OnlineRegressor, lambda: onlinear.OnlineSearch(task="regression")):
        with pytest.raises(BadInput, match=said):
            make().fit(X, targets)


TRUTHS = pandas.Series(Y == 1)
TRUTH_HOLDERS: dict[str, Any] = {
    "plain": TRUTHS,
    "boolean": TRUTHS.astype("boolean"),
    "array": pandas.array(TRUTHS, dtype="boolean"),
    "index": pandas.Index(TRUTHS.astype("boolean")),
    "Arrow in pandas": TRUTHS.astype("bool[pyarrow]"),
    "categories": TRUTHS.astype("category"),
    "categories of Arrow": TRUTHS.astype("bool[pyarrow]").astype("category"),
    "sparse": pandas.Series(pandas.arrays.SparseArray(TRUTHS)),
    "polars": polars.Series(TRUTHS.tolist()),
    "Arrow": pyarrow.array(TRUTHS),
}


@pytest.mark.parametrize("labels", TRUTH_HOLDERS.values(), ids=TRUTH_HOLDERS)
def test_truth_values_are_classes_in_every_container(labels: Any) -> None:
    for make in (*CLASSIFIERS, onlinear.OnlineSearch):
        for model in (make().fit(X, labels), make().partial_fit(X, labels, classes=labels)):
            assert [type(label) for label in model.classes_.tolist()] == [bool, bool]
            assert model.score(X, labels) == model.score(X, TRUTHS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_a_frame_of_one_column_holds_what_the_column_holds() -> None:
    for labels in (TRUTHS.astype("boolean"), pandas.Series(Y + 2**60 + 1, dtype="Int64")):
        model = onlinear.OnlineClassifier().fit(X, labels.to_frame())
        assert model.classes_.tolist() == sorted(set(labels))


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


DAYS = np.array(["2020-01-01", "NaT"] * 10, "datetime64[D]")


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[D]"])
@each_model
def test_dates_in_lists_are_no_numbers_either(make: Callable[[], Any], kind: str) -> None:
    days = DAYS.astype("i8").astype(kind)
    model = make().fit(X, Y)
    for rows in ([[day] for day in days], list(days[:, None]), [(day, 1.0) for day in days]):
        with pytest.raises(BadInput, match="X holds dates or durations"):
            make().fit(rows, Y)
        with pytest.raises(BadInput, match="X holds dates or durations"):
            model.predict(rows)
    with pytest.raises(BadInput, match="y holds dates or durations"):
        make().fit(X, list(days))


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


@pytest.mark.parametrize("make", [onlinear.OnlineRegressor, onlinear.SGDRegressor], ids=lambda make: make.__name__)
@pytest.mark.parametrize("day", [datetime.date(2024, 1, 1), datetime.timedelta(1)], ids=["date", "duration"])
def test_dates_are_no_targets_of_a_regression(make: Callable[[], Any], day: Any) -> None:
    for learn in (make().fit, make().partial_fit):
        with pytest.raises(BadInput, match=r"the target of row 1 is datetime\..*: give a number, or leave the row out"):
            learn([[1.0], [2.0]], [1.0, day])
