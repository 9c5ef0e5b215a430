"""Learner: a loss and a rule around a table of weights. The only thing that changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch, Rows, Targets, check_columns, check_rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.data.targets import Averaged, Labels, Watched
from onlinear.errors import Diverged, Refused
from onlinear.kernels.learn.bank import bank_of, kind_of, shape_of
from onlinear.kernels.learn.loops import interpreted_loop, learning_loop
from onlinear.kernels.learn.state import LoneState, LoopOptions, MatrixState, State
from onlinear.learning.configuration import Settings, try_configurations
from onlinear.learning.divergence import describe_divergence, fault_of_loss
from onlinear.learning.growth import copy_table, grow_table, insert_output, pay_penalties
from onlinear.learning.reading import read_columns, read_for_scoring, read_intercepts
from onlinear.learning.state import Counters, Mark, Scratch, Slots, WeightTable, scratch_of
from onlinear.learning.table_copies import Changes
from onlinear.learning.touched import moves_few_cells
from onlinear.learning.weights import ScoringWeights
from onlinear.system.interrupts import uninterrupted
from onlinear.system.locks import VERSION, SequenceLock, lock_of


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


class StateBefore(NamedTuple):
    """A learner's state before a batch, as far as the batch may change it."""

    columns: Any  # whose cells are kept
    cells: np.ndarray
    bias: np.ndarray
    matrix: np.ndarray
    counters: np.ndarray
    marks: int


#: configurations that were found fine before, with their numbers as floats
FINE: dict[Any, tuple[list[Any], list[Any], list[Settings]]] = {}
#: how many of them are remembered
MOST_FINE = 1000

#: the order of a single row
FIRST = np.zeros(1, dtype=np.int64)


