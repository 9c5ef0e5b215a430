"""What models have in common that learn the blocks of a stream: which labels are refused, and where learning stops."""

from __future__ import annotations

import numpy as np

from onlinear.data.whole_numbers import are_numbers, missing_in
from onlinear.features.blocks import Block
from onlinear.learning.classes import Classes, plain


class LearnsBlocks:
    """A model of ``classes``, or of numbers if they are None, that learns the blocks of a stream in order."""

    classes: Classes | None
    _coded: tuple[np.ndarray, int, np.ndarray] | None = None  # labels, how many classes were known, and their codes

    def refused(self, block: Block) -> tuple[int, str] | None:
        """The first row whose label cannot be learned from, and why."""
        labels = block.labels
        missing = missing_in(labels)
        if missing.any():
            return int(missing.argmax()), "there is no label to learn from: label it, or leave the line out"
        if self.classes is None:
            if are_numbers(labels):
                return None
            return (
                0,
                f"the label {labels[0]!r:.60} is no number: learn classes, or give a column of numbers as the target",
            )
        if self.classes.open:
            return None
        unknown = np.flatnonzero((self._codes(labels, self.classes) < 0) & (block.importance > 0.0))
        if not len(unknown):
            return None
        row, known = int(unknown[0]), ", ".join(map(str, self.classes.labels))
        return row, f"the label {plain(labels[row])} is none of {known}: name all classes beforehand"

    def learn(self, block: Block) -> None:
        """Learn the rows of a block, in order; up to the first that is refused."""
        if not len(block):
            return
        refused = self.refused(block)
        if refused is not None:
            self._learn_block(block.split(refused[0])[0])
            raise block.origin.label_error(*refused)
        self._learn_block(block)

    def _learn_block(self, block: Block) -> None:
        """Learn rows whose labels are fine."""
        raise NotImplementedError

    def _codes(self, labels: np.ndarray, classes: Classes) -> np.ndarray:
        """The codes of a block's labels, which are asked for more than once."""
        if self._coded is None or self._coded[0] is not labels or self._coded[1] != len(classes):
            self._coded = labels, len(classes), classes.codes_of(labels)
        return self._coded[2]
