"""``fit``: passes over a training set, in which order, and when to stop.

The native classes go over the rows until a pass brings no update (:func:`fit_passes`); the drop-ins have scikit-learn's
epochs, its tolerance, its early stopping (:func:`fit_epochs`) and its shuffled orders, so that the same seed means the
same model: it draws one seed for each binary problem, and shuffles before every epoch with that same seed, so that each
epoch applies the same permutation to the order of the epoch before. The permutation is Fisher and Yates's, driven by
Marsaglia's 32-bit xorshift generator with the shifts 13, 17, 5.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from onlinear.data.batch import Batch, take_rows
from onlinear.data.rows import DenseRows
from onlinear.data.targets import Numbers
from onlinear.errors import BadInput, Diverged
from onlinear.estimators.checks import refuse_all_zero
from onlinear.estimators.linear import Start, undo_if_refused
from onlinear.learning.learner import Learner
from onlinear.learning.rest import comes_to_rest
from onlinear.learning.runs import come_in_runs
from onlinear.system.interrupts import uninterrupted

LARGEST_SEED = np.iinfo(np.int32).max
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


def fit_passes(estimator: Any, X: Any, y: Any, sample_weight: Any, start: Start) -> Any:
    """``fit`` for the native classes: pass after pass until one brings no update.

    With a warm start it goes on with all that was learned, unless weights to ``start`` from are given.
    """
    warm = estimator.warm_start and start.weights is None and start.intercepts is None
    if warm:
        estimator._refuse_slim()
    with undo_if_refused(estimator):
        rows, targets, importance, codes = estimator._prepare(X, y, sample_weight, start, keep=warm)
        refuse_all_zero(importance)
        warn_of_runs(estimator, codes[importance > 0.0], stacklevel=4)
        model = estimator._model
        learner = model.learner
        batch = Batch(rows, targets, importance, model.column_names)
        model.pass_starts = []
        estimator.converged_ = False
        turns = Turns(estimator.order, len(batch.importance), estimator.random_state)
        for number in range(1, estimator.max_iter + 1):
            model.start_pass()
            estimator.n_iter_ = number
            before = learner.updates.sum()
            learner.learn(batch, turns.next())
            if not warm:  # then a new model, which an interrupted fit takes back
                uninterrupted.let_through()
            if turns.comes_to_rest(learner.updates.sum() > before):
                estimator.converged_ = True
                estimator._settled = estimator._learning_path = (
                    None  # the next learning has to look twice, and unsets it
                )
                break
    if not estimator.converged_ and estimator.max_iter > 1 and comes_to_rest(learner.losses[0]):
        numbers = isinstance(targets, Numbers)
        reason = "no weights may come near enough to all targets" if numbers else "the classes may not be separable"
        warnings.warn(
            f"after {estimator.max_iter} passes there still are updates: {reason}; "
            "raise max_iter, or be content with this",
            ConvergenceWarning,
            stacklevel=3,
        )
    return estimator


def warn_of_runs(estimator: Any, codes: np.ndarray, *, stacklevel: int) -> None:
    """Warn if labels come in runs, and rows are learned in the order in which they come."""
    if estimator.order == "stream" and is_classifier(estimator) and come_in_runs(codes):
        warnings.warn(
            "the labels come in runs, as if the rows were sorted by them: what is learned first is forgotten while the "
            'last class comes; shuffle the rows, or say order="shuffle"',
            UserWarning,
            stacklevel=stacklevel,
        )


def fit_epochs(estimator: Any, X: Any, y: Any, start: Start, sample_weight: Any) -> Any:
    """``fit`` for the drop-ins: scikit-learn's epochs, its tolerance and its early stopping.

    Every output stops on its own. What is compared with ``tol`` is the mean over a pass of loss and penalty, or the
    score on the validation rows.
    """
    if estimator.warm_start and estimator._model is not None:
        now = estimator._predictor()
        start = Start(
            now.weights if start.weights is None else start.weights,
            now.intercepts if start.intercepts is None else start.intercepts,
        )
    with undo_if_refused(estimator):
        rows, targets, importance, truth = estimator._prepare(X, y, sample_weight, start)
        held_out = validation_rows(estimator, truth, importance)
        if held_out is None:
            refuse_all_zero(importance)
        batch = Batch(rows, targets, importance, estimator._model.column_names)
        run_epochs(estimator, batch, held_out)
    warn_of_epochs(estimator)
    if estimator._textbook is not None and held_out is None:
        warn_if_unseparated(estimator, batch)
    return estimator


def run_epochs(estimator: Any, batch: Batch, held_out: np.ndarray | None) -> None:
    """Learn pass after pass, until all outputs have stopped."""
    model = estimator._model
    turns = epoch_orders(estimator, len(batch.importance), held_out)
    stopping = Stopping(estimator, model.learner, batch, held_out)
    model.pass_starts = []
    for number in range(1, estimator.max_iter + 1):
        model.start_pass()
        estimator.n_iter_ = number
        try:
            model.learner.learn(batch, next(turns), track=stopping.tracks)
        except Diverged as error:
            raise Diverged(
                f"Floating-point under-/overflow occurred at epoch #{number}. "
                f"Scaling input data with StandardScaler or MinMaxScaler might help. {error}"
            ) from None
        uninterrupted.let_through()
        if stopping.after(number):
            break
    stopping.leave(estimator.n_iter_ * np.count_nonzero(batch.importance))


#: entries that are learned once more at most to see whether classes are separable that were left unseparated, where
#: each pass counts as so many more
TRIAL, TRIAL_PASS = 1_000_000, 5_000


def warn_if_unseparated(estimator: Any, batch: Batch) -> None:
    """Warn if ``tol`` has ended a fit before its weights separated classes that further passes do separate."""
    if estimator.tol is None or estimator.penalty is not None or estimator.n_iter_ == estimator.max_iter:
        return
    rows = batch.rows
    entries = rows.values.size if isinstance(rows, DenseRows) else int(rows.starts[-1])
    turns, most = epoch_orders(estimator, len(batch.importance), None), TRIAL // (TRIAL_PASS + entries)
    more = passes_to_rest(estimator._model.copy().learner, batch, turns, most)
    if more:
        warnings.warn(
            f"tol={estimator.tol} ended the fit after {estimator.n_iter_} passes, {more} before the classes were "
            f"separated: {estimator._textbook} goes on until no mistake is left, as the perceptron is taught",
            ConvergenceWarning,
            stacklevel=4,
        )


def passes_to_rest(learner: Learner, batch: Batch, turns: Iterator[Any], most: int) -> int:
    """How many passes bring updates before one brings none; 0 if so many bring some."""
    for number in range(most):
        before = learner.updates.sum()
        try:
            learner.learn(batch, next(turns))
        except Diverged:
            return 0
        if learner.updates.sum() == before:
            return number
        uninterrupted.let_through()
    return 0


def epoch_orders(estimator: Any, length: int, held_out: np.ndarray | None) -> Iterator[Any]:
    """For each pass the order of the rows, those for validation left out."""
    if estimator.shuffle:
        turns: Iterator[Any] = shuffled_orders(length, estimator._shuffle_seed())
    else:
        turns = repeat(None if held_out is None else np.arange(length))
    if held_out is None:
        return turns
    present = np.ones(length, dtype=bool)
    present[held_out] = False
    return (order[present[order]] for order in turns)


def validation_rows(estimator: Any, truth: np.ndarray, importance: np.ndarray) -> np.ndarray | None:
    """The rows for validation; None without early stopping."""
    if not estimator.early_stopping:
        return None
    from sklearn.base import is_classifier
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    split = StratifiedShuffleSplit if is_classifier(estimator) else ShuffleSplit
    splitter = split(test_size=estimator.validation_fraction, random_state=estimator.random_state)
    _, held_out = next(splitter.split(np.zeros((len(truth), 1)), truth))
    if not importance[held_out].any():
        raise BadInput("The sample weights for validation set are all zero, consider using a different random state.")
    return np.asarray(held_out)


def warn_of_epochs(estimator: Any) -> None:
    if estimator.tol is not None and estimator.n_iter_ == estimator.max_iter:
        warnings.warn(
            "Maximum number of iteration reached before convergence. Consider increasing max_iter to improve the fit.",
            ConvergenceWarning,
            stacklevel=4,
        )
    if getattr(estimator, "power_t", 0.0) < 0:
        warnings.warn(
            "Negative values for `power_t` are deprecated: the rate would grow with time. Use a value of at least 0",
            FutureWarning,
            stacklevel=4,
        )


class Stopping:
    """When each output stops, and what the ``adaptive`` rate does instead."""

    def __init__(self, estimator: Any, learner: Learner, batch: Batch, held_out: Any) -> None:
        self.estimator = estimator
        self.learner = learner
        self.rule, settings = learner.rules[0], learner.settings[0]
        self.validation = None if held_out is None else Validation(batch, held_out, learner.outputs)
        self.best = np.full(learner.outputs, np.inf)
        self.idle = np.zeros(learner.outputs, dtype=int)
        self.rates = np.full(learner.outputs, getattr(estimator, "eta0", 1.0), dtype=float)
        self.adaptive = getattr(estimator, "learning_rate", None) == "adaptive"
        asked = estimator.tol is not None or estimator.verbose
        penalised = settings.l1 > 0.0 or settings.l2 > 0.0
        passive = not hasattr(self.rule, "rate") and not hasattr(self.rule, "schedule")
        self.tracks = bool(asked and penalised and held_out is None and not passive)
        shown = batch.importance if held_out is None else np.delete(batch.importance, held_out)
        self.count = max(int(np.count_nonzero(shown)), 1)

    def after(self, number: int) -> bool:
        """Look at a finished pass; answer whether all outputs have stopped."""
        learner = self.learner
        if self.estimator.verbose:
            self.report(number)
        if self.estimator.tol is None:
            return False
        measure = learner.counters.objectives / self.count if self.validation is None else -self.scores(self.validation)
        worse = measure > self.best - self.estimator.tol
        self.idle = np.where(worse, self.idle + 1, 0)
        self.best = np.minimum(self.best, measure)
        tired = learner.counters.active & (self.idle >= self.estimator.n_iter_no_change)
        if self.adaptive and tired.any():
            slower = tired & (self.rates > 1e-6)
            self.rates[slower] /= 5.0
            self.idle[slower] = 0
            tired &= ~slower
            learner.rules = self.rules()
        learner.counters.stop_outputs(tired)
        return not learner.counters.active.any()

    def rules(self) -> list[Any]:
        """The rule with each output's own rate; a single one while they are all the same."""
        rule = self.rule
        rates = self.rates[:1] if (self.rates == self.rates[0]).all() else self.rates
        return [rule._replace(schedule=rule.schedule._replace(rate=float(rate))) for rate in rates]

    def scores(self, validation: Validation) -> np.ndarray:
        """How well each output does on the validation rows."""
        return validation.measure(self.learner.scores(validation.rows, averaged=False))

    def report(self, number: int) -> None:
        weights, intercepts = self.learner.weights_and_intercepts(averaged=False)
        objectives = self.learner.counters.objectives / self.count
        for m in range(self.learner.outputs):
            if self.learner.counters.active[m]:
                print(
                    f"pass {number}, output {m}: |w| {np.linalg.norm(weights[m]):.4g}, "
                    f"{np.count_nonzero(weights[m])} weights, intercept {intercepts[m]:.6g}, "
                    f"objective {objectives[m]:.6g}"
                )

    def leave(self, examples: int) -> None:
        """Hand the learner on, ready for a stream: all outputs learn again and count as scikit-learn counts."""
        self.learner.counters.resume_outputs()
        self.learner.counters.count_from(float(examples))
        self.learner.rules = [self.rule]


