"""The options of ``train`` that choose another learner than a linear one, and what cannot be said together."""

from __future__ import annotations

import math
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

from onlinear.cli.commands import fields
from onlinear.errors import Refused
from onlinear.learning.classes import Classes
from onlinear.streams.formats import common_format
from onlinear.streams.options import WITH_NAMES

LINEAR, VOTED, POCKET, KERNEL = "linear", "voted", "pocket", "kernel"
#: says how a linear learner steps, what it keeps, or where it starts
OF_LINEAR = (
    *("loss", "rule", "schedule", "l1", "l2", "average", "forget"),
    *("on_drift", "detector", "drift_delta", "start_at", "slim"),
)
#: says how names are hashed
OF_HASHES = ("bits", "keep_names")
#: whose each option of perceptrons in dual form is
OWNERS = {"kernel": (KERNEL,), "budget": (KERNEL,), "degree": (KERNEL,), "coef0": (KERNEL,), "vote": (VOTED, KERNEL)}
#: kernels that an option means something to
OF_KERNELS = {"degree": ("poly",), "coef0": ("poly",), "gamma": ("poly", "rbf")}
#: seeds that NumPy's generator takes
MOST_SEED = (1 << 32) - 1


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
    check_owned(context)
    if wanted["learner"] == LINEAR:
        return
    for name in (*OF_LINEAR, *fields()):
        if name in wanted and is_given(context, name):
            raise Refused(
                f"{flag(name)} is of linear learners, and --learner {wanted['learner']} keeps examples instead of "
                "weights: leave one of them out"
            )
    for name in OF_HASHES if wanted["names"] == "exact" else (*OF_HASHES, "names"):
        if is_given(context, name):
            raise Refused(
                f"{flag(name)} hashes names, and --learner {wanted['learner']} keeps examples with a column for each "
                f"name: leave {flag(name)} out"
            )
    if wanted["task"] == "regression":
        raise Refused(f"--learner {wanted['learner']} tells classes apart, and numbers are asked for: leave one out")


def check_seed(context: click.Context) -> None:
    """Refuse a seed of nothing, or one that what it is of does not take."""
    wanted = context.params
    draws = wanted["vote"] == "random"
    if is_given(context, "seed") and not (wanted["shuffle"] or draws):
        raise Refused("--seed means nothing without --shuffle or --vote random: say one of them, or leave it out")
    if draws and wanted["seed"] > MOST_SEED:
        raise Refused(f"--seed is {wanted['seed']}: give at most {MOST_SEED} where something is drawn")


def check_owned(context: click.Context) -> None:
    """Refuse options of perceptrons in dual form beside a learner, or a kernel, that they mean nothing to."""
    wanted = context.params
    learner, kernel = wanted["learner"], wanted["kernel"] or "poly"
    for name, owners in OWNERS.items():
        if wanted[name] is not None and learner not in owners:
            raise Refused(
                f"{flag(name)} means nothing to --learner {learner}: it belongs to --learner {' and '.join(owners)}"
            )
    for name, kernels in OF_KERNELS.items():
        if wanted[name] is not None and (learner != KERNEL or kernel not in kernels):
            raise Refused(f"{flag(name)} means nothing here: it belongs to the kernel {' and '.join(kernels)}")
    if learner == KERNEL and is_given(context, "intercept"):
        raise Refused("--intercept says nothing of kernels: the kernel poly has one with --coef0 above 0, others none")
    for name, least in (("gamma", math.ulp(0.0)), ("coef0", 0.0)):
        number = wanted[name]
        if number is not None and not least <= number < math.inf:
            raise Refused(f"{flag(name)} is {number:g}: give a number {'above 0' if least else 'from 0 on'}")


def with_exact_names(wanted: dict[str, Any]) -> dict[str, Any]:
    """The options with a column for each name, where rows are kept, or multiplied, as wide as there are columns."""
    if wanted["learner"] == LINEAR:
        return wanted
    name = wanted["format"] or common_format(wanted["files"])
    return wanted | {"names": "exact"} if name in WITH_NAMES else wanted


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
    return DualModel(kernel, classes, kind=wanted["learner"], vote=vote, budget=wanted["budget"], seed=seed)
