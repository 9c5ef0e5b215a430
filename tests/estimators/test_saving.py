"""Estimators through files: everything comes back, learning goes on to the bit, and a slim file answers to the bit."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st

import onlinear
from onlinear.errors import BadModel, BadRow, NotSaved, Refused
from onlinear.estimators.saving import IN_DUAL_FORM, OURS, restore, save_parts
from onlinear.features.names import ExactNames, HashedNames
from onlinear.files import read_model, write_model
from onlinear.learning.learner import Learner
from onlinear.streams.recipe import Recipe
from onlinear.streams.svmlight import Svmlight

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 6)) * (RNG.random((90, 6)) > 0.3)
SCORES = X @ RNG.normal(size=6)
SPARSE = scipy.sparse.csr_matrix(X)
FRAME = pandas.DataFrame(X, columns=["a", "b", "ü", "d=e", "", "f"])
LETTERS = np.array(["d", "bb", "c", "aaa"])[np.digitize(SCORES, [-1.0, 0.0, 1.0])]
PAIR = np.where(SCORES > 0.0, "left", "right")

#: dicts whose names are of every kind, with categories, some of whose names have a "=" of their own
ROWS: list[dict[Any, Any]] = [
    {
        **{f"w{j}": float(x) for j, x in enumerate(row) if x},
        "hour": ["noon", "night"][k % 2],
        "odd=name": ["yes", "no=t", "maybe"][k % 3],
        (k % 5, "pair"): True,
        k % 4: 0.5,
        None: 1,
    }
    for k, row in enumerate(X)
]

PUBLIC = sorted(OURS)


def is_regressor(name: str) -> bool:
    return name.endswith("Regressor")


def made(name: str, **parameters: Any) -> Any:
    return getattr(onlinear, name)(**parameters)


def targets(name: str, several: bool = True) -> Any:
    return SCORES if is_regressor(name) else LETTERS if several else PAIR


# ------------------------------------------------------------------ the same, all the way down


def difference(one: Any, other: Any, where: str = "") -> str | None:
    """Where two things differ, in type or in a bit; None where they do not."""
    if type(one) is not type(other):
        return f"{where}: {type(one)} is not {type(other)}"
    if isinstance(one, np.ndarray):
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{where}: {one.dtype}{one.shape} is not {other.dtype}{other.shape}"
        same = all(map(same_label, one, other)) if one.dtype == object else one.tobytes() == other.tobytes()
        return None if same else f"{where}: {one} is not {other}"
    if isinstance(one, np.random.RandomState):
        return difference(one.get_state(legacy=False), other.get_state(legacy=False), where)
    if isinstance(one, np.random.Generator):
        return difference(one.bit_generator.state, other.bit_generator.state, where)
    if isinstance(one, dict):
        if set(map(typed, one)) != set(map(typed, other)):
            return f"{where}: {list(one)} is not {list(other)}"
        return first(difference(one[key], other[key], f"{where}[{key!r}]") for key in one)
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return f"{where}: {one} is not {other}"
        return first(difference(*pair, f"{where}[{k}]") for k, pair in enumerate(zip(one, other, strict=True)))
    if type(one).__module__.startswith("onlinear.") and not isinstance(one, type):
        return difference(state_of(one), state_of(other), f"{where}.{type(one).__name__}")
    return None if one == other or repr(one) == repr(other) == "nan" else f"{where}: {one!r} is not {other!r}"


def typed(key: Any) -> Any:
    return type(key), key


def same_label(one: Any, other: Any) -> bool:
    return typed(one) == typed(other)


def first(found: Any) -> str | None:
    return next((each for each in found if each is not None), None)


def state_of(thing: Any) -> dict[str, Any]:
    """What a pickle would keep, but for what is made anew from the rest."""
    state = dict(thing.__getstate__() if hasattr(thing, "__getstate__") else vars(thing))
    if "_row_targets" in state:
        state["_row_targets"] = {}
    return state


def through_file(model: Any, folder: Path, **how: Any) -> Any:
    path = folder / "model.onlinear"
    classes = how.pop("classes", ())
    model.save(path, **how)
    return onlinear.load(path, classes)


def test_the_comparison_sees_a_single_bit() -> None:
    one, other = (made("OnlineClassifier").fit(X, LETTERS) for _ in range(2))
    assert difference(one, other) is None
    other._learner.table.cells[0, 0, 0] = np.nextafter(other._learner.table.cells[0, 0, 0], 9.0)
    assert "table" in str(difference(one, other))
    assert difference({"a": 1}, {"a": True}) is not None
    assert difference([0.0], [0.0]) is None
    assert difference(onlinear.losses.Hinge(1.0), onlinear.losses.SquaredHinge(1.0)) is not None


# ------------------------------------------------------------------ every estimator in several states


def by_fit(rows: Any) -> Callable[[str], Any]:
    return lambda name: made(name).fit(rows, targets(name))


def by_partial_fit(name: str) -> Any:
    model = made(name)
    for start, stop in ((0, 1), (1, 40), (40, 90)):  # the classes appear one by one
        model.partial_fit(SPARSE[start:stop], targets(name)[start:stop])
    return model


def by_named_classes(name: str) -> Any:
    if is_regressor(name):
        return made(name).partial_fit(X[:1], SCORES[:1])
    return made(name).partial_fit(X[:1], LETTERS[:1], classes=np.unique(LETTERS))


def by_learn_one(name: str, **parameters: Any) -> Any:
    model = made(name, **parameters)
    for x, y in zip(ROWS, targets(name).tolist(), strict=True):
        model.learn_one(x, y)
    return model


def by_hashed_names(name: str) -> Any:
    model = made(name)
    model.bits = 8  # no parameter of the drop-ins, but an attribute that may be set
    for x, y in zip(ROWS, targets(name).tolist(), strict=True):
        model.learn_one(x, y)
    return model


def by_first_label(name: str) -> Any:
    model = made(name)
    model.learn_one({"a": 1.0}, 1)
    return model


def by_answering_dicts(name: str) -> Any:
    model = made(name).fit(FRAME, targets(name, several=False))
    model.predict_one({"a": 1.0, "ü": 2.0})
    return model


def by_changed_parameters(name: str) -> Any:
    model = made(name).partial_fit(X, targets(name))
    model.fit_intercept = False
    return model


def by_set_params(name: str) -> Any:
    return (
        made(name).partial_fit(X, targets(name)).set_params(fit_intercept=False, random_state=np.random.RandomState(3))
    )


def by_hand(name: str) -> Any:
    model = made(name).fit(X, targets(name, several=False))
    model.coef_ = scipy.sparse.csr_matrix(model.coef_.reshape(1, -1) + 1.0)
    model.intercept_ = model.intercept_ - 0.5
    return model


def by_warm_start(name: str) -> Any:
    model = made(name, warm_start=True, random_state=np.random.RandomState(7), max_iter=3)
    return model.fit(X, targets(name)).fit(X, targets(name))


STATES: dict[str, Callable[[str], Any]] = {
    "unfitted": made,
    "unfitted, with a generator": lambda name: made(name, random_state=np.random.default_rng(3)),
    "dense": by_fit(X),
    "sparse": by_fit(SPARSE),
    "frame": by_fit(FRAME),
    "open classes": by_partial_fit,
    "named classes": by_named_classes,
    "dicts": by_learn_one,
    "hashed dicts": by_hashed_names,
    "first label": by_first_label,
    "columns, then dicts": by_answering_dicts,
    "parameters changed": by_changed_parameters,
    "set_params": by_set_params,
    "assigned weights": by_hand,
    "warm start": by_warm_start,
}


@pytest.mark.compiles
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", PUBLIC)
def test_everything_comes_back(name: str, state: str, tmp_path: Path) -> None:
    model = STATES[state](name)
    again = through_file(model, tmp_path)
    assert difference(model, again) is None
    assert difference(model, restore(*save_parts(model))) is None


def test_the_table_of_estimators_is_whole() -> None:
    estimators = {name for name in onlinear.__all__ if hasattr(getattr(onlinear, name), "partial_fit")}
    estimators -= {
        "FileModel",
        "OnlineSearch",
    }  # which hold others: tests/files/test_file_model.py, tests/selection/test_search.py
    assert estimators == OURS | IN_DUAL_FORM  # those in dual form: tests/dual/test_dual_files.py


MORE: dict[str, Callable[[], Any]] = {
    "float32": lambda: onlinear.OnlineClassifier().fit(X.astype(np.float32), LETTERS),
    "sparse float32": lambda: onlinear.SGDRegressor().fit(SPARSE.astype(np.float32), SCORES),
    "average": lambda: onlinear.SGDClassifier(average=10, random_state=1).fit(X, LETTERS),
    "L1": lambda: onlinear.SGDClassifier(penalty="l1", alpha=0.01).partial_fit(SPARSE, LETTERS),
    "elastic net": lambda: onlinear.SGDRegressor(penalty="elasticnet").partial_fit(SPARSE, SCORES),
    "adaptive": lambda: onlinear.SGDClassifier(learning_rate="adaptive", eta0=0.1, max_iter=9).fit(X, LETTERS),
    "PA with a penalty": lambda: onlinear.SGDClassifier(learning_rate="pa1", eta0=1.0).fit(X, LETTERS),
    "early stopping": lambda: onlinear.Perceptron(early_stopping=True).fit(X, LETTERS),
    "balanced": lambda: onlinear.OnlineClassifier(class_weight="balanced").partial_fit(X, LETTERS),
    "weights": lambda: onlinear.Perceptron(class_weight={np.int64(0): 2.0, 1: np.float32(0.5)}).fit(X, SCORES > 0.0),
    "forget": lambda: onlinear.OnlineClassifier(rule="adagrad", forget=0.01).fit(X, LETTERS),
    "softmax": lambda: onlinear.OnlineClassifier(loss="softmax").partial_fit(X, LETTERS),
    "a rule with a schedule": lambda: onlinear.OnlineClassifier(
        loss=onlinear.losses.Hinge(0.5), rule=onlinear.rules.SGD(onlinear.rules.Power(0.5, 0.75)), average=True, l2=0.1
    ).fit(X, LETTERS),
    "classes closed late": lambda: (
        onlinear.OnlineClassifier().partial_fit(X[:9], LETTERS[:9]).partial_fit(X, LETTERS, classes=np.unique(LETTERS))
    ),
    "sparsified": lambda: onlinear.SGDClassifier(penalty="l1").fit(X, LETTERS).sparsify(),
    "dicts, then columns": lambda: by_learn_one("OnlineClassifier").fit(X, LETTERS),
    "a limit to names": lambda: by_learn_one("AROWClassifier", names_cap=100),
    "balanced dicts": lambda: by_learn_one("OnlineClassifier", class_weight="balanced"),
}


@pytest.mark.compiles
@pytest.mark.parametrize("what", MORE)
def test_everything_comes_back_of(what: str, tmp_path: Path) -> None:
    model = MORE[what]()
    assert difference(model, through_file(model, tmp_path)) is None


LABELS: list[list[Any]] = [
    ["b", "a"],
    [1, 0],
    [2.0, -1.0],
    [True, False],
    ["ü", "", "\ud83d\ude00", "a" * 300],
    [10**30, 2, 1],
    [1, 1.5, (1, "x"), True + 1],
    [np.int64(3), np.int64(1)],
    [np.str_("x"), np.str_("y")],
    [np.float32(0.5), np.bool_(True)],
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_labels_of_a_stream_come_back(labels: list[Any], tmp_path: Path) -> None:
    model = onlinear.Perceptron()
    for k in range(20):
        model.learn_one({f"is{k % len(labels)}": 1.0}, labels[k % len(labels)])
    again = through_file(model, tmp_path)
    assert difference(model, again) is None
    python_labels = [label.item() if isinstance(label, np.generic) else label for label in labels]
    answers = [again.predict_one({f"is{k}": 1.0}) for k in range(len(labels))]
    assert list(map(typed, answers)) == list(map(typed, python_labels))


@pytest.mark.parametrize(
    "dtype", ["int8", "uint16", "int64", "uint64", "float32", "float64", "bool", "U3", "U40", "O", ">i4", ">U2"]
)
def test_labels_of_a_set_come_back(dtype: str, tmp_path: Path) -> None:
    y = np.where(SCORES > 0.0, "b", "a") if "U" in dtype or dtype == "O" else SCORES > 0.0
    model = onlinear.Perceptron().fit(X, y.astype(dtype))
    again = through_file(model, tmp_path)
    assert difference(model, again) is None
    assert again.predict(X).dtype == model.predict(X).dtype


# ------------------------------------------------------------------ law 3


@pytest.mark.compiles
@pytest.mark.parametrize("rows", [X, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", PUBLIC)
def test_a_stream_goes_on_from_its_file(name: str, rows: Any, tmp_path: Path) -> None:
    y = targets(name)
    straight = made(name).partial_fit(rows, y)
    stopped = made(name)
    for start, stop in ((0, 1), (1, 17), (17, 64), (64, 90)):
        stopped = through_file(stopped, tmp_path)
        stopped.partial_fit(rows[start:stop], y[start:stop])
    version = straight._learner.busy.words
    version[1] = stopped._learner.version  # how often it was called is all that may differ
    assert difference(straight, stopped) is None


@pytest.mark.compiles
@pytest.mark.parametrize("parameters", [{}, {"bits": 6}, {"class_weight": "balanced"}, {"average": True, "l2": 0.01}])
def test_dicts_go_on_from_their_file(parameters: dict[str, Any], tmp_path: Path) -> None:
    straight = by_learn_one("OnlineClassifier", **parameters)
    stopped = made("OnlineClassifier", **parameters)
    for k, (x, y) in enumerate(zip(ROWS, LETTERS.tolist(), strict=True)):
        if k in (0, 1, 2, 5, 33, 64):
            stopped = through_file(stopped, tmp_path)
        stopped.learn_one(x, y)
    assert difference(straight, stopped) is None


@pytest.mark.compiles
def test_fit_goes_on_from_a_warm_start_with_its_generator(tmp_path: Path) -> None:
    def model() -> Any:
        return onlinear.AveragedPerceptron(warm_start=True, random_state=np.random.RandomState(7), max_iter=2)

    straight = model().fit(X, LETTERS).fit(X, LETTERS)
    stopped = through_file(model().fit(X, LETTERS), tmp_path).fit(X, LETTERS)
    assert difference(straight, stopped) is None


GO_ON = """
import sys
import numpy as np
import onlinear
model = onlinear.load(sys.argv[1])
rows = np.load(sys.argv[2])
model.partial_fit(rows["X"], rows["y"])
model.save(sys.argv[1])
"""


@pytest.mark.compiles
def test_another_process_goes_on(tmp_path: Path) -> None:
    straight = (
        onlinear.OnlineClassifier(average=True).partial_fit(X[:40], LETTERS[:40]).partial_fit(X[40:], LETTERS[40:])
    )
    path, rest = tmp_path / "model", tmp_path / "rest.npz"
    onlinear.OnlineClassifier(average=True).partial_fit(X[:40], LETTERS[:40]).save(path)
    np.savez(rest, X=X[40:], y=LETTERS[40:])
    subprocess.run([sys.executable, "-c", GO_ON, str(path), str(rest)], check=True)
    assert difference(straight, onlinear.load(path)) is None


# ------------------------------------------------------------------ slim


def long_rows() -> list[dict[str, float]]:
    """Rows long enough to be summed in lanes."""
    rng = np.random.default_rng(3)
    return [{f"w{j}": float(x) for j, x in enumerate(rng.normal(size=150))} for _ in range(12)]


def answers(model: Any) -> list[Any]:
    found = [model.predict(X), model.densify().coef_, model.intercept_, model.history_, model.examples_]
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            found.append(getattr(model, method)(X))
    return found


def answers_one(model: Any, rows: list[Any]) -> list[Any]:
    path = model._renew_path()
    found: list[Any] = [[model.predict_one(row), path.scores(row)] for row in [*rows, {"never seen": 1.0, "w1": 3}]]
    if hasattr(model, "predict_proba_one"):
        found += [model.predict_proba_one(row) for row in rows]
    return found


@pytest.mark.compiles
@pytest.mark.parametrize(
    "state", ["dense", "sparse", "open classes", "named classes", "warm start", "assigned weights"]
)
@pytest.mark.parametrize("name", PUBLIC)
def test_a_slim_file_answers_rows_to_the_bit(name: str, state: str, tmp_path: Path) -> None:
    model = STATES[state](name)
    slim = through_file(model, tmp_path, slim=True)
    assert difference(answers(model), answers(slim)) is None
    again = through_file(slim, tmp_path)  # and stays slim
    assert difference(slim, again) is None


CONFIGURED: list[tuple[str, dict[str, Any]]] = [
    *[(name, {}) for name in PUBLIC],
    ("OnlineClassifier", {"bits": 8}),
    ("OnlineClassifier", {"rule": "adagrad", "l1": 0.01}),
    ("OnlineClassifier", {"rule": "adagrad", "l2": 0.01, "average": True}),
    ("OnlineClassifier", {"rule": "adagrad", "forget": 0.01}),
    ("OnlineClassifier", {"average": 50}),
    ("OnlineClassifier", {"average": 5000}),
    ("OnlineClassifier", {"loss": "softmax"}),
    ("SGDClassifier", {"loss": "log_loss", "alpha": 0.1}),
    ("SGDClassifier", {"penalty": "l1", "alpha": 0.01}),
    ("SGDClassifier", {"penalty": "elasticnet", "alpha": 0.01}),
    ("SGDClassifier", {"average": True}),
    ("SGDRegressor", {"average": True, "penalty": "l1", "alpha": 0.01}),
]


@pytest.mark.compiles
@pytest.mark.parametrize(("name", "parameters"), CONFIGURED, ids=str)
def test_a_slim_file_answers_dicts_to_the_bit(name: str, parameters: dict[str, Any], tmp_path: Path) -> None:
    model = by_learn_one(name, **parameters)
    for k, row in enumerate(long_rows()):
        model.learn_one(row, targets(name).tolist()[k])
    slim = through_file(model, tmp_path, slim=True)
    rows = [*ROWS, *long_rows()]
    assert difference(answers_one(model, rows), answers_one(slim, rows)) is None
    assert slim.coef_.tobytes() == model.coef_.tobytes()
    full = (tmp_path / "full", tmp_path / "model.onlinear")
    model.save(full[0])
    assert full[1].stat().st_size < full[0].stat().st_size


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["OnlineClassifier", "SGDClassifier", "SecondOrderPerceptron", "FTRLRegressor"])
def test_a_slim_model_of_columns_answers_dicts(name: str, tmp_path: Path) -> None:
    model = made(name).fit(FRAME, targets(name))
    slim = through_file(model, tmp_path, slim=True)
    rows = [dict(zip(FRAME.columns, row, strict=True)) for row in X]
    assert difference(answers_one(model, rows), answers_one(slim, rows)) is None


@pytest.mark.parametrize("name", ["OnlineClassifier", "SGDRegressor", "SecondOrderPerceptron"])
def test_a_slim_model_refuses_to_learn(name: str, tmp_path: Path) -> None:
    y = targets(name)
    for model in (made(name).partial_fit(X, y), by_learn_one(name)):
        slim = through_file(model, tmp_path, slim=True)
        before = state_of(slim)
        tries: list[Callable[[], Any]] = [
            lambda slim=slim: slim.learn_one(ROWS[0], y.tolist()[0]),
            lambda slim=slim: slim.learn_one({"new name": 1.0}, y.tolist()[0], importance=2.0),
            lambda slim=slim: slim.learn_many(ROWS, y.tolist()),
            lambda slim=slim: slim.partial_fit(X, y),
            lambda slim=slim: slim.partial_fit(X[:1], y[:1]),
        ]
        if not is_regressor(name):
            tries.append(lambda slim=slim: slim.learn_one(ROWS[0], "a new label"))
        for attempt in tries:
            with pytest.raises(Refused, match="was saved slim, for predictions only, and cannot learn on"):
                attempt()
        after = state_of(slim)
        after.pop("_names", None)  # columns have names once a dict was asked about
        assert (
            difference(
                {key: before[key] for key in after if key in before}, {k: after[k] for k in after if k in before}
            )
            is None
        )


def test_a_slim_model_can_be_fitted_anew(tmp_path: Path) -> None:
    model = onlinear.OnlineClassifier(max_iter=2).fit(X, LETTERS)
    slim = through_file(model, tmp_path, slim=True)
    assert difference(slim.fit(X, LETTERS), onlinear.OnlineClassifier(max_iter=2).fit(X, LETTERS)) is None
    warm = through_file(model.set_params(warm_start=True), tmp_path, slim=True)
    with pytest.raises(Refused, match="was saved slim"):
        warm.fit(X, LETTERS)


# ------------------------------------------------------------------ a loss and a rule of one's own


class Exponential(NamedTuple):
    """The README's loss."""

    def value(self, score, target):
        return math.exp(min(-target * score, 30.0))

    def slope(self, score, target):
        return -target * math.exp(min(-target * score, 30.0))


