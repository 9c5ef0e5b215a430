"""Certificates of models that were trained on files, and the perceptron that is learned where no model is given."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import BinaryIO

import numpy as np

from onlinear import losses, rules
from onlinear.classes import Classes
from onlinear.errors import Refused
from onlinear.learner import Settings
from onlinear.modelfile import Trained
from onlinear.one_against_rest import has_row_loss
from onlinear.streams.blocks import Block
from onlinear.streams.stream import Stream, open_alike
from onlinear.theory.certificates import Certificate
from onlinear.theory.certifying import certificates_for, learner_subjects
from onlinear.theory.examples import Examples, all_rows, examples_from
from onlinear.training import Training, classes_in


def perceptron_of(stream: Stream, passes: int) -> Trained:
    """A perceptron that has learned a stream, pass after pass, until one brings no update."""
    labels = [block.labels for block in stream]
    training = Training(
        losses.Perceptron(), rules.PerceptronStep(), Settings(), classes_in(labels or [np.empty(0)]), stream.recipe.bits
    )
    for _ in range(passes):
        before = training.learner.updates.sum()
        for block in stream:
            training.learn(block)
        if training.learner.updates.sum() == before:
            break
    return Trained(training, stream.recipe)


def certificates_of(trained: Trained, files: list[str]) -> Certificate | dict[Hashable, Certificate]:
    """What is proven of a model that has learned the rows of files; of one class against the rest one for each."""
    learner, classes = trained.training.learner, classes_of(trained)
    subjects = learner_subjects(learner, classes)
    return certificates_for(subjects, classes, examples_in(trained, files), has_row_loss(learner))


def classes_of(trained: Trained) -> Classes:
    if trained.training.classes is None:
        raise Refused("the model predicts numbers, and the theorems speak of classes: certify a classification")
    return trained.training.classes


def examples_in(trained: Trained, files: list[str]) -> Examples:
    """The rows of files as the model sees them."""

    def blocks() -> Iterator[Block]:
        return open_alike(files, trained.recipe.format, recipe=trained.recipe).as_known()

    return examples_from(blocks, trained.training.learner.features, classes_of(trained))


def export(examples: Examples, classes: int, output: BinaryIO) -> list[int]:
    """Write rows as the model sees them, to the bit, in svmlight; answer the labels that stand for the classes.

    Those are -1 and 1 for two classes, else 0, 1, 2 and so on.
    """
    labels = [-1, 1] if classes == 2 else list(range(classes))
    for row in all_rows(examples):
        entries = "".join(f" {j + 1}:{x!r}" for j, x in zip(row.columns, row.values.tolist(), strict=True))
        output.write(f"{labels[int(row.target)]}{entries}\n".encode())
    return labels
