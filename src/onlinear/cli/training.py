"""From the options of ``train`` to a job: a new one, or one that goes on with a model."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import click
import numpy as np

from onlinear.cli.badlines import FAIL, BadLines
from onlinear.cli.commands import fields, reading_in
from onlinear.cli.ending import say
from onlinear.cli.job import MOST, Checkpoint, Job, full_path
from onlinear.cli.learners import (
    LINEAR,
    check_learner,
    check_slim,
    is_given,
    new_dual_model,
    stages_in,
    with_exact_names,
)
from onlinear.cli.progress import progress_for
from onlinear.data.whole_numbers import are_numbers
from onlinear.drift import ADWIN, DETECTORS
from onlinear.drift.adapting import Adapting
from onlinear.drift.policies import check_policy
from onlinear.errors import BadLine, BadSource, Refused
from onlinear.features.blocks import Block
from onlinear.files.trained import AnyModel, Trained, open_model
from onlinear.files.values import only_bad_models
from onlinear.learning.classes import Classes, as_array, classes_in, sorted_unique, whole_to_int
from onlinear.learning.configuration import Settings
from onlinear.learning.model import Model
from onlinear.learning.rest import comes_to_rest
from onlinear.learning.restarts import begin_at
from onlinear.learning.runs import come_in_runs
from onlinear.learning.tasks import MOST_IN_STREAM, task_of_numbers
from onlinear.parameters import ranges_of
from onlinear.registry import FOR_CLASSES, LOSSES, REGRESSION, RULES, SCHEDULES
from onlinear.streams.columns import BLANKS
from onlinear.streams.csv_text import CSVText
from onlinear.streams.formats import Format
from onlinear.streams.options import ReadOptions, read_options
from onlinear.streams.recipe import Recipe
from onlinear.streams.sources import Pipe, expand, source_label, with_looks
from onlinear.streams.stream import Stream, open_alike, stream_of
from onlinear.system.descriptors import holds_something
from onlinear.system.paths import printable
from onlinear.system.places import check_outputs, is_in_place
from onlinear.workflow.profile.misread import has_mixed_target, mixed_columns, unknown_columns
from onlinear.workflow.run import MOST_PASSES, Progress, Run

#: options that a model which goes on has not settled
FREE = {"files", "model", "resume", "checkpoint_every", "keep_partial", "slim", "test", "as_json", "quiet"}

FREE |= {"bad_lines", "passes", "shuffle", "seed"}


def job_for(context: click.Context, chosen: dict[str, float | None]) -> Job:
    """The job that a command line asks for."""
    check_learner(context)
    wanted = until_separated(context) if context.params["until_separated"] else context.params
    if not (wanted["files"] or wanted["resume"]):
        raise Refused("there is no file to learn from: name one, or - for standard input")
    place = wanted["model"] or wanted["resume"]
    if wanted["checkpoint_every"] and place is None:
        raise Refused("--checkpoint-every needs a file to save to: name one with --model")
    if wanted["checkpoint_every"] and is_in_place(place):
        raise Refused(
            f"{printable(place)} takes one model, and --checkpoint-every saves several, of which each takes "
            "the place of the one before: name a file with --model, or leave out --checkpoint-every"
        )
    if place is not None and holds_something(place):
        raise Refused(f"{printable(place)} holds something already, and a model cannot be read behind it: name a file")
    for name in ("passes", "checkpoint_every"):
        if wanted[name] > MOST:  # a checkpoint with it could not be read again
            raise Refused(f"--{name.replace('_', '-')} is {wanted[name]}: give at most {MOST}")
    check_outputs([place] if wanted["resume"] else [], expand(wanted["files"] or []))
    if wanted["resume"] is not None:
        return resume_job(context, wanted)
    return begin_job(wanted, chosen) if wanted["start_at"] is None else begin_at_model(context, wanted, chosen)


def until_separated(context: click.Context) -> dict[str, Any]:
    """The options of a run until no row asks for an update: the perceptron's, where others are not named."""
    wanted = dict(context.params)
    for name in ("average", "l1", "l2", "forget"):
        if wanted[name]:
            raise Refused(f"--until-separated learns weights that separate, and --{name} others: leave it out")
    if not is_given(context, "rule"):
        wanted["rule"] = "perceptron"
    if not is_given(context, "passes"):
        wanted["passes"] = MOST_PASSES
    return wanted


