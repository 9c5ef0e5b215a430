"""What is said of an example that cannot be learned, because a number would leave all bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from onlinear.data.batch import Batch
from onlinear.learning.reading import read_for_scoring
from onlinear.learning.weights import ScoringWeights
from onlinear.rules.adaptive import Normalised
from onlinear.rules.trial import is_ours, without_number

if TYPE_CHECKING:
    from onlinear.learning.learner import Learner


def describe_divergence(learner: Learner, example: int, where: str, fault: str = "") -> str:
    """The message for an example that was undone; a ``fault`` of the loss is known to be the reason."""
    reason = f"the loss has no finite number there: {fault}" if fault else "floating-point overflow"
    advice = "Mend the loss" if fault else advise_on_overflow(learner)
    return (
        f"learning diverged at example {example} ({where}) with {learner.rules[0]}: "
        f"{reason}; the example was undone, those before it stay learned. {advice}"
    )


def advise_on_overflow(learner: Learner) -> str:
    """What to do about numbers that overflow."""
    advice = "Lower the rate, or scale the columns (the rule 'normalised' needs neither)"
    if isinstance(learner.rules[0], Normalised):
        advice = "Look for values or targets that are far too large, and clip them, or drop their rows"
    own = next((type(loss).__name__ for loss in learner.losses if not is_ours(loss)), None)
    return advice if own is None else f"{advice}; or {own}, a loss of your own, has no finite number at that score"


def fault_of_loss(learner: Learner, batch: Batch, row: int) -> str:
    """Which method of a loss of the user's own has no finite number for the row, in words; "" if none."""
    if all(is_ours(loss) or hasattr(loss, "slopes") for loss in learner.losses):
        return ""
    columns = np.asarray(batch.rows.columns_of(row)).astype(np.intp)
    weights = ScoringWeights(*read_for_scoring(learner, columns, averaged=False))
    scores = weights.scores(np.asarray(batch.rows.values_of(row))[None])[0]
    losses = learner.losses if len(learner.losses) > 1 else learner.losses * learner.outputs
    tried = (
        without_number(loss, float(score), float(batch.targets.target_of(row, m)))
        for m, (loss, score) in enumerate(zip(losses, scores, strict=True))
        if not is_ours(loss)
    )
    return next(filter(None, tried), "")
