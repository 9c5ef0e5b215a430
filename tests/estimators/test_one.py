"""One example at a time: dict rows take the same steps as rows of a matrix, and nothing else."""

from __future__ import annotations

import copy
import pickle
import random
import sys
import threading
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse

import onlinear
from listed import as_dicts
from onlinear.errors import BadInput, BadRow, Diverged, TooManyNames

RNG = np.random.default_rng(11)
WORDS = [f"word{k}" for k in range(30)]


def some_rows(count: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for _ in range(count):
        chosen = RNG.choice(len(WORDS), size=6, replace=False)
        row: dict[str, Any] = {WORDS[k]: float(RNG.normal()) for k in chosen}
        row["hour"] = ["noon", "night"][int(RNG.integers(2))]
        row["new"] = bool(RNG.integers(2))
        rows.append(row)
    return rows


ROWS = some_rows(90)
TWO = ["spam" if sum(v for v in row.values() if isinstance(v, float)) > 0 else "ham" for row in ROWS]
THREE = ["c" if "word7" in row else label for row, label in zip(ROWS, TWO, strict=True)]

CLASSIFIERS: list[Any] = [
    onlinear.OnlineClassifier(),
    onlinear.OnlineClassifier(rule="adagrad", l1=1e-3),
    onlinear.SGDClassifier(loss="log_loss", average=10),
    onlinear.Perceptron(penalty="l1"),
    onlinear.AROWClassifier(),
    onlinear.FTRLClassifier(l1=0.1),
]
each_classifier = pytest.mark.parametrize(
    "model", CLASSIFIERS, ids=[f"{k}-{type(model).__name__}" for k, model in enumerate(CLASSIFIERS)]
)


def fresh(model: Any, **changed: Any) -> Any:
    return type(model)(**{**model.get_params(), **changed})


def one_by_one(model: Any, rows: list[Any], labels: list[Any]) -> Any:
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    return model


def bits(model: Any) -> Any:
    learner = model._learner
    return learner.table.cells.tobytes(), learner.table.bias.tobytes(), learner.counters.array[:, :19].tobytes()


def shown(model: Any) -> Any:
    return model.coef_.tolist(), model.intercept_.tolist(), model.mistakes_, model.examples_, model.history_


def as_matrix(names: list[Any]) -> scipy.sparse.csr_matrix:
    """The rows as the matrix their names say."""
    matrix = np.zeros((len(ROWS), len(names)))
    for place, row in enumerate(ROWS):
        for name, value in row.items():
            full, number = (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
            matrix[place, names.index(full)] = number
    return scipy.sparse.csr_matrix(matrix)


@each_classifier
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
def test_dicts_take_the_steps_of_a_matrix(model: Any, labels: list[str]) -> None:
    rows = [{k: v for k, v in row.items() if v is not False} for row in ROWS]  # a matrix keeps no zeros
    ours = one_by_one(fresh(model), rows, labels)
    theirs = fresh(model).partial_fit(as_dicts(model, as_matrix(ours.feature_names_)), labels)
    assert shown(ours) == shown(theirs)


@each_classifier
def test_learn_many_takes_the_same_steps(model: Any) -> None:
    alone = one_by_one(fresh(model), ROWS, THREE)
    together = fresh(model).learn_many(ROWS[:40], THREE[:40]).learn_many(ROWS[40:], THREE[40:])
    # names get their positions row by row there, and block by block here: compare by name
    columns = [together.feature_names_.index(name) for name in alone.feature_names_]
    np.testing.assert_allclose(together.coef_[:, columns], alone.coef_, rtol=1e-9, atol=1e-12)
    assert together.mistakes_ == alone.mistakes_


def test_learn_many_takes_the_same_bits_with_hashed_names() -> None:
    alone = one_by_one(onlinear.OnlineClassifier(bits=10), ROWS, THREE)
    together = onlinear.OnlineClassifier(bits=10).learn_many(ROWS[:31], THREE[:31]).learn_many(ROWS[31:], THREE[31:])
    assert bits(together) == bits(alone)


@pytest.mark.parametrize("size", [None, 8], ids=["exact", "hashed"])
def test_the_order_of_keys_does_not_matter(size: int | None) -> None:
    straight = one_by_one(onlinear.OnlineClassifier(bits=size), ROWS, TWO)
    shuffled = [dict(random.Random(k).sample(list(row.items()), len(row))) for k, row in enumerate(ROWS)]
    assert bits(one_by_one(onlinear.OnlineClassifier(bits=size), shuffled, TWO)) == bits(straight)


@each_classifier
def test_learn_one_answers_the_score_of_before(model: Any) -> None:
    learner = one_by_one(fresh(model), ROWS[:50], TWO[:50])
    for x, y in zip(ROWS[50:], TWO[50:], strict=True):
        before = learner._learning_path.view.decoder.in_order(learner._learning_path.scores(x))
        answered = learner.learn_one(x, y)
        assert answered == pytest.approx(before, rel=1e-9, abs=1e-12)
        assert isinstance(answered, float)


def test_a_new_label_comes_as_if_it_had_been_known() -> None:
    known = onlinear.OnlineClassifier(bits=9)
    known._start(None, classes=["c", "ham", "spam"])
    one_by_one(known, ROWS, THREE)
    late = one_by_one(onlinear.OnlineClassifier(bits=9), ROWS, THREE)
    assert late.coef_.tolist() == known.coef_.tolist()
    assert late.classes_.tolist() == ["c", "ham", "spam"]


def test_labels_may_be_anything_hashable() -> None:
    labels = [(1, "a"), b"bytes", frozenset({2}), 3.5, True]
    model = onlinear.Perceptron()
    for k, label in enumerate(labels * 8):
        model.learn_one({f"is{k % 5}": 1.0}, label)
    assert [model.predict_one({f"is{k}": 1.0}) for k in range(5)] == labels


def test_probabilities() -> None:
    model = one_by_one(onlinear.OnlineClassifier(), ROWS, THREE)
    chances = model.predict_proba_one(ROWS[0])
    assert set(chances) == {"c", "ham", "spam"}
    assert sum(chances.values()) == pytest.approx(1.0)
    assert max(chances, key=chances.__getitem__) == model.predict_one(ROWS[0])
    assert not hasattr(onlinear.Perceptron(), "predict_proba_one")


@each_classifier
def test_predict_one_is_pure(model: Any) -> None:
    learner = one_by_one(fresh(model), ROWS, THREE)
    before, names = bits(learner), learner._model.names.size
    for row in [*ROWS, {"never seen": 1.0, "hour": "dawn"}]:
        first = learner.predict_one(row)
        assert learner.predict_one(row) == first
    assert bits(learner) == before
    assert learner._model.names.size == names


def test_before_the_first_example() -> None:
    assert onlinear.OnlineClassifier().predict_one({"a": 1}) is None
    assert onlinear.OnlineClassifier().predict_proba_one({"a": 1}) == {}
    assert onlinear.OnlineRegressor().predict_one({"a": 1}) == 0.0


@each_classifier
def test_pickle_goes_on_where_it_stopped(model: Any) -> None:
    whole = one_by_one(fresh(model), ROWS, THREE)
    half = pickle.loads(pickle.dumps(one_by_one(fresh(model), ROWS[:45], THREE[:45])))
    assert shown(one_by_one(half, ROWS[45:], THREE[45:])) == shown(whole)
    assert bits(copy.deepcopy(whole)) == bits(whole)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"hour": float("nan")}, "hour"),
        ({"word1": 1.0, "word2": float("inf")}, "word2"),
        ({"word3": None}, "word3"),
        ({"word4": [1.0]}, "word4"),
        ([1.0, 2.0], "list"),
    ],
)
def test_a_bad_row_changes_nothing(row: Any, said: str) -> None:
    model = one_by_one(onlinear.OnlineClassifier(), ROWS, TWO)
    before, names = bits(model), model._model.names.size
    for label in ("spam", "a label nobody has seen"):
        with pytest.raises(BadRow, match=said):
            model.learn_one(row, label)
    with pytest.raises(BadRow, match="row 1"):
        model.learn_many([{"word1": 1.0}, row], ["spam", "ham"])
    assert bits(model) == before
    assert model._model.names.size == names
    assert model.classes_.tolist() == ["ham", "spam"]


