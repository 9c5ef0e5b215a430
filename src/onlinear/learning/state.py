"""The state of a learner: the cells of its weights, its counters, and room to work in. None of it takes a lock.

What the columns of the counters count is said in :mod:`onlinear.kernels.learn.state`. How a state gets more features or
outputs is in :mod:`onlinear.learning.growth`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Rows, writeable
from onlinear.data.rows import WHOLE, DenseRows, SparseRows
from onlinear.errors import Refused
from onlinear.kernels.compiler.hints import LINE
from onlinear.kernels.learn import state as column
from onlinear.kernels.learn.changes import BLOCK_BITS
from onlinear.rules.matrix import MOST_FEATURES

#: what belongs to the weights, and to what the rule has gathered
OF_WEIGHTS = [
    *(column.T, column.OWED, column.MASS, column.COUNT, column.WEIGHT, column.SPREAD),
    *(column.NORM, column.PACE, column.SIZE, column.SQUARES),
]
#: what an output counts of its own steps
OF_STEPS = [column.NORM, column.OBJECTIVE, column.UPDATES, column.PULL, column.PULLED, column.SQUARES]
#: what an output has counted that has seen nothing
FRESH = np.zeros(column.COUNTERS)
FRESH[[column.SCALE, column.ACTIVE, column.NEGATIVE, column.POSITIVE, column.FLUSHED]] = 1.0


class Slots(NamedTuple):
    """Which numbers there are for each weight: those of the rule's cell, then what penalty and average need, if any."""

    cell: int  # how many are the rule's own, the weight itself the first
    last_touched: int  # where the L1 penalty is that the weight has paid, or when it last paid; -1: nowhere
    mean: int  # where the average is; -1: nowhere

    @property
    def size(self) -> int:
        return self.cell + (self.last_touched >= 0) + (self.mean >= 0)

    @property
    def are_lazy(self) -> bool:
        """Whether a weight is more than what is kept of it: a penalty is owed, or an average is asked for."""
        return self.size > self.cell

    @classmethod
    def of(cls, kind: str, rule: Any, settings: Sequence[Any]) -> Slots:
        """Those that a rule of this kind needs with these settings."""
        size = len(rule.CELL) if kind == "cells" else 1
        lazy = size if pays_lazily(kind, settings) else -1
        averages = any(setting.average > 0.0 for setting in settings)
        return cls(size, lazy, size + (lazy >= 0) if averages else -1)

    def shared_with(self, other: Slots) -> list[int]:
        """Those that a table of ``other`` slots, which are no more, takes over."""
        own = [*range(self.cell)]
        own += [self.last_touched] * (other.last_touched >= 0)
        return own + [self.mean] * (other.mean >= 0)


def pays_lazily(kind: str, settings: Sequence[Any]) -> bool:
    """Whether a weight pays a penalty, or forgets, when it is next touched, and so keeps how far it has."""
    if kind == "uniform":
        return any(setting.l1 > 0.0 for setting in settings)
    return kind == "cells" and any(setting.l1 > 0.0 or setting.l2 > 0.0 or setting.forget > 0.0 for setting in settings)


