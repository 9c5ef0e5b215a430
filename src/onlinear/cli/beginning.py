"""From the options of ``train`` to a job: a new one, or one that goes on."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import typer

from onlinear.classes import Classes
from onlinear.cli.badlines import FAIL, BadLines, lasting
from onlinear.cli.job import Job
from onlinear.cli.options import loss_and_rule
from onlinear.cli.watching import watcher
from onlinear.errors import Refused
from onlinear.learner import Settings
from onlinear.model.container import check_place
from onlinear.modelfile import open_model
from onlinear.registry import FOR_CLASSES, REGRESSION, RULES
from onlinear.runs import Progress, Run
from onlinear.streams.blocks import Block
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import Stream, open_alike, open_stream
from onlinear.training import Training, classes_in

#: rows whose labels say what is to be learned
LOOK = 10_000
#: most distinct whole numbers that are taken for classes
MOST_CLASSES = 100
#: options that a model which goes on has not settled
FREE = {"files", "model", "resume", "checkpoint_every", "keep_partial", "slim", "test", "as_json", "quiet"}
FREE |= {"bad_lines", "passes"}


def job_for(context: typer.Context, chosen: dict[str, float | None]) -> Job:
    """The job that a command line asks for."""
    wanted = context.params
    if not (wanted["files"] or wanted["resume"]):
        raise Refused("there is no file to learn from: name one, or - for standard input")
    if wanted["checkpoint_every"] and not (wanted["model"] or wanted["resume"]):
        raise Refused("--checkpoint-every needs a file to save to: name one with --model")
    if wanted["model"] is not None:
        check_place(wanted["model"])
    if wanted["resume"] is None:
        return begun(wanted, chosen)
    for name in sorted(set(wanted) - FREE):
        if is_given(context, name):
            raise Refused(f"--{name.replace('_', '-')} is settled in the model that goes on: leave it out")
    return resumed(context, wanted)


def is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


# ------------------------------------------------------------------ a new job


def begun(wanted: dict[str, Any], chosen: dict[str, float | None]) -> Job:
    stream = stream_for(wanted)
    labels, blocks = first_labels(stream.blocks(stop_at_bad=wanted["bad_lines"] == FAIL))
    training = training_for(labels, stream.recipe, wanted, chosen)
    bad = BadLines(wanted["bad_lines"])
    on_bad = None if bad.wanted == FAIL else bad.take
    run = Run(training, stream, wanted["passes"], every=wanted["checkpoint_every"], on_bad=on_bad, begun=blocks)
    return job_of(run, bad, wanted, wanted["model"])


#: options that say how to read files, and go to the stream as they are
AS_THEY_ARE = [
    *("format", "header", "delimiter", "ngrams", "lower", "presence", "unit_length"),
    *("names", "bits", "keep_names", "scale", "first_index", "features"),
]


def stream_for(wanted: dict[str, Any]) -> Stream:
    """The files, read as the options say."""
    said = {name: wanted[name] for name in AS_THEY_ARE}
    said |= {name: [column(named) for named in wanted[name] or ()] for name in ("ignore", "categories", "text")}
    said |= {name: column(wanted[name]) for name in ("target", "weight")}
    said |= {"missing": tuple(wanted["missing"])} if wanted["missing"] else {}
    crosses = [tuple(pair.split(",")) for pair in wanted["crosses"] or ()]
    for pair in crosses:
        if len(pair) != 2:
            raise Refused(
                f"--cross {','.join(pair)} names {len(pair)} columns or namespaces: name two, as in --cross a,b"
            )
    return open_stream(wanted["files"], **said, crosses=crosses)


def column(named: str | None) -> str | int | None:
    """A column by name, or by number if it looks like one."""
    if named is None:
        return None
    return int(named) if named.lstrip("-").isdigit() else named


def first_labels(blocks: Iterator[Block]) -> tuple[np.ndarray, Iterator[Block]]:
    """The labels of the first rows, and all blocks."""
    seen: list[Block] = []
    labels: list[np.ndarray] = []
    while sum(map(len, labels)) < LOOK and (block := next(blocks, None)) is not None:
        seen.append(block)
        labels.append(block.labels)
    found = np.concatenate(labels)[:LOOK] if labels else np.empty(0)
    return found[found == found], chain(seen, blocks)


def training_for(
    labels: np.ndarray, recipe: Recipe, wanted: dict[str, Any], chosen: dict[str, float | None]
) -> Training:
    """A training as the options and the first labels want it."""
    task = wanted["task"] or task_of(labels, wanted["loss"])
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
    return Training(made_loss, made_rule, settings, classes, recipe.bits)


def task_of(labels: np.ndarray, loss: str | None) -> str:
    """What is to be learned: classes, unless the loss or the labels say otherwise."""
    if loss is not None:
        return "regression" if loss in REGRESSION else "classification"
    if labels.dtype.kind != "f":
        return "classification"
    whole = bool((labels % 1.0 == 0.0).all())
    return "classification" if whole and len(np.unique(labels)) <= MOST_CLASSES else "regression"


def classes_for(labels: np.ndarray, named: str | None) -> Classes:
    """The classes that were named, or those of the first labels."""
    if named is None:
        return classes_in([labels])
    if named == "open":
        return Classes(open=True)
    found = [class_of(word.strip(), labels) for word in named.split(",")]
    if len(set(found)) < 2:
        raise Refused(f"--classes {named} names fewer than two classes: name them all, or say open")
    return Classes.closed(np.unique(np.array(found)))


def class_of(word: str, labels: np.ndarray) -> Hashable:
    """The class that a word names: a whole number, if labels are numbers."""
    if labels.dtype.kind != "f":
        return word
    try:
        return int(word)
    except ValueError:
        raise Refused(f"--classes names {word!r}, but the labels in the file are numbers: name some of those") from None


# ------------------------------------------------------------------ one that goes on


def resumed(context: typer.Context, wanted: dict[str, Any]) -> Job:
    trained = open_model(wanted["resume"])
    if trained.training.learner.slim:
        raise Refused(f"{wanted['resume']} was saved slim, for predictions only: resume one that was saved in full")
    path = wanted["model"] or wanted["resume"]
    if trained.unfinished is None:
        if not wanted["files"]:
            raise Refused(f"{wanted['resume']} is finished: name more files to learn from")
        stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
        bad = BadLines(wanted["bad_lines"])
        on_bad = None if bad.wanted == FAIL else bad.take
        progress = Progress(before=trained.training.totals())
        run = Run(
            trained.training,
            stream,
            wanted["passes"],
            every=wanted["checkpoint_every"],
            on_bad=on_bad,
            progress=progress,
        )
        return job_of(run, bad, wanted, path)
    left = trained.unfinished
    for name in ("files", "passes"):
        if is_given(context, name):
            raise Refused(
                f"{wanted['resume']} stopped on its way: resume it without naming {name}, and go on from there"
            )
    wish = lasting(wanted["bad_lines"]) if is_given(context, "bad_lines") else left["bad_lines"]
    bad = BadLines(wish, kept=left["bad_lines_bytes"] if wish == left["bad_lines"] else None)
    bad.count = left["progress"]["bad_lines"]
    run = Run(
        trained.training,
        Stream(left["files"], trained.recipe.format, recipe=trained.recipe),
        left["passes"],
        progress=Progress.unpacked(left["progress"]),
        every=wanted["checkpoint_every"] or left["checkpoint_every"],
        on_bad=None if wish == FAIL else bad.take,
    )
    wanted["slim"] = wanted["slim"] or left["slim"]
    return job_of(run, bad, wanted, path)


def job_of(run: Run, bad: BadLines, wanted: dict[str, Any], path: Any) -> Job:
    watch = watcher(wanted["quiet"] or wanted["as_json"])
    return Job(run, bad, watch, path, slim=wanted["slim"], keep=wanted["keep_partial"])
