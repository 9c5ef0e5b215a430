"""Track: a stream to race over. What its labels are, and its rows as examples, pass after pass.

It is looked through once beforehand, since a race has to know the classes, the columns and the length. Neither look nor
race changes the stream: names and scales are counted in a copy of its recipe.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.rows import DenseRows
from onlinear.data.whole_numbers import are_numbers, as_floats, as_objects
from onlinear.errors import BadInput, Refused
from onlinear.features.blocks import Block, width_of
from onlinear.learning.classes import Classes, as_array, refuse_fractions, sorted_unique, whole_to_int
from onlinear.learning.tasks import MOST_IN_STREAM, task_of_numbers
from onlinear.selection.race import RaceExamples, RaceTask
from onlinear.selection.winner import Ground
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import refuse_pipes
from onlinear.streams.stream import Stream

#: most classes that can be told apart
MOST_LABELS = 10_000
#: rounds of folds that are drawn, before they come again
ROUNDS = 4096


class StreamSample(NamedTuple):
    """What was seen of a stream: rows that count, its columns, and its labels as far as they may be classes."""

    rows: int
    columns: int
    dense: bool
    labels: frozenset[Hashable]
    numbers: bool  # whether all labels are numbers
    varies: bool  # whether they differ

    @property
    def task(self) -> str:
        """What is to be learned, if nobody says: classes, unless there are fractions or very many numbers."""
        if not self.numbers:
            return "classification"
        whole = all(float(label).is_integer() for label in self.labels)  # type: ignore[arg-type]
        return task_of_numbers(len(self.labels), MOST_IN_STREAM, whole=whole)


class RaceStream:
    """The examples of a stream; ``task`` is "classification", "regression" or, if nobody says, what it looks like."""

    def __init__(self, stream: Stream, task: str | None = None) -> None:
        refuse_pipes(stream.files, "a race, which looks at the labels first")
        self.stream = stream
        self.look = look_at(stream)
        self.task_name = task or self.look.task
        self.classes = classes_of(self.look) if self.task_name == "classification" else None
        if self.classes is None:
            check_numbers(self.look)
        self.task = RaceTask(0 if self.classes is None else len(self.classes))
        self.recipe = stream.recipe

    @property
    def features(self) -> int:
        bits = self.stream.recipe.bits
        return self.look.columns if bits is None else 1 << bits

    @property
    def ground(self) -> Ground:
        return Ground(self.classes, self.stream.recipe.bits, self.look.dense)

    def start(self) -> None:
        """Begin a race from the beginning: with names and scales as they were before."""
        self.recipe = fresh(self.stream.recipe)

    def examples(self, folds: int = 0, seed: int = 0, quiet: bool = False) -> Iterator[RaceExamples]:
        """A pass; bad lines that are not to end it are reported unless ``quiet``."""
        begin, drawn = 0, fold_table(folds, seed) if folds else None
        for block in self.stream.learned_by(self.recipe, find_unlabelled, quiet=quiet):
            numbers = np.arange(begin, begin + len(block))
            chosen = None if drawn is None else drawn[numbers % len(drawn)]
            begin += len(block)
            yield RaceExamples(block.rows, self._targets(block), block.importance, chosen, sound=True)

    def _targets(self, block: Block) -> np.ndarray:
        return as_floats(block.labels) if self.classes is None else self.classes.codes_of(block.labels)


def fresh(recipe: Recipe) -> Recipe:
    """A recipe that goes on from what this one remembers, and leaves it alone."""
    return recipe if recipe.vocabulary is None and recipe.scaler is None else deepcopy(recipe)


def fold_table(folds: int, seed: int) -> np.ndarray:
    """The fold of each row by its number: every ``folds`` rows are dealt to all folds, in an order that is drawn."""
    rounds = np.tile(np.arange(folds), (ROUNDS, 1))
    return np.random.default_rng(seed).permuted(rounds, axis=1).ravel()


# ------------------------------------------------------------------ reading


def find_unlabelled(block: Block) -> tuple[int, str] | None:
    """The first row without a label."""
    missing = block.labels != block.labels
    if not missing.any():
        return None
    return int(missing.argmax()), "there is no label to learn from: label it, or leave the line out"


def look_at(stream: Stream) -> StreamSample:
    """One pass over rows and labels."""
    rows, columns, dense, numbers = 0, 0, False, True
    labels: set[Hashable] = set()
    for block in stream.learned_by(fresh(stream.recipe), find_unlabelled, quiet=True):
        dense = isinstance(block.rows, DenseRows)
        columns = max(columns, block.width or width_of(block.rows))
        found = block.labels[block.importance > 0.0]
        rows += len(found)
        numbers = numbers and are_numbers(found)
        if len(labels) <= MOST_LABELS:
            labels.update(whole_to_int(label) for label in sorted_unique(found).tolist())
    if rows == 0:
        raise BadInput("there are no examples to race over: is there a row that is not empty, with an importance?")
    return StreamSample(rows, columns, dense, frozenset(labels), numbers, len(labels) > 1)


def classes_of(look: StreamSample) -> Classes:
    """The classes, sorted."""
    if len(look.labels) < 2:
        (only,) = look.labels
        raise BadInput(f"the only class is {only!r:.60}: there is nothing to tell apart; more rows may hold another")
    found: Any = sorted_unique(as_objects(list(look.labels)))
    refuse_fractions(found)
    if len(found) > MOST_LABELS:
        raise Refused(f"there are more than {MOST_LABELS:,} classes: are the labels numbers? Say task='regression'")
    return Classes.closed(as_array(found.tolist()))


def check_numbers(look: StreamSample) -> None:
    """Refuse targets that are no numbers, or all the same."""
    if not look.numbers:
        label = next(label for label in look.labels if not isinstance(label, int | float))
        raise BadInput(f"the label {label!r:.60} is no number: race configurations for classes, or name another target")
    if not look.varies:
        (only,) = look.labels
        raise BadInput(f"the target is {only!r} in every row: there is nothing to learn; name another column")