class WeightTable:
    """Weights and intercepts of a bank of outputs, with what the rule keeps beside them. It takes no lock.

    The cells lie as the rows do that are learned: ``[output, slot, feature]`` where the ``layout`` is DenseRows, and
    ``[feature, output, slot]`` where it is SparseRows. ``base`` is the array of the compiled loops; it may have room
    for more outputs, which is all zeros.
    """

    def __init__(self, rules: Sequence[Any], slots: Slots, features: int, outputs: int, layout: type) -> None:
        is_dense = layout is DenseRows
        self.layout = layout
        self.base = zeros((outputs, slots.size, features) if is_dense else (features, outputs, slots.size))
        self.bias = np.zeros((outputs, slots.size))
        self.matrix = first_matrices(rules, features, outputs)
        self.changed = np.zeros(0, dtype=np.uint8)

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def features(self) -> int:
        return int(self.base.shape[2 if self.layout is DenseRows else 0])

    @property
    def output_room(self) -> int:
        """How many outputs there is room for."""
        return int(self.base.shape[0 if self.layout is DenseRows else 1])

    @property
    def cells(self) -> np.ndarray:
        """What is in use of the base."""
        outputs = len(self.bias)
        if self.layout is DenseRows:
            return self.base if len(self.base) == outputs else self.base[:outputs]
        return self.base if self.base.shape[1] == outputs else self.base[:, :outputs]

    @property
    def cells_by_output(self) -> np.ndarray:
        """The cells as ``[output, slot, feature]``, however they lie."""
        return self.cells if self.layout is DenseRows else self.cells.transpose(1, 2, 0)

    def numbers_of(self, m: int) -> np.ndarray:
        """An output's numbers for all features, a row for each slot: a view."""
        return self.base[m] if self.layout is DenseRows else self.base[:, m].T

    def turn(self, layout: type) -> None:
        """Let the cells lie as rows of this kind do."""
        turned = self.base.transpose((2, 0, 1) if layout is SparseRows else (1, 2, 0))
        is_empty = not self.base.view(np.int64).any()  # to the bit; then there is nothing to bring along
        self.base, self.layout = zeros(turned.shape), layout
        if not is_empty:
            self.base[...] = turned

    def clear(self, rules: Sequence[Any]) -> None:
        """Zero weights everywhere, and nothing beside them."""
        self.cells[...] = 0.0
        self.bias[...] = 0.0
        if len(self.matrix):
            self.matrix = first_matrices(rules, self.features, self.outputs)

    def change_map(self) -> np.ndarray:
        """A byte for each block of columns, where it is noted that they have changed, until somebody clears it."""
        blocks = (self.features >> BLOCK_BITS) + 1
        if len(self.changed) != blocks:
            self.changed = np.zeros(blocks, dtype=np.uint8)
        return self.changed

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.base, self.bias, self.matrix = writeable(self.base), writeable(self.bias), writeable(self.matrix)


def first_matrices(rules: Sequence[Any], features: int, outputs: int) -> np.ndarray:
    """What matrix rules begin with, ``[output, feature, feature]`` with the intercept last; none for other rules."""
    if not hasattr(rules[0], "MATRIX"):
        return np.zeros((0, 0, 0))
    if features > MOST_FEATURES:
        name = type(rules[0]).__name__
        raise Refused(
            f"{name} keeps a square matrix: {features} features are more than {MOST_FEATURES}; "
            f"use the diagonal form, rules.Diagonal{name.removeprefix('Online')}"
        )
    matrices = np.zeros((outputs, features + 1, features + 1))
    for m in range(outputs):
        np.fill_diagonal(matrices[m], 1.0 / rules[min(m, len(rules) - 1)].a)
    return matrices


class Mark(NamedTuple):
    """The progressive figures after so many examples; ``training`` from the second pass on."""

    examples: int
    loss: float
    mistakes: int
    training: bool