class SignDescent(NamedTuple):
    """The README's rule."""

    rate: float = 0.01
    CELL = ("weight", "steps")

    def move(self, cell, x, step, seen):
        w, steps = cell
        pull = step * x
        return w + math.copysign(self.rate, pull) / math.sqrt(1.0 + steps) if pull else w, steps + 1.0


class Halving(NamedTuple):
    """A schedule."""

    rate: float = 1.0

    def at(self, t):
        return self.rate * 0.5


class Mine(onlinear.OnlineClassifier):
    """A user's subclass."""


@pytest.mark.compiles
def test_ones_own_loss_and_rule(tmp_path: Path) -> None:
    def model() -> Any:
        return onlinear.OnlineClassifier(loss=Exponential(), rule=SignDescent(0.05))

    straight, stopped = model().partial_fit(X, PAIR), model().partial_fit(X[:33], PAIR[:33])
    path = tmp_path / "model"
    stopped.save(path)
    for passed, missing in (((), "Exponential"), ([Exponential], "SignDescent"), ([SignDescent], "Exponential")):
        with pytest.raises(BadModel, match=rf"needs your own class {missing} .*classes=\[{missing}\]"):
            onlinear.load(path, classes=passed)
    again = onlinear.load(path, classes=[SignDescent, Exponential])
    assert difference(stopped, again) is None
    again.partial_fit(X[33:], PAIR[33:])
    straight._learner.busy.words[1] = again._learner.version
    assert difference(straight, again) is None
    slim = through_file(straight, tmp_path, slim=True, classes=[SignDescent, Exponential])
    assert difference(answers(straight), answers(slim)) is None