def resume_job(context: click.Context, wanted: dict[str, Any]) -> Job:
    """A job that goes on with a model."""
    for name in sorted(set(wanted) - FREE):
        if is_given(context, name):
            raise Refused(f"--{name.replace('_', '-')} is settled in the model that goes on: leave it out")
    path = wanted["resume"]
    trained = open_model(path)
    if trained.training.slim:
        raise Refused(f"{path} was saved slim, for predictions only: resume one that was saved in full")
    if wanted["slim"]:
        check_slim(trained.training.kind)
    if trained.unfinished is None:
        return go_on_with_files(trained, wanted)
    with only_bad_models(path):
        left = Checkpoint.unpack(trained.unfinished, trained.training.totals())
    check_repeated(context, left, wanted)
    wish = wanted["bad_lines"] if is_given(context, "bad_lines") else left.bad_lines
    return go_on_where_it_stopped(trained, left, wish, wanted)


def check_repeated(context: click.Context, left: Checkpoint, wanted: dict[str, Any]) -> None:
    """Refuse to take from a model file what only the user may say: what is read and written, and work without end."""
    path, files = wanted["resume"], expand(wanted["files"] or [])
    if len(files) != len(left.files):
        many = "1 file" if len(left.files) == 1 else f"{len(left.files):,} files"
        raise Refused(f"{path} stopped on its way through {many}: name the same again, as in {left.command(path)}")
    if left.log is not None and not is_given(context, "bad_lines"):
        raise Refused(f"{path} has copied bad lines to a file: name it again, as in {left.command(path)}")
    if wanted["shuffle"] or is_given(context, "seed"):
        raise Refused(
            f"{path} stopped on its way, and goes on in the order it began with: leave out --shuffle and --seed"
        )
    if is_given(context, "passes"):
        if wanted["passes"] != left.passes:
            raise Refused(f"{path} stopped on its way through {left.passes:,} passes: leave out --passes")
    elif left.passes > MOST_PASSES:
        raise Refused(f"{path} would make {left.passes:,} passes: say --passes {left.passes} if that is meant")


def begin_at_model(context: click.Context, wanted: dict[str, Any], chosen: dict[str, float | None]) -> Job:
    """A new job that starts with the weights of a model, and reads files as that does."""
    path = wanted["start_at"]
    for name in (*read_options(), "task", "classes"):
        if name in wanted and is_given(context, name):
            raise Refused(f"--{name.replace('_', '-')} is settled in {path}, where it starts: leave it out")
    trained = open_model(path)
    if trained.linear.slim:
        raise Refused(f"{path} was saved slim, for predictions only: start at one that was saved in full")
    stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
    stream.check_passes(wanted["passes"])
    classes = trained.training.classes
    loss = wanted["loss"] or usual_loss(classes, wanted["until_separated"])
    training = new_model(loss, classes, trained.recipe, wanted, chosen)
    start_with_weights(training, trained.linear, path, loss)
    bad = BadLines(wanted["bad_lines"])
    stream.on_bad = bad.on_bad
    seed, every = seed_of(training, wanted), wanted["checkpoint_every"]
    return job_of(Run(training, stream, wanted["passes"], every=every, seed=seed), bad, wanted, wanted["model"])


def start_with_weights(training: Model, before: Model, path: Path, loss: str) -> None:
    """Give a model that has learned nothing the weights by which another answers."""
    learner = training.learner
    if learner.outputs != before.learner.outputs:
        raise Refused(
            f"{path} has {before.learner.outputs} columns of weights, and the loss {loss} {learner.outputs}: choose a "
            "loss of its kind, one for all classes at once or one against the rest"
        )
    training.make_room(before.width)
    shown, intercepts = before.learner.weights_and_intercepts()
    weights = np.zeros((learner.outputs, learner.features))
    columns = min(learner.features, shown.shape[1])
    weights[:, :columns] = shown[:, :columns]
    begin_at(learner, weights, intercepts)


def go_on_with_files(trained: Trained, wanted: dict[str, Any]) -> Job:
    """A model that was finished learns from other files."""
    if not wanted["files"]:
        raise Refused(f"{wanted['resume']} is finished: name more files to learn from")
    if trained.training.adapting is not None and wanted["passes"] > 1:
        raise Refused(f"{wanted['resume']} follows the rows in time, and a second pass would go back: take one")
    stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
    stream.check_passes(wanted["passes"])
    bad = BadLines(wanted["bad_lines"])
    stream.on_bad, progress = bad.on_bad, Progress(before=trained.training.totals())
    passes, every = wanted["passes"], wanted["checkpoint_every"]
    run = Run(trained.training, stream, passes, progress=progress, every=every, seed=seed_of(trained.training, wanted))
    return job_of(run, bad, wanted, place_of(wanted))


