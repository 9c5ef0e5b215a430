"""LinearEstimator: what classifiers and regressors share. They hold a model, and translate.

Parameters become a configuration (loss, rule and settings), X and y become rows and labels; everything that is
learned, and all there is to say of it, is in the :class:`onlinear.learning.model.Model`. A parameter that is set while
a model learns is noticed, and the model brought up to date before it learns more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from onlinear.data.rows import DenseRows, SparseRows
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.estimators.attributes import FittedAttributes, ShownWeights
from onlinear.features.names import ExactNames, HashedNames
from onlinear.files.container import PathLike
from onlinear.files.trained import save_without_recipe
from onlinear.learning.classes import Classes
from onlinear.learning.configuration import Configuration
from onlinear.learning.learner import resolve_configurations
from onlinear.learning.model import Model
from onlinear.learning.outputs import is_even
from onlinear.learning.restarts import begin_at, restart_at
from onlinear.system.interrupts import uninterrupted
from onlinear.system.locks import estimator_lock

#: parameters that were found fine before: scikit-learn takes half a millisecond to look
FINE: set[Any] = set()
#: features the table of a growing stream has room for at first
FIRST_FEATURES = 1024


class DataShape(NamedTuple):
    """What is known of the data before the first row is learned, and a configuration may depend on."""

    features: int = 1
    sparse: bool = False
    growing: bool = False  # a stream of dicts, whose features are not all known
    opened: bool = False  # a stream whose classes are not known


class Start(NamedTuple):
    """Weights to start from, as the user gave them."""

    weights: Any = None
    intercepts: Any = None


@contextmanager
def undo_if_refused(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was if its data are refused, or if it was interrupted where it lets signals through."""
    with uninterrupted, estimator_lock(estimator):
        before = dict(vars(estimator))
        model: Any = before.get("_model")
        conditions = model and model.conditions()
        try:
            yield
        except Diverged:
            raise  # what was learned before the example that did it stays
        except BaseException:
            now = vars(estimator)  # never empty, even for a moment: another thread may be predicting
            now.update(before)
            for name in now.keys() - before.keys():
                del now[name]
            if model:  # rows of the other kind may have another configuration
                model.restore(conditions)
                now.update({"_path": None, "_learning_path": None} if "_path" in before else {})
            raise


