"""Model files of trainings: the estimator that has learned the same, the recipe, and how far a run has come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from onlinear.errors import BadModel, NotSaved, Refused
from onlinear.files.container import Arrays, Header, PathLike, header_of, read_model, write_model
from onlinear.files.figures import check_figures
from onlinear.files.models import pack_model, unpack_from_files
from onlinear.files.values import only_bad_models
from onlinear.learning.model import Model
from onlinear.streams.recipe import Recipe, below, under

if TYPE_CHECKING:
    from onlinear.learning.dual.model import DualModel

#: what may have learned from files
AnyModel: TypeAlias = "Model | DualModel"
#: the estimators whose models are in dual form
IN_DUAL_FORM = frozenset({"KernelPerceptron", "PocketPerceptron", "VotedPerceptron"})
#: the recipe in the header; its arrays have names that begin so
RECIPE_KEY, RECIPE = "recipe", "recipe/"
#: in the header of a model that was selected: the files it was selected from, as they lie from it
ORIGIN_KEY = "selected_from"


class Trained(NamedTuple):
    """What a model file holds: ``unfinished`` says how to go on with a run that stopped on its way."""

    training: AnyModel
    recipe: Recipe
    unfinished: dict[str, Any] | None = None
    header: Header = {}

    @property
    def linear(self) -> Model:
        """The model, if it has weights."""
        if not isinstance(self.training, Model):
            raise Refused(
                f"a {self.training.kind} perceptron keeps examples, and has no weights: take a linear learner"
            )
        return self.training


def save(path: PathLike, trained: Trained, *, slim: bool = False, origin: list[str] | None = None) -> None:
    """Write a model file, whole or not at all; ``origin`` are the files that it was selected from."""
    header, arrays = pack_training(trained, slim)
    recipe, recipe_arrays = trained.recipe.parts()
    if trained.unfinished is not None:
        header["unfinished"] = trained.unfinished
    if origin is not None:
        header[ORIGIN_KEY] = origin
    header[RECIPE_KEY] = recipe
    write_model(path, header, arrays | under(RECIPE, recipe_arrays))


def pack_training(trained: Trained, slim: bool) -> tuple[Header, Arrays]:
    """Header and arrays of a model; one in dual form needs all it has to answer."""
    names = trained.recipe.exact_names
    if isinstance(trained.training, Model):
        return pack_model(trained.training, names, slim=slim)
    from onlinear.files.dual import pack_dual_from_files

    return pack_dual_from_files(trained.training, names, unfinished=trained.unfinished is not None)


def unpack_training(header: Header, arrays: Arrays) -> AnyModel:
    """The model of which :func:`pack_training` made header and arrays."""
    if header.get("holds") not in IN_DUAL_FORM or "perceptrons" not in header:
        return unpack_from_files(header, arrays)
    from onlinear.files.dual import unpack_dual_from_files  # and with it SciPy

    return unpack_dual_from_files(header, arrays)


def save_without_recipe(path: PathLike, header: Header, arrays: Arrays) -> None:
    """Write the model file of an estimator; but never over one with a recipe, of which nothing would be left."""
    try:
        there = header_of(path)
    except BadModel:
        there = {}
    if RECIPE_KEY in there:
        raise NotSaved(
            f"{path} was not saved: a model is there that says how to read files, which an estimator does not: "
            "save under another name, or remove it first"
        )
    write_model(path, header, arrays)


def open_model(path: PathLike) -> Trained:
    """What :func:`save` wrote; a model that was made otherwise is refused."""
    header, arrays = read_model(path)
    with only_bad_models(path):
        if RECIPE_KEY not in header:
            raise BadModel(
                "it was not trained on files, or saved anew in Python, and does not say how to read them: "
                "use onlinear.load in Python"
            )
        check_figures(header)
        if type(header["figures"]["loss"]) is dict:
            raise BadModel("its loss is no finite number: it is not one that we wrote")
        recipe = restored_recipe(header, arrays)
        training = unpack_training(header, arrays)
        check_columns(recipe, training.bits, training.features)
        check_names(recipe, header, arrays, training)
        return Trained(training, recipe, header.get("unfinished"), header)


def origin_in(path: PathLike) -> Any:
    """What the model at a path says that it was selected from; None if there is no such model."""
    try:
        return read_model(path)[0].get(ORIGIN_KEY)
    except BadModel:
        return None


def restored_recipe(header: Header, arrays: Arrays) -> Recipe:
    """The recipe of a model file, if it is one for the model."""
    return Recipe.from_header(header[RECIPE_KEY], below(RECIPE, arrays))


def check_columns(recipe: Recipe, bits: int | None, features: int) -> None:
    """Refuse a table that has other columns than the recipe gives to names."""
    if recipe.bits != bits or (bits is not None and features != 1 << bits):
        named = "a column for each name" if recipe.bits is None else f"names hashed to {recipe.bits} bits"
        raise BadModel(f"its recipe has {named}, and its table {features} columns: it is not one that we wrote")


def check_names(recipe: Recipe, header: Header, arrays: Arrays, model: AnyModel) -> None:
    """Refuse names for dicts that are not the recipe's, or not as many as the table has columns.

    They are in the file twice: for rows of files, which the recipe names, and for dicts. Before the first example there
    is room for more columns.
    """
    names = recipe.exact_names
    if names is None:
        fine = ("names" in header) == (recipe.bits is not None)
    else:
        parts = [(arrays[f"names/{part}"], arrays[f"{RECIPE}vocabulary/names/{part}"]) for part in ("text", "ends")]
        fine = header.get("names", {}).get("kind") == "exact" and "names/plain" not in arrays
        fine = fine and (len(names) == model.features or (len(names) < model.features and model.examples == 0))
        fine = fine and all(np.array_equal(one, other) for one, other in parts)
    if not fine:
        raise BadModel("its recipe has other names than its table: it is not one that we wrote")
