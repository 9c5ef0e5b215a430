"""Estimators as model files: ``est.save(path)`` and ``onlinear.load(path)``.

A file holds what a pickle would: parameters, classes, names, counts and the learner, type for type and bit for bit.
What it has no form for is refused when it is saved. A class is never imported by the name that a file gives: it is one
of ours, out of a table, or one of those that the caller passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import onlinear
from onlinear.errors import BadModel, NotSaved
from onlinear.estimators.attributes import ShownWeights
from onlinear.features.names import HashedNames
from onlinear.features.state import pack_texts
from onlinear.files.container import Arrays, Header, PathLike, read_model
from onlinear.files.figures import check_figures
from onlinear.files.file_model import FileModel
from onlinear.files.learners import LAYOUTS
from onlinear.files.models import EstimatorParts, ModelNow, model_now, pack_estimator, unpack_model
from onlinear.files.names import unpack_names, unpack_texts
from onlinear.files.trained import IN_DUAL_FORM, RECIPE_KEY, check_columns, check_names, restored_recipe
from onlinear.files.values import Packer, Unpacker, only_bad_models
from onlinear.learning.model import Model
from onlinear.learning.outputs import has_outputs_for
from onlinear.system.locks import estimator_lock

#: the estimators a file may name
OURS = frozenset(
    {
        "AROWClassifier",
        "AveragedPerceptron",
        "FTRLClassifier",
        "FTRLRegressor",
        "MarginPerceptron",
        "OnlineClassifier",
        "OnlineRegressor",
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
        "Perceptron",
        "SGDClassifier",
        "SGDRegressor",
        "SecondOrderPerceptron",
    }
)

#: attributes that have a form of their own in a file
APART = frozenset(
    {"_model", "_path", "_learning_path", "_lock", "_settled", "_settled_weights", "_shown", "_data_type"}
    | {"feature_names_in_"}
)
#: what the other attributes of ours are
KINDS: dict[str, tuple[type, ...]] = {
    "_counts": (dict,),
    "_growing": (bool,),
    "_opened": (bool,),
    "_pair": (list,),
    "_pass_starts": (list,),
    "_quick_features": (int,),
    "_turn": (float,),
    "bits": (int, type(None)),
    "converged_": (bool,),
    "n_features_in_": (int,),
    "n_iter_": (int,),
    "names_cap": (int, type(None)),
}
#: attributes in a file that are the model's
OF_MODEL = frozenset({"_counts", "_growing", "_opened", "_pass_starts"})
#: what older files have beside the classes, from which it follows
FOLLOWS = frozenset({"_pair", "_turn"})

DATA_TYPES = ("float64", "float32")


def load(path: PathLike, classes: Iterable[type] = ()) -> Any:
    """The estimator that was saved there.

    ``classes`` are losses, rules and schedules of your own that it was made with, and your own subclasses of our
    estimators: a file names them, and never brings or imports them. A file from a stranger can run no code.

    A model that was trained on files answers dicts, or arrays if it has learned from svmlight, and goes on learning
    from them. If its recipe scales numbers, cuts texts or the like, it is a :class:`onlinear.FileModel`, which applies
    the recipe to the files, frames and dicts that it is to predict.
    """
    header, arrays = read_model(path)
    with only_bad_models(path):
        model = restore(header, arrays, classes)
        if RECIPE_KEY not in header:
            return model
        recipe = restored_recipe(header, arrays)
        learned = model._model
        if learned is None:
            raise BadModel("it has a recipe, but has learned nothing: it is not one that we wrote")
        check_columns(recipe, learned.bits, learned.features)
        check_names(recipe, header, arrays, learned)
        if not recipe.steps():
            if learned.names is not None:
                learned.names.texts, learned.names.numbers = recipe.text_columns, recipe.number_columns
            return model
        if class_name(type(model))["holds"] not in {"OnlineClassifier", "OnlineRegressor", *IN_DUAL_FORM}:
            raise BadModel(f"a {type(model).__name__} learns from no files: it is not one that we wrote")
        return FileModel(learned, recipe)


# ------------------------------------------------------------------ to header and arrays


def save_parts(estimator: Any, *, slim: bool = False) -> tuple[Header, Arrays]:
    """Header and arrays of an estimator; ``write_model`` writes them, :func:`restore` takes them back.

    There is room for more beside them: a key "recipe" of the header, and arrays whose names begin with "recipe/".
    """
    packer = Packer()
    with estimator_lock(estimator):
        attributes, model = dict(vars(estimator)), estimator._model
        now = None if model is None else learned_now(estimator, model, slim)
        parts = EstimatorParts(
            class_name(type(estimator)),
            pack_parameters(packer, estimator, attributes),
            pack_apart(packer, attributes, model),
            pack_state(packer, type(estimator), attributes),
        )
    return pack_estimator(packer, parts, now), packer.arrays


def class_name(cls: type) -> dict[str, str]:
    """The name of a class of ours, or name and module of the user's own."""
    if cls.__name__ in OURS | IN_DUAL_FORM and cls is getattr(onlinear, cls.__name__):
        return {"holds": cls.__name__}
    return {"holds": cls.__qualname__, "module": cls.__module__}


