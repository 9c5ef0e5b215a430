"""What the classifiers in dual form share: labels become targets of perceptrons, and their scores labels."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from onlinear.data.batch import importance_of
from onlinear.data.whole_numbers import unless_rounded
from onlinear.errors import BadInput, Refused
from onlinear.estimators.checks import (
    FLOATS,
    accuracy,
    are_objects,
    check_knows_classes,
    checked_rows,
    refuse_all_zero,
    validate_with_targets,
)
from onlinear.estimators.classifier import names_on_sight, running_certificate
from onlinear.estimators.dual_dicts import LearnsDicts
from onlinear.estimators.dual_files import dual_parts, restore_dual
from onlinear.estimators.linear import estimator_lock, undo_if_refused
from onlinear.estimators.passes import Turns, warn_of_runs
from onlinear.estimators.saving import class_name
from onlinear.files.container import Header, PathLike
from onlinear.files.trained import save_without_recipe
from onlinear.files.values import Unpacker
from onlinear.learning.classes import (
    Classes,
    classes_from_call,
    classes_of_labels,
    distinct_labels,
    named_classes,
    outputs_for,
)
from onlinear.learning.dual.kernel import Kernel
from onlinear.learning.dual.perceptrons import Perceptrons, dense
from onlinear.system.interrupts import uninterrupted


class DualClassifier(LearnsDicts, ClassifierMixin, BaseEstimator):
    """A classifier made of perceptrons in dual form.

    Two classes known from the start share one perceptron; else each class has one. Where classes may still appear, one
    more, the last, learns that "none of this" is right: when a new class appears, it has been that class's all along.
    """

    _perceptrons: Perceptrons | None = None
    _classes: Classes
    _mistakes = 0
    _seen: frozenset[int] = frozenset()  # the codes of classes that have had a row

    certificate_ = property(running_certificate)
    __dir__ = names_on_sight

    def _kernel(self) -> Kernel:
        raise NotImplementedError

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, as scikit-learn has it, which would round large whole numbers of pandas."""
        y = unless_rounded(y)
        if are_objects(y):
            return accuracy(self.predict(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    # -------------------------------------------------------------- learning

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DualClassifier:
        """Learn from the rows from the beginning, pass after pass, until one brings no update.

        ``sample_weight`` is the importance of each row; 0 is a row absent.
        """
        self._validate_params()
        with undo_if_refused(self):
            X, y, importance = self._checked(X, y, sample_weight, reset=True)
            refuse_all_zero(importance)
            X, y, importance = present(X, y, importance)
            machine = self._start(X.shape[1], X.dtype, classes_of_labels(y))
            machine.check(X, self.max_iter * importance.sum())
            codes = self._classes.codes_of(y)
            warn_of_runs(self, codes, stacklevel=3)
            self._sweep(machine, X, codes, importance)
        return self

    def _sweep(self: Any, machine: Perceptrons, X: Any, codes: np.ndarray, importance: np.ndarray) -> None:
        targets = self._targets(codes)
        turns = Turns(self.order, len(codes), self.random_state)
        self.converged_ = False
        for number in range(1, self.max_iter + 1):
            order = turns.next()
            if order is None and self.max_iter > 1:
                order = np.arange(len(codes))
            before = self._made()
            scores = machine.learn(X, targets, importance, order)
            self._count(scores, codes if order is None else codes[order])
            self.n_iter_ = number
            uninterrupted.let_through()
            if turns.comes_to_rest(self._made() > before):
                self.converged_ = True
                break
        machine.positions = {}  # rows that come later are others

    def _check_stream(self) -> None:
        """Refuse to learn from a stream what only ``fit`` can."""

    def _made(self) -> int:
        assert self._perceptrons is not None
        return sum(versions.made for versions in self._perceptrons.versions)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> DualClassifier:
        """Learn from these rows, in the order in which they come, after what was learned before.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (rows, features)
        y : labels, one a row
        classes : all labels there will ever be; only needed in the first call. Without them new classes may appear at
            any time, and the result is what it would have been, had they been known.
        sample_weight : importance of each row; 0 is a row absent
        """
        self._validate_params()
        self._check_stream()
        with undo_if_refused(self):
            first = self._perceptrons is None
            if not first and not hasattr(self, "n_features_in_"):
                raise BadInput(
                    f"this {type(self).__name__} has learned from dicts: go on with learn_one or learn_many, "
                    "or call fit to start anew"
                )
            X, y, importance = self._checked(X, y, sample_weight, reset=first)
            distinct_labels(y)  # refuses what cannot be a label
            machine = self._start(X.shape[1], X.dtype, classes_from_call(classes)) if first else self._going_on(classes)
            self._check_labels(y, importance)
            X, y, importance = present(X, y, importance)
            machine.check(X, importance.sum())
            self._learn(machine, X, y, importance)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any, reset: bool) -> tuple[Any, np.ndarray, np.ndarray]:
        X, y = validate_with_targets(self, X, y, accept_sparse="csr", dtype=FLOATS, reset=reset)
        importance = importance_of(sample_weight, len(y))
        self._check_steps(importance)
        return X, y, importance

    def _check_steps(self: Any, importance: np.ndarray) -> None:
        if self.budget is not None and not np.isin(importance, (0.0, 1.0)).all():
            raise Refused("a budget is kept by steps of 1: leave out the sample weights, or the budget")

    def _start(self: Any, features: int, dtype: Any, classes: Classes) -> Perceptrons:
        """Perceptrons that have seen nothing."""
        outputs = outputs_for(classes, row_loss=False)
        share = None if self.budget is None else self.budget // outputs
        if share == 0:
            raise Refused(f"a budget of {self.budget} does not suffice for {outputs} classes: give one example to each")
        self._classes = classes
        self._mistakes, self._seen = 0, frozenset()
        self._names = None
        self._perceptrons = Perceptrons(self._kernel(), features, outputs, dtype, share)
        self._began = (self._kernel(), self.budget)
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.n_iter_ = 1
        return self._perceptrons

    def _going_on(self: Any, classes: Any = None) -> Perceptrons:
        """The perceptrons that are there, if the parameters still are theirs, with classes that are named late."""
        if self._began != (self._kernel(), self.budget):
            raise Refused("kernel and budget cannot change while it learns: call fit to start anew")
        if classes is not None:
            self._classes.check_named(named_classes(classes))
        if callable(self._began[0].name):  # it may refuse rows in their midst: then only a copy has begun to learn them
            parts = self._perceptrons, self._classes, self._names
            self._perceptrons, self._classes, self._names = copy.deepcopy(parts)
        assert self._perceptrons is not None
        return self._perceptrons

    def _check_labels(self, labels: np.ndarray, importance: np.ndarray) -> None:
        """Refuse all labels if one of a row that is present cannot be learned."""
        present = importance > 0.0
        codes = self._classes.checked_codes(labels, present)
        self._check_budget(len(set(labels[(codes < 0) & present].tolist())))

    def _check_budget(self: Any, new: int) -> None:
        """Refuse new classes of which there would be no share in the budget."""
        if new and self.budget is not None and len(self._classes) + new > 2:
            raise Refused(
                "a budget is shared out among the classes, and a third one is new: name all of them in the first call"
            )

    def _learn(self, machine: Perceptrons, X: Any, labels: np.ndarray, importance: np.ndarray) -> None:
        """Learn rows that are all present, in order."""
        codes = self._classes.codes_of(labels)

        def learn(start: int, stop: int) -> None:
            self._learn_codes(machine, X[start:stop], codes[start:stop], importance[start:stop])

        self._classes.learn_in_order(labels, codes, importance > 0.0, learn, self._add_class)

    def _learn_codes(self, machine: Perceptrons, X: Any, codes: np.ndarray, importance: np.ndarray) -> np.ndarray:
        scores = machine.learn(X, self._targets(codes), importance)
        self._count(scores, codes)
        if vars(self).get("converged_"):
            self.converged_ = False  # these rows were not in the pass without an update
        return scores

    def _add_class(self, label: Hashable) -> int:
        """Let a new class appear; its code."""
        assert self._perceptrons is not None
        self._perceptrons.add_output()
        return self._classes.add(label)

    def _targets(self, codes: np.ndarray) -> np.ndarray:
        """1 for the output of the row's class, -1 for the others."""
        assert self._perceptrons is not None
        outputs = np.arange(self._perceptrons.outputs) + self._shares_one()
        return np.where(codes[:, None] == outputs, 1.0, -1.0)

    def _shares_one(self) -> bool:
        """Whether two classes share one perceptron, that of the second."""
        return len(self._classes) == 2 and not self._classes.open

    def _count(self, scores: np.ndarray, codes: np.ndarray) -> None:
        """Count the rows that the last versions had wrong, or undecided, before they learned them.

        Only classes seen so far compete, so that it does not matter whether all were named at the start.
        """
        if self._shares_one():
            own, best = (2.0 * codes - 1.0) * scores[:, 0], np.zeros(len(codes))
        else:
            present = codes[:, None] == np.arange(len(self._classes))
            seen = np.logical_or.accumulate(present, axis=0) | np.isin(np.arange(len(self._classes)), [*self._seen])
            own = scores[np.arange(len(codes)), codes]
            best = np.where(seen & ~present, scores[:, : len(self._classes)], -np.inf).max(axis=1, initial=-np.inf)
            best[np.isinf(best)] = 0.0  # a class alone has to be on its own side of zero
        self._seen = self._seen.union(codes.tolist())
        self._mistakes += int((own <= best).sum())

    # -------------------------------------------------------------- answers

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores: of the second class where there are two, else one column for each class."""
        check_is_fitted(self)
        with estimator_lock(self):
            check_knows_classes(self, self._classes)
            scores = self._scores(checked_rows(self, X))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The labels with the highest scores; a tie, or a score of 0, answers the first class."""
        check_is_fitted(self)
        with estimator_lock(self):
            check_knows_classes(self, self._classes)
            return self._labels(self._scores(checked_rows(self, X)))

    def _labels(self, scores: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(scores))
        chosen = scores[:, 0] > 0.0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return self.classes_[chosen.astype(np.intp)]

    def _scores(self: Any, X: Any) -> np.ndarray:
        machine = self._perceptrons
        machine.check(X)
        moments = self._moments(X) if self.vote == "random" else None
        return machine.scores(X, self._outputs(), self.vote, moments)

    def _outputs(self) -> list[int]:
        """The outputs that answer: for two classes that of the second, else in the order of ``classes_``."""
        if self._shares_one() or len(self._classes) < 2:
            return [0]
        order: list[int] = self._classes.order.tolist()
        return order[1:] if len(order) == 2 else order

    def _moments(self: Any, X: Any) -> np.ndarray:
        """For each row the number of an example: drawn by a hash, so that a row's neighbours do not matter."""
        machine = self._perceptrons
        key = np.array([self._seed, machine.examples]).tobytes()
        moments = np.empty(X.shape[0], dtype=np.int64)
        for number in range(X.shape[0]):
            row = dense(X[number : number + 1]).astype(machine.support.rows.dtype) + 0.0  # -0.0 becomes 0.0
            drawn = hashlib.blake2b(row.tobytes(), digest_size=8, key=key).digest()
            moments[number] = int.from_bytes(drawn, "little") % max(machine.examples, 1)
        return moments

    # -------------------------------------------------------------- what was learned

    @property
    def classes_(self) -> np.ndarray:
        """The labels, sorted where they can be."""
        self._learned()
        with estimator_lock(self):
            return self._classes.sorted

    @property
    def examples_(self) -> int:
        """How many examples were learned from, over all passes."""
        self._learned()
        with estimator_lock(self):
            return self._learned().examples

    @property
    def mistakes_(self) -> int:
        """How many examples the last version had wrong, or undecided, before they were learned."""
        self._learned()
        with estimator_lock(self):
            return self._mistakes

    @property
    def updates_(self) -> Any:
        """How many examples changed the hypothesis; one number for each class of several."""
        with estimator_lock(self):
            made = [self._learned().versions[output].made for output in self._outputs()]
        return made[0] if len(made) == 1 else np.array(made)

    @property
    def radius2_(self) -> float:
        """The largest ``K(x, x)`` of all examples: the R^2 of the theorems."""
        return self._learned().radius2

    @property
    def support_vectors_(self) -> np.ndarray:
        """The kept examples, in the order in which they came."""
        with estimator_lock(self):
            coefficients = self._coefficients()
            width = None if self._names is None else self._names.size  # a stream of dicts has room for more
            return self._learned().support.rows[: len(coefficients), :width][coefficients.any(axis=1)]

    @property
    def dual_coef_(self) -> np.ndarray:
        """The coefficients of the kept examples in the last version: one row for two classes, else one for each."""
        with estimator_lock(self):
            coefficients = self._coefficients()
        return coefficients[coefficients.any(axis=1)].T

    def _coefficients(self) -> np.ndarray:
        return self._learned().coefficients()[:, self._outputs()]

    def _learned(self) -> Perceptrons:
        if self._perceptrons is None:
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet")
        return self._perceptrons

    # -------------------------------------------------------------- files

    def save(self, path: PathLike, *, slim: bool = False) -> None:
        """Write the classifier to a file, whole or not at all; :func:`onlinear.load` brings it back to the bit.

        Predictions need all there is, so a slim file is the same. A kernel of your own cannot be saved.
        """
        with estimator_lock(self):
            header, arrays = dual_parts(self, class_name(type(self)))
            save_without_recipe(path, header, arrays)

    @classmethod
    def _restored(cls, unpacker: Unpacker, header: Header) -> Any:
        return restore_dual(unpacker, cls, header)

    # -------------------------------------------------------------- conventions

    def __sklearn_is_fitted__(self) -> bool:
        return self._perceptrons is not None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> Any:
        with estimator_lock(self):
            state = dict(super().__getstate__())
            state.pop("_lock")  # a lock means nothing elsewhere
            for name in ("_perceptrons", "_classes", "_names"):
                if name in state:
                    state[name] = copy.deepcopy(state[name])  # what is learned meanwhile stays out
            return state


def present(X: Any, y: np.ndarray, importance: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The rows that have an importance."""
    rows = importance > 0.0
    return (X, y, importance) if rows.all() else (X[rows], y[rows], importance[rows])