def test_ones_own_schedule_and_subclass(tmp_path: Path) -> None:
    model = Mine(loss="hinge", rule=onlinear.rules.SGD(Halving(0.5)))
    model.save(tmp_path / "model")
    with pytest.raises(BadModel, match="needs your own class Mine"):
        onlinear.load(tmp_path / "model", classes=[Halving])
    again = onlinear.load(tmp_path / "model", classes=[Halving, Mine])
    assert type(again) is Mine
    assert difference(state_of(model), state_of(again)) is None
    other: Any = type("Mine", (), {})
    with pytest.raises(BadModel, match="no estimator of ours"):
        onlinear.load(tmp_path / "model", classes=[Halving, other])


def test_a_class_with_other_fields_is_not_the_one_saved(tmp_path: Path) -> None:
    onlinear.OnlineClassifier(rule=SignDescent()).save(tmp_path / "model")
    other: Any = NamedTuple("SignDescent", [("rate", float), ("more", float)])
    with pytest.raises(BadModel, match=r"fields \['rate'\], and the class here has \('rate', 'more'\)"):
        onlinear.load(tmp_path / "model", classes=[other])


# ------------------------------------------------------------------ what is refused at saving


class Rowdy:
    def slope(self, score: float, target: float) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (onlinear.OnlineClassifier(loss=Rowdy()), "the parameter loss holds <.*Rowdy"),
        (onlinear.OnlineClassifier(class_weight={"a": object()}), "the parameter class_weight holds <object"),
        (onlinear.OnlineClassifier(random_state=np.random), "the parameter random_state holds <module"),
    ],
)
def test_parameters_without_a_form(model: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(NotSaved, match=said):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_attributes_of_the_users_own(tmp_path: Path) -> None:
    model = onlinear.OnlineClassifier().fit(X, PAIR)
    model.note, model.numbers = {"trained by": "me", "at": (1, 2.5)}, np.arange(3)
    assert difference(model, through_file(model, tmp_path)) is None
    model.lock = threading.Lock()
    with pytest.raises(NotSaved, match="the attribute lock holds <unlocked"):
        model.save(tmp_path / "model")
    del model.lock
    model.predict = 3
    with pytest.raises(NotSaved, match="the attribute predict is 3"):
        model.save(tmp_path / "model")
    del model.predict
    model.n_iter_ = "many"
    with pytest.raises(NotSaved, match="the attribute n_iter_ is 'many'"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize("label", [frozenset({1}), b"x", 1 + 2j])
def test_labels_without_a_form(label: Any, tmp_path: Path) -> None:
    model = onlinear.Perceptron()
    model.learn_one({"a": 1.0}, label)
    with pytest.raises(NotSaved, match=r"the label .* holds|labels of the dtype"):
        model.save(tmp_path / "model")


def test_names_without_a_form(tmp_path: Path) -> None:
    model = onlinear.Perceptron()
    model.learn_one({frozenset({1}): 1.0}, 1)
    with pytest.raises(NotSaved, match=r"the feature name frozenset\(\{1\}\) holds"):
        model.save(tmp_path / "model")


def test_an_estimator_whose_parts_do_not_fit(tmp_path: Path) -> None:
    model = onlinear.OnlineClassifier().fit(X, PAIR)
    model.n_features_in_ = 7
    with pytest.raises(NotSaved, match="columns do not fit its features; call fit to start anew"):
        model.save(tmp_path / "model")


# ------------------------------------------------------------------ files that we did not write


def forged(folder: Path, change: Callable[[dict[str, Any], dict[str, np.ndarray]], Any], model: Any) -> Path:
    """A file with digests that are right, and something in it that is not."""
    header, arrays = save_parts(model)
    change(header, arrays)
    path = folder / "forged"
    write_model(path, header, arrays)
    return path


def put(*keys: Any, value: Any) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        inner: Any = header
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return change


def leave_out(*keys: Any) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        inner: Any = header
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return change


def array(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, np.ndarray]], None]:
    return lambda header, arrays: arrays.update({name: value})


