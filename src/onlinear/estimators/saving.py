"""Estimators as model files: ``est.save(path)`` and ``onlinear.load(path)``.

A file holds what a pickle would: parameters, classes, names, counts and the learner, type for type and bit for bit.
What it has no form for is refused when it is saved. A class is never imported by the name that a file gives: it is one
of ours, out of a table, or one of those that the caller passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

import onlinear
from onlinear.errors import BadModel, NotSaved
from onlinear.estimators.checks import whole
from onlinear.estimators.shown import Shown
from onlinear.features.names import HashedNames
from onlinear.features.state import pack_texts
from onlinear.files.classes import pack_classes, unpack_classes
from onlinear.files.container import Arrays, Header, PathLike, read_model
from onlinear.files.figures import check_figures, checked_passes
from onlinear.files.file_model import FileModel
from onlinear.files.learners import FACINGS, learner_now, pack_learner, unpack_learner
from onlinear.files.names import names_now, pack_names, unpack_names, unpack_texts
from onlinear.files.trained import RECIPE_KEY, check_columns, check_names, restored_recipe, save_without_recipe
from onlinear.files.values import Packer, Unpacker, only_bad_models
from onlinear.learning.model import Model
from onlinear.learning.one_against_rest import has_outputs_for
from onlinear.streams.recipe import Recipe

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

#: those in dual form, whose files are others
IN_DUAL_FORM = frozenset({"KernelPerceptron", "VotedPerceptron"})

#: attributes that have a form of their own in a file
APART = frozenset(
    {"_learner", "_settled", "_shown", "_classes", "_names", "_rows_kind", "_data_type", "feature_names_in_"}
    | {"_settled_weights"}
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
#: made anew from the classes when the next row comes
REMEMBERED = "_row_targets"
#: what older files have beside the classes, from which it follows
FOLLOWS = frozenset({"_pair", "_turn"})

DATA_TYPES = ("float64", "float32")


class Saves:
    """``save`` for an estimator."""

    def save(self, path: PathLike, *, slim: bool = False) -> None:
        """Write the estimator to a file, whole or not at all; :func:`onlinear.load` brings it back.

        What is loaded goes on to the bit where this stands. With ``slim`` only what predictions need is kept, which
        is several times less for most rules; what is then loaded predicts to the same bits, but cannot learn on.
        Beside a thread that learns, it is the state after a whole example of a stream, a whole batch or a whole fit.
        What ``onlinear train`` has written says how to read files, and this does not: it takes no such file's place.

        >>> import tempfile
        >>> from onlinear import OnlineClassifier, load
        >>> spam = OnlineClassifier()
        >>> _ = spam.learn_one({"free": 1}, "spam"), spam.learn_one({"lunch": 1}, "ham")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spam.save(f"{folder}/spam.onlinear")
        ...     again = load(f"{folder}/spam.onlinear")
        >>> again.predict_one({"free": 1})
        'spam'
        """
        header, arrays = save_parts(self, slim=slim)
        save_without_recipe(path, header, arrays)


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
        if model._learner is None:
            raise BadModel("it has a recipe, but has learned nothing: it is not one that we wrote")
        check_columns(recipe, getattr(model._names, "bits", None), model._learner.features)
        check_names(recipe, header, arrays, model._learner)
        if not recipe.steps():
            return model
        if class_name(type(model))["holds"] not in ("OnlineClassifier", "OnlineRegressor"):
            raise BadModel(f"a {type(model).__name__} learns from no files: it is not one that we wrote")
        return FileModel(model_of(model, recipe), recipe)


def model_of(estimator: Any, recipe: Recipe) -> Model:
    """The model that was trained on files, of the estimator that has learned the same."""
    classes = estimator._classes if estimator._labelled else None
    dense = estimator._rows_kind is FACINGS["dense"]
    return Model.of(estimator._learner, classes, recipe.bits, dense, estimator._pass_starts)


# ------------------------------------------------------------------ to header and arrays


def save_parts(estimator: Any, *, slim: bool = False) -> tuple[Header, Arrays]:
    """Header and arrays of an estimator; ``write_model`` writes them, :func:`restore` takes them back.

    There is room for more beside them: a key "recipe" of the header, and arrays whose names begin with "recipe/".
    """
    packer = Packer()
    with whole(estimator):
        attributes = estimator.__getstate__()
        header: Header = {"onlinear": onlinear.__version__, **class_name(type(estimator))}
        learned = {} if estimator._learner is None else pack_learned(packer, estimator, slim)
        header |= {"figures": learned.pop("figures", {})}  # first what people look for
        header |= pack_parameters(packer, estimator, attributes)
        header |= pack_apart(packer, attributes)
        header |= learned
        header["state"] = pack_state(packer, type(estimator), attributes)
    return header, packer.arrays


def class_name(cls: type) -> dict[str, str]:
    """The name of a class of ours, or name and module of the user's own."""
    if cls.__name__ in OURS | IN_DUAL_FORM and cls is getattr(onlinear, cls.__name__):
        return {"holds": cls.__name__}
    return {"holds": cls.__qualname__, "module": cls.__module__}


