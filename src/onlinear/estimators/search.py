"""``OnlineSearch``: configurations that race over the same rows, as one estimator that answers as the best of them."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags, check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import numbers_of, open_up
from onlinear.data.rows import DenseRows
from onlinear.errors import BadInput, Diverged, Refused
from onlinear.estimators.checks import (
    FLOATS,
    importance_for,
    loop_rows,
    refuse_all_zero,
    validate_with_targets,
)
from onlinear.estimators.linear import undo_if_refused
from onlinear.estimators.online import OnlineClassifier, OnlineRegressor, parameters_of
from onlinear.estimators.passes import orders
from onlinear.files.container import PathLike
from onlinear.learning.classes import Classes, classes_of_labels, named_classes
from onlinear.learning.configuration import Configuration
from onlinear.selection.configurations import as_configuration, check_task, usual
from onlinear.selection.race import Race, RaceExamples, RaceTask, rungs_of
from onlinear.selection.race_stream import fold_table
from onlinear.selection.standings import Comparison, Standings
from onlinear.selection.winner import Ground, model_of, pass_start
from onlinear.system.interrupts import uninterrupted
from onlinear.system.locks import estimator_lock

#: the examples at which the first half stops, where nobody knows how many will come
FIRST_RUNG = 1000


class Best:
    """The best estimator as of so many examples: made when it is asked for.

    An object of its own, so that a prediction leaves the search's ``__dict__`` untouched.
    """

    def __init__(self) -> None:
        self.examples = -1
        self.estimator: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(Best())


def has_method(name: str) -> Any:
    """Whether the best has a method; before there is one, whether all configurations have."""

    def has(self: OnlineSearch) -> bool:
        if name == "decision_function" or self.task != "classification":
            found = self.task == "classification"
        else:
            fitted = self._race is not None
            asked = [self.best_configuration_] if fitted else self._chosen()
            found = all(hasattr(each.loss, "link") for each in asked)
        if not found:
            raise AttributeError(f"{name} is not there: the loss of the configuration gives none")
        return True

    return has


class OnlineSearch(BaseEstimator):
    """The best of many configurations, all learned in the same pass.

    Each row is predicted by every configuration before it is learned, and their mistakes (squared errors of a
    regression) decide. What is predicted is what the best so far has learned.

    Parameters
    ----------
    configurations : from :func:`onlinear.selection.configuration` or ``grid``, or dicts of their parameters; by default
        those that are usual for the task
    task : "classification" or "regression"
    folds : of a cross-validation, for ``fit``: the best then learns all rows once more
    halving : stop the worse half at length/2, length/4, ... down to 250 in ``fit``; at 1000, 2000, 4000, ... in
        ``partial_fit``
    max_iter : passes of ``fit``. Without folds the first one decides, and the best goes on alone
    order : of the rows in a pass of ``fit``: "stream" as they come, or "shuffle"
    random_state : seed for that order, and for the folds

    >>> import numpy as np
    >>> from onlinear.selection import grid
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> search = OnlineSearch(grid(loss="log_loss", rule=["adagrad", "normalised"])).fit(X, X[:, 0] > 0.5)
    >>> search.best_configuration_.name, search.best_estimator_
    ('log_loss, adagrad rate 0.1', OnlineClassifier(rule='adagrad'))
    """

    _parameter_constraints = {
        "configurations": ["array-like", None],
        "task": [StrOptions({"classification", "regression"})],
        "folds": [Interval(Integral, 2, None, closed="left"), Options(Integral, {0})],
        "halving": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "order": [StrOptions({"stream", "shuffle"})],
        "random_state": ["random_state"],
    }

    _race: Race | None = None
    _ended: Standings | None = None  # those of a race that is over, when the best goes on alone
    _classes: Classes | None = None

    def __init__(
        self,
        configurations: Any = None,
        *,
        task: str = "classification",
        folds: int = 0,
        halving: bool = False,
        max_iter: int = 1,
        order: str = "stream",
        random_state: Any = None,
    ) -> None:
        self.configurations = configurations
        self.task = task
        self.folds = folds
        self.halving = halving
        self.max_iter = max_iter
        self.order = order
        self.random_state = random_state

    # -------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> OnlineSearch:
        """Race over the rows, from the beginning; if there are several passes, the best goes on alone."""
        with undo_if_refused(self):
            self._validate_params()
            X, y = self._checked(X, y, reset=True)
            importance = importance_for(sample_weight, len(y))
            refuse_all_zero(importance)
            present = y[importance > 0.0]
            self._begin(X, classes_of_labels(present) if self.task == "classification" else None)
            self._plan(len(present), self.folds)
            examples = self._examples(X, y, importance)
            turns = orders(self.order, len(y), self.random_state)
            if self.folds:
                self._cross_validate(examples, turns)
            else:
                self._learn(examples, next(turns))
                self._go_on(examples, turns)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> OnlineSearch:
        """Race on over these rows, in the order in which they come.

        The first call has to name all ``classes`` of a classification. After a ``fit`` with folds or several passes
        the race is over, and the best learns on alone.
        """
        with undo_if_refused(self):
            first = self._race is None
            if first:
                self._validate_params()
                if self.folds:
                    raise Refused("folds need all rows at once: call fit, or race without folds")
            X, y = self._checked(X, y, reset=first)
            if first:
                self._begin(X, self._named(classes))
                self._plan(None, 0)
            elif classes is not None and not np.array_equal(self.classes_, named_classes(classes)):
                raise BadInput("`classes` is not the same as on last call to partial_fit: leave it out, or call fit")
            if self._began != self._values():
                raise Refused("the parameters of a race cannot change on its way: call fit to start anew")
            self._learn(self._examples(X, y, importance_for(sample_weight, len(y))), None)
        return self

    def _named(self, classes: Any) -> Classes | None:
        if self.task == "regression":
            return None
        if classes is None:
            raise BadInput("classes must be passed on the first call to partial_fit: name all labels there will be")
        return classes_of_labels(named_classes(classes))

    def _values(self) -> list[Any]:
        given = None if self.configurations is None else list(self.configurations)
        return [given, self.task, self.folds, self.halving]

    def _chosen(self) -> list[Configuration]:
        if self.configurations is None:
            return usual(self.task)
        return [as_configuration(each) for each in self.configurations]

    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        """X and y, looked at as a whole: a bad row must not reach some of the configurations and not others."""
        numbers = self.task == "regression"
        X, y = validate_with_targets(
            self, X, y, accept_sparse="csr", dtype=FLOATS, order="C", reset=reset, y_numeric=numbers
        )
        return X, open_up(np.ascontiguousarray(numbers_of(y, len(y)))) if numbers else y

    def _begin(self, X: Any, classes: Classes | None) -> None:
        self._classes = classes
        self._data_type = X.dtype
        self._ended = None
        self._pass_starts = [(0, 0)]
        self._began = self._values()

    def _plan(self, rows: int | None, folds: int) -> None:
        """The race to come, over so many rows or nobody knows how many."""
        chosen = self._chosen()
        check_task(chosen, self.task)
        if rows is not None and folds > rows:
            raise BadInput(f"{rows} rows cannot be cut in {folds} folds: take fewer folds")
        rungs: list[int] = []
        if self.halving and rows is None:
            rungs = [FIRST_RUNG << k for k in range((len(chosen) - 1).bit_length())]
        elif self.halving and rows is not None:
            rungs = rungs_of(rows * (self.max_iter if folds else 1), len(chosen))
        self._race = self._raced(chosen, folds, rungs)

    def _raced(self, configurations: list[Configuration], folds: int = 0, rungs: Any = ()) -> Race:
        self._best = Best()
        task = RaceTask(0 if self._classes is None else len(self._classes))
        return Race(configurations, task, self.n_features_in_, folds=folds, rungs=rungs)

    def _examples(self, X: Any, y: np.ndarray, importance: np.ndarray) -> RaceExamples:
        """The rows, whose labels are all known."""
        rows = loop_rows(X)
        self._dense = isinstance(rows, DenseRows)
        if self._classes is None:
            return RaceExamples(rows, y, importance)
        codes = self._classes.checked_codes(y, importance > 0.0)
        return RaceExamples(rows, codes, importance)

    def _learn(self, examples: RaceExamples, order: np.ndarray | None) -> None:
        assert self._race is not None
        self._race.learn(examples, order)
        if not self._race.running:
            raise Diverged("every configuration diverged: lower the rates, or scale the columns")

    def _go_on(self, examples: RaceExamples, turns: Any) -> None:
        """Let the best alone make the passes behind the first, or until one brings no update."""
        if self.max_iter == 1:
            return
        race = self._race
        assert race is not None
        self._ended = self.results_
        number = race.settle()
        for _ in range(self.max_iter - 1):
            self._pass_starts.append(pass_start(race, number, self._ground()))
            if len(self._pass_starts) > 1 and self._pass_starts[-1][0] == self._pass_starts[-2][0]:
                self._pass_starts.pop()
                break
            race.end_pass()
            self._learn(examples, next(turns))
            uninterrupted.let_through()

    def _cross_validate(self, examples: RaceExamples, turns: Any) -> None:
        """Judge each row by models that never learn it; then let the best learn all rows."""
        race, rows = self._race, len(examples.importance)
        assert race is not None
        table = fold_table(self.folds, int(check_random_state(self.random_state).randint(2**31 - 1)))
        folded = examples._replace(folds=table[np.arange(rows) % len(table)])
        for number in range(self.max_iter):
            if number:
                race.end_pass()
            self._learn(folded, next(turns))
            uninterrupted.let_through()
        self._ended = self.results_
        self._race = self._raced([self._ended.best])
        turns = orders(self.order, rows, self.random_state)
        self._learn(examples, next(turns))
        self._go_on(examples, turns)

    # -------------------------------------------------------------- what was found

    def _running(self) -> Race:
        if self._race is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return self._race

    def _ground(self) -> Ground:
        return Ground(self._classes, None, self._dense)

    @property
    def results_(self) -> Standings:
        """The configurations, best first: as they stand, or as they stood when the race was over."""
        race = self._running()
        if self._ended is not None:
            return self._ended
        passes = self.max_iter if race.folds else 1
        with estimator_lock(self):
            return Standings.of(race, Comparison(race.examples // passes, race.folds, passes))

    @property
    def best_configuration_(self) -> Configuration:
        """The configuration that is ahead, or has won."""
        race = self._running()
        with estimator_lock(self):
            return race.configurations[race.finishes()[0].number]

    @property
    def best_estimator_(self) -> Any:
        """What it has learned, as the ``OnlineClassifier`` or ``OnlineRegressor`` that has learned the same alone."""
        self._running()
        with estimator_lock(self):
            race = self._running()
            if self._best.examples != race.examples:
                self._best.estimator = self._made(race, race.finishes()[0].number)
                self._best.examples = race.examples
            return self._best.estimator

    def _made(self, race: Race, number: int) -> Any:
        model = model_of(race, number, self._ground(), list(self._pass_starts))
        estimator = (OnlineRegressor if self._classes is None else OnlineClassifier)(**parameters_of(model))
        estimator._data_type = self._data_type
        if hasattr(self, "feature_names_in_"):
            estimator.feature_names_in_ = self.feature_names_in_
        model.columns = self.n_features_in_
        estimator._adopt(model)
        return estimator

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted."""
        self._running()
        if self._classes is None:
            raise AttributeError("a regression has no classes_")
        return self._classes.sorted

    @property
    def n_iter_(self) -> int:
        """The passes that the best has made."""
        self._running()
        return len(self._pass_starts)

    # -------------------------------------------------------------- answers

    def predict(self, X: Any) -> np.ndarray:
        """What the best answers."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(has_method("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of the best."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(has_method("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the best, if its loss gives any."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(has_method("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of :meth:`predict_proba`."""
        return np.log(self.predict_proba(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the best, or R^2 of a regression."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight=sample_weight))

    def save(self, path: PathLike, *, slim: bool = False) -> None:
        """Write the best estimator to a file, which :func:`onlinear.load` brings back; the race itself is not saved.

        A pickle keeps all of it.
        """
        check_is_fitted(self)
        self.best_estimator_.save(path, slim=slim)

    # -------------------------------------------------------------- conventions

    def __sklearn_is_fitted__(self) -> bool:
        return self._race is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        if self.task == "regression":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def __getstate__(self) -> Any:
        with estimator_lock(self):
            state = dict(super().__getstate__())
            state.pop("_lock", None)  # a lock means nothing elsewhere
            for name in ("_race", "_pass_starts"):
                if name in state:
                    state[name] = copy.deepcopy(state[name])  # what is learned meanwhile stays out
            return state