LIES = [
    put("holds", value="os.system"),
    put("holds", value="LinearEstimator"),
    put("holds", value=None),
    put("holds", value="OnlineRegressor"),
    put("module", value="subprocess"),
    put("parameters", value={"cmd": "rm"}),
    put("parameters", value=[]),
    leave_out("parameters"),
    leave_out("state"),
    put("state", "predict", value="nonsense"),
    put("state", "__class__", value="nonsense"),
    put("state", "_learner", value=1),
    put("state", "n_features_in_", value=100),
    put("state", "_growing", value="yes"),
    put("state", "_quick_features", value=7),
    leave_out("state", "_counts"),
    leave_out("state", "_growing"),
    leave_out("classes"),
    leave_out("names"),
    leave_out("shown"),
    put("classes", "labels", value=["a"]),
    put("classes", "labels", value=["a", "a", "b", "c"]),
    put("classes", "labels", value=[[], [], [], []]),
    put("classes", "labels", value=["a", "b", "c", "d", "e", "f"]),
    put("classes", "order", value=[0, 1, 2, 7]),
    put("classes", "order", value=[0, 0, 1, 2]),
    put("classes", "dtype", value="<U900000000"),
    put("classes", "dtype", value="O,O"),
    put("classes", "dtype", value="<M8[s]"),
    put("classes", "open", value=None),
    put("names", "kind", value="hashed"),
    put("names", "kind", value="guessed"),
    put("names", "cap", value=1),
    put("names", "cap", value="many"),
    put("names", "texts", value="zip"),
    put("names", "texts", value=["zip", 3]),
    put("names", "numbers", value=["age", 3]),
    put("names", value={"kind": "hashed", "bits": 30}),
    put("names", value={"kind": "hashed", "bits": 64}),
    put("names", value={"kind": "hashed", "bits": "8"}),
    array("names/ends", np.array([5, 3, 1 << 40])),
    array("names/ends", np.array([-5, 3])),
    array("names/ends", np.zeros(3)),
    array("names/text", np.full(2000, 255, dtype=np.uint8)),
    array("names/plain", np.zeros(3, dtype=np.uint8)),
    put("shown", value={"by_hand": True}),
    put("shown", value={"sparse": 3}),
    put("rows", value="diagonal"),
    put("data", value="object"),
    put("settled", value=1),
    put("learner", value={}),
    put("learner", "form", value="slim"),
]


