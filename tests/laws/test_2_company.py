"""Law 2: a row is answered alike, alone and in any company: the same bits, dense or sparse, in every dtype.

Also by a snapshot, and by ``predict_one`` where its dict has the entries of a sparse row.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse

import onlinear
from listed import fresh
from onlinear import losses, registry
from onlinear.data.rows import dense_dot, sparse_dot
from onlinear.learning.classes import Classes
from onlinear.learning.predictor import Predictor

pytestmark = pytest.mark.compiles

ROWS = 13
RNG = np.random.default_rng(6)
#: dense rows are added up in lanes from 128 columns on, sparse ones from 64 entries on
WIDTHS = (1, 5, 127, 128, 150, 400)
OUTPUTS = (1, 2, 3, 10)
DTYPES = (np.float64, np.float32)


def rows_of_width(width: int, kind: str, dtype: Any) -> Any:
    """Rows of every length from none to all, if they are sparse."""
    X = RNG.normal(size=(ROWS, width)).astype(dtype)
    if kind != "sparse":
        return np.asfortranarray(X) if kind == "by column" else X
    X[RNG.random(X.shape) > np.linspace(0.0, 1.0, ROWS)[:, None]] = 0.0
    return scipy.sparse.csr_matrix(X)


def predictor_of(outputs: int, width: int, loss: Any) -> Predictor:
    """Any weights, with a scale beside them as a penalty leaves it."""
    classes = Classes.closed(np.arange(max(outputs, 2)))
    if outputs == 2 and not hasattr(loss, "slopes"):
        outputs = 1
    numbers = RNG.normal(size=(width, outputs)), RNG.random(outputs), RNG.normal(size=outputs)
    return Predictor(*numbers, loss, classes)


def product(weights: np.ndarray, rows: Any, i: int) -> float:
    """A row times the weights of an output, as the learner adds it up, interpreted."""
    if not scipy.sparse.issparse(rows):
        return dense_dot(weights, rows[i])
    entries = slice(rows.indptr[i], rows.indptr[i + 1])
    return sparse_dot(rows.indices[entries], rows.data[entries], weights[:, None, None], 0, 0)


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("kind", ["dense", "by column", "sparse"])
@pytest.mark.parametrize("width", WIDTHS)
def test_a_row_has_the_scores_that_it_has_alone(width: int, kind: str, dtype: Any) -> None:
    for outputs in OUTPUTS:
        rows = rows_of_width(width, kind, dtype)
        numbers = RNG.normal(size=(width, outputs)), RNG.random(outputs), RNG.normal(size=outputs)
        predictor = Predictor(*numbers, losses.Logistic(), None)
        together = predictor.scores(rows)
        expected = [
            [product(numbers[0][:, m], rows, i) * numbers[1][m] + numbers[2][m] for m in range(outputs)]
            for i in range(ROWS)
        ]
        assert together.tolist() == expected
        for cuts in (range(ROWS + 1), (0, 1, 4, 9, ROWS)):
            parts = [predictor.scores(rows[start:stop]) for start, stop in pairwise(cuts)]
            assert np.concatenate(parts).tobytes() == together.tobytes()
        assert predictor.scores(rows[:0]).shape == (0, outputs)


@pytest.mark.parametrize("width", [5, 127, 128])
def test_columns_of_a_frame_are_scored_where_they_lie(width: int) -> None:
    rows = rows_of_width(width, "dense", np.float64)
    by_column = np.asfortranarray(np.tile(rows, (200, 1)))  # more rows than are taken together
    for classes in (2, 4, 6):
        model = onlinear.SGDClassifier(random_state=0).fit(rows, np.arange(ROWS) % classes)
        assert (
            model.decision_function(by_column).tolist()
            == np.concatenate([model.decision_function(rows)] * 200).tolist()
        )
        by_column.flags.writeable = False
        assert model.predict(by_column).tolist() == model.predict(rows).tolist() * 200
        by_column.flags.writeable = True


class Tilted(NamedTuple):
    """A loss of one's own, with a link of its own."""

    tilt: float = 0.25

    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= 0.0 else 0.0

    def link(self, score: float) -> float:
        return 1.0 / (1.0 + 3.0 ** (-score * self.tilt))


class Unlikely(NamedTuple):
    """A loss whose link only Python can run, and which gives no class a chance."""

    def value(self, score: float, target: float) -> float:
        return max(0.0, -target * score)

    def slope(self, score: float, target: float) -> float:
        return -target if target * score <= 0.0 else 0.0

    def link(self, score: float) -> float:
        return float(f"{0.0 * score:f}")


class Shares(NamedTuple):
    """A loss over all scores of a row, whose link sees more than their differences."""

    def value(self, scores: Any, label: int) -> float:
        return -scores[label]

    def slopes(self, scores: Any, label: int, out: Any) -> None:
        out[:] = 0.0
        out[label] = -1.0

    def link(self, scores: Any, out: Any) -> None:
        total = 0.0
        for m in range(scores.shape[0]):
            out[m] = scores[m] * scores[m]
            total += out[m]
        for m in range(scores.shape[0]):
            out[m] /= total


LINKED = [cls() for cls in registry.LOSSES.values() if hasattr(cls, "link")] + [Tilted(), Unlikely(), Shares()]


