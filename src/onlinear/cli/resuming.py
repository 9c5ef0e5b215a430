"""From the options of ``train`` to a job: a new one, or one that goes on with a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from onlinear.cli.badlines import BadLines
from onlinear.cli.beginning import begun, job_of
from onlinear.cli.checkpoint import Checkpoint, lasting
from onlinear.cli.job import Job
from onlinear.errors import Refused
from onlinear.files.trained import Trained, open_model
from onlinear.files.values import only_bad_models
from onlinear.streams.sources import expand
from onlinear.streams.stream import open_alike
from onlinear.system.outputs import check_outputs, is_in_place, printable
from onlinear.workflow.run import MOST_PASSES, Progress, Run

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
    if wanted["checkpoint_every"] and is_in_place(place_of(wanted)):
        raise Refused(
            f"{printable(place_of(wanted))} takes one model, and --checkpoint-every saves several, of which each takes "
            "the place of the one before: name a file with --model, or leave out --checkpoint-every"
        )
    check_outputs([place_of(wanted)] if wanted["resume"] else [], expand(wanted["files"] or []))
    return begun(wanted, chosen) if wanted["resume"] is None else resumed(context, wanted)


def resumed(context: click.Context, wanted: dict[str, Any]) -> Job:
    """A job that goes on with a model."""
    for name in sorted(set(wanted) - FREE):
        if is_given(context, name):
            raise Refused(f"--{name.replace('_', '-')} is settled in the model that goes on: leave it out")
    path = wanted["resume"]
    trained = open_model(path)
    if trained.training.learner.slim:
        raise Refused(f"{path} was saved slim, for predictions only: resume one that was saved in full")
    if trained.unfinished is None:
        return with_more_files(trained, wanted)
    with only_bad_models(path):
        left = Checkpoint.unpacked(trained.unfinished, trained.training.totals())
    check_repeated(context, left, wanted)
    wish = wanted["bad_lines"] if is_given(context, "bad_lines") else left.bad_lines
    return where_it_stopped(trained, left, wish, wanted)


def check_repeated(context: click.Context, left: Checkpoint, wanted: dict[str, Any]) -> None:
    """Refuse to take from a model file what only the user may say: what is read and written, and work without end."""
    path, files = wanted["resume"], expand(wanted["files"] or [])
    if len(files) != len(left.files):
        many = "1 file" if len(left.files) == 1 else f"{len(left.files):,} files"
        raise Refused(f"{path} stopped on its way through {many}: name the same again, as in {left.command(path)}")
    if left.log is not None and not is_given(context, "bad_lines"):
        raise Refused(f"{path} has copied bad lines to a file: name it again, as in {left.command(path)}")
    if is_given(context, "passes"):
        if wanted["passes"] != left.passes:
            raise Refused(f"{path} stopped on its way through {left.passes:,} passes: leave out --passes")
    elif left.passes > MOST_PASSES:
        raise Refused(f"{path} would make {left.passes:,} passes: say --passes {left.passes} if that is meant")


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


def where_it_stopped(trained: Trained, left: Checkpoint, wish: str, wanted: dict[str, Any]) -> Job:
    """A run that stopped on its way goes on with the same files."""
    stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
    bad = BadLines(wish, kept=left.log if lasting(wish) == left.bad_lines else None)
    bad.count = left.progress.bad_lines
    every = wanted["checkpoint_every"] or (0 if is_in_place(place_of(wanted)) else left.checkpoint_every)
    run = Run(trained.training, stream, left.passes, progress=left.progress, every=every, on_bad=bad.on_bad)
    return job_of(run, bad, wanted | {"slim": wanted["slim"] or left.slim}, place_of(wanted))


def place_of(wanted: dict[str, Any]) -> Path:
    """Where the model goes: to where it came from, unless another place is named."""
    return wanted["model"] or wanted["resume"]