@pytest.mark.parametrize("lie", LIES, ids=range(len(LIES)))
def test_files_that_we_did_not_write(lie: Any, tmp_path: Path) -> None:
    model = by_learn_one("OnlineClassifier")
    with pytest.raises(BadModel, match="forged cannot be loaded"):
        onlinear.load(forged(tmp_path, lie, model))


NONSENSE: list[Any] = [
    *[None, True, 0, 1, -1, 7, 1 << 40, 1 << 70, 0.5, 1e308, "", "a", "dense", "slim", [], [1], {}],
    *[{"tuple": [1]}, {"float": "nan"}, {"numpy": ["int8", 3]}, {"array": "learner/clock"}, {"loss": ["softmax", {}]}],
    *[{"rule": ["normalised", {"rate": 1.0}]}, {"own": ["os", "system", {}]}, {"dict": [[[], 1]]}, {"text": "zz"}],
]


def places(thing: Any, *above: Any) -> list[tuple[Any, ...]]:
    items = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else []
    return [place for key, inner in items for place in [(*above, key), *places(inner, *above, key)]]


@given(data=st.data())
@settings(max_examples=300)
@pytest.mark.parametrize("slim", [False, True], ids=["full", "slim"])
def test_nonsense_anywhere_in_a_header_is_a_bad_model_or_a_model(slim: bool, data: Any) -> None:
    model = onlinear.OnlineClassifier(random_state=np.random.RandomState(3))
    for k in range(9):
        model.learn_one({f"w{k}": 1.0, (k, "pair"): 2.0, "a=b": "c"}, "abc"[k % 3])
    header, arrays = save_parts(model, slim=slim)
    place = data.draw(st.sampled_from(places(header)))
    change = leave_out(*place) if data.draw(st.booleans()) else put(*place, value=data.draw(st.sampled_from(NONSENSE)))
    change(header, arrays)
    with contextlib.suppress(BadModel):
        assert isinstance(restore(header, arrays).get_params(), dict)