class Validation:
    """Rows that are held out of the passes, and what each output should answer for them."""

    def __init__(self, batch: Batch, held_out: np.ndarray, outputs: int) -> None:
        self.rows = take_rows(batch.rows, held_out)
        self.importance = batch.importance[held_out]
        self.are_numbers = isinstance(batch.targets, Numbers)
        self.truth = np.array([[batch.targets.target_of(i, m) for m in range(outputs)] for i in held_out])

    def measure(self, scores: np.ndarray) -> np.ndarray:
        """The accuracy of each output's signs; for numbers the coefficient of determination."""
        from sklearn.metrics import r2_score

        if self.are_numbers:
            return np.array([r2_score(self.truth, scores, sample_weight=self.importance)])
        right = (scores > 0.0) == (self.truth > 0.0)
        return np.average(right, axis=0, weights=self.importance)


# ------------------------------------------------------------------ scikit-learn's shuffled orders


def classifier_seed(random_state: Any, classes: int) -> int:
    """The seed of the one output of two classes; of several, that of the first class's."""
    rng = check_random_state(random_state)
    if classes > 2:
        rng = check_random_state(int(rng.randint(LARGEST_SEED, size=classes)[0]))
    rng.randint(1, LARGEST_SEED)  # drawn for sampling, which SGD does not use
    return int(rng.randint(LARGEST_SEED))


