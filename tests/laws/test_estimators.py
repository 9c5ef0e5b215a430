"""The laws, kept by every estimator that is listed: what a user calls is the estimator, not the learner inside."""

from __future__ import annotations

import pickle
import tempfile
import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings as few, strategies as st
from sklearn.base import is_classifier
from threadpoolctl import threadpool_limits

import onlinear
from cases import bits_of
from listed import CLASSIFIERS, LEARNERS, as_dicts, fresh, one_pass
from onlinear.files import read_model

pytestmark = [pytest.mark.compiles, pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")]

ROWS = 150
RNG = np.random.default_rng(9)
X = RNG.normal(size=(ROWS, 5))
SCORES = X @ RNG.normal(size=5) + 0.3 * RNG.normal(size=ROWS)
PAIR = np.where(SCORES > 0.0, "yes", "no")
#: a third class comes late
THREE = np.where((np.arange(ROWS) > 100) & (X[:, 0] > 0.4), "late", PAIR)
SPARSE = scipy.sparse.csr_matrix(X)
DICTS = [dict(enumerate(row)) for row in X.tolist()]
CUTS = [0, 1, 2, 63, 64, 90, 130, ROWS]

each_learner = pytest.mark.parametrize("model", LEARNERS, ids=repr)
#: dicts have a second-order perceptron keep the diagonal only, and are then another learner than a table
each_alike = pytest.mark.parametrize(
    "model", [model for model in LEARNERS if not isinstance(model, onlinear.SecondOrderPerceptron)], ids=repr
)
each_classifier = pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)


def targets(model: Any) -> np.ndarray:
    """Numbers, or labels; only two where a budget is shared out, which wants to know of all classes first."""
    if not is_classifier(model):
        return SCORES
    return PAIR if getattr(model, "budget", None) else THREE


def learned(model: Any, rows: Any = X, cuts: Any = (0, ROWS), **first: Any) -> Any:
    """A fresh one that has learned the rows, cut there."""
    model, y = fresh(model), targets(model)
    for start, stop in pairwise(cuts):
        model.partial_fit(rows[start:stop], y[start:stop], **first)
        first = {}
    return model


def bits(model: Any) -> list[Any]:
    """The whole state, as a model file has it."""
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        header, arrays = read_model(f"{folder}/model")
        state = {name: (array.dtype, array.shape, array.tobytes()) for name, array in arrays.items()}
    header.pop("settled", None)  # parameters that are other objects, if of the same value
    if "learner" in header:
        for name in ("version", "facing"):  # the number of calls, and the order in which the weights lie in memory
            del header["learner"][name]
        state["learner/table"] = bits_of(model._learner)
    return [header, *sorted(state.items())]


def figures(model: Any) -> list[Any]:
    """What a user sees of the state, whatever way it came about."""
    names = ("classes_", "examples_", "mistakes_", "updates_", "coef_", "intercept_", "support_vectors_", "dual_coef_")
    return [(name, np.asarray(getattr(model, name)).tolist()) for name in names if hasattr(model, name)]


