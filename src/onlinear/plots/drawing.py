"""What all pictures share: Matplotlib if it is there, axes, and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from onlinear.errors import Refused

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: colours that are told apart by colour-blind people, too (Okabe & Ito 2008); lines differ in style as well
BLUE, VERMILION, GREEN, ORANGE, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7"
GREY = "#595959"
#: lines in one picture: each has a colour and a style of its own
LOOKS: tuple[tuple[str, Any], ...] = (
    (BLUE, "-"),
    (VERMILION, "--"),
    (GREEN, "-."),
    (ORANGE, ":"),
    (PURPLE, (0, (5, 1))),
)
#: light grounds for the two sides of a boundary
SIDES = ("#FBE3D3", "#D3E6F2")


class Display:
    """A picture: ``plot`` draws it, and leaves ``ax_`` and ``figure_`` behind."""

    ax_: Axes
    figure_: Figure

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw onto these axes, or onto new ones."""
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.get_figure(root=True)  # type: ignore[assignment]
        self._draw(self.ax_)
        return self

    def finish(self, ax: Axes | None, plot: bool) -> Self:
        """Itself, drawn if it is to be: how every ``from_...`` ends."""
        return self.plot(ax) if plot else self

    def _draw(self, ax: Axes) -> None:
        raise NotImplementedError


def new_axes() -> Axes:
    return pyplot().subplots(layout="constrained")[1]


def pyplot() -> Any:
    """Matplotlib's pyplot."""
    require_matplotlib()
    from matplotlib import pyplot as found

    return found


def require_matplotlib() -> None:
    """Refuse to draw without Matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise Refused(
            "pictures are drawn by Matplotlib, which is not installed: pip install 'onlinear[plot]'"
        ) from None
    except ValueError as error:  # it takes its settings from the environment
        reason = str(error).partition(";")[0]
        raise Refused(f"Matplotlib does not start: {reason}: mend MPLBACKEND or its matplotlibrc") from None
