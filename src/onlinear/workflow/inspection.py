"""What is in a model: its recipe, its counters, and the weights that matter, by name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import BadModel
from onlinear.features.vocabulary import expected_names
from onlinear.files.trained import Trained
from onlinear.files.values import Unpacker, only_bad_models
from onlinear.learning.configuration import Settings
from onlinear.learning.learner import Learner
from onlinear.learning.model import Model
from onlinear.learning.predictor import Predictor
from onlinear.registry import LOSSES, RULES, SCHEDULES, name_of, rule_of
from onlinear.streams.packing import is_number
from onlinear.streams.recipe import Recipe

if TYPE_CHECKING:
    from onlinear.learning.dual.model import DualModel

#: what there is to say of each kernel
OF_KERNEL: dict[Any, tuple[str, ...]] = {
    "linear": ("name",),
    "poly": ("name", "degree", "gamma", "coef0"),
    "rbf": ("name", "gamma"),
}
#: what the parameters of a model call its settings
SETTINGS = {"l1": "l1", "l2": "l2", "average": "average", "forget": "forget", "fit_intercept": "intercept"}


def inspect_model(trained: Trained, most: int) -> dict[str, Any]:
    """All there is to say about a model, with so many of the largest weights of each output."""
    training = trained.training
    labels = training.snapshot().labels
    return {
        "onlinear": trained.header["onlinear"],
        "holds": trained.header["holds"],
        "learner": training.kind,
        "slim": training.slim,
        "unfinished": trained.unfinished,
        "task": "regression" if labels is None else "classification",
        "classes": labels,
        "figures": trained.header["figures"],
        "recipe": trained.recipe.parts()[0],
        **(linear_parts(trained, training, most) if isinstance(training, Model) else dual_parts(training)),
    }


def dual_parts(model: DualModel) -> dict[str, Any]:
    """What there is to say of a model that keeps examples."""
    machine = model.perceptrons
    return {
        "kernel": {name: getattr(model.kernel, name) for name in OF_KERNEL[model.kernel.name]},
        "vote": model.vote,
        "budget": model.budget,
        "kept": len({position for versions in machine.versions for position in versions.positions}),
        "columns": model.features,
        "largest_kernel": machine.radius2,
    }


def linear_parts(trained: Trained, training: Model, most: int) -> dict[str, Any]:
    """What there is to say of a model that has weights."""
    learner, predictor, recipe = training.learner, training.snapshot(), trained.recipe
    rule, settings = rule_and_settings(trained, learner)
    return {
        "loss": describe_by_name(learner.losses[0], LOSSES),
        "rule": describe_by_name(rule, RULES),
        "settings": settings._asdict(),
        "weights": int((predictor.weights != 0.0).any(axis=0).sum()),
        "norm": float(np.linalg.norm(predictor.weights)),
        "intercepts": predictor.intercepts.tolist(),
        "largest": largest(predictor, recipe, most),
        "collisions": collisions(predictor, recipe),
    }


def rule_and_settings(trained: Trained, learner: Learner) -> tuple[Any, Settings]:
    """What a model was trained with; a slim one has neither, but says so."""
    if not learner.slim:
        return learner.rules[0], learner.settings[0]
    with only_bad_models():
        said = {name: Unpacker({}).unpack(trained.header["parameters"][name]) for name in ("rule", *SETTINGS)}
        given: dict[str, Any] = {field: number(name, said[name]) for name, field in SETTINGS.items()}
        return rule_of(said["rule"]), Settings(**given)


def number(name: str, value: Any) -> float:
    if type(value) is not bool and not is_number(value):
        raise BadModel(f"the model's {name} is {value!r:.60}: it is not one that we wrote")
    return float(value) if name == "average" else value


def describe_by_name(thing: Any, names: dict[str, type]) -> dict[str, Any]:
    """A loss, a rule or a schedule: its name with its fields; a schedule that is a field, in the same way."""
    fields = {
        name: describe_by_name(value, SCHEDULES) if hasattr(value, "_asdict") else value
        for name, value in thing._asdict().items()
    }
    return {"name": name_of(thing, names) or type(thing).__name__, **fields}


def largest(predictor: Predictor, recipe: Recipe, most: int) -> list[dict[str, Any]]:
    """The largest weights of each output, by size: for two classes they speak for the second."""
    found = []
    several = predictor.labels is not None and len(predictor.labels) > 2
    for output, weights in enumerate(predictor.weights):
        order = np.argsort(-np.abs(weights), kind="stable")[:most]
        for column in order[weights[order] != 0.0].tolist():
            label = {"class": predictor.labels[output]} if several and predictor.labels else {}
            found.append(
                {**label, "names": recipe.names_at(column), "column": column, "weight": float(weights[column])}
            )
    return found


def collisions(predictor: Predictor, recipe: Recipe) -> dict[str, Any] | None:
    """How hashed names share cells: counted where names were kept, else what is to be expected."""
    if recipe.bits is None:
        return None
    if recipe.vocabulary is not None:
        found = recipe.vocabulary.collisions()
        worst = [{"cell": each.cell, "names": each.names, "counts": each.counts} for each in found.worst]
        return {"names": found.names, "cells": found.cells, "sharing": found.sharing, "worst": worst}
    occupied = int((predictor.weights != 0.0).any(axis=0).sum())
    names = expected_names(occupied, recipe.bits)
    return {"cells": occupied, "expected_names": round(names) if math.isfinite(names) else None}
