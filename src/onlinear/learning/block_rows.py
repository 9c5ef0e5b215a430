"""How models learn the blocks of a stream: up to the first row that is refused, whose origin the error names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onlinear.data.batch import Batch
from onlinear.data.rows import DenseRows
from onlinear.data.targets import Numbers
from onlinear.data.whole_numbers import are_numbers, as_floats, missing_in
from onlinear.errors import Diverged
from onlinear.features.blocks import Block
from onlinear.learning.classes import Classes, whole_to_int
from onlinear.learning.learner import Learner
from onlinear.learning.outputs import check_new_labels

if TYPE_CHECKING:
    from onlinear.learning.model import Model

#: what to do about classes of a file that are too many
ADVICE_FOR_FILES = (
    "name another column as --target, and this one as --ignore; otherwise take fewer --bits, or name all classes with "
    "--classes, and they may take what they take"
)


class BlockLearner:
    """A model of ``classes``, or of numbers if they are None, that learns the blocks of a stream in order."""

    classes: Classes | None
    _coded: tuple[np.ndarray, int, np.ndarray] | None = None  # labels, how many classes were known, and their codes

    def find_refused(self, block: Block) -> tuple[int, str] | None:
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
        return row, f"the label {whole_to_int(labels[row])} is none of {known}: name all classes beforehand"

    def learn(self, block: Block) -> None:
        """Learn the rows of a block, in order; up to the first that is refused."""
        if not len(block):
            return
        refused = self.find_refused(block)
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


# ------------------------------------------------------------------ for learners with weights


def learn_linear_block(model: Model, block: Block) -> None:
    """Learn rows whose labels are fine."""
    check_labels_of_block(model, block)
    if isinstance(block.rows, DenseRows):
        fit_columns(model, block.rows.values.shape[1])
    else:
        model.make_room(block.width)
    batch = Batch(block.rows, None, block.importance, sound=True)  # type: ignore[arg-type]
    before = model.learner.examples
    try:
        if model.classes is None:
            batch.targets = Numbers(as_floats(block.labels))
            model.learn_batch(batch, 0, len(block))
        else:
            codes = model._codes(block.labels, model.classes)
            model.learn_labels(batch, block.labels, codes, lambda labels, row: whole_to_int(labels[row]))
    except Diverged as error:
        row = np.flatnonzero(block.importance > 0.0)[model.learner.examples - before]
        raise Diverged(f"{block.origin.error(int(row), '')}{error}") from None


def check_labels_of_block(model: Model, block: Block) -> None:
    """Refuse a block with too many new classes, before anything of it is learned."""
    if model.classes is not None and model.classes.open:
        present = block.importance > 0.0
        new = block.labels[(model._codes(block.labels, model.classes) < 0) & present]
        dense = isinstance(block.rows, DenseRows)
        features = block.rows.values.shape[1] if dense else max(model.learner.features, block.width)
        check_new_labels(model.classes, model.learner, new, present, features=features, advice=ADVICE_FOR_FILES)


def fit_columns(model: Model, width: int) -> None:
    """Dense rows have every column, and the table just as many from the first row on."""
    learner = model.learner
    if learner.examples == 0 and learner.features != width:
        model.learner = Learner(
            learner.losses, learner.rules, features=width, outputs=learner.outputs, settings=learner.settings
        )
    model.dense, model.width = True, width