class Counters:
    """The counters of a bank of outputs: ``array[output, column]``, and figures of them at 1, 2, 4, 8, ... examples.

    It takes no lock. ``averages`` says whether an output answers with averaged weights: then what the weights that
    learn would have answered is counted, too.
    """

    def __init__(self, outputs: int, *, averages: bool) -> None:
        self.array = zeros((outputs, column.COUNTERS))
        self.array[:] = FRESH
        self.averages = averages
        self.history: list[np.ndarray] = []
        self.first_pass_examples = -1

    # -------------------------------------------------------------- examples, losses and mistakes

    @property
    def examples(self) -> int:
        """How many examples were learned from, over all passes."""
        return int(self.array[0, column.EXAMPLES])

    @property
    def importance(self) -> float:
        """The importance of all examples."""
        return float(self.array[0, column.IMPORTANCE])

    @property
    def largest_square(self) -> float:
        """The largest squared length of a row, where the rule asks for it; else 0."""
        return float(self.array[0, column.RADIUS])

    @property
    def updates(self) -> np.ndarray:
        """For each output, the examples whose slope was not zero: the k of the mistake bounds."""
        return self.array[:, column.UPDATES].astype(np.int64)

    @property
    def mistakes(self) -> np.ndarray:
        """For each output, wrong answers; several classes count them at the first."""
        return self.array[:, column.MISTAKES].astype(np.int64)

    @property
    def unaveraged_mistakes(self) -> np.ndarray:
        """The same of the weights that learn, which the mistake bounds speak of, where answers are averaged."""
        return self.array[:, column.UNAVERAGED_MISTAKES if self.averages else column.MISTAKES].astype(np.int64)

    @property
    def loss_sums(self) -> np.ndarray:
        """For each output, importance times the loss of its answer, summed as it was suffered."""
        return self.array[:, column.LOSS].copy()

    @property
    def unaveraged_loss_sums(self) -> np.ndarray:
        """The same of the weights that learn, which regret bounds speak of, where answers are averaged."""
        return self.array[:, column.UNAVERAGED_LOSS if self.averages else column.LOSS].copy()

    @property
    def objectives(self) -> np.ndarray:
        """For each output, loss and penalty summed over the present pass."""
        return self.array[:, column.OBJECTIVE].copy()

    # -------------------------------------------------------------- what schedules, penalties and averages count by

    @property
    def t(self) -> float:
        """How many examples the outputs have counted."""
        counts = self.array[:, column.T]
        return float(counts.max(initial=0.0)) if len(counts) != 1 else float(counts[0])

    @property
    def averaged_examples(self) -> np.ndarray:
        """For each output, how many examples its average is of."""
        return self.array[:, column.COUNT].copy()

    @property
    def scales(self) -> np.ndarray:
        """For each output, what its weights in the table are to be multiplied by."""
        return self.array[:, column.SCALE].copy()

    def least_scale_and_pace(self) -> tuple[float, float]:
        """The least scale of an output, and the fewest examples that a schedule counts."""
        return float(self.array[:, column.SCALE].min()), float(self.array[:, column.PACE].min())

    def count_from(self, examples: float) -> None:
        """Let outputs and schedules count on from so many examples."""
        self.array[:, [column.T, column.PACE]] = examples

    def restart_schedules(self) -> None:
        """Let schedules count anew."""
        self.array[:, column.PACE] = 0.0

    # -------------------------------------------------------------- sums of steps, which mistake bounds speak of

    @property
    def step_sums(self) -> np.ndarray:
        """For each output, the sizes of its steps summed, and shrunk as the weights are; NaN where nobody knows."""
        return self.array[:, column.PULL].copy()

    @property
    def averaged_step_sums(self) -> np.ndarray:
        """The same, summed over the examples that were averaged."""
        return self.array[:, column.PULLED].copy()

    @property
    def squared_step_sums(self) -> np.ndarray:
        """For each output, the squares of the sizes of its steps, summed."""
        return self.array[:, column.SQUARES].copy()

    def forget_step_sums(self) -> None:
        """The weights are no sum of steps any more that were all taken for the same reason."""
        self.array[:, column.PULL] = np.nan

    def restore_step_sums(self, sums: np.ndarray) -> None:
        """Take back that they were forgotten."""
        self.array[: len(sums), column.PULL] = sums

    # -------------------------------------------------------------- outputs that stop, and that weigh

    @property
    def active(self) -> np.ndarray:
        """Which outputs learn."""
        return self.array[:, column.ACTIVE] > 0.0

    def stop_outputs(self, which: np.ndarray) -> None:
        """Let some outputs learn no more; the others go on."""
        self.array[which, column.ACTIVE] = 0.0

    def resume_outputs(self) -> None:
        """Let all outputs learn again."""
        self.array[:, column.ACTIVE] = 1.0

    def weigh_targets(self, negative: Any, positive: Any) -> None:
        """Factors on the importance of an example where an output's target is negative, or positive: one for each."""
        self.array[:, column.NEGATIVE], self.array[:, column.POSITIVE] = negative, positive

    def are_targets_weighed(self, outputs: Sequence[int]) -> bool:
        """Whether a target of one of these outputs has a factor other than 1."""
        return bool((self.array[list(outputs)][:, [column.POSITIVE, column.NEGATIVE]] != 1.0).any())

    # -------------------------------------------------------------- passes, and figures on the way

    def start_pass(self) -> None:
        """Begin another pass over the same rows: from now on losses are training losses."""
        if self.first_pass_examples < 0 and self.examples > 0:
            self.first_pass_examples = self.examples
        self.array[:, column.OBJECTIVE] = 0.0

    def figures(self) -> np.ndarray:
        """For each output the summed loss, the mistakes, and the importance of all examples."""
        figures = np.empty((len(self.array), 3))
        figures[:, 0], figures[:, 1], figures[:, 2] = (
            self.array[:, column.LOSS],
            self.array[:, column.MISTAKES],
            self.array[0, column.IMPORTANCE],
        )
        return figures

    def examples_to_mark(self) -> int:
        """How many examples there are to go until figures are kept."""
        return (1 << len(self.history)) - int(self.array[0, column.EXAMPLES])

    def keep_mark(self) -> None:
        """Keep the figures if this is the moment: at 1, 2, 4, 8, ... examples."""
        if self.examples == 1 << len(self.history):
            self.history.append(self.figures())

    def marks(self, outputs: slice, row_loss: bool) -> list[Mark]:
        """Mean loss and mistakes of these outputs at 1, 2, 4, 8, ... examples, and now."""
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

    # -------------------------------------------------------------- other weights

    def clear_steps(self, m: int) -> None:
        """Set an output's figures of its own steps back: those of an output that has made none."""
        self.array[m, OF_STEPS] = 0.0

    def count_mistakes_at_first(self) -> None:
        """Let the first output alone count mistakes, as it does for several classes."""
        self.array[1:, [column.MISTAKES, column.UNAVERAGED_MISTAKES]] = 0.0
        for figures in self.history:
            figures[1:, 1] = 0.0

    def begin_at(self, squared_lengths: np.ndarray) -> None:
        """The weights are given ones of this squared length, not made of steps."""
        self.array[:, column.NORM] = squared_lengths
        self.forget_step_sums()

    def settle_weights(self) -> None:
        """No penalty is owed, nothing averaged or scaled: the weights are what the table holds."""
        self.array[:, [column.OWED, column.MASS, column.COUNT, column.NORM]] = 0.0
        self.array[:, column.SCALE] = 1.0

    def clear_weights(self) -> None:
        """The weights are zero, and nothing is gathered; examples, losses and mistakes count on."""
        self.array[:, OF_WEIGHTS] = 0.0
        self.array[:, [column.SCALE, column.FLUSHED]] = 1.0
        self.array[:, [column.PULL, column.PULLED]] = np.nan  # a mistake bound is of updates without a restart

    # -------------------------------------------------------------- copies

    def copy(self) -> Counters:
        twin = Counters.__new__(Counters)
        twin.__dict__.update(self.__dict__, array=self.array.copy(), history=list(self.history))
        return twin

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.array = writeable(self.array)
        self.history = [writeable(figures) for figures in self.history]