@pytest.mark.parametrize("importance", [-1.0, float("nan"), float("inf")])
def test_a_bad_importance_changes_nothing(importance: float) -> None:
    model = one_by_one(onlinear.OnlineClassifier(), ROWS, TWO)
    before = bits(model)
    with pytest.raises(BadInput, match="importance"):
        model.learn_one(ROWS[0], "spam", importance)
    assert bits(model) == before


def test_bad_labels_and_targets() -> None:
    with pytest.raises(BadInput, match="hashable"):
        onlinear.OnlineClassifier().learn_one({"a": 1}, ["spam"])  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="NaN"):
        onlinear.OnlineClassifier().learn_one({"a": 1}, float("nan"))
    with pytest.raises(BadInput, match="inf"):
        onlinear.OnlineRegressor().learn_one({"a": 1}, float("inf"))
    with pytest.raises(BadInput, match="2 rows and 1 targets"):
        onlinear.OnlineClassifier().learn_many([{"a": 1}, {"b": 1}], ["x"])


def test_importance_0_is_an_example_absent() -> None:
    model = one_by_one(onlinear.OnlineClassifier(), ROWS, TWO)
    before = bits(model)
    model.learn_one({**ROWS[0], "never seen": 2.0}, "a label nobody has seen", importance=0.0)
    assert bits(model) == before
    assert model.classes_.tolist() == ["ham", "spam"]