def test_a_deep_header_is_refused() -> None:
    header, arrays = save_parts(onlinear.OnlineClassifier())
    for _ in range(5000):
        header["parameters"]["class_weight"] = {"tuple": [header["parameters"]["class_weight"]]}
    with pytest.raises(BadModel, match="RecursionError"):
        restore(header, arrays)


def test_nothing_is_imported_by_name(tmp_path: Path) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('the trap was sprung')")
    own = {"own": ["trap", "Trap", {}]}
    path = forged(tmp_path, put("parameters", "loss", value=own), onlinear.OnlineClassifier())
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import onlinear, sys\ntry: onlinear.load(sys.argv[1])\nexcept ValueError as e: print(e)",
            str(path),
        ],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert "needs your own class Trap (saved from trap)" in ran.stdout


def test_a_recipe_may_travel_with_an_estimator(tmp_path: Path) -> None:
    model = onlinear.OnlineClassifier().fit(X, PAIR)
    header, arrays = save_parts(model)
    header["recipe"], _ = Recipe(Svmlight()).parts()
    write_model(tmp_path / "model", header, arrays)
    found, there = read_model(tmp_path / "model")
    assert found["recipe"] == header["recipe"]
    assert difference(restore(found, there), model) is None
    assert difference(onlinear.load(tmp_path / "model"), model) is None


