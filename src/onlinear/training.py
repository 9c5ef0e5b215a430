"""Training: a learner, the classes it tells apart, and blocks of a stream learned in order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from onlinear.batch import Batch
from onlinear.errors import BadInput, Diverged
from onlinear.estimators.classes import Classes, refuse_fractions
from onlinear.estimators.one_against_rest import add_class, outputs_for, targets_for
from onlinear.learner import Learner, Settings
from onlinear.rows import Numbers
from onlinear.streams.blocks import Block

#: rows in which the classes are looked for, unless they are named
FIRST_LOOK = 10_000
#: columns a table has room for at first, and how many times as large it grows
FIRST_COLUMNS, GROWTH = 1 << 10, 4


class Training:
    """A learner for a stream of blocks. ``classes`` are None for a regression."""

    def __init__(self, loss: Any, rule: Any, settings: Settings, classes: Classes | None, columns: int) -> None:
        self.classes = classes
        outputs = 1 if classes is None else outputs_for(classes, hasattr(loss, "slopes"))
        self.learner = Learner(loss, rule, features=columns, outputs=outputs, settings=settings)

    def learn(self, block: Block) -> None:
        """Learn the rows of a block, in order."""
        self._make_room(block.width)
        if block.labels.dtype.kind == "f" and np.isnan(block.labels).any():
            raise block.origin.error(int(np.isnan(block.labels).argmax()), "there is no label to learn from")
        if self.classes is None:
            self._learn(block, Numbers(block.labels), None)
        else:
            self._learn_labels(block, self.classes)

    def _learn_labels(self, block: Block, classes: Classes) -> None:
        codes = classes.codes_of(block.labels)
        start = 0
        while True:
            new = np.flatnonzero((codes < 0) & (block.importance > 0.0))
            stop = int(new[0]) if len(new) else len(block)
            self._learn(block, targets_for(classes, codes, self.learner), np.arange(start, stop))
            if stop == len(block):
                return
            label = plain(block.labels[stop])
            if not classes.open:
                known = ", ".join(map(str, classes.labels))
                raise block.origin.error(stop, f"the label {label} is none of {known}: name all classes beforehand")
            add_class(classes, self.learner, label)
            codes[stop:] = classes.codes_of(block.labels[stop:])
            start = stop

    def _learn(self, block: Block, targets: Any, order: np.ndarray | None) -> None:
        before = self.learner.examples
        try:
            self.learner.learn(Batch(block.rows, targets, block.importance), order)
        except Diverged as error:
            row = self.learner.examples - before
            raise Diverged(f"{block.origin.error(row, '')}{error}") from None

    def _make_room(self, width: int) -> None:
        columns = self.learner.features
        while columns < width:
            columns *= GROWTH
        if columns > self.learner.features:
            self.learner.grow(columns)


def classes_in(labels: Sequence[np.ndarray]) -> Classes:
    """The classes of the first rows: two of them are all there are; otherwise more may come."""
    seen = np.unique(np.concatenate(labels))
    refuse_fractions(seen)
    found: list[Hashable] = [plain(label) for label in seen.tolist()]
    return Classes.closed(np.array(found)) if len(found) == 2 else Classes(open=True)


def plain(label: Any) -> Hashable:
    """A whole number as an integer; anything else as it is."""
    if isinstance(label, np.generic):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() else label


def check_labelled(labels: np.ndarray) -> None:
    if labels.dtype.kind == "f" and np.isnan(labels).all():
        raise BadInput("no example has a label: there is nothing to learn")
