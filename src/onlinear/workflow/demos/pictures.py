"""Pictures of demonstrations: large letters on a wide page, for a projector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlinear.errors import Refused
from onlinear.plots.drawing import require_matplotlib
from onlinear.system.atomic import replacing

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = ("png", "svg", "pdf")
#: as a slide has it: at 150 points an inch 1920 x 1080
PAGE, POINTS = (12.8, 7.2), 150
LETTERS: dict[Any, Any] = {
    "font.size": 15,
    "axes.titlesize": 16,
    "figure.titlesize": 19,
    "legend.fontsize": 13,
    "lines.linewidth": 2.4,
    "lines.markersize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def check_picture(file: str) -> None:
    """Refuse, before anything is learned, a picture that cannot be drawn."""
    require_matplotlib()
    if extension_of(file) not in KINDS:
        raise Refused(f"{file}: its name says no kind of picture: end it with .{', .'.join(KINDS)}")


def extension_of(file: str) -> str:
    return Path(file).suffix.lower().removeprefix(".")


def save_figure(figure: Figure, file: str) -> None:
    """A figure in a file, whole or not at all."""
    with replacing(file) as picture:
        figure.savefig(picture, format=extension_of(file))


def save_slide(draw: Callable[[Any, Figure], None], result: Any, title: str, file: str) -> None:
    """A result as a slide in a file."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(LETTERS):
        figure = Figure(figsize=PAGE, dpi=POINTS, layout="constrained")
        figure.suptitle(title)
        draw(result, figure)
        save_figure(figure, file)


def legend_above(ax: Axes, columns: int = 3) -> None:
    """The legend above the axes, where it hides nothing."""
    ax.legend(ncols=columns, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