def learned_now(estimator: Any, model: Model, slim: bool) -> ModelNow:
    """The estimator's model as of a whole example, which learns on while it is written."""
    with model.alone():
        try:
            check_together(estimator, model)
        except BadModel as error:
            raise NotSaved(f"{error}; call fit to start anew, and save that") from None
        now = model_now(model, slim=slim, features=model.known_features)
        return now._replace(learner=now.learner.copy())


def pack_parameters(packer: Packer, estimator: Any, attributes: dict[str, Any]) -> Header:
    """The parameters, and those that were others when the learner was last brought up to date."""
    names = estimator._get_param_names()
    for name in names:
        if name not in attributes:
            raise NotSaved(f"the estimator has no attribute {name}, but a parameter of that name: keep it as given")
    packed = {name: packer.pack(attributes[name], f"the parameter {name}") for name in names}
    settled = attributes.get("_settled")
    if attributes.get("_settled_weights") not in (None, attributes.get("class_weight")):
        settled = None  # a dict that was changed within
    if settled is None:
        return {"parameters": packed, **({"settled": None} if "_settled" in attributes else {})}
    values = settled if len(names) > 1 else (settled,)
    pairs = zip(names, values, strict=True)
    changed = {name: value for name, value in pairs if not is_same(value, attributes[name])}
    others = {name: packer.pack(value, f"the parameter {name}") for name, value in changed.items()}
    return {"parameters": packed, "settled": others}


def pack_apart(packer: Packer, attributes: dict[str, Any], model: Model | None) -> Header:
    """What has a form of its own: columns, the kind of rows, and weights that someone has assigned."""
    header: Header = {}
    if "feature_names_in_" in attributes:
        columns = attributes["feature_names_in_"].tolist()
        if not all(type(name) is str for name in columns):
            raise NotSaved("feature_names_in_ holds names that are no strings: fit on columns with plain names")
        pack_texts(packer.arrays, "columns", columns)
        header["columns"] = len(columns)
    if "_shown" in attributes:
        header["shown"] = pack_shown(packer, attributes["_shown"])
    if model is not None:
        header["rows"] = "dense" if model.dense else "sparse"
    if "_data_type" in attributes:
        header["data"] = np.dtype(attributes["_data_type"]).name
    return header


def pack_shown(packer: Packer, shown: ShownWeights) -> Header:
    """How the weights are shown; the weights themselves only if someone has assigned them."""
    if not shown.by_hand:
        return {"sparse": shown.sparse}
    return {name: packer.pack(value, "coef_") for name, value in shown.__getstate__().items()}


def pack_state(packer: Packer, cls: Any, attributes: dict[str, Any]) -> Header:
    """Every other attribute: ours, and what the user has put there."""
    elsewhere = {*cls._get_param_names(), *APART}
    state = {name: value for name, value in attributes.items() if name not in elsewhere}
    for name, value in state.items():
        if not is_attribute(cls, name, value):
            raise NotSaved(f"the attribute {name} is {value!r:.60}, which has no form here: set it back, or delete it")
    return {name: packer.pack(value, f"the attribute {name}") for name, value in state.items()}


def is_attribute(cls: type, name: str, value: Any) -> bool:
    """Whether an attribute is what it is with us; one of the user's own may be anything, but hide nothing."""
    if name in KINDS:
        return type(value) in KINDS[name]
    return name.isidentifier() and not hasattr(cls, name)


def check_together(estimator: Any, model: Model) -> None:
    """Refuse parts of which one would lead the compiled loops out of another's bounds."""
    columns, features = getattr(estimator, "n_features_in_", None), model.learner.features
    named = getattr(estimator, "feature_names_in_", None)
    expect(named is None or len(named) == columns, "names", "columns")
    if columns is None:
        names = model.names  # exact ones may be more than the features for a moment: the table then grows
        hashed = isinstance(names, HashedNames)
        expect(names is not None and (not hashed or names.size == features), "names", "features")
    else:
        expect(columns == features, "columns", "features")
    expect(estimator._quick_features in (-1, columns), "columns", "features")
    classes = model.classes if estimator._labelled else None
    expect(has_outputs_for(classes, model.learner), "targets" if classes is None else "classes", "outputs")


def expect(fits: bool, one: str, other: str) -> None:
    if not fits:
        raise BadModel(f"the estimator's {one} do not fit its {other}")


# ------------------------------------------------------------------ and back


