"""The options of ``train`` that choose another learner than a linear one, and what cannot be said together."""

from __future__ import annotations

import math
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from onlinear.cli.commands import fields
from onlinear.errors import Refused
from onlinear.features.random_features import MOST_SEED
from onlinear.learning.classes import Classes
from onlinear.streams.formats import common_format
from onlinear.streams.options import BITS, WITH_NAMES

LINEAR, VOTED, POCKET, KERNEL = "linear", "voted", "pocket", "kernel"
#: says how a linear learner steps, what it keeps, or where it starts
OF_LINEAR = (
    *("loss", "rule", "schedule", "l1", "l2", "average", "forget"),
    *("on_drift", "detector", "drift_delta", "start_at"),
)
#: says how names are hashed
OF_HASHES = ("bits", "keep_names")
#: whose each option of perceptrons in dual form is
OWNERS = {"kernel": (KERNEL,), "budget": (KERNEL,), "degree": (KERNEL,), "coef0": (KERNEL,), "vote": (VOTED, KERNEL)}
#: kernels that an option means something to
OF_KERNELS = {"degree": ("poly",), "coef0": ("poly",), "gamma": ("poly", "rbf")}


def is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_learner(context: click.Context) -> None:
    """Refuse options that do not go together, before anything is read."""
    wanted = context.params
    if wanted["resume"] is not None:  # which settles them all
        return
    check_seed(context)
    check_owners(context)
    check_stages(context)
    if wanted["learner"] == LINEAR:
        return
    for name in (*OF_LINEAR, *fields()):
        if name in wanted and is_given(context, name):
            raise Refused(
                f"{flag(name)} is of linear learners, and --learner {wanted['learner']} keeps examples instead of "
                "weights: leave one of them out"
            )
    if wanted["slim"]:
        check_slim(wanted["learner"])
    if wanted["task"] == "regression":
        raise Refused(f"--learner {wanted['learner']} tells classes apart, and numbers are asked for: leave one out")


def check_slim(learner: str) -> None:
    """Refuse to leave out of a model file what its answers need."""
    if learner != LINEAR:
        raise Refused(f"--slim is of linear learners, and --learner {learner} needs all that it keeps to answer")


def check_seed(context: click.Context) -> None:
    """Refuse a seed of nothing, or one that what it is of does not take."""
    wanted = context.params
    draws = wanted["vote"] == "random" or wanted["random_features"] is not None
    if is_given(context, "seed") and not (wanted["shuffle"] or draws):
        raise Refused(
            "--seed means nothing without --shuffle, --vote random or --random-features: say one, or leave it out"
        )
    if draws and wanted["seed"] > MOST_SEED:
        raise Refused(f"--seed is {wanted['seed']}: give at most {MOST_SEED} where something is drawn")


def check_owners(context: click.Context) -> None:
    """Refuse options of perceptrons in dual form beside a learner, or a kernel, that they mean nothing to."""
    wanted = context.params
    learner, kernel = wanted["learner"], wanted["kernel"] or "poly"
    for name, owners in OWNERS.items():
        if wanted[name] is not None and learner not in owners:
            raise Refused(
                f"{flag(name)} means nothing to --learner {learner}: it belongs to --learner {' and '.join(owners)}"
            )
    for name, kernels in OF_KERNELS.items():
        is_drawn = name == "gamma" and wanted["random_features"] is not None
        if wanted[name] is not None and not is_drawn and (learner != KERNEL or kernel not in kernels):
            also = ", and to --random-features" * (name == "gamma")
            raise Refused(f"{flag(name)} means nothing here: it belongs to the kernel {' and '.join(kernels)}{also}")
    if learner == KERNEL and is_given(context, "intercept"):
        raise Refused("--intercept says nothing of kernels: the kernel poly has one with --coef0 above 0, others none")
    for name, least in (("gamma", math.ulp(0.0)), ("coef0", 0.0), ("unique_features", math.ulp(0.0))):
        number = wanted[name]
        if number is not None and not least <= number < math.inf:
            raise Refused(f"{flag(name)} is {number:g}: give a number {'above 0' if least else 'from 0 on'}")


def check_stages(context: click.Context) -> None:
    """Refuse stages, and hashes of names, where they do not go with each other or with the learner."""
    wanted = context.params
    if wanted["learner"] != LINEAR or wanted["random_features"] is not None:
        whose = f"--learner {wanted['learner']}" if wanted["random_features"] is None else "--random-features"
        for name in OF_HASHES if wanted["names"] == "exact" else (*OF_HASHES, "names"):
            if is_given(context, name):
                raise Refused(
                    f"{flag(name)} hashes names, and {whose} takes rows with a column for each name: leave "
                    f"{flag(name)} out"
                )
    for name, learners in (("random_features", (LINEAR, VOTED, POCKET)), ("unique_features", (LINEAR,))):
        if wanted[name] is None:
            continue
        if wanted["learner"] not in learners:
            raise Refused(f"{flag(name)} means nothing to --learner {wanted['learner']}: leave one of them out")
        if wanted["start_at"] is not None:
            raise Refused(f"{flag(name)} is settled in {wanted['start_at']}, where it starts: leave it out")


def with_exact_names(wanted: dict[str, Any]) -> dict[str, Any]:
    """The options with a column for each name, where rows are kept, or multiplied, as wide as there are columns."""
    is_wide = wanted["learner"] != LINEAR or wanted["random_features"] is not None
    return wanted | {"names": "exact"} if is_wide and format_in(wanted) in WITH_NAMES else wanted


def format_in(wanted: dict[str, Any]) -> str:
    """The format of the files that were named."""
    name: str = wanted["format"] or common_format(wanted["files"])
    return name


def stages_in(wanted: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """What comes between reading and learning, by name, with what each is told."""
    found: dict[str, tuple[Any, ...]] = {}
    count, gamma = wanted["random_features"], wanted["gamma"]
    if count is not None:
        found["random_features"] = count, 1.0 if gamma is None else gamma, wanted["seed"]
    if wanted["unique_features"] is not None:
        found["own_features"] = wanted["unique_features"], columns_in(wanted) if count is None else count
    return found


def columns_in(wanted: dict[str, Any]) -> int:
    """How many columns rows may have: the features of rows stand behind them."""
    if format_in(wanted) in WITH_NAMES and wanted["names"] == "hashed":
        return 1 << (BITS if wanted["bits"] is None else wanted["bits"])
    if wanted["features"] is None:
        raise Refused("--unique-features stand behind all other columns: say how many there may be, with --features N")
    columns: int = wanted["features"]
    return columns


def new_dual_model(wanted: dict[str, Any], classes: Classes) -> Any:
    """A model in dual form that has learned nothing, for these classes."""
    from onlinear.learning.dual.kernel import Kernel, linear_kernel
    from onlinear.learning.dual.model import DualModel

    if wanted["budget"] is not None and classes.open:
        raise Refused("--budget is shared out among the classes, which have to be known: name them all with --classes")
    kernel = linear_kernel(wanted["intercept"])
    if wanted["learner"] == KERNEL:
        given = {name: wanted[name] for name in ("degree", "gamma", "coef0") if wanted[name] is not None}
        kernel = Kernel(wanted["kernel"] or "poly", **given)
    vote = "pocket" if wanted["learner"] == POCKET else wanted["vote"] or "vote"
    seed = int(np.random.RandomState(wanted["seed"] if vote == "random" else 0).randint(np.iinfo(np.int32).max))
    return DualModel.create(kernel, classes, kind=wanted["learner"], vote=vote, budget=wanted["budget"], seed=seed)
