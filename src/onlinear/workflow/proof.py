"""What is proven of the rows: a perceptron learns them, and its certificate says how often it can be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear import losses, rules
from onlinear.batch import Batch
from onlinear.learner import Learner
from onlinear.targets import Signs
from onlinear.theory.certificates import certificate_of
from onlinear.theory.examples import Rows
from onlinear.theory.subjects import subject_of
from onlinear.workflow.rows import Held

if TYPE_CHECKING:
    from onlinear.workflow.select import Parts

#: exact arithmetic takes its time: so many entries of rows are enough
MOST_ENTRIES = 400_000
PASSES = 20


def proven(parts: Parts) -> tuple[Any, list[str]]:
    """A certificate of a perceptron for each class against the rest, or one for two; and it in words."""
    if parts.classes is None:
        return None, ["The theorems speak of classes, and here numbers are learned."]
    rows, codes, said = some(parts)
    labels = [str(label) for label in parts.classes.labels]
    if len(labels) == 2:
        found = certified(rows, codes == 1, parts.features, labels[1])
        return found, [*said, *words_of(found)]
    each = {label: certified(rows, codes == code, parts.features, label) for code, label in enumerate(labels)}
    return each, [*said, *(f"{label}: {words_of(found)[0]}" for label, found in each.items() if found)]


def some(parts: Parts) -> tuple[Held, np.ndarray, list[str]]:
    """The first rows that are learned, as many as can be certified."""
    counts = np.cumsum(np.diff(parts.train.rows.starts))
    count = max(int(np.searchsorted(counts, MOST_ENTRIES)), 2)
    if count >= len(parts.train):
        return parts.train, parts.targets, []
    rows = parts.train.part(np.arange(count))
    return rows, parts.targets[:count], [f"Proven for the first {count:,} rows that are learned, drawn at random."]


def certified(rows: Held, positive: np.ndarray, features: int, label: str) -> dict[str, Any] | None:
    """The certificate of a perceptron that has learned rows until it was right about all, or for some passes."""
    if positive.all() or not positive.any():
        return None
    signs = np.where(positive, 1.0, -1.0)
    learner = Learner(losses.Perceptron(), rules.PerceptronStep(), features=features)
    batch = Batch(rows.rows, Signs(signs), np.ones(len(rows)), sound=True)
    for _ in range(PASSES):
        before = int(learner.updates[0])
        learner.learn(batch)
        if int(learner.updates[0]) == before:
            break
    return certificate_of(subject_of(learner, 0), lambda: [Rows(rows.rows, features, signs)], label)


def words_of(found: dict[str, Any] | None) -> list[str]:
    return [] if found is None else [str(found["claim"])]
