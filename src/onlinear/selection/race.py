"""Race: configurations that learn the same rows in the same pass, each judged on a row before it learns it.

Those of one kind of loss and rule share a bank, so that a row is fetched once for all of them. A configuration may have
several members: one for each fold of a cross-validation. Each comes out as if it had learned alone, to the bit.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.batch import Batch, Rows, writeable
from onlinear.data.targets import ClassMembers, Labels, Members, Numbers, Signs
from onlinear.errors import Diverged, OnlinearError, Refused
from onlinear.kernels.learn.bank import shape_of
from onlinear.learning.configuration import Configuration
from onlinear.learning.growth import select_outputs
from onlinear.learning.learner import Learner

#: banks of a race that learn at the same time
THREADS = min(2, os.cpu_count() or 1)
#: no configuration stops before so many examples: an error on fewer is mostly chance
FEWEST = 250


class RaceTask(NamedTuple):
    """What is to be learned: so many classes, or numbers if there are none."""

    classes: int = 0

    @property
    def measure(self) -> str:
        """What configurations are compared by."""
        return "error" if self.classes else "rmse"

    def width(self, loss: Any) -> int:
        """How many outputs a model has."""
        return self.classes if self.classes > 2 or (self.classes and hasattr(loss, "slopes")) else 1

    def targets(self, targets: np.ndarray, loss: Any) -> Any:
        """The targets of one model: numbers, or codes of classes from 0 on."""
        if not self.classes:
            return Numbers(targets)
        if self.width(loss) == 1:
            return Signs((targets == 1) * 2.0 - 1.0)
        return Labels(targets, 0, self.classes)

    def members(
        self, targets: np.ndarray, loss: Any, learned: np.ndarray, counted: np.ndarray, counts: np.ndarray
    ) -> Members | ClassMembers:
        """The targets of a bank of models: see :class:`onlinear.data.targets.Members`."""
        one = self.targets(targets, loss)
        if self.width(loss) == 1:
            return Members(one, learned, counted, counts)
        return ClassMembers(one, self.width(loss), learned, counted, counts)

    def mean_error(self, sums: np.ndarray, rows: int | np.ndarray) -> np.ndarray:
        """The error, or the root of the mean squared one, from what was counted over so many rows."""
        means = sums / np.maximum(rows, 1)
        return means if self.classes else np.sqrt(means)


class RaceExamples(NamedTuple):
    """Rows with what is to be learned of them: numbers, or the codes of classes; and the fold of each row, if any."""

    rows: Rows
    targets: np.ndarray
    importance: np.ndarray
    folds: np.ndarray | None = None
    sound: bool = False

    def shares_of(self, members: Sequence[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
        """How often each row is learned and counted by each member: once, but for the fold that it leaves out."""
        if self.folds is None:
            once = np.ones((len(self.importance), len(members)), np.int8)
            return once, once
        counted = (self.folds[:, None] == np.array([fold for _, fold in members])).astype(np.int8)
        return 1 - counted, counted


class MemberBank:
    """A bank of members, all of one kind: ``members`` are pairs of a configuration's number and a fold or replicate."""

    def __init__(
        self,
        members: Sequence[tuple[int, int]],
        configurations: Sequence[Configuration],
        task: RaceTask,
        features: int,
        compiled: bool = True,
    ) -> None:
        self.members = list(members)
        self.task = task
        self.width = task.width(configurations[self.members[0][0]].loss)
        chosen = [configurations[number] for number, _ in self.members for _ in range(self.width)]
        together = hasattr(chosen[0].loss, "slopes")  # the outputs of one model, which has one loss
        self.learner = Learner(
            chosen[0].loss if together else [each.loss for each in chosen],
            [each.rule for each in chosen],
            features=features,
            outputs=len(chosen),
            settings=[each.settings for each in chosen],
            compiled=compiled,
        )
        self.learner.banked = not together
        self.counts = np.zeros(len(chosen))
        self._shares: list[np.ndarray] = []  # how often rows are learned and counted, while they are

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.counts = writeable(self.counts)

    def meet(self, examples: RaceExamples) -> None:
        """Make ready for examples; :meth:`leave` afterwards."""
        self._shares = list(examples.shares_of(self.members))

    def leave(self) -> None:
        self._shares = []

    def learn(self, examples: RaceExamples, order: np.ndarray) -> set[int]:
        """Learn rows that were met; the numbers of the configurations that diverged, and were dropped."""
        diverged: set[int] = set()
        while len(order) and self.members:
            before = self.learner.examples
            try:
                self.learner.learn(self.batch(examples, self._shares, self.counts), order)
                break
            except Diverged:
                order = order[self.learner.examples - before :]
                diverged |= self._drop_those_that_cannot(examples, order[:1])
        return diverged

    def batch(self, examples: RaceExamples, shares: Sequence[np.ndarray], counts: np.ndarray) -> Batch:
        """Examples for the bank: ``shares`` are how often each row is learned and counted by each member."""
        learned, counted = shares
        targets = self.task.members(examples.targets, self.learner.losses[0], learned, counted, counts)
        return Batch(examples.rows, targets, examples.importance, sound=examples.sound)

    def _drop_those_that_cannot(self, examples: RaceExamples, row: np.ndarray) -> set[int]:
        """Go on without the configurations that cannot learn this row: their weights would overflow."""
        failed = set()
        for place, member in enumerate(self.members):
            try:
                own = [np.ascontiguousarray(share[:, [place]]) for share in self._shares]
                self._part([place]).learn(self.batch(examples, own, np.zeros(self.width)), row)
            except Diverged:
                failed.add(member[0])
        if not failed:
            raise OnlinearError("each configuration alone can learn a row that all together cannot: please report this")
        self.keep({number for number, _ in self.members} - failed)
        return failed

    def sums(self) -> np.ndarray:
        """What was counted of each member."""
        return self.counts[:: self.width]

    def outputs_of(self, places: Iterable[int]) -> list[int]:
        return [place * self.width + each for place in places for each in range(self.width)]

    def _part(self, places: Sequence[int]) -> Learner:
        """The members at these places, in a bank of their own."""
        part = select_outputs(self.learner, self.outputs_of(places))
        part.banked = self.learner.banked
        return part

    def keep(self, configurations: set[int]) -> bool:
        """Go on with the members of these configurations alone; whether there are any."""
        places = [place for place, (number, _) in enumerate(self.members) if number in configurations]
        if places and len(places) < len(self.members):
            self.learner = self._part(places)
            self.counts = self.counts[self.outputs_of(places)]
            self._shares = [np.ascontiguousarray(share[:, places]) for share in self._shares]
        self.members = [self.members[place] for place in places]
        return bool(places)


