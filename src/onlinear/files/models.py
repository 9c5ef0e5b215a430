"""A model as header and arrays of a model file: those of the estimator that has learned the same."""

from __future__ import annotations

from typing import Any

import onlinear
from onlinear.drift.adapting import Adapting
from onlinear.errors import BadModel
from onlinear.files.classes import pack_classes, unpack_classes
from onlinear.files.container import Arrays, Header
from onlinear.files.figures import checked_passes
from onlinear.files.learners import learner_now, pack_learner, unpack_learner
from onlinear.files.names import NamesNow, pack_names
from onlinear.files.values import OURS, Packer, Unpacker
from onlinear.learning.model import Model, trim
from onlinear.learning.one_against_rest import has_outputs_for


def pack_model(model: Model, names: list[str] | None = None, *, slim: bool = False) -> tuple[Header, Arrays]:
    """Header and arrays of a model, whose columns may have ``names``.

    The arrays may be the learner's own: they are to be written before it learns on.
    """
    packer = Packer()
    if names is not None:
        model.make_room(len(names))  # also for those of rows that were refused
    learner = model.learner
    with learner.lock, learner.busy:
        if model.bits is None:
            trim(learner, model.width)
        now = learner_now(learner, slim=slim, features=learner.features)
    now.numbers["version"] = learner.examples  # not how often it was called: blocks may be cut anywhere
    header: Header = {
        "onlinear": onlinear.__version__,
        "holds": "OnlineRegressor" if model.classes is None else "OnlineClassifier",
        "figures": figures_of(model),
        "parameters": pack_parameters(packer, model),
        "settled": {},
    }
    if model.classes is not None:
        header["classes"] = pack_classes(packer, model.classes)
    header |= {"shown": {"sparse": False}, "rows": "dense" if model.dense else "sparse"}
    if names is not None:
        header["names"] = pack_names(packer, NamesNow(0, list(names), None, []))
    else:
        header |= {"data": "float64"} if model.bits is None else {"names": {"kind": "hashed", "bits": model.bits}}
    header["learner"] = pack_learner(packer, now)
    header["state"] = pack_state(packer, model, names is not None or model.bits is not None)
    if model.adapting is not None:
        header["drift"] = model.adapting.state()
    return header, packer.arrays


def figures_of(model: Model) -> dict[str, Any]:
    """The counters of a model, over all passes."""
    updates, totals = model.learner.updates[model.answering].tolist(), model.totals()
    return {
        "examples": totals.examples,
        "mistakes": totals.mistakes,
        "updates": updates[0] if len(updates) == 1 else updates,
        "loss": totals.loss / totals.importance if totals.importance > 0.0 else 0.0,
    }


def pack_parameters(packer: Packer, model: Model) -> dict[str, Any]:
    """Those of the estimator that are not what they are anyway."""
    settings = model.learner.settings[0]
    return {
        "loss": pack_by_name(packer, model.learner.losses[0], "the loss"),
        "rule": pack_by_name(packer, model.learner.rules[0], "the rule"),
        "l1": settings.l1,
        "l2": settings.l2,
        "average": settings.average if settings.average > 1.0 else settings.average == 1.0,
        "forget": settings.forget,
        "fit_intercept": settings.intercept,
        "bits": model.bits,
    }


def pack_by_name(packer: Packer, thing: Any, what: str) -> Any:
    """A loss or rule of ours by its name, if it is as it comes; anything else in full."""
    kind = type(thing)
    return OURS[kind][1] if kind in OURS and thing == kind() else packer.pack(thing, what)


def pack_state(packer: Packer, model: Model, named: bool) -> dict[str, Any]:
    """What the estimator keeps beside its learner."""
    columns = {} if named else {"n_features_in_": model.learner.features}
    state: dict[str, Any] = {
        **columns,
        "_pass_starts": model.pass_starts,
        "_growing": named,
        "_quick_features": columns.get("n_features_in_", -1),
        "n_iter_": len(model.pass_starts),
    }
    if model.classes is not None:
        state |= {"_opened": model.opened, "_counts": {}}
    return {name: packer.pack(value, name) for name, value in state.items()}


def unpack_model(header: Header, arrays: Arrays) -> Model:
    """The model of which :func:`pack_model` made header and arrays."""
    if header.get("holds") not in ("OnlineClassifier", "OnlineRegressor") or "learner" not in header:
        raise BadModel("the model was not trained on a stream: go on with it in Python, with onlinear.load")
    unpacker = Unpacker(arrays)
    learner = unpack_learner(unpacker, header["learner"])
    classes = unpack_classes(unpacker, header["classes"]) if "classes" in header else None
    bits = header["names"].get("bits") if "names" in header else None
    state = {name: unpacker.unpack(value) for name, value in header["state"].items()}
    opened = state.get("_opened", False)
    if type(opened) is not bool:
        raise BadModel("the model's classes are neither open nor closed: it is not one that we wrote")
    if not has_outputs_for(classes, learner):
        raise BadModel("the model has outputs for other classes than its own: it is not one that we wrote")
    passes = checked_passes(state["_pass_starts"])
    model = Model.of(learner, classes, bits, header.get("rows") == "dense", passes)
    model.opened = opened
    seen = model.dense or learner.examples > 0  # before, there is room for columns, but no column
    model.width = learner.features if bits is None and seen else 0
    if "drift" in header:
        model.adapting = Adapting.from_state(header["drift"])
    return model
