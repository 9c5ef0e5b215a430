"""The progressive figures of an estimator: what it suffered while it learned."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from onlinear.estimators.checks import whole
from onlinear.kernels.learn.state import IMPORTANCE
from onlinear.learning.learner import Learner, Mark


class KeepsFigures:
    """``updates_``, ``mistakes_``, ``examples_``, ``loss_``, their kin, and the history, read from the learner."""

    _learner: Learner | None
    _pass_starts: list[tuple[int, int]]

    def _counting(self) -> Learner:
        if self._learner is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return self._learner

    def _answering_outputs(self) -> slice:
        """The outputs whose figures count."""
        return slice(0, None)

    def _row_loss(self) -> bool:
        return hasattr(self._counting().losses[0], "slopes")

    @contextmanager
    def _alone(self) -> Iterator[Learner]:
        """The learner, as of a whole example: nobody learns, and no class appears, until the caller is done."""
        self._counting()  # before there is one, nothing is locked
        with whole(self):
            learner = self._counting()
            with learner.lock, learner.busy:
                yield learner

    @property
    def examples_(self) -> int:
        """How many examples were learned from, over all passes; rows of importance 0 do not count."""
        with self._alone() as learner:
            return learner.examples

    @property
    def mistakes_(self) -> int:
        """How many examples were predicted wrongly before they were learned: with the average, where there is one."""
        with self._alone():
            return self._count_mistakes()

    @property
    def updates_(self) -> Any:
        """How many examples changed the weights (the k of the theorems); one number for each class of several."""
        with self._alone():
            return self._count_updates()

    @property
    def loss_(self) -> float:
        """The mean loss of the answers, each given before its example was learned from."""
        with self._alone():
            return self._mean_loss()

    @property
    def history_(self) -> list[Mark]:
        """Loss and mistakes of the answers at 1, 2, 4, 8, ... examples and now; training from the second pass on."""
        with self._alone() as learner:
            return learner.marks_unlocked(self._answering_outputs(), self._row_loss())

    @property
    def t_(self) -> float:
        """One more than the number of examples learned from, as scikit-learn counts."""
        with self._alone() as learner:
            return 1.0 + learner.t

    @property
    def updates_per_pass_(self) -> list[int]:
        """Updates in each pass of the last ``fit``, of all classes; what ``partial_fit`` adds goes to the last."""
        return [end[0] - start[0] for start, end in self._passes()]

    @property
    def mistakes_per_pass_(self) -> list[int]:
        """Mistakes in each pass of the last ``fit``; what ``partial_fit`` adds goes to the last."""
        return [end[1] - start[1] for start, end in self._passes()]

    def _passes(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        with self._alone():
            now = (self._updates_in_all(), self._count_mistakes())
            return list(zip(self._pass_starts, [*self._pass_starts[1:], now], strict=True))

    def _begin_pass(self) -> None:
        with self._alone() as learner:
            learner.start_pass()
            begun = learner.examples > 0
            self._pass_starts.append((self._updates_in_all(), self._count_mistakes()) if begun else (0, 0))

    # -------------------------------------------------------------- for a caller who is alone with the learner

    def _count_mistakes(self) -> int:
        return int(self._counting().mistakes[self._answering_outputs()].sum())

    def _count_updates(self) -> Any:
        updates = self._counting().updates[self._answering_outputs()]
        if self._row_loss() or len(updates) == 1:
            return self._updates_in_all()
        return updates[self._class_order(len(updates))]

    def _class_order(self, outputs: int) -> Any:
        return slice(None)

    def _updates_in_all(self) -> int:
        learner = self._counting()
        updates = learner.updates[self._answering_outputs()]
        if not self._row_loss() or len(updates) < 2:
            return int(updates.sum())
        slopes = np.zeros(len(updates))
        learner.losses[0].slopes(np.zeros(len(updates)), 0, slopes)
        pairs = np.count_nonzero(slopes) == 2  # an update moves the class and its rival
        return int(updates.sum()) // 2 if pairs else int(updates.max())

    def _mean_loss(self) -> float:
        learner = self._counting()
        sums = learner.loss_sums[self._answering_outputs()]
        total = sums.mean() if self._row_loss() else sums.sum()
        return float(total) / max(float(learner.clock[0, IMPORTANCE]), 1e-300)