def reloaded(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        return onlinear.load(f"{folder}/model")


# ------------------------------------------------------------------ 1. predict first


@each_classifier
def test_a_row_is_scored_before_its_label_is_looked_at(model: Any) -> None:
    """Whichever label a row has, its score is the same; and a mistake is counted for the label it speaks against."""
    model = fresh(model)
    model.learn_one(DICTS[0], PAIR[0]), model.learn_one(DICTS[1], {"yes": "no", "no": "yes"}[PAIR[0]])
    for row, label in zip(DICTS[2:40], PAIR[2:40].tolist(), strict=True):
        twins = [pickle.loads(pickle.dumps(model)) for _ in model.classes_]
        scores = [twin.learn_one(row, own) for twin, own in zip(twins, model.classes_.tolist(), strict=True)]
        assert scores[0] == scores[1]
        counted = [twin.mistakes_ - model.mistakes_ for twin in twins]
        assert counted == [int(scores[0] > 0.0), int(scores[0] < 0.0)] or scores[0] == 0.0
        model.learn_one(row, label)


@each_alike
def test_the_score_of_a_row_is_that_of_the_rows_before(model: Any) -> None:
    model, y = fresh(model), targets(model)
    for number, (row, own) in enumerate(zip(DICTS, y.tolist(), strict=True)):
        score = np.asarray(model.learn_one(row, own))
        assert model.examples_ == number + 1
        if number in (20, 63, 64, 70, 140):
            table = SPARSE[number : number + 1]
            before = fresh(model).partial_fit(as_dicts(model, SPARSE[:number]), y[:number])
            if hasattr(before, "vote"):
                before.vote = "last"  # whose score learn_one answers
            answer = before.decision_function(table) if is_classifier(model) else before.predict(table)
            np.testing.assert_allclose(score.reshape(answer.shape), answer, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        onlinear.AveragedPerceptron(),
        onlinear.SGDClassifier(loss="log_loss", average=10),
        onlinear.OnlineClassifier(average=True),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"]], ids=["pair", "three"])
def test_an_averaged_model_counts_the_mistakes_of_its_answers(model: Any, labels: list[str]) -> None:
    rng = np.random.default_rng(8)
    y = rng.choice(labels, size=ROWS).tolist()  # noise: the average and the weights that learn often disagree
    y[: len(labels)] = labels
    there, wrong = fresh(model), 0
    for number, (row, own) in enumerate(zip(DICTS, y, strict=True)):
        if number == len(labels):
            known, apart = there.mistakes_, there._learner.counters.unaveraged_mistakes.sum()
        if number >= len(labels):
            wrong += there.predict_one(row) != own
        there.learn_one(row, own)
    assert there.mistakes_ - known == wrong
    assert there._learner.counters.unaveraged_mistakes.sum() - apart != wrong
    assert there.history_[-1].mistakes == there.mistakes_
    assert fresh(model).learn_many(DICTS, y).mistakes_ == there.mistakes_


# ------------------------------------------------------------------ 2. chunks don't matter


@each_learner
@pytest.mark.parametrize("rows", [X, SPARSE, X.astype(np.float32)], ids=["dense", "sparse", "f32"])
def test_chunks_do_not_matter(model: Any, rows: Any) -> None:
    whole = bits(learned(model, rows))
    assert bits(learned(model, rows, CUTS)) == whole
    assert bits(learned(model, rows, range(ROWS + 1))) == whole


@each_learner
@few(max_examples=3, suppress_health_check=[HealthCheck.differing_executors])
@given(st.sets(st.integers(1, ROWS - 1), max_size=5))
def test_no_cut_matters(model: Any, cuts: set[int]) -> None:
    assert bits(learned(model, X, [0, *sorted(cuts), ROWS])) == bits(learned(model))


@each_learner
def test_one_pass_of_fit_is_a_stream(model: Any) -> None:
    y = targets(model)
    named = {"classes": np.unique(y)} if is_classifier(model) else {}
    assert figures(one_pass(model).fit(X, y)) == figures(learned(model, X, CUTS, **named))


@each_alike
def test_rows_one_by_one_are_a_table(model: Any) -> None:
    y = targets(model).tolist()
    alone = fresh(model)
    for row, own in zip(DICTS, y, strict=True):
        alone.learn_one(row, own)
    assert figures(alone) == figures(learned(model, as_dicts(model, SPARSE)))
    together = fresh(model)
    for start, stop in pairwise(CUTS):
        together.learn_many(DICTS[start:stop], y[start:stop])
    assert figures(together) == figures(alone)


# ------------------------------------------------------------------ 3. resume is continue


@each_learner
@pytest.mark.parametrize("again", [reloaded, lambda model: pickle.loads(pickle.dumps(model))], ids=["file", "pickle"])
def test_to_resume_is_to_continue(model: Any, again: Any) -> None:
    stopped, y = fresh(model), targets(model)
    for start, stop in pairwise(CUTS):
        stopped = again(stopped).partial_fit(X[start:stop], y[start:stop])
    straight = learned(model)
    assert bits(stopped) == bits(straight)
    assert again(stopped).predict(X).tolist() == straight.predict(X).tolist()


# ------------------------------------------------------------------ 4. predict is pure


@each_learner
def test_to_predict_changes_nothing(model: Any) -> None:
    model = learned(model)
    if hasattr(model, "coef_"):
        model.predict_one(DICTS[0])  # the first dict finds the names of the columns
    before = bits(model), pickle.dumps(model)
    model.predict(X), model.predict(SPARSE)
    model.predict_one(DICTS[3]), model.predict_one({"never": 1.0} if is_classifier(model) else DICTS[4])
    if is_classifier(model):
        model.decision_function(X[:3])
    figures(model)
    assert (bits(model), pickle.dumps(model)) == before


@pytest.mark.parametrize("model", [model for model in LEARNERS if hasattr(model, "vote")], ids=repr)
def test_a_row_is_answered_alike_in_any_company(model: Any) -> None:
    model = learned(model)
    together = model.decision_function(X)
    assert [model.decision_function(X[k : k + 1]).tolist()[0] for k in range(ROWS)] == together.tolist()


@each_learner
def test_to_predict_beside_a_thread_that_learns(model: Any) -> None:
    """The classes grow meanwhile: what is answered, saved and pickled is the state between two calls that learn."""
    model, y = fresh(model), targets(model)
    if is_classifier(model) and not getattr(model, "budget", None):
        y = np.array([f"class {k // 20}" if k % 3 else "all along" for k in range(ROWS)])
    model.partial_fit(X[:2], y[:2])
    errors, done = [], threading.Event()

    def learn() -> None:
        try:
            for k in range(2, ROWS):
                model.partial_fit(X[k : k + 1], y[k : k + 1])
        finally:
            done.set()

    thread = threading.Thread(target=learn)
    thread.start()
    while not done.is_set():
        try:
            assert len(model.predict(X[:9])) == 9
            figures(model)
            pickle.loads(pickle.dumps(model)).predict(X[:2])
            reloaded(model).predict(X[:2])
        except Exception as error:
            errors.append(error)
    thread.join()
    assert not errors
    assert bits(model) == bits(fresh(model).partial_fit(X, y))


# ------------------------------------------------------------------ 5. the same in, the same out


WIDE = np.random.default_rng(4).normal(size=(ROWS, 700))


@each_learner
@pytest.mark.parametrize("threads", [1, 3])
def test_the_number_of_threads_does_not_matter(model: Any, threads: int) -> None:
    with threadpool_limits(2, user_api="blas"):
        expected = learned(model, WIDE)
        answers = expected.decision_function(WIDE).tolist() if hasattr(expected, "vote") else None
    with threadpool_limits(threads, user_api="blas"):
        found = learned(model, WIDE)
        assert bits(found) == bits(expected)
        if hasattr(found, "vote"):
            assert found.decision_function(WIDE).tolist() == answers


# ------------------------------------------------------------------ 6. no silent damage


def spoiled(value: float, sparse: bool) -> Any:
    rows = X.copy()
    rows[120, 2] = value
    return scipy.sparse.csr_matrix(rows) if sparse else rows


def refused(model: Any, method: str, *given: Any, **named: Any) -> None:
    """The call is refused by a ``ValueError``, and leaves no trace."""
    before = bits(model)
    with pytest.raises(ValueError, match=r"\w"):
        getattr(model, method)(*given, **named)
    assert bits(model) == before


@each_learner
def test_what_is_refused_leaves_no_trace(model: Any) -> None:
    y, dicts = targets(model), DICTS[:3]
    for there in (fresh(model), learned(model, SPARSE)):
        for method in ("fit", "partial_fit"):
            for value, sparse in ((np.nan, False), (np.inf, True), (-np.inf, False), (np.nan, True)):
                refused(there, method, spoiled(value, sparse), y)
            refused(there, method, X, y[:-1])
            refused(there, method, X, np.where(np.arange(ROWS) == 120, np.nan, SCORES))
            for weights in ([-1.0] * ROWS, [np.nan] * ROWS, [1.0, 2.0]):
                refused(there, method, X, y, sample_weight=weights)
        refused(there, "learn_one", {"new": 1.0, "bad": np.nan}, y[0])
        refused(there, "learn_one", DICTS[0], np.nan)
        refused(there, "learn_one", DICTS[0], y[0], importance=-1.0)
        refused(there, "learn_many", [*dicts, {"new": np.inf}], y[:4].tolist())
        refused(there, "learn_many", dicts, y[:4].tolist())
        refused(there, "learn_many", dicts, y[:3].tolist(), importance=[1.0, np.nan, 1.0])
    refused(there, "partial_fit", X[:, :3], y)
    refused(there, "predict", X[:, :3])
    refused(there, "predict", spoiled(np.nan, False))


@each_classifier
def test_a_label_that_was_not_named_is_refused(model: Any) -> None:
    model = fresh(model).partial_fit(SPARSE[:9], PAIR[:9], classes=["no", "yes"])
    refused(model, "partial_fit", X[9:], np.where(np.arange(9, ROWS) == 120, "other", PAIR[9:]))
    refused(model, "learn_one", DICTS[9], "other")
    refused(model, "learn_many", DICTS[9:12], ["yes", "other", "no"])