def go_on_where_it_stopped(trained: Trained, left: Checkpoint, wish: str, wanted: dict[str, Any]) -> Job:
    """A run that stopped on its way goes on with the same files."""
    stream = open_alike(wanted["files"], trained.recipe.format, recipe=trained.recipe)
    bad = BadLines(wish, kept=left.log if full_path(wish) == left.bad_lines else None)
    bad.count, stream.on_bad = left.progress.bad_lines, bad.on_bad
    every = wanted["checkpoint_every"] or (0 if is_in_place(place_of(wanted)) else left.checkpoint_every)
    run = Run(trained.training, stream, left.passes, progress=left.progress, every=every, seed=left.shuffled)
    return job_of(run, bad, wanted | {"slim": wanted["slim"] or left.slim}, place_of(wanted))


def place_of(wanted: dict[str, Any]) -> Path:
    """Where the model goes: to where it came from, unless another place is named."""
    return wanted["model"] or wanted["resume"]


#: rows whose labels say what is to be learned
LOOK = 10_000


def begin_job(wanted: dict[str, Any], chosen: dict[str, float | None]) -> Job:
    """A new job."""
    files = with_looks(expand(wanted["files"]))
    with say_if_waiting(files, FOR_ONE if is_learned_as_it_comes(wanted) else SENTENCE):
        stream = stream_for(wanted | {"files": files})
        stream.check_passes(wanted["passes"])
        tell_mixed_columns(stream, wanted)
        blocks = stream.blocks(stop_at_bad=wanted["bad_lines"] == FAIL)
        labels, blocks = first_labels(blocks, labels_needed(wanted))
    training = training_for(labels, stream.recipe, wanted, chosen)
    bad = BadLines(wanted["bad_lines"])
    stream.on_bad = bad.on_bad
    seed, every = seed_of(training, wanted), wanted["checkpoint_every"]
    run = Run(training, stream, wanted["passes"], every=every, begun=blocks, seed=seed)
    job = job_of(run, bad, wanted, wanted["model"])
    job.label_runs = come_in_runs(labels) if training.classes is not None else None
    if job.label_runs and seed is None and not wanted["quiet"]:
        say(RUNS.format(target_named(stream.format)))
    job.task_reason = reason_for_task(labels, stream.format, wanted)
    if job.task_reason is not None and is_doubtful(labels) and not wanted["quiet"]:
        say(f"{job.task_reason}.")
    if training.classes is not None and wanted["classes"] is None and not wanted["quiet"]:
        tell_one_class(labels, stream.format)
    return job


#: said where the labels come in runs
RUNS = (
    "{} comes in runs, as in a file that is sorted by it: each row is guessed from those before it, so that the error "
    "flatters, and what was learned first is forgotten. Say --shuffle, unless the rows are in order of time."
)


def seed_of(training: AnyModel, wanted: dict[str, Any]) -> int | None:
    """The seed of the order of the rows, if it is to be another than that of the files."""
    if not wanted["shuffle"]:
        return None
    if training.adapting is not None:
        raise Refused("--on-drift follows the rows in time, and --shuffle has another order: leave one of them out")
    return int(wanted["seed"])


def job_of(run: Run, bad: BadLines, wanted: dict[str, Any], path: Path | None) -> Job:
    watch = progress_for(wanted["quiet"] or wanted["as_json"])
    return Job(run, bad, watch, path, slim=wanted["slim"], keep=wanted["keep_partial"])


def stream_for(wanted: dict[str, Any]) -> Stream:
    """The files, read as the options say, with what comes between reading and learning."""
    wanted = with_exact_names(wanted)
    stages = stages_in(wanted)
    stream = stream_read_by(wanted)
    for name, state in stages.items():
        stream.recipe.add_stage(name, *state)
    return stream


def stream_read_by(wanted: dict[str, Any]) -> Stream:
    """The files, read as the options say."""
    options = ReadOptions(**reading_in(wanted))
    stream = stream_of(wanted["files"], options)
    if is_regression(wanted) and isinstance(stream.format, CSVText) and has_mixed_target(stream.format, stream.files):
        target = -1 if options.target is None else options.target
        return stream_of(wanted["files"], replace(options, numbers=(*options.numbers, target)))
    return stream


