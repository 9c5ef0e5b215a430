"""``select``: look at a table, choose a recipe, race configurations, learn the winner, and measure it once.

Everything it decides is in the result, a plain dict that becomes JSON and the report; everything can be overridden.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import onlinear
from onlinear.errors import Diverged
from onlinear.files.trained import Trained
from onlinear.learning.configuration import Configuration
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.learning.predictor import Predictor
from onlinear.selection.bootstrap import bootstrap_intervals
from onlinear.selection.configurations import check_task, grid, sample_configurations, usual
from onlinear.selection.winner import detach_from_bank
from onlinear.streams.sources import expand, refuse_pipes
from onlinear.theory.examples import Examples
from onlinear.workflow.drifting import follow_winner
from onlinear.workflow.explaining import weights_that_matter
from onlinear.workflow.fewer import path_of
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.measuring import Judged, JudgedNumbers, judged_on
from onlinear.workflow.parts import Parts, look, parts_of
from onlinear.workflow.profile.choice import choose_recipe
from onlinear.workflow.profile.table import Profile
from onlinear.workflow.proof import Proven, prove
from onlinear.workflow.race_in_memory import RacePlan, plan_for, race_in_memory, refit
from onlinear.workflow.references import references
from onlinear.workflow.saying import (
    INTERRUPTED,
    asked_words,
    data_words,
    divided_words,
    race_words,
    seen_words,
    used_words,
    worst_words,
)
from onlinear.workflow.select_options import SelectOptions
from onlinear.workflow.watching import Watcher


@dataclass(slots=True)
class Selected:
    """The chosen model, all there is to say of it, and the rows that its certificate speaks of, if it has one."""

    trained: Trained
    result: dict[str, Any]
    certified: Examples | None


@dataclass(slots=True)
class ChosenModel:
    """The winner of a race, learned: ``replicates`` are the weights of its bootstrap."""

    race: dict[str, Any]
    configuration: Configuration
    trained: Trained
    replicates: np.ndarray
    plan: RacePlan
    drift: dict[str, Any] | None


def select(
    asked: SelectOptions, ledger: Ledger, watcher: Watcher, on_model: Callable[[Trained], None] = lambda trained: None
) -> Selected:
    """The whole job. ``on_model`` gets the model as soon as it is learned: whatever happens then, it is there."""
    asked.check()
    ledger.known()  # one that cannot be read is refused now, and not when all is learned
    refuse_pipes(expand([*asked.files, *asked.test_files]), "a selection, which reads all rows more than once")
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
    proof = Proven(None, [], None) if watcher.stopped else prove(parts)
    predictor = chosen.trained.linear.snapshot()
    explained = explained_by(asked, predictor, parts, chosen, watcher)
    watcher.tell("testing", 0.0)
    judged = judged_on(predictor, parts)
    worst = worst_words(asked, choice, judged, parts)
    uses = ledger.uses(*parts.digests)
    test = figures_of_test(judged, uses) | {"seen": parts.seen.rows, "unlabelled": parts.seen.unlabelled}
    score = test["rmse"] if test["error"] is None else test["error"]
    ledger.enter(parts.digests[0], {"files": asked.files + asked.test_files, "score": score}, *parts.digests[1:])
    notes = [used_words(len(uses), ledger)] if uses else []
    notes += [INTERRUPTED] if watcher.stopped else []
    notes += seen_words(parts.seen)
    notes += [divided_words(parts.divided)] if parts.divided else []
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
        "worst": worst,
        "certificate": proof.certificate,
        "certificate_words": proof.words,
        "drift": chosen.drift,
        "files": {"model": None, "certificate": None, "report": None, "ledger": str(ledger.path)},
        "use": {"command": "", "python": ""},
    }
    result["seconds"] = round(time.perf_counter() - began, 3)
    return Selected(chosen.trained, result, proof.examples)


def chosen_from(asked: SelectOptions, profile: Profile, parts: Parts, watcher: Watcher) -> ChosenModel:
    """Race the configurations and learn the winner."""
    plan = plan_for(len(parts.train), parts.split.shuffled, asked.folds, asked.passes, asked.seed)
    if asked.folds is None and plan.folds:  # of few rows or groups there are fewer
        plan = plan._replace(folds=max(2, min(plan.folds, parts.units)))
    configurations = configurations_for(asked, profile.target.task, parts.unit)
    began = time.perf_counter()
    watcher.tell("racing configurations", 0.0)
    same = (parts.task, parts.train, parts.targets, parts.features, plan)
    race = race_in_memory(configurations, *same, parts.groups, watcher)
    if not race.running:
        raise Diverged("every configuration diverged: let the columns be scaled, or name other rules")
    finishes = race.finishes()
    said = race_words(race, plan, len(parts.train), time.perf_counter() - began, parts.groups is not None)
    winner = configurations[finishes[0].number]
    watcher.tell("learning the winner", 0.0)
    drift, replicates = None, np.empty((0, 1, 0))
    if not parts.split.shuffled:
        learner, drift = follow_winner(winner, parts, asked.on_drift)
    if drift is None or asked.on_drift == "ignore":
        learner, replicates, scores = refit(winner, *same, 0 if watcher.stopped else asked.replicates)
        if len(scores):
            ends = bootstrap_intervals(np.array(finishes[0].score), scores)
            said["configurations"][0]["interval"] = [max(0.0, float(end)) for end in ends]
    trained = Trained(model_of(learner, parts, plan), parts.recipe)
    return ChosenModel(said, winner, trained, replicates, plan, drift)


def explained_by(
    asked: SelectOptions, predictor: Predictor, parts: Parts, chosen: ChosenModel, watcher: Watcher
) -> dict[str, Any]:
    """What a reader wants to know beside the test; less of it, if the watcher wants an end."""
    path: list[dict[str, Any]] | None = None
    compared: list[dict[str, Any]] = []
    if not watcher.stopped:
        watcher.tell("counting features", 0.0)
        path = path_of(chosen.configuration, parts, chosen.plan)
    if not watcher.stopped and asked.references:
        watcher.tell("asking others", 0.0)
        compared = others(parts)
    return {
        "references": compared,
        "weights": weights_that_matter(predictor, parts.recipe, chosen.replicates),
        "path": path,
    }


# ------------------------------------------------------------------ choosing


def configurations_for(asked: SelectOptions, task: str, unit: float) -> list[Configuration]:
    """Those that were asked for by loss and rule, or the usual ones; so many of them as were asked for."""
    in_time = asked.in_order or asked.time is not None
    found = usual(task, unit=unit, forgetting=in_time and asked.on_drift == "ignore")
    if asked.losses or asked.rules:
        default = ["squared_error"] if task == "regression" else ["log_loss"]
        found = grid(loss=asked.losses or default, rule=asked.rules or ["normalised"], average=[False, True])
        check_task(found, task)
    return sample_configurations(found, asked.configurations, asked.seed) if asked.configurations else found


def model_of(learner: Learner, parts: Parts, plan: RacePlan) -> Model:
    """The winner as a training that has learned the rows, to be saved and to go on."""
    return Model(
        detach_from_bank(learner),
        parts.classes,
        parts.recipe.bits,
        width=learner.features,
        pass_starts=[(0, 0)] * plan.passes,
    )


# ------------------------------------------------------------------ measuring


def figures_of_test(judged: Judged, uses: list[dict[str, Any]]) -> dict[str, Any]:
    found = judged.figures()
    if isinstance(judged, JudgedNumbers):
        said = f"RMSE {four_digits(found['rmse'])}"
        low, high = map(four_digits, found["interval"])
    else:
        said = f"{found['mistakes']:,} of {found['rows']:,} test rows are wrong, {100 * found['error']:.2f} %"
        low, high = (f"{100 * end:.2f} %" for end in found["interval"])
    words = f"{said} (95 % interval {low} to {high}).{weighted_words(found)}"
    return {**found, "used_before": bool(uses), "words": words}


def weighted_words(test: dict[str, Any]) -> str:
    """What a test comes to by the weights of its rows, where they have some; else all rows count alike.

    >>> weighted_words({"weight_sum": 998.0, "weighted_error": 0.25, "weighted_rmse": None})
    ' There all rows count alike; by their weights, 998 in all, it is 25.00 %.'
    """
    error, rmse = test["weighted_error"], test["weighted_rmse"]
    if error is None and rmse is None:
        return ""
    said = f"{100 * error:.2f} %" if rmse is None else four_digits(rmse)
    return f" There all rows count alike; by their weights, {four_digits(test['weight_sum'])} in all, it is {said}."


def four_digits(number: float) -> str:
    """A number of four digits, or all of those before the point.

    >>> four_digits(56442.7), four_digits(0.123456)
    ('56,443', '0.1235')
    """
    return f"{number:,.0f}" if abs(number) >= 1000.0 else f"{number:.4g}"


def others(parts: Parts) -> list[dict[str, Any]]:
    found = references(parts.train, parts.test, parts.targets, parts.wanted, parts.features, parts.task.classes)
    return [each for each in found if each["score"] is not None]
