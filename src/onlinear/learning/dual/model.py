"""DualModel: perceptrons in dual form, and the classes they tell apart: what a Model is to a linear learner.

It learns rows in memory, and blocks of a stream; estimators and the command line hold it.
"""

from __future__ import annotations

import copy
import hashlib
from bisect import bisect_left
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from onlinear.data.batch import Rows
from onlinear.data.rows import DenseRows
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.features.blocks import Block
from onlinear.features.names import ExactNames
from onlinear.learning.block_rows import BlockLearner
from onlinear.learning.classes import Classes, label_at, whole_to_int
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import BLOCK, Perceptrons, dense
from onlinear.learning.dual.predictor import DualPredictor
from onlinear.learning.outputs import outputs_for
from onlinear.learning.progress import Totals

#: columns that a stream of dicts has room for at first; their number doubles
FIRST_COLUMNS = 16
#: the most that the kept examples of a stream may take, in bytes
MOST_BYTES = 4 << 30
WEIGHED = "a budget is kept by steps of 1: leave out the sample weights, or the budget"


class DualModel(BlockLearner):
    """Perceptrons in dual form with their classes, counts, and the names of their columns; :meth:`create` makes both.

    Two classes known from the start share one perceptron; else each class has one. Where classes may still appear, one
    more, the last, learns that "none of this" is right: when a new class appears, it has been that class's all along.

    ``vote`` is one of :data:`onlinear.learning.dual.versions.VOTES`, and ``seed`` that of "random"; ``kind`` is what
    the command line calls the learner.

    >>> import numpy as np
    >>> model = DualModel.create(Kernel("linear"), Classes(["no", "yes"]), features=1)
    >>> _ = model.learn_labels(np.array([[1.0], [-2.0]]), np.array(["yes", "no"]), np.ones(2))
    >>> model.totals()
    Totals(examples=2, mistakes=1, loss=0.0, importance=2.0)
    """

    classes: Classes
    #: what a linear model may have
    adapting, bits, slim, has_row_loss = None, None, False, False
    rule_name = None
    #: a pass without an update is the last that could change anything
    comes_to_rest = rests_without_updates = True

    def __init__(
        self,
        perceptrons: Perceptrons,
        classes: Classes,
        *,
        kind: str = "kernel",
        vote: str = "vote",
        budget: int | None = None,
        seed: int = 0,
    ) -> None:
        self.perceptrons, self.classes = perceptrons, classes
        self.kind, self.vote, self.budget, self.seed = kind, vote, budget, seed
        self.names: ExactNames | None = None  # of the features of dicts
        self.seen: frozenset[int] = frozenset()  # the codes of classes that have had a row
        self.passes = 1  # begun
        self._sums = Totals()
        self._history: list[Totals] = []

    @classmethod
    def create(
        cls,
        kernel: Kernel,
        classes: Classes,
        *,
        kind: str = "kernel",
        vote: str = "vote",
        budget: int | None = None,
        seed: int = 0,
        features: int = 0,
        dtype: Any = np.float64,
    ) -> DualModel:
        """A model that has learned nothing."""
        outputs = outputs_for(classes, row_loss=False)
        share = None if budget is None else budget // outputs
        if share == 0:
            raise Refused(f"a budget of {budget} does not suffice for {outputs} classes: give one example to each")
        perceptrons = Perceptrons(kernel, features, outputs, dtype, share)
        return cls(perceptrons, classes, kind=kind, vote=vote, budget=budget, seed=seed)

    # -------------------------------------------------------------- figures

    @property
    def began_open(self) -> bool:
        """Whether classes may appear, or could when it began."""
        return self.classes.open

    @property
    def loss_name(self) -> str:
        """The loss that is counted: of several classes, by how much the strongest rival is ahead."""
        return "perceptron" if self.shares_one else "multiclass_perceptron"

    @property
    def kernel(self) -> Kernel:
        """That of the perceptrons."""
        return self.perceptrons.kernel

    @property
    def features(self) -> int:
        """How many columns the kept examples have."""
        return int(self.perceptrons.support.rows.shape[1])

    width = features

    @property
    def examples(self) -> int:
        """How many examples were learned from, over all passes."""
        return self._sums.examples

    @property
    def mistakes(self) -> int:
        """How many of them the last version had wrong, or undecided, before they were learned."""
        return self._sums.mistakes

    @property
    def updates(self) -> int | list[int]:
        """How many examples changed the hypothesis; one number for each class of several."""
        made = [self.perceptrons.versions[output].made for output in self.outputs()]
        return made[0] if len(made) == 1 else made

    def updates_in_all(self) -> int:
        """The updates of all classes."""
        known = 1 if self.shares_one else max(len(self.classes), 1)
        return sum(versions.made for versions in self.perceptrons.versions[:known])

    def totals(self) -> Totals:
        """The sums as of now; the loss of an example is by how much the last version had it wrong."""
        return self._sums

    def history(self) -> list[Totals]:
        """The sums after 1, 2, 4, 8, ... examples."""
        return list(self._history)

    @property
    def loss(self) -> float:
        """The mean loss of the answers, each given before its example was learned from."""
        return self._sums.loss / self._sums.importance if self._sums.importance > 0.0 else 0.0

    def set_sums(self, sums: Totals, history: list[Totals]) -> None:
        """Go on from these."""
        self._sums, self._history = sums, history

    def start_pass(self) -> None:
        """Begin another pass over the rows."""
        self.passes += 1

    # -------------------------------------------------------------- learning rows

    def learn_labels(
        self,
        X: Any,
        labels: np.ndarray,
        importance: np.ndarray,
        numbers: np.ndarray | None = None,
        label_of: Callable[[np.ndarray, int], Hashable] = label_at,
    ) -> None:
        """Learn rows that are all present, in order; rows with ``numbers`` are kept once, in however many passes."""
        codes = self.classes.codes_of(labels)

        def learn(start: int, stop: int) -> None:
            part = slice(start, stop)
            of_rows = None if numbers is None else numbers[part]
            self.learn_codes(X[part], codes[part], importance[part], numbers=of_rows)

        self.classes.learn_in_order(labels, codes, importance > 0.0, learn, self.add_class, label_of)

    def learn_codes(
        self,
        X: Any,
        codes: np.ndarray,
        importance: np.ndarray,
        *,
        order: np.ndarray | None = None,
        numbers: np.ndarray | None = None,
    ) -> np.ndarray:
        """Learn rows of known classes, in an ``order`` of their own if there is one; answer the scores before each."""
        scores = self.perceptrons.learn(X, self.targets(codes), importance, order, numbers)
        if order is not None:
            codes, importance = codes[order], importance[order]
        self._count(scores, codes, importance)
        return scores

    def targets(self, codes: np.ndarray) -> np.ndarray:
        """1 for the output of the row's class, -1 for the others."""
        outputs = np.arange(self.perceptrons.outputs) + self.shares_one
        return np.where(codes[:, None] == outputs, 1.0, -1.0)

    @property
    def shares_one(self) -> bool:
        """Whether two classes share one perceptron, that of the second."""
        return len(self.classes) == 2 and not self.classes.open

    def _count(self, scores: np.ndarray, codes: np.ndarray, importance: np.ndarray) -> None:
        """Count the rows that the last versions had wrong, or undecided, before they learned them.

        Only classes seen so far compete, so that it does not matter whether all were named at the start. Sums grow one
        by one, and so do not depend on which rows come together.
        """
        if self.shares_one:
            own, best = (2.0 * codes - 1.0) * scores[:, 0], np.zeros(len(codes))
        else:
            present = codes[:, None] == np.arange(len(self.classes))
            seen = np.logical_or.accumulate(present, axis=0) | np.isin(np.arange(len(self.classes)), [*self.seen])
            own = scores[np.arange(len(codes)), codes]
            best = np.where(seen & ~present, scores[:, : len(self.classes)], -np.inf).max(axis=1, initial=-np.inf)
            best[np.isinf(best)] = 0.0  # a class alone has to be on its own side of zero
        self.seen = self.seen.union(codes.tolist())
        before = self._sums
        mistakes = before.mistakes + np.cumsum(own <= best)
        losses = np.cumsum([before.loss, *(np.maximum(best - own, 0.0) * importance).tolist()])[1:]
        weights = np.cumsum([before.importance, *importance.tolist()])[1:]

        def sums_after(row: int) -> Totals:
            return Totals(before.examples + row + 1, int(mistakes[row]), float(losses[row]), float(weights[row]))

        after = before.examples + len(codes)
        powers = range(before.examples.bit_length(), after.bit_length())
        self._history += [sums_after((1 << power) - before.examples - 1) for power in powers]
        if len(codes):
            self._sums = sums_after(len(codes) - 1)

    # -------------------------------------------------------------- classes

    def check_labels(self, labels: np.ndarray, importance: np.ndarray) -> None:
        """Refuse all labels if one of a row that is present cannot be learned."""
        present = importance > 0.0
        codes = self.classes.checked_codes(labels, present)
        self.check_budget(len(set(labels[(codes < 0) & present].tolist())))

    def check_budget(self, new: int) -> None:
        """Refuse new classes of which there would be no share in the budget."""
        if new and self.budget is not None and len(self.classes) + new > 2:
            raise Refused(
                "a budget is shared out among the classes, and a third one is new: name all of them in the first call"
            )

    def check_steps(self, importance: np.ndarray) -> None:
        """Refuse importances that make steps of another size than a budget counts."""
        if self.budget is not None and not are_whole_steps(importance).all():
            raise Refused(WEIGHED)

    def add_class(self, label: Hashable) -> int:
        """Let a new class appear; its code."""
        self.perceptrons.add_output()
        return self.classes.add(label)

    def outputs(self) -> list[int]:
        """The outputs that answer: for two classes that of the second, else in the order of ``classes_``."""
        if self.shares_one or len(self.classes) < 2:
            return [0]
        order: list[int] = self.classes.order.tolist()
        return order[1:] if len(order) == 2 else order

    # -------------------------------------------------------------- learning blocks of a stream

    def find_refused(self, block: Block) -> tuple[int, str] | None:
        """The first row that cannot be learned from because of its label or its importance, and why."""
        found = super().find_refused(block)
        if self.budget is None:
            return found
        weighed = np.flatnonzero(~are_whole_steps(block.importance))
        if len(weighed) and (found is None or weighed[0] < found[0]):
            return int(weighed[0]), f"its importance is {block.importance[weighed[0]]:g}: {WEIGHED}"
        return found

    def _learn_block(self, block: Block) -> None:
        self.make_room(width_of(block))
        present = np.flatnonzero(block.importance > 0.0)
        self.check_labels(block.labels, block.importance)
        table, importance = self.table_of(block.rows)[present], block.importance[present]
        row, error = self.first_beyond(table, importance)
        fine = present[:row]
        numbers = None if block.numbers is None else block.numbers[fine]
        self.learn_labels(table[:row], block.labels[fine], importance[:row], numbers, lambda y, i: whole_to_int(y[i]))
        if error is not None:
            raise Diverged(f"{block.origin.error(int(present[row]), '')}{error}")

    def first_beyond(self, table: Any, importance: np.ndarray) -> tuple[int, BadInput | None]:
        """The first row with which a sum of kernels could leave the range of numbers, and why: behind all if none."""

        def error_with(row: int) -> BadInput | None:
            try:
                self.perceptrons.check(table[: row + 1], float(importance[: row + 1].sum()))
            except BadInput as error:
                return error
            return None

        rows = table.shape[0]
        if not rows or error_with(rows - 1) is None:
            return rows, None
        row = bisect_left(range(rows), True, key=lambda row: error_with(row) is not None)
        return row, error_with(row)

    def make_room(self, width: int) -> None:
        """Let examples have so many columns at least; what is kept grows with each."""
        support = self.perceptrons.support
        wide = max(width, self.features)
        size = (support.size + BLOCK) * (wide + self.perceptrons.outputs) * support.rows.itemsize
        if size > MOST_BYTES:
            raise Refused(
                f"{support.size:,} examples are kept, and with {wide:,} columns the next ones come to {size / 1e9:.2f} "
                f"GB, of {MOST_BYTES / 1e9:.2f} GB at most: take a budget, fewer columns, or a linear learner"
            )
        if wide > self.features:
            self.perceptrons.widen(wide)

    def table_of(self, rows: Rows) -> Any:
        """Rows as a table with as many columns as what is kept: others count nothing."""
        if isinstance(rows, DenseRows):
            return rows.values
        known = rows.columns < self.features
        starts, columns, values = rows
        if not known.all():
            starts = np.concatenate([[0], np.cumsum(known)])[starts]
            columns, values = columns[known], values[known]
        return csr_matrix((values, columns.astype(np.int64), starts), shape=(len(starts) - 1, self.features))

    # -------------------------------------------------------------- answers

    def scores(self, X: Any, vote: str) -> np.ndarray:
        """The scores of rows by a vote: of the second class where there are two, else one column for each class."""
        self.perceptrons.check(X)
        moments = self._moments(X) if vote == "random" else None
        return self.perceptrons.scores(X, self.outputs(), vote, moments)

    def _moments(self, X: Any) -> np.ndarray:
        """For each row the number of an example: drawn by a hash of its own, whatever columns other rows have."""
        machine = self.perceptrons
        key = np.array([self.seed, machine.examples]).tobytes()
        moments = np.empty(X.shape[0], dtype=np.int64)
        for number in range(X.shape[0]):
            row = dense(X[number : number + 1])[0].astype(machine.support.rows.dtype) + 0.0  # -0.0 becomes 0.0
            drawn = hashlib.blake2b(np.trim_zeros(row, "b").tobytes(), digest_size=8, key=key).digest()
            moments[number] = int.from_bytes(drawn, "little") % max(machine.examples, 1)
        return moments

    def snapshot(self) -> DualPredictor:
        """What has been learned so far, for answers only: nothing will change it."""
        twin = copy.copy(self)
        twin.perceptrons, twin.classes = self.perceptrons.frozen(), self.classes.copy()
        return DualPredictor(twin)

    # -------------------------------------------------------------- calls that are refused

    def conditions(self) -> ExactNames | None:
        """What a call may change before it is refused."""
        return self.names

    def restore(self, before: ExactNames | None) -> None:
        """Go back to the conditions of before a call that was refused."""
        self.names = before


def are_whole_steps(importance: np.ndarray) -> np.ndarray:
    """Which importances are 1, or 0, which is no step."""
    return np.isin(importance, (0.0, 1.0))


def width_of(block: Block) -> int:
    """How many columns a block asks for."""
    return int(block.rows.values.shape[1]) if isinstance(block.rows, DenseRows) else block.width


def room_for_names(names: int) -> int:
    """How many columns there are for so many names that came one after the other.

    >>> room_for_names(3), room_for_names(17)
    (16, 32)
    """
    return max(FIRST_COLUMNS, 1 << (names - 1).bit_length())
