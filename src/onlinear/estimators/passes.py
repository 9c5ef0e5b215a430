"""Passes over a training set: in which order, and when to stop."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from onlinear.data.batch import Batch
from onlinear.data.rows import SparseRows
from onlinear.data.targets import Numbers
from onlinear.errors import BadInput, Diverged
from onlinear.estimators.base import Recipe, Start
from onlinear.estimators.checks import all_or_nothing, refuse_all_zero
from onlinear.estimators.shuffles import shuffled_orders
from onlinear.kernels.learn.state import ACTIVE, NORM, OBJECTIVE, PACE, T
from onlinear.learning.learner import Learner
from onlinear.system.interrupts import uninterrupted

ORDERS = ("stream", "shuffle", "replacement")


def orders(kind: str, length: int, random_state: Any) -> Iterator[Any]:
    """For each pass the order of the rows: as they come (None), shuffled, or drawn with replacement."""
    rng = check_random_state(random_state)
    while True:
        if kind == "stream":
            yield None
        elif kind == "shuffle":
            yield rng.permutation(length)
        else:
            yield rng.randint(length, size=length)


class Turns:
    """The order of the rows for each pass, and when passes without an update have seen every row.

    Rows that are drawn with replacement miss some: after a pass without an update comes one over all rows as they come.
    """

    def __init__(self, kind: str, length: int, random_state: Any) -> None:
        self.drawn = kind == "replacement"
        self.orders = orders(kind, length, random_state)
        self.all_rows = False  # whether the pass is one over all rows for once

    def next(self) -> Any:
        return None if self.all_rows else next(self.orders)

    def comes_to_rest(self, updated: bool) -> bool:
        """Whether no row asks for an update any more, by what the pass has brought."""
        seen_all = self.all_rows or not self.drawn
        self.all_rows = not updated
        return not updated and seen_all


class Sweeps:
    """``fit`` for the native classes: pass after pass until one brings no update."""

    _learner: Learner | None
    _pass_starts: list[tuple[int, int]]
    _path: Any
    _settled: Any

    def _sweep(self: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        if self.warm_start:
            self._refuse_slim()
        with all_or_nothing(self):
            rows, targets, importance, _ = self._prepare(X, y, sample_weight, Start(), keep=self.warm_start)
            refuse_all_zero(importance)
            learner = self._learner
            names = getattr(self, "feature_names_in_", None)
            batch = Batch(rows, targets, importance, names)
            self._pass_starts = []
            self.converged_ = False
            turns = Turns(self.order, len(batch), self.random_state)
            for number in range(1, self.max_iter + 1):
                self._begin_pass()
                self.n_iter_ = number
                before = learner.updates.sum()
                learner.learn(batch, turns.next())
                if not self.warm_start:  # then a new learner, which an interrupted fit takes back
                    uninterrupted.let_through()
                if turns.comes_to_rest(learner.updates.sum() > before):
                    self.converged_ = True
                    self._settled = self._path = None  # the next learning has to look twice, and unsets it
                    break
        if not self.converged_ and self.max_iter > 1 and comes_to_rest(learner.losses[0]):
            numbers = isinstance(targets, Numbers)
            reason = "no weights may come near enough to all targets" if numbers else "the classes may not be separable"
            warnings.warn(
                f"after {self.max_iter} passes there still are updates: {reason}; "
                "raise max_iter, or be content with this",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self


def comes_to_rest(loss: Any) -> bool:
    """Whether there are scores at which a loss asks for no update: a smooth loss always wants more."""
    if hasattr(loss, "slopes"):
        slopes = np.ones(2)
        loss.slopes(np.array([30.0, 0.0]), 0, slopes)
        return not slopes.any()
    return loss.slope(30.0, 1.0) == 0.0 or loss.slope(1.0 + 1e-9, 1.0) == 0.0


class Epochs:
    """``fit`` for the drop-ins: scikit-learn's epochs, its tolerance and its early stopping.

    Every output stops on its own. What is compared with ``tol`` is the mean over a pass of loss and penalty, or the
    score on the validation rows.
    """

    _learner: Learner | None
    _pass_starts: list[tuple[int, int]]

    def _fit_epochs(self: Any, X: Any, y: Any, start: Start, sample_weight: Any) -> Any:
        if self.warm_start and self._learner is not None:
            start = self._warm(start)
        with all_or_nothing(self):
            rows, targets, importance, truth = self._prepare(X, y, sample_weight, start)
            held_out = self._held_out(truth, importance)
            if held_out is None:
                refuse_all_zero(importance)
            names = getattr(self, "feature_names_in_", None)
            self._run_epochs(Batch(rows, targets, importance, names), held_out)
        self._warn()
        return self

    def _warm(self: Any, start: Start) -> Start:
        now = self._now()
        return Start(
            now.weights if start.weights is None else start.weights,
            now.intercepts if start.intercepts is None else start.intercepts,
        )

    def _run_epochs(self: Any, batch: Batch, held_out: np.ndarray | None) -> None:
        learner = self._learner
        turns = self._turns(len(batch), held_out)
        recipe = self._recipe(learner.features, isinstance(batch.rows, SparseRows))
        stopping = Stopping(self, learner, recipe, batch, held_out)
        self._pass_starts = []
        self.n_iter_ = 0
        for number in range(1, self.max_iter + 1):
            self._begin_pass()
            self.n_iter_ = number
            try:
                learner.learn(batch, next(turns), track=stopping.tracks)
            except Diverged as error:
                raise Diverged(
                    f"Floating-point under-/overflow occurred at epoch #{number}. "
                    f"Scaling input data with StandardScaler or MinMaxScaler might help. {error}"
                ) from None
            uninterrupted.let_through()
            if stopping.after(number):
                break
        stopping.leave(self.n_iter_ * np.count_nonzero(batch.importance))

    def _turns(self: Any, length: int, held_out: np.ndarray | None) -> Iterator[Any]:
        """For each pass the order of the rows, those for validation left out."""
        if self.shuffle:
            turns: Iterator[Any] = shuffled_orders(length, self._shuffle_seed())
        else:
            turns = repeat(None if held_out is None else np.arange(length))
        if held_out is None:
            return turns
        present = np.ones(length, dtype=bool)
        present[held_out] = False
        return (order[present[order]] for order in turns)

    def _held_out(self: Any, truth: np.ndarray, importance: np.ndarray) -> np.ndarray | None:
        """The rows for validation; None without early stopping."""
        if not self.early_stopping:
            return None
        from sklearn.base import is_classifier
        from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

        split = StratifiedShuffleSplit if is_classifier(self) else ShuffleSplit
        splitter = split(test_size=self.validation_fraction, random_state=self.random_state)
        _, held_out = next(splitter.split(np.zeros((len(truth), 1)), truth))
        if not importance[held_out].any():
            raise BadInput(
                "The sample weights for validation set are all zero, consider using a different random state."
            )
        return np.asarray(held_out)

    def _warn(self: Any) -> None:
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. "
                "Consider increasing max_iter to improve the fit.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if getattr(self, "power_t", 0.0) < 0:
            warnings.warn(
                "Negative values for `power_t` are deprecated: the rate would grow with time. "
                "Use a value of at least 0",
                FutureWarning,
                stacklevel=4,
            )


class Stopping:
    """When each output stops, and what the ``adaptive`` rate does instead."""

    def __init__(self, estimator: Any, learner: Learner, recipe: Recipe, batch: Batch, held_out: Any) -> None:
        self.estimator = estimator
        self.learner = learner
        self.recipe = recipe
        self.batch = batch
        self.held_out = held_out
        self.best = np.full(learner.outputs, np.inf)
        self.idle = np.zeros(learner.outputs, dtype=int)
        self.rates = np.full(learner.outputs, getattr(estimator, "eta0", 1.0), dtype=float)
        self.adaptive = getattr(estimator, "learning_rate", None) == "adaptive"
        asked = estimator.tol is not None or estimator.verbose
        penalised = recipe.settings.l1 > 0.0 or recipe.settings.l2 > 0.0
        passive = not hasattr(recipe.rule, "rate") and not hasattr(recipe.rule, "schedule")
        self.tracks = bool(asked and penalised and held_out is None and not passive)
        shown = batch.importance if held_out is None else np.delete(batch.importance, held_out)
        self.count = max(int(np.count_nonzero(shown)), 1)
        if self.tracks:
            weights = learner.weights(averaged=False)
            learner.clock[:, NORM] = (weights**2).sum(axis=1)

    def after(self, number: int) -> bool:
        """Look at a finished pass; answer whether all outputs have stopped."""
        clock = self.learner.clock
        if self.estimator.verbose:
            self.report(number)
        if self.estimator.tol is None:
            return False
        active = clock[:, ACTIVE] > 0.0
        measure = clock[:, OBJECTIVE] / self.count if self.held_out is None else -self.scores()
        worse = measure > self.best - self.estimator.tol
        self.idle = np.where(worse, self.idle + 1, 0)
        self.best = np.minimum(self.best, measure)
        tired = active & (self.idle >= self.estimator.n_iter_no_change)
        if self.adaptive and tired.any():
            slower = tired & (self.rates > 1e-6)
            self.rates[slower] /= 5.0
            self.idle[slower] = 0
            tired &= ~slower
            self.learner.rules = self.rules()
        clock[tired, ACTIVE] = 0.0
        return not (clock[:, ACTIVE] > 0.0).any()

    def rules(self) -> list[Any]:
        """The rule with each output's own rate; a single one while they are all the same."""
        rule = self.recipe.rule
        rates = self.rates[:1] if (self.rates == self.rates[0]).all() else self.rates
        return [rule._replace(schedule=rule.schedule._replace(rate=float(rate))) for rate in rates]

    def scores(self) -> np.ndarray:
        """How well each output does on the validation rows: accuracy, or R squared."""
        weights, intercepts = self.learner._read(False)
        return validation_scores(self.batch, self.held_out, weights, intercepts)

    def report(self, number: int) -> None:
        weights, intercepts = self.learner._read(False)
        clock = self.learner.clock
        for m in range(self.learner.outputs):
            if clock[m, ACTIVE] > 0.0:
                print(
                    f"pass {number}, output {m}: |w| {np.linalg.norm(weights[m]):.4g}, "
                    f"{np.count_nonzero(weights[m])} weights, intercept {intercepts[m]:.6g}, "
                    f"objective {clock[m, OBJECTIVE] / self.count:.6g}"
                )

    def leave(self, examples: int) -> None:
        """Hand the learner on, ready for a stream: all outputs learn again and count as scikit-learn counts."""
        self.learner.clock[:, ACTIVE] = 1.0
        self.learner.clock[:, [T, PACE]] = float(examples)
        self.learner.rules = [self.recipe.rule]


def validation_scores(batch: Batch, held_out: np.ndarray, weights: np.ndarray, intercepts: np.ndarray) -> np.ndarray:
    """Accuracy of each output's signs on the rows held out; for numbers the coefficient of determination."""
    from sklearn.metrics import r2_score

    scores = rows_times(batch.rows, held_out, weights) + intercepts
    importance = batch.importance[held_out]
    targets = batch.targets
    if isinstance(targets, Numbers):
        truth = targets.values[held_out]
        return np.array([r2_score(truth, scores[:, 0], sample_weight=importance)])
    outputs = range(len(weights))
    signs = np.array([[targets.target_of(i, m) for m in outputs] for i in held_out])
    right = (scores > 0.0) == (signs > 0.0)
    return np.average(right, axis=0, weights=importance)


def rows_times(rows: Any, which: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if isinstance(rows, SparseRows):
        import scipy.sparse

        parts = (rows.values, rows.columns.view(rows.starts.dtype), rows.starts)
        matrix = scipy.sparse.csr_matrix(parts, shape=(len(rows.starts) - 1, weights.shape[1]))
        return np.asarray(matrix[which] @ weights.T)
    return np.asarray(rows.values[which] @ weights.T)
