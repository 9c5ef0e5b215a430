"""What a selection says of itself: the parts of its result that are words and plain numbers."""

from __future__ import annotations

import math
from typing import Any

from onlinear.registry import LOSSES, RULES, name_of
from onlinear.selection.race import Race
from onlinear.selection.standings import Comparison, Place, Standings
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.measuring import Judged
from onlinear.workflow.parts import Parts
from onlinear.workflow.profile.choice import Choice
from onlinear.workflow.profile.table import Profile
from onlinear.workflow.race_in_memory import RacePlan
from onlinear.workflow.seen import RepeatedRows
from onlinear.workflow.select_options import SelectOptions
from onlinear.workflow.texts import cells_of

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


def race_words(race: Race, plan: RacePlan, rows: int, seconds: float) -> dict[str, Any]:
    standings = Standings.of(race, Comparison(min(rows, race.examples), plan.folds, plan.passes))
    return {
        "by": race.task.measure,
        "how": plan.words,
        "examples": race.examples,
        "passes": plan.passes,
        "seconds": round(seconds, 3),
        "configurations": [configuration_words(place) for place in standings.places],
    }


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
