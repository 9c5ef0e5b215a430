"""The decision boundary in one and two dimensions, with margins and mistakes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse
from sklearn.base import clone

from onlinear.errors import BadInput, Refused
from onlinear.plots.drawing import BLUE, GREY, SIDES, VERMILION, Display
from onlinear.plots.following import LABELS, PlottedExamples, check_classifier, examples_of, readable_label
from onlinear.plots.lines import LENGTH, draw_normal, line_ends
from onlinear.theory.penalised_pick import kind_of_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: points on each side of the grid, in one and in two dimensions
POINTS = {1: 1000, 2: 200}
#: how much further than the rows the picture reaches, on each side
BESIDE = 0.08


class BoundaryDisplay(Display):
    """Where the score of a classifier is 0, with the rows around it; also of kernels.

    If all rows are right, the margins are where the score is plus or minus the smallest ``y score`` of any row: nothing
    lies between them.

    Parameters
    ----------
    axes : tuple of one or two arrays, the points of the grid along each feature
    scores : array with the score at each point of the grid, ``scores[i, j]`` at ``axes[0][j], axes[1][i]``
    X, y : the rows, and their labels as -1 and +1
    row_scores : the score of each row
    mistakes : array of booleans, the rows to be marked
    classes : the names of -1 and +1
    normal : whether the normal of a straight boundary is drawn, as an arrow; both axes then have one scale

    >>> from onlinear import Perceptron
    >>> X, y = [[-2.0], [-1.0], [1.0], [3.0]], [0, 0, 1, 1]
    >>> shown = BoundaryDisplay.from_learning(Perceptron(fit_intercept=False), X, y, plot=False)
    >>> shown.margin, shown.mistakes.tolist()  # the first row makes the weight 2
    (2.0, [True, False, False, False])
    """

    def __init__(
        self,
        *,
        axes: tuple[Any, ...],
        scores: Any,
        X: Any,
        y: Any,
        row_scores: Any,
        mistakes: Any,
        classes: Any = (-1, 1),
        normal: bool = False,
    ) -> None:
        self.axes = tuple(np.asarray(axis) for axis in axes)
        self.scores = np.asarray(scores)
        self.X, self.y = np.asarray(X), np.asarray(y)
        self.row_scores = np.asarray(row_scores)
        self.mistakes = np.asarray(mistakes, dtype=np.bool_)
        self.classes = classes
        self.normal = normal

    @property
    def weights(self) -> np.ndarray | None:
        """The gradient of the scores in the plane; None if it is not the same everywhere, as with kernels."""
        if len(self.axes) != 2:
            return None
        steps = np.array([(axis[-1] - axis[0]) / (len(axis) - 1) for axis in self.axes])
        up, across = np.gradient(self.scores)
        slopes = np.array([across.mean(), up.mean()])
        straight = all(
            np.allclose(part, slope, atol=1e-6 * np.abs(slopes).max())
            for part, slope in zip((across, up), slopes, strict=True)
        )
        return slopes / steps if straight and slopes.any() else None

    @property
    def margin(self) -> float | None:
        """The smallest ``y score`` of the rows; None if one is wrong."""
        smallest = float((self.y * self.row_scores).min())
        return smallest if smallest > 0.0 else None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        mistakes: Any = None,
        normal: bool = False,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> BoundaryDisplay:
        """Of a classifier that has learned and has a ``decision_function``.

        Marked are the rows that it still gets wrong, or those of the ``mistakes``. Of several classes ``class_`` is
        drawn against the rest, by its own score. ``normal`` draws that of a straight boundary as an arrow.
        """
        scores_of = partial(scores_for, estimator, class_)
        return cls._with_grid(scores_of, examples_of(X, y, class_), mistakes, normal).finish(ax, plot)

    @classmethod
    def _with_grid(
        cls, scores_of: Callable[[Any], np.ndarray], examples: PlottedExamples, mistakes: Any, normal: bool
    ) -> BoundaryDisplay:
        width = examples.X.shape[1]
        if width not in POINTS:
            raise Refused(f"the rows have {width} features: a boundary is drawn in one or two dimensions, choose them")
        X = examples.X.toarray() if scipy.sparse.issparse(examples.X) else examples.X
        axes = tuple(grid_of(column, POINTS[width]) for column in X.T)
        points = np.column_stack([part.ravel() for part in np.meshgrid(*axes)])
        scores, row_scores = scores_of(points), scores_of(X)
        wrong = examples.y * row_scores <= 0.0 if mistakes is None else marks_of(mistakes, len(row_scores))
        found = cls(
            axes=axes,
            scores=scores.reshape([len(axis) for axis in reversed(axes)]),
            X=X,
            y=examples.y,
            row_scores=row_scores,
            mistakes=wrong,
            classes=examples.classes,
            normal=normal,
        )
        if normal and found.weights is None:
            raise Refused("only a straight boundary in two dimensions has one normal: leave out normal=True")
        return found

    @classmethod
    def from_learning(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        normal: bool = False,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> BoundaryDisplay:
        """Learn the rows one by one with a clone, by ``partial_fit``; marked are those it got wrong before it knew.

        Of several classes ``class_`` is learned against the rest.
        """
        check_classifier(estimator)
        model, examples = clone(estimator), examples_of(X, y, class_)
        mistakes = mistakes_of(model, examples)
        return cls._with_grid(model.decision_function, examples, mistakes, normal).finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        if len(self.axes) == 1:
            self._draw_line(ax)
        else:
            self._draw_plane(ax)
        if self.mistakes.any():
            across, up = self._places()[self.mistakes].T
            self.mistakes_ = ax.scatter(
                across, up, s=90, facecolors="none", edgecolors="black", label="mistakes", zorder=4
            )
        ax.legend()

    def _places(self) -> np.ndarray:
        """Where the rows are drawn: in one dimension at the heights of their scores."""
        return np.column_stack([self.X[:, 0], self.row_scores]) if len(self.axes) == 1 else self.X

    def _draw_rows(self, ax: Axes) -> None:
        self.rows_ = []
        for sign, marker, colour in ((-1.0, "o", VERMILION), (1.0, "^", BLUE)):
            across, up = self._places()[self.y == sign].T
            name = readable_label(self.classes[int(sign > 0.0)])
            self.rows_.append(ax.scatter(across, up, s=22, marker=marker, color=colour, label=name, zorder=3))

    def _draw_line(self, ax: Axes) -> None:
        """The score over the feature, on grounds of the colour of the answer."""
        (grid,) = self.axes
        (self.score_line_,) = ax.plot(grid, self.scores, "-", color=GREY, label="score")
        ax.axhline(0.0, color="black", linewidth=0.8)
        for margin in () if self.margin is None else (-self.margin, self.margin):
            ax.axhline(margin, color="black", linewidth=0.8, linestyle=":")
        low, high = ax.get_ylim()
        for colour, side in zip(SIDES, (self.scores <= 0.0, self.scores > 0.0), strict=True):
            ax.fill_between(grid, low, high, where=side.tolist(), color=colour, linewidth=0, zorder=0)
        self._draw_rows(ax)
        ax.set(xlabel="feature 1", ylabel="score", xlim=(grid[0], grid[-1]), ylim=(low, high))

    def _draw_plane(self, ax: Axes) -> None:
        """Grounds of the colour of the answer, a line where the score is 0, and dots along the margins."""
        across, up = self.axes
        largest = float(np.abs(self.scores).max()) or 1.0
        self.sides_ = ax.contourf(across, up, self.scores, levels=[-largest, 0.0, largest], colors=SIDES, zorder=0)
        wanted = [(0.0, "-")] if self.margin is None else [(-self.margin, ":"), (0.0, "-"), (self.margin, ":")]
        inside = [(level, style) for level, style in wanted if self.scores.min() < level < self.scores.max()]
        if inside:
            levels, styles = zip(*inside, strict=True)
            self.lines_ = ax.contour(across, up, self.scores, levels=levels, linestyles=styles, colors="black")
        if self.normal and self.weights is not None:
            self._draw_normal(ax, self.weights)
        self._draw_rows(ax)
        ax.set(xlabel="feature 1", ylabel="feature 2")

    def _draw_normal(self, ax: Axes, weights: np.ndarray) -> None:
        """From the point of the boundary that is nearest to the middle of the rows."""
        middle = self.X.mean(axis=0)
        corner = np.array([axis[0] for axis in self.axes])
        intercept = float(self.scores[0, 0] - weights @ corner)
        ends = line_ends(weights, intercept, middle, 1.0)
        assert ends is not None  # the weights are not 0
        short = min(float(axis[-1] - axis[0]) for axis in self.axes)
        self.normal_ = draw_normal(ax, weights, ends.mean(axis=0), LENGTH * short)
        ax.set_aspect("equal", adjustable="box")


def scores_for(estimator: Any, class_: Any, X: Any) -> np.ndarray:
    """The score of the second of two classes, or of one of several."""
    if isinstance(estimator, type) or not hasattr(estimator, "decision_function"):
        raise Refused(
            f"{kind_of_model(estimator)} has no scores of classes, between which a boundary lies: give a classifier "
            "that has learned, with a decision_function"
        )
    scores = np.asarray(estimator.decision_function(X))
    labels = [] if class_ is None else np.asarray(estimator.classes_).tolist()
    if scores.ndim == 1:
        return scores if class_ is None or class_ == labels[-1] else -scores
    if class_ not in labels:
        raise Refused(
            f"{type(estimator).__name__} has several scores a row: a boundary is drawn for two classes, or for one "
            "against the rest: choose it by class_"
        )
    return scores[:, labels.index(class_)]


def grid_of(column: np.ndarray, points: int) -> np.ndarray:
    """Points from a little below the smallest value to a little above the largest."""
    low, high = float(column.min()), float(column.max())
    beside = BESIDE * (high - low) or 1.0
    return np.linspace(low - beside, high + beside, points)


def marks_of(mistakes: Any, length: int) -> np.ndarray:
    """True or False for each row."""
    marks = np.asarray(mistakes)
    if marks.shape != (length,) or marks.dtype != np.bool_:
        raise BadInput(f"mistakes have shape {marks.shape} and type {marks.dtype}: give True or False for each row")
    return marks


def mistakes_of(model: Any, examples: PlottedExamples) -> np.ndarray:
    """Learn the rows one by one; the rows that were wrong before: the first one always, as nothing was known."""
    mistakes = np.zeros(len(examples.y), np.bool_)
    for i, label in enumerate(examples.labels):
        row = examples.X[i : i + 1]
        mistakes[i] = i == 0 or examples.y[i] * float(model.decision_function(row)[0]) <= 0.0
        model.partial_fit(row, [label], classes=LABELS)
    return mistakes
