"""What a selection says of itself: the parts of its result that are words and plain numbers."""

from __future__ import annotations

import math
from typing import Any

from onlinear.registry import LOSSES, RULES, name_of
from onlinear.selection.race import Race
from onlinear.selection.standings import Comparison, Place, Standings
from onlinear.theory.online_to_batch import ASSUMPTION, FirstPass, bounds_from
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.measuring import Judged
from onlinear.workflow.parts import Parts
from onlinear.workflow.profile.choice import Choice
from onlinear.workflow.profile.table import Profile
from onlinear.workflow.race_in_memory import RacePlan
from onlinear.workflow.seen import RepeatedRows
from onlinear.workflow.select_options import SelectOptions
from onlinear.workflow.texts import cells_of

#: with which what is said of new rows holds of the winner
CONFIDENCE = 0.95
#: why a race says nothing of new rows
OF_FOLDS = (
    "the configurations were compared by folds or over several passes, and only a first pass, in which each row is "
    "predicted before it is learned, bounds the error on new rows"
)
IN_TIME = "the rows are in the order of time, and nobody takes them for drawn alike"
OF_GROUPS = "the rows of a group belong together, and nobody takes them for drawn independently"

INTERRUPTED = "It was interrupted: what was done until then is here, and the rest is missing."


def used_words(times: int, ledger: Ledger) -> str:
    often = "once" if times == 1 else f"{times} times"
    return (
        f"These test rows have been measured on {often} before (see {ledger.path}): each further look makes the result "
        "more flattering than it is; get new rows for an honest test."
    )


def seen_words(seen: RepeatedRows) -> list[str]:
    """What is odd about the rows of a test."""
    said = []
    if seen.rows:
        are = "is the same as a row" if seen.rows == 1 else "are the same as rows"
        said.append(
            f"{seen.rows:,} of {seen.tested:,} test rows {are} that it was trained on: on rows that are all new it may "
            "be worse."
        )
    if seen.unlabelled:
        have = "1 row" if seen.unlabelled == 1 else f"{seen.unlabelled:,} of {seen.tested + seen.unlabelled:,} rows"
        has = "has" if seen.unlabelled == 1 else "have"
        said.append(f"{have} to test on {has} no target: nothing can be measured on such rows, and they are left out.")
    return said


def divided_words(groups: int) -> str:
    have = "1 group has" if groups == 1 else f"{groups:,} groups have"
    return f"{have} rows before and after the split by time: on groups that are all new the error may be larger."


def asked_words(asked: SelectOptions, profile: Profile) -> dict[str, Any]:
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


def race_words(race: Race, plan: RacePlan, rows: int, seconds: float, grouped: bool) -> dict[str, Any]:
    standings = Standings.of(race, Comparison(min(rows, race.examples), plan.folds, plan.passes))
    return {
        "by": race.task.measure,
        "how": plan.words,
        "examples": race.examples,
        "passes": plan.passes,
        "seconds": round(seconds, 3),
        "configurations": [configuration_words(place) for place in standings.places],
        "online_to_batch": drawn_alike_words(standings, plan, grouped),
    }


def drawn_alike_words(standings: Standings, plan: RacePlan, grouped: bool) -> dict[str, Any] | None:
    """What the winner's progressive error says of new rows, or why it says nothing; None for numbers.

    All configurations have their bounds at once, each with a share of what may fail: so has the one that wins.
    """
    winner = standings.places[0]
    if not standings.task.classes or not winner.rows or not math.isfinite(winner.finish.score):
        return None
    if plan.folds or plan.passes > 1:
        return {"refused": OF_FOLDS}
    if not plan.shuffled or grouped:
        return {"refused": OF_GROUPS if grouped else IN_TIME}
    counted = FirstPass(winner.rows, round(winner.finish.score * winner.rows))
    found = bounds_from(counted, (1.0 - CONFIDENCE) / len(standings)).document()
    assumption = f"{ASSUMPTION}, and the recipe, which looked at all of them, is taken for given"
    return {**found, "assumption": assumption, "confidence": CONFIDENCE, "configurations": len(standings)}


def configuration_words(place: Place) -> dict[str, Any]:
    one, finish = place.configuration, place.finish
    return {
        "name": one.name,
        "loss": name_of(one.loss, LOSSES) or type(one.loss).__name__,
        "rule": name_of(one.rule, RULES) or type(one.rule).__name__,
        "settings": one.parameters(),
        "score": finish.score if math.isfinite(finish.score) else None,
        "interval": None if place.interval is None else list(place.interval),
        "stopped_at": finish.stopped_at,
        "curve": [list(point) for point in finish.curve],
    }


def worst_words(asked: SelectOptions, choice: Choice, judged: Judged, parts: Parts) -> list[dict[str, Any]]:
    """The worst test rows, with their cells."""
    worst = judged.worst()
    cells = cells_of(asked.test_files or asked.files, parts.recipe.format, [each["row"] for each in worst])
    names = [name for name, role in choice.roles.items() if role in ("feature", "time", "group")]
    for each in worst:
        found = cells.get(each["row"], {})
        each["cells"] = {name: found[name] for name in names if name in found}
    return worst
