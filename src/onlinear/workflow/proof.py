"""What is proven of the rows: a perceptron learns them, and its certificate says how often it can be wrong."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from onlinear import losses, rules
from onlinear.learning.classes import Classes
from onlinear.learning.configuration import Settings
from onlinear.learning.growth import trim
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.theory.certificates import claim_of
from onlinear.theory.certifying import Subjects, certificates_for, learner_subjects
from onlinear.theory.examples import Examples, examples_from
from onlinear.theory.replays import STREAM, replay_of
from onlinear.theory.subjects import Subject, steps_of
from onlinear.workflow.parts import Parts
from onlinear.workflow.rows import RowsInMemory

#: exact arithmetic takes its time: so many entries of rows are enough
MOST_ENTRIES = 400_000
#: and so many operations for each certificate: a few seconds
MOST_OPERATIONS = 1 << 32
PASSES = 20


class Proven(NamedTuple):
    """A certificate, it in words, and the rows it speaks of; None where nothing is proven."""

    certificate: Any
    words: list[str]
    examples: Examples | None


def prove(parts: Parts) -> Proven:
    """The certificate of a perceptron of all classes."""
    if parts.classes is None:
        return Proven(None, ["The theorems speak of classes, and here numbers are learned."], None)
    rows, said = some(parts.train)
    codes = parts.classes.codes_of(rows.labels)
    if len(np.unique(codes)) < len(parts.classes):
        return Proven(None, ["Nothing is proven: these rows do not have all classes.", *said], None)
    several = len(parts.classes) > 2
    loss = losses.MulticlassPerceptron() if several else losses.Perceptron()
    training = Model.create(loss, rules.PerceptronStep(), Settings(), parts.classes, parts.recipe.bits)
    for _ in range(PASSES):
        before = int(training.learner.updates.sum())
        training.learn(rows.block())
        if int(training.learner.updates.sum()) == before:
            break
    if parts.recipe.bits is None:
        trim(training.learner, parts.features)
    examples = examples_from(lambda: [rows.block()], training.learner.features, parts.classes)
    subjects = learned_subjects(training.learner, parts.classes)
    found: Any = certificates_for(subjects, parts.classes, examples, several, most=MOST_OPERATIONS)
    return Proven(found, [claim_of(found), *said], examples)


def learned_subjects(learner: Learner, classes: Classes) -> Subjects:
    """Those of a learner that has learned the rows here."""
    subjects = learner_subjects(learner, classes)

    def subject(place: int | None, examples: Examples) -> Subject:
        replay = replay_of(steps_of(learner, classes, place), STREAM, classes.open, examples)
        return subjects(place, examples)._replace(replayed=True, replay=replay)

    return subject


def some(rows: RowsInMemory) -> tuple[RowsInMemory, list[str]]:
    """The first rows that are learned, as many as can be certified; nothing is learned from those of importance 0."""
    rows = rows.part(np.flatnonzero(rows.importance > 0.0))
    counts = np.cumsum(np.diff(rows.rows.starts))
    count = max(int(np.searchsorted(counts, MOST_ENTRIES)), 2)
    if count >= len(rows):
        return rows, []
    return rows.part(np.arange(count)), [f"Proven for {count:,} of the rows that are learned, drawn at random."]