class Learner:
    """Learns a bank of linear models, one example at a time.

    ``loss`` and ``rule`` are one for all outputs, or a list with one for each; so are the ``settings``. The weights are
    in ``table``, what is counted in ``counters``.

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
        layout: type = DenseRows,
    ) -> None:
        self.losses, self.rules, self.settings = resolve_configurations(loss, rule, settings, compiled)
        for what in (self.losses, self.rules, self.settings):
            if len(what) not in (1, outputs):
                raise Refused(
                    f"a bank of {outputs} outputs takes one configuration for all or one for each, not {len(what)}"
                )
        self.compiled = compiled
        self.kind = kind_of(type(self.rules[0]))
        self.slots = Slots.of(self.kind, self.rules[0], self.settings)
        layout = DenseRows if self.kind == "matrix" else layout
        self.table = WeightTable(self.rules, self.slots, features, outputs, layout)
        self.counters = Counters(outputs, averages=self.slots.mean >= 0)
        self.lock = lock_of(self, "lock")
        self.busy = SequenceLock()
        self.changes = Changes()
        self._ready: dict[tuple[type, bool], Ready] = {}
        self._scratch: Scratch | None = None

    @property
    def outputs(self) -> int:
        return self.table.outputs

    @property
    def features(self) -> int:
        return self.table.features

    @property
    def examples(self) -> int:
        """How many examples were learned from, over all passes."""
        return self.counters.examples

    @property
    def updates(self) -> np.ndarray:
        """For each output, the examples whose slope was not zero: the k of the mistake bounds."""
        return self.counters.updates

    @property
    def mistakes(self) -> np.ndarray:
        """For each output, wrong answers; several classes count them at the first."""
        return self.counters.mistakes

    @property
    def version(self) -> int:
        """How often it has changed."""
        return int(self.busy.words[VERSION])

    def note_change(self) -> None:
        """What changes now may be any weight."""
        self.busy.words[VERSION] += 1
        self.changes.copies = None

    def _note_rows(self, rows: Rows) -> None:
        """What changes now are weights of these rows."""
        self.busy.words[VERSION] += 1
        if self.changes.copies is not None:
            self.changes.note_rows(self, rows)

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
        ready = self._ready.get((type(rows), track))
        if ready is None or not ready.in_one_step or type(rows) is not self.table.layout or not ready.fits(self):
            return False
        if self.counters.examples_to_mark() == 1 or not batch.importance[0]:
            return False
        self.busy.refuse_handler(self.lock)
        targets, state = self._targets(batch, ready), self._state(batch)
        self._note_rows(batch.rows)  # before: a signal may come right after the loop
        learned = ready.loop(ready.loss, ready.rule, ready.options, rows, targets, batch.importance, FIRST, state)
        return bool(learned)

    def learn_unlocked(self, batch: Batch, order: np.ndarray | None = None, *, track: bool = False) -> None:
        """As :meth:`learn`, for a caller who is alone with it."""
        self.refuse_if_slim()
        self.busy.refuse_handler(self.lock)
        count = len(batch.importance)
        if order is None:
            order = np.arange(count) if count != 1 else FIRST
        if not (batch.importance.all() if count != 1 else batch.importance[0]):
            check_rows(batch.rows, batch.names)  # rows of importance 0 are never scored
        self.turn_table(type(batch.rows))
        ready = self.ready(type(batch.rows), track)
        self._note_rows(batch.rows)
        if self._undoes_rows(batch):
            learned = self._run(batch, order, ready)
        else:
            learned = self._run_or_undo(batch, order, ready)
        if learned < len(order):
            row = int(order[learned])
            fault = fault_of_loss(self, batch, row)
            raise Diverged(describe_divergence(self, self.examples + 1, f"row {row} of the batch", fault))

    def _undoes_rows(self, batch: Batch) -> bool:
        """Whether the loop leaves no trace of a row that cannot be learned, and no row is bad.

        Looking for bad rows takes no time beside a rule with cells. A uniform rule is as fast as looking.
        """
        if self.kind == "uniform":
            return batch.sound and isinstance(batch.rows, SparseRows) and self.slots.last_touched < 0
        if self.kind == "matrix" or isinstance(batch.rows, DenseRows):
            return False
        if not batch.sound:
            check_columns(batch.rows, self.features)
            check_rows(batch.rows, batch.names)
        return True

    def _run_or_undo(self, batch: Batch, order: np.ndarray, ready: Ready) -> int:
        """Learn; if a row cannot be, look whether one was bad, or else learn once more up to that row."""
        before = None if self._leaves_no_trace(order) else self._keep(batch.rows)
        learned = self._run(batch, order, ready)
        if learned < len(order):
            if before is not None:
                self._undo(before)
            check_columns(batch.rows, self.features)
            check_rows(batch.rows, batch.names)
            self._run(batch, order[:learned], ready)
        return learned

    def _keep(self, rows: Rows) -> StateBefore:
        """What is needed to undo a batch: the whole state, or of a large table the cells that may move."""
        table, counters = self.table, self.counters
        columns: np.ndarray | slice = slice(None)
        if isinstance(rows, SparseRows) and moves_few_cells(self, rows):
            check_columns(rows, table.features)
            columns = np.unique(rows.columns).astype(np.intp)
        cells = table.cells[columns].copy()
        return StateBefore(
            columns, cells, table.bias.copy(), table.matrix.copy(), counters.array.copy(), len(counters.history)
        )

    def _undo(self, kept: StateBefore) -> None:
        """Bring the state back, into the same arrays."""
        table, counters = self.table, self.counters
        table.cells[kept.columns] = kept.cells
        table.bias[...], table.matrix[...], counters.array[...] = kept.bias, kept.matrix, kept.counters
        del counters.history[kept.marks :]

    def refuse_if_slim(self) -> None:
        if self.slim:
            raise Refused(
                "this model was saved slim, for predictions only, and cannot learn on: "
                "load one that was saved in full, or call fit to start anew"
            )

    def _run(self, batch: Batch, order: np.ndarray, ready: Ready) -> int:
        """Learn in pieces that end at 1, 2, 4, 8, ... examples, where the figures are kept."""
        targets, state = self._targets(batch, ready), self._state(batch)
        learned = 0
        while learned < len(order):
            stop = learned + self.counters.examples_to_mark()
            piece = order if learned == 0 and stop >= len(order) else order[learned:stop]
            done = ready.loop(
                ready.loss, ready.rule, ready.options, batch.rows, targets, batch.importance, piece, state
            )
            learned += done
            if done < len(piece):
                break
            self.counters.keep_mark()
        return learned

    def _targets(self, batch: Batch, ready: Ready) -> Targets:
        return Averaged(batch.targets, np.empty(self.outputs)) if ready.averages else batch.targets

    def ready(self, layout: type, track: bool) -> Ready:
        """What the loop is called with for rows of this layout, made anew only if something has changed."""
        ready = self._ready.get((layout, track))
        if ready is None or not ready.fits(self):
            each = self.options(layout, track)
            ready = Ready(
                (self.losses, self.rules, self.settings),
                bank_of(self.losses, self.banked),
                bank_of(self.rules, self.banked),
                bank_of(each, self.banked),
                self._loop(),
                any(option.eager > 0.0 for option in each),
                self.slots.mean >= 0,
                self.compiled and self._leaves_no_trace(FIRST),
            )
            self._ready[layout, track] = ready
        return ready

    def options(self, layout: type, track: bool = False) -> list[LoopOptions]:
        """The settings as the loops take them: one for all outputs, or one for each."""
        return [self._options(setting, layout, track) for setting in self.settings]

    def _options(self, setting: Settings, layout: type, track: bool) -> LoopOptions:
        return LoopOptions(
            alpha=float(setting.alpha),
            l1=float(setting.l1),
            l2=float(setting.l2),
            forget=float(setting.forget),
            average_from=float(setting.average),
            eager=float(self._is_eager(setting, layout)),
            intercept=float(setting.intercept),
            intercept_rate=float(setting.intercept_rate),
            intercept_norm=float(setting.intercept and setting.intercept_in_norm),
            track=float(track),
            last_touched_slot=float(self.slots.last_touched),
            mean_slot=float(self.slots.mean),
        )

    def _is_eager(self, setting: Settings, layout: type) -> bool:
        """Whether average or penalty have no lazy form for rows of this layout.

        The average of a penalised weight needs every step, but for L2 with a common rate. An elastic net with a common
        rate shrinks and cuts in turn, which no sum of amounts can retell; dense rows visit every weight anyway.
        """
        penalised = setting.l1 > 0.0 or (self.kind == "cells" and setting.l2 > 0.0)
        if setting.average > 0.0 and penalised:
            return True
        mixed = setting.l1 > 0.0 and setting.l2 > 0.0
        return self.kind == "uniform" and mixed and layout is SparseRows

    def _loop(self) -> Any:
        if not self.compiled:
            return interpreted_loop(type(self.rules[0]))
        return learning_loop(shape_of(self.losses[0]), shape_of(self.rules[0]))

    def _state(self, batch: Batch) -> State | LoneState | MatrixState:
        table, counters = self.table, self.counters.array
        if self.kind == "matrix":
            scratch = np.zeros((2, table.matrix.shape[1]))
            return MatrixState(table.base, table.bias, counters, table.matrix, scratch)
        gathered, scratch = self._scratch_for(batch.rows)
        targets = batch.targets.targets if isinstance(batch.targets, Watched) else batch.targets
        alone = len(counters) == 1 and not self.banked
        if alone and not isinstance(targets, Labels):  # of labels there may soon be more
            return LoneState(table.base, table.bias, counters, gathered, scratch)
        return State(table.base, table.bias, counters, gathered, scratch)

    def _scratch_for(self, rows: Rows) -> Scratch:
        """Scratch for the rows: the same as for those before, if that is enough."""
        scratch = self._scratch or scratch_of(self.table.output_room, self.slots.size)
        if self.kind == "cells" and not scratch.serves(rows):
            scratch = scratch.wider(rows)
        self._scratch = scratch
        return scratch

    def _leaves_no_trace(self, order: np.ndarray) -> bool:
        """Whether a batch that fails has changed nothing: a uniform rule looks before it moves, but pays L1 at once."""
        return len(order) == 1 and self.kind == "uniform" and self.slots.last_touched < 0

    def start_pass(self) -> None:
        """Begin another pass over the same rows: from now on losses are training losses."""
        self.counters.start_pass()

    def marks(self, outputs: slice = slice(None), row_loss: bool = False) -> list[Mark]:
        """The progressive history at 1, 2, 4, 8, ... examples, and now."""
        with self.lock, self.busy:
            return self.counters.marks(outputs, row_loss)

    # -------------------------------------------------------------- weights that are read

    def weights(self, *, averaged: bool = True) -> np.ndarray:
        """The weights, one row an output: penalties paid, averaged if the settings say so. Changes nothing."""
        with self.lock, self.busy:
            return read_columns(self, slice(None), averaged)

    def intercepts(self, *, averaged: bool = True) -> np.ndarray:
        """The intercepts, averaged like the weights."""
        with self.lock, self.busy:
            return read_intercepts(self, averaged)

    def weights_and_intercepts(self, *, averaged: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Both, as of one moment."""
        with self.lock, self.busy:
            return read_columns(self, slice(None), averaged), read_intercepts(self, averaged)

    def scores(self, X: Any, *, averaged: bool = True) -> np.ndarray:
        """The scores of rows given as an array or a sparse matrix, one column an output, as of a whole example."""
        with self.lock, self.busy:
            weights, scales, intercepts = read_for_scoring(self, slice(None), averaged)
            weights = weights.copy()  # a view of the table
        return ScoringWeights(weights, scales, intercepts).scores(X)

    # -------------------------------------------------------------- a table of another shape

    def turn_table(self, layout: type) -> None:
        """Let the table lie as rows of this kind do, for a caller who is alone with it.

        Matrix rules spread their rows out and keep the dense form.
        """
        layout = DenseRows if self.kind == "matrix" else layout
        if layout is not self.table.layout:
            if layout is SparseRows and self.kind == "uniform":
                pay_penalties(self)
            self.table.turn(layout)
            self.changes.copies = None
            self.busy.moved()

    def grow(self, features: int) -> None:
        """Make room for more features: their cells start at zero, awake from the beginning."""
        with self.lock, self.busy:
            self.grow_unlocked(features)

    def grow_unlocked(self, features: int) -> None:
        """As :meth:`grow`, for a caller who is alone with it."""
        grow_table(self.table, self.rules, features)
        self.busy.moved()
        self.note_change()

    def add_output(self, source: int, at: int) -> None:
        """Insert before output ``at`` a copy of output ``source``: a class that was there all along."""
        with self.lock, self.busy:
            self.add_output_unlocked(source, at)

    def add_output_unlocked(self, source: int, at: int) -> None:
        """As :meth:`add_output`, for a caller who is alone with it."""
        self.busy.refuse_handler(self.lock)
        insert_output(self.table, self.counters, source, at)
        self._scratch = None  # which has no room for one more
        self.busy.moved()
        self.note_change()

    # -------------------------------------------------------------- copies

    def __getstate__(self) -> dict[str, Any]:
        with self.lock, self.busy:
            return self._state_unlocked()

    def _state_unlocked(self) -> dict[str, Any]:
        left_out = ("lock", "busy", "changes", "_scratch", "_ready")
        state = {name: value for name, value in self.__dict__.items() if name not in left_out}
        state |= {"table": copy_table(self.table), "counters": self.counters.copy(), "version": self.version}
        return state

    def copy_unlocked(self) -> Learner:
        """A learner that goes on from here on its own, for a caller who is alone with this one."""
        twin = Learner.__new__(Learner)
        twin.__setstate__(self._state_unlocked())
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.lock = lock_of(self, "lock")
        self.busy = SequenceLock()
        self.busy.words[VERSION] = state.pop("version")
        self.changes = Changes()
        self._ready, self._scratch = {}, None
        self.__dict__.update(state)


def resolve_configurations(
    loss: Any, rule: Any, settings: Settings | Sequence[Settings], compiled: bool
) -> tuple[list[Any], list[Any], list[Settings]]:
    """Lists of losses, rules and settings, by their names or as they were given, if they are fine and go together.

    Looking takes longer than to learn ten rows, and most learners are made as others were.
    """
    losses, rules = (list(each) if isinstance(each, list) else [each] for each in (loss, rule))
    several = [settings] if isinstance(settings, Settings) else list(settings)
    parts = losses, rules, several
    key = (tuple((tuple(map(shape_of, part)), tuple(part)) for part in parts), compiled)  # equal tuples may be unlike
    try:
        found = FINE.get(key)
    except TypeError:  # a field that is not hashable
        return try_configurations(losses, rules, several, compiled)
    if found is None:
        found = try_configurations(losses, rules, several, compiled)
        if len(FINE) >= MOST_FINE:
            FINE.clear()
        FINE[key] = found
    return list(found[0]), list(found[1]), list(found[2])
