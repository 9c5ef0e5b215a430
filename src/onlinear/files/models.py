"""A model as header and arrays of a model file: the same for one in an estimator and for one that learned from files.

A file names an estimator. What is the model's own (its learner, classes and names, figures and passes) is packed here,
and unpacked, in one way; what belongs to the estimator around it comes along as :class:`EstimatorParts`. A model that
has learned from files is saved as the ``OnlineClassifier`` or ``OnlineRegressor`` that has learned the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import onlinear
from onlinear.drift.adapting import Adapting
from onlinear.errors import BadModel
from onlinear.features.names import HashedNames, Names
from onlinear.files.classes import pack_classes, unpack_classes
from onlinear.files.container import Arrays, Header
from onlinear.files.figures import checked_passes, is_count
from onlinear.files.learners import LearnerNow, learner_now, pack_learner, unpack_learner
from onlinear.files.names import NamesNow, names_now, pack_names
from onlinear.files.values import OURS, Packer, Unpacker
from onlinear.learning.classes import Classes
from onlinear.learning.configuration import settings_as_parameters
from onlinear.learning.growth import trim
from onlinear.learning.model import Model
from onlinear.learning.outputs import has_outputs_for


class ModelNow(NamedTuple):
    """A model's state as of a whole example."""

    figures: dict[str, Any]
    classes: Classes | None
    names: NamesNow | None
    learner: LearnerNow
    state: dict[str, Any]


class EstimatorParts(NamedTuple):
    """What a file says of the estimator around a model, packed."""

    holds: Header  # its class
    parameters: Header  # with those that were others when the model was last brought up to date
    apart: Header  # what has a form of its own: the names of columns, what is shown as coef_, the kinds of rows
    state: Header  # its other attributes


def model_now(model: Model, *, slim: bool = False, features: int | None = None) -> ModelNow:
    """What there is to save of a model, for a caller who is alone with it. The learner's arrays are its own."""
    state = {"_pass_starts": list(model.pass_starts), "_growing": model.columns is None}
    if model.classes is not None:
        state |= {"_opened": model.began_open, "_counts": dict(model.class_weights.counts)}
    figures = {
        "examples": model.examples,
        "mistakes": model.mistakes,
        "updates": model.updates,
        "loss": model.loss,
    }
    classes = None if model.classes is None else model.classes.copy()
    names = None if model.names is None else names_now(model.names)
    return ModelNow(figures, classes, names, learner_now(model.learner, slim=slim, features=features), state)


def pack_estimator(packer: Packer, parts: EstimatorParts, now: ModelNow | None) -> Header:
    """The header of an estimator with its model, if it has learned anything."""
    header: Header = {"onlinear": onlinear.__version__, **parts.holds, "figures": {}}
    if now is None:
        return {**header, **parts.parameters, **parts.apart, "state": parts.state}
    header["figures"] = {name: packer.pack(figure, name) for name, figure in now.figures.items()}
    header |= parts.parameters
    if now.classes is not None:
        header["classes"] = pack_classes(packer, now.classes)
    header |= parts.apart
    if now.names is not None:
        header["names"] = pack_names(packer, now.names)
    header["learner"] = pack_learner(packer, now.learner)
    header["state"] = parts.state | {name: packer.pack(value, name) for name, value in now.state.items()}
    return header


