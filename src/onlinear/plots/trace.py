"""A run line by line: what a teacher writes on the board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse

from onlinear.learning.progress import align_columns
from onlinear.plots.drawing import Display
from onlinear.plots.following import examples_of, follow, signed_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: so many lines are shown in a picture
LINES = 20
#: so many numbers of a vector are shown
NUMBERS = 4
#: the background of a line with an update
SHADE = "#FBE3D3"
HEADINGS = ("t", "x", "y", "score", "update", "w")


class TraceLine(NamedTuple):
    """One example: its number from 1 on, its score before it was learned, and the weights after it."""

    t: int
    x: tuple[float, ...]
    y: int
    score: float
    update: bool
    w: tuple[float, ...]

    def cells(self) -> tuple[str, ...]:
        update = "yes" if self.update else ""
        return str(self.t), vector(self.x), f"{self.y:+d}", number(self.score), update, vector(self.w)


class TraceDisplay(Display):
    """A run as a table: t, x, y, the score of x before it is learned, whether it made an update, and w after it.

    ``lines`` are plain rows, ``print(display)`` prints them, and ``plot`` draws them, those with an update shaded. An
    intercept is the last of w, and the 1 that it is the weight of the last of x.

    Parameters
    ----------
    lines : a list of :class:`TraceLine`

    >>> from onlinear import Perceptron
    >>> X, y = [[2.0, 1.0], [-1.0, 1.0], [1.0, 2.0]], [1, -1, -1]
    >>> print(TraceDisplay.from_estimator(Perceptron(fit_intercept=False), X, y, plot=False))
    t        x   y  score  update        w
    1   (2, 1)  +1      0     yes   (2, 1)
    2  (-1, 1)  -1     -1           (2, 1)
    3   (1, 2)  -1      4     yes  (1, -1)
    """

    def __init__(self, *, lines: Any) -> None:
        self.lines = [TraceLine(*line) for line in lines]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        passes: int = 1,
        updates_only: bool = False,
        class_: Any = None,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> TraceDisplay:
        """Learn the rows one by one with a clone of a linear estimator, until a pass brings no update.

        With ``updates_only`` the examples that change nothing are left out. Of several classes ``class_`` is learned
        against the rest.
        """
        examples = examples_of(X, y, class_)
        rows = with_ones(estimator, examples)
        before, lines = np.zeros(rows.shape[1]), []
        for t, step in enumerate(follow(estimator, examples, passes), start=1):
            x = rows[step.row].toarray()[0] if scipy.sparse.issparse(rows) else rows[step.row]
            update = not np.array_equal(step.weights, before)
            if update or not updates_only:
                score, side = float(x @ before), int(examples.y[step.row])
                lines.append(TraceLine(t, tuple(x.tolist()), side, score, update, tuple(step.weights.tolist())))
            before = step.weights
        return cls(lines=lines).finish(ax, plot)

    @property
    def updates(self) -> int:
        return sum(line.update for line in self.lines)

    def __str__(self) -> str:
        return "\n".join(align_columns([HEADINGS, *(line.cells() for line in self.lines)]))

    def _draw(self, ax: Axes) -> None:
        shown = self.lines[:LINES]
        ax.axis("off")
        self.table_ = ax.table(
            cellText=[line.cells() for line in shown], colLabels=HEADINGS, loc="upper center", cellLoc="center"
        )
        self.table_.auto_set_font_size(False)
        self.table_.set_fontsize(11)
        self.table_.auto_set_column_width(list(range(len(HEADINGS))))
        self.table_.scale(1.15, 1.25)
        for (row, _), cell in self.table_.get_celld().items():
            cell.set_edgecolor("0.75")
            if row == 0:
                cell.set_text_props(weight="bold")
            elif shown[row - 1].update:
                cell.set_facecolor(SHADE)
        left = len(self.lines) - len(shown)
        rest = f", and {left} more lines" if left else ""
        ax.set_title(f"{self.updates} updates{rest}")


def with_ones(estimator: Any, examples: Any) -> Any:
    """The rows as they are learned: with a 1 behind them for an intercept."""
    return signed_rows(estimator, examples._replace(y=np.ones(len(examples.y))))


def vector(numbers: tuple[float, ...]) -> str:
    """
    >>> vector((1.0, -0.25)), vector((1.0,) * 9)
    ('(1, -0.25)', '(1, 1, 1, 1, ...)')
    """
    shown = [number(one) for one in numbers[:NUMBERS]] + ["..."] * (len(numbers) > NUMBERS)
    return f"({', '.join(shown)})"


def number(value: float) -> str:
    """Four digits, and no sign of a 0."""
    return f"{value + 0.0:.4g}"