def regressor_seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(0, LARGEST_SEED))


def shuffled_orders(length: int, seed: int) -> Iterator[np.ndarray]:
    """The order of the rows in one pass after another."""
    step = permutation(length, seed)
    order = np.arange(length)
    while True:
        order = order[step]
        yield order


def permutation(length: int, seed: int) -> np.ndarray:
    """Fisher and Yates's shuffle of ``0 .. length - 1``.

    >>> sorted(permutation(5, seed=42).tolist())
    [0, 1, 2, 3, 4]
    """
    left = np.arange(length, 1, -1)
    partners = (np.arange(length - 1) + xorshift(length - 1, seed) % left).tolist()
    order = list(range(length))
    for place, partner in enumerate(partners):
        order[place], order[partner] = order[partner], order[place]
    return np.array(order, dtype=np.int64)


def xorshift(count: int, seed: int) -> np.ndarray:
    """The first ``count`` numbers of the generator, their lowest 31 bits.

    A step is linear over bits, so that k steps at once are a table of what becomes of each bit: each round doubles the
    numbers known.
    """
    states = np.array([seed or 1], dtype=np.uint32)
    leap = step_states(np.uint32(1) << np.arange(32, dtype=np.uint32))
    while len(states) <= count:
        states = np.concatenate([states, apply_map(leap, states)])
        leap = apply_map(leap, leap)
    return (states[1 : count + 1] & np.uint32(0x7FFFFFFF)).astype(np.int64)


def step_states(states: np.ndarray) -> np.ndarray:
    states = states ^ (states << np.uint32(13))
    states = states ^ (states >> np.uint32(17))
    return states ^ (states << np.uint32(5))


def apply_map(bits: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The images of the states under the linear map that sends bit b to ``bits[b]``, a byte at a time."""
    image = np.zeros_like(states)
    for byte in range(4):
        table = np.zeros(256, dtype=np.uint32)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ bits[8 * byte + bit]
        image ^= table[(states >> np.uint32(8 * byte)) & np.uint32(0xFF)]
    return image