def test_people_can_read_the_header(tmp_path: Path) -> None:
    model = onlinear.OnlineClassifier().fit(X, LETTERS)
    model.save(tmp_path / "model")
    head = (tmp_path / "model").read_bytes()[:1000].decode()
    assert head.startswith("onlinear model 1\nheader ")
    assert '"holds": "OnlineClassifier"' in head
    assert f'"examples": {model.examples_}' in head
    header = read_model(tmp_path / "model")[0]
    assert header["onlinear"] == onlinear.__version__
    assert header["classes"]["labels"] == ["aaa", "bb", "c", "d"]
    assert header["figures"]["mistakes"] == model.mistakes_
    assert header["learner"]["losses"] == [{"loss": ["log_loss", {}]}]


# ------------------------------------------------------------------ beside a learning thread


def stream() -> Iterator[tuple[dict[str, float], str]]:
    """New names and new labels all the time."""
    rng = np.random.default_rng(1)
    for k in count():
        yield {f"w{rng.integers(k + 3)}": 1.0, f"v{k % 11}": float(k % 7)}, f"c{k % (2 + k // 300)}"


@pytest.mark.compiles
@pytest.mark.parametrize("parameters", [{}, {"class_weight": "balanced"}, {"loss": "softmax", "bits": 6}], ids=str)
def test_a_save_beside_a_learning_thread_is_of_a_whole_example(parameters: dict[str, Any], tmp_path: Path) -> None:
    onlinear.OnlineClassifier(**parameters).learn_one(*next(stream()))  # compiles
    model, stop, errors = onlinear.OnlineClassifier(**parameters), threading.Event(), []

    def learn() -> None:
        try:
            for x, y in takewhile(lambda _: not stop.is_set(), stream()):
                model.learn_one(x, y)
        except Exception as error:
            errors.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # the threads change places all the time
    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for number in range(30):
            model.save(tmp_path / f"{number}")
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
    assert not errors
    straight, examples, lengths = onlinear.OnlineClassifier(**parameters), stream(), set()
    for number in range(30):
        found = onlinear.load(tmp_path / f"{number}")
        if found._learner is None:
            continue  # saved before the first example
        lengths.add(found.examples_)
        while straight._learner is None or straight.examples_ < found.examples_:
            straight.learn_one(*next(examples))
        assert found.coef_.tolist() == straight.coef_.tolist()
        assert found._model.counts == straight._model.counts
        assert found.history_ == straight.history_
        assert found.classes_.tolist() == straight.classes_.tolist()
    assert len(lengths) > 10  # it did learn meanwhile