def tell_mixed_columns(stream: Stream, wanted: dict[str, Any]) -> None:
    """Say which columns of numbers are read as categories, or may be, before they are learned."""
    if isinstance(stream.format, CSVText):
        categories = wanted["categories"] or ()
        for line in mixed_columns(stream.format, stream.files, categories):
            say(str(line))
        for sentence in unknown_columns(stream.format, stream.files, categories):
            say(f"{stream.files[0]}: {sentence}")


def labels_needed(wanted: dict[str, Any]) -> int:
    """How many labels say what is to be learned: the type of the first one, where task or classes are named."""
    return 1 if is_regression(wanted) or wanted["classes"] is not None else LOOK


def is_learned_as_it_comes(wanted: dict[str, Any]) -> bool:
    """Whether the options tell types and classes, so that no rows have to."""
    return wanted["format"] in ("svmlight", "vw") and labels_needed(wanted) == 1


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


def training_for(
    labels: np.ndarray, recipe: Recipe, wanted: dict[str, Any], chosen: dict[str, float | None]
) -> AnyModel:
    """A training as the options and the first labels want it."""
    if wanted["learner"] != LINEAR:
        return new_dual_model(wanted, classes_for(labels, wanted["classes"]))
    task = wanted["task"] or task_of(labels, wanted["loss"], wanted["classes"])
    classes = None if task == "regression" else classes_for(labels, wanted["classes"])
    loss = wanted["loss"] or usual_loss(classes, wanted["until_separated"])
    return new_model(loss, classes, recipe, wanted, chosen)


def new_model(
    loss: str, classes: Classes | None, recipe: Recipe, wanted: dict[str, Any], chosen: dict[str, float | None]
) -> Model:
    """A model that has learned nothing, for these classes, or for numbers (None), as the options want it."""
    task = "regression" if classes is None else "classification"
    if loss not in (REGRESSION if classes is None else FOR_CLASSES):
        raise Refused(f"the loss {loss} is not for {task}: choose another, or another --task")
    own_penalties = {"l1", "l2"} & set(RULES[wanted["rule"]]._fields)  # type: ignore[attr-defined]
    given = chosen | {name: wanted[name] for name in own_penalties}
    made_loss, made_rule = loss_and_rule(loss, wanted["rule"], wanted["schedule"], given)
    if wanted["until_separated"] and not comes_to_rest(made_loss):
        raise Refused(f"the loss {loss} always asks for updates: choose perceptron, or leave out --until-separated")
    settings = Settings(
        l1=0.0 if own_penalties else wanted["l1"],
        l2=0.0 if own_penalties else wanted["l2"],
        average=float(wanted["average"]),
        forget=wanted["forget"],
        intercept=wanted["intercept"],
    )
    training = Model.create(made_loss, made_rule, settings, classes, recipe.bits)
    training.adapting = adapting_for(training, wanted)
    return training


def usual_loss(classes: Classes | None, until_separated: bool) -> str:
    """The name of the loss for these classes, or for numbers (None), where none is named."""
    if classes is None:
        return "squared_error"
    if not until_separated:
        return "log_loss"
    return "perceptron" if len(classes) == 2 and not classes.open else "multiclass_perceptron"


def adapting_for(training: Model, wanted: dict[str, Any]) -> Adapting | None:
    """What watches for drift, if someone is to."""
    on_drift, delta, name = wanted["on_drift"], wanted["drift_delta"], wanted["detector"]
    if on_drift is None:
        if name is not None or delta is not None:
            raise Refused("--detector and --drift-delta mean nothing without --on-drift: say what to do at an alarm")
        return None
    if wanted["passes"] > 1:
        raise Refused("--on-drift follows the rows in time, and a second pass would go back to the first: take one")
    if delta is not None and name not in (None, "adwin"):
        raise Refused(f"--drift-delta means nothing for the detector {name}: it belongs to adwin")
    check_policy(on_drift, training.learner)
    return Adapting(on_drift, ADWIN(delta) if delta is not None else DETECTORS[name or "adwin"]())


def task_of(labels: np.ndarray, loss: str | None, classes: str | None) -> str:
    """What is to be learned: classes, unless the loss or the labels say otherwise."""
    if loss is not None:
        return "regression" if loss in REGRESSION else "classification"
    if classes is not None or not are_numbers(labels):
        return "classification"
    return task_of_numbers(len(np.unique(labels)), MOST_IN_STREAM, whole=is_whole(labels))


