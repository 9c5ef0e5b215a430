"""What a selection says of itself: the parts of its result that are words and plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from onlinear.answers import Answers
from onlinear.profile.choice import Choice
from onlinear.profile.table import Profile
from onlinear.selection.intervals import wilson
from onlinear.selection.race import Finish, Race
from onlinear.workflow.asked import Asked
from onlinear.workflow.ledger import Ledger
from onlinear.workflow.measuring import worst_rows
from onlinear.workflow.parts import Parts
from onlinear.workflow.racing import How, curve_of
from onlinear.workflow.texts import cells_of

INTERRUPTED = "It was interrupted: what was done until then is here, and the rest is missing."


def used_words(times: int, ledger: Ledger) -> str:
    often = "once" if times == 1 else f"{times} times"
    return (
        f"These test rows have been measured on {often} before (see {ledger.path}): each further look makes the result "
        "more flattering than it is; get new rows for an honest test."
    )


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


def race_words(race: Race, finishes: list[Finish], how: How, rows: int, seconds: float) -> dict[str, Any]:
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
    judged = min(finish.stopped_at or rows, rows, race.examples)
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
