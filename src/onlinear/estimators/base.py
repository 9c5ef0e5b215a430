"""What all estimators share: a learner made by a recipe, brought up to date when a parameter changes."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from onlinear.data.batch import Batch, Rows
from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadInput, Refused
from onlinear.estimators.checks import whole
from onlinear.estimators.figures import KeepsFigures
from onlinear.estimators.saving import Saves
from onlinear.estimators.shown import Shown, ShowsWeights
from onlinear.kernels.learn.bank import shape_of
from onlinear.kernels.learn.state import PULL
from onlinear.learning.learner import Learner, Settings
from onlinear.learning.one_against_rest import has_row_loss

#: parameters that were found fine before: scikit-learn takes half a millisecond to look
FINE: set[Any] = set()


class Recipe(NamedTuple):
    """What a learner is made of."""

    loss: Any
    rule: Any
    settings: Settings = Settings()


class Start(NamedTuple):
    """Weights to start from, as the user gave them."""

    weights: Any = None
    intercepts: Any = None


def recipe_of(learner: Learner) -> Any:
    """What a learner learns with; tuples of different classes can be equal, so their classes come along."""
    loss, rule = learner.losses[0], learner.rules[0]
    return shape_of(loss), loss, shape_of(rule), rule, learner.settings[0]


def steps_alike(learner: Learner, made: Learner) -> bool:
    """Whether both step at the same rows, and move all weights alike; how far may differ."""
    return recipe_of(learner)[:3] == recipe_of(made)[:3] and learner.settings[0] == made.settings[0]


def unchangeable(learner: Learner, made: Learner) -> str | None:
    """What of a new recipe does not go with what a learner has gathered, with both values; None if all does."""
    before, after = learner.rules[0], made.rules[0]
    stateful = type(before) is not type(after) or (made.kind == "matrix" and before != after)
    if made.kind != learner.kind or (learner.kind != "uniform" and stateful):
        return f"the rule (from {before} to {after}, which keeps other numbers beside the weights)"
    if has_row_loss(made) != has_row_loss(learner):
        return f"the loss (from {learner.losses[0]} to {made.losses[0]}: one of them sees all classes at once)"
    if made._averages() != learner._averages():
        return "averaging (average=...)"
    if made._sleeps() != learner._sleeps():
        return "whether there is an L1 penalty" if learner.kind == "uniform" else "whether there is a penalty"
    return None


class LinearEstimator(ShowsWeights, KeepsFigures, Saves, BaseEstimator):
    """A linear model that learns online. Subclasses say by :meth:`_recipe` what they learn with."""

    _learner: Learner | None = None
    _settled: Any = None  # the parameters the learner was last brought up to date with; None once one is set
    _rows_kind: type = DenseRows  # the kind of rows it was brought up to date for
    _path: Any = None  # of dicts into the learner
    _quick_features = -1  # features of a row that may take the short way; -1: none may
    _values: Callable[[Any], Any] = staticmethod(lambda estimator: ())
    _parameters: frozenset[str] = frozenset()  # their names

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        names = cls._get_param_names()
        cls._parameters = frozenset(names)
        if names:
            cls._values = staticmethod(attrgetter(*names))

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; if it is a parameter, whether by ``set_params`` or not, what is learned next follows it."""
        if name in self._parameters and "_whole" in vars(self):  # else nobody has called it yet
            with whole(self):  # a thread that learns would take the new value for the one it has gone by
                self._path = self._settled = None
                super().__setattr__(name, value)
        else:
            super().__setattr__(name, value)

    def _recipe(self, features: int, sparse: bool, growing: bool = False) -> Recipe:
        """Loss, rule and settings; ``growing`` for a stream whose features are not all known."""
        raise NotImplementedError

    def _check_parameters(self, streaming: bool) -> None:
        """Refuse parameters that make no sense; ``streaming`` for ``partial_fit`` and its kin."""
        values = self._values(self)
        try:
            if (type(self), values, tuple(map(type, values))) in FINE:
                return
            self._validate_params()
            FINE.add((type(self), values, tuple(map(type, values))))
        except TypeError:  # a dict, or another value that is not hashable
            self._validate_params()

    def __sklearn_is_fitted__(self) -> bool:
        return self._learner is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # -------------------------------------------------------------- the learner

    def _create(self, recipe: Recipe, features: int, outputs: int, sparse: bool, growing: bool = False) -> Learner:
        """A learner that has seen nothing, and everything that is kept beside it."""
        facing = SparseRows if sparse or growing else DenseRows  # a table that grows is one of dicts
        learner = Learner(
            recipe.loss, recipe.rule, features=features, outputs=outputs, settings=recipe.settings, facing=facing
        )
        self._shown = Shown()
        self._learner = learner  # last: another thread may be asking
        self._pass_starts: list[tuple[int, int]] = []
        self._growing = growing
        self._settle(sparse)
        return learner

    def _settle(self, sparse: bool) -> None:
        """Remember what the learner is up to date with."""
        self._settled = self._values(self)
        self._rows_kind = SparseRows if sparse else DenseRows
        named = hasattr(self, "feature_names_in_")
        self._quick_features = -1 if named else getattr(self, "n_features_in_", -1)

    def _refresh(self, sparse: bool) -> None:
        """Bring the learner up to date with the parameters and the kind of rows, before it learns more.

        Dicts are learned as dense rows are: scikit-learn, which slows the intercept down on sparse ones, has none.
        """
        learner = self._learner
        assert learner is not None
        if vars(self).get("converged_"):
            self.converged_ = False  # what comes now was not in the pass without an update
        if self._shown.by_hand:
            self._take_over()
        if learner.slim:  # it answers as it is
            return
        kind = SparseRows if sparse else DenseRows
        if self._settled is not None and kind is self._rows_kind:
            return
        self._change(learner, self._recipe(learner.features, sparse, self._growing))
        self._settle(sparse)

    def _change(self, learner: Learner, recipe: Recipe) -> None:
        """Let the learner go on with another recipe, from the next example on."""
        made = Learner(recipe.loss, recipe.rule, features=0, settings=recipe.settings)
        fixed = unchangeable(learner, made)
        if fixed is not None:
            raise Refused(f"{fixed} cannot change while a model learns: set it back, or call fit to start anew")
        if recipe_of(made) == recipe_of(learner):
            return
        with learner.lock:
            if learner.examples and not steps_alike(learner, made):
                learner.clock[:, PULL] = np.nan  # a mistake bound speaks of steps all taken for the same reason
            learner.losses, learner.rules, learner.settings = made.losses, made.rules, made.settings
        self._path = None  # it has copies of all three

    def _begin_at(self, start: Start, outputs: int, features: int) -> None:
        """Give the learner the weights to start from."""
        if start.weights is None and start.intercepts is None:
            return
        assert self._learner is not None
        weights = np.zeros((outputs, features))
        intercepts = np.zeros(outputs)
        if start.weights is not None:
            given = np.asarray(start.weights, dtype=np.float64)
            shapes = [(outputs, features)] + [(features,)] * (outputs == 1)
            if given.shape not in shapes:
                raise BadInput(
                    f"Provided coef_init does not match dataset: its shape is {given.shape}, "
                    f"and {(outputs, features)} is needed"
                )
            weights = given.reshape(outputs, features)
        if start.intercepts is not None:
            given = np.asarray(start.intercepts, dtype=np.float64)
            if given.shape not in [(outputs,)] + [()] * (outputs == 1):
                raise BadInput(
                    f"Provided intercept_init does not match dataset: its shape is {given.shape}, "
                    f"and {(outputs,)} is needed"
                )
            intercepts = given.reshape(outputs)
        self._learner.set_weights(weights, intercepts)

    def _refuse_slim(self) -> None:
        if self._learner is not None:
            self._learner.refuse_if_slim()

    def _refuse_dicts(self) -> None:
        if self._learner is not None and not hasattr(self, "n_features_in_"):
            raise BadInput(
                f"this {type(self).__name__} has learned from dicts: go on with learn_one or learn_many, "
                "or call fit to start anew"
            )

    def _learn_batch(self, rows: Rows, targets: Any, importance: np.ndarray, order: np.ndarray | None = None) -> None:
        assert self._learner is not None
        names = getattr(self, "feature_names_in_", None)
        self._learner.learn(Batch(rows, targets, importance, names), order)