def restore(header: Header, arrays: Arrays, classes: Iterable[type] = ()) -> Any:
    """The estimator of which :func:`save_parts` made header and arrays; the arrays are its own from now on."""
    unpacker = Unpacker(arrays, classes)
    with only_bad_models():
        cls = class_named(unpacker, header)
        if hasattr(cls, "_restored"):
            return cls._restored(unpacker, header)
        estimator = unpack_estimator(unpacker, cls, header["parameters"])
        attributes = vars(estimator)
        attributes |= unpack_apart(unpacker, header)
        state = unpack_state(unpacker, cls, header["state"])
        model = unpack_learned(unpacker, header, state, estimator) if "learner" in header else None
        attributes |= {name: value for name, value in state.items() if name not in OF_MODEL}
        if "settled" in header:
            attributes["_settled"] = unpack_settled(unpacker, estimator, header["settled"])
            weights = getattr(estimator, "class_weight", None)
            if attributes["_settled"] is not None and isinstance(weights, dict):
                attributes["_settled_weights"] = dict(weights)
        if model is not None:
            check_figures(header)
            estimator._validate_params()
            check_together(estimator, model)
            attributes["_model"] = model
        elif header["figures"]:
            raise BadModel("the model has figures of what it has learned, and has learned nothing")
    return estimator


def unpack_learned(unpacker: Unpacker, header: Header, state: dict[str, Any], estimator: Any) -> Model:
    """The estimator's model; its kind of targets is that of the class."""
    names = unpack_names(unpacker, header["names"]) if "names" in header else None
    if "shown" not in header or ("classes" in header) != estimator._labelled:
        raise BadModel("the model has learned, but shows no weights, or other targets: it is not one that we wrote")
    model = unpack_model(unpacker, header, state, names)
    model.column_names = vars(estimator).get("feature_names_in_")
    model.class_weights.given = getattr(estimator, "class_weight", None)
    model.class_weights.for_outputs = getattr(estimator, "_weighs_outputs", False)
    return model


def class_named(unpacker: Unpacker, header: Header) -> Any:
    """The estimator's class: one of ours, or one of those that the caller gave."""
    name = header.get("holds")
    if "module" not in header:
        if name == "Learner":
            raise BadModel("the model is a learner alone: load it with onlinear.files.load_learner")
        if name not in OURS | IN_DUAL_FORM:
            raise BadModel(
                f"the model is a {name!r:.60}, which this version of onlinear does not have: install another"
            )
        return getattr(onlinear, name)
    cls = unpacker.find(header["module"], name)
    if not issubclass(cls, BaseEstimator) or not hasattr(cls, "save"):
        raise BadModel(f"the model is of your own class {cls.__name__}, and the one given is no estimator of ours")
    return cls


def unpack_estimator(unpacker: Unpacker, cls: Any, parameters: Header) -> Any:
    unknown = sorted(parameters.keys() - set(cls._get_param_names()))
    if unknown:
        raise BadModel(
            f"the model has a parameter {unknown[0]!r:.60} that {cls.__name__} does not have: install another"
        )
    return cls(**{name: unpacker.unpack(value) for name, value in parameters.items()})


def is_same(one: Any, other: Any) -> bool:
    """Whether a parameter is what it was; dicts are copied when a state is taken."""
    return one is other or (type(one) is dict and one == other)


def unpack_settled(unpacker: Unpacker, estimator: Any, changed: Header | None) -> Any:
    """The parameters at the time, if they are those of now; None if one has changed since, whatever it was."""
    if changed is None:
        return None
    for name in estimator._get_param_names():
        if name in changed:
            unpacker.unpack(changed[name])  # which refuses what nobody wrote
    return None if changed else estimator._values(estimator)


def unpack_apart(unpacker: Unpacker, header: Header) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if "columns" in header:
        attributes["feature_names_in_"] = np.array(unpack_texts(unpacker.arrays, "columns"), dtype=object)
    if "shown" in header:
        attributes["_shown"] = unpack_shown(unpacker, header["shown"])
    if header.get("rows", "dense") not in LAYOUTS:
        raise BadModel(f"the model has learned from {header['rows']!r:.60} rows: it is not one that we wrote")
    if "data" in header:
        if header["data"] not in DATA_TYPES:
            raise BadModel(f"the model has learned from data of {header['data']!r:.60}: it is not one that we wrote")
        attributes["_data_type"] = np.dtype(header["data"])
    return attributes


def unpack_shown(unpacker: Unpacker, header: Header) -> ShownWeights:
    shown = ShownWeights()
    kinds = {name: type(value) for name, value in shown.__getstate__().items()}
    vars(shown).update({name: unpacker.unpack(value) for name, value in header.items()})
    fine = {name: type(value) for name, value in shown.__getstate__().items()} == kinds
    fine = fine and set(header) == (set(kinds) if shown.by_hand else {"sparse"})
    if not fine or shown.weights.ndim != 2 or shown.intercepts.shape != shown.weights.shape[:1]:
        raise BadModel(f"the model's coef_ is {header!r:.80}: it is not one that we wrote")
    return shown


def unpack_state(unpacker: Unpacker, cls: type, state: Header) -> dict[str, Any]:
    attributes = {name: unpacker.unpack(value) for name, value in state.items()}
    for name, value in attributes.items():
        if name in APART or not is_attribute(cls, name, value):
            raise BadModel(f"the model has an attribute {name!r:.60} of {value!r:.60}: it is not one that we wrote")
    return {name: value for name, value in attributes.items() if name not in FOLLOWS}