def pack_learned(packer: Packer, estimator: Any, slim: bool) -> Header:
    """The learner with its names and figures, all as of the same whole example."""
    learner = estimator._learner
    with learner.lock, learner.busy:
        try:
            check_together(estimator)
        except BadModel as error:
            raise NotSaved(f"{error}; call fit to start anew, and save that") from None
        figures = figures_of(estimator)
        now = learner_now(learner, slim=slim, features=estimator._known_features()).copied()
        names = None if estimator._names is None else names_now(estimator._names)
    header = {"figures": {name: packer.pack(figure, name) for name, figure in figures.items()}}
    if names is not None:
        header["names"] = pack_names(packer, names)
    return {**header, "learner": pack_learner(packer, now)}


def figures_of(estimator: Any) -> dict[str, Any]:
    """What a reader of the header may want to see: nothing is restored from it. The caller is alone with it."""
    updates = estimator._count_updates()
    return {
        "examples": estimator._learner.examples,
        "mistakes": estimator._count_mistakes(),
        "updates": updates.tolist() if isinstance(updates, np.ndarray) else updates,
        "loss": estimator._mean_loss(),
    }


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


def pack_apart(packer: Packer, attributes: dict[str, Any]) -> Header:
    """What has a form of its own: classes, columns, the kind of rows, and weights that someone has assigned."""
    header: Header = {}
    if "_classes" in attributes:
        header["classes"] = pack_classes(packer, attributes["_classes"])
    if "feature_names_in_" in attributes:
        columns = attributes["feature_names_in_"].tolist()
        if not all(type(name) is str for name in columns):
            raise NotSaved("feature_names_in_ holds names that are no strings: fit on columns with plain names")
        pack_texts(packer.arrays, "columns", columns)
        header["columns"] = len(columns)
    if "_shown" in attributes:
        header["shown"] = pack_shown(packer, attributes["_shown"])
    if "_rows_kind" in attributes:
        header["rows"] = "dense" if attributes["_rows_kind"] is FACINGS["dense"] else "sparse"
    if "_data_type" in attributes:
        header["data"] = np.dtype(attributes["_data_type"]).name
    return header


def pack_shown(packer: Packer, shown: Shown) -> Header:
    """How the weights are shown; the weights themselves only if someone has assigned them."""
    if not shown.by_hand:
        return {"sparse": shown.sparse}
    return {name: packer.pack(value, "coef_") for name, value in shown.__getstate__().items()}


def pack_state(packer: Packer, cls: Any, attributes: dict[str, Any]) -> Header:
    """Every other attribute: ours, and what the user has put there."""
    elsewhere = {*cls._get_param_names(), *APART, REMEMBERED}
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


def check_together(estimator: Any) -> None:
    """Refuse parts of which one would lead the compiled loops out of another's bounds."""
    learner = estimator._learner
    columns = getattr(estimator, "n_features_in_", None)
    if columns is None:
        names = estimator._names  # exact ones may be more than the features for a moment: the table then grows
        hashed = isinstance(names, HashedNames)
        expect(names is not None and (not hashed or names.size == learner.features), "names", "features")
    else:
        expect(columns == learner.features, "columns", "features")
    expect(estimator._quick_features in (-1, columns), "columns", "features")
    classes = estimator._classes if estimator._labelled else None
    expect(has_outputs_for(classes, learner), "targets" if classes is None else "classes", "outputs")


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
        attributes |= unpack_state(unpacker, cls, header["state"])
        if "settled" in header:
            attributes["_settled"] = unpack_settled(unpacker, estimator, header["settled"])
            weights = getattr(estimator, "class_weight", None)
            if attributes["_settled"] is not None and isinstance(weights, dict):
                attributes["_settled_weights"] = dict(weights)
        if "names" in header:
            attributes["_names"] = unpack_names(unpacker, header["names"])
        if "learner" in header:
            attributes["_learner"] = unpack_learner(unpacker, header["learner"])
            check_figures(header)
            estimator._validate_params()
            check_complete(estimator)
            checked_passes(estimator._pass_starts)
            check_together(estimator)
        elif header["figures"]:
            raise BadModel("the model has figures of what it has learned, and has learned nothing")
    return estimator


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
    if not issubclass(cls, Saves):
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
    if "classes" in header:
        attributes["_classes"] = unpack_classes(unpacker, header["classes"])
        attributes[REMEMBERED] = {}
    if "columns" in header:
        attributes["feature_names_in_"] = np.array(unpack_texts(unpacker.arrays, "columns"), dtype=object)
    if "shown" in header:
        attributes["_shown"] = unpack_shown(unpacker, header["shown"])
    if "rows" in header:
        attributes["_rows_kind"] = FACINGS[header["rows"]]
    if "data" in header:
        if header["data"] not in DATA_TYPES:
            raise BadModel(f"the model has learned from data of {header['data']!r:.60}: it is not one that we wrote")
        attributes["_data_type"] = np.dtype(header["data"])
    return attributes


def unpack_shown(unpacker: Unpacker, header: Header) -> Shown:
    shown = Shown()
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


def check_complete(estimator: Any) -> None:
    needed = {"_growing", "_pass_starts", "_shown"} | ({"_classes", "_counts"} if estimator._labelled else set())
    missing = sorted(needed - vars(estimator).keys())
    if missing:
        raise BadModel(f"the model has learned, but has no {missing[0]}: it is not one that we wrote")
