"""Learner: a loss and a rule around a table of weights. The only thing that changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple, TypeGuard

import numpy as np

from onlinear.data.batch import Batch, Rows, Targets, check_columns, check_rows, length_of
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Averaged, Labels, Watched
from onlinear.errors import Diverged, Refused
from onlinear.kernels.learn.bank import bank_of, kind_of, shape_of
from onlinear.kernels.learn.loops import interpreted_loop, learning_loop
from onlinear.kernels.learn.read_weights import read_weights
from onlinear.kernels.learn.state import (
    ACTIVE,
    COUNT,
    COUNTERS,
    EXAMPLES,
    FLUSHED,
    IMPORTANCE,
    LEAST_SCALE,
    LOSS,
    MASS,
    MISTAKES,
    NEGATIVE,
    NORM,
    OBJECTIVE,
    OWED,
    PACE,
    POSITIVE,
    PULL,
    PULLED,
    RADIUS,
    SCALE,
    SIZE,
    SPREAD,
    SQUARES,
    UNAVERAGED_LOSS,
    UNAVERAGED_MISTAKES,
    UPDATES,
    WEIGHT,
    LoneState,
    MatrixState,
    Options,
    State,
    T,
)
from onlinear.learning.buffers import (
    Scratch,
    blocks_of,
    copy_table,
    copy_touched,
    scratch_of,
    sparse_zeros,
    writeable,
    zeros,
)
from onlinear.learning.table_copies import TableCopies, note_rows
from onlinear.learning.weights import ScoringWeights
from onlinear.parameters import NOT_NEGATIVE, SHARE, with_checked_numbers
from onlinear.registry import check_options, check_pair, loss_of, rule_of
from onlinear.rules.adaptive import Normalised
from onlinear.rules.dispatch import rule_rate
from onlinear.rules.matrix import MOST_FEATURES
from onlinear.rules.trial import is_ours, try_out, without_number
from onlinear.system.interrupts import uninterrupted
from onlinear.system.locks import VERSION, Busy, lock_of


class Settings(NamedTuple):
    """How to learn, beside loss and rule.

    The penalty is ``alpha (l1 |w| + l2 w^2 / 2)`` for every weight but the intercept. ``average`` is the example from
    which on weights are averaged (0: not at all); ``forget`` the share of its evidence that a rule forgets with each
    example; the last three fit the intercept to another library's habits.
    """

    l1: Annotated[float, NOT_NEGATIVE] = 0.0
    l2: Annotated[float, NOT_NEGATIVE] = 0.0
    alpha: Annotated[float, NOT_NEGATIVE] = 1.0
    average: Annotated[float, NOT_NEGATIVE] = 0.0
    forget: Annotated[float, SHARE] = 0.0
    intercept: bool = True
    intercept_rate: Annotated[float, NOT_NEGATIVE] = 1.0
    intercept_in_norm: bool = True


class Mark(NamedTuple):
    """The progressive figures after so many examples; ``training`` from the second pass on."""

    examples: int
    loss: float
    mistakes: int
    training: bool


class Ready(NamedTuple):
    """What a loop is called with, and the lists it was made of."""

    made_of: tuple[Any, Any, Any]
    loss: Any
    rule: Any
    options: Any
    loop: Any
    eager: bool  # whether every row may touch every weight
    averages: bool  # whether an output answers with averaged weights
    in_one_step: bool  # whether one row alone is a single step, which is taken whole or not at all

    def fits(self, learner: Learner) -> bool:
        losses, rules, settings = self.made_of
        return losses is learner.losses and rules is learner.rules and settings is learner.settings


#: features whose cells are compared at once: with many outputs each is in another page, and a processor remembers the
#: places of a few thousand
SOME_FEATURES = 4096

#: the order of a single row
FIRST = np.zeros(1, dtype=np.int64)

#: counters that belong to the weights and to what the rule has gathered
OF_WEIGHTS = [T, OWED, MASS, COUNT, WEIGHT, SPREAD, NORM, PACE, SIZE, SQUARES]
#: the counters of an output that has seen nothing
FRESH_COUNTERS = np.zeros(COUNTERS)
FRESH_COUNTERS[[SCALE, ACTIVE, NEGATIVE, POSITIVE, FLUSHED]] = 1.0


class Learner:
    """Learns a bank of linear models, one example at a time.

    ``loss`` and ``rule`` are one for all outputs, or a list with one for each; so are the ``settings``.

    >>> import numpy as np
    >>> from onlinear.data.batch import Batch, rows_of
    >>> from onlinear.data.targets import Signs
    >>> from onlinear import losses, rules
    >>> learner = Learner(losses.Perceptron(), rules.PerceptronStep(), features=2)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> learner.learn(Batch(rows_of(X), Signs(np.array([1.0, -1.0])), np.ones(2)))
    >>> learner.weights().tolist(), learner.intercepts().tolist()
    ([[1.0, -1.0]], [0.0])
    """

    slim = False  # loaded for answers only: there is no state to learn on from
    #: whether a single output is learned as banks are, with a configuration for each output: the same compiled loop
    banked = False

    def __init__(
        self,
        loss: Any,
        rule: Any,
        *,
        features: int,
        outputs: int = 1,
        settings: Settings | Sequence[Settings] = Settings(),
        compiled: bool = True,
        facing: type = DenseRows,
    ) -> None:
        several = [settings] if isinstance(settings, Settings) else settings
        self.losses, self.rules, self.settings = checked_recipe(as_list(loss), as_list(rule), several, compiled)
        for what in (self.losses, self.rules, self.settings):
            if len(what) not in (1, outputs):
                raise Refused(
                    f"a bank of {outputs} outputs takes one configuration for all or one for each, not {len(what)}"
                )
        self.compiled = compiled
        self.kind = kind_of(type(self.rules[0]))
        self.facing = DenseRows if self.kind == "matrix" else facing
        self.lock = lock_of(self, "lock")
        self.busy = Busy()
        self.first_pass_examples = -1
        self._made: dict[tuple[type, bool], Ready] = {}
        self._forget_copies()
        self._allocate(features, outputs)

    @property
    def version(self) -> int:
        """How often it has changed."""
        return int(self.busy.words[VERSION])

    # -------------------------------------------------------------- what has changed, for snapshots

    def _forget_copies(self) -> None:
        """Let the next snapshot copy all weights."""
        self._copies: TableCopies | None = None
        self._changed = np.zeros(0, dtype=np.uint8)

    def change_any(self) -> None:
        """What changes now may be any weight."""
        self.busy.words[VERSION] += 1
        self._copies = None

    def _change_columns(self, rows: Rows) -> None:
        """What changes now are weights of these rows."""
        self.busy.words[VERSION] += 1
        if self._copies is not None and not note_rows(rows, self):
            self._copies = None

    def change_map(self) -> np.ndarray:
        """A byte for each block of columns: whether they have changed since the last snapshot."""
        if len(self._changed) != blocks_of(self.features):
            self._changed = np.zeros(blocks_of(self.features), dtype=np.uint8)
        return self._changed

    def copies_of(self, outputs: list[int], sign: float) -> TableCopies:
        """Copies of these outputs' weights, for a caller who is alone with it."""
        if self._copies is None or not self._copies.serve(self, outputs, sign):
            self._copies = TableCopies(self, outputs, sign)
        return self._copies

    # -------------------------------------------------------------- state

    def _allocate(self, features: int, outputs: int) -> None:
        slots = self._slots()
        self.base = zeros((outputs, slots, features) if self.facing is DenseRows else (features, outputs, slots))
        self.bias = np.zeros((outputs, slots))
        self.counters = zeros((outputs, COUNTERS))
        self.counters[:] = FRESH_COUNTERS
        self.history: list[np.ndarray] = []
        self._scratch: Scratch | None = None
        self.matrix = np.zeros((0, 0, 0))
        if self.kind == "matrix":
            self._allocate_matrix(features, outputs)

    def _allocate_matrix(self, features: int, outputs: int) -> None:
        if features > MOST_FEATURES:
            name = type(self.rules[0]).__name__
            raise Refused(
                f"{name} keeps a square matrix: {features} features are more than {MOST_FEATURES}; "
                f"use the diagonal form, rules.Diagonal{name.removeprefix('Online')}"
            )
        self.matrix = np.zeros((outputs, features + 1, features + 1))
        for m in range(outputs):
            np.fill_diagonal(self.matrix[m], 1.0 / self.rules[min(m, len(self.rules) - 1)].a)

    def _slots(self) -> int:
        return self._cell_size() + self._sleeps() + self._averages()

    def _cell_size(self) -> int:
        return len(self.rules[0].CELL) if self.kind == "cells" else 1

    def _averages(self) -> bool:
        return any(setting.average > 0.0 for setting in self.settings)

    def has_lazy_slots(self) -> bool:
        """Whether a weight is more than what is kept of it: a penalty is owed, or an average is asked for."""
        return self._averages() or self._sleeps()

    def _sleeps(self) -> bool:
        if self.kind == "uniform":
            return any(setting.l1 > 0.0 for setting in self.settings)
        return self.kind == "cells" and any(
            setting.l1 > 0.0 or setting.l2 > 0.0 or setting.forget > 0.0 for setting in self.settings
        )

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def features(self) -> int:
        return int(self.base.shape[2 if self.facing is DenseRows else 0])

    @property
    def table(self) -> np.ndarray:
        """The weights and what the rule keeps beside them: output by slot by feature, or feature by output by slot.

        The array of the compiled loops, ``base``, may have room for more outputs, which is all zeros.
        """
        outputs = len(self.bias)
        if self.facing is DenseRows:
            return self.base if len(self.base) == outputs else self.base[:outputs]
        return self.base if self.base.shape[1] == outputs else self.base[:, :outputs]

    @table.setter
    def table(self, table: np.ndarray) -> None:
        self.base = table
        self._copies = None

    @property
    def output_room(self) -> int:
        """How many outputs the table has room for."""
        return int(self.base.shape[0 if self.facing is DenseRows else 1])

    def _face(self, rows: Rows) -> None:
        """Turn the table to face the rows; matrix rules spread their rows out and keep the dense form."""
        facing = DenseRows if self.kind == "matrix" else type(rows)
        if facing is not self.facing:
            if facing is SparseRows and self.kind == "uniform":
                self._pay_before_turning()
            axes = (2, 0, 1) if facing is SparseRows else (1, 2, 0)
            turned = self.base.transpose(axes)
            empty = not self.base.view(np.int64).any()  # to the bit; then there is nothing to bring along
            self.base, self.facing = zeros(turned.shape), facing
            if not empty:
                self.base[...] = turned
            self._copies = None
            self.busy.moved()

    def _pay_before_turning(self) -> None:
        """Dense rows leave the last row's L1 penalty for the next; an elastic net's sparse rows expect it paid."""
        for m, option in enumerate(self._option_of_each()):
            if option.l1 > 0.0 and option.l2 > 0.0:
                slots, scale = self.table[m], self.counters[m, SCALE]
                before = slots[0] * scale
                slots[0] = (
                    read_weights(self.rules[0], option, slots, self.counters[m], self.kind, averaged=False) / scale
                )
                slots[int(option.last_touched_slot)] += slots[0] * scale - before

    def face_sparse(self) -> None:
        """Turn the table to face sparse rows, for a caller who holds the lock or the only reference."""
        self._face(NO_ROWS[SparseRows])

    def options(self, rows: Rows, track: bool = False) -> list[Options]:
        """What the loops are told: one for all outputs, or one for each."""
        size = self._cell_size()
        sleep = size if self._sleeps() else -1
        mean = size + self._sleeps() if self._averages() else -1
        return [
            Options(
                alpha=float(s.alpha),
                l1=float(s.l1),
                l2=float(s.l2),
                forget=float(s.forget),
                average_from=float(s.average),
                eager=float(self._eager(s, rows)),
                intercept=float(s.intercept),
                intercept_rate=float(s.intercept_rate),
                intercept_norm=float(s.intercept and s.intercept_in_norm),
                track=float(track),
                last_touched_slot=float(sleep),
                mean_slot=float(mean),
            )
            for s in self.settings
        ]

    def _eager(self, setting: Settings, rows: Rows) -> bool:
        """Whether average or penalty have no lazy form here.

        The average of a penalised weight needs every step, but for L2 with a common rate. An elastic net with a common
        rate shrinks and cuts in turn, which no sum of amounts can retell; dense rows visit every weight anyway.
        """
        penalised = setting.l1 > 0.0 or (self.kind == "cells" and setting.l2 > 0.0)
        if setting.average > 0.0 and penalised:
            return True
        mixed = setting.l1 > 0.0 and setting.l2 > 0.0
        return self.kind == "uniform" and mixed and isinstance(rows, SparseRows)

    # -------------------------------------------------------------- learning

    def learn(self, batch: Batch, order: np.ndarray | None = None, *, track: bool = False) -> None:
        """Learn from the rows of a batch, in order. A bad row refuses the batch before any weight moves."""
        if len(batch.importance) == 1 and order is None:
            with self.lock, self.busy:
                if self._take_step(batch, track):
                    return
        with uninterrupted, self.lock, self.busy:
            self.learn_unlocked(batch, order, track=track)

    def _take_step(self, batch: Batch, track: bool) -> bool:
        """Learn from one row by one call of a compiled loop; False, and nothing was done, where that is not enough.

        It looks before it moves, and so needs no undoing, and is whole by itself. A ``partial_fit`` of one dense row
        takes 0.8 of the time that it takes by :meth:`learn_unlocked`.
        """
        rows = batch.rows
        ready = self._made.get((type(rows), track))
        if ready is None or not ready.in_one_step or type(rows) is not self.facing or not ready.fits(self):
            return False
        if self._to_next_mark() == 1 or not batch.importance[0]:
            return False
        self.busy.refuse_handler(self.lock)
        targets, state = self._targets(batch, ready), self._state(batch)
        self._change_columns(batch.rows)  # before: a signal may come right after the loop
        learned = ready.loop(ready.loss, ready.rule, ready.options, rows, targets, batch.importance, FIRST, state)
        return bool(learned)

    def learn_unlocked(self, batch: Batch, order: np.ndarray | None = None, *, track: bool = False) -> None:
        """As :meth:`learn`, for a caller who is alone with it."""
        self.refuse_if_slim()
        self.busy.refuse_handler(self.lock)
        if order is None:
            order = np.arange(len(batch)) if len(batch) != 1 else FIRST
        if not (batch.importance.all() if len(batch) != 1 else batch.importance[0]):
            check_rows(batch.rows, batch.names)  # rows of importance 0 are never scored
        self._face(batch.rows)
        ready = self._ready(batch.rows, track)
        self._change_columns(batch.rows)
        if self._undoes_rows(batch):
            learned = self._run(batch, order, ready)
        else:
            learned = self._run_or_undo(batch, order, ready)
        if learned < len(order):
            row = int(order[learned])
            fault = self._fault_of_loss(batch, row)
            raise Diverged(self.diverged_message(self.examples + 1, f"row {row} of the batch", fault))

    def _undoes_rows(self, batch: Batch) -> bool:
        """Whether the loop leaves no trace of a row that cannot be learned, and no row is bad.

        Looking for bad rows takes no time beside a rule with cells. A uniform rule is as fast as looking.
        """
        if self.kind == "uniform":
            return batch.sound and isinstance(batch.rows, SparseRows) and not self._sleeps()
        if self.kind == "matrix" or isinstance(batch.rows, DenseRows):
            return False
        if not batch.sound:
            check_columns(batch.rows, self.features)
            check_rows(batch.rows, batch.names)
        return True

    def _run_or_undo(self, batch: Batch, order: np.ndarray, ready: Ready) -> int:
        """Learn; if a row cannot be, look whether one was bad, or else learn once more up to that row."""
        kept = {} if self._leaves_no_trace(order) else self._keep(batch.rows)
        learned = self._run(batch, order, ready)
        if learned < len(order):
            self._undo(kept)
            check_columns(batch.rows, self.features)
            check_rows(batch.rows, batch.names)
            self._run(batch, order[:learned], ready)
        return learned

    def refuse_if_slim(self) -> None:
        if self.slim:
            raise Refused(
                "this model was saved slim, for predictions only, and cannot learn on: "
                "load one that was saved in full, or call fit to start anew"
            )

    def _run(self, batch: Batch, order: np.ndarray, ready: Ready) -> int:
        """Learn in stretches that end at 1, 2, 4, 8, ... examples, where the figures are kept."""
        targets, state = self._targets(batch, ready), self._state(batch)
        learned = 0
        while learned < len(order):
            stop = learned + self._to_next_mark()
            stretch = order if learned == 0 and stop >= len(order) else order[learned:stop]
            done = ready.loop(
                ready.loss, ready.rule, ready.options, batch.rows, targets, batch.importance, stretch, state
            )
            learned += done
            if done < len(stretch):
                break
            self.keep_mark()
        return learned

    def _targets(self, batch: Batch, ready: Ready) -> Targets:
        return Averaged(batch.targets, np.empty(self.outputs)) if ready.averages else batch.targets

    def _ready(self, rows: Rows, track: bool) -> Ready:
        """What the loop is called with, made anew only if something has changed."""
        ready = self._made.get((type(rows), track))
        if ready is None or not ready.fits(self):
            each = self.options(rows, track)
            ready = Ready(
                (self.losses, self.rules, self.settings),
                bank_of(self.losses, self.banked),
                bank_of(self.rules, self.banked),
                bank_of(each, self.banked),
                self._loop(),
                any(option.eager > 0.0 for option in each),
                self._averages(),
                self.compiled and self._leaves_no_trace(FIRST),
            )
            self._made[type(rows), track] = ready
        return ready

    def _to_next_mark(self) -> int:
        return (1 << len(self.history)) - self.examples

    def keep_mark(self) -> None:
        """Keep the figures if this is the moment: at 1, 2, 4, 8, ... examples."""
        if self.examples == 1 << len(self.history):
            self.history.append(self.figures())

    def figures(self) -> np.ndarray:
        """For each output the summed loss, the mistakes, and the importance of all examples."""
        figures = np.empty((self.outputs, 3))
        figures[:, 0], figures[:, 1], figures[:, 2] = (
            self.counters[:, LOSS],
            self.counters[:, MISTAKES],
            self.counters[0, IMPORTANCE],
        )
        return figures

    def _loop(self) -> Any:
        if not self.compiled:
            return interpreted_loop(type(self.rules[0]))
        return learning_loop(shape_of(self.losses[0]), shape_of(self.rules[0]))

    def _state(self, batch: Batch) -> State | LoneState | MatrixState:
        if self.kind == "matrix":
            scratch = np.zeros((2, self.matrix.shape[1]))
            return MatrixState(self.base, self.bias, self.counters, self.matrix, scratch)
        gathered, scratch = self._scratch_for(batch.rows)
        targets = batch.targets.targets if isinstance(batch.targets, Watched) else batch.targets
        alone = self.outputs == 1 and not self.banked
        if alone and not isinstance(targets, Labels):  # of labels there may soon be more
            return LoneState(self.base, self.bias, self.counters, gathered, scratch)
        return State(self.base, self.bias, self.counters, gathered, scratch)

    def _scratch_for(self, rows: Rows) -> Scratch:
        """Scratch for the rows: the same as for those before, if that is enough."""
        scratch = self._scratch or scratch_of(self.output_room, self.bias.shape[1])
        if self.kind == "cells" and not scratch.serves(rows):
            scratch = scratch.wider(rows)
        self._scratch = scratch
        return scratch

    def _leaves_no_trace(self, order: np.ndarray) -> bool:
        """Whether a batch that fails has changed nothing: a uniform rule looks before it moves, but pays L1 at once."""
        return len(order) == 1 and self.kind == "uniform" and not self._sleeps()

    def _keep(self, rows: Rows) -> dict[str, Any]:
        """What is needed to undo a batch: the whole state, or of a large table the cells that may move."""
        kept: dict[str, Any] = {"bias": self.bias.copy(), "counters": self.counters.copy(), "marks": len(self.history)}
        if self.kind == "matrix":
            kept["matrix"] = self.matrix.copy()
        if self._moves_few_cells(rows):
            check_columns(rows, self.features)
            columns = np.unique(rows.columns).astype(np.intp)
            kept["cells"] = columns, self.table[columns]
        else:
            kept["table"] = self.table.copy()
        return kept

    def _moves_few_cells(self, rows: Rows) -> TypeGuard[SparseRows]:
        """Whether a batch moves no cells but its own columns', and those are few."""
        if not isinstance(rows, SparseRows) or self.facing is not SparseRows or 4 * len(rows.values) >= self.features:
            return False
        is_eager = self._ready(rows, False).eager
        return not is_eager and not self.may_unscale(length_of(rows), *self.scale_and_paces())

    def scale_and_paces(self) -> tuple[float, float, float]:
        """The least scale of an output, and the fewest and the most examples that a schedule counts."""
        paces = self.counters[:, PACE]
        return float(self.counters[:, SCALE].min()), float(paces.min()), float(paces.max())

    def may_unscale(self, rows: int, scale: float, least: float, most: float) -> bool:
        """Whether within so many rows, from this scale and these paces on, an L2 penalty may write into the table.

        So may an average at any time, and who knows what rates a schedule of the user's own has in between.
        """
        if self.kind != "uniform" or not any(setting.l2 > 0.0 for setting in self.settings):
            return False
        if self._averages() or not all(map(is_ours, self.rules)):
            return True
        if any(setting.forget > 0.0 for setting in self.settings):
            least = 0.0  # a schedule forgets what it has counted, too
        ends = least + 1.0, most + rows  # our rates rise or fall all the way
        try:
            rate = max(rule_rate(rule, t) for rule in self.rules for t in ends)
        except ArithmeticError:  # a power that leaves the range of numbers
            return True
        factor = 1.0 - rate * max(setting.l2 * setting.alpha for setting in self.settings)
        return factor <= 0.0 or scale * factor**rows < 2.0 * LEAST_SCALE

    def _undo(self, kept: dict[str, Any]) -> None:
        for name, array in kept.items():
            if name == "cells":
                columns, cells = array
                self.table[columns] = cells
            elif name == "marks":
                del self.history[array:]
            else:
                getattr(self, name)[...] = array

    def diverged_message(self, example: int, where: str, fault: str = "") -> str:
        """What is said of an example that cannot be learned; a ``fault`` of the loss is known to be the reason."""
        reason = f"the loss has no finite number there: {fault}" if fault else "floating-point overflow"
        advice = "Mend the loss" if fault else self._advice()
        return (
            f"learning diverged at example {example} ({where}) with {self.rules[0]}: "
            f"{reason}; the example was undone, those before it stay learned. {advice}"
        )

    def _advice(self) -> str:
        """What to do about numbers that overflow."""
        advice = "Lower the rate, or scale the columns (the rule 'normalised' needs neither)"
        if isinstance(self.rules[0], Normalised):
            advice = "Look for values or targets that are far too large, and clip them, or drop their rows"
        own = next((type(loss).__name__ for loss in self.losses if not is_ours(loss)), None)
        return advice if own is None else f"{advice}; or {own}, a loss of your own, has no finite number at that score"

    def _fault_of_loss(self, batch: Batch, row: int) -> str:
        """Which method of a loss of the user's own has no finite number for the row, in words; "" if none."""
        if all(is_ours(loss) or hasattr(loss, "slopes") for loss in self.losses):
            return ""
        columns = np.asarray(batch.rows.columns_of(row)).astype(np.intp)
        weights = ScoringWeights(*self.scaled_weights_unlocked(columns, False))
        scores = weights.scores(np.asarray(batch.rows.values_of(row))[None])[0]
        losses = self.losses if len(self.losses) > 1 else self.losses * self.outputs
        tried = (
            without_number(loss, float(score), float(batch.targets.target_of(row, m)))
            for m, (loss, score) in enumerate(zip(losses, scores, strict=True))
            if not is_ours(loss)
        )
        return next(filter(None, tried), "")

    # -------------------------------------------------------------- reading

    def weights(self, *, averaged: bool = True) -> np.ndarray:
        """The weights, one row an output: penalties paid, averaged if the settings say so. Changes nothing."""
        with self.lock, self.busy:
            return self._weights_in(slice(None), averaged)

    def intercepts(self, *, averaged: bool = True) -> np.ndarray:
        """The intercepts, averaged like the weights."""
        with self.lock, self.busy:
            return self._intercepts(averaged)

    def weights_and_intercepts(self, *, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Both, as of one moment."""
        with self.lock, self.busy:
            return self._weights_in(slice(None), averaged), self._intercepts(averaged)

    def read_columns(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights and intercepts of some columns only, as :meth:`weights` gives them."""
        with self.lock, self.busy:
            return self.read_columns_unlocked(columns)

    def read_columns_unlocked(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As :meth:`read_columns`, for a caller who is alone with it."""
        return self._weights_in(columns, True), self._intercepts(True)

    def scores(self, X: Any, *, averaged: bool = True) -> np.ndarray:
        """The scores of rows given as an array or a sparse matrix, one column an output, as of a whole example."""
        with self.lock, self.busy:
            weights, scales, intercepts = self.scaled_weights_unlocked(slice(None), averaged)
            weights = weights.copy()  # a view of the table
        return ScoringWeights(weights, scales, intercepts).scores(X)

    def scaled_weights_unlocked(self, columns: Any, averaged: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights ``[column, output]`` but for a scale, the scales, the intercepts, for a caller who is alone with it.

        They score a row to the bit as it is learned, where the scale is multiplied last. They may be views.
        """
        intercepts = self._intercepts(averaged)
        if (averaged and self._averages()) or self._sleeps():
            return self._weights_in(columns, averaged).T, np.ones(self.outputs), intercepts
        weights = self.table[:, 0, columns].T if self.facing is DenseRows else self.table[columns, :, 0]
        return weights, self.counters[:, SCALE].copy(), intercepts

    def _weights_in(self, columns: Any, averaged: bool) -> np.ndarray:
        options = self._option_of_each()
        if self.facing is DenseRows:
            table = self.table[:, :, columns]
        else:
            table = self.table[columns].transpose(1, 2, 0)
        weights = np.empty((self.outputs, table.shape[2]))
        for m, option in enumerate(options):
            rule = self.rules[min(m, len(self.rules) - 1)]
            weights[m] = read_weights(rule, option, table[m], self.counters[m], self.kind, averaged)
        return weights

    def _intercepts(self, averaged: bool) -> np.ndarray:
        intercepts = self.bias[:, 0].copy()
        for m, option in enumerate(self._option_of_each()):
            count = self.counters[m, COUNT]
            if averaged and option.average_from > 0.0 and count > 0.0:
                spent = self.bias[m, int(option.mean_slot)] / count
                intercepts[m] = -spent if self.kind == "matrix" else intercepts[m] - spent
        return intercepts

    def _option_of_each(self) -> list[Options]:
        options = self.options(NO_ROWS[self.facing])
        return options if len(options) == self.outputs else options * self.outputs

    def set_weights(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        """Start from these weights: for a learner that has not learned yet."""
        with self.lock, self.busy:
            self.set_weights_unlocked(weights, intercepts)

    def set_weights_unlocked(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        """As :meth:`set_weights`, for a caller who is alone with it."""
        self._face(NO_ROWS[DenseRows])
        self.table[:, 0, :] = weights
        self.bias[:, 0] = intercepts
        self.counters[:, NORM] = (self.table[:, 0, :] ** 2).sum(axis=1)
        self.counters[:, PULL] = np.nan  # these weights are not made of steps
        self.change_any()

    def restart_at(self, weights: np.ndarray, intercepts: np.ndarray) -> None:
        """Go on from these weights, without a penalty owed or an average: for a rule that keeps nothing beside them."""
        with self.lock, self.busy:
            self.table[:] = 0.0
            self.bias[:] = 0.0
            self.counters[:, [OWED, MASS, COUNT, NORM]] = 0.0
            self.counters[:, SCALE] = 1.0
            self.set_weights_unlocked(weights, intercepts)

    def start_again(self) -> None:
        """Go on from zero weights, as if nothing had been learned; examples, losses and mistakes count on."""
        with self.lock, self.busy:
            self.table[...] = 0.0
            self.bias[...] = 0.0
            self.counters[:, OF_WEIGHTS] = 0.0
            self.counters[:, [SCALE, FLUSHED]] = 1.0
            self.counters[:, [PULL, PULLED]] = (
                np.nan
            )  # a mistake bound speaks of updates without a restart between them
            if self.kind == "matrix":
                self._allocate_matrix(self.features, self.outputs)
                self.busy.moved()
            self.change_any()

    def forget_evidence(self, forget: Callable[[Any, np.ndarray], None]) -> None:
        """Keep the weights; let schedules count anew, and rules ``forget`` in the cells of each output."""
        with self.lock, self.busy:
            self.counters[:, PACE] = 0.0
            if self.kind == "cells":
                table = self.table if self.facing is DenseRows else self.table.transpose(1, 2, 0)
                for m in range(self.outputs):
                    rule = self.rules[min(m, len(self.rules) - 1)]
                    forget(rule, table[m])
                    forget(rule, self.bias[m][:, None])
            self.change_any()

    # -------------------------------------------------------------- figures

    @property
    def examples(self) -> int:
        """How many examples were learned from, over all passes."""
        return int(self.counters[0, EXAMPLES])

    @property
    def updates(self) -> np.ndarray:
        """For each output, the examples whose slope was not zero: the k of the mistake bounds."""
        return self.counters[:, UPDATES].astype(np.int64)

    @property
    def mistakes(self) -> np.ndarray:
        """For each output, wrong answers; several classes count them at the first."""
        return self.counters[:, MISTAKES].astype(np.int64)

    @property
    def unaveraged_mistakes(self) -> np.ndarray:
        """The same of the weights that learn, which the mistake bounds speak of, where answers are averaged."""
        return self.counters[:, UNAVERAGED_MISTAKES if self._averages() else MISTAKES].astype(np.int64)

    @property
    def loss_sums(self) -> np.ndarray:
        """For each output, importance times the loss of its answer, summed as it was suffered."""
        return self.counters[:, LOSS].copy()

    @property
    def unaveraged_loss_sums(self) -> np.ndarray:
        """The same of the weights that learn, which regret bounds speak of, where answers are averaged."""
        return self.counters[:, UNAVERAGED_LOSS if self._averages() else LOSS].copy()

    @property
    def objectives(self) -> np.ndarray:
        """For each output, loss and penalty summed over the present pass."""
        return self.counters[:, OBJECTIVE].copy()

    @property
    def importance(self) -> float:
        """The importance of all examples."""
        return float(self.counters[0, IMPORTANCE])

    @property
    def largest_square(self) -> float:
        """The largest squared length of a row, where the rule asks for it; else 0."""
        return float(self.counters[0, RADIUS])

    @property
    def t(self) -> float:
        """How many examples the outputs have counted."""
        return float(self.counters[:, T].max(initial=0.0)) if self.outputs != 1 else float(self.counters[0, T])

    def count_examples(self, examples: float) -> None:
        """Let outputs and schedules count on from so many examples."""
        self.counters[:, [T, PACE]] = examples

    # -------------------------------------------------------------- outputs that stop, and that weigh

    @property
    def active(self) -> np.ndarray:
        """Which outputs learn."""
        return self.counters[:, ACTIVE] > 0.0

    def stop_outputs(self, which: np.ndarray) -> None:
        """Let some outputs learn no more; the others go on."""
        self.counters[which, ACTIVE] = 0.0

    def resume_outputs(self) -> None:
        """Let all outputs learn again."""
        self.counters[:, ACTIVE] = 1.0

    def weigh_targets(self, negative: Any, positive: Any) -> None:
        """Factors on the importance of an example where an output's target is negative, or positive: one for each."""
        with self.lock:
            self.counters[:, NEGATIVE], self.counters[:, POSITIVE] = negative, positive

    def are_targets_weighed(self, outputs: Sequence[int]) -> bool:
        """Whether a target of one of these outputs has a factor other than 1."""
        return bool((self.counters[list(outputs)][:, [POSITIVE, NEGATIVE]] != 1.0).any())

    # -------------------------------------------------------------- sums of steps, which mistake bounds speak of

    def step_sums(self) -> np.ndarray:
        """For each output, the sizes of its steps summed, and shrunk as the weights are; NaN where nobody knows."""
        return self.counters[:, PULL].copy()

    def averaged_step_sums(self) -> np.ndarray:
        """The same, summed over the examples that were averaged."""
        return self.counters[:, PULLED].copy()

    def averaged_examples(self) -> np.ndarray:
        """For each output, how many examples its average is of."""
        return self.counters[:, COUNT].copy()

    def squared_step_sums(self) -> np.ndarray:
        """For each output, the squares of the sizes of its steps, summed."""
        return self.counters[:, SQUARES].copy()

    def forget_step_sums(self) -> None:
        """The weights are no sum of steps any more that were all taken for the same reason."""
        self.counters[:, PULL] = np.nan

    def restore_step_sums(self, sums: np.ndarray) -> None:
        """Take back that they were forgotten."""
        self.counters[: len(sums), PULL] = sums

    # -------------------------------------------------------------- passes

    def start_pass(self) -> None:
        """Begin another pass over the same rows: from now on losses are training losses."""
        if self.first_pass_examples < 0 and self.examples > 0:
            self.first_pass_examples = self.examples
        self.counters[:, OBJECTIVE] = 0.0

    def marks(self, outputs: slice = slice(None), row_loss: bool = False) -> list[Mark]:
        """The progressive history at 1, 2, 4, 8, ... examples, and now."""
        with self.lock, self.busy:
            return self.marks_unlocked(outputs, row_loss)

    def marks_unlocked(self, outputs: slice, row_loss: bool) -> list[Mark]:
        """As :meth:`marks`, for a caller who is alone with it."""
        points = [(1 << k, figures) for k, figures in enumerate(self.history)]
        if not points or points[-1][0] != self.examples:
            points.append((self.examples, self.figures()))
        return [
            Mark(
                examples,
                float(figures[outputs, 0].mean() if row_loss else figures[outputs, 0].sum())
                / max(float(figures[0, 2]), 1e-300),
                int(figures[outputs, 1].sum()),
                0 <= self.first_pass_examples < examples,
            )
            for examples, figures in points
            if examples
        ]

    # -------------------------------------------------------------- growth

    def grow(self, features: int) -> None:
        """Make room for more features: their cells start at zero, awake from the beginning."""
        with self.lock, self.busy:
            self.grow_unlocked(features)

    def grow_unlocked(self, features: int) -> None:
        """As :meth:`grow`, for a caller who is alone with it."""
        old = self.base
        dense = self.facing is DenseRows
        self.base = zeros((*old.shape[:2], features) if dense else (features, *old.shape[1:]))
        copy_touched(old, self.base[(..., slice(old.shape[2])) if dense else slice(old.shape[0])])
        self.busy.moved()
        if self.kind == "matrix":
            self._grow_matrix(features)
        self.change_any()

    def _grow_matrix(self, features: int) -> None:
        """New features come before the intercept, which is the last row and column."""
        old = self.matrix
        self._allocate_matrix(features, self.outputs)
        keep = np.append(np.arange(old.shape[1] - 1), features)
        self.matrix[np.ix_(np.arange(self.outputs), keep, keep)] = old

    def add_output(self, source: int, at: int) -> None:
        """Insert before output ``at`` a copy of output ``source``: a class that was there all along."""
        with self.lock, self.busy:
            self.add_output_unlocked(source, at)

    def add_output_unlocked(self, source: int, at: int) -> None:
        """As :meth:`add_output`, for a caller who is alone with it."""
        self.busy.refuse_handler(self.lock)
        outputs = self.outputs
        if self.output_room == outputs:
            self._double_output_room()
        for m in range(outputs, at, -1):
            self._copy_output(m - 1, m)
        if source != at:  # else it is there already
            self._copy_output(source + (source > at), at)
        self.counters = insert_copy(self.counters, source, at, 0)
        self.bias = insert_copy(self.bias, source, at, 0)
        self._scratch = None  # which has no room for one more
        self.busy.moved()
        if self.kind == "matrix":
            self.matrix = insert_copy(self.matrix, source, at, 0)
        self.history = [insert_copy(figures, source, at, 0) for figures in self.history]
        self.change_any()

    def _double_output_room(self) -> None:
        """Room for twice as many outputs: with room for one more each, n of them would cost n copies of the table."""
        old, outputs = self.base, self.outputs
        dense = self.facing is DenseRows
        self.base = sparse_zeros((2 * outputs, *old.shape[1:]) if dense else (len(old), 2 * outputs, old.shape[2]))
        copy_touched(old, self.table)

    def _copy_output(self, source: int, to: int) -> None:
        """Let one output's cells be those of another; where they are alike already, no memory is touched."""
        given, taken = self._numbers_of(source).view(np.int64), self._numbers_of(to).view(np.int64)
        for start in range(0, self.features, SOME_FEATURES):
            some = slice(start, start + SOME_FEATURES)
            for slot in range(len(given)):
                unlike = given[slot, some] != taken[slot, some]
                if unlike.any():
                    taken[slot, some][unlike] = given[slot, some][unlike]

    def _numbers_of(self, m: int) -> np.ndarray:
        """An output's numbers for all features, a row for each slot: a view of the table."""
        return self.base[m] if self.facing is DenseRows else self.base[:, m].T

    def clear_output(self, m: int) -> None:
        """Set an output back to zero weights; where they are zero, no memory is touched."""
        self._copies = None
        for numbers in self._numbers_of(m):
            numbers[np.flatnonzero(numbers.view(np.int64))] = 0.0
        self.bias[m] = 0.0

    def clear_figures_of_steps(self, m: int) -> None:
        """Set an output's figures of its own steps back: those of an output that has made none."""
        self.counters[m, [NORM, OBJECTIVE, UPDATES, PULL, PULLED, SQUARES]] = 0.0

    def count_mistakes_at_first(self) -> None:
        """Let the first output alone count mistakes, as it does for several classes."""
        self.counters[1:, [MISTAKES, UNAVERAGED_MISTAKES]] = 0.0
        for figures in self.history:
            figures[1:, 1] = 0.0

    def only(self, outputs: Sequence[int]) -> Learner:
        """A learner of these outputs alone, with copies of all they have; it goes on as they would have."""
        chosen = list(outputs)
        losses, rules, settings = (
            [each[m] for m in chosen] if len(each) > 1 else each for each in (self.losses, self.rules, self.settings)
        )
        with self.lock, self.busy:
            part = Learner(
                losses, rules, features=self.features, outputs=len(chosen), settings=settings, compiled=self.compiled
            )
            table = self.table if self.facing is DenseRows else self.table.transpose(1, 2, 0)
            slots = [*range(self._cell_size())]
            slots += [self._cell_size()] * part._sleeps()
            slots += [self._cell_size() + self._sleeps()] * part._averages()
            taken = table[np.ix_(chosen, slots)]
            part.table = np.ascontiguousarray(taken if self.facing is DenseRows else taken.transpose(2, 0, 1))
            part.facing = self.facing
            part.bias = self.bias[np.ix_(chosen, slots)]
            part.counters = self.counters[chosen]
            part.counters[0, [EXAMPLES, IMPORTANCE, RADIUS]] = self.counters[0, [EXAMPLES, IMPORTANCE, RADIUS]]
            if not part._averages():  # the others' figures were kept twice, too
                part.counters[:, [UNAVERAGED_LOSS, UNAVERAGED_MISTAKES]] = 0.0
            part.matrix = self.matrix[chosen] if self.kind == "matrix" else self.matrix
            part.history = [figures[chosen] for figures in self.history]
        part.first_pass_examples = self.first_pass_examples
        return part

    def negate_output(self, m: int) -> None:
        """Turn an output into that of the opposite targets."""
        self._copies = None
        odd = self._odd_slots()
        for slot in odd:
            numbers = self._numbers_of(m)[slot]
            numbers[np.flatnonzero(numbers)] *= -1.0  # a zero stays the zero that it is, and its memory untouched
        self.bias[m, odd] *= -1.0

    def _odd_slots(self) -> list[int]:
        rule = self.rules[0]
        odd = list(getattr(rule, "ODD", (True,) + (False,) * (self._cell_size() - 1)))
        odd += [self.kind == "uniform"] * self._sleeps() + [True] * self._averages()
        return [slot for slot, flag in enumerate(odd) if flag]

    # -------------------------------------------------------------- pickle

    def __getstate__(self) -> dict[str, Any]:
        with self.lock, self.busy:
            return self._state_unlocked()

    def _state_unlocked(self) -> dict[str, Any]:
        left_out = ("lock", "busy", "_scratch", "base", "_copies", "_changed")
        state = {k: v for k, v in self.__dict__.items() if k not in left_out}
        state = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in state.items()}
        state["table"] = copy_table(self.table)
        state["version"] = self.version
        state["history"] = list(self.history)
        state["_made"] = {}
        return state

    def copy_unlocked(self) -> Learner:
        """A learner that goes on from here on its own, for a caller who is alone with this one."""
        twin = Learner.__new__(Learner)
        twin.__setstate__(self._state_unlocked())
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.lock = lock_of(self, "lock")
        self.busy = Busy()
        self.busy.words[VERSION] = state.pop("version")
        self._forget_copies()
        self.base = writeable(state.pop("table"))
        self.__dict__.update({k: writeable(v) if isinstance(v, np.ndarray) else v for k, v in state.items()})
        self.history = [writeable(figures) for figures in self.history]
        self._scratch = None


NO_ROWS: dict[type, Any] = {
    DenseRows: DenseRows(np.zeros((0, 0))),
    SparseRows: SparseRows(np.zeros(1, np.int32), np.zeros(0, np.uint32), np.zeros(0)),
}


#: recipes that were found fine before, with their numbers as floats
FINE: dict[Any, tuple[list[Any], list[Any], list[Settings]]] = {}
#: how many of them are remembered
MOST_FINE = 1000


def checked_recipe(
    losses: list[Any], rules: list[Any], settings: Sequence[Settings], compiled: bool
) -> tuple[list[Any], list[Any], list[Settings]]:
    """Losses, rules and settings, by their names or as they were given, if they are fine and go with each other.

    Looking takes longer than to learn ten rows, and most learners are made as others were.
    """
    parts = (losses, rules, settings)
    key = (tuple((tuple(map(shape_of, part)), tuple(part)) for part in parts), compiled)  # equal tuples may be unlike
    try:
        found = FINE.get(key)
    except TypeError:  # a field that is not hashable
        return look_at_recipe(*parts, compiled)
    if found is None:
        found = look_at_recipe(*parts, compiled)
        if len(FINE) >= MOST_FINE:
            FINE.clear()
        FINE[key] = found
    return list(found[0]), list(found[1]), list(found[2])


def look_at_recipe(
    losses: list[Any], rules: list[Any], settings: Sequence[Settings], compiled: bool
) -> tuple[list[Any], list[Any], list[Settings]]:
    """As :func:`checked_recipe`, whatever was looked at before."""
    losses = [loss_of(each) for each in losses]
    rules = [rule_of(each) for each in rules]
    settings = [with_checked_numbers(each) for each in settings]
    for loss in losses:
        for rule in rules:
            check_pair(loss, rule)
    try_out(losses, rules, compiled)
    for rule in rules:
        for setting in settings:
            penalised = setting.l1 > 0.0 or setting.l2 > 0.0
            check_options(rule, penalised, setting.forget > 0.0, setting.average > 0.0)
    return losses, rules, settings


def as_list(thing: Any) -> list[Any]:
    """A list as it is; a single loss or rule (a named tuple) alone in one."""
    return list(thing) if isinstance(thing, list) else [thing]


def insert_copy(array: np.ndarray, source: int, at: int, axis: int) -> np.ndarray:
    order = list(range(array.shape[axis]))
    order.insert(at, source)
    return array.take(order, axis=axis)
