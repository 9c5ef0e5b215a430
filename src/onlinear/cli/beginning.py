"""From the options of ``train`` to a job that begins."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from onlinear.cli.badlines import FAIL, BadLines
from onlinear.cli.ending import say
from onlinear.cli.job import Job
from onlinear.cli.options import loss_and_rule, reading_in
from onlinear.cli.waiting import saying_that_it_waits
from onlinear.cli.watching import watcher
from onlinear.data.whole_numbers import are_numbers
from onlinear.drift import ADWIN, DETECTORS
from onlinear.drift.adapting import Adapting
from onlinear.drift.policies import check_policy
from onlinear.errors import BadLine, BadSource, Refused
from onlinear.features.blocks import Block
from onlinear.learning.classes import MOST_IN_STREAM, Classes, as_array, sorted_unique, task_of_numbers
from onlinear.learning.learner import Settings
from onlinear.learning.model import Model, classes_in
from onlinear.registry import FOR_CLASSES, REGRESSION, RULES
from onlinear.streams.columns import BLANKS
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import Format
from onlinear.streams.options import ReadOptions
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import expand, with_looks
from onlinear.streams.stream import Stream, stream_of
from onlinear.workflow.profile.misread import has_mixed_target, mixed_columns
from onlinear.workflow.run import Run

#: rows whose labels say what is to be learned
LOOK = 10_000


def begun(wanted: dict[str, Any], chosen: dict[str, float | None]) -> Job:
    """A new job."""
    files = with_looks(expand(wanted["files"]))
    with saying_that_it_waits(files):
        stream = stream_for(wanted | {"files": files})
        stream.check_passes(wanted["passes"])
        tell_mixed_columns(stream, wanted)
        blocks = stream.blocks(stop_at_bad=wanted["bad_lines"] == FAIL)
        labels, blocks = first_labels(blocks, labels_needed(wanted))
    training = training_for(labels, stream.recipe, wanted, chosen)
    bad = BadLines(wanted["bad_lines"])
    run = Run(training, stream, wanted["passes"], every=wanted["checkpoint_every"], on_bad=bad.on_bad, begun=blocks)
    job = job_of(run, bad, wanted, wanted["model"])
    job.task_reason = reason_for_task(labels, stream.format, wanted)
    if job.task_reason is not None and is_doubtful(labels) and not wanted["quiet"]:
        say(f"{job.task_reason}.")
    return job


def job_of(run: Run, bad: BadLines, wanted: dict[str, Any], path: Path | None) -> Job:
    watch = watcher(wanted["quiet"] or wanted["as_json"])
    return Job(run, bad, watch, path, slim=wanted["slim"], keep=wanted["keep_partial"])


def stream_for(wanted: dict[str, Any]) -> Stream:
    """The files, read as the options say."""
    options = ReadOptions(**reading_in(wanted))
    stream = stream_of(wanted["files"], options)
    if is_regression(wanted) and isinstance(stream.format, CSVText) and has_mixed_target(stream.format, stream.files):
        target = -1 if options.target is None else options.target
        return stream_of(wanted["files"], replace(options, numbers=(*options.numbers, target)))
    return stream


def tell_mixed_columns(stream: Stream, wanted: dict[str, Any]) -> None:
    """Say which columns of numbers are read as categories, before they are learned."""
    if isinstance(stream.format, CSVText):
        for line in mixed_columns(stream.format, stream.files, wanted["categories"] or ()):
            say(str(line))


def labels_needed(wanted: dict[str, Any]) -> int:
    """How many labels say what is to be learned: the type of the first one, where task or classes are named."""
    return 1 if is_regression(wanted) or wanted["classes"] is not None else LOOK


def is_regression(wanted: dict[str, Any]) -> bool:
    """Whether the options say that numbers are to be learned."""
    return wanted["task"] == "regression" or wanted["loss"] in REGRESSION


def first_labels(blocks: Iterator[Block], most: int) -> tuple[np.ndarray, Iterator[Block]]:
    """The labels of so many first rows, and all blocks; a damaged file gives those before the damage first."""
    seen: list[Block] = []
    labels: list[np.ndarray] = []
    try:
        while sum(map(len, labels)) < most and (block := next(blocks, None)) is not None:
            seen.append(block)
            labels.append(block.labels)
    except (BadSource, BadLine) as damage:
        if not seen:
            raise
        blocks = raise_in_turn(damage)
    found = np.concatenate(labels)[:most] if labels else np.empty(0)
    return found[found == found], chain(seen, blocks)


def raise_in_turn(error: BadSource | BadLine) -> Iterator[Block]:
    """No block, but an error."""
    raise error
    yield


def training_for(labels: np.ndarray, recipe: Recipe, wanted: dict[str, Any], chosen: dict[str, float | None]) -> Model:
    """A training as the options and the first labels want it."""
    task = wanted["task"] or task_of(labels, wanted["loss"], wanted["classes"])
    loss = wanted["loss"] or ("squared_error" if task == "regression" else "log_loss")
    if loss not in (REGRESSION if task == "regression" else FOR_CLASSES):
        raise Refused(f"the loss {loss} is not for {task}: choose another, or another --task")
    classes = None if task == "regression" else classes_for(labels, wanted["classes"])
    own_penalties = {"l1", "l2"} & set(RULES[wanted["rule"]]._fields)  # type: ignore[attr-defined]
    given = chosen | {name: wanted[name] for name in own_penalties}
    made_loss, made_rule = loss_and_rule(loss, wanted["rule"], wanted["schedule"], given)
    settings = Settings(
        l1=0.0 if own_penalties else wanted["l1"],
        l2=0.0 if own_penalties else wanted["l2"],
        average=float(wanted["average"]),
        forget=wanted["forget"],
        intercept=wanted["intercept"],
    )
    training = Model(made_loss, made_rule, settings, classes, recipe.bits)
    training.adapting = adapting_for(training, wanted)
    return training


def adapting_for(training: Model, wanted: dict[str, Any]) -> Adapting | None:
    """What watches for drift, if someone is to."""
    on_drift, delta, name = wanted["on_drift"], wanted["drift_delta"], wanted["detector"]
    if on_drift is None:
        if name != "adwin" or delta is not None:
            raise Refused("--detector and --drift-delta mean nothing without --on-drift: say what to do at an alarm")
        return None
    if wanted["passes"] > 1:
        raise Refused("--on-drift follows the rows in time, and a second pass would go back to the first: take one")
    if delta is not None and name != "adwin":
        raise Refused(f"--drift-delta means nothing for the detector {name}: it belongs to adwin")
    check_policy(on_drift, training.learner)
    return Adapting(on_drift, ADWIN(delta) if delta is not None else DETECTORS[name]())


def task_of(labels: np.ndarray, loss: str | None, classes: str | None) -> str:
    """What is to be learned: classes, unless the loss or the labels say otherwise."""
    if loss is not None:
        return "regression" if loss in REGRESSION else "classification"
    if classes is not None or not are_numbers(labels):
        return "classification"
    return task_of_numbers(len(np.unique(labels)), MOST_IN_STREAM, whole=is_whole(labels))


def reason_for_task(labels: np.ndarray, format: Format, wanted: dict[str, Any]) -> str | None:
    """Why labels are taken for classes or for amounts, and how to say otherwise; None where somebody has said it."""
    if not len(labels) or any(wanted[name] is not None for name in ("task", "loss", "classes")):
        return None
    columns = getattr(format, "columns", ())
    target = next((column.name for column in columns if column.kind == "target"), getattr(format, "target", None))
    name = "the label" if target is None else f"the target {target!r}"
    seen = f" in its first {LOOK:,} rows" if len(labels) >= LOOK else ""
    if not are_numbers(labels):
        return f"{name} has texts{seen}, so they are taken for classes"
    if task_of(labels, None, None) == "classification":
        count = len(np.unique(labels))
        numbers = "1 whole number" if count == 1 else f"{count} different whole numbers"
        return f"{name} has {numbers}{seen}, so they are taken for classes: say --task regression if they are amounts"
    numbers = f"more than {MOST_IN_STREAM} different whole numbers" if is_whole(labels) else "numbers with a fraction"
    return f"{name} has {numbers}{seen}, so they are taken for amounts: say --task classification if they name classes"


def is_doubtful(labels: np.ndarray) -> bool:
    """Whether labels may be classes as well as amounts: whole numbers, and more than two of them."""
    return are_numbers(labels) and is_whole(labels) and len(np.unique(labels)) > 2


def is_whole(labels: np.ndarray) -> bool:
    return bool((labels % 1.0 == 0.0).all())


def classes_for(labels: np.ndarray, named: str | None) -> Classes:
    """The classes that were named, or those of the first labels."""
    if named is None:
        return classes_in([labels])
    if named == "open":
        return Classes(open=True)
    found = [class_of(word.strip(BLANKS), labels) for word in named.split(",")]
    if len(set(found)) < 2:
        raise Refused(f"--classes {named} names fewer than two classes: name them all, or say open")
    return Classes.closed(sorted_unique(as_array(found)))


def class_of(word: str, labels: np.ndarray) -> Hashable:
    """The class that a word names: a whole number, if labels are numbers."""
    if not are_numbers(labels):
        return word
    try:
        return int(word)
    except ValueError:
        raise Refused(f"--classes names {word!r}, but the labels in the file are numbers: name some of those") from None
