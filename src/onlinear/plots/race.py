"""The race: how configurations fared as examples went by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onlinear.plots.drawing import LOOKS, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from onlinear.selection.standings import Standings


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
        first = beginning(self.curves)
        for curve in self.curves[len(LOOKS) :]:
            ax.plot(*columns(curve, first), color="0.8", linewidth=1, zorder=1)
        self.lines_ = [
            ax.plot(*columns(curve, first), marker="o", color=colour, linestyle=style, markersize=3, label=name)[0]
            for curve, name, (colour, style) in zip(self.curves, self.names, LOOKS, strict=False)
        ]
        ax.set(xlabel="examples", ylabel=f"{self.measure} so far")
        ax.set_xscale("log", base=2)
        if any(score > 0.0 for curve in self.curves for _, score in curve):
            ax.set_yscale("log", nonpositive="mask")
            self._name_ticks(ax)
        ax.legend(fontsize="small")

    def _name_ticks(self, ax: Axes) -> None:
        """Per cent, or plain numbers: powers of ten say little of one decade."""
        shown = "{x:.0%}" if self.measure == "error" else "{x:.4g}"
        low, high = ax.get_ylim()
        ax.yaxis.set_major_formatter(shown)
        ax.yaxis.set_minor_formatter(shown if high < 10.0 * low else "")


def beginning(curves: Sequence[Any]) -> int:
    """Where curves begin to mean something: after the first few examples, if there are many."""
    most = max((count for curve in curves for count, _ in curve), default=0)
    return 16 if most >= 1024 else 1


def columns(curve: Sequence[tuple[int, float]], first: int) -> tuple[list[int], list[float]]:
    """Examples and scores of a curve, from so many examples on."""
    drawn = [(count, score) for count, score in curve if count >= first]
    return [count for count, _ in drawn], [score for _, score in drawn]