class Outcome(NamedTuple):
    """How far a configuration has come."""

    number: int  # of the configuration, as it was given
    score: float  # the error, or the root of the mean squared one; infinite if it diverged
    curve: list[tuple[int, float]]  # the same after so many examples
    stopped_at: int | None  # the examples after which it stopped, if it did


class Race:
    """Configurations on their way through the same rows.

    ``folds`` is how many there are of a cross-validation; without, a row is judged by all, before they learn it.
    ``rungs`` are the numbers of examples at which the worse half of those that still run stops.
    """

    def __init__(
        self,
        configurations: Sequence[Configuration],
        task: RaceTask,
        features: int,
        *,
        folds: int = 0,
        rungs: Sequence[int] = (),
        compiled: bool = True,
    ) -> None:
        if not configurations:
            raise Refused("there is no configuration to race: give at least one")
        self.configurations = list(configurations)
        self.task = task
        self.folds = folds
        self.rungs = sorted(rungs)
        self.examples = 0
        self._lanes = [
            MemberBank(members, self.configurations, task, features, compiled) for members in self._by_kind()
        ]
        self._passes: dict[int, list[tuple[int, float]]] = {number: [] for number in range(len(configurations))}
        self._base = (0, np.zeros(len(configurations)))  # examples and sums when the counting began
        self._marks: list[tuple[int, np.ndarray]] = []  # after 1, 2, 4, 8, ... examples of the first pass, the sums
        self._stopped: dict[int, Outcome] = {}

    def _by_kind(self) -> list[list[tuple[int, int]]]:
        """The members of each lane. A kind with many is cut in as many parts as can learn at once."""
        kinds: dict[Any, list[int]] = {}
        for number, each in enumerate(self.configurations):
            alone = number if hasattr(each.loss, "slopes") else None  # the outputs of a row loss are one model's
            kinds.setdefault((shape_of(each.loss), shape_of(each.rule), alone), []).append(number)
        found = []
        for (_, _, alone), numbers in kinds.items():
            for part in np.array_split(numbers, min(THREADS, len(numbers))):
                members = [(int(number), fold) for number in part for fold in range(max(self.folds, 1))]
                found += [members] if alone is None else [[member] for member in members]
        return found

    @property
    def running(self) -> list[int]:
        """The numbers of the configurations that have not stopped."""
        return [number for number in range(len(self.configurations)) if number not in self._stopped]

    # -------------------------------------------------------------- learning

    def learn(self, examples: RaceExamples, order: np.ndarray | None = None) -> None:
        """Learn rows, in order."""
        if self.folds and examples.folds is None:
            raise Refused("a cross-validation needs the fold of each row: give folds")
        order = np.arange(len(examples.importance)) if order is None else order
        order = order[examples.importance[order] > 0.0]
        for lane in self._lanes:
            lane.meet(examples)
        with ThreadPoolExecutor(THREADS) as threads:
            while len(order):
                stretch = order[: self._to_next_stop()]
                self._learn(examples, stretch, threads)
                order = order[len(stretch) :]
        for lane in self._lanes:
            lane.leave()

    def _to_next_stop(self) -> int:
        """How many examples there are to the next rung, or to the next mark of the curves."""
        return min([1 << len(self._marks), *self.rungs[:1]]) - self.examples

    def _learn(self, examples: RaceExamples, order: np.ndarray, threads: ThreadPoolExecutor) -> None:
        def learn(lane: MemberBank) -> set[int]:
            return lane.learn(examples, order)

        diverged = set[int]().union(*threads.map(learn, self._lanes))
        self.examples += len(order)
        self._stop(sorted(diverged), math.inf)
        if self.examples == 1 << len(self._marks):
            self._marks.append((self.examples, self._sums()))
        if self.rungs and self.examples == self.rungs[0]:
            self.rungs.pop(0)
            self._halve()

    def _halve(self) -> None:
        """Stop the worse half; of equals the later ones."""
        running = self.running
        scores = self._scores()
        order = sorted(running, key=lambda number: (scores[number], number))
        self._stop(order[math.ceil(len(order) / 2) :])

    def _stop(self, numbers: Sequence[int], score: float | None = None) -> None:
        if not numbers:
            return
        finishes = {number: self._finish(number, self._scores()) for number in numbers}
        for number, finish in finishes.items():
            reached = finish.score if score is None else score
            self._stopped[number] = finish._replace(score=reached, stopped_at=self.examples)
        left = set(self.running)
        self._lanes = [lane for lane in self._lanes if lane.keep(left)]

    def settle(self) -> int:
        """Stop all but the best; its number."""
        best, *others = [finish.number for finish in self.finishes() if finish.stopped_at is None]
        self._stop(others)
        return best

    def end_pass(self) -> None:
        """Begin another pass over the same rows: what was counted so far is the figure of this one."""
        scores = self._scores()
        for number in self.running:
            self._passes[number].append((self.examples, float(scores[number])))
        self._base = (self.examples, self._sums())
        for lane in self._lanes:
            lane.learner.start_pass()

    # -------------------------------------------------------------- figures

    def _sums(self) -> np.ndarray:
        """What was counted of each configuration, over all its members; nan of those that have stopped."""
        sums = np.full(len(self.configurations), np.nan)
        sums[self.running] = 0.0
        for lane in (lane for lane in self._lanes if lane.members):
            np.add.at(sums, [number for number, _ in lane.members], lane.sums())
        return sums

    def _scores(self) -> np.ndarray:
        """Those of the present pass."""
        examples, sums = self._base
        return self.task.mean_error(self._sums() - sums, self.examples - examples)

    def _finish(self, number: int, scores: np.ndarray) -> Outcome:
        if self._passes[number]:
            curve = list(self._passes[number])
        else:
            curve = self._curve(number)
        if self.examples > self._base[0]:
            curve.append((self.examples, float(scores[number])))
            return Outcome(number, float(scores[number]), curve, None)
        return Outcome(number, curve[-1][1] if curve else math.nan, curve, None)

    def _curve(self, number: int) -> list[tuple[int, float]]:
        """The scores after 1, 2, 4, 8, ... examples."""
        marks = [(count, sums) for count, sums in self._marks if count < self.examples]
        return [(count, float(self.task.mean_error(sums[number], count))) for count, sums in marks]

    def finishes(self) -> list[Outcome]:
        """How far each configuration has come: the best first, those that stopped behind those that did not."""
        scores = self._scores()
        found = [self._stopped.get(n) or self._finish(n, scores) for n in range(len(self.configurations))]
        return sorted(found, key=lambda f: (-(f.stopped_at or math.inf), f.score, f.number))

    def learner(self, number: int) -> Learner:
        """What a configuration has learned: as if alone, to the bit."""
        for lane in self._lanes:
            places = [place for place, (each, _) in enumerate(lane.members) if each == number]
            if places and not self.folds:
                return select_outputs(lane.learner, lane.outputs_of(places))
        raise Refused(
            f"configuration {number} has no model: it has stopped, or leaves out folds; let it learn the rows alone"
        )


def rungs_of(length: int, configurations: int) -> list[int]:
    """The numbers of examples at which a half stops, so that of many examples one alone runs the last half.

    >>> rungs_of(16_000, 8), rungs_of(1000, 8)
    ([2000, 4000, 8000], [250, 500])
    """
    rounds = (configurations - 1).bit_length()
    return [length >> k for k in range(rounds, 0, -1) if length >> k >= FEWEST]
