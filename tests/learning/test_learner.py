"""Learner: growth, new and turned outputs, passes, marks, and the measures beside it."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

from cases import Data, batch_of, bits_of, cut, data_for, learner_for, loss_of
from covering import Case
from onlinear import losses, measures as measures, registry, rules
from onlinear.data.batch import Batch, rows_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Labels, Numbers, Signs
from onlinear.errors import BadInput, Diverged
from onlinear.kernels.learn.state import NORM, OBJECTIVE
from onlinear.learning.configuration import Settings
from onlinear.learning.growth import negate_output
from onlinear.learning.learner import Learner

BINARY_PAIRS = [pair for pair in registry.pairs() if pair[0] in registry.BINARY]
KINDS = ("dense", "sparse")


def narrow(batch: Batch, features: int) -> Batch:
    """The same rows without their last columns, which must be empty in sparse ones."""
    if isinstance(batch.rows, DenseRows):
        return Batch(DenseRows(batch.rows.values[:, :features].copy()), batch.targets, batch.importance)
    return batch


# ------------------------------------------------------------------ sparse rows of any length


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize(("rule", "slots"), [("adagrad", 2), ("ftrl", 3), ("normalised", 4)])
def test_cells_side_by_side_are_the_cells_of_the_table(rule: str, slots: int, outputs: int) -> None:
    """Rows of every length up to 80 entries: fours of them are turned at once, and long ones are added up in lanes."""
    rng = np.random.default_rng(5)
    dense = rng.normal(size=(81, 90))
    for length, row in enumerate(dense):
        row[rng.permutation(90)[length:]] = 0.0
    targets = Signs(rng.choice([-1.0, 1.0], size=81))
    batch = Batch(rows_of(scipy.sparse.csr_matrix(dense)), targets, np.ones(81))
    for settings in (Settings(), Settings(average=1.0), Settings(l2=0.01), Settings(l2=0.01, average=3.0)):
        if rule == "ftrl" and settings.l2 > 0.0:
            continue  # it has penalties of its own
        plain, quick = (
            Learner(
                losses.Logistic(),
                registry.RULES[rule](),
                features=90,
                outputs=outputs,
                settings=settings,
                compiled=compiled,
            )
            for compiled in (False, True)
        )
        for learner in (plain, quick):
            learner.learn(batch)
        assert plain.table.cells.shape[2] == slots + (settings.average > 0.0) + (settings.l2 > 0.0)
        np.testing.assert_allclose(quick.table.cells, plain.table.cells, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("compiled", [False, True])
def test_what_fills_a_row_up_does_no_harm(compiled: bool) -> None:
    """0 / 0 of a rule without epsilon, for an entry that the row does not have."""
    X = np.array([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, -1.0, 0.0]])
    dense, sparse = (
        Learner(losses.Logistic(), rules.AdaGrad(epsilon=0.0), features=4, compiled=compiled) for _ in range(2)
    )
    sparse.learn(Batch(rows_of(scipy.sparse.csr_matrix(X)), Signs(np.array([1.0, -1.0])), np.ones(2)))
    assert np.isfinite(sparse.weights()).all()
    for row, target in zip(X, (1.0, -1.0), strict=True):  # dense rows have zeros: learn those that have none
        there = row != 0.0
        part = Learner(losses.Logistic(), rules.AdaGrad(epsilon=0.0), features=2, compiled=compiled)
        part.table.bias[...], part.counters.array[...] = dense.table.bias, dense.counters.array
        part.learn(Batch(rows_of(row[None, there]), Signs(np.array([target])), np.ones(1)))
        dense.table.bias[...], dense.counters.array[...] = part.table.bias, part.counters.array
        np.testing.assert_allclose(sparse.weights()[0, there], part.weights()[0], rtol=1e-12)


# ------------------------------------------------------------------ growth


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), registry.pairs())
def test_a_feature_that_comes_later_was_there_all_along(loss: str, rule: str, kind: str) -> None:
    for settings in Case(loss, rule, kind, "float64", False).settings():
        check_growth(loss, rule, kind, settings)


def check_growth(loss: str, rule: str, kind: str, settings: Settings) -> None:
    data = data_for(loss)
    data.X[:12, 7:] = 0.0
    batch = batch_of(data, loss, kind)
    wide = learner_for(loss, rule, data, settings)
    grown = learner_for(loss, rule, data._replace(X=data.X[:, :7]), settings)
    wide.learn(cut(batch, 0, 12))
    grown.learn(narrow(cut(batch, 0, 12), 7))
    grown.grow(11)
    for learner in (wide, grown):
        learner.learn(cut(batch, 12, 30))
    # dense rows of 7 columns are summed in other lanes than rows of 11
    if kind == "sparse" and wide.kind != "matrix":
        np.testing.assert_array_equal(grown.weights(), wide.weights())
    np.testing.assert_allclose(grown.weights(), wide.weights(), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(grown.intercepts(), wide.intercepts(), rtol=1e-9, atol=1e-11)


# ------------------------------------------------------------------ outputs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), BINARY_PAIRS)
def test_a_class_that_comes_later_was_there_all_along(loss: str, rule: str, kind: str) -> None:
    """The last output stands for classes not yet seen; a new class starts as a copy of it."""
    data = data_for(loss, against_the_rest=True)
    y = data.y.copy()
    y[:10] = np.minimum(y[:10], 1)  # the third class comes late
    batch = batch_of(data._replace(y=y), loss, kind)

    def labelled(part: Batch, classes: int) -> Batch:
        return Batch(part.rows, Labels(part.targets.values, 0, classes), part.importance)

    for settings in Case(loss, rule, kind, "float64", False).settings():
        known = learner_for(loss, rule, data, settings)
        surprised = learner_for(loss, rule, data, settings, outputs=3)  # two classes and the unseen
        known.learn(cut(batch, 0, 10))
        surprised.learn(labelled(cut(batch, 0, 10), 2))
        surprised.add_output(source=2, at=2)
        assert surprised.outputs == 4
        known.learn(cut(batch, 10, 30))
        surprised.learn(labelled(cut(batch, 10, 30), 3))
        np.testing.assert_array_equal(surprised.weights()[:3], known.weights())
        np.testing.assert_array_equal(surprised.intercepts()[:3], known.intercepts())
        np.testing.assert_array_equal(surprised.counters.loss_sums[:3], known.counters.loss_sums)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "rule"), [pair for pair in BINARY_PAIRS if pair[0] != "binomial"])  # not even
def test_an_output_turned_round_is_that_of_the_opposite_targets(loss: str, rule: str, kind: str) -> None:
    data = data_for(loss)
    opposite = data._replace(y=-data.y)
    # the slopes of Binomial at (s, y) and (-s, -y) differ in the last bit
    close = {"rtol": 1e-11, "atol": 1e-13} if loss == "binomial" else {"rtol": 0.0, "atol": 0.0}
    for settings in Case(loss, rule, kind, "float64", False).settings():
        turned = learner_for(loss, rule, data, settings)
        straight = learner_for(loss, rule, data, settings)
        turned.learn(cut(batch_of(data, loss, kind), 0, 15))
        negate_output(turned, 0)
        straight.learn(cut(batch_of(opposite, loss, kind), 0, 15))
        np.testing.assert_allclose(turned.weights(), straight.weights(), **close)
        for learner in (turned, straight):
            learner.learn(cut(batch_of(opposite, loss, kind), 15, 30))
        np.testing.assert_allclose(turned.weights(), straight.weights(), **close)
        np.testing.assert_allclose(turned.intercepts(), straight.intercepts(), **close)


# ------------------------------------------------------------------ layout


def test_the_table_turns_and_turns_back() -> None:
    data = data_for("log_loss")
    learner = learner_for("log_loss", "adagrad", data)
    learner.learn(batch_of(data, "log_loss"))
    before = learner.weights()
    assert learner.table.layout is DenseRows
    learner.learn(cut(batch_of(data, "log_loss", "sparse"), 0, 0))
    assert learner.table.layout is SparseRows
    assert learner.features == 11
    np.testing.assert_array_equal(learner.weights(), before)
    learner.learn(cut(batch_of(data, "log_loss"), 0, 0))
    assert learner.table.layout is DenseRows
    np.testing.assert_array_equal(learner.weights(), before)


def test_rows_are_views_of_float_arrays() -> None:
    data = data_for("log_loss")
    for dtype in (np.float32, np.float64):
        X = data.X.astype(dtype)
        assert np.shares_memory(rows_of(X).values, X)
        S = data.sparse(dtype)
        rows = rows_of(S)
        assert np.shares_memory(rows.values, S.data)
        assert np.shares_memory(rows.columns, S.indices)
    assert rows_of(np.ones((2, 2), dtype=np.int8)).values.dtype == np.float64


def test_duplicate_columns_are_summed_and_the_matrix_left_alone() -> None:
    import scipy.sparse

    S = scipy.sparse.csr_matrix((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
    rows = rows_of(S)
    assert (rows.columns.tolist(), rows.values.tolist()) == ([0, 2], [2.0, 5.0])
    assert S.data.tolist() == [1.0, 2.0, 4.0]


# ------------------------------------------------------------------ marks and passes


def test_marks_stand_at_powers_of_two_and_now() -> None:
    data = data_for("hinge", plain=True)
    learner = learner_for("hinge", "sgd", data)
    assert learner.marks() == []
    learner.learn(batch_of(data, "hinge"))
    assert [mark.examples for mark in learner.marks()] == [1, 2, 4, 8, 16, 30]
    assert learner.marks()[-1].loss == learner.counters.loss_sums[0] / 30
    assert learner.marks()[-1].mistakes == learner.mistakes[0]
    assert learner.marks()[0].loss == loss_of("hinge").margin  # the first score is 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_a_tracked_pass_sums_loss_and_penalty(kind: str, l1: float) -> None:
    """What a stopping rule watches: loss plus penalty, each at the weights that scored the row."""
    data = data_for("log_loss", plain=True)
    settings = Settings(l1=l1, l2=0.1)
    batch = batch_of(data, "log_loss", kind)
    tracked, free = (learner_for("log_loss", "sgd", data, settings) for _ in range(2))
    expected = 0.0
    for i in range(30):
        w = free.weights()
        expected += 0.05 * (w**2).sum() + l1 * np.abs(w).sum()
        free.learn(cut(batch, i, i + 1))
    tracked.start_pass()
    tracked.learn(batch, track=True)
    assert tracked.counters.objectives[0] == pytest.approx(expected + free.counters.loss_sums[0], rel=1e-11)
    untracked = free.counters  # whose objective is the loss alone
    assert untracked.objectives[0] == pytest.approx(untracked.loss_sums[0], rel=1e-11)
    if not l1:
        assert tracked.counters.array[0, NORM] == pytest.approx((tracked.weights() ** 2).sum(), rel=1e-11)
    np.testing.assert_array_equal(tracked.weights(), free.weights())
    tracked.start_pass()
    assert tracked.counters.array[0, OBJECTIVE] == 0.0


def test_an_empty_batch_changes_nothing() -> None:
    learner = learner_for("hinge", "sgd", data_for("hinge"))
    before = bits_of(learner)
    learner.learn(cut(batch_of(data_for("hinge"), "hinge"), 0, 0))
    assert bits_of(learner) == before


def test_rows_without_entries_move_only_the_intercept() -> None:
    learner = Learner(losses.Hinge(), rules.SGD(rules.Constant(1.0)), features=2, compiled=False)
    import scipy.sparse

    learner.learn(Batch(rows_of(scipy.sparse.csr_matrix((1, 2))), Signs(np.ones(1)), np.ones(1)))
    assert (learner.weights().tolist(), learner.intercepts().tolist()) == ([[0.0, 0.0]], [1.0])


# ------------------------------------------------------------------ measures


def test_zero_one_answers_ties_as_predict_does() -> None:
    assert measures.zero_one(0.0, -1.0) == 0.0
    assert measures.zero_one(0.0, 1.0) == 1.0
    assert measures.zero_one([0.2, 0.2, 0.1], 0) == 0.0
    assert measures.zero_one([0.2, 0.2, 0.1], 1) == 1.0
    assert measures.zero_one([[0.0, 1.0], [2.0, 1.0]], [1, 1]).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "softmax"])
def test_progressive_risk_is_the_loss_sum(loss: str) -> None:
    data: Data = data_for(loss)
    learner = learner_for(loss, "sgd", data)
    batch = batch_of(data, loss)
    scores = np.zeros((30, learner.outputs))
    for i in range(30):
        scores[i] = learner.scores(data.X[i : i + 1])[0]
        learner.learn(cut(batch, i, i + 1))
    scores = scores if data.classes else scores[:, 0]
    risk = measures.risk(loss_of(loss), scores, data.y, data.importance)
    assert risk == pytest.approx(learner.counters.loss_sums[0] / data.importance.sum(), rel=1e-12)
    wrong = measures.zero_one(scores, data.y)[data.importance > 0.0].sum()
    assert wrong == learner.mistakes.sum()


def test_risk_by_hand() -> None:
    assert measures.risk(losses.Squared(), [1.0, 3.0], [0.0, 0.0]) == 2.5
    assert measures.risk(losses.Squared(), [1.0, 3.0], [0.0, 0.0], [3.0, 1.0]) == 1.5
    assert measures.risk(losses.Softmax(), np.zeros((2, 4)), [0, 3]) == pytest.approx(math.log(4.0))
    assert measures.risk(measures.zero_one, np.eye(3), [0, 1, 0]) == pytest.approx(1.0 / 3.0)


def test_risk_refuses_what_has_none() -> None:
    with pytest.raises(BadInput, match="score of row 1"):
        measures.risk(losses.Hinge(), [1.0, np.nan], [1.0, 1.0])
    with pytest.raises(BadInput, match="importance of all rows is 0"):
        measures.risk(losses.Hinge(), [1.0], [1.0], [0.0])
    with pytest.raises(BadInput, match="give one a row"):
        measures.risk(losses.Hinge(), [1.0, 2.0], [1.0])


# ------------------------------------------------------------------ a row that is undone


@pytest.mark.parametrize(
    ("schedule", "settings"),
    [(rules.Constant(0.4), Settings(l2=1.0)), (rules.Pegasos(0.01), Settings(l2=0.0195, forget=0.999))],
    ids=["constant", "forgetting"],
)
@pytest.mark.parametrize("warm", [103, 123, 127])
def test_rows_that_are_undone_leave_no_trace_in_other_cells(schedule: object, settings: Settings, warm: int) -> None:
    """A strong L2 penalty writes its scale into the whole table, also while rows are learned that are undone."""
    rng = np.random.default_rng(warm)
    X = np.zeros((warm + 60, 1000))
    X[:warm, 500:504] = rng.normal(size=(warm, 4)) * 0.01
    X[warm:, :4] = rng.normal(size=(60, 4)) * 0.01
    X[-1, :4] = 1e200

    def learned(*stops: int) -> Learner:
        learner = Learner(losses.Squared(), rules.SGD(schedule), features=1000, settings=settings)
        for start, stop in zip((0, *stops), stops, strict=False):
            rows = rows_of(scipy.sparse.csr_matrix(X[start:stop]))
            learner.learn(Batch(rows, Numbers(np.ones(stop - start)), np.ones(stop - start)))
        return learner

    undone, plain = learned(warm), learned(warm, warm + 59)
    rows = rows_of(scipy.sparse.csr_matrix(X[warm:]))
    with pytest.raises(Diverged):
        undone.learn(Batch(rows, Numbers(np.ones(60)), np.ones(60)))
    assert undone.weights().tobytes() == plain.weights().tobytes()
