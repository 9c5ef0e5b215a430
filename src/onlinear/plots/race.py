"""The race: how configurations fared as examples went by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onlinear.plots.drawing import BLUE, GREEN, ORANGE, PURPLE, VERMILION, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinear.selection.standings import Standings

#: the best few have colours and names
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE)


class RaceDisplay(Display):
    """The error of each configuration so far, or its RMSE, over the number of examples: both on logarithmic axes.

    Parameters
    ----------
    curves : for each configuration, best first, pairs of examples and score
    names : of the configurations
    measure : what is drawn, "error" or "rmse"
    """

    def __init__(self, *, curves: Sequence[Any], names: Sequence[str], measure: str = "error") -> None:
        self.curves = [list(curve) for curve in curves]
        self.names = list(names)
        self.measure = measure

    @classmethod
    def from_result(cls, result: Standings, *, ax: Axes | None = None, plot: bool = True) -> RaceDisplay:
        """Those of :func:`onlinear.race`."""
        shown = cls(
            curves=[place.finish.curve for place in result.places],
            names=[place.configuration.name for place in result.places],
            measure=result.task.measure,
        )
        return shown.plot(ax) if plot else shown

    def _draw(self, ax: Axes) -> None:
        best = len(COLOURS)
        for curve in self.curves[best:]:
            ax.plot(*columns(curve), color="0.8", linewidth=1, zorder=1)
        self.lines_ = [
            ax.plot(*columns(curve), "o-", color=colour, markersize=3, label=name, zorder=2)[0]
            for curve, name, colour in zip(self.curves, self.names, COLOURS, strict=False)
        ]
        ax.set(xlabel="examples", ylabel=f"{self.measure} so far")
        ax.set_xscale("log", base=2)
        if any(score > 0.0 for curve in self.curves for _, score in curve):
            ax.set_yscale("log", nonpositive="mask")
        ax.legend(fontsize="small")


def columns(curve: Sequence[tuple[int, float]]) -> tuple[list[int], list[float]]:
    """Examples and scores of a curve."""
    return [count for count, _ in curve], [score for _, score in curve]