# ------------------------------------------------------------------ memory


def zeros(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros that begin with a cache line: cells of 32 bytes then lie in one. Those never touched take no memory."""
    size = math.prod(shape)
    numbers = np.zeros(size + LINE // 8)
    start = -numbers.__array_interface__["data"][0] % LINE // numbers.itemsize
    return numbers[start : start + size].reshape(shape)


class Scratch(NamedTuple):
    """What a rule works with while it learns a row: see :class:`onlinear.kernels.learn.state.State`."""

    gathered: np.ndarray
    scratch: np.ndarray

    def serves(self, rows: Rows) -> bool:
        """Whether the longest row has room: of sparse ones the cells, too, and what fills them up."""
        if isinstance(rows, DenseRows):
            return self.scratch.shape[1] >= longest_of(rows)
        return self.gathered.shape[2] >= longest_of(rows) + WHOLE

    def wider(self, rows: Rows) -> Scratch:
        """Scratch that serves."""
        outputs, slots, _ = self.gathered.shape
        if isinstance(rows, DenseRows):  # whose cells lie side by side in the table
            return Scratch(self.gathered, zeros((column.SCRATCH, longest_of(rows))))
        return scratch_of(outputs, slots, longest_of(rows))


def scratch_of(outputs: int, slots: int, longest: int = 0) -> Scratch:
    """Room for sparse rows of up to so many entries.

    How far apart the slots of a cell lie is no power of two: a cache would put them all in the same place.
    """
    room = (longest | 63) + 1 + WHOLE
    return Scratch(
        zeros((outputs, slots, room)), zeros((column.SCRATCH, max(room, outputs * (slots + column.COUNTERS))))
    )


def longest_of(rows: Rows) -> int:
    """How many entries a row has at most."""
    if isinstance(rows, DenseRows):
        return int(rows.values.shape[1])
    if len(rows.starts) == 2:
        return int(rows.starts[1] - rows.starts[0])
    return int((rows.starts[1:] - rows.starts[:-1]).max(initial=0))
