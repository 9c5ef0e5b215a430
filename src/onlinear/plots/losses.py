"""Losses of two classes beside the 0/1 loss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from onlinear.errors import BadInput, Refused
from onlinear.losses import Binomial, Logistic
from onlinear.plots.drawing import LOOKS, Display
from onlinear.registry import LOSSES, loss_of, name_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

USUAL = ("perceptron", "hinge", "log_loss", "squared_hinge", "squared_error")
#: how many points a curve has
POINTS = 401


class LossesDisplay(Display):
    """Losses over ``y s``, the score times the target -1 or +1, beside the 0/1 loss: 1 where the answer is wrong.

    Parameters
    ----------
    margins : array, the ``y s`` at which there is a value
    values : a list with an array for each loss
    names : of the losses

    >>> shown = LossesDisplay.from_losses(["hinge"], low=-1.0, high=1.0, plot=False)
    >>> shown.names, shown.values[0][[0, -1]].tolist(), shown.zero_one[[0, -1]].tolist()
    (['hinge'], [2.0, 0.0], [1.0, 0.0])
    """

    def __init__(self, *, margins: Any, values: Any, names: Any) -> None:
        self.margins = np.asarray(margins, dtype=np.float64)
        self.values = [np.asarray(each, dtype=np.float64) for each in values]
        self.names = list(names)

    @property
    def zero_one(self) -> np.ndarray:
        """1 where a perceptron learns: at the tie, too."""
        return (self.margins <= 0.0).astype(np.float64)

    @classmethod
    def from_losses(
        cls,
        losses: Iterable[Any] = USUAL,
        *,
        low: float = -2.0,
        high: float = 2.5,
        bits: bool = True,
        ax: Axes | None = None,
        plot: bool = True,
    ) -> LossesDisplay:
        """Losses by their names, or as objects with a ``value``, from ``y s = low`` to ``high``.

        The logistic loss is shown in ``bits``, as most textbooks do, because it then is nowhere below the 0/1 loss; or
        as learners count it.
        """
        if not -math.inf < low < 0.0 < high < math.inf:
            raise BadInput(f"low is {low} and high {high}: give a number below 0 and one above")
        margins, chosen = np.linspace(low, high, POINTS), [loss_of(loss) for loss in losses]
        if not 1 <= len(chosen) <= len(LOOKS):
            raise Refused(f"there are {len(chosen)} losses: choose 1 to {len(LOOKS)}, which can be told apart")
        units = [math.log(2.0) if bits and isinstance(loss, Logistic | Binomial) else 1.0 for loss in chosen]
        found = cls(
            margins=margins,
            values=[values_of(loss, margins) / unit for loss, unit in zip(chosen, units, strict=True)],
            names=[readable_name(loss) + ", in bits" * (unit != 1.0) for loss, unit in zip(chosen, units, strict=True)],
        )
        return found.finish(ax, plot)

    def _draw(self, ax: Axes) -> None:
        (self.zero_one_line_,) = ax.plot(
            [self.margins[0], 0.0, 0.0, self.margins[-1]], [1, 1, 0, 0], color="black", linewidth=2.5, label="0/1 loss"
        )
        self.lines_ = [
            ax.plot(self.margins, values, color=colour, linestyle=style, linewidth=2, label=name)[0]
            for values, name, (colour, style) in zip(self.values, self.names, LOOKS, strict=False)
        ]
        ax.axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
        top = max(1.2, *(min(4.0, float(values.max())) for values in self.values))
        ax.set(xlabel="$y\\,s$: wrong below 0, right above", ylabel="loss", ylim=(-0.05 * top, 1.02 * top))
        ax.set_xlim(self.margins[0], self.margins[-1])
        ax.legend()


def values_of(loss: Any, margins: np.ndarray) -> np.ndarray:
    """The loss at each ``y s``; one that does not depend on this alone is refused."""
    if not hasattr(loss, "slope"):
        raise Refused(f"the loss {type(loss).__name__} is of several classes: choose one of a single score")
    values, turned = (np.array([loss.value(y * m, y) for m in margins.tolist()]) for y in (1.0, -1.0))
    if not np.allclose(values, turned):
        raise Refused(f"the loss {type(loss).__name__} does not treat -1 and +1 alike: choose one of two classes")
    return values


def readable_name(loss: Any) -> str:
    """
    >>> readable_name(loss_of("log_loss")), readable_name(loss_of("squared_hinge"))
    ('logistic', 'squared hinge')
    """
    name = name_of(loss, LOSSES) or type(loss).__name__
    return {"log_loss": "logistic", "squared_error": "half the squared error"}.get(name, name.replace("_", " "))