@pytest.mark.compiles
@pytest.mark.parametrize("slim", [False, True])
def test_rows_may_weigh_more_than_anyone_counts(tmp_path: Path, slim: bool) -> None:
    X, y, weight = np.eye(4), np.array([0, 1, 0, 1]), np.full(4, 1e20)
    model = onlinear.OnlineClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    model.save(tmp_path / "model", slim=slim)
    assert onlinear.load(tmp_path / "model").predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.compiles
def test_a_save_changes_nothing(tmp_path: Path) -> None:
    model = by_learn_one("OnlineClassifier")
    other = by_learn_one("OnlineClassifier")
    model.save(tmp_path / "model")
    model.save(tmp_path / "slim", slim=True)
    assert difference(model, other) is None
    model.learn_one(ROWS[0], "d")
    other.learn_one(ROWS[0], "d")
    assert difference(model, other) is None


def test_a_loaded_model_refuses_what_the_saved_one_did(tmp_path: Path) -> None:
    model = through_file(by_learn_one("OnlineClassifier", names_cap=60), tmp_path)
    assert isinstance(model._model.names, ExactNames)
    assert model._model.names.cap == 60
    with pytest.raises(BadRow, match="w1"):
        model.learn_one({"w1": float("nan")}, "d")
    hashed = through_file(by_hashed_names("OnlineClassifier"), tmp_path)
    assert isinstance(hashed._model.names, HashedNames)
    assert isinstance(hashed._learner, Learner)
