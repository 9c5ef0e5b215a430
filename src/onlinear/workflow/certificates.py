"""Certificates of models that were trained on files, and the perceptron that is learned where no model is given."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from onlinear import losses, rules
from onlinear.data.batch import Batch, importance_of
from onlinear.data.rows import DenseRows
from onlinear.data.targets import Signs
from onlinear.errors import Diverged, Refused
from onlinear.features.blocks import Block
from onlinear.files.container import PathLike
from onlinear.files.trained import AnyModel, Trained, open_model
from onlinear.learning.classes import Classes, classes_in
from onlinear.learning.configuration import Settings
from onlinear.learning.dual.model import DualModel
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.learning.outputs import has_row_loss
from onlinear.streams.stream import Stream, open_alike
from onlinear.system.paths import printable
from onlinear.theory.best_margin import GAP, check_gap
from onlinear.theory.certificates import Certificate, is_one, run_numbers
from onlinear.theory.certifying import certificates_for
from onlinear.theory.computed import counted_by, with_computed
from onlinear.theory.examples import ExactRows, Examples, against_rest, examples_from, places_in
from onlinear.theory.kernel_subjects import check_machine, dual_subject, numbers_of_dual
from onlinear.theory.replays import STREAM, Replay, numbers_in, replay_of
from onlinear.theory.subjects import StepGroup, Subject, steps_of, subject_of
from onlinear.verify import MOST_BYTES
from onlinear.workflow.run import MOST_PASSES


def perceptron_of(stream: Stream, passes: int, intercept: bool = True) -> Trained:
    """A perceptron, perhaps homogeneous, that has learned a stream, pass after pass, until one brings no update."""
    labels = [block.labels[block.importance > 0.0] for block in stream]
    classes, settings = classes_in(labels or [np.empty(0)]), Settings(intercept=intercept)
    training = Model.create(losses.Perceptron(), rules.PerceptronStep(), settings, classes, stream.recipe.bits)
    for number in range(passes):
        if number:
            training.start_pass()
        before = training.learner.updates.sum()
        for block in stream:
            training.learn(block)
        if training.learner.updates.sum() == before:
            break
    return Trained(training, stream.recipe)


def certificates_of(
    trained: Trained, files: list[str], most_passes: int = MOST_PASSES, against: Any = None, gap: float = GAP
) -> Certificate | dict[Hashable, Certificate]:
    """What is proven of a model and the rows of files; of one class against the rest one for each.

    Of its run only if these rows, learned again in this order, make the same weights, counts and sums of steps: then
    they are what it has learned from. Otherwise what is left is true of its weights on any rows. A run of more passes
    than ``most_passes`` is not learned again. ``against`` and ``gap`` are those of :func:`onlinear.certify`.
    """
    check_gap(gap)
    classes, examples = classes_of(trained), examples_in(trained, files)
    places_in(examples)  # whatever is wrong with the rows is said before they are learned
    if isinstance(trained.training, DualModel):
        return dual_certificates(trained, trained.training, files, most_passes, against, gap)
    learner = trained.training.learner
    again = learned_again(trained, files, most_passes)
    assert again is None or isinstance(again, Model)

    def subject(place: int | None, _: Examples) -> Subject:
        found = subject_of(steps_of(learner, classes, place))
        if (
            again is None
            or again.classes is None
            or numbers_of(again.learner, again.classes, place) != numbers_in(found)
        ):
            return found._replace(run=None, pull=None, replay=why_not_again(trained.linear))
        mistakes, steps = found.mistakes, steps_of(again.learner, again.classes, place)
        if mistakes is None and place is not None:
            mistakes = own_mistakes(trained, examples, place, len(again.pass_starts) - 1)
        is_open = again.began_open and steps.counts_mistakes
        return found._replace(replayed=True, mistakes=mistakes, replay=replay_of(steps, STREAM, is_open, examples))

    found = certificates_for(subject, classes, examples, has_row_loss(learner), against, gap)
    if not all(each["replayed"] for each in ([found] if is_one(found) else found.values())):
        return found  # of its run nothing is known
    return with_computed(found, learner, classes, examples, counted_by(trained.training))


def dual_certificates(
    trained: Trained, model: DualModel, files: list[str], most_passes: int, against: Any, gap: float
) -> Certificate | dict[Hashable, Certificate]:
    """The same of a model that keeps examples, of its last version."""
    check_machine(model.perceptrons)
    examples = examples_in(trained, files)
    again = learned_again(trained, files, most_passes)
    is_same = isinstance(again, DualModel) and has_learned_alike(model, again)

    def subject(place: int | None, seen: Examples) -> Subject:
        found = dual_subject(model, place, seen)
        if is_same:
            return found._replace(replayed=True)
        return found._replace(run=None, pull=None, replay="unlike")

    return certificates_for(subject, classes_of(trained), examples, False, against, gap)


def has_learned_alike(model: DualModel, again: DualModel) -> bool:
    """Whether two models have made the same updates by the same rows, and count alike."""
    machines = model.perceptrons, again.perceptrons
    made = [[vars(versions) for versions in machine.versions] for machine in machines]
    rows, others = (machine.support.rows[: machine.support.size] for machine in machines)
    return model.totals() == again.totals() and made[0] == made[1] and np.array_equal(rows, others)


def learned_again(trained: Trained, files: list[str], most_passes: int) -> AnyModel | None:
    """A new training that has had the rows of files as often as the model; None if none can make the same.

    A model may say that it has learned any number of examples: one that takes more passes is given up after the first.
    """
    again = untaught(trained)
    if again is None:
        return None
    examples = trained.training.examples
    try:
        for passes in range(1, most_passes + 1):
            if again.examples >= examples:
                break
            for block in blocks_in(trained, files):
                again.learn(block)
            again.start_pass()
            if again.examples * most_passes < examples * passes:
                return None
    except Diverged:
        return None
    return again


def untaught(trained: Trained) -> AnyModel | None:
    """A model that has learned nothing, and would learn as this one did; None if it did so in a way of its own."""
    training, labels = trained.training, classes_of(trained)
    classes = Classes(open=True) if training.began_open else Classes.closed(labels.sorted)
    if isinstance(training, DualModel):
        return DualModel.create(training.kernel, classes, features=training.features)
    learner = training.learner
    if learner.slim or training.adapting is not None or len(learner.losses) + len(learner.rules) > 2:
        return None
    again = Model.create(learner.losses[0], learner.rules[0], learner.settings[0], classes, training.bits)
    if again.learner.features < learner.features:
        again.learner.grow(learner.features)
    return again


def why_not_again(training: Model) -> Replay:
    """The word for why a run cannot be learned again."""
    if training.learner.slim:
        return "slim"
    return "unlike" if training.adapting is None else "adapted"


def numbers_of(learner: Learner, classes: Classes, place: int | None) -> tuple[Any, ...]:
    """What a certificate says of a run, of the class at a place of the sorted ones."""
    return numbers_in(subject_of(steps_of(learner, classes, place)))


def differing_from(model: PathLike, certificate: str | os.PathLike[str]) -> str:
    """In what a certificate differs from a model file, as a sentence; empty if it is of this one."""
    if not Path(certificate).is_file() or Path(certificate).stat().st_size > MOST_BYTES:
        return (
            f"NOT verified: {printable(certificate)}: no such file, or a device or a pipe, or more than {MOST_BYTES} "
            "bytes: name a certificate that certify has written"
        )
    trained = open_model(model)
    training, classes = trained.training, classes_of(trained)
    try:
        found = json.loads(Path(certificate).read_text(encoding="utf-8"))
        together = is_one(found)
        certificates = [found] if together else [*found.values()]
        places: list[Any] = [[place] for place in range(len(classes))]
        if together and training.has_row_loss:
            places = [[None]]
        elif together and len(classes) <= 2:
            single = len(found["classes"]) == 1
            places = [[*range(len(classes))][0 if single else 1 :]]
    except (OSError, ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        return f"NOT verified: the certificate cannot be read ({type(error).__name__}): check the path"
    digest = hashlib.sha256(Path(model).read_bytes()).hexdigest()
    if not all(isinstance(each, dict) and each.get("file_sha256") == digest for each in certificates):
        return "NOT verified: file_sha256: the certificate is not of this model file"
    if len(certificates) != len(places):
        many = "is 1 certificate" if len(certificates) == 1 else f"are {len(certificates)} certificates"
        return f"NOT verified: the model has {len(places)} classes, and there {many}"
    for each, candidates in zip(certificates, places, strict=True):
        if not any(says_of_class(each, trained, place) for place in candidates):
            return "NOT verified: the weights, counts or sums of steps of the certificate are not those of the model"
    return ""


def says_sums(certificate: str | os.PathLike[str]) -> bool:
    """Whether a certificate that has been verified names sums of steps, of each class if it has several."""
    found = json.loads(Path(certificate).read_text(encoding="utf-8"))
    several = [found] if is_one(found) else found.values()
    return all(each["pull"] is not None or each["run_pull"] is not None for each in several)


def says_of_class(certificate: Certificate, trained: Trained, place: int | None) -> bool:
    """Whether a certificate has the numbers of the class at a place."""
    training = trained.training
    if isinstance(training, Model):
        return says_so(certificate, subject_of(steps_of(training.learner, classes_of(trained), place)))
    said = certificate.get("weights")
    amounts = said[0].get("amounts") if isinstance(said, list) and said and isinstance(said[0], dict) else None
    wanted = numbers_of_dual(training, place)
    if not isinstance(amounts, list) or not all(type(amount) is int for amount in amounts):
        return False
    steps = [certificate.get(name) for name in ("pull", "run_pull", "run_squares")]  # each is 1, where they are said
    if any(each is not None and each != str(wanted["updates"]) for each in steps):
        return False
    return {name: certificate.get(name) for name in wanted} | {"amounts": sorted(amounts)} == wanted


def says_so(certificate: Certificate, subject: Subject) -> bool:
    """Whether a certificate has the numbers of a subject; of its run it may say nothing, and of mistakes its own."""
    kernel, weights = subject.weights.kernel.written(), subject.weights.written()
    counts = {"examples": subject.examples, "updates": subject.updates}
    if subject.mistakes is not None:
        counts["mistakes"] = subject.mistakes
    run = run_numbers(subject)
    silent = all(certificate.get(name) is None for name in run)
    said = {"weights": weights, "kernel": kernel, **counts, **({} if silent else run)}
    return all(name in certificate and certificate[name] == value for name, value in said.items())


def own_mistakes(trained: Trained, examples: Examples, place: int, passes: int) -> int | None:
    """How often the output of one class was wrong: learned alone, as it has learned among the others."""
    learner, classes = trained.linear.learner, classes_of(trained)
    found = subject_of(steps_of(learner, classes, place))
    alone = Learner(learner.losses[0], learner.rules[0], features=learner.features, settings=learner.settings[0])
    for _ in range(passes):
        for block in against_rest(examples, place)():
            alone.learn(Batch(block.rows, Signs(block.targets), importance_of(block.importance, len(block.targets))))
    mine = subject_of(StepGroup(alone, [0], 1.0, 1))
    return mine.mistakes if numbers_in(mine._replace(mistakes=None)) == numbers_in(found) else None


def classes_of(trained: Trained) -> Classes:
    if trained.training.classes is None:
        raise Refused("the model predicts numbers, and the theorems speak of classes: certify a classification")
    return trained.training.classes


def examples_in(trained: Trained, files: list[str]) -> Examples:
    """The rows of files as the model sees them."""
    return examples_from(lambda: blocks_in(trained, files), trained.training.features, classes_of(trained))


def blocks_in(trained: Trained, files: list[str]) -> Iterator[Block]:
    """The blocks of files as the model learned them, up to the first line that is bad for the format or the recipe."""
    return open_alike(files, trained.recipe.format, recipe=trained.recipe).as_learned()


def export(examples: Examples, classes: int, output: BinaryIO) -> list[int]:
    """Write rows as the model sees them, to the bit, in svmlight; answer the labels that stand for their classes.

    Those are -1 and 1 for two classes, else 0, 1, 2 and so on; of one that has no rows none.
    """
    labels = [-1, 1] if classes == 2 else list(range(classes))
    for block in examples():
        for i, target in enumerate(block.targets.tolist()):
            entries = "".join(f" {j + 1}:{x!r}" for j, x in stored_entries(block, i))
            output.write(f"{labels[int(target)]}{entries}\n".encode())
    return [labels[place] for place in places_in(examples)]


def stored_entries(block: ExactRows, i: int) -> Iterator[tuple[int, float]]:
    """The entries of a row as they are added up: of a sparse row the zeros that are written down, too."""
    if isinstance(block.rows, DenseRows):
        row = block.row(i)
        return zip(row.columns, row.values.tolist(), strict=True)
    values = np.asarray(block.rows.values_of(i), dtype=np.float64)
    return zip(block.rows.columns_of(i).tolist(), values.tolist(), strict=True)
