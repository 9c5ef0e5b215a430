"""Methods of descent beside each other: the gap against steps, or against seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.descent import gradient_descent, newton, second_order_sgd, sgd
from onlinear.errors import BadInput, Refused
from onlinear.plots.drawing import LOOKS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinear.descent import Objective, Solution

METHODS = {"GD": gradient_descent, "Newton": newton, "SGD": sgd, "second-order SGD": second_order_sgd}


class DescentDisplay(Display):
    """How far methods are above the lowest value of their objective, both axes logarithmic.

    Parameters
    ----------
    steps, seconds, gaps : for each method an array, of the points at which it was looked at
    names : of the methods
    by : what the gap is drawn against, "steps" or "seconds"

    >>> from onlinear.descent import mean_loss
    >>> objective = mean_loss([[1.0], [3.0]], [-1, 1], "log_loss", l2=0.1)
    >>> shown = DescentDisplay.from_objective(objective, 1e-6, methods=["Newton", "GD"], plot=False)
    >>> shown.names, all(gaps[-1] <= 1e-6 for gaps in shown.gaps)
    (['Newton', 'GD'], True)
    """

    def __init__(self, *, steps: Any, seconds: Any, gaps: Any, names: Any, by: str = "steps") -> None:
        check_axis(by)
        self.steps = [np.asarray(each) for each in steps]
        self.seconds, self.gaps = ([np.asarray(each, dtype=np.float64) for each in all_] for all_ in (seconds, gaps))
        self.names, self.by = list(names), by

    @classmethod
    def from_solutions(
        cls, solutions: Mapping[str, Solution], *, by: str = "steps", ax: Axes | None = None, plot: bool = True
    ) -> DescentDisplay:
        """Of what the functions of :mod:`onlinear.descent` answered, each with a name."""
        if not 1 <= len(solutions) <= len(LOOKS):
            raise Refused(f"there are {len(solutions)} methods: choose 1 to {len(LOOKS)}, which can be told apart")
        courses = [solution.course for solution in solutions.values()]
        found = cls(
            steps=[[point.steps for point in course] for course in courses],
            seconds=[[point.seconds for point in course] for course in courses],
            gaps=[[point.gap for point in course] for course in courses],
            names=solutions,
            by=by,
        )
        return found.finish(ax, plot)

    @classmethod
    def from_objective(
        cls,
        objective: Objective,
        epsilon: float,
        *,
        methods: Iterable[str] | None = None,
        optimum: float | None = None,
        by: str = "steps",
        ax: Axes | None = None,
        plot: bool = True,
    ) -> DescentDisplay:
        """Run methods on an objective until its gap is at most epsilon: "GD", "Newton", "SGD", "second-order SGD".

        Without ``methods`` all that take its loss: the hinge has no curvature for Newton's. The gap is certified, or,
        if the ``optimum`` is given, the true one.
        """
        check_axis(by)
        usual = [name for name in METHODS if objective.smooth or name != "Newton"]
        chosen = usual if methods is None else list(methods)
        unknown = [name for name in chosen if name not in METHODS]
        if unknown:
            raise Refused(f"there is no method {unknown[0]!r}: choose among {', '.join(METHODS)}")
        solve: dict[str, Any] = {name: METHODS[name] for name in chosen}
        solutions = {name: method(objective, epsilon, optimum=optimum) for name, method in solve.items()}
        return cls.from_solutions(solutions, by=by, ax=ax, plot=plot)

    def _draw(self, ax: Axes) -> None:
        self.lines_ = []
        for k, (name, (colour, style)) in enumerate(zip(self.names, LOOKS, strict=False)):
            places, gaps = getattr(self, self.by)[k], self.gaps[k]
            shown = (self.steps[k] > 0) & (places > 0) & (gaps > 0.0)
            look: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": 2, "markersize": 4}
            marks = "o" if np.count_nonzero(shown) <= 40 else ""
            self.lines_ += ax.plot(places[shown], gaps[shown], marker=marks, label=name, **look)
        ax.set(xlabel=self.by, ylabel="gap to the lowest value", xscale="log", yscale="log")
        ax.legend()


def check_axis(by: str) -> None:
    if by not in ("steps", "seconds"):
        raise BadInput(f"by is {by!r}: choose steps or seconds")
