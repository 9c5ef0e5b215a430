"""``onlinear train``: learn a model from files."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from onlinear.cli import arguments as cli
from onlinear.cli.commands import with_field_options, with_read_options
from onlinear.cli.ending import ending, last_words, outlive_broken_pipes, say
from onlinear.cli.jsontext import json_text
from onlinear.cli.measure import NAMES
from onlinear.system.paths import as_argument, printable, printable_lines

if TYPE_CHECKING:
    from onlinear.cli.job import Job


@with_field_options
@with_read_options
def train(
    files: cli.MaybeFiles = None,
    reading: Any = None,
    bad_lines: cli.BadLineWish = "fail",
    model: cli.Model = None,
    resume: cli.Resume = None,
    start_at: cli.StartAt = None,
    checkpoint_every: cli.Every = 0,
    keep_partial: cli.KeepPartial = False,
    slim: cli.Slim = False,
    learner: cli.Learner = "linear",
    loss: cli.Loss = None,
    rule: cli.Rule = "normalised",
    schedule: cli.Schedule = None,
    task: cli.Task = None,
    classes: cli.ClassNames = None,
    passes: cli.Passes = 1,
    until_separated: cli.UntilSeparated = False,
    shuffle: cli.Shuffle = False,
    seed: cli.SeedOfOrder = 0,
    l1: cli.L1 = 0.0,
    l2: cli.L2 = 0.0,
    average: cli.Average = False,
    forget: cli.Forget = 0.0,
    on_drift: cli.OnDrift = None,
    detector: cli.Detector = None,
    drift_delta: cli.DriftDelta = None,
    intercept: cli.Intercept = True,
    random_features: cli.RandomFeatures = None,
    unique_features: cli.UniqueFeatures = None,
    kernel: cli.Kernel = None,
    degree: cli.Degree = None,
    gamma: cli.Gamma = None,
    coef0: cli.Coef0 = None,
    vote: cli.Vote = None,
    budget: cli.Budget = None,
    test: cli.TestFiles = None,
    as_json: cli.AsJson = False,
    quiet: cli.Quiet = False,
    chosen: Any = None,
) -> None:
    """Learn a model from files: each example is predicted, then learned."""
    began = time.perf_counter()
    outlive_broken_pipes()
    with ending():
        from onlinear.cli.job import NOTHING_LEARNED
        from onlinear.cli.training import job_for

        with last_words(NOTHING_LEARNED):
            job = job_for(click.get_current_context(), chosen)
        job.go(test or ())
        if until_separated and not quiet:
            tell_if_not_separated(job)
        document = job.document(time.perf_counter() - began)
        if test:
            document["test"] = job.tested(test)
        if as_json:
            print(json_text(document | {"online_to_batch": job.bounds_on_new_rows()}, indent=2))
        elif not quiet:
            print(printable_lines(closing_words(document)))


def tell_if_not_separated(job: Job) -> None:
    """Say that each of the passes that were to separate the classes has brought updates, if it has."""
    if not job.run.is_at_rest:
        say(
            f"None of {job.run.passes:,} passes was without an update: the classes may not be separable, which "
            "onlinear certify tells."
        )


def closing_words(document: dict[str, Any]) -> Iterator[str]:
    """What a run came to, for people."""
    examples, seconds = document["examples"], document["seconds"]
    yield f"{examples:,} examples, {document['features']:,} features in {seconds:.1f} s."
    if document["progressive_error"] is not None:
        where = " in the first pass" if document["passes"] > 1 else ""
        yield (
            f"{document['mistakes']:,} predicted wrongly{where}: progressive error {document['progressive_error']:.2%}."
        )
    if document["label_runs"] and document["shuffled"] is None:
        yield "This error flatters, since the labels come in runs: say --shuffle."
    weighted = ", rows by their weights" if document["weight_sum"] != examples else ""
    learner = document["rule"] or document["learner"]
    yield f"Progressive loss {document['progressive_loss']:.4f} ({document['loss']}, {learner}{weighted})."
    if document["converged"]:
        yield f"Pass {document['passes']:,} brought no update."
    if document["drift"]:
        yield drift_words(document["drift"])
    if document["bad_lines"]:
        yield f"{document['bad_lines']:,} bad lines were left out."
    for name, figure in document.get("test", {}).items():
        if isinstance(figure, int | float):
            said = NAMES.get(name, name.replace("_", " "))
            yield f"Test {said}: {figure:.4f}" if isinstance(figure, float) else f"Test {said}: {figure:,}"
    if document["model"]:
        yield f"Saved. To predict: onlinear predict {printable(as_argument(document['model']))} FILE"
    else:
        yield "Not saved: name a file with --model to keep the model."


def drift_words(drift: dict[str, Any]) -> str:
    """How often there was drift, and what was done about it."""
    many = len(drift["alarms"])
    if not many:
        return f"No drift was found ({drift['detector']})."
    done = {"ignore": "nothing was done", "reset": "learning started again", "faster": "learning sped up"}
    times = "once" if many == 1 else f"{many:,} times"
    return f"The error rose {times} ({drift['detector']}): {done[drift['on_drift']]}."
