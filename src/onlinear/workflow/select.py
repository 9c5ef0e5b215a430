"""``select``: look at a table, choose a recipe, race configurations, learn the winner, and measure it once.

Everything it decides is in the result, a plain dict that becomes JSON and the report; everything can be overridden.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import onlinear
from onlinear.answers import Answers
from onlinear.classes import Classes
from onlinear.errors import BadInput
from onlinear.learner import Learner
from onlinear.modelfile import Trained
from onlinear.profile.choice import Choice, choose_recipe
from onlinear.profile.table import Profile, profile_of
from onlinear.selection.configurations import Configuration, grid, sampled, usual
from onlinear.selection.intervals import wilson
from onlinear.selection.race import Finish, Race, Task
from onlinear.selection.splits import Split, split_rows
from onlinear.streams.matching import MISSING
from onlinear.streams.recipe import Recipe
from onlinear.streams.stream import open_alike
from onlinear.theory.examples import Examples
from onlinear.training import Training
from onlinear.winners import lone
from onlinear.workflow.asked import Asked
from onlinear.workflow.drifting import followed
from onlinear.workflow.explaining import weights_that_matter
from onlinear.workflow.fewer import path_of
from onlinear.workflow.ledger import Ledger, digest_of_test
from onlinear.workflow.measuring import tested_classes, tested_numbers, worst_rows
from onlinear.workflow.proof import Proven, proven
from onlinear.workflow.racing import How, curve_of, how_for, raced, refit
from onlinear.workflow.references import references
from onlinear.workflow.rows import Held, check_labels, classes_of, held, scaled
from onlinear.workflow.texts import cells_of
from onlinear.workflow.watching import Watcher

INTERRUPTED = "It was interrupted: what was done until then is here, and the rest is missing."


@dataclass(slots=True)
class Selected:
    """The chosen model, all there is to say of it, and the rows that its certificate speaks of, if it has one."""

    trained: Trained
    result: dict[str, Any]
    certified: Examples | None


@dataclass(slots=True)
class Parts:
    """The rows to learn and to test, as the model sees them, with their targets: numbers, or codes of classes."""

    train: Held
    test: Held
    targets: np.ndarray
    wanted: np.ndarray
    groups: np.ndarray | None
    classes: Classes | None
    recipe: Recipe
    features: int
    digest: str  # of the test rows
    split: Split

    @property
    def task(self) -> Task:
        return Task(0 if self.classes is None else len(self.classes))

    @property
    def unit(self) -> float:
        """How large slopes are: as the numbers of a regression spread, 1 for classes."""
        return 1.0 if self.classes is not None else float(self.targets.std()) or 1.0


@dataclass(slots=True)
class Chosen:
    """The winner of a race, learned: ``replicates`` are the weights of its bootstrap."""

    race: dict[str, Any]
    configuration: Configuration
    trained: Trained
    replicates: np.ndarray
    how: How
    drift: dict[str, Any] | None


def select(
    asked: Asked, ledger: Ledger, watcher: Watcher, on_model: Callable[[Trained], None] = lambda trained: None
) -> Selected:
    """The whole job. ``on_model`` gets the model as soon as it is learned: whatever happens then, it is there."""
    began = time.perf_counter()
    watcher.tell("looking at the columns", 0.0)
    profile = look(asked)
    ranges = False if asked.ranges is None and asked.in_order else asked.ranges  # the profile knows of no order
    choice = choose_recipe(
        profile, keep=asked.keep, names=asked.names, scale=asked.scale, clip=asked.clip, ranges=ranges
    )
    watcher.tell("reading the rows", 0.0)
    parts = parts_of(asked, profile, choice)
    chosen = chosen_from(asked, profile, parts, watcher)
    on_model(chosen.trained)
    watcher.tell("proving", 0.0)
    proof = Proven(None, [], None) if watcher.stopped else proven(parts)
    explained = explained_by(asked, choice, parts, chosen, watcher)
    watcher.tell("testing", 0.0)
    answers = Answers(chosen.trained.training)
    uses = ledger.uses(parts.digest)
    test = test_of(answers, parts, uses)
    ledger.enter(parts.digest, {"files": asked.files + asked.test_files, "score": test["error"] or test["rmse"]})
    notes = [used_words(len(uses), ledger)] if uses else []
    notes += [INTERRUPTED] if watcher.stopped else []
    result = {
        "onlinear": onlinear.__version__,
        "asked": asked_words(asked, profile),
        "seconds": 0.0,
        "data": data_words(profile, parts),
        "columns": choice.columns(),
        "notes": notes + profile.notes,
        "recipe": choice.sentences,
        "race": chosen.race,
        "winner": chosen.race["configurations"][0],
        "test": test,
        **explained,
        "certificate": proof.certificate,
        "certificate_words": proof.words,
        "drift": chosen.drift,
        "files": {"model": None, "certificate": None, "report": None, "ledger": str(ledger.path)},
        "use": {"command": "", "python": ""},
    }
    result["seconds"] = round(time.perf_counter() - began, 3)
    return Selected(chosen.trained, result, proof.examples)


def chosen_from(asked: Asked, profile: Profile, parts: Parts, watcher: Watcher) -> Chosen:
    """Race the configurations and learn the winner."""
    how = how_for(len(parts.train), parts.split.shuffled, asked.folds, asked.passes, asked.seed)
    configurations = configurations_for(asked, profile.target.task, parts.unit)
    began = time.perf_counter()
    watcher.tell("racing configurations", 0.0)
    same = (parts.task, parts.train, parts.targets, parts.features, how)
    race = raced(configurations, *same, parts.groups, watcher)
    finishes = race.finishes()
    said = race_words(race, finishes, how, time.perf_counter() - began)
    winner = configurations[finishes[0].number]
    watcher.tell("learning the winner", 0.0)
    drift, replicates = None, np.empty((0, 1, 0))
    if not parts.split.shuffled:
        learner, drift = followed(winner, parts, asked.on_drift)
    if drift is None or asked.on_drift == "ignore":
        learner, replicates = refit(winner, *same, 0 if watcher.stopped else asked.replicates)
    trained = Trained(training_of(learner, parts, how), parts.recipe)
    return Chosen(said, winner, trained, replicates, how, drift)


def explained_by(asked: Asked, choice: Choice, parts: Parts, chosen: Chosen, watcher: Watcher) -> dict[str, Any]:
    """What a reader wants to know beside the test; less of it, if the watcher wants an end."""
    answers = Answers(chosen.trained.training)
    path: list[dict[str, Any]] | None = None
    compared: list[dict[str, Any]] = []
    if not watcher.stopped:
        watcher.tell("counting features", 0.0)
        path = path_of(chosen.configuration, parts, chosen.how)
    if not watcher.stopped and asked.references:
        watcher.tell("asking others", 0.0)
        compared = others(parts)
    return {
        "references": compared,
        "weights": weights_that_matter(answers, parts.recipe, chosen.replicates),
        "path": path,
        "worst": worst_words(asked, choice, answers, parts),
    }


# ------------------------------------------------------------------ looking and reading


def look(asked: Asked) -> Profile:
    return profile_of(
        asked.files,
        target=asked.target,
        time=asked.time,
        group=asked.group,
        weight=asked.weight,
        ignore=asked.ignore,
        categories=asked.categories,
        text=asked.text,
        header=asked.header,
        delimiter=asked.delimiter,
        missing=tuple(asked.missing) or MISSING,
        format=asked.format,
        task=asked.task,
        seed=asked.seed,
    )


def labelled(profile: Profile) -> np.ndarray:
    """Which rows of a table have a target."""
    if profile.target.codes is not None:
        return profile.target.codes >= 0
    assert profile.target.numbers is not None
    return ~np.isnan(profile.target.numbers)


def parts_of(asked: Asked, profile: Profile, choice: Choice) -> Parts:
    """The rows, read, split and scaled by those that are learned."""
    stream = choice.open()
    there = labelled(profile)
    rows = held(stream, there, learns=True)
    classes = classes_of(rows.labels) if profile.target.task == "classification" else None
    codes = None if classes is None else classes.codes_of(rows.labels)
    groups = None if profile.groups is None else profile.groups[there]
    times = None if profile.times is None else profile.times[there]
    if asked.in_order:
        times = np.arange(len(rows))
    if asked.test_files:
        split = Split("test file", order_of(len(rows), times, asked.seed), np.arange(0), "the rows of the test file")
        test = tested_file(asked, stream.recipe)
        digest = digest_of_test(sha256_of(asked.test_files), test.numbers)
        if times is not None:
            split = split._replace(kind="time")
    else:
        split = split_rows(len(rows), share=asked.test_share, seed=asked.seed, codes=codes, times=times, groups=groups)
        test = rows.part(split.test)
        digest = digest_of_test(profile.sha256, test.numbers)
    train = scaled(stream.recipe, rows.part(split.train), learns=True)
    test = scaled(stream.recipe, test, learns=False)
    if classes is None:
        targets, wanted = train.labels, test.labels
    else:
        targets = classes.codes_of(train.labels)
        wanted = check_labels(test.labels, classes, "the test file")
    check_classes(targets, classes)
    features = 1 << stream.recipe.bits if stream.recipe.bits is not None else len(stream.recipe.exact_names or ())
    learned_groups = None if groups is None else groups[split.train]
    return Parts(train, test, targets, wanted, learned_groups, classes, stream.recipe, features, digest, split)


def order_of(rows: int, times: np.ndarray | None, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(rows) if times is None else np.argsort(times, kind="stable")


def check_classes(targets: np.ndarray, classes: Classes | None) -> None:
    if classes is not None and len(np.unique(targets)) < 2:
        raise BadInput("the rows to learn are of one class only: test fewer rows, or split them otherwise")


def tested_file(asked: Asked, recipe: Recipe) -> Held:
    """The rows of the test files, whose columns are found by their names."""
    return held(open_alike(asked.test_files, recipe.format, recipe=recipe), None, learns=False)


def sha256_of(files: list[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()


# ------------------------------------------------------------------ choosing


def configurations_for(asked: Asked, task: str, unit: float) -> list[Configuration]:
    """Those that were asked for by loss and rule, or the usual ones; so many of them as were asked for."""
    in_time = asked.in_order or asked.time is not None
    found = usual(task, unit=unit, forgetting=in_time and asked.on_drift == "ignore")
    if asked.losses or asked.rules:
        default = ["squared_error"] if task == "regression" else ["log_loss"]
        found = grid(loss=asked.losses or default, rule=asked.rules or ["normalised"], average=[False, True])
    return sampled(found, asked.configurations, asked.seed) if asked.configurations else found


def training_of(learner: Learner, parts: Parts, how: How) -> Training:
    """The winner as a training that has learned the rows, to be saved and to go on."""
    return Training.of(lone(learner), parts.classes, parts.recipe.bits, False, [(0, 0)] * how.passes)


# ------------------------------------------------------------------ measuring


def test_of(answers: Answers, parts: Parts, uses: list[dict[str, Any]]) -> dict[str, Any]:
    if parts.classes is None:
        found = tested_numbers(answers, parts.test)
        said = f"RMSE {found['rmse']:.4g}"
        low, high = (f"{end:.4g}" for end in found["interval"])
    else:
        found = tested_classes(answers, parts.test, parts.wanted)
        said = f"{found['mistakes']:,} of {found['rows']:,} test rows are wrong, {100 * found['error']:.2f} %"
        low, high = (f"{100 * end:.2f} %" for end in found["interval"])
    words = f"{said} (95 % interval {low} to {high})."
    return {**found, "used_before": bool(uses), "words": words}


def others(parts: Parts) -> list[dict[str, Any]]:
    found = references(parts.train, parts.test, parts.targets, parts.wanted, parts.features, parts.task.classes)
    return [each for each in found if each["score"] is not None]


def used_words(times: int, ledger: Ledger) -> str:
    often = "once" if times == 1 else f"{times} times"
    return (
        f"These test rows have been measured on {often} before (see {ledger.path}): each further look makes the result "
        "more flattering than it is; get new rows for an honest test."
    )


# ------------------------------------------------------------------ saying


def asked_words(asked: Asked, profile: Profile) -> dict[str, Any]:
    return {
        "command": "",
        "files": asked.files,
        "test_files": asked.test_files,
        "target": profile.target.name,
        "time": asked.time,
        "group": asked.group,
        "task": profile.target.task,
        "seed": asked.seed,
        "options": asked.options(),
    }


def data_words(profile: Profile, parts: Parts) -> dict[str, Any]:
    split = parts.split
    return {
        "rows": profile.rows,
        "duplicates": profile.duplicates,
        "sha256": profile.sha256,
        "split": {"kind": split.kind, "train": len(parts.train), "test": len(parts.test), "words": split.words},
    }


def race_words(race: Race, finishes: list[Finish], how: How, seconds: float) -> dict[str, Any]:
    rows = race.examples // how.passes
    return {
        "by": race.task.measure,
        "how": how.words,
        "examples": race.examples,
        "passes": how.passes,
        "seconds": round(seconds, 3),
        "configurations": [configuration_words(race, finish, rows) for finish in finishes],
    }


def configuration_words(race: Race, finish: Finish, rows: int) -> dict[str, Any]:
    one = race.configurations[finish.number]
    judged = finish.stopped_at or rows
    interval = None
    if race.task.classes and np.isfinite(finish.score):
        interval = list(wilson(round(finish.score * judged), judged))
    loss, rule, *_ = one.name.split(", ")
    return {
        "name": one.name,
        "loss": loss.split()[0],
        "rule": rule.split()[0],
        "settings": one.parameters(),
        "score": finish.score if np.isfinite(finish.score) else None,
        "interval": interval,
        "stopped_at": finish.stopped_at,
        "curve": curve_of(finish),
    }


def worst_words(asked: Asked, choice: Choice, answers: Answers, parts: Parts) -> list[dict[str, Any]]:
    """The worst test rows, with their cells."""
    worst = worst_rows(answers, parts.test, None if parts.classes is None else parts.wanted)
    files, labelled = (asked.test_files, True) if asked.test_files else (asked.files, False)
    cells = cells_of(files, parts.recipe.format, [each["row"] for each in worst], labelled=labelled)
    names = [name for name, role in choice.roles.items() if role in ("feature", "time", "group")]
    for each in worst:
        del each["place"]
        found = cells.get(each["row"], {})
        each["cells"] = {name: found[name] for name in names if name in found}
    return worst
