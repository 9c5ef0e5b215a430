"""The race over rows in memory, and the winner learned again with replicates beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from onlinear.learning.configuration import Configuration
from onlinear.learning.growth import select_outputs
from onlinear.learning.learner import Learner
from onlinear.selection.bootstrap import draws
from onlinear.selection.race import MemberBank, Race, RaceExamples, RaceTask, rungs_of
from onlinear.selection.splits import folds_of
from onlinear.workflow.rows import RowsInMemory
from onlinear.workflow.watching import Watcher

#: with fewer rows than these they are learned several times, and compared by cross-validation
FEW = 20_000
FOLDS = 5
#: examples that a model of few rows learns, all passes together, and most passes
EXAMPLES, MOST_PASSES = 100_000, 40
#: rows that are learned before anyone is told of the progress
STRETCH = 1 << 16


class RacePlan(NamedTuple):
    """How to compare configurations: by folds over several passes, or, without folds, in one pass as they learn."""

    folds: int
    passes: int
    shuffled: bool
    seed: int

    @property
    def words(self) -> str:
        return f"{self.folds}-fold cross-validation" if self.folds else "progressive"


def plan_for(rows: int, shuffled: bool, folds: int | None, passes: int | None, seed: int) -> RacePlan:
    """Rows in time order are learned once, in that order; few rows several times, with folds; many once."""
    if folds is None:
        folds = FOLDS if shuffled and rows < FEW else 0
    if passes is None:
        passes = min(MOST_PASSES, math.ceil(EXAMPLES / max(rows, 1))) if folds else 1
    return RacePlan(folds, passes if shuffled else 1, shuffled, seed)


def orders(rows: int, plan: RacePlan) -> Iterator[np.ndarray]:
    """The order of the rows in each pass: as they are in the first, which is drawn already, or in time order."""
    for number in range(plan.passes):
        if number and plan.shuffled:
            yield np.random.default_rng([plan.seed, number]).permutation(rows)
        else:
            yield np.arange(rows)


def race_in_memory(
    configurations: Sequence[Configuration],
    task: RaceTask,
    rows: RowsInMemory,
    targets: np.ndarray,
    features: int,
    plan: RacePlan,
    groups: np.ndarray | None,
    watcher: Watcher,
    *,
    halving: bool = True,
) -> Race:
    """All configurations over the rows, or those before the watcher wants it to end."""
    count = len(rows)
    codes = targets if task.classes else None
    folds = folds_of(count, plan.folds, seed=plan.seed, codes=codes, groups=groups) if plan.folds else None
    rungs = [] if plan.folds or not halving else rungs_of(count, len(configurations))
    race = Race(configurations, task, features, folds=plan.folds, rungs=rungs)
    examples = RaceExamples(rows.rows, targets, rows.importance, folds, sound=True)
    for number, order in enumerate(orders(count, plan)):
        for start in range(0, count, STRETCH):
            race.learn(examples, order[start : start + STRETCH])
            watcher.tell("racing configurations", (number + min(start + STRETCH, count) / count) / plan.passes)
            if watcher.stopped:
                return race
        if plan.folds:
            race.end_pass()
    return race


class Refit(NamedTuple):
    """The winner's learner, the weights of its replicates, ``[replicate, output, feature]``, and their scores.

    A replicate has a score if there was one pass: each of its rows was judged before it was learned.
    """

    learner: Learner
    replicates: np.ndarray
    scores: np.ndarray


def refit(
    winner: Configuration,
    task: RaceTask,
    rows: RowsInMemory,
    targets: np.ndarray,
    features: int,
    plan: RacePlan,
    replicates: int,
) -> Refit:
    """The winner over all rows, as often as it was raced, beside replicates of a bootstrap."""
    models = 1 if hasattr(winner.loss, "slopes") else 1 + replicates  # the outputs of a row loss are one model's
    lane = MemberBank([(0, number) for number in range(models)], [winner], task, features)
    learned = np.ones((len(rows), models), np.int8)
    learned[:, 1:] = draws(rows.numbers, models - 1, plan.seed)
    examples = RaceExamples(rows.rows, targets, rows.importance, sound=True)
    batch = lane.batch(examples, (learned, learned), lane.counts)
    for number, order in enumerate(orders(len(rows), plan)):
        if number:
            lane.learner.start_pass()
        lane.learner.learn(batch, order)
    weights = lane.learner.weights().reshape(models, lane.width, features)
    scores = np.empty(0)
    if plan.passes == 1:
        scores = task.mean_error(lane.sums()[1:], learned[:, 1:].sum(axis=0, dtype=np.int64))
    return Refit(select_outputs(lane.learner, range(lane.width)), weights[1:], scores)