def unpack_model(unpacker: Unpacker, header: Header, state: dict[str, Any], names: Names | None) -> Model:
    """The model of a header with a learner, and with ``names`` for dicts.

    ``state`` holds the attributes that were packed, of which it takes its own.
    """
    learner = unpack_learner(unpacker, header["learner"])
    classes = unpack_classes(unpacker, header["classes"]) if "classes" in header else None
    needed = {"_pass_starts", "_growing"} | (set() if classes is None else {"_counts"})
    if needed - state.keys():
        raise BadModel(f"the model has learned, but has no {min(needed - state.keys())}: it is not one that we wrote")
    if not has_outputs_for(classes, learner):
        raise BadModel("the model has outputs for other classes than its own: it is not one that we wrote")
    passes, opened = checked_passes(state.pop("_pass_starts")), state.pop("_opened", False)
    counts = state.pop("_counts", {})
    if type(counts) is not dict or not all(map(is_count, counts.values())):
        raise BadModel(f"the model has counted its classes as {counts!r:.60}: it is not one that we wrote")
    if type(opened) is not bool:
        raise BadModel("the model's classes are neither open nor closed: it is not one that we wrote")
    state.pop("_growing")  # which follows
    columns = state.get("n_features_in_")
    bits = names.bits if isinstance(names, HashedNames) else None
    is_dense = header.get("rows", "dense") == "dense"
    model = Model(learner, classes, bits, columns=columns, dense=is_dense, pass_starts=passes)
    model.names, model.began_open, model.class_weights.counts = names, opened, counts
    return model


# ------------------------------------------------------------------ models that learned from files


def pack_model(model: Model, names: list[str] | None = None, *, slim: bool = False) -> tuple[Header, Arrays]:
    """Header and arrays of a model that has learned from files, whose columns may have ``names``.

    The arrays may be the learner's own: they are to be written before it learns on.
    """
    packer = Packer()
    if names is not None:
        model.make_room(len(names))  # also for those of rows that were refused
    with model.alone() as learner:
        if model.bits is None:
            trim(learner, model.width)
        now = model_now(model, slim=slim, features=learner.features)
    now.learner.numbers["version"] = learner.examples  # not how often it was called: blocks may be cut anywhere
    named = names is not None or model.bits is not None
    now.state["_growing"] = named
    if names is not None:
        now = now._replace(names=NamesNow(0, list(names), None, []))
    elif model.bits is not None:
        now = now._replace(names=NamesNow(model.bits, [], None, []))
    columns = {} if named else {"n_features_in_": learner.features}
    state = {**columns, "_quick_features": columns.get("n_features_in_", -1), "n_iter_": len(model.pass_starts)}
    parts = EstimatorParts(
        {"holds": "OnlineRegressor" if model.classes is None else "OnlineClassifier"},
        {"parameters": pack_parameters(packer, model), "settled": {}},
        {"shown": {"sparse": False}, "rows": "dense" if model.dense else "sparse"}
        | ({} if named else {"data": "float64"}),
        {name: packer.pack(value, name) for name, value in state.items()},
    )
    header = pack_estimator(packer, parts, now)
    if model.adapting is not None:
        header["drift"] = model.adapting.state()
    return header, packer.arrays


def pack_parameters(packer: Packer, model: Model) -> dict[str, Any]:
    """Those of the estimator that are not what they are anyway."""
    return {
        "loss": pack_by_name(packer, model.learner.losses[0], "the loss"),
        "rule": pack_by_name(packer, model.learner.rules[0], "the rule"),
        **settings_as_parameters(model.learner.settings[0]),
        "bits": model.bits,
    }


def pack_by_name(packer: Packer, thing: Any, what: str) -> Any:
    """A loss or rule of ours by its name, if it is as it comes; anything else in full."""
    kind = type(thing)
    return OURS[kind][1] if kind in OURS and thing == kind() else packer.pack(thing, what)


def unpack_from_files(header: Header, arrays: Arrays) -> Model:
    """The model of which :func:`pack_model` made header and arrays."""
    if header.get("holds") not in ("OnlineClassifier", "OnlineRegressor") or "learner" not in header:
        raise BadModel("the model was not trained on a stream: go on with it in Python, with onlinear.load")
    unpacker = Unpacker(arrays)
    state = {name: unpacker.unpack(value) for name, value in header["state"].items()}
    bits = header["names"].get("bits") if "names" in header else None
    model = unpack_model(unpacker, header, state, None)
    model.bits, model.columns = bits, None  # without bits the table grows with the highest column there is
    seen = model.dense or model.examples > 0  # before, there is room for columns, but no column
    model.width = model.learner.features if model.bits is None and seen else 0
    if "drift" in header:
        model.adapting = Adapting.from_state(header["drift"])
    return model