def test_importance_adds_up_for_the_importance_aware_rule() -> None:
    rule = onlinear.rules.ImportanceAware(0.3)
    parts, whole = (onlinear.OnlineClassifier(rule=rule) for _ in range(2))
    for model in (parts, whole):
        one_by_one(model, ROWS[:5], TWO[:5])
    parts.learn_one(ROWS[5], "spam", 0.7)
    parts.learn_one(ROWS[5], "spam", 1.9)
    whole.learn_one(ROWS[5], "spam", 2.6)
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12, atol=1e-15)


def test_divergence_is_undone() -> None:
    model = onlinear.OnlineRegressor(rule=onlinear.rules.SGD(onlinear.rules.Constant(1e200)))
    model.learn_one({"a": 1.0}, 1.0)
    before = bits(model)
    with pytest.raises(Diverged, match="example 2"):
        model.learn_one({"a": 1e200}, 1.0)
    assert bits(model) == before


def test_frames() -> None:
    table = {"size": [1.0, 2.5, 0.5], "town": ["Bern", "Thun", "Bern"], "lift": [True, False, True]}
    rent = [1900.0, 1200.0, 800.0]
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    wanted = shown_regressor(onlinear.OnlineRegressor().learn_many(rows, rent))
    assert shown_regressor(onlinear.OnlineRegressor().learn_many(pandas.DataFrame(table), rent)) == wanted
    assert shown_regressor(onlinear.OnlineRegressor().learn_many(polars.DataFrame(table), rent)) == wanted


def shown_regressor(model: Any) -> Any:
    return model.coef_.tolist(), model.intercept_.tolist(), model.feature_names_


def test_names_of_a_frame_are_known_to_learn_one() -> None:
    frame = pandas.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]})
    model = onlinear.OnlineClassifier().fit(frame, [0, 1, 1])
    score = model.learn_one({"b": 1.0, "a": 0.5}, 0)
    assert model.examples_ == 4
    assert isinstance(score, float)
    assert model.predict(frame).shape == (3,)
    with pytest.raises(BadRow, match="'c' is unknown"):
        model.learn_one({"c": 1.0}, 0)


def test_columns_without_names_are_numbers() -> None:
    model = onlinear.SGDRegressor().fit([[0.0, 1.0], [1.0, 0.0]], [1.0, 2.0])
    assert model.predict_one({0: 1.0, 1: 0.5}) == pytest.approx(model.predict([[1.0, 0.5]])[0])


def test_the_cap_on_names() -> None:
    model = onlinear.OnlineClassifier(names_cap=3)
    model.learn_one({"a": 1, "b": 1, "c": 1}, 0)
    with pytest.raises(TooManyNames, match="cap is 3"):
        model.learn_one({"d": 1}, 1)
    assert model.examples_ == 1


def test_class_weights_weigh() -> None:
    weighed = onlinear.OnlineClassifier(class_weight={"spam": 3.0})
    by_hand = onlinear.OnlineClassifier()
    for x, y in zip(ROWS, TWO, strict=True):
        weighed.learn_one(x, y)
        by_hand.learn_one(x, y, 3.0 if y == "spam" else 1.0)
    assert weighed.coef_.tolist() == by_hand.coef_.tolist()


def test_a_snapshot_beside_a_learning_thread_is_of_a_whole_example() -> None:
    """Every word of a row moves by the same step, so in a whole example their weights are equal."""
    model = onlinear.SGDClassifier(loss="log_loss", penalty=None, learning_rate="constant", eta0=0.1)
    row = dict.fromkeys([f"w{k}" for k in range(800)], 1.0)
    model.learn_one(row, 0)
    model.learn_one(row, 1)
    enough = threading.Event()

    def learn() -> None:
        k = 0
        while not enough.is_set():
            model.learn_one(row, k % 2)
            k += 1

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        seen = set()
        for look in range(20_000):
            if look > 200 and len(seen) > 2:
                break
            weights = model.snapshot().weights
            assert np.ptp(weights) == 0.0
            seen.add(weights[0, 0])
            assert model.predict_one(row) in (0, 1)
    finally:
        enough.set()
        thread.join()
    assert len(seen) > 1  # it did learn meanwhile