def linked(loss: Any, scores: np.ndarray) -> list[float]:
    """The probabilities of a row, by the loss's own link as Python runs it."""
    if hasattr(loss, "slopes"):
        found = np.empty(len(scores))
        loss.link(scores, found)
        return found.tolist()
    each = [loss.link(score) for score in scores.tolist()]
    if len(each) == 1:
        return [1.0 - each[0], each[0]]
    total = 0.0
    for probability in each:
        total += probability
    return [probability / total if total > 0.0 else 1.0 / len(each) for probability in each]


@pytest.mark.parametrize("loss", LINKED, ids=lambda loss: type(loss).__name__)
def test_probabilities_are_those_of_the_link(loss: Any) -> None:
    for outputs in OUTPUTS[1:]:
        predictor = predictor_of(outputs, 5, loss)
        scores = 3.0 * predictor.scores(rows_of_width(5, "dense", np.float64))
        together = predictor.probabilities(scores)
        assert together.tolist() == [linked(loss, row) for row in scores]
        np.testing.assert_allclose(together.sum(axis=1), 1.0)
        for i in range(ROWS):
            assert predictor.probabilities(scores[i : i + 1]).tobytes() == together[i].tobytes()


#: with an L2 penalty as a scale, an L1 penalty that waits, an average, a matrix, and both losses over all classes
MODELS = [
    onlinear.OnlineClassifier(),
    onlinear.OnlineClassifier("softmax", "sgd"),
    onlinear.OnlineClassifier("log_loss", "adagrad", l1=1e-4, l2=1e-3),
    onlinear.OnlineClassifier("log_loss", "newton"),
    onlinear.SGDClassifier(loss="log_loss"),
    onlinear.SGDClassifier(loss="modified_huber", penalty="l1", average=5),
    onlinear.OnlineRegressor(average=True),
]
LONG = 400


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("labels", [2, 3])
def test_a_model_answers_a_row_as_in_a_table(model: Any, labels: int) -> None:
    y = np.arange(60) % labels
    width = 40 if "newton" in repr(model) else LONG
    table = scipy.sparse.random(60, width, 0.4, format="csr", random_state=1, data_rvs=RNG.standard_normal)
    there = fresh(model).partial_fit(table, y)
    snapshot, answers = there.snapshot(), ["predict"]
    answers += ["decision_function", "predict_proba"] if hasattr(there, "classes_") else []
    for rows in (table, table.astype(np.float32), table.toarray(), table.toarray().astype(np.float32)):
        for answer in answers:
            together = getattr(there, answer)(rows)
            assert together.tobytes() == getattr(snapshot, answer)(rows).tobytes()
            alone = [getattr(there, answer)(rows[i : i + 1]) for i in range(0, 60, 7)]
            assert np.concatenate(alone).tobytes() == np.ascontiguousarray(together[::7]).tobytes()
    check_dicts(there, table)


def check_dicts(model: Any, rows: Any) -> None:
    """``predict_one`` gives the bits of a sparse row of a table."""
    for i in range(0, 60, 7):
        entries = slice(rows.indptr[i], rows.indptr[i + 1])
        row = dict(zip(rows.indices[entries].tolist(), rows.data[entries].astype(np.float64).tolist(), strict=True))
        assert model.predict_one(row) == model.predict(rows[i])[0]
        if hasattr(model, "classes_"):
            assert list(model.predict_proba_one(row).values()) == model.predict_proba(rows[i])[0].tolist()


def test_a_snapshot_answers_dicts_and_never_changes() -> None:
    rows = [{f"x{j}": float(RNG.normal()) for j in range(k % 90)} for k in range(200)]
    for model, targets in ((onlinear.OnlineClassifier(), ["a", "b", "c"]), (onlinear.OnlineRegressor(), [1.0, 2.0])):
        for k, row in enumerate(rows[:100]):
            model.learn_one(row, targets[k % len(targets)])
        snapshot = model.snapshot()
        assert model.snapshot() is snapshot
        answers = [model.predict_one(row) for row in rows]
        assert [snapshot.predict_one(row) for row in rows] == answers
        if hasattr(model, "classes_"):
            expected = [model.predict_proba_one(row) for row in rows]
            assert [snapshot.predict_proba_one(row) for row in rows] == expected
        weights = snapshot.weights.tobytes()
        for k, row in enumerate(rows[100:]):
            model.learn_one(row | {"new": 1.0}, targets[k % len(targets)])
        assert model.snapshot() is not snapshot
        assert [snapshot.predict_one(row) for row in rows] == answers
        assert snapshot.weights.tobytes() == weights
        with pytest.raises(ValueError, match="read-only"):
            snapshot.weights[0, 0] = 1.0


def test_weights_that_are_assigned_answer_as_they_are_shown() -> None:
    X = RNG.normal(size=(20, 3))
    for loss, labels in (("log_loss", 2), ("softmax", 2), ("softmax", 3)):
        model = onlinear.OnlineClassifier(loss, "sgd").partial_fit(X, np.arange(20) % labels)
        model.coef_ = np.ones(model.coef_.shape)
        scores = model.decision_function(X).reshape(20, -1)
        np.testing.assert_allclose(scores, X @ model.coef_.T + model.intercept_)
        assert model.predict_proba(X).shape == (20, labels)
        second = model.predict_proba(X)[:, 1] > 0.5
        assert labels == 3 or (model.predict(X) == second).all()