class LinearEstimator(FittedAttributes):
    """A linear model that learns online. Subclasses say by :meth:`_configuration` what they learn with.

    ``bits`` and ``names_cap`` say what becomes of the names of dicts: they are hashed to a table of fixed size, or
    exact, and grow up to a cap.
    """

    bits: int | None = None
    names_cap: int | None = None
    _textbook: str | None = None  # the class that does what is taught under this one's name
    _learning_path: Any = None  # of dicts into the learner, where it is up to date with the parameters
    _path: Any = None  # of dicts to its answers, where these are those of the learner
    _settled: Any = None  # the parameters the model was last brought up to date with; None once one is set
    _quick_features = -1  # features of a row that may take the short way; -1: none may
    _labelled = False  # whether targets are labels
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
        if name in self._parameters and "_lock" in vars(self):  # else nobody has called it yet
            with estimator_lock(self):  # a thread that learns would take the new value for the one it has gone by
                self._learning_path = self._settled = None
                super().__setattr__(name, value)
        else:
            super().__setattr__(name, value)

    # -------------------------------------------------------------- parameters

    def _configuration(self, shape: DataShape) -> Configuration:
        """Loss, rule and settings."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""
        values = self._values(self)
        try:
            key = (type(self), values, tuple(map(type, values)))
            if key in FINE:
                return
        except TypeError:  # a dict, or another value that is not hashable
            key = None
        self._validate_params()
        self._check_combination()
        if key is not None:
            FINE.add(key)

    def _check_combination(self) -> None:
        """Refuse parameters that do not go together."""

    def _notice_changes(self) -> None:
        """Take a parameter that was changed within for one that was set."""

    def _weigh_stream(self) -> None:
        """Set the weights that outputs have."""

    # -------------------------------------------------------------- the model

    def _create(self, shape: DataShape, classes: Classes | None) -> Model:
        """A model that has learned nothing."""
        configuration = self._checked_configuration(shape, classes)
        columns = None if shape.growing else shape.features
        model = Model.create(
            *configuration,
            classes,
            self.bits if shape.growing else None,
            columns=columns,
            features=shape.features,
            layout=SparseRows if shape.sparse or shape.growing else DenseRows,  # a table that grows is one of dicts
        )
        if not shape.growing:
            model.column_names = getattr(self, "feature_names_in_", None)
        self._path = self._learning_path = None
        self._shown = ShownWeights()
        self._model = model  # last: another thread may be asking
        self._note_parameters(shape.sparse)
        return model

    def _start(self, columns: int | None, sparse: bool = False) -> Model:
        """Create the model for a stream: of rows with so many columns, or of dicts."""
        return self._create_for_stream(columns, sparse, None)

    def _create_for_stream(self, columns: int | None, sparse: bool, classes: Classes | None) -> Model:
        opened = classes is not None and classes.open
        if columns is not None:
            model = self._create(DataShape(columns, sparse, opened=opened), classes)
        else:
            names = ExactNames(cap=self.names_cap) if self.bits is None else HashedNames(self.bits)
            features = FIRST_FEATURES if self.bits is None else names.size
            model = self._create(DataShape(features, growing=True, opened=opened), classes)
            model.names = names
        self.n_iter_ = 1
        return model

    def _checked_configuration(self, shape: DataShape, classes: Classes | None) -> Configuration:
        """The configuration, if it suits the classes."""
        loss, rule, settings = self._configuration(shape)
        losses, rules, several = resolve_configurations(loss, rule, settings, True)
        if classes is not None and classes.open and not is_even(losses[0]):
            raise Refused(f"{losses[0]} treats its two targets differently: name the classes in the first call")
        return Configuration(losses[0], rules[0], several[0])

    def _adopt(self, model: Model) -> None:
        """Hold a model that was trained elsewhere, on rows in columns, by the parameters that are given here."""
        self.n_features_in_ = model.columns
        model.column_names = getattr(self, "feature_names_in_", None)
        self.n_iter_ = len(model.pass_starts)
        self._shown = ShownWeights()
        self._model = model
        self._note_parameters(not model.dense)

    def _note_parameters(self, sparse: bool) -> None:
        """Remember what the model is up to date with."""
        self._settled = self._values(self)
        self._model.dense = not sparse  # type: ignore[union-attr]
        named = hasattr(self, "feature_names_in_")
        self._quick_features = -1 if named else getattr(self, "n_features_in_", -1)

    def _refresh(self, sparse: bool) -> None:
        """Bring the model up to date with the parameters and the kind of rows, before it learns more.

        Dicts are learned as dense rows are: scikit-learn, which slows the intercept down on sparse ones, has none.
        """
        model = self._model
        assert model is not None
        if vars(self).get("converged_"):
            self.converged_ = False  # what comes now was not in the pass without an update
        if self._shown.by_hand:
            self._learn_from_assigned()
        if model.learner.slim:  # it answers as it is
            return
        if self._settled is not None and model.dense is not sparse:
            return
        shape = DataShape(model.learner.features, sparse, model.columns is None, model.began_open)
        configuration = self._checked_configuration(shape, model.classes)
        if model.change_configuration(*configuration):
            self._path = self._learning_path = None
        self._note_parameters(sparse)

    def _can_go_on(self, X: Any, sparse: bool) -> bool:
        """Whether a warm start can go on with the model that is there."""
        if self._model is None or self._model.columns != X.shape[1]:
            return False
        self._refresh(sparse)
        return True

    def _begin_at(self, model: Model, start: Start) -> None:
        """Give the model the weights to start from."""
        if start.weights is None and start.intercepts is None:
            return
        outputs, features = model.learner.outputs, model.learner.features
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
        if not (np.isfinite(weights).all() and np.isfinite(intercepts).all()):
            raise BadInput("coef_init or intercept_init holds NaN or infinity: give finite numbers")
        begin_at(model.learner, weights, intercepts)

    def _refuse_slim(self) -> None:
        if self._model is not None:
            self._model.learner.refuse_if_slim()

    def _refuse_dicts(self) -> None:
        if self._model is not None and not hasattr(self, "n_features_in_"):
            raise BadInput(
                f"this {type(self).__name__} has learned from dicts: go on with learn_one or learn_many, "
                "or call fit to start anew"
            )

    # -------------------------------------------------------------- dicts

    def _model_for_dicts(self, **start: Any) -> Model:
        """The model, up to date with the parameters; a new one is told how to ``start``.

        The caller holds the lock of the whole estimator.
        """
        self._notice_changes()
        if self._learning_path is not None:
            assert self._model is not None
            return self._model
        self._refuse_slim()
        if self._settled is None:
            self._check_parameters()
        model = self._model
        if model is None:
            model = self._start(None, **start)
        else:
            self._renew_names(model)
            self._refresh(False)
        self._weigh_stream()
        self._path = self._learning_path = model.dict_path()
        return model

    def _renew_names(self, model: Model) -> None:
        """Take a new cap of names; names that were hashed, or were not, stay so."""
        if model.columns is not None:  # columns are what they are
            return
        bits = model.names.bits if isinstance(model.names, HashedNames) else None
        if bits != self.bits:
            raise Refused(
                f"bits cannot change from {bits} to {self.bits} while a model learns, since its weights are found by "
                "them: set it back, or learn from the beginning with a clone"
            )
        model.cap_names(self.names_cap)

    def _renew_path(self) -> Any:
        """The way of dicts to the answers of the model that is there, with the classes of now.

        The model may not be up to date to learn. The caller holds the lock of the whole estimator.
        """
        model = self._model
        assert model is not None
        if self._shown.by_hand:
            self._learn_from_assigned()
        with model.learner.lock:
            self._path = model.dict_path()
        return self._path

    def _learn_from_assigned(self) -> None:
        """Let the learner go on from weights that someone has assigned."""
        learner, shown = self._learner, self._shown
        assert learner is not None
        if learner.kind != "uniform" or len(shown.weights) != learner.outputs:
            raise Refused(
                "coef_ was assigned, but this learner keeps more than weights and cannot go on from them: "
                "call fit to start anew"
            )
        restart_at(learner, shown.weights, shown.intercepts)
        shown.by_hand = False

    # -------------------------------------------------------------- conventions

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
        from onlinear.estimators.saving import save_parts  # it needs the estimators

        header, arrays = save_parts(self, slim=slim)
        save_without_recipe(path, header, arrays)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> Any:
        with estimator_lock(self):
            given: Any = super().__getstate__()
            state = dict(given)
            for name in ("_path", "_learning_path", "_lock"):  # addresses mean nothing elsewhere, nor does a lock
                state.pop(name, None)
            if self._model is not None:  # what is learned meanwhile stays out
                state["_model"] = self._model.copy()
            return {name: value.copy() if type(value) in (list, dict) else value for name, value in state.items()}
