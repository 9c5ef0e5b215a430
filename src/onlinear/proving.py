"""Certificates of models that were trained on files, and the perceptron that is learned where no model is given."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import BinaryIO

import numpy as np

from onlinear import losses, rules
from onlinear.errors import Refused
from onlinear.learner import Settings
from onlinear.modelfile import Trained
from onlinear.rows import DenseRows, SparseRows
from onlinear.streams.blocks import Block
from onlinear.streams.stream import Stream, open_alike
from onlinear.theory.certificates import Certificate
from onlinear.theory.certifying import certificates_for, signs
from onlinear.theory.examples import Examples, Rows, all_rows
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
    """What is proven of a model that has learned the rows of files; of several classes one certificate for each."""
    training = trained.training
    if training.classes is None:
        raise Refused("the model predicts numbers, and the theorems speak of classes: certify a classification")
    return certificates_for(training.learner, training.classes, lambda label: examples_in(trained, files, label))


def examples_in(trained: Trained, files: list[str], positive: Hashable) -> Examples:
    """The rows of files as the model sees them, those of one class positive."""
    features = trained.training.learner.features

    def blocks() -> Iterator[Rows]:
        for block in open_alike(files, trained.recipe.format).blocks(stop_at_bad=True):
            if len(block):
                block = trained.recipe.apply(block, True)
                yield Rows(fitting(block, features), features, signs(block.labels == positive))
            for line, _ in block.bad:
                raise line

    return blocks


def fitting(block: Block, features: int) -> SparseRows | DenseRows:
    """The rows of a block, if the model has weights for all of their features."""
    if isinstance(block.rows, SparseRows) and block.width > features:
        raise Refused(
            f"the rows have up to {block.width} features and the model {features}: "
            "certify a model on the rows that it has learned from"
        )
    return block.rows


def export(trained: Trained, files: list[str], positive: Hashable, output: BinaryIO) -> None:
    """Write the rows as the model sees them, to the bit, in svmlight: +1 for one class, -1 for all others."""
    for row in all_rows(examples_in(trained, files, positive)):
        entries = "".join(f" {j + 1}:{x!r}" for j, x in zip(row.columns, row.values.tolist(), strict=True))
        output.write(f"{row.target:+.0f}{entries}\n".encode())