def reason_for_task(labels: np.ndarray, format: Format, wanted: dict[str, Any]) -> str | None:
    """Why labels are taken for classes or for amounts, and how to say otherwise; None where somebody has said it."""
    said = wanted["learner"] != LINEAR or any(wanted[name] is not None for name in ("task", "loss", "classes"))
    if said or not len(labels):
        return None
    name = target_named(format)
    seen = f" in its first {LOOK:,} rows" if len(labels) >= LOOK else ""
    if not are_numbers(labels):
        return f"{name} has texts{seen}, so they are taken for classes"
    if task_of(labels, None, None) == "classification":
        count = len(np.unique(labels))
        numbers = "1 whole number" if count == 1 else f"{count} different whole numbers"
        return f"{name} has {numbers}{seen}, so they are taken for classes: say --task regression if they are amounts"
    numbers = f"more than {MOST_IN_STREAM} different whole numbers" if is_whole(labels) else "numbers with a fraction"
    return f"{name} has {numbers}{seen}, so they are taken for amounts: say --task classification if they name classes"


def target_named(format: Format) -> str:
    """What sentences call that which is learned."""
    columns = getattr(format, "columns", ())
    target = next((column.name for column in columns if column.kind == "target"), getattr(format, "target", None))
    return "the label" if target is None else f"the target {target!r}"


def tell_one_class(labels: np.ndarray, format: Format) -> None:
    """Say that there is nothing to learn if all labels that were looked at are one class: no answer will be wrong."""
    if len(labels) > 1 and (labels == labels[0]).all():
        where = "all rows" if len(labels) < LOOK else f"all of its first {LOOK:,} rows"
        only = whole_to_int(labels[0])
        say(f"{target_named(format)} is {only!r:.60} in {where}, so there is nothing to tell apart yet.")


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


class OptionValues:
    """The values of options; each is to be used once."""

    def __init__(self, given: Mapping[str, float | None]) -> None:
        self.left = {name: value for name, value in given.items() if value is not None}

    def build(self, cls: Any, **parts: Any) -> Any:
        """A loss, a rule or a schedule with the values that belong to it."""
        return cls(**parts, **self.take(cls))

    def take(self, cls: Any) -> dict[str, float]:
        """The values that belong to the fields of a class; one out of its range is refused."""
        taken = {name: float(self.left.pop(name)) for name in cls._fields if name in self.left}
        for name, value in taken.items():
            if value not in (limits := ranges_of(cls)[name]):
                raise Refused(f"--{name} is {value}: give {limits.words}")
        return taken

    def refuse_rest(self, loss: str, rule: str) -> None:
        """Refuse values that nothing has taken."""
        for name in self.left:
            owners = ", ".join(f"the {field.kind} {field.owner}" for field in fields()[name])
            raise Refused(f"--{name} means nothing for the loss {loss} and the rule {rule}: it belongs to {owners}")


def loss_and_rule(loss: str, rule: str, schedule: str | None, given: Mapping[str, float | None]) -> tuple[Any, Any]:
    """The loss and the rule of these names, with the values that were given."""
    if schedule is not None and "schedule" not in RULES[rule]._fields:  # type: ignore[attr-defined]
        raise Refused(f"--schedule means nothing for the rule {rule}: it belongs to the rule sgd")
    chosen = OptionValues(given)
    made_loss = chosen.build(LOSSES[loss])
    parts = {}
    if "schedule" in RULES[rule]._fields:  # type: ignore[attr-defined]
        default = RULES[rule]._field_defaults["schedule"]  # type: ignore[attr-defined]
        parts["schedule"] = (
            chosen.build(SCHEDULES[schedule]) if schedule else default._replace(**chosen.take(type(default)))
        )
    made_rule = chosen.build(RULES[rule], **parts)
    chosen.refuse_rest(loss, rule)
    return made_loss, made_rule


#: seconds between two questions whether it waits
STEP = 1.0
SENTENCE = (
    "Waiting for the first rows of {}: 10,000 of them, or its end, tell the types and classes. Rows are learned as "
    "they come if these are known: svmlight and vw with --classes or --task regression, any format with --resume MODEL."
)
#: where types and classes are known
FOR_ONE = "Waiting for the first row of {}."


@contextmanager
def say_if_waiting(files: Sequence[str], sentence: str = SENTENCE) -> Iterator[None]:
    """Within the block, say once that a pipe is waited for, if it is."""
    pipes = [file for file in files if isinstance(file, Pipe)]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(STEP):
            for pipe in pipes:
                if pipe.is_waited_for():
                    say(sentence.format(source_label(pipe)))
                    return

    if pipes:
        threading.Thread(target=watch, name="onlinear-waiting", daemon=True).start()
    try:
        yield
    finally:
        over.set()
