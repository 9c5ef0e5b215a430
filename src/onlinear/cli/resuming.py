"""From the options of ``train`` to a job: a new one, or one that goes on with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from onlinear.cli.badlines import BadLines, lasting
from onlinear.cli.beginning import begun, job_of
from onlinear.cli.job import Job
from onlinear.errors import Refused
from onlinear.model.container import check_place
from onlinear.modelfile import Trained, open_model
from onlinear.runs import Progress, Run
from onlinear.streams.stream import Stream, open_alike

#: options that a model which goes on has not settled
FREE = {"files", "model", "resume", "checkpoint_every", "keep_partial", "slim", "test", "as_json", "quiet"}
FREE |= {"bad_lines", "passes"}


def job_for(context: click.Context, chosen: dict[str, float | None]) -> Job:
    """The job that a command line asks for."""
    wanted = context.params
    if not (wanted["files"] or wanted["resume"]):
        raise Refused("there is no file to learn from: name one, or - for standard input")
    if wanted["checkpoint_every"] and not (wanted["model"] or wanted["resume"]):
        raise Refused("--checkpoint-every needs a file to save to: name one with --model")
    if wanted["model"] is not None:
        check_place(wanted["model"])
    return begun(wanted, chosen) if wanted["resume"] is None else resumed(context, wanted)


def resumed(context: click.Context, wanted: dict[str, Any]) -> Job:
    """A job that goes on with a model."""
    for name in sorted(set(wanted) - FREE):
        if is_given(context, name):
            raise Refused(f"--{name.replace('_', '-')} is settled in the model that goes on: leave it out")
    trained = open_model(wanted["resume"])
    if trained.training.learner.slim:
        raise Refused(f"{wanted['resume']} was saved slim, for predictions only: resume one that was saved in full")
    if trained.unfinished is None:
        return with_more_files(trained, wanted)
    for name in ("files", "passes"):
        if is_given(context, name):
            raise Refused(f"{wanted['resume']} stopped on its way: resume it without naming {name}")
    wish = lasting(wanted["bad_lines"]) if is_given(context, "bad_lines") else trained.unfinished["bad_lines"]
    return where_it_stopped(trained, trained.unfinished, wish, wanted)


def is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def with_more_files(trained: Trained, wanted: dict[str, Any]) -> Job:
    """A model that was finished learns from other files."""
    if not wanted["files"]:
        raise Refused(f"{wanted['resume']} is finished: name more files to learn from")
    if trained.training.adapting is not None and wanted["passes"] > 1:
        raise Refused(f"{wanted['resume']} follows the rows in time, and a second pass would go back: take one")
    stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
    stream.check_passes(wanted["passes"])
    bad, progress = BadLines(wanted["bad_lines"]), Progress(before=trained.training.totals())
    passes, every = wanted["passes"], wanted["checkpoint_every"]
    run = Run(trained.training, stream, passes, progress=progress, every=every, on_bad=bad.on_bad)
    return job_of(run, bad, wanted, place_of(wanted))


def where_it_stopped(trained: Trained, left: dict[str, Any], wish: str, wanted: dict[str, Any]) -> Job:
    """A run that stopped on its way goes on with the same files."""
    bad = BadLines(wish, kept=left["bad_lines_bytes"] if wish == left["bad_lines"] else None)
    bad.count = left["progress"]["bad_lines"]
    stream = Stream(left["files"], trained.recipe.format, recipe=trained.recipe)
    progress, every = Progress.unpacked(left["progress"]), wanted["checkpoint_every"] or left["checkpoint_every"]
    run = Run(trained.training, stream, left["passes"], progress=progress, every=every, on_bad=bad.on_bad)
    return job_of(run, bad, wanted | {"slim": wanted["slim"] or left["slim"]}, place_of(wanted))


def place_of(wanted: dict[str, Any]) -> Path:
    """Where the model goes: to where it came from, unless another place is named."""
    return wanted["model"] or wanted["resume"]
