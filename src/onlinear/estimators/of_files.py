"""Estimators whose model was trained on files, with a recipe that does more than name features.

What it has learned can be looked at. Rows given here would go without the recipe, and be answered wrongly: they are
refused, with what to call instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

from sklearn.base import clone

from onlinear.errors import BadModel, NotSaved, Refused
from onlinear.estimators.online import OnlineClassifier, OnlineRegressor
from onlinear.streams.recipe import Recipe


class NeedsRecipe:
    """Refuses rows that have not been through the recipe."""

    _steps: list[str]  # of the recipe, in words

    def _refuse(self, *rows: Any, **options: Any) -> NoReturn:
        raise Refused(
            f"the model was trained on files, and its recipe {' and '.join(self._steps)}, which rows that are given "
            "here would go without: call onlinear.predict(path of the model, table), which takes files and frames"
        )

    def __sklearn_clone__(self) -> Any:
        """An estimator with the same parameters that has learned nothing, and of no files."""
        for own, guarded in GUARDED.items():
            if type(self) is guarded:
                return clone(own(**self.get_params(deep=False)))  # type: ignore[attr-defined]
        raise TypeError(type(self))

    fit = partial_fit = learn_one = learn_many = _refuse
    predict = predict_one = score = freeze = _refuse

    def save(self, *where: Any, **options: Any) -> NoReturn:
        raise NotSaved("the model was trained on files, and would be saved without its recipe: copy its file instead")


class ClassifierOfFiles(NeedsRecipe, OnlineClassifier):
    """A classifier to look at."""

    decision_function = predict_proba = predict_log_proba = predict_proba_one = NeedsRecipe._refuse


class RegressorOfFiles(NeedsRecipe, OnlineRegressor):
    """A regressor to look at."""


GUARDED: dict[type, type] = {OnlineClassifier: ClassifierOfFiles, OnlineRegressor: RegressorOfFiles}


def with_recipe(model: Any, recipe: Recipe) -> Any:
    """The model as it is, if features of its rows are only named by the recipe; else one that refuses rows."""
    steps = recipe.steps()
    if not steps:
        return model
    if type(model) not in GUARDED:
        raise BadModel(f"a {type(model).__name__} learns from no files: it is not one that we wrote")
    model.__class__ = GUARDED[type(model)]
    model._steps = steps
    return model