def test_threads_that_learn_rows_of_their_own_lose_none() -> None:
    """Without an intercept and at a constant rate, rows without common names do not touch each other."""
    rng = np.random.default_rng(0)
    chance = sys.getswitchinterval()

    def rows_of(thread: int) -> list[tuple[dict[str, float], float]]:
        names = [f"{thread}:{k}" for k in range(3000)]
        return [
            ({names[j]: float(v) for j, v in zip(rng.integers(0, 3000, 9), rng.normal(size=9), strict=True)}, y)
            for y in rng.normal(size=1500)
        ]

    def model() -> Any:
        return onlinear.SGDRegressor(penalty=None, learning_rate="constant", eta0=0.01, fit_intercept=False)

    def learn(to: Any, rows: list[tuple[dict[str, float], float]], many: bool) -> None:
        if many:
            for start in range(0, len(rows), 30):
                to.learn_many([x for x, _ in rows[start : start + 30]], [y for _, y in rows[start : start + 30]])
        else:
            for x, y in rows:
                to.learn_one(x, y)

    work = [(rows_of(k), k == 2) for k in range(3)]
    together = model()
    together.learn_one({}, 0.0)  # the learner is made here, and compiled
    together.learn_many([{}], [0.0])
    threads = [threading.Thread(target=learn, args=(together, *some)) for some in work]
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            together.snapshot()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(chance)
    weights = dict(zip(together.feature_names_, together.coef_, strict=True))
    assert together._learner.examples == 2 + 3 * 1500
    counts = [mark.examples for mark in together._learner.marks()]
    assert counts == [*(2**k for k in range(13)), together._learner.examples]
    for rows, many in work:
        alone = model()
        learn(alone, rows, many)
        for name, weight in zip(alone.feature_names_, alone.coef_, strict=True):
            assert weights[name] == weight


# ------------------------------------------------------------------ labels that are none

MISSING = [None, float("nan"), pandas.NA, pandas.NaT]
each_maker = pytest.mark.parametrize("make", [onlinear.OnlineClassifier, onlinear.KernelPerceptron])


@each_maker
@pytest.mark.parametrize("label", MISSING, ids=repr)
def test_a_missing_label_is_refused_by_name(make: Any, label: Any) -> None:
    model = make().learn_many([{"a": 1.0}, {"a": -1.0}], ["ham", "spam"])
    for call in (
        lambda: model.learn_one({"a": 1.0}, label),
        lambda: model.learn_many([{"a": 1.0}, {"a": 2.0}], ["ham", label]),
        lambda: make().partial_fit([[1.0], [2.0]], ["ham", label]),
        lambda: make().partial_fit([[1.0], [2.0]], np.array(["ham", label], dtype=object)),
        lambda: make().fit([[1.0], [2.0], [3.0]], np.array(["ham", label, "spam"], dtype=object)),
    ):
        with pytest.raises(BadInput, match=r"(the label|the target of row 1) is .*: drop the (example|row) or mend it"):
            call()
    assert model.examples_ == 2
    assert model.classes_.tolist() == ["ham", "spam"]


@each_maker
@pytest.mark.parametrize("pair", [(0, "0"), ("0", 0), (True, "True"), ("a", 1.5)], ids=repr)
def test_text_among_numbers_is_refused(make: Any, pair: tuple[Any, Any]) -> None:
    model = make()
    model.learn_one({"a": 1.0}, pair[0])
    rows = [{"a": 1.0}, {"b": 1.0}]
    for call in (
        lambda: model.learn_one({"b": 1.0}, pair[1]),
        lambda: model.learn_many(rows, [pair[0], pair[1]]),
        lambda: make().learn_many(rows, list(pair)),
        lambda: make().partial_fit([[1.0], [2.0]], list(pair)),
        lambda: make().fit([[1.0], [2.0]], np.array(pair, dtype=object)),
        lambda: make().partial_fit([[1.0]], [pair[0]], classes=list(pair)),
    ):
        with pytest.raises(BadInput, match="give all labels as text, or all as numbers"):
            call()
    assert model.classes_.tolist() == [pair[0]]
    assert model.examples_ == 1


def test_equal_numbers_are_one_label() -> None:
    model = onlinear.OnlineClassifier().learn_many([{"a": 1.0}] * 4, [1, 1.0, True, 0])
    assert model.classes_.tolist() == [0, 1]


def test_a_race_over_arrays_says_which_row_has_no_label() -> None:
    y = np.array(["ham", "spam"] * 10, dtype=object)
    y[7] = None
    with pytest.raises(BadInput, match=r"8.*there is no label to learn from"):
        onlinear.race(np.eye(20), [{"rule": "sgd"}], target=y)
